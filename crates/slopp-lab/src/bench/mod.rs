//! `slopp bench`: learners on datasets, side by side.

mod cell;
mod datasets;
mod learner;
mod published;
mod registry;
mod report;
mod results;
mod summary;

pub(crate) use cell::{CellArgs, run as run_cell};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command};
use learner::Entry;
use results::{Results, Row};
use serde_json::Value;
use slopp::Progress;
use slopp_cli::{ColumnArgs, Error, Session, Table, Verdict, count, counted, logarithm, object};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Rows of another version are measured again.
const VERSION: &str = env!("CARGO_PKG_VERSION");

const EXAMPLES: &str = "\
Examples:
  git clone https://github.com/UCLA-StarAI/Density-Estimation-Datasets
  slopp bench --data Density-Estimation-Datasets --datasets nltcs,plants --report report
  slopp bench --data mine --datasets people --bins age=4
  slopp bench --report report    only the report, of what is measured already";

/// Measure learners on the twenty benchmark datasets
///
/// Every learner runs on every dataset in a process of its own. Hyper-parameters are chosen on the validation part,
/// never on the test part. A row is appended to the results as soon as it is measured: stop when you like, and start
/// again with the same command; what is in the file is not measured twice.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    /// The folder of the datasets, which holds NAME/NAME.{train,valid,test}.data or .csv, plain or .gz
    #[arg(long, value_name = "DIR", required_unless_present = "report")]
    data: Option<PathBuf>,
    /// Only these datasets [default: all in DIR]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "data")]
    datasets: Option<Vec<String>>,
    /// Only these learners [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "data",
        value_parser = Trimmed(PossibleValuesParser::new(registry::ALL.iter().map(|learner| learner.name))))]
    learners: Option<Vec<String>>,
    /// The results, one row per line; `-` is stdout, which cannot be resumed
    #[arg(long, value_name = "FILE", default_value = "bench.jsonl")]
    out: PathBuf,
    /// Write report.md and report.html of all results into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    columns: ColumnArgs,
}

pub(crate) fn run(args: &BenchArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to([&args.out])?;
    let outcome = match &args.data {
        Some(data) => measure(args, data, session)?,
        None => Outcome { rows: results::read(&args.out)?, ..Outcome::default() },
    };
    if let Some(folder) = &args.report {
        match (&args.data, args.out == Path::new("-")) {
            (Some(_), false) => report::write(folder, &results::read(&args.out)?)?,
            _ => report::write(folder, &outcome.rows)?,
        }
    }
    print(args, &outcome, session)?;
    outcome.verdict(session)
}

/// Takes names with blanks around them, as people put them after commas.
#[derive(Clone)]
struct Trimmed(PossibleValuesParser);

