//! Orders of columns for right-linear vtrees.
//!
//! The order decides what classes must remember, and so the likelihood. Depth-first through the Chow-Liu tree is good
//! and costs nothing. [`ranked_vtrees`] tries several orders and ranks them by validation likelihood.

use super::{Slopp, find};
use crate::data::SymmetricMatrix;
use crate::learn::LearnError;
use crate::learn::task::Task;
use crate::learn::vtree::{ChowLiuTree, Columns};
use crate::progress::Progress;
use crate::random::Random;
use crate::var::Var;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// Random roots among the orders that are tried.
const ROOTS: usize = 6;

/// With more variables than this, linear arrangements cost too much, and only roots are tried.
const MANY_VARIABLES: usize = 300;

/// Vtrees along orders of columns worth trying, the best of a quick run first.
pub(in crate::learn) fn ranked_vtrees(
    task: &Task,
    config: &Slopp,
    progress: &dyn Progress,
) -> Result<Vec<Arc<Vtree>>, LearnError> {
    let Task { train, seed, .. } = *task;
    let columns = Columns::new(train.names());
    let information = columns.information(train)?;
    let mut orders = match columns.len() > MANY_VARIABLES {
        true => depth_first_orders(&information, ROOTS, seed),
        false => candidates(&information, ROOTS, seed),
    };
    orders.insert(0, columns.along(&ChowLiuTree::new(&information)));
    let mut seen = std::collections::HashSet::new();
    orders.retain(|order| seen.insert(order.clone()));
    progress.begin("trying orders", orders.len() as u64);
    let quick = |order: Vec<Var>| {
        let vtree = Arc::new(columns.right_linear(&order));
        let max_classes = config.max_classes.min(32);
        let config = Slopp { max_classes, sweeps: 1, clone_depth: 0, ..config.clone() };
        let log_likelihood = find(&Task { vtree: Some(&vtree), ..*task }, &config, &())?.log_likelihood;
        progress.advance(1);
        Ok((log_likelihood, vtree))
    };
    let mut tried: Vec<(f64, Arc<Vtree>)> = orders.into_par_iter().map(quick).collect::<Result<_, LearnError>>()?;
    tried.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(tried.into_iter().map(|(_, vtree)| vtree).collect())
}

/// Orders of columns of several values that are worth a quick run before the fast effort, the usual one first.
pub(super) fn few_orders(columns: &Columns, information: &SymmetricMatrix) -> Vec<Vec<Var>> {
    let tree = ChowLiuTree::new(information);
    let usual = columns.along(&tree);
    let back = usual.iter().rev().copied().collect();
    let mut orders = vec![tree.linear_order(), back];
    if columns.len() <= MANY_VARIABLES {
        orders.push(arrangement(information, 1.0, &usual, Random::new(0).bits()));
    }
    orders.retain(|order| *order != usual);
    orders.dedup();
    orders.insert(0, usual);
    orders
}

/// Orders worth trying: [depth-first ones](depth_first_orders), and the linear arrangements that bring related
/// variables together, for several powers of mutual information.
fn candidates(information: &SymmetricMatrix, roots: usize, seed: u64) -> Vec<Vec<Var>> {
    let mut orders = depth_first_orders(information, roots, seed);
    let first = orders[0].clone();
    let mut random = Random::stream(seed, 1);
    for power in [0.5, 1.0, 2.0] {
        orders.push(arrangement(information, power, &first, random.bits()));
    }
    orders
}

/// Depth-first through the Chow-Liu tree from its centre, small subtrees first, its reverse, and depth-first from
/// `roots` random variables.
fn depth_first_orders(information: &SymmetricMatrix, roots: usize, seed: u64) -> Vec<Vec<Var>> {
    let tree = ChowLiuTree::new(information);
    let first = tree.linear_order();
    let mut random = Random::new(seed);
    let mut orders = vec![first.clone(), first.iter().rev().copied().collect()];
    for _ in 0..roots {
        let root = Var(random.below(tree.var_count()) as u32);
        orders.push(tree.rooted_at(root).depth_first());
    }
    orders
}

/// How many moves a linear arrangement tries for each variable.
const MOVES: usize = 400;

/// How far a variable moves at most.
const REACH: usize = 12;

