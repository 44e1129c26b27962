//! The posterior given evidence: marginals, and worlds drawn from it.

use super::likelihood::Lanes;
use super::{Spn, SpnNode, range};
use crate::circuit::NodeId;
use crate::data::{BitMatrix, Records};
use crate::infer::{Evidence, QueryError, Samples, answer_by_methods, parts};
use crate::random::Random;
use crate::var::Var;
use rayon::prelude::*;
use std::ops::Range;

/// Worlds that share one stream of random numbers; fixed, so that the bytes do not depend on threads.
const BLOCK: usize = 256;

impl Spn {
    /// `P(x = true | evidence)` for every variable `x`.
    ///
    /// One pass up and one down: the flow of a node is the probability that the posterior reaches it. Cost: edges.
    pub fn marginals(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError> {
        let posterior = Posterior::new(self, evidence)?;
        let mut marginals = vec![0.0; self.var_count];
        let mut flows = vec![0.0; self.nodes.len()];
        flows[self.root().index()] = 1.0;
        let mut trues = Vec::new();
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let flow = flows[i];
            match *node {
                SpnNode::Literal(lit) => marginals[lit.var.index()] += flow * f64::from(lit.value),
                SpnNode::Bernoulli { var, .. } => marginals[var.index()] += flow * posterior.leaves[i],
                SpnNode::Product { start, end } => {
                    self.children[range(start, end)].iter().for_each(|child| flows[child.index()] += flow);
                }
                SpnNode::Sum { start, end } => {
                    for edge in range(start, end) {
                        flows[self.children[edge].index()] += flow * posterior.shares[edge];
                    }
                }
                SpnNode::Tree { start, end } => {
                    trues.clear();
                    for slot in range(start, end) {
                        let branch = &self.branches[slot];
                        let above = branch.parent.map_or(0.0, |parent| trues[parent as usize]);
                        let [no, yes] = posterior.branches[slot];
                        let p: f64 = (1.0 - above) * no + above * yes;
                        trues.push(p);
                        marginals[branch.var.index()] += flow * p;
                    }
                }
            }
        }
        for (i, p) in marginals.iter_mut().enumerate() {
            *p = evidence.value(Var(i as u32)).map_or(p.clamp(0.0, 1.0), f64::from);
        }
        Ok(marginals)
    }

    /// The marginals given each distinct row as evidence; `None` where the row is impossible.
    ///
    /// Cost: edges × records, on all threads.
    pub fn marginals_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError> {
        self.check_length("data", records.var_count())?;
        let row = |row| self.marginals(&Evidence::from_row(records, row)).ok();
        Ok((0..records.len()).into_par_iter().map(row).collect())
    }

    /// Draws `count` independent worlds from the distribution given evidence.
    ///
    /// The posterior is the same network with other parameters, so no world is rejected. Same seed, same worlds, on
    /// any number of threads. Cost: edges once, then the variables per world.
    ///
    /// ```
    /// use slopp::{Var, infer::Evidence, spn::SpnBuilder};
    /// let mut builder = SpnBuilder::new(1);
    /// let root = builder.bernoulli(Var(0), 0.75)?;
    /// let samples = builder.finish(root)?.sample(1000, &Evidence::none(1), 42)?;
    /// assert!((700..800).contains(&samples.worlds().filter(|world| world[0]).count()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample(&self, count: usize, evidence: &Evidence, seed: u64) -> Result<Samples, QueryError> {
        let posterior = Posterior::to_draw_from(self, evidence)?;
        Ok(posterior.worlds(self, 0..count, seed))
    }

    /// Like [`Spn::sample`], but in parts of bounded size: what was drawn need not fit in memory.
    pub fn sample_in_parts(
        &self,
        count: usize,
        evidence: &Evidence,
        seed: u64,
    ) -> Result<impl Iterator<Item = Samples> + '_, QueryError> {
        let posterior = Posterior::to_draw_from(self, evidence)?;
        Ok(parts(count).map(move |range| posterior.worlds(self, range, seed)))
    }
}

answer_by_methods!(Spn);

/// The parameters of the posterior network, which has the same structure.
pub(super) struct Posterior {
    /// For each edge below a sum, its share of the sum; zero elsewhere and below impossible sums.
    pub(super) shares: Vec<f64>,
    /// For each node that is a Bernoulli leaf, the probability of *true*.
    pub(super) leaves: Vec<f64>,
    /// For each branch, the probability of *true* given that its parent is false and true.
    pub(super) branches: Vec<[f64; 2]>,
}

