//! The two tables that make combining fast: nodes by their content, and results by their operands.

use super::{Element, Handle};
use rustc_hash::FxHasher;
use std::hash::Hasher;

const EMPTY: u32 = u32::MAX;

/// Finds a decision by its content: open addressing over node numbers, with the hash of each node kept.
pub(super) struct Unique {
    slots: Vec<u32>,
    used: usize,
}

impl Unique {
    pub(super) fn new() -> Unique {
        Unique { slots: vec![EMPTY; 1 << 10], used: 0 }
    }

    /// The node among those with this hash that `is_it`, or where to put it.
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
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

    /// Puts a node where [`Unique::find`] said; `hashes` tells those of all nodes.
    pub(super) fn insert(&mut self, at: usize, node: u32, hashes: &[u32]) {
        self.slots[at] = node;
        self.used += 1;
        if 2 * self.used > self.slots.len() {
            let nodes: Vec<u32> = self.slots.iter().copied().filter(|&node| node != EMPTY).collect();
            self.rebuild(nodes.into_iter(), 2 * self.slots.len(), hashes);
        }
    }

    /// Holds exactly these nodes.
    pub(super) fn refill(&mut self, nodes: std::ops::Range<u32>, hashes: &[u32]) {
        let slots = (4 * nodes.len()).next_power_of_two().max(1 << 10);
        self.rebuild(nodes, slots, hashes);
    }

    pub(super) fn bytes(&self) -> usize {
        4 * self.slots.len()
    }

    /// The same, or what it takes to rebuild a table that is nearly full.
    pub(super) fn needed(&self) -> usize {
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
pub(super) fn hash_of(vtree: u32, elements: &[Element]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write_u32(vtree);
    for e in elements {
        hasher.write_u64(u64::from(e.prime.0) << 32 | u64::from(e.sub.0));
    }
    let hash = hasher.finish();
    (hash >> 32) as u32 ^ hash as u32
}

/// Remembers results of conjunctions; a newer one may take the place of an older one.
pub(super) struct Memo {
    slots: Vec<[u32; 3]>,
    inserted: usize,
    /// No more slots than this, however many nodes there are.
    most: usize,
}

impl Memo {
    const MOST_SLOTS: usize = 1 << 24;

    /// A memo that does not grow beyond so many bytes: it only costs time to forget.
    pub(super) fn new(bytes: usize) -> Memo {
        Memo { slots: vec![[EMPTY; 3]; 1 << 12], inserted: 0, most: (bytes / 12).min(Memo::MOST_SLOTS) }
    }

    pub(super) fn result(&self, a: Handle, b: Handle) -> Option<Handle> {
        let [x, y, result] = self.slots[self.place(a.0, b.0)];
        (x == a.0 && y == b.0).then_some(Handle(result))
    }

    pub(super) fn insert(&mut self, a: Handle, b: Handle, result: Handle) {
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

    /// Renames nodes; entries of nodes that are gone are dropped.
    pub(super) fn rename(&mut self, new: impl Fn(u32) -> Option<u32>) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![[EMPTY; 3]; old.len()];
        for [a, b, result] in old.into_iter().filter(|entry| entry[0] != EMPTY) {
            if let (Some(a), Some(b), Some(result)) = (new(a), new(b), new(result)) {
                let place = self.place(a, b);
                self.slots[place] = [a, b, result];
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        12 * self.slots.len()
    }

    fn place(&self, a: u32, b: u32) -> usize {
        let mixed = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.slots.len() - 1)
    }
}
