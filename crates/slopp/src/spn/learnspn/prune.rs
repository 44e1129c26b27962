//! Cutting back sub-networks that do not pay on validation records.

// Lanes are walked by index so that the loops vectorise.
#![allow(clippy::needless_range_loop)]

use super::grow::{Built, Plan, Shape};
use crate::circuit::NodeId;
use crate::data::Records;
use crate::spn::likelihood::{BATCH, Lanes};
use crate::spn::{Spn, SpnError, SpnNode, range};
use rayon::prelude::*;

/// Parts of the records that are added up separately; fixed, so that sums do not depend on threads.
const PARTS: usize = 16;

/// Replaces sums by leaves where that does not lower the likelihood of the validation records.
///
/// The gain of a single replacement is exact. That of several is approximated by the sum, so that the best set is found
/// bottom-up.
pub(super) fn prune(plan: &mut Plan, var_count: usize, valid: &Records) -> Result<(), SpnError> {
    let Built { spn, stand_ins } = plan.build(var_count, true)?;
    let pairs: Vec<_> = stand_ins.iter().map(|&(_, node, leaf)| (node, leaf)).collect();
    let mut gains = vec![None; plan.nodes.len()];
    for (gain, (i, _, _)) in spn.replacement_gains(valid, &pairs).into_iter().zip(stand_ins) {
        gains[i] = Some(gain);
    }
    let mut best = vec![0.0; plan.nodes.len()];
    for i in (0..plan.nodes.len()).rev() {
        let below: f64 = match &plan.nodes[i].shape {
            Shape::Leaf => 0.0,
            Shape::Product(children) => children.iter().map(|&child| best[child]).sum(),
            Shape::Sum(children) => children.iter().map(|&(child, _)| best[child]).sum(),
        };
        best[i] = below;
        if let Some(gain) = gains[i].filter(|&gain| gain >= below) {
            best[i] = gain;
            plan.nodes[i].shape = Shape::Leaf;
        }
    }
    Ok(())
}

impl Spn {
    /// For each pair of nodes over the same variables, the gain in total log-likelihood if the second replaced the
    /// first.
    ///
    /// With the flow `f` of the first, the share of `P(record)` that passes through it, the gain is
    /// `ln(1 − f + f · P(second) / P(first))`. Cost: edges × records.
    fn replacement_gains(&self, records: &Records, pairs: &[(NodeId, NodeId)]) -> Vec<f64> {
        let everywhere: Vec<u32> = (0..self.nodes.len() as u32).collect();
        let batches = records.len().div_ceil(BATCH);
        let part = |part: usize| {
            let mut lanes = Lanes::<BATCH>::new(self.var_count, self.nodes.len());
            let mut flows = vec![[0.0; BATCH]; self.nodes.len()];
            let mut gains = vec![0.0; pairs.len()];
            for batch in (part..batches).step_by(PARTS) {
                let first = BATCH * batch;
                lanes.set_rows(records, first);
                lanes.upward(self, &everywhere);
                self.flows(&lanes, &mut flows);
                let weights = &records.weights()[first..records.len().min(first + BATCH)];
                for (gain, &(node, other)) in gains.iter_mut().zip(pairs) {
                    let (value, other) = (&lanes.values[node.index()], &lanes.values[other.index()]);
                    for (l, weight) in weights.iter().enumerate() {
                        let flow = flows[node.index()][l];
                        if flow > 0.0 {
                            *gain += weight * rise(flow, other.ln(l) - value.ln(l));
                        }
                    }
                }
            }
            gains
        };
        let parts: Vec<Vec<f64>> = (0..PARTS).into_par_iter().map(part).collect();
        let mut gains = vec![0.0; pairs.len()];
        parts.iter().for_each(|part| gains.iter_mut().zip(part).for_each(|(gain, more)| *gain += more));
        gains
    }

