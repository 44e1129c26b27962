//! Files of rules: text, or DIMACS.

use super::dimacs::{Dimacs, dimacs, is_dimacs};
use super::error::ReadError;
use super::lines::check_text;
use super::problem::Problem;
use super::source::{Source, ending};
use crate::limits::Limits;
use crate::logic::{Rule, Rules};
use crate::names::Names;
use std::io::{self, Write};
use std::sync::Arc;

/// Reads a file of rules: DIMACS if it begins like one or its name ends in `.cnf` or `.dnf`, else text with one rule
/// per line.
///
/// A name that ends in `.dnf` makes a DIMACS file a list of terms whatever its header says, as libsdd has it.
///
/// With names, these are the variables: those of a text must be among them; those of a DIMACS file are taken by their
/// position, or by their names if the file has any. Without, the variables are those of the file; a DIMACS header that
/// announces more than fit into [`Limits::bytes`] is refused before anything is made of them.
pub fn read_rules<'a>(
    source: impl Into<Source<'a>>,
    names: Option<&Arc<Names>>,
    limits: &Limits,
) -> Result<Rules, ReadError> {
    let source = source.into();
    let ending = match source {
        Source::File(path) => ending(path),
        Source::Text(_) => None,
    };
    let dnf = (ending.as_deref() == Some("dnf")).then_some(Dimacs::Dnf);
    source.parse(|text| {
        let is_dimacs = is_dimacs(text) || dnf.is_some() || ending.as_deref() == Some("cnf");
        read(text, names, limits, is_dimacs.then_some(dnf))
    })
}

/// Reads rules; DIMACS with the kind that the name says, or text.
fn read(
    bytes: &[u8],
    names: Option<&Arc<Names>>,
    limits: &Limits,
    dimacs_kind: Option<Option<Dimacs>>,
) -> Result<Rules, ReadError> {
    if let Some(kind) = dimacs_kind {
        let rules = dimacs(bytes, kind, names.map(|names| names.len()), limits)?;
        return match names {
            Some(names) => renamed(rules, names),
            None => Ok(rules),
        };
    }
    check_text(bytes)?;
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        ReadError::at(line, Problem::NotUtf8)
    })?;
    let rules = match names {
        None => Rules::parse(text),
        Some(names) => Rules::parse_with(text, names.clone()),
    };
    rules.map_err(|mut e| {
        let line = e.line.take().unwrap_or(1);
        ReadError::at(line, Problem::Formula(e))
    })
}

/// Writes rules as text, one per line; a comment lists the names if some rule does not mention one.
pub fn write_rules(out: &mut dyn Write, rules: &Rules) -> io::Result<()> {
    rules.names_line().into_iter().try_for_each(|line| writeln!(out, "{line}"))?;
    rules.iter().try_for_each(|rule| writeln!(out, "{}", rule.formula.display(rules.names())))
}

/// The rules of a DIMACS file over other names: by position if the file has none.
fn renamed(rules: Rules, names: &Arc<Names>) -> Result<Rules, ReadError> {
    let count = rules.var_count();
    if **rules.names() != Names::numbered(count) {
        return rules.over(names).map_err(|error| ReadError::new(Problem::Header { error, because: None }));
    }
    if count > names.len() {
        let expected = format!("at most {} variables, as there are names", names.len());
        return Err(ReadError::new(Problem::Unexpected { column: None, expected, found: count.to_string() }));
    }
    let unwritten = |rule: &Rule| Rule { text: String::new(), ..rule.clone() };
    Ok(Rules::with_origin(names.clone(), rules.iter().map(unwritten).collect()))
}
