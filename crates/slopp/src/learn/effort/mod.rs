//! How much SLoPP tries: one order and one setting, several of both, or a teacher distilled into one model.

mod best;

use super::LearnError;
use super::error::{check, check_records, check_validation};
use super::judge::{Judge, Worth};
use super::slopp::{Chosen, Effort, Slopp, find, ranked_vtrees};
use super::structure::Structure;
use super::task::{Learner, Task, VtreeUse};
use crate::progress::Progress;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::sync::Arc;

/// How many orders get a full run.
pub(super) const FULL_RUNS: usize = 2;

/// The largest number of classes, and the gain that a copy needs, of the full runs.
const GRID: [(usize, f64); 3] = [(32, 0.7), (64, 0.7), (48, 0.4)];

/// The structure of SLoPP with several orders and settings: a quick run with each order, full runs of the best orders
/// with each setting, and the one that best explains the validation records.
///
/// Structures are judged once support has been applied. In a closed world no choice makes more validation records
/// impossible than the fast effort does. If a vtree is given, it is the only one. Without validation records a tenth of
/// the records is held out by seed, the same for all. A seed gives the same bytes on any number of threads.
fn balanced(task: &Task, config: &Slopp, progress: &dyn Progress) -> Result<Structure, LearnError> {
    check_task(task, config)?;
    let parts = task.parts()?;
    let on_part = Task { train: parts.train(), valid: parts.judge(), ..*task };
    let vtrees = match task.vtree {
        Some(vtree) => vec![vtree.clone()],
        None => best_of(ranked_vtrees(&on_part, config, progress)?),
    };
    let (found, _, config) = full_runs(&on_part, &vtrees, config, progress)?;
    found.structure(task, &config)
}

/// The vtrees that get a full run.
fn best_of(mut ranked: Vec<Arc<Vtree>>) -> Vec<Arc<Vtree>> {
    ranked.truncate(FULL_RUNS);
    ranked
}

/// The best structure of all settings on these vtrees once support has been applied, its worth, and its settings.
fn full_runs(
    task: &Task,
    vtrees: &[Arc<Vtree>],
    config: &Slopp,
    progress: &dyn Progress,
) -> Result<(Chosen, Worth, Slopp), LearnError> {
    // The fast effort comes first, so by validation the result is never worse.
    let mut runs = vec![(task.vtree, config.clone())];
    for vtree in vtrees {
        for (max_classes, clone_penalty) in GRID {
            let is_given = config.capped || config.max_classes != Slopp::default().max_classes;
            let max_classes = if is_given { config.max_classes } else { max_classes };
            runs.push((Some(vtree), Slopp { max_classes, clone_penalty, ..config.clone() }));
        }
    }
    progress.begin("learning with several settings", runs.len() as u64);
    let judge = Judge::new(*task, task.valid.unwrap_or(task.train));
    let full = |(vtree, config): (Option<&Arc<Vtree>>, Slopp)| {
        let found = find(&Task { vtree, ..*task }, &config, &())?;
        let worth = found.worth(&judge, task.train, &config)?;
        progress.advance(1);
        Ok((found, worth, config))
    };
    type Run = (Chosen, Worth, Slopp);
    let found: Vec<Run> = runs.into_par_iter().map(full).collect::<Result<_, LearnError>>()?;
    let better = |a: Run, b: Run| if b.1.is_better_than(&a.1) { b } else { a };
    Ok(found.into_iter().reduce(better).expect("at least one setting"))
}

/// Checks records and settings before any work.
fn check_task(task: &Task, config: &Slopp) -> Result<(), LearnError> {
    check_records(task.train)?;
    check_validation(task.train, task.valid)?;
    config.check(task.train.var_count(), task.support)
}

impl Learner for Slopp {
    fn name(&self) -> &'static str {
        "slopp"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = self.structure_settings();
        settings.push(("effort", self.effort.name().to_owned()));
        // Clones and students add classes.
        if self.effort == Effort::Best && !self.capped {
            let classes = settings.iter_mut().filter(|(name, _)| *name == "max_classes");
            classes.for_each(|(_, value)| *value = format!("starts with {value}"));
        }
        settings
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Inside
    }

    fn max_elements(&self) -> Option<usize> {
        self.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        Some(Box::new(self.with_max_elements(max_elements)))
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        task.vtree.map_or(Ok(()), |vtree| check(task.train, vtree))?;
        match self.effort {
            Effort::Fast => find(task, self, progress)?.structure(task, self),
            Effort::Balanced => balanced(task, self, progress),
            Effort::Best => best::find(task, self, progress),
        }
    }
}
