//! Plain numbers, or logarithms where plain numbers do not reach.

use crate::circuit::{Circuit, Node, NodeId};
use crate::infer::factor::{Factor, Part};
use crate::logspace::{LOG_ZERO, log_add};

/// How values are multiplied and added: plain, or as logarithms where plain numbers do not reach.
pub(super) trait Arithmetic {
    const ZERO: f64;
    fn of_log(log: f64) -> f64;
    fn log(value: f64) -> f64;
    fn multiply(a: f64, b: f64) -> f64;
    fn add(a: f64, b: f64) -> f64;
    /// Whether a product of values other than zero has lost digits.
    fn is_lost(value: f64) -> bool;
    /// Whether a number, known not to be zero, is so small that products of a few may lose digits.
    fn is_small(value: f64) -> bool;
}

pub(super) struct Plain;

impl Arithmetic for Plain {
    const ZERO: f64 = 0.0;

    fn of_log(log: f64) -> f64 {
        log.exp()
    }

    fn log(value: f64) -> f64 {
        value.ln()
    }

    fn multiply(a: f64, b: f64) -> f64 {
        a * b
    }

    fn add(a: f64, b: f64) -> f64 {
        a + b
    }

    fn is_lost(value: f64) -> bool {
        value < f64::MIN_POSITIVE
    }

    fn is_small(value: f64) -> bool {
        value < SMALL
    }
}

pub(super) struct Logs;

impl Arithmetic for Logs {
    const ZERO: f64 = LOG_ZERO;

    fn of_log(log: f64) -> f64 {
        log
    }

    fn log(value: f64) -> f64 {
        value
    }

    fn multiply(a: f64, b: f64) -> f64 {
        a + b
    }

    fn add(a: f64, b: f64) -> f64 {
        log_add(a, b)
    }

    fn is_lost(_value: f64) -> bool {
        false
    }

    fn is_small(_value: f64) -> bool {
        false
    }
}

/// What a product is computed from, so that no logarithm is taken on the way.
pub(super) struct Numbers {
    /// The parameters of the circuit.
    pub(super) thetas: Vec<f64>,
    tops: Vec<[f64; 2]>,
    /// The value of every node times the constant one; one up to rounding, unless a file says otherwise.
    pub(super) totals: Vec<f64>,
    /// The weights of the terms of the factor.
    phis: Vec<f64>,
    /// The weights of *false* and *true* of those parts of the factor that are leaves.
    leaves: Vec<[f64; 2]>,
}

impl Numbers {
    /// `None` if a number other than zero is too small for products of two.
    pub(super) fn new<A: Arithmetic>(circuit: &Circuit, factor: &Factor) -> Option<Numbers> {
        let logs = circuit.log_parameters();
        let leaf = |part: &Part| if let Part::Leaf(weights) = part { *weights } else { [LOG_ZERO; 2] };
        let small = |log: f64| log > LOG_ZERO && A::is_small(A::of_log(log));
        let thetas: Vec<f64> = logs.elements.iter().map(|&log| A::of_log(log)).collect();
        let is_small = thetas.iter().any(|&theta| A::is_small(theta))
            || logs.tops.iter().flatten().any(|&log| small(log))
            || factor.parts.iter().flat_map(leaf).any(small)
            || factor.terms.iter().any(|&(_, _, log)| small(log));
        if is_small {
            return None;
        }
        let mut totals: Vec<f64> = Vec::with_capacity(circuit.nodes().len());
        for node in circuit.nodes() {
            let total = match *node {
                Node::Literal(_) | Node::Top { .. } => A::of_log(0.0),
                Node::Sum { start, end, .. } => (start as usize..end as usize).fold(A::ZERO, |sum, i| {
                    let element = circuit.elements()[i];
                    let [prime, sub] = [element.prime, element.sub].map(|id| totals[id.index()]);
                    A::add(sum, A::multiply(thetas[i], A::multiply(prime, sub)))
                }),
            };
            if A::is_small(total) {
                return None;
            }
            totals.push(total);
        }
        Some(Numbers {
            tops: logs.tops.iter().map(|top| top.map(A::of_log)).collect(),
            phis: factor.terms.iter().map(|&(_, _, log)| A::of_log(log)).collect(),
            leaves: factor.parts.iter().map(|part| leaf(part).map(A::of_log)).collect(),
            thetas,
            totals,
        })
    }

    /// How many bytes are in use.
    pub(super) fn bytes(&self) -> usize {
        let singles = self.thetas.len() + self.totals.len() + self.phis.len();
        8 * singles + 16 * (self.tops.len() + self.leaves.len())
    }

    /// As logarithms, which are never too small.
    pub(super) fn in_logs(circuit: &Circuit, factor: &Factor) -> Numbers {
        Numbers::new::<Logs>(circuit, factor).expect("no logarithm is too small")
    }

    /// The weights of *false* and *true* under a leaf times a leaf of the factor.
    pub(super) fn sides<A: Arithmetic>(&self, circuit: &Circuit, node: NodeId, part: u32) -> [f64; 2] {
        let weights = self.leaves[part as usize];
        match circuit.node(node) {
            Node::Literal(lit) => [false, true].map(|x| if x == lit.value { weights[usize::from(x)] } else { A::ZERO }),
            Node::Top { slot, .. } => [0, 1].map(|x| A::multiply(self.tops[slot as usize][x], weights[x])),
            Node::Sum { .. } => unreachable!("leaves of both are at leaves of the vtree"),
        }
    }

    /// The weight of an element times a term of the factor; no term is the constant one.
    pub(super) fn weight<A: Arithmetic>(&self, element: usize, term: Option<usize>) -> f64 {
        let theta = self.thetas[element];
        term.map_or(theta, |term| A::multiply(theta, self.phis[term]))
    }
}

/// 2⁻²⁰⁰: a product of four numbers that are not below it is a normal number.
const SMALL: f64 = f64::from_bits((1023 - 200) << 52);
