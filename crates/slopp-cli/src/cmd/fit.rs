//! `slopp fit`: new parameters for a fixed structure.

use crate::args::{ModelArgs, ReadArgs, not_negative};
use crate::cmd::eval::Score;
use crate::cmd::learn::{save, score_table, tell_saved, without_incomplete};
use crate::error::Error;
use crate::files::Files;
use crate::input::{LoadedModel, log_likelihoods, read_records_of};
use crate::report::{count, counted, is_or_are, json_count, object, records};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::circuit::Smoothing;
use slopp::infer::QueryError;
use slopp::learn::{FitError, Fitted};
use slopp::{Certified, Model};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp fit model.psdd new.csv -o refitted.psdd       forget the old records, keep the structure
  slopp fit model.psdd new.csv --add -o model.psdd    add records to those it was learned from
  slopp fit rules.psdd records.csv --pseudocount 1 -o model.psdd";

/// Fit the parameters of a model to records, with its structure fixed
///
/// Exact, by counting; needs a deterministic circuit. Records that the structure makes impossible are left out and
/// reported. Without a pseudocount, elements that no record uses become impossible and are dropped.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The records: CSV, .data or .wdata, `-` for stdin; no cell may be missing unless --drop-incomplete
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Add the records to the counts the model keeps, instead of starting anew
    #[arg(long)]
    add: bool,
    /// The weight of the prior in records [default: that of the model, else 1]
    #[arg(long, value_name = "X", value_parser = not_negative)]
    pseudocount: Option<f64>,
    /// Leave out records with missing cells
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
    files.write(&args.output).check()?;
    let loaded = LoadedModel::read(&args.model)?;
    let data = read_records_of(&args.data, args.read, &loaded.model.names)?;
    let (data, incomplete) = match args.drop_incomplete {
        true => without_incomplete(data, &args.data)?,
        false => (data, 0.0),
    };
    let pseudocount = args.pseudocount.unwrap_or_else(|| own_pseudocount(&loaded.model));
    let smoothing = match args.add {
        false => Smoothing::marginal(pseudocount, &data),
        true => Smoothing::marginal_with(pseudocount, &loaded.model.circuit, &data),
    };
    let fitted = match (&loaded.model.circuit, args.add) {
        (Certified::Psdd(psdd), false) => certified(psdd.fit(&data, &smoothing).map_err(explained)?, Certified::Psdd),
        (Certified::Psdd(psdd), true) => {
            certified(psdd.add_records(&data, &smoothing).map_err(explained)?, Certified::Psdd)
        }
        (_, add) => {
            let circuit = loaded.deterministic("fitting by counting")?;
            let fitted = match add {
                false => circuit.fit(&data, &smoothing).map_err(explained)?,
                true => circuit.add_records(&data, &smoothing).map_err(explained)?,
            };
            certified(fitted, |circuit| Certified::new(circuit.into_circuit()))
        }
    };
    let scores = [
        ("before", Score::new(&data, &loaded.model.circuit.log_likelihoods(&data)?)),
        ("after", Score::new(&data, &log_likelihoods(&fitted.circuit, &data)?)),
    ];
    let Fitted { circuit, counted: used, impossible, dropped } = fitted;
    let mut model = Model { circuit, ..loaded.model };
    let already: f64 = model.origin.get("records").and_then(|n| n.parse().ok()).unwrap_or(0.0);
    let total = if args.add { already + used } else { used };
    let facts = [("records", total.to_string()), ("pseudocount", pseudocount.to_string())];
    model.origin.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    model.origin.insert("parameters".to_owned(), if args.add { "added" } else { "refitted" }.to_owned());
    let saved = save(args.output.as_deref(), &model);
    let output = args.output.as_ref().filter(|_| saved.is_ok());
    if session.json {
        let [(_, before), (_, after)] = &scores;
        let mut entries = vec![("counted", json_count(used)), ("impossible", json_count(impossible))];
        if args.drop_incomplete {
            entries.push(("dropped_incomplete", json_count(incomplete)));
        }
        entries.extend([
            ("dropped_elements", Value::from(dropped)),
            ("before", object(before.entries())),
            ("after", object(after.entries())),
            ("model", output.map_or(Value::Null, |file| Value::from(file.display().to_string()))),
        ]);
        session.document(&object(entries))?;
    } else {
        let left_out = format!("{} {} impossible and left out", count(impossible), is_or_are(impossible));
        session.line(format!("counted {}; {left_out}", records(used)))?;
        if args.drop_incomplete {
            session.line(format!("dropped {} with missing cells", records(incomplete)))?;
        }
        session.table(&score_table(&scores))?;
        if dropped > 0 {
            let gone =
                format!("{} that no record uses {} gone", counted(dropped, "element"), is_or_are(dropped as f64));
            session.line(format!("{gone}; --pseudocount 1 keeps them"))?;
        }
    }
    saved?;
    tell_saved(args.output.as_deref(), session);
    Ok(Verdict::Yes)
}

/// The error of fitting, with the option that helps.
fn explained(error: FitError) -> Error {
    let incomplete = matches!(error, FitError::Query(QueryError::MissingCell { .. }));
    let error = Error::from(error);
    if incomplete { error.hint("--drop-incomplete leaves out records with missing cells") } else { error }
}

/// The pseudocount the model was learned with.
fn own_pseudocount(model: &Model) -> f64 {
    model.origin.get("pseudocount").and_then(|text| text.parse().ok()).unwrap_or(1.0)
}

fn certified<C>(fitted: Fitted<C>, wrap: impl FnOnce(C) -> Certified) -> Fitted<Certified> {
    let Fitted { circuit, counted, impossible, dropped } = fitted;
    Fitted { circuit: wrap(circuit), counted, impossible, dropped }
}
