//! Files that could not be read or written: which, and where in them.

use super::problem::Problem;
use super::source::path_in_words;
use super::vtree::LoadedVtree;
use crate::advice::Advice;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that could not be read: where, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadError {
    /// The file as it was given; `None` when bytes in memory were read.
    pub file: Option<String>,
    /// The line, from one, if the problem has a place.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: Box<Problem>,
}

/// What is wrong with compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum GzipDamage {
    /// They end too early.
    #[error("the gzip data are cut off")]
    CutOff,
    /// They cannot be decoded, or do not have the checksum they should.
    #[error("the gzip data are damaged")]
    Broken,
    /// They are complete, and something else comes after them.
    #[error("the gzip data are complete, but other bytes follow them that are not gzip data")]
    Followed,
}

impl ReadError {
    pub(super) fn new(problem: Problem) -> ReadError {
        ReadError { file: None, line: None, problem: Box::new(problem) }
    }

    pub(super) fn at(line: usize, problem: Problem) -> ReadError {
        ReadError { file: None, line: Some(line), problem: Box::new(problem) }
    }

    pub(super) fn unexpected(line: usize, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        ReadError::at(line, Problem::Unexpected { column: None, expected: expected.into(), found: found.into() })
    }

    pub(super) fn damaged(line: usize, reason: impl Into<String>) -> ReadError {
        ReadError::at(line, Problem::Damaged { reason: reason.into() })
    }

    /// What to try.
    pub fn advice(&self) -> Vec<Advice> {
        self.problem.advice()
    }

    /// The same error, blamed on the vtree that was given with a circuit of `vars` variables.
    pub(super) fn wrong_vtree(self, sure: bool, vars: usize, given: &LoadedVtree) -> ReadError {
        let vars = (vars, given.vtree.var_count());
        let problem = Problem::WrongVtree { file: given.file.clone(), sure, vars, problem: self.problem };
        ReadError { problem: Box::new(problem), ..self }
    }

    /// The same error with the name of its file, unless it has one.
    pub fn in_file(mut self, path: &Path) -> ReadError {
        self.file.get_or_insert_with(|| path_in_words(path));
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}, line {line}: {}", self.problem),
            (Some(file), None) => write!(f, "{file}: {}", self.problem),
            (None, Some(line)) => write!(f, "line {line}: {}", self.problem),
            (None, None) => self.problem.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.problem)
    }
}

/// A file that could not be written; what was there before is untouched, there and in all files but those listed.
#[derive(Debug)]
#[non_exhaustive]
pub struct WriteError {
    /// The file; `-` is stdout.
    pub file: PathBuf,
    /// Why.
    pub source: io::Error,
    /// Files of the same step that were replaced before, and could not be put back.
    pub replaced: Vec<PathBuf>,
}

impl WriteError {
    /// What to try.
    pub fn advice(&self) -> Vec<Advice> {
        vec![Advice::OtherPlace(self.source.kind())]
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file == Path::new("-") {
            return write!(f, "cannot write to stdout: {}", self.source);
        }
        write!(f, "cannot write {}: {}; ", self.file.display(), self.source)?;
        let replaced: Vec<String> = self.replaced.iter().map(|file| file.display().to_string()).collect();
        match replaced.is_empty() {
            true => write!(f, "nothing was changed"),
            false => write!(f, "replaced before that, and not put back: {}", replaced.join(", ")),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
