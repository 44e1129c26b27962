//! Refinement: where it starts, what it keeps and what it refuses.

use crate::folder::Folder;
use serde_json::Value;

#[test]
fn refinement_starts_from_what_it_is_given_and_helps() {
    let folder = Folder::with_cars();
    let test = |args: &str| {
        let report = folder.run(&format!("learn cars.csv --split 0.6,0.2,0.2 --json {args}")).ok().json();
        report["test"]["log_likelihood_per_record"].as_f64().unwrap()
    };
    assert!(test("--learner learnpsdd") > test("--learner chow-liu"));
    assert!(test("--learner learnpsdd --vtree mi-bottom-up") > test("--learner factorised"));
    assert!(test("--learner slopp+learnpsdd --steps 0") <= test("--learner slopp+learnpsdd"));
    assert!(test("--learner strudel") > test("--learner chow-liu"));
    assert!(test("--learner strudel --scope whole") > test("--learner chow-liu"));
    assert!(test("--learner strudel --vtree mi-bottom-up") > test("--learner factorised"));
    let report = folder.run("learn cars.csv --learner strudel --scope whole --depth 2 --steps 9 --json").ok().json();
    let origin = &report["origin"];
    assert_eq!([&origin["scope"], &origin["depth"], &origin["steps"]], ["whole", "2", "9"]);
}

#[test]
fn refinement_starts_from_any_model() {
    let folder = Folder::with_cars();
    folder.run("data split cars.csv --shares 0.5,0.5 -o part").ok();
    folder.run("learn part.1.csv --world closed -o start.psdd").ok();
    let worlds = |model: &str| folder.run(&format!("info {model} --json")).ok().json()["model_count"].clone();
    for learner in ["learnpsdd --penalty 0.2", "strudel", "strudel --scope whole"] {
        // Judged by the records it learns from, so that it grows.
        let refine = format!("learn part.1.csv --valid part.1.csv --learner {learner} --start start.psdd --json");
        let report = folder.run(&format!("{refine} -o refined.psdd")).ok().json();
        assert_eq!(worlds("refined.psdd"), worlds("start.psdd"), "{learner}: the base stays");
        assert_eq!([&report["origin"]["start"], &report["world"], &report["vtree"]], ["slopp", "closed", "file"]);
        let unchanged = folder.run(&format!("{refine} --steps 0")).ok().json();
        let value = |report: &Value| report["train"]["log_likelihood"].as_f64().unwrap();
        assert!(value(&report) > value(&unchanged), "{learner}: {report}");
        assert!(unchanged["elements"].as_u64() < report["elements"].as_u64());
    }
    // A model may be replaced by what is made of it, and columns go by name.
    folder.run("learn part.1.csv --learner strudel --start start.psdd -o start.psdd").ok();
    folder.write("turned.csv", "b,a\n1,0\n0,1\n1,1\n0,0\n1,1\n");
    folder.write("plain.csv", "a,b\n0,1\n1,0\n1,1\n0,0\n1,1\n");
    folder.run("learn plain.csv -o two.psdd").ok();
    for file in ["turned.csv", "plain.csv"] {
        folder.run(&format!("learn {file} --learner strudel --start two.psdd -o {file}.psdd")).ok();
    }
    assert_eq!(folder.read("turned.csv.psdd"), folder.read("plain.csv.psdd"));
}

#[test]
fn refinement_refuses_what_it_cannot_start_from() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv -o cars.psdd").ok();
    folder.write("other.csv", "a,b\n0,1\n1,0\n");
    folder.run("learn other.csv --learner strudel --start cars.psdd").fails(&["other.csv", "a"]);
    folder.run("learn cars.csv --learner strudel --start gone.psdd").fails(&["gone.psdd"]);
    folder
        .run("learn cars.csv --start cars.psdd")
        .fails(&["--start belongs to the learners learnpsdd, strudel, strudel-em, not to slopp"]);
    folder
        .run("learn cars.csv --learner learnpsdd --scope whole")
        .fails(&["--scope belongs to the learners strudel, strudel-em,"]);
    for option in ["--vtree balanced", "--world open"] {
        folder.run(&format!("learn cars.csv --learner strudel --start cars.psdd {option}")).fails(&["--start"]);
    }
    folder.run("learn cars.csv --learner strudel --start cars.psdd --world open").fails(&[
        "--world has no effect",
        "try: leave --world out",
        "slopp revise",
    ]);
    folder.run("learn cars.csv --learner slopp-kmeans --k 3 --d 10 -o mixture.psdd").ok();
    for learner in ["learnpsdd --penalty 0.2", "strudel", "strudel --scope whole"] {
        folder
            .run(&format!("learn cars.csv --learner {learner} --start mixture.psdd"))
            .fails(&["refinement needs a deterministic circuit, and this one is not: at node", "try: "]);
    }
    folder.run("learn cars.csv --learner strudel --scope whole --steps 40 -o weak.psdd").ok();
    assert_eq!(folder.run("info weak.psdd --json").ok().json()["certificate"], "deterministic");
    for learner in ["learnpsdd", "strudel"] {
        folder.run(&format!("learn cars.csv --learner {learner} --start weak.psdd")).fails(&[
            "refines PSDDs, and the model is not one",
            "--scope whole, which refines any deterministic circuit",
        ]);
    }
    folder.run("learn cars.csv --learner strudel --scope whole --start weak.psdd").ok();
    folder.write("one.csv", "a,b\n1,0\n");
    folder.run("learn one.csv --world closed -o one.psdd").ok();
    folder.write("none.csv", "a,b\n0,1\n");
    folder.run("learn none.csv --learner strudel --start one.psdd").fails(&["none of the records is possible"]);
}

#[test]
fn a_closed_world_is_refined_without_losing_records() {
    let folder = Folder::with_cars();
    let learn = |args: &str| folder.run(&format!("learn cars.csv --split 0.4,0.2,0.4 --world closed {args}")).ok();
    let tree = learn("--learner chow-liu --json").json();
    for learner in ["strudel", "learnpsdd", "strudel --scope whole"] {
        let report = learn(&format!("--learner {learner} --json")).json();
        assert_eq!(report["origin"]["pseudocount"], "2", "as in an open world: so the base stays");
        for part in ["train", "valid", "test"] {
            assert_eq!(report[part]["impossible"], tree[part]["impossible"], "{learner}, {part}");
        }
    }
    folder.run("learn cars.csv --learner strudel --pseudocount 0").fails(&["--pseudocount", "open world"]);
}

#[test]
fn what_is_held_out_is_told() {
    let folder = Folder::with_cars();
    for learner in ["slopp", "strudel", "learnpsdd", "slopp+learnpsdd"] {
        let told = folder.run(&format!("learn cars.csv --learner {learner}")).ok().err;
        assert!(told.contains("held out by seed to choose by; --valid FILE"), "{learner}: {told}");
        let told = folder.run(&format!("learn cars.csv --valid cars.csv --learner {learner}")).ok().err;
        assert!(!told.contains("held out"), "{learner}: {told}");
    }
    let report = folder.run("learn cars.csv --learner strudel --steps 7 --json").ok().json();
    assert_eq!(report["origin"]["steps_done"], "7");
    assert!(report["origin"]["held_out"].as_str().unwrap().parse::<f64>().unwrap() > 1.0);
}
