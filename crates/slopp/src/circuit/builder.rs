//! Building circuits bottom-up, with every structural invariant checked.

use super::{Circuit, Element, Node, NodeId, Smoothing, Weights};
use crate::logspace::log_complement;
use crate::var::{Lit, Var};
use crate::vtree::{Vtree, VtreeId};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::Arc;

/// How far above zero a log-parameter may be and still count as zero.
pub(crate) const POSITIVE_TOLERANCE: f64 = 1e-6;

/// Whether a builder shares equal nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Nodes with the same elements and the same numbers become one node.
    #[default]
    Equal,
    /// Only literals are shared: the tree-shaped circuits that the paper counts.
    LiteralsOnly,
}

/// Builds a [`Circuit`] node by node, children first.
///
/// The numbers of ⊤ and elements are all log-parameters or all counts; the finishing call says which.
///
/// ```
/// use slopp::{Builder, Sharing, Var, Vtree};
/// let vtree = Vtree::balanced(2);
/// let root = vtree.root();
/// let mut builder = Builder::new(vtree, Sharing::Equal);
/// let x = builder.literal(Var(0).is(true))?;
/// let not_x = builder.literal(Var(0).is(false))?;
/// let y = builder.literal(Var(1).is(true))?;
/// let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
/// let sum = builder.sum(root, &[(x, y, 0.5f64.ln()), (not_x, any, 0.5f64.ln())])?;
/// let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
/// assert!((psdd.log_probability(&[true, true])?.exp() - 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    vtree: Arc<Vtree>,
    sharing: Sharing,
    nodes: Vec<Node>,
    elements: Vec<Element>,
    numbers: Weights,
    literals: Vec<[Option<NodeId>; 2]>,
    /// Nodes by the hash of their content.
    shared: FxHashMap<u64, NodeId>,
}

impl Builder {
    /// A builder without nodes.
    pub fn new(vtree: impl Into<Arc<Vtree>>, sharing: Sharing) -> Builder {
        let vtree = vtree.into();
        Builder {
            literals: vec![[None; 2]; vtree.var_count()],
            vtree,
            sharing,
            nodes: Vec::new(),
            elements: Vec::new(),
            numbers: Weights::default(),
            shared: FxHashMap::default(),
        }
    }

    /// The vtree.
    pub fn vtree(&self) -> &Arc<Vtree> {
        &self.vtree
    }

    /// The number of nodes so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no nodes yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node of a literal; the same literal is always the same node.
    pub fn literal(&mut self, lit: Lit) -> Result<NodeId, BuildError> {
        self.check_var(lit.var)?;
        if let Some(id) = self.literals[lit.var.index()][usize::from(lit.value)] {
            return Ok(id);
        }
        let id = self.push(Node::Literal(lit))?;
        self.literals[lit.var.index()][usize::from(lit.value)] = Some(id);
        Ok(id)
    }

    /// A ⊤ node with the numbers of *false* and *true*.
    pub fn top(&mut self, var: Var, numbers: [f64; 2]) -> Result<NodeId, BuildError> {
        self.check_var(var)?;
        let hash = FxBuildHasher.hash_one((var, numbers.map(f64::to_bits)));
        let same = |node| matches!(node, Node::Top { var: v, slot } if v == var && self.numbers.tops[slot as usize] == numbers);
        if let Some(id) = self.find_shared(hash, same) {
            return Ok(id);
        }
        let slot = u32::try_from(self.numbers.tops.len()).map_err(|_| BuildError::TooLarge)?;
        self.numbers.tops.push(numbers);
        let id = self.push(Node::Top { var, slot })?;
        self.remember(hash, id);
        Ok(id)
    }

