//! Learners that refine what another one made.

use super::learner::{Learner, Outcome, Task, VtreeUse};
use super::refine::{LearnPsddConfig, Scope, StrudelConfig, learn_psdd, strudel, strudel_deterministic};
use super::vtree::VtreeMethod;
use super::{InsideError, LearnError, World, baseline, slopp};
use crate::circuit::{Deterministic, Psdd};
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
    /// What certified SLoPP learns.
    Slopp(slopp::Config),
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
                let vtree = task.vtree_or(VtreeMethod::ChowLiu, progress)?;
                within_columns(slopp::certified(task.train, vtree, config, progress)?, task.train.names())?
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
            Start::Baseline(_) | Start::Slopp(_) => VtreeUse::Any(VtreeMethod::ChowLiu),
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

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let start = self.start.psdd(task, progress)?;
        Ok(Outcome::new(learn_psdd(&start, task.train, task.valid, &self.config, progress)?.circuit))
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

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let whole = |start: &Deterministic| {
            let refined = strudel_deterministic(start, task.train, task.valid, &self.config, progress)?;
            Ok(Outcome::new(Certified::new(refined.circuit.into_circuit())))
        };
        match (self.scope, &self.start) {
            (Scope::Whole, Start::Deterministic(circuit)) => whole(circuit),
            (Scope::Whole, start) => whole(&**start.psdd(task, progress)?),
            (Scope::Prime, start) => {
                let start = start.psdd(task, progress)?;
                Ok(Outcome::new(strudel(&start, task.train, task.valid, &self.config, progress)?.circuit))
            }
        }
    }
}
