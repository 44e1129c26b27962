//! Models asked about what is given: literals, which are fast, or any formula.

use crate::error::Error;
use crate::input::{Loaded, no_circuit};
use crate::knowledge::stopped_on_model;
use slopp::infer::Event;
use slopp::logic::{Formula, Limits, Sdd};
use slopp::{ModelKind, Vtree};
use std::sync::Arc;

/// A formula on the vtree of a circuit.
pub(crate) fn compile(formula: &Formula, vtree: &Arc<Vtree>, limits: &Limits) -> Result<Sdd, Error> {
    formula.compile(vtree.clone(), limits).map_err(stopped_on_model)
}

impl Loaded {
    /// The log-probability of an event, −∞ if it is impossible.
    pub(crate) fn log_probability_of(&self, event: &Event, limits: &Limits) -> Result<f64, Error> {
        let formula = match event {
            Event::Literals(evidence) => return Ok(self.model.distribution().log_evidence(evidence)?),
            Event::Formula(formula) => formula,
        };
        match &self.model.kind {
            ModelKind::Circuit(circuit) => {
                let sdd = compile(formula, circuit.vtree(), limits)?;
                Ok(circuit.log_probability_of_within(&sdd, limits)?.min(0.0))
            }
            ModelKind::Mixture(mixture) => {
                let mut on = |vtree: &Arc<Vtree>| compile(formula, vtree, limits);
                Ok(mixture.log_probability_of_within(&mut on, limits)?.min(0.0))
            }
            // Literals would be evidence, if they did not contradict each other.
            ModelKind::Spn(_) if event.contradicts_itself() => Ok(f64::NEG_INFINITY),
            ModelKind::Spn(_) => Err(only_literals()),
        }
    }

    /// The model given an event: literals stay evidence for the queries, a formula is multiplied into the circuit. With
    /// it the log-probability of what was multiplied in.
    pub(crate) fn given(mut self, event: &Event, limits: &Limits) -> Result<(Loaded, f64), Error> {
        let Event::Formula(formula) = event else { return Ok((self, 0.0)) };
        let (kind, log) = self.given_formula(formula, limits)?;
        self.model.kind = kind;
        Ok((self, log))
    }

    /// The model given a formula, and the log-probability of the formula.
    pub(crate) fn given_formula(&self, formula: &Formula, limits: &Limits) -> Result<(ModelKind, f64), Error> {
        match &self.model.kind {
            ModelKind::Circuit(circuit) => {
                let (given, log) = circuit.given_within(&compile(formula, circuit.vtree(), limits)?, limits)?;
                Ok((given.into(), log))
            }
            ModelKind::Mixture(mixture) => {
                let (given, log) = mixture.given_within(&mut |vtree| compile(formula, vtree, limits), limits)?;
                Ok((given.into(), log))
            }
            ModelKind::Spn(_) => Err(only_literals()),
        }
    }
}

/// The refusal of formulas by a sum-product network.
fn only_literals() -> Error {
    no_circuit("a formula cannot be asked of a sum-product network, only literals can")
}
