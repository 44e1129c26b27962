//! The most probable world.

use super::{Evidence, QueryError};
use crate::circuit::{Circuit, Deterministic, Node};
use crate::data::Records;
use crate::logspace::{LOG_ZERO, log_sum};
use rayon::prelude::*;

impl Deterministic {
    /// The most probable world that agrees with evidence, and its log-probability (not conditioned on the evidence).
    ///
    /// `argmax P(w)` over worlds `w` that agree with `e`: max in place of sum, which is exact because every world has
    /// one derivation. Among equally probable choices the first element and *false* win. Cost: elements. An error if no
    /// such world is possible.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::Evidence};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// let (world, log_probability) = psdd.mpe(&Evidence::none(2))?;
    /// assert_eq!(world, [true, true]);
    /// assert!((log_probability.exp() - 0.75).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mpe(&self, evidence: &Evidence) -> Result<(Vec<bool>, f64), QueryError> {
        self.check_evidence(evidence)?;
        self.best_derivation(evidence, &mut Vec::new()).ok_or(QueryError::ImpossibleEvidence)
    }

    /// The most probable completion of each distinct row; `None` where the row is impossible.
    ///
    /// The batch form of [`Deterministic::mpe`]. Cost: elements × records.
    ///
    /// ```
    /// # use slopp::{Builder, Names, RecordsBuilder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// let mut records = RecordsBuilder::new(Names::numbered(2));
    /// records.push([Some(true), None], 2.0);
    /// records.push([Some(false), None], 1.0);
    /// let completed = psdd.mpe_batch(&records.finish())?;
    /// assert_eq!(completed[0].as_ref().map(|(world, _)| &world[..]), Some(&[true, true][..]));
    /// assert_eq!(completed[1], None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::type_complexity)]
    pub fn mpe_batch(&self, records: &Records) -> Result<Vec<Option<(Vec<bool>, f64)>>, QueryError> {
        self.check_records(records)?;
        let mpe = |values: &mut Vec<f64>, row| self.best_derivation(&Evidence::from_row(records, row), values);
        Ok((0..records.len()).into_par_iter().map_init(Vec::new, mpe).collect())
    }
}

impl Circuit {
    /// The world of the most probable derivation that agrees with evidence, and the log-probability of that derivation.
    ///
    /// The most probable world if the circuit is deterministic, else just a possible one.
    pub(crate) fn best_derivation(&self, evidence: &Evidence, values: &mut Vec<f64>) -> Option<(Vec<bool>, f64)> {
        log_maxima(self, evidence, values);
        let best = values[self.root().index()];
        if best == LOG_ZERO {
            return None;
        }
        let mut world = vec![false; self.var_count()];
        let mut stack = vec![self.root()];
        while let Some(id) = stack.pop() {
            match self.node(id) {
                Node::Literal(lit) => world[lit.var.index()] = lit.value,
                Node::Top { var, slot } => {
                    let [log_false, log_true] = self.log_parameters().tops[slot as usize];
                    world[var.index()] = evidence.value(var).unwrap_or(log_true > log_false);
                }
                Node::Sum { .. } => {
                    let goal = values[id.index()];
                    let found = self
                        .elements_of(id)
                        .find(|(e, theta)| theta + values[e.prime.index()] + values[e.sub.index()] == goal);
                    let (element, _) = found.expect("the maximum is that of an element");
                    stack.extend([element.sub, element.prime]);
                }
            }
        }
        Some((world, best))
    }
}

/// An upper bound of the log-probability of every world that agrees with evidence, for any circuit.
///
/// The sum of maxima is at least the maximum of the sum; with `deterministic` the bound is exact.
pub(crate) fn log_upper_bound(circuit: &Circuit, evidence: &Evidence, deterministic: bool) -> f64 {
    let mut values: Vec<f64> = Vec::new();
    if deterministic {
        log_maxima(circuit, evidence, &mut values);
        return values[circuit.root().index()];
    }
    for (id, node) in circuit.ids().zip(circuit.nodes()) {
        values.push(match *node {
            Node::Sum { .. } => {
                let terms = circuit.elements_of(id);
                log_sum(terms.map(|(e, theta)| theta + values[e.prime.index()] + values[e.sub.index()]))
            }
            leaf => log_maximum_of_leaf(circuit, leaf, evidence),
        });
    }
    values[circuit.root().index()]
}

/// The largest log-probability of a world below each node that agrees with evidence.
pub(super) fn log_maxima(circuit: &Circuit, evidence: &Evidence, values: &mut Vec<f64>) {
    values.clear();
    for (id, node) in circuit.ids().zip(circuit.nodes()) {
        values.push(match *node {
            Node::Sum { .. } => circuit
                .elements_of(id)
                .map(|(e, theta)| theta + values[e.prime.index()] + values[e.sub.index()])
                .fold(LOG_ZERO, f64::max),
            leaf => log_maximum_of_leaf(circuit, leaf, evidence),
        });
    }
}

fn log_maximum_of_leaf(circuit: &Circuit, leaf: Node, evidence: &Evidence) -> f64 {
    match leaf {
        Node::Literal(lit) if evidence.allows(lit) => 0.0,
        Node::Top { var, slot } => {
            let logs = circuit.log_parameters().tops[slot as usize];
            evidence.value(var).map_or(logs[0].max(logs[1]), |value| logs[usize::from(value)])
        }
        Node::Literal(_) | Node::Sum { .. } => LOG_ZERO,
    }
}
