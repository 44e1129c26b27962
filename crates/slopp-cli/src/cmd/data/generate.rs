//! `slopp data generate`: records from a world that is known exactly.

use crate::args::ModelArgs;
use crate::cmd::info::big;
use crate::error::Error;
use crate::input::LoadedModel;
use crate::report::{counted, json_count, object};
use crate::session::{Session, Verdict};
use clap::{Args, Subcommand};
use serde_json::Value;
use slopp::Records;
use slopp::data::{Truth, noisy_copy};
use slopp::infer::Evidence;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp data generate configurations -n 1000 --seed 1 -o cars.csv
  slopp data generate rankings --items 4 --dispersion 0.3 -n 500 > rankings.csv
  slopp data generate noisy-copy model.psdd --flip 0.02 -n 1000 -o noisy.csv";

/// Generate records from a world whose rules and distribution are known
///
/// So that a learned base can be compared with the truth by counting. The records go to stdout or -o FILE as CSV;
/// with -o, what is true of the world is printed.
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
    },
    /// Rankings of some items, after Mallows: one variable per item and place
    Rankings {
        #[command(flatten)]
        common: Common,
        /// How many items are ranked
        #[arg(long, value_name = "N", default_value_t = 4)]
        items: usize,
        /// From near 0 (always the same ranking) to 1 (all rankings alike)
        #[arg(long, value_name = "X", default_value_t = 0.5)]
        dispersion: f64,
    },
    /// Samples of a model with cells flipped at random
    NoisyCopy {
        #[command(flatten)]
        model: ModelArgs,
        #[command(flatten)]
        common: Common,
        /// The probability that a cell is flipped
        #[arg(long, value_name = "P", default_value_t = 0.01)]
        flip: f64,
    },
}

#[derive(Args)]
struct Common {
    /// How many records
    #[arg(short, long, value_name = "N", default_value_t = 1000)]
    number: usize,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &GenerateArgs, session: &mut Session) -> Result<Verdict, Error> {
    match &args.world {
        WorldCommand::Configurations { common } => known_world(&Truth::configurations(), common, session),
        WorldCommand::Rankings { common, items, dispersion } => {
            known_world(&Truth::rankings(*items, *dispersion)?, common, session)
        }
        WorldCommand::NoisyCopy { model, common, flip } => {
            let model = LoadedModel::read(model)?.model;
            let nothing = Evidence::none(model.circuit.var_count());
            let samples = model.circuit.sample(common.number, &nothing, common.seed)?;
            // Another stream than that of the samples, or flips would depend on them.
            let seed = slopp::Random::stream(common.seed, 1).bits();
            let noisy = noisy_copy(model.names.clone(), samples.worlds(), *flip, seed)?;
            let flipped = format!("{} flipped", counted(noisy.flipped, "cell"));
            let fact = ("flipped_cells", Value::from(noisy.flipped));
            write(&noisy.records, common, vec![fact], vec![flipped], session)
        }
    }
}

fn known_world(truth: &Truth, common: &Common, session: &mut Session) -> Result<Verdict, Error> {
    let records = truth.sample(common.number, common.seed);
    let worlds = truth.count().to_string();
    let mut lines = vec![format!("possible worlds: {}", big(&worlds, truth.names().len()))];
    lines.extend(truth.rules());
    let facts =
        vec![("possible_worlds", Value::from(worlds)), ("rules", truth.rules().into_iter().map(Value::from).collect())];
    write(&records, common, facts, lines, session)
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
    slopp::io::write_records(output, records, true)?;
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
        session.line(format!("{} in {}", counted(common.number, "record"), output.display()))?;
        for line in lines {
            session.line(line)?;
        }
    }
    Ok(Verdict::Yes)
}
