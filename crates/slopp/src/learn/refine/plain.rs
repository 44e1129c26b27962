//! Plain products for unused nodes: splits must keep their worlds, but not their structure.
//!
//! A split by a variable restricts every node on the way to its leaf, used or not. Copying the structure of unused
//! nodes makes circuits grow without end, and their parameters mean nothing. If the worlds of a node are a term (a
//! conjunction of literals), a product of literals and ⊤ has the same worlds. All unused nodes with the same term share
//! it. From a Chow-Liu tree in an open world, every node that splits make is a term.

use super::draft::{Branch, Draft, DraftId, DraftNode, Kind};
use crate::var::Lit;
use crate::vtree::VtreeId;
use std::sync::Arc;

/// A branch may fix at most this many literals more than its sum, so that shares are exact.
const MAX_FIXED: usize = 52;

impl Draft<'_> {
    /// Finds the nodes that are terms, so that their unused copies become plain products.
    pub(super) fn find_terms(&mut self) {
        for id in 0..self.nodes.len() {
            let term = match &self.nodes[id].kind {
                Kind::Literal(lit) => Some([*lit].into()),
                Kind::Top(..) => Some([].into()),
                Kind::Sum(branches) => self.term_of(branches),
            };
            self.nodes[id].term = term;
        }
    }

    /// The term of a sum, if its branches are terms and fill it.
    ///
    /// Branches are exclusive, so they fill the term of their common literals iff their shares of it add up to one. The
    /// shares are powers of two, so their sum is exact.
    fn term_of(&self, branches: &[Branch]) -> Option<Arc<[Lit]>> {
        let mut terms: Vec<Vec<Lit>> = Vec::with_capacity(branches.len());
        for branch in branches {
            let [prime, sub] = [branch.prime, branch.sub].map(|id| self.nodes[id].term.as_ref());
            let mut term = [&prime?[..], &sub?[..]].concat();
            term.sort_unstable();
            terms.push(term);
        }
        let (first, others) = terms.split_first()?;
        let mut common = first.clone();
        common.retain(|lit| others.iter().all(|term| term.binary_search(lit).is_ok()));
        let share = |term: &Vec<Lit>| {
            let more = term.len() - common.len();
            (more <= MAX_FIXED).then(|| 0.5f64.powi(more as i32))
        };
        let shares: Option<Vec<f64>> = terms.iter().map(share).collect();
        (shares?.iter().sum::<f64>() == 1.0).then(|| common.into())
    }

    /// Replaces an unused sum by a plain product, if it is a term.
    pub(super) fn fill_plain(&mut self, node: DraftId) -> bool {
        let Some(term) = self.nodes[node].term.clone() else { return false };
        let branch = self.plain_branch(self.nodes[node].vtree, &term);
        self.nodes[node].kind = Kind::Sum(vec![branch]);
        true
    }

    /// The only branch of the product of these literals at an inner vtree node.
    fn plain_branch(&mut self, v: VtreeId, term: &[Lit]) -> Branch {
        let [prime, sub] = self.parts_of(v, term).map(|(side, term)| self.plain_node(side, term));
        self.nodes[prime].parents += 1;
        self.nodes[sub].parents += 1;
        Branch { prime, sub, rows: Vec::new(), count: 0.0 }
    }

    /// The children of an inner vtree node with the literals of each.
    fn parts_of(&self, v: VtreeId, term: &[Lit]) -> [(VtreeId, Vec<Lit>); 2] {
        let sides = self.vtree.children(v).expect("sums are at inner nodes");
        let below =
            |side| term.iter().copied().filter(|lit| self.vtree.is_below(self.vtree.leaf(lit.var), side)).collect();
        sides.map(|side| (side, below(side)))
    }

    /// The product of these literals, made with all its descendants if necessary.
    fn plain_node(&mut self, v: VtreeId, term: Vec<Lit>) -> DraftId {
        let key = (v, term);
        let mut missing = Vec::new();
        let mut stack = vec![key.clone()];
        while let Some(key) = stack.pop() {
            // A node without parents has released its children.
            if self.plain.get(&key).is_some_and(|&id| self.nodes[id].parents > 0) {
                continue;
            }
            if !key.0.is_leaf() {
                stack.extend(self.parts_of(key.0, &key.1));
            }
            missing.push(key);
        }
        for (v, term) in missing.into_iter().rev() {
            let id = match (self.vtree.leaf_var(v), term.first()) {
                (Some(var), Some(lit)) => self.literals_of(var)[usize::from(lit.value)],
                (Some(var), None) => self.push_plain(v, &term, Kind::Top(var, [0.0; 2])),
                (None, _) => {
                    let [prime, sub] = self.parts_of(v, &term).map(|key| self.plain[&key]);
                    self.nodes[prime].parents += 1;
                    self.nodes[sub].parents += 1;
                    self.push_plain(v, &term, Kind::Sum(vec![Branch { prime, sub, rows: Vec::new(), count: 0.0 }]))
                }
            };
            self.plain.insert((v, term), id);
        }
        self.plain[&key]
    }

    fn push_plain(&mut self, vtree: VtreeId, term: &[Lit], kind: Kind) -> DraftId {
        self.nodes.push(DraftNode { vtree, kind, parents: 0, term: Some(term.into()) });
        self.nodes.len() - 1
    }
}

/// A term with one more literal.
pub(super) fn with_literal(term: &[Lit], lit: Lit) -> Arc<[Lit]> {
    let mut more = term.to_vec();
    if let Err(place) = more.binary_search(&lit) {
        more.insert(place, lit);
    }
    more.into()
}
