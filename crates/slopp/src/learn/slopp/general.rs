//! SLoPP on any vtree: classes by scopes, refined by splits and copies, smoothed by validation.

use super::chosen::{Chosen, Classes};
use super::scopes::{self, Limits};
use super::{Slopp, Start, TYPICAL_PSEUDOCOUNT};
use crate::circuit::{Psdd, Smoothing};
use crate::data::Records;
use crate::learn::LearnError;
use crate::learn::baseline::{chow_liu, factorised};
use crate::learn::grow::Database;
use crate::learn::hold_out::{FEW_JUDGES, Parts};
use crate::learn::judge::score;
use crate::learn::refine::{LearnPsdd, learn_psdd};
use crate::learn::vtree::Columns;
use crate::progress::Progress;
use crate::var::Var;
use crate::vtree::Vtree;
use std::sync::Arc;

/// The penalties of the default starts.
const STARTS: [f64; 2] = [1.0, 0.6];

/// The largest number of elements after refinement, for each allowed class of a vtree node. With more records more
/// operations pay, so without a limit the cost would grow faster than the records.
const ELEMENTS_PER_CLASS: usize = 16;

/// A Chow-Liu tree is not refined to more than this many times its elements.
const MUCH_ROOM: usize = 8;

/// A structure with its score.
struct Judged {
    psdd: Psdd,
    log_likelihood: f64,
    pseudocount: f64,
}

impl Judged {
    fn found(self, start: Start) -> Chosen {
        let Judged { psdd, log_likelihood, pseudocount } = self;
        Chosen { classes: Classes::Any(psdd), start, pseudocount, log_likelihood }
    }
}

/// A structure on a vtree of any shape.
pub(super) fn find(
    parts: &Parts<'_>,
    vtree: &Arc<Vtree>,
    config: &Slopp,
    progress: &dyn Progress,
) -> Result<Chosen, LearnError> {
    let usual = STARTS.map(Start::Whole);
    let given = if config.starts.is_empty() { &usual[..] } else { &config.starts };
    // Trees and windows are defined along an order only.
    let penalty = |start: &Start| match *start {
        Start::Whole(penalty) | Start::Window(penalty) => penalty,
        Start::Tree => STARTS[0],
    };
    let database = Database::of_columns(parts.train(), vtree.clone());
    progress.begin("merging classes", (given.len() * vtree.node_count()) as u64);
    let information = database.columns().information(parts.train())?;
    let information = |a: Var, b: Var| information.at(a.index(), b.index());
    let mut best: Option<(Start, Judged)> = None;
    for penalty in given.iter().map(penalty) {
        let (start, judged) =
            (Start::Whole(penalty), started(parts, &database, &information, penalty, config, progress)?);
        if best.as_ref().is_none_or(|(_, best)| judged.log_likelihood > best.log_likelihood) {
            best = Some((start, judged));
        }
    }
    let (start, best) = best.expect("at least one start");
    let inner = vtree.var_count().saturating_sub(1);
    let most = ELEMENTS_PER_CLASS * config.max_classes * inner;
    let most = config.max_elements.map_or(most, |max| max.min(most));
    let best = refined(parts, best, most, config, progress)?;
    let Some(none) = independent(parts, vtree, config)? else { return Ok(best.found(start)) };
    let (mut start, mut best) = (start, best);
    // With few records, many classes may be worse than a structure grown from one.
    if config.max_classes > 1 {
        let single = &Slopp { max_classes: 1, ..config.clone() };
        let first = penalty(&given[0]);
        let one = started(parts, &database, &information, first, single, &())?;
        let one = refined(parts, one, most, config, progress)?;
        if one.log_likelihood > best.log_likelihood {
            (start, best) = (Start::Whole(first), one);
        }
    }
    match is_clearly_better(&best.psdd, &none.psdd, parts.judge().unwrap_or(parts.train()), 1.0)? {
        true => Ok(best.found(start)),
        false => Ok(none.found(Start::NOTHING)),
    }
}

/// Independent variables; `None` without records to choose by.
fn independent(parts: &Parts<'_>, vtree: &Arc<Vtree>, config: &Slopp) -> Result<Option<Judged>, LearnError> {
    if parts.judge().is_none() {
        return Ok(None);
    }
    let psdd = factorised(parts.train(), vtree.clone(), TYPICAL_PSEUDOCOUNT, parts.limits())?;
    judged(parts, psdd, config).map(Some)
}

/// Whether the records to choose by prefer one model to another by more than so many standard errors. Clusters and
/// splits are the best of very many, so by few records some always seem better than none.
pub(super) fn is_clearly_better(one: &Psdd, other: &Psdd, judge: &Records, errors: f64) -> Result<bool, LearnError> {
    let [one, other] = [one.log_likelihoods(judge)?, other.log_likelihoods(judge)?];
    let gains = || one.iter().zip(&other).zip(judge.weights()).map(|((a, b), weight)| (a - b, weight));
    let total = judge.total();
    let mean = gains().map(|(gain, weight)| weight * gain).sum::<f64>() / total;
    let variance = gains().map(|(gain, weight)| weight * (gain - mean).powi(2)).sum::<f64>() / total;
    Ok(mean > errors * (variance / total).sqrt())
}

