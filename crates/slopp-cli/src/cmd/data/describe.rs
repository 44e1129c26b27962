//! `slopp data describe`: what a data set looks like.

use crate::args::{ReadArgs, whole};
use crate::error::Error;
use crate::input::read_records;
use crate::report::{Table, count, facts, json, json_count, object, some_of};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::Var;
use slopp::data::Description;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp data describe records.csv
  slopp data describe nltcs.train.data --pairs 20 --json";

/// What do these records look like? Rows, density, constant columns, strongest pairs
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DescribeArgs {
    /// The records: CSV, .data or .wdata, `-` for stdin
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// How many of the most dependent pairs of variables to list
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole)]
    pairs: usize,
}

pub(crate) fn run(args: &DescribeArgs, session: &mut Session) -> Result<Verdict, Error> {
    let records = read_records(&args.data, args.read)?;
    let names = records.names();
    let found = Description::of(&records, args.pairs);
    if session.json {
        let frequencies = names.iter().zip(&found.frequencies).map(|(name, p)| (name, p.map_or(Value::Null, json)));
        let pairs = found.strongest.iter().map(|pair| {
            object([
                ("a", Value::from(names.of(pair.a))),
                ("b", Value::from(names.of(pair.b))),
                ("mutual_information", json(pair.mutual_information)),
            ])
        });
        session.document(&object([
            ("variables", Value::from(found.variables)),
            ("records", json_count(found.records)),
            ("distinct", Value::from(found.distinct)),
            ("most_frequent", json_count(found.most_frequent)),
            ("density", json(found.density)),
            ("missing", json_count(found.missing)),
            ("constants", object(found.constants.iter().map(|&(x, value)| (names.of(x), Value::Bool(value))))),
            ("frequencies", object(frequencies)),
            ("strongest_pairs", pairs.collect()),
        ]))?;
        return Ok(Verdict::Yes);
    }
    let constants: Vec<String> = found.constants.iter().map(|&(x, value)| names.literal(x.is(value))).collect();
    session.line(facts([
        ("variables", count(found.variables as f64)),
        ("records", count(found.records)),
        ("distinct", count(found.distinct as f64)),
        (
            "most frequent",
            format!("{} time{}", count(found.most_frequent), if found.most_frequent == 1.0 { "" } else { "s" }),
        ),
        ("density", format!("{:.4}", found.density)),
        ("missing cells", count(found.missing)),
        ("constant", if constants.is_empty() { "none".to_owned() } else { some_of(&constants) }),
    ]))?;
    const SHOWN: usize = 40;
    let mut table = Table::titled(["variable", "share of true"]);
    for (i, frequency) in found.frequencies.iter().enumerate().take(SHOWN) {
        table.push([names.quoted(Var(i as u32)).into_owned(), frequency.map_or("-".to_owned(), |p| format!("{p:.4}"))]);
    }
    session.line("")?;
    session.table(&table)?;
    if found.variables > SHOWN {
        session.note(format!("{SHOWN} of {} variables are shown; --json has all", count(found.variables as f64)));
    }
    if !found.strongest.is_empty() {
        let mut table = Table::titled(["pair", "mutual information"]);
        for pair in &found.strongest {
            let both = format!("{}, {}", names.quoted(pair.a), names.quoted(pair.b));
            table.push([both, format!("{:.4}", pair.mutual_information)]);
        }
        session.line("")?;
        session.table(&table)?;
    }
    Ok(Verdict::Yes)
}
