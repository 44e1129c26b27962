//! Errors of the library as exceptions of the package, with the same words.

use pyo3::prelude::*;
use slopp::infer::QueryError;
use slopp::knowledge::KnowledgeError;
use slopp::learn::LearnError;
use slopp::logic::LogicError;
use slopp::vtree::VtreeError;
use slopp::{Advice, Error};
use std::borrow::Cow;

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

    /// An error of the library: its message, the causes that this does not hold already, and what to try.
    fn of(error: &Error) -> Failure {
        let (mut text, plain) = (message(error), error.to_string());
        for error in error.causes() {
            let words = error.to_string();
            if !text.contains(&words) && !plain.contains(&words) {
                text = format!("{text}\nbecause {words}");
            }
        }
        let advice = error.advice();
        advice.iter().filter_map(words).for_each(|words| text = format!("{text}; {words}"));
        Failure::Named(class(error), text)
    }
}

impl From<slopp::io::OtherContent> for Failure {
    fn from(other: slopp::io::OtherContent) -> Failure {
        Failure::new("ArgumentError", format!("{other}; take a name that ends in {}", other.ending()))
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

/// The text without characters that a terminal would act on.
#[pyfunction]
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    slopp::names::visible_lines(text)
}

/// The class of `slopp.errors` for an error.
fn class(error: &Error) -> &'static str {
    match error {
        Error::Query(error) | Error::Knowledge(KnowledgeError::Query(error)) => match error {
            QueryError::ImpossibleEvidence | QueryError::ImpossibleFormula => "ImpossibleError",
            QueryError::Stopped { .. } | QueryError::Compile(_) => "TooLargeError",
            QueryError::OnlyLiterals | QueryError::NotDeterministic | QueryError::OtherKind(_) => "KindError",
            QueryError::DifferentVariables(_) => "NamesError",
            _ => "QueryError",
        },
        Error::Read(_) => {
            let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
            match error.causes().any(|error| error.downcast_ref().is_some_and(is_missing)) {
                true => "MissingFileError",
                false => "ReadError",
            }
        }
        Error::Logic(LogicError::TooManyVariables { .. } | LogicError::WrongRecords { .. }) => "QueryError",
        Error::Stopped(_)
        | Error::Knowledge(KnowledgeError::Stopped(_))
        | Error::Learn(LearnError::Query(QueryError::Compile(_))) => "TooLargeError",
        Error::Learn(_) => "LearnError",
        Error::Formula(_) | Error::Knowledge(KnowledgeError::Logic(_)) | Error::Logic(_) => "FormulaError",
        Error::Certificate(_) | Error::Knowledge(KnowledgeError::Certificate(_)) => "CertificateError",
        Error::Names(_) | Error::Vtree(VtreeError::Name(_)) | Error::Knowledge(_) => "NamesError",
        Error::Build(_) | Error::Mixture(_) | Error::Spn(_) => "CircuitError",
        Error::Records(_) => "RecordsError",
        Error::Vtree(_) => "VtreeError",
        Error::Write(_) | Error::Io(_) => "WriteError",
        _ => "SloppError",
    }
}

/// What an error says; options are keywords here.
fn message(error: &Error) -> String {
    let Error::Learn(found) = error else { return error.to_string() };
    match found {
        LearnError::Setting { name, value, expected } => format!("{name}= is {value}, but must be {expected}"),
        LearnError::OptionOfOthers { learner, option, owners } => {
            format!("{option}= belongs to {}, not to {learner}", owners.join(", "))
        }
        LearnError::Together(together) => {
            together.words(&|name, value| value.map_or(format!("{name}="), |value| format!("{name}={value:?}")))
        }
        LearnError::NoSuchOption { option, known } => {
            format!("no learner has an option {option}=; the options are {}", known.join(", "))
        }
        _ => error.to_string(),
    }
}

/// Advice in the words of Python, where there is a way to follow it.
fn words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::FirstLineIsRecord => "header=False, if the first line is a record".into(),
        Advice::FirstLineHoldsNames => "header=True, if the first line holds names".into(),
        Advice::Categories { column } => {
            let column = column.as_deref().unwrap_or("NAME");
            format!("categories=[{column:?}], if the column holds categories")
        }
        Advice::Bins { column } => format!("bins={{{column:?}: 4}} cuts its numbers into bins"),
        Advice::MoreValues => "max_values=N allows more".into(),
        Advice::OtherLearner { option, owners } => match owners[..] {
            [first, _, _, _, ..] => {
                format!("choose {first}, or another learner that can do it, or leave {option}= out")
            }
            _ => format!("choose {}, or leave {option}= out", owners.join(" or ")),
        },
        Advice::Distil => "distil(model, records, rules=rules) makes a PSDD that obeys them".into(),
        Advice::LeaveOneOut => "leave one of them out".into(),
        Advice::LeaveOut { option } => format!("leave {option}= out"),
        Advice::NameOpen => "open= names the columns that stay open in a closed world".into(),
        Advice::NameClosed => "closed= names the columns that are closed in an open world".into(),
        Advice::Widen => "revise widens a model by records that it excludes".into(),
        Advice::Weight => "weight=N, the number of records that the model stands for".into(),
        Advice::Free => "free=True lets the student allow more, and rules= say what must hold".into(),
        Advice::MakeRoom => "revise makes room for them in the teacher".into(),
        Advice::MoreElements { least } => format!("max_elements={least} or more"),
        Advice::FitToAll => "fit all records at once, without add=".into(),
        _ => return None,
    })
}

/// Errors of the library are exceptions.
macro_rules! raises {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::of(&error.into())
            }
        }
    )*};
}

raises! {
    LearnError,
    QueryError,
    slopp::circuit::BuildError,
    slopp::circuit::Refusal,
    slopp::data::RecordsError,
    slopp::io::ReadError,
    slopp::io::WriteError,
    KnowledgeError,
    slopp::logic::FormulaError,
    LogicError,
    slopp::logic::Stopped,
    slopp::mixture::MixtureError,
    slopp::names::NameError,
    slopp::vtree::VtreeError,
    std::io::Error,
}
