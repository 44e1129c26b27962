//! Random circuits and records.

use crate::{Cells, Dice, OracleCircuit, OracleNode, Tree};
use std::collections::BTreeMap;

/// A random deterministic circuit with a random support; with `weak`, some sums have exclusive elements but
/// overlapping primes.
pub fn deterministic(tree: &Tree, density: f64, weak: bool, dice: &mut Dice) -> OracleCircuit {
    let vars = tree.vars().len();
    let mut support: Vec<usize> = (0..1 << vars).filter(|_| dice.chance(density)).collect();
    if support.is_empty() {
        support.push(dice.below(1 << vars));
    }
    with_support(tree, &support, weak, dice)
}

/// A random deterministic circuit whose possible worlds are exactly these.
pub fn with_support(tree: &Tree, worlds: &[usize], weak: bool, dice: &mut Dice) -> OracleCircuit {
    let mut grow = Grow { nodes: Vec::new(), literals: BTreeMap::new(), known: BTreeMap::new(), weak };
    let root = grow.node(tree, worlds, dice);
    // Sharing may leave the root in the middle only if it is the whole circuit.
    assert_eq!(root, grow.nodes.len() - 1);
    OracleCircuit { vars: tree.vars().len(), nodes: grow.nodes }
}

/// A random circuit of any kind: elements may overlap as they like.
pub fn mixture(tree: &Tree, width: usize, dice: &mut Dice) -> OracleCircuit {
    let mut grow = Grow { nodes: Vec::new(), literals: BTreeMap::new(), known: BTreeMap::new(), weak: false };
    grow.any(tree, width, dice);
    OracleCircuit { vars: tree.vars().len(), nodes: grow.nodes }
}

/// A random circuit with up to `width` nodes per inner node of the tree, exclusive but for `overlap`: every pair of a
/// left and a right node goes to at most one of them, and with this probability to another one too.
pub fn layered(tree: &Tree, width: usize, overlap: f64, dice: &mut Dice) -> OracleCircuit {
    let mut grow = Grow { nodes: Vec::new(), literals: BTreeMap::new(), known: BTreeMap::new(), weak: false };
    let Tree::Node(left, right) = tree else { return mixture(tree, 1, dice) };
    let [left, right] = [left, right].map(|side| grow.layer(side, width, overlap, dice));
    let pairs: Vec<(usize, usize)> = left.iter().map(|&prime| (prime, right[dice.below(right.len())])).collect();
    grow.sum(&pairs, dice);
    OracleCircuit { vars: tree.vars().len(), nodes: reachable(grow.nodes) }
}

/// Random rows; each cell is missing with probability `missing`.
pub fn records(vars: usize, rows: usize, missing: f64, dice: &mut Dice) -> Vec<Cells> {
    let mut cell = || (!dice.chance(missing)).then(|| dice.chance(0.5));
    (0..rows).map(|_| (0..vars).map(|_| cell()).collect()).collect()
}

struct Grow {
    nodes: Vec<OracleNode>,
    literals: BTreeMap<(usize, bool), usize>,
    /// Nodes by variables and worlds, to share some.
    known: BTreeMap<(Vec<usize>, Vec<usize>), usize>,
    weak: bool,
}

impl Grow {
    fn push(&mut self, node: OracleNode) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn literal(&mut self, x: usize, value: bool) -> usize {
        if let Some(&known) = self.literals.get(&(x, value)) {
            return known;
        }
        let node = self.push(OracleNode::Lit(x, value));
        self.literals.insert((x, value), node);
        node
    }

    /// A node for exactly these worlds, of which only the variables of the tree count.
    fn node(&mut self, tree: &Tree, worlds: &[usize], dice: &mut Dice) -> usize {
        let worlds = project(tree, worlds);
        let key = (tree.vars(), worlds.clone());
        if dice.chance(0.5)
            && let Some(&known) = self.known.get(&key)
        {
            return known;
        }
        let node = match tree {
            Tree::Leaf(x) if worlds.len() == 2 => {
                let p = 0.05 + 0.9 * dice.unit();
                self.push(OracleNode::Top(*x, p))
            }
            Tree::Leaf(x) => self.literal(*x, worlds[0] != 0),
            Tree::Node(left, right) => {
                let by_sub = self.weak && dice.chance(0.5);
                let (key_side, other) = if by_sub { (right, left) } else { (left, right) };
                // For each part on one side, the parts that match it on the other.
                let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
                for &world in &worlds {
                    parts.entry(world & mask(key_side)).or_default().push(world & mask(other));
                }
                // Parts with equal companions form one element, or sometimes two.
                let mut groups: BTreeMap<(Vec<usize>, bool), Vec<usize>> = BTreeMap::new();
                for (part, with) in parts {
                    groups.entry((with, dice.chance(0.2))).or_default().push(part);
                }
                let shares = dice.shares(groups.len());
                let mut elements = Vec::new();
                for (((with, _), group), theta) in groups.into_iter().zip(shares) {
                    let one = self.node(key_side, &group, dice);
                    let two = self.node(other, &with, dice);
                    elements.push(if by_sub { (two, one, theta) } else { (one, two, theta) });
                }
                self.push(OracleNode::Sum(elements))
            }
        };
        self.known.insert(key, node);
        node
    }

