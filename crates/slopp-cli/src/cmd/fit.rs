//! `slopp fit`: new parameters for a fixed structure.

use crate::args::{ModelArgs, ReadArgs, not_negative, whole};
use crate::cmd::learn::{save, score_table, tell_saved, without_incomplete};
use crate::error::Error;
use crate::files::{Files, check_ending};
use crate::input::{Loaded, read_records_of};
use crate::report::{count, counted, is_or_are, json_count, json_list, object, records, score_entries};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::ModelKind;
use slopp::infer::Score;
use slopp::io::Content;
use slopp::learn::{EmConfig, Refit, Refitted};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp fit model.psdd new.csv -o refitted.psdd       forget the old records, keep the structure
  slopp fit model.psdd new.csv --add -o model.psdd    add records to those it was learned from
  slopp fit rules.psdd records.csv --pseudocount 1 -o model.psdd
  slopp fit model.psdd gaps.csv --em-steps 20 -o model.psdd    records with missing cells: EM
  slopp fit bag.mix gaps.csv -o bag.mix                        a mixture: EM";

/// Fit the parameters of a model to records, with its structure fixed
///
/// Exact, by counting, if the circuit is deterministic and no cell is missing. Otherwise by expectation maximisation
/// (EM), which fits to expected counts and repeats until the likelihood stops rising. Because of the prior, a few records
/// may become less likely than before. The components of a mixture and their weights are fitted together, and components
/// that no record needs are left out. For a sum-product network, its current parameters are the prior. Records that the
/// structure makes impossible are left out and reported. Without a pseudocount, elements that no record uses become
/// impossible and are dropped.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The records: CSV, .data or .wdata, `-` for stdin; cells may be missing
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Add the records to the counts the model keeps, instead of starting anew
    #[arg(long)]
    add: bool,
    /// The weight of the prior in records [default: that of the model, else 1]
    #[arg(long, value_name = "X", value_parser = not_negative)]
    pseudocount: Option<f64>,
    /// The largest number of steps of EM [default: 100]
    #[arg(long, value_name = "N", value_parser = whole)]
    em_steps: Option<usize>,
    /// Leave out records with missing cells, instead of EM
    #[arg(long)]
    drop_incomplete: bool,
    /// Save the model in this file, `-` for stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &FitArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    // A model may be replaced by the same model with other parameters.
    let files = Files::default().replace([&args.model.model]).read(&args.model.vtree).read([&args.data]);
    files.write(&args.output, Content::Model).check()?;
    let loaded = Loaded::read(&args.model)?;
    let ending = loaded.model.kind.ending();
    check_ending(args.output.as_deref(), ending, "the fitted model")?;
    let data = read_records_of(&args.data, args.read, &loaded.model.names)?;
    let (data, incomplete) = match args.drop_incomplete {
        true => without_incomplete(data, &args.data)?,
        false => (data, 0.0),
    };
    if args.em_steps.is_some() && loaded.model.is_fitted_by_counting(&data) {
        return Err(Error::new("--em-steps is for EM, and this circuit is fitted exactly, by counting")
            .hint("leave --em-steps out"));
    }
    let limits = args.model.limits.limits();
    let how = Refit { pseudocount: args.pseudocount, add: args.add, steps: args.em_steps, em: false, limits };
    let Refitted { model, used, impossible, dropped, history, .. } =
        loaded.model.refit(&data, &how, &session.progress())?;
    let scores = [
        ("before", Score::of(loaded.model.distribution(), &data)?),
        ("after", Score::of(model.distribution(), &data)?),
    ];
    let components = match (&loaded.model.kind, &model.kind) {
        (ModelKind::Mixture(before), ModelKind::Mixture(fitted)) => {
            Some((before.components().len(), fitted.components().len()))
        }
        _ => None,
    };
    let saved = save(args.output.as_deref(), |file| model.save(file));
    let output = args.output.as_ref().filter(|_| saved.is_ok());
    if session.json {
        let [(_, before), (_, after)] = &scores;
        let mut entries = vec![("counted", json_count(used)), ("impossible", json_count(impossible))];
        if args.drop_incomplete {
            entries.push(("dropped_incomplete", json_count(incomplete)));
        }
        entries.extend([
            ("dropped_elements", Value::from(dropped)),
            ("dropped_components", components.map_or(Value::Null, |(before, after)| Value::from(before - after))),
            ("em_steps", history.as_ref().map_or(Value::Null, |history| Value::from(history.len() - 1))),
            ("em_history", history.map_or(Value::Null, json_list)),
            ("before", object(score_entries(before))),
            ("after", object(score_entries(after))),
            ("model", output.map_or(Value::Null, |file| Value::from(file.display().to_string()))),
        ]);
        session.document(&object(entries))?;
    } else {
        let left_out = format!("{} {} impossible and left out", count(impossible), is_or_are(impossible));
        match &history {
            None => session.line(format!("counted {}; {left_out}", records(used)))?,
            Some(history) => {
                session.line(format!("{} of EM on {}; {left_out}", steps_in_words(history), records(used)))?;
                if history.len() > em_steps(args) {
                    session.note(format!("stopped after {} steps; --em-steps N does more", em_steps(args)));
                }
            }
        }
        if args.drop_incomplete {
            session.line(format!("dropped {} with missing cells", records(incomplete)))?;
        }
        session.table(&score_table(&scores))?;
        if let Some((before, after)) = components.filter(|(before, after)| after < before) {
            session
                .line(format!("{after} of {} are left: no record needs the others", counted(before, "component")))?;
        } else if dropped > 0 {
            let gone =
                format!("{} that no record uses {} gone", counted(dropped, "element"), is_or_are(dropped as f64));
            session.line(format!("{gone}; --pseudocount 1 keeps them"))?;
        }
    }
    saved?;
    tell_saved(args.output.as_deref(), ending, session);
    Ok(Verdict::Yes)
}

fn em_steps(args: &FitArgs) -> usize {
    args.em_steps.unwrap_or(EmConfig::default().steps)
}

fn steps_in_words(history: &[f64]) -> String {
    counted(history.len() - 1, "step")
}
