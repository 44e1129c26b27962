//! Building networks bottom-up, with every invariant checked.

use super::{Branch, Spn, SpnNode, range};
use crate::circuit::NodeId;
use crate::var::{Lit, Var};
use std::sync::Arc;

/// Smaller probabilities and weights, below 2⁻²⁰⁰, are refused: products of a few of them must stay in range.
const SMALLEST: f64 = f64::from_bits((1023 - 200) << 52);

/// How far the total of the weights of a sum may be from one.
const WEIGHT_TOLERANCE: f64 = 1e-9;

/// Which invariant of [`Spn`] a node would break.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpnError {
    /// A variable beyond the last.
    #[error("variable {} is not among the {} variables of the network", .var.number(), .len)]
    UnknownVariable {
        /// The variable.
        var: Var,
        /// The number of variables.
        len: usize,
    },
    /// A child does not exist yet (invariant 1).
    #[error("a child is used before it is made")]
    UnknownChild,
    /// A sum, product or tree without parts (invariants 3 and 4).
    #[error("a sum, a product and a tree need at least one part")]
    Empty,
    /// Two children of a sum have different variables (invariant 2).
    #[error("children {first} and {second} of a sum have different variables; give both the same")]
    NotSmooth {
        /// Position of the first child, from zero.
        first: usize,
        /// Position of the second.
        second: usize,
    },
    /// A variable is in two children of a product, or twice in a tree (invariants 2 and 4).
    #[error("variable {} is in two parts of a product or tree; the parts must have different variables", .0.number())]
    NotDecomposable(Var),
    /// A branch whose parent does not come before it (invariant 4).
    #[error("branch {0} of a tree must have a parent before it, unless it is the first")]
    Parent(usize),
    /// A number that is not a probability, or not a positive weight.
    #[error("{0} is not a usable probability: it must be 0, or above 1e-60 and at most 1")]
    Probability(f64),
    /// The weights of a sum do not sum to one (invariant 3).
    #[error("the weights of a sum add up to {0}; divide them by that")]
    Total(f64),
    /// The root lacks a variable (invariant 5).
    #[error("the root does not have variable {}; multiply it by a leaf of that variable", .0.number())]
    Incomplete(Var),
    /// Too many nodes, children or branches for 32-bit ids.
    #[error("a network can have at most {} nodes, edges and branches", u32::MAX)]
    TooLarge,
}

/// Builds an [`Spn`] node by node, children first.
#[derive(Clone, Debug)]
pub(crate) struct SpnBuilder {
    var_count: usize,
    nodes: Vec<SpnNode>,
    children: Vec<NodeId>,
    weights: Vec<f64>,
    branches: Vec<Branch>,
    /// The variables of each node, ascending; nodes with the same variables mostly share the list.
    scopes: Vec<Arc<[Var]>>,
    singles: Vec<Arc<[Var]>>,
}

impl SpnBuilder {
    /// A builder without nodes, for the variables `0..var_count`.
    pub(crate) fn new(var_count: usize) -> SpnBuilder {
        SpnBuilder {
            var_count,
            nodes: Vec::new(),
            children: Vec::new(),
            weights: Vec::new(),
            branches: Vec::new(),
            scopes: Vec::new(),
            singles: (0..var_count).map(|i| Arc::from([Var(i as u32)])).collect(),
        }
    }

    /// A leaf: the variable has this value for certain.
    pub(crate) fn literal(&mut self, lit: Lit) -> Result<NodeId, SpnError> {
        self.check_var(lit.var)?;
        self.push(SpnNode::Literal(lit), self.singles[lit.var.index()].clone())
    }

    /// A leaf: the variable is true with this probability; a literal if that is zero or one.
    pub(crate) fn bernoulli(&mut self, var: Var, probability: f64) -> Result<NodeId, SpnError> {
        check_probability(probability)?;
        if probability == 0.0 || probability == 1.0 {
            return self.literal(var.is(probability == 1.0));
        }
        self.check_var(var)?;
        self.push(SpnNode::Bernoulli { var, probability }, self.singles[var.index()].clone())
    }

