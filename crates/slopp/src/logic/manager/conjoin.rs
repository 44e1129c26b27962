//! The conjunction of two diagrams, with an explicit stack.
//!
//! Two decisions of one vtree node are multiplied: a prime and a sub for each pair of elements whose primes share a
//! world. Three things keep that small. Elements with sub false need no multiplication. A prime inside another one
//! shares no world with the rest. A diagram below the vtree node of the other meets only its primes, or only its subs.
//! Products with equal subs are then merged.
//!
//! Many formulas are joined in the order of the vtree, as libsdd does with clauses: deep ones first, each at the lowest
//! vtree node above both operands, so intermediate diagrams stay local.

use super::Relation;
use super::{Element, Handle, Manager};
use crate::limits::Stopped;
use crate::var::{Lit, Var};
use crate::vtree::VtreeId;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A conjunction in progress.
pub(super) struct Frame {
    /// The operands, as in the memo.
    key: (Handle, Handle),
    vtree: u32,
    work: Work,
    /// The decision whose elements are visited.
    upper: Handle,
    /// The other operand, unless it is a decision of the same vtree node.
    lower: Handle,
    /// The next elements of `upper` and of `rights`.
    i: u32,
    j: u32,
    /// The prime whose sub is being computed, and whether it uses up the left prime.
    prime: Handle,
    used_up: bool,
    /// Where the parts of this frame start in the shared stacks.
    rights_start: usize,
    products_start: usize,
    /// Products up to here are merged, and the next one to compare.
    merged: usize,
    next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Primes with primes.
    Primes,
    /// Subs with subs, for the prime just found.
    Subs,
    /// Primes with a formula over left variables.
    Left,
    /// Subs with a formula over right variables.
    Right,
    /// Primes of equal subs.
    Merge,
}

enum Outcome {
    Needs(Handle, Handle),
    Done(Handle),
}

impl Manager {
    /// The conjunction of two formulas.
    ///
    /// Cost: at most one product of elements for each pair of nodes below the two.
    pub fn and(&mut self, a: Handle, b: Handle) -> Result<Handle, Stopped> {
        let found = self.and_within(a, b);
        if found.is_err() {
            self.frames.clear();
            self.rights.clear();
            self.products.clear();
        }
        found
    }

    fn and_within(&mut self, a: Handle, b: Handle) -> Result<Handle, Stopped> {
        if let Some(known) = self.known(a, b)? {
            return Ok(known);
        }
        let base = self.frames.len();
        self.open(a, b)?;
        let mut answer = None;
        loop {
            let mut frame = self.frames.pop().expect("not yet done");
            match self.go_on(&mut frame, answer.take())? {
                Outcome::Needs(x, y) => {
                    self.frames.push(frame);
                    self.open(x, y)?;
                }
                Outcome::Done(result) => {
                    self.memo.insert(frame.key.0, frame.key.1, result);
                    self.rights.truncate(frame.rights_start);
                    self.products.truncate(frame.products_start);
                    if self.frames.len() == base {
                        return Ok(result);
                    }
                    answer = Some(result);
                }
            }
        }
    }

    /// The conjunction, if it needs no products.
    fn known(&mut self, a: Handle, b: Handle) -> Result<Option<Handle>, Stopped> {
        if a == b || b == Handle::TRUE {
            return Ok(Some(a));
        }
        if a == Handle::TRUE {
            return Ok(Some(b));
        }
        if a == !b || a == Handle::FALSE || b == Handle::FALSE {
            return Ok(Some(Handle::FALSE));
        }
        let (first, second) = if a < b { (a, b) } else { (b, a) };
        if let Some(result) = self.memo.result(first, second) {
            return Ok(Some(result));
        }
        let (v, w) = (self.nodes[a.node()].vtree, self.nodes[b.node()].vtree);
        if self.places.relation(v, w) != Relation::Apart {
            return Ok(None);
        }
        self.check_steps()?;
        let (left, right) = if v < w { (a, b) } else { (b, a) };
        let mut elements = [Element { prime: left, sub: right }, Element { prime: !left, sub: Handle::FALSE }];
        self.decision(self.places.lowest_common(v, w), &mut elements).map(Some)
    }

    /// Starts an unknown conjunction.
    fn open(&mut self, a: Handle, b: Handle) -> Result<(), Stopped> {
        self.check_steps()?;
        let key = if a < b { (a, b) } else { (b, a) };
        let relation = self.places.relation(self.nodes[a.node()].vtree, self.nodes[b.node()].vtree);
        let (upper, lower, work) = match relation {
            Relation::Same => {
                // Visiting the shorter one leaves the longer one to be used up.
                let shorter = self.nodes[a.node()].len <= self.nodes[b.node()].len;
                if shorter { (a, b, Work::Primes) } else { (b, a, Work::Primes) }
            }
            Relation::BelowLeft => (a, b, Work::Left),
            Relation::BelowRight => (a, b, Work::Right),
            Relation::AboveLeft => (b, a, Work::Left),
            Relation::AboveRight => (b, a, Work::Right),
            Relation::Apart => unreachable!("known without products"),
        };
        let (rights_start, products_start) = (self.rights.len(), self.products.len());
        match work {
            Work::Primes => {
                let node = self.nodes[lower.node()];
                for e in &self.elements[node.start as usize..(node.start + node.len) as usize] {
                    let e = Element { prime: e.prime, sub: e.sub.negated_if(lower.is_negated()) };
                    let list = if e.sub == Handle::FALSE { &mut self.products } else { &mut self.rights };
                    list.push(e);
                }
            }
            Work::Left => self.products.push(Element { prime: !lower, sub: Handle::FALSE }),
            _ => {}
        }
        self.frames.push(Frame {
            key,
            vtree: self.nodes[upper.node()].vtree,
            work,
            upper,
            lower,
            i: 0,
            j: 0,
            prime: Handle::FALSE,
            used_up: false,
            rights_start,
            products_start,
            merged: products_start,
            next: products_start,
        });
        Ok(())
    }

