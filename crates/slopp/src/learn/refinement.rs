//! Learners that refine what another one made.

use super::parts::Parts;
use super::refine::{LearnPsddConfig, Scope, StrudelConfig, learn_psdd, strudel, strudel_deterministic};
use super::slopp::{self, SloppConfig};
use super::structure::{Prior, Structure};
use super::support::Support;
use super::task::{Learner, Task, VtreeUse};
use super::vtree::VtreeMethod;
use super::{LearnError, baseline};
use crate::circuit::{Circuit, Deterministic, Psdd, Smoothing};
use crate::data::Records;
use crate::logic::Limits;
use crate::model::Certified;
use crate::progress::Progress;
use std::sync::Arc;

/// Where a refinement starts from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RefineFrom {
    /// The Chow-Liu tree or, on a given vtree, the factorised model.
    #[default]
    Baseline,
    /// What SLoPP learns.
    Slopp(SloppConfig),
    /// A given PSDD.
    Psdd(Arc<Psdd>),
    /// A given circuit that is deterministic but need not be a PSDD, for refinements that need no more.
    Deterministic(Arc<Deterministic>),
}

/// LearnPSDD as a [`Learner`], with where it starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnPsdd {
    /// Where it starts from.
    pub start: RefineFrom,
    /// Its own settings.
    pub config: LearnPsddConfig,
}

/// Strudel as a [`Learner`], with where it starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct Strudel {
    /// Where it starts from.
    pub start: RefineFrom,
    /// By which variables it splits.
    pub scope: Scope,
    /// Its own settings.
    pub config: StrudelConfig,
}

impl RefineFrom {
    /// The PSDD to start from. Its parameters do not matter, only what is possible: refinement counts anew, and stays
    /// inside. So one that is made here is in the world of the task and has one value per column from the start.
    pub fn psdd(&self, task: &Task, progress: &dyn Progress) -> Result<Arc<Psdd>, LearnError> {
        let made = match self {
            RefineFrom::Psdd(psdd) => return Ok(psdd.clone()),
            RefineFrom::Deterministic(circuit) => {
                let certified = Deterministic::clone(circuit).into_circuit().certify(&Limits::default());
                return Ok(certified.map_err(|refusal| LearnError::NotPsdd { reason: refusal.reason })?.into());
            }
            RefineFrom::Slopp(config) => slopp::learn(task, config, progress)?.psdd,
            RefineFrom::Baseline => match task.vtree {
                None => baseline::chow_liu(task.train, START_PSEUDOCOUNT)?,
                Some(vtree) => baseline::factorised(task.train, vtree.clone(), START_PSEUDOCOUNT)?,
            },
        };
        Ok(task.support.start(made, task.train)?.into())
    }

    /// What a refinement does about the vtree if it starts from here.
    fn vtree(&self) -> VtreeUse {
        match self {
            RefineFrom::Baseline => VtreeUse::Any(VtreeMethod::ChowLiu),
            RefineFrom::Slopp(_) => VtreeUse::Inside,
            RefineFrom::Psdd(_) | RefineFrom::Deterministic(_) => VtreeUse::None,
        }
    }

    /// The settings of what is started from, and of its refinement.
    fn settings<const N: usize>(&self, refinement: [(&'static str, String); N]) -> Vec<(&'static str, String)> {
        let mut settings = match self {
            RefineFrom::Baseline => Vec::new(),
            RefineFrom::Slopp(config) => {
                let mut settings = config.settings();
                settings.push(("effort", "fast".to_owned()));
                settings
            }
            RefineFrom::Psdd(_) | RefineFrom::Deterministic(_) => vec![("start", "a model".to_owned())],
        };
        settings.extend(refinement);
        settings
    }

    /// Refuses no pseudocount where everything is to stay possible.
    fn check_weight(&self, pseudocount: f64, support: &Support) -> Result<(), LearnError> {
        match self {
            RefineFrom::Baseline | RefineFrom::Slopp(_) => support.check_weight(pseudocount),
            RefineFrom::Psdd(_) | RefineFrom::Deterministic(_) => Support::closed().check_weight(pseudocount),
        }
    }
}

/// The weight of the prior in what is started from.
const START_PSEUDOCOUNT: f64 = 1.0;

impl Learner for LearnPsdd {
    fn name(&self) -> &'static str {
        match self.start {
            RefineFrom::Slopp(_) => "slopp+learnpsdd",
            RefineFrom::Baseline | RefineFrom::Psdd(_) | RefineFrom::Deterministic(_) => "learnpsdd",
        }
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let LearnPsddConfig { steps, penalty, depth, pseudocount, .. } = self.config;
        self.start.settings([
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
        let start = match &self.start {
            RefineFrom::Slopp(config) => RefineFrom::Slopp(config.within(max_elements)),
            start => start.clone(),
        };
        Some(Box::new(LearnPsdd {
            start,
            config: LearnPsddConfig { max_elements: Some(max_elements), ..self.config.clone() },
        }))
    }

    /// Without validation records a tenth of the records is held out by seed, and parameters are fitted to all.
    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        let pseudocount = self.config.pseudocount;
        self.start.check_weight(pseudocount, task.support)?;
        let parts = task.parts()?;
        let start = self.start.psdd(task, progress)?;
        let config = LearnPsddConfig { pseudocount: while_growing(pseudocount, &parts), ..self.config.clone() };
        let refined = learn_psdd(&start, parts.train(), parts.judge(), &config, progress)?;
        Grown { circuit: refined.circuit.into(), steps: refined.steps }.structure(task.train, &parts, pseudocount)
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
        self.start.settings([
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
    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        let parts = task.parts()?;
        self.grow(task, &parts, progress)?.structure(task.train, &parts, self.config.pseudocount)
    }
}

impl Strudel {
    /// Grows the structure on the part of the records to learn from. The start is made from all of them, for what it
    /// makes impossible stays so.
    pub(super) fn grow(&self, task: &Task, parts: &Parts, progress: &dyn Progress) -> Result<Grown, LearnError> {
        self.start.check_weight(self.config.pseudocount, task.support)?;
        let pseudocount = while_growing(self.config.pseudocount, parts);
        let config = StrudelConfig { pseudocount, ..self.config.clone() };
        let (train, valid) = (parts.train(), parts.judge());
        let whole = |start: &Deterministic| {
            let refined = strudel_deterministic(start, train, valid, &config, progress)?;
            Ok(Grown {
                circuit: Certified::new(refined.circuit.into_circuit(), &Limits::default()),
                steps: refined.steps,
            })
        };
        match (self.scope, &self.start) {
            (Scope::Whole, RefineFrom::Deterministic(circuit)) => whole(circuit),
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
    pub(super) fn fact(&self) -> (&'static str, String) {
        ("steps_done", self.steps.to_string())
    }

    fn structure(self, all: &Records, parts: &Parts, pseudocount: f64) -> Result<Structure, LearnError> {
        let chosen = vec![self.fact()];
        let circuit = if parts.is_divided() { refit(&self.circuit, all, pseudocount)? } else { self.circuit };
        let found = Structure::in_world(circuit, Prior::new(Some(pseudocount), pseudocount));
        Ok(Structure { chosen, ..found }.holding_out(parts.held_out()))
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
