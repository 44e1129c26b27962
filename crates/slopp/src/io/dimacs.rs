//! DIMACS files: `p cnf`, clauses that all hold, and `p dnf`, terms of which one holds.

use super::error::ReadError;
use super::first_line::{BYTES_PER_VARIABLE, MOST_VARS};
use super::lines::{Line, check_text, content, lines};
use super::phrases::show;
use super::problem::Problem;
use crate::limits::{Limit, Limits, has_room};
use crate::logic::{Formula, LogicError, Rule, Rules};
use crate::names::Names;
use crate::var::Lit;
use std::io::{self, Write};

/// What stands before the names in a comment line.
const NAMES: &[u8] = b"c names ";

/// What a DIMACS file lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimacs {
    /// Clauses that all hold.
    Cnf,
    /// Terms of which one holds.
    Dnf,
}

/// Whether a text is a DIMACS file and not a list of rules: its first line that is not a comment begins with `p`.
pub(super) fn is_dimacs(text: &[u8]) -> bool {
    let first = content(text).next();
    first.is_some_and(|mut line| line.word() == Some(b"p") && matches!(line.word(), Some(b"cnf" | b"dnf")))
}

/// Reads the text of a DIMACS file: every clause is a rule; the terms of a DNF are one rule together.
///
/// Variables are called `x1`, `x2`, … unless a comment line `c names ["…", …]` gives their names. Clauses may span
/// several lines. A file may have more clauses than its header says, but not fewer. What the header says it lists can
/// be overruled: libsdd goes by the name of the file, and there are `.dnf` files that begin with `p cnf`.
///
/// A short file may announce many variables. `most` is how many may stay without names in the file, and nothing is made
/// of more than fit into the limits.
pub(super) fn dimacs(
    text: &[u8],
    kind: Option<Dimacs>,
    most: Option<usize>,
    limits: &Limits,
) -> Result<Rules, ReadError> {
    const EXPECTED: &str = "a DIMACS file, beginning `p cnf <variables> <clauses>` or `p dnf <variables> <terms>`";
    check_text(text)?;
    let mut rest = content(text);
    let mut header = rest.next().ok_or_else(|| ReadError::new(Problem::Empty { expected: EXPECTED }))?;
    let (word, said) = (header.word(), header.word());
    let kind = match (word, said) {
        (Some(b"p"), Some(b"cnf")) => kind.unwrap_or(Dimacs::Cnf),
        (Some(b"p"), Some(b"dnf")) => kind.unwrap_or(Dimacs::Dnf),
        (found, _) => return Err(ReadError::unexpected(header.number, EXPECTED, show(found.unwrap_or_default()))),
    };
    let vars = header.id("the number of variables")?;
    if vars > MOST_VARS as u64 {
        let found = vars.to_string();
        return Err(header.wrong(&format!("at most {MOST_VARS} variables"), Some(found.as_bytes())));
    }
    let (what, one) = if kind == Dimacs::Cnf { ("clauses", "clause") } else { ("terms", "term") };
    let count = header.id(&format!("the number of {what}"))?;
    header.end()?;
    let names = match names(text)? {
        None => {
            check_count(vars as usize, most, limits).map_err(|problem| ReadError::at(header.number, problem))?;
            Names::numbered(vars as usize)
        }
        Some((_, names)) if names.len() as u64 == vars => names,
        Some((line, names)) => {
            return Err(ReadError::unexpected(line, format!("{vars} names"), names.len().to_string()));
        }
    };
    let (groups, last) = groups(&mut rest, vars, header.number, one)?;
    if (groups.len() as u64) < count {
        let expected = format!("{count} {what}, as line {} says", header.number);
        return Err(ReadError::unexpected(last, expected, format!("{}; the file may be cut off", groups.len())));
    }
    let literals = |lits: Vec<Lit>| lits.into_iter().map(Formula::literal);
    let rules = match kind {
        Dimacs::Cnf => {
            let clause = |(line, lits)| Rule { formula: Formula::or(literals(lits)), text: String::new(), line };
            groups.into_iter().map(clause).collect()
        }
        Dimacs::Dnf => {
            let formula = Formula::or(groups.into_iter().map(|(_, lits)| Formula::and(literals(lits))));
            vec![Rule { formula, text: String::new(), line: header.number }]
        }
    };
    Ok(Rules::with_origin(names, rules))
}

