//! The front door: the usual things in one line each, with questions in words.

use crate::data::{Records, RecordsBuilder};
use crate::error::Error;
use crate::infer::{Event, Evidence, QueryError};
use crate::io::{RecordsOptions, Source};
use crate::learn::{Task, registry};
use crate::logic::Limits;
use crate::model::{Model, ModelKind};
use std::borrow::Cow;

/// Reads records from a file or from memory, with the default options of [`io::read_records`](crate::io::read_records).
pub fn read_records<'a>(source: impl Into<Source<'a>>) -> Result<Records, Error> {
    Ok(crate::io::read_records(source, &RecordsOptions::default())?)
}

/// Learns a PSDD in which everything is possible, with the default learner and its default settings.
///
/// [`Task`] learns with rules, in a closed world, on a given vtree and with any learner.
pub fn learn(records: &Records) -> Result<Model, Error> {
    Ok(Task::new(records).learn(&*registry::default().usual(), &())?.model)
}

impl Model {
    /// `P(event | given)`, for literals such as `"smoker, age=young"` or any formula such as `"smoker -> !(old | cough)"`.
    /// An empty `given` is always true.
    ///
    /// # Errors
    /// If a text is not a formula over the names of the model, if `given` is impossible, or if a formula is asked of a
    /// sum-product network.
    pub fn probability(&self, event: &str, given: &str) -> Result<f64, Error> {
        let (event, given) = (Event::parse_question(event, &self.names)?, Event::parse(given, &self.names)?);
        Ok(self.kind.log_probability(&event, &given, &Limits::default())?.exp())
    }

    /// `P(variable | given)` for every variable, in the order of the names.
    ///
    /// # Errors
    /// As [`Model::probability`].
    pub fn marginals(&self, given: &str) -> Result<Vec<f64>, Error> {
        let (model, evidence) = self.conditioned(given)?;
        Ok(model.distribution().marginals(&evidence)?)
    }

    /// The most probable world given what is known, and its log-probability (not conditioned).
    ///
    /// # Errors
    /// As [`Model::probability`], and if the model is not a deterministic circuit.
    pub fn mpe(&self, given: &str) -> Result<(Vec<bool>, f64), Error> {
        let (model, evidence) = self.conditioned(given)?;
        let circuit = model.deterministic().ok_or(QueryError::NotDeterministic)?;
        let (world, _) = circuit.mpe(&evidence)?;
        let log = self.kind.distribution().log_evidence(&Evidence::of_world(&world))?;
        Ok((world, log))
    }

    /// Worlds drawn given what is known, as records.
    ///
    /// # Errors
    /// As [`Model::probability`].
    pub fn sample(&self, count: usize, given: &str, seed: u64) -> Result<Records, Error> {
        let (model, evidence) = self.conditioned(given)?;
        let mut builder = RecordsBuilder::new(self.names.clone());
        for part in model.distribution().sample_in_parts(count, &evidence, seed)? {
            part.worlds().for_each(|world| builder.push(world.into_iter().map(Some), 1.0));
        }
        Ok(builder.finish())
    }

    /// The model and the literals to ask it with, so that together they stand for what is given.
    fn conditioned(&self, given: &str) -> Result<(Cow<'_, ModelKind>, Evidence), Error> {
        Ok(match Event::parse(given, &self.names)? {
            Event::Literals(evidence) => (Cow::Borrowed(&self.kind), evidence),
            Event::Formula(formula) => {
                let (model, _) = self.kind.given(&formula, &Limits::default())?;
                (Cow::Owned(model), Evidence::none(self.names.len()))
            }
        })
    }
}
