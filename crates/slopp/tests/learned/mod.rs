//! Learners that make PSDDs.

use slopp::Psdd;
use slopp::learn::{Learner, Task};

/// The PSDD that a learner makes for a task.
pub(crate) fn psdd(task: &Task, learner: &dyn Learner) -> Psdd {
    task.learn(learner, &()).unwrap().model.into_psdd().expect("a PSDD")
}
