//! What is asked or given, over the names of a model.

use crate::error::{Answer, Failure};
use pyo3::prelude::*;
use slopp::infer::{self, Evidence};
use slopp::{Lit, Names};
use std::sync::Arc;

/// Literals that hold together, or a formula, over the names of a model.
#[pyclass(frozen, module = "slopp._slopp")]
pub(crate) struct Event {
    pub(crate) event: infer::Event,
    names: Arc<Names>,
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
        self.event.literals().is_none()
    }

    #[getter]
    fn is_empty(&self) -> bool {
        self.event.is_empty()
    }

    fn __str__(&self) -> String {
        self.event.display(&self.names).to_string()
    }
}

impl Event {
    /// Nothing is what always holds. Only a question may contradict itself.
    pub(crate) fn new(given: Option<Given>, names: &Arc<Names>, question: bool) -> Answer<Event> {
        let event = match given {
            None => infer::Event::always(names.len()),
            Some(Given::Text(text)) if question => infer::Event::parse_question(&text, names)?,
            Some(Given::Text(text)) => infer::Event::parse(&text, names)?,
            Some(Given::Values(values)) => {
                let lits = values.into_iter().map(|(name, value)| Ok(names.find(&name)?.is(value)));
                let lits = lits.collect::<Answer<Vec<Lit>>>()?;
                match question {
                    true => infer::Event::of_lits(names.len(), lits),
                    false => {
                        let evidence = Evidence::from_lits(names.len(), lits);
                        infer::Event::Literals(
                            evidence.map_err(|error| Failure::new("FormulaError", error.to_string()))?,
                        )
                    }
                }
            }
        };
        Ok(Event { event, names: names.clone() })
    }

    /// The literals, for questions that take no formula.
    pub(crate) fn evidence(&self) -> Answer<&Evidence> {
        let refused = || Failure::new("FormulaError", "only literals can be given here, such as \"smoker, !cancer\"");
        self.event.literals().ok_or_else(refused)
    }
}
