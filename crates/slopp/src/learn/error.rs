//! Why nothing could be learned, and the checks that every learner makes first.

use super::params::FitError;
use super::vtree::VtreeMethodError;
use crate::circuit::{BuildError, Reason, Refusal};
use crate::data::Records;
use crate::infer::QueryError;
use crate::logic::Stopped;
use crate::spn::SpnError;
use crate::vtree::Vtree;
use std::borrow::Cow;

/// Why nothing could be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// There are no records.
    #[error("there are no records to learn from; give at least one")]
    NoRecords,
    /// There are no variables.
    #[error("the records have no variables; give data with at least one column")]
    NoVariables,
    /// The vtree is over other variables than the records.
    #[error("the vtree has {vtree} variables but the records have {records}: use a vtree made for these records")]
    WrongVtree {
        /// Variables of the vtree.
        vtree: usize,
        /// Variables of the records.
        records: usize,
    },
    /// The validation records are over other variables than the training records.
    #[error(
        "the validation records have {valid} variables but the training records {train}: use parts of one data set"
    )]
    WrongValidation {
        /// Variables of the validation records.
        valid: usize,
        /// Variables of the training records.
        train: usize,
    },
    /// No vtree could be made, or there are too many pairs of variables.
    #[error(transparent)]
    Pairs(#[from] VtreeMethodError),
    /// A vtree for a learner that takes none.
    #[error("the learner {learner} takes no vtree, but one is given: leave it out, or choose another learner")]
    VtreeGiven {
        /// The learner.
        learner: &'static str,
    },
    /// Cells are missing.
    #[error(
        "{rows} of {total} records have missing cells, and this learner needs complete records: drop them or fill them in"
    )]
    MissingCells {
        /// How many records have missing cells.
        rows: usize,
        /// How many records there are.
        total: usize,
    },
    /// The circuit to start from is not a PSDD.
    #[error(
        "the circuit to start from is not a PSDD: {reason}; start from one, or split by the whole scope with Strudel"
    )]
    NotPsdd {
        /// Why not.
        reason: Reason,
    },
    /// There are too few records to hold some out.
    #[error("there are too few records to hold some out to choose by; give validation records")]
    NothingToChooseBy,
    /// No record is possible.
    #[error("none of the records is possible under the circuit to start from; learn a new one")]
    NothingPossible,
    /// A structure to be shared by components must be deterministic.
    #[error("the circuit to start from is not deterministic ({0}); start from a PSDD")]
    NotDeterministic(Reason),
    /// The records do not fit a circuit.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A setting is out of its range.
    #[error("{name} is {value}, but must be {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: Cow<'static, str>,
    },
    /// No learner has an option of this name.
    #[error("no learner has an option {option}; the options are {}", .known.join(", "))]
    NoSuchOption {
        /// The name.
        option: String,
        /// All options.
        known: Vec<&'static str>,
    },
    /// An option that only other learners have.
    #[error("{option} belongs to {}, not to {learner}: choose one of these learners, or leave the option out", .owners.join(", "))]
    OptionOfOthers {
        /// The learner.
        learner: &'static str,
        /// The option.
        option: &'static str,
        /// The learners that have it.
        owners: Vec<&'static str>,
    },
    /// The rules cannot be obeyed, or the values of columns cannot be kept apart.
    #[error(transparent)]
    Rules(ConditionError),
    /// Groups of columns cannot be closed.
    #[error("columns cannot be closed: {0}; close fewer columns at a time")]
    Groups(#[source] ConditionError),
    /// The world cannot be closed.
    #[error("the world cannot be closed: {0}")]
    Closed(#[source] ConditionError),
    /// The circuit would be too large.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The sum-product network would be too large.
    #[error(transparent)]
    Spn(#[from] SpnError),
    /// A result that must be a PSDD is not one: a bug, and never handed out silently.
    #[error("the learned circuit failed its certificate, please report this: {0}")]
    Certificate(#[from] Refusal),
}

/// Why what was learned could not be conditioned on rules.
#[derive(Debug, thiserror::Error)]
pub enum ConditionError {
    /// A sum-product network has no vtree that rules could be compiled on.
    #[error("a sum-product network cannot be conditioned on rules; choose a learner that gives a circuit")]
    Network,
    /// No world is possible under both.
    #[error("nothing that was learned obeys the rules; look at the rules")]
    Impossible,
    /// The rules are too large on the vtree of what was learned.
    #[error("the rules do not fit the vtree of the learned model: {0}")]
    Rules(#[from] Stopped),
    /// The product is too large.
    #[error("the rules do not fit the vtree of the learned model: {0}")]
    Product(QueryError),
    /// The result could not be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The result could not be fitted to records with missing cells, or not be closed.
    #[error(transparent)]
    Em(Box<LearnError>),
}

impl From<QueryError> for ConditionError {
    fn from(error: QueryError) -> ConditionError {
        match error {
            QueryError::ImpossibleFormula => ConditionError::Impossible,
            error => ConditionError::Product(error),
        }
    }
}

/// Checks that there is something to learn from, and that every cell is there.
pub(crate) fn check_records(records: &Records) -> Result<(), LearnError> {
    if records.var_count() == 0 {
        return Err(LearnError::NoVariables);
    }
    if records.is_empty() {
        return Err(LearnError::NoRecords);
    }
    check_complete(records)
}

/// Checks that records and a vtree fit each other and that every cell is there.
pub(crate) fn check(records: &Records, vtree: &Vtree) -> Result<(), LearnError> {
    if records.var_count() == 0 {
        return Err(LearnError::NoVariables);
    }
    if records.is_empty() {
        return Err(LearnError::NoRecords);
    }
    if records.var_count() != vtree.var_count() {
        return Err(LearnError::WrongVtree { vtree: vtree.var_count(), records: records.var_count() });
    }
    check_complete(records)
}

/// Checks that every cell is there.
pub(crate) fn check_complete(records: &Records) -> Result<(), LearnError> {
    match records.incomplete().count() {
        0 => Ok(()),
        incomplete => Err(LearnError::MissingCells { rows: incomplete, total: records.original().len() }),
    }
}

/// Checks that validation records are over the same variables and complete.
pub(crate) fn check_validation(train: &Records, valid: Option<&Records>) -> Result<(), LearnError> {
    let variables = train.var_count();
    match valid {
        Some(valid) if valid.var_count() != variables => {
            Err(LearnError::WrongValidation { valid: valid.var_count(), train: variables })
        }
        Some(valid) => check_complete(valid),
        None => Ok(()),
    }
}