impl TypedValueParser for Trimmed {
    type Value = String;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let trimmed = value.to_str().map_or(value, |text| OsStr::new(text.trim()));
        self.0.parse_ref(cmd, arg, trimmed)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// What a run gave.
#[derive(Default)]
struct Outcome {
    /// The rows that were asked for, also those of an earlier run.
    rows: Vec<Row>,
    /// How many of them an earlier run measured.
    earlier: usize,
    failed: Vec<Failure>,
}

/// A cell without a row.
struct Failure {
    dataset: String,
    learner: &'static str,
    why: String,
}

impl Outcome {
    /// Cells that failed were reported at once; with --quiet they are reported together at the end.
    fn verdict(&self, session: &Session) -> Result<Verdict, Error> {
        if self.failed.is_empty() {
            return Ok(Verdict::Yes);
        }
        let (failed, cells) = (self.failed.len(), self.rows.len() + self.failed.len());
        let summary = format!("{failed} of {} could not be measured", counted(cells, "cell"));
        let lines = self.failed.iter().rev().filter(|_| session.is_quiet());
        let mut lines = lines.map(|f| format!("{} on {}: {}", f.learner, f.dataset, f.why));
        let error = match lines.next() {
            None => Error::new(summary),
            Some(last) => lines.fold(Error::new(last), Error::while_doing).while_doing(summary),
        };
        Err(error.hint("the same command again measures only these"))
    }
}

/// Measures every cell that the results do not have yet.
fn measure(args: &BenchArgs, data: &Path, session: &Session) -> Result<Outcome, Error> {
    let datasets = datasets::choose(data, args.datasets.as_deref())?;
    args.columns.options()?;
    let columns = args.columns.given();
    let chosen =
        |learner: &&Entry| args.learners.as_ref().is_none_or(|names| names.iter().any(|name| name == learner.name));
    let learners: Vec<&Entry> = registry::ALL.iter().filter(chosen).collect();
    let mut results = Results::open(&args.out)?;
    let mut outcome = Outcome::default();
    let mut cells = Vec::new();
    for dataset in &datasets {
        for &learner in &learners {
            let done = |row: &&Row| {
                row.dataset == *dataset
                    && row.learner == learner.name
                    && row.seed == args.seed
                    && row.version == VERSION
                    && learner.made(&row.settings)
                    && row.settings["columns"].as_array().map_or(&[][..], Vec::as_slice) == columns
            };
            match results.rows.iter().find(done) {
                Some(row) => outcome.rows.push(row.clone()),
                None => cells.push((dataset, learner)),
            }
        }
    }
    outcome.earlier = outcome.rows.len();
    let bar = session.progress();
    bar.begin("", cells.len() as u64);
    for (dataset, learner) in cells {
        bar.say(format!("{} on {dataset}", learner.name));
        match cell::measure(data, dataset, learner.name, args.seed, &args.columns) {
            Ok(row) => {
                results.push(row.clone())?;
                outcome.rows.push(row);
            }
            Err(why) => {
                // Told at once: the end may be hours away.
                session.note(format!("{} on {dataset}: {why}", learner.name));
                outcome.failed.push(Failure { dataset: dataset.clone(), learner: learner.name, why });
            }
        }
        bar.advance(1);
    }
    Ok(outcome)
}

fn print(args: &BenchArgs, outcome: &Outcome, session: &mut Session) -> Result<(), Error> {
    if session.json {
        let failed = outcome.failed.iter().map(|f| {
            object([
                ("dataset", f.dataset.as_str().into()),
                ("learner", f.learner.into()),
                ("why", f.why.as_str().into()),
            ])
        });
        return session.document(&object([
            ("rows", outcome.rows.iter().map(Row::document).collect()),
            ("earlier", outcome.earlier.into()),
            ("failed", failed.collect()),
            ("out", args.out.display().to_string().into()),
            ("report", args.report.as_ref().map_or(Value::Null, |folder| folder.display().to_string().into())),
        ]));
    }
    let titles =
        ["dataset", "learner", "train", "valid", "test", "impossible", "elements", "certified", "CPU s", "peak MB"];
    let mut table = Table::titled(titles);
    let likelihood = |value: Option<f64>| value.map_or("-".to_owned(), logarithm);
    for row in &outcome.rows {
        table.push([
            row.dataset.clone(),
            row.learner.clone(),
            likelihood(row.train),
            likelihood(row.valid),
            likelihood(row.test),
            count(row.impossible_test),
            count(row.size.elements as f64),
            if row.certified { "yes" } else { "no" }.to_owned(),
            row.cpu_seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.2}")),
            row.peak_memory_bytes.map_or("-".to_owned(), |bytes| format!("{:.0}", bytes as f64 / 1e6)),
        ]);
    }
    session.table(&table)?;
    if outcome.earlier > 0 {
        session.line(format!("{} of these from an earlier run", outcome.earlier))?;
    }
    session.line(format!("in {}", args.out.display()))?;
    match &args.report {
        Some(folder) => session.line(format!("see {}", folder.join("report.html").display())),
        None => session.line("--report DIR writes tables and plots next to the published numbers"),
    }
}
