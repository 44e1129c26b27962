//! Variable orders for right-linear vtrees.

use crate::learn::vtree::ChowLiuTree;
use crate::var::Var;

/// The order of the fast learner: depth-first through the Chow-Liu tree from its centre, small subtrees first.
pub(super) fn depth_first(tree: &ChowLiuTree) -> Vec<Var> {
    tree.linear_order()
}
