//! The base of a circuit as readable rules.
//!
//! Every rule is proved by the circuit: a set of literals is impossible if no derivation holds them together, which one
//! Boolean pass decides for 256 sets at once. Nothing is sampled, and nothing needs determinism. The search finds, in
//! this order: literals that always hold; classes of equivalent literals, each represented by one; implications and
//! exclusions that do not follow from others; groups with exactly or at most one true; then longer clauses, grown from
//! possible sets by one literal that makes them impossible. Finally it drops rules that the others imply, by a search
//! for a world that breaks the rule and keeps the others.

mod find;
mod prove;

use crate::circuit::Circuit;
use crate::data::Records;
use crate::logic::error::LogicError;
use crate::names::{Names, quote};
use crate::var::{Lit, Var};
use find::find;
use rustc_hash::FxHashSet;
use std::fmt;

/// The kinds of rules about literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleKind {
    /// The one literal always holds.
    Literal,
    /// All hold or none does.
    Equivalence,
    /// Exactly one holds; three or more of them.
    ExactlyOne,
    /// The first implies the second.
    Implication,
    /// At most one holds.
    Exclusion,
    /// At least one holds; three or more of them.
    Clause,
}

impl RuleKind {
    /// The name in machine-readable answers.
    pub fn name(self) -> &'static str {
        match self {
            RuleKind::Literal => "literal",
            RuleKind::Equivalence => "equivalence",
            RuleKind::ExactlyOne => "exactly_one",
            RuleKind::Implication => "implication",
            RuleKind::Exclusion => "exclusion",
            RuleKind::Clause => "clause",
        }
    }
}

/// A rule that the base of a circuit entails.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BaseRule {
    /// Its kind.
    pub kind: RuleKind,
    /// Its literals.
    pub literals: Vec<Lit>,
    /// The weight of the records that could have broken the rule, if known.
    ///
    /// For an implication and for a clause, records where the body holds: the first literal, or all negative literals
    /// of the clause negated, but one if there is no other. For an exclusion, records where one of the literals holds.
    /// For the other kinds, all records. Missing cells hold nothing.
    pub support: Option<f64>,
    /// The probability of breaking the rule if all variables were independent with the marginals of the circuit.
    ///
    /// It measures what the rule adds to the marginals; so it is zero for literals that always hold.
    pub excluded: f64,
}

/// The base of a circuit as rules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BaseRules {
    /// The rules, by kind, then by the probability they exclude, largest first.
    pub rules: Vec<BaseRule>,
    /// All entailed clauses of at most this length follow from the rules, except for those that exclude less than
    /// [`RuleSearch::least_excluded`].
    pub complete_to: usize,
    /// Whether it is proved that no rule follows from the others.
    pub is_minimal: bool,
}

/// How far to search for rules.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleSearch {
    /// The longest clauses to look for; at least 2.
    pub length: usize,
    /// The most sets of literals tried for clauses of more than two.
    pub steps: usize,
    /// Clauses of more than two literals must exclude at least this probability.
    pub least_excluded: f64,
    /// The most clauses of more than two literals kept, those that exclude most.
    pub most_clauses: usize,
}

impl Default for RuleSearch {
    fn default() -> RuleSearch {
        RuleSearch { length: 3, steps: 200_000, least_excluded: 0.0, most_clauses: 1000 }
    }
}

impl Circuit {
    /// The base as rules, with their support in the records whose counts the circuit keeps, where these suffice.
    ///
    /// Counts give the support of rules about single literals; that of clauses of three or more needs records. Cost:
    /// elements × variables / 128 for all pairs, then elements × steps / 256; plus the square of the variables.
    ///
    /// ```
    /// use slopp::logic::RuleSearch;
    /// let psdd = slopp::example::psdd();
    /// let found = psdd.rules(&RuleSearch { length: 4, ..RuleSearch::default() })?;
    /// let names = slopp::example::records().names().clone();
    /// let texts: Vec<String> = found.rules.iter().map(|rule| rule.display(&names).to_string()).collect();
    /// assert!(texts.contains(&"X1 -> X3 | X4".to_owned()), "{texts:?}");
    /// # Ok::<(), slopp::logic::LogicError>(())
    /// ```
    pub fn rules(&self, search: &RuleSearch) -> Result<BaseRules, LogicError> {
        let mut found = find(self, search)?;
        if let Some(values) = self.kept_values() {
            let total = values.first().map_or(0.0, |[f, t]| f + t);
            found.rules.iter_mut().for_each(|rule| rule.support = rule.support_in_counts(&values, total));
        }
        Ok(found)
    }

