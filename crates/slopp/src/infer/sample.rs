//! Drawing worlds, with or without evidence, without rejection.

use super::lanes::{Lanes, Linear};
use super::marginals::Posterior;
use super::{Evidence, QueryError};
use crate::circuit::{Circuit, Node, NodeId, Weights};
use crate::data::{BitMatrix, Records, RecordsBuilder, RecordsError, bit_of};
use crate::names::Names;
use crate::random::Random;
use crate::var::Var;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Worlds that share one stream of random numbers; fixed, so that the bytes do not depend on threads.
const BLOCK: usize = 256;

/// Worlds that are drawn at once: enough work for all threads, little memory.
const PART: usize = 32 * BLOCK;

/// Drawn worlds, in the order they were drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    rows: BitMatrix,
}

impl Samples {
    /// The number of worlds.
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
    pub(crate) fn rows(&self) -> &BitMatrix {
        &self.rows
    }

    /// The value of a variable in one world.
    pub fn value(&self, index: usize, var: Var) -> bool {
        self.rows.bit(index, var.index())
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
    /// The posterior is the same circuit with other parameters, so drawing walks down from the root and chooses one
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
        let draw = Draw::new(self, evidence)?;
        Ok(draw.worlds(0..count, seed))
    }

    /// The worlds of [`Circuit::sample`], some thousand at a time, for more of them than fit in memory.
    ///
    /// ```
    /// use slopp::infer::Evidence;
    /// let psdd = slopp::example::psdd();
    /// let nothing = Evidence::none(4);
    /// let parts = psdd.sample_in_parts(20_000, &nothing, 42)?.flat_map(|part| part.worlds().collect::<Vec<_>>());
    /// assert!(parts.eq(psdd.sample(20_000, &nothing, 42)?.worlds()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample_in_parts<'a>(
        &'a self,
        count: usize,
        evidence: &Evidence,
        seed: u64,
    ) -> Result<impl Iterator<Item = Samples> + use<'a>, QueryError> {
        let draw = Draw::new(self, evidence)?;
        Ok(parts(count).map(move |part| draw.worlds(part, seed)))
    }

    /// Completes each record, in the order of [`Records::original`], by its own draw given its known cells; `None`
    /// where it is impossible.
    ///
    /// The batch form of [`Circuit::sample`]: equal records are completed independently. Cost: elements × distinct rows,
    /// then as [`Circuit::sample`] per record.
    ///
    /// ```
    /// # use slopp::{Builder, Names, RecordsBuilder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?; // x for certain, and y with probability 0.75
    /// let mut records = RecordsBuilder::new(Names::numbered(2));
    /// records.push([Some(false), None], 1.0);
    /// records.push([None, Some(false)], 2.0);
    /// let completed = circuit.sample_batch(&records.finish(), 42)?;
    /// assert_eq!(completed, [None, Some(vec![true, false])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample_batch(&self, records: &Records, seed: u64) -> Result<Vec<Option<Vec<bool>>>, QueryError> {
        self.check_records(records)?;
        let completer = Completer::new(self);
        Ok(complete_records(records, Scratch::default, |scratch, row, places| {
            let draw = completer.draw(&Evidence::from_row(records, row), scratch);
            let one = |&place: &u32| Some(draw.as_ref()?.one(&mut Random::stream(seed, place.into())));
            places.iter().map(one).collect()
        }))
    }
}

impl Circuit {
    /// Samples with cells changed at random, as by [`Records::noisy_copy`], and the number of changed cells.
    ///
    /// # Panics
    /// If there are not as many names as variables.
    pub fn noisy_copy(
        &self,
        names: impl Into<Arc<Names>>,
        count: usize,
        flip: f64,
        seed: u64,
    ) -> Result<(Records, usize), RecordsError> {
        Records::check_count(count)?;
        let samples = self.sample(count, &Evidence::none(self.var_count()), seed).expect("nothing is given");
        // Another stream than that of the samples, or flips would depend on them.
        Records::noisy_copy(names, samples.worlds(), flip, Random::stream(seed, 1).bits())
    }
}

/// The ranges of worlds that are drawn at once.
pub(crate) fn parts(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(PART).map(move |start| start..start.saturating_add(PART).min(count))
}

/// The worlds of a range, which starts at the start of a block; `draw` sets the bits of one world.
pub(crate) fn draw_worlds(
    range: Range<usize>,
    variables: usize,
    seed: u64,
    world: impl Fn(&mut Random, &mut Vec<NodeId>, &mut [u64]) + Sync,
) -> Samples {
    let words = variables.div_ceil(64);
    let blocks: Vec<Vec<u64>> = (range.start / BLOCK..range.end.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut random = Random::stream(seed, block as u64);
            let mut rows = vec![0; words * BLOCK.min(range.end - BLOCK * block)];
            let mut stack = Vec::new();
            rows.chunks_mut(words).for_each(|row| world(&mut random, &mut stack, row));
            rows
        })
        .collect();
    let mut rows = BitMatrix::zeros(range.len(), variables);
    for (i, line) in blocks.iter().flat_map(|block| block.chunks(words)).enumerate() {
        rows.line_mut(i).copy_from_slice(line);
    }
    Samples { rows }
}

