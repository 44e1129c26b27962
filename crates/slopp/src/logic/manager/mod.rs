//! Combining formulas: all diagrams over one vtree, each kept once.

mod collect;
mod conjoin;
mod counter;
mod extract;
mod join;
mod places;
mod quantify;
mod sums;
mod tables;

use crate::limits::{LOOK_EVERY, Limit, Limits, Stopped, array_bytes};
use crate::var::Lit;
use crate::vtree::{Vtree, VtreeId};
use places::Places;
use std::ops::Not;
use std::sync::Arc;
use tables::{Memo, Unique, hash_of};

/// A formula in a [`Manager`]: equal handles of one manager are equivalent formulas.
///
/// The lowest bit says that the node is negated, so negation is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(u32);

impl Handle {
    /// The formula that always holds.
    pub const TRUE: Handle = Handle(0);
    /// The formula that never holds.
    pub const FALSE: Handle = Handle(1);

    fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// This formula, or its negation.
    fn negated_if(self, condition: bool) -> Handle {
        Handle(self.0 ^ u32::from(condition))
    }
}

impl Not for Handle {
    type Output = Handle;

    fn not(self) -> Handle {
        Handle(self.0 ^ 1)
    }
}

/// A prime and a sub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Element {
    prime: Handle,
    sub: Handle,
}

/// A decision owns the elements from `start`; constants and literals own none.
#[derive(Clone, Copy)]
struct Node {
    vtree: u32,
    start: u32,
    len: u32,
}

/// Canonical SDDs over one vtree: trimmed, compressed, each formula once.
///
/// ```
/// use slopp::logic::{Handle, Limits, Manager};
/// use slopp::{Var, Vtree};
/// let mut manager = Manager::new(Vtree::balanced(4), Limits::default());
/// let [a, b, c, _] = [0, 1, 2, 3].map(|i| manager.literal(Var(i).is(true)));
/// let both = manager.and(a, b)?;
/// let rule = manager.or(!both, c)?; // a & b -> c
/// assert_eq!(manager.sdd(rule).model_count(), 14u32.into());
/// let without = manager.condition(rule, &[Var(2).is(false)])?;
/// assert_eq!(without, !both);
/// assert_eq!(manager.and(rule, !rule)?, Handle::FALSE);
/// # Ok::<(), slopp::logic::Stopped>(())
/// ```
///
/// How it works: nodes are an array, children before parents. A node stands for a formula and, negated, for its
/// opposite: decisions are stored such that the sub of their first element is not negated. So only conjunction is
/// needed, and one memo serves both operations. Nothing recurses: a conjunction keeps its own stack, at most as deep as
/// the vtree. Nothing is thrown away until [`Manager::collect`] is called.
///
/// References: A. Darwiche, SDD: A New Canonical Representation of Propositional Knowledge Bases, IJCAI 2011; A. Choi and
/// A. Darwiche, Dynamic Minimization of Sentential Decision Diagrams, AAAI 2013.
pub struct Manager {
    vtree: Arc<Vtree>,
    places: Places,
    nodes: Vec<Node>,
    hashes: Vec<u32>,
    elements: Vec<Element>,
    unique: Unique,
    memo: Memo,
    limits: Limits,
    steps: u64,
    /// Stacks of the conjunction under way.
    frames: Vec<conjoin::Frame>,
    rights: Vec<Element>,
    products: Vec<Element>,
    /// Whether nodes may be thrown away while a list is joined, and how many nodes must be there to do so.
    pub(super) collects: bool,
    collect_at: usize,
}

impl Manager {
    /// A manager without any formula.
    pub fn new(vtree: impl Into<Arc<Vtree>>, limits: Limits) -> Manager {
        let vtree = vtree.into();
        let mut nodes = vec![Node { vtree: 0, start: 0, len: 0 }];
        let leaf = |i: u32| vtree.leaf(crate::var::Var(i)).0;
        nodes.extend((0..vtree.var_count() as u32).map(|i| Node { vtree: leaf(i), start: 0, len: 0 }));
        Manager {
            places: Places::new(&vtree),
            hashes: vec![0; nodes.len()],
            nodes,
            elements: Vec::new(),
            unique: Unique::new(),
            memo: Memo::new(limits.bytes / 2),
            limits,
            steps: 0,
            frames: Vec::new(),
            rights: Vec::new(),
            products: Vec::new(),
            collects: false,
            collect_at: 1 << 16,
            vtree,
        }
    }

    /// The vtree.
    pub fn vtree(&self) -> &Arc<Vtree> {
        &self.vtree
    }

    /// How many nodes there are, constants and literals included.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// How many elements its decisions have.
    pub fn element_count(&self) -> usize {
        self.elements.len()
    }

    /// How many pairs of diagrams were combined so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many bytes are in use.
    pub fn bytes(&self) -> usize {
        12 * self.nodes.capacity()
            + 4 * self.hashes.capacity()
            + 8 * (self.elements.capacity() + self.rights.capacity() + self.products.capacity())
            + self.unique.bytes()
            + self.memo.bytes()
            + self.places.bytes()
    }

    /// The formula of a literal.
    ///
    /// # Panics
    /// If the variable is not in the vtree.
    pub fn literal(&self, lit: Lit) -> Handle {
        assert!(lit.var.index() < self.vtree.var_count(), "the variable is in the vtree");
        Handle(2 * lit.var.number()).negated_if(!lit.value)
    }

