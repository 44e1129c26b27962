//! An estimate of the likelihood of a set of records as a class, before the structure below it is known.
//!
//! The surrogate is a Chow-Liu tree over the remaining columns, with edges shared by all sets that may be merged. Its
//! log-likelihood only needs how often each value, and each value together with one of the parent, occurs in a set.
//! Counts of merged sets add up.

use super::Start;
use super::agglomerate::Sets;
use super::forest::{Hung, NO_PARENT};
use super::view::View;
use crate::data::bit_of;
use crate::logspace::x_log_x;
use std::ops::{Add, AddAssign, Range, Sub};

/// `n ln n` is tabulated for whole numbers up to this.
const TABLE: usize = 1 << 16;

/// `n ln n` of small whole numbers.
pub(super) struct Logs(Vec<f64>);

impl Logs {
    /// The table for counts up to `total`.
    pub(super) fn new(total: f64) -> Logs {
        Logs((0..=(total as usize).min(TABLE)).map(|n| x_log_x(n as f64)).collect())
    }
}

/// A weight of records: whole or real.
pub(super) trait Count:
    Copy + Default + Send + Sync + PartialOrd + Add<Output = Self> + Sub<Output = Self> + AddAssign
{
    fn from_weight(weight: f64) -> Self;
    fn x_log_x(self, logs: &Logs) -> f64;
}

impl Count for u32 {
    fn from_weight(weight: f64) -> u32 {
        weight as u32
    }

    fn x_log_x(self, logs: &Logs) -> f64 {
        logs.0.get(self as usize).copied().unwrap_or_else(|| x_log_x(f64::from(self)))
    }
}

impl Count for f64 {
    fn from_weight(weight: f64) -> f64 {
        weight
    }

    fn x_log_x(self, _logs: &Logs) -> f64 {
        x_log_x(self)
    }
}

/// Sets of records with their counts along a tree.
///
/// The counts of a column in a set are: of each rare value, and of each rare value of the parent and each rare value
/// together. The rest is that of the most frequent values. So a variable has two counts.
pub(super) struct Surrogate<'a, T> {
    /// For each set its tree.
    trees: Vec<&'a Hung>,
    logs: &'a Logs,
    start: Start,
    /// How many rare values each column has.
    rare: Vec<usize>,
    /// Where the counts of each column begin, and where those of the last end.
    starts: Vec<usize>,
    /// The weight of each set.
    total: Vec<T>,
    counts: Vec<Vec<T>>,
    /// For each set and column, the log-likelihood of its values given those of its parent.
    terms: Vec<Vec<Term>>,
}

/// The log-likelihood of a column given its parent, and how many parameters it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Term {
    log_likelihood: f64,
    parameters: f64,
}

