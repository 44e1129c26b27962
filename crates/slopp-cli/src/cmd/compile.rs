//! `slopp compile`: rules into a certified circuit.

use crate::args::{ColumnArgs, ReadArgs, whole};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, VtreeSource, explained, is_model, read_records};
use crate::knowledge::{LimitArgs, check_variables, compile_with_search, is_diagram, stopped, vtree_for};
use crate::report::{count, counted, facts, grouped, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::io::{write_atomically, write_sdd, write_vtree};
use slopp::learn::VtreeMethod;
use slopp::logic::{Conflict, Limits, Rules, Sdd, VtreeSearch};
use slopp::names::abridged;
use slopp::{Model, Names};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  slopp compile rules.txt                                   how many worlds do the rules allow?
  slopp compile rules.txt -o rules.psdd                     a model that is uniform over these worlds
  slopp compile c432.cnf --vtree c432.vtree -o c432.sdd     on the vtree given
  slopp compile rules.txt --names records.csv -o m.psdd     over all columns of a file

A file of rules has one per line; # begins a comment; a rule goes on in the next line after \\ or an operator, and
while a parenthesis is open:
  smoker & !young -> at_risk          # not !, and &, or |, either ^, if ->, same <->
  exactly(1, red, green, blue)        # also at_most(k, ...) and at_least(k, ...), of any formulas
  \"x ray\" | color=red                 # odd names in quotes";

/// Compile rules into a circuit: the worlds they allow, counted and ready for every query
///
/// Rules are a text with one formula per line, or a DIMACS file (p cnf, p dnf). The result is a canonical SDD on the
/// vtree given; without one, a vtree is made from a min-fill order of the rules and improved by a bounded search. If
/// no world is possible, a minimal set of contradicting rules is shown, and the exit code is 1.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompileArgs {
    /// The rules: .txt, .cnf or .dnf, `-` for stdin
    rules: PathBuf,
    /// Keep to this vtree: a .vtree file, a model, a text, balanced, right-linear, left-linear or min-fill
    #[arg(long, value_name = "VTREE")]
    vtree: Option<String>,
    /// The variables, named by a model or by the columns of a file of records [default: those of the rules]
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Without a vtree: how many vtrees to try
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "vtree", value_parser = whole)]
    moves: usize,
    #[command(flatten)]
    limits: LimitArgs,
    /// Save as .sdd, .psdd (uniform over the worlds) or .vtree; may be given several times
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
}

pub(crate) fn run(args: &CompileArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    Files::default().read([&args.rules]).read(&args.names).write(&args.output, None).check()?;
    if is_diagram(&args.rules) || is_model(&args.rules) {
        let file = args.rules.display();
        return Err(Error::new(format!("{file} is already a circuit, not rules to compile"))
            .hint(format!("`slopp convert {file} OUTPUT` for another format, `slopp rules MODEL` for its rules")));
    }
    let kinds = args.output.iter().map(|file| Kind::of(file)).collect::<Result<Vec<_>, _>>()?;
    let limits = args.limits.limits();
    let min_fill = args.vtree.as_deref() == Some("min-fill");
    let source = args.vtree.as_deref().filter(|_| !min_fill).map(|text| find_vtree(text, &limits)).transpose()?;
    let rules = read(args, source.as_ref())?;
    check_variables(&rules)?;
    let (sdd, tried) = match source {
        Some(source) => (rules.compile(vtree_for(&rules, source)?, &limits).map_err(stopped)?, None),
        None => {
            let moves = if min_fill { 0 } else { args.moves };
            let found =
                compile_with_search(&rules, &VtreeSearch { moves, ..VtreeSearch::default() }, &limits, session)?;
            (found.sdd, Some(found.tried))
        }
    };
    let worlds = sdd.model_count().to_string();
    if worlds == "0" {
        return contradiction(&rules, &sdd, &limits, session);
    }
    for (file, kind) in args.output.iter().zip(&kinds) {
        save(file, kind, &sdd, &rules, args)?;
        session.saved(file);
    }
    let (nodes, elements) = sdd.size();
    if session.json {
        session.document(&object([
            ("variables", Value::from(rules.var_count())),
            ("nodes", Value::from(nodes)),
            ("elements", Value::from(elements)),
            ("model_count", Value::from(worlds)),
        ]))?;
        return Ok(Verdict::Yes);
    }
    let mut lines = vec![
        ("rules", count(rules.len() as f64)),
        ("variables", count(rules.var_count() as f64)),
        ("nodes", count(nodes as f64)),
        ("elements", count(elements as f64)),
        ("model count", grouped(&worlds)),
    ];
    if let Some(tried) = tried {
        lines.push(("vtrees tried", count(tried as f64)));
    }
    session.line(facts(lines))?;
    note_columns(&rules, session);
    let is_saved = |wanted| kinds.contains(&wanted);
    if is_saved(Kind::Sdd) && tried.is_some() && !is_saved(Kind::Vtree) {
        session
            .note("names and vtree are comments of the .sdd file; for other tools save the vtree with -o FILE.vtree");
    }
    Ok(Verdict::Yes)
}

