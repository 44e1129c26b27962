//! A structure that was chosen, before it is fitted to the records that it is for.

use super::layers::Layers;
use super::{LearnedSlopp, Slopp, Start, general};
use crate::circuit::Psdd;
use crate::data::Records;
use crate::learn::LearnError;
use crate::learn::hold_out::Parts;
use crate::learn::judge::{Judge, Worth};
use crate::learn::structure::{Prior, Structure};
use crate::learn::task::Task;
use crate::vtree::Vtree;
use std::sync::Arc;

/// A structure, and how it was chosen.
pub(in crate::learn) struct Chosen {
    pub(super) classes: Classes,
    pub(super) start: Start,
    /// The weight of the prior in records that was best.
    pub(super) pseudocount: f64,
    /// The log-likelihood per record of those it was chosen by, as if everything were possible.
    pub(in crate::learn) log_likelihood: f64,
}

/// Classes of records, which become the nodes of a circuit.
pub(super) enum Classes {
    /// With the counts of the records they were learned from, on a right-linear vtree.
    Layers(Layers, Arc<Vtree>),
    /// On any other vtree.
    Any(Psdd),
}

impl Chosen {
    /// The prior of the parameters.
    fn prior(&self, config: &Slopp) -> Prior {
        let of_literals = matches!(self.classes, Classes::Layers(..));
        Prior { of_literals, ..Prior::new(config.pseudocount, self.pseudocount) }
    }

    /// The PSDD of the records that the classes were counted on, or are to be.
    fn psdd(&self, records: &Records, config: &Slopp) -> Result<Psdd, LearnError> {
        // Without any prior nothing unseen would be possible, which is for support to say.
        let weight = Some(self.prior(config).weight).filter(|&weight| weight > 0.0).unwrap_or(self.pseudocount);
        match &self.classes {
            Classes::Layers(layers, vtree) => layers.psdd(vtree, records, weight),
            Classes::Any(psdd) => general::fitted(psdd, records, weight),
        }
    }

    /// The structure, fitted to the part of the records that it was learned from.
    fn on_part(&self, part: &Records, config: &Slopp) -> Result<Structure, LearnError> {
        Ok(Structure::new(self.psdd(part, config)?, self.prior(config)))
    }

    /// What it is worth once support has been applied.
    pub(in crate::learn) fn worth(
        &self,
        judge: &Judge<'_>,
        part: &Records,
        config: &Slopp,
    ) -> Result<Worth, LearnError> {
        judge.worth(self.log_likelihood, || self.on_part(part, config))
    }

    /// The better one of this and another, if there is one.
    pub(super) fn or(self, other: Option<Chosen>, task: &Task, config: &Slopp) -> Result<Chosen, LearnError> {
        let Some(other) = other else { return Ok(self) };
        let parts = task.parts()?;
        let part = parts.train();
        let judge = Judge::new(Task { train: part, ..*task }, parts.judge().unwrap_or(part));
        let [mine, its] = [self.worth(&judge, part, config)?, other.worth(&judge, part, config)?];
        Ok(if its.is_better_than(&mine) { other } else { self })
    }

    /// The PSDD, with parameters fitted to all training records, as if everything were possible.
    fn fitted(&mut self, parts: &Parts, config: &Slopp) -> Result<Psdd, LearnError> {
        if let (Classes::Layers(layers, vtree), true) = (&mut self.classes, parts.is_divided()) {
            let tally = layers.tally_records(parts.all(), vtree.vars(vtree.root()));
            layers.take_counts(&tally);
        }
        self.psdd(parts.all(), config)
    }

    pub(super) fn learned(mut self, task: &Task, config: &Slopp) -> Result<LearnedSlopp, LearnError> {
        Ok(LearnedSlopp { psdd: self.fitted(&task.parts()?, config)?, pseudocount: self.prior(config).weight })
    }

    /// The structure, with parameters fitted to all training records.
    pub(in crate::learn) fn structure(mut self, task: &Task, config: &Slopp) -> Result<Structure, LearnError> {
        let parts = task.parts()?;
        let chosen = vec![("start", self.start.to_string())];
        let found = Structure::new(self.fitted(&parts, config)?, self.prior(config));
        Ok(Structure { chosen, ..found }.holding_out(parts.held_out()))
    }
}