    /// A sum at an inner vtree node over elements `(prime, sub, number)`; their order is kept.
    pub fn sum(&mut self, vtree: VtreeId, elements: &[(NodeId, NodeId, f64)]) -> Result<NodeId, BuildError> {
        self.check_elements(vtree, elements)?;
        let mut hash = 0;
        if self.sharing == Sharing::Equal {
            let sorted = sorted(elements.iter().copied());
            hash = FxBuildHasher.hash_one((vtree, &sorted));
            let same = |node| matches!(node, Node::Sum { vtree: v, start, end } if v == vtree && self.sorted_elements(start, end) == sorted);
            if let Some(id) = self.find_shared(hash, same) {
                return Ok(id);
            }
        }
        let start = self.elements.len() as u32;
        self.elements.extend(elements.iter().map(|&(prime, sub, _)| Element { prime, sub }));
        self.numbers.elements.extend(elements.iter().map(|&(_, _, number)| number));
        let end = u32::try_from(self.elements.len()).map_err(|_| BuildError::TooLarge)?;
        let id = self.push(Node::Sum { vtree, start, end })?;
        self.remember(hash, id);
        Ok(id)
    }

    /// The circuit below `root`, with the numbers taken as log-parameters.
    pub fn finish(self, root: NodeId) -> Result<Circuit, BuildError> {
        let mut circuit = self.arrange(root)?.0;
        let parameters = &mut circuit.log_parameters;
        for top in &mut parameters.tops {
            *top = log_top(check_parameter(top[0])?, check_parameter(top[1])?);
            check_parameter(top[0])?;
            check_parameter(top[1])?;
        }
        for theta in &mut parameters.elements {
            *theta = check_parameter(*theta)?;
        }
        Ok(circuit)
    }

    /// As [`Builder::finish`]; also returns the new id of every node, `None` for those that are not below the root.
    pub fn finish_with_ids(self, root: NodeId) -> Result<(Circuit, Vec<Option<NodeId>>), BuildError> {
        let ids = self.order(root)?.1;
        Ok((self.finish(root)?, ids))
    }

    /// The circuit below `root`, with the numbers taken as counts of records, which are kept.
    ///
    /// Without a pseudocount in the smoothing, parts with count zero are dropped: they are impossible.
    pub(crate) fn finish_counts(self, root: NodeId, smoothing: &Smoothing) -> Result<Circuit, BuildError> {
        let (circuit, counts) = self.finish_numbers(root)?;
        circuit.with_estimates(counts, smoothing)
    }

    /// The circuit below `root`, without parameters, and its numbers.
    pub(super) fn finish_numbers(self, root: NodeId) -> Result<(Circuit, Weights), BuildError> {
        let mut circuit = self.arrange(root)?.0;
        let numbers = std::mem::take(&mut circuit.log_parameters);
        Ok((circuit, numbers))
    }

    fn push(&mut self, node: Node) -> Result<NodeId, BuildError> {
        let id = u32::try_from(self.nodes.len()).map_err(|_| BuildError::TooLarge)?;
        self.nodes.push(node);
        Ok(NodeId(id))
    }

    /// A node with this hash and content: of two nodes with one hash only the later is found again.
    fn find_shared(&self, hash: u64, same: impl Fn(Node) -> bool) -> Option<NodeId> {
        let id = self.shared.get(&hash).copied().filter(|_| self.sharing == Sharing::Equal)?;
        same(self.nodes[id.index()]).then_some(id)
    }

    fn remember(&mut self, hash: u64, id: NodeId) {
        if self.sharing == Sharing::Equal {
            self.shared.insert(hash, id);
        }
    }

    fn sorted_elements(&self, start: u32, end: u32) -> Vec<(NodeId, NodeId, u64)> {
        let range = start as usize..end as usize;
        let numbers = &self.numbers.elements[range.clone()];
        sorted(self.elements[range].iter().zip(numbers).map(|(e, &number)| (e.prime, e.sub, number)))
    }

    fn check_var(&self, var: Var) -> Result<(), BuildError> {
        let len = self.vtree.var_count();
        if var.index() < len { Ok(()) } else { Err(BuildError::UnknownVariable { var, len }) }
    }

