//! Literals that hold in all worlds of a node: the separation lemma as bit sets.

use super::{Circuit, Node, NodeId};
use crate::var::Lit;
use crate::vtree::VtreeId;

/// For every node inside a prime, the literals that hold in all its worlds: bit sets over leaf positions.
pub(super) struct Fixed {
    /// Where the words of a node start; the second half of a node's words are the literals fixed to true.
    start: Vec<usize>,
    words: Vec<u64>,
}

/// Words of bit sets per node and element, beside a flat allowance; above that, or above the bytes that are allowed,
/// `Fixed` stays empty, which costs time in the search and nothing else.
const WORDS_PER_PART: usize = 64;
const WORDS_ANYWAY: usize = 1 << 20;

impl Fixed {
    pub(super) fn new(circuit: &Circuit, bytes: usize) -> Fixed {
        let vtree = circuit.vtree();
        // Only nodes that are inside the prime of some sum are ever compared.
        let mut inside = vec![false; vtree.node_count()];
        for &v in vtree.bottom_up().iter().rev() {
            if let Some(parent) = vtree.parent(v) {
                let is_left = vtree.children(parent).is_some_and(|[left, _]| left == v);
                inside[v.index()] = is_left || inside[parent.index()];
            }
        }
        let span = |v: VtreeId| {
            let vars = vtree.vars(v);
            (vtree.position(vars[0]) / 64, vtree.position(vars[vars.len() - 1]) / 64 + 1)
        };
        let mut start = Vec::with_capacity(circuit.nodes.len() + 1);
        let mut total = 0;
        for &v in vtree.bottom_up() {
            let (first, end) = span(v);
            for _ in circuit.layer(v) {
                start.push(total);
                total += if inside[v.index()] { 2 * (end - first) } else { 0 };
            }
        }
        start.push(total);
        let most = WORDS_ANYWAY + WORDS_PER_PART * (circuit.nodes.len() + circuit.elements.len());
        if total > most.min(bytes / 8) {
            return Fixed { start: vec![0; circuit.nodes.len() + 1], words: Vec::new() };
        }
        let mut fixed = Fixed { start, words: vec![0; total] };
        let mut one = Vec::new();
        for &v in vtree.bottom_up().iter().filter(|v| inside[v.index()]) {
            let (first, end) = span(v);
            let width = end - first;
            for id in circuit.layer(v) {
                let at = fixed.start[id];
                match circuit.nodes[id] {
                    Node::Top { .. } => {}
                    Node::Literal(Lit { var, value }) => {
                        let bit = vtree.position(var);
                        fixed.words[at + usize::from(value) * width] |= 1 << (bit % 64);
                    }
                    Node::Sum { vtree: v, .. } => {
                        let [left, right] = vtree.children(v).expect("sums are at inner nodes");
                        let parts = [span(left), span(right)];
                        fixed.words[at..at + 2 * width].fill(u64::MAX);
                        for (element, _) in circuit.elements_of(NodeId(id as u32)) {
                            one.clear();
                            one.resize(2 * width, 0);
                            for (child, (child_first, child_end)) in [element.prime, element.sub].into_iter().zip(parts)
                            {
                                let (from, child_width) = (fixed.start[child.index()], child_end - child_first);
                                for value in 0..2 {
                                    for w in 0..child_width {
                                        one[value * width + child_first - first + w] |=
                                            fixed.words[from + value * child_width + w];
                                    }
                                }
                            }
                            for (all, this) in fixed.words[at..at + 2 * width].iter_mut().zip(&one) {
                                *all &= this;
                            }
                        }
                    }
                }
            }
        }
        fixed
    }

    /// Whether some variable is fixed to true in one and to false in the other.
    pub(super) fn differ(&self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.words(a), self.words(b));
        let width = a.len() / 2;
        a.len() == b.len() && (0..width).any(|w| a[w] & b[width + w] | a[width + w] & b[w] != 0)
    }

    /// Sorts nodes of one vtree node by the values of the variables that are fixed in all of them, and cuts them where
    /// these differ: nodes of different parts are exclusive.
    pub(super) fn parts(&self, mut nodes: Vec<NodeId>) -> Vec<Vec<NodeId>> {
        let width = self.words(nodes[0]).len() / 2;
        let mut in_all = vec![u64::MAX; width];
        for &node in &nodes {
            let words = self.words(node);
            in_all.iter_mut().enumerate().for_each(|(w, all)| *all &= words[w] | words[width + w]);
        }
        if in_all.iter().all(|&word| word == 0) {
            return vec![nodes];
        }
        let key = |node: NodeId| self.words(node)[width..].iter().zip(&in_all).map(|(word, all)| word & all);
        nodes.sort_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
        nodes.chunk_by(|&a, &b| key(a).eq(key(b))).map(<[NodeId]>::to_vec).collect()
    }

    /// How many bytes are in use.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.start.len() + self.words.len())
    }

    fn words(&self, id: NodeId) -> &[u64] {
        &self.words[self.start[id.index()]..self.start[id.index() + 1]]
    }
}
