//! Passes over plain numbers, a few records at a time, that notice underflow.
//!
//! All nodes of one vtree node have the same variables, so they shrink together: each layer keeps one power of two per
//! record, and is scaled up when its largest value gets small. If a value is still below 2⁻⁴⁰⁰ of the largest one, the
//! record is *lost*: the caller computes it again in log space ([`super::logpass`]). Parameters are at least 2⁻²⁰⁰, or
//! all records are lost at once. So no product of two kept values and a parameter leaves the normal range, and zero
//! always means impossible.
//!
//! Leaves take any pair of numbers per variable and record, not just 0 and 1.

// Several arrays are walked lane by lane; indices keep that readable and the loops vectorised.
#![allow(clippy::needless_range_loop)]

use super::Evidence;
use crate::circuit::{Circuit, Node, Weights};
use crate::data::Records;
use crate::logspace::LOG_ZERO;
use crate::names::{Column, Group, Names};
use crate::var::{Lit, Var};

/// Records that batches handle together.
pub(super) const BATCH: usize = 8;

/// Layers whose largest value is below this are scaled up, and those above its inverse down: the parameters of a file
/// may add up to more than one.
const SMALL: f64 = 1.0 / (1u64 << 32) as f64;

/// 2⁻⁴⁰⁰ and 2⁻²⁰⁰.
const LOST_BELOW: f64 = f64::from_bits((1023 - 400) << 52);
const PARAMETER_BELOW: f64 = f64::from_bits((1023 - 200) << 52);

/// Parameters as plain numbers.
pub(super) struct Linear {
    parameters: Weights,
    in_range: bool,
}

impl Linear {
    pub(super) fn new(circuit: &Circuit) -> Linear {
        let logs = circuit.log_parameters();
        let parameters = Weights {
            tops: logs.tops.iter().map(|top| top.map(f64::exp)).collect(),
            elements: logs.elements.iter().map(|theta| theta.exp()).collect(),
        };
        let mut all = parameters.tops.iter().flatten().chain(&parameters.elements);
        let in_range = all.all(|&theta| theta >= PARAMETER_BELOW);
        Linear { parameters, in_range }
    }
}

/// Receives the flows of a downward pass: posterior probabilities that a node or parameter is used, by lane.
pub(super) trait Flows<const L: usize> {
    /// The flow into a literal.
    fn literal(&mut self, _lit: Lit, _flow: &[f64; L]) {}

    /// The flow through a ⊤ node, with *false* and with *true*.
    fn top(&mut self, var: Var, slot: usize, flows: [&[f64; L]; 2]);

    /// The flow through an element.
    fn element(&mut self, _element: usize, _flow: &[f64; L]) {}
}

/// The values of all nodes for `L` records, reused from batch to batch.
pub(super) struct Lanes<const L: usize> {
    /// The weights of *false* and *true* of each variable.
    leaves: Vec<[[f64; L]; 2]>,
    values: Vec<[f64; L]>,
    /// By rank of the vtree node: the power of two of its layer, alone and with all below.
    factor: Vec<[f64; L]>,
    exponent: Vec<[i64; L]>,
    lost: [bool; L],
    /// Posterior flows of a downward pass; zero between passes.
    flows: Vec<[f64; L]>,
}

impl<const L: usize> Lanes<L> {
    pub(super) fn new(circuit: &Circuit) -> Lanes<L> {
        Lanes {
            leaves: vec![[[1.0; L]; 2]; circuit.var_count()],
            values: vec![[0.0; L]; circuit.nodes().len()],
            factor: vec![[1.0; L]; circuit.vtree().node_count()],
            exponent: vec![[0; L]; circuit.vtree().node_count()],
            lost: [false; L],
            flows: Vec::new(),
        }
    }

    /// Leaves from evidence, in one lane.
    pub(super) fn set_evidence(&mut self, lane: usize, evidence: &Evidence) {
        for (i, leaf) in self.leaves.iter_mut().enumerate() {
            let value = evidence.value(Var(i as u32));
            leaf[0][lane] = f64::from(value != Some(true));
            leaf[1][lane] = f64::from(value != Some(false));
        }
    }

