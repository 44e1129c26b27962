//! Learning: a [`Learner`] finds a structure for a [`Task`]; support is applied to it; the result keeps within a size.

use super::error::{check_records, in_digits};
use super::hold_out::Parts;
use super::structure::{Report, Structure};
use super::support::{Support, World};
use super::vtree::VtreeMethod;
use super::{LearnError, Together};
use crate::data::Records;
use crate::model::Model;
use crate::progress::Progress;
use crate::vtree::Vtree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model that support makes more than this many times larger is reported.
const MUCH_LARGER: usize = 4;

/// How often a smaller model is tried if support makes one too large.
const SMALLER: usize = 8;

/// The input of a learner.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The records to learn from.
    pub train: &'a Records,
    /// Records to choose or stop by. Without them, learners that need some hold out a tenth of the training records.
    pub valid: Option<&'a Records>,
    /// The vtree to learn on; without one the learner makes its own, as [`Learner::vtree`] says.
    pub vtree: Option<&'a Arc<Vtree>>,
    /// Where the vtree comes from. A method without a vtree makes one, unless the learner makes the same itself.
    pub vtree_from: Option<VtreeFrom>,
    /// The model to start from, for learners that refine one; the result is on its vtree.
    pub start: Option<&'a Model>,
    /// The worlds that are possible in the result.
    pub support: &'a Support,
    /// The seed of everything random.
    pub seed: u64,
}

/// Where a vtree comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VtreeFrom {
    /// It is made from the records by this method.
    Method(VtreeMethod),
    /// A file, or the vtree of a model.
    File,
    /// A text.
    Text,
}

/// How a learner uses a vtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VtreeUse {
    /// It needs none.
    None,
    /// It makes its own by this method.
    Own(VtreeMethod),
    /// It takes any; without one, it makes one by this method.
    Any(VtreeMethod),
    /// It takes any; without one, it learns its own.
    Inside,
}

/// A learner with its settings.
///
/// It finds a structure as if every world were possible. [`Support`] then rules worlds out. [`Task::learn`] does both.
///
/// ```
/// use slopp::learn::{Learner, LearnSpn, SloppTree, Task};
/// let records = slopp::example::records();
/// let learners: [Box<dyn Learner>; 2] = [Box::new(SloppTree::default()), Box::new(LearnSpn::default())];
/// for learner in learners {
///     let model = Task::new(&records).learn(&*learner, &())?.model;
///     let fit: f64 = model.distribution().log_likelihoods(&records).unwrap().iter().sum();
///     println!("{}: {fit:.3}, {} parameters", learner.name(), model.size().parameters);
/// }
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub trait Learner {
    /// The name in the table of learners.
    fn name(&self) -> &'static str;

    /// The settings, as name and value: with records, vtree, support and seed, enough to learn the same again.
    fn settings(&self) -> Vec<(&'static str, String)>;

    /// How it uses a vtree.
    fn vtree(&self) -> VtreeUse {
        VtreeUse::Any(VtreeMethod::ChowLiu)
    }

    /// Whether it refines the model that a task starts from.
    fn refines(&self) -> bool {
        false
    }

    /// The largest number of elements of its result, if it is limited.
    fn max_elements(&self) -> Option<usize> {
        None
    }

    /// The same learner with another largest number of elements, if it supports a limit.
    fn within(&self, _max_elements: usize) -> Option<Box<dyn Learner>> {
        None
    }

    /// Finds a structure.
    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError>;
}

/// The result of learning.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The model. Its origin says how it was made: learner, settings, chosen settings, vtree, support and seed.
    pub model: Model,
    /// The settings that the learner chose, as name and value; they are also in the origin.
    pub chosen: Vec<(&'static str, String)>,
    /// Facts about the learning.
    pub report: Report,
}

/// The result of a learner within a size.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AtSize {
    /// The largest number of elements; the first size has none, unless the learner has one.
    pub max_elements: Option<usize>,
    /// The result. Support may make it larger than the limit.
    pub outcome: Outcome,
}

impl<'a> Task<'a> {
    /// Records in an open world, without rules.
    pub fn new(train: &'a Records) -> Task<'a> {
        Task { train, valid: None, vtree: None, vtree_from: None, start: None, support: Support::open(), seed: 0 }
    }

    /// Records in a closed world: only combinations in the records, relaxed, are possible.
    pub fn closed(train: &'a Records) -> Task<'a> {
        Task { support: Support::closed(), ..Task::new(train) }
    }

    /// The given vtree, or else one made by this method.
    pub(super) fn vtree_or(&self, method: VtreeMethod, progress: &dyn Progress) -> Result<Arc<Vtree>, LearnError> {
        if let Some(vtree) = self.vtree {
            return Ok(vtree.clone());
        }
        progress.begin("making the vtree", 1);
        Ok(Arc::new(method.build(self.train, self.seed)?))
    }

    /// Refuses a vtree, for learners that take none.
    pub(super) fn without_vtree(&self, learner: &'static str) -> Result<(), LearnError> {
        if self.vtree.is_some() { Err(LearnError::VtreeGiven { learner }) } else { Ok(()) }
    }

    /// The records to learn from and those to choose by.
    pub(super) fn parts(&self) -> Result<Parts<'a>, LearnError> {
        Parts::new(self.train, self.valid, self.seed, &self.support.limits)
    }
}

impl VtreeFrom {
    /// The word for it in an origin.
    pub fn name(self) -> &'static str {
        match self {
            VtreeFrom::Method(method) => method.name(),
            VtreeFrom::File => "file",
            VtreeFrom::Text => "text",
        }
    }
}

