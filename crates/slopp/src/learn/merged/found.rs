//! A structure that was chosen, before it is fitted to the records that it is for.

use super::layers::Layers;
use super::left::{Left, Worth};
use super::{Config, Learned, Look, Start, export, general};
use crate::circuit::Psdd;
use crate::data::Records;
use crate::learn::judge::Parts;
use crate::learn::{LearnError, World};
use crate::vtree::Vtree;
use std::sync::Arc;

/// A structure, and how it was chosen.
pub(super) struct Found {
    pub(super) structure: Structure,
    pub(super) start: Start,
    /// The weight of the prior in records that was best.
    pub(super) pseudocount: f64,
    /// The log-likelihood per record of those it was chosen by, as if everything were possible.
    pub(super) log_likelihood: f64,
    pub(super) history: Vec<Look>,
}

/// What is possible is left to the fit: here everything is.
pub(super) enum Structure {
    /// Classes with the counts of the records they were learned from, on a right-linear vtree.
    Layers(Layers, Arc<Vtree>),
    /// On any other vtree.
    Any(Psdd),
}

impl Found {
    /// The weight of the prior in records that the result has: the one that is given, or else the one chosen; in a closed
    /// world none.
    pub(super) fn weight(&self, config: &Config) -> f64 {
        let chosen = if config.world == World::Closed { 0.0 } else { self.pseudocount };
        config.pseudocount.unwrap_or(chosen)
    }

    /// The PSDD of the records that the structure was learned from, in the world of the settings.
    pub(super) fn psdd(&self, train: &Records, config: &Config) -> Result<Psdd, LearnError> {
        let weight = self.weight(config);
        match &self.structure {
            Structure::Layers(layers, vtree) => export::psdd(layers, vtree, train, config.world, weight),
            Structure::Any(psdd) => general::fitted_in(config.world, psdd, train, weight),
        }
    }

    /// What is left of it is worth by the records to choose by.
    pub(super) fn worth(&self, left: &Left<'_>, train: &Records, config: &Config) -> Result<Worth, LearnError> {
        match left.is_all() {
            true => Ok(Worth::whole(self.log_likelihood)),
            false => left.worth(&self.psdd(train, config)?, self.weight(config)),
        }
    }

    /// The better one of this and another, if there is one; the looks at both.
    pub(super) fn or(self, other: Option<Found>, parts: &Parts<'_>, config: &Config) -> Result<Found, LearnError> {
        let Some(mut other) = other else { return Ok(self) };
        let train = parts.train();
        let left = Left::new(train, parts.judge().unwrap_or(train), config);
        let [mine, its] = [self.worth(&left, train, config)?, other.worth(&left, train, config)?];
        let mut history = self.history.clone();
        history.append(&mut other.history);
        Ok(Found { history, ..if its.is_better_than(&mine) { other } else { self } })
    }

    /// What was learned, with parameters fitted to all training records.
    pub(super) fn learned(mut self, parts: &Parts<'_>, config: &Config) -> Result<Learned, LearnError> {
        if let (Structure::Layers(layers, vtree), true) = (&mut self.structure, parts.is_divided()) {
            let tally = layers.tally_records(parts.all(), vtree.vars(vtree.root()));
            layers.take_counts(&tally);
        }
        let (psdd, pseudocount) = (self.psdd(parts.all(), config)?, self.weight(config));
        let Found { start, log_likelihood, history, .. } = self;
        Ok(Learned { psdd, start, pseudocount, held_out: parts.held_out(), log_likelihood, history })
    }
}