    /// Continues until it needs another conjunction, whose answer comes with the next call.
    fn go_on(&mut self, frame: &mut Frame, mut answer: Option<Handle>) -> Result<Outcome, Stopped> {
        let node = self.nodes[frame.upper.node()];
        while frame.work != Work::Merge {
            if frame.i == node.len {
                self.begin_merge(frame);
                break;
            }
            let mut left = self.elements[(node.start + frame.i) as usize];
            left.sub = left.sub.negated_if(frame.upper.is_negated());
            if left.sub == Handle::FALSE {
                self.products.push(left);
                frame.i += 1;
                continue;
            }
            let (x, y) = match frame.work {
                Work::Left => (left.prime, frame.lower),
                Work::Right => (left.sub, frame.lower),
                Work::Primes | Work::Subs => {
                    let Some(right) = self.rights.get(frame.rights_start + frame.j as usize) else {
                        (frame.i, frame.j) = (frame.i + 1, 0);
                        continue;
                    };
                    if frame.work == Work::Primes { (left.prime, right.prime) } else { (left.sub, right.sub) }
                }
                Work::Merge => unreachable!("products are not merged yet"),
            };
            let result = match answer.take() {
                Some(result) => result,
                None => match self.known(x, y)? {
                    Some(result) => result,
                    None => return Ok(Outcome::Needs(x, y)),
                },
            };
            match frame.work {
                Work::Left => {
                    if result != Handle::FALSE {
                        self.products.push(Element { prime: result, sub: left.sub });
                    }
                    frame.i += 1;
                }
                Work::Right => {
                    self.products.push(Element { prime: left.prime, sub: result });
                    frame.i += 1;
                }
                Work::Primes if result == Handle::FALSE => frame.j += 1,
                Work::Primes => {
                    frame.prime = result;
                    frame.used_up = result == left.prime;
                    frame.work = Work::Subs;
                }
                _ => {
                    self.products.push(Element { prime: frame.prime, sub: result });
                    let at = frame.rights_start + frame.j as usize;
                    // A right prime inside the left one meets no other left prime.
                    if frame.prime == self.rights[at].prime {
                        self.rights.swap_remove(at);
                    } else {
                        frame.j += 1;
                    }
                    if frame.used_up {
                        (frame.i, frame.j) = (frame.i + 1, 0);
                    }
                    frame.work = Work::Primes;
                }
            }
        }
        while let Some(&e) = self.products.get(frame.next) {
            if frame.next > frame.merged && self.products[frame.merged].sub == e.sub {
                let last = self.products[frame.merged].prime;
                let result = match answer.take() {
                    Some(result) => result,
                    None => match self.known(!last, !e.prime)? {
                        Some(result) => result,
                        None => return Ok(Outcome::Needs(!last, !e.prime)),
                    },
                };
                self.products[frame.merged].prime = !result;
            } else {
                if frame.next > frame.products_start {
                    frame.merged += 1;
                }
                self.products[frame.merged] = e;
            }
            frame.next += 1;
        }
        let mut products = std::mem::take(&mut self.products);
        let result = self.decision(frame.vtree, &mut products[frame.products_start..=frame.merged]);
        self.products = products;
        Ok(Outcome::Done(result?))
    }

    fn begin_merge(&mut self, frame: &mut Frame) {
        frame.work = Work::Merge;
        self.products[frame.products_start..].sort_unstable_by_key(|e| (e.sub, e.prime));
    }
}

/// Formulas that meet at a vtree node.
struct Meeting<T> {
    vtree: u32,
    from_below: Vec<T>,
    own: Vec<usize>,
    before: Option<usize>,
    after: Option<usize>,
}

impl Manager {
    /// The conjunction of formulas; true if there are none.
    pub(crate) fn and_all(&mut self, mut formulas: Vec<Handle>) -> Result<Handle, Stopped> {
        // The caller holds other handles.
        let collects = std::mem::replace(&mut self.collects, false);
        let outcome = self.join(&mut formulas, 0, &mut |_| ());
        self.collects = collects;
        outcome?;
        Ok(formulas[0])
    }

    /// The disjunction of formulas; false if there are none.
    pub(crate) fn or_all(&mut self, formulas: Vec<Handle>) -> Result<Handle, Stopped> {
        Ok(!self.and_all(formulas.into_iter().map(|f| !f).collect())?)
    }

    /// Whether an odd number of the formulas holds.
    pub(crate) fn xor_all(&mut self, formulas: &[Handle]) -> Result<Handle, Stopped> {
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

    /// Replaces the formulas from `start` on by their conjunction; returns how many were joined.
    ///
    /// All formulas of the list survive garbage collection.
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

    /// Joins formulas at vtree nodes from the bottom up. `meet` is called once for each vtree node with formulas, with
    /// those from below and those at the node, and returns what goes up. The result is what leaves the root, if
    /// anything.
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

impl Manager {
    /// The formula where these literals hold; it no longer depends on their variables.
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

    /// The formula that holds where some values of these variables make `formula` hold.
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

    /// The decisions below a formula at these vtree nodes, children first; negations are separate or not.
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