/// The Chow-Liu tree on its own vtree or, if that has too many elements, independent columns, refined by LearnPSDD: the
/// better way for few elements, and for many tables of numbers. `None` for variables with room for many elements, or if
/// classes are capped.
pub(super) fn find_tree(
    parts: &Parts<'_>,
    config: &Slopp,
    progress: &dyn Progress,
) -> Result<Option<Chosen>, LearnError> {
    let columns = Columns::new(parts.train().names());
    if config.capped || config.max_elements.is_none() && columns.are_variables() {
        return Ok(None);
    }
    let tree = chow_liu(parts.train(), TYPICAL_PSEUDOCOUNT, parts.limits())?;
    let most = ELEMENTS_PER_CLASS * config.max_classes * parts.train().var_count();
    let max = config.max_elements.unwrap_or_else(|| most.max(2 * tree.elements().len()));
    let (start, begun) = match tree.elements().len() {
        elements if columns.are_variables() && max > MUCH_ROOM * elements => return Ok(None),
        elements if elements <= max => (Start::Tree, tree),
        _ => (Start::NOTHING, factorised(parts.train(), tree.vtree().clone(), TYPICAL_PSEUDOCOUNT, parts.limits())?),
    };
    let begun = judged(parts, begun, config)?;
    let best = refined(parts, begun, max, config, progress)?;
    Ok(Some(best.found(start)))
}

/// The best of a structure and its refinements by LearnPSDD with at most `max_elements` elements.
fn refined(
    parts: &Parts<'_>,
    begun: Judged,
    max_elements: usize,
    config: &Slopp,
    progress: &dyn Progress,
) -> Result<Judged, LearnError> {
    // An element is worth far less than a class; how much less depends on the records.
    let unit = 0.5 * parts.train().total().ln().max(1.0);
    let penalties = if config.clone_depth > 0 { &[config.clone_penalty, config.clone_penalty * unit][..] } else { &[] };
    let start = begun.psdd.clone();
    let mut best = begun;
    for &penalty in penalties {
        let settings = LearnPsdd {
            penalty,
            depth: config.clone_depth,
            pseudocount: best.pseudocount,
            max_elements: Some(max_elements),
            max_classes: config.capped.then_some(config.max_classes),
            ..LearnPsdd::default()
        };
        let refined = learn_psdd(&start, parts.train(), parts.judge(), &settings, parts.limits(), progress)?.circuit;
        let judged = judged(parts, refined, config)?;
        if judged.log_likelihood > best.log_likelihood {
            best = judged;
        }
    }
    Ok(best)
}

/// A start, merged until it keeps within the largest number of elements.
fn started(
    parts: &Parts<'_>,
    database: &Database<'_>,
    information: &dyn Fn(Var, Var) -> f64,
    penalty: f64,
    config: &Slopp,
    progress: &dyn Progress,
) -> Result<Judged, LearnError> {
    let (mut classes, mut factor) = (config.max_classes, 1.0);
    let unit = 0.5 * parts.train().total().ln().max(1.0);
    // Without clusters there are as many elements as of independent columns, however few are allowed.
    let least = match config.max_elements {
        None => 0,
        Some(_) => {
            factorised(parts.train(), database.vtree.clone(), TYPICAL_PSEUDOCOUNT, parts.limits())?.elements().len()
        }
    };
    loop {
        let limits =
            Limits { classes, per_class: factor * config.class_penalty * unit, per_parameter: factor * penalty };
        let quiet: &dyn Progress = &();
        let (builder, root) =
            scopes::grow(database, information, limits, if factor == 1.0 { progress } else { quiet })?;
        let smoothing = Smoothing::marginal(TYPICAL_PSEUDOCOUNT, parts.train());
        let psdd = builder.finish_counts(root, &smoothing)?.certify(parts.limits())?;
        if config.max_elements.is_none_or(|max| psdd.elements().len() <= max.max(least)) {
            return judged(parts, psdd, config);
        }
        classes = (classes * 2 / 3).max(1);
        factor *= 1.5;
    }
}

/// A structure with the pseudocount that is best by the records to choose by.
fn judged(parts: &Parts<'_>, psdd: Psdd, config: &Slopp) -> Result<Judged, LearnError> {
    // Training records always favour the least smoothing, and few others may.
    let judge = parts.judge().unwrap_or(parts.train());
    let are_poor = parts.judge().is_none() || judge.total() < FEW_JUDGES;
    let typical = [if are_poor { by_training(&psdd, parts, config)? } else { TYPICAL_PSEUDOCOUNT }];
    let pseudocounts = if are_poor { &typical } else { &config.pseudocounts[..] };
    let mut best: Option<Judged> = None;
    for &pseudocount in pseudocounts {
        let psdd = fitted(&psdd, parts.train(), pseudocount)?;
        let log_likelihood = score(&**psdd, judge)?;
        if best.as_ref().is_none_or(|best| log_likelihood > best.log_likelihood) {
            best = Some(Judged { psdd, log_likelihood, pseudocount });
        }
    }
    Ok(best.expect("at least one pseudocount"))
}

/// The pseudocount by which training records are most probable, each given all others. Variables take the typical one.
fn by_training(psdd: &Psdd, parts: &Parts<'_>, config: &Slopp) -> Result<f64, LearnError> {
    let counted = fitted(psdd, parts.train(), TYPICAL_PSEUDOCOUNT)?;
    let left_out = |&pseudocount: &f64| {
        let smoothing = Smoothing::marginal(pseudocount, parts.train());
        Some((counted.log_likelihood_left_out(&smoothing)?, pseudocount))
    };
    let best = config.pseudocounts.iter().filter_map(left_out).reduce(|a, b| if b.0 > a.0 { b } else { a });
    Ok(best.map_or(TYPICAL_PSEUDOCOUNT, |(_, pseudocount)| pseudocount))
}

/// The structure with parameters fitted to records, smoothed towards their marginals.
pub(super) fn fitted(psdd: &Psdd, records: &Records, pseudocount: f64) -> Result<Psdd, LearnError> {
    Ok(psdd.fit(records, &Smoothing::marginal(pseudocount, records))?.circuit)
}
