//! A circuit as plain as it gets, and what overlaps in it.

use crate::Table;

/// A node; children come before parents.
#[derive(Clone, Debug, PartialEq)]
pub enum OracleNode {
    /// A variable with a fixed value.
    Lit(usize, bool),
    /// A variable with a probability of true, strictly between zero and one.
    Top(usize, f64),
    /// Prime, sub and parameter of each element.
    Sum(Vec<(usize, usize, f64)>),
}

/// A circuit; the last node is the root.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleCircuit {
    /// How many variables there are.
    pub vars: usize,
    /// The nodes.
    pub nodes: Vec<OracleNode>,
}

/// Two elements of a sum whose primes share a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleOverlap {
    /// The sum.
    pub node: usize,
    /// The elements.
    pub elements: (usize, usize),
    /// Whether the subs share a world too.
    pub strong: bool,
}

impl OracleCircuit {
    /// The value of every node in one world, whose bit `x` is variable `x`.
    pub fn values(&self, world: usize) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::new();
        for node in &self.nodes {
            let value = match node {
                OracleNode::Lit(x, value) => f64::from((world >> x & 1 == 1) == *value),
                OracleNode::Top(x, p) => {
                    if world >> x & 1 == 1 {
                        *p
                    } else {
                        1.0 - p
                    }
                }
                OracleNode::Sum(elements) => elements.iter().map(|&(p, s, theta)| theta * values[p] * values[s]).sum(),
            };
            values.push(value);
        }
        values
    }

    /// The probability of every world.
    pub fn table(&self) -> Table {
        Table::new(self.vars, (0..1usize << self.vars).map(|world| *self.values(world).last().unwrap()).collect())
    }

    /// The sum over every active edge of the logarithm of its parameter, and whether the world is possible at all.
    pub fn flow(&self, world: usize) -> Option<f64> {
        let values = self.values(world);
        let mut active = vec![false; self.nodes.len()];
        let root = self.nodes.len() - 1;
        active[root] = values[root] > 0.0;
        let mut sum = 0.0;
        for i in (0..self.nodes.len()).rev().filter(|_| values[root] > 0.0) {
            match &self.nodes[i] {
                _ if !active[i] => {}
                OracleNode::Lit(..) => {}
                OracleNode::Top(..) => sum += values[i].ln(),
                OracleNode::Sum(elements) => {
                    for &(p, s, theta) in elements.iter().filter(|&&(p, s, _)| values[p] > 0.0 && values[s] > 0.0) {
                        sum += theta.ln();
                        active[p] = true;
                        active[s] = true;
                    }
                }
            }
        }
        (values[root] > 0.0).then_some(sum)
    }

    /// How often each element of each sum is used by a world with exactly one derivation.
    pub fn used(&self, world: usize) -> Vec<(usize, usize)> {
        let values = self.values(world);
        let mut used = Vec::new();
        let mut todo = vec![self.nodes.len() - 1];
        while let Some(i) = todo.pop() {
            if let OracleNode::Sum(elements) = &self.nodes[i] {
                for (e, &(p, s, _)) in elements.iter().enumerate() {
                    if values[p] > 0.0 && values[s] > 0.0 {
                        used.push((i, e));
                        todo.extend([p, s]);
                    }
                }
            }
        }
        if values[self.nodes.len() - 1] > 0.0 { used } else { Vec::new() }
    }

    /// All pairs of elements whose primes share a world.
    pub fn overlaps(&self) -> Vec<OracleOverlap> {
        let values: Vec<Vec<f64>> = (0..1usize << self.vars).map(|world| self.values(world)).collect();
        let share = |a: usize, b: usize| values.iter().any(|v| v[a] > 0.0 && v[b] > 0.0);
        let mut found = Vec::new();
        for (node, of) in self.nodes.iter().enumerate() {
            let OracleNode::Sum(elements) = of else { continue };
            for j in 0..elements.len() {
                for i in 0..j {
                    if share(elements[i].0, elements[j].0) {
                        let strong = share(elements[i].1, elements[j].1);
                        found.push(OracleOverlap { node, elements: (i, j), strong });
                    }
                }
            }
        }
        found
    }
}
