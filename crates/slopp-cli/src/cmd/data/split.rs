//! `slopp data split`: one file of records into several.

use crate::args::{ColumnArgs, ReadArgs, check_shares, not_negative, seed, shares_in_words};
use crate::error::Error;
use crate::files::Files;
use crate::input::read_records;
use crate::report::{json_count, object, records};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::io::Content;
use slopp::io::{write_records, write_together, write_weighted_records};
use slopp::{Names, Records};
use std::io::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp data split records.csv -o my                        my.train.csv, my.valid.csv, my.test.csv
  slopp data split records.csv --shares 0.5,0.5 -o half     half.1.csv, half.2.csv

Records with weights become .wdata files, with names if the columns have names.";

/// Split records into parts at random
///
/// Three shares make the parts train, valid and test; any other number of shares makes numbered parts. Sizes are exact
/// up to rounding. The same seed gives the same parts.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SplitArgs {
    /// The records: CSV, .data or .wdata, `-` for stdin
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// The shares of the parts, separated by commas
    #[arg(long, value_name = "SHARES", value_delimiter = ',', num_args = 1, allow_hyphen_values = true,
        value_parser = not_negative, default_value = "0.8,0.1,0.1")]
    shares: Vec<f64>,
    /// The seed of the split
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// Begin the names of the parts with this
    #[arg(short, long, value_name = "PREFIX")]
    output: String,
}

pub(crate) fn run(args: &SplitArgs, session: &mut Session) -> Result<Verdict, Error> {
    check_shares("--shares", &args.shares)?;
    let name = |i: usize| match args.shares.len() {
        3 => ["train", "valid", "test"][i].to_owned(),
        _ => (i + 1).to_string(),
    };
    let all = (0..args.shares.len()).flat_map(|i| ["csv", "wdata"].map(|ending| (i, ending)));
    let outputs: Vec<PathBuf> = all.map(|(i, ending)| format!("{}.{}.{ending}", args.output, name(i)).into()).collect();
    Files::default().read([&args.data]).write(&outputs, Content::Records).check()?;
    shares_in_words(&args.shares).into_iter().for_each(|words| session.note(words));
    let data = read_records(&args.data, args.read, &args.columns)?;
    let parts = data.split(&args.shares, args.seed)?;
    // CSV has no place for weights; numbers need no names, as in the files of LearnPSDD.
    let (weighted, header) = (data.is_weighted(), **data.names() != Names::numbered(data.var_count()));
    let ending = if weighted { "wdata" } else { "csv" };
    let files: Vec<String> = (0..parts.len()).map(|i| format!("{}.{}.{ending}", args.output, name(i))).collect();
    let content = |part| {
        move |out: &mut dyn Write| match weighted {
            true => write_weighted_records(out, part, header),
            false => write_records(out, part, true),
        }
    };
    write_together(files.iter().zip(&parts).map(|(file, part)| (file.as_ref(), content(part))))?;
    let written: Vec<(String, f64)> = files.into_iter().zip(parts.iter().map(Records::total)).collect();
    if session.json {
        let entry = |(file, number): &(String, f64)| {
            object([("file", Value::from(file.as_str())), ("records", json_count(*number))])
        };
        session.document(&object([("parts", written.iter().map(entry).collect())]))?;
    } else {
        for (file, number) in &written {
            session.line(format!("{file}: {}", records(*number)))?;
        }
    }
    Ok(Verdict::Yes)
}
