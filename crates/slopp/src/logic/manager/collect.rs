//! Throwing away what is no longer needed.

use super::{Element, Handle, Manager, Node};

/// The new number of a node that is gone.
const GONE: u32 = u32::MAX;

impl Manager {
    /// Keeps only what is below these formulas, and gives them their new handles.
    ///
    /// All other handles mean nothing afterwards. Nodes keep their order, so diagrams stay canonical; results that are
    /// still about living nodes stay remembered.
    pub fn collect<'a>(&mut self, formulas: impl IntoIterator<Item = &'a mut Handle>) {
        let fixed = self.vtree.var_count() + 1;
        let mut formulas: Vec<&mut Handle> = formulas.into_iter().collect();
        let mut new = vec![GONE; self.nodes.len()];
        new[..fixed].fill(0);
        for formula in &formulas {
            new[formula.node()] = 0;
        }
        for i in (fixed..self.nodes.len()).rev() {
            if new[i] != GONE {
                let Node { start, len, .. } = self.nodes[i];
                for e in &self.elements[start as usize..(start + len) as usize] {
                    new[e.prime.node()] = 0;
                    new[e.sub.node()] = 0;
                }
            }
        }
        let (mut node_end, mut element_end) = (0, 0);
        for i in 0..self.nodes.len() {
            if new[i] == GONE {
                continue;
            }
            new[i] = node_end as u32;
            let Node { vtree, start, len } = self.nodes[i];
            self.nodes[node_end] = Node { vtree, start: element_end as u32, len };
            self.hashes[node_end] = self.hashes[i];
            for from in start as usize..(start + len) as usize {
                let Element { prime, sub } = self.elements[from];
                self.elements[element_end] = Element { prime: renamed(prime, &new), sub: renamed(sub, &new) };
                element_end += 1;
            }
            node_end += 1;
        }
        self.nodes.truncate(node_end);
        self.hashes.truncate(node_end);
        self.elements.truncate(element_end);
        for i in fixed..node_end {
            let Node { vtree, start, len } = self.nodes[i];
            self.hashes[i] = super::hash_of(vtree, &self.elements[start as usize..(start + len) as usize]);
        }
        self.unique.refill(fixed as u32..node_end as u32, &self.hashes);
        self.memo.rename(|handle| {
            let node = new[(handle >> 1) as usize];
            (node != GONE).then(|| (2 * node) | (handle & 1))
        });
        for formula in &mut formulas {
            **formula = renamed(**formula, &new);
        }
    }

    /// Collects if joining may do so and at least half of the nodes are likely to be gone.
    pub(in crate::logic) fn collect_if_full(&mut self, formulas: &mut [Handle]) {
        if self.collects && self.nodes.len() >= self.collect_at.min(self.limits.nodes / 2) {
            self.collect(formulas);
            self.collect_at = (2 * self.nodes.len()).max(1 << 16);
        }
    }
}

fn renamed(handle: Handle, new: &[u32]) -> Handle {
    Handle(2 * new[handle.node()]).negated_if(handle.is_negated())
}
