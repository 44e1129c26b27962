//! `slopp explain`: why records are impossible, and what would make them possible.

use crate::args::{CircuitArgs, ReadArgs, positive, whole};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, explained, read_records_of};
use crate::report::records as records_in_words;
use crate::report::{
    changes_in_words, count, counted, is_or_are, json, json_changes, json_world, object, probability_of,
};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::infer::{Evidence, Explanation, NearWorld};
use slopp::logic::Rules;
use slopp::names::{Column, abridged};
use slopp::{Names, Records};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  slopp explain model.psdd orders.csv
  slopp explain model.psdd orders.csv -k 3 --json          one object per impossible record, three repairs each
  slopp explain model.psdd orders.csv --rules rules.txt    also which of these rules are broken, by line";

/// Why is a record impossible, which rule does it break, and which cells should change?
///
/// For each impossible record: cells that cannot hold together, none of them superfluous, as the rule that is broken;
/// and the nearest possible worlds, at the least number of changed cells, the most probable first. Both are exact.
/// Missing cells are free. Needs a deterministic circuit; `slopp possible` asks a mixture. `slopp repair` makes the
/// changes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    model: CircuitArgs,
    /// The records: CSV, .data or .wdata, `-` for stdin
    data: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// How many possible worlds for each record, the nearest and most probable first
    #[arg(short, value_name = "K", default_value_t = 1, value_parser = positive)]
    k: usize,
    /// Also list the rules of this file that are broken
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Print at most this many records; 0 for all; JSON always has all
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole)]
    limit: usize,
}

pub(crate) fn run(args: &ExplainArgs, session: &mut Session) -> Result<Verdict, Error> {
    Files::default().read(args.model.files()).read([&args.data]).read(&args.rules).check()?;
    let loaded = Loaded::read_circuit(&args.model)?;
    let circuit = loaded.deterministic("the most probable of the nearest worlds")?;
    let names = &loaded.model.names;
    let records = read_records_of(&args.data, args.read, names)?;
    let rules = match &args.rules {
        Some(file) => Some(slopp::io::read_rules(file, Some(names), &args.model.limits.limits()).map_err(explained)?),
        None => None,
    };
    let explanations = circuit.explain_batch(&records, args.k, &args.model.limits.limits())?;
    let by_record = records.original().iter().map(|&row| row as usize).enumerate();
    let mut faulty = by_record.filter_map(|(i, row)| Some((i + 1, row, explanations[row].as_ref()?)));
    if session.json {
        let entry = |(number, row, found): (usize, usize, &Explanation)| {
            let evidence = Evidence::from_row(&records, row);
            let mut entries = vec![
                ("record", Value::from(number)),
                ("rule", Value::from(found.rule().display(names).to_string())),
                ("conflict", json_changes(names, &found.conflict)),
                ("distance", Value::from(found.repairs[0].distance)),
                ("change", json_changes(names, &found.repairs[0].changes(&evidence))),
                ("nearest", found.repairs.iter().map(|near| near_entry(names, near, &evidence)).collect()),
            ];
            if let Some(rules) = &rules {
                let broken = rules.broken_by_known(|var| evidence.value(var)).into_iter();
                entries.push(("broken", broken.map(|i| rule_entry(rules, i)).collect()));
            }
            object(entries)
        };
        let document: Value = faulty.map(entry).collect();
        session.document(&document)?;
        return Ok(Verdict::Yes);
    }
    let impossible: f64 = weights(&records, &explanations).sum();
    let all = records_in_words(records.total());
    session.line(format!("{} of {all} {} impossible", count(impossible), is_or_are(impossible)))?;
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    for (number, row, found) in faulty.by_ref().take(limit) {
        let evidence = Evidence::from_row(&records, row);
        session.line(format!("record {} breaks: {}", count(number as f64), found.rule().display(names)))?;
        if let Some(rules) = &rules {
            let all: Vec<usize> = rules.broken_by_known(|var| evidence.value(var));
            for rule in rules_in_words(rules, &all) {
                session.line(format!("  {rule}"))?;
            }
        }
        for near in &found.repairs {
            let change = changes_in_words(names, &near.changes(&evidence), "cell");
            // Several worlds may differ only in cells that are missing.
            let filled = if found.repairs.len() > 1 { filled_in_words(names, near, &evidence) } else { String::new() };
            session.line(format!("  change {change}{filled} (P = {})", probability_of(near.log_probability)))?;
        }
    }
    let more = faulty.count();
    if more > 0 {
        session.note(format!("{} more; --limit 0 lists all", count(more as f64)));
    }
    Ok(Verdict::Yes)
}

/// What a world has in the cells that are missing.
fn filled_in_words(names: &Names, near: &NearWorld, evidence: &Evidence) -> String {
    let missing = names.columns().filter_map(|column| match column {
        Column::Boolean(var) => evidence.value(var).is_none().then(|| var.is(near.world[var.index()])),
        // The value that holds says it of the others.
        Column::Group(group) => group
            .vars()
            .find(|&var| near.world[var.index()])
            .filter(|_| group.vars().all(|var| evidence.value(var).is_none()))
            .map(|var| var.is(true)),
    });
    let missing: Vec<String> = missing.map(|lit| names.literal(lit)).collect();
    if missing.is_empty() { String::new() } else { format!(", with {}", missing.join(", ")) }
}

/// The weights of the impossible rows.
pub(crate) fn weights(records: &Records, explanations: &[Option<Explanation>]) -> impl Iterator<Item = f64> {
    records.weights().iter().zip(explanations).filter(|(_, found)| found.is_some()).map(|(&weight, _)| weight)
}

/// How many broken rules of a record are listed.
const BROKEN_SHOWN: usize = 5;

/// Broken rules with their lines, the first few of many.
pub(crate) fn rules_in_words(rules: &Rules, broken: &[usize]) -> Vec<String> {
    let rule = |&i: &usize| match rules[i].line {
        0 => abridged(&rules[i].text).into_owned(),
        line => format!("line {line}: {}", abridged(&rules[i].text)),
    };
    let mut words: Vec<String> = broken.iter().take(BROKEN_SHOWN).map(rule).collect();
    if broken.len() > BROKEN_SHOWN {
        words.push(format!("and {}", counted(broken.len() - BROKEN_SHOWN, "more rule")));
    }
    words
}

/// A rule with its line.
pub(crate) fn rule_entry(rules: &Rules, i: usize) -> Value {
    object([("line", Value::from(rules[i].line)), ("rule", Value::from(rules[i].text.as_str()))])
}

fn near_entry(names: &Names, near: &NearWorld, evidence: &Evidence) -> Value {
    object([
        ("distance", Value::from(near.distance)),
        ("change", json_changes(names, &near.changes(evidence))),
        ("world", json_world(names, &near.world)),
        ("probability", json(near.log_probability.exp())),
        ("log_probability", json(near.log_probability)),
    ])
}
