//! `slopp data generate`: records from a world that is known exactly.

use crate::args::{CircuitArgs, not_negative, seed, whole};
use crate::cmd::info::big;
use crate::error::Error;
use crate::files::Files;
use crate::input::Loaded;
use crate::knowledge::LimitArgs;
use crate::report::{count, counted, facts, json, json_count, object};
use crate::session::{Session, Verdict};
use clap::{Args, Subcommand};
use serde_json::Value;
use slopp::Records;
use slopp::example::Truth;
use slopp::io::Content;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  slopp data generate configurations -n 1000 --seed 1 -o cars.csv
  slopp data generate configurations --check model.psdd    compare its base with the truth
  slopp data generate rankings --items 4 --dispersion 0.3 -n 500 > rankings.csv
  slopp data generate noisy-copy model.psdd --flip 0.02 -n 1000 -o noisy.csv";

/// Generate records from a world whose rules and distribution are known
///
/// The records go to stdout or -o FILE as CSV. With -o, the facts about the world are printed. --check compares a
/// learned base with the truth by counting.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    world: WorldCommand,
}

#[derive(Subcommand)]
enum WorldCommand {
    /// Cars as customers configure them: 24 options, groups, requirements and exclusions
    Configurations {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        check: Check,
    },
    /// Rankings of some items, after Mallows: one variable per item and place
    Rankings {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        check: Check,
        /// How many items are ranked
        #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole)]
        items: usize,
        /// From near 0 (always the same ranking) to 1 (all rankings alike)
        #[arg(long, value_name = "X", default_value_t = 0.5, value_parser = not_negative)]
        dispersion: f64,
    },
    /// Samples of a model with cells changed at random: flipped, or to another value of the column
    NoisyCopy {
        #[command(flatten)]
        model: CircuitArgs,
        #[command(flatten)]
        common: Common,
        /// The probability that a cell is changed
        #[arg(long, value_name = "P", default_value_t = 0.01, value_parser = not_negative)]
        flip: f64,
    },
}

#[derive(Args)]
struct Check {
    /// Generate nothing, but count how many worlds of this model are truly possible
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["number", "output"])]
    check: Option<PathBuf>,
    /// The vtree of the model to check, if its file does not hold it
    #[arg(long, value_name = "FILE", requires = "check")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Args)]
struct Common {
    /// How many records
    #[arg(short, long, value_name = "N", default_value_t = 1000, value_parser = whole)]
    number: usize,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &GenerateArgs, session: &mut Session) -> Result<Verdict, Error> {
    match &args.world {
        WorldCommand::Configurations { common, check } => known_world(&Truth::configurations(), common, check, session),
        WorldCommand::Rankings { common, check, items, dispersion } => {
            known_world(&Truth::rankings(*items, *dispersion)?, common, check, session)
        }
        WorldCommand::NoisyCopy { model, common, flip } => {
            Files::default().read(model.files()).write(&common.output, Content::Records).check()?;
            let loaded = Loaded::read_circuit(model)?;
            let names = loaded.model.names.clone();
            let (records, flipped) = loaded.circuit().noisy_copy(names, common.number, *flip, common.seed)?;
            let fact = ("flipped_cells", Value::from(flipped));
            write(&records, common, vec![fact], vec![format!("{} changed", counted(flipped, "cell"))], session)
        }
    }
}

fn known_world(truth: &Truth, common: &Common, check: &Check, session: &mut Session) -> Result<Verdict, Error> {
    if let Some(model) = &check.check {
        return compare_with(truth, model, check, session);
    }
    Files::default().write(&common.output, Content::Records).check()?;
    Records::check_count(common.number)?;
    let records = truth.sample(common.number, common.seed);
    let worlds = truth.count().to_string();
    let mut lines = vec![format!("possible worlds: {}", big(&worlds, truth.names().len()))];
    lines.extend(truth.rules());
    let facts =
        vec![("possible_worlds", Value::from(worlds)), ("rules", truth.rules().into_iter().map(Value::from).collect())];
    write(&records, common, facts, lines, session)
}

/// How many worlds a model allows, how many of those are truly possible, and how many of the possible ones it allows.
fn compare_with(truth: &Truth, file: &Path, check: &Check, session: &mut Session) -> Result<Verdict, Error> {
    let loaded = Loaded::circuit_of(file, check.vtree.as_deref(), &check.limits.limits())?;
    let names = &loaded.model.names;
    let found = truth.compare(loaded.deterministic("counting the possible worlds")?, names)?;
    let [allowed, possible] = [&found.allowed, &found.possible].map(ToString::to_string);
    let (precision, recall) = (found.precision(), found.recall());
    if session.json {
        session.document(&object([
            ("allowed_worlds", Value::from(allowed)),
            ("possible_worlds", Value::from(possible)),
            ("both", Value::from(found.both.to_string())),
            ("precision", json(precision)),
            ("recall", json(recall)),
        ]))?;
        return Ok(Verdict::Yes);
    }
    session.line(facts([
        ("the model allows", big(&allowed, names.len())),
        ("truly possible", big(&possible, names.len())),
        ("both", count(found.both as f64)),
        ("precision", format!("{precision:.4} (how much of what it allows is possible)")),
        ("recall", format!("{recall:.4} (how much of what is possible it allows)")),
    ]))?;
    Ok(Verdict::Yes)
}

fn write(
    records: &Records,
    common: &Common,
    facts: Vec<(&str, Value)>,
    lines: Vec<String>,
    session: &mut Session,
) -> Result<Verdict, Error> {
    let stdout = PathBuf::from("-");
    let output = common.output.as_ref().unwrap_or(&stdout);
    session.give_stdout_to([output])?;
    slopp::io::write_atomically(output, |out| slopp::io::write_records(out, records, true))?;
    if session.json {
        let mut entries = vec![
            ("file", Value::from(output.display().to_string())),
            ("records", json_count(records.total())),
            ("seed", Value::from(common.seed)),
            ("variables", Value::from(records.var_count())),
        ];
        entries.extend(facts);
        session.document(&object(entries))?;
    } else {
        session.saved(output);
        session.line(counted(common.number, "record"))?;
        for line in lines {
            session.line(line)?;
        }
    }
    Ok(Verdict::Yes)
}
