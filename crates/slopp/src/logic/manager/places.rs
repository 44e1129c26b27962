//! Where vtree nodes are to each other, in constant time.

use crate::vtree::Vtree;

/// How the vtree nodes of two diagrams lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Same,
    /// The second is below the left child of the first.
    BelowLeft,
    /// The second is below the right child of the first.
    BelowRight,
    /// The first is below the left child of the second.
    AboveLeft,
    /// The first is below the right child of the second.
    AboveRight,
    /// Neither is above the other.
    Apart,
}

/// A vtree prepared for questions about pairs of its nodes.
///
/// In-order ids make the nodes below a node an interval, and the lowest common ancestor of two nodes the least deep
/// node between them; a table of the least deep node of every interval of 2ᵏ nodes finds it with two look-ups.
pub(super) struct Places {
    /// First and last id below each node.
    span: Vec<[u32; 2]>,
    depth: Vec<u32>,
    /// At `k`: the least deep node among the `2ᵏ` nodes from each node on.
    least_deep: Vec<Vec<u32>>,
}

impl Places {
    pub(super) fn new(vtree: &Vtree) -> Places {
        let count = vtree.node_count();
        let (mut span, mut depth) = (vec![[0; 2]; count], vec![0; count]);
        for &v in vtree.bottom_up() {
            span[v.index()] = match vtree.children(v) {
                None => [v.0; 2],
                Some([left, right]) => [span[left.index()][0], span[right.index()][1]],
            };
        }
        for &v in vtree.bottom_up().iter().rev() {
            depth[v.index()] = vtree.parent(v).map_or(0, |p| depth[p.index()] + 1);
        }
        let shallower = |a: u32, b: u32| if depth[a as usize] <= depth[b as usize] { a } else { b };
        let mut least_deep = vec![(0..count as u32).collect::<Vec<u32>>()];
        for k in 1.. {
            let half = 1 << (k - 1);
            if 2 * half > count {
                break;
            }
            let last = &least_deep[k - 1];
            least_deep.push((0..=count - 2 * half).map(|i| shallower(last[i], last[i + half])).collect());
        }
        Places { span, depth, least_deep }
    }

    /// The lowest node above or at both.
    pub(super) fn lowest_common(&self, a: u32, b: u32) -> u32 {
        let (first, last) = if a <= b { (a as usize, b as usize) } else { (b as usize, a as usize) };
        let k = (last - first + 1).ilog2() as usize;
        let (x, y) = (self.least_deep[k][first], self.least_deep[k][last + 1 - (1 << k)]);
        if self.depth[x as usize] <= self.depth[y as usize] { x } else { y }
    }

    pub(super) fn relation(&self, a: u32, b: u32) -> Relation {
        if a == b {
            return Relation::Same;
        }
        let within = |v: u32, [first, last]: [u32; 2]| first <= v && v <= last;
        if within(b, self.span[a as usize]) {
            return if b < a { Relation::BelowLeft } else { Relation::BelowRight };
        }
        if within(a, self.span[b as usize]) {
            return if a < b { Relation::AboveLeft } else { Relation::AboveRight };
        }
        Relation::Apart
    }

    pub(super) fn depth(&self, v: u32) -> u32 {
        self.depth[v as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        12 * self.span.len() + self.least_deep.iter().map(|row| 4 * row.len()).sum::<usize>()
    }
}
