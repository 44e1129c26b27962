//! Merged SLoPP as one of the learners.

use super::{Config, Learned, Start, learn};
use crate::learn::LearnError;
use crate::learn::learner::{Learner, Outcome, Task, VtreeUse};
use crate::progress::Progress;

impl Learner for Config {
    fn name(&self) -> &'static str {
        "slopp"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = vec![
            ("world", self.world.name().to_owned()),
            ("effort", "fast".to_owned()),
            ("max_classes", self.max_classes.to_string()),
        ];
        settings.extend(self.capped.then(|| ("clones", "within max_classes".to_owned())));
        settings.extend(self.max_elements.map(|max| ("max_elements", max.to_string())));
        settings
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn max_elements(&self) -> Option<usize> {
        self.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        Some(Box::new(Config { max_elements: Some(max_elements), ..self.clone() }))
    }

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        Ok(learn(task.train, task.valid, &self.for_task(task), progress)?.outcome())
    }
}

impl Learned {
    /// What was learned and chosen, as a learner reports it.
    pub(super) fn outcome(self) -> Outcome {
        let chosen = vec![
            ("start", self.start.to_string()),
            ("pseudocount", self.pseudocount.to_string()),
            ("held_out", self.held_out.to_string()),
        ];
        Outcome { chosen, ..Outcome::new(self.psdd, self.pseudocount) }
    }
}

impl Config {
    /// The same with the vtree of a task and its open variables, if it has any, and its seed.
    pub(super) fn for_task(&self, task: &Task) -> Config {
        let vtree = task.vtree.cloned().or_else(|| self.vtree.clone());
        let open = task.open.map(<[_]>::to_vec).or_else(|| self.open.clone());
        Config { vtree, open, seed: task.seed, ..self.clone() }
    }
}

impl std::fmt::Display for Start {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Start::Whole(penalty) => write!(f, "whole {penalty}"),
            Start::Window(penalty) => write!(f, "window {penalty}"),
            Start::Tree => write!(f, "tree"),
        }
    }
}
