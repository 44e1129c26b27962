//! Learners: from records to circuits.
//!
//! | learner | file | result |
//! |---|---|---|
//! | SLoPP with merged classes, vtree learned inside | [`merged`] | a certified [`crate::Psdd`] |
//! | SLoPP with a separating tree as CLUSTER | [`slopp`] | a certified [`crate::Psdd`] |
//! | SLoPP with k-means or an explicit partition, as published | [`slopp`] | a [`crate::Circuit`], with its overlaps |
//! | LearnSPN | [`learnspn`] | an [`Spn`](crate::spn::Spn), which needs no vtree |
//! | LearnPSDD, from any PSDD | [`refine`] | a certified [`crate::Psdd`] on the same base |
//! | Strudel, from any PSDD, or any deterministic circuit | [`refine`] | a certified circuit of the same kind on the same base |
//! | EM on any structure, with missing cells | [`em`] | the circuit it got, with new parameters |
//! | the same of all components of a mixture | [`em_components`] | the mixture it got, with new weights and parameters |
//! | revision of any PSDD by records it excludes | [`Psdd::revise`](crate::Psdd::revise) | a certified [`crate::Psdd`] that allows them and nothing else new |
//! | EM over components of one deterministic structure | [`em_mixture`] | a [`Mixture`](crate::Mixture) |
//! | Strudel's mixtures, over the structure of its single model | [`StrudelMixture`] | a [`Mixture`](crate::Mixture) |
//! | any of them that gives circuits, inside rules | [`Learned::inside`] | the same kind, whose base implies the rules |
//! | the same with columns closed or open, within a size | [`Restriction`] | the same kind |
//! | a teacher distilled to one PSDD, inside rules and its base | [`Lesson`] | a certified [`crate::Psdd`] |
//! | a learner at several sizes | [`Restriction::sizes`] | one for each size |
//! | fully factorised, Chow-Liu | [`baseline`] | a certified [`crate::Psdd`] |
//!
//! Every learner is one function from records, a vtree and a checked configuration to a circuit, reports its
//! [`Progress`](crate::Progress), and gives the same bytes for the same input and seed. Its configuration is a
//! [`Learner`], which is the one interface to all of them.

pub mod baseline;
mod closing;
mod em;
mod grow;
mod inside;
mod judge;
mod kmeans;
mod learner;
pub mod learnspn;
pub mod merged;
mod mixture;
mod params;
mod partition;
pub mod refine;
mod restriction;
mod revise;
mod separate;
mod shared;
mod sizes;
pub mod slopp;
mod start;
mod teacher;
pub mod vtree;

pub use em::{EmConfig, EmFit, em, em_components, em_network};
pub use inside::InsideError;
pub use learner::{Learned, Learner, Outcome, Size, Task, VtreeUse};
pub use mixture::{MixtureConfig, MixtureFit, MixtureStart, em_mixture};
pub use params::{FitError, Fitted, possible_records};
pub use partition::Partition;
pub use restriction::{Restriction, RestrictionError};
pub use revise::{ReviseError, Revised, WORLD_LIMIT};
pub use shared::{MixtureChoice, MixtureGrid, StrudelMixture};
pub use sizes::AtSize;
pub use start::{LearnPsdd, Start, Strudel};
pub use teacher::{BaseError, Lesson, LessonError, Lessons, Student, TeacherBase};

use crate::circuit::{BuildError, Builder, Circuit, NodeId, Refusal, Smoothing};

/// What is possible beyond the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum World {
    /// Everything: what was never seen is only improbable.
    #[default]
    Open,
    /// Only what the records, relaxed by the partial closed-world assumption, show: literals stay hard.
    Closed,
}

/// Why nothing could be learned.
#[derive(Debug, thiserror::Error)]
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
    /// No vtree could be made, or pairs of variables are too many to look at.
    #[error(transparent)]
    Pairs(#[from] vtree::VtreeMethodError),
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
    /// The circuit to start from is no PSDD.
    #[error("the circuit to start from is no PSDD: {reason}; start from one, or split by the whole scope with Strudel")]
    NotPsdd {
        /// Why not.
        reason: crate::circuit::Reason,
    },
    /// There are too few records to hold some out.
    #[error("there are too few records to hold some out to choose by; give validation records")]
    NothingToChooseBy,
    /// No record is possible.
    #[error("none of the records is possible under the circuit to start from; learn a new one")]
    NothingPossible,
    /// A structure to be shared by components must be deterministic.
    #[error("the circuit to start from is not deterministic ({0}); start from a PSDD")]
    NotDeterministic(crate::circuit::Reason),
    /// The records do not fit a circuit.
    #[error(transparent)]
    Query(#[from] crate::infer::QueryError),
    /// A setting is out of its range.
    #[error("{name} is {value}, but must be {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// The values of columns cannot be kept apart on the vtree.
    #[error(transparent)]
    Inside(#[from] InsideError),
    /// The circuit would be too large.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The sum-product network would be too large.
    #[error(transparent)]
    Spn(#[from] crate::spn::SpnError),
    /// A result that must be a PSDD is not one: a bug, and never handed out silently.
    #[error("the learned circuit failed its certificate, please report this: {0}")]
    Certificate(#[from] Refusal),
}

/// Checks that records and a vtree fit each other and that every cell is there.
pub(crate) fn check(records: &crate::Records, vtree: &crate::Vtree) -> Result<(), LearnError> {
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
pub(crate) fn check_complete(records: &crate::Records) -> Result<(), LearnError> {
    match records.incomplete().count() {
        0 => Ok(()),
        incomplete => Err(LearnError::MissingCells { rows: incomplete, total: records.original().len() }),
    }
}

/// The circuit of a builder with counts, its parameters smoothed towards the marginals of the records.
///
/// In a closed world what was never seen is dropped before smoothing, so that smoothing does not make it possible.
pub(crate) fn finish(
    builder: Builder,
    root: NodeId,
    records: &crate::Records,
    world: World,
    pseudocount: f64,
) -> Result<Circuit, BuildError> {
    let smoothing = Smoothing::marginal(pseudocount, records);
    if world == World::Open {
        return builder.finish_counts(root, &smoothing);
    }
    let circuit = builder.finish_counts(root, &Smoothing::none())?;
    match circuit.counts().cloned() {
        Some(counts) if pseudocount > 0.0 => circuit.with_estimates(counts, &smoothing),
        _ => Ok(circuit),
    }
}
