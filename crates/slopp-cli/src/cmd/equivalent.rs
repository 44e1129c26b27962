//! `slopp equivalent`: do two files allow the same worlds?

use crate::difference::{compare, document, notes};
use crate::error::Error;
use crate::files::Files;
use crate::knowledge::LimitArgs;
use crate::report::{example_world, json_world, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::io::path_in_words;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp equivalent rules.txt other.cnf
  slopp equivalent model.psdd rules.txt        is exactly what the rules allow possible?
  slopp equivalent rules.cnf rules.sdd --vtree rules.vtree";

/// Do two models or files of rules allow the same worlds?
///
/// Variables are matched by name; a variable that only one file mentions may have any value in the other. Exit code 0
/// if they do, 1 if not, with a world that one allows and the other does not.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EquivalentArgs {
    /// A model (.psdd), a diagram (.sdd), or rules (.txt, .cnf, .dnf)
    first: PathBuf,
    /// The other one
    second: PathBuf,
    /// The vtree of .sdd files that do not have their own
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &EquivalentArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read([&args.first, &args.second]).read(&args.vtree).check()?;
    let files = [&args.first, &args.second].map(PathBuf::as_path);
    let both = compare(files, args.vtree.as_deref(), args.limits.limits())?;
    let names = &both.names;
    let found = files.into_iter().zip(both.only).find_map(|(file, part)| Some((file, both.world(part)?)));
    if session.json {
        let (by, world) = match &found {
            None => (Value::Null, Value::Null),
            Some((file, world)) => (Value::from(file.display().to_string()), json_world(names, world)),
        };
        let [different_values, only_named_first, only_named_second] = document(&both);
        session.document(&object([
            ("equivalent", Value::Bool(found.is_none())),
            ("allowed_only_by", by),
            ("world", world),
            different_values,
            only_named_first,
            only_named_second,
        ]))?;
    } else {
        notes(&both, files).into_iter().for_each(|line| session.note(line));
        match &found {
            None => session.line("yes: both allow the same worlds")?,
            Some((file, world)) => {
                session.line(format!("no: only {} allows the world", path_in_words(file)))?;
                session.line(format!("  {}", example_world(names, world)))?;
            }
        }
    }
    Ok(if found.is_none() { Verdict::Yes } else { Verdict::No })
}
