//! From the arguments to what was learned and its origin.

use super::learners::Entry;
use super::not_obeyed;
use super::options::LearnArgs;
use super::parts::Parts;
use crate::error::Error;
use crate::incomplete::{self, Part};
use crate::input::{LoadedModel, VtreeSource, too_many_pairs};
use slopp::learn::vtree::VtreeMethodError;
use slopp::learn::{InsideError, LearnError, Learner, Outcome, RestrictionError, Task, VtreeUse};
use slopp::logic::Stopped;
use slopp::{Model, Names, Progress, Records};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a vtree was made that the learner made.
const LEARNED_VTREE: &str = "learned";

/// How the vtree of a model that is refined was made.
const START_VTREE: &str = "file";

/// A learner with its settings and where its vtree comes from, checked before any work.
pub(super) struct Plan {
    learner: Box<dyn Learner>,
    vtree: Option<VtreeSource>,
    /// How the vtree is made, if there is one.
    vtree_name: Option<&'static str>,
    /// The model to refine.
    start: Option<Model>,
    seed: u64,
}

impl Plan {
    pub(super) fn new(entry: &Entry, args: &LearnArgs) -> Result<Plan, Error> {
        let given = args
            .refined
            .start
            .as_ref()
            .map(|file| LoadedModel::read_files(file, None, &args.rules.limits.limits()))
            .transpose()?;
        let learner = entry.learner(args, given.as_ref())?;
        let start = given.map(|given| given.model);
        let source = args.vtree.as_deref().map(VtreeSource::find).transpose()?;
        let own = match learner.vtree() {
            VtreeUse::Any(method) | VtreeUse::Own(method) => Some(method),
            VtreeUse::Inside | VtreeUse::None => None,
        };
        // What the learner would make itself is left to it: a start may depend on that.
        let vtree = source.filter(|source| !matches!(source, VtreeSource::Method(method) if Some(*method) == own));
        let name = learner.name();
        match (learner.vtree(), &vtree) {
            (VtreeUse::Own(_), Some(_)) => {
                Err(Error::new(format!("the learner {name} brings its own vtree, that of its tree")))
            }
            (VtreeUse::None, Some(_)) => Err(Error::new(format!("the learner {name} has no vtree"))),
            _ => Ok(()),
        }
        .map_err(|error| error.hint("leave --vtree out, or choose another learner"))?;
        let vtree_name = vtree.as_ref().map(VtreeSource::name).or(own.map(|method| method.name()));
        let inside = (learner.vtree() == VtreeUse::Inside).then_some(LEARNED_VTREE);
        let vtree_name = vtree_name.or(inside).or(start.as_ref().map(|_| START_VTREE));
        Ok(Plan { learner, vtree, vtree_name, start, seed: args.seed })
    }

    /// The names that the variables must have.
    pub(super) fn names(&self) -> Option<&Arc<Names>> {
        self.start.as_ref().map(|start| &start.names)
    }

    /// Learns, and rules out what rules, columns and lists of columns do.
    pub(super) fn learn(&mut self, parts: &Parts, bar: &dyn Progress) -> Result<Outcome, Error> {
        let train = &parts.train;
        let vtree = match self.vtree.take() {
            None => None,
            Some(source) => {
                bar.begin("making the vtree", 1);
                Some(Arc::new(source.build(train, self.seed)?))
            }
        };
        let task = Task { valid: parts.valid.as_ref(), vtree: vtree.as_ref(), seed: self.seed, ..Task::new(train) };
        parts.restriction().learn(&*self.learner, &task, bar).map_err(|error| match error {
            RestrictionError::Learn(LearnError::MissingCells { .. }) => self.incomplete(parts),
            RestrictionError::Learn(error) => self.explained(error),
            RestrictionError::Rules(error) => not_obeyed(error),
            RestrictionError::Closed(error) => closed_too_large(error),
            RestrictionError::Open(error) => Error::from(error).while_doing("--open"),
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
            false if self.learner.name() == "learnspn" => {
                error.hint("--drop-incomplete leaves out training records with missing cells")
            }
            false => error.hint(
                "--drop-incomplete leaves out training records with missing cells; `slopp fit` then fits what is \
                 learned to all of them",
            ),
        }
    }

    /// The error of a learner, with the option that helps.
    fn explained(&self, error: LearnError) -> Error {
        match error {
            LearnError::Pairs(VtreeMethodError::TooMany { variables }) => {
                too_many_pairs(variables, &format!("the learner {}", self.learner.name()))
                    .hint("--learner factorised, or --learner slopp-kmeans with --vtree balanced or right-linear")
            }
            LearnError::Setting { name, ref value, expected } => {
                Error::new(format!("--{} is {value}, but must be {expected}", name.replace('_', "-")))
            }
            error => Error::from(error),
        }
    }

    /// What made the model.
    pub(super) fn origin(&self, chosen: &[(&str, String)], records: &Records) -> BTreeMap<String, String> {
        let mut origin = origin(&*self.learner, self.seed, self.vtree_name, records);
        origin.extend(chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        if let Some(start) = &self.start {
            // What is possible was decided by whatever made the model.
            for (key, made) in [("start", "learner"), ("world", "world")] {
                let known = start.origin.get(made).map_or("given", String::as_str);
                origin.insert(key.to_owned(), known.to_owned());
            }
        }
        origin
    }
}

/// Why columns could not be closed: what records show of them is a rule, but not one that anybody gave.
fn closed_too_large(error: InsideError) -> Error {
    match error {
        InsideError::Rules(stopped) => {
            // It is one rule of several, which tells nothing.
            let stopped = Stopped { rules: None, ..stopped };
            Error::new("--closed: what the records show of these columns is too large on the vtree of what was learned")
                .because(stopped.to_string())
                .hint("--max-nodes N and --max-memory MB allow more; or close fewer columns at a time")
        }
        error => Error::from(error).while_doing("--closed").hint("close fewer columns at a time"),
    }
}

/// What made a model: enough to make it again from the same records, and nothing about the machine.
pub(crate) fn origin(
    learner: &dyn Learner,
    seed: u64,
    vtree: Option<&str>,
    records: &Records,
) -> BTreeMap<String, String> {
    let facts = [
        ("learner", learner.name().to_owned()),
        ("records", records.total().to_string()),
        ("seed", seed.to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let vtree = vtree.map(|vtree| ("vtree", vtree.to_owned()));
    let all = facts.into_iter().chain(vtree).chain(learner.settings());
    all.map(|(key, value)| (key.to_owned(), value)).collect()
}