    /// The share of the root's value that passes through each node.
    fn flows(&self, lanes: &Lanes<BATCH>, flows: &mut [[f64; BATCH]]) {
        flows.fill([0.0; BATCH]);
        flows[self.root().index()] = [1.0; BATCH];
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let flow = flows[i];
            match *node {
                SpnNode::Product { start, end } => {
                    for child in &self.children[range(start, end)] {
                        for l in 0..BATCH {
                            flows[child.index()][l] += flow[l];
                        }
                    }
                }
                SpnNode::Sum { start, end } => {
                    for edge in range(start, end) {
                        let child = self.children[edge].index();
                        let share = lanes.values[child].over(&lanes.values[i]);
                        for l in 0..BATCH {
                            flows[child][l] += flow[l] * self.weights[edge] * share[l];
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// `ln(1 − f + f · r)` for a flow `f` and the logarithm of a ratio `r` of any size: the replacement of a node with
/// little flow may matter much.
fn rise(flow: f64, log_ratio: f64) -> f64 {
    let through = flow.ln() + log_ratio;
    // Next to e^40 the rest is lost in rounding.
    if through > 40.0 { through } else { (1.0 - flow + through.exp()).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;
    use crate::spn::SpnBuilder;
    use crate::var::Var;

    fn total(spn: &Spn, records: &Records) -> f64 {
        let logs = spn.log_likelihoods(records).unwrap();
        logs.iter().zip(records.weights()).map(|(log, weight)| log * weight).sum()
    }

    #[test]
    fn gains_are_the_differences_of_likelihoods() {
        let product = |builder: &mut SpnBuilder, p: f64, q: f64| {
            let parts = [builder.bernoulli(Var(0), p).unwrap(), builder.bernoulli(Var(1), q).unwrap()];
            builder.product(&parts).unwrap()
        };
        let mut builder = SpnBuilder::new(2);
        let [a, b, c, other] =
            [(0.2, 0.7), (0.9, 0.8), (0.1, 0.4), (0.5, 0.3)].map(|(p, q)| product(&mut builder, p, q));
        let inner = builder.sum(&[(b, 0.25), (c, 0.75), (other, 2f64.powi(-190))]).unwrap();
        let before = builder.sum(&[(a, 0.4), (inner, 0.6)]).unwrap();
        let mut replaced = builder.clone();
        let after = replaced.sum(&[(a, 0.4), (other, 0.6)]).unwrap();
        let (before, after) = (builder.finish(before).unwrap(), replaced.finish(after).unwrap());
        let rows = (0..90usize).map(|i| [i % 3 == 0, i % 5 < 2]);
        let records = Records::from_rows(Names::numbered(2), rows);
        let gains = before.replacement_gains(&records, &[(inner, other), (inner, inner)]);
        let total = |spn: &Spn| total(spn, &records);
        assert!((gains[0] - (total(&after) - total(&before))).abs() < 1e-9);
        assert!(gains[0].abs() > 1.0 && gains[1].abs() < 1e-9);
    }

    #[test]
    fn a_small_flow_may_hide_a_large_gain() {
        // The probability of the record by the rest, and by the replaced node.
        for (rest, rare) in [(0.5, 2f64.powi(-40)), (2f64.powi(-120), 2f64.powi(-160)), (0.5, 2f64.powi(-30))] {
            let mut builder = SpnBuilder::new(1);
            let [rest, rare, good] = [rest, rare, 0.9].map(|p| builder.bernoulli(Var(0), p).unwrap());
            // A negligible weight keeps the node in the network.
            let before = builder.sum(&[(rest, 0.5), (rare, 0.5), (good, 2f64.powi(-190))]).unwrap();
            let mut replaced = builder.clone();
            let after = replaced.sum(&[(rest, 0.5), (good, 0.5)]).unwrap();
            let (before, after) = (builder.finish(before).unwrap(), replaced.finish(after).unwrap());
            let records = Records::from_rows(Names::numbered(1), [[true], [true], [true]]);
            let gain = before.replacement_gains(&records, &[(rare, good)])[0];
            let total = |spn: &Spn| total(spn, &records);
            assert!((gain - (total(&after) - total(&before))).abs() < 1e-9 && gain > 3.0, "{gain}");
        }
    }
}
