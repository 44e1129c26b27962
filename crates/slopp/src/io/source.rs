//! Opening files for reading: plain or gzipped, or stdin.

use super::error::{GzipDamage, ReadError};
use super::problem::Problem;
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Large enough that records arrive at the speed of memory.
const BUFFER: usize = 1 << 18;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Opens a file, or stdin for `-`; gzip is recognised by its first bytes, whatever the name.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, ReadError> {
    let fail = |problem| ReadError::new(problem).in_file(path);
    if path == Path::new("-") {
        return unzipped(BufReader::with_capacity(BUFFER, io::stdin())).map_err(|e| e.in_file(path));
    }
    let file = File::open(path).map_err(|e| fail(Problem::Open(e)))?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(fail(Problem::Folder));
    }
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let start = reader.fill_buf().map_err(|e| fail(Problem::Read(e)))?;
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz")) && !start.starts_with(&GZIP) {
        return Err(fail(Problem::NotGzip));
    }
    unzipped(reader).map_err(|e| e.in_file(path))
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

/// The whole content of a file, or of stdin for `-`, unzipped.
pub fn read_all(path: &Path) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|e| read_problem(e).in_file(path))?;
    Ok(bytes)
}

/// Gunzips if the first bytes say so.
pub fn unzipped(mut reader: impl BufRead + 'static) -> Result<Box<dyn BufRead>, ReadError> {
    let start = reader.fill_buf().map_err(|e| ReadError::new(Problem::Read(e)))?;
    if start.starts_with(&GZIP) {
        let plain = Gunzip { member: Some(GzDecoder::new(reader)) };
        Ok(Box::new(BufReader::with_capacity(BUFFER, plain)))
    } else {
        Ok(Box::new(reader))
    }
}

/// The error for a failed read: damaged gzip is told from a failing disk.
pub(super) fn read_problem(error: io::Error) -> ReadError {
    let problem = match error.get_ref().and_then(|e| e.downcast_ref::<GzipDamage>()) {
        Some(&damage) => Problem::Gzip(damage),
        None => Problem::Read(error),
    };
    ReadError::new(problem)
}

/// Decodes one member after the other, as `cat a.gz b.gz` makes them, and tells what is wrong with them.
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
