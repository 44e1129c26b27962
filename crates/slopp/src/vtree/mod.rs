//! Vtrees: full binary trees whose leaves are the variables. They define how a circuit decomposes.
//!
//! This module has the tree, its shapes, its text form, and the Chow-Liu tree.
//! [`VtreeMethod`](crate::learn::VtreeMethod) makes vtrees from data, [`crate::io`] reads and writes files, and
//! [`crate::render`] draws pictures.

mod chow_liu;
mod text;

pub(crate) use chow_liu::{ChowLiuTree, RootedTree, spanning_tree};

use crate::names::{NameError, abridged};
use crate::random::Random;
use crate::var::Var;

/// A node of a vtree, numbered in-order: leaves are even, inner nodes odd, `0` is the leftmost leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VtreeId(pub u32);

impl VtreeId {
    /// The position of this node in arrays over vtree nodes.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Whether this is a leaf.
    pub(crate) fn is_leaf(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// One step of a vtree in postfix order: `1 2 join 3 join` is `((1,2),3)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A leaf.
    Leaf(Var),
    /// An inner node over the last two finished trees.
    Join,
}

/// Why a sequence of steps is not a vtree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VtreeError {
    /// There is no leaf.
    #[error("a vtree needs at least one variable")]
    Empty,
    /// A variable has two leaves.
    #[error("variable {} occurs twice in the vtree", .0.number())]
    Repeated(Var),
    /// A variable with a name has two leaves.
    #[error("variable {} occurs twice in the vtree; name it once", abridged(.0))]
    NamedTwice(String),
    /// A leaf is no name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A variable between the first and the last has no leaf.
    #[error(
        "variable {} is missing: a vtree with {len} leaves must hold the variables 1 to {len} once each",
        .missing.number()
    )]
    Missing {
        /// The variable without a leaf.
        missing: Var,
        /// The number of leaves.
        len: usize,
    },
    /// The steps do not form one tree.
    #[error("the vtree is not one full binary tree: every inner node needs exactly two children")]
    Shape,
    /// A text could not be read.
    #[error("vtree text, column {column}: expected {expected}, found {found}")]
    Text {
        /// Column, from one.
        column: usize,
        /// The expected text.
        expected: &'static str,
        /// The text found.
        found: String,
    },
}

/// A full binary tree whose leaves are the variables `0..len`, once each.
///
/// Nodes are numbered in-order, so the leaves below a node are an interval and ids survive a round trip through
/// the files of libsdd, pypsdd and LearnPSDD. The children of an inner node `v` split its variables into
/// the *left* ones (of primes) and the *right* ones (of subs).
///
/// ```
/// use slopp::Vtree;
/// let vtree: Vtree = "((1,2),(3,4))".parse()?;
/// assert_eq!(vtree, Vtree::balanced(4));
/// assert_eq!(vtree.to_string(), "((1,2),(3,4))");
/// # Ok::<(), slopp::vtree::VtreeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vtree {
    root: VtreeId,
    /// Children of inner node `id`, at `id / 2`.
    children: Vec<[VtreeId; 2]>,
    parent: Vec<Option<VtreeId>>,
    /// Interval of leaf positions below each node, inclusive.
    leaves: Vec<[u32; 2]>,
    /// Variable at each leaf position, and back.
    var: Vec<Var>,
    position: Vec<u32>,
    bottom_up: Vec<VtreeId>,
    /// Position of each node in `bottom_up`.
    rank: Vec<u32>,
}

impl Vtree {
    /// The vtree with these steps, children before parents.
    pub(crate) fn from_postfix(steps: impl IntoIterator<Item = Step>) -> Result<Vtree, VtreeError> {
        let mut var = Vec::new();
        let mut joins = Vec::new();
        let mut stack: Vec<[u32; 2]> = Vec::new();
        let mut bottom_up = Vec::new();
        for step in steps {
            match step {
                Step::Leaf(x) => {
                    let position = var.len() as u32;
                    stack.push([position; 2]);
                    bottom_up.push(VtreeId(2 * position));
                    var.push(x);
                }
                Step::Join => {
                    let (Some(right), Some(left)) = (stack.pop(), stack.pop()) else { return Err(VtreeError::Shape) };
                    stack.push([left[0], right[1]]);
                    bottom_up.push(VtreeId(2 * left[1] + 1));
                    joins.push((left, right));
                }
            }
        }
        match stack.len() {
            0 => return Err(VtreeError::Empty),
            1 => {}
            _ => return Err(VtreeError::Shape),
        }
        let position = positions(&var)?;
        let nodes = 2 * var.len() - 1;
        let mut tree = Vtree {
            root: *bottom_up.last().expect("not empty"),
            children: vec![[VtreeId(0); 2]; var.len() - 1],
            parent: vec![None; nodes],
            leaves: vec![[0; 2]; nodes],
            var,
            position,
            rank: vec![0; nodes],
            bottom_up,
        };
        // The id of the subtree over a leaf interval: known for single leaves, recorded for joins by their left end.
        let mut top_at: Vec<VtreeId> = (0..tree.var.len() as u32).map(|p| VtreeId(2 * p)).collect();
        for p in 0..tree.var.len() as u32 {
            tree.leaves[2 * p as usize] = [p; 2];
        }
        for (left, right) in joins {
            let id = VtreeId(2 * left[1] + 1);
            let children = [top_at[left[0] as usize], top_at[right[0] as usize]];
            tree.children[id.index() / 2] = children;
            tree.leaves[id.index()] = [left[0], right[1]];
            for child in children {
                tree.parent[child.index()] = Some(id);
            }
            top_at[left[0] as usize] = id;
        }
        for (rank, id) in tree.bottom_up.iter().enumerate() {
            tree.rank[id.index()] = rank as u32;
        }
        Ok(tree)
    }

