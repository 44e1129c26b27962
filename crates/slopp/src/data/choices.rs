//! Columns as choices among values, which is what learners work on: a Boolean column chooses between false and true, a
//! column with several values is one of them.

use super::{PairCounts, Records, SymmetricMatrix, bit_of, ones};
use crate::names::{Column, Names};
use crate::var::{Lit, Var};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Variables that together have one of several values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    vars: Vec<Var>,
    kind: Kind,
    /// Whether values that follow each other are alike, as bins are.
    ordered: bool,
}

/// What the values of a choice are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One variable is false or true.
    Boolean,
    /// Exactly one of the variables is true.
    Column,
    /// At most one of the variables is true in the records that the choice was found in. The last two values are that
    /// none is true, and that several are.
    Found,
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
                Choice { vars: group.vars().collect(), kind: Kind::Column, ordered: group.cuts().is_some() }
            }
        }
    }

    /// A variable that is false or true.
    pub(crate) fn boolean(var: Var) -> Choice {
        Choice { vars: vec![var], kind: Kind::Boolean, ordered: false }
    }

    /// Variables of which at most one is true in the records that the choice was found in.
    pub(crate) fn found(vars: Vec<Var>) -> Choice {
        Choice { vars, kind: Kind::Found, ordered: false }
    }

    /// The same choice with its values in another order.
    pub(crate) fn sorted_by(mut self, order: impl FnMut(&Var, &Var) -> Ordering) -> Choice {
        self.vars.sort_by(order);
        self
    }

    /// The same choice of variables that are numbered from `first` on.
    pub(crate) fn numbered_from(&self, first: usize) -> Choice {
        let vars = (first..first + self.vars.len()).map(|i| Var(i as u32)).collect();
        Choice { vars, ..self.clone() }
    }

    /// Its variables.
    pub(crate) fn vars(&self) -> &[Var] {
        &self.vars
    }

    /// Whether a literal of one of its variables is true if a column or a variable has this value.
    pub(crate) fn allows(&self, value: usize, lit: Lit) -> bool {
        let is_true = if self.kind == Kind::Boolean { value == 1 } else { self.vars[value] == lit.var };
        is_true == lit.value
    }

    /// How many values it has; the values of a variable are false and true.
    pub(crate) fn values(&self) -> usize {
        match self.kind {
            Kind::Boolean => 2,
            Kind::Column => self.vars.len(),
            Kind::Found => self.vars.len() + 2,
        }
    }

    /// The variable that is false or true, if it is one.
    pub(crate) fn as_boolean(&self) -> Option<Var> {
        (self.kind == Kind::Boolean).then(|| self.vars[0])
    }

    /// The values that none of the variables is true, and that several are, if these are values.
    pub(crate) fn none_and_several(&self) -> Option<[usize; 2]> {
        (self.kind == Kind::Found).then(|| [self.vars.len(), self.vars.len() + 1])
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
        let [none, several] = self.none_and_several().map_or([0; 2], |values| values.map(|value| value as u16));
        let mut codes = vec![none; records.len()];
        for (value, &var) in self.vars.iter().enumerate() {
            for row in ones(records.column(var)) {
                codes[row] = if codes[row] == none { value as u16 } else { several };
            }
        }
        Cells::Codes(codes)
    }

    /// The weight of the records with each value, where it is known.
    pub(crate) fn counts(&self, records: &Records) -> Vec<f64> {
        match self.kind {
            Kind::Boolean => records.count_values(self.vars[0]).to_vec(),
            Kind::Column => self.vars.iter().map(|&var| records.count(records.column(var))).collect(),
            Kind::Found => {
                let (cells, mut counts) = (self.cells(records), vec![0.0; self.values()]);
                records.weights().iter().enumerate().for_each(|(row, weight)| counts[cells.at(row)] += weight);
                counts
            }
        }
    }

    /// The weight of the records with each value of this choice and each of another, where both are known; for choices of
    /// columns.
    pub(crate) fn pair_counts(&self, other: &Choice, records: &Records) -> Vec<Vec<f64>> {
        let cell = |a: usize, b: usize| match (self.as_boolean(), other.as_boolean()) {
            (Some(x), Some(y)) => records.count_pair_values(x, y)[a][b],
            (Some(x), None) => records.count_pair_values(x, other.vars[b])[a][1],
            (None, Some(y)) => records.count_pair_values(self.vars[a], y)[1][b],
            (None, None) => records.count_both(records.column(self.vars[a]), records.column(other.vars[b])),
        };
        (0..self.values()).map(|a| (0..other.values()).map(|b| cell(a, b)).collect()).collect()
    }

    /// The same from the counts of all pairs of variables, for any choices that were found in these records.
    pub(crate) fn table(&self, other: &Choice, pairs: &PairCounts) -> Vec<Vec<f64>> {
        if other.kind == Kind::Found && self.kind != Kind::Found {
            let table = other.table(self, pairs);
            return (0..self.values()).map(|a| table.iter().map(|row| row[a]).collect()).collect();
        }
        if self.kind == Kind::Found {
            let of_var = |&var: &Var| Choice::boolean(var).table(other, pairs);
            let tables: Vec<Vec<Vec<f64>>> = self.vars.iter().map(of_var).collect();
            let values = 0..other.values();
            let none = |b: usize| {
                let all = tables[0][0][b] + tables[0][1][b];
                (all - tables.iter().map(|table| table[1][b]).sum::<f64>()).max(0.0)
            };
            let ends = [values.map(none).collect(), vec![0.0; other.values()]];
            return tables.iter().map(|table| table[1].clone()).chain(ends).collect();
        }
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
            _ => Dependence::of(&a.table(b, pairs)).unbiased(),
        }
    })
}