    /// A leaf: a tree of conditional distributions, parents before children.
    pub(crate) fn tree(&mut self, branches: &[Branch]) -> Result<NodeId, SpnError> {
        if branches.is_empty() {
            return Err(SpnError::Empty);
        }
        for (i, branch) in branches.iter().enumerate() {
            self.check_var(branch.var)?;
            let fits = branch.parent.map_or(i == 0, |parent| (parent as usize) < i);
            if !fits {
                return Err(SpnError::Parent(i));
            }
            branch.probability.iter().try_for_each(|&p| check_probability(p))?;
            if i == 0 && branch.probability[0] != branch.probability[1] {
                return Err(SpnError::Probability(branch.probability[1]));
            }
        }
        let scope = union(branches.iter().map(|branch| branch.var).collect())?;
        let start = self.branches.len() as u32;
        self.branches.extend_from_slice(branches);
        let end = u32::try_from(self.branches.len()).map_err(|_| SpnError::TooLarge)?;
        self.push(SpnNode::Tree { start, end }, scope)
    }

    /// A product of independent parts.
    pub(crate) fn product(&mut self, children: &[NodeId]) -> Result<NodeId, SpnError> {
        self.check_children(children.iter().copied())?;
        let vars = children.iter().flat_map(|child| self.scopes[child.index()].iter().copied()).collect();
        let scope = union(vars)?;
        let (start, end) = self.add_children(children.iter().map(|&child| (child, 1.0)))?;
        self.push(SpnNode::Product { start, end }, scope)
    }

    /// A mixture of children with their weights, which must sum to one.
    pub(crate) fn sum(&mut self, children: &[(NodeId, f64)]) -> Result<NodeId, SpnError> {
        self.check_children(children.iter().map(|&(child, _)| child))?;
        let scope = self.scopes[children[0].0.index()].clone();
        for (second, &(child, weight)) in children.iter().enumerate() {
            let other = &self.scopes[child.index()];
            if !Arc::ptr_eq(&scope, other) && scope != *other {
                return Err(SpnError::NotSmooth { first: 0, second });
            }
            if !(SMALLEST..=1.0).contains(&weight) {
                return Err(SpnError::Probability(weight));
            }
        }
        let total: f64 = children.iter().map(|&(_, weight)| weight).sum();
        if (total - 1.0).abs() > WEIGHT_TOLERANCE {
            return Err(SpnError::Total(total));
        }
        let (start, end) = self.add_children(children.iter().copied())?;
        self.push(SpnNode::Sum { start, end }, scope)
    }

    /// The network below `root`; other nodes are dropped.
    pub(crate) fn finish(self, root: NodeId) -> Result<Spn, SpnError> {
        self.check_children(std::iter::once(root))?;
        let scope = &self.scopes[root.index()];
        if let Some(var) = (0..self.var_count as u32).map(Var).find(|var| scope.binary_search(var).is_err()) {
            return Err(SpnError::Incomplete(var));
        }
        let mut reached = vec![false; root.index() + 1];
        reached[root.index()] = true;
        for i in (0..=root.index()).rev().filter(|&i| self.nodes[i].children().is_some()) {
            if reached[i] {
                let children = self.nodes[i].children().expect("filtered");
                self.children[children].iter().for_each(|child| reached[child.index()] = true);
            }
        }
        let mut spn = Spn {
            var_count: self.var_count,
            nodes: Vec::new(),
            children: Vec::new(),
            weights: Vec::new(),
            branches: Vec::new(),
            places: Vec::new(),
            place_count: 0,
        };
        let mut ids = vec![NodeId(0); reached.len()];
        for i in (0..reached.len()).filter(|&i| reached[i]) {
            ids[i] = NodeId(spn.nodes.len() as u32);
            let mut copied = |start: u32, end: u32| {
                let first = spn.children.len() as u32;
                spn.children.extend(self.children[range(start, end)].iter().map(|child| ids[child.index()]));
                spn.weights.extend_from_slice(&self.weights[range(start, end)]);
                (first, spn.children.len() as u32)
            };
            let node = match self.nodes[i] {
                SpnNode::Sum { start, end } => {
                    let (start, end) = copied(start, end);
                    SpnNode::Sum { start, end }
                }
                SpnNode::Product { start, end } => {
                    let (start, end) = copied(start, end);
                    SpnNode::Product { start, end }
                }
                SpnNode::Tree { start, end } => {
                    let first = spn.branches.len() as u32;
                    spn.branches.extend_from_slice(&self.branches[range(start, end)]);
                    SpnNode::Tree { start: first, end: spn.branches.len() as u32 }
                }
                leaf => leaf,
            };
            spn.nodes.push(node);
        }
        spn.assign_places();
        Ok(spn)
    }

