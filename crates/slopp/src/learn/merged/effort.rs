//! How much is tried: one order and one setting, several of both, or a teacher distilled to one model.

use super::bag::{BagConfig, bag_along, check_task};
use super::distil::{DistilConfig, Distilled, distil, synthetic};
use super::{Config, Learned, check_right_linear, held_out, learn, order};
use crate::circuit::Psdd;
use crate::data::Records;
use crate::infer::{Distribution, QueryError};
use crate::learn::learner::{Learner, Outcome, Task, VtreeUse};
use crate::learn::vtree::{ChowLiuTree, Gathered, pair_information};
use crate::learn::{LearnError, World, learnspn};
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
const FULL_RUNS: usize = 2;

/// The largest number of classes, and what a copy must gain, of the full runs.
const GRID: [(usize, f64); 3] = [(32, 0.7), (64, 0.7), (48, 0.4)];

/// Models of the bag that is the teacher.
const TEACHERS: usize = 24;

/// Synthetic records for each real one: at least, and at most where records are few.
const SYNTHETIC: [f64; 2] = [6.0, 60.0];

/// Synthetic records that are enough where records are few, and that are never exceeded.
const ENOUGH: [f64; 2] = [80_000.0, 600_000.0];

/// How much is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// One order, one setting: [`learn`].
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

/// What the result of [`best`] was learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teacher {
    /// The records alone: nothing distilled was better.
    None,
    /// A bag.
    Bag,
    /// A sum-product network of LearnSPN.
    LearnSpn,
}

/// What [`best`] learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The PSDD.
    pub psdd: Psdd,
    /// Where it comes from.
    pub teacher: Teacher,
    /// The log-likelihood per record of those it was chosen by.
    pub log_likelihood: f64,
    /// The weight of the prior in the refit to the real records, if that was best.
    pub strength: Option<f64>,
    /// The weight of the records that were held out to choose by.
    pub held_out: f64,
}

/// The mean log-likelihood of records.
pub(super) fn score(model: &dyn Distribution, records: &Records) -> Result<f64, QueryError> {
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
    let quick = |order: Vec<Var>| {
        let vtree = Some(Arc::new(Vtree::right_linear_over(&order)));
        let max_classes = config.max_classes.min(32);
        let config = Config { vtree, max_classes, sweeps: 1, clone_depth: 0, ..config.clone() };
        let learned = learn(train, judge, &config, &())?;
        progress.advance(1);
        Ok((learned.log_likelihood, order))
    };
    let mut tried: Vec<(f64, Vec<Var>)> = orders.into_par_iter().map(quick).collect::<Result<_, LearnError>>()?;
    tried.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(tried.into_iter().map(|(_, order)| order).collect())
}

