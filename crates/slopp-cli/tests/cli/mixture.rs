//! Commands on a mixture, against sums over the answers of its components.

use crate::folder::{Folder, close};
use serde_json::{Value, json};
use slopp::circuit::Smoothing;
use slopp::infer::Evidence;
use slopp::{Mixture, Model, ModelKind, Var};
use std::collections::BTreeSet;

/// A folder with the paper's example as `a.psdd`, a smoothed one as `b.psdd`, and both as `ab.mix`, 0.75 to 0.25.
fn folder() -> Folder {
    let folder = Folder::with_paper();
    let (records, a) = (slopp::example::records(), slopp::example::psdd());
    let b = a.fit(&records, &Smoothing::uniform(5.0)).unwrap().circuit;
    for (name, psdd) in [("a.psdd", &a), ("b.psdd", &b)] {
        Model::new(records.names().clone(), psdd.clone()).save(folder.path(name)).unwrap();
    }
    let mixture = Mixture::new([(0.75, a.into()), (0.25, b.into())]).unwrap();
    let mut model = Model::new(records.names().clone(), mixture);
    model.origin.insert("seed".into(), "7".into());
    model.save(folder.path("ab.mix")).unwrap();
    folder
}

#[test]
fn probabilities_are_weighted_sums() {
    let folder = folder();
    let ask = |args: &str| folder.run(args).ok().json();
    let p = |model: &str, event: &str| ask(&format!("prob {model} {event} --json"))["probability"].as_f64().unwrap();
    for event in ["X1", "!X2,X3", "X1,X2,X3,X4", "X4=0"] {
        let expected = 0.75 * p("a.psdd", event) + 0.25 * p("b.psdd", event);
        close(&ask(&format!("prob ab.mix {event} --json"))["probability"], expected);
    }
    let joint = |model: &str| p(model, "X1,X4");
    let given = |model: &str| p(model, "X4");
    let expected =
        (0.75 * joint("a.psdd") + 0.25 * joint("b.psdd")) / (0.75 * given("a.psdd") + 0.25 * given("b.psdd"));
    close(&ask("prob ab.mix X1 --given X4 --json")["probability"], expected);
    close(&ask("marginals ab.mix --given X4 --json")["marginals"]["X1"], expected);
    close(&ask("marginals ab.mix --given X4 --json")["marginals"]["X4"], 1.0);
    assert!(folder.run("marginals ab.mix --pairs").ok().out.contains("mutual information"));
    let stdin = folder.run_with("prob - X1 --json", &std::fs::read(folder.path("ab.mix")).unwrap()).ok();
    close(&stdin.json()["probability"], p("ab.mix", "X1"));
}

