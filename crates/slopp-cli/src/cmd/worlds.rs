//! `slopp worlds`: the possible worlds, one by one.

use crate::args::{CircuitArgs, GivenArgs, whole};
use crate::error::Error;
use crate::files::Files;
use crate::input::Loaded;
use crate::report::{count, json_world, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::infer::Event;
use slopp::io::CsvLines;

const EXAMPLES: &str = "\
Examples:
  slopp worlds model.psdd --limit 10
  slopp worlds model.psdd --given \"smoker <-> cancer\"
  slopp worlds model.psdd --given \"smoker\" --limit 0 > worlds.csv    all of them";

/// List the possible worlds of a model, also given evidence or a formula
///
/// One world per line, as CSV with names, in the order of the circuit and each once. `slopp info` says how many
/// there are; `slopp mpe -k N` lists them by probability.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WorldsArgs {
    #[command(flatten)]
    model: CircuitArgs,
    #[command(flatten)]
    given: GivenArgs,
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = whole)]
    limit: usize,
}

pub(crate) fn run(args: &WorldsArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read(args.given.file()).check()?;
    let loaded = Loaded::read_circuit(&args.model)?;
    let names = &loaded.model.names;
    let mut circuit = loaded.deterministic("the list of possible worlds")?;
    let known = args.given.event(names, &args.model.limits.limits())?;
    let conditioned;
    if let Event::Formula(formula) = &known {
        (conditioned, _) = loaded.given_formula(formula, &args.model.limits.limits())?;
        circuit = conditioned.deterministic().expect("fewer worlds keep every derivation unique");
    }
    let given = known.evidence(names.len());
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    if circuit.log_evidence(&given)? == f64::NEG_INFINITY {
        return Err(slopp::infer::QueryError::ImpossibleEvidence.into());
    }
    let mut worlds = circuit.worlds(&given)?;
    if session.json {
        let listed: Value = worlds.by_ref().take(limit).map(|world| json_world(names, &world)).collect();
        let complete = Value::Bool(worlds.next().is_none());
        session.document(&object([("worlds", listed), ("complete", complete)]))?;
        return Ok(Verdict::Yes);
    }
    let lines = CsvLines::new(names)?;
    session.data(lines.header())?;
    for world in worlds.by_ref().take(limit) {
        session.data(lines.world(&world))?;
    }
    if worlds.next().is_some() {
        let first = if limit == 1 { "world is".to_owned() } else { format!("{} worlds are", count(limit as f64)) };
        session.note(format!("only the first {first} listed; --limit 0 lists all"));
    }
    Ok(Verdict::Yes)
}
