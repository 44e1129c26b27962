//! LearnSPN as a learner: its settings, and the records it takes. The algorithm is in `spn/learnspn`.

use super::LearnError;
use super::error::{check_numbers, check_range, check_records, in_digits};
use super::structure::{Prior, Structure};
use super::task::{Learner, Task, VtreeUse};
use crate::data::MAX_PAIR_VARIABLES;
use crate::progress::Progress;
use crate::spn::learnspn::{LearnSpn, Leaves};

impl LearnSpn {
    fn check(&self) -> Result<(), LearnError> {
        check_range("max_clusters", self.max_clusters, 1..=usize::MAX)?;
        check_numbers([
            ("independence", self.independence),
            ("cluster_penalty", self.cluster_penalty),
            ("min_records", self.min_records),
        ])?;
        match (1e-6..=1e6).contains(&self.pseudocount) {
            true => Ok(()),
            false => Err(LearnError::setting("pseudocount", self.pseudocount, "between 1e-6 and 1e6")),
        }
    }
}

impl Learner for LearnSpn {
    fn name(&self) -> &'static str {
        "learnspn"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let leaves = match self.leaves {
            Leaves::ChowLiu => "chow-liu",
            Leaves::Independent => "independent",
        };
        vec![
            ("pseudocount", in_digits(self.pseudocount)),
            ("independence", in_digits(self.independence)),
            ("max_clusters", self.max_clusters.to_string()),
            ("cluster_penalty", in_digits(self.cluster_penalty)),
            ("min_records", in_digits(self.min_records)),
            ("leaves", leaves.to_owned()),
            ("steps", self.steps.to_string()),
        ]
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::None
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        task.without_vtree(self.name())?;
        check_records(task.train)?;
        let variables = task.train.var_count();
        if variables > MAX_PAIR_VARIABLES {
            return Err(LearnError::TooManyPairs { variables });
        }
        // Validation records may have missing cells, which are summed out.
        if let Some(valid) = task.valid.filter(|valid| valid.var_count() != variables) {
            return Err(LearnError::WrongValidation { valid: valid.var_count(), train: variables });
        }
        self.check()?;
        Ok(Structure::new(self.grow(task.train, task.valid, task.seed, progress)?, Prior::NONE))
    }
}
