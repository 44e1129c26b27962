//! Records that break rules.

use crate::logic::{Clause, Rules};
use crate::var::Lit;

/// A record that breaks rules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// Its place among the original records, from zero.
    pub record: usize,
    /// The rules that it breaks; none if it only breaks several rules together.
    pub broken: Vec<usize>,
    /// A smallest set of known cells that cannot hold together.
    pub conflict: Vec<Lit>,
    /// The cells that a repair changes, with their new values.
    pub change: Vec<Lit>,
}

/// The records that break rules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Violations {
    /// All rules; the last ones say that every column has one value.
    pub rules: Rules,
    /// The records, in their order.
    pub records: Vec<Violation>,
    /// Their weight.
    pub weight: f64,
    /// The weight of all records.
    pub total: f64,
}

impl Violation {
    /// The clause that follows from the rules: one of the cells of the conflict is false.
    pub fn rule(&self) -> Clause {
        Clause { literals: self.conflict.iter().map(|&lit| !lit).collect() }
    }
}
