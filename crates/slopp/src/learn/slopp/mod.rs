//! SLoPP with merged classes: a certified PSDD whose nodes are shared, on a right-linear vtree that it learns, or on any
//! that is given.
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
//! tells their primes apart allows it (`scopes.rs`); LearnPSDD's operations take the place of sweeps and clones. Where only
//! few elements are allowed, a Chow-Liu tree on its own vtree, refined by them, is tried too.

mod agglomerate;
mod chosen;
mod clones;
mod config;
mod export;
mod forest;
mod general;
mod grow;
mod layers;
pub mod order;
mod plan;
mod scopes;
mod search;
mod surrogate;
mod sweep;
mod view;

pub(super) use self::chosen::Chosen;
pub use self::config::{Effort, SloppConfig, Start};

use self::chosen::Classes;
use self::forest::{Edges, Forest};
use self::grow::Tree;
use self::search::Search;
use super::LearnError;
use super::error::{check, check_records};
use super::task::Task;
use super::vtree::{ChowLiuTree, Gathered, pair_information, spanning_tree};
use crate::circuit::Psdd;
use crate::progress::Progress;
use crate::vtree::Vtree;
use std::sync::Arc;

/// The weight of the prior while structures are compared by the training records.
const TYPICAL_PSEUDOCOUNT: f64 = 2.0;

/// Up to so many variables the information of all pairs is laid out in lines, which takes twice the memory, 128 MB here.
const DENSE: usize = 4096;

/// What a step of learning was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// A structure was started.
    Started(Start),
    /// It was swept; this is the number of the sweep.
    Swept(usize),
    /// This many edges had been given their own copies.
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
pub struct LearnedSlopp {
    /// The PSDD.
    pub psdd: Psdd,
    /// The start that was best; [`Start::NOTHING`] for independent variables.
    pub start: Start,
    /// The weight of the prior in records that was best, or that was given.
    pub pseudocount: f64,
    /// The weight of the records that were held out to choose by; zero where validation records were given, or records
    /// are so few that the training records had to do.
    pub held_out: f64,
    /// The log-likelihood per record of those it was chosen by, before parameters were fitted to all records.
    pub log_likelihood: f64,
    /// All looks, in the order of the starts, then of the clones.
    pub history: Vec<Look>,
}

/// SLoPP with merged classes in an open world: a certified PSDD, on the vtree that is given, or on one that is learned. That
/// is a right-linear one, except that where few elements are allowed ([`SloppConfig::max_elements`]) it may be that of the
/// Chow-Liu tree. [`Slopp`](super::Slopp) is the learner, which also keeps to a [`Support`](super::Support).
///
/// Without validation records a tenth of the records is held out by seed to choose by, and the parameters are fitted
/// to all of them.
///
/// Cost: linear in the distinct records times variables times classes, and in the square of the variables.
///
/// ```
/// use slopp::learn::{SloppConfig, Task, slopp::learn};
/// let records = slopp::example::Truth::configurations().sample(500, 1);
/// let learned = learn(&Task::new(&records), &SloppConfig::default(), &())?;
/// assert!(learned.psdd.vtree().is_right_linear());
/// assert_eq!(learned.held_out, 50.0);
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub fn learn(task: &Task, config: &SloppConfig, progress: &dyn Progress) -> Result<LearnedSlopp, LearnError> {
    find(task, config, progress)?.learned(task, config)
}

/// The structure that explains the records to choose by best.
pub(super) fn find(task: &Task, config: &SloppConfig, progress: &dyn Progress) -> Result<Chosen, LearnError> {
    let (train, variables) = (task.train, task.train.var_count());
    match task.vtree {
        Some(vtree) => check(train, vtree)?,
        None => check_records(train)?,
    }
    config.check(variables, task.support)?;
    let parts = &task.parts()?;
    let (part, judge) = (parts.train(), parts.judge());
    if let Some(vtree) = task.vtree.filter(|vtree| !vtree.is_right_linear()) {
        return general::find(parts, vtree, config, progress);
    }
    progress.begin("counting pairs", 1);
    let information = pair_information(part)?;
    let vtree = match task.vtree {
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
    let mended = mended(&edges, variables, between);
    let search = Search::new(part, judge, order, config);
    let found = search.run(&Tree { information: &between, edges: &edges, mended: &mended }, progress);
    let search::Candidate { layers, log_likelihood, pseudocount, start, history } = found;
    let found = Chosen { classes: Classes::Layers(layers, vtree.clone()), start, pseudocount, log_likelihood, history };
    match task.vtree {
        Some(_) => Ok(found),
        None => found.or(general::find_small(parts, config, progress)?, task, config),
    }
}

/// What takes the place of each position in the tree of those behind it.
fn mended(edges: &[(usize, usize)], len: usize, between: impl Fn(usize, usize) -> f64) -> Vec<Edges> {
    let edges = edges.iter().copied();
    if len > DENSE {
        return Forest::new(len, edges, between).mended();
    }
    // Looked at along its lines again and again: these must not be spread over all of the memory.
    let lines: Vec<f64> = (0..len * len).map(|at| between(at / len, at % len)).collect();
    Forest::new(len, edges, |i: usize, j: usize| lines[i * len + j]).mended()
}
