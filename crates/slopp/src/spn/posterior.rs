//! The posterior given evidence: marginals, samples, and expected counts of records.

use super::likelihood::Lanes;
use super::{Spn, SpnNode, range};
use crate::circuit::NodeId;
use crate::data::{Records, bit_of};
use crate::infer::{Evidence, QueryError, Samples, answer_by_methods, complete_records, draw_worlds, parts};
use crate::random::Random;
use crate::var::Var;
use rayon::prelude::*;
use std::ops::Range;

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
    pub fn sample(&self, count: usize, evidence: &Evidence, seed: u64) -> Result<Samples, QueryError> {
        let posterior = Posterior::to_draw_from(self, evidence)?;
        Ok(posterior.worlds(self, 0..count, seed))
    }

    /// Like [`Spn::sample`], in parts of bounded size: the samples need not fit in memory.
    pub fn sample_in_parts(
        &self,
        count: usize,
        evidence: &Evidence,
        seed: u64,
    ) -> Result<impl Iterator<Item = Samples> + '_, QueryError> {
        let posterior = Posterior::to_draw_from(self, evidence)?;
        Ok(parts(count).map(move |range| posterior.worlds(self, range, seed)))
    }

    /// Completes each record by its own draw given its known cells, as [`Circuit::sample_batch`] does.
    ///
    /// [`Circuit::sample_batch`]: crate::Circuit::sample_batch
    pub fn sample_batch(&self, records: &Records, seed: u64) -> Result<Vec<Option<Vec<bool>>>, QueryError> {
        self.check_length("data", records.var_count())?;
        Ok(complete_records(records, Vec::new, |stack, row, places| {
            let posterior = Posterior::to_draw_from(self, &Evidence::from_row(records, row)).ok();
            let one = |&place: &u32| {
                let mut world = vec![0; self.var_count.div_ceil(64)];
                posterior.as_ref()?.draw(self, &mut Random::stream(seed, place.into()), stack, &mut world);
                Some((0..self.var_count).map(|i| bit_of(&world, i)).collect())
            };
            places.iter().map(one).collect()
        }))
    }
}

answer_by_methods!(Spn);

/// The parameters of the posterior network, which has the same structure.
struct Posterior {
    /// For each edge below a sum, its share of the sum; zero elsewhere and below impossible sums.
    shares: Vec<f64>,
    /// For each node that is a Bernoulli leaf, the probability of *true*.
    leaves: Vec<f64>,
    /// For each branch, the probability of *true* given that its parent is false and true.
    branches: Vec<[f64; 2]>,
}

impl Posterior {
    fn to_draw_from(spn: &Spn, evidence: &Evidence) -> Result<Posterior, QueryError> {
        let mut posterior = Posterior::new(spn, evidence)?;
        posterior.add_up(spn);
        Ok(posterior)
    }

    /// A range of the worlds of a seed; it must start at a block.
    fn worlds(&self, spn: &Spn, drawn: Range<usize>, seed: u64) -> Samples {
        draw_worlds(drawn, spn.var_count, seed, |random, stack, row| self.draw(spn, random, stack, row))
    }

    fn new(spn: &Spn, evidence: &Evidence) -> Result<Posterior, QueryError> {
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

/// The most parts that records are cut into; fixed, so that sums do not depend on the number of threads.
const PARTS: usize = 64;

/// Expected counts, in the shape of the network.
pub(crate) struct Counts {
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
    pub(crate) fn expected_counts(&self, records: &Records) -> Result<Counts, QueryError> {
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
        let parts: Vec<Counts> =
            rows.par_chunks(rows.len().div_ceil(PARTS).max(1)).map(part).collect::<Result<_, QueryError>>()?;
        Ok(parts.into_iter().reduce(Counts::plus).unwrap_or_else(|| self.nothing_expected()))
    }

    fn nothing_expected(&self) -> Counts {
        Counts {
            edges: vec![0.0; self.children.len()],
            leaves: vec![[0.0; 2]; self.nodes.len()],
            branches: vec![[[0.0; 2]; 2]; self.branches.len()],
            log_likelihood: 0.0,
            possible: 0.0,
        }
    }

    /// One pass down: the flow of a node is how often it is expected to be used.
    fn add_flows(&self, posterior: &Posterior, flows: &mut [f64], expected: &mut Counts) {
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

    /// The same network with parameters from expected counts and from `prior`, a network of the same structure, which
    /// weighs `pseudocount` records in every sum and leaf.
    pub(crate) fn with_expected(&self, expected: &Counts, prior: &Spn, pseudocount: f64) -> Spn {
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

impl Counts {
    fn plus(mut self, other: Counts) -> Counts {
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
