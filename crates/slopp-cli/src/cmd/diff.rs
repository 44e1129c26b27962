//! `slopp diff`: the worlds that one file allows and another does not.

use crate::args::whole;
use crate::difference::{compare, document, in_words, notes};
use crate::error::Error;
use crate::files::Files;
use crate::knowledge::LimitArgs;
use crate::report::{example_world, grouped, json_world, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::io::path_in_words;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp diff old.psdd new.psdd
  slopp diff model.psdd rules.txt --limit 20    what the model allows against the rules, and what it does not know
  slopp diff a.cnf b.cnf --json";

/// Which worlds does one model or file of rules allow, and the other does not? How many, with examples
///
/// Exact counts over the variables of both; a variable that only one file mentions may have any value in the other. A
/// column with several values has one of them in every world, written color=red; a value that only one model knows is
/// impossible in the other, and a note names it. Exit code 0 if both allow the same worlds, 1 if not.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DiffArgs {
    /// A model (.psdd), a diagram (.sdd), or rules (.txt, .cnf, .dnf)
    first: PathBuf,
    /// The other one
    second: PathBuf,
    /// Show at most this many worlds of each
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole)]
    limit: usize,
    /// The vtree of .sdd files that do not have their own
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &DiffArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read([&args.first, &args.second]).read(&args.vtree).check()?;
    let files = [&args.first, &args.second].map(PathBuf::as_path);
    let both = compare(files, args.vtree.as_deref(), args.limits.limits())?;
    let counts = both.only.map(|part| both.count(part).to_string());
    let common = both.count(both.common).to_string();
    let [left, right] = both.only.map(|part| both.worlds(part, args.limit).map_err(|error| in_words(error, files)));
    let (left, right) = (left?, right?);
    let verdict = if both.is_same() { Verdict::Yes } else { Verdict::No };
    let names = &both.names;
    if session.json {
        let list = |worlds: &[Vec<bool>]| worlds.iter().map(|world| json_world(names, world)).collect::<Value>();
        let [only_first, only_second] = counts.map(Value::from);
        let [different_values, only_named_first, only_named_second] = document(&both);
        session.document(&object([
            ("only_first", only_first),
            ("only_second", only_second),
            ("both", Value::from(common)),
            ("examples_first", list(&left)),
            ("examples_second", list(&right)),
            different_values,
            only_named_first,
            only_named_second,
        ]))?;
        return Ok(verdict);
    }
    notes(&both, files).into_iter().for_each(|line| session.note(line));
    session.line(format!("both allow {} worlds", grouped(&common)))?;
    for ((file, number), worlds) in files.into_iter().zip(counts).zip([left, right]) {
        let shown = if worlds.is_empty() { "" } else { ":" };
        session.line(format!("only {} allows {}{shown}", path_in_words(file), grouped(&number)))?;
        for world in worlds {
            session.line(format!("  {}", example_world(names, &world)))?;
        }
    }
    Ok(verdict)
}
