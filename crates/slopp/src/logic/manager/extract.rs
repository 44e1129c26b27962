//! Between the diagrams of a manager and the read-only [`Sdd`], which has no negated nodes.

use super::{Element, Handle, Manager};
use crate::limits::Stopped;
use crate::logic::sdd::{Sdd, SddElement, SddId, SddNode};
use crate::vtree::VtreeId;

impl Manager {
    /// The formula as a diagram of its own.
    pub fn sdd(&self, formula: Handle) -> Sdd {
        let reached = self.reached(formula);
        let mut new_ids = vec![SddId(0); reached.len()];
        let (mut nodes, mut elements) = (Vec::new(), Vec::new());
        for i in (0..reached.len()).filter(|&i| reached[i]) {
            let handle = Handle(i as u32);
            new_ids[i] = SddId(nodes.len() as u32);
            nodes.push(match (handle, self.lit_of(handle)) {
                (Handle::TRUE, _) => SddNode::True,
                (Handle::FALSE, _) => SddNode::False,
                (_, Some(lit)) => SddNode::Literal(lit),
                (_, None) => {
                    let start = elements.len() as u32;
                    elements.extend(
                        self.elements_of(handle)
                            .map(|e| SddElement { prime: new_ids[e.prime.0 as usize], sub: new_ids[e.sub.0 as usize] }),
                    );
                    let vtree = VtreeId(self.nodes[handle.node()].vtree);
                    SddNode::Decision { vtree, start, end: elements.len() as u32 }
                }
            });
        }
        Sdd::promised(self.vtree.clone(), nodes, elements).expect("managers keep the invariants")
    }

    /// How many decisions and elements the diagram of a formula has, as [`Sdd::size`] counts.
    pub fn size(&self, formula: Handle) -> (usize, usize) {
        let handles = self.reached(formula).into_iter().enumerate().filter(|(_, reached)| *reached);
        let lengths = handles.map(|(i, _)| self.nodes[i / 2].len as usize).filter(|&len| len > 0);
        lengths.fold((0, 0), |(decisions, elements), len| (decisions + 1, elements + len))
    }

    /// The formula of a diagram over the same vtree, which need not be canonical.
    ///
    /// # Panics
    /// If the diagram has another vtree.
    pub fn import(&mut self, sdd: &Sdd) -> Result<Handle, Stopped> {
        assert_eq!(**sdd.vtree(), *self.vtree, "one vtree");
        let mut handles: Vec<Handle> = Vec::with_capacity(sdd.nodes().len());
        for id in sdd.ids() {
            handles.push(match sdd.node(id) {
                SddNode::False => Handle::FALSE,
                SddNode::True => Handle::TRUE,
                SddNode::Literal(lit) => self.literal(lit),
                SddNode::Decision { vtree, .. } => {
                    let elements = sdd.elements_of(id).iter();
                    let elements = elements.map(|e| (handles[e.prime.index()], handles[e.sub.index()])).collect();
                    self.partition(vtree, elements)?
                }
            });
        }
        Ok(handles[sdd.root().index()])
    }

    /// The formula of a decision at an inner vtree node: primes must be exclusive and cover everything, over left
    /// variables, subs over right ones.
    pub fn partition(&mut self, v: VtreeId, elements: Vec<(Handle, Handle)>) -> Result<Handle, Stopped> {
        let elements = elements.into_iter().map(|(prime, sub)| Element { prime, sub });
        let mut elements: Vec<Element> = elements.filter(|e| e.prime != Handle::FALSE).collect();
        elements.sort_unstable_by_key(|e| (e.sub, e.prime));
        let mut merged: Vec<Element> = Vec::with_capacity(elements.len());
        for e in elements {
            match merged.last_mut() {
                Some(last) if last.sub == e.sub => last.prime = self.or(last.prime, e.prime)?,
                _ => merged.push(e),
            }
        }
        self.decision(v.0, &mut merged)
    }

    /// The primes and subs of a formula at an inner vtree node, which is its own or above it.
    pub(crate) fn elements_at(&self, formula: Handle, v: VtreeId) -> Vec<(Handle, Handle)> {
        let [left, _] = self.vtree.children(v).expect("elements are at inner vtree nodes");
        match self.vtree_of(formula) {
            Some(own) if own == v => self.elements_of(formula).map(|e| (e.prime, e.sub)).collect(),
            Some(own) if self.vtree.is_below(own, left) => {
                vec![(formula, Handle::TRUE), (!formula, Handle::FALSE)]
            }
            _ => vec![(Handle::TRUE, formula)],
        }
    }

    /// Which handles are needed for a formula, up to its own.
    fn reached(&self, formula: Handle) -> Vec<bool> {
        let mut reached = vec![false; formula.0 as usize + 1];
        reached[formula.0 as usize] = true;
        for i in (0..reached.len()).rev().filter(|i| i / 2 > self.vtree.var_count()) {
            if reached[i] {
                for e in self.elements_of(Handle(i as u32)) {
                    reached[e.prime.0 as usize] = true;
                    reached[e.sub.0 as usize] = true;
                }
            }
        }
        reached
    }
}
