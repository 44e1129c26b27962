//! Sum-product networks: smooth and decomposable circuits without a vtree.
//!
//! [LearnSPN](crate::learn::LearnSpn) learns an [`Spn`]. It is more general than a [`Circuit`](crate::Circuit): two
//! products may divide the same variables differently, so there is no vtree, and leaves may be whole Chow-Liu trees.
//! Therefore it answers fewer queries:
//!
//! | query | cost |
//! |---|---|
//! | [`Spn::log_probability`], [`Spn::log_evidence`]: one pass up | edges |
//! | [`Spn::log_likelihoods`]: many records, missing cells summed out | edges × records |
//! | [`Spn::marginals`], [`Spn::marginals_batch`]: one pass up, one down | edges |
//! | [`Spn::sample`]: worlds given evidence, without rejection | edges, then the variables per world |
//!
//! The children of a sum overlap (a world has many derivations), so one pass cannot compute the most probable world,
//! the entropy or the number of possible worlds. Two networks share no vtree, so their divergence and product are out
//! of reach, too. These queries need a [`Deterministic`](crate::Deterministic) circuit.
//!
//! No query recurses, and none underflows: values are plain numbers with their own exponents.

mod builder;
pub(crate) mod learnspn;
mod likelihood;
mod posterior;
mod wide;

pub(crate) use builder::SpnBuilder;
pub use builder::SpnError;
pub(crate) use posterior::Counts;

use crate::circuit::NodeId;
use crate::infer::noise::{NONE, ONE, together};
use crate::names::{Group, Names};
use crate::var::{Lit, Var};
use std::ops::Range;

/// A node of a sum-product network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SpnNode {
    /// The variable has this value for certain.
    Literal(Lit),
    /// The variable is true with this probability, above zero and below one.
    Bernoulli { var: Var, probability: f64 },
    /// A rooted tree of conditional distributions: the branches `start..end`.
    Tree { start: u32, end: u32 },
    /// The children `start..end`, over disjoint variables, are independent.
    Product { start: u32, end: u32 },
    /// A mixture of the children `start..end`, all over the same variables.
    Sum { start: u32, end: u32 },
}

/// One variable of a tree leaf, with its distribution given its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Branch {
    pub(crate) var: Var,
    /// The position of its parent among the branches of the tree; `None` for the root, which comes first.
    pub(crate) parent: Option<u32>,
    /// The probability of *true* given that the parent is false and true; the root has the same number twice.
    pub(crate) probability: [f64; 2],
}

impl Branch {
    /// `P(value | parent)`.
    fn of(&self, parent: bool, value: bool) -> f64 {
        let p = self.probability[usize::from(parent)];
        if value { p } else { 1.0 - p }
    }
}

/// A smooth and decomposable sum-product network over the variables `0..var_count`.
///
/// # How it is stored
/// Flat arrays: nodes, children before parents, root last; one array of children and one of weights, addressed by
/// ranges; one array of the branches of all trees.
///
/// # Invariants
/// 1. Children come before parents, the root is last, every node is reachable from it.
/// 2. Smooth: the children of a sum have the same variables. Decomposable: those of a product have no variable in
///    common.
/// 3. Sums and products have at least one child; the weights of a sum are positive and sum to one, up to rounding.
/// 4. The branches of a tree have distinct variables, parents first.
/// 5. The root has all variables.
///
/// ```
/// use slopp::{Model, ModelKind, Var, infer::Evidence};
/// let text = "spn 7 2\nB 0 1 0.9\nB 1 2 0.8\nP 2 2 0 1\nB 3 1 0.1\nB 4 2 0.2\nP 5 2 3 4\nS 6 2 2 0.5 5 0.5\n";
/// let ModelKind::Spn(spn) = Model::load(text.as_bytes())?.kind else { panic!("a network") };
/// let x = Evidence::from_lits(2, [Var(0).is(true)])?;
/// assert!((spn.log_evidence(&x)?.exp() - 0.5).abs() < 1e-12);
/// assert!((spn.marginals(&x)?[1] - 0.74).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spn {
    var_count: usize,
    nodes: Vec<SpnNode>,
    children: Vec<NodeId>,
    /// Parallel to the children; one for those of products.
    weights: Vec<f64>,
    branches: Vec<Branch>,
    /// For batches: where each node puts its value so that values no longer needed are overwritten.
    places: Vec<u32>,
    place_count: usize,
}

