//! `slopp possible`: which records a model allows, and what would have to change in the others.

use crate::args::{FormulaText, ModelArgs, ReadArgs, whole};
use crate::error::Error;
use crate::event::unanswered;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::knowledge::LimitArgs;
use crate::report::records as records_in_words;
use crate::report::{changes_in_words, count, is_or_are, json_changes, json_count, json_world, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::Structured;
use slopp::infer::Evidence;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp possible model.psdd orders.csv          what is impossible, and which cells to change
  slopp possible model.psdd --given \"smoker, !cancer\"    is that possible together?";

/// Is each record possible, and if not, what is the nearest possible world?
///
/// Lists the impossible records by their number in the file, with the smallest number of cells that must change and
/// one way to change them, the most probable one if the circuit is deterministic, as `slopp explain` does. Exit code 1
/// if some record is impossible. Also says whether the base is exactly the closed-world formula of the records: all of them
/// possible and nothing else.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PossibleArgs {
    /// The model: a .psdd file of any tool or a .mix file, `-` for stdin; not a .spn file: without a vtree
    /// there is no nearest world
    model: PathBuf,
    /// The vtree of the model, if its file does not hold it
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    /// The records: CSV, .data or .wdata, `-` for stdin
    #[arg(required_unless_present = "given")]
    data: Option<PathBuf>,
    /// Instead of records, one piece of evidence: literals by name, such as "smoker, !cancer", for which the nearest
    /// possible world is given too, or a formula, such as "cancer | xray"; @FILE takes all rules of a file
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true, conflicts_with = "data")]
    given: Option<FormulaText>,
    #[command(flatten)]
    read: ReadArgs,
    /// Print at most this many impossible records; 0 for all; JSON always has all
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole)]
    limit: usize,
}

pub(crate) fn run(args: &PossibleArgs, session: &mut Session) -> Result<Verdict, Error> {
    let model = ModelArgs { model: args.model.clone(), vtree: args.vtree.clone(), limits: args.limits.clone() };
    Files::default()
        .read(model.files())
        .read(&args.data)
        .read(args.given.iter().filter_map(FormulaText::file))
        .check()?;
    let loaded = Loaded::read(&model)?;
    let names = &loaded.model.names;
    let circuits = loaded.structured("what is possible")?;
    let Some(data) = &args.data else { return of_evidence(args, &loaded, circuits, session) };
    let records = read_records_of(data, args.read, names)?;
    let nearest = circuits.nearest_by_column_batch(&records, &args.limits.limits())?;
    let weights = records.weights().iter().zip(&nearest);
    let impossible: f64 = weights.filter(|(_, n)| n.distance > 0).fold(0.0, |sum, (weight, _)| sum + weight);
    let by_record = records.original().iter().map(|&row| row as usize).enumerate();
    let closed_world = match (records.has_missing(), loaded.model.deterministic()) {
        (false, Some(circuit)) => Some(circuit.equals_closed_world(&records)?),
        _ => None,
    };
    let verdict = if impossible > 0.0 { Verdict::No } else { Verdict::Yes };
    if session.json {
        let entry = |(_, row): (usize, usize)| {
            let change = nearest[row].changes(&Evidence::from_row(&records, row));
            object([
                ("possible", Value::Bool(nearest[row].distance == 0)),
                ("distance", Value::from(nearest[row].distance)),
                ("nearest", json_world(names, &nearest[row].world)),
                ("change", json_changes(names, &change)),
            ])
        };
        session.document(&object([
            ("records", json_count(records.total())),
            ("impossible", json_count(impossible)),
            ("equals_closed_world", closed_world.map_or(Value::Null, Value::Bool)),
            ("answers", by_record.map(entry).collect()),
        ]))?;
        return Ok(verdict);
    }
    let all = records_in_words(records.total());
    session.line(format!("{} of {all} {} impossible", count(impossible), is_or_are(impossible)))?;
    if closed_world == Some(true) {
        session.line("and nothing else is possible: the base is the closed-world formula of these records")?;
    }
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let mut faulty = by_record.filter(|&(_, row)| nearest[row].distance > 0);
    for (number, row) in faulty.by_ref().take(limit) {
        let change = nearest[row].changes(&Evidence::from_row(&records, row));
        let change = changes_in_words(names, &change, "cell");
        session.line(format!("record {}: change {change}", count(number as f64 + 1.0)))?;
    }
    let more = faulty.count();
    if more > 0 {
        session.note(format!("{} more; --limit 0 lists all", count(more as f64)));
    }
    Ok(verdict)
}

/// The same question of what is known, without a file.
fn of_evidence(
    args: &PossibleArgs,
    loaded: &Loaded,
    circuits: &dyn Structured,
    session: &mut Session,
) -> Result<Verdict, Error> {
    let names = &loaded.model.names;
    let (asked, limits) = (args.given.as_ref().expect("the parser asks for one of the two"), args.limits.limits());
    let event = asked.question(names, &limits)?;
    let Some(given) = event.literals() else {
        let possible = loaded.model.log_probability_of(&event, &limits).map_err(unanswered)? > f64::NEG_INFINITY;
        match session.json {
            true => session.document(&object([("possible", Value::Bool(possible))]))?,
            false => session.line(if possible { "possible" } else { "impossible" })?,
        }
        return Ok(if possible { Verdict::Yes } else { Verdict::No });
    };
    let nearest = circuits.nearest_by_column(given, names, &limits)?;
    let change = nearest.changes(given);
    if session.json {
        session.document(&object([
            ("possible", Value::Bool(nearest.distance == 0)),
            ("distance", Value::from(nearest.distance)),
            ("nearest", json_world(names, &nearest.world)),
            ("change", json_changes(names, &change)),
        ]))?;
    } else if change.is_empty() {
        session.line("possible")?;
    } else {
        session.line(format!("impossible: change {}", changes_in_words(names, &change, "literal")))?;
    }
    Ok(if change.is_empty() { Verdict::Yes } else { Verdict::No })
}
