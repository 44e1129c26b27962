//! Events as queries and conditions on a model of any kind.

use crate::data::Records;
use crate::infer::{Event, QueryError};
use crate::logic::{Formula, Limits, Manager, Sdd};
use crate::logspace::LOG_ZERO;
use crate::model::ModelKind;
use crate::vtree::Vtree;
use std::sync::Arc;

impl ModelKind {
    /// `ln P(event)`, −∞ if it is impossible. Literals take one pass; a formula is compiled on the vtree of the model
    /// and multiplied with it.
    pub fn log_probability_of(&self, event: &Event, limits: &Limits) -> Result<f64, QueryError> {
        match event {
            Event::Literals(evidence) => Ok(self.distribution().log_evidence(evidence)?),
            // Literals that contradict each other are not evidence.
            Event::Formula(_) if event.contradicts_itself() => Ok(LOG_ZERO),
            Event::Formula(formula) => {
                self.log_sum_of(&mut |vtree| Ok(formula.compile(vtree.clone(), limits)?), limits)
            }
        }
    }

    /// `ln P(event | given)`; a given formula is compiled once. An error if the condition is impossible.
    ///
    /// ```
    /// use slopp::infer::Event;
    /// use slopp::logic::Limits;
    /// let (model, names) = (slopp::ModelKind::from(slopp::example::psdd()), slopp::example::records().names().clone());
    /// let (event, given) = (Event::parse_question("X4", &names)?, Event::parse("X1 | X2", &names)?);
    /// let p = model.log_probability(&event, &given, &Limits::default())?.exp();
    /// assert!((p - 7.0 / 20.0).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_probability(&self, event: &Event, given: &Event, limits: &Limits) -> Result<f64, QueryError> {
        let Event::Formula(formula) = given else {
            let log_given = self.log_probability_of(given, limits)?;
            if log_given == LOG_ZERO {
                return Err(QueryError::ImpossibleEvidence);
            }
            return Ok((self.log_probability_of(&event.and(given), limits)? - log_given).min(0.0));
        };
        let mut compiled: Vec<Sdd> = Vec::new();
        let mut on = |vtree: &Arc<Vtree>| {
            compiled.push(formula.compile(vtree.clone(), limits)?);
            Ok(compiled[compiled.len() - 1].clone())
        };
        let log_given = self.log_sum_of(&mut on, limits)?;
        if log_given == LOG_ZERO {
            return Err(QueryError::ImpossibleFormula);
        }
        if event.contradicts_itself() {
            return Ok(LOG_ZERO);
        }
        let mut both = |vtree: &Arc<Vtree>| {
            let given = compiled.iter().find(|sdd| sdd.vtree() == vtree).expect("compiled on every vtree before");
            let mut manager = Manager::new(vtree.clone(), limits.clone());
            let event = manager.compile(&event.formula())?;
            let given = manager.import(given)?;
            let both = manager.and(event, given)?;
            Ok(manager.sdd(both))
        };
        Ok((self.log_sum_of(&mut both, limits)? - log_given).min(0.0))
    }

    /// `ln P(event | row)` for every distinct row, whose cells may be missing; `None` where the row is impossible. A
    /// formula is turned round: it is multiplied with the model once, and the rows are asked given it.
    ///
    /// ```
    /// use slopp::infer::Event;
    /// use slopp::logic::Limits;
    /// let records = slopp::example::records();
    /// let event = Event::parse_question("X1 | X2", records.names())?;
    /// let model = slopp::ModelKind::from(slopp::example::psdd());
    /// let answers = model.log_probabilities_given(&event, &records, &Limits::default())?;
    /// assert_eq!(answers.len(), records.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_probabilities_given(
        &self,
        event: &Event,
        rows: &Records,
        limits: &Limits,
    ) -> Result<Vec<Option<f64>>, QueryError> {
        let formula = match event {
            Event::Literals(event) => {
                let answers = self.distribution().conditional_batch(event, rows)?;
                return Ok(answers.into_iter().map(|answer| answer.map(f64::ln)).collect());
            }
            Event::Formula(formula) => formula,
        };
        let log_rows = self.distribution().log_likelihoods(rows)?;
        let log_both = match self.log_probability_of(event, limits)? {
            LOG_ZERO => vec![LOG_ZERO; log_rows.len()],
            _ => {
                let (given, log_event) = self.given(formula, limits)?;
                given.distribution().log_likelihoods(rows)?.into_iter().map(|log_row| log_event + log_row).collect()
            }
        };
        let answer = |(row, both): (f64, f64)| (row != LOG_ZERO).then(|| (both - row).min(0.0));
        Ok(log_rows.into_iter().zip(log_both).map(answer).collect())
    }

    /// The model given a formula, exactly, and `ln P(formula)`. An error if the formula is impossible.
    pub fn given(&self, formula: &Formula, limits: &Limits) -> Result<(ModelKind, f64), QueryError> {
        let mut on = |vtree: &Arc<Vtree>| -> Result<Sdd, QueryError> { Ok(formula.compile(vtree.clone(), limits)?) };
        match self {
            ModelKind::Circuit(circuit) => {
                let (given, log) = circuit.given(&on(circuit.vtree())?, limits)?;
                Ok((given.into(), log))
            }
            ModelKind::Mixture(mixture) => {
                let (given, log) = mixture.given(&mut on, limits)?;
                Ok((given.into(), log))
            }
            ModelKind::Spn(_) => Err(QueryError::OnlyLiterals),
        }
    }

    /// The log-probability of a diagram, compiled for each vtree.
    fn log_sum_of(
        &self,
        on: &mut dyn FnMut(&Arc<Vtree>) -> Result<Sdd, QueryError>,
        limits: &Limits,
    ) -> Result<f64, QueryError> {
        let log = match self {
            ModelKind::Circuit(circuit) => circuit.log_probability_of(&on(circuit.vtree())?, limits)?,
            ModelKind::Mixture(mixture) => mixture.log_probability_of(on, limits)?,
            ModelKind::Spn(_) => return Err(QueryError::OnlyLiterals),
        };
        Ok(log.min(0.0))
    }
}
