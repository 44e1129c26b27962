//! Opening files for reading: plain or gzipped, or stdin.

use super::error::{Problem, ReadError};
use flate2::bufread::MultiGzDecoder;
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

/// The whole content of a file.
pub(super) fn read_all(path: &Path) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|e| read_problem(e).in_file(path))?;
    Ok(bytes)
}

/// Gunzips if the first bytes say so.
pub fn unzipped(mut reader: impl BufRead + 'static) -> Result<Box<dyn BufRead>, ReadError> {
    let start = reader.fill_buf().map_err(|e| ReadError::new(Problem::Read(e)))?;
    if start.starts_with(&GZIP) {
        let plain = Gunzip(MultiGzDecoder::new(reader));
        Ok(Box::new(BufReader::with_capacity(BUFFER, plain)))
    } else {
        Ok(Box::new(reader))
    }
}

/// The error for a failed read: damaged gzip is told from a failing disk.
pub(super) fn read_problem(error: io::Error) -> ReadError {
    let problem = match error.get_ref().and_then(|e| e.downcast_ref::<Damage>()) {
        Some(damage) => Problem::Gzip { truncated: damage.truncated },
        None => Problem::Read(error),
    };
    ReadError::new(problem)
}

/// Marks errors of the decoder as such.
struct Gunzip<R>(MultiGzDecoder<R>);

#[derive(Debug, thiserror::Error)]
#[error("damaged gzip data")]
struct Damage {
    truncated: bool,
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other(Damage { truncated: true }),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => io::Error::other(Damage { truncated: false }),
            _ => e,
        })
    }
}