/// Merged SLoPP with several orders and settings; the quick run of each order, then the full one of the best with each
/// setting, and what explains the validation records best is kept.
///
/// A vtree that is given is the only one that is tried. Without validation records a tenth of the records is held out
/// by seed, the same for all. The same bytes for a seed on any number of threads.
pub fn balanced(
    train: &Records,
    valid: Option<&Records>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Learned, LearnError> {
    check_task(train, valid)?;
    config.check(train.var_count())?;
    let vtrees = match &config.vtree {
        Some(vtree) => vec![vtree.clone()],
        None => {
            let orders = ranked_orders(train, valid, config, progress)?;
            orders.iter().take(FULL_RUNS).map(|order| Arc::new(Vtree::right_linear_over(order))).collect()
        }
    };
    full_runs(train, valid, &vtrees, config, progress)
}

fn full_runs(
    train: &Records,
    valid: Option<&Records>,
    vtrees: &[Arc<Vtree>],
    config: &Config,
    progress: &dyn Progress,
) -> Result<Learned, LearnError> {
    // What the given settings make on the order of the fast effort is among them: never worse by validation.
    let mut configs = vec![config.clone()];
    for vtree in vtrees {
        for (max_classes, clone_penalty) in GRID {
            // Another largest number of classes than the usual one was asked for.
            let asked = config.max_classes != Config::new(config.world).max_classes;
            let max_classes = if asked { config.max_classes } else { max_classes };
            configs.push(Config { vtree: Some(vtree.clone()), max_classes, clone_penalty, ..config.clone() });
        }
    }
    progress.begin("learning with several settings", configs.len() as u64);
    let full = |config: Config| {
        let learned = learn(train, valid, &config, &())?;
        progress.advance(1);
        Ok(learned)
    };
    let learned: Vec<Learned> = configs.into_par_iter().map(full).collect::<Result<_, LearnError>>()?;
    let better = |a: Learned, b: Learned| if b.log_likelihood > a.log_likelihood { b } else { a };
    Ok(learned.into_iter().reduce(better).expect("at least one setting"))
}

/// The best single PSDD: a bag, and LearnSPN where it explains the validation records better, are distilled, unless what
/// [`balanced`] learns from the records alone explains the validation records better.
///
/// Without validation records a tenth of the records is held out by seed, and the parameters are fitted to all records
/// at the end. Open worlds only: a teacher's records are not what was seen. The same bytes for a seed on any number of
/// threads.
pub fn best(
    train: &Records,
    valid: Option<&Records>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Best, LearnError> {
    check_task(train, valid)?;
    config.check(train.var_count())?;
    if config.world == World::Closed {
        let expected = "fast or balanced in a closed world, where only what was seen is possible";
        return Err(LearnError::Setting { name: "effort", value: "best".to_owned(), expected });
    }
    let valid = valid.filter(|valid| !valid.is_empty());
    let parts = if valid.is_none() { held_out(train, config.seed) } else { None };
    let (part, judge) = match (&parts, valid) {
        (Some((part, held)), _) => (part, held),
        (None, Some(valid)) => (train, valid),
        (None, None) => {
            // Too few records to choose anything by.
            let Learned { psdd, log_likelihood, held_out, .. } = balanced(train, None, config, progress)?;
            return Ok(Best { psdd, teacher: Teacher::None, log_likelihood, strength: None, held_out });
        }
    };
    let orders = ranked_orders(part, Some(judge), config, progress)?;
    let vtrees: Vec<Arc<Vtree>> = match &config.vtree {
        Some(vtree) => vec![vtree.clone()],
        None => orders.iter().take(FULL_RUNS).map(|order| Arc::new(Vtree::right_linear_over(order))).collect(),
    };
    let alone = full_runs(part, Some(judge), &vtrees, config, progress)?;
    // The teacher may be on any vtree, and of any size.
    let model = Config { vtree: None, max_elements: None, ..config.clone() };
    let bag = BagConfig { members: TEACHERS, ..BagConfig::new(model) };
    let bag = bag_along(part, Some(judge), &bag, &orders, progress)?.mixture;
    progress.begin("learning a sum-product network", 1);
    let settings: Vec<learnspn::Config> =
        learnspn::Config::grid().into_iter().map(|spn| learnspn::Config { seed: config.seed, ..spn }).collect();
    let networks =
        settings.par_iter().map(|spn| learnspn::learn(part, Some(judge), spn, &()).map(|learned| learned.spn));
    let networks: Vec<_> = networks.collect::<Result<_, LearnError>>()?;
    // The better teacher need not have the better student, so the bag is always heard.
    let mut teachers: Vec<(&dyn Distribution, Teacher)> = vec![(&bag, Teacher::Bag)];
    let mut highest = score(&bag, judge)?;
    for spn in &networks {
        let log_likelihood = score(spn, judge)?;
        if log_likelihood > highest {
            highest = log_likelihood;
            teachers.truncate(1);
            teachers.push((spn, Teacher::LearnSpn));
        }
    }
    let total = part.total();
    let count = (SYNTHETIC[0] * total).max((SYNTHETIC[1] * total).min(ENOUGH[0])).min(ENOUGH[1]);
    let mut lessons: Vec<(Teacher, Arc<Records>, &Arc<Vtree>)> = Vec::new();
    for (teacher, kind) in teachers {
        let drawn = Arc::new(synthetic(teacher, part, count.ceil() as usize, config.seed)?);
        lessons.extend(vtrees.iter().map(|vtree| (kind, drawn.clone(), vtree)));
    }
    progress.begin("distilling", lessons.len() as u64);
    let students = lessons.par_iter().map(|(kind, drawn, vtree)| {
        let settings = DistilConfig::new(Config { vtree: Some((*vtree).clone()), ..config.clone() });
        let student = distil(part, drawn, judge, &settings, &())?;
        progress.advance(1);
        Ok((*kind, student))
    });
    let students: Vec<(Teacher, Distilled)> = students.collect::<Result<_, LearnError>>()?;
    let better = |a: (Teacher, Distilled), b: (Teacher, Distilled)| match b.1.log_likelihood > a.1.log_likelihood {
        true => b,
        false => a,
    };
    let (teacher, student) = students.into_iter().reduce(better).expect("at least one vtree");
    let held_out = parts.as_ref().map_or(0.0, |(_, held)| held.total());
    let mut best = match student.log_likelihood > alone.log_likelihood {
        true => Best {
            psdd: student.psdd,
            teacher,
            log_likelihood: student.log_likelihood,
            strength: Some(student.strength),
            held_out,
        },
        false => Best {
            psdd: alone.psdd,
            teacher: Teacher::None,
            log_likelihood: alone.log_likelihood,
            strength: None,
            held_out,
        },
    };
    if parts.is_some() {
        // Held-out records come in last, with what was learned without them as the prior.
        let counts = crate::infer::count_shares(&best.psdd, 1, train, train.weights()).counts.swap_remove(0);
        let strength = best.strength.unwrap_or(alone.pseudocount).max(f64::MIN_POSITIVE);
        best.psdd = best.psdd.with_estimates_towards(counts, strength)?.certify()?;
    }
    Ok(best)
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
        settings
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let vtree = task.vtree.cloned().or_else(|| self.config.vtree.clone());
        vtree.as_ref().map_or(Ok(()), |vtree| check_right_linear(task.train, vtree))?;
        let config = Config { vtree, seed: task.seed, ..self.config.clone() };
        match self.effort {
            Effort::Fast => config.learn(task, progress),
            Effort::Balanced => {
                let learned = balanced(task.train, task.valid, &config, progress)?;
                let chosen = vec![
                    ("start", learned.start.to_string()),
                    ("pseudocount", learned.pseudocount.to_string()),
                    ("held_out", learned.held_out.to_string()),
                ];
                Ok(Outcome { chosen, ..Outcome::new(learned.psdd) })
            }
            Effort::Best => {
                let best = best(task.train, task.valid, &config, progress)?;
                let teacher = match best.teacher {
                    Teacher::None => "none",
                    Teacher::Bag => "bag",
                    Teacher::LearnSpn => "learnspn",
                };
                let mut chosen = vec![("teacher", teacher.to_owned()), ("held_out", best.held_out.to_string())];
                chosen.extend(best.strength.map(|strength| ("strength", strength.to_string())));
                Ok(Outcome { chosen, ..Outcome::new(best.psdd) })
            }
        }
    }
}