    /// The disjunction of two formulas.
    pub fn or(&mut self, a: Handle, b: Handle) -> Result<Handle, Stopped> {
        Ok(!self.and(!a, !b)?)
    }

    /// `a` if `condition` holds, else `b`.
    pub fn if_else(&mut self, condition: Handle, a: Handle, b: Handle) -> Result<Handle, Stopped> {
        let (yes, no) = (self.and(condition, a)?, self.and(!condition, b)?);
        self.or(yes, no)
    }

    /// Whether every world of `a` is one of `b`.
    pub fn implies(&mut self, a: Handle, b: Handle) -> Result<bool, Stopped> {
        Ok(self.and(a, !b)? == Handle::FALSE)
    }

    /// A world in which a formula holds, with variables it does not care about false; `None` if there is none.
    pub fn world(&self, formula: Handle) -> Option<Vec<bool>> {
        if formula == Handle::FALSE {
            return None;
        }
        let mut world = vec![false; self.vtree.var_count()];
        let mut stack = vec![formula];
        while let Some(formula) = stack.pop() {
            match self.lit_of(formula) {
                Some(lit) => world[lit.var.index()] = lit.value,
                None if formula == Handle::TRUE => {}
                None => {
                    let element = self.elements_of(formula).find(|e| e.sub != Handle::FALSE);
                    let element = element.expect("a decision that is not false has an element");
                    stack.extend([element.prime, element.sub]);
                }
            }
        }
        Some(world)
    }

    /// The vtree node of a formula; `None` for constants.
    fn vtree_of(&self, formula: Handle) -> Option<VtreeId> {
        (formula.node() > 0).then(|| VtreeId(self.nodes[formula.node()].vtree))
    }

    /// The literal a formula is.
    pub(crate) fn lit_of(&self, formula: Handle) -> Option<Lit> {
        let var = crate::var::Var::from_number(formula.0 >> 1)?;
        (var.index() < self.vtree.var_count()).then(|| var.is(!formula.is_negated()))
    }

    /// The elements of a decision, subs negated if it is.
    fn elements_of(&self, formula: Handle) -> impl ExactSizeIterator<Item = Element> + '_ {
        let Node { start, len, .. } = self.nodes[formula.node()];
        let elements = &self.elements[start as usize..(start + len) as usize];
        elements.iter().map(move |e| Element { sub: e.sub.negated_if(formula.is_negated()), ..*e })
    }

    /// The decision over elements with exclusive, exhaustive primes that are not false, and different subs: trimmed,
    /// then found or made. The elements are put in order.
    fn decision(&mut self, vtree: u32, elements: &mut [Element]) -> Result<Handle, Stopped> {
        match elements {
            [only] => return Ok(only.sub),
            [a, b] if a.sub.node() == 0 && b.sub.node() == 0 => {
                return Ok(if a.sub == Handle::TRUE { a.prime } else { b.prime });
            }
            _ => {}
        }
        elements.sort_unstable_by_key(|e| e.prime);
        let negated = elements[0].sub.is_negated();
        if negated {
            elements.iter_mut().for_each(|e| e.sub = !e.sub);
        }
        let hash = hash_of(vtree, elements);
        let is_it = |node: u32| {
            let found = &self.nodes[node as usize];
            self.hashes[node as usize] == hash
                && found.vtree == vtree
                && self.elements[found.start as usize..(found.start + found.len) as usize] == *elements
        };
        let node = match self.unique.find(hash, is_it) {
            Ok(node) => node,
            Err(place) => {
                self.check_size()?;
                let node = self.nodes.len() as u32;
                self.nodes.push(Node { vtree, start: self.elements.len() as u32, len: elements.len() as u32 });
                self.hashes.push(hash);
                self.elements.extend_from_slice(elements);
                self.unique.insert(place, node, &self.hashes);
                node
            }
        };
        Ok(Handle(2 * node).negated_if(negated))
    }

    /// How many bytes are in use, or will be while what is nearly full grows.
    fn needed(&self) -> usize {
        let arrays = [&self.elements, &self.rights, &self.products].map(array_bytes).into_iter().sum::<usize>();
        let nodes = array_bytes(&self.nodes) + array_bytes(&self.hashes);
        nodes + arrays + self.unique.needed() + self.memo.bytes() + self.places.bytes()
    }

    fn check_size(&self) -> Result<(), Stopped> {
        /// Handles have 31 bits for the node.
        const MOST: usize = i32::MAX as usize;
        let most = self.limits.nodes.min(MOST);
        if self.nodes.len() >= most {
            return Err(self.stopped(Limit::Nodes(most)));
        }
        if self.nodes.len().is_multiple_of(LOOK_EVERY) && self.needed() > self.limits.bytes
            || self.elements.len() >= MOST
        {
            return Err(self.stopped(Limit::Bytes(self.limits.bytes)));
        }
        Ok(())
    }

    fn check_steps(&mut self) -> Result<(), Stopped> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            return Err(self.stopped(Limit::Steps(self.limits.steps)));
        }
        if self.steps.is_multiple_of(4096) && self.limits.is_cancelled() {
            return Err(self.stopped(Limit::Cancelled));
        }
        Ok(())
    }

    fn stopped(&self, limit: Limit) -> Stopped {
        Stopped { limit, nodes: self.nodes.len(), bytes: self.bytes(), rules: None }
    }
}
