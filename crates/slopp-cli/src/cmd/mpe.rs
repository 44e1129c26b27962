//! `slopp mpe`: the most probable worlds.

use crate::args::{CircuitArgs, GivenArgs, ReadArgs, positive};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::report::{counted, full_probability, is_or_are, json, json_world, logarithm, object, probability_of, world};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::infer::{Event, Evidence, QueryError};
use slopp::io::CsvLines;
use slopp::logic::Limits;
use slopp::{Deterministic, Names, Records};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp mpe model.psdd --given \"smoker\"
  slopp mpe model.psdd --given \"exactly(2, cough, fever, pain)\"
  slopp mpe model.psdd -k 5 --json
  slopp mpe model.psdd --records patients.csv         the most probable completion of each record
  slopp mpe model.psdd --records patients.csv -k 3    the three most probable completions of each";

/// The most probable world, or the k most probable ones, also given evidence or a formula
///
/// The answer is exact: of the worlds that agree with --given, none is more probable. Each world is printed with its
/// probability P and, with --given, its probability given what is known. --records completes each record of a file
/// instead and writes CSV: missing cells get the values that are most probable together.
///
/// --json prints what is given and a list of worlds, each with probability, log_probability, probability_given and
/// log_probability_given. With --records the list has one entry per record, without the last two: a world, a list of
/// worlds if K is above 1, or null if the record is impossible.
///
/// Only a deterministic circuit, such as a PSDD, can answer. Others are refused with the reason, and so are mixtures and
/// sum-product networks; `slopp distil` makes a PSDD of them.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MpeArgs {
    #[command(flatten)]
    model: CircuitArgs,
    #[command(flatten)]
    given: GivenArgs,
    /// Print this many worlds, the most probable first
    #[arg(short, value_name = "K", default_value_t = 1, value_parser = positive)]
    k: usize,
    /// Complete each record of this file, whose cells may be missing
    #[arg(long, value_name = "FILE", conflicts_with = "given")]
    records: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &MpeArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read(args.given.file()).read(&args.records).check()?;
    let loaded = Loaded::read_circuit(&args.model)?;
    let circuit = loaded.deterministic("the most probable world")?;
    let names = &loaded.model.names;
    let (wanted, limits) = (args.k, args.model.limits.limits());
    if let Some(file) = &args.records {
        let records = read_records_of(file, args.read, names)?;
        return batch(circuit, &records, wanted, &limits, session);
    }
    let known = args.given.event(names, &limits)?;
    let given = known.evidence(names.len());
    let (log_given, worlds) = match &known {
        Event::Literals(given) => (circuit.log_evidence(given)?, best(circuit, given, wanted, &limits)?),
        Event::Formula(formula) => {
            let (conditioned, log_given) = loaded.given_formula(formula, &limits)?;
            let circuit = conditioned.deterministic().expect("fewer worlds keep every derivation unique");
            let mut worlds = best(circuit, &given, wanted, &limits)?;
            worlds.iter_mut().for_each(|(_, log)| *log += log_given);
            (log_given, worlds)
        }
    };
    if session.json {
        let entries = worlds.iter().map(|(world, log)| {
            let mut entry = world_entry(names, world, *log);
            let conditional = (log - log_given).min(0.0);
            entry["probability_given"] = json(conditional.exp());
            entry["log_probability_given"] = json(conditional);
            entry
        });
        let given = Value::from(known.display(names).to_string());
        session.document(&object([("given", given), ("worlds", entries.collect())]))?;
        return Ok(Verdict::Yes);
    }
    for (i, (most_probable, log)) in worlds.iter().enumerate() {
        let rank = if wanted == 1 { String::new() } else { format!("{}. ", i + 1) };
        let conditional = (log - log_given).min(0.0);
        let in_words = |what| format!("; given the {what}: P = {}", in_digits(conditional));
        let conditional = match &known {
            Event::Literals(given) if given.known_count() == 0 => String::new(),
            Event::Literals(_) => in_words("evidence"),
            Event::Formula(_) => in_words("formula"),
        };
        session.line(format!("{rank}P = {}{conditional}", in_digits(*log)))?;
        session.line(format!("   {}", world(names, most_probable)))?;
    }
    if worlds.len() < wanted {
        session.note(format!(
            "there {} only {}",
            is_or_are(worlds.len() as f64),
            counted(worlds.len(), "possible world")
        ));
    }
    Ok(Verdict::Yes)
}

/// A probability and its logarithm.
fn in_digits(log: f64) -> String {
    format!("{} (ln P = {})", probability_of(log), logarithm(log))
}

/// The most probable worlds of a circuit.
fn best(circuit: &Deterministic, given: &Evidence, wanted: usize, limits: &Limits) -> Result<Vec<Ranked>, QueryError> {
    match wanted {
        1 => Ok(vec![circuit.mpe(given)?]),
        k => circuit.top_worlds(given, k, limits),
    }
}

/// A world with its log-probability.
type Ranked = (Vec<bool>, f64);

/// The most probable completions of each record.
fn batch(
    circuit: &Deterministic,
    records: &Records,
    wanted: usize,
    limits: &Limits,
    session: &mut Session,
) -> Result<Verdict, Error> {
    let names = records.names();
    let answers: Vec<Option<Vec<Ranked>>> = match wanted {
        1 => circuit.mpe_batch(records)?.into_iter().map(|answer| answer.map(|best| vec![best])).collect(),
        k => circuit.top_worlds_batch(records, k, limits)?,
    };
    let by_record = records.original().iter().map(|&row| answers[row as usize].as_ref()).enumerate();
    if session.json {
        let entry = |(_, answer): (usize, Option<&Vec<Ranked>>)| {
            let mut worlds = answer.into_iter().flatten().map(|(world, log)| world_entry(names, world, *log));
            if wanted == 1 { worlds.next().unwrap_or(Value::Null) } else { worlds.collect() }
        };
        session.document(&object([("worlds", by_record.map(entry).collect())]))?;
        return Ok(Verdict::Yes);
    }
    let ranked = wanted > 1;
    let lines = CsvLines::new(names)?;
    session.data(format!("{}{}", if ranked { "record,probability," } else { "" }, lines.header()))?;
    let mut impossible = 0;
    for (number, answer) in by_record {
        let Some(worlds) = answer else {
            let cells = lines.unknown();
            session.data(if ranked { format!("{},0,{cells}", number + 1) } else { cells })?;
            impossible += 1;
            continue;
        };
        for (world, log) in worlds {
            let rank = if ranked { format!("{},{},", number + 1, full_probability(*log)) } else { String::new() };
            session.data(format!("{rank}{}", lines.world(world)))?;
        }
    }
    session.note_impossible(impossible);
    Ok(Verdict::Yes)
}

fn world_entry(names: &Names, world: &[bool], log: f64) -> Value {
    object([("world", json_world(names, world)), ("probability", json(log.exp())), ("log_probability", json(log))])
}
