//! `slopp data split`: one file of records into several.

use crate::args::ReadArgs;
use crate::error::Error;
use crate::input::read_records;
use crate::report::{count, json_count, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp data split records.csv -o my                        my.train.csv, my.valid.csv, my.test.csv
  slopp data split records.csv --shares 0.5,0.5 -o half     half.1.csv, half.2.csv

Records with weights become .wdata files.";

/// Split records at random into parts, by seed
///
/// Three shares make train, valid and test; any other number makes numbered parts. Sizes are exact up to rounding.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SplitArgs {
    /// The records: CSV, .data or .wdata, `-` for stdin
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// The shares of the parts
    #[arg(long, value_name = "SHARES", value_delimiter = ',', num_args = 1, default_value = "0.8,0.1,0.1")]
    shares: Vec<f64>,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How the names of the parts begin
    #[arg(short, long, value_name = "PREFIX")]
    output: String,
}

pub(crate) fn run(args: &SplitArgs, session: &mut Session) -> Result<Verdict, Error> {
    let records = read_records(&args.data, args.read)?;
    let parts = records.split(&args.shares, args.seed)?;
    let name = |i: usize| match parts.len() {
        3 => ["train", "valid", "test"][i].to_owned(),
        _ => (i + 1).to_string(),
    };
    let mut written = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        // CSV has no place for weights.
        let weighted = part.original().len() as f64 != part.total();
        let file = format!("{}.{}.{}", args.output, name(i), if weighted { "wdata" } else { "csv" });
        match weighted {
            true => slopp::io::write_weighted_records(file.as_ref(), part)?,
            false => slopp::io::write_records(file.as_ref(), part, true)?,
        }
        written.push((file, part.total()));
    }
    if session.json {
        let entry = |(file, records): &(String, f64)| {
            object([("file", Value::from(file.as_str())), ("records", json_count(*records))])
        };
        session.document(&object([("parts", written.iter().map(entry).collect())]))?;
    } else {
        for (file, records) in &written {
            session.line(format!("{file}: {} records", count(*records)))?;
        }
    }
    Ok(Verdict::Yes)
}