    fn check_elements(&self, vtree: VtreeId, elements: &[(NodeId, NodeId, f64)]) -> Result<(), BuildError> {
        if vtree.is_leaf() || vtree.index() >= self.vtree.node_count() {
            return Err(BuildError::NotInner(vtree));
        }
        let [left, right] = self.vtree.children(vtree).expect("inner");
        if elements.is_empty() {
            return Err(BuildError::NoElements);
        }
        for (element, &(prime, sub, _)) in elements.iter().enumerate() {
            for (role, child, expected) in [("prime", prime, left), ("sub", sub, right)] {
                let found = self.vtree_of(child)?;
                if found != expected {
                    return Err(BuildError::WrongVtree { element, role, expected, found });
                }
            }
        }
        let mut order: Vec<_> = elements.iter().enumerate().map(|(i, &(p, s, _))| (p, s, i)).collect();
        order.sort_unstable();
        match order.windows(2).find(|w| (w[0].0, w[0].1) == (w[1].0, w[1].1)) {
            Some(w) => Err(BuildError::RepeatedElement { first: w[0].2, second: w[1].2 }),
            None => Ok(()),
        }
    }

    fn vtree_of(&self, id: NodeId) -> Result<VtreeId, BuildError> {
        match *self.nodes.get(id.index()).ok_or(BuildError::UnknownChild)? {
            Node::Literal(lit) => Ok(self.vtree.leaf(lit.var)),
            Node::Top { var, .. } => Ok(self.vtree.leaf(var)),
            Node::Sum { vtree, .. } => Ok(vtree),
        }
    }

    /// The reachable nodes in layer order, the new id of each node, and the layer bounds.
    #[allow(clippy::type_complexity)]
    fn order(&self, root: NodeId) -> Result<(Vec<NodeId>, Vec<Option<NodeId>>, Vec<u32>), BuildError> {
        let (expected, found) = (self.vtree.root(), self.vtree_of(root)?);
        if expected != found {
            return Err(BuildError::WrongRoot { expected, found });
        }
        let mut reached = vec![false; self.nodes.len()];
        reached[root.index()] = true;
        for i in (0..self.nodes.len()).rev().filter(|&i| i <= root.index()) {
            if let (true, Node::Sum { start, end, .. }) = (reached[i], self.nodes[i]) {
                for element in &self.elements[start as usize..end as usize] {
                    reached[element.prime.index()] = true;
                    reached[element.sub.index()] = true;
                }
            }
        }
        // Counting sort by the rank of the vtree node: stable, so equal input gives equal bytes.
        let rank = |i: usize| self.vtree_of(NodeId(i as u32)).map(|v| self.vtree.rank(v));
        let mut layers = vec![0u32; self.vtree.node_count() + 1];
        for i in (0..self.nodes.len()).filter(|&i| reached[i]) {
            layers[rank(i)? + 1] += 1;
        }
        for r in 1..layers.len() {
            layers[r] += layers[r - 1];
        }
        let mut next = layers.clone();
        let mut new_ids = vec![None; self.nodes.len()];
        let mut order = vec![NodeId(0); layers[layers.len() - 1] as usize];
        for i in (0..self.nodes.len()).filter(|&i| reached[i]) {
            let place = &mut next[rank(i)?];
            order[*place as usize] = NodeId(i as u32);
            new_ids[i] = Some(NodeId(*place));
            *place += 1;
        }
        Ok((order, new_ids, layers))
    }

    fn arrange(self, root: NodeId) -> Result<(Circuit, Vec<Option<NodeId>>), BuildError> {
        let (order, new_ids, layers) = self.order(root)?;
        let new_id = |old: NodeId| new_ids[old.index()].expect("children of reached nodes are reached");
        let mut circuit = Circuit {
            vtree: self.vtree.clone(),
            nodes: Vec::with_capacity(order.len()),
            elements: Vec::with_capacity(self.elements.len()),
            log_parameters: Weights::default(),
            counts: None,
            layers,
        };
        let numbers = &mut circuit.log_parameters;
        for old in order {
            circuit.nodes.push(match self.nodes[old.index()] {
                Node::Literal(lit) => Node::Literal(lit),
                Node::Top { var, slot } => {
                    numbers.tops.push(self.numbers.tops[slot as usize]);
                    Node::Top { var, slot: numbers.tops.len() as u32 - 1 }
                }
                Node::Sum { vtree, start, end } => {
                    let range = start as usize..end as usize;
                    let first = circuit.elements.len() as u32;
                    let moved = |e: &Element| Element { prime: new_id(e.prime), sub: new_id(e.sub) };
                    circuit.elements.extend(self.elements[range.clone()].iter().map(moved));
                    numbers.elements.extend(&self.numbers.elements[range]);
                    Node::Sum { vtree, start: first, end: circuit.elements.len() as u32 }
                }
            });
        }
        Ok((circuit, new_ids))
    }
}

