//! How much work a compilation may cost, and the clean stop when that is not enough.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much a [`super::Manager`] may use before it stops.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most nodes it may hold at a time.
    pub nodes: usize,
    /// The most bytes it may hold at a time.
    pub bytes: usize,
    /// The most pairs of diagrams it may combine.
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

    /// So many nodes beside those that are always there, and memory and steps in proportion.
    pub(super) fn for_nodes(nodes: usize, always: usize) -> Limits {
        let bytes = (1 << 24) + nodes.saturating_add(always).saturating_mul(4096);
        let steps = nodes.saturating_mul(64).max(1 << 16) as u64;
        Limits { nodes: nodes.saturating_add(always), bytes, steps, cancel: None }
    }

    /// These limits with another number of nodes.
    pub fn with_nodes(self, nodes: usize) -> Limits {
        Limits { nodes, ..self }
    }

    /// These limits with another number of steps.
    pub fn with_steps(self, steps: u64) -> Limits {
        Limits { steps, ..self }
    }

    /// Whether someone wants the work to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Which limit was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::nodes`]
    Nodes(usize),
    /// [`Limits::bytes`]
    Bytes(usize),
    /// [`Limits::steps`]
    Steps(u64),
    /// [`Limits::cancel`]
    Cancelled,
}

/// Work stopped at a limit; what there was before is untouched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Which limit.
    pub limit: Limit,
    /// How many nodes there were.
    pub nodes: usize,
    /// How many bytes were in use.
    pub bytes: usize,
    /// How many rules were joined, and how many there are; `None` outside of rules.
    pub rules: Option<(usize, usize)>,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = megabytes(self.bytes);
        match self.limit {
            Limit::Nodes(limit) => write!(f, "the diagram needs more than {limit} nodes")?,
            Limit::Bytes(limit) => write!(f, "the diagram needs more than {} MB", megabytes(limit))?,
            Limit::Steps(limit) => write!(f, "the diagram needs more than {limit} steps")?,
            Limit::Cancelled => write!(f, "the work was cancelled")?,
        }
        write!(f, " (reached: {} nodes, {used} MB", self.nodes)?;
        if let Some((done, all)) = self.rules {
            write!(f, ", {done} of {all} rules joined")?;
        }
        match self.limit {
            Limit::Cancelled => write!(f, ")"),
            _ => write!(f, "); allow more, or try another vtree: its order and shape decide the size"),
        }
    }
}

impl std::error::Error for Stopped {}

fn megabytes(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}
