//! Models asked about what is given: literals, which are fast, or any formula.

use crate::error::Error;
use crate::input::{Loaded, no_circuit};
use crate::knowledge::stopped_on_model;
use slopp::infer::{Event, QueryError};
use slopp::logic::{Formula, Limits, Sdd};
use slopp::{ModelKind, Vtree};
use std::sync::Arc;

/// A formula on the vtree of a circuit.
pub(crate) fn compile(formula: &Formula, vtree: &Arc<Vtree>, limits: &Limits) -> Result<Sdd, Error> {
    formula.compile(vtree.clone(), limits).map_err(stopped_on_model)
}

impl Loaded {
    /// The model given an event: literals stay evidence for the queries, a formula is multiplied into the circuit.
    pub(crate) fn given(mut self, event: &Event, limits: &Limits) -> Result<Loaded, Error> {
        if let Event::Formula(formula) = event {
            self.model.kind = self.given_formula(formula, limits)?.0;
        }
        Ok(self)
    }

    /// The model given a formula, and the log-probability of the formula.
    pub(crate) fn given_formula(&self, formula: &Formula, limits: &Limits) -> Result<(ModelKind, f64), Error> {
        self.model.given(formula, limits).map_err(unanswered)
    }
}

/// Why there is no answer, with the way out.
pub(crate) fn unanswered(error: QueryError) -> Error {
    match error {
        QueryError::Compile(stopped) => stopped_on_model(stopped),
        QueryError::OnlyLiterals => no_circuit("a formula cannot be asked of a sum-product network, only literals can"),
        error => error.into(),
    }
}