    /// Nodes that are exclusive but for `overlap`.
    fn layer(&mut self, tree: &Tree, width: usize, overlap: f64, dice: &mut Dice) -> Vec<usize> {
        let (left, right) = match tree {
            Tree::Leaf(x) if dice.chance(overlap) => {
                return vec![self.push(OracleNode::Top(*x, 0.3)), self.literal(*x, true)];
            }
            Tree::Leaf(x) => return vec![self.literal(*x, false), self.literal(*x, true)],
            Tree::Node(left, right) => (left, right),
        };
        let [left, right] = [left, right].map(|side| self.layer(side, width, overlap, dice));
        let mut owned: Vec<Vec<(usize, usize)>> = vec![Vec::new(); width];
        for pair in left.iter().flat_map(|&prime| right.iter().map(move |&sub| (prime, sub))) {
            let (first, second) = (dice.below(width + 1), dice.below(width));
            if first < width {
                owned[first].push(pair);
            }
            if second != first && dice.chance(overlap) {
                owned[second].push(pair);
            }
        }
        owned.retain(|pairs| !pairs.is_empty());
        if owned.is_empty() {
            owned.push(vec![(left[0], right[0])]);
        }
        owned.iter().map(|pairs| self.sum(pairs, dice)).collect()
    }

    fn sum(&mut self, pairs: &[(usize, usize)], dice: &mut Dice) -> usize {
        let shares = dice.shares(pairs.len());
        self.push(OracleNode::Sum(pairs.iter().zip(shares).map(|(&(prime, sub), theta)| (prime, sub, theta)).collect()))
    }

    fn any(&mut self, tree: &Tree, width: usize, dice: &mut Dice) -> usize {
        match tree {
            Tree::Leaf(x) if dice.chance(0.5) => {
                let p = 0.05 + 0.9 * dice.unit();
                self.push(OracleNode::Top(*x, p))
            }
            Tree::Leaf(x) => {
                let value = dice.chance(0.5);
                self.literal(*x, value)
            }
            Tree::Node(left, right) => {
                let count = 1 + dice.below(width);
                let mut pairs: Vec<(usize, usize)> = Vec::new();
                for _ in 0..count {
                    let prime = match pairs.last() {
                        Some(&(prime, _)) if dice.chance(0.3) => prime,
                        _ => self.any(left, width, dice),
                    };
                    let pair = (prime, self.any(right, width, dice));
                    if !pairs.contains(&pair) {
                        pairs.push(pair);
                    }
                }
                self.sum(&pairs, dice)
            }
        }
    }
}

/// The nodes below the last one.
fn reachable(nodes: Vec<OracleNode>) -> Vec<OracleNode> {
    let mut used = vec![false; nodes.len()];
    used[nodes.len() - 1] = true;
    for (i, node) in nodes.iter().enumerate().rev() {
        if let (true, OracleNode::Sum(elements)) = (used[i], node) {
            elements.iter().for_each(|&(prime, sub, _)| (used[prime], used[sub]) = (true, true));
        }
    }
    let mut places = Vec::new();
    let mut left = Vec::new();
    for (node, used) in nodes.into_iter().zip(used) {
        places.push(left.len());
        if let (true, OracleNode::Sum(elements)) = (used, &node) {
            let moved = elements.iter().map(|&(prime, sub, theta)| (places[prime], places[sub], theta));
            left.push(OracleNode::Sum(moved.collect()));
        } else if used {
            left.push(node);
        }
    }
    left
}

fn mask(tree: &Tree) -> usize {
    tree.vars().into_iter().map(|x| 1 << x).sum()
}

fn project(tree: &Tree, worlds: &[usize]) -> Vec<usize> {
    let mut parts: Vec<usize> = worlds.iter().map(|world| world & mask(tree)).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_are_as_asked_and_elements_exclusive() {
        let mut dice = Dice::new(1);
        for round in 0..200 {
            let tree = Tree::random(1 + dice.below(6), &mut dice);
            let vars = tree.vars().len();
            let circuit = deterministic(&tree, 0.4, round % 2 == 0, &mut dice);
            let table = circuit.table();
            assert!((table.evidence(&vec![None; vars]) - 1.0).abs() < 1e-12);
            assert!(circuit.overlaps().iter().all(|overlap| !overlap.strong));
            assert!(round % 2 == 0 || circuit.overlaps().is_empty());
            let worlds: Vec<usize> = (0..1 << vars).filter(|world| world % 3 != 1).collect();
            assert_eq!(with_support(&tree, &worlds, true, &mut dice).table().support(&vec![None; vars]), worlds);
            let mixture = mixture(&tree, 3, &mut dice);
            assert!((mixture.table().evidence(&vec![None; vars]) - 1.0).abs() < 1e-12);
        }
    }
}
