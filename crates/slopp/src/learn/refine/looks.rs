//! Growing a circuit step by step, with a look at the validation records now and then: the loop of all refinements.

use super::Refined;
use super::draft::Draft;
use crate::circuit::{Circuit, Deterministic, Refusal, Smoothing};
use crate::data::Records;
use crate::learn::LearnError;
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
    /// Stops where a circuit would have more elements.
    pub(super) max_elements: usize,
}

impl Looks<'_> {
    /// Grows until nothing is left to do, steps or elements are used up, or the validation likelihood has stopped rising.
    ///
    /// Every circuit that is looked at is certified.
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
        let look = |growth: &dyn Growth| -> Result<(f64, C), LearnError> {
            let circuit = certify(growth.draft().finish(&self.smoothing)?)?;
            Ok((self.score(deterministic(&circuit))?, circuit))
        };
        let mut best = look(growth)?;
        let mut history = Vec::new();
        history.extend(self.valid.map(|_| (0, best.0)));
        let (mut steps, mut next_look, mut waited) = (0, self.check_every, 0);
        loop {
            let done = steps == self.steps || !growth.step();
            if !done {
                steps += 1;
                progress.advance(1);
            }
            if done || steps >= next_look && self.valid.is_some() {
                let (score, circuit) = look(growth)?;
                if deterministic(&circuit).elements().len() > self.max_elements {
                    return Ok(Refined { circuit: best.1, steps, history });
                }
                history.extend(self.valid.map(|_| (steps, score)));
                if score > best.0 || self.valid.is_none() {
                    best = (score, circuit);
                    waited = 0;
                } else {
                    waited += 1;
                }
                // Looks get rarer as the circuit grows, so that they stay a small part of the work.
                next_look = steps + self.check_every.max(steps / 10);
            }
            if done || waited >= self.patience {
                return Ok(Refined { circuit: best.1, steps, history });
            }
        }
    }

    /// The log-likelihood per possible validation record.
    fn score(&self, circuit: &Deterministic) -> Result<f64, LearnError> {
        let Some(valid) = self.valid else { return Ok(0.0) };
        let values = circuit.log_likelihoods(valid)?;
        let possible = values.iter().zip(valid.weights()).filter(|(ll, _)| ll.is_finite());
        let (sum, total) = possible.fold((0.0, 0.0), |(sum, total), (ll, weight)| (sum + ll * weight, total + weight));
        Ok(if total > 0.0 { sum / total } else { 0.0 })
    }
}
