//! Learners that refine what another one made.

use super::judge::Parts;
use super::learner::{Learner, Outcome, Task, VtreeUse};
use super::refine::{LearnPsddConfig, Scope, StrudelConfig, learn_psdd, strudel, strudel_deterministic};
use super::slopp::check_pseudocount;
use super::vtree::VtreeMethod;
use super::{InsideError, LearnError, World, baseline, merged};
use crate::circuit::{Circuit, Deterministic, Psdd, Smoothing};
use crate::data::Records;
use crate::logic::{Limits, Rules};
use crate::model::Certified;
use crate::names::Names;
use crate::progress::Progress;
use std::sync::Arc;

/// Where a refinement starts from.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// The Chow-Liu tree or, on a given vtree, the factorised model.
    Baseline(World),
    /// What merged SLoPP learns.
    Slopp(merged::Config),
    /// A PSDD at hand.
    Given(Arc<Psdd>),
    /// A circuit at hand that is deterministic but need not be a PSDD, for refinements that need no more.
    Deterministic(Arc<Deterministic>),
}

/// LearnPSDD as a [`Learner`], with where it starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnPsdd {
    /// Where it starts from.
    pub start: Start,
    /// Its own settings.
    pub config: LearnPsddConfig,
}

/// Strudel as a [`Learner`], with where it starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct Strudel {
    /// Where it starts from.
    pub start: Start,
    /// By which variables it splits.
    pub scope: Scope,
    /// Its own settings.
    pub config: StrudelConfig,
}

impl Start {
    /// The PSDD to start from. Its parameters do not matter, only what is possible: refinement counts anew, and stays
    /// inside. So one that is made here has one value per column from the start.
    pub fn psdd(&self, task: &Task, progress: &dyn Progress) -> Result<Arc<Psdd>, LearnError> {
        let pseudocount = 1.0;
        Ok(match self {
            Start::Given(psdd) => psdd.clone(),
            Start::Deterministic(circuit) => {
                let certified = Deterministic::clone(circuit).into_circuit().certify();
                certified.map_err(|refusal| LearnError::NotPsdd { reason: refusal.reason })?.into()
            }
            Start::Slopp(config) => {
                let vtree = task.vtree.cloned().or_else(|| config.vtree.clone());
                let config = merged::Config { vtree, seed: task.seed, ..config.clone() };
                within_columns(merged::learn(task.train, task.valid, &config, progress)?.psdd, task.train.names())?
            }
            Start::Baseline(world) => {
                let start = match task.vtree {
                    None => baseline::chow_liu(task.train, *world, pseudocount)?,
                    Some(vtree) => baseline::factorised(task.train, vtree.clone(), *world, pseudocount)?,
                };
                within_columns(start, task.train.names())?
            }
        })
    }

    /// What a refinement does about the vtree if it starts from here.
    pub fn vtree(&self) -> VtreeUse {
        match self {
            Start::Baseline(_) => VtreeUse::Any(VtreeMethod::ChowLiu),
            Start::Slopp(_) => VtreeUse::Inside,
            Start::Given(_) | Start::Deterministic(_) => VtreeUse::None,
        }
    }

    /// The settings of what is started from.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        match self {
            Start::Baseline(world) => vec![("world", world.name().to_owned())],
            Start::Slopp(config) => config.settings(),
            Start::Given(_) | Start::Deterministic(_) => vec![("start", "a model".to_owned())],
        }
    }

    /// Refuses no pseudocount where everything is to stay possible.
    fn check_pseudocount(&self, pseudocount: f64) -> Result<(), LearnError> {
        let world = match self {
            Start::Baseline(world) => *world,
            Start::Slopp(config) => config.world,
            Start::Given(_) | Start::Deterministic(_) => World::Closed,
        };
        check_pseudocount(pseudocount, world)
    }

    /// The settings of what is started from and of its refinement, whose pseudocount is the one that counts.
    fn refined_with<const N: usize>(&self, refinement: [(&'static str, String); N]) -> Vec<(&'static str, String)> {
        let mut settings = self.settings();
        settings.retain(|(name, _)| *name != "pseudocount");
        settings.extend(refinement);
        settings
    }
}

/// A PSDD given that every column has one value.
fn within_columns(psdd: Psdd, names: &Arc<Names>) -> Result<Arc<Psdd>, LearnError> {
    if names.groups().is_empty() {
        return Ok(psdd.into());
    }
    let one = Rules::of_columns(names.clone()).compile(psdd.vtree().clone(), &Limits::default());
    Ok(psdd.given(&one.map_err(InsideError::Rules)?).map_err(InsideError::from)?.0.into())
}

impl Learner for LearnPsdd {
    fn name(&self) -> &'static str {
        match self.start {
            Start::Slopp(_) => "slopp+learnpsdd",
            Start::Baseline(_) | Start::Given(_) | Start::Deterministic(_) => "learnpsdd",
        }
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let LearnPsddConfig { steps, penalty, depth, pseudocount, .. } = self.config;
        self.start.refined_with([
            ("pseudocount", pseudocount.to_string()),
            ("penalty", penalty.to_string()),
            ("depth", depth.to_string()),
            ("steps", steps.to_string()),
        ])
    }

    fn vtree(&self) -> VtreeUse {
        self.start.vtree()
    }

    fn max_elements(&self) -> Option<usize> {
        self.config.max_elements
    }

    fn within(&self, max_elements: usize) -> Option<Box<dyn Learner>> {
        let max_elements = Some(max_elements);
        let start = match &self.start {
            Start::Slopp(config) => Start::Slopp(merged::Config { max_elements, ..config.clone() }),
            start => start.clone(),
        };
        Some(Box::new(LearnPsdd { start, config: LearnPsddConfig { max_elements, ..self.config.clone() } }))
    }

    /// Without validation records a tenth of the records is held out by seed, and parameters are fitted to all.
    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let pseudocount = self.config.pseudocount;
        self.start.check_pseudocount(pseudocount)?;
        let parts = Parts::new(task.train, task.valid, task.seed)?;
        let start = self.start.psdd(task, progress)?;
        let config = LearnPsddConfig { pseudocount: while_growing(pseudocount, &parts), ..self.config.clone() };
        let refined = learn_psdd(&start, parts.train(), parts.judge(), &config, progress)?;
        Grown { circuit: refined.circuit.into(), steps: refined.steps }.outcome(task.train, &parts, pseudocount)
    }
}

