//! Growing a circuit step by step, with a look at the validation records now and then: the loop of all refinements.

use super::Refined;
use super::draft::Draft;
use crate::circuit::{Circuit, Deterministic, Refusal, Smoothing};
use crate::data::Records;
use crate::learn::LearnError;
use crate::learn::judge::Possible;
use crate::progress::Progress;

/// Something that changes a draft, one operation at a time.
pub(super) trait Growth {
    /// Does the next operation; `false` if there is none.
    fn step(&mut self) -> bool;

    fn draft(&self) -> &Draft<'_>;
}

/// When to look at the validation records, and when to stop.
pub(super) struct Looks<'a> {
    pub(super) valid: Option<&'a Records>,
    pub(super) smoothing: Smoothing,
    pub(super) steps: usize,
    pub(super) check_every: usize,
    pub(super) patience: usize,
}

impl Looks<'_> {
    /// Grows until nothing is left to do, steps are used up, or the validation likelihood has stopped rising.
    ///
    /// Every circuit that is looked at is certified. Validation records that are impossible at first do not count; one
    /// that becomes impossible later rules a circuit out.
    pub(super) fn grow<C>(
        &self,
        growth: &mut impl Growth,
        certify: impl Fn(Circuit) -> Result<C, Refusal>,
        deterministic: impl Fn(&C) -> &Deterministic,
        progress: &dyn Progress,
    ) -> Result<Refined<C>, LearnError> {
        if growth.draft().is_unused() {
            return Err(LearnError::NothingPossible);
        }
        progress.begin("refining the circuit", self.steps as u64);
        let look = |growth: &dyn Growth| Ok::<C, LearnError>(certify(growth.draft().finish(&self.smoothing)?)?);
        let first = look(growth)?;
        let valid = self.valid.filter(|valid| !valid.is_empty());
        let judge = valid.map(|valid| Possible::new(deterministic(&first), valid)).transpose()?;
        let score = |circuit: &C| match &judge {
            None => Ok(0.0),
            Some(judge) => deterministic(circuit).log_likelihoods(judge.records).map(|values| judge.mean(&values)),
        };
        let mut best = (score(&first)?, first);
        let mut history = Vec::new();
        history.extend(judge.as_ref().map(|_| (0, best.0)));
        let (mut steps, mut looked, mut next_look, mut waited) = (0, 0, self.check_every, 0);
        loop {
            let done = steps == self.steps || !growth.step();
            if !done {
                steps += 1;
                progress.advance(1);
            }
            if looked < steps && (done || steps >= next_look && judge.is_some()) {
                let circuit = look(growth)?;
                let score = score(&circuit)?;
                history.extend(judge.as_ref().map(|_| (steps, score)));
                if score > best.0 || judge.is_none() {
                    best = (score, circuit);
                    waited = 0;
                } else {
                    waited += 1;
                }
                looked = steps;
                // Looks get rarer as the circuit grows, so that they stay a small part of the work.
                next_look = steps + self.check_every.max(steps / 10);
            }
            if done || waited >= self.patience {
                progress.advance((self.steps - steps) as u64);
                return Ok(Refined { circuit: best.1, steps, history });
            }
        }
    }
}
