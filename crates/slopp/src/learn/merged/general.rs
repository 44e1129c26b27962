//! Merged SLoPP on any vtree: classes by scopes, refined by splits and copies, smoothed by validation.

use super::scopes::{self, Limits};
use super::{Config, Learned, Look, Stage, Start, TYPICAL_PSEUDOCOUNT};
use crate::circuit::{Psdd, Smoothing};
use crate::data::Records;
use crate::learn::grow::Database;
use crate::learn::refine::{LearnPsddConfig, learn_psdd};
use crate::learn::vtree::pair_information;
use crate::learn::{FitError, LearnError, World, finish};
use crate::progress::Progress;
use crate::var::Var;
use crate::vtree::Vtree;
use std::sync::Arc;

/// The starts that are tried where none are given.
const STARTS: [f64; 2] = [1.0, 0.6];

/// Elements that refinement may come to for each class that a vtree node may have. With more records more operations pay,
/// so without a limit cost would grow faster than records.
const ELEMENTS_PER_CLASS: usize = 16;

/// What is learned from, and what choices are made by.
pub(super) struct Parts<'a> {
    /// All training records.
    pub(super) all: &'a Records,
    /// Those that structures are learned from.
    pub(super) train: &'a Records,
    /// Those to choose by; without any, the training records.
    pub(super) judge: Option<&'a Records>,
}

/// A structure with what it was judged to be worth.
struct Judged {
    psdd: Psdd,
    log_likelihood: f64,
    pseudocount: f64,
}

/// A certified PSDD on a vtree of any shape.
pub(super) fn learn(
    parts: &Parts<'_>,
    vtree: &Arc<Vtree>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Learned, LearnError> {
    let usual = STARTS.map(Start::Whole);
    let given = if config.starts.is_empty() { &usual[..] } else { &config.starts };
    // What a Chow-Liu tree remembers, and how far down a class lasts, is told by an order only.
    let penalty = |start: &Start| match *start {
        Start::Whole(penalty) | Start::Window(penalty) => penalty,
        Start::Tree => STARTS[0],
    };
    let database = Database::new(parts.train, vtree.clone());
    progress.begin("merging classes", (given.len() * vtree.node_count()) as u64);
    let information = pair_information(parts.train)?;
    let information = |a: Var, b: Var| information.at(a.index(), b.index());
    let mut history = Vec::new();
    let mut best: Option<(Start, Judged)> = None;
    for penalty in given.iter().map(penalty) {
        let (start, judged) =
            (Start::Whole(penalty), started(parts, &database, &information, penalty, config, progress)?);
        let elements = judged.psdd.elements().len();
        history.push(Look { stage: Stage::Started(start), log_likelihood: judged.log_likelihood, elements });
        if best.as_ref().is_none_or(|(_, best)| judged.log_likelihood > best.log_likelihood) {
            best = Some((start, judged));
        }
    }
    let (start, mut best) = best.expect("at least one start");
    // An element is far less than a class, and how much less depends on the records.
    let unit = 0.5 * parts.train.total().ln().max(1.0);
    let penalties = if config.clone_depth > 0 { &[config.clone_penalty, config.clone_penalty * unit][..] } else { &[] };
    let begun = best.psdd.clone();
    let inner = vtree.var_count().saturating_sub(1);
    let most = ELEMENTS_PER_CLASS * config.max_classes * inner;
    for &penalty in penalties {
        let settings = LearnPsddConfig {
            penalty,
            depth: config.clone_depth,
            pseudocount: best.pseudocount,
            max_elements: Some(config.max_elements.map_or(most, |max| max.min(most))),
            ..LearnPsddConfig::default()
        };
        let refined = learn_psdd(&begun, parts.train, parts.judge, &settings, progress)?;
        let judged = judged(parts, refined.circuit, config)?;
        let elements = judged.psdd.elements().len();
        history.push(Look { stage: Stage::Cloned(refined.steps), log_likelihood: judged.log_likelihood, elements });
        if judged.log_likelihood > best.log_likelihood {
            best = judged;
        }
    }
    let Judged { psdd, log_likelihood, pseudocount } = best;
    let chosen = if config.world == World::Closed { 0.0 } else { pseudocount };
    let pseudocount = config.pseudocount.unwrap_or(chosen);
    let psdd = match config.world {
        World::Open => fitted(&psdd, parts.all, &Smoothing::marginal(pseudocount, parts.all))?,
        World::Closed => closed(&psdd, parts.all, pseudocount)?,
    };
    Ok(Learned { psdd, start, pseudocount, held_out: 0.0, log_likelihood, history })
}

/// The structure in a closed world: what no record uses is dropped, then the rest is smoothed.
pub(super) fn closed(psdd: &Psdd, records: &Records, pseudocount: f64) -> Result<Psdd, LearnError> {
    let seen = fitted(psdd, records, &Smoothing::none())?;
    if pseudocount > 0.0 { fitted(&seen, records, &Smoothing::marginal(pseudocount, records)) } else { Ok(seen) }
}

/// A start, merged further and further until it keeps within the largest number of elements.
fn started(
    parts: &Parts<'_>,
    database: &Database<'_>,
    information: &dyn Fn(Var, Var) -> f64,
    penalty: f64,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Judged, LearnError> {
    let (mut classes, mut factor) = (config.max_classes, 1.0);
    let unit = 0.5 * parts.train.total().ln().max(1.0);
    loop {
        let limits =
            Limits { classes, per_class: factor * config.class_penalty * unit, per_parameter: factor * penalty };
        let quiet: &dyn Progress = &();
        let (builder, root) =
            scopes::grow(database, information, limits, if factor == 1.0 { progress } else { quiet })?;
        // Chosen as if everything were possible, so that no record to choose by is impossible.
        let psdd = finish(builder, root, parts.train, World::Open, TYPICAL_PSEUDOCOUNT)?.certify()?;
        // Where no cluster is worth its price there is one element for each variable but the last, which is allowed.
        if config.max_elements.is_none_or(|max| psdd.elements().len() <= max) {
            return judged(parts, psdd, config);
        }
        classes = (classes * 2 / 3).max(1);
        factor *= 1.5;
    }
}

/// A structure with the pseudocount that the records to choose by like best.
fn judged(parts: &Parts<'_>, psdd: Psdd, config: &Config) -> Result<Judged, LearnError> {
    // Training records would always ask for the least smoothing.
    let typical = [TYPICAL_PSEUDOCOUNT];
    let (judge, pseudocounts) = match parts.judge {
        Some(judge) => (judge, &config.pseudocounts[..]),
        None => (parts.train, &typical[..]),
    };
    let mut best: Option<Judged> = None;
    for &pseudocount in pseudocounts {
        let psdd = fitted(&psdd, parts.train, &Smoothing::marginal(pseudocount, parts.train))?;
        let logs = psdd.log_likelihoods(judge)?;
        let total: f64 = logs.iter().zip(judge.weights()).map(|(log, weight)| log * weight).sum();
        let log_likelihood = total / judge.total();
        if best.as_ref().is_none_or(|best| log_likelihood > best.log_likelihood) {
            best = Some(Judged { psdd, log_likelihood, pseudocount });
        }
    }
    Ok(best.expect("at least one pseudocount"))
}

fn fitted(psdd: &Psdd, records: &Records, smoothing: &Smoothing) -> Result<Psdd, LearnError> {
    Ok(psdd
        .fit(records, smoothing)
        .map_err(|error| match error {
            FitError::Query(error) => LearnError::Query(error),
            FitError::Build(error) => LearnError::Build(error),
            _ => LearnError::NothingPossible,
        })?
        .circuit)
}
