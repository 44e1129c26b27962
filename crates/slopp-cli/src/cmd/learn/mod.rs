//! `slopp learn`: from records to a model.

mod closed;
mod inside;
mod learners;
mod options;
mod parts;
mod plan;
mod report;

pub(crate) use inside::Inside;
pub(crate) use options::{LearnArgs, RuleArgs};
pub(crate) use plan::origin;
pub(crate) use report::score_table;

use crate::error::Error;
use crate::files::{Files, check_ending, way_out};
use crate::report::records;
use crate::session::{Session, Verdict};
use options::WorldName;
use parts::Parts;
use plan::Plan;
use slopp::Records;
use slopp::io::WriteError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(args: &LearnArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let vtree_file = args.vtree.as_ref().map(PathBuf::from);
    let inputs =
        [Some(&args.train), args.valid.as_ref(), args.test.as_ref(), vtree_file.as_ref(), args.rules.file.as_ref()];
    // A model may be replaced by what was refined from it.
    let files = Files::default().read(inputs.into_iter().flatten()).replace(&args.refined.start);
    files.write(&args.output).check()?;
    let entry = learners::find(&args.learner).expect("the parser takes no other");
    check_ending(args.output.as_deref(), entry.ending, &format!("what the learner {} makes", entry.name))?;
    if args.rules.file.is_some() && args.learner == "learnspn" {
        return Err(inside::no_rules());
    }
    if !args.closed.is_empty() && matches!(args.world, Some(WorldName::Closed)) {
        return Err(Error::new("--closed names columns in a world that is open, and --world closed closes all of it")
            .hint("leave one of them out"));
    }
    let mut plan = Plan::new(entry, args)?;
    let parts = Parts::read(args, plan.names(), session)?;
    let start = Instant::now();
    let bar = session.progress();
    let mut outcome = plan.learn(&parts.train, parts.valid.as_ref(), &bar)?;
    let mut origin = plan.origin(&outcome.chosen, &parts.train);
    if let Some(inside) = &parts.inside {
        let pseudocount = prior_weight(&origin);
        outcome.learned = inside.condition(outcome.learned, &parts.train, pseudocount, &bar)?;
        origin.extend(args.rules.origin());
    }
    if let Some(closed) = &parts.closed {
        let pseudocount = prior_weight(&origin);
        let limits = slopp::logic::Limits::default();
        outcome.learned = outcome
            .learned
            .inside(&closed.rules, &parts.train, pseudocount, &limits, &bar)
            .map_err(|error| Error::from(error).while_doing("--closed").hint("close fewer columns at a time"))?;
        origin.insert("closed".to_owned(), closed.origin());
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(bar);
    let scores = parts.scores(outcome.learned.distribution())?;
    let model = outcome.learned.into_model(parts.train.names().clone(), origin);
    // Saved before anything is printed: a closed pipe must not cost the model.
    let saved = save(args.output.as_deref(), |file| slopp::io::write_any_model(file, &model));
    let output = args.output.as_deref().filter(|_| saved.is_ok());
    let dropped = args.drop_incomplete.then_some(parts.dropped);
    let (inside, closed) = (parts.inside.as_ref(), parts.closed.as_ref());
    let learned = report::Learned { model: &model, scores: &scores, seconds, dropped, inside, closed, output };
    match session.json {
        true => session.document(&learned.document(args.seed))?,
        false => learned.tell(session)?,
    }
    inside.into_iter().for_each(|inside| inside.tell(model.names(), session));
    tell_held_out(model.origin(), session);
    // A model that could not be saved is lost, but what it was like is told.
    saved?;
    tell_saved(args.output.as_deref(), entry.ending, session);
    Ok(Verdict::Yes)
}

/// How many records what was learned weighs where it is fitted again: what a learner chose for that, if it did.
fn prior_weight(origin: &BTreeMap<String, String>) -> f64 {
    let number = |key: &str| origin.get(key).and_then(|text| text.parse().ok());
    number("strength").or(number("pseudocount")).unwrap_or(1.0)
}

/// Saves a model, if asked to.
pub(crate) fn save(output: Option<&Path>, write: impl Fn(&Path) -> Result<(), WriteError>) -> Result<(), Error> {
    let Some(output) = output else { return Ok(()) };
    write(output).map_err(|error| {
        let hint = way_out(&error.source);
        Error::from(error).while_doing("the model was not saved").hint(hint)
    })
}

/// Tells where a model was saved, or how it could have been.
pub(crate) fn tell_saved(output: Option<&Path>, ending: &str, session: &Session) {
    match output {
        Some(file) => session.saved(file),
        // A JSON document says so itself.
        None if session.json => {}
        None => session.note(format!("not saved; -o model{ending} saves the model")),
    }
}

/// Tells that records were held out, where no others to choose by were given.
pub(crate) fn tell_held_out(origin: &BTreeMap<String, String>, session: &Session) {
    let weight: f64 = origin.get("held_out").and_then(|text| text.parse().ok()).unwrap_or(0.0);
    if weight > 0.0 {
        let held = records(weight);
        session.note(format!("{held} held out by seed to choose by; --valid FILE gives others"));
    }
}

/// The records without missing cells, and how many others there were.
pub(crate) fn without_incomplete(records: Records, file: &Path) -> Result<(Records, f64), Error> {
    if !records.has_missing() {
        return Ok((records, 0.0));
    }
    let complete: Vec<bool> = (0..records.len()).map(|row| records.row(row).all(|cell| cell.is_some())).collect();
    let kept = records.subset(|row| complete[row]);
    if kept.is_empty() {
        let message = format!("every record of {} misses a cell, so --drop-incomplete leaves none", file.display());
        return Err(Error::new(message).hint("fill cells in, or leave out columns that are often missing"));
    }
    let dropped = records.total() - kept.total();
    Ok((kept, dropped))
}
