//! Files that a command is about to read and write, looked at before any work is done.

use crate::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of a command.
#[derive(Default)]
pub(crate) struct Files {
    inputs: Vec<PathBuf>,
    replaceable: Vec<PathBuf>,
    outputs: Vec<(PathBuf, Content)>,
}

/// What a file is to hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// A circuit, a mixture or a network; see [`check_ending`].
    Model,
    Records,
    Rules,
    Dimacs,
    Json,
    /// The ending of the name says, and the command looks at it.
    AsNamed,
}

impl Content {
    fn in_words(self) -> &'static str {
        match self {
            Content::Model => "a model",
            Content::Records => "records",
            Content::Rules => "rules",
            Content::Dimacs => "clauses",
            Content::Json => "a JSON document",
            Content::AsNamed => "what the name says",
        }
    }

    /// What ends the names of such files.
    fn endings(self) -> &'static str {
        match self {
            Content::Model => ".psdd",
            Content::Records => ".csv",
            Content::Rules => ".txt",
            Content::Dimacs => ".cnf",
            Content::Json => ".json",
            Content::AsNamed => "",
        }
    }

    /// What files hold whose names end like this one, and whether this is among it; `None` for an ending that says
    /// nothing.
    fn named(self, file: &Path) -> Option<(&'static str, bool)> {
        let ending = slopp::io::ending(file)?;
        let (what, contents): (_, &[Content]) = match ending.as_str() {
            "psdd" | "mix" | "spn" => ("a model", &[Content::Model]),
            "sdd" => ("a diagram", &[]),
            "vtree" => ("a vtree", &[]),
            "csv" | "data" | "wdata" => ("records", &[Content::Records]),
            "parquet" | "feather" | "arrow" | "xlsx" | "ods" => ("a table of another program", &[]),
            "cnf" => ("DIMACS clauses", &[Content::Dimacs]),
            "dnf" => ("DIMACS terms", &[]),
            "json" => ("a JSON document", &[Content::Json]),
            "svg" | "dot" | "gv" | "png" | "pdf" => ("a picture", &[]),
            "html" => ("a page", &[]),
            _ => return None,
        };
        Some((what, contents.contains(&self)))
    }
}

impl Files {
    /// Files that are read, and must not be written over.
    pub(crate) fn read<'a>(mut self, files: impl IntoIterator<Item = &'a PathBuf>) -> Files {
        self.inputs.extend(files.into_iter().cloned());
        self
    }

    /// Files that are read and may be replaced by what is made from them.
    pub(crate) fn replace<'a>(mut self, files: impl IntoIterator<Item = &'a PathBuf>) -> Files {
        self.replaceable.extend(files.into_iter().cloned());
        self
    }

    /// Files that are written, and what they are to hold.
    pub(crate) fn write<'a>(mut self, files: impl IntoIterator<Item = &'a PathBuf>, content: Content) -> Files {
        self.outputs.extend(files.into_iter().map(|file| (file.clone(), content)));
        self
    }

    /// Refuses two inputs from stdin, an output that is an input or has the name of another kind of file, and an output
    /// that cannot be written.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let inputs = || self.inputs.iter().chain(&self.replaceable);
        if inputs().filter(|file| is_stream(file)).count() > 1 {
            return Err(Error::new("only one file can come from stdin").hint("give the others by name"));
        }
        for (output, content) in self.outputs.iter().filter(|(file, _)| !slopp::io::is_stdout(file)) {
            if self.inputs.iter().any(|input| is_same(input, output)) {
                return Err(Error::new(format!("{} is an input and would be overwritten", output.display()))
                    .hint("another name for the output"));
            }
            // A slip such as `-o test.csv` for `--test test.csv` would cost the test data.
            if let (true, Some((named, false))) = (*content != Content::AsNamed, content.named(output)) {
                let (file, written) = (output.display(), content.in_words());
                return Err(Error::new(format!("{file} is the name of {named}, and what is written is {written}"))
                    .hint(format!("a name that ends in {}", content.endings())));
            }
            slopp::io::check_writable(output)?;
        }
        Ok(())
    }
}

/// Refuses to save a model under the ending of another kind of model: readers go by the content, people by the name.
pub(crate) fn check_ending(output: Option<&Path>, ending: &str, what: &str) -> Result<(), Error> {
    let Some(output) = output else { return Ok(()) };
    let ending = ending.trim_start_matches('.');
    let is_wrong = |found: &String| found != ending && ["psdd", "mix", "spn"].contains(&found.as_str());
    let Some(wrong) = slopp::io::ending(output).filter(is_wrong) else { return Ok(()) };
    let kind = |ending: &str| match ending {
        "mix" => "a mixture",
        "spn" => "a sum-product network",
        _ => "a circuit",
    };
    let is_zipped = output.extension().is_some_and(|last| last.eq_ignore_ascii_case("gz"));
    let plain = if is_zipped { output.with_extension("") } else { output.to_owned() };
    let right = plain.with_extension(ending);
    Err(Error::new(format!("{what} is {}, and {} is the name of {}", kind(ending), output.display(), kind(&wrong)))
        .hint(format!("-o {}", right.display())))
}

fn is_stream(file: &Path) -> bool {
    file == Path::new("-")
}

/// Whether two names lead to one regular file; writing to a device replaces nothing.
fn is_same(a: &Path, b: &Path) -> bool {
    if is_stream(a) {
        return is_stdin(b).unwrap_or(false);
    }
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        _ => false,
    }
}

/// Whether stdin comes from this file.
#[cfg(unix)]
fn is_stdin(file: &Path) -> io::Result<bool> {
    use std::os::{fd::AsFd, unix::fs::MetadataExt};
    let stdin = fs::File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata()?;
    let found = fs::metadata(file)?;
    Ok(found.is_file() && (found.dev(), found.ino()) == (stdin.dev(), stdin.ino()))
}

/// This cannot be known.
#[cfg(not(unix))]
fn is_stdin(_: &Path) -> io::Result<bool> {
    Ok(false)
}
