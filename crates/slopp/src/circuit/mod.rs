//! Circuits: the central data structure, its builder, its certificate and its statistics.
//!
//! Three types carry the theory, each a stronger promise than the one before: [`Circuit`] is smooth and
//! structured-decomposable, [`Deterministic`] has exclusive *elements* (every world has at most one derivation),
//! [`Psdd`] has exclusive *primes*. A query is a method of the weakest type that suffices.

mod builder;
mod certify;
mod deterministic;
mod parameters;
mod search;
mod sets;

pub(crate) use self::parameters::left_out;
pub(crate) use builder::POSITIVE_TOLERANCE;
pub use builder::{BuildError, Builder, Sharing};
pub use certify::{Overlap, Overlaps, Reason, Refusal};
pub(crate) use deterministic::Certificate;
pub use deterministic::{Deterministic, Psdd};
pub(crate) use parameters::merge_equal;
pub use parameters::{Smoothing, Weights};

use crate::var::{Lit, Var};
use crate::vtree::{Vtree, VtreeId};
use std::ops::Range;
use std::sync::Arc;

/// A node of a circuit, by its position: children come before parents, the root is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The position of this node in arrays over nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A literal: the variable certainly has this value.
    Literal(Lit),
    /// ⊤: the variable may have both values; its parameters are at `slot` of [`Weights::tops`].
    Top {
        /// The variable.
        var: Var,
        /// The place of its two parameters.
        slot: u32,
    },
    /// A sum over the elements `start..end`, normalised for an inner vtree node.
    Sum {
        /// The inner vtree node.
        vtree: VtreeId,
        /// First element.
        start: u32,
        /// One past the last element.
        end: u32,
    },
}

/// A product `(prime, sub)` below a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Element {
    /// The factor over the left variables.
    pub prime: NodeId,
    /// The factor over the right variables.
    pub sub: NodeId,
}

/// A smooth, structured-decomposable probabilistic circuit over a vtree.
///
/// # How it is stored
/// Flat arrays that own their memory: nodes, elements addressed by ranges, and log-parameters parallel to both.
/// Nodes are grouped by vtree node, in [`Vtree::bottom_up`] order, so every query is one loop up or down over
/// contiguous memory and no query recurses.
///
/// # Invariants
/// 1. Children come before parents, the root is last, every node is reachable from it.
/// 2. The primes of a sum at vtree node `v` are normalised for the left child of `v`, its subs for the right child.
/// 3. A sum has at least one element, and no element twice.
/// 4. Log-parameters are finite and at most zero: nothing is dead, so the support of the distribution is the base,
///    the Boolean formula of the circuit.
/// 5. The parameters of ⊤ add up to one, up to rounding; for those of a sum see [`Circuit::parameter_faults`].
/// 6. The root is normalised for the root of the vtree.
///
/// The distribution is the mixture `P(x,y) = Σᵢ θᵢ Pᵢ(x) Qᵢ(y)` over *all* elements of a sum. With exclusive primes
/// ([`Psdd`]) at most one term is not zero, which is the definition of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuit {
    vtree: Arc<Vtree>,
    nodes: Vec<Node>,
    elements: Vec<Element>,
    log_parameters: Weights,
    counts: Option<Weights>,
    /// First node of each vtree node, by rank, and the end.
    layers: Vec<u32>,
}

