//! Models of fixed structure fitted to records: by counting where that is exact, else by expectation maximisation.

use super::em::EmConfig;
use super::error::{LearnError, in_digits};
use super::params::{Fitted, possible_records};
use crate::certified::Certified;
use crate::circuit::Smoothing;
use crate::data::Records;
use crate::logic::Limits;
use crate::model::{Model, ModelKind};
use crate::progress::Progress;

/// How to fit a model again.
#[derive(Clone, Debug, Default)]
pub struct Refit {
    /// The weight of the prior in records; by default the weight that the model was learned with, else 1.
    pub pseudocount: Option<f64>,
    /// Adds the records to the counts of the model instead of replacing these.
    pub add: bool,
    /// Uses expectation maximisation even where counting is exact.
    pub em: bool,
    /// The largest number of steps of expectation maximisation; by default that of [`EmConfig`].
    pub steps: Option<usize>,
    /// How much a proof may cost where elements were dropped.
    pub limits: Limits,
}

/// A model that was fitted again.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Refitted {
    /// The model, with an origin that says how it was fitted.
    pub model: Model,
    /// The weight of the records that were used.
    pub used: f64,
    /// The weight of the records that are impossible under the structure, and were left out.
    pub impossible: f64,
    /// How many elements were dropped, because no record uses them and there is no pseudocount.
    pub dropped: usize,
    /// The log-likelihood per possible record before each step of expectation maximisation, and after the last.
    pub history: Option<Vec<f64>>,
}

impl Model {
    /// Whether counting fits these records exactly: the circuit is deterministic and no cell is missing.
    pub fn is_fitted_by_counting(&self, records: &Records) -> bool {
        self.deterministic().is_some() && !records.has_missing()
    }

    /// The model with parameters fitted to records, its structure fixed.
    ///
    /// ```
    /// use slopp::Model;
    /// let records = slopp::example::records();
    /// let model = Model::new(records.names().clone(), slopp::example::psdd());
    /// let fitted = model.refit(&records, &Default::default(), &())?;
    /// assert!(fitted.used == records.total() && fitted.history.is_none());
    /// assert_eq!(fitted.model.origin["parameters"], "refitted");
    /// # Ok::<(), slopp::Error>(())
    /// ```
    pub fn refit(&self, records: &Records, how: &Refit, progress: &dyn Progress) -> Result<Refitted, LearnError> {
        let number = |key: &str| self.origin.get(key).and_then(|text| text.parse::<f64>().ok());
        let pseudocount = how.pseudocount.or_else(|| number("pseudocount")).unwrap_or(1.0);
        let by_em = how.em || !self.is_fitted_by_counting(records);
        if by_em && how.add {
            return Err(LearnError::ExpectedCounts { missing: records.has_missing() });
        }
        let possible = possible_records(self.distribution(), records)?;
        let smoothing = match &self.kind {
            ModelKind::Circuit(circuit) if how.add => Smoothing::marginal_with(pseudocount, circuit, &possible),
            _ => Smoothing::marginal(pseudocount, &possible),
        };
        let (kind, used, impossible, dropped, history) = match (by_em, self.circuit()) {
            (false, Some(circuit)) => {
                let Fitted { circuit, counted, impossible, dropped } = counted(circuit, records, how, &smoothing)?;
                (circuit.into(), counted, impossible, dropped, None)
            }
            _ => {
                let default = EmConfig::default();
                let (steps, limits) = (how.steps.unwrap_or(default.steps), how.limits.clone());
                let config = EmConfig { steps, smoothing, limits, ..default };
                let fit = self.em(records, &config, progress)?;
                let dropped = self.size().elements - fit.model.size().elements;
                (fit.model, records.total() - fit.impossible, fit.impossible, dropped, Some(fit.history))
            }
        };
        let (method, before) = match (by_em, how.add) {
            (true, _) => ("em", 0.0),
            (false, true) => ("added", number("records").unwrap_or(0.0)),
            (false, false) => ("refitted", 0.0),
        };
        let mut model = Model { names: self.names.clone(), kind, origin: self.origin.clone() };
        let facts = [("records", in_digits(before + used)), ("pseudocount", in_digits(pseudocount))];
        model.origin.extend(facts.map(|(key, value)| (key.to_owned(), value)));
        model.origin.insert("parameters".to_owned(), method.to_owned());
        Ok(Refitted { model, used, impossible, dropped, history })
    }
}

/// A deterministic circuit fitted by counting, with its certificate.
fn counted(
    given: &Certified,
    records: &Records,
    how: &Refit,
    smoothing: &Smoothing,
) -> Result<Fitted<Certified>, LearnError> {
    match given {
        Certified::Psdd(psdd) => {
            let fitted = if how.add { psdd.add_records(records, smoothing) } else { psdd.fit(records, smoothing) };
            Ok(fitted?.map(Certified::Psdd))
        }
        _ => {
            let circuit = given.deterministic().expect("counting is for deterministic circuits");
            let fitted =
                if how.add { circuit.add_records(records, smoothing) } else { circuit.fit(records, smoothing) };
            Ok(fitted?.map(|circuit| given.carry_over(circuit.into_circuit(), &how.limits)))
        }
    }
}
