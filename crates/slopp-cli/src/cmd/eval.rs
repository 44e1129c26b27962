//! `slopp eval`: how well a model explains records.

use crate::args::{ModelArgs, ReadArgs};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::report::records as records_in_words;
use crate::report::{
    conditional, count, counted, facts, fidelity_document, is_or_are, json, json_count, json_list, logarithm, object,
    probability, score_entries,
};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::fidelity::Fidelity;
use slopp::infer::Score;
use slopp::{Names, Records};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp eval model.psdd test.csv
  slopp eval model.psdd test.data.gz --json
  slopp eval model.psdd test.csv --per-record > log-likelihoods.txt
  slopp eval closed.psdd test.csv --noise auto --valid valid.csv    every record counts, through a noisy channel";

/// How well does a model explain records? Log-likelihood and impossible records
///
/// The log-likelihood, in nats, is summed over the possible records. Impossible records (those of probability zero, as
/// closed-world models have them) are counted separately; if all records are impossible, there is no log-likelihood.
/// The mean per record is printed only if all records are possible: a mean over some of them is not a fair measure.
/// Missing cells are summed out.
///
/// --noise treats every record as a world seen through a noisy channel, which changes each cell with a small
/// probability. This makes every record possible, so closed-world models get an exact, normalised likelihood too. A
/// Boolean cell is flipped; a column with several values, or bins, gets one of its other values, all equally likely.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The records: CSV, .data or .wdata, `-` for stdin
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Write one log-likelihood per record, in the order of the file
    #[arg(long)]
    per_record: bool,
    /// Change every cell with this probability, at most 0.5; `auto` finds the one under which the records of --valid are
    /// most likely, or DATA without --valid
    #[arg(long, value_name = "EPS", value_parser = noise, conflicts_with = "flow")]
    noise: Option<Noise>,
    /// Choose the noise by these records
    #[arg(long, value_name = "FILE", requires = "noise")]
    valid: Option<PathBuf>,
    /// Also compare conditional probabilities of model and records: of each value given each other one that at least 100
    /// records have, and given two values of the most dependent columns
    #[arg(long)]
    fidelity: bool,
    /// Also print the flow value that the SLoPP paper printed as log-likelihood; if primes overlap, it is not one
    #[arg(long)]
    flow: bool,
}

impl EvalArgs {
    /// The agreement of a model with the records, value by value, if it is asked for.
    fn fidelity(&self, loaded: &Loaded, records: &Records) -> Result<Option<Fidelity>, Error> {
        Ok(if self.fidelity { Some(loaded.model.kind.fidelity(records, Fidelity::MANY)?) } else { None })
    }
}

/// Lines of a report about the agreement with records.
fn fidelity_lines(fidelity: &Fidelity, names: &Names) -> Vec<(String, String)> {
    let compared = count(fidelity.conditionals as f64);
    let left_out = match fidelity.left_out {
        0 => String::new(),
        columns => format!("; {} of little entropy left out", counted(columns, "column")),
    };
    let support = Fidelity::SUPPORT;
    let mut lines = vec![
        ("conditional probabilities".to_owned(), format!("{compared}, each of at least {support} records{left_out}")),
        ("  mean difference".to_owned(), probability(fidelity.mean)),
        ("  largest difference".to_owned(), probability(fidelity.largest())),
    ];
    lines.extend(fidelity.worst.iter().map(|worst| {
        let [model, found] = [worst.probability, worst.share].map(probability);
        let support = records_in_words(worst.support);
        (format!("  {}", conditional(worst, names)), format!("{model}, but {found} of {support}"))
    }));
    lines
}

#[derive(Clone, Copy, PartialEq)]
enum Noise {
    Auto,
    Given(f64),
}

fn noise(text: &str) -> Result<Noise, String> {
    let number = text.parse().ok().filter(|epsilon| (0.0..=0.5).contains(epsilon)).map(Noise::Given);
    let auto = (text == "auto").then_some(Noise::Auto);
    auto.or(number).ok_or_else(|| "it must be `auto` or a probability from 0 to 0.5".to_owned())
}

/// A channel that changes cells, and how its noise was chosen.
struct Channel {
    epsilon: f64,
    /// "given", "valid" or "data".
    by: &'static str,
    /// The weight of the records that are impossible without noise.
    impossible: f64,
}

