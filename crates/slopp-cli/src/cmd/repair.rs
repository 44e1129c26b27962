//! `slopp repair`: impossible records, changed as little as possible.

use crate::args::{CircuitArgs, ReadArgs};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, options_over, read_records_and_text};
use crate::report::records as records_in_words;
use crate::report::{changes_in_words, count, json_changes, json_count, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::infer::{Evidence, Explanation};
use slopp::io::Content;
use slopp::names::Group;
use slopp::{Lit, Records};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp repair model.psdd orders.csv -o repaired.csv
  slopp repair model.psdd orders.csv -o repaired.csv --json > changes.json";

/// Change impossible records as little as possible, into the most probable of the nearest possible worlds
///
/// Writes a new file and leaves the original alone; every changed cell is reported. All other cells, and records that
/// are possible, stay byte for byte as they are: numbers, words, quotes, the order of columns; missing cells stay
/// missing. A Boolean cell gets the opposite word in the same spelling. Where a number must be in another bin, the cell
/// gets the name of the bin, which reads back as that bin: the model does not know which number it would be.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    model: CircuitArgs,
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
    Files::default().read(args.model.files()).read([&args.data]).write([&args.output], Content::Records).check()?;
    let loaded = Loaded::read_circuit(&args.model)?;
    let circuit = loaded.deterministic("the most probable of the nearest worlds")?;
    let names = &loaded.model.names;
    let (records, text) = read_records_and_text(&args.data, args.read, names)?;
    let explanations = circuit.explain_batch(&records, 1, &args.model.limits.limits())?;
    let changes: Vec<Vec<Lit>> = (0..records.len()).map(|row| change(&records, row, &explanations[row])).collect();
    let options = options_over(args.read, names);
    let change_of = |record: usize| &changes[records.original()[record] as usize][..];
    slopp::io::write_atomically(&args.output, |out| {
        slopp::io::write_changed_records(out, &text, &options, names, change_of)
    })?;
    let changed = records.original().iter().enumerate().filter(|(_, row)| !changes[**row as usize].is_empty());
    let weight: f64 =
        records.weights().iter().zip(&changes).filter(|(_, change)| !change.is_empty()).map(|(w, _)| w).sum();
    if session.json {
        let entry = |(i, &row): (usize, &u32)| {
            let found = explanations[row as usize].as_ref().expect("only impossible records change");
            object([
                ("record", Value::from(i + 1)),
                ("rule", Value::from(found.rule().display(names).to_string())),
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
        let binned = |group: &&Group| {
            let changed = |lit: &Lit| group.contains(lit.var);
            group.cuts().is_some() && changes.iter().flatten().any(changed)
        };
        for group in names.groups().iter().filter(binned) {
            let name = group.name();
            session.note(format!("changed cells of {name} hold the name of a bin: any number in it will do"));
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
