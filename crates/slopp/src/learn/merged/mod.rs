//! Merged SLoPP: a certified PSDD whose nodes are shared, with its vtree, a right-linear one, learned inside.
//!
//! A deterministic circuit sends every record to exactly one sum of each vtree node. So learning a circuit is choosing,
//! for every vtree node, a partition of the records into classes. Without merging the classes multiply, which is the
//! size problem of SLoPP as published. Here every layer has a bounded number of them:
//!
//! 1. *Order*: depth-first through the Chow-Liu tree from its centre, small subtrees first, the values of one column
//!    side by side; it makes the vtree.
//! 2. *Start*, top-down: the classes of a layer split by value, the parts are merged again ([`Start`] says how).
//! 3. *Sweeps*, bottom-up: classes are formed anew by what their records are truly worth below.
//! 4. *Clones*: edges into shared classes get their own copies where the exact gain is worth it.
//! 5. *Parameters*: smoothed towards the marginals; how much is chosen.
//!
//! Everything that has to be chosen is chosen by the likelihood of validation records. The left child of every vtree
//! node is one variable, so primes are its literals or ⊤: exclusive by themselves, whatever subs are merged. The result
//! is certified nevertheless.
//!
//! On a given vtree of any other shape clusters are the leaves of decision trees, and classes are merged where what
//! tells their primes apart allows it (`scopes.rs`); LearnPSDD's operations take the place of sweeps and clones.

mod agglomerate;
mod bag;
mod best;
mod clones;
mod columns;
mod distil;
mod effort;
mod em;
mod export;
mod forest;
mod general;
mod grow;
mod joined;
mod layers;
mod learner;
pub mod order;
mod scopes;
mod surrogate;
mod sweep;
mod view;

pub use self::bag::{BagConfig, BagLearned, bag};
pub use self::best::{Best, Teacher, best};
pub use self::distil::{DistilConfig, Distilled, distil, synthetic};
pub use self::effort::{Effort, Slopp, balanced};
pub use self::em::{EmConfig, em};

use self::clones::Cloning;
use self::grow::Tree;
use self::layers::{Layers, Prior};
use self::view::View;
pub(crate) use super::judge::check_validation;
use super::judge::{FEW_JUDGES, Parts};
use super::slopp::check_pseudocount;
use super::vtree::{ChowLiuTree, Gathered, pair_information, spanning_tree};
use super::{LearnError, World, check, check_complete};
use crate::circuit::Psdd;
use crate::data::Records;
use crate::progress::Progress;
use crate::var::Var;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// The largest number of classes that may be asked for.
const MAX_CLASSES: usize = 16_384;

/// The deepest plans of copies that may be asked for.
const MAX_DEPTH: usize = 64;

/// With more variables than this other starts are usual.
const MANY_VARIABLES: usize = 200;

/// The weight of the prior while structures are compared by the training records.
const TYPICAL_PSEUDOCOUNT: f64 = 2.0;

/// Sweeps, or looks at clones, without improvement after which they end.
const PATIENCE: [usize; 2] = [2, 8];

/// How the first structure is made, from the top down.
///
/// The surrogate of a set of records is a Chow-Liu tree over the variables that are left, with edges shared by all
/// sets; what a merge loses is the drop of its log-likelihood. Merging ends when every merge loses more than
/// [`Config::class_penalty`] and, for each parameter that it saves, the penalty given here in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// By surrogate; a class pays for all parameters that are left.
    Whole(f64),
    /// By surrogate; a class pays for the parameters as far down as it pays to keep it apart, since it may be merged
    /// again from there on.
    Window(f64),
    /// Classes are what the Chow-Liu tree of all variables remembers: the values of those that have neighbours further
    /// down. Right for many variables with few records, where a surrogate finds no class worth its parameters.
    Tree,
}

impl Start {
    /// The starts that are tried for so many variables where none are given.
    ///
    /// By the validation parts of the benchmark datasets: among few variables a smaller penalty often wins; among many
    /// it never does, costs most, and a surrogate may miss what the tree sees.
    pub fn usual(variables: usize) -> Vec<Start> {
        match variables {
            0..=MANY_VARIABLES => vec![Start::Whole(1.0), Start::Whole(0.6)],
            _ => vec![Start::Whole(1.0), Start::Tree],
        }
    }
}

