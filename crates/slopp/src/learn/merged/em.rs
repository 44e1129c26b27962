//! Components by expectation maximisation: a structure that merged SLoPP learns is kept, and its parameters divided.

use super::bag::check_task;
use super::{Config, learn};
use crate::certified::Certified;
use crate::data::Records;
use crate::learn::judge::Parts;
use crate::learn::learner::{Learner, Outcome, Task, VtreeUse};
use crate::learn::start::refit;
use crate::learn::{LearnError, MixtureChoice, MixtureConfig, MixtureGrid, em_mixture};
use crate::mixture::Mixture;
use crate::progress::Progress;
use crate::random::Random;
use rayon::prelude::*;

/// Settings of [`em`].
#[derive(Clone, Debug, PartialEq)]
pub struct EmConfig {
    /// How the structure is learned.
    pub model: Config,
    /// What is tried.
    pub grid: MixtureGrid,
}

impl EmConfig {
    /// The usual numbers of components.
    pub fn new(model: Config) -> EmConfig {
        EmConfig { model, grid: MixtureGrid::default() }
    }
}

/// A mixture of components that share the structure merged SLoPP learns, by expectation maximisation; how many, and
/// how near to the single model, is chosen by validation records.
///
/// Structured decomposable, and one structure to store. Without validation records a tenth of the records is held out, and
/// what was chosen is fitted to all.
pub fn em(
    train: &Records,
    valid: Option<&Records>,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<MixtureChoice, LearnError> {
    Ok(em_in_parts(train, valid, config, progress)?.0)
}

/// The choice, and the weight of the records that were held out for it.
fn em_in_parts(
    train: &Records,
    valid: Option<&Records>,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<(MixtureChoice, f64), LearnError> {
    check_task(train, valid)?;
    config.grid.check()?;
    let seed = config.model.seed;
    let parts = Parts::new(train, valid, seed)?;
    let learned = learn(parts.train(), parts.judge(), &config.model, progress)?;
    let start = Certified::from(learned.psdd);
    let mut choice = config.grid.choose(&start, parts.train(), parts.judge(), seed, progress)?;
    if parts.is_divided() {
        choice = choice.refitted(&refit(&start, train, learned.pseudocount)?, train, seed, progress)?;
    }
    Ok((choice, parts.held_out()))
}

/// Every model divided into components, all in the way that is best for the first, in one mixture.
pub(super) fn divide_all(
    models: &[Certified],
    train: &Records,
    judge: &Records,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<Mixture, LearnError> {
    let first = config.grid.choose(&models[0], train, Some(judge), config.model.seed, progress)?;
    progress.begin("dividing models into components", models.len() as u64 - 1);
    let rest = models.par_iter().enumerate().skip(1).map(|(index, model)| {
        let seed = Random::stream(config.model.seed, index as u64).bits();
        let settings = MixtureConfig { pseudocount: first.pseudocount, seed, ..MixtureConfig::new(first.components) };
        let mixture = em_mixture(model, train, Some(judge), &settings, &())?.mixture;
        progress.advance(1);
        Ok(mixture)
    });
    let rest: Vec<Mixture> = rest.collect::<Result<_, LearnError>>()?;
    let share = 1.0 / models.len() as f64;
    let parts = [first.mixture].into_iter().chain(rest).flat_map(|mixture| {
        let weights: Vec<f64> = mixture.weights().iter().map(|weight| share * weight).collect();
        weights.into_iter().zip(mixture.components().to_vec())
    });
    Ok(Mixture::new(parts).expect("the weights of each model sum to its share"))
}

impl Learner for EmConfig {
    fn name(&self) -> &'static str {
        "slopp-em"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.model.settings();
        settings.extend(self.grid.settings());
        settings
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let vtree = task.vtree.cloned().or_else(|| self.model.vtree.clone());
        let model = Config { vtree, seed: task.seed, ..self.model.clone() };
        let config = EmConfig { model, ..self.clone() };
        let (choice, held_out) = em_in_parts(task.train, task.valid, &config, progress)?;
        let mut outcome = choice.outcome();
        outcome.chosen.push(("held_out", held_out.to_string()));
        Ok(outcome)
    }
}