    /// As [`Circuit::rules`], with the support in these records.
    pub fn rules_with(&self, records: &Records, search: &RuleSearch) -> Result<BaseRules, LogicError> {
        let (expected, found) = (self.var_count(), records.var_count());
        if expected != found {
            return Err(LogicError::WrongRecords { expected, found });
        }
        let mut found = find(self, search)?;
        found.rules.iter_mut().for_each(|rule| rule.support = Some(rule.support_in(records)));
        Ok(found)
    }
}

impl BaseRules {
    /// The positions of the rules that a record breaks; missing cells, `None`, break nothing.
    ///
    /// ```
    /// # use slopp::logic::RuleSearch;
    /// let found = slopp::example::psdd().rules(&RuleSearch { length: 4, ..RuleSearch::default() })?;
    /// let names = slopp::example::records().names().clone();
    /// let broken = found.broken_by(&[Some(true), None, Some(false), Some(false)]);
    /// assert_eq!(found.rules[broken[0]].display(&names).to_string(), "X1 -> X3 | X4");
    /// # Ok::<(), slopp::logic::LogicError>(())
    /// ```
    pub fn broken_by(&self, cells: &[Option<bool>]) -> Vec<usize> {
        (0..self.rules.len()).filter(|&i| self.rules[i].is_broken_by(cells)).collect()
    }

    /// All rules as clauses, each once: one of the literals of each holds.
    pub fn to_clauses(&self) -> Vec<Vec<Lit>> {
        // Groups that share literals exclude the same pairs.
        let mut seen = FxHashSet::default();
        let mut is_new = |clause: &Vec<Lit>| {
            let mut lits = clause.clone();
            lits.sort_unstable();
            seen.insert(lits)
        };
        self.rules.iter().flat_map(BaseRule::to_clauses).filter(|clause| is_new(clause)).collect()
    }
}

impl BaseRule {
    /// The rule as clauses: one of the literals of each holds.
    pub fn to_clauses(&self) -> Vec<Vec<Lit>> {
        let lits = &self.literals;
        let at_most_one = || {
            let pairs = (0..lits.len()).flat_map(move |j| (0..j).map(move |i| vec![!lits[i], !lits[j]]));
            pairs.collect::<Vec<_>>()
        };
        match self.kind {
            RuleKind::Literal | RuleKind::Clause => vec![lits.clone()],
            // A cycle of implications needs the fewest clauses.
            RuleKind::Equivalence => (0..lits.len()).map(|i| vec![!lits[i], lits[(i + 1) % lits.len()]]).collect(),
            RuleKind::Implication => vec![vec![!lits[0], lits[1]]],
            RuleKind::Exclusion => at_most_one(),
            RuleKind::ExactlyOne => [at_most_one(), vec![lits.clone()]].concat(),
        }
    }

    /// Whether the known cells break the rule.
    ///
    /// # Panics
    /// If there are fewer cells than variables.
    pub fn is_broken_by(&self, cells: &[Option<bool>]) -> bool {
        let is_false = |lit: &Lit| cells[lit.var.index()] == Some(!lit.value);
        self.to_clauses().iter().any(|clause| clause.iter().all(is_false))
    }

    fn new(kind: RuleKind, literals: Vec<Lit>, marginals: &[f64]) -> BaseRule {
        let p = |lit: &Lit| {
            let p = marginals[lit.var.index()];
            if lit.value { p } else { 1.0 - p }
        };
        let all: f64 = literals.iter().map(p).product();
        let none: f64 = literals.iter().map(|lit| 1.0 - p(lit)).product();
        let exactly_one = || {
            let only = |i: usize| -> f64 {
                let part = |(j, lit)| if i == j { p(lit) } else { 1.0 - p(lit) };
                literals.iter().enumerate().map(part).product()
            };
            (0..literals.len()).map(only).sum::<f64>()
        };
        let excluded = match kind {
            RuleKind::Literal | RuleKind::Clause => none,
            RuleKind::Equivalence => 1.0 - all - none,
            RuleKind::Implication => p(&literals[0]) * (1.0 - p(&literals[1])),
            RuleKind::Exclusion => 1.0 - none - exactly_one(),
            RuleKind::ExactlyOne => 1.0 - exactly_one(),
        };
        BaseRule { kind, literals, support: None, excluded: excluded.clamp(0.0, 1.0) }
    }

