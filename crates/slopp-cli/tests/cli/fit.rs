//! Fitting: the structure stays, the numbers are those of the records.

use crate::folder::{Folder, MIXTURE, close};
use serde_json::{Value, json};

#[test]
fn fitting_keeps_the_structure() {
    let folder = Folder::with_cars();
    folder.run("data split cars.csv --shares 0.5,0.5 -o part").ok();
    folder.run("learn part.1.csv --world closed -o one.psdd").ok();
    // Added to its own records, a model that keeps counts is as if fitted to both.
    folder.run("fit one.psdd part.2.csv --add -o added.psdd").ok();
    folder.run("fit one.psdd cars.csv -o both.psdd").ok();
    let ask = |model: &str| folder.run(&format!("eval {model} cars.csv --json")).ok().json();
    let [added, both] = [ask("added.psdd"), ask("both.psdd")];
    close(&added["log_likelihood"], both["log_likelihood"].as_f64().unwrap());
    let [one, added] = ["one.psdd", "added.psdd"].map(|m| folder.run(&format!("info {m} --json")).ok().json());
    assert_eq!(one["elements"], added["elements"]);
    let report = folder.run("fit one.psdd part.2.csv --json").ok().json();
    let (before, after) = (&report["before"]["log_likelihood"], &report["after"]["log_likelihood"]);
    assert!(after.as_f64() > before.as_f64(), "{report}");
    assert_eq!(report["model"], Value::Null);
    let outcome = folder.run("fit one.psdd part.2.csv").ok();
    let text = &outcome.out;
    assert!(text.contains("left out") && text.contains("before") && outcome.err.contains("not saved"), "{outcome:?}");
    folder.run("fit one.psdd part.2.csv --pseudocount=-1").fails(&["pseudocount", "at least 0"]);
}

#[test]
fn counts_are_needed_to_add() {
    let folder = Folder::with_paper();
    folder.write("data.csv", "1,1,1,0\n");
    folder.run("fit plain.psdd data.csv --add").fails(&["has no counts", "try: `slopp fit MODEL"]);
    folder.run("fit plain.psdd data.csv -o fitted.psdd").ok();
    folder.run("fit fitted.psdd data.csv --add").ok();
}

/// Also by their share in the prior.
#[test]
fn records_that_are_left_out_change_nothing() {
    let folder = Folder::new();
    folder.write("train.csv", "a,b,c\n1,1,0\n1,1,1\n0,0,1\n");
    folder.write("some.csv", "a,b,c\n1,1,0\n0,0,1\n");
    folder.write("more.csv", "a,b,c\n1,1,0\n0,0,1\n0,1,1\n0,1,1\n0,1,1\n");
    folder.write("gap.csv", "a,b,c\n1,?,0\n0,0,1\n");
    folder.write("more_gap.csv", "a,b,c\n1,?,0\n0,0,1\n0,1,1\n0,1,?\n");
    folder.run("learn train.csv --world closed -o model.psdd").ok();
    for (left, right) in [("some", "more"), ("gap", "more_gap")] {
        for data in [left, right] {
            folder.run(&format!("fit model.psdd {data}.csv --pseudocount 1 -o {data}.psdd")).ok();
        }
        assert_eq!(folder.read(&format!("{left}.psdd")), folder.read(&format!("{right}.psdd")));
    }
}

#[test]
fn missing_cells_are_fitted_by_expectation_maximisation() {
    let folder = Folder::new();
    folder.write("complete.csv", "a,b\n1,0\n0,1\n1,1\n0,1\n");
    folder.write("holes.csv", "a,b\n1,0\n?,1\n0,1\n1,\n1,1\n0,?\n");
    folder.run("learn complete.csv --learner chow-liu -o m.psdd").ok();
    let report = folder.run("fit m.psdd holes.csv --pseudocount 0 -o em.psdd --json").ok().json();
    let history: Vec<f64> = report["em_history"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(history.windows(2).all(|step| step[0] <= step[1] + 1e-12), "{history:?}");
    assert_eq!(report["em_steps"], history.len() - 1);
    close(&report["before"]["log_likelihood_per_record"], history[0]);
    close(&report["after"]["log_likelihood_per_record"], history[history.len() - 1]);
    // By hand: P(a) and P(b|a) at the optimum make the expected counts their own source.
    let p = |event: &str, given: &[&str]| {
        let args = [&["prob", "em.psdd", event, "--json"], given].concat();
        folder.run_args(&args).ok().json()["probability"].as_f64().unwrap()
    };
    let (a, b_a, b_na, a_b) =
        (p("a", &[]), p("b", &["--given", "a"]), p("b", &["--given", "!a"]), p("a", &["--given", "b"]));
    assert!((a - (3.0 + a_b) / 6.0).abs() < 1e-3, "{a} {a_b}");
    assert!((b_a - (1.0 + a_b + b_a) / (3.0 + a_b)).abs() < 1e-3, "{b_a}");
    assert!((b_na - (1.0 + (1.0 - a_b) + b_na) / (3.0 - a_b)).abs() < 1e-3, "{b_na}");
    let few = folder.run("fit m.psdd holes.csv --em-steps 1").ok();
    assert!(few.out.contains("1 step of EM on 6 records") && few.err.contains("--em-steps"), "{few:?}");
    assert_eq!(folder.run("info em.psdd --json").ok().json()["origin"]["parameters"], "em");
    folder.run("fit m.psdd holes.csv --add").fails(&["cells are missing", "without --add"]);
    folder.run("fit m.psdd complete.csv --em-steps 3").fails(&["exactly, by counting"]);
}

#[test]
fn mixtures_are_fitted_by_expectation_maximisation() {
    let folder = Folder::new();
    folder.write("mixture.psdd", MIXTURE);
    folder.write("data.csv", "x1,x2,x3\n1,1,1\n0,0,1\n1,0,1\n1,1,1\n1,1,0\n");
    let report = folder.run("fit mixture.psdd data.csv -o m.psdd --json").ok().json();
    assert_eq!((&report["counted"], &report["impossible"]), (&json!(4), &json!(1)));
    let gained = |part: &str| report[part]["log_likelihood"].as_f64().unwrap();
    assert!(gained("after") > gained("before"), "{report}");
    assert_eq!(folder.run("eval m.psdd data.csv --json").ok().json(), report["after"]);
    folder.run("fit mixture.psdd data.csv --add").fails(&["sums of the model overlap"]);
}
