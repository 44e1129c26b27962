//! Learning inside rules: records are checked against them, and what is learned is conditioned on them.

use super::options::{OnViolation, RuleArgs};
use crate::cmd::explain::{rule_entry, rules_in_words};
use crate::error::Error;
use crate::input::explained;
use crate::knowledge::{check_variables, contradiction_in_words, stopped};
use crate::report::records as records_in_words;
use crate::report::{changes_in_words, count, counted, json_changes, json_count, object};
use crate::session::Session;
use serde_json::Value;
use slopp::circuit::Smoothing;
use slopp::infer::{Evidence, Explanation};
use slopp::learn::ConditionError;
use slopp::logic::{Limits, Rules, Sdd, Stopped};
use slopp::names::abridged;
use slopp::{Lit, Names, Psdd, Records, RecordsBuilder};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many records that break rules are told in words.
const SHOWN: usize = 10;

/// The way out where rules are large on a vtree.
const OWN_VTREE: &str =
    "`slopp compile RULES --names RECORDS -o rules.vtree`, then --vtree rules.vtree with --learner slopp-tree";

/// Rules that the result must obey: those of a file, and that every column has one value.
pub(crate) struct Inside {
    rules: Rules,
    /// How many of them, the first, are of the file; none if there is no file.
    of_file: Option<usize>,
    on_violation: OnViolation,
    /// The training records that broke rules.
    violations: Vec<Violation>,
    /// Their weight.
    weight: f64,
    /// Whether the training records are a part of the file, of which the rest is left as it is.
    is_part: bool,
}

/// A record that breaks rules.
struct Violation {
    /// Its number in the file.
    record: usize,
    /// The rules that it breaks by itself; none if only several together cannot hold.
    rules: Vec<usize>,
    found: Explanation,
    change: Vec<Lit>,
}

impl RuleArgs {
    /// As a fact about the model.
    pub(crate) fn origin(&self) -> Option<(String, String)> {
        let name = self.file.as_ref()?.file_name()?;
        Some(("rules".to_owned(), name.to_string_lossy().into_owned()))
    }
}

impl Inside {
    /// Reads the rules and applies them to the training records; gives the records to learn from. Without rules and
    /// without columns of several values there is nothing to obey. If the records are a part of the file, `places` are
    /// theirs in it, from zero.
    pub(crate) fn new(
        args: &RuleArgs,
        train: &Path,
        records: Records,
        places: Option<&[usize]>,
    ) -> Result<(Option<Inside>, Records), Error> {
        let names = records.names();
        let read = |file: &PathBuf| slopp::io::read_rules(file, Some(names)).map_err(explained);
        let rules = args.file.as_ref().map(read).transpose()?;
        let of_file = rules.as_ref().map(|rules| rules.len());
        if of_file.is_none() && names.groups().is_empty() {
            return Ok((None, records));
        }
        let rules = rules.unwrap_or_else(|| Rules::new(names.clone(), [])).with_columns();
        check_variables(&rules)?;
        let limits = args.limits.limits();
        let vtree = Arc::new(rules.min_fill_vtree());
        let sdd = rules.compile(vtree.clone(), &limits).map_err(too_large)?;
        let Ok(circuit) = sdd.to_circuit() else { return Err(contradiction(&rules, &sdd, &limits)?) };
        let allowed = circuit.certify()?;
        let on_violation = args.on_violation.unwrap_or(OnViolation::Reject);
        let is_part = places.is_some();
        let mut inside = Inside { rules, of_file, on_violation, violations: Vec::new(), weight: 0.0, is_part };
        let explanations = explanations(&allowed, &records)?;
        let change = |row: usize, found: &Explanation| found.repairs[0].changes(&Evidence::from_row(&records, row));
        for (i, &row) in records.original().iter().enumerate() {
            let row = row as usize;
            if let Some(found) = &explanations[row] {
                inside.violations.push(Violation {
                    record: places.map_or(i, |places| places[i]) + 1,
                    rules: inside.rules.broken_by_known(|var| records.cell(row, var)),
                    found: found.clone(),
                    change: change(row, found),
                });
            }
        }
        let weights = records.weights().iter().zip(&explanations);
        inside.weight = weights.filter(|(_, found)| found.is_some()).map(|(weight, _)| weight).sum();
        if inside.violations.is_empty() {
            return Ok((Some(inside), records));
        }
        let records = match on_violation {
            OnViolation::Reject => return Err(inside.refusal(train, &records)),
            OnViolation::Drop => {
                let left = records.subset(|row| explanations[row].is_none());
                if left.is_empty() {
                    return Err(Error::new("every record breaks a rule, so dropping leaves none")
                        .hint("look at the rules, or --on-violation repair"));
                }
                left
            }
            OnViolation::Repair => {
                let all = explanations.iter().enumerate();
                let changes: Vec<Vec<Lit>> =
                    all.map(|(row, found)| found.as_ref().map_or_else(Vec::new, |found| change(row, found))).collect();
                with_changes(&records, &changes)
            }
        };
        Ok((Some(inside), records))
    }

