//! Records: Boolean data with named variables, and counts in them.
//!
//! Readers of files are in [`crate::io`]. Nothing here knows about circuits.

mod bits;
mod builder;
mod choices;
mod describe;
mod error;
mod generate;
mod pairs;
mod split;

pub(crate) use bits::{BitMatrix, bit_of, ones};
pub use builder::RecordsBuilder;
pub(crate) use choices::{Cells, Choice, dependence, information};
pub use describe::{Description, Pair};
pub use error::RecordsError;
pub(crate) use generate::MAX_RECORDS;
pub(crate) use pairs::PairCounts;
pub use pairs::SymmetricMatrix;

/// The most variables for tables of all pairs, which would not fit in memory above.
pub const MAX_PAIR_VARIABLES: usize = 10_000;

use crate::names::{Group, Names};
use crate::var::Var;
use std::sync::Arc;

/// Weighted distinct Boolean rows over named variables, some cells possibly missing.
///
/// Equal rows are stored once, with their total weight, most frequent first and then in binary order, so the order of a
/// file does not affect learners. Bits are packed both by row and by column. [`Records::original`] maps the original
/// records to the rows.
///
/// ```
/// use slopp::{Names, Records};
/// let records = Records::from_rows(Names::numbered(2), [[true, false], [true, true], [true, false]]);
/// assert_eq!((records.len(), records.total()), (2, 3.0));
/// assert_eq!(records.row(0).collect::<Vec<_>>(), [Some(true), Some(false)]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    names: Arc<Names>,
    rows: BitMatrix,
    columns: BitMatrix,
    /// Missing cells by row and by column; their value bits are zero.
    missing: Option<[BitMatrix; 2]>,
    weights: Vec<f64>,
    planes: Planes,
    original: Vec<u32>,
}

/// Weights cut into bits, so that weighted counting is AND and popcount.
#[derive(Clone, Debug, PartialEq)]
enum Planes {
    /// Plane `b` holds bit `b` of every weight; rows are sorted by weight, so high planes are short.
    Integer(Vec<Vec<u64>>),
    /// Some weight is not whole: counting adds them up.
    Real,
}

impl Records {
    /// Records from complete rows, each of weight one.
    pub fn from_rows<R: IntoIterator<Item = bool>>(
        names: impl Into<Arc<Names>>,
        rows: impl IntoIterator<Item = R>,
    ) -> Records {
        let mut builder = RecordsBuilder::new(names);
        for row in rows {
            builder.push(row.into_iter().map(Some), 1.0);
        }
        builder.finish()
    }

