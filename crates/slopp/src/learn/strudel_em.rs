//! Mixtures over the structure that another learner finds: how many components, and how near to the single model, is
//! chosen by validation records.

use super::refine::{Strudel, refit};
use super::structure::{Prior, Structure};
use super::task::{Learner, Task};
use super::{LearnError, MixtureConfig, MixtureFit, em_mixture};
use crate::certified::Certified;
use crate::data::Records;
use crate::logspace::LOG_ZERO;
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
    /// After how many steps it was best.
    pub steps: usize,
}

impl Default for MixtureGrid {
    fn default() -> MixtureGrid {
        MixtureGrid { components: vec![4, 8, 16], pseudocounts: vec![3.0, 10.0, 30.0, 100.0] }
    }
}

impl MixtureGrid {
    /// The mixture over the structure of a circuit that explains the records to choose by best. Without any it is the most
    /// careful one: training records would ask for as many components, as far from the circuit, as there may be.
    pub fn choose(
        &self,
        start: &Certified,
        train: &Records,
        judge: Option<&Records>,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<MixtureChoice, LearnError> {
        self.check()?;
        let Some(judge) = judge else {
            let components = self.components.iter().copied().min().expect("checked");
            let pseudocount = self.pseudocounts.iter().copied().fold(0.0, f64::max);
            let config = MixtureConfig { pseudocount, seed, ..MixtureConfig::new(components) };
            let MixtureFit { mixture, steps, .. } = em_mixture(start, train, None, &config, progress)?;
            return Ok(MixtureChoice { mixture, components, pseudocount, steps });
        };
        let points = self.points();
        progress.begin("expectation maximisation", points.len() as u64);
        let tried = points.into_par_iter().map(|(components, pseudocount)| {
            let config = MixtureConfig { pseudocount, seed, ..MixtureConfig::new(components) };
            let MixtureFit { mixture, valid_history, steps, .. } = em_mixture(start, train, Some(judge), &config, &())?;
            progress.advance(1);
            // Over the records that the structure makes possible: one that it does not tells nothing about points.
            let score = valid_history.get(steps).copied().unwrap_or(LOG_ZERO);
            Ok((score, MixtureChoice { mixture, components, pseudocount, steps }))
        });
        let tried: Vec<(f64, MixtureChoice)> = tried.collect::<Result<_, LearnError>>()?;
        let best = tried.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a });
        Ok(best.expect("at least one point").1)
    }

    /// All pairs of a number of components and a pseudocount.
    pub(crate) fn points(&self) -> Vec<(usize, f64)> {
        let pairs = |&components: &usize| self.pseudocounts.iter().map(move |&pseudocount| (components, pseudocount));
        self.components.iter().flat_map(pairs).collect()
    }

    /// What is tried, as the settings of a learner.
    pub(crate) fn settings(&self) -> [(&'static str, String); 2] {
        let list = |numbers: Vec<String>| numbers.join(" ");
        [
            ("tried_components", list(self.components.iter().map(usize::to_string).collect())),
            ("tried_pseudocounts", list(self.pseudocounts.iter().map(f64::to_string).collect())),
        ]
    }

    /// Refuses a grid with nothing to try, before any work.
    pub(crate) fn check(&self) -> Result<(), LearnError> {
        for (name, empty) in
            [("components", self.components.is_empty()), ("pseudocounts", self.pseudocounts.is_empty())]
        {
            if empty {
                return Err(LearnError::Setting { name, value: "empty".to_owned(), expected: "at least one".into() });
            }
        }
        Ok(())
    }
}

impl MixtureChoice {
    /// The choice, as a learner reports it.
    pub(crate) fn structure(self) -> Structure {
        // The structure has a pseudocount of its own.
        let pseudocount = ("mixture_pseudocount", self.pseudocount.to_string());
        let chosen = vec![("components", self.components.to_string()), pseudocount];
        Structure { chosen, ..Structure::new(self.mixture, Prior::NONE) }
    }

    /// The same choice on other records: as many steps from the structure with its parameters fitted to them.
    pub(crate) fn refitted(
        self,
        start: &Certified,
        records: &Records,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<MixtureChoice, LearnError> {
        let MixtureChoice { components, pseudocount, steps, .. } = self;
        let config = MixtureConfig { pseudocount, seed, steps, tolerance: 0.0, ..MixtureConfig::new(components) };
        Ok(MixtureChoice { mixture: em_mixture(start, records, None, &config, progress)?.mixture, ..self })
    }
}

/// Strudel's mixtures as a [`Learner`]: components that share the structure of its single model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StrudelEm {
    /// How the structure is learned.
    pub strudel: Strudel,
    /// What is tried.
    pub grid: MixtureGrid,
}

impl Learner for StrudelEm {
    fn name(&self) -> &'static str {
        "strudel-em"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.strudel.settings();
        settings.extend(self.grid.settings());
        settings
    }

    fn refines(&self) -> bool {
        true
    }

    /// Without validation records a tenth of the records is held out by seed, and what was chosen is fitted to all.
    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        self.grid.check()?;
        let parts = task.parts()?;
        let grown = self.strudel.refine(task, &parts, progress)?;
        let mut choice = self.grid.choose(&grown.circuit, parts.train(), parts.judge(), task.seed, progress)?;
        if parts.is_divided() {
            let structure = refit(&grown.circuit, task.train, self.strudel.pseudocount)?;
            choice = choice.refitted(&structure, task.train, task.seed, progress)?;
        }
        let mut found = Structure { keeps_world: true, ..choice.structure() };
        found.chosen.push(grown.fact());
        Ok(found.holding_out(parts.held_out()))
    }
}
