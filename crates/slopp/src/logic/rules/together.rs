//! Which literals can hold together with a set of literals: Boolean passes, 256 sets at a time.

use super::index;
use crate::circuit::{Circuit, Node};
use crate::var::Lit;

const WORDS: usize = 4;
/// How many sets are asked about at once.
pub(super) const LANES: usize = 64 * WORDS;

pub(super) type Mask = [u64; WORDS];

/// The passes over one circuit, with their scratch.
pub(super) struct Together<'a> {
    circuit: &'a Circuit,
    up: Vec<Mask>,
    down: Vec<Mask>,
    /// By literal: the sets that exclude it.
    excluded: Vec<Mask>,
    /// By literal: the sets it can hold together with.
    seen: Vec<Mask>,
}

impl<'a> Together<'a> {
    pub(super) fn new(circuit: &'a Circuit) -> Together<'a> {
        let (nodes, literals) = (circuit.nodes().len(), 2 * circuit.var_count());
        Together {
            circuit,
            up: vec![[0; WORDS]; nodes],
            down: vec![[0; WORDS]; nodes],
            excluded: vec![[0; WORDS]; literals],
            seen: vec![[0; WORDS]; literals],
        }
    }

    /// Whether each set is possible; the literals of a set are of different variables.
    pub(super) fn possible<S: AsRef<[Lit]>>(&mut self, sets: &[S]) -> Mask {
        debug_assert!(sets.len() <= LANES);
        self.excluded.fill([0; WORDS]);
        for (lane, set) in sets.iter().enumerate() {
            for &lit in set.as_ref() {
                self.excluded[index(!lit)][lane / 64] |= 1 << (lane % 64);
            }
        }
        let elements = self.circuit.elements();
        for (i, node) in self.circuit.nodes().iter().enumerate() {
            self.up[i] = match *node {
                Node::Literal(lit) => self.excluded[index(lit)].map(|word| !word),
                Node::Top { .. } => [u64::MAX; WORDS],
                Node::Sum { start, end, .. } => {
                    let mut sum = [0; WORDS];
                    for e in &elements[start as usize..end as usize] {
                        let (prime, sub) = (&self.up[e.prime.index()], &self.up[e.sub.index()]);
                        for w in 0..WORDS {
                            sum[w] |= prime[w] & sub[w];
                        }
                    }
                    sum
                }
            };
        }
        self.up[self.circuit.root().index()]
    }

    /// For every literal the sets that it can hold together with; for an impossible set no literal can.
    pub(super) fn partners<S: AsRef<[Lit]>>(&mut self, sets: &[S]) -> &[Mask] {
        let possible = self.possible(sets);
        self.seen.fill([0; WORDS]);
        self.down.fill([0; WORDS]);
        self.down[self.circuit.root().index()] = possible;
        let elements = self.circuit.elements();
        for (i, node) in self.circuit.nodes().iter().enumerate().rev() {
            let here = self.down[i];
            if here == [0; WORDS] {
                continue;
            }
            match *node {
                Node::Literal(lit) => {
                    let seen = &mut self.seen[index(lit)];
                    (0..WORDS).for_each(|w| seen[w] |= here[w]);
                }
                Node::Top { var, .. } => {
                    for lit in [var.is(false), var.is(true)] {
                        let (seen, excluded) = (&mut self.seen[index(lit)], &self.excluded[index(lit)]);
                        (0..WORDS).for_each(|w| seen[w] |= here[w] & !excluded[w]);
                    }
                }
                Node::Sum { start, end, .. } => {
                    for e in &elements[start as usize..end as usize] {
                        let [prime, sub] = [e.prime.index(), e.sub.index()];
                        let used: Mask = std::array::from_fn(|w| here[w] & self.up[prime][w] & self.up[sub][w]);
                        (0..WORDS).for_each(|w| self.down[prime][w] |= used[w]);
                        (0..WORDS).for_each(|w| self.down[sub][w] |= used[w]);
                    }
                }
            }
        }
        &self.seen
    }
}

/// Whether a lane of a mask is set.
pub(super) fn lane(mask: &Mask, lane: usize) -> bool {
    mask[lane / 64] >> (lane % 64) & 1 == 1
}
