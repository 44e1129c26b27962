//! Components by expectation maximisation: a structure that merged SLoPP learns is kept, and its parameters divided.

use super::bag::check_task;
use super::effort::score;
use super::{Config, held_out, learn};
use crate::certified::Certified;
use crate::data::Records;
use crate::learn::learner::{Learner, Outcome, Task, VtreeUse};
use crate::learn::{LearnError, MixtureConfig, em_mixture};
use crate::mixture::Mixture;
use crate::progress::Progress;
use crate::random::Random;
use rayon::prelude::*;

/// Settings of [`em`].
#[derive(Clone, Debug, PartialEq)]
pub struct EmConfig {
    /// How the structure is learned.
    pub model: Config,
    /// The numbers of components that are tried.
    pub components: Vec<usize>,
    /// The weights of the parameters of the structure in each component that are tried, in records.
    pub pseudocounts: Vec<f64>,
}

impl EmConfig {
    /// The usual numbers of components.
    pub fn new(model: Config) -> EmConfig {
        EmConfig { model, components: vec![4, 8, 16], pseudocounts: vec![3.0, 10.0, 30.0] }
    }

    fn grid(&self) -> Vec<MixtureConfig> {
        let seed = self.model.seed;
        let settings =
            |components: usize, pseudocount: f64| MixtureConfig { pseudocount, seed, ..MixtureConfig::new(components) };
        self.components.iter().flat_map(|&k| self.pseudocounts.iter().map(move |&a| settings(k, a))).collect()
    }
}

/// A mixture of components that share the structure merged SLoPP learns, by expectation maximisation; how many, and
/// how near to the single model, is chosen by validation records.
///
/// Structured decomposable, and one structure to store. Without validation records a tenth of the records is held out.
pub fn em(
    train: &Records,
    valid: Option<&Records>,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<(Mixture, usize, f64), LearnError> {
    check_task(train, valid)?;
    if config.components.is_empty() || config.pseudocounts.is_empty() {
        let name = if config.components.is_empty() { "components" } else { "pseudocounts" };
        return Err(LearnError::Setting { name, value: "empty".to_owned(), expected: "at least one" });
    }
    let valid = valid.filter(|valid| !valid.is_empty());
    let parts = if valid.is_none() { held_out(train, config.model.seed) } else { None };
    let (part, judge) = match (&parts, valid) {
        (Some((part, held)), _) => (part, held),
        (None, Some(valid)) => (train, valid),
        (None, None) => (train, train),
    };
    let start: Certified = learn(part, Some(judge), &config.model, progress)?.psdd.into();
    let Divided { mixture, settings } = divided(&start, part, judge, &config.grid(), progress)?;
    Ok((mixture, settings.components, settings.pseudocount))
}

/// A model divided into components.
struct Divided {
    mixture: Mixture,
    settings: MixtureConfig,
}

/// A model divided into components in the way that is best by the validation records.
fn divided(
    start: &Certified,
    train: &Records,
    judge: &Records,
    grid: &[MixtureConfig],
    progress: &dyn Progress,
) -> Result<Divided, LearnError> {
    progress.begin("expectation maximisation", grid.len() as u64);
    let tried = grid.par_iter().map(|settings| {
        let mixture = em_mixture(start, train, Some(judge), settings, &())?.mixture;
        progress.advance(1);
        Ok((score(&mixture, judge)?, Divided { mixture, settings: settings.clone() }))
    });
    let tried: Vec<(f64, Divided)> = tried.collect::<Result<_, LearnError>>()?;
    let best = tried.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a });
    Ok(best.expect("at least one point of the grid").1)
}

/// Every model divided into components, all in the way that is best for the first, in one mixture.
pub(super) fn divide_all(
    models: &[Certified],
    train: &Records,
    judge: &Records,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<Mixture, LearnError> {
    let first = divided(&models[0], train, judge, &config.grid(), progress)?;
    progress.begin("dividing models into components", models.len() as u64 - 1);
    let rest = models.par_iter().enumerate().skip(1).map(|(index, model)| {
        let seed = Random::stream(config.model.seed, index as u64).bits();
        let settings = MixtureConfig { seed, ..first.settings.clone() };
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
        self.model.settings()
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let vtree = task.vtree.cloned().or_else(|| self.model.vtree.clone());
        let model = Config { vtree, seed: task.seed, ..self.model.clone() };
        let (mixture, components, pseudocount) =
            em(task.train, task.valid, &EmConfig { model, ..self.clone() }, progress)?;
        let chosen = vec![("components", components.to_string()), ("pseudocount", pseudocount.to_string())];
        Ok(Outcome { chosen, ..Outcome::new(mixture) })
    }
}
