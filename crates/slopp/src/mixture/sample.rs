//! Drawing worlds: first a component by its posterior, then a world from it.

use super::Mixture;
use crate::data::Records;
use crate::infer::{Completer, Draw, Evidence, QueryError, Samples, Scratch, complete_records, draw_worlds, parts};
use crate::random::Random;
use std::ops::Range;

impl Mixture {
    /// Draws `count` independent worlds from the distribution given evidence.
    ///
    /// Same seed, same worlds, on any number of threads; no rejection, however unlikely the evidence.
    ///
    /// ```
    /// use slopp::{Mixture, infer::Evidence};
    /// let mixture = Mixture::uniform([slopp::example::psdd().into(), slopp::example::psdd().into()])?;
    /// let given = Evidence::from_lits(4, [slopp::Var(0).is(true)])?;
    /// assert!(mixture.sample(100, &given, 7)?.worlds().all(|world| world[0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample(&self, count: usize, evidence: &Evidence, seed: u64) -> Result<Samples, QueryError> {
        Ok(Draws::new(self, evidence)?.worlds(0..count, seed))
    }

    /// Like [`Mixture::sample`], in parts of bounded size: the samples need not fit in memory.
    pub fn sample_in_parts<'a>(
        &'a self,
        count: usize,
        evidence: &Evidence,
        seed: u64,
    ) -> Result<impl Iterator<Item = Samples> + use<'a>, QueryError> {
        let draws = Draws::new(self, evidence)?;
        Ok(parts(count).map(move |part| draws.worlds(part, seed)))
    }

    /// Completes each record, in the order of [`Records::original`], by its own draw given its known cells; `None` if
    /// it is impossible.
    pub fn sample_batch(&self, records: &Records, seed: u64) -> Result<Vec<Option<Vec<bool>>>, QueryError> {
        let shares = self.component_posterior_batch(records)?;
        let completers: Vec<Completer<'_>> = self.components.iter().map(|circuit| Completer::new(circuit)).collect();
        let scratch = || -> Vec<Scratch> { completers.iter().map(|_| Scratch::default()).collect() };
        Ok(complete_records(records, scratch, |scratch, row, places| {
            let evidence = Evidence::from_row(records, row);
            // Made only for chosen components, which are few if a row has few records.
            let mut draws: Vec<Option<Draw<'_>>> = completers.iter().map(|_| None).collect();
            let complete = |&place: &u32| {
                let random = &mut Random::stream(seed, place.into());
                let chosen = random.choose(shares[row].as_ref()?)?;
                if draws[chosen].is_none() {
                    draws[chosen] = completers[chosen].draw(&evidence, &mut scratch[chosen]);
                }
                Some(draws[chosen].as_ref()?.one(random))
            };
            places.iter().map(complete).collect()
        }))
    }
}

/// The posteriors of the components under which the evidence is possible, ready to draw from.
struct Draws<'a> {
    variables: usize,
    shares: Vec<f64>,
    draws: Vec<Draw<'a>>,
}

impl<'a> Draws<'a> {
    fn new(mixture: &'a Mixture, evidence: &Evidence) -> Result<Draws<'a>, QueryError> {
        let mut draws = Draws { variables: mixture.var_count(), shares: Vec::new(), draws: Vec::new() };
        for (share, circuit) in mixture.component_posterior(evidence)?.into_iter().zip(&mixture.components) {
            if share > 0.0 {
                draws.shares.push(share);
                draws.draws.push(Draw::new(circuit, evidence)?);
            }
        }
        Ok(draws)
    }

    /// A range of the worlds of a seed; it must start at a block.
    fn worlds(&self, range: Range<usize>, seed: u64) -> Samples {
        draw_worlds(range, self.variables, seed, |random, stack, row| {
            let chosen = random.choose(&self.shares).expect("shares add up to one");
            self.draws[chosen].world(random, stack, row);
        })
    }
}
