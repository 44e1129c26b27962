//! One interface to all learners: a task in, what was learned out.
//!
//! Every learner also is a plain function with its own types; this is for whoever runs several of them, or one that is
//! chosen by name.

use super::vtree::VtreeMethod;
use super::{LearnError, World};
use crate::circuit::{Psdd, Stats};
use crate::data::Records;
use crate::infer::Distribution;
use crate::mixture::Mixture;
use crate::model::{AnyModel, Certified, Model};
use crate::names::Names;
use crate::progress::Progress;
use crate::spn::Spn;
use crate::var::Var;
use crate::vtree::Vtree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a learner has to work with.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The records to learn from.
    pub train: &'a Records,
    /// Records to stop or cut back by, for learners that do.
    pub valid: Option<&'a Records>,
    /// The vtree to learn on; without one the learner makes its own, as [`Learner::vtree`] says.
    pub vtree: Option<&'a Arc<Vtree>>,
    /// The variables that stay open where all else will be closed once it is learned; learners that choose among models
    /// do so by what will be left.
    pub open: Option<&'a [Var]>,
    /// The seed of everything random, whatever seed the settings of the learner hold.
    pub seed: u64,
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
/// ```
/// use slopp::learn::slopp::Config;
/// use slopp::learn::{Learner, Task, World, learnspn};
/// let records = slopp::example::records();
/// let learners: [Box<dyn Learner>; 2] =
///     [Box::new(Config::new(World::Open)), Box::new(learnspn::Config::default())];
/// for learner in learners {
///     let learned = learner.learn(&Task::new(&records), &())?.learned;
///     let fit: f64 = learned.distribution().log_likelihoods(&records).unwrap().iter().sum();
///     println!("{}: {fit:.3}, {} parameters", learner.name(), learned.size().parameters);
/// }
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub trait Learner {
    /// The name people write.
    fn name(&self) -> &'static str;

    /// The settings, as name and value: with records, vtree and seed, enough to learn the same again.
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

    /// Learns.
    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError>;
}

/// What a learner made, and what it chose on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was learned.
    pub learned: Learned,
    /// The settings that the learner chose itself, as name and value; they replace those of [`Learner::settings`].
    pub chosen: Vec<(&'static str, String)>,
    /// How many records what was learned weighs where it is fitted to records again; zero of mixtures and networks, whose
    /// parameters stay.
    pub prior: f64,
}

/// What a learner made.
#[derive(Clone, Debug, PartialEq)]
pub enum Learned {
    /// A circuit on a vtree, with its certificate.
    Circuit(Certified),
    /// A sum-product network, which has no vtree.
    Spn(Spn),
    /// A mixture of circuits.
    Mixture(Mixture),
}

/// How large a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Nodes.
    pub nodes: usize,
    /// Elements of a circuit; edges of a sum-product network.
    pub elements: usize,
    /// Parameters.
    pub parameters: usize,
}

impl<'a> Task<'a> {
    /// Only records.
    pub fn new(train: &'a Records) -> Task<'a> {
        Task { train, valid: None, vtree: None, open: None, seed: 0 }
    }

    /// The vtree that is given, or else one that is made in this way.
    pub fn vtree_or(&self, method: VtreeMethod, progress: &dyn Progress) -> Result<Arc<Vtree>, LearnError> {
        if let Some(vtree) = self.vtree {
            return Ok(vtree.clone());
        }
        progress.begin("making the vtree", 1);
        Ok(Arc::new(method.build(self.train, self.seed)?))
    }

    /// Refuses a vtree, for learners that take none.
    pub fn without_vtree(&self, learner: &'static str) -> Result<(), LearnError> {
        if self.vtree.is_some() { Err(LearnError::VtreeGiven { learner }) } else { Ok(()) }
    }
}

impl Learned {
    /// What can be asked of anything that was learned.
    pub fn distribution(&self) -> &dyn Distribution {
        match self {
            Learned::Circuit(circuit) => circuit,
            Learned::Spn(spn) => spn,
            Learned::Mixture(mixture) => mixture,
        }
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        match self {
            Learned::Circuit(circuit) => Size::of(circuit.stats()),
            Learned::Mixture(mixture) => Size::of(mixture.stats()),
            Learned::Spn(spn) => {
                let stats = spn.stats();
                Size { nodes: stats.nodes, elements: stats.edges, parameters: stats.parameters }
            }
        }
    }

    /// Its elements, which a largest number of them bounds: of a mixture, those of its largest component; a sum-product
    /// network has none.
    pub fn most_elements(&self) -> usize {
        match self {
            Learned::Circuit(circuit) => circuit.elements().len(),
            Learned::Mixture(mixture) => {
                mixture.components().iter().map(|part| part.elements().len()).max().unwrap_or(0)
            }
            Learned::Spn(_) => 0,
        }
    }

    /// The largest number of nodes that an inner vtree node has, which a largest number of classes bounds: of a mixture,
    /// in any component; a sum-product network has no vtree.
    pub fn most_classes(&self) -> usize {
        match self {
            Learned::Circuit(circuit) => circuit.most_classes(),
            Learned::Mixture(mixture) => mixture.most_classes(),
            Learned::Spn(_) => 0,
        }
    }

    /// The model with the names of its variables and how it was made.
    pub fn into_model(self, names: Arc<Names>, origin: BTreeMap<String, String>) -> AnyModel {
        match self {
            Learned::Circuit(circuit) => AnyModel::Circuit(Model { names, circuit, origin }),
            Learned::Spn(circuit) => AnyModel::Spn(Model { names, circuit, origin }),
            Learned::Mixture(circuit) => AnyModel::Mixture(Model { names, circuit, origin }),
        }
    }

    /// The PSDD, if it is proved to be one.
    pub fn psdd(&self) -> Option<&Psdd> {
        match self {
            Learned::Circuit(Certified::Psdd(psdd)) => Some(psdd),
            _ => None,
        }
    }
}

impl Outcome {
    /// Of a learner that chose nothing; where it is fitted again, what it learned weighs so many records.
    pub fn new(learned: impl Into<Learned>, prior: f64) -> Outcome {
        Outcome { learned: learned.into(), chosen: Vec::new(), prior }
    }
}

impl From<Psdd> for Learned {
    fn from(psdd: Psdd) -> Learned {
        Learned::Circuit(Certified::Psdd(psdd))
    }
}

impl From<Certified> for Learned {
    fn from(circuit: Certified) -> Learned {
        Learned::Circuit(circuit)
    }
}

impl From<Spn> for Learned {
    fn from(spn: Spn) -> Learned {
        Learned::Spn(spn)
    }
}

impl From<Mixture> for Learned {
    fn from(mixture: Mixture) -> Learned {
        Learned::Mixture(mixture)
    }
}

impl Size {
    fn of(stats: Stats) -> Size {
        Size { nodes: stats.nodes, elements: stats.elements, parameters: stats.parameters }
    }
}

impl World {
    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            World::Open => "open",
            World::Closed => "closed",
        }
    }
}
