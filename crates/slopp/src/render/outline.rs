//! The part of a vtree that is drawn: all of it, or its top with subtrees as squares.

use crate::limits::grouped;
use crate::vtree::{Vtree, VtreeId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most lines of a picture of a vtree; vtrees with more leaves are cut.
pub(super) const MAX_ENDS: usize = 160;

/// The nodes of a vtree that are drawn.
pub(super) struct Outline {
    /// In the order of [`Vtree::bottom_up`]: children first, ends from left to right.
    pub(super) nodes: Vec<VtreeId>,
    /// By vtree node: whether it is drawn without its descendants, if any.
    is_end: Vec<bool>,
    /// The number of edges to the deepest drawn node.
    pub(super) depth: usize,
}

impl Outline {
    /// Opens the node with most variables, again and again, until there are enough lines.
    pub(super) fn new(vtree: &Vtree) -> Outline {
        let mut is_end = vec![false; vtree.node_count()];
        let mut is_drawn = vec![false; vtree.node_count()];
        let mut closed = BinaryHeap::from([(vtree.vars(vtree.root()).len(), Reverse(vtree.root().0), 0)]);
        let (mut depth, mut ends) = (0, 0);
        while let Some((_, Reverse(v), level)) = closed.pop() {
            let v = VtreeId(v);
            is_drawn[v.index()] = true;
            depth = depth.max(level);
            // Every closed node is a line; opening one makes two of it.
            let children = vtree.children(v).filter(|_| is_whole(vtree) || ends + closed.len() + 2 <= MAX_ENDS);
            match children {
                Some(children) => {
                    closed.extend(children.map(|c| (vtree.vars(c).len(), Reverse(c.0), level + 1)));
                }
                None => {
                    is_end[v.index()] = true;
                    ends += 1;
                }
            }
        }
        let nodes = vtree.bottom_up().iter().copied().filter(|v| is_drawn[v.index()]).collect();
        Outline { nodes, is_end, depth }
    }

    /// Whether nothing below a node is drawn.
    pub(super) fn is_end(&self, v: VtreeId) -> bool {
        self.is_end[v.index()]
    }

    /// The children of a node, if they are drawn.
    pub(super) fn children(&self, vtree: &Vtree, v: VtreeId) -> Option<[VtreeId; 2]> {
        vtree.children(v).filter(|_| !self.is_end(v))
    }

    /// The number of variables of a subtree that is not drawn, as text; `None` for leaves and nodes with children.
    pub(super) fn hidden(&self, vtree: &Vtree, v: VtreeId) -> Option<String> {
        let hides = self.is_end(v) && !v.is_leaf();
        hides.then(|| format!("{} variables", grouped(vtree.vars(v).len())))
    }
}

/// Whether a vtree is small enough to draw every leaf.
pub(super) fn is_whole(vtree: &Vtree) -> bool {
    vtree.var_count() <= MAX_ENDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_cover_every_variable_once() {
        for vtree in [Vtree::balanced(160), Vtree::balanced(5000), Vtree::right_linear(700), Vtree::random(999, 4)] {
            let outline = Outline::new(&vtree);
            let ends: Vec<VtreeId> = outline.nodes.iter().copied().filter(|&v| outline.is_end(v)).collect();
            assert_eq!(ends.len(), MAX_ENDS);
            assert_eq!(outline.nodes.len(), 2 * MAX_ENDS - 1);
            let vars: Vec<_> = ends.iter().flat_map(|&v| vtree.vars(v).iter().copied()).collect();
            assert_eq!(vars, vtree.vars(vtree.root()));
        }
    }

    #[test]
    fn large_subtrees_are_opened_first() {
        let vtree = Vtree::balanced(1 << 12);
        let outline = Outline::new(&vtree);
        assert_eq!(outline.depth, 8);
        assert!(outline.nodes.iter().all(|&v| !outline.is_end(v) || vtree.vars(v).len() <= 32));
    }
}
