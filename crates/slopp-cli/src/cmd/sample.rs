//! `slopp sample`: worlds drawn from a model.

use crate::args::{GivenArgs, ModelArgs};
use crate::error::Error;
use crate::input::LoadedModel;
use crate::report::{cells, header, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp sample model.psdd -n 1000 -o records.csv
  slopp sample model.psdd -n 5 --given \"smoker, !cancer\" --seed 7";

/// Draw worlds from a model, also given evidence
///
/// Exact and without rejection, for any circuit. One world per line, as CSV with names. Same seed, same worlds.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    given: GivenArgs,
    /// How many worlds
    #[arg(short, long, value_name = "N", default_value_t = 10)]
    number: usize,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &SampleArgs, session: &mut Session) -> Result<Verdict, Error> {
    let loaded = LoadedModel::read(&args.model)?;
    let names = &loaded.model.names;
    let given = loaded.evidence(args.given.given.as_deref())?;
    let samples = loaded.model.circuit.sample(args.number, &given, args.seed)?;
    if let Some(output) = &args.output {
        slopp::io::write_records(output, &samples.into_records(names.clone()), true)?;
        session.note(format!("{} worlds are in {}", args.number, output.display()));
        if session.json {
            session.document(&object([("samples", Value::from(args.number)), ("seed", Value::from(args.seed))]))?;
        }
    } else if session.json {
        let world = |world: Vec<bool>| world.into_iter().map(|value| Value::from(u8::from(value))).collect::<Value>();
        session.document(&object([
            ("samples", Value::from(args.number)),
            ("seed", Value::from(args.seed)),
            ("variables", names.iter().map(Value::from).collect()),
            ("worlds", samples.worlds().map(world).collect()),
        ]))?;
    } else {
        session.line(header(names))?;
        for world in samples.worlds() {
            session.line(cells(&world))?;
        }
    }
    Ok(Verdict::Yes)
}
