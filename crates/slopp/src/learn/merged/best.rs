//! The most effort: a teacher distilled to one model, beside what is learned from the records alone.

use super::bag::{BagConfig, bag_along, check_task};
use super::distil::{DistilConfig, Distilled, distil, synthetic};
use super::effort::{FULL_RUNS, balanced, full_runs, ranked_orders, score};
use super::general::fitted_in;
use super::left::{Left, Worth};
use super::{Config, Learned};
use crate::certified::Certified;
use crate::circuit::{Circuit, Psdd, Smoothing};
use crate::data::Records;
use crate::infer::Distribution;
use crate::learn::baseline::chow_liu;
use crate::learn::judge::{FEW_JUDGES, Parts};
use crate::learn::refine::{LearnPsddConfig, learn_psdd};
use crate::learn::{LearnError, World, learnspn};
use crate::progress::Progress;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// Models of the bag that is the teacher.
const TEACHERS: usize = 16;

/// Synthetic records for each real one: at least, and at most where records are few.
const SYNTHETIC: [f64; 2] = [6.0, 60.0];

/// Synthetic records that are enough where records are few, and that are never exceeded.
const ENOUGH: [f64; 2] = [80_000.0, 600_000.0];

/// What an operation of LearnPSDD must gain for each element, and the weights of the prior, that are tried.
const REFINEMENTS: ([f64; 2], [f64; 4]) = ([0.7, 1.0], [1.0, 2.0, 4.0, 8.0]);

/// What the result of [`best`] was learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teacher {
    /// The records alone: nothing distilled was better.
    None,
    /// The records alone, by LearnPSDD from their Chow-Liu tree.
    LearnPsdd,
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
    /// The log-likelihood per record of those it was chosen by; given that every column has one value, where there are
    /// columns with several; in a closed world of what is left of it, but for one record's weight, which is for independent
    /// variables, so that a record that became impossible costs something finite.
    pub log_likelihood: f64,
    /// The weight of the prior in records: what was learned from a teacher too, or else the marginals.
    pub pseudocount: f64,
    /// The weight of the records that were held out to choose by.
    pub held_out: f64,
}

/// The best single PSDD: a bag, and LearnSPN where it explains the validation records better, are distilled, unless what
/// [`balanced`] or LearnPSDD learn from the records alone explains the validation records better.
///
/// Without validation records a tenth of the records is held out by seed, and the parameters are fitted to all records
/// at the end. A pseudocount above 0 that is given is the weight of the prior in all that is compared. In a closed world
/// what no training record uses is dropped, whatever a teacher made up, and what is left is compared: no choice makes more
/// validation records impossible than [`balanced`] does. The prior of the result has the weight that is given, or none. The
/// same bytes for a seed on any number of threads.
pub fn best(
    train: &Records,
    valid: Option<&Records>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Best, LearnError> {
    check_task(train, valid)?;
    config.check(train.var_count())?;
    let parts = Parts::new(train, valid, config.seed)?;
    let Some(judge) = parts.judge().filter(|judge| judge.total() >= FEW_JUDGES) else {
        // Too few records to choose among teachers by.
        let Learned { psdd, log_likelihood, held_out, pseudocount, .. } = balanced(train, valid, config, progress)?;
        return Ok(Best { psdd, teacher: Teacher::None, log_likelihood, pseudocount, held_out });
    };
    let part = parts.train();
    // Without any prior nothing could be compared that leaves a record out.
    let given = config.pseudocount.filter(|&pseudocount| pseudocount > 0.0);
    let pseudocounts = given.map_or(config.pseudocounts.clone(), |given| vec![given]);
    let own = &Config { pseudocounts, ..config.clone() };
    // What is made up on the way is of an open world; only what is left of it in a closed one is compared.
    let config = &Config { world: World::Open, pseudocount: given, ..own.clone() };
    let given = given.map(|given| vec![given]);
    let orders = ranked_orders(part, Some(judge), own, progress)?;
    let vtrees: Vec<Arc<Vtree>> = match &config.vtree {
        Some(vtree) => vec![vtree.clone()],
        None => orders.iter().take(FULL_RUNS).map(|order| Arc::new(Vtree::right_linear_over(order))).collect(),
    };
    let (alone, worth) = full_runs(part, Some(judge), &vtrees, own, progress)?;
    let refined = match config.vtree {
        Some(_) => None,
        None => Some(refined(part, judge, given.as_deref().unwrap_or(&REFINEMENTS.1), config, progress)?),
    };
    let few = |psdd: &Psdd| config.max_elements.is_none_or(|max| psdd.elements().len() <= max);
    let refined = refined.filter(|refined| few(&refined.psdd) && config.allows_classes_of(&refined.psdd));
    // The teacher may be on any vtree, and of any size.
    let model = Config { vtree: None, max_elements: None, ..config.clone() };
    let bag = BagConfig { members: TEACHERS, ..BagConfig::new(model) };
    let bag = bag_along(part, Some(judge), &bag, &orders, progress)?.0.mixture;
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
        let usual = DistilConfig::new(Config { vtree: Some((*vtree).clone()), ..config.clone() });
        let settings = DistilConfig { strengths: given.clone().unwrap_or(usual.strengths), ..usual };
        let student = distil(part, drawn, Some(judge), &settings, &())?;
        progress.advance(1);
        Ok((*kind, student))
    });
    let students: Vec<(Teacher, Distilled)> = students.collect::<Result<_, LearnError>>()?;
    let others = refined.into_iter().chain(students.into_iter().map(|(teacher, student)| {
        let Distilled { psdd, strength: pseudocount, log_likelihood, .. } = student;
        Taught { psdd, teacher, log_likelihood, pseudocount }
    }));
    let left = Left::new(part, judge, own);
    let mut best: (Worth, Option<Taught>) = (worth, None);
    for other in others {
        let worth = match left.is_all() {
            true => Worth::whole(other.log_likelihood),
            false => left.worth(&other.in_world(own, part)?, other.weight(own))?,
        };
        if worth.is_better_than(&best.0) {
            best = (worth, Some(other));
        }
    }
    let (worth, taught) = best;
    let (log_likelihood, held_out) = (worth.log_likelihood(), parts.held_out());
    let Some(mut taught) = taught else {
        let Learned { psdd, pseudocount, .. } = alone.learned(&parts, own)?;
        return Ok(Best { psdd, teacher: Teacher::None, log_likelihood, pseudocount, held_out });
    };
    if parts.is_divided() {
        // Held-out records come in last, with what was learned without them as the prior.
        let counts = crate::infer::count_shares(&taught.psdd, 1, train, train.weights()).counts.swap_remove(0);
        taught.psdd = taught.psdd.with_estimates_towards(counts, taught.pseudocount)?.certify()?;
    }
    let (psdd, pseudocount) = (taught.in_world(own, train)?, taught.weight(own));
    Ok(Best { psdd, teacher: taught.teacher, log_likelihood, pseudocount, held_out })
}

