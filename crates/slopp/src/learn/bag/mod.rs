//! A bag: a mixture of SLoPP models.
//!
//! Each model of a bag learns from a bootstrap of the records (as many, drawn with replacement) along an order of its
//! own, so what is noise in the choice of one is averaged away by the others.

mod joined;

use self::joined::joined;
use super::LearnError;
use super::error::{check_records, check_validation};
use super::judge::score;
use super::mixture::MAX_COMPONENTS;
use super::slopp::{Effort, Slopp, learn, ranked_orders};
use super::slopp_em::{SloppEm, divide_all};
use super::structure::{Prior, Report, Structure};
use super::support::Support;
use super::task::{Learner, Task, VtreeUse};
use super::vtree::{ChowLiuTree, Gathered, pair_information};
use crate::certified::Certified;
use crate::data::{Records, RecordsBuilder};
use crate::mixture::Mixture;
use crate::progress::Progress;
use crate::random::Random;
use crate::var::Var;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// How many steps the weights of a bag are fitted for at most.
const WEIGHT_STEPS: usize = 300;

/// The orders, by validation, that members of a bag share among them.
const GOOD_ORDERS: usize = 5;

/// A mixture of SLoPP models, each learned from a bootstrap of the records along an order of its own, as a [`Learner`].
#[derive(Clone, Debug, PartialEq)]
pub struct SloppBag {
    /// How each model is learned; where a vtree is given, all are on that one.
    pub model: Slopp,
    /// How many models.
    pub members: usize,
    /// Whether each model may be divided into components by expectation maximisation.
    pub divide: bool,
}

impl Default for SloppBag {
    fn default() -> SloppBag {
        SloppBag::new(Slopp::default())
    }
}

impl SloppBag {
    /// Sixteen models, each learned with these settings.
    pub fn new(model: Slopp) -> SloppBag {
        SloppBag::with_effort(model, Effort::Fast)
    }

    /// As many models as the effort is worth: 16, 32 or 64.
    pub fn with_effort(model: Slopp, effort: Effort) -> SloppBag {
        let members = match effort {
            Effort::Fast => 16,
            Effort::Balanced => 32,
            Effort::Best => 64,
        };
        SloppBag { model, members, divide: true }
    }
}

/// What a bag came to.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedBag {
    /// The models and their weights.
    pub mixture: Mixture,
    /// Whether every model was divided into components.
    pub divided: bool,
    /// The weight of a model in each component that it was divided into, in records; `None` if models are whole.
    pub pseudocount: Option<f64>,
    /// Whether the weights are fitted; otherwise they are equal, except that models without weight are left out.
    pub fitted: bool,
    /// The weight of the records that were held out to choose by.
    pub held_out: f64,
}

/// A model of a bag before it is divided.
pub(super) struct Member {
    pub(super) model: Certified,
    /// The weight of the prior that it was learned with.
    pub(super) pseudocount: f64,
}

/// A mixture of models, each learned from a bootstrap of the records along an order of its own.
///
/// Each model is divided into components that share its structure, by expectation maximisation over all records, if that
/// explains the validation records better. Weights are fitted to the validation records if that explains the other half
/// of them better than equal weights do, whichever half is fitted to. Without validation records a tenth of the records is
/// held out by seed, and the parameters are fitted to all in the end, smoothed as was chosen. A pseudocount that is given is
/// the weight of the prior in every model, and of a model in the components it is divided into. The same bytes for a seed
/// on any number of threads, which share the models among them.
///
/// ```
/// use slopp::learn::{SloppBag, Task, bag};
/// let records = slopp::example::Truth::configurations().sample(300, 1);
/// let bag = bag(&Task::new(&records), &SloppBag { members: 3, ..SloppBag::default() }, &())?;
/// assert!(bag.divided || bag.mixture.component_count() <= 3);
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub fn bag(task: &Task, config: &SloppBag, progress: &dyn Progress) -> Result<LearnedBag, LearnError> {
    check_records(task.train)?;
    check_validation(task.train, task.valid)?;
    let parts = task.parts()?;
    // A model must not rule out what its bootstrap left out, so each has some prior.
    let pseudocount =
        config.model.pseudocount.filter(|&pseudocount| !task.support.world.is_all_closed() || pseudocount > 0.0);
    let config = &SloppBag { model: Slopp { pseudocount, ..config.model.clone() }, ..config.clone() };
    let on_part = Task { train: parts.train(), valid: parts.judge(), support: Support::open(), ..*task };
    let orders = match task.vtree {
        Some(_) => Vec::new(),
        None => ranked_orders(&on_part, &config.model, progress)?,
    };
    let (mut bag, members) = bag_along(&on_part, config, &orders, progress)?;
    // A model has seen its bootstrap, and not what was held out.
    if parts.is_divided() || parts.judge().is_none() {
        bag.mixture = joined(&bag.mixture, &members, bag.pseudocount, task.train)?;
    }
    Ok(LearnedBag { held_out: parts.held_out(), ..bag })
}

