//! `slopp product`: two models multiplied.

use crate::cmd::learn::{save, tell_saved};
use crate::error::Error;
use crate::files::{Files, check_ending};
use crate::input::{Loaded, certificate, certificate_in_words};
use crate::knowledge::LimitArgs;
use crate::report::{count, counted, json, logarithm, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::io::Content;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp product experts.psdd records.psdd -o both.psdd
  slopp product a.psdd b.psdd --json";

/// Multiply two models on one vtree: P(w) Q(w) / Z, with the normalising constant Z
///
/// The result is the distribution of a world that two models draw independently, given that they draw the same one:
/// what both find probable, and nothing that one of them makes impossible. Z is the probability that they agree. Exact;
/// two PSDDs give a PSDD, whose size is at most the product of theirs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProductArgs {
    /// The first model
    a: PathBuf,
    /// The second model, over the same variables and vtree
    b: PathBuf,
    /// The vtree of both models, if their files do not hold it
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    /// Save the product in this file, `-` for stdout
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ProductArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    Files::default().read([&args.a, &args.b]).read(&args.vtree).write(&args.output, Content::Model).check()?;
    check_ending(args.output.as_deref(), ".psdd", "a product of circuits")?;
    let limits = args.limits.limits();
    let [a, b] = [&args.a, &args.b].map(|file| Loaded::circuit_of(file, args.vtree.as_deref(), &limits));
    let (a, b) = (a?.normalised()?, b?.normalised()?);
    let (model, log_constant) = a.model.product(&b.model, &limits)?;
    let circuit = model.circuit().expect("circuits have one");
    let (elements, word, words) = (circuit.elements().len(), certificate(circuit), certificate_in_words(circuit));
    save(args.output.as_deref(), |file| model.save(file))?;
    if session.json {
        session.document(&object([
            ("constant", json(log_constant.exp())),
            ("log_constant", json(log_constant)),
            ("certificate", Value::from(word)),
            ("elements", Value::from(elements)),
            ("elements_a", Value::from(a.circuit().elements().len())),
            ("elements_b", Value::from(b.circuit().elements().len())),
            ("model", args.output.as_ref().map_or(Value::Null, |file| Value::from(file.display().to_string()))),
        ]))?;
        return Ok(Verdict::Yes);
    }
    session.line(format!("log Z = {}: they draw the same world with probability Z", logarithm(log_constant)))?;
    let [first, second] = [&a, &b].map(|loaded| count(loaded.circuit().elements().len() as f64));
    session.line(format!("{}, of {first} and {second}", counted(elements, "element")))?;
    session.line(words)?;
    tell_saved(args.output.as_deref(), ".psdd", session);
    Ok(Verdict::Yes)
}
