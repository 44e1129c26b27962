//! Where texts come from: files, plain or gzipped, stdin, or memory.

use super::error::{GzipDamage, ReadError};
use super::problem::Problem;
use flate2::bufread::GzDecoder;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Large enough that records arrive at the speed of memory.
const BUFFER: usize = 1 << 18;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How much text is kept in memory, unless another limit is given, that a plain file does not hold: a gzipped one may
/// be a thousand times as long as it seems, and a pipe may never end.
pub(super) const MAX_TEXT: u64 = 1 << 30;

/// Where a text comes from: a file, with `-` for stdin, or bytes in memory. Both may be gzipped.
///
/// Every reader takes anything that can be turned into a source: `read_vtree("model.vtree")`, `read_vtree(&bytes)`.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The file at a path, or stdin for `-`.
    File(&'a Path),
    /// A text in memory.
    Text(&'a [u8]),
}

/// A path in messages: `stdin` where that is read.
///
/// ```
/// assert_eq!(slopp::io::path_in_words("-".as_ref()), "stdin");
/// ```
pub fn path_in_words(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}

impl<'a> Source<'a> {
    /// Whether it can be read only once.
    pub(super) fn is_stdin(self) -> bool {
        matches!(self, Source::File(path) if path == Path::new("-"))
    }

    /// Opens it; gzip is recognised by its first bytes, whatever the name.
    pub(super) fn open(self) -> Result<Box<dyn BufRead + 'a>, ReadError> {
        match self {
            Source::File(path) => Ok(open_file(path)?.0),
            Source::Text(text) => unzipped(text),
        }
    }

    /// The whole text, unzipped. What is not a plain file may have at most `limit` bytes.
    ///
    /// A NUL byte ends it: no text has one, and every reader refuses it.
    fn read_within(self, limit: u64) -> Result<Cow<'a, [u8]>, ReadError> {
        let (text, limit) = match self {
            Source::Text(text) if !text.starts_with(&GZIP) => return Ok(Cow::Borrowed(text)),
            Source::Text(text) => (unzipped(text)?, limit),
            Source::File(path) => {
                let (text, is_plain) = open_file(path)?;
                (text, if is_plain { u64::MAX } else { limit })
            }
        };
        keep(text, limit).map(Cow::Owned).map_err(|e| self.name(ReadError { line: None, ..e }))
    }

    /// The result of reading the whole text; an error names the file.
    pub(super) fn parse<T>(self, parse: impl FnOnce(&[u8]) -> Result<T, ReadError>) -> Result<T, ReadError> {
        parse(&self.read_within(MAX_TEXT)?).map_err(|e| self.name(e))
    }

    /// The same error with the name of the file.
    pub(super) fn name(self, error: ReadError) -> ReadError {
        match self {
            Source::File(path) => error.in_file(path),
            Source::Text(_) => error,
        }
    }
}

impl<'a> From<&'a Path> for Source<'a> {
    fn from(path: &'a Path) -> Source<'a> {
        Source::File(path)
    }
}

impl<'a> From<&'a PathBuf> for Source<'a> {
    fn from(path: &'a PathBuf) -> Source<'a> {
        Source::File(path)
    }
}