    fn check_var(&self, var: Var) -> Result<(), SpnError> {
        let len = self.var_count;
        if var.index() < len { Ok(()) } else { Err(SpnError::UnknownVariable { var, len }) }
    }

    fn check_children(&self, mut children: impl ExactSizeIterator<Item = NodeId>) -> Result<(), SpnError> {
        if children.len() == 0 {
            return Err(SpnError::Empty);
        }
        if children.all(|child| child.index() < self.nodes.len()) { Ok(()) } else { Err(SpnError::UnknownChild) }
    }

    fn add_children(&mut self, children: impl Iterator<Item = (NodeId, f64)>) -> Result<(u32, u32), SpnError> {
        let start = self.children.len() as u32;
        for (child, weight) in children {
            self.children.push(child);
            self.weights.push(weight);
        }
        let end = u32::try_from(self.children.len()).map_err(|_| SpnError::TooLarge)?;
        Ok((start, end))
    }

    fn push(&mut self, node: SpnNode, scope: Arc<[Var]>) -> Result<NodeId, SpnError> {
        let id = u32::try_from(self.nodes.len()).ok().filter(|&id| id < u32::MAX).ok_or(SpnError::TooLarge)?;
        self.nodes.push(node);
        self.scopes.push(scope);
        Ok(NodeId(id))
    }
}

impl SpnNode {
    /// The range of the children of a sum or product.
    pub(super) fn children(&self) -> Option<std::ops::Range<usize>> {
        match *self {
            SpnNode::Sum { start, end } | SpnNode::Product { start, end } => Some(range(start, end)),
            _ => None,
        }
    }
}

impl Spn {
    /// Gives every node a place for its value, reusing places of values that are no longer needed.
    ///
    /// Learned networks are nearly trees, so a few places suffice, and they stay in the cache.
    fn assign_places(&mut self) {
        let mut last_use = vec![u32::MAX; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            for child in &self.children[node.children().unwrap_or(0..0)] {
                last_use[child.index()] = i as u32;
            }
        }
        let mut free: Vec<u32> = Vec::new();
        for (i, node) in self.nodes.iter().enumerate() {
            // A node is computed before it is stored, so it may reuse the place of its own child.
            for child in &self.children[node.children().unwrap_or(0..0)] {
                if last_use[child.index()] == i as u32 {
                    last_use[child.index()] = u32::MAX;
                    free.push(self.places[child.index()]);
                }
            }
            let place = free.pop().unwrap_or_else(|| {
                self.place_count += 1;
                self.place_count as u32 - 1
            });
            self.places.push(place);
        }
    }
}

/// The variables in ascending order, if all are distinct.
fn union(mut vars: Vec<Var>) -> Result<Arc<[Var]>, SpnError> {
    vars.sort_unstable();
    match vars.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(SpnError::NotDecomposable(pair[0])),
        None => Ok(vars.into()),
    }
}

/// Both the probability and its complement must be zero or in range; the latter always is.
fn check_probability(p: f64) -> Result<(), SpnError> {
    if p == 0.0 || (SMALLEST..=1.0).contains(&p) { Ok(()) } else { Err(SpnError::Probability(p)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files cannot say these: a reader checks numbers and ids itself.
    #[test]
    fn an_unknown_child_and_a_wrong_probability_are_refused() {
        let mut builder = SpnBuilder::new(2);
        let [x, y] = [0, 1].map(|i| builder.bernoulli(Var(i), 0.5).unwrap());
        assert_eq!(builder.product(&[x, NodeId(99)]), Err(SpnError::UnknownChild));
        assert_eq!(builder.sum(&[(x, 0.5), (NodeId(2), 0.5)]), Err(SpnError::UnknownChild));
        assert_eq!(builder.clone().finish(NodeId(2)), Err(SpnError::UnknownChild));
        for wrong in [1.5, -0.5, f64::NAN, f64::INFINITY] {
            let is_wrong = |made| matches!(made, Err(SpnError::Probability(p)) if p.total_cmp(&wrong).is_eq());
            assert!(is_wrong(builder.bernoulli(Var(0), wrong)), "{wrong}");
            assert!(is_wrong(builder.sum(&[(x, wrong), (x, 0.5)])), "{wrong}");
            let branch = Branch { var: Var(0), parent: None, probability: [wrong; 2] };
            assert!(is_wrong(builder.tree(&[branch])), "{wrong}");
        }
        assert!(builder.product(&[x, y]).is_ok());
    }
}
