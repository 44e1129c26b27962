//! The most probable values of some variables, the others summed out.
//!
//! First the other variables are summed out, which leaves a mixture over those asked for. An upper bound takes the
//! maximum at sums whose elements are exclusive, and the sum of maxima at others; it is exact once every variable has a
//! value. Following the best elements gives a candidate, whose probability is a lower bound. The search takes the open
//! case with the highest bound and splits it by a variable about which the parts of a mixture disagree.

use super::{Evidence, QueryError};
use crate::circuit::{Circuit, Node, NodeId};
use crate::heap::Scored;
use crate::limits::Limits;
use crate::logspace::{LOG_ZERO, log_sum};
use crate::var::{Lit, Var};
use std::collections::BinaryHeap;

/// The most probable values of some variables, as far as the search came.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MarginalMap {
    /// The best values found, in the order the variables were given.
    pub values: Vec<Lit>,
    /// The log-probability of these values together with the evidence: a lower bound of the maximum.
    pub log_lower: f64,
    /// No assignment has a higher log-probability than this; equal to `log_lower` if the values are proved best.
    pub log_upper: f64,
    /// How many cases were split.
    pub steps: usize,
}

impl MarginalMap {
    /// Whether the values are proved to be the most probable ones.
    pub fn is_exact(&self) -> bool {
        self.log_lower == self.log_upper
    }
}

/// Bounds closer than this, in nats, count as equal: rounding is not worth a search.
const TOLERANCE: f64 = 1e-10;

impl Circuit {
    /// The most probable values of some variables together with evidence, all other variables summed out.
    ///
    /// `argmax P(a, e)` over the values `a` of the given variables. NP-hard even on a PSDD, hence the budget: after
    /// `budget` cases are split, the best values found come with a bound on all others. No randomness. Cost: at most
    /// five times the size of the marginal circuit per step; where that is proved deterministic within limits no step is needed. An error if
    /// the evidence is impossible.
    ///
    /// ```
    /// # use slopp::{Var, infer::Evidence};
    /// let psdd = slopp::example::psdd();
    /// let found = psdd.marginal_map(&[Var(1), Var(2)], &Evidence::none(4), 100, &Default::default())?;
    /// assert!(found.is_exact());
    /// assert_eq!(found.values, [Var(1).is(true), Var(2).is(true)]);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn marginal_map(
        &self,
        vars: &[Var],
        evidence: &Evidence,
        budget: usize,
        limits: &Limits,
    ) -> Result<MarginalMap, QueryError> {
        let log_evidence = self.log_evidence(evidence)?;
        let marginal = self.marginal_given(vars, evidence)?;
        let found = Search::new(&marginal, limits).run(budget);
        Ok(MarginalMap {
            values: vars.iter().zip(&found.world).map(|(var, &value)| var.is(value)).collect(),
            log_lower: found.lower + log_evidence,
            log_upper: found.upper + log_evidence,
            steps: found.steps,
        })
    }
}

struct Search<'a> {
    circuit: &'a Circuit,
    /// Whether the elements of each sum exclude each other.
    exclusive: Vec<bool>,
}

struct Found {
    world: Vec<bool>,
    lower: f64,
    upper: f64,
    steps: usize,
}

