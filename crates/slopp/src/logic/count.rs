//! How many worlds satisfy a formula, exactly.

use super::sdd::{Sdd, SddId, SddNode};
use crate::vtree::VtreeId;
use num_bigint::BigUint;

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

    /// How many variables below `v` are not below the vtree node of a node: each doubles the count.
    pub(super) fn gap(&self, id: SddId, v: VtreeId) -> usize {
        self.vtree().vars(v).len() - self.vtree_of(id).map_or(0, |own| self.vtree().vars(own).len())
    }

    /// The gaps of a prime and a sub below an inner vtree node together.
    pub(super) fn element_gap(&self, v: VtreeId, prime: SddId, sub: SddId) -> usize {
        let [left, right] = self.vtree().children(v).expect("decisions are at inner nodes");
        self.gap(prime, left) + self.gap(sub, right)
    }
}
