//! How often each choice of a network is expected to be made, and the network with parameters that follow from it.

use super::posterior::Posterior;
use super::{Spn, SpnNode, range};
use crate::data::Records;
use crate::infer::{Evidence, QueryError};
use rayon::prelude::*;

/// Into so many parts records are cut at most; fixed, so that sums do not depend on the number of threads.
const PARTS: usize = 64;

/// Expected counts, in the shape of the network.
pub(crate) struct Expected {
    /// For each edge below a sum.
    edges: Vec<f64>,
    /// For each Bernoulli leaf, by value.
    leaves: Vec<[f64; 2]>,
    /// For each branch of a tree, by the value of its parent, then by its own.
    branches: Vec<[[f64; 2]; 2]>,
    pub(crate) log_likelihood: f64,
    /// The weight of the records that are possible.
    pub(crate) possible: f64,
}

impl Spn {
    /// Expected counts given each record, missing cells summed out.
    pub(crate) fn expected_counts(&self, records: &Records) -> Result<Expected, QueryError> {
        let logs = self.log_likelihoods(records)?;
        let rows: Vec<usize> = (0..records.len()).collect();
        let part = |rows: &[usize]| {
            let mut expected = self.nothing_expected();
            let mut flows = vec![0.0; self.nodes.len()];
            for &row in rows.iter().filter(|&&row| logs[row].is_finite()) {
                let weight = records.weights()[row];
                let posterior = Posterior::new(self, &Evidence::from_row(records, row))?;
                flows.fill(0.0);
                flows[self.root().index()] = weight;
                self.add_flows(&posterior, &mut flows, &mut expected);
                expected.log_likelihood += weight * logs[row];
                expected.possible += weight;
            }
            Ok(expected)
        };
        let parts: Vec<Expected> =
            rows.par_chunks(rows.len().div_ceil(PARTS).max(1)).map(part).collect::<Result<_, QueryError>>()?;
        Ok(parts.into_iter().reduce(Expected::plus).unwrap_or_else(|| self.nothing_expected()))
    }

    fn nothing_expected(&self) -> Expected {
        Expected {
            edges: vec![0.0; self.children.len()],
            leaves: vec![[0.0; 2]; self.nodes.len()],
            branches: vec![[[0.0; 2]; 2]; self.branches.len()],
            log_likelihood: 0.0,
            possible: 0.0,
        }
    }

    /// One pass down: the flow of a node is how often it is expected to be used.
    fn add_flows(&self, posterior: &Posterior, flows: &mut [f64], expected: &mut Expected) {
        let mut trues: Vec<f64> = Vec::new();
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let flow = flows[i];
            if flow == 0.0 {
                continue;
            }
            match *node {
                SpnNode::Literal(_) => {}
                SpnNode::Bernoulli { .. } => {
                    let p = posterior.leaves[i];
                    expected.leaves[i][0] += flow * (1.0 - p);
                    expected.leaves[i][1] += flow * p;
                }
                SpnNode::Product { start, end } => {
                    self.children[range(start, end)].iter().for_each(|child| flows[child.index()] += flow);
                }
                SpnNode::Sum { start, end } => {
                    for edge in range(start, end) {
                        let used = flow * posterior.shares[edge];
                        expected.edges[edge] += used;
                        flows[self.children[edge].index()] += used;
                    }
                }
                SpnNode::Tree { start, end } => {
                    trues.clear();
                    for slot in range(start, end) {
                        let above = self.branches[slot].parent.map_or(0.0, |parent| trues[parent as usize]);
                        let mut truly = 0.0;
                        for (value, share) in [1.0 - above, above].into_iter().enumerate() {
                            let p = posterior.branches[slot][value];
                            expected.branches[slot][value][0] += flow * share * (1.0 - p);
                            expected.branches[slot][value][1] += flow * share * p;
                            truly += share * p;
                        }
                        trues.push(truly);
                    }
                }
            }
        }
    }

    /// The same network with parameters that follow from expected counts, and from those of `prior`, a network of the
    /// same structure, which weigh as much as so many records wherever they stand.
    pub(crate) fn with_expected(&self, expected: &Expected, prior: &Spn, pseudocount: f64) -> Spn {
        let mut spn = self.clone();
        let [least, most] = [f64::MIN_POSITIVE, 1.0 - f64::EPSILON];
        let share = |[falses, trues]: [f64; 2], prior: f64| {
            ((trues + pseudocount * prior) / (falses + trues + pseudocount)).clamp(least, most)
        };
        for (i, node) in spn.nodes.iter_mut().enumerate() {
            match (node, &prior.nodes[i]) {
                (SpnNode::Bernoulli { probability, .. }, SpnNode::Bernoulli { probability: prior, .. }) => {
                    *probability = share(expected.leaves[i], *prior);
                }
                (SpnNode::Sum { start, end }, _) => {
                    let edges = range(*start, *end);
                    let total: f64 = expected.edges[edges.clone()].iter().sum();
                    for edge in edges {
                        let weight = (expected.edges[edge] + pseudocount * prior.weights[edge]) / (total + pseudocount);
                        spn.weights[edge] = weight.max(least);
                    }
                }
                _ => {}
            }
        }
        for ((branch, counts), prior) in spn.branches.iter_mut().zip(&expected.branches).zip(&prior.branches) {
            let [no, yes] = *counts;
            // A root has one distribution, counted as if its parent were false.
            branch.probability = match branch.parent {
                None => [share(no, prior.probability[0]); 2],
                Some(_) => [share(no, prior.probability[0]), share(yes, prior.probability[1])],
            };
        }
        spn
    }
}

impl Expected {
    fn plus(mut self, other: Expected) -> Expected {
        let add = |into: &mut f64, from: &f64| *into += from;
        self.edges.iter_mut().zip(&other.edges).for_each(|(into, from)| add(into, from));
        for (into, from) in self.leaves.iter_mut().zip(&other.leaves) {
            into.iter_mut().zip(from).for_each(|(into, from)| add(into, from));
        }
        for (into, from) in self.branches.iter_mut().flatten().zip(other.branches.iter().flatten()) {
            into.iter_mut().zip(from).for_each(|(into, from)| add(into, from));
        }
        self.log_likelihood += other.log_likelihood;
        self.possible += other.possible;
        self
    }
}
