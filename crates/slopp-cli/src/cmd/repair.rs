//! `slopp repair`: impossible records, changed as little as possible.

use crate::args::{ModelArgs, ReadArgs};
use crate::cmd::explain::{broken_rule, explanations};
use crate::error::Error;
use crate::files::Files;
use crate::input::{LoadedModel, read_records_of};
use crate::report::records as records_in_words;
use crate::report::{changes_in_words, count, json_changes, json_count, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::infer::{Evidence, Explanation};
use slopp::{Lit, Records, RecordsBuilder};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  slopp repair model.psdd orders.csv -o repaired.csv
  slopp repair model.psdd orders.csv -o repaired.csv --json > changes.json";

/// Change impossible records as little as possible, into the most probable of the nearest possible worlds
///
/// Writes a new file and leaves the original alone; every changed cell is reported. Records that are possible stay as
/// they are, missing cells stay missing. Columns that the model does not have are not written. Records with weights are
/// written as .wdata, others as CSV with names.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The records: CSV, .data or .wdata, `-` for stdin
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Write the repaired records to this file, `-` for stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &RepairArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to([&args.output])?;
    Files::default().read(args.model.files()).read([&args.data]).write([&args.output]).check()?;
    let loaded = LoadedModel::read(&args.model)?;
    let circuit = loaded.deterministic("the most probable of the nearest worlds")?;
    let names = &loaded.model.names;
    let records = read_records_of(&args.data, args.read, names)?;
    let explanations = explanations(circuit, &records, 1)?;
    let changes: Vec<Vec<Lit>> = (0..records.len()).map(|row| change(&records, row, &explanations[row])).collect();
    let repaired = with_changes(&records, &changes);
    write(&args.output, &records, &repaired)?;
    let changed = records.original().iter().enumerate().filter(|(_, row)| !changes[**row as usize].is_empty());
    let weight: f64 =
        records.weights().iter().zip(&changes).filter(|(_, change)| !change.is_empty()).map(|(w, _)| w).sum();
    if session.json {
        let entry = |(i, &row): (usize, &u32)| {
            let found = explanations[row as usize].as_ref().expect("only impossible records change");
            object([
                ("record", Value::from(i + 1)),
                ("rule", Value::from(broken_rule(&found.conflict).display(names).to_string())),
                ("change", json_changes(names, &changes[row as usize])),
            ])
        };
        session.document(&object([
            ("records", json_count(records.total())),
            ("repaired", json_count(weight)),
            ("changes", changed.map(entry).collect()),
            ("output", Value::from(args.output.display().to_string())),
        ]))?;
    } else {
        let all = records_in_words(records.total());
        session.line(format!("{} of {all} changed", count(weight)))?;
        for (i, &row) in changed {
            let change = changes_in_words(names, &changes[row as usize], "cell");
            session.line(format!("record {}: {change}", count(i as f64 + 1.0)))?;
        }
    }
    session.saved(&args.output);
    Ok(Verdict::Yes)
}

/// The cells of a row that must change.
fn change(records: &Records, row: usize, found: &Option<Explanation>) -> Vec<Lit> {
    let near = found.as_ref().and_then(|found| found.repairs.first());
    near.map_or_else(Vec::new, |near| near.changes(&Evidence::from_row(records, row)))
}

/// The records in their order with changed cells; each distinct row once with its weight if there are weights.
pub(crate) fn with_changes(records: &Records, changes: &[Vec<Lit>]) -> Records {
    let mut builder = RecordsBuilder::new(records.names().clone());
    let mut push = |row: usize, weight: f64| {
        let mut cells: Vec<Option<bool>> = records.row(row).collect();
        changes[row].iter().for_each(|lit| cells[lit.var.index()] = Some(lit.value));
        builder.push(cells, weight);
    };
    match has_weights(records) {
        false => records.original().iter().for_each(|&row| push(row as usize, 1.0)),
        true => (0..records.len()).for_each(|row| push(row, records.weights()[row])),
    }
    builder.finish()
}

/// Whether records stand for more or less than themselves.
fn has_weights(records: &Records) -> bool {
    let mut repeated = vec![0.0; records.len()];
    records.original().iter().for_each(|&row| repeated[row as usize] += 1.0);
    repeated != records.weights()
}

fn write(output: &Path, original: &Records, repaired: &Records) -> Result<(), Error> {
    match has_weights(original) {
        true => slopp::io::write_weighted_records(output, repaired)?,
        false => slopp::io::write_records(output, repaired, true)?,
    }
    Ok(())
}
