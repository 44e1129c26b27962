//! A bag: a mixture of SLoPP models.
//!
//! Each model of a bag learns from a bootstrap of the records (as many, drawn with replacement) along its own order.
//! Averaging over the models removes the noise in each single choice.

use super::LearnError;
use super::error::{check_range, check_records, check_validation, in_digits};
use super::judge::{Possible, score};
use super::mixture::{MAX_COMPONENTS, MixtureGrid, Point, STOP, Training, divide};
use super::refine::refit;
use super::slopp::{Effort, Slopp, learn, ranked_vtrees};
use super::structure::{Prior, Report, Structure};
use super::support::Support;
use super::task::{Learner, Task, VtreeUse};
use super::vtree::{ChowLiuTree, Columns};
use crate::certified::Certified;
use crate::data::{Records, RecordsBuilder};
use crate::infer::count_shares;
use crate::limits::Limits;
use crate::logspace::log_sum;
use crate::mixture::{Mixture, posterior};
use crate::progress::Progress;
use crate::random::Random;
use crate::var::Var;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// The largest number of steps to fit the weights of a bag.
const WEIGHT_STEPS: usize = 300;

/// How many of the best orders the members of a bag take in turn.
const GOOD_ORDERS: usize = 5;

/// A mixture of SLoPP models as a [`Learner`]: each learns from a bootstrap of the records along its own order.
///
/// If it explains the validation records better, expectation maximisation over all records divides each model into
/// components that share its structure. Weights are fitted to the validation records if weights fitted to one half
/// explain the other half better than equal weights do. Without validation records the learner holds out a tenth of the
/// records by seed, and in the end fits the parameters to all records with the chosen smoothing. A given pseudocount is
/// the weight of the prior in every model, and of a model in its components.
///
/// ```
/// use slopp::learn::{SloppBag, Task};
/// let records = slopp::example::Truth::configurations().sample(300, 1);
/// let bag = Task::new(&records).learn(&SloppBag { members: 3, ..SloppBag::default() }, &())?;
/// assert!(["whole", "divided"].contains(&&*bag.model.origin["models"]));
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SloppBag {
    /// How each model is learned; if a vtree is given, all use it.
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

    /// 16, 32 or 64 models, by effort.
    pub(crate) fn with_effort(model: Slopp, effort: Effort) -> SloppBag {
        let members = match effort {
            Effort::Fast => 16,
            Effort::Balanced => 32,
            Effort::Best => 64,
        };
        SloppBag { model, members, divide: true }
    }
}

/// A learned bag.
pub(super) struct Bag {
    /// The models and their weights.
    pub(super) mixture: Mixture,
    /// The models as they were learned.
    members: Vec<Member>,
    /// The weight of a model in each of its components, in records; `None` if models are whole.
    divided: Option<f64>,
    /// Whether the weights are fitted; otherwise they are equal.
    fitted: bool,
}

/// A model of a bag before it is divided.
struct Member {
    model: Certified,
    /// The weight of the prior that it was learned with.
    pseudocount: f64,
}

/// A bag in which every other model is on one of the best of these vtrees.
pub(super) fn bag_along(
    task: &Task,
    config: &SloppBag,
    vtrees: &[Arc<Vtree>],
    progress: &dyn Progress,
) -> Result<Bag, LearnError> {
    let Task { train, valid: judge, seed, support: Support { limits, .. }, .. } = *task;
    check_range("components", config.members, 1..=MAX_COMPONENTS)?;
    progress.begin("learning a bag of models", config.members as u64);
    let member = |index: usize| -> Result<Member, LearnError> {
        let mut random = Random::stream(seed, index as u64 + 1);
        let drawn = bootstrap(train, &mut random);
        let vtree = match task.vtree {
            Some(vtree) => vtree.clone(),
            None => own_vtree(index, &drawn, vtrees, &mut random)?,
        };
        let task = Task { train: &drawn, vtree: Some(&vtree), seed: random.bits(), ..*task };
        let learned = learn(&task, &config.model, &())?;
        progress.advance(1);
        Ok(Member { model: learned.psdd.into(), pseudocount: learned.pseudocount })
    };
    let members: Vec<Member> = (0..config.members).into_par_iter().map(member).collect::<Result<_, _>>()?;
    let models = members.iter().map(|member| member.model.clone());
    let mut mixture = Mixture::uniform(models).expect("at least one model, all over the same variables");
    let Some(judge) = judge else { return Ok(Bag { mixture, members, divided: None, fitted: false }) };
    let mut divided = None;
    if config.divide {
        let usual = MixtureGrid::default();
        let pseudocounts = config.model.pseudocount.map_or(usual.pseudocounts, |given| vec![given]);
        let grid = MixtureGrid { pseudocounts, ..usual };
        let (parts, pseudocount) = divide_all(mixture.components(), train, judge, &grid, seed, limits, progress)?;
        if score(&parts, judge)? > score(&mixture, judge)? {
            (mixture, divided) = (parts, Some(pseudocount));
        }
    }
    let (mixture, fitted) = weighed(mixture, judge, seed)?;
    Ok(Bag { mixture, members, divided, fitted })
}

