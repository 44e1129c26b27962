//! Learning with restrictions: what rules, or records by what they show together, rule out of what a learner makes.

use super::LearnError;
use super::inside::InsideError;
use super::learner::{Learned, Learner, Outcome, Task};
use crate::data::Records;
use crate::logic::{Limits, Rules};
use crate::progress::Progress;
use crate::var::Var;

/// How often a smaller model is tried where what is ruled out makes one larger than asked for.
const SMALLER: usize = 6;

/// How many times larger a restricted model must be than the unrestricted one for that to be told.
const MUCH_LARGER: usize = 4;

/// What is impossible, whatever a learner makes of the records; nothing by default.
///
/// ```
/// use slopp::Var;
/// use slopp::learn::{Restriction, Task, World, merged};
/// use slopp::logic::Rules;
/// let records = slopp::example::records();
/// let seen = Rules::seen(&records, [("X1,X2".to_owned(), vec![Var(0), Var(1)])]);
/// let restriction = Restriction { closed: Some(seen), ..Restriction::default() };
/// let outcome = restriction.learn(&merged::Config::new(World::Open), &Task::new(&records), &())?;
/// assert!(outcome.learned.psdd().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Restriction {
    /// What the base implies: rules, and that every column has one value.
    pub rules: Option<Rules>,
    /// That groups of columns have values which were seen together: [`Rules::seen`].
    pub closed: Option<Rules>,
    /// The variables that stay open in a world that is otherwise closed: [`Learned::closed_but`].
    pub open: Option<Vec<Var>>,
    /// How large rules may become when they are compiled.
    pub limits: Limits,
}

/// Why nothing was learned within restrictions.
#[derive(Debug, thiserror::Error)]
pub enum RestrictionError {
    /// The learner failed.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The rules could not be obeyed.
    #[error(transparent)]
    Rules(InsideError),
    /// The groups of columns could not be closed.
    #[error("columns cannot be closed: {0}; close fewer columns at a time")]
    Closed(#[source] InsideError),
    /// The world could not be closed but for some columns.
    #[error("the world cannot be closed but for some columns: {0}")]
    Open(#[source] InsideError),
}

impl Restriction {
    /// Whether nothing is ruled out.
    pub fn is_none(&self) -> bool {
        self.rules.is_none() && self.closed.is_none() && self.open.is_none()
    }

    /// What a learner makes, restricted. A learner that keeps within some size is asked for less, where what is ruled out
    /// makes the result larger; it may stay larger all the same, which [`Learned::most_elements`] tells. Where the result
    /// is much larger than without restrictions, `elements_unrestricted` is among what was chosen.
    pub fn learn(
        &self,
        learner: &dyn Learner,
        task: &Task,
        progress: &dyn Progress,
    ) -> Result<Outcome, RestrictionError> {
        let outcome = self.once(learner, task, progress)?;
        let Some(max) = learner.max_elements().filter(|_| !self.is_none()) else { return Ok(outcome) };
        let least = task.train.var_count().saturating_sub(1);
        within(
            max,
            least,
            outcome,
            |outcome| outcome.learned.most_elements(),
            |room| {
                let smaller = learner.within(room);
                smaller.map(|smaller| self.once(&*smaller, task, progress)).transpose()
            },
        )
    }

    fn once(&self, learner: &dyn Learner, task: &Task, progress: &dyn Progress) -> Result<Outcome, RestrictionError> {
        let Outcome { learned, mut chosen, prior } = learner.learn(task, progress)?;
        let unrestricted = learned.most_elements();
        let learned = self.apply(learned, task.train, prior, progress)?;
        if learned.most_elements() > MUCH_LARGER * unrestricted {
            chosen.push(("elements_unrestricted", unrestricted.to_string()));
        }
        Ok(Outcome { learned, chosen, prior })
    }

    /// What was learned without what is ruled out, fitted to the records again with itself as a prior of this weight.
    pub fn apply(
        &self,
        mut learned: Learned,
        records: &Records,
        pseudocount: f64,
        progress: &dyn Progress,
    ) -> Result<Learned, RestrictionError> {
        if let Some(rules) = &self.rules {
            let inside = learned.inside(rules, records, pseudocount, &self.limits, progress);
            learned = inside.map_err(RestrictionError::Rules)?;
        }
        if let Some(closed) = &self.closed {
            let inside = learned.inside(closed, records, pseudocount, &self.limits, progress);
            learned = inside.map_err(RestrictionError::Closed)?;
        }
        if let Some(open) = &self.open {
            let closed = learned.closed_but(open, records, pseudocount);
            learned = closed.map_err(RestrictionError::Open)?;
        }
        Ok(learned)
    }
}

/// What was learned or, where it has more elements than asked for, the smallest of what is learned within less and less
/// room, down to the least that there can be.
pub(super) fn within<T, E>(
    max: usize,
    least: usize,
    mut best: T,
    elements: impl Fn(&T) -> usize,
    again: impl Fn(usize) -> Result<Option<T>, E>,
) -> Result<T, E> {
    let mut room = max;
    for _ in 0..SMALLER {
        let found = elements(&best);
        if found <= max || room <= least {
            break;
        }
        // A little less than in proportion: what is ruled out is not spread evenly.
        room = ((0.9 * room.min(found) as f64 * max as f64 / found as f64) as usize).max(least);
        let Some(smaller) = again(room)? else { break };
        if elements(&smaller) < found {
            best = smaller;
        }
    }
    Ok(best)
}