/// Settings of [`learn`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What is possible beyond the records.
    pub world: World,
    /// The vtree; without one, a right-linear one is learned.
    pub vtree: Option<Arc<Vtree>>,
    /// The largest number of classes that a vtree node starts with; clones may add to them, on vtrees that are not
    /// right-linear until there are sixteen elements for each class that is allowed.
    pub max_classes: usize,
    /// The starts that are tried; if empty, [`Start::usual`] ones.
    pub starts: Vec<Start>,
    /// What a class of a start must gain, in units of `½ ln N` nats.
    pub class_penalty: f64,
    /// How many sweeps are made at most.
    pub sweeps: usize,
    /// What a class of a sweep must gain, in units of `½ ln N` nats.
    pub sweep_penalty: f64,
    /// What a copy must gain, in units of `½ ln N` nats.
    pub clone_penalty: f64,
    /// How many levels of nodes one clone may copy; zero for no clones at all.
    pub clone_depth: usize,
    /// The weights of the prior in records that are tried.
    pub pseudocounts: Vec<f64>,
    /// The weight of the prior in records for the parameters of the result. Without one, it is the one chosen; in a
    /// closed world zero.
    pub pseudocount: Option<f64>,
    /// The largest number of elements. Where the result would have more, merging goes on.
    pub max_elements: Option<usize>,
    /// The seed of what is held out, where no validation records are given.
    pub seed: u64,
}

impl Config {
    /// The defaults for a world.
    pub fn new(world: World) -> Config {
        Config {
            world,
            vtree: None,
            max_classes: 32,
            starts: Vec::new(),
            class_penalty: 2.0,
            sweeps: 3,
            sweep_penalty: 2.0,
            clone_penalty: 0.7,
            clone_depth: 6,
            pseudocounts: vec![0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0],
            pseudocount: None,
            max_elements: None,
            seed: 0,
        }
    }

    fn check(&self, variables: usize) -> Result<(), LearnError> {
        let fault = |name, value: String, expected| Err(LearnError::Setting { name, value, expected });
        if !(1..=MAX_CLASSES).contains(&self.max_classes) {
            return fault("max_classes", self.max_classes.to_string(), "at least 1 and at most 16384");
        }
        if self.clone_depth > MAX_DEPTH {
            return fault("clone_depth", self.clone_depth.to_string(), "at most 64");
        }
        let starts = self.starts.iter().filter_map(|start| match *start {
            Start::Whole(penalty) | Start::Window(penalty) => Some(("starts", penalty)),
            Start::Tree => None,
        });
        let penalties = [
            ("class_penalty", self.class_penalty),
            ("sweep_penalty", self.sweep_penalty),
            ("clone_penalty", self.clone_penalty),
        ];
        if let Some((name, value)) = starts.chain(penalties).find(|(_, x)| !(x.is_finite() && *x >= 0.0)) {
            return fault(name, value.to_string(), "a finite number of at least 0");
        }
        if self.pseudocounts.is_empty() {
            return fault("pseudocounts", "empty".to_owned(), "at least one");
        }
        if let Some(value) = self.pseudocounts.iter().find(|x| !(x.is_finite() && **x > 0.0)) {
            return fault("pseudocounts", value.to_string(), "finite numbers above 0");
        }
        if let Some(max) = self.max_elements.filter(|&max| max + 1 < variables) {
            return fault("max_elements", max.to_string(), "at least the number of variables less one");
        }
        self.pseudocount.map_or(Ok(()), |pseudocount| check_pseudocount(pseudocount, self.world))
    }
}

/// What a step of learning was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// A structure was started.
    Started(Start),
    /// It was swept, for the so-manieth time.
    Swept(usize),
    /// So many edges had got their clones.
    Cloned(usize),
}

/// One look at a structure while learning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// After which step.
    pub stage: Stage,
    /// The log-likelihood per validation record, with the best pseudocount.
    pub log_likelihood: f64,
    /// The elements of the structure.
    pub elements: usize,
}

/// What was learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The PSDD.
    pub psdd: Psdd,
    /// The start that was best.
    pub start: Start,
    /// The weight of the prior in records that was best, or that was given.
    pub pseudocount: f64,
    /// The weight of the records that were held out to choose by; zero where validation records were given, or records
    /// are so few that the training records had to do.
    pub held_out: f64,
    /// The log-likelihood per record of those it was chosen by, before the parameters were fitted to all records.
    pub log_likelihood: f64,
    /// All looks, in the order of the starts, then of the clones.
    pub history: Vec<Look>,
}

