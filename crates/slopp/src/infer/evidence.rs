//! Evidence: what is known about a world.

mod error;
mod text;

pub use error::EvidenceError;

use crate::data::{Records, bit_of};
use crate::names::Names;
use crate::var::{Lit, Var};
use std::fmt;

/// A partial assignment: some variables have a known value, the others may have any.
///
/// ```
/// use slopp::infer::Evidence;
/// use slopp::{Names, Var};
/// let names = Names::new(vec!["smoker".into(), "cancer".into(), "age".into()])?;
/// let evidence = Evidence::parse("smoker, !cancer", &names)?;
/// assert_eq!(evidence.value(Var(1)), Some(false));
/// assert_eq!(evidence.value(Var(2)), None);
/// assert_eq!(evidence.display(&names).to_string(), "smoker, !cancer");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Evidence {
    len: usize,
    known: Vec<u64>,
    /// Value bits; zero where not known.
    value: Vec<u64>,
}

impl Evidence {
    /// Nothing is known about `len` variables.
    pub fn none(len: usize) -> Evidence {
        let words = len.div_ceil(64);
        Evidence { len, known: vec![0; words], value: vec![0; words] }
    }

    /// Everything is known.
    pub fn of_world(world: &[bool]) -> Evidence {
        let mut evidence = Evidence::none(world.len());
        for (i, &value) in world.iter().enumerate() {
            evidence.set(Var(i as u32), Some(value));
        }
        evidence
    }

    /// Evidence about `len` variables from literals; two literals of one variable must agree.
    ///
    /// ```
    /// use slopp::{Var, infer::Evidence};
    /// assert!(Evidence::from_lits(2, [Var(0).is(true)]).is_ok());
    /// assert!(Evidence::from_lits(2, [Var(0).is(true), Var(0).is(false)]).is_err());
    /// ```
    pub fn from_lits(len: usize, lits: impl IntoIterator<Item = Lit>) -> Result<Evidence, EvidenceError> {
        let mut evidence = Evidence::none(len);
        for Lit { var, value } in lits {
            if var.index() >= len {
                return Err(EvidenceError::OutOfRange { variable: var.number(), len });
            }
            if evidence.value(var) == Some(!value) {
                return Err(EvidenceError::Contradiction { name: var.number().to_string(), column: None });
            }
            evidence.set(var, Some(value));
        }
        Ok(evidence)
    }

    /// The cells of a row of records; missing cells are not known.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn from_row(records: &Records, row: usize) -> Evidence {
        let mut evidence = Evidence::none(records.var_count());
        for (i, cell) in records.row(row).enumerate() {
            evidence.set(Var(i as u32), cell);
        }
        evidence
    }

    /// Makes a variable known, or not known with `None`.
    ///
    /// # Panics
    /// If there is no such variable, as does [`Evidence::value`].
    pub fn set(&mut self, var: Var, value: Option<bool>) {
        assert!(var.index() < self.len, "no such variable");
        let (word, bit) = (var.index() / 64, 1 << (var.index() % 64));
        self.known[word] &= !bit;
        self.value[word] &= !bit;
        if let Some(value) = value {
            self.known[word] |= bit;
            self.value[word] |= if value { bit } else { 0 };
        }
    }

    /// The value of a variable, if known.
    pub fn value(&self, var: Var) -> Option<bool> {
        assert!(var.index() < self.len, "no such variable");
        bit_of(&self.known, var.index()).then(|| bit_of(&self.value, var.index()))
    }

    /// Whether a literal agrees with what is known.
    pub fn allows(&self, lit: Lit) -> bool {
        self.value(lit.var) != Some(!lit.value)
    }

    /// The same evidence, said once by column: where a column has a value, that it has no other is left out.
    ///
    /// So a distance from it counts a column once, however many variables a new value changes.
    pub fn by_column(&self, names: &Names) -> Evidence {
        let mut evidence = self.clone();
        for group in names.groups().iter().filter(|group| group.vars().any(|var| self.value(var) == Some(true))) {
            let denied = group.vars().filter(|&var| self.value(var) == Some(false));
            denied.for_each(|var| evidence.set(var, None));
        }
        evidence
    }

    /// How many variables there are, known or not.
    pub fn var_count(&self) -> usize {
        self.len
    }

    /// How many variables are known.
    pub fn known_count(&self) -> usize {
        self.known.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// What is known, by variable.
    pub fn lits(&self) -> impl Iterator<Item = Lit> {
        crate::data::ones(&self.known).map(|i| Var(i as u32).is(bit_of(&self.value, i)))
    }

    /// Both together, or `None` if they contradict each other.
    pub(crate) fn and(&self, other: &Evidence) -> Option<Evidence> {
        let words = || self.known.iter().zip(&other.known).zip(self.value.iter().zip(&other.value));
        if words().any(|((a, b), (x, y))| a & b & (x ^ y) != 0) {
            return None;
        }
        Some(Evidence {
            len: self.len,
            known: words().map(|((a, b), _)| a | b).collect(),
            value: words().map(|(_, (x, y))| x | y).collect(),
        })
    }

    /// The evidence as people write it, to print; [`Evidence::parse`] reads it back.
    ///
    /// # Panics
    /// When printed, if there are fewer names than variables.
    pub fn display<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        text::Named { evidence: self, names }
    }
}
