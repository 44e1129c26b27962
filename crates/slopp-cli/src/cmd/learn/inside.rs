//! Learning inside rules: records are checked against them, and what is learned is conditioned on them.

use super::{LearnArgs, OnViolation};
use crate::cmd::explain::{broken, broken_rule, literals, rule_entry};
use crate::cmd::repair::with_changes;
use crate::error::Error;
use crate::event::{given, mixture_given};
use crate::input::explained;
use crate::knowledge::{check_variables, stopped};
use crate::report::records as records_in_words;
use crate::report::{count, counted, json_count, object};
use crate::session::Session;
use serde_json::Value;
use slopp::circuit::Smoothing;
use slopp::infer::{Evidence, Explanation, QueryError};
use slopp::learn::{EmConfig, Learned, em};
use slopp::logic::{Limits, Rules, Sdd};
use slopp::{Certified, Deterministic, Lit, Names, Progress, Psdd, Records};
use std::path::Path;
use std::sync::Arc;

/// How many records that break rules are told in words.
const SHOWN: usize = 10;

/// Rules that the result must obey.
pub(super) struct Inside {
    rules: Rules,
    on_violation: OnViolation,
    /// The training records that broke rules.
    violations: Vec<Violation>,
    /// Their weight.
    weight: f64,
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

impl Inside {
    /// Reads the rules and applies them to the training records; gives the records to learn from.
    pub(super) fn new(args: &LearnArgs, file: &Path, records: Records) -> Result<(Inside, Records), Error> {
        let rules = slopp::io::read_rules(file, Some(records.names())).map_err(explained)?;
        check_variables(&rules)?;
        let limits = Limits::default();
        let vtree = Arc::new(rules.min_fill_vtree());
        let sdd = rules.compile(vtree.clone(), &limits).map_err(stopped)?;
        let Ok(circuit) = sdd.to_circuit() else { return Err(contradiction(&rules, &sdd)?) };
        let allowed = circuit.certify()?;
        let on_violation = args.on_violation.unwrap_or(OnViolation::Reject);
        let mut inside = Inside { rules, on_violation, violations: Vec::new(), weight: 0.0 };
        let explanations = explanations(&allowed, &records)?;
        let change = |row: usize, found: &Explanation| found.repairs[0].changes(&Evidence::from_row(&records, row));
        for (i, &row) in records.original().iter().enumerate() {
            let row = row as usize;
            if let Some(found) = &explanations[row] {
                inside.violations.push(Violation {
                    record: i + 1,
                    rules: broken(&inside.rules, &Evidence::from_row(&records, row)).collect(),
                    found: found.clone(),
                    change: change(row, found),
                });
            }
        }
        let weights = records.weights().iter().zip(&explanations);
        inside.weight = weights.filter(|(_, found)| found.is_some()).map(|(weight, _)| weight).sum();
        if inside.violations.is_empty() {
            return Ok((inside, records));
        }
        let records = match on_violation {
            OnViolation::Reject => return Err(inside.refusal(args, &records)),
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
        Ok((inside, records))
    }

    /// What was learned, given the rules, and fitted to the records again.
    pub(super) fn condition(
        &self,
        learned: Learned,
        records: &Records,
        pseudocount: f64,
        bar: &dyn Progress,
    ) -> Result<Learned, Error> {
        bar.begin("conditioning on the rules", 1);
        let circuit = match learned {
            Learned::Circuit(circuit) => circuit,
            // Its parameters stay: of a mixture there is no fit in closed form to repeat.
            Learned::Mixture(mixture) => return Ok(mixture_given(&mixture, &self.rules.formula())?.0.into()),
            Learned::Spn(_) => return Err(no_rules()),
        };
        let too_large = |error: Error| {
            error
                .while_doing("the rules do not go with the vtree of what was learned")
                .hint("`slopp compile RULES --names RECORDS -o rules.vtree`, then --vtree rules.vtree with --learner slopp-tree")
        };
        let sdd = self.rules.compile(circuit.vtree().clone(), &Limits::default()).map_err(|e| too_large(e.into()))?;
        let conditioned = match circuit.log_probability_of(&sdd) {
            Ok(f64::NEG_INFINITY) => {
                return Err(Error::new("nothing that was learned obeys the rules").hint("look at the rules"));
            }
            Ok(_) => given(&circuit, &sdd)?.0,
            Err(error @ QueryError::TooLarge { .. }) => return Err(too_large(error.into())),
            Err(error) => return Err(error.into()),
        };
        Ok(Learned::Circuit(match conditioned {
            Certified::Psdd(psdd) => Certified::Psdd(refit(&psdd, records, pseudocount, bar)?),
            other => other,
        }))
    }

    /// The refusal to learn from records that break rules.
    fn refusal(&self, args: &LearnArgs, records: &Records) -> Error {
        let all = records_in_words(records.total());
        let message = format!("{} of {all} in {} break a rule", count(self.weight), args.train.display());
        let lines = self.in_words(records.names());
        Error::new(lines.join("\n          "))
            .while_doing(message)
            .hint("--on-violation drop leaves them out, --on-violation repair changes as few cells as possible")
    }

    /// The first records that break rules, one line each.
    fn in_words(&self, names: &Names) -> Vec<String> {
        let line = |violation: &Violation| {
            let told = match violation.rules.first() {
                Some(&i) => format!("line {}: {}", self.rules[i].line, self.rules[i].text),
                None => format!("several rules together: {}", broken_rule(&violation.found.conflict).display(names)),
            };
            let change = match self.on_violation {
                OnViolation::Repair => {
                    let words: Vec<String> = violation.change.iter().map(|&lit| names.literal(lit)).collect();
                    format!("; changed {} to {}", counted(words.len(), "cell"), words.join(", "))
                }
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
    pub(super) fn tell(&self, names: &Names, session: &Session) {
        self.in_words(names).into_iter().for_each(|line| session.note(line));
    }

    /// A line of the report.
    pub(super) fn fact(&self) -> String {
        let rules = counted(self.rules.len(), "rule");
        let broken = match (self.weight, self.on_violation) {
            (0.0, _) => "every record obeys them".to_owned(),
            (weight, OnViolation::Repair) => format!("{} changed to obey them", records_in_words(weight)),
            (weight, _) => format!("{} dropped that broke one", records_in_words(weight)),
        };
        format!("{rules}, which the base implies; {broken}")
    }

    /// The report as JSON.
    pub(super) fn document(&self, names: &Names) -> Value {
        let entry = |violation: &Violation| {
            let mut entries = vec![
                ("record", Value::from(violation.record)),
                ("broken", violation.rules.iter().map(|&i| rule_entry(&self.rules, i)).collect()),
                ("conflict", literals(names, &violation.found.conflict)),
            ];
            if self.on_violation == OnViolation::Repair {
                entries.push(("change", literals(names, &violation.change)));
            }
            object(entries)
        };
        object([
            ("rules", Value::from(self.rules.len())),
            ("violating_records", json_count(self.weight)),
            ("on_violation", Value::from(self.on_violation.name())),
            ("violations", self.violations.iter().map(entry).collect()),
        ])
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
    let circuit: &Deterministic = &fitted;
    crate::cmd::explain::explanations(circuit, records, 1)
}

/// Fits the parameters to the records again: given the rules, others fit best.
fn refit(psdd: &Psdd, records: &Records, pseudocount: f64, bar: &dyn Progress) -> Result<Psdd, Error> {
    let smoothing = Smoothing::marginal(pseudocount, records);
    match records.has_missing() {
        false => Ok(psdd.fit(records, &smoothing)?.circuit),
        true => Ok(em(psdd, records, &EmConfig { smoothing, ..EmConfig::default() }, bar)?.circuit),
    }
}

/// The refusal of a sum-product network.
pub(super) fn no_rules() -> Error {
    Error::new("a sum-product network cannot be conditioned on rules")
        .hint("--learner slopp, or any other that gives a PSDD or a mixture")
}

/// Rules of which nothing can be learned, with the lines that contradict each other.
fn contradiction(rules: &Rules, sdd: &Sdd) -> Result<Error, Error> {
    let conflict = rules.conflict(sdd.vtree().clone(), &Limits::default()).map_err(stopped)?;
    let conflict = conflict.expect("no world is possible");
    let lines = conflict.rules.iter().map(|&i| format!("line {}: {}", rules[i].line, rules[i].text));
    let which = if conflict.smallest { "smallest" } else { "minimal" };
    Ok(Error::new(lines.collect::<Vec<_>>().join("\n          "))
        .while_doing(format!("no world obeys the rules; a {which} contradiction is shown"))
        .hint("change or leave out one of these lines"))
}