impl Posterior {
    fn to_draw_from(spn: &Spn, evidence: &Evidence) -> Result<Posterior, QueryError> {
        let mut posterior = Posterior::new(spn, evidence)?;
        posterior.add_up(spn);
        Ok(posterior)
    }

    /// These of the worlds that a seed stands for; the first must begin a block.
    fn worlds(&self, spn: &Spn, drawn: Range<usize>, seed: u64) -> Samples {
        let (count, words) = (drawn.len(), spn.var_count.div_ceil(64));
        let first = drawn.start / BLOCK;
        let blocks: Vec<Vec<u64>> = (0..count.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut random = Random::stream(seed, (first + block) as u64);
                let mut rows = vec![0; words * BLOCK.min(count - BLOCK * block)];
                let mut stack = Vec::new();
                rows.chunks_mut(words).for_each(|row| self.draw(spn, &mut random, &mut stack, row));
                rows
            })
            .collect();
        let mut rows = BitMatrix::zeros(count, spn.var_count);
        for (i, line) in blocks.iter().flat_map(|block| block.chunks(words)).enumerate() {
            rows.line_mut(i).copy_from_slice(line);
        }
        Samples::new(rows)
    }

    pub(super) fn new(spn: &Spn, evidence: &Evidence) -> Result<Posterior, QueryError> {
        spn.check_length("evidence", evidence.var_count())?;
        let mut lanes = Lanes::<1>::new(spn.var_count, spn.nodes.len());
        lanes.set_evidence(evidence);
        let everywhere: Vec<u32> = (0..spn.nodes.len() as u32).collect();
        lanes.upward(spn, &everywhere);
        if lanes.values[spn.root().index()].ln(0) == f64::NEG_INFINITY {
            return Err(QueryError::ImpossibleEvidence);
        }
        let mut posterior = Posterior {
            shares: vec![0.0; spn.children.len()],
            leaves: vec![0.0; spn.nodes.len()],
            branches: Vec::with_capacity(spn.branches.len()),
        };
        for (i, node) in spn.nodes.iter().enumerate() {
            match *node {
                SpnNode::Literal(_) | SpnNode::Product { .. } => {}
                SpnNode::Bernoulli { var, probability } => posterior.leaves[i] = lanes.leaf_posterior(var, probability),
                SpnNode::Tree { start, end } => {
                    posterior.branches.extend(lanes.tree_posterior(&spn.branches[range(start, end)]));
                }
                SpnNode::Sum { start, end } => {
                    for edge in range(start, end) {
                        let child = &lanes.values[spn.children[edge].index()];
                        posterior.shares[edge] = spn.weights[edge] * child.ratio(&lanes.values[i]);
                    }
                }
            }
        }
        Ok(posterior)
    }

    /// Replaces the shares of each sum by their running total, to draw from.
    fn add_up(&mut self, spn: &Spn) {
        for node in &spn.nodes {
            if let SpnNode::Sum { start, end } = *node {
                let mut total = 0.0;
                for share in &mut self.shares[range(start, end)] {
                    total += *share;
                    *share = total;
                }
            }
        }
    }

    /// Sets the bits of the variables that are true in a drawn world.
    fn draw(&self, spn: &Spn, random: &mut Random, stack: &mut Vec<NodeId>, world: &mut [u64]) {
        let mut set = |var: Var, value: bool| {
            world[var.index() / 64] |= u64::from(value) << (var.index() % 64);
        };
        let mut values: Vec<bool> = Vec::new();
        stack.push(spn.root());
        while let Some(id) = stack.pop() {
            match spn.nodes[id.index()] {
                SpnNode::Literal(lit) => set(lit.var, lit.value),
                SpnNode::Bernoulli { var, .. } => set(var, random.unit() < self.leaves[id.index()]),
                SpnNode::Product { start, end } => stack.extend_from_slice(&spn.children[range(start, end)]),
                SpnNode::Sum { start, end } => {
                    let sums = &self.shares[range(start, end)];
                    let draw = random.unit() * sums[sums.len() - 1];
                    // The first sum above the draw: never a child of share zero.
                    stack.push(spn.children[start as usize + sums.partition_point(|&sum| sum <= draw)]);
                }
                SpnNode::Tree { start, end } => {
                    values.clear();
                    for slot in range(start, end) {
                        let branch = &spn.branches[slot];
                        let above = branch.parent.is_some_and(|parent| values[parent as usize]);
                        let value = random.unit() < self.branches[slot][usize::from(above)];
                        values.push(value);
                        set(branch.var, value);
                    }
                }
            }
        }
    }
}
