//! Clauses of three or more literals: possible sets that one more literal makes impossible.

use super::pairs::Pairs;
use super::together::{LANES, Together, lane};
use super::{RuleSearch, index};
use crate::circuit::Circuit;
use crate::var::Lit;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

pub(super) struct Longer {
    /// Shorter ones first, then those that exclude most.
    pub(super) clauses: Vec<Vec<Lit>>,
    /// All entailed clauses of at most this length that are shortest by inclusion are there, or are pairs.
    pub(super) complete_to: usize,
}

/// A set of literals and the probability that all hold, if they were independent.
type Set = (Vec<Lit>, f64);

pub(super) fn search(circuit: &Circuit, pairs: &Pairs, marginals: &[f64], search: &RuleSearch) -> Longer {
    let p = |lit: Lit| if lit.value { marginals[lit.var.index()] } else { 1.0 - marginals[lit.var.index()] };
    let mut longer = Longer { clauses: Vec::new(), complete_to: search.length.max(2) };
    let mut steps = search.steps;
    let literals = &pairs.literals;
    let heavy = |mass: f64| mass >= search.least_excluded;
    let mut sets: Vec<Set> = Vec::new();
    if search.length > 2 {
        // A few more than there are steps, or the list of pairs is the largest thing around.
        for (i, &a) in literals.iter().enumerate() {
            let behind = literals[i + 1..].iter().copied().filter(|b| b.var != a.var && pairs.both(a, *b));
            sets.extend(behind.map(|b| (vec![a, b], p(a) * p(b))).filter(|&(_, mass)| heavy(mass)));
            if sets.len() > 4 * steps + 1024 {
                cut(&mut sets, steps, &mut longer, 2);
            }
        }
    }
    let mut impossible: FxHashSet<Vec<Lit>> = FxHashSet::default();
    for length in 3..=search.length {
        cut(&mut sets, steps, &mut longer, length - 1);
        steps -= sets.len();
        let grow_on = length < search.length;
        let parts: Vec<(Vec<Set>, Vec<Set>)> = sets
            .par_chunks(LANES)
            .map_init(
                || Together::new(circuit),
                |passes, sets| {
                    let lits: Vec<&[Lit]> = sets.iter().map(|(set, _)| &set[..]).collect();
                    let partners = passes.partners(&lits);
                    let (mut found, mut next) = (Vec::new(), Vec::new());
                    for (i, (set, mass)) in sets.iter().enumerate() {
                        let last = set[set.len() - 1];
                        let behind = literals.partition_point(|&lit| lit <= last);
                        for &lit in literals[behind..].iter().filter(|lit| lit.var != last.var) {
                            let mass = mass * p(lit);
                            let possible = lane(&partners[index(lit)], i);
                            if !heavy(mass) || possible && !grow_on || set.iter().any(|&other| !pairs.both(lit, other))
                            {
                                continue;
                            }
                            let grown = (set.iter().copied().chain([lit]).collect(), mass);
                            if possible { next.push(grown) } else { found.push(grown) }
                        }
                    }
                    (found, next)
                },
            )
            .collect();
        let mut found = Vec::new();
        sets.clear();
        for (new, next) in parts {
            found.extend(new.into_iter().filter(|(set, _)| !has_part(&impossible, set)));
            sets.extend(next);
        }
        heaviest_first(&mut found);
        longer.clauses.extend(found.iter().map(|(set, _)| set.iter().map(|&lit| !lit).collect()));
        impossible.extend(found.into_iter().map(|(set, _)| set));
    }
    longer
}

/// Keeps the sets that exclude most if there are more than steps.
fn cut(sets: &mut Vec<Set>, steps: usize, longer: &mut Longer, length: usize) {
    if sets.len() > steps {
        heaviest_first(sets);
        sets.truncate(steps);
        longer.complete_to = longer.complete_to.min(length);
    }
}

fn heaviest_first(sets: &mut [Set]) {
    sets.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
}

/// Whether a proper part of a set of three or more literals is known to be impossible; parts of two are not looked at.
fn has_part(impossible: &FxHashSet<Vec<Lit>>, set: &[Lit]) -> bool {
    let n = set.len();
    // Sets are short: all parts of three or more, by their bits.
    (1u64..(1 << n) - 1).filter(|bits| bits.count_ones() > 2).any(|bits| {
        let part: Vec<Lit> = (0..n).filter(|i| bits >> i & 1 == 1).map(|i| set[i]).collect();
        impossible.contains(&part)
    })
}
