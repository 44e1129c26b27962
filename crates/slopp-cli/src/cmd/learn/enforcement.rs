//! Rules in learning: training records that break them, and what became of those records.

use super::options::RuleArgs;
use crate::cmd::explain::{rule_entry, rules_in_words};
use crate::error::Error;
use crate::input::explained;
use crate::knowledge::{contradiction_in_words, no_variables};
use crate::report::records as records_in_words;
use crate::report::{changes_in_words, count, counted, json_changes, json_count, object};
use crate::session::Session;
use serde_json::Value;
use slopp::infer::QueryError;
use slopp::io::path_in_words;
use slopp::learn::{Enforced, LearnError, OnViolation, Violation, Violations};
use slopp::logic::{Conflict, Rules, Stopped};
use slopp::names::abridged;
use slopp::{Names, Records};
use std::path::{Path, PathBuf};

/// How many records that break rules are described.
const SHOWN: usize = 10;

/// The way out where rules are large on a vtree.
const OWN_VTREE: &str = "`slopp compile RULES --names RECORDS -o rules.vtree`, then `slopp learn --vtree rules.vtree`";

/// Rules that the result must obey: those of a file, and that every column has one value.
pub(crate) struct Enforcement {
    /// The rules of the file.
    given: Option<Rules>,
    on_violation: OnViolation,
    /// The training records that broke rules; if they are a part of the file, by their places in it.
    violations: Violations,
    /// Whether the training records are a part of the file, of which the rest is left as it is.
    is_part: bool,
}

impl Enforcement {
    /// Reads the rules and applies them to the training records; gives the records to learn from. Without rules and
    /// without columns of several values there is nothing to obey. If the records are a part of the file, `places` are
    /// theirs in it, from zero.
    pub(crate) fn new(
        args: &RuleArgs,
        train: &Path,
        records: Records,
        places: Option<&[usize]>,
    ) -> Result<(Option<Enforcement>, Records), Error> {
        let names = records.names();
        let read = |file: &PathBuf| slopp::io::read_rules(file, Some(names), &args.limits.limits()).map_err(explained);
        let given = args.file.as_ref().map(read).transpose()?;
        if given.is_none() && names.groups().is_empty() {
            return Ok((None, records));
        }
        let on_violation = args.on_violation.map_or(OnViolation::Reject, Into::into);
        let rules = given.clone().unwrap_or_else(|| Rules::new(names.clone(), []));
        let enforcement = |mut violations: Violations| {
            if let Some(places) = places {
                violations.records.iter_mut().for_each(|violation| violation.record = places[violation.record]);
            }
            Enforcement { given, on_violation, violations, is_part: places.is_some() }
        };
        match rules.enforce(&records, on_violation, &args.limits.limits()) {
            Ok(Enforced { changed, violations, .. }) => Ok((Some(enforcement(violations)), changed.unwrap_or(records))),
            Err(LearnError::Broken(violations)) => Err(enforcement(*violations).refusal(train, &records)),
            Err(LearnError::Logic(error)) => Err(no_variables(error)),
            Err(LearnError::Query(QueryError::Compile(stopped))) => Err(too_large(stopped)),
            Err(LearnError::Contradiction { rules, conflict }) => Err(contradiction(&rules, &conflict)),
            Err(LearnError::NothingLeft) => Err(Error::new("every record breaks a rule, so dropping leaves none")
                .hint("look at the rules, or --on-violation repair")),
            Err(error) => Err(error.into()),
        }
    }

    /// The rules of the file, if there is one.
    pub(crate) fn given(&self) -> Option<Rules> {
        self.given.clone()
    }

    /// The refusal to learn from records that break rules.
    fn refusal(&self, train: &Path, records: &Records) -> Error {
        let all = records_in_words(records.total());
        let part = if self.is_part { "the training part of " } else { "" };
        let message =
            format!("{} of {all} in {part}{} break a rule", count(self.violations.weight), path_in_words(train));
        let lines = self.in_words(records.names());
        Error::new(lines.join("\n          "))
            .while_doing(message)
            .hint("--on-violation drop leaves them out, --on-violation repair changes as few cells as possible")
    }

