//! The vtree of a circuit file that comes without one.

use super::error::ReadError;
use super::problem::Problem;
use super::vtree::{FileNode, Kind, LoadedVtree, assemble};
use std::collections::BTreeMap;

/// Collects what a circuit file tells about its vtree.
#[derive(Default)]
pub(super) struct Inference {
    /// By id, so that the result does not depend on hashing.
    nodes: BTreeMap<u64, (usize, Kind)>,
}

impl Inference {
    /// A vtree node as one line tells it.
    pub(super) fn add(&mut self, line: usize, id: u64, kind: Kind) -> Result<(), ReadError> {
        let &mut (first, known) = self.nodes.entry(id).or_insert((line, kind));
        if known == kind {
            return Ok(());
        }
        let tell = |kind| match kind {
            Kind::Leaf(var) => format!("variable {}", var.number()),
            Kind::Inner(left, right) => format!("children {left} and {right}"),
        };
        let reason = format!("vtree node {id} has {} here but {} in line {first}", tell(kind), tell(known));
        Err(ReadError::at(line, Problem::NoVtree { reason }))
    }

    pub(super) fn finish(self, bytes: usize) -> Result<LoadedVtree, ReadError> {
        let nodes: Vec<_> = self.nodes.into_iter().map(|(id, (line, kind))| FileNode { id, line, kind }).collect();
        assemble(&nodes, bytes).map_err(|e| {
            let place = e.line;
            let reason = e.problem.to_string();
            ReadError { line: place, ..ReadError::new(Problem::NoVtree { reason }) }
        })
    }
}