    /// The rules of the file, if there is one.
    pub(crate) fn given(&self) -> Option<Rules> {
        let own = self.rules[..self.of_file?].to_vec();
        Some(Rules::with_origin(self.rules.names().clone(), own))
    }

    /// The refusal to learn from records that break rules.
    fn refusal(&self, train: &Path, records: &Records) -> Error {
        let all = records_in_words(records.total());
        let part = if self.is_part { "the training part of " } else { "" };
        let message = format!("{} of {all} in {part}{} break a rule", count(self.weight), train.display());
        let lines = self.in_words(records.names());
        Error::new(lines.join("\n          "))
            .while_doing(message)
            .hint("--on-violation drop leaves them out, --on-violation repair changes as few cells as possible")
    }

    /// The first records that break rules, one line each.
    fn in_words(&self, names: &Names) -> Vec<String> {
        let line = |violation: &Violation| {
            let told = match violation.rules.is_empty() {
                false => rules_in_words(&self.rules, &violation.rules).join("; "),
                true => format!("several rules together: {}", violation.found.rule().display(names)),
            };
            let change = match self.on_violation {
                OnViolation::Repair => format!("; changed {}", changes_in_words(names, &violation.change, "cell")),
                _ => String::new(),
            };
            format!("record {} breaks {told}{change}", count(violation.record as f64))
        };
        let mut lines: Vec<String> = self.violations.iter().take(SHOWN).map(line).collect();
        if self.violations.len() > SHOWN {
            lines.push(format!("and {} more", count((self.violations.len() - SHOWN) as f64)));
        }
        lines
    }

    /// Tells what became of records that break rules.
    pub(crate) fn tell(&self, names: &Names, session: &Session) {
        self.in_words(names).into_iter().for_each(|line| session.note(line));
        if self.is_part && !self.violations.is_empty() {
            session.note(
                "only training records were dropped or changed: validation and test records are scored as they are",
            );
        }
    }

    /// A line of the report, if there is a file of rules.
    pub(crate) fn fact(&self) -> Option<String> {
        let rules = counted(self.of_file?, "rule");
        let broken = match (self.weight, self.on_violation) {
            (0.0, _) => "every record obeys them".to_owned(),
            (weight, OnViolation::Repair) => format!("{} changed to obey them", records_in_words(weight)),
            (weight, _) => format!("{} dropped that broke one", records_in_words(weight)),
        };
        Some(format!("{rules}, which the base implies; {broken}"))
    }

    /// The report as JSON, if there is a file of rules.
    pub(crate) fn document(&self, names: &Names) -> Option<Value> {
        let rules = self.of_file?;
        let entry = |violation: &Violation| {
            let mut entries = vec![
                ("record", Value::from(violation.record)),
                ("broken", violation.rules.iter().map(|&i| rule_entry(&self.rules, i)).collect()),
                ("conflict", json_changes(names, &violation.found.conflict)),
            ];
            if self.on_violation == OnViolation::Repair {
                entries.push(("change", json_changes(names, &violation.change)));
            }
            object(entries)
        };
        Some(object([
            ("rules", Value::from(rules)),
            ("violating_records", json_count(self.weight)),
            ("on_violation", Value::from(self.on_violation.name())),
            ("violations", self.violations.iter().map(entry).collect()),
        ]))
    }
}

