//! Queries: element·records per second, and the certificate.

use crate::layered::layered;
use crate::measure::{Bar, Line, Report};
use slopp::learn::World;
use slopp::learn::slopp::{Config, PublishedConfig, Variant, certified, published};
use slopp::learn::vtree::VtreeMethod;
use slopp::{Circuit, Deterministic, Names, Random, Records, RecordsBuilder, Vtree};
use std::sync::Arc;

/// Random records, cells missing with the given probability.
fn records(vars: usize, rows: usize, missing: f64) -> Records {
    let mut random = Random::new(1);
    let mut builder = RecordsBuilder::new(Names::numbered(vars));
    for _ in 0..rows {
        let row: Vec<_> = (0..vars).map(|_| (random.unit() >= missing).then(|| random.unit() < 0.5)).collect();
        builder.push(row, 1.0);
    }
    builder.finish()
}

/// Tree-shaped circuits from a learner, hardest for the kernels: more nodes than elements.
fn learned() -> Vec<Deterministic> {
    let (_, records) = crate::learn::records("jester");
    let vtree = Arc::new(VtreeMethod::ChowLiu.build(&records, 0).expect("few variables"));
    let learn = |parameter_penalty| {
        let config = Config { parameter_penalty, ..Config::new(World::Open) };
        Deterministic::clone(&certified(&records, vtree.clone(), &config, &()).expect("benchmark data can be learned"))
    };
    [1.2, 0.92, 0.5].map(learn).into()
}

/// A query over records, by name, with the rate it must reach at the largest size.
type Query<'a> = (&'a str, f64, bool, &'a (dyn Fn(&Deterministic, &Records) + Sync));

const QUERIES: [Query<'_>; 5] = [
    ("likelihood, complete", 5e9, true, &|c, r| drop(c.log_likelihoods(r))),
    ("counts, complete", 0.0, true, &|c, r| drop(c.count_records(r))),
    ("likelihood, partial", 5e8, false, &|c, r| drop(c.log_likelihoods(r))),
    ("marginals, partial", 0.0, false, &|c, r| drop(c.marginals_batch(r))),
    ("mpe, partial", 0.0, false, &|c, r| drop(c.mpe_batch(r))),
];

pub(crate) fn measure(report: &mut Report) {
    let layered: Vec<Deterministic> = [15_000, 30_000, 60_000].map(|size| layered(&Vtree::balanced(64), size)).into();
    for (kind, circuits) in [("layered", layered), ("learned", learned())] {
        let vars = circuits[0].var_count();
        let (complete, partial) = (records(vars, 8192, 0.0), records(vars, 2048, 0.3));
        for (name, bar, is_complete, query) in QUERIES {
            let what = format!("{name}, {kind}");
            let all = if is_complete { &complete } else { &partial };
            let measured = |circuit: &Deterministic,
                            records: &Records,
                            size: String,
                            report: &mut Report,
                            what: &str,
                            bar: Bar| {
                let work = (circuit.elements().len() * records.len()) as f64;
                report.time(Line { what, size, work, unit: "element·rec", bar }, || query(circuit, records));
            };
            for (i, circuit) in circuits.iter().enumerate() {
                let bar = if i == 2 && bar > 0.0 { Bar::Rate(bar) } else { Bar::None };
                measured(circuit, all, format!("{} elements", circuit.elements().len()), report, &what, bar);
            }
            for rows in [all.len() / 4, all.len() / 2, all.len()] {
                let part = all.subset(|row| row < rows);
                let what = format!("{what}, records");
                measured(&circuits[2], &part, format!("{rows} records"), report, &what, Bar::None);
            }
        }
        for circuit in &circuits {
            let nodes = circuit.nodes().len();
            let what = format!("certificate, {kind}");
            let line = Line {
                what: &what,
                size: format!("{nodes} nodes"),
                work: nodes as f64,
                unit: "nodes",
                bar: Bar::Seconds(0.2),
            };
            let circuit: &Circuit = circuit;
            report.time(line, || circuit.clone().certify_deterministic().is_ok());
        }
    }
    let (name, plants) = crate::learn::records("plants");
    let vtree = Arc::new(VtreeMethod::ChowLiu.build(&plants, 0).expect("few variables"));
    for d in [2000, 200, 20] {
        let config = PublishedConfig::new(Variant::Notebook, 3, d);
        let (circuit, _) = published(&plants, vtree.clone(), &config, &()).expect("benchmark data can be learned");
        let size = circuit.stats().size_paper;
        let line = Line {
            what: "certificate, slopp-kmeans",
            size: format!("{name} {size}"),
            work: size as f64,
            unit: "nodes",
            bar: Bar::Seconds(0.2),
        };
        report.time(line, || circuit.overlaps(1));
    }
}
