//! One error for the whole library, so that `?` works on everything.

use crate::advice::Advice;
use crate::circuit::{BuildError, Refusal};
use crate::data::RecordsError;
use crate::infer::QueryError;
use crate::io::{ReadError, WriteError};
use crate::knowledge::KnowledgeError;
use crate::learn::LearnError;
use crate::logic::{FormulaError, LogicError, Stopped};
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
    /// Invalid names, or an unknown name.
    #[error("{0}")]
    Names(#[from] NameError),
    /// An invalid vtree.
    #[error("{0}")]
    Vtree(#[from] VtreeError),
    /// An invalid circuit.
    #[error("{0}")]
    Build(#[from] BuildError),
    /// An invalid mixture.
    #[error("{0}")]
    Mixture(#[from] MixtureError),
    /// An invalid sum-product network.
    #[error("{0}")]
    Spn(#[from] SpnError),
    /// A failed certificate.
    #[error("{0}")]
    Certificate(#[from] Refusal),
    /// Records that cannot be made or split.
    #[error("{0}")]
    Records(#[from] RecordsError),
    /// An invalid formula or evidence.
    #[error("{0}")]
    Formula(#[from] FormulaError),
    /// Something that cannot be done with rules, a diagram or a base.
    #[error("{0}")]
    Logic(#[from] LogicError),
    /// A diagram that exceeds its limits.
    #[error("{0}")]
    Stopped(#[from] Stopped),
    /// A query without an answer.
    #[error("{0}")]
    Query(#[from] QueryError),
    /// Knowledge that cannot be compared, or entailment that cannot be decided.
    #[error("{0}")]
    Knowledge(#[from] KnowledgeError),
    /// A failure to learn.
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
    /// The errors that caused it, the nearest first.
    pub fn causes(&self) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
        std::iter::successors(std::error::Error::source(self), |cause| cause.source())
    }

    /// What to try.
    pub fn advice(&self) -> Vec<Advice> {
        match self {
            Error::Query(error) => error.advice(),
            Error::Stopped(error) => error.advice(),
            Error::Learn(error) => error.advice(),
            Error::Certificate(refusal) | Error::Knowledge(KnowledgeError::Certificate(refusal)) => refusal.advice(),
            Error::Knowledge(KnowledgeError::Stopped(error)) => error.advice(),
            Error::Knowledge(KnowledgeError::Query(error)) => error.advice(),
            Error::Read(error) => error.advice(),
            Error::Write(error) => error.advice(),
            _ => Vec::new(),
        }
    }
}
