//! Files of rules: text, or DIMACS.

use super::dimacs::{Dimacs, is_dimacs, read_dimacs_bytes};
use super::error::{ReadError, WriteError};
use super::lines::check_text;
use super::problem::Problem;
use super::{source, write_atomically};
use crate::logic::{Formula, Rule, Rules};
use crate::names::Names;
use crate::var::Var;
use std::path::Path;
use std::sync::Arc;

/// Reads a file of rules: DIMACS if it begins like one or its name ends in `.cnf` or `.dnf`, else text with one rule per
/// line.
///
/// A name that ends in `.dnf` makes a DIMACS file a list of terms whatever its header says, as libsdd has it.
///
/// With names, these are the variables: those of a text must be among them; those of a DIMACS file are taken by their
/// position, or by their names if the file has any. Without, the variables are those of the file.
pub fn read_rules(path: &Path, names: Option<&Arc<Names>>) -> Result<Rules, ReadError> {
    let ending = source::ending(path);
    let dnf = (ending.as_deref() == Some("dnf")).then_some(Dimacs::Dnf);
    let bytes = source::read_all(path)?;
    let is_dimacs = is_dimacs(&bytes) || dnf.is_some() || ending.as_deref() == Some("cnf");
    read(&bytes, names, is_dimacs, dnf).map_err(|e| e.in_file(path))
}

/// Reads the content of a file of rules.
pub fn read_rules_bytes(bytes: &[u8], names: Option<&Arc<Names>>) -> Result<Rules, ReadError> {
    read(bytes, names, is_dimacs(bytes), None)
}

fn read(bytes: &[u8], names: Option<&Arc<Names>>, is_dimacs: bool, kind: Option<Dimacs>) -> Result<Rules, ReadError> {
    if is_dimacs {
        let rules = read_dimacs_bytes(bytes, kind)?;
        return match names {
            Some(names) => renamed(&rules, names),
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

/// Writes rules as text, one per line; names that none of them mentions are told by a comment.
pub fn write_rules(path: &Path, rules: &Rules) -> Result<(), WriteError> {
    write_atomically(path, |out| {
        rules.names_line().into_iter().try_for_each(|line| writeln!(out, "{line}"))?;
        rules.iter().try_for_each(|rule| writeln!(out, "{}", rule.formula.display(rules.names())))
    })
}

/// The same rules over other names.
fn renamed(rules: &Rules, names: &Arc<Names>) -> Result<Rules, ReadError> {
    let count = rules.var_count();
    let numbered = **rules.names() == Names::numbered(count);
    let vars: Vec<Var> = match numbered {
        true if count > names.len() => {
            let expected = format!("at most {} variables, as there are names", names.len());
            return Err(ReadError::new(Problem::Unexpected { column: None, expected, found: count.to_string() }));
        }
        true => (0..count as u32).map(Var).collect(),
        false => {
            let find = |name| names.find(name).map_err(|error| Problem::Header { error, because: None });
            rules.names().iter().map(find).collect::<Result<_, _>>().map_err(ReadError::new)?
        }
    };
    let rename = |rule: &Rule| Rule {
        formula: Formula::map_vars(&rule.formula, |var| vars[var.index()]),
        text: String::new(),
        line: rule.line,
    };
    Ok(Rules::with_origin(names.clone(), rules.iter().map(rename).collect()))
}