    /// The names of the variables.
    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.names.len()
    }

    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The total weight: the number of records, with repetition.
    pub fn total(&self) -> f64 {
        // Starts from positive zero: an empty sum is negative zero.
        self.weights.iter().fold(0.0, |sum, weight| sum + weight)
    }

    /// The weight of each distinct row, descending.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether the weight of some row differs from the number of its records.
    pub fn is_weighted(&self) -> bool {
        let mut repeated = vec![0.0; self.len()];
        self.original.iter().for_each(|&row| repeated[row as usize] += 1.0);
        repeated != self.weights
    }

    /// For each record in the order it was given, its row.
    pub fn original(&self) -> &[u32] {
        &self.original
    }

    /// The weight of each record in the order it was given: its share of that of its row.
    pub fn record_weights(&self) -> Vec<f64> {
        let mut repeats = vec![0.0; self.len()];
        self.original.iter().for_each(|&row| repeats[row as usize] += 1.0);
        self.original.iter().map(|&row| self.weights[row as usize] / repeats[row as usize]).collect()
    }

    /// The records without missing cells.
    pub fn complete(&self) -> Records {
        self.subset(|row| self.row(row).all(|cell| cell.is_some()))
    }

    /// The positions of the records with missing cells, in the original order, from zero.
    pub fn incomplete(&self) -> impl Iterator<Item = usize> {
        let rows = if self.has_missing() { self.len() } else { 0 };
        let misses: Vec<bool> = (0..rows).map(|row| self.row(row).any(|cell| cell.is_none())).collect();
        let places = self.original.iter().enumerate();
        places.filter(move |(_, row)| misses.get(**row as usize).is_some_and(|&misses| misses)).map(|(place, _)| place)
    }

    /// The cells of a row, `None` where missing.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = Option<bool>> {
        (0..self.var_count()).map(move |i| self.cell(row, Var(i as u32)))
    }

    /// One cell, `None` where missing.
    pub fn cell(&self, row: usize, var: Var) -> Option<bool> {
        let missing = self.missing.as_ref().is_some_and(|[rows, _]| rows.bit(row, var.index()));
        (!missing).then(|| self.rows.bit(row, var.index()))
    }

    /// All rows, packed; missing cells are zero.
    pub(crate) fn rows(&self) -> &BitMatrix {
        &self.rows
    }

    /// The packed column of a variable, a bit per distinct row; missing cells are zero.
    pub fn column(&self, var: Var) -> &[u64] {
        self.columns.line(var.index())
    }

    /// The rows where this variable is missing, packed; `None` if no cell of the records is missing.
    pub fn missing_column(&self, var: Var) -> Option<&[u64]> {
        self.missing.as_ref().map(|[_, columns]| columns.line(var.index()))
    }

    /// Whether some cell is missing.
    pub fn has_missing(&self) -> bool {
        self.missing.is_some()
    }

    /// The number of 64-bit words of a column.
    pub(crate) fn column_words(&self) -> usize {
        self.len().div_ceil(64)
    }

    /// The total weight of the rows in a packed set, by AND and popcount where weights are whole numbers.
    pub fn count(&self, set: &[u64]) -> f64 {
        self.count_words(set.iter().copied())
    }

    /// The total weight of the rows in both of two packed sets.
    pub(crate) fn count_both(&self, a: &[u64], b: &[u64]) -> f64 {
        self.count_words(a.iter().zip(b).map(|(a, b)| a & b))
    }

    /// The total weight of the rows in a packed set that covers the columns from word `first` on.
    pub(crate) fn count_from(&self, first: usize, set: &[u64]) -> f64 {
        match &self.planes {
            Planes::Integer(planes) => {
                let ones = |plane: &Vec<u64>| -> u64 {
                    let words = plane.get(first..).unwrap_or(&[]);
                    words.iter().zip(set).map(|(p, s)| u64::from((p & s).count_ones())).sum()
                };
                planes.iter().enumerate().map(|(bit, plane)| ones(plane) << bit).sum::<u64>() as f64
            }
            Planes::Real => ones(set).map(|row| self.weights[64 * first + row]).sum(),
        }
    }

    fn count_words(&self, set: impl Iterator<Item = u64> + Clone) -> f64 {
        match &self.planes {
            Planes::Integer(planes) => {
                let ones = |plane: &Vec<u64>| -> u64 {
                    plane.iter().zip(set.clone()).map(|(p, s)| u64::from((p & s).count_ones())).sum()
                };
                planes.iter().enumerate().map(|(bit, plane)| ones(plane) << bit).sum::<u64>() as f64
            }
            Planes::Real => {
                let words: Vec<u64> = set.collect();
                ones(&words).map(|row| self.weights[row]).sum()
            }
        }
    }

    /// The weight of the rows where a variable is false and where it is true.
    ///
    /// Each side is counted by itself: with real weights a difference would leave rounding errors.
    pub fn count_values(&self, var: Var) -> [f64; 2] {
        let column = self.column(var);
        let known = self.known(var);
        [self.count_words(known.iter().zip(column).map(|(k, c)| k & !c)), self.count(column)]
    }

    /// The weight of the rows for each pair of values of two variables: `[a is false, a is true]` by `b`.
    pub(crate) fn count_pair_values(&self, a: Var, b: Var) -> [[f64; 2]; 2] {
        let (known, columns) = ([self.known(a), self.known(b)], [self.column(a), self.column(b)]);
        [false, true].map(|x| {
            [false, true].map(|y| {
                self.count_words((0..self.column_words()).map(|w| {
                    let side = |i: usize, value: bool| if value { columns[i][w] } else { known[i][w] & !columns[i][w] };
                    side(0, x) & side(1, y)
                }))
            })
        })
    }

    /// The rows where a variable is known.
    fn known(&self, var: Var) -> Vec<u64> {
        let all = self.all_rows();
        match self.missing_column(var) {
            None => all,
            Some(missing) => all.iter().zip(missing).map(|(all, missing)| all & !missing).collect(),
        }
    }

    /// A set of all rows, packed.
    pub fn all_rows(&self) -> Vec<u64> {
        full_set(self.len())
    }

    /// The same records over other names, matched by name: in another order, or fewer, or with categories that no
    /// record has, which are false where the column is known.
    ///
    /// ```
    /// use slopp::{Kind, Names, Records};
    /// let color = |colors: &[&str]| Kind::Values(colors.iter().map(ToString::to_string).collect());
    /// let names = Names::of_columns([("hot".into(), Kind::Boolean), ("color".into(), color(&["red", "tan"]))])?;
    /// let records = Records::from_rows(names, [[true, false, true]]);
    /// let more = Names::of_columns([("color".into(), color(&["blue", "red", "tan"]))])?;
    /// assert!(records.over(more)?.row(0).eq([Some(false), Some(false), Some(true)]));
    /// # Ok::<(), slopp::Error>(())
    /// ```
    pub fn over(&self, names: impl Into<Arc<Names>>) -> Result<Records, RecordsError> {
        let names = names.into();
        let absent = |name: &str| {
            let of = |group: &&Group| name.strip_prefix(group.name()).is_some_and(|rest| rest.starts_with('='));
            self.names.groups().iter().find(of).and_then(|group| group.vars().next())
        };
        // The variable of each name, and whether it is that variable; else it is an absent category of its column.
        let known = |name: &str| self.names.find(name).map(|var| (var, true)).ok();
        let sources: Vec<Option<(Var, bool)>> =
            names.iter().map(|name| known(name).or_else(|| Some((absent(name)?, false)))).collect();
        let lacking = names.iter().zip(&sources).filter(|(_, source)| source.is_none());
        let lacking: Vec<String> = lacking.map(|(name, _)| name.to_owned()).collect();
        if !lacking.is_empty() {
            let known = self.names.columns().map(|column| self.names.column_name(column).to_owned()).collect();
            return Err(RecordsError::NoColumns { lacking, known });
        }
        let sources: Vec<(Var, bool)> = sources.into_iter().flatten().collect();
        let mut builder = RecordsBuilder::new(names);
        for (row, weight) in self.entries() {
            let cell = |&(var, same): &(Var, bool)| self.cell(row, var).map(|value| value && same);
            builder.push(sources.iter().map(cell), weight);
        }
        Ok(builder.finish())
    }

    /// The same records under other names.
    ///
    /// # Panics
    /// If the number of names differs from the number of variables.
    pub fn renamed(mut self, names: impl Into<Arc<Names>>) -> Records {
        let names = names.into();
        assert_eq!(names.len(), self.var_count(), "one name per variable");
        self.names = names;
        self
    }

    /// The bytes of the packed bits, by row and by column.
    pub fn bytes(&self) -> usize {
        let missing = self.missing.as_ref().map_or(0, |[rows, columns]| rows.bytes() + columns.bytes());
        self.rows.bytes() + self.columns.bytes() + missing
    }
}

