//! Errors of the library as exceptions of the package, with the same words.

use pyo3::prelude::*;
use slopp::AskError;
use slopp::circuit::{BuildError, Refusal};
use slopp::infer::QueryError;
use slopp::io::{BinsError, NotClausal, ReadError, WriteError};
use slopp::knowledge::{DifferenceError, EntailsError};
use slopp::learn::vtree::VtreeMethodError;
use slopp::learn::{BaseError, ConditionError, EnforceError, FitError, LearnError, LessonError, ReviseError};
use slopp::logic::{FormulaError, NoVariables, NormaliseError, RuleError, Stopped};
use std::error::Error;

/// Why a call has no result: an exception of Python, or one of `slopp.errors` by its name.
pub(crate) enum Failure {
    Python(PyErr),
    Named(&'static str, String),
}

/// What calls give.
pub(crate) type Answer<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(class: &'static str, text: impl Into<String>) -> Failure {
        Failure::Named(class, text.into())
    }

    /// The words of an error and of its causes, as far as it does not tell them itself.
    pub(crate) fn of(class: &'static str, error: &dyn Error) -> Failure {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let words = error.to_string();
            if !text.contains(&words) {
                text = format!("{text}\nbecause {words}");
            }
            cause = error.source();
        }
        Failure::Named(class, text)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        let (class, text) = match failure {
            Failure::Python(error) => return error,
            Failure::Named(class, text) => (class, text),
        };
        Python::attach(|py| {
            let made = py.import("slopp.errors").and_then(|errors| errors.getattr(class)?.call1((text,)));
            made.map_or_else(|error| error, PyErr::from_value)
        })
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Failure {
        match error {
            AskError::Query(error) => error.into(),
            AskError::TooLarge(error) => error.into(),
            error => Failure::new("KindError", format!("{error}: it has no vtree; learn a PSDD")),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Failure {
        let class = match error {
            QueryError::ImpossibleEvidence | QueryError::ImpossibleFormula => "ImpossibleError",
            QueryError::Stopped { .. } => "TooLargeError",
            _ => "QueryError",
        };
        Failure::of(class, &error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        let mut causes = std::iter::successors(Some(&error as &dyn Error), |&error| error.source());
        let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
        let missing = causes.any(|error| error.downcast_ref().is_some_and(is_missing));
        Failure::of(if missing { "MissingFileError" } else { "ReadError" }, &error)
    }
}

impl From<EntailsError> for Failure {
    fn from(error: EntailsError) -> Failure {
        match error {
            EntailsError::NoVariables(error) => error.into(),
            EntailsError::Stopped(error) => error.into(),
        }
    }
}

impl From<DifferenceError> for Failure {
    fn from(error: DifferenceError) -> Failure {
        match error {
            DifferenceError::NoVariables(error) => error.into(),
            DifferenceError::Stopped(error) => error.into(),
            DifferenceError::Normalise(error) => error.into(),
            DifferenceError::Certificate(error) => error.into(),
            DifferenceError::Query(error) => error.into(),
            DifferenceError::NothingInCommon
            | DifferenceError::DifferentBins { .. }
            | DifferenceError::DifferentKinds { .. }
            | DifferenceError::Names(_) => Failure::of("NamesError", &error),
        }
    }
}

impl From<ReviseError> for Failure {
    fn from(error: ReviseError) -> Failure {
        match error {
            ReviseError::Compile(error) => error.into(),
            error => Failure::of("LearnError", &error),
        }
    }
}

impl From<BaseError> for Failure {
    fn from(error: BaseError) -> Failure {
        let way_out = match error {
            BaseError::Outside { .. } => {
                "; free=True lets the student allow them, and revise makes room for them in the teacher"
            }
            BaseError::TooLarge(_) => "; free=True lets it go, and rules= say what must hold",
            BaseError::Columns(_) | BaseError::Query(_) => "",
        };
        Failure::new("LearnError", format!("{error}{way_out}"))
    }
}

/// Options are keywords here.
impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Failure {
        let text = error.to_string();
        match &error {
            LearnError::Setting { name, .. } => Failure::new("LearnError", text.replacen(name, &format!("{name}="), 1)),
            LearnError::OptionOfOthers { option, .. } => {
                Failure::new("LearnError", text.replacen(option, &format!("{option}="), 1))
            }
            LearnError::NoSuchOption { option, .. } => {
                Failure::new("LearnError", text.replacen(option, &format!("{option}="), 1))
            }
            error => Failure::of("LearnError", error),
        }
    }
}

impl From<EnforceError> for Failure {
    fn from(error: EnforceError) -> Failure {
        match error {
            EnforceError::TooLarge(error) => error.into(),
            EnforceError::Query(error) => error.into(),
            error => Failure::of("LearnError", &error),
        }
    }
}

impl From<LessonError> for Failure {
    fn from(error: LessonError) -> Failure {
        match error {
            LessonError::Learn(error) => error.into(),
            LessonError::Base(error) => error.into(),
        }
    }
}

/// Every error of the library has one exception.
macro_rules! raises {
    ($($error:ty => $class:literal),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::of($class, &error)
            }
        }
    )*};
}

raises! {
    BinsError => "RecordsError",
    BuildError => "CircuitError",
    FitError => "LearnError",
    FormulaError => "FormulaError",
    ConditionError => "LearnError",
    NormaliseError => "FormulaError",
    NoVariables => "FormulaError",
    NotClausal => "FormulaError",
    Refusal => "CertificateError",
    RuleError => "QueryError",
    Stopped => "TooLargeError",
    VtreeMethodError => "LearnError",
    WriteError => "WriteError",
    slopp::data::GenerateError => "RecordsError",
    slopp::data::SplitError => "RecordsError",
    slopp::example::TruthError => "RecordsError",
    slopp::mixture::MixtureError => "CircuitError",
    slopp::names::NameError => "NamesError",
    slopp::vtree::VtreeError => "VtreeError",
    std::io::Error => "WriteError",
}
