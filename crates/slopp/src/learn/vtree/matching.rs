//! Repeated matching: joins the vtrees with the most mutual information, on average over their variables.
//!
//! Each round joins all vtrees in pairs; of an odd number one waits. The vtree with the first variable is the left one.
//! Matchings are greedy, then improved by exchanging partners: good but not optimal.

use crate::data::SymmetricMatrix;
use crate::var::Var;
use crate::vtree::{Step, Vtree};

/// The largest number of rounds of exchanging partners; they nearly always stop earlier.
const MAX_ROUNDS: usize = 20;

/// Up to this many pairs, three pairs at a time also exchange partners.
const MAX_TRIPLES: usize = 100;

/// The ways to pair the ends `0..4` of two pairs; the first changes nothing.
const PAIRINGS_OF_4: [[[usize; 2]; 2]; 3] = [[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];

/// The ways to pair the ends `0..6` of three pairs that separate all three; the first changes nothing.
const PAIRINGS_OF_6: [[[usize; 2]; 3]; 9] = [
    [[0, 1], [2, 3], [4, 5]],
    [[0, 2], [1, 4], [3, 5]],
    [[0, 2], [1, 5], [3, 4]],
    [[0, 3], [1, 4], [2, 5]],
    [[0, 3], [1, 5], [2, 4]],
    [[0, 4], [1, 2], [3, 5]],
    [[0, 4], [1, 3], [2, 5]],
    [[0, 5], [1, 2], [3, 4]],
    [[0, 5], [1, 3], [2, 4]],
];

/// The vtrees of one round, and the total information between them.
struct Forest {
    /// Number of variables and first variable of each vtree; the order of `sums`.
    trees: Vec<(usize, Var)>,
    sums: SymmetricMatrix,
}

impl Forest {
    /// The average mutual information between the variables of two vtrees.
    ///
    /// With an odd number of vtrees the position after the last means to be left out, which is worth nothing.
    fn affinity(&self, a: usize, b: usize) -> f64 {
        if a.max(b) == self.trees.len() {
            return 0.0;
        }
        self.sums.at(a, b) / (self.trees[a].0 * self.trees[b].0) as f64
    }

    /// Pairs of positions `a < b`, each position once, with a large total affinity.
    fn matching(&self) -> Vec<[usize; 2]> {
        let len = self.trees.len().next_multiple_of(2);
        let mut candidates: Vec<(f64, usize, usize)> = (0..len)
            .flat_map(|a| (a + 1..len).map(move |b| (a, b)))
            .map(|(a, b)| (self.affinity(a, b), a, b))
            .collect();
        candidates.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let mut matched = vec![false; len];
        let mut pairs: Vec<[usize; 2]> = Vec::with_capacity(len / 2);
        for (_, a, b) in candidates {
            if !matched[a] && !matched[b] {
                (matched[a], matched[b]) = (true, true);
                pairs.push([a, b]);
            }
        }
        self.exchange(&mut pairs);
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        pairs.sort_unstable();
        pairs
    }

    /// Exchanges partners between two pairs, or three if there are few, while that raises the total affinity.
    fn exchange(&self, pairs: &mut [[usize; 2]]) {
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for i in 0..pairs.len() {
                for j in 0..i {
                    changed |= self.improve(pairs, [i, j], &PAIRINGS_OF_4);
                    let others = if pairs.len() <= MAX_TRIPLES { 0..j } else { 0..0 };
                    for k in others {
                        changed |= self.improve(pairs, [i, j, k], &PAIRINGS_OF_6);
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Pairs the ends of the chosen pairs in the best way; returns whether that is a gain.
    fn improve<const N: usize>(&self, pairs: &mut [[usize; 2]], chosen: [usize; N], ways: &[[[usize; 2]; N]]) -> bool {
        let end = |end: usize| pairs[chosen[end / 2]][end % 2];
        let total = |way: &[[usize; 2]; N]| -> f64 { way.iter().map(|&[x, y]| self.affinity(end(x), end(y))).sum() };
        let mut best = 0;
        // A gain must exceed rounding, or equal matchings would alternate.
        let mut most = total(&ways[0]) + 1e-12;
        for (i, way) in ways.iter().enumerate().skip(1) {
            let total = total(way);
            if total > most {
                (best, most) = (i, total);
            }
        }
        let new = ways[best].map(|ends| ends.map(end));
        chosen.iter().zip(new).for_each(|(&place, pair)| pairs[place] = pair);
        best > 0
    }
}

pub(super) fn bottom_up(information: &SymmetricMatrix) -> Vtree {
    let len = information.len();
    assert!(len > 0, "a vtree needs at least one variable");
    // Vtree nodes: the variables, then one per join with its children.
    let mut joins: Vec<[usize; 2]> = Vec::with_capacity(len);
    let mut nodes: Vec<usize> = (0..len).collect();
    let mut forest = Forest { trees: (0..len as u32).map(|x| (1, Var(x))).collect(), sums: information.clone() };
    while nodes.len() > 1 {
        // Trees stay ordered by first variable, so the left partner always has it.
        let groups: Vec<Vec<usize>> =
            forest.matching().iter().map(|pair| pair.iter().copied().filter(|&i| i < nodes.len()).collect()).collect();
        let mut sums = SymmetricMatrix::zeros(groups.len());
        for (i, group) in groups.iter().enumerate() {
            for (j, other) in groups[..i].iter().enumerate() {
                let sum = group.iter().map(|&a| other.iter().map(|&b| forest.sums.at(a, b)).sum::<f64>()).sum();
                sums.set(i, j, sum);
            }
        }
        let trees =
            groups.iter().map(|group| (group.iter().map(|&i| forest.trees[i].0).sum(), forest.trees[group[0]].1));
        let trees = trees.collect();
        nodes = groups
            .iter()
            .map(|group| match group[..] {
                [a, b] => {
                    joins.push([nodes[a], nodes[b]]);
                    len + joins.len() - 1
                }
                _ => nodes[group[0]],
            })
            .collect();
        forest = Forest { trees, sums };
    }
    Vtree::from_postfix(postfix(len, &joins, nodes[0])).expect("every variable is joined once")
}

/// The steps of the vtree below `root`, where nodes from `len` on are joins.
fn postfix(len: usize, joins: &[[usize; 2]], root: usize) -> Vec<Step> {
    // Node, right, left; then reversed.
    let mut steps = Vec::with_capacity(2 * len);
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        if node < len {
            steps.push(Step::Leaf(Var(node as u32)));
        } else {
            steps.push(Step::Join);
            stack.extend(joins[node - len]);
        }
    }
    steps.reverse();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn forest(len: usize, seed: u64) -> Forest {
        let mut random = Random::new(seed);
        let mut sums = SymmetricMatrix::zeros(len);
        (0..len).for_each(|i| (0..i).for_each(|j| sums.set(i, j, random.unit().powi(3))));
        Forest { trees: (0..len as u32).map(|x| (1, Var(x))).collect(), sums }
    }

    /// The best total affinity of all perfect matchings of the positions in `free`.
    fn best(forest: &Forest, free: u32) -> f64 {
        if free == 0 {
            return 0.0;
        }
        let a = free.trailing_zeros() as usize;
        let partners = (a + 1..32).filter(|b| free >> b & 1 == 1);
        partners.map(|b| forest.affinity(a, b) + best(forest, free & !(1 << a) & !(1 << b))).fold(0.0, f64::max)
    }

    #[test]
    fn matchings_are_near_the_optimum() {
        let (mut found, mut optimum) = (0.0, 0.0);
        for seed in 0..40 {
            let forest = forest(2 + seed as usize % 9, seed);
            let len = forest.trees.len().next_multiple_of(2);
            let pairs = forest.matching();
            let mut positions: Vec<usize> = pairs.iter().flatten().copied().collect();
            positions.sort_unstable();
            assert_eq!(positions, (0..len).collect::<Vec<_>>());
            let total: f64 = pairs.iter().map(|&[a, b]| forest.affinity(a, b)).sum();
            let most = best(&forest, (1 << len) - 1);
            assert!(total <= most + 1e-9 && total > 0.8 * most, "{total} {most}");
            found += total;
            optimum += most;
        }
        assert!(found > 0.97 * optimum, "{found} {optimum}");
    }

    #[test]
    fn pairs_of_pairs_are_found() {
        let mut matrix = SymmetricMatrix::zeros(8);
        (0..4).for_each(|i| matrix.set(i, i + 4, 1.0));
        (0..8).for_each(|i| (0..i).filter(|j| i != j + 4 && i % 2 == j % 2).for_each(|j| matrix.set(i, j, 0.1)));
        assert_eq!(bottom_up(&matrix).to_string(), "(((1,5),(3,7)),((2,6),(4,8)))");
    }

    #[test]
    fn of_an_odd_number_the_least_wanted_waits() {
        let mut matrix = SymmetricMatrix::zeros(3);
        matrix.set(0, 2, 1.0);
        matrix.set(0, 1, 0.5);
        assert_eq!(bottom_up(&matrix).to_string(), "((1,3),2)");
        for len in 1..40 {
            let vtree = bottom_up(&forest(len, 3).sums);
            assert_eq!(vtree.var_count(), len);
            assert!(vtree.depth() <= len.next_power_of_two().trailing_zeros() as usize);
        }
    }
}
