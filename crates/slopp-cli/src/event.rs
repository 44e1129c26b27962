//! Models asked about what is given: literals, which are fast, or any formula.

use crate::error::Error;
use crate::input::{Loaded, LoadedModel, no_circuit};
use crate::knowledge::stopped_on_model;
use slopp::infer::Event;
use slopp::logic::{Formula, Limits, Sdd};
use slopp::{Certified, Vtree};
use std::sync::Arc;

/// A formula on the vtree of a circuit.
pub(crate) fn compile(formula: &Formula, vtree: &Arc<Vtree>, limits: &Limits) -> Result<Sdd, Error> {
    formula.compile(vtree.clone(), limits).map_err(stopped_on_model)
}

impl LoadedModel {
    /// The model given a formula, and the log-probability of the formula.
    pub(crate) fn given_formula(&self, formula: &Formula, limits: &Limits) -> Result<(Certified, f64), Error> {
        let circuit = &self.model.circuit;
        Ok(circuit.given_within(&compile(formula, circuit.vtree(), limits)?, limits)?)
    }
}

impl Loaded {
    /// The log-probability of an event, −∞ if it is impossible.
    pub(crate) fn log_probability_of(&self, event: &Event, limits: &Limits) -> Result<f64, Error> {
        let formula = match event {
            Event::Literals(evidence) => return Ok(self.distribution().log_evidence(evidence)?),
            Event::Formula(formula) => formula,
        };
        match self {
            Loaded::Circuit(loaded) => {
                let circuit = &loaded.model.circuit;
                let sdd = compile(formula, circuit.vtree(), limits)?;
                Ok(circuit.log_probability_of_within(&sdd, limits)?.min(0.0))
            }
            Loaded::Mixture(model) => {
                let mut on = |vtree: &Arc<Vtree>| compile(formula, vtree, limits);
                Ok(model.circuit.log_probability_of_within(&mut on, limits)?.min(0.0))
            }
            // Literals would be evidence, if they did not contradict each other.
            Loaded::Spn(_) if event.contradicts_itself() => Ok(f64::NEG_INFINITY),
            Loaded::Spn(_) => Err(only_literals()),
        }
    }

    /// The model given an event: literals stay evidence for the queries, a formula is multiplied into the circuit. With
    /// it the log-probability of what was multiplied in.
    pub(crate) fn given(self, event: &Event, limits: &Limits) -> Result<(Loaded, f64), Error> {
        let Event::Formula(formula) = event else { return Ok((self, 0.0)) };
        match self {
            Loaded::Circuit(mut loaded) => {
                let (circuit, log) = loaded.given_formula(formula, limits)?;
                loaded.model.circuit = circuit;
                Ok((Loaded::Circuit(loaded), log))
            }
            Loaded::Mixture(mut model) => {
                let (mixture, log) =
                    model.circuit.given_within(&mut |vtree| compile(formula, vtree, limits), limits)?;
                model.circuit = mixture;
                Ok((Loaded::Mixture(model), log))
            }
            Loaded::Spn(_) => Err(only_literals()),
        }
    }
}

/// The refusal of formulas by a sum-product network.
fn only_literals() -> Error {
    no_circuit("a formula cannot be asked of a sum-product network, only literals can")
}
