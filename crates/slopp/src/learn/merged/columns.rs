//! Choosing among models over columns with several values, of which only worlds with one value each will be left.

use super::effort::score;
use crate::circuit::Psdd;
use crate::data::Records;
use crate::learn::{LearnError, Learned};
use crate::logic::{Limits, Rules};
use crate::logspace::LOG_ZERO;
use crate::names::Names;
use std::sync::Arc;

/// That every column has exactly one value.
pub(super) struct Columns(Rules);

impl Columns {
    /// The columns with several values; `None` if there are none.
    pub(super) fn of(names: &Arc<Names>) -> Option<Columns> {
        (!names.groups().is_empty()).then(|| Columns(Rules::of_columns(names.clone())))
    }

    /// The log-probability that every column has one value; zero where that is too hard to tell.
    pub(super) fn log_probability(&self, psdd: &Psdd) -> f64 {
        let compiled = self.0.compile(psdd.vtree().clone(), &Limits::default()).ok();
        compiled.and_then(|sdd| psdd.log_probability_of(&sdd).ok()).unwrap_or(0.0)
    }

    /// The log-likelihood per record once the model is conditioned on its columns and fitted again; minus infinity if it
    /// cannot be.
    pub(super) fn score(
        &self,
        psdd: &Psdd,
        train: &Records,
        judge: &Records,
        pseudocount: f64,
    ) -> Result<f64, LearnError> {
        match Learned::from(psdd.clone()).inside(&self.0, train, pseudocount, &Limits::default(), &()) {
            Ok(inside) => Ok(score(inside.distribution(), judge)?),
            Err(_) => Ok(LOG_ZERO),
        }
    }
}
