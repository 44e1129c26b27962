//! `slopp rules`: what a model says is impossible, as rules that people read.

use crate::args::{CircuitArgs, ReadArgs, positive, whole};
use crate::error::Error;
use crate::files::Files;
use crate::input::{Loaded, read_records_of};
use crate::report::{count, counted, grouped, json, json_count, json_literals, object, probability};
use crate::session::{Session, Verdict};
use clap::{Args, ValueEnum};
use serde_json::Value;
use slopp::Names;
use slopp::io::Content;
use slopp::knowledge::Coverage;
use slopp::logic::{BaseRule, BaseRules, Formula, RuleKind, RuleSearch, Rules};
use slopp::names::{Group, visible_json};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  slopp rules model.psdd
  slopp rules model.psdd --records records.csv --max-length 4    with their support in these records
  slopp rules model.psdd -o rules.txt && slopp entails rules.txt \"red -> !blue\"
  slopp rules model.psdd --format cnf -o base.cnf";

/// Print the rules that hold in every possible world: exact, proved, none redundant
///
/// Literals that always hold, equivalences, exactly-one groups, implications, exclusions, then clauses up to a length.
/// The support of a rule is the weight of the records that had occasion to break it; what it excludes is the
/// probability of breaking it if all variables were independent. Counting the worlds that both allow shows
/// whether the rules are the whole base. The text can be read again as rules. An open-world model has no rules:
/// everything is possible.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RulesArgs {
    #[command(flatten)]
    model: CircuitArgs,
    /// Count the support in these records [default: in the counts that the model keeps, where they suffice]
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// The longest clauses to look for, in literals; at least 2
    #[arg(long, value_name = "N", default_value_t = RuleSearch::default().length, value_parser = length)]
    max_length: usize,
    /// How many sets of literals are tried at most for clauses of more than two
    #[arg(long, value_name = "N", default_value_t = RuleSearch::default().steps, value_parser = whole)]
    steps: usize,
    /// How many clauses of more than two literals are kept at most, those that exclude most
    #[arg(long, value_name = "N", default_value_t = RuleSearch::default().most_clauses, value_parser = positive)]
    max_clauses: usize,
    /// How the rules are written, also to a file
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One rule per line, with comments
    Text,
    /// DIMACS clauses, with the names in a comment
    Cnf,
    /// One document, as --json
    Json,
}

fn length(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number >= 2);
    number.ok_or_else(|| "it must be a whole number of at least 2".to_owned())
}

pub(crate) fn run(args: &RulesArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let content = match args.format {
        Format::Text => Content::Rules,
        Format::Cnf => Content::Clauses,
        Format::Json => Content::Json,
    };
    Files::default().read(args.model.files()).read(&args.records).write(&args.output, content).check()?;
    let loaded = Loaded::read_circuit(&args.model)?;
    let (names, circuit) = (&loaded.model.names, loaded.circuit());
    let search = RuleSearch {
        length: args.max_length,
        steps: args.steps,
        most_clauses: args.max_clauses,
        ..RuleSearch::default()
    };
    let found = match &args.records {
        Some(file) => circuit.rules_with(&read_records_of(file, args.read, names)?, &search)?,
        None => circuit.rules(&search)?,
    };
    let found = found.with_whole_columns(names);
    let coverage = circuit.coverage_by(&found, &Coverage::limits(None)).ok();
    let coverage = coverage.as_ref();
    let text = match args.format {
        Format::Text => text(&found, coverage, args, names),
        Format::Cnf => cnf(&found, names)?,
        Format::Json => format!("{}\n", visible_json(&format!("{:#}", document(&found, coverage, names)))),
    };
    match &args.output {
        Some(file) => {
            slopp::io::write_atomically(file, |out| out.write_all(text.as_bytes()))?;
            session.saved(file);
            match session.json {
                true => session.document(&document(&found, coverage, names))?,
                false => {
                    session.line(in_words(&found))?;
                    session.line(coverage_in_words(coverage, &found, args))?;
                }
            }
        }
        None if session.json => session.document(&document(&found, coverage, names))?,
        None => session.data(text.trim_end())?,
    }
    let is_kept = found.rules.iter().any(|rule| rule.support.is_some());
    if is_kept && found.rules.iter().any(|rule| rule.support.is_none()) {
        session.note("the counts of the model do not show how many records support some rules; --records FILE does");
    }
    Ok(Verdict::Yes)
}