    /// The steps that build this vtree again.
    pub(crate) fn postfix(&self) -> impl ExactSizeIterator<Item = Step> {
        self.bottom_up.iter().map(|&v| self.leaf_var(v).map_or(Step::Join, Step::Leaf))
    }

    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.var.len()
    }

    /// The number of nodes: twice the variables, less one.
    pub fn node_count(&self) -> usize {
        self.parent.len()
    }

    /// The root.
    pub fn root(&self) -> VtreeId {
        self.root
    }

    /// The left and right child of an inner node; `None` for a leaf.
    pub fn children(&self, v: VtreeId) -> Option<[VtreeId; 2]> {
        (!v.is_leaf()).then(|| self.children[v.index() / 2])
    }

    /// The parent; `None` for the root.
    pub fn parent(&self, v: VtreeId) -> Option<VtreeId> {
        self.parent[v.index()]
    }

    /// The variable of a leaf; `None` for an inner node.
    pub fn leaf_var(&self, v: VtreeId) -> Option<Var> {
        v.is_leaf().then(|| self.var[v.index() / 2])
    }

    /// The leaf of a variable.
    pub fn leaf(&self, var: Var) -> VtreeId {
        VtreeId(2 * self.position[var.index()])
    }

    /// The position of a variable among the leaves, from left to right.
    pub fn position(&self, var: Var) -> usize {
        self.position[var.index()] as usize
    }

    /// The variables below a node, from left to right.
    pub fn vars(&self, v: VtreeId) -> &[Var] {
        let [first, last] = self.leaves[v.index()];
        &self.var[first as usize..=last as usize]
    }

    /// Whether `v` is `ancestor` or below it.
    pub(crate) fn is_below(&self, v: VtreeId, ancestor: VtreeId) -> bool {
        let ([first, last], [start, end]) = (self.leaves[v.index()], self.leaves[ancestor.index()]);
        start <= first && last <= end
    }

    /// All nodes, children before parents, left before right.
    pub fn bottom_up(&self) -> &[VtreeId] {
        &self.bottom_up
    }

    /// The position of a node in [`Vtree::bottom_up`].
    pub fn rank(&self, v: VtreeId) -> usize {
        self.rank[v.index()] as usize
    }

    /// The number of edges from the root to the deepest leaf.
    pub fn depth(&self) -> usize {
        let mut depth = vec![0; self.node_count()];
        for &v in self.bottom_up.iter().rev() {
            depth[v.index()] = self.parent(v).map_or(0, |p| depth[p.index()] + 1);
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// Whether every left child is a leaf.
    pub fn is_right_linear(&self) -> bool {
        self.children.iter().all(|[left, _]| left.is_leaf())
    }
}

/// Leaf position of each variable, checked to be a permutation.
fn positions(var: &[Var]) -> Result<Vec<u32>, VtreeError> {
    const NONE: u32 = u32::MAX;
    let mut position = vec![NONE; var.len()];
    let mut outside = false;
    for (p, &x) in var.iter().enumerate() {
        match position.get_mut(x.index()) {
            Some(slot) if *slot == NONE => *slot = p as u32,
            Some(_) => return Err(VtreeError::Repeated(x)),
            None => outside = true,
        }
    }
    if outside {
        let missing = position.iter().position(|&p| p == NONE).expect("a variable outside leaves a gap");
        return Err(VtreeError::Missing { missing: Var(missing as u32), len: var.len() });
    }
    Ok(position)
}

impl Vtree {
    /// The balanced vtree over `0..len` in order: every node has the same number of variables on both sides, or one
    /// more on the left.
    ///
    /// # Panics
    /// If `len` is zero, like the other shapes.
    pub fn balanced(len: usize) -> Vtree {
        Vtree::balanced_over(&in_order(len))
    }

    /// The balanced vtree whose leaves are `order` from left to right.
    pub(crate) fn balanced_over(order: &[Var]) -> Vtree {
        Vtree::from_splits(order, |len| len.div_ceil(2))
    }

    /// The vtree whose left children are single variables: `(1,(2,(3,4)))`.
    pub fn right_linear(len: usize) -> Vtree {
        Vtree::right_linear_over(&in_order(len))
    }

    /// The right-linear vtree whose leaves are `order` from left to right.
    pub fn right_linear_over(order: &[Var]) -> Vtree {
        Vtree::from_splits(order, |_| 1)
    }

    /// The vtree whose right children are single variables: `(((1,2),3),4)`.
    pub fn left_linear(len: usize) -> Vtree {
        Vtree::from_splits(&in_order(len), |len| len - 1)
    }

    /// A random vtree: variables in random order, every node split at a uniformly random place.
    pub fn random(len: usize, seed: u64) -> Vtree {
        let mut random = Random::new(seed);
        let mut order = in_order(len);
        random.shuffle(&mut order);
        Vtree::from_splits(&order, |len| 1 + random.below(len - 1))
    }

    /// The vtree over `order` that gives the first `split(len)` of `len` variables to the left.
    fn from_splits(order: &[Var], mut split: impl FnMut(usize) -> usize) -> Vtree {
        enum Task {
            Split(usize, usize),
            Join,
        }
        let mut steps = Vec::with_capacity(2 * order.len());
        let mut tasks = vec![Task::Split(0, order.len())];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Join => steps.push(Step::Join),
                Task::Split(start, end) if end - start == 1 => steps.push(Step::Leaf(order[start])),
                Task::Split(start, end) => {
                    assert!(start < end, "a vtree needs at least one variable");
                    let middle = start + split(end - start);
                    tasks.extend([Task::Join, Task::Split(middle, end), Task::Split(start, middle)]);
                }
            }
        }
        Vtree::from_postfix(steps).expect("splits of a permutation form a vtree")
    }
}

