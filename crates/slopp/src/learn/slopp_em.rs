//! Components by expectation maximisation: a structure that SLoPP learns is kept, and its parameters are divided.

use super::error::{check_records, check_validation};
use super::judge::Possible;
use super::refine::refit;
use super::slopp::{Slopp, learn};
use super::structure::Structure;
use super::task::{Learner, Task, VtreeUse};
use super::{LearnError, MixtureConfig, MixtureGrid, em_mixture};
use crate::certified::Certified;
use crate::data::Records;
use crate::logspace::log_sum;
use crate::mixture::Mixture;
use crate::progress::Progress;
use crate::random::Random;
use rayon::prelude::*;

/// A mixture of components that share the structure of SLoPP, by expectation maximisation, as a [`Learner`]; how many, and
/// how near to the single model, is chosen by validation records.
///
/// Structured decomposable, and one structure to store. Without validation records a tenth of the records is held out, and
/// what was chosen is fitted to all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SloppEm {
    /// How the structure is learned.
    pub model: Slopp,
    /// What is tried.
    pub grid: MixtureGrid,
}

impl SloppEm {
    /// The usual numbers of components.
    pub fn new(model: Slopp) -> SloppEm {
        SloppEm { model, grid: MixtureGrid::default() }
    }
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
    config: &SloppEm,
    seed: u64,
    progress: &dyn Progress,
) -> Result<(Mixture, f64), LearnError> {
    let divide = |index: usize, (components, pseudocount): (usize, f64)| -> Result<Mixture, LearnError> {
        let seed = Random::stream(seed, index as u64).bits();
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
    let judge_of_few = Possible::of(&whole, judge)?;
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

impl Learner for SloppEm {
    fn name(&self) -> &'static str {
        "slopp-em"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.model.structure_settings();
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
        Some(Box::new(SloppEm { model: self.model.with_max_elements(max_elements), ..self.clone() }))
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        check_records(task.train)?;
        check_validation(task.train, task.valid)?;
        self.grid.check()?;
        let parts = task.parts()?;
        let (train, seed) = (task.train, task.seed);
        let on_part = Task { train: parts.train(), valid: parts.judge(), ..*task };
        let learned = learn(&on_part, &self.model, progress)?;
        let start = Certified::from(learned.psdd);
        let mut choice = self.grid.choose(&start, parts.train(), parts.judge(), seed, progress)?;
        if parts.is_divided() {
            choice = choice.refitted(&refit(&start, train, learned.pseudocount)?, train, seed, progress)?;
        }
        Ok(choice.structure().holding_out(parts.held_out()))
    }
}