    /// The first records that break rules, one line each.
    fn in_words(&self, names: &Names) -> Vec<String> {
        let line = |violation: &Violation| {
            let broken = match violation.broken.is_empty() {
                false => rules_in_words(&self.violations.rules, &violation.broken).join("; "),
                true => format!("several rules together: {}", violation.rule().display(names)),
            };
            let change = match self.on_violation {
                OnViolation::Repair => format!("; changed {}", changes_in_words(names, &violation.change, "cell")),
                _ => String::new(),
            };
            format!("record {} breaks {broken}{change}", count((violation.record + 1) as f64))
        };
        let mut lines: Vec<String> = self.violations.records.iter().take(SHOWN).map(line).collect();
        if self.violations.records.len() > SHOWN {
            lines.push(format!("and {} more", count((self.violations.records.len() - SHOWN) as f64)));
        }
        lines
    }

    /// Reports what became of records that break rules.
    pub(crate) fn report(&self, names: &Names, session: &Session) {
        self.in_words(names).into_iter().for_each(|line| session.note(line));
        if self.is_part && !self.violations.records.is_empty() {
            session.note(
                "only training records were dropped or changed: validation and test records are scored as they are",
            );
        }
    }

    /// A line of the report, if there is a file of rules.
    pub(crate) fn fact(&self) -> Option<String> {
        let rules = counted(self.given.as_ref()?.len(), "rule");
        let broken = match (self.violations.weight, self.on_violation) {
            (0.0, _) => "every record obeys them".to_owned(),
            (weight, OnViolation::Repair) => format!("{} changed to obey them", records_in_words(weight)),
            (weight, _) => format!("{} dropped that broke one", records_in_words(weight)),
        };
        Some(format!("{rules}, which the base implies; {broken}"))
    }

    /// The report as JSON, if there is a file of rules.
    pub(crate) fn document(&self, names: &Names) -> Option<Value> {
        let rules = self.given.as_ref()?.len();
        let entry = |violation: &Violation| {
            let mut entries = vec![
                ("record", Value::from(violation.record + 1)),
                ("broken", violation.broken.iter().map(|&i| rule_entry(&self.violations.rules, i)).collect()),
                ("conflict", json_changes(names, &violation.conflict)),
            ];
            if self.on_violation == OnViolation::Repair {
                entries.push(("change", json_changes(names, &violation.change)));
            }
            object(entries)
        };
        Some(object([
            ("rules", Value::from(rules)),
            ("violating_records", json_count(self.violations.weight)),
            ("on_violation", Value::from(self.on_violation.name())),
            ("violations", self.violations.records.iter().map(entry).collect()),
        ]))
    }
}

/// Why nothing could be learned inside the rules; `slopp compile` may know a better vtree for them.
pub(crate) fn not_obeyed(error: LearnError) -> Error {
    let by_rules = matches!(error, LearnError::Rules(_));
    let error = Error::from(error);
    if by_rules { error.also(OWN_VTREE) } else { error }
}

/// The refusal of rules that are too large even on a vtree of their own.
fn too_large(stopped: Stopped) -> Error {
    Error::from(stopped).while_doing("the rules are too large").also("fewer rules, or rules over fewer variables")
}

/// Rules of which nothing can be learned, with the lines that contradict each other.
fn contradiction(rules: &Rules, conflict: &Conflict) -> Error {
    let lines = conflict.rules.iter().map(|&i| match rules[i].line {
        0 => format!("of the columns: {}", rules[i].text),
        line => format!("line {line}: {}", abridged(&rules[i].text)),
    });
    let which = contradiction_in_words(conflict);
    Error::new(lines.collect::<Vec<_>>().join("\n          "))
        .while_doing(format!("no world obeys the rules; {which}"))
        .hint("change or leave out one of these lines")
}
