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
use crate::report::{count, records};
use crate::session::{Session, Verdict};
use parts::Parts;
use plan::Plan;
use slopp::io::WriteError;
use slopp::learn::{Learned, Outcome};
use slopp::{Progress, Records};
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
    closed::check(args)?;
    let plan = Plan::new(entry, args)?;
    let parts = Parts::read(args, plan.names(), session)?;
    let start = Instant::now();
    let bar = session.progress();
    let Made { learned, origin } = within_size(plan, args, &parts, &bar)?;
    let seconds = start.elapsed().as_secs_f64();
    drop(bar);
    let scores = parts.scores(learned.distribution())?;
    let elements = most_elements(&learned);
    let model = learned.into_model(parts.train.names().clone(), origin);
    // Saved before anything is printed: a closed pipe must not cost the model.
    let saved = save(args.output.as_deref(), |file| slopp::io::write_any_model(file, &model));
    let output = args.output.as_deref().filter(|_| saved.is_ok());
    let dropped = args.drop_incomplete.then_some(parts.dropped);
    let learned = report::Learned { model: &model, scores: &scores, seconds, dropped, parts: &parts, output };
    match session.json {
        true => session.document(&learned.document(args.seed))?,
        false => learned.tell(session)?,
    }
    parts.inside.iter().for_each(|inside| inside.tell(model.names(), session));
    if let Some(max) = args.merged.max_elements.filter(|&max| elements > max) {
        session.note(too_large(elements, max));
    }
    tell_held_out(model.origin(), session);
    // A model that could not be saved is lost, but what it was like is told.
    saved?;
    tell_saved(args.output.as_deref(), entry.ending, session);
    Ok(Verdict::Yes)
}

/// A model and what made it.
struct Made {
    learned: Learned,
    origin: BTreeMap<String, String>,
}

/// Learns; where what is ruled out afterwards makes the result larger than asked for, again with room for that.
fn within_size(plan: Plan, args: &LearnArgs, parts: &Parts, bar: &dyn Progress) -> Result<Made, Error> {
    let mut made = make(plan, args, parts, bar)?;
    let Some(max) = args.merged.max_elements else { return Ok(made) };
    let least = parts.train.var_count().saturating_sub(1);
    let mut asked = args.clone();
    for _ in 0..SMALLER {
        let (elements, room) = (most_elements(&made.learned), asked.merged.max_elements.unwrap_or(max));
        if elements <= max || room <= least {
            break;
        }
        // A little less than in proportion: what is ruled out is not spread evenly.
        let less = (0.9 * room.min(elements) as f64 * max as f64 / elements as f64) as usize;
        asked.merged.max_elements = Some(less.max(least));
        let entry = learners::find(&asked.learner).expect("found before");
        let smaller = make(Plan::new(entry, &asked)?, &asked, parts, bar)?;
        if most_elements(&smaller.learned) < elements {
            made = smaller;
        }
    }
    made.origin.insert("max_elements".to_owned(), max.to_string());
    Ok(made)
}

/// How often a smaller model is tried.
const SMALLER: usize = 6;

/// Learns, and rules out what rules, columns and lists of columns do.
fn make(mut plan: Plan, args: &LearnArgs, parts: &Parts, bar: &dyn Progress) -> Result<Made, Error> {
    let Outcome { mut learned, chosen } = plan.learn(&parts.train, parts.valid.as_ref(), bar)?;
    let mut origin = plan.origin(&chosen, &parts.train);
    let pseudocount = prior_weight(&origin);
    if let Some(inside) = &parts.inside {
        learned = inside.condition(learned, &parts.train, pseudocount, bar)?;
        origin.extend(args.rules.origin());
    }
    if let Some(closed) = &parts.closed {
        let limits = slopp::logic::Limits::default();
        learned = learned
            .inside(&closed.rules, &parts.train, pseudocount, &limits, bar)
            .map_err(|error| Error::from(error).while_doing("--closed").hint("close fewer columns at a time"))?;
        origin.insert("closed".to_owned(), closed.origin());
    }
    if let Some(open) = &parts.open {
        learned = learned
            .closed_but(&open.vars, &parts.train, pseudocount)
            .map_err(|error| Error::from(error).while_doing("--open"))?;
        origin.insert("world".to_owned(), "closed".to_owned());
        origin.insert("open".to_owned(), open.origin());
    }
    Ok(Made { learned, origin })
}

/// That a model is larger than asked for.
pub(crate) fn too_large(elements: usize, max: usize) -> String {
    let [elements, max] = [elements, max].map(|n| count(n as f64));
    format!(
        "{elements} elements are more than --max-elements {max}: what columns, rules, a base or --closed rule out needs them"
    )
}

/// The elements of a model; of a mixture, those of its largest component.
fn most_elements(learned: &Learned) -> usize {
    match learned {
        Learned::Circuit(circuit) => circuit.elements().len(),
        Learned::Mixture(mixture) => mixture.components().iter().map(|part| part.elements().len()).max().unwrap_or(0),
        Learned::Spn(_) => 0,
    }
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
