//! `slopp curve`: likelihood against size.

use crate::args::{ColumnArgs, ReadArgs, positive, seed};
use crate::cmd::learn::too_large;
use crate::cmd::vtree::write_text;
use crate::error::Error;
use crate::files::Files;
use crate::incomplete::{Part, check};
use crate::input::{VtreeSource, read_records, read_records_of};
use crate::knowledge::LimitArgs;
use crate::report::{Table, count, logarithm, object, records, score_entries};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::Records;
use slopp::infer::Score;
use slopp::learn::{AtSize, Support, Task, registry};
use slopp::render::plot::Scatter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  slopp curve train.csv --valid valid.csv --test test.csv -o curve.svg
  slopp curve train.csv --points 12 --json";

/// Learn the default learner at several sizes, and plot likelihood against size
///
/// First without a limit, then with --max-elements at a half, a quarter and so on of what that took: relaxed merging
/// goes on until the circuit keeps within its limit. Choose the size that is worth its elements by the validation
/// records, and learn it with `slopp learn --max-elements N`. All are of an open world and without rules; `slopp learn`
/// closes worlds and obeys rules, which takes elements of its own.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CurveArgs {
    /// The training records: CSV, .data or .wdata, gzipped or not, `-` for stdin
    train: PathBuf,
    /// Validation records, to choose by [default: a tenth of TRAIN, by seed]
    #[arg(long, value_name = "FILE")]
    valid: Option<PathBuf>,
    /// Test records, only evaluated
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// The largest number of sizes
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = positive)]
    points: usize,
    /// The vtree, as `slopp learn --vtree` takes it [default: learned]
    #[arg(long, value_name = "VTREE")]
    vtree: Option<String>,
    /// The seed of what is held out
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Draw the curve to this file, as SVG
    #[arg(short, long, value_name = "FILE.svg")]
    output: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// A circuit of the curve.
struct Size {
    limit: Option<usize>,
    elements: usize,
    /// For each part that there is.
    scores: Vec<Score>,
}

pub(crate) fn run(args: &CurveArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let limits = args.limits.limits();
    let source = args.vtree.as_deref().map(|text| VtreeSource::find(text, &limits)).transpose()?;
    let vtree_file = args.vtree.as_ref().map(PathBuf::from);
    let inputs = [Some(&args.train), args.valid.as_ref(), args.test.as_ref(), vtree_file.as_ref()];
    Files::default().read(inputs.into_iter().flatten()).write(&args.output, None).check()?;
    check_svg(args.output.as_deref())?;
    let all = read_records(&args.train, args.read, &args.columns)?;
    let other = |file: &PathBuf| read_records_of(file, args.read, all.names());
    let (train, valid) = match &args.valid {
        Some(file) => (all.clone(), Some(other(file)?)),
        None => all.hold_out(args.seed).map_or_else(|| (all.clone(), None), |(train, held)| (train, Some(held))),
    };
    check(Part::Train, Some(&args.train), &all)?;
    valid.as_ref().map_or(Ok(()), |valid| check(Part::Valid, args.valid.as_deref(), valid))?;
    let test = args.test.as_ref().map(other).transpose()?;
    let parts: Vec<(&str, &Records)> = [("train", Some(&train)), ("valid", valid.as_ref()), ("test", test.as_ref())]
        .into_iter()
        .filter_map(|(name, records)| Some((name, records?)))
        .collect();
    let vtree = source.map(|source| source.build(&train, args.seed)).transpose()?.map(Arc::new);
    let support = Support { limits, ..Support::default() };
    let task = Task { vtree: vtree.as_ref(), support: &support, seed: args.seed, ..Task::new(&train) };
    let task = Task { valid: valid.as_ref(), ..task };
    let bar = session.progress();
    let found = task.sizes(&*registry::default().usual(), args.points, &bar)?;
    drop(bar);
    let size = |AtSize { max_elements, outcome, .. }: AtSize| {
        let model = outcome.model.distribution();
        let scores = parts.iter().map(|(_, records)| Score::of(model, records)).collect::<Result<_, _>>()?;
        Ok(Size { limit: max_elements, elements: outcome.model.most_elements(), scores })
    };
    let sizes = found.into_iter().map(size).collect::<Result<Vec<Size>, Error>>()?;
    let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
    let chart = chart(&names, &sizes);
    if let Some(file) = &args.output {
        write_text(file, &chart)?;
    }
    match session.json {
        true => session.document(&document(&names, &sizes))?,
        false => session.table(&table(&names, &sizes))?,
    }
    if let Some((elements, max)) =
        sizes.iter().find_map(|size| Some((size.elements, size.limit?)).filter(|(n, max)| n > max))
    {
        session.note(too_large(elements, max));
    }
    if let (None, Some(valid)) = (&args.valid, &valid) {
        session.note(format!(
            "{} held out by seed as validation records; --valid FILE gives others",
            records(valid.total())
        ));
    }
    match &args.output {
        Some(file) => session.saved(file),
        None if session.json => {}
        None => session.note("-o curve.svg draws the curve"),
    }
    Ok(Verdict::Yes)
}

/// A picture is SVG, and nothing else.
fn check_svg(output: Option<&Path>) -> Result<(), Error> {
    match output.and_then(Path::extension) {
        Some(ending) if !ending.eq_ignore_ascii_case("svg") => {
            let ending = ending.to_string_lossy();
            Err(Error::new(format!("the curve is drawn as SVG, not as {ending}")).hint("-o curve.svg"))
        }
        _ => Ok(()),
    }
}

fn chart(names: &[&str], sizes: &[Size]) -> String {
    let point = |size: &Size, part: usize| (size.elements, size.scores[part].per_record().unwrap_or(f64::NAN));
    let parts = names.iter().enumerate();
    Scatter::of_sizes(parts.map(|(i, &name)| (name, sizes.iter().map(|size| point(size, i)).collect()))).svg()
}

fn table(names: &[&str], sizes: &[Size]) -> Table {
    let mut table = Table::titled(["--max-elements", "elements"].iter().chain(names).copied());
    for size in sizes {
        let mut cells =
            vec![size.limit.map_or("none".to_owned(), |limit| count(limit as f64)), count(size.elements as f64)];
        cells.extend(size.scores.iter().map(|score| score.per_record().map_or("-".to_owned(), logarithm)));
        table.push(cells);
    }
    table
}

fn document(names: &[&str], sizes: &[Size]) -> Value {
    let size = |size: &Size| {
        let mut entries = vec![
            ("max_elements", size.limit.map_or(Value::Null, Value::from)),
            ("elements", Value::from(size.elements)),
        ];
        entries.extend(names.iter().zip(&size.scores).map(|(name, score)| (*name, object(score_entries(score)))));
        object(entries)
    };
    object([("sizes", sizes.iter().map(size).collect::<Value>())])
}
