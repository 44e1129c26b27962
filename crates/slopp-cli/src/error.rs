//! The one error of the command line: what happened, because of what, and what to try.

use slopp::Advice;
use slopp::learn::LearnError;
use slopp::names::{quote, split_list, visible, visible_lines};
use std::fmt;
use std::io;

/// Why a command could not run.
#[derive(Debug)]
pub struct Error {
    message: String,
    because: Vec<String>,
    hint: Option<String>,
    broken_pipe: bool,
}

impl Error {
    /// An error without a deeper cause.
    pub fn new(message: impl Into<String>) -> Error {
        Error { message: message.into(), because: Vec::new(), hint: None, broken_pipe: false }
    }

    /// The same error with something to try.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with one more thing to try.
    pub(crate) fn also(mut self, hint: impl Into<String>) -> Error {
        let hint = hint.into();
        self.hint = Some(self.hint.map_or(hint.clone(), |known| format!("{known}; {hint}")));
        self
    }

    /// Puts what was being done before the error, which becomes its cause.
    pub fn while_doing(mut self, what: impl Into<String>) -> Error {
        let message = std::mem::replace(&mut self.message, what.into());
        self.because.insert(0, message);
        self
    }

    /// The same error with a cause.
    pub fn because(mut self, cause: impl Into<String>) -> Error {
        self.because.push(cause.into());
        self
    }

    /// Whether the reader of our output has gone away, which is not an error.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }
}

/// Any error of the library, with its advice; causes that the message already holds are not repeated.
impl<E: Into<slopp::Error>> From<E> for Error {
    fn from(error: E) -> Error {
        let error = error.into();
        let mut result = Error::new(message(&error));
        let advice: Vec<String> = error.advice().iter().filter_map(words).collect();
        result.hint = (!advice.is_empty()).then(|| advice.join("; "));
        let plain = error.to_string();
        for error in error.causes() {
            let io = error.downcast_ref::<io::Error>();
            result.broken_pipe |= io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
            let text = error.to_string();
            let is_new = !result.because.iter().chain([&result.message, &plain]).any(|known| known.contains(&text));
            if is_new {
                result.because.push(text);
            }
        }
        result
    }
}

/// What an error says; options are spelled as on the command line.
fn message(error: &slopp::Error) -> String {
    match error {
        slopp::Error::Learn(LearnError::Setting { name, value, expected }) => {
            format!("{} is {value}, but must be {expected}", option(name))
        }
        slopp::Error::Learn(LearnError::OptionOfOthers { learner, option: name, owners }) => {
            let s = if owners.len() == 1 { "" } else { "s" };
            format!("{} belongs to the learner{s} {}, not to {learner}", option(name), owners.join(", "))
        }
        slopp::Error::Learn(LearnError::Together(together)) => {
            together.words(&|name, value| value.map_or(option(name), |value| format!("{} {value}", option(name))))
        }
        slopp::Error::Learn(LearnError::TooFewElements { max, least }) => {
            format!("--max-elements {max} is too small: a circuit over these variables needs {least}")
        }
        error => error.to_string(),
    }
}

/// How to allow more work.
pub(crate) const LARGER_LIMITS: &str = "--max-nodes N and --max-memory MB allow more";

/// An option as people write it here.
fn option(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// Learners by name: all of few, the first of many.
fn one_of(learners: &[&str]) -> String {
    match learners {
        [first, _, _, _, ..] => format!("{first}, or another that can do it"),
        few => few.join(" or "),
    }
}

/// A name as a list of names takes it.
fn in_list(name: &str) -> String {
    let plain = split_list(name) == [name] && visible(name) == name;
    if plain { name.to_owned() } else { quote(name) }
}

/// An argument as a shell takes it.
pub(crate) fn in_shell(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+=:,./@%…".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Advice in the words of the command line, where there is a way to follow it.
pub(crate) fn words(advice: &Advice) -> Option<String> {
    Some(match advice {
        Advice::FirstLineIsRecord => "--header no, if the first line is a record".into(),
        Advice::FirstLineHoldsNames => "--header yes, if the first line holds names".into(),
        Advice::Categories { column } => {
            let column = column.as_deref().map_or("NAME".into(), |column| in_shell(&in_list(column)));
            format!("--categories {column}, if the column holds categories")
        }
        Advice::Bins { column } => {
            format!("--bins {}, which cuts its numbers into bins", in_shell(&format!("{column}=4")))
        }
        Advice::MoreValues => "--max-values N, which allows more".into(),
        Advice::MoreMemory => "--records-memory MB, which allows more".into(),
        Advice::LargerLimits => LARGER_LIMITS.into(),
        Advice::NearestWorld => "`slopp possible MODEL --given EVIDENCE` shows what would have to change".into(),
        Advice::OtherLearner { option: name, owners } => {
            format!("--learner {}, or leave {} out", one_of(owners), option(name))
        }
        Advice::SameVtree => {
            "`slopp convert A a.vtree`, then `slopp learn RECORDS --vtree a.vtree` learns the other on the vtree of A"
                .into()
        }
        Advice::Distil => "`slopp distil MODEL RECORDS --rules RULES` makes a PSDD that obeys them".into(),
        Advice::Difference => "`slopp diff A B` shows what each allows".into(),
        Advice::LeaveOneOut => "leave one of them out".into(),
        Advice::LeaveOut { option: name } => format!("leave {} out", option(name)),
        Advice::NameOpen => "--open names the columns that stay open in a closed world".into(),
        Advice::NameClosed => "--closed names the columns that are closed in an open world".into(),
        Advice::Widen => "`slopp revise` widens a model by records that it excludes".into(),
        Advice::MoreElements { least } => format!("--max-elements {least} or more"),
        Advice::FitToAll => "`slopp fit MODEL ALL-RECORDS -o FILE`, without --add; its result keeps counts".into(),
        Advice::Weight => "--weight X, the number of records that the model stands for".into(),
        Advice::Free => "--free lets the student allow more, and --rules FILE says what must hold".into(),
        Advice::MakeRoom => "`slopp revise` makes room for them in the teacher".into(),
        Advice::OtherPlace(kind) => match kind {
            io::ErrorKind::NotFound => "make the folder first, or choose another place",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space, or choose another place",
            io::ErrorKind::FileTooLarge => {
                "raise the limit on the size of files (`ulimit -f`), or choose another place"
            }
            _ => "choose another place",
        }
        .into(),
        _ => return None,
    })
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", visible_lines(&self.message))?;
        for cause in &self.because {
            writeln!(f, "  because {}", visible_lines(cause))?;
        }
        self.hint.as_ref().map_or(Ok(()), |hint| writeln!(f, "  try: {}", visible_lines(hint)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_reads_from_outside_in() {
        let inner = Error::from(io::Error::other("the disk is full")).hint("free some space");
        let text = inner.while_doing("the model could not be saved").to_string();
        assert_eq!(text, "error: the model could not be saved\n  because the disk is full\n  try: free some space\n");
    }

    #[test]
    fn a_broken_pipe_is_recognised() {
        assert!(Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).is_broken_pipe());
        assert!(!Error::from(io::Error::other("x")).is_broken_pipe());
    }
}