impl Circuit {
    /// The vtree this circuit is structured by.
    pub fn vtree(&self) -> &Arc<Vtree> {
        &self.vtree
    }

    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.vtree.var_count()
    }

    /// All nodes, children before parents.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// The ids of all nodes, children before parents.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The root: the last node.
    pub fn root(&self) -> NodeId {
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// All elements; a sum owns a range of them.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// The elements of a sum with their log-parameters; none for other nodes.
    pub fn elements_of(&self, id: NodeId) -> impl ExactSizeIterator<Item = (Element, f64)> + Clone {
        let range = self.element_range(id);
        self.elements[range.clone()].iter().copied().zip(self.log_parameters.elements[range].iter().copied())
    }

    /// The range of a sum's elements; empty for other nodes.
    pub fn element_range(&self, id: NodeId) -> Range<usize> {
        match self.node(id) {
            Node::Sum { start, end, .. } => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The vtree node a node is normalised for.
    pub fn vtree_of(&self, id: NodeId) -> VtreeId {
        match self.node(id) {
            Node::Literal(lit) => self.vtree.leaf(lit.var),
            Node::Top { var, .. } => self.vtree.leaf(var),
            Node::Sum { vtree, .. } => vtree,
        }
    }

    /// The nodes normalised for a vtree node: they are contiguous.
    pub fn layer(&self, v: VtreeId) -> Range<usize> {
        let rank = self.vtree.rank(v);
        self.layers[rank] as usize..self.layers[rank + 1] as usize
    }

    /// The largest number of nodes of an inner vtree node.
    pub fn most_classes(&self) -> usize {
        let inner = self.vtree.bottom_up().iter().filter(|v| !v.is_leaf());
        inner.map(|&v| self.layer(v).len()).max().unwrap_or(0)
    }

    /// The natural logarithms of the parameters.
    pub fn log_parameters(&self) -> &Weights {
        &self.log_parameters
    }

    /// How many training records used each parameter, if known.
    pub fn counts(&self) -> Option<&Weights> {
        self.counts.as_ref()
    }

    /// The same circuit with these counts, or `None` if they have another shape.
    pub fn with_counts(mut self, counts: Weights) -> Option<Circuit> {
        let fits = counts.same_shape(&self.log_parameters);
        self.counts = Some(counts);
        fits.then_some(self)
    }

    /// The same circuit without counts.
    pub(crate) fn without_counts(mut self) -> Circuit {
        self.counts = None;
        self
    }

    /// The same structure with exactly these log-parameters, for readers that must not round; `None` if their shape
    /// differs or they break invariant 4.
    pub(crate) fn with_log_parameters(mut self, log_parameters: Weights) -> Option<Circuit> {
        let valid = |log: &f64| log.is_finite() && *log <= 0.0;
        let fits = log_parameters.same_shape(&self.log_parameters)
            && log_parameters.tops.iter().flatten().chain(&log_parameters.elements).all(valid);
        self.log_parameters = log_parameters;
        fits.then_some(self)
    }

    /// Whether both have the same vtree, nodes and elements, whatever their parameters.
    pub fn same_structure(&self, other: &Circuit) -> bool {
        self.vtree == other.vtree && self.nodes == other.nodes && self.elements == other.elements
    }
}

/// How far the total of the parameters of a sum may be from one: files with six decimals are within it.
pub const PARAMETER_TOLERANCE: f64 = 1e-5;

/// Sizes of a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Nodes in memory: literals, ⊤ and sums.
    pub nodes: usize,
    /// Sum nodes.
    pub sums: usize,
    /// Elements of all sums: the size in other libraries.
    pub elements: usize,
    /// ⊤ nodes.
    pub tops: usize,
    /// Literal nodes, all distinct.
    pub literals: usize,
    /// Parameters as other libraries count them: one per element and two per ⊤.
    pub parameters: usize,
    /// The size |C| of the paper's tables: sums + elements + ⊤ + distinct literals.
    pub size_paper: usize,
}

/// A sum whose parameters do not add up to one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParameterFault {
    /// The sum.
    pub node: NodeId,
    /// What its parameters add up to.
    pub total: f64,
}

impl Circuit {
    /// The sizes of this circuit.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats { nodes: self.nodes.len(), elements: self.elements.len(), ..Stats::default() };
        for node in &self.nodes {
            match node {
                Node::Literal(_) => stats.literals += 1,
                Node::Top { .. } => stats.tops += 1,
                Node::Sum { .. } => stats.sums += 1,
            }
        }
        stats.parameters = stats.elements + 2 * stats.tops;
        stats.size_paper = stats.sums + stats.elements + stats.tops + stats.literals;
        stats
    }

    /// The sums whose parameters add up to a total further than `tolerance` from one; see [`PARAMETER_TOLERANCE`].
    pub fn parameter_faults(&self, tolerance: f64) -> Vec<ParameterFault> {
        let sums = self.ids().filter(|&id| matches!(self.node(id), Node::Sum { .. }));
        let totals =
            sums.map(|node| ParameterFault { node, total: self.elements_of(node).map(|(_, x)| x.exp()).sum() });
        totals.filter(|fault| (fault.total - 1.0).abs() > tolerance).collect()
    }

    /// The same circuit with the parameters of every sum divided by their total.
    pub fn renormalised(mut self) -> Circuit {
        for id in self.ids() {
            let range = self.element_range(id);
            let thetas = &mut self.log_parameters.elements[range];
            let total = crate::logspace::log_sum(thetas.iter().copied());
            thetas.iter_mut().for_each(|theta| *theta = (*theta - total).min(0.0));
        }
        self
    }
}
