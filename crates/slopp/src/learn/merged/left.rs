//! Choosing among models by what will be left of them: in a closed world only what records use, and of columns with
//! several values only worlds with one value each.

use super::Config;
use super::effort::score;
use crate::circuit::{Psdd, Smoothing};
use crate::data::Records;
use crate::learn::{LearnError, Learned, World};
use crate::logic::{Limits, Rules};
use crate::logspace::{LOG_ZERO, log_sum};
use crate::var::Var;

/// What a model is worth by the records to choose by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    /// The weight of those that are impossible under it; counted in a closed world only.
    impossible: f64,
    log_likelihood: f64,
}

impl Worth {
    /// Of a model that everything is left of.
    pub(super) fn whole(log_likelihood: f64) -> Worth {
        Worth { impossible: 0.0, log_likelihood }
    }

    /// More likely, and not by making records impossible. Along a row of candidates, each compared with the best before it,
    /// both never get worse.
    pub(super) fn is_better_than(&self, other: &Worth) -> bool {
        self.impossible <= other.impossible && self.log_likelihood > other.log_likelihood
    }

    /// The log-likelihood per record. In a closed world, of what is left but for one record's weight, which is for
    /// independent variables: so what an impossible record costs is finite, and can be compared.
    pub(super) fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }
}

/// What will be left of models, and the records to choose among them by.
pub(super) struct Left<'a> {
    train: &'a Records,
    judge: &'a Records,
    /// That every column has one value, where there are columns with several.
    columns: Option<Rules>,
    /// The variables that stay open where all else will be closed.
    open: Option<&'a [Var]>,
    /// In a world that is or will be closed, the log-likelihood of each record to choose by under independent variables.
    independent: Option<Vec<f64>>,
}

impl<'a> Left<'a> {
    /// Of models learned from `train`.
    pub(super) fn new(train: &'a Records, judge: &'a Records, config: &'a Config) -> Left<'a> {
        let names = train.names();
        let columns = (!names.groups().is_empty()).then(|| Rules::of_columns(names.clone()));
        let open = config.open.as_deref();
        let independent = (config.world == World::Closed || open.is_some()).then(|| independent(train, judge));
        Left { train, judge, columns, open, independent }
    }

    /// Whether all of every model is left: then it is worth what it was judged to be.
    pub(super) fn is_all(&self) -> bool {
        self.columns.is_none() && self.independent.is_none()
    }

    /// What is left of a PSDD of its world, fitted again with this weight, is worth.
    pub(super) fn worth(&self, psdd: &Psdd, pseudocount: f64) -> Result<Worth, LearnError> {
        let none = Worth { impossible: f64::INFINITY, log_likelihood: LOG_ZERO };
        let left = match &self.columns {
            None => Learned::from(psdd.clone()),
            Some(rules) => {
                let learned = Learned::from(psdd.clone());
                match learned.inside(rules, self.train, pseudocount, &Limits::default(), &()) {
                    Ok(inside) => inside,
                    Err(_) => return Ok(none),
                }
            }
        };
        let left = match self.open {
            None => left,
            Some(open) => match left.closed_but(open, self.train, pseudocount) {
                Ok(closed) => closed,
                Err(_) => return Ok(none),
            },
        };
        let Some(independent) = &self.independent else {
            return Ok(Worth::whole(score(left.distribution(), self.judge)?));
        };
        let logs = left.distribution().log_likelihoods(self.judge)?;
        let total = self.train.total();
        let [own, other] = [total, 1.0].map(|weight| (weight / (total + 1.0)).ln());
        let mut worth = Worth::whole(0.0);
        for ((&log, &independent), &weight) in logs.iter().zip(independent).zip(self.judge.weights()) {
            worth.impossible += if log > LOG_ZERO { 0.0 } else { weight };
            worth.log_likelihood += weight * log_sum([own + log, other + independent].into_iter());
        }
        worth.log_likelihood /= self.judge.total();
        Ok(worth)
    }
}

/// The log-likelihood of each record under independent variables with the shares of the training records.
fn independent(train: &Records, judge: &Records) -> Vec<f64> {
    let trues = Smoothing::marginal(1.0, train).prior.expect("it has one");
    let column = |i: usize| judge.column(Var(i as u32));
    let mut logs = vec![0.0; judge.len()];
    for (i, &share) in trues.iter().enumerate() {
        for (row, log) in logs.iter_mut().enumerate() {
            *log += if crate::data::bit_of(column(i), row) { share.ln() } else { (1.0 - share).ln() };
        }
    }
    logs
}