    /// Leaves from the rows `first..`, one per lane; lanes after the last row are unknown.
    pub(super) fn set_rows(&mut self, records: &Records, first: usize) {
        debug_assert!(64 % L == 0 && first.is_multiple_of(L));
        let (word, shift) = (first / 64, first % 64);
        let beyond = (first + L).saturating_sub(records.len());
        for (i, leaf) in self.leaves.iter_mut().enumerate() {
            let var = Var(i as u32);
            let ones = records.column(var)[word] >> shift;
            let missing = records.missing_column(var).map_or(0, |column| column[word] >> shift);
            for lane in 0..L {
                let free = missing >> lane & 1 == 1 || lane + beyond >= L;
                let one = ones >> lane & 1 == 1;
                leaf[0][lane] = f64::from(free || !one);
                leaf[1][lane] = f64::from(free || one);
            }
        }
    }

    /// The weight of a literal in one lane.
    pub(super) fn leaf(&self, lit: Lit, lane: usize) -> f64 {
        self.leaves[lit.var.index()][usize::from(lit.value)][lane]
    }

    /// Computes the values of all nodes from the leaves.
    pub(super) fn upward(&mut self, circuit: &Circuit, linear: &Linear) {
        self.lost = [!linear.in_range; L];
        if !linear.in_range {
            return;
        }
        let (vtree, elements) = (circuit.vtree(), circuit.elements());
        let Weights { tops, elements: thetas } = &linear.parameters;
        for (rank, &v) in vtree.bottom_up().iter().enumerate() {
            let layer = circuit.layer(v);
            for i in layer.clone() {
                self.values[i] = match circuit.nodes()[i] {
                    Node::Literal(lit) => self.leaves[lit.var.index()][usize::from(lit.value)],
                    Node::Top { var, slot } => {
                        let ([f, t], [a, b]) = (tops[slot as usize], &self.leaves[var.index()]);
                        std::array::from_fn(|l| f * a[l] + t * b[l])
                    }
                    Node::Sum { start, end, .. } => {
                        let range = start as usize..end as usize;
                        let mut sum = [0.0; L];
                        for (element, &theta) in elements[range.clone()].iter().zip(&thetas[range]) {
                            let (prime, sub) = (&self.values[element.prime.index()], &self.values[element.sub.index()]);
                            for l in 0..L {
                                sum[l] += theta * prime[l] * sub[l];
                            }
                        }
                        sum
                    }
                };
            }
            self.exponent[rank] = match vtree.children(v) {
                None => [0; L],
                Some(children) => {
                    let [left, right] = children.map(|child| &self.exponent[vtree.rank(child)]);
                    std::array::from_fn(|l| left[l] + right[l])
                }
            };
            self.rescale(rank, layer);
        }
    }

    /// Scales a layer up where it got small, and marks the records whose values are too far apart.
    fn rescale(&mut self, rank: usize, layer: std::ops::Range<usize>) {
        let values = &mut self.values[layer];
        let (mut high, mut low) = ([0.0f64; L], [f64::INFINITY; L]);
        for value in values.iter() {
            for l in 0..L {
                high[l] = if value[l] > high[l] { value[l] } else { high[l] };
                let some = if value[l] == 0.0 { f64::INFINITY } else { value[l] };
                low[l] = if some < low[l] { some } else { low[l] };
            }
        }
        let mut factor = [1.0; L];
        let mut scaled = false;
        for l in 0..L {
            if (high[l] < SMALL || high[l] > 1.0 / SMALL) && high[l] > 0.0 {
                let power = (high[l].to_bits() >> 52) as i64 - 1023;
                factor[l] = f64::from_bits(((1023 - power) as u64) << 52);
                self.exponent[rank][l] += power;
                scaled = true;
            }
            self.lost[l] |= low[l] * factor[l] < LOST_BELOW;
        }
        self.factor[rank] = factor;
        if scaled {
            for value in values {
                for l in 0..L {
                    value[l] *= factor[l];
                }
            }
        }
    }

    /// Whether a lane must be computed in log space.
    pub(super) fn is_lost(&self, lane: usize) -> bool {
        self.lost[lane]
    }

    /// The log-probability of the evidence in a lane that is not lost.
    pub(super) fn log_evidence(&self, lane: usize) -> f64 {
        let value = self.values[self.values.len() - 1][lane];
        let exponent = self.exponent[self.exponent.len() - 1][lane];
        if value == 0.0 { LOG_ZERO } else { value.ln() + exponent as f64 * std::f64::consts::LN_2 }
    }

