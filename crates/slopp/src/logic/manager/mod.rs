//! Combining formulas: all diagrams on one vtree, each stored once.

mod conjoin;
mod counter;

use super::sdd::{Sdd, SddElement, SddId, SddNode};
use crate::limits::{LOOK_EVERY, Limit, Limits, Stopped, array_bytes};
use crate::var::Lit;
use crate::vtree::{Vtree, VtreeId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::ops::Not;
use std::sync::Arc;

/// A formula in a [`Manager`]: equal handles of one manager are equivalent formulas.
///
/// The lowest bit marks negation, so negation is free.
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

/// A decision owns the elements from `start` on; constants and literals own none.
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
/// Nodes are an array, children before parents. A node stands for a formula and its negation: the sub of the first
/// element of a decision is never negated. So only conjunction is needed, and one memo serves both operations. Nothing
/// recurses: a conjunction keeps its own stack, at most as deep as the vtree. Nodes are only freed by
/// [`Manager::collect`].
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
    /// Stacks of the conjunction in progress.
    frames: Vec<conjoin::Frame>,
    rights: Vec<Element>,
    products: Vec<Element>,
    /// Whether joining a list may free nodes, and from how many nodes on.
    pub(super) collects: bool,
    collect_at: usize,
}

impl Manager {
    /// A manager without formulas.
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
            memo: Memo::new(limits.bytes / 4),
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

    /// The limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The number of nodes, constants and literals included.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of elements of decisions.
    pub(crate) fn element_count(&self) -> usize {
        self.elements.len()
    }

    /// The number of conjunctions so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The bytes in use.
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
    pub(crate) fn if_else(&mut self, condition: Handle, a: Handle, b: Handle) -> Result<Handle, Stopped> {
        let (yes, no) = (self.and(condition, a)?, self.and(!condition, b)?);
        self.or(yes, no)
    }

    /// Whether every world of `a` is a world of `b`.
    pub fn implies(&mut self, a: Handle, b: Handle) -> Result<bool, Stopped> {
        Ok(self.and(a, !b)? == Handle::FALSE)
    }

    /// A world in which a formula holds, with irrelevant variables false; `None` if there is none.
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
    /// then found or made. Sorts the elements.
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

