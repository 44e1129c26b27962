//! Variables and literals.

use std::fmt;
use std::ops::Not;

/// A Boolean variable, counted from zero.
///
/// Files of the field count variables from one; [`Var::number`] and [`Var::from_number`] translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u32);

impl Var {
    /// The position of this variable in arrays over variables.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The number of this variable in files, from one.
    pub fn number(self) -> u32 {
        self.0 + 1
    }

    /// The variable with this file number, or `None` for zero.
    pub fn from_number(number: u32) -> Option<Var> {
        number.checked_sub(1).map(Var)
    }

    /// The literal that says this variable has `value`.
    pub fn is(self, value: bool) -> Lit {
        Lit { var: self, value }
    }
}

/// A literal: a variable together with the value it claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit {
    /// The variable.
    pub var: Var,
    /// The value it claims.
    pub value: bool,
}

impl Lit {
    /// The signed number of this literal in files: `3` for the third variable, `-3` for its negation.
    pub fn number(self) -> i64 {
        let n = i64::from(self.var.number());
        if self.value { n } else { -n }
    }

    /// The literal with this signed file number, or `None` for zero and numbers out of range.
    pub fn from_number(number: i64) -> Option<Lit> {
        let var = Var::from_number(u32::try_from(number.unsigned_abs()).ok()?)?;
        Some(var.is(number > 0))
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        self.var.is(!self.value)
    }
}

impl fmt::Display for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}
