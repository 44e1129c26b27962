//! What a product may use, counted where it grows.

use crate::infer::QueryError;
use crate::limits::{LOOK_EVERY, Limit, Limits};

/// The limits of a product, and what it has used.
pub(super) struct Budget<'a> {
    limits: &'a Limits,
    /// Pairs of nodes so far.
    pairs: usize,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a Limits) -> Budget<'a> {
        Budget { limits, pairs: 0 }
    }

    /// Counts another pair; `bytes` adds up what is in use.
    pub(super) fn pair(&mut self, bytes: impl FnOnce() -> usize) -> Result<(), QueryError> {
        self.pairs += 1;
        if self.pairs > self.limits.nodes {
            return Err(self.stopped(Limit::Nodes(self.limits.nodes), bytes()));
        }
        self.after(self.pairs, bytes)
    }

    /// Begins to count again.
    pub(super) fn restart(&mut self) {
        self.pairs = 0;
    }

    /// Looks at what is in use, once in a while of those that are numbered.
    pub(super) fn after(&self, number: usize, bytes: impl FnOnce() -> usize) -> Result<(), QueryError> {
        if number.is_multiple_of(LOOK_EVERY) { self.check(bytes()) } else { Ok(()) }
    }

    pub(super) fn check(&self, bytes: usize) -> Result<(), QueryError> {
        match () {
            _ if bytes > self.limits.bytes => Err(self.stopped(Limit::Bytes(self.limits.bytes), bytes)),
            _ if self.limits.is_cancelled() => Err(self.stopped(Limit::Cancelled, bytes)),
            _ => Ok(()),
        }
    }

    fn stopped(&self, limit: Limit, bytes: usize) -> QueryError {
        QueryError::Stopped { limit, nodes: self.pairs, megabytes: bytes.div_ceil(1 << 20) }
    }
}