/// How far two choices are from independent in a table of their counts.
pub(crate) struct Dependence {
    total: f64,
    /// The total times the mutual information, in nats.
    nats: f64,
    /// How many cells, rows and columns of the table are used.
    used: [usize; 3],
}

impl Dependence {
    pub(crate) fn of(table: &[Vec<f64>]) -> Dependence {
        let rows: Vec<f64> = table.iter().map(|row| row.iter().sum()).collect();
        let columns: Vec<f64> =
            (0..table.first().map_or(0, Vec::len)).map(|b| table.iter().map(|row| row[b]).sum()).collect();
        let total: f64 = rows.iter().sum();
        let (mut nats, mut cells) = (0.0, 0);
        for (row, x) in table.iter().zip(&rows) {
            for (&n, y) in row.iter().zip(&columns).filter(|(n, _)| **n > 0.0) {
                nats += n * (n * total / (x * y)).ln();
                cells += 1;
            }
        }
        let used = |sums: &[f64]| sums.iter().filter(|sum| **sum > 0.0).count();
        Dependence { total, nats, used: [cells, used(&rows), used(&columns)] }
    }

    /// The mutual information in nats, less what independent choices have on average, but not below zero.
    pub(crate) fn unbiased(&self) -> f64 {
        let [cells, rows, columns] = self.used;
        // Miller and Madow: half a nat for every cell that is used beyond those of the margins.
        let chance = 0.5 * (cells as f64 + 1.0 - (rows + columns) as f64);
        if self.total > 0.0 { ((self.nats - chance) / self.total).max(0.0) } else { 0.0 }
    }

    /// The mutual information in nats.
    pub(crate) fn information(&self) -> f64 {
        if self.total > 0.0 { self.nats / self.total } else { 0.0 }
    }

    /// The degrees of freedom of the G-test: used rows and columns, less one each, multiplied.
    pub(crate) fn freedom(&self) -> usize {
        let [_, rows, columns] = self.used;
        rows.saturating_sub(1) * columns.saturating_sub(1)
    }
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