impl Channel {
    /// The noise that is asked for, and the log-likelihoods of the records through it.
    fn new(args: &EvalArgs, noise: Noise, loaded: &Loaded, records: &Records) -> Result<(Channel, Vec<f64>), Error> {
        let circuits = loaded.structured("the likelihood through a noisy channel")?;
        let (epsilon, by) = match (noise, &args.valid) {
            (Noise::Given(_), Some(_)) => {
                return Err(Error::new("--valid chooses the noise, and --noise gives it already")
                    .hint("--noise auto, or leave --valid out"));
            }
            (Noise::Given(epsilon), None) => (epsilon, "given"),
            (Noise::Auto, Some(file)) => {
                let valid = read_records_of(file, args.read, &loaded.model.names)?;
                (circuits.fit_noise(&valid)?.epsilon, "valid")
            }
            (Noise::Auto, None) => (circuits.fit_noise(records)?.epsilon, "data"),
        };
        let impossible = Score::of(loaded.model.distribution(), records)?.impossible;
        Ok((Channel { epsilon, by, impossible }, circuits.log_likelihoods_noisy(records, epsilon)?))
    }

    fn in_words(&self) -> String {
        let by = match self.by {
            "given" => "as given",
            "valid" => "most likely on the validation records",
            _ => "most likely on these records themselves, so a little too good",
        };
        format!("{:.3e}, {by}", self.epsilon)
    }
}

pub(crate) fn run(args: &EvalArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read([&args.data]).read(&args.valid).check()?;
    let loaded = Loaded::read(&args.model)?;
    let records = read_records_of(&args.data, args.read, &loaded.model.names)?;
    let (channel, log_likelihoods) = match args.noise {
        None => (None, loaded.model.distribution().log_likelihoods(&records)?),
        Some(noise) => {
            let (channel, logs) = Channel::new(args, noise, &loaded, &records)?;
            (Some(channel), logs)
        }
    };
    let score = Score::new(&records, &log_likelihoods);
    let flow = match args.flow {
        true => {
            let circuit = loaded.circuit_for("the flow value")?;
            Some(Score::new(&records, &circuit.flow_log_values(&records)?))
        }
        false => None,
    };
    let fidelity = args.fidelity(&loaded, &records)?;
    let names = &loaded.model.names;
    let per_record = || records.original().iter().map(|&row| log_likelihoods[row as usize]);
    if session.json {
        let mut entries = score_entries(&score);
        if let Some(channel) = &channel {
            entries.extend([
                ("noise", json(channel.epsilon)),
                ("noise_by", Value::from(channel.by)),
                ("impossible_without_noise", json_count(channel.impossible)),
            ]);
        }
        if let Some(flow) = &flow {
            entries.push(("flow_log_value", json(flow.log_likelihood)));
            entries.push(("flow_log_value_per_possible_record", flow.per_possible().map_or(Value::Null, json)));
        }
        entries.extend(fidelity.as_ref().map(|fidelity| ("fidelity", fidelity_document(fidelity, names))));
        if args.per_record {
            entries.push(("per_record", json_list(per_record())));
        }
        session.document(&object(entries))?;
    } else if args.per_record {
        for value in per_record() {
            session.line(if value == f64::NEG_INFINITY { "-inf".to_owned() } else { value.to_string() })?;
        }
        // Through a noisy channel every record is possible.
        if channel.is_none() {
            let [impossible, all] = [count(score.impossible), records_in_words(score.records)];
            session.note(format!("{impossible} of {all} {} impossible", is_or_are(score.impossible)));
        }
    } else {
        let mut lines = vec![
            ("records", count(score.records)),
            ("impossible", count(score.impossible)),
            ("log-likelihood", score.sum().map_or("none: no record is possible".to_owned(), logarithm)),
            ("  per record", score.per_record().map_or("none: some records are impossible".to_owned(), logarithm)),
            ("  per possible record", score.per_possible().map_or("-".to_owned(), logarithm)),
        ];
        if let Some(channel) = &channel {
            lines.push(("noise", channel.in_words()));
            lines.push(("impossible without noise", count(channel.impossible)));
        }
        if let Some(flow) = &flow {
            lines.push(("flow value of the paper", logarithm(flow.log_likelihood)));
            lines.push(("  per possible record", flow.per_possible().map_or("-".to_owned(), logarithm)));
        }
        session.line(facts(lines))?;
        if let Some(fidelity) = &fidelity {
            let lines = fidelity_lines(fidelity, names);
            session.line(facts(lines.iter().map(|(name, value)| (name.as_str(), value.clone()))))?;
        }
    }
    Ok(Verdict::Yes)
}
