//! LearnSPN as a learner: its settings, and the records it takes. The algorithm is in `spn/learnspn`.

use super::LearnError;
use super::error::check_records;
use super::structure::{Prior, Structure};
use super::task::{Learner, Task, VtreeUse};
use crate::data::MAX_PAIR_VARIABLES;
use crate::progress::Progress;
use crate::spn::learnspn::{LearnSpn, Leaves};

impl LearnSpn {
    fn check(&self) -> Result<(), LearnError> {
        let fault = |name, value: String, expected: &'static str| {
            Err(LearnError::Setting { name, value, expected: expected.into() })
        };
        if self.max_clusters == 0 {
            return fault("max_clusters", "0".into(), "at least 1");
        }
        let numbers = [
            ("independence", self.independence),
            ("cluster_penalty", self.cluster_penalty),
            ("min_records", self.min_records),
        ];
        for (name, value) in numbers {
            if !(value.is_finite() && value >= 0.0) {
                return fault(name, value.to_string(), "a finite number of at least 0");
            }
        }
        if !(1e-6..=1e6).contains(&self.pseudocount) {
            return fault("pseudocount", self.pseudocount.to_string(), "between 1e-6 and 1e6");
        }
        Ok(())
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
            ("pseudocount", self.pseudocount.to_string()),
            ("independence", self.independence.to_string()),
            ("max_clusters", self.max_clusters.to_string()),
            ("cluster_penalty", self.cluster_penalty.to_string()),
            ("min_records", self.min_records.to_string()),
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
        // Their missing cells are summed out.
        if let Some(valid) = task.valid.filter(|valid| valid.var_count() != variables) {
            return Err(LearnError::WrongValidation { valid: valid.var_count(), train: variables });
        }
        self.check()?;
        Ok(Structure::new(self.grow(task.train, task.valid, task.seed, progress)?, Prior::NONE))
    }
}