/// Refuses more variables than there are names for, and than fit into limits or memory, before anything is made of them.
fn check_count(vars: usize, most: Option<usize>, limits: &Limits) -> Result<(), Problem> {
    if let Some(most) = most.filter(|&most| vars > most) {
        let expected = format!("at most {most} variables, as there are names");
        return Err(Problem::Unexpected { column: None, expected, found: vars.to_string() });
    }
    let bytes = vars.saturating_mul(BYTES_PER_VARIABLE);
    if bytes > limits.bytes {
        return Err(Problem::Limit { variables: vars, limit: Limit::Bytes(limits.bytes) });
    }
    if has_room(bytes) { Ok(()) } else { Err(Problem::OutOfMemory) }
}

type Groups = Vec<(usize, Vec<Lit>)>;

/// Literals up to each zero with the line of the first, and the last line.
fn groups<'a>(
    rest: &mut impl Iterator<Item = Line<'a>>,
    vars: u64,
    header: usize,
    one: &str,
) -> Result<(Groups, usize), ReadError> {
    let (mut groups, mut open): (Groups, Option<(usize, Vec<Lit>)>) = (Vec::new(), None);
    let mut last = header;
    let mut found = "the end of the file, which may be cut off";
    'lines: for mut line in rest {
        last = line.number;
        while !line.is_done() {
            let word = line.word().unwrap_or_default();
            // Files of a well-known collection end with a line `%`.
            if word == b"%" {
                found = "a line `%`, which ends the file";
                break 'lines;
            }
            let number: Option<i64> = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
            let wrong = || {
                let expected = format!("a literal from -{vars} to {vars}, or 0 at the end of a {one}");
                line.wrong(&expected, Some(word))
            };
            let number = number.filter(|n| n.unsigned_abs() <= vars).ok_or_else(wrong)?;
            match Lit::from_number(number) {
                Some(lit) => open.get_or_insert((last, Vec::new())).1.push(lit),
                None => groups.push(open.take().unwrap_or((last, Vec::new()))),
            }
        }
    }
    match open {
        None => Ok((groups, last)),
        Some(_) => Err(ReadError::unexpected(last, format!("0 at the end of the last {one}"), found.to_owned())),
    }
}

/// The names in a comment line, and which line that is.
fn names(text: &[u8]) -> Result<Option<(usize, Names)>, ReadError> {
    for (number, line) in lines(text) {
        let Some(list) = line.trim_ascii_start().strip_prefix(NAMES).filter(|list| list.starts_with(b"[")) else {
            continue;
        };
        let wrong = |e: String| ReadError::unexpected(number, "names as a JSON list of texts", e);
        let list: Vec<String> = serde_json::from_slice(list).map_err(|e| wrong(e.to_string()))?;
        return Ok(Some((number, Names::new(list).map_err(|e| wrong(e.to_string()))?)));
    }
    Ok(None)
}

/// How many clauses a rule may become.
const MOST_CLAUSES: usize = 10_000;

/// The text of a `p cnf` file.
pub fn cnf_text(rules: &Rules) -> Result<String, LogicError> {
    Ok(as_text("cnf", rules.names(), &clauses(rules)?))
}

fn clauses(rules: &Rules) -> Result<Vec<Vec<Lit>>, LogicError> {
    let mut clauses = Vec::new();
    for rule in rules.iter() {
        for part in rule.formula.conjuncts() {
            // What is written as a clause keeps its literals in their order.
            let found = part.as_clause().map(|clause| vec![clause]).or_else(|| part.to_clauses(MOST_CLAUSES));
            let refusal = || LogicError::NotClausal { line: rule.line, text: rule.text.clone() };
            clauses.extend(found.ok_or_else(refusal)?);
        }
    }
    Ok(clauses)
}

fn as_text(kind: &str, names: &Names, groups: &[Vec<Lit>]) -> String {
    let mut text = Vec::new();
    write_groups(&mut text, kind, names, groups).expect("memory can be written");
    String::from_utf8(text).expect("names are text")
}

fn write_groups(out: &mut dyn Write, kind: &str, names: &Names, groups: &[Vec<Lit>]) -> io::Result<()> {
    if *names != Names::numbered(names.len()) {
        let list: Vec<&str> = names.iter().collect();
        writeln!(out, "c names {}", serde_json::to_string(&list)?)?;
    }
    writeln!(out, "p {kind} {} {}", names.len(), groups.len())?;
    for lits in groups {
        lits.iter().try_for_each(|lit| write!(out, "{lit} "))?;
        writeln!(out, "0")?;
    }
    Ok(())
}