/// Merged SLoPP: a certified PSDD, on the vtree that is given, or on a right-linear one that is learned.
///
/// Without validation records a tenth of the records is held out by seed to choose by, and the parameters are fitted
/// to all of them. Every training record is possible; in an open world every world is.
///
/// Cost: linear in the distinct records times variables times classes, and in the square of the variables.
///
/// ```
/// use slopp::learn::{World, merged};
/// let records = slopp::data::Truth::configurations().sample(500, 1);
/// let learned = merged::learn(&records, None, &merged::Config::new(World::Open), &())?;
/// assert!(learned.psdd.vtree().is_right_linear());
/// assert_eq!(learned.held_out, 50.0);
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub fn learn(
    train: &Records,
    valid: Option<&Records>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Learned, LearnError> {
    let variables = train.var_count();
    match &config.vtree {
        Some(vtree) => check(train, vtree)?,
        None if variables == 0 => return Err(LearnError::NoVariables),
        None if train.is_empty() => return Err(LearnError::NoRecords),
        None => check_complete(train)?,
    }
    config.check(variables)?;
    let parts = Parts::new(train, valid, config.seed)?;
    let (part, judge) = (parts.train(), parts.judge());
    if let Some(vtree) = config.vtree.as_ref().filter(|vtree| !vtree.is_right_linear()) {
        let all = general::Parts { all: train, train: part, judge };
        let learned = general::learn(&all, vtree, config, progress)?;
        return Ok(Learned { held_out: parts.held_out(), ..learned });
    }
    progress.begin("counting pairs", 1);
    let information = pair_information(part)?;
    let vtree = match &config.vtree {
        Some(vtree) => vtree.clone(),
        None => {
            let gathered = Gathered::new(train.names());
            let tree = ChowLiuTree::new(&gathered.information(&information));
            Arc::new(Vtree::right_linear_over(&gathered.order(gathered.along(&tree))))
        }
    };
    let order = vtree.vars(vtree.root());
    let between = |i: usize, j: usize| information.at(order[i].index(), order[j].index());
    let edges = spanning_tree(variables, between);
    let learner = Learner::new(part, judge.unwrap_or(part), order, config);
    let learner = Learner { judged_by_training: judge.is_none(), ..learner };
    let found = learner.search(&Tree { information: &between, edges: &edges }, progress);
    let mut layers = found.layers;
    if parts.is_divided() {
        let tally = layers.tally_records(train, order);
        layers.take_counts(&tally);
    }
    let chosen = if config.world == World::Closed { 0.0 } else { found.pseudocount };
    let pseudocount = config.pseudocount.unwrap_or(chosen);
    let psdd = export::psdd(&layers, &vtree, train, config.world, pseudocount)?;
    let (held_out, log_likelihood) = (parts.held_out(), found.log_likelihood);
    Ok(Learned { psdd, start: found.start, pseudocount, held_out, log_likelihood, history: found.history })
}

/// A search for the best structure along an order.
struct Learner<'a> {
    config: &'a Config,
    order: &'a [Var],
    view: View,
    judge: &'a Records,
    judged_by_training: bool,
    prior: Prior,
    /// `½ ln N`.
    unit: f64,
    max_elements: usize,
}

/// The best structure so far.
struct Found {
    layers: Layers,
    log_likelihood: f64,
    pseudocount: f64,
    start: Start,
    history: Vec<Look>,
}

