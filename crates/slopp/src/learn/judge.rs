//! Choosing among models by held-out records, once support has been applied.

use super::LearnError;
use super::structure::Structure;
use super::support::World;
use super::task::Task;
use crate::circuit::{Deterministic, Smoothing};
use crate::data::{Records, bit_of};
use crate::infer::{Distribution, QueryError};
use crate::logic::Limits;
use crate::logspace::{LOG_ZERO, log_sum};
use crate::var::Var;

/// Records to choose by, and which of them are possible under the first structure.
pub(crate) struct Possible<'a> {
    pub(crate) records: &'a Records,
    possible: Vec<bool>,
    total: f64,
}

impl<'a> Possible<'a> {
    pub(crate) fn new(structure: &Deterministic, records: &'a Records) -> Result<Possible<'a>, QueryError> {
        Ok(Possible::over(records, structure.possible(records)?))
    }

    /// The same for a model of any kind.
    pub(crate) fn of(model: &dyn Distribution, records: &'a Records) -> Result<Possible<'a>, QueryError> {
        let possible = model.log_likelihoods(records)?.into_iter().map(|log| log > LOG_ZERO).collect();
        Ok(Possible::over(records, possible))
    }

    fn over(records: &'a Records, possible: Vec<bool>) -> Possible<'a> {
        let total = possible.iter().zip(records.weights()).filter(|(p, _)| **p).fold(0.0, |sum, (_, w)| sum + w);
        Possible { records, possible, total }
    }

    /// The mean of the log-likelihoods of the possible records. A record that a model loses costs infinity; otherwise
    /// losing hard records would pay.
    pub(crate) fn mean(&self, log_likelihoods: &[f64]) -> f64 {
        if self.total == 0.0 {
            return LOG_ZERO;
        }
        let all = log_likelihoods.iter().zip(self.records.weights()).zip(&self.possible);
        let possible = all.filter(|(_, possible)| **possible);
        possible.fold(0.0, |sum, ((value, weight), _)| sum + weight * value) / self.total
    }
}

/// The value of a model by the records to choose by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Worth {
    /// The weight of the records that are impossible under it; counted in a closed world only.
    impossible: f64,
    /// The log-likelihood per record. In a closed world the model is mixed with independent variables, which weigh one
    /// record, so that an impossible record has a finite cost.
    log_likelihood: f64,
}

impl Worth {
    /// The worth of a model under which everything is possible.
    pub(crate) fn open(log_likelihood: f64) -> Worth {
        Worth { impossible: 0.0, log_likelihood }
    }

    /// More likely, without making more records impossible. Neither gets worse along a series of candidates, each
    /// compared with the best before it.
    pub(crate) fn is_better_than(&self, other: &Worth) -> bool {
        self.impossible <= other.impossible && self.log_likelihood > other.log_likelihood
    }
}

/// Chooses among structures by their worth once support has been applied.
pub(crate) struct Judge<'a> {
    task: Task<'a>,
    records: &'a Records,
    /// In a closed world, the log-likelihood of each record to choose by under independent variables.
    independent: Option<Vec<f64>>,
}

impl<'a> Judge<'a> {
    /// For the structures found for a task.
    pub(crate) fn new(task: Task<'a>, records: &'a Records) -> Judge<'a> {
        let is_closed = task.support.world != World::Open;
        Judge { task, records, independent: is_closed.then(|| independent(task.train, records)) }
    }

    /// The limits of proofs.
    pub(crate) fn limits(&self) -> &'a Limits {
        &self.task.support.limits
    }

    /// The worth of a structure, given its log-likelihood before support is applied.
    pub(crate) fn worth(
        &self,
        log_likelihood: f64,
        structure: impl FnOnce() -> Result<Structure, LearnError>,
    ) -> Result<Worth, LearnError> {
        let Task { train, support, .. } = self.task;
        if support.is_everything(train.names()) {
            return Ok(Worth::open(log_likelihood));
        }
        let model = match support.apply(structure()?, train, &()) {
            Ok(model) => model,
            Err(error) if is_of_support(&error) => {
                return Ok(Worth { impossible: f64::INFINITY, log_likelihood: LOG_ZERO });
            }
            Err(error) => return Err(error),
        };
        let Some(independent) = &self.independent else {
            return Ok(Worth::open(score(model.distribution(), self.records)?));
        };
        let logs = model.distribution().log_likelihoods(self.records)?;
        let total = train.total();
        let [own, other] = [total, 1.0].map(|weight| (weight / (total + 1.0)).ln());
        let mut worth = Worth::open(0.0);
        for ((&log, &independent), &weight) in logs.iter().zip(independent).zip(self.records.weights()) {
            worth.impossible += if log > LOG_ZERO { 0.0 } else { weight };
            worth.log_likelihood += weight * log_sum([own + log, other + independent].into_iter());
        }
        worth.log_likelihood /= self.records.total();
        Ok(worth)
    }
}

/// Whether a structure cannot keep to its support, which makes it worthless; other errors end the work.
fn is_of_support(error: &LearnError) -> bool {
    match error {
        LearnError::NothingObeys | LearnError::NothingPossible => true,
        LearnError::Rules(error) => !error.is_cancelled(),
        LearnError::Groups(error) | LearnError::Closed(error) => is_of_support(error),
        _ => false,
    }
}

/// The mean log-likelihood of records.
pub(crate) fn score(model: &dyn Distribution, records: &Records) -> Result<f64, QueryError> {
    let logs = model.log_likelihoods(records)?;
    Ok(logs.iter().zip(records.weights()).map(|(log, weight)| log * weight).sum::<f64>() / records.total())
}

/// The log-likelihood of each record under independent variables with the shares of the training records.
fn independent(train: &Records, judge: &Records) -> Vec<f64> {
    let trues = Smoothing::marginal(1.0, train).prior.expect("it has one");
    let mut logs = vec![0.0; judge.len()];
    for (i, &share) in trues.iter().enumerate() {
        let column = judge.column(Var(i as u32));
        for (row, log) in logs.iter_mut().enumerate() {
            *log += if bit_of(column, row) { share.ln() } else { (1.0 - share).ln() };
        }
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::Limit;

    #[test]
    fn only_errors_of_support_make_a_structure_worthless() {
        let stopped = |limit| LearnError::Rules(QueryError::Stopped { limit, nodes: 1, megabytes: 1 });
        for (limit, expected) in [(Limit::Nodes(1), true), (Limit::Cancelled, false)] {
            assert_eq!(is_of_support(&stopped(limit)), expected);
            assert_eq!(is_of_support(&LearnError::Groups(stopped(limit).into())), expected);
        }
        assert!(is_of_support(&LearnError::Closed(LearnError::NothingPossible.into())));
        let build = || LearnError::from(crate::circuit::BuildError::Pseudocount(-1.0));
        assert!(!is_of_support(&build()) && !is_of_support(&LearnError::Closed(build().into())));
    }
}
