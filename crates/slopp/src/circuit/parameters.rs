//! From counts to parameters.

use super::builder::log_top;
use super::{BuildError, Builder, Circuit, Node, NodeId, Sharing, Weights};
use crate::logspace::log_share;

/// How counts become parameters: `(n + a·prior) / (total + a)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothing {
    /// The weight `a` of the prior in records; zero is maximum likelihood.
    pub pseudocount: f64,
    /// The prior probability of *true* for the ⊤ nodes of each variable; one half if there is none.
    /// The prior of elements is uniform.
    pub prior: Option<Vec<f64>>,
}

impl Smoothing {
    /// Maximum likelihood: no smoothing at all.
    pub fn none() -> Smoothing {
        Smoothing::uniform(0.0)
    }

    /// A uniform prior that weighs as much as `pseudocount` records.
    pub fn uniform(pseudocount: f64) -> Smoothing {
        Smoothing { pseudocount, prior: None }
    }

    /// For every variable its share of true among the records as the prior, weighing as much as `pseudocount` records.
    ///
    /// The shares are smoothed by half a record each way, so that a constant column stays possible the other way.
    pub fn marginal(pseudocount: f64, records: &crate::Records) -> Smoothing {
        let share = |var| {
            let present = match records.missing_column(var) {
                None => records.total(),
                Some(missing) => records.total() - records.count(missing),
            };
            (records.count(records.column(var)) + 0.5) / (present + 1.0)
        };
        let prior = (0..records.var_count() as u32).map(|i| share(crate::Var(i))).collect();
        Smoothing { pseudocount, prior: Some(prior) }
    }

    fn top(&self, var: crate::Var, [falses, trues]: [f64; 2]) -> [f64; 2] {
        let prior = self.prior.as_ref().map_or(0.5, |prior| prior[var.index()]);
        let falses = falses + self.pseudocount * (1.0 - prior);
        let trues = trues + self.pseudocount * prior;
        log_top(log_share(falses, trues), log_share(trues, falses))
    }
}

impl Circuit {
    /// The same structure with the parameters of these counts, which are kept.
    ///
    /// What has count zero and no pseudocount is not possible any more and is dropped: elements, the nodes only they
    /// reach, and one side of ⊤, which becomes a literal. So the base always is the support.
    pub(crate) fn with_estimates(self, counts: Weights, smoothing: &Smoothing) -> Result<Circuit, BuildError> {
        let dead = counts.tops.iter().flatten().chain(&counts.elements).any(|&count| count <= 0.0);
        let (mut circuit, counts) = match dead && smoothing.pseudocount <= 0.0 {
            true => self.without_unseen(&counts)?,
            false => (self, counts),
        };
        let mut parameters = Weights::zeros(counts.tops.len(), counts.elements.len());
        for node in &circuit.nodes {
            match *node {
                Node::Literal(_) => {}
                Node::Top { var, slot } => {
                    parameters.tops[slot as usize] = smoothing.top(var, counts.tops[slot as usize])
                }
                Node::Sum { start, end, .. } => {
                    let range = start as usize..end as usize;
                    let share = smoothing.pseudocount / range.len() as f64;
                    let total: f64 = counts.elements[range.clone()].iter().map(|n| n + share).sum();
                    for i in range {
                        let count = counts.elements[i] + share;
                        parameters.elements[i] = log_share(count, (total - count).max(0.0));
                    }
                }
            }
        }
        circuit.log_parameters = parameters;
        circuit.counts = Some(counts);
        Ok(circuit)
    }

    /// The circuit without what has count zero, and the counts that remain.
    fn without_unseen(&self, counts: &Weights) -> Result<(Circuit, Weights), BuildError> {
        let mut builder = Builder::new(self.vtree.clone(), Sharing::LiteralsOnly);
        let mut new: Vec<Option<NodeId>> = Vec::with_capacity(self.nodes.len());
        for id in self.ids() {
            let node = match self.node(id) {
                Node::Literal(lit) => Some(builder.literal(lit)?),
                Node::Top { var, slot } => match counts.tops[slot as usize] {
                    [f, t] if f > 0.0 && t > 0.0 => Some(builder.top(var, [f, t])?),
                    [f, t] if f > 0.0 || t > 0.0 => Some(builder.literal(var.is(t > 0.0))?),
                    _ => None,
                },
                Node::Sum { vtree, .. } => {
                    let range = self.element_range(id);
                    let seen = range.filter(|&i| counts.elements[i] > 0.0).filter_map(|i| {
                        let element = self.elements[i];
                        Some((new[element.prime.index()]?, new[element.sub.index()]?, counts.elements[i]))
                    });
                    let elements: Vec<_> = seen.collect();
                    if elements.is_empty() { None } else { Some(builder.sum(vtree, &elements)?) }
                }
            };
            new.push(node);
        }
        let root = new[self.root().index()].ok_or(BuildError::NoElements)?;
        let (circuit, counts) = builder.finish_numbers(root)?;
        Ok((circuit, counts))
    }

    /// The same distribution with equal nodes shared; counts of nodes that become one add up.
    pub fn shared(&self) -> Result<Circuit, BuildError> {
        let mut builder = Builder::new(self.vtree.clone(), Sharing::Equal);
        let mut new: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for id in self.ids() {
            new.push(match self.node(id) {
                Node::Literal(lit) => builder.literal(lit)?,
                Node::Top { var, slot } => builder.top(var, self.log_parameters.tops[slot as usize])?,
                Node::Sum { vtree, .. } => {
                    let moved = |(e, theta): (super::Element, f64)| (new[e.prime.index()], new[e.sub.index()], theta);
                    let elements: Vec<_> = self.elements_of(id).map(moved).collect();
                    builder.sum(vtree, &elements)?
                }
            });
        }
        let (mut circuit, places) = builder.finish_with_ids(new[self.root().index()])?;
        if let Some(counts) = &self.counts {
            let mut sums = Weights::zeros(circuit.log_parameters.tops.len(), circuit.elements.len());
            for id in self.ids() {
                let place = places[new[id.index()].index()].expect("every node is below the root");
                match (self.node(id), circuit.node(place)) {
                    (Node::Top { slot, .. }, Node::Top { slot: to, .. }) => {
                        let [f, t] = counts.tops[slot as usize];
                        sums.tops[to as usize][0] += f;
                        sums.tops[to as usize][1] += t;
                    }
                    (Node::Sum { .. }, _) => {
                        // Shared sums may list their elements in another order.
                        let target = circuit.element_range(place);
                        for i in self.element_range(id) {
                            let moved = |old: NodeId| places[new[old.index()].index()].expect("below the root");
                            let (prime, sub) = (moved(self.elements[i].prime), moved(self.elements[i].sub));
                            let found = target.clone().find(|&j| circuit.elements[j] == super::Element { prime, sub });
                            sums.elements[found.expect("equal nodes have equal elements")] += counts.elements[i];
                        }
                    }
                    _ => {}
                }
            }
            circuit.counts = Some(sums);
        }
        Ok(circuit)
    }
}
