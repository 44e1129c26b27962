//! Columns as choices among values, which is what learners work on: a Boolean column chooses between false and true, a
//! column with several values is one of them.

use super::{PairCounts, Records, SymmetricMatrix, bit_of, ones};
use crate::names::{Column, Names};
use crate::var::Var;
use std::borrow::Cow;

/// Variables that together have one of several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    vars: Vec<Var>,
    /// Whether exactly one of the variables is true; otherwise there is one variable, which is false or true.
    is_group: bool,
    /// Whether values that follow each other are alike, as bins are.
    ordered: bool,
}

/// The values of a choice in all rows, as numbers from zero.
#[derive(Clone, Debug)]
pub(crate) enum Cells<'a> {
    /// Two values: a bit per row.
    Bits(Cow<'a, [u64]>),
    /// Any number of values.
    Codes(Vec<u16>),
}

impl Choice {
    /// The choices of named columns, in their order.
    pub(crate) fn all(names: &Names) -> Vec<Choice> {
        names.columns().map(Choice::of).collect()
    }

    /// The choice of a column.
    pub(crate) fn of(column: Column<'_>) -> Choice {
        match column {
            Column::Boolean(var) => Choice::boolean(var),
            Column::Group(group) => {
                Choice { vars: group.vars().collect(), is_group: true, ordered: group.cuts().is_some() }
            }
        }
    }

    /// A variable that is false or true.
    pub(crate) fn boolean(var: Var) -> Choice {
        Choice { vars: vec![var], is_group: false, ordered: false }
    }

    /// Its variables.
    pub(crate) fn vars(&self) -> &[Var] {
        &self.vars
    }

    /// How many values it has; the values of a variable are false and true.
    pub(crate) fn values(&self) -> usize {
        if self.is_group { self.vars.len() } else { 2 }
    }

    /// The variable that is false or true, if it is one.
    pub(crate) fn as_boolean(&self) -> Option<Var> {
        (!self.is_group).then(|| self.vars[0])
    }

    /// Whether values that follow each other are alike.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// The value of every row. Every row must have one.
    pub(crate) fn cells<'a>(&self, records: &'a Records) -> Cells<'a> {
        if let Some(var) = self.as_boolean() {
            return Cells::Bits(Cow::Borrowed(records.column(var)));
        }
        let mut codes = vec![0; records.len()];
        for (value, &var) in self.vars.iter().enumerate() {
            ones(records.column(var)).for_each(|row| codes[row] = value as u16);
        }
        Cells::Codes(codes)
    }

    /// The weight of the records with each value, where it is known.
    pub(crate) fn counts(&self, records: &Records) -> Vec<f64> {
        match self.as_boolean() {
            Some(var) => records.count_values(var).to_vec(),
            None => self.vars.iter().map(|&var| records.count(records.column(var))).collect(),
        }
    }

    /// The weight of the records with each value of this choice and each of another, where both are known.
    pub(crate) fn pair_counts(&self, other: &Choice, records: &Records) -> Vec<Vec<f64>> {
        let cell = |a: usize, b: usize| match (self.as_boolean(), other.as_boolean()) {
            (Some(x), Some(y)) => records.count_pair_values(x, y)[a][b],
            (Some(x), None) => records.count_pair_values(x, other.vars[b])[a][1],
            (None, Some(y)) => records.count_pair_values(self.vars[a], y)[1][b],
            (None, None) => records.count_both(records.column(self.vars[a]), records.column(other.vars[b])),
        };
        (0..self.values()).map(|a| (0..other.values()).map(|b| cell(a, b)).collect()).collect()
    }

    /// The same from the counts of all pairs of variables.
    fn table(&self, other: &Choice, pairs: &PairCounts) -> Vec<Vec<f64>> {
        let cell = |a: usize, b: usize| {
            let both = |x: Var, y: Var| pairs.cells(x, y);
            match (self.as_boolean(), other.as_boolean()) {
                (Some(x), Some(y)) => both(x, y)[2 * a + b],
                (Some(x), None) => both(x, other.vars[b])[2 * a + 1],
                (None, Some(y)) => both(self.vars[a], y)[2 + b],
                (None, None) => both(self.vars[a], other.vars[b])[3],
            }
        };
        (0..self.values()).map(|a| (0..other.values()).map(|b| cell(a, b)).collect()).collect()
    }
}

impl Cells<'_> {
    /// The cells of these rows, in this order.
    pub(crate) fn arranged(&self, rows: &[u32]) -> Cells<'static> {
        match self {
            Cells::Bits(bits) => {
                let mut arranged = vec![0u64; rows.len().div_ceil(64)];
                for (new, &old) in rows.iter().enumerate() {
                    arranged[new / 64] |= u64::from(bit_of(bits, old as usize)) << (new % 64);
                }
                Cells::Bits(Cow::Owned(arranged))
            }
            Cells::Codes(codes) => Cells::Codes(rows.iter().map(|&row| codes[row as usize]).collect()),
        }
    }

    /// The value in a row.
    #[inline]
    pub(crate) fn at(&self, row: usize) -> usize {
        match self {
            Cells::Bits(bits) => usize::from(bit_of(bits, row)),
            Cells::Codes(codes) => usize::from(codes[row]),
        }
    }
}

