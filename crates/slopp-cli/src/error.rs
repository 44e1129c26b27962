//! The one error of the command line: what happened, because of what, and what to try.

use crate::files::way_out;
use crate::visible::visible_lines;
use slopp::infer::QueryError;
use slopp::io::WriteError;
use std::error::Error as Cause;
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

    /// Whether the reader of our output has gone away, which is no fault of anyone.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }
}

/// Any error of the library; causes that the message already tells are not repeated.
impl<E: Cause + 'static> From<E> for Error {
    fn from(error: E) -> Error {
        let mut result = Error::new(error.to_string());
        let mut cause: Option<&(dyn Cause + 'static)> = Some(&error);
        while let Some(error) = cause {
            let io = error.downcast_ref::<io::Error>();
            result.broken_pipe |= io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
            if let Some(error) = error.downcast_ref::<WriteError>() {
                result.hint = Some(way_out(&error.source).to_owned());
            }
            let hint = match error.downcast_ref::<QueryError>() {
                Some(QueryError::ImpossibleEvidence) => {
                    Some("`slopp possible MODEL --given EVIDENCE` tells what would have to change")
                }
                Some(QueryError::Stopped { .. } | QueryError::TooManyWorlds { .. }) => {
                    Some("--max-nodes N and --max-memory MB allow more")
                }
                _ => None,
            };
            result.hint = hint.map(str::to_owned).or(result.hint);
            let text = error.to_string();
            let told = result.because.iter().chain([&result.message]).any(|t| t.contains(&text));
            if !told {
                result.because.push(text);
            }
            cause = error.source();
        }
        result
    }
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