fn in_order(len: usize) -> Vec<Var> {
    (0..len as u32).map(Var).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_order() {
        let vtree: Vtree = "((2,1),(3,4))".parse().unwrap();
        assert_eq!(vtree.root(), VtreeId(3));
        assert_eq!(vtree.children(VtreeId(3)), Some([VtreeId(1), VtreeId(5)]));
        assert_eq!(vtree.leaf_var(VtreeId(0)), Some(Var(1)));
        assert_eq!(vtree.leaf(Var(0)), VtreeId(2));
        assert_eq!(vtree.vars(VtreeId(5)), [Var(2), Var(3)]);
        assert_eq!(vtree.parent(VtreeId(6)), Some(VtreeId(5)));
        assert!(vtree.is_below(VtreeId(6), VtreeId(5)) && !vtree.is_below(VtreeId(6), VtreeId(1)));
        assert_eq!(vtree.bottom_up(), [0, 2, 1, 4, 6, 5, 3].map(VtreeId));
        assert_eq!(vtree.depth(), 2);
    }

    #[test]
    fn broken_steps_are_errors() {
        use Step::{Join, Leaf};
        let build = |steps: &[Step]| Vtree::from_postfix(steps.iter().copied()).unwrap_err();
        assert_eq!(build(&[]), VtreeError::Empty);
        assert_eq!(build(&[Leaf(Var(0)), Join]), VtreeError::Shape);
        assert_eq!(build(&[Leaf(Var(0)), Leaf(Var(1))]), VtreeError::Shape);
        assert_eq!(build(&[Leaf(Var(0)), Leaf(Var(0)), Join]), VtreeError::Repeated(Var(0)));
        assert_eq!(build(&[Leaf(Var(0)), Leaf(Var(2)), Join]), VtreeError::Missing { missing: Var(1), len: 2 });
    }

    #[test]
    fn shapes() {
        assert_eq!(Vtree::balanced(5).to_string(), "(((1,2),3),(4,5))");
        assert_eq!(Vtree::right_linear(4).to_string(), "(1,(2,(3,4)))");
        assert_eq!(Vtree::left_linear(4).to_string(), "(((1,2),3),4)");
        assert_eq!(Vtree::balanced(1).to_string(), "1");
        assert!(Vtree::right_linear(9).is_right_linear() && !Vtree::balanced(9).is_right_linear());
    }

    #[test]
    fn random_vtrees_follow_the_seed() {
        assert_eq!(Vtree::random(30, 7), Vtree::random(30, 7));
        assert_ne!(Vtree::random(30, 7), Vtree::random(30, 8));
    }

    #[test]
    fn deep_vtrees_do_not_overflow_the_stack() {
        assert_eq!(Vtree::left_linear(100_000).depth(), 99_999);
    }
}