/// The models of a bag that are divided in every way before one way is chosen.
const CHOOSERS: usize = 4;

/// Divides every model at the grid point that is best for the mixture of the first few, and gives its pseudocount.
///
/// The point is not chosen per model: the mixture averages away what one model overfits.
fn divide_all(
    models: &[Certified],
    train: &Records,
    judge: &Records,
    grid: &MixtureGrid,
    seed: u64,
    limits: &Limits,
    progress: &dyn Progress,
) -> Result<(Mixture, f64), LearnError> {
    grid.check()?;
    let divided = |index: usize, point: Point| -> Result<Mixture, LearnError> {
        let seed = Random::stream(seed, index as u64).bits();
        let training = Training { records: train, judge: Some(judge), seed, limits };
        let mixture = divide(&models[index], training, point, &STOP, &())?.mixture;
        progress.advance(1);
        Ok(mixture)
    };
    let few = CHOOSERS.min(models.len());
    let steps = grid.points().len() * few + models.len() - few;
    progress.begin("dividing models into components", steps as u64);
    let whole = Mixture::uniform(models[..few].to_vec()).expect("models over the same variables");
    let judge_of_few = Possible::of(&whole, judge)?;
    let (point, mut parts) = grid.best(|point| {
        let parts = (0..few).into_par_iter().map(|index| divided(index, point)).collect::<Result<Vec<_>, _>>()?;
        let logs = parts.iter().map(|part| part.log_likelihoods(judge)).collect::<Result<Vec<_>, _>>()?;
        // The shares are equal, so they only add a constant.
        let logs: Vec<f64> = (0..judge.len()).map(|row| log_sum(logs.iter().map(|logs| logs[row]))).collect();
        Ok((judge_of_few.mean(&logs), parts))
    })?;
    let rest = (few..models.len()).into_par_iter().map(|index| divided(index, point));
    parts.extend(rest.collect::<Result<Vec<_>, _>>()?);
    Ok((mixed(parts), point.pseudocount))
}

/// One mixture of all components, with an equal share for each of these mixtures.
fn mixed(mixtures: Vec<Mixture>) -> Mixture {
    let share = 1.0 / mixtures.len() as f64;
    let parts = mixtures.into_iter().flat_map(|mixture| {
        let weights: Vec<f64> = mixture.weights().iter().map(|weight| share * weight).collect();
        weights.into_iter().zip(mixture.components().to_vec())
    });
    Mixture::new(parts).expect("the weights of each sum to its share")
}

