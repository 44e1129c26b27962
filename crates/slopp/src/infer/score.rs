//! How well a model explains records.

use super::{Distribution, QueryError};
use crate::data::Records;
use crate::logspace::LOG_ZERO;

/// The log-likelihood of records, with the impossible ones apart.
///
/// ```
/// use slopp::infer::Score;
/// let records = slopp::example::records();
/// let score = Score::of(&slopp::Certified::from(slopp::example::psdd()), &records)?;
/// assert_eq!((score.records, score.impossible), (30.0, 0.0));
/// assert_eq!(score.per_record(), score.per_possible());
/// # Ok::<(), slopp::infer::QueryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// The total weight.
    pub records: f64,
    /// The weight of records with probability zero: the γ of the paper.
    pub impossible: f64,
    /// The sum over the others.
    pub log_likelihood: f64,
    /// Whether there are records, and all are impossible.
    none_possible: bool,
}

impl Score {
    /// The score of a model on records.
    pub fn of(model: &dyn Distribution, records: &Records) -> Result<Score, QueryError> {
        Ok(Score::new(records, &model.log_likelihoods(records)?))
    }

    /// Adds up the log-likelihoods of distinct rows.
    pub fn new(records: &Records, log_likelihoods: &[f64]) -> Score {
        let none_possible = !records.is_empty() && log_likelihoods.iter().all(|&value| value == LOG_ZERO);
        let mut score = Score { records: records.total(), impossible: 0.0, log_likelihood: 0.0, none_possible };
        for (&weight, &value) in records.weights().iter().zip(log_likelihoods) {
            if value == LOG_ZERO {
                score.impossible += weight;
            } else {
                score.log_likelihood += weight * value;
            }
        }
        score
    }

    /// The mean over all records, if all are possible.
    pub fn per_record(&self) -> Option<f64> {
        (self.impossible == 0.0 && self.records > 0.0).then(|| self.log_likelihood / self.records)
    }

    /// The mean over the possible records, if there are any.
    pub fn per_possible(&self) -> Option<f64> {
        let possible = self.records - self.impossible;
        (possible > 0.0).then(|| self.log_likelihood / possible)
    }

    /// The sum over the possible records, unless all are impossible: a sum of nothing would look perfect.
    pub fn sum(&self) -> Option<f64> {
        (!self.none_possible).then_some(self.log_likelihood)
    }
}
