//! `slopp sample`: worlds drawn from a model.

use crate::args::{GivenArgs, ModelArgs, ReadArgs};
use crate::error::Error;
use crate::input::{LoadedModel, read_records_of};
use crate::report::{cells, header, object};
use crate::session::{Session, Verdict};
use clap::Args;
use rayon::prelude::*;
use serde_json::Value;
use slopp::infer::{Evidence, QueryError};
use slopp::{Random, Records};
use std::path::{Path, PathBuf};

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
    /// Complete each record of this file at random, given its known cells
    #[arg(long, value_name = "FILE", conflicts_with_all = ["given", "number"])]
    records: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &SampleArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let loaded = LoadedModel::read(&args.model)?;
    let names = &loaded.model.names;
    let worlds = draw(args, &loaded)?;
    let number = Value::from(worlds.len());
    if let Some(output) = &args.output {
        let records = Records::from_rows(names.clone(), worlds);
        slopp::io::write_records(output, &records, true)?;
        if output != Path::new("-") {
            session.note(format!("{number} worlds are in {}", output.display()));
        }
        if session.json {
            session.document(&object([("samples", number), ("seed", Value::from(args.seed))]))?;
        }
    } else if session.json {
        let world = |world: Vec<bool>| world.into_iter().map(|value| Value::from(u8::from(value))).collect::<Value>();
        session.document(&object([
            ("samples", number),
            ("seed", Value::from(args.seed)),
            ("variables", names.iter().map(Value::from).collect()),
            ("worlds", worlds.into_iter().map(world).collect()),
        ]))?;
    } else {
        session.line(header(names))?;
        for world in worlds {
            session.line(cells(&world))?;
        }
    }
    Ok(Verdict::Yes)
}

fn draw(args: &SampleArgs, loaded: &LoadedModel) -> Result<Vec<Vec<bool>>, Error> {
    let circuit = &loaded.model.circuit;
    let Some(file) = &args.records else {
        let given = loaded.evidence(args.given.given.as_deref())?;
        return Ok(circuit.sample(args.number, &given, args.seed)?.worlds().collect());
    };
    let records = read_records_of(file, args.read, &loaded.model.names)?;
    // A seed for each record and not for each distinct row: equal records are completed independently.
    let complete = |(i, &row): (usize, &u32)| {
        let seed = Random::stream(args.seed, i as u64).bits();
        match circuit.sample(1, &Evidence::from_row(&records, row as usize), seed) {
            Ok(drawn) => Ok(drawn.world(0)),
            Err(error @ QueryError::ImpossibleEvidence) => Err(Error::from(error)
                .while_doing(format!("record {} cannot be completed", i + 1))
                .hint("`slopp possible MODEL RECORDS` lists the impossible records and how to change them")),
            Err(error) => Err(Error::from(error)),
        }
    };
    records.original().par_iter().enumerate().map(complete).collect()
}
