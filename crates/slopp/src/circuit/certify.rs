//! Certificates: are the primes of every sum exclusive?
//!
//! Here: the questions and their outcomes. The primes of a sum are compared all together first (`sets`), then pair by
//! pair (`search`).

use super::search::Search;
use super::{Certificate, Circuit, Deterministic, NodeId, PARAMETER_TOLERANCE, ParameterFault, Psdd};
use crate::advice::Advice;
use crate::limits::{Limit, Limits};
use std::fmt;

/// Two elements of a sum whose primes share a world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlap {
    /// The sum.
    pub node: NodeId,
    /// Positions of the two elements in the sum, from zero.
    pub elements: (usize, usize),
    /// Whether the elements are still exclusive, because their subs are: *weak* determinism.
    pub weak: bool,
    /// A possible world that reaches the sum and satisfies both primes; both elements, unless `weak`.
    pub witness: Vec<bool>,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overlap { node: NodeId(node), elements: (i, j), .. } = self;
        let world: String = self.witness.iter().map(|&x| if x { '1' } else { '0' }).collect();
        match self.weak {
            false => write!(f, "node {node}: elements {i} and {j} share the world {world}"),
            true => write!(
                f,
                "node {node}: the primes of elements {i} and {j} share the world {world}, their subs exclude each other"
            ),
        }
    }
}

/// All sums with overlapping primes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlaps {
    /// The number of sums with two primes that share a world.
    pub sums: usize,
    /// How many of those are still deterministic, because the elements are exclusive.
    pub weak_sums: usize,
    /// One overlap for each of the first such sums, up to the number asked for.
    pub examples: Vec<Overlap>,
    /// The limit at which the search stopped; later sums are not counted.
    pub stopped: Option<Limit>,
}

/// Why a circuit has no certificate.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Two elements of a sum, or their primes, share a world.
    Overlap(Overlap),
    /// The parameters of a sum do not add up to one, within [`PARAMETER_TOLERANCE`].
    Parameters(ParameterFault),
    /// No fault was found within this limit, but no proof either.
    Unproved(Limit),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Overlap(overlap) => overlap.fmt(f),
            Reason::Parameters(ParameterFault { node, total }) => {
                write!(f, "node {}: its parameters add up to {total:?}, not to 1; renormalise the circuit", node.0)
            }
            Reason::Unproved(limit) => {
                write!(f, "that primes are exclusive was not proved within {limit}; allow more")
            }
        }
    }
}

/// A circuit that failed its certificate, returned with the reason.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The circuit.
    pub circuit: Box<Circuit>,
    /// The first reason found.
    pub reason: Reason,
}

impl Refusal {
    /// Whether only limits were too tight.
    pub(crate) fn is_unproved(&self) -> bool {
        matches!(self.reason, Reason::Unproved(_))
    }

    /// What to try.
    pub(crate) fn advice(&self) -> Vec<Advice> {
        if let Reason::Unproved(limit) = self.reason { limit.advice() } else { Vec::new() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Unproved(limit) => write!(f, "not proved to be a PSDD within {limit}; allow more"),
            reason => write!(f, "not a PSDD: {reason}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl Circuit {
    /// Proves that parameters add up to one and the primes of every sum are exclusive, which makes this a [`Psdd`].
    ///
    /// Time: near the size of the circuit where whole sets of primes prove exclusive, as in learned circuits and most
    /// others; at worst the product of the sizes of the pairs of nodes compared. Memory: a few words per node, and per
    /// pair searched. Within the limits, pairs searched count as nodes, and their answers as memory.
    pub fn certify(self, limits: &Limits) -> Result<Psdd, Refusal> {
        Certificate::certify(self, limits)
    }

    /// Proves that parameters add up to one and the elements of every sum are exclusive: every world has at most one
    /// derivation.
    ///
    /// Weaker than [`Circuit::certify`]: primes may overlap where the subs exclude each other. Enough for every query
    /// that needs determinism.
    pub fn certify_deterministic(self, limits: &Limits) -> Result<Deterministic, Refusal> {
        Certificate::certify(self, limits)
    }

    /// Every sum with overlapping primes, with examples for the first `examples`, within limits as [`Circuit::certify`].
    pub fn overlaps(&self, examples: usize, limits: &Limits) -> Overlaps {
        let mut search = Search::new(self, limits);
        let mut report = Overlaps::default();
        for node in self.ids() {
            let (elements, weak) = match search.overlap_of(node) {
                Ok(None) => continue,
                Ok(Some(found)) => found,
                Err(limit) => {
                    report.stopped = Some(limit);
                    break;
                }
            };
            report.sums += 1;
            report.weak_sums += usize::from(weak);
            if report.examples.len() < examples {
                report.examples.push(search.explain(node, elements, weak));
            }
        }
        report
    }

    /// For every node, whether its elements are proved exclusive within limits; true for nodes without elements.
    pub(crate) fn exclusive_sums(&self, limits: &Limits) -> Vec<bool> {
        let mut search = Search::new(self, limits);
        self.ids().map(|node| matches!(search.overlap_of(node), Ok(None | Some((_, true))))).collect()
    }

    /// An overlap found within default limits, if any; one of primes only if they must be exclusive.
    pub(super) fn first_overlap(&self, exclusive_primes: bool) -> Option<Overlap> {
        match self.exclusive(exclusive_primes, &Limits::default()) {
            Err(Reason::Overlap(overlap)) => Some(overlap),
            _ => None,
        }
    }

    /// Proves that parameters add up to one and elements are exclusive, and returns where primes still overlap; an
    /// error if they must not.
    pub(crate) fn proof(&self, exclusive_primes: bool, limits: &Limits) -> Result<Option<Overlap>, Reason> {
        if let Some(&fault) = self.parameter_faults(PARAMETER_TOLERANCE).first() {
            return Err(Reason::Parameters(fault));
        }
        self.exclusive(exclusive_primes, limits)
    }

    fn exclusive(&self, exclusive_primes: bool, limits: &Limits) -> Result<Option<Overlap>, Reason> {
        let mut search = Search::new(self, limits);
        let mut weak_overlap = None;
        for node in self.ids() {
            match search.overlap_of(node).map_err(Reason::Unproved)? {
                Some((pair, true)) if !exclusive_primes => {
                    weak_overlap.get_or_insert_with(|| search.explain(node, pair, true));
                }
                Some((pair, weak)) => return Err(Reason::Overlap(search.explain(node, pair, weak))),
                None => {}
            }
        }
        Ok(weak_overlap)
    }
}