/// The mutual information of all pairs of choices, in nats. For two variables it is that of their counts with
/// `pseudocount` more records in every cell; otherwise it is less by what independent choices have on average.
pub(crate) fn information(choices: &[Choice], pairs: &PairCounts, pseudocount: f64) -> SymmetricMatrix {
    let of_variables = pairs.mutual_information(pseudocount);
    if choices.iter().enumerate().all(|(i, choice)| choice.as_boolean() == Some(Var(i as u32))) {
        return of_variables;
    }
    SymmetricMatrix::filled(choices.len(), 64, |i, j| {
        let (a, b) = (&choices[i], &choices[j]);
        match (a.as_boolean(), b.as_boolean()) {
            _ if i == j => 0.0,
            (Some(x), Some(y)) => of_variables.at(x.index(), y.index()),
            _ => unbiased(&a.table(b, pairs)),
        }
    })
}

/// The mutual information of a table, less what a table of independent choices has on average, but not below zero.
fn unbiased(table: &[Vec<f64>]) -> f64 {
    let rows: Vec<f64> = table.iter().map(|row| row.iter().sum()).collect();
    let columns: Vec<f64> =
        (0..table.first().map_or(0, Vec::len)).map(|b| table.iter().map(|row| row[b]).sum()).collect();
    let total: f64 = rows.iter().sum();
    let (mut sum, mut cells) = (0.0, 0usize);
    for (row, x) in table.iter().zip(&rows) {
        for (&n, y) in row.iter().zip(&columns).filter(|(n, _)| **n > 0.0) {
            sum += n * (n * total / (x * y)).ln();
            cells += 1;
        }
    }
    let used = |sums: &[f64]| sums.iter().filter(|sum| **sum > 0.0).count();
    // Miller and Madow: half a nat for every cell that is used beyond those of the margins.
    let chance = 0.5 * (cells as f64 + 1.0 - (used(&rows) + used(&columns)) as f64);
    if total > 0.0 { ((sum - chance) / total).max(0.0) } else { 0.0 }
}

/// The mutual information of two choices in records, in nats, less by what independent ones have on average.
pub(crate) fn dependence(a: &Choice, b: &Choice, records: &Records) -> f64 {
    unbiased(&a.pair_counts(b, records))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Kind;
    use crate::random::Random;
    use std::sync::Arc;

    fn records(seed: u64, follow: f64) -> (Records, Vec<[usize; 3]>) {
        let values = |n: usize| Kind::Values((0..n).map(|i| i.to_string()).collect());
        let kinds = [("a", values(4)), ("b", Kind::Boolean), ("c", values(3))];
        let names = Arc::new(Names::of_columns(kinds.map(|(name, kind)| (name.to_owned(), kind))).unwrap());
        let mut random = Random::new(seed);
        let rows: Vec<[usize; 3]> = (0..400)
            .map(|_| {
                let a = random.below(4);
                let c = if random.unit() < follow { a % 3 } else { random.below(3) };
                [a, random.below(2), c]
            })
            .collect();
        let bits =
            |&[a, b, c]: &[usize; 3]| (0..4).map(move |i| i == a).chain([b == 1]).chain((0..3).map(move |i| i == c));
        (Records::from_rows(names, rows.iter().map(bits)), rows)
    }

    #[test]
    fn values_and_tables_are_those_of_the_rows() {
        let (records, rows) = records(1, 0.5);
        let choices = Choice::all(records.names());
        let cells: Vec<Cells<'_>> = choices.iter().map(|choice| choice.cells(&records)).collect();
        for (place, row) in rows.iter().enumerate() {
            let at = records.original()[place] as usize;
            assert_eq!(cells.iter().map(|cells| cells.at(at)).collect::<Vec<_>>(), row);
        }
        let pairs = PairCounts::of(&records);
        for (i, a) in choices.iter().enumerate() {
            for (j, b) in choices.iter().enumerate().filter(|&(j, _)| j != i) {
                for (x, row) in a.table(b, &pairs).iter().enumerate() {
                    for (y, &n) in row.iter().enumerate() {
                        assert_eq!(n, rows.iter().filter(|row| row[i] == x && row[j] == y).count() as f64);
                    }
                }
            }
        }
    }

    #[test]
    fn information_is_of_whole_columns_and_unbiased() {
        let mean = |follow| -> f64 {
            let one = |seed| {
                information(
                    &Choice::all(records(seed, follow).0.names()),
                    &PairCounts::of(&records(seed, follow).0),
                    1.0,
                )
                .at(0, 2)
            };
            (0..20).map(one).sum::<f64>() / 20.0
        };
        // Of a table of 4 × 3 cells chance alone would show 6 / (2 · 400) nats.
        assert!(mean(0.0) < 0.004, "{}", mean(0.0));
        assert!((mean(1.0) - 1.0397).abs() < 0.01, "the entropy of c is {}", mean(1.0));
    }
}
