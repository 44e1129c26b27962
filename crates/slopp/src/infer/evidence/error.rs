//! What is no evidence.

use crate::names::NameError;
use std::fmt;

/// Why a text or a list of literals is not evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// A name that no variable has.
    #[error("evidence, column {column}: {source}")]
    Name {
        /// Column of the text, from one.
        column: usize,
        /// Which name, and which one is near.
        source: NameError,
    },
    /// Literals that are separated by blanks.
    #[error("evidence, column {column}: literals are separated by commas; write it like \"{fixed}\"")]
    Blanks {
        /// Column of the text, from one.
        column: usize,
        /// The same with commas.
        fixed: String,
    },
    /// A variable is said to have both values.
    #[error(
        "evidence{}: it says that variable \"{name}\" is both true and false, which is impossible; keep one of the two",
        Column(.column)
    )]
    Contradiction {
        /// The variable: its name, or its number where names are not known.
        name: String,
        /// Column of the second mention, from one; `None` for evidence that was not text.
        column: Option<usize>,
    },
    /// A column is said to have two values.
    #[error(
        "evidence, column {column}: it says that \"{name}\" is both \"{first}\" and \"{second}\", which is impossible; keep one of the two"
    )]
    TwoValues {
        /// The column of the records.
        name: String,
        /// One value.
        first: String,
        /// The other.
        second: String,
        /// Column of the second mention, from one.
        column: usize,
    },
    /// A text that cannot be read.
    #[error("evidence, column {column}: expected {expected}, found {found}; write it like \"smoker, !cancer, age=1\"")]
    Text {
        /// Column, from one.
        column: usize,
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A variable that is not there.
    #[error("evidence about variable {variable}, but there are only {len} variables")]
    OutOfRange {
        /// The variable, from one.
        variable: u32,
        /// How many there are.
        len: usize,
    },
}

struct Column<'a>(&'a Option<usize>);

impl fmt::Display for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |column| write!(f, ", column {column}"))
    }
}