    /// The literals that must hold together to test the rule; for exclusions one of them is enough.
    fn body(&self) -> Vec<Lit> {
        match self.kind {
            RuleKind::Literal | RuleKind::Equivalence | RuleKind::ExactlyOne => Vec::new(),
            RuleKind::Implication => vec![self.literals[0]],
            RuleKind::Exclusion => self.literals.clone(),
            RuleKind::Clause => self.literals.iter().filter(|lit| !lit.value).map(|&lit| !lit).collect(),
        }
    }

    fn support_in_counts(&self, values: &[[f64; 2]], total: f64) -> Option<f64> {
        let count = |lit: &Lit| values[lit.var.index()][usize::from(lit.value)];
        let body = self.body();
        match (self.kind, &body[..]) {
            (_, []) => Some(total),
            // No two of them hold together, so records are counted once.
            (RuleKind::Exclusion, lits) => Some(lits.iter().map(count).sum()),
            (_, [lit]) => Some(count(lit)),
            _ => None,
        }
    }

    fn support_in(&self, records: &Records) -> f64 {
        let holds = |lit: &Lit| -> Vec<u64> {
            let column = records.column(lit.var);
            if lit.value {
                return column.to_vec();
            }
            let missing = records.missing_column(lit.var);
            let word = |(w, all): (usize, u64)| all & !column[w] & !missing.map_or(0, |missing| missing[w]);
            records.all_rows().into_iter().enumerate().map(word).collect()
        };
        let body = self.body();
        if self.kind == RuleKind::Exclusion {
            let mut any = vec![0; records.column_words()];
            body.iter().for_each(|lit| any.iter_mut().zip(holds(lit)).for_each(|(a, b)| *a |= b));
            return records.count(&any);
        }
        let conjunction = |skip: Option<usize>| {
            let mut all = records.all_rows();
            for (_, lit) in body.iter().enumerate().filter(|&(i, _)| Some(i) != skip) {
                all.iter_mut().zip(holds(lit)).for_each(|(a, b)| *a &= b);
            }
            all
        };
        if body.len() < self.literals.len() || self.kind != RuleKind::Clause {
            return records.count(&conjunction(None));
        }
        // All but one of the literals of an exclusion of three or more hold.
        let mut any = vec![0; records.column_words()];
        for skip in 0..body.len() {
            any.iter_mut().zip(conjunction(Some(skip))).for_each(|(a, b)| *a |= b);
        }
        records.count(&any)
    }
}

/// The position of a literal in arrays over literals: negative and positive ones in turn.
fn index(lit: Lit) -> usize {
    2 * lit.var.index() + usize::from(lit.value)
}

/// The literal at a position.
fn literal(index: usize) -> Lit {
    Var(index as u32 / 2).is(index % 2 == 1)
}

/// A disjunction of literals.
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
            // All values of a column look alike.
            Some(group) => is_plain(group.name()) && group.values().all(|(_, value)| is_plain_value(value)),
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

/// Whether a value is unambiguous, even without names: `x=yes` could be `x`.
fn is_plain_value(value: &str) -> bool {
    const TRUTHS: [&str; 6] = ["1", "0", "true", "false", "yes", "no"];
    value.chars().all(|c| c.is_alphanumeric() || "_.".contains(c)) && !TRUTHS.contains(&value.to_lowercase().as_str())
}

/// Whether a text can only be a name.
fn is_plain(name: &str) -> bool {
    const WORDS: [&str; 8] = ["true", "false", "not", "and", "or", "exactly", "at_most", "at_least"];
    let first = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    first && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !WORDS.contains(&name.to_lowercase().as_str())
}
