//! Sentential Decision Diagrams: formulas structured by a vtree, and their model counts.

use crate::var::{Lit, Var};
use crate::vtree::{Vtree, VtreeId};
use num_bigint::BigUint;
use std::ops::Range;
use std::sync::Arc;

/// A node of an SDD, by its position: children come before parents, the root is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SddId(pub(crate) u32);

impl SddId {
    /// The position of this node in arrays over nodes.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SddNode {
    /// No world.
    False,
    /// Every world.
    True,
    /// The worlds where the literal holds.
    Literal(Lit),
    /// The worlds where the prime and the sub of one of the elements `start..end` hold.
    Decision {
        /// The inner vtree node.
        vtree: VtreeId,
        /// First element.
        start: u32,
        /// One past the last element.
        end: u32,
    },
}

/// A conjunction of a prime, over left variables, and a sub, over right variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SddElement {
    /// The formula over the left variables.
    pub(crate) prime: SddId,
    /// The formula over the right variables.
    pub(crate) sub: SddId,
}

/// A formula as a trimmed SDD: constants and literals fit anywhere, decisions skip vtree nodes.
///
/// Stored as flat arrays like a [`crate::Circuit`].
///
/// # Invariants
/// 1. Children come before parents, the root is last.
/// 2. The primes of a decision at vtree node `v` have variables below its left child only, its subs below its right
///    child only; either may be constant.
/// 3. The primes of a decision are exclusive and cover everything, so a circuit given a diagram keeps its certificate.
///    Readers prove this; managers guarantee it.
///
/// ```
/// use slopp::logic::{Formula, Limits, Sdd};
/// use slopp::{Names, Vtree};
/// let formula = Formula::parse("x1 -> x3", &Names::numbered(3))?;
/// let sdd = formula.compile(Vtree::balanced(3), &Limits::default())?;
/// assert_eq!(sdd.model_count(), 6u32.into());
/// let uniform = sdd.to_circuit()?.certify(&Limits::default())?;
/// assert_eq!(Sdd::base_of(&uniform, 1_000_000)?.model_count(), 6u32.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Reference: A. Darwiche, SDD: A New Canonical Representation of Propositional Knowledge Bases, IJCAI 2011.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sdd {
    vtree: Arc<Vtree>,
    nodes: Vec<SddNode>,
    elements: Vec<SddElement>,
}

/// A node that breaks an invariant of [`Sdd`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node {}: {fault}", .node.0)]
pub(crate) struct SddError {
    /// The node.
    pub(crate) node: SddId,
    /// What is wrong with it.
    pub(crate) fault: SddFault,
}

/// What is wrong with a node of an SDD.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SddFault {
    /// There are no nodes at all.
    #[error("an SDD needs at least one node")]
    Empty,
    /// A variable is not in the vtree.
    #[error("variable {} is not in the vtree", .0.number())]
    UnknownVariable(Var),
    /// A decision at a leaf, or at no node of the vtree.
    #[error("a decision needs an inner vtree node, and {} is not one", .0.0)]
    NotInner(VtreeId),
    /// A child does not come before its parent, or the elements do not exist (invariant 1).
    #[error("children must come before parents")]
    Order,
    /// A decision without elements.
    #[error("a decision needs at least one element")]
    NoElements,
    /// A prime or sub with variables of the other side (invariant 2).
    #[error("the {role} of element {element} has variables that are not below the {side} child", side = if *.role == "prime" { "left" } else { "right" })]
    WrongSide {
        /// Position of the element, from one.
        element: usize,
        /// "prime" or "sub".
        role: &'static str,
    },
    /// Two primes of a decision share a world (invariant 3).
    #[error("the primes of its elements {} and {} share a world, and primes must be exclusive", .elements.0, .elements.1)]
    Overlap {
        /// Positions of the elements, from one.
        elements: (usize, usize),
    },
    /// The primes of a decision do not cover everything (invariant 3).
    #[error(
        "its primes leave out some worlds of the variables below the left child, and primes must cover all of them"
    )]
    NotExhaustive,
}

impl Sdd {
    /// Checks invariants 1 and 2; the third is promised by the caller, or proved next.
    pub(crate) fn promised(
        vtree: impl Into<Arc<Vtree>>,
        nodes: Vec<SddNode>,
        elements: Vec<SddElement>,
    ) -> Result<Sdd, SddError> {
        let sdd = Sdd { vtree: vtree.into(), nodes, elements };
        if sdd.nodes.is_empty() {
            return Err(SddError { node: SddId(0), fault: SddFault::Empty });
        }
        for node in sdd.ids() {
            sdd.check(node).map_err(|fault| SddError { node, fault })?;
        }
        Ok(sdd)
    }

    /// The vtree.
    pub fn vtree(&self) -> &Arc<Vtree> {
        &self.vtree
    }

    /// All nodes, children before parents.
    pub(crate) fn nodes(&self) -> &[SddNode] {
        &self.nodes
    }

    /// One node.
    pub(crate) fn node(&self, id: SddId) -> SddNode {
        self.nodes[id.index()]
    }

