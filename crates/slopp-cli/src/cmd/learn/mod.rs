//! `slopp learn`: from records to a model.

mod closed;
mod enforcement;
mod options;
mod parts;
mod plan;
mod report;

pub(crate) use enforcement::{Enforcement, not_obeyed};
pub(crate) use options::{LearnArgs, RuleArgs};
pub(crate) use report::{score_table, scores};

use crate::error::Error;
use crate::files::{Files, check_ending};
use crate::incomplete::FILL_IN;
use crate::report::{conditional, count, counted, probability, records};
use crate::session::{Session, Verdict};
use parts::Parts;
use plan::Plan;
use slopp::fidelity::Fidelity;
use slopp::io::Content;
use slopp::io::{WriteError, path_in_words};
use slopp::learn::{Report, registry};
use slopp::{Names, Records, Var};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(args: &LearnArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let vtree_file = args.vtree.as_ref().map(PathBuf::from);
    let inputs =
        [Some(&args.train), args.valid.as_ref(), args.test.as_ref(), vtree_file.as_ref(), args.rules.file.as_ref()];
    // A model may be replaced by what was refined from it.
    let files = Files::default().read(inputs.into_iter().flatten()).replace(&args.start);
    files.write(&args.output, Content::Model).check()?;
    let entry = registry::find(&args.learner).expect("the parser takes no other");
    check_ending(args.output.as_deref(), entry.ending(), &format!("what the learner {} makes", entry.name))?;
    closed::check(args)?;
    let world = entry.world_for(args.asked())?;
    args.start.as_ref().map_or(Ok(()), |_| args.columns.check_unused("the model to start from"))?;
    let mut plan = Plan::new(entry, world, args)?;
    let parts = Parts::read(args, &plan, session)?;
    let max_classes = args.options.0.whole("max_classes");
    let start = Instant::now();
    let bar = session.progress();
    let outcome = plan.learn(&parts, &bar)?;
    let (model, facts) = (outcome.model, outcome.report);
    let seconds = start.elapsed().as_secs_f64();
    drop(bar);
    let scores = report::scores(model.distribution(), &parts.present())?;
    let fidelity = model.kind.fidelity(&parts.train, Fidelity::few(&parts.train))?;
    let (elements, classes) = (model.most_elements(), model.most_classes());
    // Saved before anything is printed: a closed pipe must not cost the model.
    let saved = save(args.output.as_deref(), |file| model.save(file));
    let output = args.output.as_deref().filter(|_| saved.is_ok());
    let dropped = args.drop_incomplete.then_some(parts.dropped);
    let learned = report::Learned {
        model: &model,
        divided: facts.divided,
        scores: &scores,
        fidelity: &fidelity,
        seconds,
        dropped,
        parts: &parts,
        output,
    };
    match session.json {
        true => session.document(&learned.document(args.seed))?,
        false => learned.print(session)?,
    }
    parts.enforcement.iter().for_each(|enforcement| enforcement.report(&model.names, session));
    if let Some(max) = facts.exceeded {
        session.note(too_large(elements, max));
    }
    if let Some(before) = facts.much_smaller {
        let [elements, before] = [elements, before].map(|n| count(n as f64));
        session.note(format!(
            "{elements} elements, {before} before: columns, rules or --closed groups made the model large on this vtree; \
             fewer columns in each --closed, or --max-elements, make it smaller"
        ));
    }
    if let Some(max) = max_classes.filter(|&max| classes > max) {
        session.note(too_many_classes(classes, max));
    }
    if let Some((columns, classes)) = facts.class_limit {
        let more = 2 * classes;
        session.note(format!(
            "after {} there are {classes} classes or more, as many as a structure starts with; --max-classes {more} may \
             fit the records better",
            counted(columns, "column")
        ));
    }
    tell_exclusive(&facts.exclusive, &model.names, session);
    if let Some(worst) = fidelity.warning() {
        let [learned, share] = [worst.probability, worst.share].map(probability);
        session.note(format!(
            "{} is {learned} by the model, but {share} of {}; more --effort or another --learner may come closer",
            conditional(worst, &model.names),
            records(worst.support)
        ));
    }
    tell_held_out(facts.held_out, session);
    if let Some(judges) = facts.few_judges {
        let [judges, enough] = [judges, Report::FEW_JUDGES].map(count);
        session.note(format!(
            "{judges} records to choose by are too few for --effort best, so this is what --effort balanced makes; --valid \
             FILE with at least {enough} gives more"
        ));
    }
    // A model that could not be saved is lost, but its report is printed.
    saved?;
    tell_saved(args.output.as_deref(), model.ending(), session);
    Ok(Verdict::Yes)
}

/// That a model is larger than asked for.
pub(crate) fn too_large(elements: usize, max: usize) -> String {
    let [elements, max] = [elements, max].map(|n| count(n as f64));
    format!(
        "{elements} elements are more than --max-elements {max}: columns, rules, a base or --closed need this many; no \
         smaller model was found"
    )
}

/// That a vtree node has more nodes than asked for.
pub(crate) fn too_many_classes(classes: usize, max: usize) -> String {
    let [classes, max] = [classes, max].map(|n| count(n as f64));
    format!(
        "a vtree node has {classes} nodes, more than --max-classes {max}: columns, rules, a base or --closed split \
         classes further"
    )
}

/// Says which Boolean columns look like one column with several values.
fn tell_exclusive(groups: &[Vec<Var>], names: &Names, session: &Session) {
    /// So many groups, and so many columns of each, are named.
    const NAMED: usize = 5;
    for group in &groups[..groups.len().min(NAMED)] {
        let others = if group.len() > NAMED { ", …" } else { "" };
        let columns = names.list(&group[..group.len().min(NAMED)]);
        session.note(format!(
            "{} look like one: no record has two of {columns}{others}; they were learned as one column",
            counted(group.len(), "column")
        ));
    }
    if groups.len() > NAMED {
        session.note(format!("{} more groups of columns were learned as one column each", groups.len() - NAMED));
    }
}

/// Saves a model, if asked to.
pub(crate) fn save(output: Option<&Path>, write: impl Fn(&Path) -> Result<(), WriteError>) -> Result<(), Error> {
    let Some(output) = output else { return Ok(()) };
    write(output).map_err(|error| Error::from(error).while_doing("the model was not saved"))
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

/// Says that records were held out, where no others to choose by were given.
pub(crate) fn tell_held_out(weight: Option<f64>, session: &Session) {
    if let Some(weight) = weight.filter(|&weight| weight > 0.0) {
        let held = records(weight);
        session.note(format!("{held} held out by seed to choose by; --valid FILE gives others"));
    }
}

/// The records without missing cells, and how many others there were.
pub(crate) fn without_incomplete(records: Records, file: &Path) -> Result<(Records, f64), Error> {
    if !records.has_missing() {
        return Ok((records, 0.0));
    }
    let kept = records.complete();
    if kept.is_empty() {
        let message =
            format!("every record of {} misses a cell, so --drop-incomplete leaves none", path_in_words(file));
        return Err(Error::new(message).hint(FILL_IN));
    }
    let dropped = records.total() - kept.total();
    Ok((kept, dropped))
}
