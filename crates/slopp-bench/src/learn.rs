//! Learning: time by records, memory without the data.

use crate::measure::{Bar, Line, Report};
use slopp::io::{RecordsOptions, read_records};
use slopp::learn::VtreeMethod;
use slopp::learn::{Learner, Slopp, SloppKmeans, SloppTree, Task, Variant};
use slopp::{Circuit, Records, RecordsBuilder, Weights};
use std::mem::size_of;
use std::sync::Arc;

/// The training records of a benchmark data set, or generated ones of about the same size.
pub(crate) fn records(name: &str) -> (String, Records) {
    match slopp_oracle::shared(&format!("data/{name}/{name}.train.data.gz")) {
        Some(path) => {
            (name.to_owned(), read_records(&path, &RecordsOptions::default()).expect("benchmark data is sound"))
        }
        None => ("generated".to_owned(), slopp::example::Truth::configurations().sample(17_000, 0)),
    }
}

/// The first `share` of the records.
fn part(records: &Records, share: f64) -> Records {
    let mut builder = RecordsBuilder::new(records.names().clone());
    let wanted = (records.original().len() as f64 * share) as usize;
    for &row in &records.original()[..wanted] {
        builder.push(records.row(row as usize), 1.0);
    }
    builder.finish()
}

/// Pair counts and learned vtrees, by the pairs of variables.
fn measure_vtrees(report: &mut Report) {
    for method in [VtreeMethod::ChowLiu, VtreeMethod::ChowLiuLinear, VtreeMethod::MiTopDown, VtreeMethod::MiBottomUp] {
        for name in ["plants", "accidents", "kosarek"] {
            let (name, records) = records(name);
            let pairs = (records.var_count() * records.var_count() / 2) as f64;
            let what = format!("vtree {method}");
            let size = format!("{name} {}", records.var_count());
            report.time(Line { what: &what, size, work: pairs, unit: "pairs", bar: Bar::None }, || {
                method.build(&records, 0)
            });
        }
    }
}

pub(crate) fn measure(report: &mut Report) {
    measure_vtrees(report);
    let (k_means, tree) = (SloppKmeans::new(Variant::Notebook, 3, 20), SloppTree::default());
    for (name, notebook, certified_bar, merged_bar) in [("nltcs", 0.05, 0.05, 0.05), ("plants", 1.0, 0.5, 0.6)] {
        let (name, all) = records(name);
        let vtree = Arc::new(VtreeMethod::ChowLiu.build(&all, 0).expect("few variables"));
        for share in [0.25, 0.5, 1.0] {
            let records = part(&all, share);
            let line = |what, bar: f64| Line {
                what,
                size: format!("{name} {}", records.total()),
                work: records.total(),
                unit: "records",
                bar: if share == 1.0 { Bar::Seconds(bar) } else { Bar::None },
            };
            let task = Task { vtree: Some(&vtree), ..Task::closed(&records) };
            report.time(line("learn slopp-kmeans notebook", notebook), || task.learn(&k_means, &()));
        }
        for share in [0.25, 0.5, 1.0] {
            let records = part(&all, share);
            let bar = if share == 1.0 { Bar::Seconds(certified_bar) } else { Bar::None };
            let size = format!("{name} {}", records.total());
            let line = Line { what: "learn slopp-tree, certified", size, work: records.total(), unit: "records", bar };
            let task = Task { vtree: Some(&vtree), ..Task::new(&records) };
            report.time(line, || tree.find(&task, &()));
        }
        for share in [0.25, 0.5, 1.0] {
            let records = part(&all, share);
            let bar = if share == 1.0 { Bar::Seconds(merged_bar) } else { Bar::None };
            let size = format!("{name} {}", records.total());
            let line = Line { what: "learn slopp, merged", size, work: records.total(), unit: "records", bar };
            report.time(line, || Task::new(&records).learn(&Slopp::default(), &()));
        }
        // A bit per cell of every record, repetitions included.
        let packed = (all.total() * all.var_count() as f64) / 8.0;
        let [open, closed] = [Task::new(&all), Task::closed(&all)].map(|task| Task { vtree: Some(&vtree), ..task });
        let made = tree.find(&open, &()).expect("benchmark data can be learned").model;
        let limit = 20.0 * packed + bytes(made.psdd().expect("always a PSDD"));
        report.memory("memory of slopp-tree, certified", &name, limit, || tree.find(&open, &()));
        let made = closed.learn(&k_means, &()).expect("benchmark data can be learned").model;
        let limit = 20.0 * packed + bytes(made.circuit().expect("always a circuit"));
        report.memory("memory of slopp-kmeans", &name, limit, || closed.learn(&k_means, &()));
    }
}

/// The memory a circuit takes: nodes, elements, parameters and counts.
fn bytes(circuit: &Circuit) -> f64 {
    let weights = |w: &Weights| w.tops.len() * size_of::<[f64; 2]>() + w.elements.len() * size_of::<f64>();
    let structure = size_of_val(circuit.nodes()) + size_of_val(circuit.elements());
    (structure + weights(circuit.log_parameters()) + circuit.counts().map_or(0, weights)) as f64
}