    /// Sends the evidence of each lane down from the root; lanes that are lost or impossible hold garbage.
    pub(super) fn downward(&mut self, circuit: &Circuit, linear: &Linear, listener: &mut impl Flows<L>) {
        self.flows.resize(self.values.len(), [0.0; L]);
        let elements = circuit.elements();
        let Weights { tops, elements: thetas } = &linear.parameters;
        self.flows[circuit.root().index()] = [1.0; L];
        for (rank, &v) in circuit.vtree().bottom_up().iter().enumerate().rev() {
            let factor = &self.factor[rank];
            for i in circuit.layer(v).rev() {
                let flow = std::mem::replace(&mut self.flows[i], [0.0; L]);
                if flow == [0.0; L] {
                    continue;
                }
                let value = &self.values[i];
                let share: [f64; L] = std::array::from_fn(|l| if value[l] > 0.0 { flow[l] / value[l] } else { 0.0 });
                match circuit.nodes()[i] {
                    Node::Literal(lit) => listener.literal(lit, &flow),
                    Node::Top { var, slot } => {
                        let leaf = &self.leaves[var.index()];
                        let side = |x: usize| {
                            let theta = tops[slot as usize][x];
                            std::array::from_fn(|l| theta * leaf[x][l] * factor[l] * share[l])
                        };
                        listener.top(var, slot as usize, [&side(0), &side(1)]);
                    }
                    Node::Sum { start, end, .. } => {
                        for e in start as usize..end as usize {
                            let (element, theta) = (elements[e], thetas[e]);
                            let [p, s] = [element.prime.index(), element.sub.index()];
                            let (prime, sub) = (&self.values[p], &self.values[s]);
                            let used: [f64; L] =
                                std::array::from_fn(|l| theta * prime[l] * sub[l] * factor[l] * share[l]);
                            listener.element(e, &used);
                            for l in 0..L {
                                self.flows[p][l] += used[l];
                            }
                            for l in 0..L {
                                self.flows[s][l] += used[l];
                            }
                        }
                    }
                }
            }
        }
    }

    /// The parameters of the circuit given the evidence of a lane that is not lost.
    pub(super) fn shares(&self, circuit: &Circuit, linear: &Linear, lane: usize) -> Weights {
        let mut shares = Weights::zeros(linear.parameters.tops.len(), linear.parameters.elements.len());
        for (rank, &v) in circuit.vtree().bottom_up().iter().enumerate() {
            let factor = self.factor[rank][lane];
            for i in circuit.layer(v).filter(|&i| self.values[i][lane] > 0.0) {
                let value = self.values[i][lane];
                match circuit.nodes()[i] {
                    Node::Literal(_) => {}
                    Node::Top { var, slot } => {
                        let (theta, leaf) = (linear.parameters.tops[slot as usize], &self.leaves[var.index()]);
                        shares.tops[slot as usize] = [0, 1].map(|b| theta[b] * leaf[b][lane] * factor / value);
                    }
                    Node::Sum { start, end, .. } => {
                        for e in start as usize..end as usize {
                            let element = circuit.elements()[e];
                            let (p, s) = (self.values[element.prime.index()], self.values[element.sub.index()]);
                            shares.elements[e] = linear.parameters.elements[e] * p[lane] * s[lane] * factor / value;
                        }
                    }
                }
            }
        }
        shares
    }
}

impl<const L: usize> Lanes<L> {
    /// Leaves set from rows, seen through a channel that changes a column with probability `epsilon`.
    pub(in crate::infer) fn soften(&mut self, epsilon: f64, names: &Names) {
        for column in names.columns() {
            match column {
                Column::Boolean(var) => self.soften_cell(var, epsilon),
                Column::Group(group) => (0..L).for_each(|lane| self.soften_group(group, lane, epsilon)),
            }
        }
    }

    fn soften_cell(&mut self, var: Var, epsilon: f64) {
        let leaf = &mut self.leaves[var.index()];
        for lane in 0..L {
            let [no, yes] = [leaf[0][lane], leaf[1][lane]];
            // A missing cell stays free: both sides are one.
            if no != yes {
                leaf[0][lane] = (1.0 - epsilon) * no + epsilon * yes;
                leaf[1][lane] = (1.0 - epsilon) * yes + epsilon * no;
            }
        }
    }

