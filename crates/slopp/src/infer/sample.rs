//! Drawing worlds, also given evidence, without rejection.

use super::posterior::Posterior;
use super::{Evidence, QueryError};
use crate::circuit::{Circuit, Node};
use crate::data::{BitMatrix, Records, RecordsBuilder};
use crate::names::Names;
use crate::random::Random;
use rayon::prelude::*;
use std::sync::Arc;

/// Worlds that share one stream of random numbers; fixed, so that the bytes do not depend on threads.
const BLOCK: usize = 256;

/// Drawn worlds, in the order they were drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    rows: BitMatrix,
}

impl Samples {
    /// How many worlds there are.
    pub fn len(&self) -> usize {
        self.rows.lines()
    }

    /// Whether there are no worlds.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One world.
    pub fn world(&self, index: usize) -> Vec<bool> {
        (0..self.rows.width()).map(|i| self.rows.bit(index, i)).collect()
    }

    /// All worlds, in the order they were drawn.
    pub fn worlds(&self) -> impl ExactSizeIterator<Item = Vec<bool>> {
        (0..self.len()).map(|i| self.world(i))
    }

    /// All worlds, a packed line each.
    pub fn rows(&self) -> &BitMatrix {
        &self.rows
    }

    /// The worlds as records; [`Records::original`] keeps the order they were drawn in.
    ///
    /// # Panics
    /// If there are not as many names as variables.
    pub fn into_records(self, names: impl Into<Arc<Names>>) -> Records {
        let names = names.into();
        assert_eq!(names.len(), self.rows.width(), "one name per variable");
        let mut builder = RecordsBuilder::new(names);
        (0..self.len()).for_each(|i| builder.push_words(self.rows.line(i), 1.0));
        builder.finish()
    }
}

impl Circuit {
    /// Draws `count` independent worlds from the distribution given evidence.
    ///
    /// The posterior is the same circuit with other parameters, so drawing walks down from the root, choosing one
    /// element per sum: no rejection, however unlikely the evidence. Same seed, same worlds, on any number of threads.
    /// Cost: elements once, then per world its variables times the logarithm of the elements of a sum.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::Evidence};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?;
    /// let samples = circuit.sample(1000, &Evidence::none(2), 42)?;
    /// let of_them = samples.worlds().filter(|world| world[1]).count();
    /// assert!((700..800).contains(&of_them));
    /// assert_eq!(samples, circuit.sample(1000, &Evidence::none(2), 42)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample(&self, count: usize, evidence: &Evidence, seed: u64) -> Result<Samples, QueryError> {
        let mut posterior = Posterior::new(self, evidence)?.parameters;
        for id in self.ids() {
            let mut total = 0.0;
            for share in &mut posterior.elements[self.element_range(id)] {
                total += *share;
                *share = total;
            }
        }
        let blocks: Vec<Vec<u64>> = (0..count.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut random = Random::stream(seed, block as u64);
                let worlds = BLOCK.min(count - BLOCK * block);
                let words = self.var_count().div_ceil(64);
                let mut rows = vec![0; worlds * words];
                let mut stack = Vec::new();
                for row in rows.chunks_mut(words) {
                    stack.push(self.root());
                    while let Some(id) = stack.pop() {
                        let lit = match self.node(id) {
                            Node::Literal(lit) => lit,
                            Node::Top { var, slot } => {
                                let [no, yes] = posterior.tops[slot as usize];
                                var.is(random.unit() * (no + yes) >= no)
                            }
                            Node::Sum { start, end, .. } => {
                                let sums = &posterior.elements[start as usize..end as usize];
                                let draw = random.unit() * sums[sums.len() - 1];
                                // The first sum above the draw: never an element of share zero.
                                let element = self.elements()[start as usize + sums.partition_point(|&s| s <= draw)];
                                stack.extend([element.sub, element.prime]);
                                continue;
                            }
                        };
                        row[lit.var.index() / 64] |= u64::from(lit.value) << (lit.var.index() % 64);
                    }
                }
                rows
            })
            .collect();
        let mut rows = BitMatrix::zeros(count, self.var_count());
        let words = self.var_count().div_ceil(64);
        for (i, line) in blocks.iter().flat_map(|block| block.chunks(words)).enumerate() {
            rows.line_mut(i).copy_from_slice(line);
        }
        Ok(Samples { rows })
    }
}
