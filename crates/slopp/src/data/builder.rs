//! Records from rows, one by one.

use super::{BitMatrix, Planes, Records};
use crate::limits::{array_bytes, table_bytes};
use crate::names::Names;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::TryReserveError;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Stands where no row came before with the same hash.
const NONE: u32 = u32::MAX;

/// Collects rows one by one.
#[derive(Clone, Debug)]
pub struct RecordsBuilder {
    names: Arc<Names>,
    words: usize,
    /// Value words and missing words of each distinct row.
    data: Vec<u64>,
    /// The last row of each hash; rows are in `data` only, and those of one hash are a chain.
    index: FxHashMap<u64, u32>,
    /// For each distinct row the one before it with the same hash, or [`NONE`].
    before: Vec<u32>,
    weights: Vec<f64>,
    original: Vec<u32>,
    scratch: Vec<u64>,
    any_missing: bool,
}

impl RecordsBuilder {
    /// A builder without rows.
    pub fn new(names: impl Into<Arc<Names>>) -> RecordsBuilder {
        let names = names.into();
        let words = names.len().div_ceil(64);
        RecordsBuilder {
            names,
            words,
            data: Vec::new(),
            index: FxHashMap::default(),
            before: Vec::new(),
            weights: Vec::new(),
            original: Vec::new(),
            scratch: Vec::new(),
            any_missing: false,
        }
    }

    /// Adds a row of `Some(value)` or `None` for missing; the weight must be positive and finite.
    ///
    /// # Panics
    /// If the row does not have one cell per name, or the weight is not positive and finite.
    pub fn push(&mut self, row: impl IntoIterator<Item = Option<bool>>, weight: f64) {
        self.scratch.clear();
        self.scratch.resize(2 * self.words, 0);
        let mut len = 0;
        for (i, cell) in row.into_iter().enumerate() {
            let bit = 1 << (i % 64);
            match cell {
                Some(true) => self.scratch[i / 64] |= bit,
                Some(false) => {}
                None => {
                    self.scratch[self.words + i / 64] |= bit;
                    self.any_missing = true;
                }
            }
            len = i + 1;
        }
        assert_eq!(len, self.names.len(), "a row has one cell per variable");
        self.push_scratch(weight);
    }

    /// Adds a complete row as packed words; bits beyond the last variable are ignored.
    ///
    /// # Panics
    /// If the number of words does not fit the variables, or the weight is not positive and finite.
    pub fn push_words(&mut self, row: &[u64], weight: f64) {
        self.scratch.clear();
        assert_eq!(row.len(), self.words, "a row has a bit per variable");
        self.scratch.extend_from_slice(row);
        if let (Some(last), extra @ 1..) = (self.scratch.last_mut(), self.names.len() % 64) {
            *last &= u64::MAX >> (64 - extra);
        }
        self.scratch.resize(2 * self.words, 0);
        self.push_scratch(weight);
    }

    fn push_scratch(&mut self, weight: f64) {
        assert!(weight.is_finite() && weight > 0.0, "weights are positive and finite");
        let hash = FxBuildHasher.hash_one(&self.scratch);
        let last = self.index.get(&hash).copied().unwrap_or(NONE);
        let mut id = last;
        while id != NONE && self.key(id) != self.scratch {
            id = self.before[id as usize];
        }
        if id == NONE {
            id = self.weights.len() as u32;
            self.index.insert(hash, id);
            self.before.push(last);
            self.data.extend_from_slice(&self.scratch);
            self.weights.push(0.0);
        }
        self.weights[id as usize] += weight;
        self.original.push(id);
    }

    /// The words of a distinct row.
    fn key(&self, row: u32) -> &[u64] {
        &self.data[2 * self.words * row as usize..][..2 * self.words]
    }

    /// Makes room for another row, so that adding it cannot run out of memory.
    pub(crate) fn reserve_row(&mut self) -> Result<(), TryReserveError> {
        self.original.try_reserve(1)?;
        self.weights.try_reserve(1)?;
        self.before.try_reserve(1)?;
        self.data.try_reserve(2 * self.words)?;
        self.index.try_reserve(1)
    }

    /// The bytes in use; where an array is about to grow, including the copy that is twice as large.
    pub(crate) fn bytes(&self) -> usize {
        array_bytes(&self.data)
            + array_bytes(&self.original)
            + array_bytes(&self.weights)
            + array_bytes(&self.before)
            + table_bytes(&self.index)
    }

    /// The bytes that [`finish`](RecordsBuilder::finish) needs besides.
    pub(crate) fn bytes_to_finish(&self) -> usize {
        let bits = 16 * self.words * if self.any_missing { 2 } else { 1 };
        self.weights.len() * (bits + 24)
    }

    /// The number of rows added.
    pub fn len(&self) -> usize {
        self.original.len()
    }

    /// Whether no rows were added.
    pub fn is_empty(&self) -> bool {
        self.original.is_empty()
    }

    /// The records.
    pub fn finish(mut self) -> Records {
        let mut order: Vec<u32> = (0..self.weights.len() as u32).collect();
        let weight = |i: u32| self.weights[i as usize];
        order.sort_unstable_by(|&a, &b| weight(b).total_cmp(&weight(a)).then_with(|| self.key(a).cmp(self.key(b))));
        let mut place = vec![0u32; order.len()];
        let mut rows = BitMatrix::zeros(order.len(), self.names.len());
        let mut missing = self.any_missing.then(|| rows.clone());
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
            rows.line_mut(new).copy_from_slice(&self.key(old)[..self.words]);
            if let Some(missing) = &mut missing {
                missing.line_mut(new).copy_from_slice(&self.key(old)[self.words..]);
            }
        }
        let weights: Vec<f64> = order.iter().map(|&i| weight(i)).collect();
        self.original.iter_mut().for_each(|row| *row = place[*row as usize]);
        Records {
            columns: rows.transposed(),
            rows,
            missing: missing.map(|m| {
                let columns = m.transposed();
                [m, columns]
            }),
            planes: Planes::new(&weights),
            weights,
            original: self.original,
            names: self.names,
        }
    }
}
