//! What is asked or given: literals, which are fast, or any formula.

use crate::error::{Answer, Failure};
use crate::run::run;
use pyo3::prelude::*;
use slopp::infer::{Evidence, EvidenceError};
use slopp::logic::{Formula, Limits, Sdd};
use slopp::{Lit, Names, Vtree};
use std::sync::Arc;

/// Literals that hold together, or a formula, over the names of a model.
#[pyclass(frozen, module = "slopp._slopp")]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    names: Arc<Names>,
}

pub(crate) enum Kind {
    Literals(Evidence),
    Formula(Formula),
}

/// An event as people give it.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Text(String),
    Values(Vec<(String, bool)>),
}

#[pymethods]
impl Event {
    #[getter]
    fn is_formula(&self) -> bool {
        matches!(self.kind, Kind::Formula(_))
    }

    #[getter]
    fn is_empty(&self) -> bool {
        matches!(&self.kind, Kind::Literals(evidence) if evidence.known_count() == 0)
    }

    /// Both together: literals where both are and agree, else a formula.
    fn both(&self, other: &Event) -> Event {
        let formula = || Kind::Formula(Formula::and([self.formula(), other.formula()]));
        let kind = match (&self.kind, &other.kind) {
            (Kind::Literals(a), Kind::Literals(b)) => {
                Evidence::from_lits(a.var_count(), a.lits().chain(b.lits())).map_or_else(|_| formula(), Kind::Literals)
            }
            _ => formula(),
        };
        Event { kind, names: self.names.clone() }
    }

    /// Whether both are literals, and some of them deny each other.
    fn contradicts(&self, other: &Event) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Literals(a), Kind::Literals(b)) => a.lits().any(|lit| b.value(lit.var) == Some(!lit.value)),
            _ => false,
        }
    }

    fn __str__(&self) -> String {
        match &self.kind {
            Kind::Literals(evidence) => evidence.display(&self.names).to_string(),
            Kind::Formula(formula) => formula.display(&self.names).to_string(),
        }
    }
}

impl Event {
    /// Nothing is what always holds. Literals that contradict each other are more likely a slip than a formula.
    pub(crate) fn new(given: Option<Given>, names: &Arc<Names>) -> Answer<Event> {
        let literals = |lits: Vec<Lit>| Ok::<Kind, Failure>(Kind::Literals(Evidence::from_lits(names.len(), lits)?));
        let kind = match given {
            None => literals(Vec::new()),
            Some(Given::Values(values)) => {
                let lits = values.into_iter().map(|(name, value)| Ok(names.find(&name)?.is(value)));
                literals(lits.collect::<Answer<_>>()?)
            }
            Some(Given::Text(text)) => match Evidence::parse(&text, names) {
                Ok(evidence) => Ok(Kind::Literals(evidence)),
                Err(error @ EvidenceError::Contradiction { .. }) => Err(error.into()),
                Err(error) => match Formula::parse(&text, names) {
                    Ok(formula) => Ok(match formula.as_term().map(|term| Evidence::from_lits(names.len(), term)) {
                        Some(Ok(evidence)) => Kind::Literals(evidence),
                        _ => Kind::Formula(formula),
                    }),
                    Err(formula) if text.contains(['|', '^', '(', ')', '>']) => Err(formula.into()),
                    Err(_) => Err(error.into()),
                },
            },
        };
        Ok(Event { kind: kind?, names: names.clone() })
    }

    /// The literals, for questions that take no formula.
    pub(crate) fn evidence(&self) -> Answer<&Evidence> {
        match &self.kind {
            Kind::Literals(evidence) => Ok(evidence),
            Kind::Formula(_) => {
                Err(Failure::new("FormulaError", "only literals can be given here, such as \"smoker, !cancer\""))
            }
        }
    }

    pub(crate) fn formula(&self) -> Formula {
        match &self.kind {
            Kind::Literals(evidence) => Formula::and(evidence.lits().map(Formula::literal)),
            Kind::Formula(formula) => formula.clone(),
        }
    }

    /// The formula on a vtree.
    pub(crate) fn compile(&self, py: Python<'_>, vtree: &Arc<Vtree>) -> Answer<Sdd> {
        let formula = self.formula();
        Ok(run(py, || formula.compile(vtree.clone(), &Limits::default()))?)
    }
}
