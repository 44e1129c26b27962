//! Learning with restrictions: what rules, or records by what they show together, rule out of what a learner makes.

use super::LearnError;
use super::inside::InsideError;
use super::learner::{Learned, Learner, Outcome, Task};
use crate::data::Records;
use crate::logic::{Limits, Rules};
use crate::progress::Progress;
use crate::var::Var;

/// How often a smaller model is tried where what is ruled out makes one larger than asked for.
const SMALLER: usize = 8;

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
        let task = &Task { open: self.open.as_deref(), ..*task };
        let first = self.once(learner, task, progress)?;
        let Some(max) = learner.max_elements().filter(|&max| first.elements > max) else { return Ok(first.made) };
        let least = task.train.var_count().saturating_sub(1);
        within(max, least, first, |room| {
            let smaller = learner.within(room);
            smaller.map(|smaller| self.once(&*smaller, task, progress)).transpose()
        })
    }

    fn once(
        &self,
        learner: &dyn Learner,
        task: &Task,
        progress: &dyn Progress,
    ) -> Result<Made<Outcome>, RestrictionError> {
        let Outcome { learned, mut chosen, prior } = learner.learn(task, progress)?;
        let unrestricted = learned.most_elements();
        let learned = self.apply(learned, task.train, prior, progress)?;
        let elements = learned.most_elements();
        if elements > MUCH_LARGER * unrestricted {
            chosen.push(("elements_unrestricted", unrestricted.to_string()));
        }
        Ok(Made { made: Outcome { learned, chosen, prior }, elements, unrestricted })
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

/// What was learned, how many elements it has, and how many it had before something was ruled out.
pub(super) struct Made<T> {
    pub(super) made: T,
    pub(super) elements: usize,
    pub(super) unrestricted: usize,
}

/// What was learned or, where it has more elements than asked for, the largest of what is learned within less room that
/// has not; if there is none, the smallest.
pub(super) fn within<T, E>(
    max: usize,
    least: usize,
    first: Made<T>,
    again: impl Fn(usize) -> Result<Option<Made<T>>, E>,
) -> Result<T, E> {
    // More room than was used made the same, and so much was too much; so much was not.
    let (mut much, mut enough) = (first.unrestricted.min(max), None);
    let mut best = first;
    for _ in 0..SMALLER {
        let is_filled = best.elements <= max && best.elements * 10 >= 9 * max;
        let room = match enough {
            // A little less than in proportion: what is ruled out is not spread evenly.
            None => ((0.9 * much as f64 * max as f64 / best.elements as f64) as usize).max(least),
            Some(enough) => usize::midpoint(enough, much),
        };
        if is_filled || room >= much || Some(room) == enough {
            break;
        }
        let Some(made) = again(room)? else { break };
        let (fits, fitted) = (made.elements <= max, best.elements <= max);
        if fits {
            enough = Some(room);
        } else {
            much = room.min(made.unrestricted);
        }
        // Up to the size that is asked for more is better, and beyond it less.
        if fits && (!fitted || made.elements > best.elements) || !fitted && made.elements < best.elements {
            best = made;
        }
    }
    if best.elements > max
        && much > least
        && let Some(made) = again(least)?.filter(|made| made.elements < best.elements)
    {
        best = made;
    }
    Ok(best.made)
}