    /// The bytes in use, including the growth of arrays that are nearly full, and what collecting takes.
    fn needed(&self) -> usize {
        let arrays = [&self.elements, &self.rights, &self.products].map(array_bytes).into_iter().sum::<usize>();
        let nodes = array_bytes(&self.nodes) + array_bytes(&self.hashes);
        // Collecting renames nodes.
        let renaming = if self.collects { size_of::<u32>() * self.nodes.capacity() } else { 0 };
        nodes + arrays + self.unique.needed() + self.memo.needed() + self.places.bytes() + renaming
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

/// The relation of the vtree nodes of two diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
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

/// A vtree prepared for questions about pairs of nodes.
///
/// In-order ids make the nodes below a node an interval, and the lowest common ancestor of two nodes the least deep
/// node between them; a table over intervals of 2ᵏ nodes finds it with two look-ups.
struct Places {
    /// First and last id below each node.
    span: Vec<[u32; 2]>,
    depth: Vec<u32>,
    /// At `k`: the least deep node among the `2ᵏ` nodes from each node on.
    least_deep: Vec<Vec<u32>>,
}

impl Places {
    fn new(vtree: &Vtree) -> Places {
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
    fn lowest_common(&self, a: u32, b: u32) -> u32 {
        let (first, last) = if a <= b { (a as usize, b as usize) } else { (b as usize, a as usize) };
        let k = (last - first + 1).ilog2() as usize;
        let (x, y) = (self.least_deep[k][first], self.least_deep[k][last + 1 - (1 << k)]);
        if self.depth[x as usize] <= self.depth[y as usize] { x } else { y }
    }

    fn relation(&self, a: u32, b: u32) -> Relation {
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

    fn depth(&self, v: u32) -> u32 {
        self.depth[v as usize]
    }

    fn bytes(&self) -> usize {
        12 * self.span.len() + self.least_deep.iter().map(|row| 4 * row.len()).sum::<usize>()
    }
}

const EMPTY: u32 = u32::MAX;

/// Finds a decision by its content: open addressing over node numbers, with cached hashes.
struct Unique {
    slots: Vec<u32>,
    used: usize,
}

impl Unique {
    fn new() -> Unique {
        Unique { slots: vec![EMPTY; 1 << 10], used: 0 }
    }

    /// The node among those with this hash that `is_it`, or where to put it.
    fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                EMPTY => return Err(at),
                node if is_it(node) => return Ok(node),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Puts a node where [`Unique::find`] said; `hashes` has those of all nodes.
    fn insert(&mut self, at: usize, node: u32, hashes: &[u32]) {
        self.slots[at] = node;
        self.used += 1;
        if 2 * self.used > self.slots.len() {
            let nodes: Vec<u32> = self.slots.iter().copied().filter(|&node| node != EMPTY).collect();
            self.rebuild(nodes.into_iter(), 2 * self.slots.len(), hashes);
        }
    }

    /// Holds exactly these nodes.
    fn refill(&mut self, nodes: std::ops::Range<u32>, hashes: &[u32]) {
        let slots = (4 * nodes.len()).next_power_of_two().max(1 << 10);
        self.rebuild(nodes, slots, hashes);
    }

    fn bytes(&self) -> usize {
        4 * self.slots.len()
    }

    /// The bytes in use, or needed to rebuild a table that is nearly full.
    fn needed(&self) -> usize {
        if 2 * self.used > self.slots.len() / 8 * 7 { 4 * self.bytes() } else { self.bytes() }
    }

    fn rebuild(&mut self, nodes: impl ExactSizeIterator<Item = u32>, slots: usize, hashes: &[u32]) {
        self.used = nodes.len();
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        for node in nodes {
            let mut at = hashes[node as usize] as usize & (slots - 1);
            while self.slots[at] != EMPTY {
                at = (at + 1) & (slots - 1);
            }
            self.slots[at] = node;
        }
    }
}

/// The hash of a decision.
fn hash_of(vtree: u32, elements: &[Element]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write_u32(vtree);
    for e in elements {
        hasher.write_u64(u64::from(e.prime.0) << 32 | u64::from(e.sub.0));
    }
    let hash = hasher.finish();
    (hash >> 32) as u32 ^ hash as u32
}

/// Remembers results of conjunctions; newer ones may replace older ones.
struct Memo {
    slots: Vec<[u32; 3]>,
    inserted: usize,
    /// The most slots, however many nodes there are.
    most: usize,
}

impl Memo {
    const MOST_SLOTS: usize = 1 << 24;

    /// A memo of at most this many bytes: forgetting only costs time.
    fn new(bytes: usize) -> Memo {
        Memo { slots: vec![[EMPTY; 3]; 1 << 12], inserted: 0, most: (bytes / 12).min(Memo::MOST_SLOTS) }
    }

    fn result(&self, a: Handle, b: Handle) -> Option<Handle> {
        let [x, y, result] = self.slots[self.place(a.0, b.0)];
        (x == a.0 && y == b.0).then_some(Handle(result))
    }

    fn insert(&mut self, a: Handle, b: Handle, result: Handle) {
        let place = self.place(a.0, b.0);
        self.slots[place] = [a.0, b.0, result.0];
        self.inserted += 1;
        if self.inserted > self.slots.len() && 2 * self.slots.len() <= self.most {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![[EMPTY; 3]; 2 * old.len()];
            for entry in old.into_iter().filter(|entry| entry[0] != EMPTY) {
                let place = self.place(entry[0], entry[1]);
                self.slots[place] = entry;
            }
            self.inserted = self.slots.len() / 2;
        }
    }

    /// Renames nodes; drops the entries of freed nodes.
    fn rename(&mut self, new: impl Fn(u32) -> Option<u32>) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![[EMPTY; 3]; old.len()];
        for [a, b, result] in old.into_iter().filter(|entry| entry[0] != EMPTY) {
            if let (Some(a), Some(b), Some(result)) = (new(a), new(b), new(result)) {
                let place = self.place(a, b);
                self.slots[place] = [a, b, result];
            }
        }
    }

    fn bytes(&self) -> usize {
        12 * self.slots.len()
    }

    /// The bytes in use, and a copy: to grow or to rename nodes it is made anew.
    fn needed(&self) -> usize {
        2 * self.bytes()
    }

    fn place(&self, a: u32, b: u32) -> usize {
        let mixed = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.slots.len() - 1)
    }
}

/// The most separate ranges: more become one range, from zero to the largest total.
const MOST_RANGES: usize = 256;

/// Possible totals, as ordered ranges that do not touch, ends included; a superset of the true ones.
struct Sums(Vec<(usize, usize)>);

impl Sums {
    /// Sorted totals that start with zero.
    fn of(totals: impl Iterator<Item = usize>) -> Sums {
        Sums::joined(totals.map(|n| (n, n)))
    }

    /// The sums of two totals.
    fn plus(&self, other: &Sums) -> Sums {
        if self.0.len() * other.0.len() > MOST_RANGES {
            return Sums(vec![(0, self.most() + other.most())]);
        }
        let mut ranges: Vec<_> = self.0.iter().flat_map(|a| other.0.iter().map(|b| (a.0 + b.0, a.1 + b.1))).collect();
        ranges.sort_unstable();
        Sums::joined(ranges.into_iter())
    }

    fn joined(ranges: impl Iterator<Item = (usize, usize)>) -> Sums {
        let mut sums: Vec<(usize, usize)> = Vec::new();
        for (from, to) in ranges {
            match sums.last_mut() {
                Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
                _ => sums.push((from, to)),
            }
        }
        Sums(if sums.len() > MOST_RANGES { vec![(0, sums[sums.len() - 1].1)] } else { sums })
    }

    /// The largest total.
    fn most(&self) -> usize {
        self.0.last().map_or(0, |range| range.1)
    }

    /// The totals from one number to another, in order.
    fn between(&self, from: usize, to: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.0.partition_point(|range| range.1 < from);
        let ranges = self.0[first..].iter().take_while(move |range| range.0 <= to);
        ranges.flat_map(move |range| range.0.max(from)..=range.1.min(to))
    }

    /// The first and the last total from one number to another.
    fn within(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let first = self.0.get(self.0.partition_point(|range| range.1 < from))?.0.max(from);
        let last = self.0[..self.0.partition_point(|range| range.0 <= to)].last()?.1.min(to);
        (first <= last).then_some((first, last))
    }
}

/// Formulas to count, each once with its weight, and how many always hold.
struct Weighted {
    formulas: Vec<(Handle, usize)>,
    always: usize,
}

impl Weighted {
    /// A repeated formula becomes a weight; a formula and its negation together count one.
    fn new(manager: &Manager, formulas: &[Handle]) -> Weighted {
        let mut places: FxHashMap<usize, usize> = FxHashMap::default();
        let mut weights: Vec<(Handle, [usize; 2])> = Vec::new();
        let mut always = 0;
        for &formula in formulas {
            if manager.vtree_of(formula).is_none() {
                always += usize::from(formula == Handle::TRUE);
                continue;
            }
            let place = *places.entry(formula.node()).or_insert(weights.len());
            if place == weights.len() {
                weights.push((formula.negated_if(formula.is_negated()), [0; 2]));
            }
            weights[place].1[usize::from(formula.is_negated())] += 1;
        }
        let mut formulas = Vec::with_capacity(weights.len());
        for (formula, [plain, negated]) in weights {
            always += plain.min(negated);
            if plain != negated {
                formulas.push((formula.negated_if(negated > plain), plain.abs_diff(negated)));
            }
        }
        Weighted { formulas, always }
    }

    /// The weights divided by their common factor, and that factor.
    fn divided(mut self) -> (Vec<(Handle, usize)>, usize) {
        let common =
            self.formulas.iter().fold(0, |common, &(_, weight)| greatest_common_divisor(common, weight)).max(1);
        self.formulas.iter_mut().for_each(|(_, weight)| *weight /= common);
        (self.formulas, common)
    }
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The new number of a freed node.
const GONE: u32 = u32::MAX;

impl Manager {
    /// Keeps only nodes below these formulas, and returns their new handles.
    ///
    /// All other handles become invalid. Nodes keep their order, so diagrams stay canonical; the memo keeps results
    /// about living nodes.
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
            self.hashes[i] = hash_of(vtree, &self.elements[start as usize..(start + len) as usize]);
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

    /// Collects garbage if joining may do so and at least half of the nodes are likely to be free.
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

impl Manager {
    /// The formula as a separate diagram.
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

    /// The formula of a diagram on the same vtree, which need not be canonical.
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

    /// The formula of a decision at an inner vtree node: primes over left variables, exclusive and exhaustive, subs
    /// over right variables.
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

    /// Which handles a formula needs, up to its own.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_all_there() {
        let weights: [&[usize]; 5] = [&[1, 1, 1], &[25, 25, 3], &[7, 1, 2, 40], &[1, 1, 1, 90], &[5]];
        for weights in weights {
            let one = |&weight: &usize| Sums::of([0, weight].into_iter());
            let sums = weights.iter().map(one).reduce(|a, b| a.plus(&b)).unwrap();
            let totals = 0..1u32 << weights.len();
            let total = |set: u32| (0..weights.len()).filter(|i| set >> i & 1 == 1).map(|i| weights[i]).sum::<usize>();
            let mut totals: Vec<usize> = totals.map(total).collect();
            totals.sort_unstable();
            totals.dedup();
            assert_eq!(sums.between(0, sums.most()).collect::<Vec<_>>(), totals);
            for from in 0..=sums.most() + 1 {
                for to in 0..=sums.most() + 1 {
                    let within: Vec<usize> = totals.iter().copied().filter(|n| (from..=to).contains(n)).collect();
                    assert_eq!(sums.within(from, to), within.first().map(|&first| (first, within[within.len() - 1])));
                }
            }
        }
    }
}
