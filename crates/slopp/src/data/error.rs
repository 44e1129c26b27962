//! Errors of making, splitting and joining records.

use super::MAX_RECORDS;

/// Why records could not be made, split or joined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// A share is not a number of at least zero, or all are zero.
    #[error("the shares {shares:?} cannot be used; give numbers of at least zero, such as 0.8 0.1 0.1")]
    Shares {
        /// The shares as given.
        shares: Vec<f64>,
    },
    /// The weights stand for too many records to split one by one.
    #[error("{records} records are too many to split one by one; divide the weights by a common factor")]
    TooManyToSplit {
        /// The total weight.
        records: f64,
    },
    /// The two data sets have different variables.
    #[error(
        "the variables differ at column {column}: {left} in one and {right} in the other; put the columns in the same order"
    )]
    Variables {
        /// First column that differs, from one.
        column: usize,
        /// Its name in the first data set, or "no column".
        left: String,
        /// Its name in the second data set, or "no column".
        right: String,
    },
    /// Columns are missing.
    #[error("the records have no column {}; the columns are {}", .lacking.join(", "), .known.join(", "))]
    NoColumns {
        /// The missing variables.
        lacking: Vec<String>,
        /// The columns there are.
        known: Vec<String>,
    },
    /// A probability of flipping is not in `[0, 1]`.
    #[error("{probability} is not a probability; give a number from 0 to 1")]
    Flip {
        /// The number.
        probability: f64,
    },
    /// More records than are generated at once.
    #[error("{records} records are too many to generate; give a number of at most {MAX_RECORDS}")]
    TooMany {
        /// The number asked for.
        records: usize,
    },
    /// A row does not fit the names.
    #[error("row {row} has {cells} cells, but there are {expected} names; give one cell per name")]
    Row {
        /// The row, from one.
        row: usize,
        /// The number of cells it has.
        cells: usize,
        /// The number of names.
        expected: usize,
    },
    /// Too few or too many items to rank.
    #[error("cannot rank {items} items; give a number from 1 to {most}")]
    Items {
        /// The number asked for.
        items: usize,
        /// The largest number.
        most: usize,
    },
    /// The dispersion is not in `(0, 1]`.
    #[error(
        "{dispersion} is not a dispersion; give a number above 0 (always the same ranking) and at most 1 (all rankings equally likely)"
    )]
    Dispersion {
        /// The number.
        dispersion: f64,
    },
    /// A text that does not define bins.
    #[error(
        "{text:?} does not define bins: {reason}; write it like age=4, four bins of about equal weight, or like \
         age=young:30:old:65:ancient, names with the numbers between them"
    )]
    Bins {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}