/// Sizes of a sum-product network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpnStats {
    /// All nodes; a tree is one.
    pub nodes: usize,
    /// Sums.
    pub sums: usize,
    /// Products.
    pub products: usize,
    /// Literals and Bernoulli leaves.
    pub univariate: usize,
    /// Tree leaves.
    pub trees: usize,
    /// Variables in all tree leaves together.
    pub branches: usize,
    /// Children of all sums and products.
    pub edges: usize,
    /// Numbers, counted as for circuits: one per child of a sum, two per Bernoulli, and two per root and four per
    /// other branch of a tree.
    pub parameters: usize,
}

impl Spn {
    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.var_count
    }

    /// All nodes, children before parents.
    pub(crate) fn nodes(&self) -> &[SpnNode] {
        &self.nodes
    }

    /// The root: the last node.
    pub(crate) fn root(&self) -> NodeId {
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// The children of a node with their weights, which are one below products; none for leaves.
    pub(crate) fn children_of(&self, id: NodeId) -> impl ExactSizeIterator<Item = (NodeId, f64)> + Clone {
        let range = match self.nodes[id.index()] {
            SpnNode::Sum { start, end } | SpnNode::Product { start, end } => range(start, end),
            _ => 0..0,
        };
        self.children[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The branches of a tree leaf, parents first; none for other nodes.
    pub(crate) fn branches_of(&self, id: NodeId) -> &[Branch] {
        match self.nodes[id.index()] {
            SpnNode::Tree { start, end } => &self.branches[range(start, end)],
            _ => &[],
        }
    }

    /// The first column that has none or several values in some possible world; `None` if all have exactly one.
    ///
    /// Like [`Circuit::column_without_one_value`](crate::Circuit::column_without_one_value).
    pub(crate) fn column_without_one_value<'a>(&self, names: &'a Names) -> Option<&'a Group> {
        let mut trues: Vec<u8> = Vec::with_capacity(self.nodes().len());
        names.groups().iter().find(|group| {
            trues.clear();
            for (i, node) in self.nodes().iter().enumerate() {
                let id = NodeId(i as u32);
                let below = self.children_of(id).map(|(child, _)| trues[child.index()]);
                trues.push(match *node {
                    SpnNode::Literal(lit) => of_value(group, lit.var, lit.value),
                    SpnNode::Bernoulli { var, .. } => of_value(group, var, true) | NONE,
                    SpnNode::Tree { .. } => of_tree(group, self.branches_of(id)),
                    SpnNode::Product { .. } => below.fold(NONE, together),
                    SpnNode::Sum { .. } => below.fold(0, |sets, set| sets | set),
                });
            }
            trues[self.root().index()] != ONE
        })
    }

    /// The sizes of this network.
    pub fn stats(&self) -> SpnStats {
        let mut stats = SpnStats {
            nodes: self.nodes.len(),
            edges: self.children.len(),
            branches: self.branches.len(),
            ..SpnStats::default()
        };
        for node in &self.nodes {
            match *node {
                SpnNode::Literal(_) => stats.univariate += 1,
                SpnNode::Bernoulli { .. } => {
                    stats.univariate += 1;
                    stats.parameters += 2;
                }
                SpnNode::Tree { start, end } => {
                    stats.trees += 1;
                    stats.parameters += 4 * (end - start) as usize - 2;
                }
                SpnNode::Product { .. } => stats.products += 1,
                SpnNode::Sum { start, end } => {
                    stats.sums += 1;
                    stats.parameters += (end - start) as usize;
                }
            }
        }
        stats
    }
}

fn range(start: u32, end: u32) -> Range<usize> {
    start as usize..end as usize
}

fn of_value(group: &Group, var: Var, value: bool) -> u8 {
    if value && group.contains(var) { ONE } else { NONE }
}

/// How many variables of a group can be true in a tree: from the leaves up, for each value of the parent.
fn of_tree(group: &Group, branches: &[Branch]) -> u8 {
    let mut below = vec![[NONE; 2]; branches.len()];
    let mut whole = NONE;
    for (i, branch) in branches.iter().enumerate().rev() {
        let own = [false, true].map(|value| together(of_value(group, branch.var, value), below[i][usize::from(value)]));
        let given = |parent: bool| {
            let possible = [false, true].into_iter().filter(|&value| branch.of(parent, value) > 0.0);
            possible.fold(0, |sets, value| sets | own[usize::from(value)])
        };
        match branch.parent {
            None => whole = given(false),
            Some(parent) => {
                let sums = &mut below[parent as usize];
                *sums = [together(sums[0], given(false)), together(sums[1], given(true))];
            }
        }
    }
    whole
}
