//! φ(D): what records say if nothing else is possible.

use super::Records;
use std::fmt;

/// The closed-world formula φ(D) of complete records: the disjunction of their terms.
///
/// A circuit relaxes it if every record is possible ([`Circuit::entailed_by`](crate::Circuit::entailed_by)), and
/// equals it if there are no other possible worlds
/// ([`Deterministic::equals_closed_world`](crate::Deterministic::equals_closed_world)).
///
/// ```
/// use slopp::{Names, Records, data::ClosedWorld};
/// let records = Records::from_rows(Names::numbered(2), [[true, false], [false, false], [true, false]]);
/// let formula = ClosedWorld::of(&records).expect("no cells are missing");
/// assert_eq!(formula.to_string(), "(x1 & !x2) | (!x1 & !x2)");
/// assert_eq!(formula.model_count(), 2);
/// assert!(formula.holds(&[true, false]) && !formula.holds(&[true, true]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClosedWorld<'a> {
    records: &'a Records,
}

impl<'a> ClosedWorld<'a> {
    /// The formula of these records; `None` if cells are missing, since a partial record is no single world.
    pub fn of(records: &'a Records) -> Option<ClosedWorld<'a>> {
        (!records.has_missing()).then_some(ClosedWorld { records })
    }

    /// How many worlds satisfy it: as many as there are distinct records.
    pub fn model_count(&self) -> usize {
        self.records.len()
    }

    /// Whether a world satisfies it: whether it is one of the records.
    pub fn holds(&self, world: &[bool]) -> bool {
        let same = |row: usize| self.records.row(row).eq(world.iter().map(|&value| Some(value)));
        (0..self.records.len()).any(same)
    }
}

impl fmt::Display for ClosedWorld<'_> {
    /// The formula in disjunctive normal form, with names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.records.is_empty() {
            return f.write_str("false");
        }
        for row in 0..self.records.len() {
            f.write_str(if row == 0 { "(" } else { " | (" })?;
            for (i, cell) in self.records.row(row).enumerate() {
                let var = crate::Var(i as u32);
                let lit = self.records.names().literal(var.is(cell == Some(true)));
                write!(f, "{}{lit}", if i == 0 { "" } else { " & " })?;
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}
