//! Products of two models, against enumeration.

use crate::folder::{Folder, MIXTURE, close};
use slopp::circuit::Smoothing;
use slopp::{Model, Psdd, Vtree, example};

/// The paper's example, and the same fitted with more smoothing.
fn folder() -> (Folder, [Psdd; 2]) {
    let folder = Folder::with_paper();
    let records = example::records();
    let other = example::psdd().fit(&records, &Smoothing::uniform(5.0)).unwrap().circuit;
    Model::new(records.names().clone(), other.clone()).save(folder.path("other.psdd")).unwrap();
    (folder, [example::psdd(), other])
}

#[test]
fn products_against_enumeration() {
    let (folder, models) = folder();
    let report = folder.run("product model.psdd other.psdd -o both.psdd --json").ok();
    assert_eq!(
        report.keys(),
        ["constant", "log_constant", "certificate", "elements", "elements_a", "elements_b", "model"]
    );
    let report = report.json();
    let worlds: Vec<Vec<bool>> = (0..16).map(|bits| (0..4).map(|i| bits >> i & 1 == 1).collect()).collect();
    let product = |w: &[bool]| models.iter().map(|m| m.log_probability(w).unwrap().exp()).product::<f64>();
    let constant: f64 = worlds.iter().map(|w| product(w)).sum();
    close(&report["constant"], constant);
    close(&report["log_constant"], constant.ln());
    assert_eq!(report["certificate"], "psdd");
    assert_eq!(folder.run("validate both.psdd").code, 0);
    for w in &worlds {
        let given: Vec<String> = w.iter().enumerate().map(|(i, x)| format!("X{}={}", i + 1, u8::from(*x))).collect();
        let p = folder.run(&format!("prob both.psdd {} --json", given.join(","))).ok().json();
        close(&p["probability"], product(w) / constant);
    }
    let told = folder.run("product model.psdd other.psdd").ok();
    assert!(told.out.contains("log Z = ") && told.out.contains("a PSDD: the primes"), "{}", told.out);
    assert!(told.err.contains("not saved"), "{}", told.err);
}

#[test]
fn refusals_say_what_is_different() {
    let (folder, _) = folder();
    let records = example::records();
    let learner = slopp::learn::Factorised { pseudocount: Some(1.0) };
    let vtree = std::sync::Arc::new(Vtree::right_linear(4));
    let task = slopp::learn::Task { vtree: Some(&vtree), ..slopp::learn::Task::new(&records) };
    let learned = task.learn(&learner, &()).unwrap().model;
    let model = Model::new(records.names().clone(), learned.psdd().unwrap().clone());
    model.save(folder.path("linear.psdd")).unwrap();
    folder.run("product model.psdd linear.psdd").fails(&["vtree", "slopp convert A a.vtree"]);
    folder.write("named.csv", "a,b,c,d\n0,1,1,0\n");
    folder.run("convert model.psdd named.psdd --names named.csv").ok();
    folder.run("product model.psdd named.psdd").fails(&["different variables", "the same columns"]);
    for (rule, file) in [("X1", "yes.psdd"), ("!X1", "no.psdd")] {
        folder.run_args(&["revise", "model.psdd", "--by-rule", rule, "-o", file]).ok();
    }
    folder.run("product yes.psdd no.psdd").fails(&["slopp diff"]);
    folder.run("product model.psdd other.psdd -o other.psdd").fails(&["would be overwritten"]);
    // Circuits that overlap have a product, which is not a PSDD.
    folder.write("overlap.psdd", MIXTURE);
    folder.write("overlap.vtree", "vtree 5\nL 0 1\nL 2 2\nL 4 3\nI 1 0 2\nI 3 1 4\n");
    let square = folder.run("product overlap.psdd overlap.psdd --vtree overlap.vtree --json").ok().json();
    assert_eq!(square["certificate"], "mixture");
}
