//! `slopp entails`: does a formula hold in every possible world?

use crate::args::{FormulaText, files};
use crate::error::Error;
use crate::files::Files;
use crate::input::explained;
use crate::knowledge::{Knowledge, LimitArgs, is_mixture, no_variables, stopped, vtree_of};
use crate::report::{example_world, json_world, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::infer::QueryError;
use slopp::io::path_in_words;
use slopp::knowledge::KnowledgeError;
use slopp::{Mixture, ModelKind, Names, Structured};
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  slopp entails model.psdd \"smoker -> !young\"
  slopp entails rules.txt \"at_most(1, red, green, blue)\" && echo proved";

/// Does a formula hold in every world that a model or rules allow?
///
/// Exit code 0 if it does, proved by the circuit; 1 if not, with a possible world in which it does not hold. Formulas
/// have !, &, |, ^, ->, <->, parentheses, exactly(k, ...), at_most(k, ...), at_least(k, ...); `slopp compile --help`
/// shows examples. A mixture entails what each of its components does.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EntailsArgs {
    /// A model (.psdd), a mixture (.mix), a diagram (.sdd), or rules (.txt, .cnf, .dnf)
    model: PathBuf,
    /// The formula, over the names of the model; @FILE takes all rules of a file
    #[arg(allow_hyphen_values = true)]
    formula: FormulaText,
    /// The vtree of a model or diagram, if its file does not hold it, or one to compile rules on where clauses do not
    /// decide
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &EntailsArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(files(&args.model, &args.vtree)).read(args.formula.file()).check()?;
    let asked = Asked::read(args)?;
    let names = asked.names().clone();
    let limits = args.limits.limits();
    let formula = args.formula.formula(&names, &limits)?;
    let (world, is_contradiction) = match &asked {
        Asked::Mixture(mixture, _) => {
            let world = mixture.counterexample(&formula, &limits).map_err(|error| match error {
                QueryError::Compile(error) => stopped(error),
                error => error.into(),
            })?;
            (world, false)
        }
        Asked::Knowledge(knowledge) => {
            let vtree = match knowledge {
                Knowledge::Rules(rules) => vtree_of(rules, args.vtree.as_deref())?,
                _ => None,
            };
            let found = knowledge.known().entails(&formula, vtree.as_ref(), &limits).map_err(|error| match error {
                KnowledgeError::Logic(error) => no_variables(error),
                KnowledgeError::Stopped(error) => stopped(error),
                error => error.into(),
            })?;
            (found.counterexample, found.is_contradiction)
        }
    };
    if session.json {
        let world = world.as_ref().map_or(Value::Null, |world| json_world(&names, world));
        session.document(&object([("entails", Value::Bool(world.is_null())), ("counterexample", world)]))?;
    } else {
        let formula = formula.display(&names);
        match &world {
            None => session.line(format!("yes: {formula} holds in every possible world"))?,
            Some(world) => {
                session.line(format!("no: {formula} does not hold in the possible world"))?;
                session.line(format!("  {}", example_world(&names, world)))?;
            }
        }
    }
    if is_contradiction {
        session.note(format!(
            "no world is possible: {} contradicts itself, and everything follows",
            path_in_words(&args.model)
        ));
    }
    Ok(if world.is_none() { Verdict::Yes } else { Verdict::No })
}

/// What may entail a formula: what is known, or a mixture.
enum Asked {
    Knowledge(Knowledge),
    Mixture(Box<Mixture>, Arc<Names>),
}

impl Asked {
    fn read(args: &EntailsArgs) -> Result<Asked, Error> {
        let (vtree, limits) = (args.vtree.as_deref(), args.limits.limits());
        if !is_mixture(&args.model) {
            return Ok(Asked::Knowledge(Knowledge::read(&args.model, vtree, None, &limits)?));
        }
        let loaded_vtree = vtree.map(slopp::io::read_vtree).transpose().map_err(explained)?;
        let model = slopp::io::read_model(&args.model, loaded_vtree.as_ref(), &limits).map_err(explained)?.model;
        match model.kind {
            ModelKind::Mixture(mixture) => Ok(Asked::Mixture(mixture.into(), model.names)),
            _ => Ok(Asked::Knowledge(Knowledge::read(&args.model, vtree, None, &limits)?)),
        }
    }

    fn names(&self) -> &Arc<Names> {
        match self {
            Asked::Knowledge(knowledge) => knowledge.names(),
            Asked::Mixture(_, names) => names,
        }
    }
}
