//! Bit-parallel passes: 256 records at a time, one bit each.
//!
//! Upwards, the mask of a node holds the records it can derive: `mask(sum) = OR mask(prime) & mask(sub)`. Downwards,
//! from the root, it holds the records whose derivations reach it. Both passes are linear in elements and records.

// Several arrays are walked lane by lane; indices keep that readable and the loops vectorised.
#![allow(clippy::needless_range_loop)]

use crate::circuit::{Circuit, Node, NodeId};
use crate::data::Records;
use crate::var::Var;
use std::array::from_fn;

/// Words of a mask.
pub(super) const WORDS: usize = 4;

/// Records of a mask.
pub(super) const RECORDS: usize = 64 * WORDS;

/// A set of records of one block.
pub(super) type Mask = [u64; WORDS];

const EMPTY: Mask = [0; WORDS];

/// Receives the records of a downward pass.
pub(super) trait Visit {
    /// These records use this element; never called without records.
    fn element(&mut self, element: usize, records: &Mask);

    /// These records reach this ⊤ node with *false* and with *true*.
    fn top(&mut self, slot: usize, records: [&Mask; 2]);
}

/// The masks of all nodes for one block of records, reused from block to block.
pub(super) struct Masks {
    up: Vec<Mask>,
    /// Empty between passes.
    down: Vec<Mask>,
    block: usize,
}

/// The number of blocks of the records.
pub(super) fn blocks(records: &Records) -> usize {
    records.len().div_ceil(RECORDS)
}

/// The records in a mask, ascending, counted from the start of the block.
pub(super) fn each(mask: &Mask, mut visit: impl FnMut(usize)) {
    for (w, &word) in mask.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            visit(64 * w + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

impl Masks {
    pub(super) fn new(circuit: &Circuit) -> Masks {
        Masks { up: vec![EMPTY; circuit.nodes().len()], down: vec![EMPTY; circuit.nodes().len()], block: 0 }
    }

    /// Fills the masks for a block of records and gives that of the root: the possible records.
    ///
    /// A missing cell agrees with both literals, so a record is in the mask if it has a possible completion.
    pub(super) fn upward(&mut self, circuit: &Circuit, records: &Records, block: usize) -> Mask {
        self.block = block;
        let all = all_in(records, block);
        let elements = circuit.elements();
        for (i, node) in circuit.nodes().iter().enumerate() {
            self.up[i] = match *node {
                Node::Top { .. } => all,
                Node::Literal(lit) => literal(records, block, lit.var, lit.value, &all),
                Node::Sum { start, end, .. } => {
                    let mut mask = EMPTY;
                    for element in &elements[start as usize..end as usize] {
                        let (prime, sub) = (&self.up[element.prime.index()], &self.up[element.sub.index()]);
                        for w in 0..WORDS {
                            mask[w] |= prime[w] & sub[w];
                        }
                    }
                    mask
                }
            };
        }
        self.up[circuit.root().index()]
    }

    /// The records that a node can derive, after an upward pass.
    pub(super) fn at(&self, node: NodeId) -> Mask {
        self.up[node.index()]
    }

    /// Visits every element and ⊤ that the complete records of the block of the last upward pass use.
    pub(super) fn downward(&mut self, circuit: &Circuit, records: &Records, visit: &mut impl Visit) {
        let root = circuit.root().index();
        self.down[root] = self.up[root];
        let elements = circuit.elements();
        for (i, node) in circuit.nodes().iter().enumerate().rev() {
            let here = std::mem::replace(&mut self.down[i], EMPTY);
            if here == EMPTY {
                continue;
            }
            match *node {
                Node::Literal(_) => {}
                Node::Top { var, slot } => {
                    let column = literal(records, self.block, var, true, &here);
                    let sides = [from_fn(|w| here[w] & !column[w]), from_fn(|w| here[w] & column[w])];
                    visit.top(slot as usize, [&sides[0], &sides[1]]);
                }
                Node::Sum { start, end, .. } => {
                    for e in start as usize..end as usize {
                        let [prime, sub] = [elements[e].prime.index(), elements[e].sub.index()];
                        let used: Mask = from_fn(|w| here[w] & self.up[prime][w] & self.up[sub][w]);
                        if used == EMPTY {
                            continue;
                        }
                        for w in 0..WORDS {
                            self.down[prime][w] |= used[w];
                            self.down[sub][w] |= used[w];
                        }
                        visit.element(e, &used);
                    }
                }
            }
        }
    }
}

/// All records of a block.
pub(super) fn all_in(records: &Records, block: usize) -> Mask {
    from_fn(|w| {
        let before = RECORDS * block + 64 * w;
        match records.len().saturating_sub(before) {
            0 => 0,
            some @ 1..64 => u64::MAX >> (64 - some),
            _ => u64::MAX,
        }
    })
}

/// The records of a block that agree with a literal.
fn literal(records: &Records, block: usize, var: Var, value: bool, all: &Mask) -> Mask {
    let column = cut(records.column(var), block);
    match (value, records.missing_column(var)) {
        (false, _) => from_fn(|w| all[w] & !column[w]),
        (true, None) => column,
        (true, Some(missing)) => {
            let missing = cut(missing, block);
            from_fn(|w| column[w] | missing[w])
        }
    }
}

/// The words of a block, with zeros beyond the end.
fn cut(column: &[u64], block: usize) -> Mask {
    let mut mask = EMPTY;
    let words = &column[WORDS * block..column.len().min(WORDS * (block + 1))];
    mask[..words.len()].copy_from_slice(words);
    mask
}
