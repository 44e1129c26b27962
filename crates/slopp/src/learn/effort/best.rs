//! The most effort: a teacher distilled into one model, compared with models of the records alone.

use super::{balanced, best_of, check_task, full_runs};
use crate::certified::Certified;
use crate::circuit::{Circuit, Psdd, Smoothing};
use crate::data::Records;
use crate::infer::Distribution;
use crate::learn::LearnError;
use crate::learn::bag::{SloppBag, bag_along};
use crate::learn::baseline::chow_liu;
use crate::learn::distil::{Distil, Distilled, distil, synthetic};
use crate::learn::hold_out::FEW_JUDGES;
use crate::learn::judge::{Judge, Worth, score};
use crate::learn::refine::{LearnPsdd, learn_psdd};
use crate::learn::slopp::{Slopp, ranked_vtrees};
use crate::learn::structure::{Prior, Structure};
use crate::learn::task::Task;
use crate::progress::Progress;
use crate::spn::learnspn::LearnSpn;
use crate::spn::{Spn, SpnError};
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// Models in the bag that teaches.
const TEACHERS: usize = 16;

/// Synthetic records for each real one: at least, and at most if there are few records.
const SYNTHETIC: [f64; 2] = [6.0, 60.0];

/// Synthetic records that suffice if there are few records, and that are never exceeded.
const ENOUGH: [f64; 2] = [80_000.0, 600_000.0];

/// The gains for each element that an operation of LearnPSDD needs, and the weights of the prior, to try.
const REFINEMENTS: ([f64; 2], [f64; 4]) = ([0.7, 1.0], [1.0, 2.0, 4.0, 8.0]);

/// The teacher of the best structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Teacher {
    /// The records alone, by LearnPSDD from their Chow-Liu tree.
    LearnPsdd,
    /// A bag.
    Bag,
    /// A sum-product network of LearnSPN.
    LearnSpn,
}

impl Teacher {
    fn name(self) -> &'static str {
        match self {
            Teacher::LearnPsdd => "none, by learnpsdd",
            Teacher::Bag => "bag",
            Teacher::LearnSpn => "learnspn",
        }
    }
}

/// A model that competes with those that SLoPP learns from the records alone.
struct Taught {
    psdd: Psdd,
    teacher: Teacher,
    log_likelihood: f64,
    /// The weight of the prior in records.
    pseudocount: f64,
}

impl Taught {
    fn structure(&self, config: &Slopp) -> Structure {
        let reported_as = match self.teacher {
            Teacher::LearnPsdd => "pseudocount",
            Teacher::Bag | Teacher::LearnSpn => "strength",
        };
        let prior =
            Prior { weight: self.pseudocount, reported_as: Some(reported_as), ..Prior::new(config.pseudocount, 0.0) };
        Structure::new(self.psdd.clone(), prior)
    }
}

