//! `slopp data describe`: what a data set looks like.

use crate::args::{ColumnArgs, ReadArgs, whole};
use crate::error::Error;
use crate::input::read_records;
use crate::report::{
    Table, columns_document, count, facts, json, json_count, object, probability, quoted_column, some_of,
};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::data::Description;
use slopp::names::Column;
use slopp::{Records, Var};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp data describe records.csv
  slopp data describe people.csv --bins age=4
  slopp data describe nltcs.train.data --pairs 20 --json";

/// What do these records look like? Rows, density, columns, constants, strongest pairs
///
/// A column that is not Boolean is shown with its values, or the bins its numbers are cut into, as `slopp learn` takes
/// it.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DescribeArgs {
    /// The records: CSV, .data or .wdata, `-` for stdin
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// How many of the most dependent pairs of columns to list
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole)]
    pairs: usize,
}

pub(crate) fn run(args: &DescribeArgs, session: &mut Session) -> Result<Verdict, Error> {
    let records = read_records(&args.data, args.read, &args.columns)?;
    let names = records.names();
    let found = Description::of(&records, args.pairs);
    let columns: Vec<Column<'_>> = names.columns().collect();
    if session.json {
        let frequencies = names.iter().zip(&found.frequencies).map(|(name, p)| (name, p.map_or(Value::Null, json)));
        let pairs = found.strongest.iter().map(|pair| {
            object([
                ("a", Value::from(names.column_name(columns[pair.a]))),
                ("b", Value::from(names.column_name(columns[pair.b]))),
                ("mutual_information", json(pair.mutual_information)),
            ])
        });
        let values = columns_document(names).map(|values| ("columns", values));
        session.document(&object(values.into_iter().chain([
            ("variables", Value::from(found.variables)),
            ("records", json_count(found.records)),
            ("distinct", Value::from(found.distinct)),
            ("most_frequent", json_count(found.most_frequent)),
            ("density", json(found.density)),
            ("missing", json_count(found.missing)),
            ("constants", object(found.constants.iter().map(|&(x, value)| (names.of(x), Value::Bool(value))))),
            ("frequencies", object(frequencies)),
            ("strongest_pairs", pairs.collect()),
        ])))?;
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
    if !names.groups().is_empty() {
        session.line("")?;
        session.table(&columns_table(&records, &found))?;
    }
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
            let both = [pair.a, pair.b].map(|place| quoted_column(names, columns[place])).join(", ");
            table.push([both, format!("{:.4}", pair.mutual_information)]);
        }
        session.line("")?;
        session.table(&table)?;
    }
    Ok(Verdict::Yes)
}

/// The columns with what they hold; values with their share of the known cells.
fn columns_table(records: &Records, found: &Description) -> Table {
    let names = records.names();
    let mut table = Table::titled(["column", "holds", "missing"]);
    let share = |var: Var| found.frequencies[var.index()].map_or("-".to_owned(), probability);
    let missing = |var: Var| records.missing_column(var).map_or(0.0, |missing| records.count(missing));
    for column in names.columns() {
        let (first, holds) = match column {
            Column::Boolean(var) => (var, "true or false".to_owned()),
            Column::Group(group) => {
                let values: Vec<String> =
                    group.values().map(|(var, value)| format!("{value} {}", share(var))).collect();
                (group.vars().next().expect("at least one value"), values.join(", "))
            }
        };
        table.push([names.column_name(column).to_owned(), holds, count(missing(first))]);
    }
    table
}
