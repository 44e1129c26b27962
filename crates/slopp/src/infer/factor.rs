//! Factors of a product: a formula or another circuit, normalised for the vtree.

use crate::circuit::{Circuit, Node};
use crate::infer::QueryError;
use crate::limits::{array_bytes, table_bytes};
use crate::logic::{Sdd, SddId, SddNode};
use crate::logspace::LOG_ZERO;
use crate::vtree::VtreeId;
use rustc_hash::FxHashMap;

/// One node of a factor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The constant one, at any vtree node.
    Any,
    /// The log-weights of *false* and *true* of a variable.
    Leaf([f64; 2]),
    /// The products `start..end` of a prime and a sub; an empty range is the constant zero.
    Sum { start: u32, end: u32 },
}

/// A prime, a sub and a log-weight.
pub(super) type Term = (u32, u32, f64);

/// A function of worlds structured by a vtree: a formula with values zero and one, or a distribution.
///
/// Parts are at the vtree nodes where a circuit has its nodes; a trimmed formula is stretched over the vtree nodes it
/// skips. The first two parts are the constants one and zero.
pub(super) struct Factor {
    pub(super) parts: Vec<Part>,
    pub(super) terms: Vec<Term>,
    pub(super) root: u32,
    /// The vtree node of each part; meaningless for constants.
    pub(super) at: Vec<VtreeId>,
}

/// The part that is constantly one.
pub(super) const ANY: u32 = 0;
/// The part that is constantly zero.
const NEVER: u32 = 1;

impl Factor {
    /// A distribution.
    pub(super) fn of_circuit(circuit: &Circuit) -> Factor {
        let logs = circuit.log_parameters();
        let mut factor = Factor::constants(circuit.vtree().root());
        for node in circuit.nodes() {
            factor.parts.push(match *node {
                Node::Literal(lit) => Part::Leaf([false, true].map(|x| if x == lit.value { 0.0 } else { LOG_ZERO })),
                Node::Top { slot, .. } => Part::Leaf(logs.tops[slot as usize]),
                Node::Sum { start, end, .. } => Part::Sum { start, end },
            });
        }
        factor.at.extend(circuit.ids().map(|id| circuit.vtree_of(id)));
        // The constants come first.
        let terms = circuit.elements().iter().zip(&logs.elements);
        factor.terms = terms.map(|(e, &theta)| (e.prime.0 + 2, e.sub.0 + 2, theta)).collect();
        factor.root = circuit.root().0 + 2;
        factor
    }

    /// A formula: weight one for its worlds, zero for the others.
    ///
    /// The factor may be larger than the formula, for every vtree node skipped: `check` gets its parts and bytes.
    pub(super) fn of_formula(
        sdd: &Sdd,
        check: &mut dyn FnMut(usize, usize) -> Result<(), QueryError>,
    ) -> Result<Factor, QueryError> {
        let vtree = sdd.vtree();
        let mut factor = Factor::constants(vtree.root());
        let mut made: FxHashMap<(SddId, VtreeId), u32> = FxHashMap::default();
        let goal = (sdd.root(), vtree.root());
        let mut stack = vec![goal];
        let mut terms: Vec<[(SddId, VtreeId); 2]> = Vec::new();
        while let Some(&(id, v)) = stack.last() {
            if factor.known(sdd, &made, (id, v)).is_some() {
                stack.pop();
                continue;
            }
            terms.clear();
            let own = sdd.vtree_of(id);
            match (vtree.children(v), own) {
                (None, _) => {}
                (Some([left, right]), Some(own)) if own == v => {
                    terms.extend(sdd.elements_of(id).iter().map(|e| [(e.prime, left), (e.sub, right)]));
                }
                // A formula over one side: the other side is free.
                (Some([left, _]), Some(own)) if vtree.is_below(own, left) => terms.push([(id, left); 2]),
                (Some([_, right]), _) => terms.push([(id, right); 2]),
            }
            let waiting = stack.len();
            for &task in terms.iter().flatten() {
                if factor.known(sdd, &made, task).is_none() {
                    stack.push(task);
                }
            }
            if stack.len() > waiting {
                continue;
            }
            let part = match (sdd.node(id), own == Some(v)) {
                (SddNode::Literal(lit), true) => {
                    Part::Leaf([false, true].map(|x| if x == lit.value { 0.0 } else { LOG_ZERO }))
                }
                (_, at_home) => {
                    let start = factor.terms.len() as u32;
                    for [prime, sub] in &terms {
                        let [p, s] = [prime, sub].map(|&task| factor.known(sdd, &made, task).expect("just made"));
                        let term = match vtree.children(v) {
                            _ if at_home => (p, s, 0.0),
                            Some([left, _]) if prime.1 == left => (p, ANY, 0.0),
                            _ => (ANY, s, 0.0),
                        };
                        if !factor.is_never(term.0) && !factor.is_never(term.1) {
                            factor.terms.push(term);
                        }
                    }
                    Part::Sum { start, end: factor.terms.len() as u32 }
                }
            };
            made.insert((id, v), factor.parts.len() as u32);
            factor.parts.push(part);
            factor.at.push(v);
            stack.pop();
            check(factor.parts.len(), factor.bytes() + table_bytes(&made))?;
        }
        factor.root = factor.known(sdd, &made, goal).expect("the stack is empty");
        Ok(factor)
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> usize {
        array_bytes(&self.parts) + array_bytes(&self.terms) + array_bytes(&self.at)
    }

    fn constants(root: VtreeId) -> Factor {
        Factor {
            parts: vec![Part::Any, Part::Sum { start: 0, end: 0 }],
            terms: Vec::new(),
            root: ANY,
            at: vec![root; 2],
        }
    }

    fn known(&self, sdd: &Sdd, made: &FxHashMap<(SddId, VtreeId), u32>, task: (SddId, VtreeId)) -> Option<u32> {
        match sdd.node(task.0) {
            SddNode::True => Some(ANY),
            SddNode::False => Some(NEVER),
            _ => made.get(&task).copied(),
        }
    }

    fn is_never(&self, part: u32) -> bool {
        matches!(self.parts[part as usize], Part::Sum { start, end } if start == end)
    }
}