/// The best structure among: a distilled bag; a distilled network of LearnSPN, if it explains the validation records
/// better than the bag; and the structures that the balanced effort and LearnPSDD learn from the records alone.
///
/// Without validation records a tenth of the records is held out by seed, and in the end the parameters are fitted to
/// all records. A given pseudocount above 0 is the weight of the prior in all candidates. They are found in an open
/// world and compared once support has been applied: in a closed world no choice makes more validation records
/// impossible than the balanced effort does. A seed gives the same bytes on any number of threads.
pub(super) fn find(task: &Task, config: &Slopp, progress: &dyn Progress) -> Result<Structure, LearnError> {
    check_task(task, config)?;
    let parts = task.parts()?;
    let taught_by = |teacher: &str, structure: Structure| {
        Structure { chosen: vec![("teacher", teacher.to_owned())], ..structure }.holding_out(parts.held_out())
    };
    let Some(judge) = parts.judge().filter(|judge| judge.total() >= FEW_JUDGES) else {
        // There are too few records to choose among teachers.
        let mut found = taught_by("none", balanced(task, config, progress)?);
        found.report.few_judges = Some(parts.judge().map_or(0.0, Records::total));
        return Ok(found);
    };
    let part = parts.train();
    // Without a prior, models that exclude a record could not be compared.
    let given = config.pseudocount.filter(|&pseudocount| pseudocount > 0.0);
    let pseudocounts = given.map_or(config.pseudocounts.clone(), |given| vec![given]);
    let own = &Slopp { pseudocounts, ..config.clone() };
    let config = &Slopp { pseudocount: given, ..own.clone() };
    let given = given.map(|given| vec![given]);
    let on_part = Task { train: part, valid: Some(judge), ..*task };
    let ranked = ranked_vtrees(&on_part, own, progress)?;
    let vtrees = task.vtree.map_or_else(|| best_of(ranked.clone()), |vtree| vec![vtree.clone()]);
    let (alone, worth, alone_config) = full_runs(&on_part, &vtrees, own, progress)?;
    // Synthetic records come from an open world.
    let support = &task.support.without_rules();
    let open = Task { support, ..on_part };
    let refined = match task.vtree {
        Some(_) => None,
        None => Some(refined(&open, judge, given.as_deref().unwrap_or(&REFINEMENTS.1), config, progress)?),
    };
    let few = |psdd: &Psdd| config.max_elements.is_none_or(|max| psdd.elements().len() <= max);
    let refined = refined.filter(|refined| few(&refined.psdd) && config.allows_classes_of(&refined.psdd));
    // The teacher may be on any vtree, and of any size.
    let model = Slopp { max_elements: None, ..config.clone() };
    let bag = SloppBag { members: TEACHERS, ..SloppBag::new(model) };
    let bag = bag_along(&Task { vtree: None, ..open }, &bag, &ranked, progress)?.mixture;
    progress.begin("learning a sum-product network", 1);
    let networks = LearnSpn::grid().into_par_iter().map(|learner| learner.grow(part, Some(judge), task.seed, &()));
    let networks: Vec<Spn> = networks.collect::<Result<_, SpnError>>()?;
    // The better teacher need not have the better student, so the bag always teaches.
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
        let drawn = Arc::new(synthetic(teacher, part, count.ceil() as usize, task.seed)?);
        lessons.extend(vtrees.iter().map(|vtree| (kind, drawn.clone(), vtree)));
    }
    progress.begin("distilling", lessons.len() as u64);
    let students = lessons.par_iter().map(|(kind, drawn, vtree)| {
        let usual = Distil::new(config.clone());
        let settings = Distil { strengths: given.clone().unwrap_or(usual.strengths), ..usual };
        let student = distil(&Task { vtree: Some(vtree), ..open }, drawn, &settings, &())?;
        progress.advance(1);
        Ok((*kind, student))
    });
    let students: Vec<(Teacher, Distilled)> = students.collect::<Result<_, LearnError>>()?;
    let others = refined.into_iter().chain(students.into_iter().map(|(teacher, student)| {
        let Distilled { psdd, strength: pseudocount, log_likelihood, .. } = student;
        Taught { psdd, teacher, log_likelihood, pseudocount }
    }));
    let choice = Judge::new(on_part, judge);
    let mut best: (Worth, Option<Taught>) = (worth, None);
    for other in others {
        let worth = choice.worth(other.log_likelihood, || Ok(other.structure(own)))?;
        if worth.is_better_than(&best.0) {
            best = (worth, Some(other));
        }
    }
    let Some(mut taught) = best.1 else { return Ok(taught_by("none", alone.structure(task, &alone_config)?)) };
    if parts.is_divided() {
        // Held-out records are added last, with the parameters learned without them as the prior.
        let train = task.train;
        let counts = crate::infer::count_shares(&taught.psdd, 1, train, train.weights()).counts.swap_remove(0);
        taught.psdd = taught.psdd.with_estimates_towards(counts, taught.pseudocount)?.certify(parts.limits())?;
    }
    Ok(taught_by(taught.teacher.name(), taught.structure(own)))
}

/// The best of LearnPSDD from the Chow-Liu tree with several settings.
fn refined(
    task: &Task,
    judge: &Records,
    pseudocounts: &[f64],
    own: &Slopp,
    progress: &dyn Progress,
) -> Result<Taught, LearnError> {
    let train = task.train;
    let (penalties, _) = REFINEMENTS;
    let limits = &task.support.limits;
    let start = chow_liu(train, LearnPsdd::default().pseudocount, limits)?;
    progress.begin("refining the Chow-Liu tree", penalties.len() as u64);
    let tried = penalties.par_iter().map(|&penalty| {
        let max_classes = own.capped.then_some(own.max_classes);
        let config = LearnPsdd { penalty, max_classes, ..LearnPsdd::default() };
        let grown = learn_psdd(&start, train, Some(judge), &config, limits, &())?.circuit;
        progress.advance(1);
        let smoothed = pseudocounts.iter().map(|&pseudocount| {
            let counts = grown.counts().cloned().expect("a learned circuit keeps its counts");
            let psdd = Circuit::clone(&grown).with_estimates(counts, &Smoothing::marginal(pseudocount, train))?;
            let psdd = psdd.certify(limits)?;
            let log_likelihood = score(&Certified::from(psdd.clone()), judge)?;
            Ok(Taught { psdd, teacher: Teacher::LearnPsdd, log_likelihood, pseudocount })
        });
        smoothed.collect::<Result<Vec<Taught>, LearnError>>()
    });
    let tried: Vec<Vec<Taught>> = tried.collect::<Result<_, LearnError>>()?;
    let better = |a: Taught, b: Taught| if b.log_likelihood > a.log_likelihood { b } else { a };
    Ok(tried.into_iter().flatten().reduce(better).expect("several settings are tried"))
}
