//! SLoPP refined by LearnPSDD, which the SLoPP paper names as future work.

use super::LearnError;
use super::refine::LearnPsdd;
use super::slopp::Slopp;
use super::structure::Structure;
use super::task::{Learner, Task, VtreeUse};
use crate::progress::Progress;

/// The PSDD of [`Slopp`], refined by [`LearnPsdd`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SloppLearnPsdd {
    /// How the model to start from is learned.
    pub slopp: Slopp,
    /// How it is refined.
    pub refinement: LearnPsdd,
}

impl Learner for SloppLearnPsdd {
    fn name(&self) -> &'static str {
        "slopp+learnpsdd"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        [self.slopp.settings(), self.refinement.settings()].concat()
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn max_elements(&self) -> Option<usize> {
        self.refinement.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        let refinement = LearnPsdd { max_elements: Some(max_elements), ..self.refinement.clone() };
        Some(Box::new(SloppLearnPsdd { slopp: self.slopp.with_max_elements(max_elements), refinement }))
    }

    /// The start is in the world of the task, and refinement does not leave it.
    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        task.support.check_weight(self.refinement.pseudocount)?;
        let learned = self.slopp.find(task, progress)?.model.into_psdd().expect("SLoPP makes PSDDs");
        self.refinement.refine(&task.support.prepare_start(learned, task.train)?, task, progress)
    }
}