/// A model of an open world, beside what merged SLoPP learns from the records alone.
struct Taught {
    psdd: Psdd,
    teacher: Teacher,
    log_likelihood: f64,
    /// The weight of the prior in records.
    pseudocount: f64,
}

impl Taught {
    /// The weight of the prior of what is left in the world of these settings.
    fn weight(&self, config: &Config) -> f64 {
        match config.world {
            World::Open => self.pseudocount,
            World::Closed => config.pseudocount.unwrap_or(0.0),
        }
    }

    /// What is left of it in the world of these settings.
    fn in_world(&self, config: &Config, records: &Records) -> Result<Psdd, LearnError> {
        match config.world {
            World::Open => Ok(self.psdd.clone()),
            World::Closed => fitted_in(World::Closed, &self.psdd, records, self.weight(config)),
        }
    }
}

/// The best of LearnPSDD from the Chow-Liu tree with several settings.
fn refined(
    train: &Records,
    judge: &Records,
    pseudocounts: &[f64],
    own: &Config,
    progress: &dyn Progress,
) -> Result<Taught, LearnError> {
    let (penalties, _) = REFINEMENTS;
    let start = chow_liu(train, World::Open, LearnPsddConfig::default().pseudocount)?;
    progress.begin("refining the Chow-Liu tree", penalties.len() as u64);
    let tried = penalties.par_iter().map(|&penalty| {
        let max_classes = own.capped.then_some(own.max_classes);
        let config = LearnPsddConfig { penalty, max_classes, ..LearnPsddConfig::default() };
        let grown = learn_psdd(&start, train, Some(judge), &config, &())?.circuit;
        progress.advance(1);
        let smoothed = pseudocounts.iter().map(|&pseudocount| {
            let counts = grown.counts().cloned().expect("a learned circuit keeps its counts");
            let psdd = Circuit::clone(&grown).with_estimates(counts, &Smoothing::marginal(pseudocount, train))?;
            let psdd = psdd.certify()?;
            let log_likelihood = score(&Certified::from(psdd.clone()), judge)?;
            Ok(Taught { psdd, teacher: Teacher::LearnPsdd, log_likelihood, pseudocount })
        });
        smoothed.collect::<Result<Vec<Taught>, LearnError>>()
    });
    let tried: Vec<Vec<Taught>> = tried.collect::<Result<_, LearnError>>()?;
    let better = |a: Taught, b: Taught| if b.log_likelihood > a.log_likelihood { b } else { a };
    Ok(tried.into_iter().flatten().reduce(better).expect("several settings are tried"))
}
