//! Where pairs of a node and a part are kept: in a table, or by hashing where few of many pairs are looked at.

use crate::circuit::{Circuit, NodeId};
use crate::infer::factor::{ANY, Factor};
use crate::limits::table_bytes;
use rustc_hash::FxHashMap;

/// The values of pairs of a node and a part; the place of a pair is known from both.
pub(super) enum Memo {
    /// Where the values of each part begin, less the first node of its layer: small products.
    Dense {
        base: Vec<i64>,
        values: Vec<f64>,
    },
    Sparse(FxHashMap<(u32, u32), f64>),
}

/// Not computed yet: no value is NaN.
const OPEN: f64 = f64::NAN;

impl Memo {
    pub(super) fn new(circuit: &Circuit, factor: &Factor) -> Memo {
        let mut total = 0;
        let mut base = vec![0; factor.parts.len()];
        for (part, &v) in factor.at.iter().enumerate().skip(1) {
            let layer = circuit.layer(v);
            base[part] = total as i64 - layer.start as i64;
            total += layer.len();
        }
        // A table costs less than hashing as long as most of it is looked at, as with formulas of a few literals.
        if total <= 8 * (circuit.nodes().len() + factor.parts.len()) {
            Memo::Dense { base, values: vec![OPEN; total] }
        } else {
            Memo::Sparse(FxHashMap::default())
        }
    }

    pub(super) fn value(&self, node: NodeId, part: u32) -> Option<f64> {
        match self {
            Memo::Dense { base, values } => {
                let value = values[(base[part as usize] + i64::from(node.0)) as usize];
                (!value.is_nan()).then_some(value)
            }
            Memo::Sparse(values) => values.get(&(node.0, part)).copied(),
        }
    }

    /// How many bytes are in use.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Memo::Dense { base, values } => 8 * (base.len() + values.len()),
            Memo::Sparse(values) => table_bytes(values),
        }
    }

    pub(super) fn insert(&mut self, node: NodeId, part: u32, value: f64) {
        match self {
            Memo::Dense { base, values } => values[(base[part as usize] + i64::from(node.0)) as usize] = value,
            Memo::Sparse(values) => drop(values.insert((node.0, part), value)),
        }
    }
}

/// A place for every pair.
pub(super) enum Slots {
    Dense { base: Vec<i64>, len: usize },
    Sparse(FxHashMap<(NodeId, u32), u32>),
}

impl Slots {
    /// Places for the pairs of a memo, and for every node with the constant one.
    pub(super) fn new(memo: &Memo, nodes: usize) -> Slots {
        match memo {
            Memo::Dense { base, values } => {
                let mut base = base.clone();
                base[ANY as usize] = values.len() as i64;
                Slots::Dense { base, len: values.len() + nodes }
            }
            Memo::Sparse(_) => Slots::Sparse(FxHashMap::default()),
        }
    }

    /// How many bytes are in use.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Slots::Dense { base, .. } => 8 * base.len(),
            Slots::Sparse(places) => table_bytes(places),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Slots::Dense { len, .. } => *len,
            Slots::Sparse(places) => places.len(),
        }
    }

    pub(super) fn add(&mut self, node: NodeId, part: u32) -> usize {
        match self {
            Slots::Dense { .. } => self.of(node, part),
            Slots::Sparse(places) => {
                let next = places.len() as u32;
                *places.entry((node, part)).or_insert(next) as usize
            }
        }
    }

    pub(super) fn of(&self, node: NodeId, part: u32) -> usize {
        match self {
            Slots::Dense { base, .. } => (base[part as usize] + i64::from(node.0)) as usize,
            Slots::Sparse(places) => places[&(node, part)] as usize,
        }
    }
}
