//! Models asked about what is given: literals, which are fast, or any formula.

use crate::args::{FormulaText, GivenArgs};
use crate::error::Error;
use crate::input::{Loaded, explained, no_circuit};
use crate::knowledge::stopped_on_model;
use slopp::infer::{Event, QueryError};
use slopp::io::Problem;
use slopp::logic::{Formula, Limits, Rules, Sdd};
use slopp::{ModelKind, Names, Vtree};
use std::path::Path;
use std::sync::Arc;

impl GivenArgs {
    /// What is known.
    pub(crate) fn event(&self, names: &Arc<Names>, limits: &Limits) -> Result<Event, Error> {
        match &self.given {
            None => Ok(Event::always(names.len())),
            Some(FormulaText::Formula(text)) => Ok(Event::parse(text, names)?),
            Some(FormulaText::File(file)) => Ok(Event::of_rules(&rules(file, names, limits)?)),
        }
    }
}

impl FormulaText {
    /// As a question, which may contradict itself.
    pub(crate) fn question(&self, names: &Arc<Names>, limits: &Limits) -> Result<Event, Error> {
        match self {
            FormulaText::Formula(text) => Ok(Event::parse_question(text, names)?),
            FormulaText::File(file) => Ok(Event::of_rules(&rules(file, names, limits)?)),
        }
    }

    /// As a formula.
    pub(crate) fn formula(&self, names: &Arc<Names>, limits: &Limits) -> Result<Formula, Error> {
        match self {
            FormulaText::Formula(text) => {
                Formula::parse(text, names).map_err(|error| Error::from(error).while_doing("this is not a formula"))
            }
            FormulaText::File(file) => Ok(rules(file, names, limits)?.formula()),
        }
    }
}

/// The rules of a file that is named in place of a formula.
fn rules(file: &Path, names: &Arc<Names>, limits: &Limits) -> Result<Rules, Error> {
    slopp::io::read_rules(file, Some(names), limits).map_err(|error| match &*error.problem {
        Problem::Open(_) => {
            Error::from(error).hint("check the name and the folder; quote a name that begins with @: '\"@name\"'")
        }
        _ => explained(error),
    })
}

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