/// Why rows break the rules; nearest worlds at the same distance are ranked by a fit to the rows that do not.
fn explanations(allowed: &Psdd, records: &Records) -> Result<Vec<Option<Explanation>>, Error> {
    let possible = allowed.possible(records)?;
    if possible.iter().all(|&possible| possible) {
        return Ok(vec![None; records.len()]);
    }
    let complete: Vec<bool> = (0..records.len()).map(|row| records.row(row).all(|cell| cell.is_some())).collect();
    let obeying = records.subset(|row| possible[row] && complete[row]);
    let fitted = match obeying.is_empty() {
        true => allowed.clone(),
        false => allowed.fit(&obeying, &Smoothing::marginal(1.0, &obeying))?.circuit,
    };
    Ok(fitted.explain_batch(records, 1)?)
}

/// The records in their order with changed cells; each distinct row once with its weight if there are weights.
fn with_changes(records: &Records, changes: &[Vec<Lit>]) -> Records {
    let mut builder = RecordsBuilder::new(records.names().clone());
    let mut push = |row: usize, weight: f64| {
        let mut cells: Vec<Option<bool>> = records.row(row).collect();
        changes[row].iter().for_each(|lit| cells[lit.var.index()] = Some(lit.value));
        builder.push(cells, weight);
    };
    match has_weights(records) {
        false => records.original().iter().for_each(|&row| push(row as usize, 1.0)),
        true => (0..records.len()).for_each(|row| push(row, records.weights()[row])),
    }
    builder.finish()
}

/// Whether records stand for more or less than themselves.
fn has_weights(records: &Records) -> bool {
    let mut repeated = vec![0.0; records.len()];
    records.original().iter().for_each(|&row| repeated[row as usize] += 1.0);
    repeated != records.weights()
}

/// Why the rules could not be obeyed, with the way out.
pub(crate) fn not_obeyed(error: ConditionError) -> Error {
    match error {
        ConditionError::Rules(_) => {
            Error::from(error).hint(format!("--max-nodes N and --max-memory MB allow more; or {OWN_VTREE}"))
        }
        ConditionError::Product(_) => Error::from(error).hint(OWN_VTREE),
        error => error.into(),
    }
}

/// The refusal of a sum-product network.
pub(super) fn no_rules() -> Error {
    Error::new(
        "a sum-product network cannot be conditioned on rules: it has no vtree that they could be compiled on, so there is \
         no exact product with them",
    )
    .hint(
        "--learner slopp-bag, a mixture inside the rules; or learn without them, and `slopp distil MODEL.spn RECORDS \
         --rules RULES` makes a PSDD inside",
    )
}

/// The refusal of rules that are too large even on a vtree of their own.
fn too_large(stopped: Stopped) -> Error {
    Error::from(stopped)
        .while_doing("the rules are too large")
        .hint("--max-nodes N and --max-memory MB allow more; or fewer rules, or rules over fewer variables")
}

/// Rules of which nothing can be learned, with the lines that contradict each other.
fn contradiction(rules: &Rules, sdd: &Sdd, limits: &Limits) -> Result<Error, Error> {
    let conflict = rules.conflict(sdd.vtree().clone(), limits).map_err(stopped)?;
    let conflict = conflict.expect("no world is possible");
    let lines = conflict.rules.iter().map(|&i| match rules[i].line {
        0 => format!("of the columns: {}", abridged(&rules[i].text)),
        line => format!("line {line}: {}", abridged(&rules[i].text)),
    });
    let which = contradiction_in_words(&conflict);
    Ok(Error::new(lines.collect::<Vec<_>>().join("\n          "))
        .while_doing(format!("no world obeys the rules; {which}"))
        .hint("change or leave out one of these lines"))
}