/// The same structures and weights with parameters fitted to all records, with the chosen smoothing.
///
/// A whole model is fitted with its own pseudocount. The components of a divided model share the records, as in a step
/// of expectation maximisation, with that model as the prior.
fn joined(Bag { mixture, members, divided, .. }: &Bag, all: &Records, limits: &Limits) -> Result<Mixture, LearnError> {
    let (components, weights) = (mixture.components(), mixture.weights());
    let mut parts: Vec<(f64, Certified)> = Vec::with_capacity(components.len());
    while let Some(first) = components.get(parts.len()) {
        let start = parts.len();
        let is_first = |member: &&Member| member.model.same_structure(first);
        let member = members.iter().find(is_first).expect("every component has the structure of a model");
        let whole = refit(&member.model, all, member.pseudocount, limits)?;
        let &Some(pseudocount) = divided else {
            parts.push((weights[start], whole));
            continue;
        };
        let structure = whole.deterministic().map_err(|reason| LearnError::NotDeterministic(reason.clone()))?;
        let len = components[start..].iter().take_while(|other| structure.same_structure(other)).count();
        let group = start..start + len;
        let logs: Vec<Vec<f64>> =
            components[group.clone()].iter().map(|c| c.log_likelihoods(all)).collect::<Result<_, _>>()?;
        let mut shares = Vec::with_capacity(len * all.len());
        for (row, &weight) in all.weights().iter().enumerate() {
            let joint = logs.iter().zip(&weights[group.clone()]).map(|(l, w)| l[row] + w.ln()).collect();
            let posterior = posterior(joint).unwrap_or_else(|| vec![0.0; len]);
            shares.extend(posterior.into_iter().map(|share| weight * share));
        }
        let counts = count_shares(structure, len, all, &shares).counts;
        for (i, counts) in group.zip(counts) {
            let fitted = structure.with_estimates_towards(counts, pseudocount)?;
            parts.push((weights[i], whole.carry_over(fitted.without_counts(), limits)));
        }
    }
    Ok(Mixture::new(parts).expect("the same weights"))
}

/// The vtree of a model: even ones take the best vtrees in turn, odd ones go depth-first through the Chow-Liu tree of
/// their own records, from a random root.
fn own_vtree(
    index: usize,
    drawn: &Records,
    vtrees: &[Arc<Vtree>],
    random: &mut Random,
) -> Result<Arc<Vtree>, LearnError> {
    let good = &vtrees[..vtrees.len().min(GOOD_ORDERS)];
    if index.is_multiple_of(2) && !good.is_empty() {
        return Ok(good[index / 2 % good.len()].clone());
    }
    let columns = Columns::new(drawn.names());
    let tree = ChowLiuTree::new(&columns.information(drawn)?);
    let root = Var(random.below(tree.var_count()) as u32);
    Ok(Arc::new(columns.right_linear(&tree.rooted_at(root).depth_first())))
}

/// Fitted weights, if weights fitted to each half of the records explain the other half better.
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
    // In a closed world both may be minus infinity; equal weights lose no record.
    if gain > 0.0 { Ok((uniform.fit_weights(judge, WEIGHT_STEPS)?, true)) } else { Ok((uniform, false)) }
}

/// The same number of records, drawn with replacement.
fn bootstrap(records: &Records, random: &mut Random) -> Records {
    let mut sums = Vec::with_capacity(records.len());
    let mut sum = 0.0;
    for weight in records.weights() {
        sum += weight;
        sums.push(sum);
    }
    // Weights may be fractional or huge: the number of draws is bounded, and the total stays the same.
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
        check_records(task.train)?;
        check_validation(task.train, task.valid)?;
        let parts = task.parts()?;
        // A model must not rule out records that its bootstrap missed, so each has some prior.
        let pseudocount =
            self.model.pseudocount.filter(|&pseudocount| !task.support.world.is_all_closed() || pseudocount > 0.0);
        let config = &SloppBag { model: Slopp { pseudocount, ..self.model.clone() }, ..self.clone() };
        let support = &task.support.without_rules();
        let on_part = Task { train: parts.train(), valid: parts.judge(), support, ..*task };
        let vtrees = match task.vtree {
            Some(_) => Vec::new(),
            None => ranked_vtrees(&on_part, &config.model, progress)?,
        };
        let mut bag = bag_along(&on_part, config, &vtrees, progress)?;
        // The models have seen only their bootstraps, not the held-out records.
        if parts.is_divided() || parts.judge().is_none() {
            bag.mixture = joined(&bag, task.train, &task.support.limits)?;
        }
        let weights = if bag.fitted { "fitted" } else { "equal" };
        let models = if bag.divided.is_some() { "divided" } else { "whole" };
        let mut chosen = vec![("models", models.to_owned()), ("weights", weights.to_owned())];
        chosen.extend(bag.divided.map(|pseudocount| ("mixture_pseudocount", in_digits(pseudocount))));
        let report = Report { divided: bag.divided.map(|_| self.members), ..Report::default() };
        Ok(Structure { chosen, report, ..Structure::new(bag.mixture, Prior::NONE) }.holding_out(parts.held_out()))
    }
}
