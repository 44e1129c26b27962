//! Learning: a structure is found, support is applied, and the result kept within a size.

use super::error::check_records;
use super::task::{Learner, Outcome, Task, VtreeFrom};
use super::{LearnError, origin};
use crate::progress::Progress;
use crate::vtree::Vtree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many times larger a model must become for that to be reported.
const MUCH_LARGER: usize = 4;

/// How often a smaller model is tried where what is ruled out makes one larger than asked for.
const SMALLER: usize = 8;

/// What a learner made within a size.
#[derive(Clone, Debug, PartialEq)]
pub struct AtSize {
    /// The largest number of elements that was asked for; none of the first, unless the learner has one itself.
    pub max_elements: Option<usize>,
    /// What was made, which may be larger where something is ruled out.
    pub outcome: Outcome,
}

impl Task<'_> {
    /// Learns: the learner finds a structure, and support is applied to it.
    ///
    /// A learner that keeps within some size is asked for less where support makes the result larger. It may stay larger
    /// all the same, which [`Report::exceeded`](super::Report::exceeded) says.
    pub fn learn(&self, learner: &dyn Learner, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let made = made_vtree(learner, self, progress)?;
        let task = &Task { vtree: made.as_ref().or(self.vtree), ..*self };
        let first = once(learner, task, progress)?;
        let mut outcome = match learner.max_elements().filter(|&max| first.elements > max) {
            None => first.made,
            Some(max) => {
                let least = self.train.var_count().saturating_sub(1);
                within(max, least, first, |room| {
                    let smaller = learner.within(room);
                    smaller.map(|smaller| once(&*smaller, task, progress)).transpose()
                })?
            }
        };
        // What was asked for is told, and not with how much less it was tried.
        outcome.origin = origin::of(learner, task);
        let elements = outcome.model.most_elements();
        outcome.report.exceeded = learner.max_elements().filter(|&max| elements > max);
        outcome.origin.extend(outcome.chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Ok(outcome)
    }

    /// What a learner makes at up to so many sizes, the largest first: as it is, then within half the elements of that,
    /// and so on, until there is one element for each variable but the last, or less room makes nothing smaller.
    ///
    /// Each is what [`Task::learn`] makes within its size.
    ///
    /// ```
    /// use slopp::learn::{Slopp, Task};
    /// let records = slopp::example::Truth::configurations().sample(500, 1);
    /// let sizes = Task::new(&records).sizes(&Slopp::default(), 3, &())?;
    /// let elements: Vec<usize> = sizes.iter().map(|size| size.outcome.model.most_elements()).collect();
    /// assert!(elements[1] <= elements[0] / 2 && elements[2] <= elements[1] / 2);
    /// # Ok::<(), slopp::learn::LearnError>(())
    /// ```
    pub fn sizes(
        &self,
        learner: &dyn Learner,
        points: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<AtSize>, LearnError> {
        progress.begin("learning at several sizes", points as u64);
        let least = self.train.var_count().saturating_sub(1);
        let mut sizes: Vec<AtSize> = Vec::new();
        let mut smaller: Option<Box<dyn Learner>> = None;
        while sizes.len() < points {
            let learner = smaller.as_deref().unwrap_or(learner);
            let size = AtSize { max_elements: learner.max_elements(), outcome: self.learn(learner, &())? };
            let elements = size.outcome.model.most_elements();
            if sizes.last().is_some_and(|last| elements >= last.outcome.model.most_elements()) {
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

fn once(learner: &dyn Learner, task: &Task, progress: &dyn Progress) -> Result<Made<Outcome>, LearnError> {
    let structure = learner.find(task, progress)?;
    let unrestricted = structure.model.most_elements();
    let (mut chosen, mut report) = (structure.chosen.clone(), structure.report.clone());
    chosen.extend(report.held_out.map(|weight| ("held_out", weight.to_string())));
    chosen.extend(task.support.told(&structure));
    let model = task.support.apply(structure, task.train, progress)?;
    let elements = model.most_elements();
    if elements > MUCH_LARGER * unrestricted {
        report.much_smaller = Some(unrestricted);
        chosen.push(("elements_unrestricted", unrestricted.to_string()));
    }
    let made = Outcome { model, origin: BTreeMap::new(), chosen, report };
    Ok(Made { made, elements, unrestricted })
}

/// The vtree of the method that is asked for. What the learner would make itself is left to it: what it starts from may
/// depend on that.
fn made_vtree(learner: &dyn Learner, task: &Task, progress: &dyn Progress) -> Result<Option<Arc<Vtree>>, LearnError> {
    match task.vtree_from {
        Some(VtreeFrom::Method(method)) if task.vtree.is_none() && learner.vtree().method() != Some(method) => {
            check_records(task.train)?;
            task.vtree_or(method, progress).map(Some)
        }
        _ => Ok(None),
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