impl<'a, T: Count> Surrogate<'a, T> {
    /// Counts sets, given the set of each row and the tree of each set. Positions count from the start of the range.
    /// Sets with different trees must be over variables only.
    pub(super) fn new(
        view: &View,
        Range { start: first, end }: Range<usize>,
        set_of: &[u32],
        (trees, logs): (Vec<&'a Hung>, &'a Logs),
        start: Start,
    ) -> Surrogate<'a, T> {
        let (columns, len) = (end - first, trees.len());
        let rare: Vec<usize> = (first..end).map(|position| view.rare_values(position)).collect();
        let mut starts = vec![0];
        for x in 0..columns {
            // The place of a variable does not depend on the tree, unless its parent has several values.
            let parent = trees.first().map_or(NO_PARENT, |tree| tree.parent[x]);
            let pairs = match parent {
                NO_PARENT => usize::from(rare[x] == 1),
                parent => rare[x] * rare[parent as usize],
            };
            starts.push(starts[x] + rare[x] + pairs);
        }
        let mut total = vec![T::default(); len];
        let mut counts = vec![vec![T::default(); starts[columns]]; len];
        for (row, (&set, &weight)) in set_of.iter().zip(view.weights()).enumerate() {
            let (weight, line) = (T::from_weight(weight), view.rare(row));
            let (counts, tree) = (&mut counts[set as usize], trees[set as usize]);
            total[set as usize] += weight;
            for (i, &word) in line[..end.div_ceil(64)].iter().enumerate().skip(first / 64) {
                let mut rest = if i == first / 64 { word & (u64::MAX << (first % 64)) } else { word };
                if i == end / 64 {
                    rest &= !(u64::MAX << (end % 64));
                }
                while rest != 0 {
                    let x = 64 * i + rest.trailing_zeros() as usize - first;
                    rest &= rest - 1;
                    let place = starts[x] + view.rare_value(first + x, row);
                    counts[place] += weight;
                    let parent = tree.parent[x];
                    if parent != NO_PARENT && bit_of(line, parent as usize + first) {
                        counts[place + rare[x] * (1 + view.rare_value(first + parent as usize, row))] += weight;
                    }
                }
            }
        }
        let mut sets = Surrogate { trees, logs, start, rare, starts, total, counts, terms: Vec::new() };
        sets.terms = (0..len).map(|i| sets.terms_of(i)).collect();
        sets
    }

    fn terms_of(&self, i: usize) -> Vec<Term> {
        let counts = &self.counts[i][..];
        (0..self.rare.len()).map(|x| self.term(i, self.total[i], x, |place| counts[place])).collect()
    }

    /// The log-likelihood of the values of a column given those of its parent in the tree of set `i`, in a set given
    /// by its counts.
    fn term(&self, i: usize, total: T, x: usize, at: impl Fn(usize) -> T) -> Term {
        let f = |n: T| n.x_log_x(self.logs);
        let parent = self.trees[i].parent[x];
        let (start, rare) = (self.starts[x], self.rare[x]);
        let above = if parent == NO_PARENT { 0 } else { self.rare[parent as usize] };
        if rare != 1 || above > 1 {
            let first = if above == 0 { 0 } else { self.starts[parent as usize] };
            let above = first..first + above;
            return self.wide_term(total, start, rare, above, &at);
        }
        let n = at(start);
        let log_likelihood = match above {
            0 => f(n) + f(total - n) - f(total),
            _ => {
                let (above, both) = (at(self.starts[parent as usize]), at(start + 1));
                let (rest, alone) = (total - above, n - both);
                f(both) + f(above - both) - f(above) + f(alone) + f(rest - alone) - f(rest)
            }
        };
        Term { log_likelihood, parameters: 2.0 }
    }

    /// The same for any number of values, given where the counts of the rare values of the parent are. Only parameters of
    /// what occurs count.
    fn wide_term(&self, total: T, start: usize, rare: usize, above: Range<usize>, at: &impl Fn(usize) -> T) -> Term {
        let none = T::default();
        let mut term = Term::default();
        // What is left for the most frequent value of the parent.
        let mut left = total;
        let first = |b: usize| start + rare * (1 + b);
        for (b, given) in above.clone().map(at).enumerate().filter(|(_, given)| *given > none) {
            self.add(&mut term, given, (first(b)..first(b) + rare).map(at));
            left = left - given;
        }
        if left > none {
            let rest = |a: usize| (0..above.len()).fold(at(start + a), |n, b| n - at(first(b) + a));
            self.add(&mut term, left, (0..rare).map(rest));
        }
        term
    }

    /// Adds the log-likelihood of the rare values with these counts, and of the most frequent one.
    fn add(&self, term: &mut Term, given: T, counts: impl Iterator<Item = T>) {
        let f = |n: T| n.x_log_x(self.logs);
        let none = T::default();
        let (mut usual, mut used) = (given, 0);
        for n in counts.filter(|n| *n > none) {
            term.log_likelihood += f(n);
            usual = usual - n;
            used += 1;
        }
        used += usize::from(usual > none);
        term.log_likelihood += f(usual) - f(given);
        term.parameters += used as f64 - 1.0;
    }
}

impl<T: Count> Sets for Surrogate<'_, T> {
    fn len(&self) -> usize {
        self.total.len()
    }

    fn loss(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (&self.counts[i][..], &self.counts[j][..]);
        let total = self.total[i] + self.total[j];
        let joint = |place: usize| a[place] + b[place];
        // The loss, and the parameters that are saved.
        let lost = |x: usize| {
            let (one, other, both) = (self.terms[i][x], self.terms[j][x], self.term(i, total, x, joint));
            (
                one.log_likelihood + other.log_likelihood - both.log_likelihood,
                one.parameters + other.parameters - both.parameters,
            )
        };
        let (Start::Whole(penalty) | Start::Window(penalty)) = self.start else {
            return (0..self.rare.len()).map(|x| lost(x).0).sum();
        };
        // Two parameters per variable, but the root has one.
        let (mut sum, mut largest) = (if self.rare.first() == Some(&1) { penalty } else { 0.0 }, f64::NEG_INFINITY);
        for x in 0..self.rare.len() {
            let (loss, parameters) = lost(x);
            sum += loss - parameters * penalty;
            largest = if sum > largest { sum } else { largest };
        }
        if matches!(self.start, Start::Window(_)) { largest } else { sum }
    }

    fn merge(&mut self, i: usize, j: usize) {
        let moved = std::mem::take(&mut self.counts[j]);
        self.counts[i].iter_mut().zip(moved).for_each(|(into, from)| *into += from);
        let moved = self.total[j];
        self.total[i] += moved;
        self.terms[i] = self.terms_of(i);
    }

    fn cost(&self) -> usize {
        let columns = self.rare.len();
        // Two steps for each count beyond the two of a variable.
        10 * columns + 2 * (self.starts[columns] - 2 * columns.min(self.starts[columns] / 2))
    }
}
