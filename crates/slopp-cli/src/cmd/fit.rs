//! `slopp fit`: new parameters for a fixed structure.

use crate::args::{ModelArgs, ReadArgs};
use crate::cmd::eval::Score;
use crate::cmd::learn::score_table;
use crate::error::Error;
use crate::input::{LoadedModel, log_likelihoods, read_records_of};
use crate::report::{count, counted, json_count, object};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::circuit::Smoothing;
use slopp::learn::Fitted;
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
    /// The records: CSV, .data or .wdata, `-` for stdin; no cell may be missing
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Add the records to the counts the model keeps, instead of starting anew
    #[arg(long)]
    add: bool,
    /// The weight of the prior in records [default: that of the model, else 1]
    #[arg(long, value_name = "X")]
    pseudocount: Option<f64>,
    /// Save the model in this file, `-` for stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &FitArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let loaded = LoadedModel::read(&args.model)?;
    let records = read_records_of(&args.data, args.read, &loaded.model.names)?;
    let pseudocount = args.pseudocount.unwrap_or_else(|| own_pseudocount(&loaded.model));
    let smoothing = Smoothing::marginal(pseudocount, &records);
    let fitted = match (&loaded.model.circuit, args.add) {
        (Certified::Psdd(psdd), false) => certified(psdd.fit(&records, &smoothing)?, Certified::Psdd),
        (Certified::Psdd(psdd), true) => certified(psdd.add_records(&records, &smoothing)?, Certified::Psdd),
        (_, add) => {
            let circuit = loaded.deterministic("fitting by counting")?;
            let fitted = match add {
                false => circuit.fit(&records, &smoothing)?,
                true => circuit.add_records(&records, &smoothing)?,
            };
            certified(fitted, |circuit| Certified::new(circuit.into_circuit()))
        }
    };
    let scores = [
        ("before", Score::new(&records, &loaded.log_likelihoods(&records)?)),
        ("after", Score::new(&records, &log_likelihoods(&fitted.circuit, &records)?)),
    ];
    let Fitted { circuit, counted: used, impossible, dropped } = fitted;
    let mut model = Model { circuit, ..loaded.model };
    let already: f64 = model.origin.get("records").and_then(|n| n.parse().ok()).unwrap_or(0.0);
    let total = if args.add { already + used } else { used };
    let facts = [("records", total.to_string()), ("pseudocount", pseudocount.to_string())];
    model.origin.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    model.origin.insert("parameters".to_owned(), if args.add { "added" } else { "refitted" }.to_owned());
    if let Some(output) = &args.output {
        slopp::io::write_model(output, &model).map_err(|e| Error::from(e).while_doing("the model was not saved"))?;
    }
    if session.json {
        let [(_, before), (_, after)] = &scores;
        session.document(&object([
            ("counted", json_count(used)),
            ("impossible", json_count(impossible)),
            ("dropped_elements", Value::from(dropped)),
            ("before", object(before.entries())),
            ("after", object(after.entries())),
            ("model", args.output.as_ref().map_or(Value::Null, |file| Value::from(file.display().to_string()))),
        ]))?;
        return Ok(Verdict::Yes);
    }
    session.line(format!("counted {} records; {} are impossible and left out", count(used), count(impossible)))?;
    session.table(&score_table(&scores))?;
    if dropped > 0 {
        session.line(format!("{} no record uses are gone; --pseudocount 1 keeps them", counted(dropped, "element")))?;
    }
    match &args.output {
        Some(file) => session.line(format!("saved in {}", file.display()))?,
        None => session.line("not saved; -o model.psdd saves the model")?,
    }
    Ok(Verdict::Yes)
}

/// The pseudocount the model was learned with.
fn own_pseudocount(model: &Model) -> f64 {
    model.origin.get("pseudocount").and_then(|text| text.parse().ok()).unwrap_or(1.0)
}

fn certified<C>(fitted: Fitted<C>, wrap: impl FnOnce(C) -> Certified) -> Fitted<Certified> {
    let Fitted { circuit, counted, impossible, dropped } = fitted;
    Fitted { circuit: wrap(circuit), counted, impossible, dropped }
}