/// How much of the base the rules say, in one sentence; `None` if that is unknown.
fn coverage_in_words(coverage: Option<&Coverage>, found: &BaseRules, args: &RulesArgs) -> String {
    let Some(coverage) = coverage else {
        return "whether these rules are the whole base is unknown: its diagram is too large".to_owned();
    };
    if coverage.is_whole_base() {
        return match found.rules.len() {
            0 => "there are no rules: every world is possible".to_owned(),
            _ => "these rules are the whole base".to_owned(),
        };
    }
    let [possible, allowed] = [&coverage.possible, &coverage.allowed].map(|number| grouped(&number.to_string()));
    let more = match found.complete_to < args.max_length {
        false => "longer clauses (--max-length)",
        true => "a longer search (--steps, --max-clauses)",
    };
    format!("{possible} of {allowed} worlds that the rules allow are possible; {more} would find more")
}

/// What was found, in one sentence.
fn in_words(found: &BaseRules) -> String {
    let length = counted(found.complete_to, "literal");
    let complete = format!("every entailed clause of up to {length} follows from them");
    let minimal = if found.is_minimal { "none follows from the others" } else { "some may follow from the others" };
    match found.rules.len() {
        0 => format!("no rules: no clause of up to {length} is entailed"),
        number => format!("{}; {complete}; {minimal}", counted(number, "rule")),
    }
}

fn heading(kind: RuleKind) -> &'static str {
    match kind {
        RuleKind::Literal => "always",
        RuleKind::Equivalence => "the same",
        RuleKind::ExactlyOne => "exactly one",
        RuleKind::Implication => "implications",
        RuleKind::Exclusion => "at most one",
        RuleKind::Clause => "clauses",
    }
}

/// The rules as a file of rules, with comments.
fn text(found: &BaseRules, coverage: Option<&Coverage>, args: &RulesArgs, names: &Names) -> String {
    let mut text = format!("# {}\n# {}\n", in_words(found), coverage_in_words(coverage, found, args));
    let formulas = found.rules.iter().map(|rule| rule.formula());
    let all = Rules::new(Arc::new(names.clone()), formulas);
    all.names_line().into_iter().for_each(|line| text += &format!("{line}\n"));
    let rules: Vec<String> = found.rules.iter().map(|rule| rule.display(names).to_string()).collect();
    let width = rules.iter().map(|rule| rule.chars().count()).max().unwrap_or(0).min(60);
    let is_column = |rule: &BaseRule| {
        let of_one = |group: &Group| rule.literals.iter().all(|lit| group.contains(lit.var));
        rule.kind == RuleKind::ExactlyOne && names.groups().iter().any(of_one)
    };
    let mut lines: Vec<(&BaseRule, String, &str)> = found
        .rules
        .iter()
        .zip(rules)
        .map(|(rule, words)| (rule, words, if is_column(rule) { "one value per column" } else { heading(rule.kind) }))
        .collect();
    // Columns first: the others build on them.
    lines.sort_by_key(|(rule, ..)| !is_column(rule));
    let mut section = "";
    for (rule, words, heading) in lines {
        if std::mem::replace(&mut section, heading) != heading {
            let _ = writeln!(text, "\n# {heading}");
        }
        let support = rule.support.map(|support| format!("support {}", count(support)));
        // A rule that always holds says nothing new about probabilities.
        let excluded = (rule.kind != RuleKind::Literal).then(|| format!("excludes {}", probability(rule.excluded)));
        let remarks: Vec<String> = [support, excluded].into_iter().flatten().collect();
        let line = if remarks.is_empty() { words } else { format!("{words:<width$}  # {}", remarks.join(", ")) };
        let _ = writeln!(text, "{line}");
    }
    text
}

fn cnf(found: &BaseRules, names: &Arc<Names>) -> Result<String, Error> {
    let clauses = found.to_clauses().into_iter().map(|clause| Formula::or(clause.into_iter().map(Formula::literal)));
    Ok(slopp::io::cnf_text(&Rules::new(names.clone(), clauses))?)
}

fn document(found: &BaseRules, coverage: Option<&Coverage>, names: &Names) -> Value {
    let entry = |rule: &BaseRule| {
        let literals = rule.literals.iter().map(|&lit| Value::from(names.literal(lit)));
        object([
            ("kind", Value::from(rule.kind.name())),
            ("rule", Value::from(rule.display(names).to_string())),
            ("literals", literals.collect()),
            ("clauses", rule.to_clauses().iter().map(|clause| json_literals(names, clause)).collect()),
            ("support", rule.support.map_or(Value::Null, json_count)),
            ("excluded", json(rule.excluded)),
        ])
    };
    let [possible, allowed] = coverage.map_or([Value::Null, Value::Null], |coverage| {
        [&coverage.possible, &coverage.allowed].map(|number| Value::from(number.to_string()))
    });
    object([
        ("rules", found.rules.iter().map(entry).collect()),
        ("complete_to", Value::from(found.complete_to)),
        ("minimal", Value::Bool(found.is_minimal)),
        ("whole_base", coverage.map_or(Value::Null, |coverage| Value::Bool(coverage.is_whole_base()))),
        ("model_count", possible),
        ("allowed", allowed),
    ])
}
