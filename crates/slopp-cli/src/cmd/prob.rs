//! `slopp prob`: the probability of an event.

use crate::args::{FormulaText, GivenArgs, ModelArgs, ReadArgs};
use crate::error::Error;
use crate::event::unanswered;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::report::{full_probability, json, json_list, logarithm, object, probability_of};
use crate::session::{Session, Verdict};
use clap::Args;
use slopp::infer::Event;
use slopp::names::abridged;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  slopp prob model.psdd \"cancer\" --given \"smoker, !young\"
  slopp prob model.psdd \"smoker & !(cancer | xray)\" --given \"old -> visit\"
  slopp prob model.psdd --records patients.csv             P of each record
  slopp prob model.psdd \"cancer\" --records patients.csv    P(cancer | each record)";

/// The probability of an event, also given another one
///
/// EVENT is a list of literals that hold together, or any formula with !, &, |, ^, ->, <->, parentheses, exactly(k,
/// ...), at_most(k, ...) and at_least(k, ...). The answer is exact: a formula is multiplied with the circuit. A
/// sum-product network takes literals only. An impossible event has probability zero; --given an impossible one is an
/// error.
///
/// --records gives one answer per record of a file: the probability of the record, or of EVENT given the record. Given
/// an impossible record, EVENT has no probability: its line is empty, and a note counts such records.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProbArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The event: literals by name, such as "smoker, !cancer", or a formula, such as "smoker & !(cancer | xray)";
    /// @FILE takes all rules of a file
    #[arg(required_unless_present = "records", allow_hyphen_values = true)]
    event: Option<FormulaText>,
    #[command(flatten)]
    given: GivenArgs,
    /// Give one answer per record of this file, whose cells may be missing
    #[arg(long, value_name = "FILE", conflicts_with = "given")]
    records: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

impl ProbArgs {
    /// The files of formulas.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.event.iter().filter_map(FormulaText::file).chain(self.given.file())
    }
}

pub(crate) fn run(args: &ProbArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read(&args.records).read(args.files()).check()?;
    let loaded = Loaded::read(&args.model)?;
    let limits = args.model.limits.limits();
    let names = &loaded.model.names;
    let asked = args.event.as_ref().map(|event| event.question(names, &limits)).transpose()?;
    if let Some(file) = &args.records {
        return batch(args, &loaded, asked.as_ref(), file, session);
    }
    let (event, given) = (asked.expect("the parser asks for it"), args.given.event(names, &limits)?);
    let log_probability = loaded.model.log_probability(&event, &given, &limits).map_err(unanswered)?;
    if matches!(&args.event, Some(FormulaText::Formula(text)) if text.trim().is_empty()) {
        session.note("the event is empty, so it holds in every world");
    }
    let p = log_probability.exp();
    if session.json {
        session.document(&object([("probability", json(p)), ("log_probability", json(log_probability))]))?;
    } else {
        let condition = match given.is_empty() {
            true => String::new(),
            false => format!(" given {}", abridged(&given.display(names).to_string())),
        };
        let event = match event.is_empty() {
            true => "anything".to_owned(),
            false => abridged(&event.display(names).to_string()).into_owned(),
        };
        session.line(format!("P({event}{condition}) = {}", probability_of(log_probability)))?;
        session.line(format!("ln P = {}", logarithm(log_probability)))?;
    }
    Ok(Verdict::Yes)
}

fn batch(
    args: &ProbArgs,
    loaded: &Loaded,
    event: Option<&Event>,
    file: &Path,
    session: &mut Session,
) -> Result<Verdict, Error> {
    let records = read_records_of(file, args.read, &loaded.model.names)?;
    // NaN stands for no answer: the record that is conditioned on is impossible.
    let answers: Vec<f64> = match event {
        None => loaded.model.distribution().log_likelihoods(&records)?,
        Some(event) => {
            let limits = args.model.limits.limits();
            let answers = loaded.model.log_probabilities_given(event, &records, &limits).map_err(unanswered)?;
            answers.into_iter().map(|answer| answer.unwrap_or(f64::NAN)).collect()
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
