//! Groups of variables of which exactly one or at most one holds, and the rules about two literals.

use super::pairs::Pairs;
use super::together::Together;
use super::{BaseRule, RuleKind};
use crate::circuit::Circuit;
use crate::var::Lit;
use std::collections::BTreeSet;

/// How many partial groups the search looks at.
const STEPS: usize = 1_000_000;
/// How far below one the probabilities of a group may add up to: rounding only, as the circuit has the last word.
const SLACK: f64 = 1e-4;

/// The groups of three or more variables of which exactly one holds.
///
/// Of variables that exclude each other one always holds iff their probabilities add up to one; so partial groups
/// that cannot get there are given up at once, and the few that do are proved by the circuit.
pub(super) fn exactly_one(circuit: &Circuit, pairs: &Pairs, marginals: &[f64]) -> Vec<Vec<Lit>> {
    let positive: Vec<Lit> = pairs.literals.iter().copied().filter(|lit| lit.value).collect();
    let p = |lit: &Lit| marginals[lit.var.index()];
    let mut passes = Together::new(circuit);
    let mut groups = Vec::new();
    let mut steps = 0;
    for (i, &first) in positive.iter().enumerate() {
        let others: Vec<Lit> = positive[i + 1..].iter().copied().filter(|&lit| !pairs.both(first, lit)).collect();
        // A partial group, and what it can still be extended by.
        let mut stack = vec![(vec![first], others)];
        while let Some((group, others)) = stack.pop() {
            steps += 1;
            if steps > STEPS {
                return groups;
            }
            let sum: f64 = group.iter().chain(&others).map(p).sum();
            if sum < 1.0 - SLACK {
                continue;
            }
            let Some((&next, rest)) = others.split_first() else {
                let none: Vec<Lit> = group.iter().map(|&lit| !lit).collect();
                if group.len() > 2 && passes.possible(&[none])[0] & 1 == 0 {
                    groups.push(group);
                }
                continue;
            };
            stack.push((group.clone(), rest.to_vec()));
            let with: Vec<Lit> = rest.iter().copied().filter(|&lit| !pairs.both(next, lit)).collect();
            stack.push(([&group[..], &[next]].concat(), with));
        }
    }
    groups
}

/// The rules about two literals: implications, and exclusions joined to groups of which at most one holds.
///
/// Exclusions that a group of exactly one has already are left out.
pub(super) fn binary(
    pairs: &Pairs,
    clauses: &[[Lit; 2]],
    exactly_one: &[Vec<Lit>],
    marginals: &[f64],
) -> Vec<BaseRule> {
    let mut rules = Vec::new();
    let mut open: BTreeSet<[Lit; 2]> = BTreeSet::new();
    for &[a, b] in clauses {
        match (a.value, b.value) {
            (false, false) => drop(open.insert([!a, !b])),
            // What is implied reads best as it is, what implies as what it is not.
            (false, _) => rules.push(BaseRule::new(RuleKind::Implication, vec![!a, b], marginals)),
            (true, false) => rules.push(BaseRule::new(RuleKind::Implication, vec![!b, a], marginals)),
            (true, true) => rules.push(BaseRule::new(RuleKind::Implication, vec![!a, b], marginals)),
        }
    }
    for group in exactly_one {
        open.retain(|pair| !pair.iter().all(|lit| group.contains(lit)));
    }
    while let Some(pair) = open.pop_first() {
        let mut group = pair.to_vec();
        let candidates: BTreeSet<Lit> = open.iter().flatten().copied().collect();
        for lit in candidates {
            let joins = |member: &Lit| open.contains(&[*member.min(&lit), *member.max(&lit)]);
            if !group.contains(&lit) && group.iter().all(|&member| !pairs.both(member, lit)) && group.iter().any(joins)
            {
                group.push(lit);
            }
        }
        group.sort_unstable();
        open.retain(|pair| !pair.iter().all(|lit| group.contains(lit)));
        rules.push(BaseRule::new(RuleKind::Exclusion, group, marginals));
    }
    rules
}
