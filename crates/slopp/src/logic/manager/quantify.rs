//! Fixing variables and forgetting them.

use super::{Handle, Manager};
use crate::limits::Stopped;
use crate::var::{Lit, Var};
use crate::vtree::VtreeId;
use rustc_hash::FxHashMap;

impl Manager {
    /// The formula where literals are known to hold; it no longer depends on their variables.
    ///
    /// Of two literals of one variable the last one counts.
    pub fn condition(&mut self, formula: Handle, lits: &[Lit]) -> Result<Handle, Stopped> {
        let mut known: Vec<Option<bool>> = vec![None; self.vtree.var_count()];
        lits.iter().for_each(|lit| known[lit.var.index()] = Some(lit.value));
        let touched = self.vtrees_over(|var| known[var.index()].is_some());
        let mut done: FxHashMap<u32, Handle> = FxHashMap::default();
        for node in self.decisions_below(formula, &touched, false) {
            let vtree = VtreeId(self.nodes[node.node()].vtree);
            let now = |handle: Handle| match self.lit_of(handle) {
                Some(lit) => known[lit.var.index()]
                    .map_or(handle, |value| if value == lit.value { Handle::TRUE } else { Handle::FALSE }),
                None => {
                    let positive = handle.negated_if(handle.is_negated());
                    done.get(&positive.0).map_or(handle, |new| new.negated_if(handle.is_negated()))
                }
            };
            let elements = self.elements_of(node).map(|e| (now(e.prime), now(e.sub))).collect();
            let new = self.partition(vtree, elements)?;
            done.insert(node.0, new);
        }
        Ok(match self.lit_of(formula) {
            Some(lit) => known[lit.var.index()]
                .map_or(formula, |value| if value == lit.value { Handle::TRUE } else { Handle::FALSE }),
            None => {
                let positive = formula.negated_if(formula.is_negated());
                done.get(&positive.0).map_or(formula, |new| new.negated_if(formula.is_negated()))
            }
        })
    }

    /// The formula that holds where some values of these variables would make `formula` hold.
    ///
    /// Unlike conditioning, forgetting variables can make a diagram exponentially larger.
    pub fn exists(&mut self, formula: Handle, vars: &[Var]) -> Result<Handle, Stopped> {
        let mut forgotten = vec![false; self.vtree.var_count()];
        vars.iter().for_each(|var| forgotten[var.index()] = true);
        let touched = self.vtrees_over(|var| forgotten[var.index()]);
        let mut done: FxHashMap<u32, Handle> = FxHashMap::default();
        for node in self.decisions_below(formula, &touched, true) {
            let elements: Vec<_> = self.elements_of(node).collect();
            let mut terms = Vec::with_capacity(elements.len());
            for e in elements.into_iter().filter(|e| e.sub != Handle::FALSE) {
                let [prime, sub] = [e.prime, e.sub].map(|handle| self.forgot(handle, &forgotten, &done));
                terms.push(self.and(prime, sub)?);
            }
            let new = self.or_all(terms)?;
            done.insert(node.0, new);
        }
        Ok(self.forgot(formula, &forgotten, &done))
    }

    fn forgot(&self, handle: Handle, forgotten: &[bool], done: &FxHashMap<u32, Handle>) -> Handle {
        match self.lit_of(handle) {
            Some(lit) if forgotten[lit.var.index()] => Handle::TRUE,
            _ => done.get(&handle.0).copied().unwrap_or(handle),
        }
    }

    /// For each vtree node, whether it has a variable of interest.
    fn vtrees_over(&self, is_one: impl Fn(Var) -> bool) -> Vec<bool> {
        let mut over = vec![false; self.vtree.node_count()];
        for &v in self.vtree.bottom_up() {
            over[v.index()] = match (self.vtree.leaf_var(v), self.vtree.children(v)) {
                (Some(var), _) => is_one(var),
                (None, Some([left, right])) => over[left.index()] || over[right.index()],
                (None, None) => unreachable!("a node is a leaf or has children"),
            };
        }
        over
    }

    /// The decisions below a formula at these vtree nodes, children first; with negations apart, or taken as one.
    fn decisions_below(&self, formula: Handle, touched: &[bool], apart: bool) -> Vec<Handle> {
        let named = |handle: Handle| if apart { handle } else { handle.negated_if(handle.is_negated()) };
        let is_one = |handle: Handle| {
            let node = self.nodes[handle.node()];
            node.len > 0 && touched[node.vtree as usize]
        };
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut stack = vec![named(formula)];
        while let Some(handle) = stack.pop() {
            if is_one(handle) && seen.insert(handle) {
                found.push(handle);
                stack.extend(self.elements_of(handle).flat_map(|e| [e.prime, e.sub]).map(named));
            }
        }
        // Children have smaller numbers than parents.
        found.sort_unstable();
        found
    }
}
