//! The slow pass in log space: exact where plain numbers underflow, and a cross-check of the fast ones.

use super::Evidence;
use crate::circuit::{Circuit, Node, Weights};
use crate::logspace::{LOG_ZERO, log_add, log_sum};
use crate::var::Lit;

/// The log-value of every node under evidence.
pub(super) fn log_values(circuit: &Circuit, evidence: &Evidence) -> Vec<f64> {
    log_values_with(circuit, |lit| log_leaf(evidence.allows(lit)))
}

/// The log-value of every node where literals have these log-values.
pub(super) fn log_values_with(circuit: &Circuit, leaf: impl Fn(Lit) -> f64) -> Vec<f64> {
    let parameters = circuit.log_parameters();
    let mut values = Vec::with_capacity(circuit.nodes().len());
    for (id, node) in circuit.ids().zip(circuit.nodes()) {
        values.push(match *node {
            Node::Literal(lit) => leaf(lit),
            Node::Top { var, slot } => {
                let [log_false, log_true] = parameters.tops[slot as usize];
                log_add(log_false + leaf(var.is(false)), log_true + leaf(var.is(true)))
            }
            Node::Sum { .. } => log_sum(
                circuit.elements_of(id).map(|(e, theta)| theta + values[e.prime.index()] + values[e.sub.index()]),
            ),
        });
    }
    values
}

/// The parameters of the circuit given evidence, from the log-values of its nodes.
pub(super) fn shares(circuit: &Circuit, evidence: &Evidence, values: &[f64]) -> Weights {
    let parameters = circuit.log_parameters();
    let mut shares = Weights::zeros(parameters.tops.len(), parameters.elements.len());
    for (id, node) in circuit.ids().zip(circuit.nodes()) {
        let value = values[id.index()];
        match *node {
            _ if value == LOG_ZERO => {}
            Node::Literal(_) => {}
            Node::Top { var, slot } => {
                let logs = parameters.tops[slot as usize];
                shares.tops[slot as usize] =
                    [false, true].map(|x| (log_leaf(evidence.allows(var.is(x))) + logs[usize::from(x)] - value).exp());
            }
            Node::Sum { .. } => {
                for (e, (element, theta)) in circuit.element_range(id).zip(circuit.elements_of(id)) {
                    let log = theta + values[element.prime.index()] + values[element.sub.index()];
                    shares.elements[e] = (log - value).exp();
                }
            }
        }
    }
    shares
}

fn log_leaf(allowed: bool) -> f64 {
    if allowed { 0.0 } else { LOG_ZERO }
}