impl<'a> Learner<'a> {
    fn new(train: &Records, judge: &'a Records, order: &'a [Var], config: &'a Config) -> Learner<'a> {
        let view = View::new(train, order);
        let values = (0..view.vars()).map(|position| view.values(position));
        Learner {
            config,
            order,
            prior: Prior::new(values, TYPICAL_PSEUDOCOUNT),
            view,
            judge,
            judged_by_training: false,
            unit: 0.5 * train.total().ln().max(1.0),
            max_elements: config.max_elements.unwrap_or(usize::MAX),
        }
    }

    fn search(&self, tree: &Tree<'_>, progress: &dyn Progress) -> Found {
        let usual = Start::usual(self.view.vars());
        let starts = if self.config.starts.is_empty() { &usual } else { &self.config.starts };
        progress.begin("merging classes", (starts.len() * self.view.vars()) as u64);
        let found: Vec<Found> = starts.par_iter().map(|&start| self.start(start, tree, progress)).collect();
        let better = |mut a: Found, b: Found| {
            let mut history = std::mem::take(&mut a.history);
            history.extend_from_slice(&b.history);
            let best = if b.log_likelihood > a.log_likelihood { b } else { a };
            Found { history, ..best }
        };
        let best = found.into_iter().reduce(better).expect("at least one start");
        progress.begin("copying shared nodes", 1);
        self.clones(best)
    }

    /// A start and its sweeps, merged further and further until they keep within the largest number of elements.
    fn start(&self, start: Start, tree: &Tree<'_>, progress: &dyn Progress) -> Found {
        let (mut classes, mut factor) = (self.config.max_classes, 1.0);
        let mut history = Vec::new();
        loop {
            let limits = grow::Limits {
                classes,
                per_class: match start {
                    Start::Tree => f64::NEG_INFINITY,
                    _ => factor * self.config.class_penalty * self.unit,
                },
                start: match start {
                    Start::Whole(penalty) => Start::Whole(factor * penalty),
                    Start::Window(penalty) => Start::Window(factor * penalty),
                    Start::Tree => Start::Tree,
                },
            };
            let quiet: &dyn Progress = &();
            let layers = grow::grow(&self.view, tree, limits, if factor == 1.0 { progress } else { quiet });
            let limits = sweep::Limits { classes, per_class: factor * self.config.sweep_penalty * self.unit };
            if let Some(found) = self.swept(layers, start, limits, &mut history) {
                return Found { history, ..found };
            }
            // With one class per layer there is one element for each variable but the last, and that is allowed.
            classes = classes * 2 / 3;
            factor *= 1.5;
        }
    }

    /// The best of a structure and its sweeps; `None` if all have too many elements.
    fn swept(&self, mut layers: Layers, start: Start, limits: sweep::Limits, history: &mut Vec<Look>) -> Option<Found> {
        let mut best: Option<Found> = None;
        let mut idle = 0;
        for sweep in 0..=self.config.sweeps {
            let stage = if sweep == 0 { Stage::Started(start) } else { Stage::Swept(sweep) };
            if sweep > 0 {
                layers = sweep::sweep(&self.view, &layers, limits, &self.prior);
            }
            let (log_likelihood, pseudocount) = self.judged(&layers);
            let elements = layers.elements();
            history.push(Look { stage, log_likelihood, elements });
            idle += 1;
            let better = best.as_ref().is_none_or(|best| log_likelihood > best.log_likelihood);
            if better && elements <= self.max_elements {
                let layers = layers.clone();
                best = Some(Found { layers, log_likelihood, pseudocount, start, history: Vec::new() });
                idle = 0;
            }
            if idle == PATIENCE[0] {
                break;
            }
        }
        best
    }

    /// The best on the way of cloning.
    fn clones(&self, mut best: Found) -> Found {
        let (cost, depth) = (self.config.clone_penalty * self.unit, self.config.clone_depth);
        if depth == 0 {
            return best;
        }
        let mut cloning = Cloning::new(&self.view, best.layers.clone(), cost, depth);
        let (mut steps, mut next, mut idle) = (0, 50, 0);
        while idle < PATIENCE[1] {
            let more = cloning.step(self.max_elements);
            steps += usize::from(more);
            if more && steps < next {
                continue;
            }
            next = steps + (steps / 8).max(50);
            let (log_likelihood, pseudocount) = self.judged(cloning.layers());
            best.history.push(Look { stage: Stage::Cloned(steps), log_likelihood, elements: cloning.elements() });
            idle += 1;
            if log_likelihood > best.log_likelihood {
                best = Found { layers: cloning.layers().clone(), log_likelihood, pseudocount, ..best };
                idle = 0;
            }
            if !more {
                break;
            }
        }
        best
    }

    /// The log-likelihood per record to be judged by, and the pseudocount that makes it best.
    fn judged(&self, layers: &Layers) -> (f64, f64) {
        let tally = layers.tally_records(self.judge, self.order);
        // Training records would always ask for the least smoothing, and a few others may.
        let typical = [TYPICAL_PSEUDOCOUNT];
        let is_typical = self.judged_by_training || self.judge.total() < FEW_JUDGES;
        let pseudocounts = if is_typical { &typical } else { &self.config.pseudocounts[..] };
        let judged = pseudocounts.iter().map(|&pseudocount| {
            let log_likelihood = layers.log_likelihood(&tally, &self.prior.weighing(pseudocount));
            (log_likelihood / self.judge.total(), pseudocount)
        });
        judged.reduce(|a, b| if b.0 > a.0 { b } else { a }).expect("at least one pseudocount")
    }
}
