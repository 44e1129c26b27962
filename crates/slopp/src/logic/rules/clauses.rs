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

/// How many passes are made before sets that are too many are cut.
const BLOCK: usize = 4;
/// How many clauses of one length are looked at.
const FOUND_LIMIT: usize = 100_000;

/// A set of literals and the probability that all hold, if they were independent.
type Set = (Vec<Lit>, f64);

pub(super) fn search(circuit: &Circuit, pairs: &Pairs, marginals: &[f64], search: &RuleSearch) -> Longer {
    let p = |lit: Lit| if lit.value { marginals[lit.var.index()] } else { 1.0 - marginals[lit.var.index()] };
    let mut longer = Longer { clauses: Vec::new(), complete_to: search.length.max(2) };
    let mut steps = search.steps;
    let literals = &pairs.literals;
    // Longer clauses than there are variables say the same as shorter ones.
    let longest = search.length.min(circuit.var_count());
    let heavy = |mass: f64| mass >= search.least_excluded;
    let mut sets: Vec<Set> = Vec::new();
    if longest > 2 {
        // A few more than there are steps, or the list of pairs is the largest thing around.
        for (i, &a) in literals.iter().enumerate() {
            let behind = literals[i + 1..].iter().copied().filter(|b| b.var != a.var && pairs.both(a, *b));
            sets.extend(behind.map(|b| (vec![a, b], p(a) * p(b))).filter(|&(_, mass)| heavy(mass)));
            if sets.len() > steps.saturating_mul(4).saturating_add(1024) {
                cut(&mut sets, steps, &mut longer, 2);
            }
        }
    }
    let mut impossible: FxHashSet<Vec<Lit>> = FxHashSet::default();
    for length in 3..=longest {
        cut(&mut sets, steps, &mut longer, length - 1);
        steps -= sets.len();
        let grow_on = length < longest && steps > 0;
        if length < longest && steps == 0 {
            longer.complete_to = longer.complete_to.min(length);
        }
        let mut found: Vec<Set> = Vec::new();
        let mut grown: Vec<Set> = Vec::new();
        // Block by block, so that what is too much is cut before it is too much for the memory.
        for block in sets.chunks(BLOCK * LANES) {
            // Once there are as many as there are steps, only heavier ones are of use.
            let floor = if steps > 0 && grown.len() == steps { grown[steps - 1].1 } else { 0.0 };
            let grow_above = grow_on.then_some(floor);
            let parts: Vec<(Vec<Set>, Vec<Set>)> = block
                .par_chunks(LANES)
                .map_init(|| Together::new(circuit), |passes, sets| extend(passes, sets, pairs, &p, &heavy, grow_above))
                .collect();
            for (new, next) in parts {
                found.extend(new.into_iter().filter(|(set, _)| !has_part(&impossible, set)));
                grown.extend(next);
            }
            cut(&mut grown, steps, &mut longer, length);
            cut(&mut found, FOUND_LIMIT, &mut longer, length - 1);
        }
        sets = grown;
        heaviest_first(&mut found);
        longer.clauses.extend(found.iter().map(|(set, _)| set.iter().map(|&lit| !lit).collect()));
        impossible.extend(found.into_iter().map(|(set, _)| set));
    }
    longer
}

/// The sets that one more literal makes impossible, and those that it does not, each with this literal.
fn extend(
    passes: &mut Together<'_>,
    sets: &[Set],
    pairs: &Pairs,
    p: &impl Fn(Lit) -> f64,
    heavy: &impl Fn(f64) -> bool,
    grow_above: Option<f64>,
) -> (Vec<Set>, Vec<Set>) {
    let literals = &pairs.literals;
    let lits: Vec<&[Lit]> = sets.iter().map(|(set, _)| &set[..]).collect();
    let partners = passes.partners(&lits);
    let (mut found, mut next) = (Vec::new(), Vec::new());
    for (i, (set, mass)) in sets.iter().enumerate() {
        let last = set[set.len() - 1];
        // Behind the last literal only, or every set would be found several times.
        let behind = literals.partition_point(|&lit| lit <= last);
        for &lit in literals[behind..].iter().filter(|lit| lit.var != last.var) {
            let mass = mass * p(lit);
            let possible = lane(&partners[index(lit)], i);
            let grows = grow_above.is_some_and(|floor| mass >= floor);
            if !heavy(mass) || possible && !grows || set.iter().any(|&other| !pairs.both(lit, other)) {
                continue;
            }
            let with = (set.iter().copied().chain([lit]).collect(), mass);
            if possible { next.push(with) } else { found.push(with) }
        }
    }
    (found, next)
}

/// Keeps the sets that exclude most if there are more than so many; then only clauses up to `length` are complete.
fn cut(sets: &mut Vec<Set>, most: usize, longer: &mut Longer, length: usize) {
    if sets.len() > most {
        heaviest_first(sets);
        sets.truncate(most);
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
