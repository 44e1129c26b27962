//! An estimate of the likelihood of a set of records as a class, before the structure below it is known.
//!
//! The surrogate is a Chow-Liu tree over the remaining variables, with edges shared by all sets that may be merged. Its
//! log-likelihood only needs how often each variable, and each variable together with its parent, is true in a set.
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
pub(super) struct Surrogate<'a, T> {
    /// For each set its tree.
    trees: Vec<&'a Hung>,
    logs: &'a Logs,
    start: Start,
    /// The weight of each set.
    total: Vec<T>,
    /// For each set and position, how often it is true, and true together with its parent.
    counts: Vec<Vec<[T; 2]>>,
    /// For each set and position, the log-likelihood of its values given those of its parent.
    terms: Vec<Vec<f64>>,
}

impl<'a, T: Count> Surrogate<'a, T> {
    /// Counts sets, given the set of each row and the tree of each set. Positions count from the start of the range.
    pub(super) fn new(
        view: &View,
        Range { start: first, end }: Range<usize>,
        set_of: &[u32],
        (trees, logs): (Vec<&'a Hung>, &'a Logs),
        start: Start,
    ) -> Surrogate<'a, T> {
        let (vars, len) = (end - first, trees.len());
        let mut total = vec![T::default(); len];
        let mut counts = vec![vec![[T::default(); 2]; vars]; len];
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
                    let parent = tree.parent[x];
                    counts[x][0] += weight;
                    if parent != NO_PARENT && bit_of(line, parent as usize + first) {
                        counts[x][1] += weight;
                    }
                }
            }
        }
        let mut sets = Surrogate { trees, logs, start, total, counts, terms: Vec::new() };
        sets.terms = (0..len).map(|i| sets.terms_of(i)).collect();
        sets
    }

    fn terms_of(&self, i: usize) -> Vec<f64> {
        let counts = &self.counts[i][..];
        (0..counts.len()).map(|x| self.term(i, self.total[i], x, |x| counts[x])).collect()
    }

    /// The log-likelihood of the values of a position given those of its parent in the tree of set `i`, in a set given
    /// by its counts.
    fn term(&self, i: usize, total: T, x: usize, at: impl Fn(usize) -> [T; 2]) -> f64 {
        let f = |n: T| n.x_log_x(self.logs);
        let [n, both] = at(x);
        let parent = self.trees[i].parent[x];
        if parent == NO_PARENT {
            return f(n) + f(total - n) - f(total);
        }
        let above = at(parent as usize)[0];
        let (rest, alone) = (total - above, n - both);
        f(both) + f(above - both) - f(above) + f(alone) + f(rest - alone) - f(rest)
    }
}

impl<T: Count> Sets for Surrogate<'_, T> {
    fn len(&self) -> usize {
        self.total.len()
    }

    fn loss(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (&self.counts[i][..], &self.counts[j][..]);
        let total = self.total[i] + self.total[j];
        let joint = |x: usize| [a[x][0] + b[x][0], a[x][1] + b[x][1]];
        let lost = |x: usize| self.terms[i][x] + self.terms[j][x] - self.term(i, total, x, joint);
        let (Start::Whole(penalty) | Start::Window(penalty)) = self.start else {
            return (0..a.len()).map(lost).sum();
        };
        // Two parameters per position, but the root has one.
        let (mut sum, mut largest) = (penalty, f64::NEG_INFINITY);
        for x in 0..a.len() {
            sum += lost(x) - 2.0 * penalty;
            largest = if sum > largest { sum } else { largest };
        }
        if matches!(self.start, Start::Window(_)) { largest } else { sum }
    }

    fn merge(&mut self, i: usize, j: usize) {
        let moved = std::mem::take(&mut self.counts[j]);
        for (into, from) in self.counts[i].iter_mut().zip(moved) {
            into[0] += from[0];
            into[1] += from[1];
        }
        let moved = self.total[j];
        self.total[i] += moved;
        self.terms[i] = self.terms_of(i);
    }

    fn cost(&self) -> usize {
        10 * self.trees.first().map_or(0, |tree| tree.parent.len())
    }
}