/// The vtree that was asked for; a word that is not a method gets the list of those that need no records.
fn find_vtree(text: &str, limits: &Limits) -> Result<VtreeSource, Error> {
    let is_word = text.chars().all(|c| c.is_alphabetic() || c == '-') && text != "-" && !Path::new(text).exists();
    if is_word && text.parse::<VtreeMethod>().is_err() {
        return Err(Error::new(format!("there is no vtree method \"{text}\" for rules")).hint(
            "min-fill, balanced, right-linear, left-linear, a .vtree file, a model, or a text like \"((a,b),c)\"",
        ));
    }
    VtreeSource::find(text, limits)
}

/// Tells that names look like the values of a column, if nothing says that it has only one.
fn note_columns(rules: &Rules, session: &Session) {
    let names = rules.names();
    if !names.groups().is_empty() {
        return;
    }
    let column = |name: &'_ str| name.split_once('=').map(|(column, _)| column.to_owned());
    let mut columns: Vec<String> = names.iter().filter_map(column).collect();
    columns.sort_unstable();
    let repeated = columns.windows(2).find(|pair| pair[0] == pair[1]);
    if let Some([column, _]) = repeated {
        session.note(format!(
            "worlds with several values of {column} are counted, unless a rule says exactly(1, {column}=…, …); --names \
             FILE takes the columns of records or of a model"
        ));
    }
}

/// The rules over the variables that were asked for, and that every column of theirs has one value.
fn read(args: &CompileArgs, vtree: Option<&VtreeSource>) -> Result<Rules, Error> {
    let names: Option<Arc<Names>> = match (&args.names, vtree) {
        (Some(file), _) if is_model(file) => Some(Loaded::circuit_of(file, None, &args.limits.limits())?.model.names),
        (Some(file), _) => Some(read_records(file, args.read, &args.columns)?.names().clone()),
        (None, Some(VtreeSource::Model(_, names))) => Some(names.clone()),
        (None, _) => None,
    };
    Ok(slopp::io::read_rules(&args.rules, names.as_ref(), &args.limits.limits()).map_err(explained)?.with_columns())
}

/// Shows which rules contradict each other.
fn contradiction(rules: &Rules, sdd: &Sdd, limits: &Limits, session: &mut Session) -> Result<Verdict, Error> {
    let conflict = rules.conflict(sdd.vtree().clone(), limits).map_err(stopped)?;
    let Conflict { rules: found, minimal, smallest, .. } = conflict.expect("no world is possible");
    if session.json {
        let entry =
            |&i: &usize| object([("line", Value::from(rules[i].line)), ("rule", Value::from(rules[i].text.as_str()))]);
        session.document(&object([
            ("variables", Value::from(rules.var_count())),
            ("nodes", Value::from(0)),
            ("elements", Value::from(0)),
            ("model_count", Value::from("0")),
            ("conflict", found.iter().map(entry).collect()),
            ("minimal", Value::Bool(minimal)),
            ("smallest", Value::Bool(smallest)),
        ]))?;
        return Ok(Verdict::No);
    }
    session.line("no world is possible: the rules contradict each other, and nothing was saved")?;
    let number = counted(found.len(), "rule");
    session.line(match (smallest, minimal) {
        (true, _) => {
            format!("a smallest contradiction, {number}; without any of them the others of this set can hold:")
        }
        (false, true) => {
            format!("a minimal contradiction, {number}; without any of them the others of this set can hold:")
        }
        (false, false) => format!("a contradiction, {number}, which may not be minimal:"),
    })?;
    let more = found.len().saturating_sub(SHOWN);
    for i in found.into_iter().take(SHOWN) {
        let text = abridged(&rules[i].text);
        match rules[i].line {
            0 => session.line(format!("  of the columns: {text}"))?,
            line => session.line(format!("  line {line}: {text}"))?,
        }
    }
    if more > 0 {
        session.line(format!("  and {} more (--json has all)", count(more as f64)))?;
    }
    Ok(Verdict::No)
}

/// How many rules of a contradiction are shown.
const SHOWN: usize = 200;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sdd,
    Psdd,
    Vtree,
}

impl Kind {
    /// The kind of a file that is to be written; stdout gets a model.
    fn of(file: &Path) -> Result<Kind, Error> {
        if is_diagram(file) {
            return Ok(Kind::Sdd);
        }
        if is_model(file) || slopp::io::is_stdout(file) {
            return Ok(Kind::Psdd);
        }
        match file.extension().and_then(OsStr::to_str) {
            Some("vtree") => Ok(Kind::Vtree),
            _ => Err(Error::new(format!("{}: the ending of the name says what to write", file.display()))
                .hint("a name that ends in .sdd, .psdd or .vtree")),
        }
    }
}

fn save(file: &Path, kind: &Kind, sdd: &Sdd, rules: &Rules, args: &CompileArgs) -> Result<(), Error> {
    match kind {
        Kind::Sdd => write_atomically(file, |out| write_sdd(out, sdd, Some(rules.names())))?,
        Kind::Vtree => write_atomically(file, |out| write_vtree(out, sdd.vtree()))?,
        Kind::Psdd => {
            let psdd = sdd.to_circuit()?.certify(&args.limits.limits())?;
            let mut model = Model::new(rules.names().clone(), psdd);
            model.origin.insert("learner".into(), "compile".into());
            model.origin.insert("rules".into(), args.rules.display().to_string());
            model.save(file)?;
        }
    }
    Ok(())
}
