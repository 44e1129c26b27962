//! Makes records obey rules: those that break one are refused, dropped or repaired.

use crate::circuit::{Psdd, Smoothing};
use crate::data::{Records, RecordsBuilder};
use crate::infer::{Evidence, Explanation};
use crate::learn::error::LearnError;
use crate::learn::error::{Violation, Violations};
use crate::logic::{Limits, LogicError, Rules};
use crate::var::Lit;
use std::sync::Arc;

/// What to do with records that break a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnViolation {
    /// Refuse them.
    #[default]
    Reject,
    /// Leave them out.
    Drop,
    /// Change as few of their cells as possible. Among the nearest worlds, take the most probable by a fit to the
    /// records that obey.
    Repair,
}

/// Records after rules were enforced.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Enforced {
    /// The records that obey, if they differ from the given ones.
    pub changed: Option<Records>,
    /// The records that were left out or changed.
    pub violations: Violations,
}

impl OnViolation {
    /// All of them, in the order of help texts.
    pub const ALL: [OnViolation; 3] = [OnViolation::Reject, OnViolation::Drop, OnViolation::Repair];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            OnViolation::Reject => "reject",
            OnViolation::Drop => "drop",
            OnViolation::Repair => "repair",
        }
    }
}

impl Rules {
    /// Makes records obey these rules, and that every column has one value.
    ///
    /// Missing cells stay missing. They break a rule only if no value could obey it.
    ///
    /// ```
    /// use slopp::learn::OnViolation;
    /// use slopp::logic::{Limits, Rules};
    /// let records = slopp::example::records();
    /// let rules = Rules::parse_with("X1 -> X3", records.names().clone())?;
    /// let repaired = rules.enforce(&records, OnViolation::Repair, &Limits::default())?;
    /// for violation in &repaired.violations.records {
    ///     assert_eq!((&violation.broken[..], violation.change.len()), (&[0][..], 1));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enforce(
        &self,
        records: &Records,
        on_violation: OnViolation,
        limits: &Limits,
    ) -> Result<Enforced, LearnError> {
        let rules = self.over(records.names()).map_err(LearnError::RuleNames)?.with_columns();
        let total = records.total();
        if rules.is_empty() {
            let violations = Violations { rules, records: Vec::new(), weight: 0.0, total };
            return Ok(Enforced { changed: None, violations });
        }
        let why = explanations(&allowed(&rules, limits)?, records, limits)?;
        let change = |row: usize| match &why[row] {
            Some(why) => why.repairs[0].changes(&Evidence::from_row(records, row)),
            None => Vec::new(),
        };
        let violation = |(record, &row): (usize, &u32)| {
            let row = row as usize;
            why[row].as_ref().map(|why| Violation {
                record,
                broken: rules.broken_by_known(|var| records.cell(row, var)),
                conflict: why.conflict.clone(),
                change: change(row),
            })
        };
        let broken: Vec<Violation> = records.original().iter().enumerate().filter_map(violation).collect();
        let weights = records.weights().iter().zip(&why);
        let weight = weights.filter(|(_, why)| why.is_some()).map(|(weight, _)| weight).sum();
        let violations = Violations { rules, records: broken, weight, total };
        if violations.records.is_empty() {
            return Ok(Enforced { changed: None, violations });
        }
        let changed = match on_violation {
            OnViolation::Reject => return Err(LearnError::Broken(violations.into())),
            OnViolation::Drop => records.subset(|row| why[row].is_none()),
            OnViolation::Repair => with_changes(records, &(0..records.len()).map(change).collect::<Vec<_>>()),
        };
        match changed.is_empty() {
            true => Err(LearnError::NothingLeft),
            false => Ok(Enforced { changed: Some(changed), violations }),
        }
    }
}

/// The worlds that obey rules, all equally probable.
fn allowed(rules: &Rules, limits: &Limits) -> Result<Psdd, LearnError> {
    rules.check_variables()?;
    let vtree = Arc::new(rules.min_fill_vtree());
    match rules.compile(vtree.clone(), limits)?.to_circuit() {
        Ok(circuit) => Ok(circuit.certify(limits)?),
        Err(LogicError::Impossible) => {
            let conflict = rules.conflict(vtree, limits)?.expect("no world is possible");
            Err(LearnError::Contradiction { rules: rules.clone(), conflict })
        }
        Err(error) => Err(error.into()),
    }
}

/// Why rows break the rules. A fit to the rows that obey ranks the nearest worlds.
fn explanations(allowed: &Psdd, records: &Records, limits: &Limits) -> Result<Vec<Option<Explanation>>, LearnError> {
    let possible = allowed.possible(records)?;
    if possible.iter().all(|&possible| possible) {
        return Ok(vec![None; records.len()]);
    }
    let complete = |row: usize| records.row(row).all(|cell| cell.is_some());
    let obeying = records.subset(|row| possible[row] && complete(row));
    let fitted = match obeying.is_empty() {
        true => allowed.clone(),
        false => allowed.fit(&obeying, &Smoothing::marginal(1.0, &obeying))?.circuit,
    };
    Ok(fitted.explain_batch(records, 1, limits)?)
}

/// The records in their order, with changed cells.
fn with_changes(records: &Records, changes: &[Vec<Lit>]) -> Records {
    let mut builder = RecordsBuilder::new(records.names().clone());
    for (row, weight) in records.entries() {
        let mut cells: Vec<Option<bool>> = records.row(row).collect();
        changes[row].iter().for_each(|lit| cells[lit.var.index()] = Some(lit.value));
        builder.push(cells, weight);
    }
    builder.finish()
}
