//! `validate`: exit codes, violations, repair.

use crate::folder::{Folder, MIXTURE, UNNORMALISED, WEAK, close};
use serde_json::{Value, json};

#[test]
fn a_psdd_is_valid() {
    let folder = Folder::with_paper();
    let answer = folder.run("validate model.psdd --json").ok().json();
    assert_eq!((&answer["valid"], &answer["violations"]), (&json!(true), &json!([])));
    let text = folder.run("validate plain.psdd --vtree model.vtree").ok().out;
    assert_eq!(text, "the primes of every sum are proved exclusive\nvalid: a PSDD\n");
}

#[test]
fn overlapping_elements_are_named_with_a_witness() {
    let folder = Folder::new();
    folder.write("mix.psdd", MIXTURE);
    let answer = folder.run("validate mix.psdd --json");
    assert_eq!(answer.code, 1);
    let found = answer.json();
    let violation = &found["violations"][0];
    assert_eq!((&violation["node"], &violation["property"]), (&json!(30), &json!("determinism")));
    assert_eq!(violation["elements"], json!([{"prime": 20, "sub": 3}, {"prime": 21, "sub": 3}]));
    assert_eq!(violation["witness"], json!({"x1": true, "x2": true, "x3": true}));
    let text = folder.run("validate mix.psdd");
    assert_eq!(text.code, 1);
    assert!(text.out.contains("determinism: at node 30") && text.out.ends_with("not a valid PSDD\n"), "{}", text.out);
}

#[test]
fn weak_determinism_is_told_apart() {
    let folder = Folder::new();
    folder.write("weak.psdd", WEAK);
    let answer = folder.run("validate weak.psdd --json");
    assert_eq!(answer.code, 1);
    let found = answer.json();
    assert_eq!(found["certificate"], "deterministic");
    assert_eq!(
        (&found["violations"][0]["node"], &found["violations"][0]["property"]),
        (&json!(9), &json!("exclusive-primes"))
    );
    // Every world has one derivation, so these questions have answers.
    assert_eq!(folder.run("info weak.psdd --json").ok().json()["model_count"], "3");
    folder.run("mpe weak.psdd").ok();
}

#[test]
fn parameters_that_do_not_sum_to_one_are_found_and_fixed() {
    let folder = Folder::new();
    folder.write("odd.psdd", UNNORMALISED);
    let answer = folder.run("validate odd.psdd --json");
    assert_eq!(answer.code, 1);
    let violation = answer.json()["violations"][0].clone();
    assert_eq!((&violation["node"], &violation["property"]), (&json!(9), &json!("normalisation")));
    assert_eq!(violation["witness"], Value::Null);
    close(&violation["total"], 0.9);
    assert!(folder.run("validate odd.psdd").err.contains("--fix -o FILE"));
    folder.run("validate odd.psdd --fix -o fixed.psdd").ok();
    folder.run("validate fixed.psdd --tolerance 1e-12").ok();
    close(&folder.run("prob fixed.psdd x1 --json").ok().json()["probability"], 5.0 / 9.0);
    assert_eq!(folder.read("odd.psdd"), UNNORMALISED);
    let bare = folder.run("validate odd.psdd --fix");
    assert_eq!(bare.code, 2, "--fix needs -o");
}

#[test]
fn unreadable_files_are_neither_valid_nor_invalid() {
    let folder = Folder::new();
    folder.write("text.psdd", "hello\n");
    folder.run("validate text.psdd --json").fails(&["text.psdd, line 1"]);
    folder.run("validate nothing.psdd").fails(&["nothing.psdd", "cannot be opened"]);
}

#[test]
fn a_network_is_no_psdd() {
    let folder = Folder::new();
    folder.write("model.spn", "spn 3 2\nB 0 1 0.5\nB 1 2 0.5\nP 2 2 0 1\n");
    let outcome = folder.run("validate model.spn");
    assert_eq!(outcome.code, 1);
    assert!(outcome.out.contains("smooth and decomposable") && outcome.out.contains("not a valid PSDD"), "{outcome:?}");
    let answer = folder.run("validate model.spn --json").json();
    assert_eq!(answer, json!({"valid": false, "certificate": "spn"}));
}
