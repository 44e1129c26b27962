//! `slopp count`: how many worlds are possible.

use crate::args::files;
use crate::error::Error;
use crate::files::Files;
use crate::knowledge::{Knowledge, LimitArgs, compile_with_search, stopped, vtree_of};
use crate::report::{grouped, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::logic::VtreeSearch;
use std::path::PathBuf;

/// Longer numbers are rounded, unless all digits are asked for.
const MOST_DIGITS: usize = 30;

const EXAMPLES: &str = "\
Examples:
  slopp count rules.txt
  slopp count model.psdd
  slopp count base.sdd --vtree base.vtree";

/// How many worlds a model or rules allow
///
/// Counts over all variables of the file, exactly; a number of more than 30 digits is printed rounded, unless --exact or
/// --json asks for all of them. Rules that contradict each other allow 0 worlds; `slopp compile` shows which.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CountArgs {
    /// A model (.psdd), a diagram (.sdd), or rules (.txt, .cnf, .dnf)
    file: PathBuf,
    /// The vtree of a model or diagram, if its file does not hold it, or one to compile rules on
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    /// Print all digits, however many
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &CountArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(files(&args.file, &args.vtree)).check()?;
    let knowledge = Knowledge::read(&args.file, args.vtree.as_deref(), None, &args.limits.limits())?;
    let worlds = match &knowledge {
        Knowledge::Model(loaded) => loaded.deterministic("the model count")?.model_count(),
        Knowledge::Diagram(sdd, _) => sdd.model_count(),
        Knowledge::Rules(rules) => {
            let limits = args.limits.limits();
            match vtree_of(rules, args.vtree.as_deref())? {
                Some(vtree) => rules.compile(vtree, &limits).map_err(stopped)?.model_count(),
                None => {
                    let search = VtreeSearch { moves: 0, ..VtreeSearch::default() };
                    // A variable that no rule mentions doubles the count, and needs no place in a diagram.
                    let (mentioned, others) = rules.over_mentioned();
                    compile_with_search(&mentioned, &search, &limits, session)?.sdd.model_count() << others
                }
            }
        }
    };
    let (worlds, variables) = (worlds.to_string(), knowledge.names().len());
    match session.json {
        true => {
            session.document(&object([("variables", Value::from(variables)), ("model_count", Value::from(worlds))]))?
        }
        // Plain digits, for scripts.
        false if args.exact || worlds.len() <= MOST_DIGITS => session.line(worlds)?,
        false => session.line(format!("about {}", grouped(&worlds)))?,
    }
    Ok(Verdict::Yes)
}