impl Planes {
    fn new(weights: &[f64]) -> Planes {
        weight_planes(weights).map_or(Planes::Real, Planes::Integer)
    }
}

/// A packed set of all of `len` rows.
pub(crate) fn full_set(len: usize) -> Vec<u64> {
    let mut set = vec![u64::MAX; len.div_ceil(64)];
    if let (Some(last), extra @ 1..) = (set.last_mut(), len % 64) {
        *last = u64::MAX >> (64 - extra);
    }
    set
}

/// The bit planes of descending weights; `None` if these are not whole numbers of less than 2⁵³ in total.
pub(crate) fn weight_planes(weights: &[f64]) -> Option<Vec<Vec<u64>>> {
    if weights.iter().any(|w| w.fract() != 0.0) || weights.iter().sum::<f64>() >= 9e15 {
        return None;
    }
    let mut planes: Vec<Vec<u64>> = Vec::new();
    for (row, &weight) in weights.iter().enumerate() {
        for bit in ones(&[weight as u64]) {
            if planes.len() <= bit {
                planes.resize(bit + 1, Vec::new());
            }
            planes[bit].resize(row / 64 + 1, 0);
            planes[bit][row / 64] |= 1 << (row % 64);
        }
    }
    Some(planes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(text: &str) -> Vec<Option<bool>> {
        text.chars().map(|c| if c == '?' { None } else { Some(c == '1') }).collect()
    }

    fn records(rows: &[(&str, f64)]) -> Records {
        let mut builder = RecordsBuilder::new(Names::numbered(rows[0].0.len()));
        rows.iter().for_each(|(row, weight)| builder.push(bits(row), *weight));
        builder.finish()
    }

    #[test]
    fn equal_rows_are_kept_once_and_sorted() {
        let records = records(&[("01", 1.0), ("10", 2.0), ("01", 4.0), ("11", 2.0)]);
        assert_eq!(records.weights(), [5.0, 2.0, 2.0]);
        assert_eq!(records.original(), [0, 1, 0, 2]);
        assert_eq!(records.row(0).collect::<Vec<_>>(), bits("01"));
        assert_eq!(records.total(), 9.0);
    }

    #[test]
    fn counting_respects_weights() {
        for scale in [1.0, 0.5] {
            let records = records(&[("01", 5.0 * scale), ("10", 2.0 * scale), ("11", 3.0 * scale)]);
            assert_eq!(records.count(records.column(Var(0))), 5.0 * scale);
            assert_eq!(records.count(records.column(Var(1))), 8.0 * scale);
            assert_eq!(records.count_both(records.column(Var(0)), records.column(Var(1))), 3.0 * scale);
            assert_eq!(records.count(&records.all_rows()), 10.0 * scale);
        }
    }

    #[test]
    fn missing_cells_are_neither_true_nor_false() {
        let records = records(&[("0?", 1.0), ("01", 1.0), ("?1", 1.0)]);
        assert_eq!(records.len(), 3);
        assert!(records.has_missing());
        let cells: Vec<_> = (0..3).map(|row| records.row(row).collect::<Vec<_>>()).collect();
        assert!(cells.contains(&bits("0?")) && cells.contains(&bits("?1")));
        assert_eq!(records.count(records.missing_column(Var(1)).unwrap()), 1.0);
    }
}