impl<'a> From<&'a str> for Source<'a> {
    fn from(path: &'a str) -> Source<'a> {
        Source::File(Path::new(path))
    }
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(text: &'a [u8]) -> Source<'a> {
        Source::Text(text)
    }
}

impl<'a> From<&'a Vec<u8>> for Source<'a> {
    fn from(text: &'a Vec<u8>) -> Source<'a> {
        Source::Text(text)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Source<'a> {
    fn from(text: &'a [u8; N]) -> Source<'a> {
        Source::Text(text)
    }
}

/// The text of a file, and whether it is as long as the file.
fn open_file(path: &Path) -> Result<(Box<dyn BufRead>, bool), ReadError> {
    let fail = |problem| ReadError::new(problem).in_file(path);
    if path == Path::new("-") {
        let text = unzipped(BufReader::with_capacity(BUFFER, io::stdin())).map_err(|e| e.in_file(path))?;
        return Ok((text, false));
    }
    let file = File::open(path).map_err(|e| fail(Problem::Open(e)))?;
    let metadata = file.metadata().map_err(|e| fail(Problem::Open(e)))?;
    if metadata.is_dir() {
        return Err(fail(Problem::Folder));
    }
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let start = reader.fill_buf().map_err(|e| fail(Problem::Read(e)))?;
    let is_zipped = start.starts_with(&GZIP);
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz")) && !is_zipped {
        return Err(fail(Problem::NotGzip));
    }
    let text = unzipped(reader).map_err(|e| e.in_file(path))?;
    Ok((text, metadata.is_file() && !is_zipped))
}

/// What a name ends in after its last point, in lower case; of gzipped files that before the `.gz`.
///
/// ```
/// use slopp::io::ending;
/// use std::path::Path;
/// assert_eq!(ending(Path::new("models/cars.PSDD.gz")).as_deref(), Some("psdd"));
/// assert_eq!(ending(Path::new("models.old/cars")), None);
/// ```
pub fn ending(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    plain.rsplit_once('.').map(|(_, ending)| ending.to_owned())
}

/// The whole text of a source, unzipped, up to its first NUL byte. What is gzipped or comes from stdin or a pipe may
/// have at most `limit` bytes, by default 1 GiB.
pub fn read_text<'a>(source: impl Into<Source<'a>>, limit: Option<u64>) -> Result<Cow<'a, [u8]>, ReadError> {
    source.into().read_within(limit.unwrap_or(MAX_TEXT))
}

/// Keeps a text of at most `limit` bytes, up to a NUL byte; the error has the line.
pub(super) fn keep(mut text: impl BufRead, limit: u64) -> Result<Vec<u8>, ReadError> {
    let mut kept: Vec<u8> = Vec::new();
    let problem = loop {
        let part = match text.fill_buf() {
            Ok(part) => part,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break *read_problem(error).problem,
        };
        let len = part.len();
        if (kept.len() + len) as u64 > limit {
            break Problem::LongText { limit };
        }
        if kept.try_reserve(len).is_err() {
            break Problem::OutOfMemory;
        }
        kept.extend_from_slice(part);
        if part.is_empty() || part.contains(&0) {
            return Ok(kept);
        }
        text.consume(len);
    };
    Err(ReadError::at(1 + kept.iter().filter(|&&b| b == b'\n').count(), problem))
}

/// Gunzips if the first bytes say so.
fn unzipped<'a>(mut reader: impl BufRead + 'a) -> Result<Box<dyn BufRead + 'a>, ReadError> {
    let start = reader.fill_buf().map_err(|e| ReadError::new(Problem::Read(e)))?;
    if start.starts_with(&GZIP) {
        let plain = Gunzip { member: Some(GzDecoder::new(reader)) };
        Ok(Box::new(BufReader::with_capacity(BUFFER, plain)))
    } else {
        Ok(Box::new(reader))
    }
}

/// The error for a failed read, which distinguishes damaged gzip data from a failing disk.
pub(super) fn read_problem(error: io::Error) -> ReadError {
    let problem = match error.get_ref().and_then(|e| e.downcast_ref::<GzipDamage>()) {
        Some(damage) => Problem::Gzip(damage.to_string()),
        None => Problem::Read(error),
    };
    ReadError::new(problem)
}

/// Decodes one member after the other, as `cat a.gz b.gz` makes them, and says what is wrong with them.
struct Gunzip<R> {
    /// The member being read; `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let read = member.read(buffer).map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => io::Error::other(GzipDamage::CutOff),
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => io::Error::other(GzipDamage::Broken),
                _ => e,
            })?;
            if read > 0 {
                return Ok(read);
            }
            // A buffer may hold one byte only of what comes next.
            let next = member.get_mut().fill_buf()?;
            let (empty, zipped) = (next.is_empty(), next.iter().zip(GZIP).all(|(&a, b)| a == b));
            if !empty && !zipped {
                return Err(io::Error::other(GzipDamage::Followed));
            }
            let rest = self.member.take().map(GzDecoder::into_inner);
            self.member = rest.filter(|_| !empty).map(GzDecoder::new);
        }
        Ok(0)
    }
}
