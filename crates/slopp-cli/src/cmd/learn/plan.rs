//! From the arguments to what was learned and its origin.

use super::not_obeyed;
use super::options::LearnArgs;
use super::parts::Parts;
use crate::error::Error;
use crate::incomplete::{self, Part};
use crate::input::{Loaded, VtreeSource};
use slopp::infer::QueryError;
use slopp::learn::registry::{Entry, LEARNERS, Options};
use slopp::learn::{LearnError, Learner, Outcome, Task, VtreeMethod, VtreeUse, World};
use slopp::{Certified, Model, Names, Progress};
use std::sync::Arc;

/// A learner with its settings and where its vtree comes from, checked before any work.
pub(super) struct Plan {
    pub(super) entry: &'static Entry,
    learner: Box<dyn Learner + Send + Sync>,
    vtree: Option<VtreeSource>,
    /// The model to refine.
    start: Option<Model>,
    world: World,
    seed: u64,
}

impl Plan {
    pub(super) fn new(entry: &'static Entry, world: World, args: &LearnArgs) -> Result<Plan, Error> {
        let limits = args.rules.limits.limits();
        let given = args.start.as_ref().map(|file| Loaded::circuit_of(file, None, &limits)).transpose()?;
        given.as_ref().map_or(Ok(()), |given| check_start(entry, args, given))?;
        let learner = entry.learner(&args.options.0)?;
        let start = given.map(|given| given.model);
        let source = args.vtree.as_deref().map(|text| VtreeSource::find(text, &limits)).transpose()?;
        let own = learner.vtree().method();
        let asked =
            source.as_ref().filter(|source| !matches!(source, VtreeSource::Method(method) if Some(*method) == own));
        let name = learner.name();
        match (learner.vtree(), asked) {
            (VtreeUse::Own(_), Some(_)) => {
                Err(Error::new(format!("the learner {name} always uses the vtree of its own tree")))
            }
            // clap refuses --vtree next to --start.
            (VtreeUse::None, Some(_)) => Err(Error::new(format!("the learner {name} has no vtree"))),
            _ => Ok(()),
        }
        .map_err(|error| error.hint("leave --vtree out, or choose another learner"))?;
        Ok(Plan { entry, learner, vtree: source, start, world, seed: args.seed })
    }

    /// The names that the variables must have.
    pub(super) fn names(&self) -> Option<&Arc<Names>> {
        self.start.as_ref().map(|start| &start.names)
    }

    /// Learns.
    pub(super) fn learn(&mut self, parts: &Parts, bar: &dyn Progress) -> Result<Outcome, Error> {
        let train = &parts.train;
        let vtree_from = self.vtree.as_ref().map(VtreeSource::from);
        // What a method makes is made by the library, or left to the learner if it makes the same.
        let vtree = match self.vtree.take() {
            None | Some(VtreeSource::Method(_)) => None,
            Some(source) => Some(Arc::new(source.build(train, self.seed)?)),
        };
        let task = Task {
            valid: parts.valid.as_ref(),
            vtree: vtree.as_ref(),
            vtree_from,
            start: self.start.as_ref(),
            support: &parts.support(self.world.clone()),
            seed: self.seed,
            ..Task::new(train)
        };
        task.learn(&*self.learner, bar).map_err(|error| match error {
            LearnError::MissingCells { .. } => self.incomplete(parts),
            LearnError::Groups(error) => closed_too_large(*error),
            LearnError::Closed(error) => {
                let option = if parts.open.is_some() { "--open" } else { "--world closed" };
                Error::from(*error).while_doing(option)
            }
            LearnError::TooManyPairs { .. } => Error::from(error).hint(pairless()),
            error => not_obeyed(error),
        })
    }

    /// The refusal of records with missing cells, with the option that helps.
    fn incomplete(&self, parts: &Parts) -> Error {
        let [train, valid] = parts.files.each_ref().map(Option::as_deref);
        if let (false, Some(records)) = (parts.train.has_missing(), &parts.valid) {
            return incomplete::refusal(Part::Valid, valid, records);
        }
        let error = incomplete::refusal(Part::Train, train, &parts.train);
        match parts.train.incomplete().count() == parts.train.original().len() {
            // Dropping would leave nothing.
            true => error,
            false => {
                let error = error.hint("--drop-incomplete leaves out training records with missing cells");
                match self.entry.obeys_rules() {
                    true => error.also("`slopp fit` then fits the learned model to all of them"),
                    false => error,
                }
            }
        }
    }
}

/// Refuses a model to start from that this learner cannot refine.
fn check_start(entry: &Entry, args: &LearnArgs, given: &Loaded) -> Result<(), Error> {
    given.deterministic("refinement")?;
    match given.circuit() {
        Certified::Deterministic(_, overlap) if args.options.0.word("scope") != "whole" => {
            let overlap = given.overlap_in_words(overlap);
            Err(Error::new(format!("the learner {} refines PSDDs, and the model is not one: {overlap}", entry.name))
                .hint(refiners()))
        }
        _ => Ok(()),
    }
}

/// The learners that count no pairs of variables: their own vtree needs no records.
fn pairless() -> String {
    let method = |entry: &&Entry| entry.learner(&Options::default()).ok().and_then(|learner| learner.vtree().method());
    let able = LEARNERS.iter().filter(|entry| method(entry) == Some(VtreeMethod::Balanced)).map(|entry| entry.name);
    format!("--learner {}, which counts no pairs", able.collect::<Vec<_>>().join(" or "))
}

/// The learners that refine any deterministic circuit.
fn refiners() -> String {
    let able = LEARNERS.iter().filter(|entry| entry.refines() && entry.has("scope")).map(|entry| entry.name);
    format!(
        "--learner {} --scope whole, which refines any deterministic circuit",
        able.collect::<Vec<_>>().join(" or ")
    )
}

/// Why columns could not be closed: what records show of them is a rule, but not one that anybody gave.
fn closed_too_large(error: LearnError) -> Error {
    const FEWER: &str = "close fewer columns at a time";
    match error {
        LearnError::Rules(QueryError::Compile(mut stopped)) => {
            // It is one rule of several, so the count says nothing.
            stopped.rules = None;
            Error::from(stopped).while_doing(
                "--closed: the rule that the records show of these columns is too large on the vtree that was learned",
            )
        }
        error => Error::from(error).while_doing("--closed"),
    }
    .also(FEWER)
}