/// The completions of all records in their order; `complete` handles those of a distinct row, given their places.
pub(crate) fn complete_records<S>(
    records: &Records,
    scratch: impl Fn() -> S + Sync + Send,
    complete: impl Fn(&mut S, usize, &[u32]) -> Vec<Option<Vec<bool>>> + Sync + Send,
) -> Vec<Option<Vec<bool>>> {
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); records.len()];
    records.original().iter().zip(0..).for_each(|(&row, place)| places[row as usize].push(place));
    let completed: Vec<Vec<Option<Vec<bool>>>> = places
        .par_iter()
        .enumerate()
        .map_init(scratch, |scratch, (row, places)| complete(scratch, row, places))
        .collect();
    let mut worlds = vec![None; records.original().len()];
    for (places, completed) in places.iter().zip(completed) {
        places.iter().zip(completed).for_each(|(&place, world)| worlds[place as usize] = world);
    }
    worlds
}

/// Completes one row after the other by draws, with parameters at hand.
pub(crate) struct Completer<'a> {
    circuit: &'a Circuit,
    linear: Linear,
}

/// Scratch that rows share.
#[derive(Default)]
pub(crate) struct Scratch(Option<Lanes<1>>);

impl<'a> Completer<'a> {
    pub(crate) fn new(circuit: &'a Circuit) -> Completer<'a> {
        Completer { circuit, linear: Linear::new(circuit) }
    }

    /// A sampler given evidence of the right length; `None` if that is impossible.
    pub(crate) fn draw(&self, evidence: &Evidence, scratch: &mut Scratch) -> Option<Draw<'a>> {
        let lanes = scratch.0.get_or_insert_with(|| Lanes::new(self.circuit));
        let posterior = Posterior::with(self.circuit, &self.linear, lanes, evidence).ok()?;
        Some(Draw::from(self.circuit, posterior))
    }
}

/// A posterior ready to draw from.
pub(crate) struct Draw<'a> {
    circuit: &'a Circuit,
    /// Parameters of ⊤, and for each sum the running totals of its parameters.
    sums: Weights,
}

impl<'a> Draw<'a> {
    pub(crate) fn new(circuit: &'a Circuit, evidence: &Evidence) -> Result<Draw<'a>, QueryError> {
        Ok(Draw::from(circuit, Posterior::new(circuit, evidence)?))
    }

    fn from(circuit: &'a Circuit, posterior: Posterior) -> Draw<'a> {
        let mut sums = posterior.parameters;
        for id in circuit.ids() {
            let mut total = 0.0;
            for share in &mut sums.elements[circuit.element_range(id)] {
                total += *share;
                *share = total;
            }
        }
        Draw { circuit, sums }
    }

    /// The worlds of a range, which starts at the start of a block.
    fn worlds(&self, range: Range<usize>, seed: u64) -> Samples {
        draw_worlds(range, self.circuit.var_count(), seed, |random, stack, row| self.world(random, stack, row))
    }

    /// One world.
    pub(crate) fn one(&self, random: &mut Random) -> Vec<bool> {
        let mut world = vec![0; self.circuit.var_count().div_ceil(64)];
        self.world(random, &mut Vec::new(), &mut world);
        (0..self.circuit.var_count()).map(|i| bit_of(&world, i)).collect()
    }

    /// Sets the bits of the variables that are true in a drawn world.
    pub(crate) fn world(&self, random: &mut Random, stack: &mut Vec<NodeId>, world: &mut [u64]) {
        stack.push(self.circuit.root());
        while let Some(id) = stack.pop() {
            let lit = match self.circuit.node(id) {
                Node::Literal(lit) => lit,
                Node::Top { var, slot } => {
                    let [no, yes] = self.sums.tops[slot as usize];
                    var.is(random.unit() * (no + yes) >= no)
                }
                Node::Sum { start, end, .. } => {
                    let sums = &self.sums.elements[start as usize..end as usize];
                    let draw = random.unit() * sums[sums.len() - 1];
                    // The first sum above the draw: never an element of share zero.
                    let chosen = start as usize + sums.partition_point(|&sum| sum <= draw);
                    let element = self.circuit.elements()[chosen];
                    stack.extend([element.sub, element.prime]);
                    continue;
                }
            };
            world[lit.var.index() / 64] |= u64::from(lit.value) << (lit.var.index() % 64);
        }
    }
}
