//! The same learner at several sizes, each within half the elements of the one before.

use super::learner::{Learner, Outcome, Task};
use super::restriction::{Restriction, RestrictionError};
use crate::progress::Progress;

/// What a learner made within a size.
#[derive(Clone, Debug, PartialEq)]
pub struct AtSize {
    /// The largest number of elements that was asked for; none of the first, unless the learner has one itself.
    pub max_elements: Option<usize>,
    /// What was made, which may be larger where something is ruled out.
    pub outcome: Outcome,
}

impl Restriction {
    /// What a learner makes at up to so many sizes, the largest first: as it is, then within half the elements of that,
    /// and so on, until there is one element for each variable but the last, or less room makes nothing smaller.
    ///
    /// Each is what [`Restriction::learn`] makes within its size.
    ///
    /// ```
    /// use slopp::learn::{Restriction, Task, World, merged};
    /// let records = slopp::example::Truth::configurations().sample(500, 1);
    /// let learner = merged::Config::new(World::Open);
    /// let sizes = Restriction::default().sizes(&learner, &Task::new(&records), 3, &())?;
    /// let elements: Vec<usize> = sizes.iter().map(|size| size.outcome.learned.most_elements()).collect();
    /// assert!(elements[1] <= elements[0] / 2 && elements[2] <= elements[1] / 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sizes(
        &self,
        learner: &dyn Learner,
        task: &Task,
        points: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<AtSize>, RestrictionError> {
        progress.begin("learning at several sizes", points as u64);
        let least = task.train.var_count().saturating_sub(1);
        let mut sizes: Vec<AtSize> = Vec::new();
        let mut smaller: Option<Box<dyn Learner>> = None;
        while sizes.len() < points {
            let learner = smaller.as_deref().unwrap_or(learner);
            let size = AtSize { max_elements: learner.max_elements(), outcome: self.learn(learner, task, &())? };
            let elements = size.outcome.learned.most_elements();
            if sizes.last().is_some_and(|last| elements >= last.outcome.learned.most_elements()) {
                break;
            }
            sizes.push(size);
            progress.advance(1);
            if elements <= least {
                break;
            }
            let Some(half) = learner.within((elements / 2).max(least)) else { break };
            smaller = Some(half);
        }
        Ok(sizes)
    }
}
