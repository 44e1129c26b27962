//! Limits of compilations, products and proofs, and the clean stop when they are reached.

use crate::advice::Advice;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much a [`crate::logic::Manager`], a product or a certificate may use before it stops.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most nodes, or pairs of nodes, at a time.
    pub nodes: usize,
    /// The most bytes at a time.
    pub bytes: usize,
    /// The most conjunctions of diagrams, or comparisons of nodes.
    pub steps: u64,
    /// Work stops soon after this becomes true.
    pub cancel: Option<Arc<AtomicBool>>,
}

/// Twenty million nodes, 4 GiB, any number of steps.
impl Default for Limits {
    fn default() -> Limits {
        Limits::USUAL
    }
}

impl Limits {
    /// The default.
    pub const USUAL: Limits = Limits { nodes: 20_000_000, bytes: 4 << 30, steps: u64::MAX, cancel: None };

    /// These limits with another number of nodes.
    pub fn with_nodes(self, nodes: usize) -> Limits {
        Limits { nodes, ..self }
    }

    /// These limits with another number of steps.
    pub fn with_steps(self, steps: u64) -> Limits {
        Limits { steps, ..self }
    }

    /// Whether the work was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Which limit was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::nodes`]
    Nodes(usize),
    /// [`Limits::bytes`]
    Bytes(usize),
    /// [`Limits::steps`]
    Steps(u64),
    /// What memory the process may have.
    Memory,
    /// [`Limits::cancel`]
    Cancelled,
}

impl Limit {
    /// What to try where it was hit.
    pub(crate) fn advice(self) -> Vec<Advice> {
        match self {
            Limit::Memory | Limit::Cancelled => Vec::new(),
            _ => vec![Advice::LargerLimits],
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Nodes(1) => write!(f, "1 node"),
            Limit::Nodes(limit) => write!(f, "{} nodes", grouped(*limit)),
            Limit::Bytes(limit) => write!(f, "{} MB", grouped(megabytes(*limit))),
            Limit::Steps(limit) => write!(f, "{} steps", grouped(*limit)),
            Limit::Memory => write!(f, "the memory that is there"),
            Limit::Cancelled => write!(f, "the time until it was cancelled"),
        }
    }
}

/// Work stopped at a limit; earlier results are intact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// Which limit.
    pub limit: Limit,
    /// The number of nodes.
    pub nodes: usize,
    /// The bytes in use.
    pub bytes: usize,
    /// The number of rules joined, and of all rules; `None` without rules.
    pub rules: Option<(usize, usize)>,
}

impl Stopped {
    /// What to try.
    pub fn advice(&self) -> Vec<Advice> {
        self.limit.advice()
    }

    fn has_begun(&self) -> bool {
        self.nodes > 0 || self.bytes > 0
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            Limit::Cancelled => write!(f, "the work was cancelled")?,
            limit if !self.has_begun() => return write!(f, "the variables of the diagram need more than {limit}"),
            limit => write!(f, "the diagram needs more than {limit}")?,
        }
        if !self.has_begun() {
            return Ok(());
        }
        write!(f, " (reached: {} nodes, {} MB", grouped(self.nodes), grouped(megabytes(self.bytes)))?;
        if let Some((done, all)) = self.rules {
            write!(f, ", {} of {} rules joined", grouped(done), grouped(all))?;
        }
        match self.limit {
            Limit::Cancelled => write!(f, ")"),
            _ => write!(f, "); try another vtree: its order and shape decide the size"),
        }
    }
}

impl std::error::Error for Stopped {}

/// How often growing structures are checked: adding up bytes is not free, and their number changes slowly.
pub(crate) const LOOK_EVERY: usize = 256;

/// The bytes of a table, as [`array_bytes`].
pub(crate) fn table_bytes<K, V>(table: &FxHashMap<K, V>) -> usize {
    // One byte per entry, and one free place in eight.
    growing(table.capacity() / 7 * 8 * (size_of::<(K, V)>() + 1), table.len(), table.capacity())
}

/// The bytes of an array; if it is about to grow, including the copy that is twice as large.
pub(crate) fn array_bytes<T>(array: &Vec<T>) -> usize {
    growing(size_of::<T>() * array.capacity(), array.len(), array.capacity())
}

fn growing(bytes: usize, len: usize, capacity: usize) -> usize {
    if len > capacity / 8 * 7 { 3 * bytes } else { bytes }
}

/// The bytes of an array that was filled by pushing, as [`array_bytes`].
pub(crate) fn pushed_bytes<T>(len: usize) -> usize {
    let capacity = len.next_power_of_two().max(4);
    growing(size_of::<T>() * capacity, len, capacity)
}

/// Whether there is memory for so many bytes: asked before many small pieces are made, of which one that does not fit
/// ends the process.
pub(crate) fn has_room(bytes: usize) -> bool {
    // An optimiser may leave out what is not looked at.
    let mut room = Vec::<u8>::new();
    let is_there = room.try_reserve_exact(bytes).is_ok();
    std::hint::black_box(&room);
    is_there
}

/// A number with its digits in groups of three.
pub(crate) fn grouped(number: impl fmt::Display) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or("")).collect();
    groups.join(" ")
}

fn megabytes(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}
