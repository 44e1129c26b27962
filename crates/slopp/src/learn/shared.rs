//! Mixtures over the structure that another learner finds: how many components, and how near to the single model, is
//! chosen by validation records.

use super::learner::{Learned, Learner, Outcome, Task, VtreeUse};
use super::merged::{held_out, score};
use super::start::Strudel;
use super::{LearnError, MixtureConfig, em_mixture};
use crate::certified::Certified;
use crate::data::Records;
use crate::mixture::Mixture;
use crate::progress::Progress;
use rayon::prelude::*;

/// The mixtures over one structure that are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureGrid {
    /// The numbers of components.
    pub components: Vec<usize>,
    /// The weights of the parameters of the structure in each component, in records.
    pub pseudocounts: Vec<f64>,
}

/// What was chosen of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureChoice {
    /// The best mixture by the records to choose by.
    pub mixture: Mixture,
    /// The number of components it began with.
    pub components: usize,
    /// Its pseudocount.
    pub pseudocount: f64,
}

impl Default for MixtureGrid {
    fn default() -> MixtureGrid {
        MixtureGrid { components: vec![4, 8, 16], pseudocounts: vec![3.0, 10.0, 30.0] }
    }
}

impl MixtureGrid {
    /// The mixture over the structure of a circuit that explains the records to choose by best.
    pub fn choose(
        &self,
        start: &Certified,
        train: &Records,
        judge: &Records,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<MixtureChoice, LearnError> {
        self.check()?;
        let pairs = |&components: &usize| self.pseudocounts.iter().map(move |&pseudocount| (components, pseudocount));
        let points: Vec<(usize, f64)> = self.components.iter().flat_map(pairs).collect();
        progress.begin("expectation maximisation", points.len() as u64);
        let tried = points.into_par_iter().map(|(components, pseudocount)| {
            let config = MixtureConfig { pseudocount, seed, ..MixtureConfig::new(components) };
            let mixture = em_mixture(start, train, Some(judge), &config, &())?.mixture;
            progress.advance(1);
            Ok((score(&mixture, judge)?, MixtureChoice { mixture, components, pseudocount }))
        });
        let tried: Vec<(f64, MixtureChoice)> = tried.collect::<Result<_, LearnError>>()?;
        let best = tried.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a });
        Ok(best.expect("at least one point").1)
    }

    /// Refuses a grid with nothing to try, before any work.
    pub(crate) fn check(&self) -> Result<(), LearnError> {
        for (name, empty) in
            [("components", self.components.is_empty()), ("pseudocounts", self.pseudocounts.is_empty())]
        {
            if empty {
                return Err(LearnError::Setting { name, value: "empty".to_owned(), expected: "at least one" });
            }
        }
        Ok(())
    }
}

impl MixtureChoice {
    /// The choice, as a learner reports it.
    pub(crate) fn outcome(self) -> Outcome {
        let chosen = vec![("components", self.components.to_string()), ("pseudocount", self.pseudocount.to_string())];
        Outcome { chosen, ..Outcome::new(self.mixture) }
    }
}

/// Strudel's mixtures as a [`Learner`]: components that share the structure of its single model.
#[derive(Clone, Debug, PartialEq)]
pub struct StrudelMixture {
    /// How the structure is learned.
    pub strudel: Strudel,
    /// What is tried.
    pub grid: MixtureGrid,
}

impl Learner for StrudelMixture {
    fn name(&self) -> &'static str {
        "strudel-em"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        self.strudel.settings()
    }

    fn vtree(&self) -> VtreeUse {
        self.strudel.vtree()
    }

    /// Without validation records a tenth of the records is held out by seed.
    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        self.grid.check()?;
        let valid = task.valid.filter(|valid| !valid.is_empty());
        let parts = if valid.is_none() { held_out(task.train, task.seed) } else { None };
        let (train, judge) = match (&parts, valid) {
            (Some((part, held)), _) => (part, held),
            (None, Some(valid)) => (task.train, valid),
            (None, None) => (task.train, task.train),
        };
        let task = Task { train, valid: Some(judge), ..*task };
        let Learned::Circuit(structure) = self.strudel.learn(&task, progress)?.learned else {
            unreachable!("Strudel makes a circuit")
        };
        Ok(self.grid.choose(&structure, train, judge, task.seed, progress)?.outcome())
    }
}
