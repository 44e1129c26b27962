//! The file of results: one row per line, appended as soon as it is measured.

use serde_json::Value;
use slopp::model::Size;
use slopp_cli::{Error, json, json_count, object};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What was measured of one learner on one dataset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) dataset: String,
    pub(super) learner: String,
    pub(super) settings: Value,
    pub(super) seed: u64,
    /// Log-likelihoods per record over all records; none if one is impossible.
    pub(super) train: Option<f64>,
    pub(super) valid: Option<f64>,
    pub(super) test: Option<f64>,
    pub(super) impossible_test: f64,
    pub(super) size: Size,
    pub(super) certified: bool,
    pub(super) cpu_seconds: Option<f64>,
    pub(super) peak_memory_bytes: Option<u64>,
    pub(super) version: String,
}

impl Row {
    /// The row as an object.
    pub(super) fn document(&self) -> Value {
        let number = |value: Option<f64>| value.map_or(Value::Null, json);
        object([
            ("dataset", self.dataset.as_str().into()),
            ("learner", self.learner.as_str().into()),
            ("settings", self.settings.clone()),
            ("seed", self.seed.into()),
            ("train", number(self.train)),
            ("valid", number(self.valid)),
            ("test", number(self.test)),
            ("impossible_test", json_count(self.impossible_test)),
            ("nodes", self.size.nodes.into()),
            ("elements", self.size.elements.into()),
            ("parameters", self.size.parameters.into()),
            ("certified", self.certified.into()),
            ("cpu_seconds", number(self.cpu_seconds)),
            ("peak_memory_bytes", self.peak_memory_bytes.into()),
            ("version", self.version.as_str().into()),
        ])
    }

    /// A row from one line; the error says what is not there.
    pub(super) fn parse(line: &str) -> Result<Row, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let wrong = |key: &str, expected: &str| format!("\"{key}\" is not {expected}");
        let text = |key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| wrong(key, "a text"));
        let size = |key: &str| value[key].as_u64().map(|n| n as usize).ok_or_else(|| wrong(key, "a whole number"));
        let measured = |key: &str| match &value[key] {
            Value::Null if value.get(key).is_some() => Ok(None),
            number => number.as_f64().map(Some).ok_or_else(|| wrong(key, "a number or null")),
        };
        Ok(Row {
            dataset: text("dataset")?,
            learner: text("learner")?,
            settings: value["settings"]
                .is_object()
                .then(|| value["settings"].clone())
                .ok_or("\"settings\" is missing")?,
            seed: value["seed"].as_u64().ok_or_else(|| wrong("seed", "a whole number"))?,
            train: measured("train")?,
            valid: measured("valid")?,
            test: measured("test")?,
            impossible_test: value["impossible_test"].as_f64().ok_or_else(|| wrong("impossible_test", "a number"))?,
            size: Size { nodes: size("nodes")?, elements: size("elements")?, parameters: size("parameters")? },
            certified: value["certified"].as_bool().ok_or_else(|| wrong("certified", "true or false"))?,
            cpu_seconds: measured("cpu_seconds")?,
            peak_memory_bytes: measured("peak_memory_bytes")?.map(|bytes| bytes as u64),
            version: value["version"].as_str().unwrap_or_default().to_owned(),
        })
    }
}

/// A file of results that is being added to.
pub(super) struct Results {
    /// None is stdout.
    file: Option<(PathBuf, File)>,
    pub(super) rows: Vec<Row>,
}

impl Results {
    /// Opens or makes the file, for this process alone, and takes away a last line that was cut off.
    pub(super) fn open(path: &Path) -> Result<Results, Error> {
        if path == Path::new("-") {
            return Ok(Results { file: None, rows: Vec::new() });
        }
        let fail = |error: io::Error| {
            Error::from(error)
                .while_doing(format!("the results cannot be written to {}", path.display()))
                .hint("--out FILE.jsonl in a folder that you may write to")
        };
        // A device has no end, and what went through a pipe cannot be read again.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let error = fail(io::Error::other("it is not a regular file"));
            return Err(error.hint("--out FILE.jsonl, or --out - for stdout"));
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(format!("another `slopp bench` is writing to {}", path.display()))
                    .hint("wait for it, or --out another file"));
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(_)) => {}
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(fail)?;
        let (rows, whole) = rows_of(path, &text)?;
        if whole < text.len() {
            file.set_len(whole as u64).map_err(fail)?;
        }
        let mut results = Results { file: Some((path.to_owned(), file)), rows };
        if whole > 0 && !text[..whole].ends_with('\n') {
            results.append("\n")?;
        }
        Ok(results)
    }

    /// Appends a row, which is in the file when this returns.
    pub(super) fn push(&mut self, row: Row) -> Result<(), Error> {
        self.append(&format!("{}\n", row.document()))?;
        self.rows.push(row);
        Ok(())
    }

    fn append(&mut self, text: &str) -> Result<(), Error> {
        match &mut self.file {
            None => Ok(io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush())?),
            Some((path, file)) => {
                let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
                written.map_err(|error| {
                    let what = format!("a row was not written to {}; the rows before it are kept", path.display());
                    Error::from(error).while_doing(what).hint("make room and start again: nothing is measured twice")
                })
            }
        }
    }
}

/// The rows of a file of results that is only looked at.
pub(super) fn read(path: &Path) -> Result<Vec<Row>, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::from(error)
            .while_doing(format!("the results {} could not be read", path.display()))
            .hint("`slopp bench --data DIR --out FILE.jsonl` measures; --out says which file to report on")
    })?;
    Ok(rows_of(path, &text)?.0)
}

/// The rows of a text, and how many of its bytes hold them: a last line may be cut off.
fn rows_of(path: &Path, text: &str) -> Result<(Vec<Row>, usize), Error> {
    const BEGINNING: &str = "{\"dataset\":";
    let mut rows = Vec::new();
    let mut whole = 0;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        match Row::parse(line) {
            Ok(row) => rows.push(row),
            Err(_) if line.trim().is_empty() => {}
            // Only what began as a row was cut off; anything else is somebody's, and is left alone.
            Err(_) if !line.ends_with('\n') && (line.starts_with(BEGINNING) || BEGINNING.starts_with(line)) => break,
            Err(why) => {
                return Err(Error::new(why)
                    .while_doing(format!("line {} of {} is not a row of results", i + 1, path.display()))
                    .hint("remove the line, or --out another file; nothing was changed"));
            }
        }
        whole += line.len();
    }
    Ok((rows, whole))
}
