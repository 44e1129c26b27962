//! Joining many formulas in the order of the vtree.
//!
//! What lies deep in the vtree is joined first, and meets others at the lowest vtree node above both, as libsdd does
//! with clauses: intermediate diagrams stay local.

use super::{Handle, Manager};
use crate::limits::Stopped;
use crate::vtree::VtreeId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What meets at a vtree node.
struct Meeting<T> {
    vtree: u32,
    from_below: Vec<T>,
    own: Vec<usize>,
    before: Option<usize>,
    after: Option<usize>,
}

impl Manager {
    /// The conjunction of formulas; true if there are none.
    pub fn and_all(&mut self, mut formulas: Vec<Handle>) -> Result<Handle, Stopped> {
        // The caller holds other handles.
        let collects = std::mem::replace(&mut self.collects, false);
        let outcome = self.join(&mut formulas, 0, &mut |_| ());
        self.collects = collects;
        outcome?;
        Ok(formulas[0])
    }

    /// The disjunction of formulas; false if there are none.
    pub fn or_all(&mut self, formulas: Vec<Handle>) -> Result<Handle, Stopped> {
        Ok(!self.and_all(formulas.into_iter().map(|f| !f).collect())?)
    }

    /// Whether an odd number of the formulas holds.
    pub fn xor_all(&mut self, formulas: &[Handle]) -> Result<Handle, Stopped> {
        let odd = formulas.iter().filter(|f| **f == Handle::TRUE).count() % 2 == 1;
        let order = formulas.iter().enumerate();
        let order = order.filter_map(|(i, &formula)| Some((self.vtree_of(formula)?.0, i))).collect();
        let result = self.meet(order, |manager, _, below: Vec<Handle>, own| {
            let mut all = below.into_iter().chain(own.into_iter().map(|i| formulas[i]));
            let first = all.next().expect("somebody meets here");
            all.try_fold(first, |a, b| manager.if_else(a, !b, b))
        })?;
        Ok(result.unwrap_or(Handle::FALSE).negated_if(odd))
    }

    /// Puts the conjunction of the formulas from `start` on in their place; tells how many were joined.
    ///
    /// All formulas of the list survive if nodes are collected in between.
    pub(in crate::logic) fn join(
        &mut self,
        stack: &mut Vec<Handle>,
        start: usize,
        joined: &mut dyn FnMut(usize),
    ) -> Result<(), Stopped> {
        if stack[start..].contains(&Handle::FALSE) {
            stack.truncate(start);
            stack.push(Handle::FALSE);
            return Ok(());
        }
        let formulas = stack.iter().enumerate().skip(start);
        let mut order: Vec<(u32, usize)> =
            formulas.filter_map(|(i, &formula)| Some((self.vtree_of(formula)?.0, i))).collect();
        order.sort_by_key(|&(_, i)| self.nodes[stack[i].node()].len);
        let result = self.meet(order, |manager, _, below: Vec<usize>, own| {
            let mut formulas = below.into_iter().chain(own);
            let first = formulas.next().expect("somebody meets here");
            for other in formulas {
                stack[first] = manager.and(stack[first], stack[other])?;
                stack[other] = Handle::TRUE;
                joined(1);
                manager.collect_if_full(stack);
            }
            Ok(first)
        })?;
        let result = result.map_or(Handle::TRUE, |i| stack[i]);
        stack.truncate(start);
        stack.push(result);
        Ok(())
    }

    /// Joins what is at vtree nodes from the bottom up: `meet` is called once for each vtree node where something is
    /// or meets, with what comes from below it and what is there; it gives what goes up. What goes up at last, if anything.
    pub(super) fn meet<T>(
        &mut self,
        mut order: Vec<(u32, usize)>,
        mut meet: impl FnMut(&mut Manager, u32, Vec<T>, Vec<usize>) -> Result<T, Stopped>,
    ) -> Result<Option<T>, Stopped> {
        order.sort_by_key(|&(v, _)| v);
        let mut meetings: Vec<Meeting<T>> = Vec::new();
        for (vtree, i) in order {
            match meetings.last_mut() {
                Some(last) if last.vtree == vtree => last.own.push(i),
                _ => {
                    let before = meetings.len().checked_sub(1);
                    meetings.push(Meeting { vtree, from_below: Vec::new(), own: vec![i], before, after: None });
                }
            }
        }
        for i in 1..meetings.len() {
            meetings[i - 1].after = Some(i);
        }
        let entry = |manager: &Manager, v: u32, i: usize| Reverse((manager.vtree.rank(VtreeId(v)), i));
        let mut agenda: BinaryHeap<Reverse<(usize, usize)>> =
            meetings.iter().enumerate().map(|(i, m)| entry(self, m.vtree, i)).collect();
        while let Some(Reverse((_, i))) = agenda.pop() {
            let Meeting { vtree, before, after, .. } = meetings[i];
            let below = std::mem::take(&mut meetings[i].from_below);
            let own = std::mem::take(&mut meetings[i].own);
            let joined = meet(self, vtree, below, own)?;
            // The next to meet is the neighbour whose lowest common vtree node is deeper.
            let place = |n: Option<usize>| n.map(|n| (self.places.lowest_common(vtree, meetings[n].vtree), n));
            let depth = |m: &(u32, usize)| self.places.depth(m.0);
            let Some((at, neighbour)) = [place(before), place(after)].into_iter().flatten().max_by_key(depth) else {
                return Ok(Some(joined));
            };
            if meetings[neighbour].vtree == at {
                meetings[neighbour].from_below.push(joined);
                if let Some(before) = before {
                    meetings[before].after = after;
                }
                if let Some(after) = after {
                    meetings[after].before = before;
                }
            } else {
                meetings[i].vtree = at;
                meetings[i].from_below.push(joined);
                agenda.push(entry(self, at, i));
            }
        }
        Ok(None)
    }
}
