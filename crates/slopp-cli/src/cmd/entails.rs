//! `slopp entails`: does a formula hold in every possible world?

use crate::args::{files, formula_text};
use crate::error::Error;
use crate::files::Files;
use crate::input::explained;
use crate::knowledge::{Knowledge, LimitArgs, check_variables, is_mixture, stopped, vtree_of};
use crate::report::{json_world, object, world as world_in_words};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::io::LoadedAny;
use slopp::logic::{Formula, Manager, shared_world};
use slopp::{Circuit, Mixture, Model, Names};
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
    /// The formula, over the names of the model; @FILE reads it from a file
    #[arg(allow_hyphen_values = true, value_parser = formula_text)]
    formula: String,
    /// The vtree of a model or diagram, if its file does not hold it, or one to compile rules on where clauses do not decide
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &EntailsArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(files(&args.model, &args.vtree)).check()?;
    let known = Known::read(args)?;
    let names = known.names().clone();
    let formula = Formula::parse(&args.formula, &names).map_err(|e| Error::from(e).while_doing("no formula"))?;
    let (world, is_contradiction) = match &known {
        Known::Mixture(model) => (counterexample_of(&model.circuit, &formula, args)?, false),
        Known::Base(knowledge) => counterexample(knowledge, &formula, args)?,
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
                session.line(format!("  {}", world_in_words(&names, world)))?;
            }
        }
    }
    if is_contradiction {
        session
            .note(format!("no world is possible: {} contradicts itself, and everything follows", args.model.display()));
    }
    Ok(if world.is_none() { Verdict::Yes } else { Verdict::No })
}

/// What may entail a formula: a base, or several that are mixed.
enum Known {
    Base(Knowledge),
    Mixture(Box<Model<Mixture>>),
}

impl Known {
    fn read(args: &EntailsArgs) -> Result<Known, Error> {
        let vtree = args.vtree.as_deref();
        if !is_mixture(&args.model) {
            return Ok(Known::Base(Knowledge::read(&args.model, vtree, None)?));
        }
        match slopp::io::read_any_model(&args.model, vtree).map_err(explained)? {
            LoadedAny::Mixture(model) => Ok(Known::Mixture(model.into())),
            _ => Ok(Known::Base(Knowledge::read(&args.model, vtree, None)?)),
        }
    }

    fn names(&self) -> &Arc<Names> {
        match self {
            Known::Base(knowledge) => knowledge.names(),
            Known::Mixture(model) => &model.names,
        }
    }
}

/// The same of a mixture, in which a world is possible if it is in some component.
fn counterexample_of(mixture: &Mixture, formula: &Formula, args: &EntailsArgs) -> Result<Option<Vec<bool>>, Error> {
    let mut denied: Option<Circuit> = None;
    for component in mixture.components() {
        if denied.as_ref().is_none_or(|circuit| circuit.vtree() != component.vtree()) {
            let mut manager = Manager::new(component.vtree().clone(), args.limits.limits());
            let handle = !manager.compile(formula).map_err(stopped)?;
            // A formula that always holds is entailed by every component.
            let Ok(circuit) = manager.sdd(handle).to_circuit() else { return Ok(None) };
            denied = Some(circuit);
        }
        let world = denied.as_ref().and_then(|denied| shared_world(component, denied));
        if world.is_some() {
            return Ok(world);
        }
    }
    Ok(None)
}

/// A possible world in which the formula does not hold, and whether there is no possible world at all.
fn counterexample(
    knowledge: &Knowledge,
    formula: &Formula,
    args: &EntailsArgs,
) -> Result<(Option<Vec<bool>>, bool), Error> {
    let limits = args.limits.limits();
    if let Knowledge::Rules(rules) = knowledge {
        check_variables(rules)?;
        let vtree = vtree_of(rules, args.vtree.as_deref())?;
        let world = rules.counterexample(formula, vtree.as_ref(), &limits).map_err(stopped)?;
        let is_contradiction = world.is_none() && rules.is_contradiction();
        return Ok((world, is_contradiction));
    }
    let mut manager = Manager::new(knowledge.vtree()?, limits);
    if let Knowledge::Model(loaded) = knowledge {
        // The base of a model can be large as a diagram; comparing circuits needs none.
        let denied = !manager.compile(formula).map_err(stopped)?;
        let Ok(circuit) = manager.sdd(denied).to_circuit() else { return Ok((None, false)) };
        return Ok((shared_world(&loaded.model.circuit, &circuit), false));
    }
    let known = knowledge.formula(&mut manager, knowledge.names())?;
    let denied = !manager.compile(formula).map_err(stopped)?;
    let both = manager.and(known, denied).map_err(stopped)?;
    Ok((manager.world(both), manager.world(known).is_none()))
}
