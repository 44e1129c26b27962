//! Records that break rules.

use crate::logic::{Clause, Rules};
use crate::var::Lit;

/// A record that breaks rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Its place among the records as they were given, from zero.
    pub record: usize,
    /// The rules that it breaks by itself; none if only several together cannot hold.
    pub broken: Vec<usize>,
    /// Known cells that cannot hold together, of which none can be left out.
    pub conflict: Vec<Lit>,
    /// The cells that a repair changes, with their new values.
    pub change: Vec<Lit>,
}

/// The records that break rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Violations {
    /// All rules, those that every column has one value last.
    pub rules: Rules,
    /// The records, in their order.
    pub records: Vec<Violation>,
    /// Their weight.
    pub weight: f64,
    /// The weight of all records.
    pub total: f64,
}

impl Violation {
    /// That one of the cells of the conflict is false: what the rules together say.
    pub fn rule(&self) -> Clause {
        Clause { literals: self.conflict.iter().map(|&lit| !lit).collect() }
    }
}