impl Learner for Strudel {
    fn name(&self) -> &'static str {
        "strudel"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let StrudelConfig { steps, depth, pseudocount, .. } = self.config;
        let scope = match self.scope {
            Scope::Prime => "prime",
            Scope::Whole => "whole",
        };
        self.start.refined_with([
            ("pseudocount", pseudocount.to_string()),
            ("scope", scope.to_owned()),
            ("depth", depth.to_string()),
            ("steps", steps.to_string()),
        ])
    }

    fn vtree(&self) -> VtreeUse {
        self.start.vtree()
    }

    /// Without validation records a tenth of the records is held out by seed, and parameters are fitted to all.
    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let parts = Parts::new(task.train, task.valid, task.seed)?;
        self.grow(task, &parts, progress)?.outcome(task.train, &parts, self.config.pseudocount)
    }
}

impl Strudel {
    /// Grows the structure on the part of the records to learn from. The start is made from all of them, for what it
    /// makes impossible stays so.
    pub(super) fn grow(&self, task: &Task, parts: &Parts, progress: &dyn Progress) -> Result<Grown, LearnError> {
        self.start.check_pseudocount(self.config.pseudocount)?;
        let pseudocount = while_growing(self.config.pseudocount, parts);
        let config = StrudelConfig { pseudocount, ..self.config.clone() };
        let (train, valid) = (parts.train(), parts.judge());
        let whole = |start: &Deterministic| {
            let refined = strudel_deterministic(start, train, valid, &config, progress)?;
            Ok(Grown { circuit: Certified::new(refined.circuit.into_circuit()), steps: refined.steps })
        };
        match (self.scope, &self.start) {
            (Scope::Whole, Start::Deterministic(circuit)) => whole(circuit),
            (Scope::Whole, start) => whole(&**start.psdd(task, progress)?),
            (Scope::Prime, start) => {
                let refined = strudel(&*start.psdd(task, progress)?, train, valid, &config, progress)?;
                Ok(Grown { circuit: refined.circuit.into(), steps: refined.steps })
            }
        }
    }
}

/// What a refinement made of its start.
pub(super) struct Grown {
    pub(super) circuit: Certified,
    /// How many operations were done.
    steps: usize,
}

impl Grown {
    /// What was found on the way, as a learner reports it.
    pub(super) fn facts(&self, parts: &Parts) -> [(&'static str, String); 2] {
        [("steps_done", self.steps.to_string()), ("held_out", parts.held_out().to_string())]
    }

    fn outcome(self, all: &Records, parts: &Parts, pseudocount: f64) -> Result<Outcome, LearnError> {
        let chosen = self.facts(parts).to_vec();
        let circuit = if parts.is_divided() { refit(&self.circuit, all, pseudocount)? } else { self.circuit };
        Ok(Outcome { chosen, ..Outcome::new(circuit, pseudocount) })
    }
}

/// The pseudocount while a structure grows: where its parameters are fitted to more records in the end, what only
/// those use must not be dropped before.
fn while_growing(pseudocount: f64, parts: &Parts) -> f64 {
    if parts.is_divided() && pseudocount == 0.0 { StrudelConfig::default().pseudocount } else { pseudocount }
}

/// The structure of a refined circuit with parameters fitted to these records.
pub(super) fn refit(circuit: &Certified, records: &Records, pseudocount: f64) -> Result<Certified, LearnError> {
    let structure = circuit.deterministic().map_err(|reason| LearnError::NotDeterministic(reason.clone()))?;
    let counts = structure.count_records(records)?.weights;
    let fitted = Circuit::clone(structure).with_estimates(counts, &Smoothing::marginal(pseudocount, records))?;
    Ok(circuit.carry_over(fitted))
}
