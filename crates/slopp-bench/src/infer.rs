//! Queries: element·records per second, and the certificate.

use crate::measure::{Bar, Line, Report};
use slopp::learn::World;
use slopp::learn::slopp::{Config, PublishedConfig, Variant, certified, published};
use slopp::learn::vtree::VtreeMethod;
use slopp::{Circuit, Psdd, Records, RecordsBuilder};
use std::sync::Arc;

/// Certified circuits of about 12, 25 and 50 thousand elements, and records to ask them about.
fn circuits() -> (Vec<Psdd>, Records) {
    let (_, records) = crate::learn::records("jester");
    let vtree = Arc::new(VtreeMethod::ChowLiu.build(&records, 0).expect("few variables"));
    let penalties = [1.2, 0.92, 0.5];
    let learn = |penalty| {
        let config = Config { parameter_penalty: penalty, ..Config::new(World::Open) };
        certified(&records, vtree.clone(), &config, &()).expect("benchmark data can be learned")
    };
    (penalties.map(learn).into(), records)
}

/// The same records with every third cell missing.
fn partial(records: &Records) -> Records {
    let mut builder = RecordsBuilder::new(records.names().clone());
    for row in 0..records.len() {
        builder.push(records.row(row).enumerate().map(|(i, cell)| cell.filter(|_| (i + row) % 3 != 0)), 1.0);
    }
    builder.finish()
}

fn subset(records: &Records, rows: usize) -> Records {
    let mut builder = RecordsBuilder::new(records.names().clone());
    (0..rows.min(records.len())).for_each(|row| builder.push(records.row(row), 1.0));
    builder.finish()
}

pub(crate) fn measure(report: &mut Report) {
    let (circuits, records) = circuits();
    let incomplete = partial(&subset(&records, 2048));
    let element_records = |circuit: &Circuit, records: &Records| (circuit.elements().len() * records.len()) as f64;
    fn line<'a>(what: &'a str, size: String, work: f64, bar: f64) -> Line<'a> {
        Line { what, size, work, unit: "element·rec", bar: Bar::Rate(bar) }
    }
    for psdd in &circuits {
        let size = format!("{} elements", psdd.elements().len());
        report.time(line("likelihood, complete", size, element_records(psdd, &records), 5e9), || {
            psdd.log_likelihoods(&records)
        });
    }
    let largest = circuits.last().expect("three circuits");
    for rows in [records.len() / 4, records.len() / 2, records.len()] {
        let part = subset(&records, rows);
        let work = element_records(largest, &part);
        report.time(line("likelihood, complete ", format!("{rows} records"), work, 5e9), || {
            largest.log_likelihoods(&part)
        });
    }
    for psdd in &circuits {
        let size = format!("{} elements", psdd.elements().len());
        let work = element_records(psdd, &incomplete);
        report.time(line("likelihood, partial", size, work, 5e8), || psdd.log_likelihoods(&incomplete));
    }
    for rows in [512, 1024, 2048] {
        let part = subset(&incomplete, rows);
        let work = element_records(largest, &part);
        report.time(line("likelihood, partial ", format!("{rows} records"), work, 5e8), || {
            largest.log_likelihoods(&part)
        });
    }
    for psdd in &circuits {
        let size = format!("{} elements", psdd.elements().len());
        let part = subset(&incomplete, 512);
        let work = element_records(psdd, &part);
        let line = Line { what: "marginals, partial", size, work, unit: "element·rec", bar: Bar::None };
        report.time(line, || psdd.marginals_batch(&part));
    }
    for psdd in &circuits {
        let size = format!("{} nodes", psdd.nodes().len());
        let line = Line {
            what: "certificate, certified",
            size,
            work: psdd.nodes().len() as f64,
            unit: "nodes",
            bar: Bar::Seconds(0.2),
        };
        let circuit: &Circuit = psdd;
        report.time(line, || circuit.clone().certify().is_ok());
    }
    let (_, plants) = crate::learn::records("plants");
    let vtree = Arc::new(VtreeMethod::ChowLiu.build(&plants, 0).expect("few variables"));
    let (circuit, _) =
        published(&plants, vtree, &PublishedConfig::new(Variant::Notebook, 3, 20), &()).expect("can be learned");
    let size = circuit.stats().size_paper;
    let line = Line {
        what: "certificate, slopp-kmeans",
        size: format!("{size} size"),
        work: size as f64,
        unit: "nodes",
        bar: Bar::Seconds(0.2),
    };
    report.time(line, || circuit.overlaps(1));
}
