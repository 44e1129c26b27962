//! What each step of merged SLoPP is worth: `cargo xtask bench ablation`.

use slopp::Records;
use slopp::io::{RecordsOptions, read_records};
use slopp::learn::merged::{self, Config, Start};
use slopp::learn::{World, slopp as separating, vtree::VtreeMethod};
use std::sync::Arc;

const DATASETS: [&str; 6] = ["nltcs", "plants", "jester", "accidents", "dna", "tmovie"];

/// A step, and the settings that stop there.
type Row = (&'static str, fn(&Config) -> Config);

const ROWS: [Row; 7] = [
    ("one class per variable", |c| Config { max_classes: 1, sweeps: 0, clone_depth: 0, ..c.clone() }),
    ("merged classes", |c| Config { starts: vec![Start::Whole(1.0)], sweeps: 0, clone_depth: 0, ..c.clone() }),
    ("the better of two starts", |c| Config { sweeps: 0, clone_depth: 0, ..c.clone() }),
    ("with sweeps", |c| Config { clone_depth: 0, ..c.clone() }),
    ("with clones, no sweeps", |c| Config { sweeps: 0, ..c.clone() }),
    ("with both: fast", Config::clone),
    ("fast, no choice of smoothing", |c| Config { pseudocounts: vec![2.0], ..c.clone() }),
];

pub(crate) fn measure() {
    println!("Test log-likelihood per record (elements), settings chosen by the validation records.\n");
    println!("| | {} |\n|---|{}", DATASETS.join(" | "), "--:|".repeat(DATASETS.len()));
    let data: Vec<[Records; 3]> = DATASETS.iter().filter_map(|name| parts(name)).collect();
    if data.len() < DATASETS.len() {
        println!("the benchmark data are not there: SLOPP_DATA names their folder");
        return;
    }
    let tell = |what: &str, learned: &dyn Fn(&[Records; 3]) -> slopp::Psdd| {
        let cell = |parts: &[Records; 3]| {
            let psdd = learned(parts);
            let logs = psdd.log_likelihoods(&parts[2]).expect("the same variables");
            let sum: f64 = logs.iter().zip(parts[2].weights()).map(|(log, weight)| log * weight).sum();
            format!("{:.3} ({})", sum / parts[2].total(), psdd.elements().len())
        };
        println!("| {what} | {} |", data.iter().map(cell).collect::<Vec<_>>().join(" | "));
    };
    tell("separating trees, no merging", &|[train, ..]| {
        let vtree = Arc::new(VtreeMethod::ChowLiu.build(train, 0).expect("benchmark data"));
        separating::certified(train, vtree, &separating::Config::new(World::Open), &()).expect("benchmark data")
    });
    for (what, settings) in ROWS {
        let config = settings(&Config::new(World::Open));
        tell(what, &|[train, valid, _]| merged::learn(train, Some(valid), &config, &()).expect("benchmark data").psdd);
    }
    tell("on the Chow-Liu vtree", &|[train, valid, _]| {
        let vtree = Some(Arc::new(VtreeMethod::ChowLiu.build(train, 0).expect("benchmark data")));
        let config = Config { vtree, ..Config::new(World::Open) };
        merged::learn(train, Some(valid), &config, &()).expect("benchmark data").psdd
    });
    tell("in the order of the file", &|[train, valid, _]| {
        let vtree = Some(Arc::new(slopp::Vtree::right_linear(train.var_count())));
        let config = Config { vtree, ..Config::new(World::Open) };
        merged::learn(train, Some(valid), &config, &()).expect("benchmark data").psdd
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
