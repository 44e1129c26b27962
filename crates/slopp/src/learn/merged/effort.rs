//! How much is tried: one order and one setting, several of both, or a teacher distilled to one model.

use super::bag::check_task;
use super::best::{Teacher, best};
use super::found::Found;
use super::left::{Left, Worth};
use super::{Config, Learned, find, order};
use crate::data::Records;
use crate::infer::{Distribution, QueryError};
use crate::learn::judge::Parts;
use crate::learn::learner::{Learner, Outcome, Task, VtreeUse};
use crate::learn::vtree::{ChowLiuTree, Gathered, pair_information};
use crate::learn::{LearnError, World, check};
use crate::progress::Progress;
use crate::var::Var;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// Random roots among the orders that are tried.
const ROOTS: usize = 6;

/// With more variables than this, linear arrangements cost more than they are worth, and only roots are tried.
const MANY_VARIABLES: usize = 300;

/// How many orders get a full run.
pub(super) const FULL_RUNS: usize = 2;

/// The largest number of classes, and what a copy must gain, of the full runs.
const GRID: [(usize, f64); 3] = [(32, 0.7), (64, 0.7), (48, 0.4)];

/// How much is tried; for a [bag](super::BagConfig::with_effort), how many models it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// One order, one setting: [`learn`](super::learn).
    #[default]
    Fast,
    /// Several orders and settings: [`balanced`].
    Balanced,
    /// A teacher, distilled to one model: [`best`].
    Best,
}

impl Effort {
    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Fast => "fast",
            Effort::Balanced => "balanced",
            Effort::Best => "best",
        }
    }
}

/// Merged SLoPP with an effort, as one of the learners.
#[derive(Clone, Debug, PartialEq)]
pub struct Slopp {
    /// The settings that are not tried.
    pub config: Config,
    /// How much is tried.
    pub effort: Effort,
}

/// The mean log-likelihood of records.
pub(crate) fn score(model: &dyn Distribution, records: &Records) -> Result<f64, QueryError> {
    let logs = model.log_likelihoods(records)?;
    Ok(logs.iter().zip(records.weights()).map(|(log, weight)| log * weight).sum::<f64>() / records.total())
}