    /// The ids of all nodes, children before parents.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = SddId> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(SddId)
    }

    /// The root: the last node.
    pub(crate) fn root(&self) -> SddId {
        SddId(self.nodes.len() as u32 - 1)
    }

    /// The elements of a decision; none for other nodes.
    pub(crate) fn elements_of(&self, id: SddId) -> &[SddElement] {
        &self.elements[self.element_range(id)]
    }

    /// The vtree node of a decision or literal; `None` for constants.
    pub(crate) fn vtree_of(&self, id: SddId) -> Option<VtreeId> {
        match self.node(id) {
            SddNode::False | SddNode::True => None,
            SddNode::Literal(lit) => Some(self.vtree.leaf(lit.var)),
            SddNode::Decision { vtree, .. } => Some(vtree),
        }
    }

    /// Whether a complete world satisfies the formula.
    ///
    /// # Panics
    /// If the world does not have one value per variable.
    pub fn is_satisfied_by(&self, world: &[bool]) -> bool {
        assert_eq!(world.len(), self.vtree.var_count(), "one value per variable");
        let mut values = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            values.push(match node {
                SddNode::False => false,
                SddNode::True => true,
                SddNode::Literal(lit) => world[lit.var.index()] == lit.value,
                SddNode::Decision { start, end, .. } => self.elements[start as usize..end as usize]
                    .iter()
                    .any(|e| values[e.prime.index()] && values[e.sub.index()]),
            });
        }
        values[self.root().index()]
    }

    /// The numbers of decisions and of their elements: the size in libsdd's terms.
    pub fn size(&self) -> (usize, usize) {
        let decisions = self.nodes.iter().filter(|n| matches!(n, SddNode::Decision { .. })).count();
        (decisions, self.elements.len())
    }

    fn element_range(&self, id: SddId) -> Range<usize> {
        match self.node(id) {
            SddNode::Decision { start, end, .. } => start as usize..end as usize,
            _ => 0..0,
        }
    }

    fn check(&self, id: SddId) -> Result<(), SddFault> {
        let (vtree, start, end) = match self.node(id) {
            SddNode::False | SddNode::True => return Ok(()),
            SddNode::Literal(lit) if lit.var.index() < self.vtree.var_count() => return Ok(()),
            SddNode::Literal(lit) => return Err(SddFault::UnknownVariable(lit.var)),
            SddNode::Decision { vtree, start, end } => (vtree, start as usize, end as usize),
        };
        if vtree.is_leaf() || vtree.index() >= self.vtree.node_count() {
            return Err(SddFault::NotInner(vtree));
        }
        let [left, right] = self.vtree.children(vtree).expect("inner");
        if start == end {
            return Err(SddFault::NoElements);
        }
        let elements = self.elements.get(start..end).ok_or(SddFault::Order)?;
        for (i, element) in elements.iter().enumerate() {
            for (role, child, side) in [("prime", element.prime, left), ("sub", element.sub, right)] {
                if child >= id {
                    return Err(SddFault::Order);
                }
                if self.vtree_of(child).is_some_and(|v| !self.vtree.is_below(v, side)) {
                    return Err(SddFault::WrongSide { element: i + 1, role });
                }
            }
        }
        Ok(())
    }
}

impl Sdd {
    /// The number of worlds over all variables of the vtree that satisfy the formula.
    ///
    /// Cost: one multiplication of big integers per element.
    pub fn model_count(&self) -> BigUint {
        let counts = self.counts();
        counts[self.root().index()].clone() << self.gap(self.root(), self.vtree().root())
    }

    /// For each node, the number of satisfying assignments of the variables below its own vtree node; for constants,
    /// of no variables.
    pub(super) fn counts(&self) -> Vec<BigUint> {
        let mut counts: Vec<BigUint> = Vec::with_capacity(self.nodes().len());
        for id in self.ids() {
            counts.push(match self.node(id) {
                SddNode::False => BigUint::ZERO,
                SddNode::True | SddNode::Literal(_) => BigUint::from(1u32),
                SddNode::Decision { vtree, .. } => {
                    let mut sum = BigUint::ZERO;
                    for e in self.elements_of(id) {
                        let product = &counts[e.prime.index()] * &counts[e.sub.index()];
                        sum += product << self.element_gap(vtree, e.prime, e.sub);
                    }
                    sum
                }
            });
        }
        counts
    }

    /// How many variables below `v` are outside the vtree node of a node: each doubles the count.
    pub(super) fn gap(&self, id: SddId, v: VtreeId) -> usize {
        self.vtree().vars(v).len() - self.vtree_of(id).map_or(0, |own| self.vtree().vars(own).len())
    }

    /// The gaps of a prime and a sub below an inner vtree node together.
    pub(super) fn element_gap(&self, v: VtreeId, prime: SddId, sub: SddId) -> usize {
        let [left, right] = self.vtree().children(v).expect("decisions are at inner nodes");
        self.gap(prime, left) + self.gap(sub, right)
    }
}
