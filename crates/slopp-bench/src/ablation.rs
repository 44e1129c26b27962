//! What each step of SLoPP with merged classes is worth: `cargo xtask bench ablation`.

use slopp::io::{RecordsOptions, read_records};
use slopp::learn::VtreeMethod;
use slopp::learn::{Slopp, SloppTree, Start, Task};
use slopp::{Records, Vtree};
use std::sync::Arc;

const DATASETS: [&str; 6] = ["nltcs", "plants", "jester", "accidents", "dna", "tmovie"];

/// A step, and the settings that stop there.
type Row = (&'static str, fn(&Slopp) -> Slopp);

const ROWS: [Row; 7] = [
    ("one class per variable", |c| Slopp { max_classes: 1, sweeps: 0, clone_depth: 0, ..c.clone() }),
    ("merged classes", |c| Slopp { starts: vec![Start::Whole(1.0)], sweeps: 0, clone_depth: 0, ..c.clone() }),
    ("the better of two starts", |c| Slopp { sweeps: 0, clone_depth: 0, ..c.clone() }),
    ("with sweeps", |c| Slopp { clone_depth: 0, ..c.clone() }),
    ("with clones, no sweeps", |c| Slopp { sweeps: 0, ..c.clone() }),
    ("with both: fast", Slopp::clone),
    ("fast, no choice of smoothing", |c| Slopp { pseudocounts: vec![2.0], ..c.clone() }),
];

pub(crate) fn measure() {
    println!("Test log-likelihood per record (elements), settings chosen by the validation records.\n");
    println!("| | {} |\n|---|{}", DATASETS.join(" | "), "--:|".repeat(DATASETS.len()));
    let data: Vec<[Records; 3]> = DATASETS.iter().filter_map(|name| parts(name)).collect();
    if data.len() < DATASETS.len() {
        println!("the benchmark data are not there: SLOPP_DATA names their folder");
        return;
    }
    let row = |what: &str, learned: &dyn Fn(&[Records; 3]) -> slopp::Psdd| {
        let cell = |parts: &[Records; 3]| {
            let psdd = learned(parts);
            let logs = psdd.log_likelihoods(&parts[2]).expect("the same variables");
            let sum: f64 = logs.iter().zip(parts[2].weights()).map(|(log, weight)| log * weight).sum();
            format!("{:.3} ({})", sum / parts[2].total(), psdd.elements().len())
        };
        println!("| {what} | {} |", data.iter().map(cell).collect::<Vec<_>>().join(" | "));
    };
    row("separating trees, no merging", &|[train, ..]| {
        let model = Task::new(train).learn(&SloppTree::default(), &()).expect("benchmark data").model;
        model.into_psdd().expect("always a PSDD")
    });
    let on = |vtree: Option<&Arc<Vtree>>, [train, valid, _]: &[Records; 3], config: &Slopp| {
        let task = Task { valid: Some(valid), vtree, ..Task::new(train) };
        task.learn(config, &()).expect("benchmark data").model.into_psdd().expect("always a PSDD")
    };
    for (what, settings) in ROWS {
        let config = settings(&Slopp::default());
        row(what, &|parts| on(None, parts, &config));
    }
    row("on the Chow-Liu vtree", &|parts| {
        let vtree = Arc::new(VtreeMethod::ChowLiu.build(&parts[0], 0).expect("benchmark data"));
        on(Some(&vtree), parts, &Slopp::default())
    });
    row("in the order of the file", &|parts| {
        let vtree = Arc::new(Vtree::right_linear(parts[0].var_count()));
        on(Some(&vtree), parts, &Slopp::default())
    });
}

/// Training, validation and test records of a benchmark dataset.
fn parts(name: &str) -> Option<[Records; 3]> {
    let read = |part: &str| {
        let file = slopp_oracle::shared(&format!("data/{name}/{name}.{part}.data.gz"))?;
        Some(read_records(&file, &RecordsOptions::default()).expect("benchmark data is sound"))
    };
    Some([read("train")?, read("valid")?, read("test")?])
}