/// Orders worth trying, the best of a quick run first.
pub(super) fn ranked_orders(
    train: &Records,
    judge: Option<&Records>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Vec<Vec<Var>>, LearnError> {
    let information = pair_information(train)?;
    let gathered = Gathered::new(train.names());
    let information = gathered.information(&information);
    let mut orders = match gathered.len(train.var_count()) > MANY_VARIABLES {
        true => order::depth_first_orders(&information, ROOTS, config.seed),
        false => order::candidates(&information, ROOTS, config.seed),
    };
    orders.insert(0, gathered.along(&ChowLiuTree::new(&information)));
    let mut orders: Vec<Vec<Var>> = orders.into_iter().map(|order| gathered.order(order)).collect();
    let mut seen = std::collections::HashSet::new();
    orders.retain(|order| seen.insert(order.clone()));
    progress.begin("trying orders", orders.len() as u64);
    let parts = Parts::new(train, judge, config.seed)?;
    let quick = |order: Vec<Var>| {
        let vtree = Some(Arc::new(Vtree::right_linear_over(&order)));
        let max_classes = config.max_classes.min(32);
        let config = Config { vtree, max_classes, sweeps: 1, clone_depth: 0, ..config.clone() };
        let log_likelihood = find(&parts, &config, &())?.log_likelihood;
        progress.advance(1);
        Ok((log_likelihood, order))
    };
    let mut tried: Vec<(f64, Vec<Var>)> = orders.into_par_iter().map(quick).collect::<Result<_, LearnError>>()?;
    tried.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(tried.into_iter().map(|(_, order)| order).collect())
}

/// Merged SLoPP with several orders and settings; the quick run of each order, then the full one of the best with each
/// setting, and what explains the validation records best is kept.
///
/// They are judged by what is left of them: given that every column has one value, and in a closed world without what no
/// record uses, where no choice makes more validation records impossible than [`learn`](super::learn) does. A vtree that
/// is given is the only one that is tried. Without validation records a tenth of the records is held out by seed, the same
/// for all. The same bytes for a seed on any number of threads.
pub fn balanced(
    train: &Records,
    valid: Option<&Records>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Learned, LearnError> {
    check_task(train, valid)?;
    config.check(train.var_count())?;
    let parts = Parts::new(train, valid, config.seed)?;
    let (part, judge) = (parts.train(), parts.judge());
    let vtrees = match &config.vtree {
        Some(vtree) => vec![vtree.clone()],
        None => {
            let orders = ranked_orders(part, judge, config, progress)?;
            orders.iter().take(FULL_RUNS).map(|order| Arc::new(Vtree::right_linear_over(order))).collect()
        }
    };
    full_runs(part, judge, &vtrees, config, progress)?.0.learned(&parts, config)
}

/// The best structure of all settings on these vtrees, by what is left of it, and what that is worth.
pub(super) fn full_runs(
    train: &Records,
    judge: Option<&Records>,
    vtrees: &[Arc<Vtree>],
    config: &Config,
    progress: &dyn Progress,
) -> Result<(Found, Worth), LearnError> {
    // What the given settings make on the order of the fast effort comes first: never worse by validation.
    let mut configs = vec![config.clone()];
    for vtree in vtrees {
        for (max_classes, clone_penalty) in GRID {
            // Another largest number of classes than the usual one was asked for.
            let asked = config.capped || config.max_classes != Config::new(config.world).max_classes;
            let max_classes = if asked { config.max_classes } else { max_classes };
            configs.push(Config { vtree: Some(vtree.clone()), max_classes, clone_penalty, ..config.clone() });
        }
    }
    progress.begin("learning with several settings", configs.len() as u64);
    let parts = Parts::new(train, judge, config.seed)?;
    let left = Left::new(train, judge.unwrap_or(train), config);
    let full = |config: Config| {
        let found = find(&parts, &config, &())?;
        let worth = found.worth(&left, train, &config)?;
        progress.advance(1);
        Ok((found, worth))
    };
    let found: Vec<(Found, Worth)> = configs.into_par_iter().map(full).collect::<Result<_, LearnError>>()?;
    let better = |a: (Found, Worth), b: (Found, Worth)| if b.1.is_better_than(&a.1) { b } else { a };
    Ok(found.into_iter().reduce(better).expect("at least one setting"))
}

impl Learner for Slopp {
    fn name(&self) -> &'static str {
        "slopp"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.config.settings();
        settings.iter_mut().filter(|(name, _)| *name == "effort").for_each(|(_, value)| {
            *value = self.effort.name().to_owned();
        });
        // Clones, and students, add to them.
        if self.effort == Effort::Best && !self.config.capped {
            let classes = settings.iter_mut().filter(|(name, _)| *name == "max_classes");
            classes.for_each(|(_, value)| *value = format!("starts with {value}"));
        }
        settings
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn max_elements(&self) -> Option<usize> {
        self.config.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        let config = Config { max_elements: Some(max_elements), ..self.config.clone() };
        Some(Box::new(Slopp { config, ..self.clone() }))
    }

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let config = self.config.for_task(task);
        config.vtree.as_ref().map_or(Ok(()), |vtree| check(task.train, vtree))?;
        match self.effort {
            Effort::Fast => config.learn(task, progress),
            Effort::Balanced => Ok(balanced(task.train, task.valid, &config, progress)?.outcome()),
            Effort::Best => {
                let best = best(task.train, task.valid, &config, progress)?;
                let teacher = match best.teacher {
                    Teacher::None => "none",
                    Teacher::LearnPsdd => "none, by learnpsdd",
                    Teacher::Bag => "bag",
                    Teacher::LearnSpn => "learnspn",
                };
                let taught = matches!(best.teacher, Teacher::Bag | Teacher::LearnSpn) && config.world == World::Open;
                let prior = if taught { "strength" } else { "pseudocount" };
                let chosen = vec![
                    ("teacher", teacher.to_owned()),
                    ("held_out", best.held_out.to_string()),
                    (prior, best.pseudocount.to_string()),
                ];
                Ok(Outcome { chosen, ..Outcome::new(best.psdd, best.pseudocount) })
            }
        }
    }
}
