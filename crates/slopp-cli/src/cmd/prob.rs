//! `slopp prob`: the probability of an event.

use crate::args::{GivenArgs, ModelArgs, ReadArgs};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::report::{full_probability, json, json_list, logarithm, object, probability_of};
use crate::session::{Session, Verdict};
use clap::Args;
use slopp::infer::{Evidence, QueryError};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  slopp prob model.psdd \"cancer\" --given \"smoker, !young\"
  slopp prob model.psdd --records patients.csv             P of each record
  slopp prob model.psdd \"cancer\" --records patients.csv    P(cancer | each record)";

/// The probability of an event, also given evidence
///
/// An event is a list of literals that hold together. Probability zero is an answer, conditioning on it is an error.
/// With --records there is one answer per record: the probability of the record, or of EVENT given the record. Given a
/// record that is impossible nothing has a probability: its line is empty, and a note counts such records.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProbArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The event: literals by name, such as "smoker, !cancer"
    #[arg(required_unless_present = "records", allow_hyphen_values = true)]
    event: Option<String>,
    #[command(flatten)]
    given: GivenArgs,
    /// One answer per record of this file, whose cells may be missing
    #[arg(long, value_name = "FILE", conflicts_with = "given")]
    records: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &ProbArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read(&args.records).check()?;
    let loaded = Loaded::read(&args.model)?;
    let event = loaded.evidence(args.event.as_deref())?;
    if let Some(file) = &args.records {
        return batch(args, &loaded, &event, file, session);
    }
    let given = loaded.evidence(args.given.given.as_deref())?;
    let circuit = loaded.distribution();
    let log_given = circuit.log_evidence(&given)?;
    if log_given == f64::NEG_INFINITY {
        return Err(Error::from(QueryError::ImpossibleEvidence)
            .hint("`slopp possible MODEL --given EVIDENCE` tells what would have to change"));
    }
    // Event and evidence that contradict each other have probability zero together.
    let log_probability = match Evidence::from_lits(circuit.var_count(), event.lits().chain(given.lits())) {
        Ok(both) => (circuit.log_evidence(&both)? - log_given).min(0.0),
        Err(_) => f64::NEG_INFINITY,
    };
    if event.known_count() == 0 {
        session.note("the event is empty, so it holds in every world");
    }
    let p = log_probability.exp();
    if session.json {
        session.document(&object([("probability", json(p)), ("log_probability", json(log_probability))]))?;
    } else {
        let names = loaded.names();
        let condition = match given.known_count() {
            0 => String::new(),
            _ => format!(" | {}", given.display(names)),
        };
        let event = match event.known_count() {
            0 => "anything".to_owned(),
            _ => event.display(names).to_string(),
        };
        session.line(format!("P({event}{condition}) = {}", probability_of(log_probability)))?;
        session.line(format!("ln P = {}", logarithm(log_probability)))?;
    }
    Ok(Verdict::Yes)
}

fn batch(
    args: &ProbArgs,
    loaded: &Loaded,
    event: &Evidence,
    file: &Path,
    session: &mut Session,
) -> Result<Verdict, Error> {
    let records = read_records_of(file, args.read, loaded.names())?;
    // NaN stands for no answer: the record that is conditioned on is impossible.
    let answers: Vec<f64> = match args.event {
        None => loaded.distribution().log_likelihoods(&records)?,
        Some(_) => {
            let answers = loaded.distribution().conditional_batch(event, &records)?;
            answers.into_iter().map(|answer| answer.map_or(f64::NAN, f64::ln)).collect()
        }
    };
    let logs = records.original().iter().map(|&row| answers[row as usize]);
    if session.json {
        let probabilities = json_list(logs.clone().map(f64::exp));
        session.document(&object([("probabilities", probabilities), ("log_probabilities", json_list(logs))]))?;
    } else {
        let mut impossible = 0;
        for log in logs {
            impossible += usize::from(log.is_nan());
            session.line(if log.is_nan() { String::new() } else { full_probability(log) })?;
        }
        session.note_impossible(impossible);
    }
    Ok(Verdict::Yes)
}