impl<'a> Search<'a> {
    fn new(circuit: &'a Circuit, limits: &Limits) -> Search<'a> {
        Search { circuit, exclusive: circuit.exclusive_sums(limits) }
    }

    fn run(&self, budget: usize) -> Found {
        let n = self.circuit.var_count();
        let mut found = Found { world: vec![false; n], lower: LOG_ZERO, upper: LOG_ZERO, steps: 0 };
        // Cases by their bounds, earlier ones first among equals. Their values are kept apart.
        let mut open = BinaryHeap::new();
        let mut cases: Vec<Evidence> = Vec::new();
        let mut fresh = vec![(Evidence::none(n), f64::INFINITY)];
        loop {
            for (values, above) in fresh.drain(..) {
                if let Some(score) = self.bound(&values, above, &mut found) {
                    open.push(Scored { score, tie: cases.len() });
                    cases.push(values);
                }
            }
            let Some(Scored { score: upper, tie }) = open.pop() else { break };
            if upper <= found.lower + TOLERANCE {
                break;
            }
            if found.steps == budget {
                found.upper = upper;
                return found;
            }
            found.steps += 1;
            let values = std::mem::replace(&mut cases[tie], Evidence::none(0));
            // Where everything has a value, the bound is the probability up to rounding.
            let Some(var) = self.branch(&values, &self.bounds(&values)) else { continue };
            for value in [false, true] {
                let mut values = values.clone();
                values.set(var, Some(value));
                fresh.push((values, upper));
            }
        }
        found.upper = found.lower;
        found
    }

    /// The bound of the case with these values, if it may contain something better; its candidate is tried at once.
    fn bound(&self, values: &Evidence, above: f64, found: &mut Found) -> Option<f64> {
        let bounds = self.bounds(values);
        let upper = bounds[self.circuit.root().index()].min(above);
        if upper <= found.lower + TOLERANCE {
            return None;
        }
        let mut world = vec![false; self.circuit.var_count()];
        self.write_best(self.circuit.root(), values, &bounds, &mut world);
        let log = super::logpass::log_values(self.circuit, &Evidence::of_world(&world))[self.circuit.root().index()];
        if log > found.lower {
            (found.lower, found.world) = (log, world);
        }
        Some(upper)
    }

    /// For every node a bound on the log-probability of the worlds that agree with some values.
    fn bounds(&self, values: &Evidence) -> Vec<f64> {
        let circuit = self.circuit;
        let mut bounds: Vec<f64> = Vec::with_capacity(circuit.nodes().len());
        for (id, node) in circuit.ids().zip(circuit.nodes()) {
            let parts = circuit.elements_of(id).map(|(e, x)| x + bounds[e.prime.index()] + bounds[e.sub.index()]);
            bounds.push(match *node {
                Node::Literal(lit) if values.allows(lit) => 0.0,
                Node::Literal(_) => LOG_ZERO,
                Node::Top { var, slot } => {
                    let logs = circuit.log_parameters().tops[slot as usize];
                    values.value(var).map_or(logs[0].max(logs[1]), |value| logs[usize::from(value)])
                }
                Node::Sum { .. } if self.exclusive[id.index()] => parts.fold(LOG_ZERO, f64::max),
                Node::Sum { .. } => log_sum(parts),
            });
        }
        bounds
    }

    /// The element of a sum with the highest bound, the first among equals.
    fn best_element(&self, sum: NodeId, bounds: &[f64]) -> usize {
        let bound = |e: usize| {
            let element = self.circuit.elements()[e];
            let theta = self.circuit.log_parameters().elements[e];
            theta + bounds[element.prime.index()] + bounds[element.sub.index()]
        };
        let better = |best: usize, next: usize| if bound(next) > bound(best) { next } else { best };
        self.circuit.element_range(sum).reduce(better).expect("a sum has an element")
    }

    /// Follows the best elements below a node and writes the values met.
    fn write_best(&self, node: NodeId, values: &Evidence, bounds: &[f64], world: &mut [bool]) {
        let mut stack = vec![node];
        while let Some(id) = stack.pop() {
            match self.circuit.node(id) {
                Node::Literal(Lit { var, value }) => world[var.index()] = value,
                Node::Top { var, slot } => {
                    let [log_false, log_true] = self.circuit.log_parameters().tops[slot as usize];
                    world[var.index()] = values.value(var).unwrap_or(log_true > log_false);
                }
                Node::Sum { .. } => {
                    let element = self.circuit.elements()[self.best_element(id, bounds)];
                    stack.extend([element.sub, element.prime]);
                }
            }
        }
    }

    /// A variable without a value about which the best world and another part of a mixture on its path disagree;
    /// failing that, any variable without a value.
    fn branch(&self, values: &Evidence, bounds: &[f64]) -> Option<Var> {
        let circuit = self.circuit;
        let mut best = vec![false; circuit.var_count()];
        self.write_best(circuit.root(), values, bounds, &mut best);
        let mut other = best.clone();
        let mut stack = vec![circuit.root()];
        while let Some(id) = stack.pop() {
            let Node::Sum { vtree, .. } = circuit.node(id) else { continue };
            let first = self.best_element(id, bounds);
            if !self.exclusive[id.index()] {
                for e in circuit.element_range(id).filter(|&e| e != first) {
                    let element = circuit.elements()[e];
                    if bounds[element.prime.index()] == LOG_ZERO || bounds[element.sub.index()] == LOG_ZERO {
                        continue;
                    }
                    self.write_best(element.prime, values, bounds, &mut other);
                    self.write_best(element.sub, values, bounds, &mut other);
                    let differs = |var: &&Var| best[var.index()] != other[var.index()];
                    if let Some(&var) = circuit.vtree().vars(vtree).iter().find(differs) {
                        return Some(var);
                    }
                }
            }
            let element = circuit.elements()[first];
            stack.extend([element.sub, element.prime]);
        }
        circuit.vtree().vars(circuit.vtree().root()).iter().copied().find(|&var| values.value(var).is_none())
    }
}
