//! Rules as people read them, and as formulas are written.

use super::{BaseRule, RuleKind};
use crate::names::{Names, quote};
use crate::var::Lit;
use std::fmt;

/// Literals of which one holds: the plainest of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The literals; at least one.
    pub literals: Vec<Lit>,
}

impl Clause {
    /// The clause as a formula over names, to print: `smoker & !old -> cancer`.
    ///
    /// # Panics
    /// When printed, if there are fewer names than variables.
    pub fn display<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        let kind = if self.literals.len() == 1 { RuleKind::Literal } else { RuleKind::Clause };
        Named { kind, literals: &self.literals, names }
    }
}

impl BaseRule {
    /// The rule as a formula over names, to print: `smoker & !old -> cancer`, `exactly(1, red, green, blue)`.
    ///
    /// # Panics
    /// When printed, if there are fewer names than variables.
    pub fn display<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        Named { kind: self.kind, literals: &self.literals, names }
    }
}

struct Named<'a> {
    kind: RuleKind,
    literals: &'a [Lit],
    names: &'a Names,
}

impl Named<'_> {
    fn lit(&self, lit: Lit) -> String {
        let name = self.names.of(lit.var);
        let plain = match self.names.group_of(lit.var) {
            Some(group) => is_plain(group.name()) && is_plain_value(&name[group.name().len() + 1..]),
            None => is_plain(name),
        };
        let name = if plain { name.to_owned() } else { quote(name) };
        if lit.value { name } else { format!("!{name}") }
    }

    fn list(&self, lits: impl IntoIterator<Item = Lit>, between: &str) -> String {
        lits.into_iter().map(|lit| self.lit(lit)).collect::<Vec<_>>().join(between)
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lits = self.literals.iter().copied();
        match (self.kind, lits.len()) {
            (RuleKind::Literal, _) => write!(f, "{}", self.list(lits, "")),
            (RuleKind::Equivalence, 2) => write!(f, "{}", self.list(lits, " <-> ")),
            (RuleKind::Equivalence, _) => {
                let first = self.lit(self.literals[0]);
                let pairs = lits.skip(1).map(|lit| format!("({first} <-> {})", self.lit(lit)));
                write!(f, "{}", pairs.collect::<Vec<_>>().join(" & "))
            }
            (RuleKind::Implication, _) => write!(f, "{}", self.list(lits, " -> ")),
            (RuleKind::Exclusion, 2) => write!(f, "!({})", self.list(lits, " & ")),
            (RuleKind::Exclusion, _) => write!(f, "at_most(1, {})", self.list(lits, ", ")),
            (RuleKind::ExactlyOne, _) => write!(f, "exactly(1, {})", self.list(lits, ", ")),
            (RuleKind::Clause, _) => {
                let body = self.list(lits.clone().filter(|lit| !lit.value).map(|lit| !lit), " & ");
                let head = self.list(lits.filter(|lit| lit.value), " | ");
                match (body.is_empty(), head.is_empty()) {
                    (true, _) => write!(f, "{head}"),
                    (false, true) => write!(f, "!({body})"),
                    (false, false) => write!(f, "{body} -> {head}"),
                }
            }
        }
    }
}

/// Whether a value cannot be taken for anything else, not even where the names are not known: `x=yes` could be `x`.
fn is_plain_value(value: &str) -> bool {
    const TRUTHS: [&str; 6] = ["1", "0", "true", "false", "yes", "no"];
    value.chars().all(|c| c.is_alphanumeric() || "_.".contains(c)) && !TRUTHS.contains(&value.to_lowercase().as_str())
}

/// Whether a name cannot be taken for anything but a name.
fn is_plain(name: &str) -> bool {
    const WORDS: [&str; 8] = ["true", "false", "not", "and", "or", "exactly", "at_most", "at_least"];
    let first = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    first && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !WORDS.contains(&name.to_lowercase().as_str())
}