#[test]
fn records_are_scored_and_found_possible() {
    let folder = folder();
    let lls = |model: &str| -> Vec<f64> {
        let answer = folder.run(&format!("eval {model} records.csv --per-record --json")).ok().json();
        answer["per_record"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let (a, b, mixed) = (lls("a.psdd"), lls("b.psdd"), lls("ab.mix"));
    for ((a, b), mixed) in a.iter().zip(&b).zip(&mixed) {
        assert!(((0.75 * a.exp() + 0.25 * b.exp()).ln() - mixed).abs() < 1e-12);
    }
    folder.run("eval ab.mix records.csv --flow").fails(&["the flow value", "mixture", "without this"]);
    let possible = folder.run("possible ab.mix records.csv --json").ok().json();
    assert_eq!((&possible["impossible"], &possible["equals_closed_world"]), (&json!(0), &Value::Null));
    folder.write("wrong.csv", "X1,X2,X3,X4\n1,1,1,1\n");
    let refused = folder.run("possible ab.mix wrong.csv");
    assert_eq!(refused.code, 1);
    assert!(refused.out.contains("record 1: change 1 cell"), "{}", refused.out);
}

#[test]
fn samples_are_those_of_the_library() {
    let folder = folder();
    let out = folder.run_args(&["sample", "ab.mix", "-n", "20", "--given", "X2", "--seed", "3"]).ok().out;
    let model = slopp::io::read_model(&folder.path("ab.mix"), None, &Default::default()).unwrap().model;
    let ModelKind::Mixture(mixture) = model.kind else { panic!("a mixture") };
    let given = Evidence::from_lits(4, [Var(1).is(true)]).unwrap();
    let line = |world: Vec<bool>| world.iter().map(|&x| if x { "1" } else { "0" }).collect::<Vec<_>>().join(",");
    let expected: Vec<String> = mixture.sample(20, &given, 3).unwrap().worlds().map(line).collect();
    assert_eq!(out.lines().skip(1).collect::<Vec<_>>(), expected);
    folder.write("holes.csv", "X1,X2,X3,X4\n1,,?,\n,,,0\n");
    assert_eq!(folder.run("sample ab.mix --records holes.csv").ok().out.lines().count(), 3);
}

#[test]
fn info_and_validate_look_at_the_components() {
    let folder = folder();
    let info = folder.run("info ab.mix --json").ok().json();
    let component = |i: usize| &info["components"][i];
    assert_eq!((info["certificate"].as_str(), info["shares_structure"].as_bool()), (Some("mixture"), Some(true)));
    assert_eq!((&component(0)["weight"], &component(1)["certificate"]), (&json!(0.75), &json!("psdd")));
    assert_eq!(info["elements"].as_u64(), component(0)["elements"].as_u64().map(|n| 2 * n));
    assert_eq!(info["origin"], json!({"seed": "7"}));
    let text = folder.run("info ab.mix").ok().out;
    assert!(text.contains("one structure") && text.contains("0.7500"), "{text}");
    assert!(folder.run("validate ab.mix").ok().out.contains("valid: a mixture of 2 PSDDs"));
    assert_eq!(folder.run("validate ab.mix --json").ok().json()["components"], json!(["psdd", "psdd"]));
    folder.run("validate ab.mix --fix -o c.psdd").fails(&["--fix is for a single circuit"]);
    assert!(!folder.path("c.psdd").exists());
}

#[test]
fn what_needs_determinism_is_refused_with_the_reason() {
    let folder = folder();
    for args in
        ["mpe ab.mix", "worlds ab.mix", "compare ab.mix a.psdd", "compare a.psdd ab.mix", "draw ab.mix -o c.svg"]
    {
        folder.run(args).fails(&["ab.mix", "holds a mixture of circuits", "determinism", "eval, prob, marginals"]);
    }
    folder.run("info ab.mix --vtree model.vtree").fails(&["ab.mix", "no vtree file, since a mixture"]);
}

/// The commands that take a model, with what else they need.
const OF_MODELS: [&str; 26] = [
    "fit MODEL records.csv",
    "distil MODEL records.csv -n 100",
    "eval MODEL records.csv",
    "prob MODEL X1",
    "marginals MODEL",
    "mpe MODEL",
    "sample MODEL",
    "worlds MODEL",
    "possible MODEL records.csv",
    "info MODEL",
    "compare MODEL a.psdd",
    "validate MODEL",
    "convert MODEL c.psdd",
    "count MODEL",
    "entails MODEL X1|!X1",
    "equivalent MODEL a.psdd",
    "rules MODEL",
    "diff MODEL a.psdd",
    "explain MODEL records.csv",
    "repair MODEL records.csv -o repaired.csv",
    "revise MODEL --by-rule X1|X2",
    "product MODEL a.psdd",
    "map MODEL --of X1",
    "information MODEL --between X1 --and X2",
    "vtree MODEL",
    "draw MODEL -o c.svg",
];

/// Commands that take none, or only make one.
const WITHOUT_MODEL: [&str; 8] = ["demo", "learn", "curve", "compile", "data", "reproduce", "bench", "help"];

#[test]
fn refusals_list_the_commands_that_there_are() {
    let folder = folder();
    folder.run("learn records.csv --learner learnspn -o n.spn").ok();
    let help = folder.run("--help").ok().out;
    let listed = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap().lines();
    let commands: BTreeSet<&str> =
        listed.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).filter_map(first_word).collect();
    let known = OF_MODELS.iter().filter_map(|run| first_word(run)).chain(WITHOUT_MODEL).collect();
    assert_eq!(commands, known, "every command is looked at");
    for run in OF_MODELS {
        let told = folder.run(&run.replace("MODEL", "b.psdd"));
        assert!(told.code != 2, "a PSDD can be asked everything: {run}: {told:?}");
    }
    for (model, kind) in [("ab.mix", "mixtures"), ("n.spn", "sum-product networks")] {
        let able = OF_MODELS.iter().filter(|run| folder.run(&run.replace("MODEL", model)).code != 2);
        let able: BTreeSet<&str> = able.filter_map(|run| first_word(run)).collect();
        let refusal = folder.run(&format!("mpe {model}")).err.replace(" and ", ", ");
        let (told, _) = refusal.split_once(&format!(" work on {kind}")).unwrap();
        let told = told.rsplit("; ").next().unwrap();
        assert_eq!(told.split(", ").collect::<BTreeSet<_>>(), able, "{model}");
    }
}

fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

#[test]
fn a_mixture_has_no_formula() {
    let folder = folder();
    for args in ["count ab.mix", "equivalent ab.mix a.psdd", "diff a.psdd ab.mix"] {
        folder.run(args).fails(&["ab.mix is a mixture", "try: "]);
    }
}

#[test]
fn a_mixture_is_fitted_also_to_records_with_holes() {
    let folder = folder();
    folder.write("holes.csv", folder.read("records.csv").replacen("\n0,", "\n?,", 6));
    for file in ["records.csv", "holes.csv"] {
        let report = folder.run(&format!("fit ab.mix {file} --pseudocount 0 -o fitted.mix --json")).ok().json();
        let value = |when: &str| report[when]["log_likelihood"].as_f64().unwrap();
        assert!(value("after") >= value("before") && report["em_steps"].as_u64().unwrap() > 0, "{report}");
        assert_eq!(folder.run(&format!("eval fitted.mix {file} --json")).ok().json(), report["after"]);
        let info = folder.run("info fitted.mix --json").ok().json();
        assert_eq!((&info["origin"]["parameters"], &info["origin"]["seed"]), (&json!("em"), &json!("7")));
    }
    // A component that makes the one record impossible is gone, which is said; one that does not stays.
    folder.write("one.csv", folder.read("records.csv").lines().take(2).collect::<Vec<_>>().join("\n"));
    folder.run("revise a.psdd --by-rule X1 -o c.psdd").ok();
    let model = |file: &str| slopp::io::read_model(&folder.path(file), None, &Default::default()).unwrap().model;
    let parts = ["a.psdd", "c.psdd"].map(|file| model(file).circuit().unwrap().clone());
    let model = Model::new(slopp::example::records().names().clone(), Mixture::uniform(parts).unwrap());
    model.save(folder.path("ac.mix")).unwrap();
    for (mixture, dropped) in [("ac.mix", 1), ("ab.mix", 0)] {
        let fit = format!("fit {mixture} one.csv --pseudocount 0 --em-steps 1000");
        let fitted = folder.run(&format!("{fit} --json")).ok().json();
        assert_eq!(fitted["dropped_components"], dropped, "{mixture}");
        let told = folder.run(&fit).ok().out;
        assert_eq!(told.contains("1 of 2 components"), dropped == 1, "{told}");
    }
    folder.run("fit ab.mix records.csv -o c.psdd").fails(&["the fitted model is a mixture", "try: -o c.mix"]);
    folder.run("fit ab.mix records.csv --add").fails(&["only be added to exact counts", "sums of the model overlap"]);
}

#[test]
fn damaged_mixtures_are_told_by_line() {
    let folder = folder();
    let text = folder.read("ab.mix");
    folder.write("weight.mix", text.replace("component 2 0.25", "component 2 0.5"));
    folder.run("info weight.mix").fails(&["weight.mix", "add up to 1.25"]);
    folder.write("cut.mix", &text[..text.len() / 2]);
    folder.run("eval cut.mix records.csv").fails(&["cut.mix, line", "cut off"]);
}

#[test]
fn a_bag_tells_its_models_and_may_stay_whole() {
    let folder = Folder::new();
    folder.run("data generate configurations -n 600 --seed 1 -o cars.csv").ok();
    let whole = folder.run("learn cars.csv --learner slopp-bag --components 3 --whole --json").ok().json();
    assert!(whole["components"].as_u64().unwrap() <= 3, "{whole}");
    assert_eq!((&whole["origin"]["models"], &whole["origin"]["divide"]), (&json!("whole"), &json!("never")));
    assert!(whole["origin"].get("effort").is_none(), "{whole}");
    let bag = folder.run("learn cars.csv --learner slopp-bag --components 3").ok();
    let told = folder.run("learn cars.csv --learner slopp-bag --components 3 --json").ok().json();
    if told["origin"]["models"] == "divided" {
        let components = format!("3 models in {} components", told["components"]);
        assert!(bag.out.contains(&components), "{}", bag.out);
        assert_eq!(told["models"], 3);
    }
    let em = folder.run("learn cars.csv --learner slopp-em --components 2 --json").ok().json();
    assert!(em["origin"].get("effort").is_none(), "{em}");
    folder.run("learn cars.csv --whole").fails(&["--whole belongs to the learner slopp-bag"]);
}
