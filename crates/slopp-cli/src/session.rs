//! What all commands share: where results go, in which form, and how progress is shown.

use crate::error::{Error, words};
use crate::progress::Bar;
use crate::report::{Table, counted};
use serde_json::Value;
use slopp::Advice;
use slopp::names::{visible_json, visible_lines};
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};

/// What a command answers beyond its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Done, or yes: exit code 0.
    Yes,
    /// The answer is no: exit code 1.
    No,
}

/// One run of the program.
pub struct Session {
    /// Whether results are one JSON document.
    pub json: bool,
    quiet: bool,
    /// Whether stdout belongs to a file that a command writes there.
    taken: bool,
    /// Whether people look at stdout.
    terminal: bool,
    out: BufWriter<Stdout>,
}

impl Session {
    /// A session that writes to stdout.
    pub(crate) fn new(json: bool, quiet: bool) -> Session {
        let terminal = io::stdout().is_terminal();
        Session { json, quiet, taken: false, terminal, out: BufWriter::new(io::stdout()) }
    }

    /// If a command writes a file to stdout, nothing else goes there.
    pub fn give_stdout_to<'a>(&mut self, files: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Error> {
        self.taken = files.into_iter().any(|file| slopp::io::is_stdout(file));
        match self.taken && self.json {
            true => Err(Error::new("the file and the JSON document cannot both go to stdout")
                .hint("-o FILE, or leave --json out")),
            false => Ok(()),
        }
    }

    /// Whether remarks are not wanted.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A bar for long work.
    pub fn progress(&self) -> Bar {
        Bar::new(self.quiet)
    }

    /// A bar for work whose result goes to a file while it is done; no bar if that is the terminal.
    pub(crate) fn progress_beside(&self, output: &Path) -> Bar {
        Bar::new(self.quiet || (slopp::io::is_stdout(output) && io::stdout().is_terminal()))
    }

    /// A line of the result, for people to read.
    pub fn line(&mut self, line: impl fmt::Display) -> Result<(), Error> {
        if !self.taken {
            writeln!(self.out, "{}", visible_lines(&line.to_string())).map_err(to_stdout)?;
        }
        Ok(())
    }

    /// A line of the result for programs, such as one of a CSV file: as it is, unless a terminal would act on it.
    pub fn data(&mut self, line: impl fmt::Display) -> Result<(), Error> {
        if self.taken || self.terminal {
            return self.line(line);
        }
        writeln!(self.out, "{line}").map_err(to_stdout)
    }

    /// A table of the result.
    pub fn table(&mut self, table: &Table) -> Result<(), Error> {
        if !self.taken {
            write!(self.out, "{table}").map_err(to_stdout)?;
        }
        Ok(())
    }

    /// The result as one JSON document.
    pub fn document(&mut self, document: &Value) -> Result<(), Error> {
        writeln!(self.out, "{}", visible_json(&format!("{document:#}"))).map_err(to_stdout)
    }

    /// A remark on stderr that is not part of the result.
    pub fn note(&self, note: impl fmt::Display) {
        if !self.quiet {
            // A lost remark is not a reason to fail.
            let _ = writeln!(io::stderr(), "note: {}", visible_lines(&note.to_string()));
        }
    }

    /// Tells where a result was saved.
    pub fn saved(&self, file: &Path) {
        if !slopp::io::is_stdout(file) {
            self.note(format_args!("saved in {}", file.display()));
        }
    }

    /// Tells why some lines of a table have no answer.
    pub(crate) fn note_impossible(&self, records: usize) {
        if records > 0 {
            let records = counted(records, "impossible record");
            self.note(format_args!("the lines of {records} are empty; `slopp possible` shows what to change"));
        }
    }

    /// Hands everything to stdout.
    pub fn finish(mut self) -> Result<(), Error> {
        self.out.flush().map_err(to_stdout)
    }
}

fn to_stdout(error: io::Error) -> Error {
    let hint = words(&Advice::OtherPlace(error.kind()));
    let error = Error::from(error).while_doing("cannot write to stdout");
    hint.into_iter().fold(error, Error::hint)
}
