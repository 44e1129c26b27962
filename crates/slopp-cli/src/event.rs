//! What is asked or given: literals, which are fast, or any formula.

use crate::error::Error;
use crate::input::{Loaded, LoadedModel, no_circuit};
use crate::knowledge::stopped_on_model;
use slopp::infer::{Evidence, EvidenceError};
use slopp::logic::{Formula, FormulaProblem, Limits, Manager, Sdd};
use slopp::{Certified, NameError, Names, Vtree};
use std::sync::Arc;

/// Literals that hold together, or a formula.
pub(crate) enum Event {
    Literals(Evidence),
    Formula(Formula),
}

impl Event {
    /// Reads literals or a formula over these names; nothing is what always holds.
    pub(crate) fn parse(text: Option<&str>, names: &Names) -> Result<Event, Error> {
        let text = text.unwrap_or("");
        let error = match Evidence::parse(text, names) {
            Ok(evidence) => return Ok(Event::Literals(evidence)),
            Err(error) => error,
        };
        // Nothing can be known that contradicts itself.
        if is_contradiction(&error) {
            return Err(error.into());
        }
        Event::parse_formula(text, names, error)
    }

    /// The same for what is asked: literals that contradict each other have a probability, zero.
    pub(crate) fn parse_question(text: Option<&str>, names: &Names) -> Result<Event, Error> {
        match (text, text.map(|text| Evidence::parse(text, names))) {
            (Some(text), Some(Err(error))) if is_contradiction(&error) => Event::parse_formula(text, names, error),
            _ => Event::parse(text, names),
        }
    }

    fn parse_formula(text: &str, names: &Names, error: EvidenceError) -> Result<Event, Error> {
        match Formula::parse(text, names) {
            Ok(formula) => Ok(match formula.as_term().map(|term| Evidence::from_lits(names.len(), term)) {
                Some(Ok(evidence)) => Event::Literals(evidence),
                _ => Event::Formula(formula),
            }),
            // A comparison, which columns do not take: what they take is told by the column.
            Err(_) if is_value(&error) && is_comparison(text) => Err(error.into()),
            // The error of what was meant: only formulas have these signs.
            Err(formula)
                if text.contains('>')
                    || text.contains(JOINING)
                    || matches!(formula.problem, FormulaProblem::NoOperator { .. }) =>
            {
                Err(formula.into())
            }
            // A name is shown where it stands.
            Err(formula) if is_name(&error) && matches!(formula.problem, FormulaProblem::Name(_)) => {
                Err(formula.into())
            }
            Err(_) => Err(error.into()),
        }
    }

    /// The literals, if it is no formula.
    pub(crate) fn literals(&self) -> Option<&Evidence> {
        match self {
            Event::Literals(evidence) => Some(evidence),
            Event::Formula(_) => None,
        }
    }

    /// What is known of single variables, for the queries that go on after [`Loaded::given`].
    pub(crate) fn evidence(&self, variables: usize) -> Evidence {
        self.literals().cloned().unwrap_or_else(|| Evidence::none(variables))
    }

    /// Whether it always holds because it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.literals().is_some_and(|evidence| evidence.known_count() == 0)
    }

    /// As people write it.
    pub(crate) fn in_words(&self, names: &Names) -> String {
        match self {
            Event::Literals(evidence) => evidence.display(names).to_string(),
            Event::Formula(formula) => formula.display(names).to_string(),
        }
    }

    fn formula(&self) -> Formula {
        match self {
            Event::Literals(evidence) => Formula::and(evidence.lits().map(Formula::literal)),
            Event::Formula(formula) => formula.clone(),
        }
    }

    /// Both together, as a formula.
    pub(crate) fn and(&self, other: &Event) -> Event {
        Event::Formula(Formula::and([self.formula(), other.formula()]))
    }
}

/// Whether literals are said that cannot hold together.
fn is_contradiction(error: &EvidenceError) -> bool {
    matches!(error, EvidenceError::Contradiction { .. } | EvidenceError::TwoValues { .. })
}

/// What joins parts of a formula, and stands in no list of literals.
const JOINING: [char; 9] = ['|', '^', '(', ')', '∧', '∨', '⊕', '→', '↔'];

/// Whether a text compares, and does not join.
fn is_comparison(text: &str) -> bool {
    text.contains(['<', '>']) && !text.contains("->") && !text.contains(JOINING)
}

/// Whether a name is not known.
fn is_name(error: &EvidenceError) -> bool {
    matches!(error, EvidenceError::Name { .. })
}

/// Whether a column has no such value.
fn is_value(error: &EvidenceError) -> bool {
    matches!(error, EvidenceError::Name { source: NameError::Value { .. } | NameError::Compared { .. }, .. })
}

/// A formula on the vtree of a circuit.
pub(crate) fn compile(formula: &Formula, vtree: &Arc<Vtree>, limits: &Limits) -> Result<Sdd, Error> {
    let mut manager = Manager::new(vtree.clone(), limits.clone());
    let handle = manager.compile(formula).map_err(stopped_on_model)?;
    Ok(manager.sdd(handle))
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
            Loaded::Spn(_) if formula.as_term().is_some() => Ok(f64::NEG_INFINITY),
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