/// Elements in the order of their children, numbers as bits: equal for equal sums.
fn sorted(elements: impl Iterator<Item = (NodeId, NodeId, f64)>) -> Vec<(NodeId, NodeId, u64)> {
    let mut elements: Vec<_> = elements.map(|(prime, sub, number)| (prime, sub, number.to_bits())).collect();
    elements.sort_unstable();
    elements
}

/// The two log-parameters of a ⊤ node, exactly complementary: the smaller one is kept, being the more precise.
pub(crate) fn log_top(log_false: f64, log_true: f64) -> [f64; 2] {
    // Files keep ln P(true) only, so the other number is computed from it.
    if log_false == log_complement(log_true) {
        return [log_false, log_true];
    }
    let log_true = if log_false < log_true { log_complement(log_false) } else { log_true };
    [log_complement(log_true), log_true]
}

pub(super) fn check_parameter(value: f64) -> Result<f64, BuildError> {
    if value.is_finite() && value <= POSITIVE_TOLERANCE {
        Ok(value.min(0.0))
    } else {
        Err(BuildError::Parameter { value })
    }
}

/// The invariant of [`Circuit`](super::Circuit) that a node would break.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A variable is not in the vtree.
    #[error("variable {} is not in the vtree, which has {} variables", .var.number(), .len)]
    UnknownVariable {
        /// The variable.
        var: Var,
        /// The number of variables of the vtree.
        len: usize,
    },
    /// A sum at a leaf (invariant 2).
    #[error("a sum needs an inner vtree node, and {} is {}", .0.0, if .0.is_leaf() { "a leaf" } else { "not in the vtree" })]
    NotInner(VtreeId),
    /// A child does not exist yet (invariant 1).
    #[error("a child is used before it is made")]
    UnknownChild,
    /// A prime or sub sits at another vtree node than it should (invariant 2).
    #[error("element {element}: its {role} is for vtree node {}, but must be for {}", .found.0, .expected.0)]
    WrongVtree {
        /// Position of the element, from zero.
        element: usize,
        /// "prime" or "sub".
        role: &'static str,
        /// The right vtree node.
        expected: VtreeId,
        /// The vtree node found.
        found: VtreeId,
    },
    /// A sum without elements (invariant 3).
    #[error("a sum needs at least one element")]
    NoElements,
    /// The same prime and sub twice (invariant 3).
    #[error("elements {first} and {second} have the same prime and the same sub")]
    RepeatedElement {
        /// Position of the first, from zero.
        first: usize,
        /// Position of the second.
        second: usize,
    },
    /// A log-parameter is not a finite number of at most zero (invariant 4).
    #[error("{value} is not a log-parameter: it must be finite and at most zero")]
    Parameter {
        /// The number.
        value: f64,
    },
    /// The root is not for the root of the vtree (invariant 6).
    #[error("the root is for vtree node {}, but must be for the root {}, to have all variables", .found.0, .expected.0)]
    WrongRoot {
        /// The root of the vtree.
        expected: VtreeId,
        /// Where the root of the circuit is.
        found: VtreeId,
    },
    /// A pseudocount is out of range.
    #[error("the pseudocount is {0}, but must be a finite number of at least 0")]
    Pseudocount(f64),
    /// A pseudocount is so small that a parameter would be zero.
    #[error(
        "the pseudocount {0:e} is too small: parameters would round to zero; take a larger one, or 0 in a closed world"
    )]
    SmallPseudocount(f64),
    /// A prior is for another number of variables.
    #[error(
        "the prior is for {found} variables, but the circuit has {expected}; make it from records of the same variables"
    )]
    PriorLength {
        /// The variables of the circuit.
        expected: usize,
        /// The variables of the prior.
        found: usize,
    },
    /// A prior probability is not strictly between zero and one.
    #[error("the prior of variable {} is {}, but must be above 0 and below 1", .var.number(), .value)]
    Prior {
        /// The variable.
        var: Var,
        /// Its prior.
        value: f64,
    },
    /// Too many nodes or elements for 32-bit ids.
    #[error("a circuit can have at most {} nodes and elements", u32::MAX)]
    TooLarge,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (Builder, NodeId, NodeId, VtreeId) {
        let vtree = Vtree::balanced(2);
        let root = vtree.root();
        let mut builder = Builder::new(vtree, Sharing::Equal);
        let x = builder.literal(Var(0).is(true)).unwrap();
        let y = builder.literal(Var(1).is(true)).unwrap();
        (builder, x, y, root)
    }

    #[test]
    fn every_structural_invariant_is_checked() {
        let (mut b, x, y, root) = two();
        assert_eq!(b.sum(root, &[]), Err(BuildError::NoElements));
        assert_eq!(b.sum(VtreeId(0), &[(x, y, 0.0)]), Err(BuildError::NotInner(VtreeId(0))));
        assert_eq!(b.sum(VtreeId(9), &[(x, y, 0.0)]), Err(BuildError::NotInner(VtreeId(9))));
        assert_eq!(b.sum(root, &[(x, NodeId(7), 0.0)]), Err(BuildError::UnknownChild));
        assert_eq!(b.sum(root, &[(x, y, 0.0), (x, y, 0.0)]), Err(BuildError::RepeatedElement { first: 0, second: 1 }));
        assert!(matches!(b.sum(root, &[(y, y, 0.0)]), Err(BuildError::WrongVtree { role: "prime", .. })));
        assert!(matches!(b.sum(root, &[(x, x, 0.0)]), Err(BuildError::WrongVtree { role: "sub", .. })));
        assert!(matches!(b.literal(Var(2).is(true)), Err(BuildError::UnknownVariable { .. })));
        assert!(matches!(b.clone().finish(x), Err(BuildError::WrongRoot { .. })));
        for value in [f64::NAN, f64::NEG_INFINITY, 0.1] {
            let mut b = b.clone();
            let sum = b.sum(root, &[(x, y, value)]).unwrap();
            assert!(matches!(b.finish(sum), Err(BuildError::Parameter { .. })), "{value}");
        }
    }

    #[test]
    fn equal_nodes_are_shared_and_unreached_ones_dropped() {
        let (mut b, x, y, root) = two();
        let top = b.top(Var(1), [0.5f64.ln(); 2]).unwrap();
        assert_eq!(b.top(Var(1), [0.5f64.ln(); 2]).unwrap(), top);
        let not_x = b.literal(Var(0).is(false)).unwrap();
        let half = 0.5f64.ln();
        let one = b.sum(root, &[(x, y, half), (not_x, y, half)]).unwrap();
        assert_eq!(b.sum(root, &[(not_x, y, half), (x, y, half)]).unwrap(), one);
        let circuit = b.finish(one).unwrap();
        assert_eq!(circuit.nodes().len(), 4);
        assert_eq!(circuit.root(), NodeId(3));
        assert_eq!(circuit.layer(root), 3..4);
        assert_eq!(circuit.vtree_of(NodeId(2)), VtreeId(2));
    }

    #[test]
    fn counts_become_maximum_likelihood() {
        let (mut b, x, y, root) = two();
        let not_x = b.literal(Var(0).is(false)).unwrap();
        let top = b.top(Var(1), [1.0, 3.0]).unwrap();
        let sum = b.sum(root, &[(x, y, 1.0), (not_x, top, 4.0)]).unwrap();
        let circuit = b.finish_counts(sum, &Smoothing::none()).unwrap();
        assert!((circuit.log_parameters().elements[1].exp() - 0.8).abs() < 1e-15);
        assert!((circuit.log_parameters().tops[0][1].exp() - 0.75).abs() < 1e-15);
        assert_eq!(circuit.counts().unwrap().elements, [1.0, 4.0]);
    }

    #[test]
    fn tops_stay_complementary() {
        let [f, t] = log_top(0.0, -13.815511);
        assert_eq!(t, -13.815511);
        assert_eq!(f, log_complement(t));
        let [f, t] = log_top(-13.815511, 0.0);
        assert!((f + 13.815511).abs() < 1e-12 && t < 0.0);
    }
}
