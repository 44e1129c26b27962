//! `slopp data generate`: records from a world that is known exactly.

use crate::args::{CircuitArgs, not_negative, seed, whole};
use crate::cmd::info::big;
use crate::error::Error;
use crate::files::{Content, Files};
use crate::input::Loaded;
use crate::report::{count, counted, facts, json, json_count, object};
use crate::session::{Session, Verdict};
use clap::{Args, Subcommand};
use serde_json::Value;
use slopp::Records;
use slopp::example::Truth;
use slopp::infer::Evidence;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  slopp data generate configurations -n 1000 --seed 1 -o cars.csv
  slopp data generate configurations --check model.psdd    compare its base with the truth
  slopp data generate rankings --items 4 --dispersion 0.3 -n 500 > rankings.csv
  slopp data generate noisy-copy model.psdd --flip 0.02 -n 1000 -o noisy.csv";

/// Generate records from a world whose rules and distribution are known
///
/// So that a learned base can be compared with the truth by counting, which --check does. The records go to stdout or
/// -o FILE as CSV; with -o, what is true of the world is printed.
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
            let nothing = Evidence::none(loaded.model.names.len());
            Records::check_count(common.number)?;
            let samples = loaded.circuit().sample(common.number, &nothing, common.seed)?;
            // Another stream than that of the samples, or flips would depend on them.
            let seed = slopp::Random::stream(common.seed, 1).bits();
            let (records, flipped) = Records::noisy_copy(loaded.model.names.clone(), samples.worlds(), *flip, seed)?;
            let fact = ("flipped_cells", Value::from(flipped));
            write(&records, common, vec![fact], vec![format!("{} changed", counted(flipped, "cell"))], session)
        }
    }
}

fn known_world(truth: &Truth, common: &Common, check: &Check, session: &mut Session) -> Result<Verdict, Error> {
    if let Some(model) = &check.check {
        return compare_with(truth, model, check.vtree.as_deref(), session);
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

/// The largest number of worlds that are looked at one by one.
const MAX_WORLDS: u32 = 20_000_000;

/// How many worlds a model allows, how many of those are truly possible, and how many of the possible ones it allows.
fn compare_with(truth: &Truth, file: &Path, vtree: Option<&Path>, session: &mut Session) -> Result<Verdict, Error> {
    let loaded = Loaded::circuit_of(file, vtree, &slopp::logic::Limits::default())?;
    let names = &loaded.model.names;
    let places: Option<Vec<usize>> = truth.names().iter().map(|name| Some(names.find(name).ok()?.index())).collect();
    let Some(places) = places.filter(|places| places.len() == names.len()) else {
        return Err(Error::new("the model has other variables than the generated records")
            .hint("a model that was learned from `slopp data generate` with the same options"));
    };
    let circuit = loaded.deterministic("counting the possible worlds")?;
    let allowed = circuit.model_count();
    if allowed > MAX_WORLDS.into() {
        let (allowed, most) = (big(&allowed.to_string(), names.len()), count(MAX_WORLDS.into()));
        return Err(Error::new(format!("the model allows {allowed} worlds, too many to look at (limit {most})"))
            .hint("a closed-world model: `slopp learn --world closed`"));
    }
    let mut right = 0usize;
    for world in circuit.worlds(&Evidence::none(names.len()))? {
        let world: Vec<bool> = places.iter().map(|&place| world[place]).collect();
        right += usize::from(truth.is_possible(&world));
    }
    let [allowed, possible] = [allowed.to_string(), truth.count().to_string()];
    let share = |whole: &str| whole.parse().map_or(f64::NAN, |whole: f64| right as f64 / whole);
    let (precision, recall) = (share(&allowed), share(&possible));
    if session.json {
        session.document(&object([
            ("allowed_worlds", Value::from(allowed)),
            ("possible_worlds", Value::from(possible)),
            ("both", Value::from(right.to_string())),
            ("precision", json(precision)),
            ("recall", json(recall)),
        ]))?;
        return Ok(Verdict::Yes);
    }
    session.line(facts([
        ("the model allows", big(&allowed, names.len())),
        ("truly possible", big(&possible, names.len())),
        ("both", count(right as f64)),
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
