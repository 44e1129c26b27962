//! A chosen structure, before it is fitted to all training records.

use super::layers::{Layers, Line};
use super::{LearnedSlopp, Slopp, Start, general};
use crate::circuit::Psdd;
use crate::data::Records;
use crate::learn::LearnError;
use crate::learn::hold_out::Parts;
use crate::learn::judge::{Judge, Worth, score};
use crate::learn::structure::{Prior, Structure};
use crate::learn::task::Task;
use crate::logic::Limits;

/// A structure, and how it was chosen.
pub(in crate::learn) struct Chosen {
    pub(super) classes: Classes,
    pub(super) start: Start,
    /// The best weight of the prior in records.
    pub(super) pseudocount: f64,
    /// The log-likelihood per record to choose by, before support is applied.
    pub(in crate::learn) log_likelihood: f64,
}

/// Classes of records, which become the nodes of a circuit.
pub(super) enum Classes {
    /// With the counts of the records they were learned from, along a line of columns.
    Layers(Layers, Line),
    /// On any other vtree.
    Any(Psdd),
}

impl Chosen {
    /// The prior of the parameters.
    fn prior(&self, config: &Slopp) -> Prior {
        let of_literals = matches!(self.classes, Classes::Layers(..));
        Prior { of_literals, ..Prior::new(config.pseudocount, self.pseudocount) }
    }

    /// The PSDD, fitted to these records.
    fn psdd(&self, records: &Records, config: &Slopp, limits: &Limits) -> Result<Psdd, LearnError> {
        // Without a prior unseen worlds would be impossible, but only support may rule out worlds.
        let weight = Some(self.prior(config).weight).filter(|&weight| weight > 0.0).unwrap_or(self.pseudocount);
        match &self.classes {
            Classes::Layers(layers, line) => layers.psdd(line, records, weight, limits),
            Classes::Any(psdd) => general::fitted(psdd, records, weight),
        }
    }

    /// The structure, fitted to the part of the records that it was learned from.
    fn on_part(&self, part: &Records, config: &Slopp, limits: &Limits) -> Result<Structure, LearnError> {
        Ok(Structure::new(self.psdd(part, config, limits)?, self.prior(config)))
    }

    /// Its worth once support has been applied.
    pub(in crate::learn) fn worth(
        &self,
        judge: &Judge<'_>,
        part: &Records,
        config: &Slopp,
    ) -> Result<Worth, LearnError> {
        judge.worth(self.log_likelihood, || self.on_part(part, config, judge.limits()))
    }

    /// The better of this and another, if there is another. Where columns have several values the other is simpler, and
    /// is kept unless this, the best of several starts and their refinements, is better by more than twice the standard
    /// error of the records to choose by.
    pub(super) fn or(self, other: Option<Chosen>, task: &Task, config: &Slopp) -> Result<Chosen, LearnError> {
        let Some(other) = other else { return Ok(self) };
        let parts = task.parts()?;
        let (part, by) = (parts.train(), parts.judge().unwrap_or(parts.train()));
        let judge = Judge::new(Task { train: part, ..*task }, by);
        let [mine, its] = [self.worth(&judge, part, config)?, other.worth(&judge, part, config)?];
        let is_better = match task.train.names().groups().is_empty() || its.is_better_than(&mine) {
            true => its.is_better_than(&mine),
            false => !general::is_clearly_better(
                &self.psdd(part, config, parts.limits())?,
                &other.psdd(part, config, parts.limits())?,
                by,
                2.0,
            )?,
        };
        Ok(if is_better { other } else { self })
    }

    /// This, or another if there is one and it is better by more than a standard error of the records to choose by, also
    /// once support has been applied.
    pub(super) fn or_clearly_better(
        self,
        other: Option<Chosen>,
        task: &Task,
        config: &Slopp,
    ) -> Result<Chosen, LearnError> {
        let Some(other) = other else { return Ok(self) };
        let parts = task.parts()?;
        let (part, by) = (parts.train(), parts.judge().unwrap_or(parts.train()));
        let [one, its] = [&self, &other].map(|found| found.psdd(part, config, parts.limits()));
        if !general::is_clearly_better(&its?, &one?, by, 1.0)? {
            return Ok(self);
        }
        let judge = Judge::new(Task { train: part, ..*task }, by);
        let [mine, its] = [self.worth(&judge, part, config)?, other.worth(&judge, part, config)?];
        Ok(if its.is_better_than(&mine) { other } else { self })
    }

    /// The PSDD, fitted to all training records, before support is applied.
    fn fitted(&mut self, parts: &Parts, config: &Slopp) -> Result<Psdd, LearnError> {
        if let (Classes::Layers(layers, line), true) = (&mut self.classes, parts.is_divided()) {
            let cells: Vec<_> = line.order.iter().map(|&column| line.columns.at(column).cells(parts.all())).collect();
            let tally = layers.tally(&cells, parts.all().weights());
            layers.take_counts(tally);
        }
        self.psdd(parts.all(), config, parts.limits())
    }

    pub(super) fn learned(mut self, task: &Task, config: &Slopp) -> Result<LearnedSlopp, LearnError> {
        Ok(LearnedSlopp { psdd: self.fitted(&task.parts()?, config)?, pseudocount: self.prior(config).weight })
    }

    /// The same, judged by its circuit: it also tells worlds apart that are one value of variables found to exclude each
    /// other.
    pub(super) fn judged(mut self, parts: &Parts, config: &Slopp) -> Result<Chosen, LearnError> {
        let psdd = self.psdd(parts.train(), config, parts.limits())?;
        self.log_likelihood = score(&**psdd, parts.judge().unwrap_or(parts.train()))?;
        Ok(self)
    }

    /// The structure, fitted to all training records.
    pub(in crate::learn) fn structure(mut self, task: &Task, config: &Slopp) -> Result<Structure, LearnError> {
        let parts = task.parts()?;
        let chosen = vec![("start", self.start.to_string())];
        let class_limit = self.class_limit(config);
        let exclusive = match &self.classes {
            Classes::Layers(_, line) => line.columns.groups(),
            Classes::Any(_) => Vec::new(),
        };
        let mut found = Structure::new(self.fitted(&parts, config)?, self.prior(config));
        (found.report.class_limit, found.report.exclusive) = (class_limit, exclusive);
        Ok(Structure { chosen, ..found }.holding_out(parts.held_out()))
    }

    /// [`Report::class_limit`](crate::learn::Report::class_limit).
    fn class_limit(&self, config: &Slopp) -> Option<(usize, usize)> {
        let Classes::Layers(layers, _) = &self.classes else { return None };
        if config.capped || layers.0.iter().all(|layer| layer.values == 2) {
            return None;
        }
        let most = config.starting_classes(false);
        let columns = layers.0.iter().filter(|layer| layer.len() >= most).count();
        (columns > 0).then_some((columns, most))
    }
}