/// A bag of which every other model is along one of the best of these orders, and its models as they were learned.
pub(super) fn bag_along(
    task: &Task,
    config: &SloppBag,
    orders: &[Vec<Var>],
    progress: &dyn Progress,
) -> Result<(LearnedBag, Vec<Member>), LearnError> {
    let Task { train, valid: judge, seed, .. } = *task;
    if !(1..=MAX_COMPONENTS).contains(&config.members) {
        let (name, value) = ("components", config.members.to_string());
        return Err(LearnError::Setting { name, value, expected: "at least 1 and at most 4096".into() });
    }
    progress.begin("learning a bag of models", config.members as u64);
    let member = |index: usize| -> Result<Member, LearnError> {
        let mut random = Random::stream(seed, index as u64 + 1);
        let drawn = bootstrap(train, &mut random);
        let vtree = match task.vtree {
            Some(vtree) => vtree.clone(),
            None => Arc::new(Vtree::right_linear_over(&own_order(index, &drawn, orders, &mut random)?)),
        };
        let task = Task { train: &drawn, vtree: Some(&vtree), seed: random.bits(), ..*task };
        let learned = learn(&task, &config.model, &())?;
        progress.advance(1);
        Ok(Member { model: learned.psdd.into(), pseudocount: learned.pseudocount })
    };
    let members: Vec<Member> = (0..config.members).into_par_iter().map(member).collect::<Result<_, _>>()?;
    let models = members.iter().map(|member| member.model.clone());
    let mut mixture = Mixture::uniform(models).expect("at least one model, all over the same variables");
    let bag = |mixture, pseudocount: Option<f64>, fitted| LearnedBag {
        mixture,
        divided: pseudocount.is_some(),
        pseudocount,
        fitted,
        held_out: 0.0,
    };
    let Some(judge) = judge else { return Ok((bag(mixture, None, false), members)) };
    let mut chosen = None;
    if config.divide {
        let mut em = SloppEm::new(config.model.clone());
        if let Some(given) = config.model.pseudocount {
            em.grid.pseudocounts = vec![given];
        }
        let (parts, pseudocount) = divide_all(mixture.components(), train, judge, &em, seed, progress)?;
        if score(&parts, judge)? > score(&mixture, judge)? {
            (mixture, chosen) = (parts, Some(pseudocount));
        }
    }
    let (mixture, fitted) = weighed(mixture, judge, seed)?;
    Ok((bag(mixture, chosen, fitted), members))
}

/// The best orders in turn for even models; depth-first from anywhere in the tree of their own records for odd ones.
fn own_order(index: usize, drawn: &Records, orders: &[Vec<Var>], random: &mut Random) -> Result<Vec<Var>, LearnError> {
    let good = &orders[..orders.len().min(GOOD_ORDERS)];
    if index.is_multiple_of(2) && !good.is_empty() {
        return Ok(good[index / 2 % good.len()].clone());
    }
    let gathered = Gathered::new(drawn.names());
    let tree = ChowLiuTree::new(&gathered.information(&pair_information(drawn)?));
    let root = Var(random.below(tree.var_count()) as u32);
    Ok(gathered.order(tree.rooted_at(root).depth_first()))
}

/// Weights that are fitted, if half of the records say so of the other half.
fn weighed(uniform: Mixture, judge: &Records, seed: u64) -> Result<(Mixture, bool), LearnError> {
    let Ok(halves) = judge.split(&[0.5, 0.5], seed) else { return Ok((uniform, false)) };
    let [a, b] = &halves[..] else { return Ok((uniform, false)) };
    if a.is_empty() || b.is_empty() {
        return Ok((uniform, false));
    }
    let mut gain = 0.0;
    for (fit, other) in [(a, b), (b, a)] {
        let fitted = uniform.fit_weights(fit, WEIGHT_STEPS)?;
        gain += other.total() * (score(&fitted, other)? - score(&uniform, other)?);
    }
    // In a closed world both may be minus infinity, and equal weights lose no record.
    if gain > 0.0 { Ok((uniform.fit_weights(judge, WEIGHT_STEPS)?, true)) } else { Ok((uniform, false)) }
}

/// As many records, drawn with replacement.
fn bootstrap(records: &Records, random: &mut Random) -> Records {
    let mut sums = Vec::with_capacity(records.len());
    let mut sum = 0.0;
    for weight in records.weights() {
        sum += weight;
        sums.push(sum);
    }
    // Weights may be fractions or huge: the number drawn stays within reason, and the total is the same.
    let draws = sum.round().clamp(1.0, MAX_DRAWS);
    let mut times = vec![0u32; records.len()];
    for _ in 0..draws as usize {
        let at = random.unit() * sum;
        times[sums.partition_point(|&end| end <= at).min(records.len() - 1)] += 1;
    }
    let mut builder = RecordsBuilder::new(records.names().clone());
    for (row, &times) in times.iter().enumerate().filter(|(_, times)| **times > 0) {
        builder.push_words(records.rows().line(row), f64::from(times) * sum / draws);
    }
    builder.finish()
}

/// The most draws of a bootstrap.
const MAX_DRAWS: f64 = 4e6;

impl Learner for SloppBag {
    fn name(&self) -> &'static str {
        "slopp-bag"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.model.structure_settings();
        settings.push(("members", self.members.to_string()));
        settings.extend((!self.divide).then(|| ("divide", "never".to_owned())));
        settings
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn max_elements(&self) -> Option<usize> {
        self.model.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        Some(Box::new(SloppBag { model: self.model.with_max_elements(max_elements), ..self.clone() }))
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        let bag = bag(task, self, progress)?;
        let weights = if bag.fitted { "fitted" } else { "equal" };
        let models = if bag.divided { "divided" } else { "whole" };
        let mut chosen = vec![("models", models.to_owned()), ("weights", weights.to_owned())];
        chosen.extend(bag.pseudocount.map(|pseudocount| ("mixture_pseudocount", pseudocount.to_string())));
        let report = Report { divided: bag.divided.then_some(self.members), ..Report::default() };
        Ok(Structure { chosen, report, ..Structure::new(bag.mixture, Prior::NONE) }.holding_out(bag.held_out))
    }
}
