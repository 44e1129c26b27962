//! One error for all that the library does, so that `?` works on everything.

use crate::advice::Advice;
use crate::circuit::{BuildError, Refusal};
use crate::data::RecordsError;
use crate::infer::QueryError;
use crate::io::{NotClausal, ReadError, WriteError};
use crate::knowledge::KnowledgeError;
use crate::learn::LearnError;
use crate::logic::{FormulaError, NoVariables, NormaliseError, RuleError, Stopped, TooLarge};
use crate::mixture::MixtureError;
use crate::names::NameError;
use crate::spn::SpnError;
use crate::vtree::VtreeError;
use std::io;

/// Any error of the library.
///
/// ```
/// fn main() -> Result<(), slopp::Error> {
///     let names = slopp::Names::new(vec!["smoker".into(), "old".into()])?;
///     let rules = slopp::logic::Rules::parse_with("old -> smoker", names)?;
///     let base = rules.compile(slopp::Vtree::balanced(2), &Default::default())?;
///     println!("{} of 4 worlds", base.model_count());
///     Ok(())
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Names that cannot be used, or a name that nothing has.
    #[error("{0}")]
    Names(#[from] NameError),
    /// Not a vtree.
    #[error("{0}")]
    Vtree(#[from] VtreeError),
    /// Not a circuit.
    #[error("{0}")]
    Build(#[from] BuildError),
    /// Not a mixture.
    #[error("{0}")]
    Mixture(#[from] MixtureError),
    /// Not a sum-product network.
    #[error("{0}")]
    Spn(#[from] SpnError),
    /// A certificate that failed.
    #[error("{0}")]
    Certificate(#[from] Refusal),
    /// Records that cannot be made or split.
    #[error("{0}")]
    Records(#[from] RecordsError),
    /// Not a formula, nor evidence.
    #[error("{0}")]
    Formula(#[from] FormulaError),
    /// Rules without variables.
    #[error("{0}")]
    NoVariables(#[from] NoVariables),
    /// A formula without a distribution.
    #[error("{0}")]
    Normalise(#[from] NormaliseError),
    /// Rules that cannot be written as clauses.
    #[error("{0}")]
    NotClausal(#[from] NotClausal),
    /// A diagram that needs more than its limits allow.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// A base that is too large.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// A base without rules that can be listed.
    #[error("{0}")]
    Rules(#[from] RuleError),
    /// A query without an answer.
    #[error("{0}")]
    Query(#[from] QueryError),
    /// Knowledge that cannot be compared, or does not say what follows.
    #[error("{0}")]
    Knowledge(#[from] KnowledgeError),
    /// Nothing could be learned.
    #[error("{0}")]
    Learn(#[from] LearnError),
    /// A file that could not be read.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// A file that could not be written.
    #[error("{0}")]
    Write(#[from] WriteError),
    /// A stream that could not be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Error {
    /// What to try.
    pub fn advice(&self) -> Vec<Advice> {
        match self {
            Error::Query(error) => error.advice(),
            Error::Stopped(error) => error.advice(),
            Error::Learn(error) => error.advice(),
            Error::Knowledge(KnowledgeError::Stopped(error)) => error.advice(),
            Error::Knowledge(KnowledgeError::Query(error)) => error.advice(),
            Error::Read(error) => error.advice(),
            Error::Write(error) => error.advice(),
            _ => Vec::new(),
        }
    }
}
