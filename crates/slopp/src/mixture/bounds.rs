//! Bounds on the most probable world, which a mixture cannot tell exactly.

use super::Mixture;
use crate::infer::{Evidence, QueryError, log_upper_bound};
use crate::logspace::log_sum;

/// A probable world, and how much more probable another one can be at most.
#[derive(Clone, Debug, PartialEq)]
pub struct MpeBounds {
    /// The best world found.
    pub world: Vec<bool>,
    /// Its log-probability under the mixture: the most probable world has at least this.
    pub log_probability: f64,
    /// The log-probability that no world exceeds. Where both are equal, the world *is* the most probable one.
    pub log_upper: f64,
}

impl Mixture {
    /// A world that agrees with evidence, and proved bounds on the log-probability of the most probable one.
    ///
    /// Lower bound: the best, under the mixture, of the most probable worlds of the components. Upper bound:
    /// `Σ weight · max P(w)`, as no world does better under a component than the best one does. The bounds meet if the
    /// components agree on their most probable world. Cost: elements of all components, times the number of them.
    ///
    /// ```
    /// use slopp::{Mixture, infer::Evidence};
    /// let psdd = slopp::example::psdd();
    /// let (world, log_probability) = psdd.mpe(&Evidence::none(4))?;
    /// let bounds = Mixture::uniform([psdd.into()])?.mpe_bounds(&Evidence::none(4))?;
    /// assert_eq!(bounds.world, world);
    /// assert!((bounds.log_upper - log_probability).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mpe_bounds(&self, evidence: &Evidence) -> Result<MpeBounds, QueryError> {
        self.first().check_evidence(evidence)?;
        let mut best: Option<(Vec<bool>, f64)> = None;
        let mut scratch = Vec::new();
        for circuit in &self.components {
            let Some((world, _)) = circuit.best_derivation(evidence, &mut scratch) else { continue };
            let log_probability = self.log_probability(&world)?;
            if best.as_ref().is_none_or(|(_, log)| log_probability > *log) {
                best = Some((world, log_probability));
            }
        }
        let (world, log_probability) = best.ok_or(QueryError::ImpossibleEvidence)?;
        let uppers = self.weighed().map(|(log_weight, circuit)| {
            log_weight + log_upper_bound(circuit, evidence, circuit.deterministic().is_ok())
        });
        // Rounding must not put the bound below a world that is there.
        let log_upper = log_sum(uppers).min(self.log_evidence(evidence)?).max(log_probability);
        Ok(MpeBounds { world, log_probability, log_upper })
    }
}
