//! What every learner is: a task in, a structure out, in which everything is still possible.

use super::LearnError;
use super::parts::Parts;
use super::structure::{Report, Structure};
use super::support::Support;
use super::vtree::VtreeMethod;
use crate::data::Records;
use crate::model::ModelKind;
use crate::progress::Progress;
use crate::vtree::Vtree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a learner has to work with.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The records to learn from.
    pub train: &'a Records,
    /// Records to choose or stop by, for learners that do; without them these hold out a tenth of the training records.
    pub valid: Option<&'a Records>,
    /// The vtree to learn on; without one the learner makes its own, as [`Learner::vtree`] says.
    pub vtree: Option<&'a Arc<Vtree>>,
    /// Where the vtree comes from. A method without a vtree makes one, unless the learner makes the same itself.
    pub vtree_from: Option<VtreeFrom>,
    /// The origin of the model that is refined, if one is given.
    pub refined: Option<&'a BTreeMap<String, String>>,
    /// What is possible in the result.
    pub support: &'a Support,
    /// The seed of everything random.
    pub seed: u64,
}

/// Where a vtree that is asked for comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VtreeFrom {
    /// It is made from the records in this way.
    Method(VtreeMethod),
    /// It was there before: a file, or the vtree of a model.
    File,
    /// It was written as a text.
    Text,
}

/// What a learner does about the vtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VtreeUse {
    /// It learns without one.
    None,
    /// It brings its own, which is made in this way.
    Own(VtreeMethod),
    /// It takes any; where none is given, one made in this way.
    Any(VtreeMethod),
    /// It takes one, and learns its own where none is given.
    Inside,
}

/// A learner with its settings.
///
/// It finds a structure as if everything were possible; [`Support`] then says what is. [`Task::learn`] does both.
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
    /// The name people write.
    fn name(&self) -> &'static str;

    /// The settings, as name and value: with records, vtree, support and seed, enough to learn the same again.
    fn settings(&self) -> Vec<(&'static str, String)>;

    /// What it does about the vtree.
    fn vtree(&self) -> VtreeUse {
        VtreeUse::Any(VtreeMethod::ChowLiu)
    }

    /// The largest number of elements of what it makes, if it was given one.
    fn max_elements(&self) -> Option<usize> {
        None
    }

    /// The same learner with another largest number of elements, if it can keep to one.
    fn within(&self, _max_elements: usize) -> Option<Box<dyn Learner>> {
        None
    }

    /// Finds a structure.
    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError>;
}

/// What was learned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The model.
    pub model: ModelKind,
    /// How it was made: learner, settings, vtree, support, seed and what was chosen.
    pub origin: BTreeMap<String, String>,
    /// What the learner chose itself, as name and value, which is also in the origin.
    pub chosen: Vec<(&'static str, String)>,
    /// What else there is to say about it.
    pub report: Report,
}

impl<'a> Task<'a> {
    /// Records alone: an open world, no rules.
    pub fn new(train: &'a Records) -> Task<'a> {
        Task { train, valid: None, vtree: None, vtree_from: None, refined: None, support: Support::open(), seed: 0 }
    }

    /// Records in a closed world: only what they show, relaxed, is possible.
    pub fn closed(train: &'a Records) -> Task<'a> {
        Task { support: Support::closed(), ..Task::new(train) }
    }

    /// The vtree that is given, or else one that is made in this way.
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
        Parts::new(self.train, self.valid, self.seed)
    }
}

impl VtreeFrom {
    /// The word that an origin has.
    pub fn name(self) -> &'static str {
        match self {
            VtreeFrom::Method(method) => method.name(),
            VtreeFrom::File => "file",
            VtreeFrom::Text => "text",
        }
    }
}

impl VtreeUse {
    /// How the learner makes a vtree itself, where it is told beforehand.
    pub fn method(self) -> Option<VtreeMethod> {
        match self {
            VtreeUse::Any(method) | VtreeUse::Own(method) => Some(method),
            VtreeUse::Inside | VtreeUse::None => None,
        }
    }
}