/// A linear arrangement with a small sum of `information ^ power × distance` over all pairs, by moves from `start`.
///
/// A move shifts a variable by a few places. Moves for the worse are accepted with a probability that falls to zero.
fn arrangement(information: &SymmetricMatrix, power: f64, start: &[Var], seed: u64) -> Vec<Var> {
    let len = start.len();
    let weight = |a: Var, b: Var| information.at(a.index(), b.index()).max(0.0).powf(power);
    let mut weights = vec![0.0; len * len];
    for &a in start {
        for &b in start.iter().filter(|&&b| b != a) {
            weights[a.index() * len + b.index()] = weight(a, b);
        }
    }
    let between = |a: Var, b: Var| weights[a.index() * len + b.index()];
    let mut order = start.to_vec();
    let mut now = cost(&order, between);
    let (mut best, mut least) = (order.clone(), now);
    let mut random = Random::new(seed);
    let hot = 0.02 * now / len.max(1) as f64;
    let moves = if len < 2 { 0 } else { MOVES * len };
    for step in 0..moves {
        let heat = hot * 1e-3f64.powf(step as f64 / moves as f64);
        let from = random.below(len);
        let reach = 1 + random.below(REACH.min(len));
        let to = if random.below(2) == 0 { from.saturating_sub(reach) } else { (from + reach).min(len - 1) };
        let change = change_of(&order, from, to, between);
        if change < 0.0 || random.unit() < (-change / heat).exp() {
            let var = order.remove(from);
            order.insert(to, var);
            now += change;
            if now < least {
                (best, least) = (order.clone(), now);
            }
        }
    }
    best
}

/// The sum of weight × distance over all pairs.
fn cost(order: &[Var], between: impl Fn(Var, Var) -> f64) -> f64 {
    let pairs = (0..order.len()).flat_map(|i| (i + 1..order.len()).map(move |j| (i, j)));
    pairs.map(|(i, j)| between(order[i], order[j]) * (j - i) as f64).sum()
}

/// The change in cost when the variable at `from` moves to `to`.
fn change_of(order: &[Var], from: usize, to: usize, between: impl Fn(Var, Var) -> f64) -> f64 {
    let (low, high) = (from.min(to), from.max(to));
    let distance = |a: usize, b: usize| a.abs_diff(b) as f64;
    let moved = order[from];
    let mut change = 0.0;
    for (i, &var) in order.iter().enumerate().filter(|&(i, _)| i != from) {
        // Those in between shift by one place, towards `from`.
        let place = match i {
            i if i < low || i > high => i,
            i if from < to => i - 1,
            i => i + 1,
        };
        change += between(moved, var) * (distance(to, place) - distance(from, i));
        if place != i {
            for (j, &other) in order.iter().enumerate().filter(|&(j, _)| j < low || j > high) {
                change += between(var, other) * (distance(place, j) - distance(i, j));
            }
        }
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(len: usize, seed: u64) -> SymmetricMatrix {
        let mut random = Random::new(seed);
        let mut matrix = SymmetricMatrix::zeros(len);
        (0..len).for_each(|i| (0..i).for_each(|j| matrix.set(i, j, random.unit())));
        matrix
    }

    fn sorted(order: &[Var]) -> Vec<Var> {
        let mut order = order.to_vec();
        order.sort_unstable();
        order
    }

    #[test]
    fn changes_are_exact() {
        let information = matrix(9, 1);
        let between = |a: Var, b: Var| information.at(a.index(), b.index());
        let order: Vec<Var> = [3, 1, 4, 0, 5, 8, 2, 6, 7].map(Var).to_vec();
        for (from, to) in (0..9).flat_map(|from| (0..9).map(move |to| (from, to))) {
            let mut moved = order.clone();
            let var = moved.remove(from);
            moved.insert(to, var);
            let expected = cost(&moved, between) - cost(&order, between);
            assert!((change_of(&order, from, to, between) - expected).abs() < 1e-9, "{from} to {to}");
        }
    }

    #[test]
    fn arrangements_find_a_chain() {
        let mut information = SymmetricMatrix::zeros(12);
        let hidden = [5, 2, 9, 0, 7, 11, 3, 8, 1, 10, 4, 6];
        hidden.windows(2).for_each(|pair| information.set(pair[0], pair[1], 1.0));
        let start: Vec<Var> = (0..12).map(Var).collect();
        let found = arrangement(&information, 1.0, &start, 3);
        let between = |a: Var, b: Var| information.at(a.index(), b.index());
        assert!(cost(&found, between) < 0.5 * cost(&start, between));
        assert_eq!(found, arrangement(&information, 1.0, &start, 3));
        assert_eq!(sorted(&found), start);
    }

    #[test]
    fn candidates_are_orders_of_all_variables() {
        for len in [1, 2, 15] {
            let all: Vec<Var> = (0..len as u32).map(Var).collect();
            let orders = candidates(&matrix(len, 2), 4, 7);
            assert_eq!(orders.len(), 9);
            assert!(orders.iter().all(|order| sorted(order) == all));
        }
    }
}
