//! `slopp equivalent`: do two files allow the same worlds?

use crate::error::Error;
use crate::files::Files;
use crate::knowledge::{Knowledge, LimitArgs, is_diagram, stopped};
use crate::report::{json_world, object, world as world_in_words};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::Names;
use slopp::logic::{Limits, Manager, Rules};
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  slopp equivalent rules.txt other.cnf
  slopp equivalent model.psdd rules.txt        is exactly what the rules allow possible?
  slopp equivalent rules.cnf rules.sdd --vtree rules.vtree";

/// Do two models or files of rules allow the same worlds?
///
/// Variables are matched by name; a variable that only one file mentions may have any value in the other. Exit code 0 if they
/// do, 1 if not, with a world that one allows and the other does not.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EquivalentArgs {
    /// A model (.psdd), a diagram (.sdd), or rules (.txt, .cnf, .dnf)
    first: PathBuf,
    /// The other one
    second: PathBuf,
    /// The vtree of .sdd files that do not tell their own
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &EquivalentArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read([&args.first, &args.second]).read(&args.vtree).check()?;
    if args.vtree.is_some() && ![&args.first, &args.second].into_iter().any(|file| is_diagram(file)) {
        return Err(Error::new("--vtree is for .sdd files, and none is given").hint("leave it out"));
    }
    let read = |file: &PathBuf| Knowledge::read(file, args.vtree.as_deref().filter(|_| is_diagram(file)), None);
    let (first, second) = (read(&args.first)?, read(&args.second)?);
    let (names, mut manager) = common(&first, &second, args.limits.limits())?;
    let a = first.formula(&mut manager, &names)?;
    let b = second.formula(&mut manager, &names)?;
    let only_first = manager.and(a, !b).map_err(stopped)?;
    let only_second = manager.and(b, !a).map_err(stopped)?;
    let found = [(&args.first, only_first), (&args.second, only_second)]
        .into_iter()
        .find_map(|(file, formula)| Some((file, manager.world(formula)?)));
    if session.json {
        let (by, world) = match &found {
            None => (Value::Null, Value::Null),
            Some((file, world)) => (Value::from(file.display().to_string()), json_world(&names, world)),
        };
        session.document(&object([
            ("equivalent", Value::Bool(found.is_none())),
            ("allowed_only_by", by),
            ("world", world),
        ]))?;
    } else {
        match &found {
            None => session.line("yes: both allow the same worlds")?,
            Some((file, world)) => {
                session.line(format!("no: only {} allows the world", file.display()))?;
                session.line(format!("  {}", world_in_words(&names, world)))?;
            }
        }
    }
    Ok(if found.is_none() { Verdict::Yes } else { Verdict::No })
}

/// The names of both, and a manager over them: on the vtree of the first file that has one, if all names are in it.
pub(crate) fn common(first: &Knowledge, second: &Knowledge, limits: Limits) -> Result<(Arc<Names>, Manager), Error> {
    let mut all: Vec<String> = first.names().iter().map(str::to_owned).collect();
    all.extend(second.names().iter().filter(|name| !first.names().contains(name)).map(str::to_owned));
    for one in [first, second].into_iter().filter(|one| !matches!(one, Knowledge::Rules(_))) {
        if one.names().len() == all.len() {
            return Ok((one.names().clone(), Manager::new(one.vtree()?, limits)));
        }
    }
    let names = Arc::new(Names::new(all)?);
    // All rules together say which variables belong together.
    let mut formulas = Vec::new();
    for one in [first, second] {
        if let Knowledge::Rules(rules) = one {
            let vars = rules.names().iter().map(|name| names.find(name)).collect::<Result<Vec<_>, _>>()?;
            formulas.extend(rules.iter().map(|rule| rule.formula.map_vars(|var| vars[var.index()])));
        }
    }
    let rules = Rules::new(names.clone(), formulas);
    crate::knowledge::check_variables(&rules)?;
    Ok((names, Manager::new(rules.min_fill_vtree(), limits)))
}
