//! Refinement: improves a structure by local changes that keep its base and its certificate.
//!
//! [`LearnPsdd`] (Liang, Bekker and Van den Broeck, 2017) simulates split and clone operations before it does them, and
//! chooses by gain in log-likelihood per added element. [`Strudel`] (Dang, Vergari and Van den Broeck, 2020) splits
//! where most records pass, by the most informative variable, without simulation. Both start from the model of the task
//! or, without one, from the Chow-Liu tree; on a given vtree, from independent variables.

mod context;
mod draft;
mod learn_psdd;
mod plain;
mod split;
mod strudel;

pub use learn_psdd::LearnPsdd;
pub(super) use learn_psdd::learn_psdd;
pub use strudel::{Scope, Strudel};

use self::draft::Draft;
use super::LearnError;
use super::baseline::{chow_liu, factorised};
use super::hold_out::Parts;
use super::judge::Possible;
use super::structure::{Prior, Structure};
use super::support::Support;
use super::task::Task;
use crate::certified::Certified;
use crate::circuit::{Certificate, Circuit, Deterministic, Psdd, Reason, Smoothing};
use crate::data::Records;
use crate::logic::Limits;
use crate::progress::Progress;
use std::borrow::Cow;

/// The default weight of the prior of refinements.
const USUAL_PSEUDOCOUNT: f64 = 2.0;

/// The weight of the prior in the start, if no model is given.
const START_PSEUDOCOUNT: f64 = 1.0;

/// A refined circuit.
#[derive(Debug)]
pub(super) struct Refined<C = Psdd> {
    /// The best circuit by validation likelihood; without validation records, the last.
    pub(super) circuit: C,
    /// How many operations were done.
    pub(super) steps: usize,
}

/// Changes a draft, one operation at a time.
trait Growth {
    /// Does the next operation; `false` if there is none.
    fn step(&mut self) -> bool;

    fn draft(&self) -> &Draft<'_>;
}

/// When to compare circuits by the validation records, and when to stop.
struct Stopping<'a> {
    valid: Option<&'a Records>,
    /// How much each certificate may cost.
    limits: &'a Limits,
    smoothing: Smoothing,
    steps: usize,
    check_every: usize,
    patience: usize,
}

impl Stopping<'_> {
    /// Grows until no operation is left, the steps are used up, or the validation likelihood stops rising.
    ///
    /// Every circuit that is compared is certified. Validation records that are impossible at first do not count. A
    /// circuit that makes another one impossible is ruled out.
    fn grow<C: Certificate + AsRef<Deterministic>>(
        &self,
        growth: &mut impl Growth,
        progress: &dyn Progress,
    ) -> Result<Refined<C>, LearnError> {
        if growth.draft().is_unused() {
            return Err(LearnError::NothingPossible);
        }
        progress.begin("refining the circuit", self.steps as u64);
        let finish = |growth: &dyn Growth| {
            Ok::<C, LearnError>(C::certify(growth.draft().finish(&self.smoothing)?, self.limits)?)
        };
        let first = finish(growth)?;
        let valid = self.valid.filter(|valid| !valid.is_empty());
        let judge = valid.map(|valid| Possible::new(first.as_ref(), valid)).transpose()?;
        let score = |circuit: &C| match &judge {
            None => Ok(0.0),
            Some(judge) => {
                let circuit: &Deterministic = circuit.as_ref();
                circuit.log_likelihoods(judge.records).map(|values| judge.mean(&values))
            }
        };
        let mut best = (score(&first)?, first);
        let (mut steps, mut compared, mut next, mut waited) = (0, 0, self.check_every, 0);
        loop {
            let done = steps == self.steps || !growth.step();
            if !done {
                steps += 1;
                progress.advance(1);
            }
            if compared < steps && (done || steps >= next && judge.is_some()) {
                let circuit = finish(growth)?;
                let score = score(&circuit)?;
                if score > best.0 || judge.is_none() {
                    best = (score, circuit);
                    waited = 0;
                } else {
                    waited += 1;
                }
                compared = steps;
                // Less often as the circuit grows, so that comparisons stay cheap.
                next = steps + self.check_every.max(steps / 10);
            }
            if done || waited >= self.patience {
                progress.advance((self.steps - steps) as u64);
                return Ok(Refined { circuit: best.1, steps });
            }
        }
    }
}

/// The circuit of the model that the task starts from.
fn given<'a>(task: &Task<'a>) -> Result<Option<&'a Certified>, LearnError> {
    let circuit = |kind: &'a crate::model::ModelKind| {
        kind.circuit().ok_or_else(|| LearnError::setting("start", "not a circuit", "a circuit"))
    };
    task.start.map(|model| circuit(&model.kind)).transpose()
}

/// The PSDD to start from. Only its base matters: refinement counts again and stays inside.
fn start<'a>(task: &Task<'a>) -> Result<Cow<'a, Psdd>, LearnError> {
    match given(task)? {
        None => {
            let made = match task.vtree {
                None => chow_liu(task.train, START_PSEUDOCOUNT, &task.support.limits)?,
                Some(vtree) => factorised(task.train, vtree.clone(), START_PSEUDOCOUNT, &task.support.limits)?,
            };
            Ok(Cow::Owned(task.support.prepare_start(made, task.train)?))
        }
        Some(Certified::Psdd(psdd)) => Ok(Cow::Borrowed(psdd)),
        Some(Certified::Deterministic(_, overlap)) => {
            Err(LearnError::NotPsdd { reason: Reason::Overlap(overlap.clone()) })
        }
        Some(Certified::Circuit(_, reason)) => Err(LearnError::NotPsdd { reason: reason.clone() }),
    }
}

/// Refuses a zero pseudocount where every world must stay possible. The base of a given model stays as it is.
fn check_weight(pseudocount: f64, task: &Task) -> Result<(), LearnError> {
    let support = if task.start.is_some() { Support::closed() } else { task.support };
    support.check_weight(pseudocount)
}

/// The pseudocount while a structure grows. If held-out records are added at the end, elements that only these use must
/// not be dropped before.
fn while_growing(pseudocount: f64, parts: &Parts) -> f64 {
    if parts.is_divided() && pseudocount == 0.0 { USUAL_PSEUDOCOUNT } else { pseudocount }
}

impl Refined<Certified> {
    /// The number of operations, for the report.
    pub(super) fn fact(&self) -> (&'static str, String) {
        ("steps_done", self.steps.to_string())
    }

    /// The structure, with parameters fitted to all records.
    fn structure(self, parts: &Parts, pseudocount: f64) -> Result<Structure, LearnError> {
        let chosen = vec![self.fact()];
        let circuit = match parts.is_divided() {
            true => refit(&self.circuit, parts.all(), pseudocount, parts.limits())?,
            false => self.circuit,
        };
        let found = Structure::keeping_world(circuit, Prior::new(Some(pseudocount), pseudocount));
        Ok(Structure { chosen, ..found }.holding_out(parts.held_out()))
    }
}

/// A circuit with parameters fitted to these records.
pub(super) fn refit(
    circuit: &Certified,
    records: &Records,
    pseudocount: f64,
    limits: &Limits,
) -> Result<Certified, LearnError> {
    let structure = circuit.deterministic().map_err(|reason| LearnError::NotDeterministic(reason.clone()))?;
    let counts = structure.count_records(records)?.weights;
    let fitted = Circuit::clone(structure).with_estimates(counts, &Smoothing::marginal(pseudocount, records))?;
    Ok(circuit.carry_over(fitted, limits))
}
