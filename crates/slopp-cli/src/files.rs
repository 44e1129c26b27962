//! Files that a command is about to read and write, looked at before any work is done.

use crate::error::Error;
use slopp::io::Content;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of a command.
#[derive(Default)]
pub(crate) struct Files {
    inputs: Vec<PathBuf>,
    replaceable: Vec<PathBuf>,
    outputs: Vec<(PathBuf, Option<Content>)>,
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

    /// Files that are written, and what they are to hold; `None` if the command goes by their names.
    pub(crate) fn write<'a>(
        mut self,
        files: impl IntoIterator<Item = &'a PathBuf>,
        content: impl Into<Option<Content>>,
    ) -> Files {
        let content = content.into();
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
            content.map_or(Ok(()), |content| content.check_name(output)).map_err(|other| {
                Error::new(other.to_string()).hint(format!("a name that ends in {}", other.ending()))
            })?;
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
