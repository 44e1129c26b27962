//! `slopp information`: how much information sets of columns have about each other.

use crate::args::{CircuitArgs, GivenArgs};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, variables};
use crate::report::{facts, json, logarithm, object};
use crate::session::{Session, Verdict};
use clap::Args;
use slopp::Var;
use slopp::infer::{Event, QueryError};
use slopp::logic::Formula;

const EXAMPLES: &str = "\
Examples:
  slopp information model.psdd --between smoker,age --and cancer,bronchitis
  slopp information model.psdd --between smoker --and cancer --given \"cough | fever\"";

/// How much information two sets of columns have about each other: mutual information and conditional entropy, in nats
///
/// Exact, also given evidence or a formula. Where what is left of the circuit is not deterministic, the sets may have
/// at most some 260 000 possible assignments.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InformationArgs {
    #[command(flatten)]
    model: CircuitArgs,
    /// The first set, columns separated by commas
    #[arg(long, value_name = "NAMES")]
    between: String,
    /// The second set, columns separated by commas
    #[arg(long, value_name = "NAMES")]
    and: String,
    #[command(flatten)]
    given: GivenArgs,
}

pub(crate) fn run(args: &InformationArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read(args.given.file()).check()?;
    let mut loaded = Loaded::read_circuit(&args.model)?;
    let (names, limits) = (loaded.model.names.clone(), args.model.limits.limits());
    let (a, b) = (variables("--between", &args.between, &names)?, variables("--and", &args.and, &names)?);
    let known = args.given.event(&names, &limits)?;
    if !known.is_empty() {
        let formula = match &known {
            Event::Literals(evidence) => {
                if loaded.circuit().log_evidence(evidence)? == f64::NEG_INFINITY {
                    return Err(QueryError::ImpossibleEvidence.into());
                }
                Formula::and(evidence.lits().map(Formula::literal))
            }
            Event::Formula(formula) => formula.clone(),
        };
        (loaded.model.kind, _) = loaded.given_formula(&formula, &limits)?;
    }
    let circuit = loaded.circuit();
    let information = circuit.mutual_information(&a, &b, &limits)?;
    let [of_a, of_b] = [circuit.entropy_of(&a, &limits)?, circuit.entropy_of(&b, &limits)?];
    let given = |of: &[Var], known: &[Var]| circuit.conditional_entropy(of, known, &limits);
    let [a_given_b, b_given_a] = [given(&a, &b)?, given(&b, &a)?];
    match session.json {
        true => session.document(&object([
            ("mutual_information", json(information)),
            ("entropy_first", json(of_a)),
            ("entropy_second", json(of_b)),
            ("entropy_first_given_second", json(a_given_b)),
            ("entropy_second_given_first", json(b_given_a)),
        ]))?,
        false => session.line(facts([
            ("mutual information", logarithm(information)),
            ("entropy of the first set", logarithm(of_a)),
            ("  given the second", logarithm(a_given_b)),
            ("entropy of the second set", logarithm(of_b)),
            ("  given the first", logarithm(b_given_a)),
        ]))?,
    }
    Ok(Verdict::Yes)
}
