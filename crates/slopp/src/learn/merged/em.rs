//! Components by expectation maximisation: a structure that merged SLoPP learns is kept, and its parameters divided.

use super::bag::check_task;
use super::{Config, learn};
use crate::certified::Certified;
use crate::data::Records;
use crate::learn::judge::{Judge, Parts};
use crate::learn::learner::{Learner, Outcome, Task, VtreeUse};
use crate::learn::start::refit;
use crate::learn::{LearnError, MixtureChoice, MixtureConfig, MixtureGrid, em_mixture};
use crate::logspace::log_sum;
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

/// The models of a bag that are divided in every way before one is chosen.
const CHOOSERS: usize = 4;

/// Every model divided into components, all in the way that is best for the mixture of the first few; and the pseudocount
/// of that way.
///
/// Not for each of them: what a model overfits alone, its fellows average away.
pub(super) fn divide_all(
    models: &[Certified],
    train: &Records,
    judge: &Records,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<(Mixture, f64), LearnError> {
    let divide = |index: usize, (components, pseudocount): (usize, f64)| -> Result<Mixture, LearnError> {
        let seed = Random::stream(config.model.seed, index as u64).bits();
        let settings = MixtureConfig { pseudocount, seed, ..MixtureConfig::new(components) };
        let mixture = em_mixture(&models[index], train, Some(judge), &settings, &())?.mixture;
        progress.advance(1);
        Ok(mixture)
    };
    config.grid.check()?;
    let points = config.grid.points();
    let few = CHOOSERS.min(models.len());
    progress.begin("dividing models into components", (points.len() * few + models.len() - few) as u64);
    let whole = Mixture::uniform(models[..few].to_vec()).expect("models over the same variables");
    let judge_of_few = Judge::of(&whole, judge)?;
    let tried = points.into_par_iter().map(|point| {
        let parts = (0..few).into_par_iter().map(|index| divide(index, point)).collect::<Result<Vec<_>, _>>()?;
        let logs = parts.iter().map(|part| part.log_likelihoods(judge)).collect::<Result<Vec<_>, _>>()?;
        // Of all with equal shares, but for a constant.
        let logs: Vec<f64> = (0..judge.len()).map(|row| log_sum(logs.iter().map(|logs| logs[row]))).collect();
        Ok((judge_of_few.mean(&logs), point, parts))
    });
    let tried: Vec<(f64, (usize, f64), Vec<Mixture>)> = tried.collect::<Result<_, LearnError>>()?;
    let best = tried.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a });
    let (_, point, mut parts) = best.expect("at least one point");
    let rest = (few..models.len()).into_par_iter().map(|index| divide(index, point));
    parts.extend(rest.collect::<Result<Vec<_>, _>>()?);
    Ok((mixed(parts), point.1))
}

/// One mixture of all components, in which each of these has the same share.
fn mixed(mixtures: Vec<Mixture>) -> Mixture {
    let share = 1.0 / mixtures.len() as f64;
    let parts = mixtures.into_iter().flat_map(|mixture| {
        let weights: Vec<f64> = mixture.weights().iter().map(|weight| share * weight).collect();
        weights.into_iter().zip(mixture.components().to_vec())
    });
    Mixture::new(parts).expect("the weights of each sum to its share")
}

impl Learner for EmConfig {
    fn name(&self) -> &'static str {
        "slopp-em"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.model.settings();
        // It has no efforts.
        settings.retain(|(name, _)| *name != "effort");
        settings.extend(self.grid.settings());
        settings
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn max_elements(&self) -> Option<usize> {
        self.model.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        let model = Config { max_elements: Some(max_elements), ..self.model.clone() };
        Some(Box::new(EmConfig { model, ..self.clone() }))
    }

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let config = EmConfig { model: self.model.for_task(task), ..self.clone() };
        let (choice, held_out) = em_in_parts(task.train, task.valid, &config, progress)?;
        let mut outcome = choice.outcome();
        outcome.chosen.push(("held_out", held_out.to_string()));
        Ok(outcome)
    }
}
