//! Which totals weighted formulas can have, and formulas that are counted more than once as weights.

use super::{Handle, Manager};
use rustc_hash::FxHashMap;

/// How many ranges are told apart: more are one range, from zero to the largest total.
const MOST_RANGES: usize = 256;

/// Totals in order, as ranges that do not touch, first and last included; perhaps more than there are, never fewer.
pub(super) struct Sums(Vec<(usize, usize)>);

impl Sums {
    /// Totals that are in order and begin with zero.
    pub(super) fn of(totals: impl Iterator<Item = usize>) -> Sums {
        Sums::joined(totals.map(|n| (n, n)))
    }

    /// The totals of two that are added.
    pub(super) fn plus(&self, other: &Sums) -> Sums {
        if self.0.len() * other.0.len() > MOST_RANGES {
            return Sums(vec![(0, self.most() + other.most())]);
        }
        let mut ranges: Vec<_> = self.0.iter().flat_map(|a| other.0.iter().map(|b| (a.0 + b.0, a.1 + b.1))).collect();
        ranges.sort_unstable();
        Sums::joined(ranges.into_iter())
    }

    fn joined(ranges: impl Iterator<Item = (usize, usize)>) -> Sums {
        let mut sums: Vec<(usize, usize)> = Vec::new();
        for (from, to) in ranges {
            match sums.last_mut() {
                Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
                _ => sums.push((from, to)),
            }
        }
        Sums(if sums.len() > MOST_RANGES { vec![(0, sums[sums.len() - 1].1)] } else { sums })
    }

    /// The largest total.
    pub(super) fn most(&self) -> usize {
        self.0.last().map_or(0, |range| range.1)
    }

    /// The totals from one number to another, in order.
    pub(super) fn between(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.0.partition_point(|range| range.1 < from);
        let ranges = self.0[first..].iter().take_while(move |range| range.0 <= to);
        ranges.flat_map(move |range| range.0.max(from)..=range.1.min(to))
    }

    /// The first and the last total from one number to another.
    pub(super) fn within(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let first = self.0.get(self.0.partition_point(|range| range.1 < from))?.0.max(from);
        let last = self.0[..self.0.partition_point(|range| range.0 <= to)].last()?.1.min(to);
        (first <= last).then_some((first, last))
    }
}

/// Formulas to count, each once with its weight, and how many hold in any case.
pub(super) struct Weighted {
    pub(super) formulas: Vec<(Handle, usize)>,
    pub(super) always: usize,
}

impl Weighted {
    /// A formula that is there so many times has that weight; one and its negation together always count one.
    pub(super) fn new(manager: &Manager, formulas: &[Handle]) -> Weighted {
        let mut places: FxHashMap<usize, usize> = FxHashMap::default();
        let mut weights: Vec<(Handle, [usize; 2])> = Vec::new();
        let mut always = 0;
        for &formula in formulas {
            if manager.vtree_of(formula).is_none() {
                always += usize::from(formula == Handle::TRUE);
                continue;
            }
            let place = *places.entry(formula.node()).or_insert(weights.len());
            if place == weights.len() {
                weights.push((formula.negated_if(formula.is_negated()), [0; 2]));
            }
            weights[place].1[usize::from(formula.is_negated())] += 1;
        }
        let mut formulas = Vec::with_capacity(weights.len());
        for (formula, [plain, negated]) in weights {
            always += plain.min(negated);
            if plain != negated {
                formulas.push((formula.negated_if(negated > plain), plain.abs_diff(negated)));
            }
        }
        Weighted { formulas, always }
    }

    /// The weights without a number that divides them all, and that number.
    pub(super) fn divided(mut self) -> (Vec<(Handle, usize)>, usize) {
        let common =
            self.formulas.iter().fold(0, |common, &(_, weight)| greatest_common_divisor(common, weight)).max(1);
        self.formulas.iter_mut().for_each(|(_, weight)| *weight /= common);
        (self.formulas, common)
    }
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_all_there() {
        let weights: [&[usize]; 5] = [&[1, 1, 1], &[25, 25, 3], &[7, 1, 2, 40], &[1, 1, 1, 90], &[5]];
        for weights in weights {
            let one = |&weight: &usize| Sums::of([0, weight].into_iter());
            let sums = weights.iter().map(one).reduce(|a, b| a.plus(&b)).unwrap();
            let totals = 0..1u32 << weights.len();
            let total = |set: u32| (0..weights.len()).filter(|i| set >> i & 1 == 1).map(|i| weights[i]).sum::<usize>();
            let mut totals: Vec<usize> = totals.map(total).collect();
            totals.sort_unstable();
            totals.dedup();
            assert_eq!(sums.between(0, sums.most()).collect::<Vec<_>>(), totals);
            for from in 0..=sums.most() + 1 {
                for to in 0..=sums.most() + 1 {
                    let within: Vec<usize> = totals.iter().copied().filter(|n| (from..=to).contains(n)).collect();
                    assert_eq!(sums.within(from, to), within.first().map(|&first| (first, within[within.len() - 1])));
                }
            }
        }
    }
}
