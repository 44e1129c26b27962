//! The noisy channel behind a mixture: that of every component, mixed.

use super::Mixture;
use crate::data::Records;
use crate::infer::{NoiseFit, QueryError};
use crate::logspace::{LOG_ZERO, log_add};

impl Mixture {
    /// The log-likelihood of each distinct row seen through a channel that changes every cell with probability `epsilon`.
    ///
    /// As [`crate::Circuit::log_likelihoods_noisy`]; exact, since the channel is linear in the distribution.
    pub fn log_likelihoods_noisy(&self, records: &Records, epsilon: f64) -> Result<Vec<f64>, QueryError> {
        let mut answers = vec![LOG_ZERO; records.len()];
        for (circuit, weight) in self.components.iter().zip(&self.weights) {
            let logs = circuit.log_likelihoods_noisy(records, epsilon)?;
            answers.iter_mut().zip(logs).for_each(|(sum, log)| *sum = log_add(*sum, weight.ln() + log));
        }
        Ok(answers)
    }

    /// The noise under which these records, usually for validation, are most likely, as [`crate::Circuit::fit_noise`].
    pub fn fit_noise(&self, records: &Records) -> Result<NoiseFit, QueryError> {
        self.components.iter().try_for_each(|circuit| circuit.check_channel(records))?;
        let noisy =
            |epsilon| self.log_likelihoods_noisy(records, epsilon).expect("records that fit, noise in its range");
        NoiseFit::search(records, noisy)
    }
}