impl VtreeUse {
    /// The method by which the learner makes a vtree itself, if it is fixed.
    pub fn method(self) -> Option<VtreeMethod> {
        match self {
            VtreeUse::Any(method) | VtreeUse::Own(method) => Some(method),
            VtreeUse::Inside | VtreeUse::None => None,
        }
    }
}

impl Task<'_> {
    /// Learns: the learner finds a structure, and support is applied to it.
    ///
    /// If the learner has a largest size and support makes the result larger, smaller sizes are tried. The result may
    /// still be larger; [`Report::exceeded`] says so.
    pub fn learn(&self, learner: &dyn Learner, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        if self.start.is_some() && !learner.refines() {
            return Err(LearnError::StartGiven { learner: learner.name() });
        }
        if self.start.is_some() && (self.vtree.is_some() || self.vtree_from.is_some()) {
            return Err(LearnError::VtreeOfStart);
        }
        if let (Some(_), World::Closed { except }) = (self.start, &self.support.world) {
            return Err(LearnError::Together(Together::with_start(except.is_empty())));
        }
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
        // The origin names the size that was asked for, not the smaller ones that were tried.
        outcome.model.origin = origin(learner, task);
        let elements = outcome.model.most_elements();
        outcome.report.exceeded = learner.max_elements().filter(|&max| elements > max);
        outcome.model.origin.extend(outcome.chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Ok(outcome)
    }

    /// Learns at up to `points` sizes, the largest first: each has at most half the elements of the one before. Stops
    /// early at one element for each variable but the last, or if a smaller limit does not make the model smaller.
    ///
    /// Each result is that of [`Task::learn`] within its size.
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
    chosen.extend(report.held_out.map(|weight| ("held_out", in_digits(weight))));
    chosen.extend(task.support.reported_weight(&structure));
    let model = task.support.apply(structure, task.train, progress)?;
    let elements = model.most_elements();
    if elements > MUCH_LARGER * unrestricted {
        report.much_smaller = Some(unrestricted);
        chosen.push(("elements_unrestricted", unrestricted.to_string()));
    }
    let made = Outcome { model: Model::new(task.train.names().clone(), model), chosen, report };
    Ok(Made { made, elements, unrestricted })
}

/// The vtree of the given method. If the learner uses the same method itself, it makes the vtree, because its start may
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

/// A result, its number of elements, and the number before support was applied.
pub(super) struct Made<T> {
    pub(super) made: T,
    pub(super) elements: usize,
    pub(super) unrestricted: usize,
}

/// The largest result with at most `max` elements among the first and those learned again with less room; if all have
/// more, the smallest.
pub(super) fn within<T, E>(
    max: usize,
    least: usize,
    first: Made<T>,
    again: impl Fn(usize) -> Result<Option<Made<T>>, E>,
) -> Result<T, E> {
    // `much` is the smallest room known to be too much, `enough` the largest known not to be. Unused room is ignored.
    let (mut much, mut enough) = (first.unrestricted.min(max), None);
    let mut best = first;
    for _ in 0..SMALLER {
        let is_filled = best.elements <= max && best.elements * 10 >= 9 * max;
        let room = match enough {
            // A little less than in proportion, since growth by support is uneven.
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
        // Up to the limit larger is better, beyond it smaller.
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

/// The origin of a model: enough to make it again from the same records, and nothing about the machine.
fn origin(learner: &dyn Learner, task: &Task) -> BTreeMap<String, String> {
    let facts = [
        ("learner", learner.name().to_owned()),
        ("records", in_digits(task.train.total())),
        ("seed", task.seed.to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let vtree = vtree(learner, task).map(|name| ("vtree", name.to_owned()));
    let facts = facts.into_iter().chain(vtree).chain(task.support.facts(task.train.names()));
    let mut origin: BTreeMap<String, String> =
        facts.chain(learner.settings()).map(|(key, value)| (key.to_owned(), value)).collect();
    if let Some(start) = task.start {
        // The learner of the start has decided which worlds are possible.
        for (key, made) in [("start", "learner"), ("world", "world")] {
            let known = start.origin.get(made).map_or("given", String::as_str);
            origin.insert(key.to_owned(), known.to_owned());
        }
    }
    origin
}

/// The word in the origin for how the vtree was made.
fn vtree(learner: &dyn Learner, task: &Task) -> Option<&'static str> {
    let given = task.vtree_from.or(task.vtree.map(|_| VtreeFrom::File)).map(VtreeFrom::name);
    let own = || match learner.vtree() {
        _ if task.start.is_some() => Some(VtreeFrom::File.name()),
        VtreeUse::Inside => Some("learned"),
        other => other.method().map(|method| method.name()),
    };
    given.or_else(own)
}
