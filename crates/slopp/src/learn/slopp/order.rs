//! Variable orders for right-linear vtrees.
//!
//! The order decides what a class must remember, and is worth nats. [`depth_first`] is good and costs nothing;
//! [`candidates`] are for those who can afford to try several and choose by validation likelihood.

use crate::data::SymmetricMatrix;
use crate::learn::vtree::ChowLiuTree;
use crate::random::Random;
use crate::var::Var;

/// Depth-first through the Chow-Liu tree from its centre, small subtrees first: what is started is soon finished.
pub fn depth_first(tree: &ChowLiuTree) -> Vec<Var> {
    tree.linear_order()
}

/// Orders worth trying: [`depth_first`], its reverse, depth-first from `roots` random variables, and the linear
/// arrangements that bring related variables together, for several powers of mutual information.
pub fn candidates(information: &SymmetricMatrix, roots: usize, seed: u64) -> Vec<Vec<Var>> {
    let mut orders = depth_first_orders(information, roots, seed);
    let first = orders[0].clone();
    let mut random = Random::stream(seed, 1);
    for power in [0.5, 1.0, 2.0] {
        orders.push(arrangement(information, power, &first, random.bits()));
    }
    orders
}

/// The first of [`candidates`], which cost next to nothing: [`depth_first`], its reverse, and depth-first from `roots`
/// random variables.
pub fn depth_first_orders(information: &SymmetricMatrix, roots: usize, seed: u64) -> Vec<Vec<Var>> {
    let tree = ChowLiuTree::new(information);
    let first = depth_first(&tree);
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
/// A move takes a variable a few places on; worse ones are accepted with a chance that falls to nothing.
pub fn arrangement(information: &SymmetricMatrix, power: f64, start: &[Var], seed: u64) -> Vec<Var> {
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

/// What moving the variable at `from` to `to` changes in the cost.
fn change_of(order: &[Var], from: usize, to: usize, between: impl Fn(Var, Var) -> f64) -> f64 {
    let (low, high) = (from.min(to), from.max(to));
    let distance = |a: usize, b: usize| a.abs_diff(b) as f64;
    let moved = order[from];
    let mut change = 0.0;
    for (i, &var) in order.iter().enumerate().filter(|&(i, _)| i != from) {
        // Those in between step aside by one place, towards where the variable came from.
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