    /// The weight of *true* is the probability of seeing the value that the cells show. As exactly one value is true in
    /// every world, it is multiplied in once if only *true* carries it.
    fn soften_group(&mut self, group: &Group, lane: usize, epsilon: f64) {
        let leaves = &mut self.leaves[group.vars().next().map_or(0, Var::index)..][..group.vars().len()];
        let known = leaves.iter().filter(|leaf| leaf[0][lane] == 0.0).count();
        let open = |leaf: &[[f64; L]; 2]| match known {
            0 => leaf[1][lane] != 0.0,
            1 => leaf[0][lane] == 0.0,
            _ => false,
        };
        let others = leaves.len() - 1;
        let count = leaves.iter().filter(|leaf| open(leaf)).count();
        let share = epsilon / others as f64;
        let weight = |is_open: bool| match count {
            0 => 0.0,
            // Missing, or a column with one value: exactly one, without rounding.
            _ if count > others => 1.0,
            _ if is_open => 1.0 - epsilon + (count - 1) as f64 * share,
            _ => count as f64 * share,
        };
        for leaf in leaves {
            leaf[1][lane] = weight(open(leaf));
            leaf[0][lane] = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::logpass;
    use crate::{Builder, NodeId, Random, Sharing, Vtree};

    /// A circuit with parameters of very different sizes: `spread` is the largest power of two below one.
    fn uneven(vars: usize, spread: f64, seed: u64) -> Circuit {
        let mut random = Random::new(seed);
        let vtree = Vtree::random(vars, seed);
        let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
        let mut made: Vec<Vec<NodeId>> = vec![Vec::new(); vtree.node_count()];
        for &v in vtree.bottom_up() {
            made[v.index()] = match (vtree.leaf_var(v), vtree.children(v)) {
                (Some(var), _) => {
                    let p = random.unit().mul_add(0.9, 0.05);
                    let top = builder.top(var, [(1.0 - p).ln(), p.ln()]).unwrap();
                    [false, true]
                        .map(|value| builder.literal(var.is(value)).unwrap())
                        .into_iter()
                        .chain([top])
                        .collect()
                }
                (_, Some([left, right])) => (0..3)
                    .map(|_| {
                        let mut pairs: Vec<_> = (0..3)
                            .map(|_| {
                                [left, right].map(|side| made[side.index()][random.below(made[side.index()].len())])
                            })
                            .collect();
                        pairs.sort();
                        pairs.dedup();
                        let mut sum: Vec<_> = pairs.iter().map(|p| (p[0], p[1], -random.unit() * spread)).collect();
                        sum[0].2 = -0.1;
                        builder.sum(v, &sum).unwrap()
                    })
                    .collect(),
                _ => unreachable!(),
            };
        }
        builder.finish(made[vtree.root().index()][0]).unwrap()
    }

    #[test]
    fn kept_lanes_agree_with_log_space_and_the_rest_is_lost() {
        let (mut kept, mut lost) = (0, 0);
        for (seed, spread) in [1.0, 20.0, 100.0, 135.0, 200.0, 800.0].into_iter().cycle().take(60).enumerate() {
            let circuit = uneven(12, spread, seed as u64);
            let linear = Linear::new(&circuit);
            let mut lanes = Lanes::<4>::new(&circuit);
            let mut random = Random::new(seed as u64);
            let evidences: Vec<Evidence> = (0..4)
                .map(|_| {
                    let mut evidence = Evidence::none(12);
                    (0..12).for_each(|i| evidence.set(Var(i), (random.unit() < 0.4).then(|| random.unit() < 0.5)));
                    evidence
                })
                .collect();
            evidences.iter().enumerate().for_each(|(lane, evidence)| lanes.set_evidence(lane, evidence));
            lanes.upward(&circuit, &linear);
            for (lane, evidence) in evidences.iter().enumerate() {
                if lanes.is_lost(lane) {
                    lost += 1;
                    continue;
                }
                kept += 1;
                let values = logpass::log_values(&circuit, evidence);
                let (found, expected) = (lanes.log_evidence(lane), values[circuit.root().index()]);
                assert!(found == expected || (found - expected).abs() < 1e-10 * expected.abs().max(1.0));
                for (i, value) in lanes.values.iter().enumerate() {
                    assert_eq!(value[lane] == 0.0, values[i] == LOG_ZERO, "zero means impossible, at every node");
                }
                let [a, b] = [lanes.shares(&circuit, &linear, lane), logpass::shares(&circuit, evidence, &values)];
                let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-10;
                assert!(a.elements.iter().zip(&b.elements).all(close));
                assert!(a.tops.concat().iter().zip(&b.tops.concat()).all(close));
            }
        }
        assert!(kept > 50 && lost > 20, "{kept} {lost}");
    }
}
