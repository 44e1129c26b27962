//! Records to choose by: those that are given, or a tenth of the training records.

use super::{LearnError, check_complete};
use crate::circuit::Deterministic;
use crate::data::Records;
use crate::infer::{Distribution, QueryError};
use crate::logspace::LOG_ZERO;

/// Fewer records than this tell when to stop, but not how improbable is what they do not show.
pub const FEW_JUDGES: f64 = 50.0;

/// The records to learn from and those to choose by.
pub(crate) struct Parts<'a> {
    all: &'a Records,
    valid: Option<&'a Records>,
    /// Both parts of the training records, where some are held out.
    divided: Option<(Records, Records)>,
}

impl<'a> Parts<'a> {
    /// The validation records, or a tenth held out by seed; empty validation records are none.
    pub(crate) fn new(all: &'a Records, valid: Option<&'a Records>, seed: u64) -> Result<Parts<'a>, LearnError> {
        check_validation(all, valid)?;
        let valid = valid.filter(|valid| !valid.is_empty());
        let divided = if valid.is_none() { all.hold_out(seed) } else { None };
        Ok(Parts { all, valid, divided })
    }

    /// All training records.
    pub(crate) fn all(&self) -> &Records {
        self.all
    }

    /// The records to learn from.
    pub(crate) fn train(&self) -> &Records {
        self.divided.as_ref().map_or(self.all, |(train, _)| train)
    }

    /// The records to choose by; `None` if there are too few to hold some out.
    pub(crate) fn judge(&self) -> Option<&Records> {
        self.divided.as_ref().map(|(_, held)| held).or(self.valid)
    }

    /// Whether parameters are to be fitted to all records at the end.
    pub(crate) fn is_divided(&self) -> bool {
        self.divided.is_some()
    }

    /// The weight of the records that were held out.
    pub(crate) fn held_out(&self) -> f64 {
        self.divided.as_ref().map_or(0.0, |(_, held)| held.total())
    }
}

/// Records to choose by, and which of them the structure to start from makes possible.
pub(crate) struct Judge<'a> {
    pub(crate) records: &'a Records,
    possible: Vec<bool>,
    total: f64,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(structure: &Deterministic, records: &'a Records) -> Result<Judge<'a>, QueryError> {
        Ok(Judge::over(records, structure.possible(records)?))
    }

    /// As what a model of any kind makes possible.
    pub(crate) fn of(model: &dyn Distribution, records: &'a Records) -> Result<Judge<'a>, QueryError> {
        let possible = model.log_likelihoods(records)?.into_iter().map(|log| log > LOG_ZERO).collect();
        Ok(Judge::over(records, possible))
    }

    fn over(records: &'a Records, possible: Vec<bool>) -> Judge<'a> {
        let total = possible.iter().zip(records.weights()).filter(|(p, _)| **p).fold(0.0, |sum, (_, w)| sum + w);
        Judge { records, possible, total }
    }

    /// The mean of the log-likelihoods of the records that the structure makes possible: those a model loses cost
    /// infinity, or losing the hard ones would pay.
    pub(crate) fn mean(&self, log_likelihoods: &[f64]) -> f64 {
        if self.total == 0.0 {
            return LOG_ZERO;
        }
        let all = log_likelihoods.iter().zip(self.records.weights()).zip(&self.possible);
        let possible = all.filter(|(_, possible)| **possible);
        possible.fold(0.0, |sum, ((value, weight), _)| sum + weight * value) / self.total
    }
}

/// Checks that validation records are over the same variables and complete.
pub(crate) fn check_validation(train: &Records, valid: Option<&Records>) -> Result<(), LearnError> {
    let variables = train.var_count();
    match valid {
        Some(valid) if valid.var_count() != variables => {
            Err(LearnError::WrongValidation { valid: valid.var_count(), train: variables })
        }
        Some(valid) => check_complete(valid),
        None => Ok(()),
    }
}
