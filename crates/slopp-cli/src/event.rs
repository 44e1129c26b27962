//! What is asked or given: literals, which are fast, or any formula.

use crate::error::Error;
use crate::input::{Loaded, LoadedModel, no_circuit};
use crate::knowledge::stopped;
use slopp::infer::{Evidence, EvidenceError, QueryError};
use slopp::logic::{Formula, Limits, Manager, Sdd};
use slopp::{Certified, Mixture, Names, Vtree};
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
        // Literals that contradict each other are more likely a slip than a formula.
        if matches!(error, EvidenceError::Contradiction { .. }) {
            return Err(error.into());
        }
        match Formula::parse(text, names) {
            Ok(formula) => Ok(match formula.as_term().map(|term| Evidence::from_lits(names.len(), term)) {
                Some(Ok(evidence)) => Event::Literals(evidence),
                _ => Event::Formula(formula),
            }),
            // The error of what was meant: only formulas have these signs.
            Err(formula) if text.contains(['|', '^', '(', ')', '>', '∧', '∨', '→', '↔']) => Err(formula.into()),
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

/// A formula on the vtrees it is needed on, each once.
struct Compiled<'a> {
    formula: &'a Formula,
    done: Vec<Sdd>,
}

impl Compiled<'_> {
    fn on(&mut self, vtree: &Arc<Vtree>) -> Result<&Sdd, Error> {
        let place = match self.done.iter().position(|sdd| Arc::ptr_eq(sdd.vtree(), vtree) || sdd.vtree() == vtree) {
            Some(place) => place,
            None => {
                self.done.push(compile(self.formula, vtree)?);
                self.done.len() - 1
            }
        };
        Ok(&self.done[place])
    }
}

/// A formula on the vtree of a circuit.
pub(crate) fn compile(formula: &Formula, vtree: &Arc<Vtree>) -> Result<Sdd, Error> {
    let mut manager = Manager::new(vtree.clone(), Limits::default());
    let handle = manager.compile(formula).map_err(stopped)?;
    Ok(manager.sdd(handle))
}

impl LoadedModel {
    /// The model given a formula, and the log-probability of the formula.
    pub(crate) fn given_formula(&self, formula: &Formula) -> Result<(Certified, f64), Error> {
        let circuit = &self.model.circuit;
        given(circuit, &compile(formula, circuit.vtree())?)
    }
}

/// A circuit given a formula on its vtree, with the strongest certificate it deserves.
pub(crate) fn given(circuit: &Certified, formula: &Sdd) -> Result<(Certified, f64), Error> {
    let (given, log_probability) = match circuit {
        Certified::Psdd(psdd) => {
            let (given, log) = psdd.given(formula)?;
            (Certified::Psdd(given), log)
        }
        Certified::Deterministic(circuit, _) => {
            let (given, log) = circuit.given(formula)?;
            (Certified::new(given.into_circuit()), log)
        }
        Certified::Circuit(circuit, _) => {
            let (given, log) = circuit.given(formula)?;
            (Certified::new(given), log)
        }
    };
    Ok((given, log_probability))
}

/// A mixture given a formula: its components given it, each weighed by how probable it finds it.
pub(crate) fn mixture_given(mixture: &Mixture, formula: &Formula) -> Result<(Mixture, f64), Error> {
    let mut compiled = Compiled { formula, done: Vec::new() };
    let mut parts = Vec::new();
    for (circuit, weight) in mixture.components().iter().zip(mixture.weights()) {
        let formula = compiled.on(circuit.vtree())?;
        // A component in which the formula is impossible has no part in what is left.
        if circuit.log_probability_of(formula)? > f64::NEG_INFINITY {
            let (circuit, log) = given(circuit, formula)?;
            parts.push((weight.ln() + log, circuit));
        }
    }
    let log = slopp::logspace::log_sum(parts.iter().map(|(log, _)| *log));
    if log == f64::NEG_INFINITY {
        return Err(QueryError::ImpossibleFormula.into());
    }
    Ok((Mixture::new(parts.into_iter().map(|(part, circuit)| ((part - log).exp(), circuit)))?, log))
}

impl Loaded {
    /// The log-probability of an event, −∞ if it is impossible.
    pub(crate) fn log_probability_of(&self, event: &Event) -> Result<f64, Error> {
        let formula = match event {
            Event::Literals(evidence) => return Ok(self.distribution().log_evidence(evidence)?),
            Event::Formula(formula) => formula,
        };
        let mut compiled = Compiled { formula, done: Vec::new() };
        match self {
            Loaded::Circuit(loaded) => {
                let circuit = &loaded.model.circuit;
                Ok(circuit.log_probability_of(compiled.on(circuit.vtree())?)?.min(0.0))
            }
            Loaded::Mixture(model) => {
                let mut logs = Vec::new();
                for (circuit, weight) in model.circuit.components().iter().zip(model.circuit.weights()) {
                    logs.push(weight.ln() + circuit.log_probability_of(compiled.on(circuit.vtree())?)?);
                }
                Ok(slopp::logspace::log_sum(logs.into_iter()).min(0.0))
            }
            Loaded::Spn(_) => Err(only_literals()),
        }
    }

    /// The model given an event: literals stay evidence for the queries, a formula is multiplied into the circuit. With
    /// it the log-probability of what was multiplied in.
    pub(crate) fn given(self, event: &Event) -> Result<(Loaded, f64), Error> {
        let Event::Formula(formula) = event else { return Ok((self, 0.0)) };
        match self {
            Loaded::Circuit(mut loaded) => {
                let (circuit, log) = loaded.given_formula(formula)?;
                loaded.model.circuit = circuit;
                Ok((Loaded::Circuit(loaded), log))
            }
            Loaded::Mixture(mut model) => {
                let (circuit, log) = mixture_given(&model.circuit, formula)?;
                model.circuit = circuit;
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
