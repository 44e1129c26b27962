//! `slopp map`: the most probable values of some variables, the others summed out.

use crate::args::{CircuitArgs, GivenArgs, whole};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, variables};
use crate::report::{count, json, json_changes, logarithm, object, probability_of};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::infer::Event;

const EXAMPLES: &str = "\
Examples:
  slopp map model.psdd --of cancer,bronchitis --given \"smoker, cough\"
  slopp map model.psdd --of color,age --given \"fast -> !old\"         columns with several values: color=red, age=30..45
  slopp map model.psdd --of red,green,blue --given \"young -> !red\" --budget 100000";

/// The most probable values of some columns, all others summed out (marginal MAP)
///
/// Differs from the values of the most probable world (`slopp mpe`), which chooses values for all variables. Exact
/// where the search ends within its budget; otherwise the best values found, with how probable any others can be at
/// most. What is printed is P of the values given what is known. In JSON that is probability_given and
/// log_probability_given; probability and log_probability are those of the values together with what is known.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MapArgs {
    #[command(flatten)]
    model: CircuitArgs,
    /// The columns to find values for, separated by commas
    #[arg(long, value_name = "NAMES")]
    of: String,
    #[command(flatten)]
    given: GivenArgs,
    /// How many cases may be split before the search stops with bounds
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = whole)]
    budget: usize,
}

pub(crate) fn run(args: &MapArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read(args.given.file()).check()?;
    let mut loaded = Loaded::read_circuit(&args.model)?;
    let names = loaded.model.names.clone();
    let vars = variables("--of", &args.of, &names)?;
    let known = args.given.event(&names, &args.model.limits.limits())?;
    let mut log_formula = 0.0;
    if let Event::Formula(formula) = &known {
        (loaded.model.kind, log_formula) = loaded.given_formula(formula, &args.model.limits.limits())?;
    }
    let given = known.evidence(names.len());
    let log_given = loaded.circuit().log_evidence(&given)?;
    let found = loaded.circuit().marginal_map(&vars, &given, args.budget, &args.model.limits.limits())?;
    let [joint, upper] = [found.log_lower, found.log_upper].map(|log| log + log_formula);
    let conditional = (found.log_lower - log_given).min(0.0);
    if session.json {
        session.document(&object([
            ("given", Value::from(known.display(&names).to_string())),
            ("values", json_changes(&names, &found.values)),
            ("probability", json(joint.exp())),
            ("log_probability", json(joint)),
            ("log_probability_at_most", json(upper)),
            ("probability_given", json(conditional.exp())),
            ("log_probability_given", json(conditional)),
            ("log_probability_given_at_most", json((found.log_upper - log_given).min(0.0))),
            ("exact", Value::Bool(found.is_exact())),
            ("steps", Value::from(found.steps)),
        ]))?;
        return Ok(Verdict::Yes);
    }
    let values: Vec<String> = names.by_column(&found.values).into_iter().map(|lit| names.literal(lit)).collect();
    session.line(values.join(", "))?;
    let condition = if known.is_empty() { String::new() } else { format!(" given {}", known.display(&names)) };
    session.line(format!(
        "P(these{condition}) = {} (ln P = {})",
        probability_of(conditional),
        logarithm(conditional)
    ))?;
    match found.is_exact() {
        true => session.line("proved: no other values are more probable")?,
        false => {
            let most = probability_of((found.log_upper - log_given).min(0.0));
            let steps = count(found.steps as f64);
            session.line(format!("stopped after {steps} cases: no other values are more probable than {most}"))?;
            session.note("--budget N searches longer");
        }
    }
    Ok(Verdict::Yes)
}
