//! Records from CSV, `.data` and `.wdata` files.

use super::columns::Columns;
use super::error::ReadError;
use super::first_line::FirstLine;
use super::lines::kind_by_first_line;
use super::problem::Problem;
use super::rows::{Layout, Lines, Rows};
use super::source::{MAX_TEXT, Source, keep};
use super::survey::{Binning, survey};
use crate::data::Records;
use crate::limits::has_room;
use crate::names::Names;
use std::io::BufRead;
use std::sync::Arc;

/// Weights beyond these would drown all other records, or drown in them, in double precision.
pub(super) const MIN_WEIGHT: f64 = 1e-9;
pub(super) const MAX_WEIGHT: f64 = 1e15;

/// Whether the first line of a file holds names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does iff one of its cells is neither a Boolean word nor missing, and none is `0` or `1`, which nobody
    /// calls a column: so a slip in the first record is an error and not a header. It also does if all its cells are
    /// quoted and not all of the next line are, as [`write_records`](super::write_records) writes such names; or if they
    /// are different words such as `y` and `n`, and the next line has numbers.
    #[default]
    Detect,
    /// It does.
    Present,
    /// It does not.
    Absent,
}

/// How to read records; the default takes everything.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordsOptions {
    /// The variables, if they are known: columns are matched by name if there is a header, else by position.
    pub names: Option<Arc<Names>>,
    /// Whether there is a header.
    pub header: Header,
    /// Whether cells may be missing.
    pub missing: bool,
    /// What separates cells; by default the one of `,`, `;` and tab that the first line has most of, or blanks if it
    /// has none of them and they separate Boolean cells.
    pub delimiter: Option<u8>,
    /// How many values a column may have that is not Boolean; with zero every column must be.
    pub max_values: usize,
    /// Columns that hold values even if they look Boolean.
    pub categories: Vec<String>,
    /// Columns of numbers, and how they are cut into bins.
    pub bins: Vec<(String, Binning)>,
    /// How many bytes a line may have.
    pub max_line: usize,
    /// How many bytes a text may have that can be read once only, such as stdin, and so is kept; files are not.
    pub max_text: u64,
    /// How many bytes of memory the records may take, while they are read and once they are: a gzipped file may hold a
    /// thousand times as many as it seems to.
    pub max_memory: usize,
}

impl RecordsOptions {
    /// The default, over known variables.
    pub fn over(names: &Arc<Names>) -> RecordsOptions {
        RecordsOptions { names: Some(names.clone()), ..RecordsOptions::default() }
    }
}

impl Default for RecordsOptions {
    fn default() -> RecordsOptions {
        RecordsOptions {
            names: None,
            header: Header::Detect,
            missing: true,
            delimiter: None,
            max_values: 20,
            categories: Vec::new(),
            bins: Vec::new(),
            max_line: 64 << 20,
            max_text: MAX_TEXT,
            max_memory: 4 << 30,
        }
    }
}

/// Records with what was found out about their file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadedRecords {
    /// The records.
    pub records: Records,
    /// Whether the file has a header; if not, variables are `x1`, `x2`, ….
    pub header: bool,
    /// Whether rows have weights, as in `.wdata` files.
    pub weighted: bool,
}

/// Reads records.
///
/// Cells are 0/1, 0.0/1.0, true/false, t/f, yes/no, y/n in any case; empty, `?`, `NA`, `nan` and `-1` are missing. A
/// row may begin with a weight: `2.5|0,1,1`; then the header may begin with a label: `weight|a,b,c`. Blank lines are
/// skipped.
///
/// Below a header, a column may also hold a few other values, or numbers to be cut into bins: it becomes a variable for
/// each, `color=red`, of which one is true ([`Names::groups`]). A column that seems Boolean but for some cells is
/// an error unless it is said to hold [categories](RecordsOptions::categories). Files are then read more than once.
pub fn read_records<'a>(source: impl Into<Source<'a>>, options: &RecordsOptions) -> Result<Records, ReadError> {
    load_records(source, options).map(|loaded| loaded.records)
}

/// As [`read_records`], with what was found out about the file.
pub fn load_records<'a>(source: impl Into<Source<'a>>, options: &RecordsOptions) -> Result<LoadedRecords, ReadError> {
    let source = source.into();
    let read = || match source.is_stdin() {
        true if options.names.is_some() => read_once(source.open()?, options, options.names.as_ref()),
        true => {
            let text = keep(source.open()?, options.max_text)?;
            read_again(Source::Text(&text), options)
        }
        false => read_again(source, options),
    };
    read().map_err(|e| source.name(e))
}

/// Reads Boolean records; if they turn out not to be, finds out what the columns hold and reads them again.
fn read_again(source: Source<'_>, options: &RecordsOptions) -> Result<LoadedRecords, ReadError> {
    let names = options.names.as_ref();
    let is_described = !options.categories.is_empty() || !options.bins.is_empty();
    if names.is_some() || !is_described {
        let read = read_once(source.open()?, options, names);
        let may_have_values = |error: &ReadError| matches!(&*error.problem, Problem::Cell { name: Some(_), .. });
        match &read {
            Err(error) if names.is_none() && options.max_values > 0 && may_have_values(error) => {}
            _ => return read,
        }
    }
    let names = Arc::new(survey(source.open()?, options)?);
    read_once(source.open()?, options, Some(&names))
}

/// The first lines of a file of records, understood.
pub(super) struct Opened<R> {
    pub(super) lines: Lines<R>,
    pub(super) first: FirstLine,
    pub(super) first_line: usize,
    /// The first line itself, which is a row unless it is a header.
    line: Vec<u8>,
    /// Whether there is a second line, which is the present one.
    more: Result<bool, ReadError>,
}

impl<R: BufRead> Opened<R> {
    pub(super) fn new(text: R, options: &RecordsOptions) -> Result<Opened<R>, ReadError> {
        let mut lines = Lines::new(text, options.max_line);
        if !lines.advance()? {
            return Err(ReadError::new(Problem::Empty { expected: "records, one per line, of cells like 0,1,1" }));
        }
        let (first_line, line) = (lines.number, std::mem::take(&mut lines.line));
        if let Some(found) = kind_by_first_line(&line) {
            return Err(ReadError::at(first_line, Problem::OtherKind { expected: "a file of records", found }));
        }
        // An error in the second line is reported after one in the first.
        let more = lines.advance();
        let second = matches!(more, Ok(true)).then_some(&lines.line[..]);
        let first = FirstLine::new(&line, second, options).map_err(|problem| ReadError::at(first_line, problem))?;
        Ok(Opened { lines, first, first_line, line, more })
    }

    /// Hands over the rows with their line numbers.
    pub(super) fn rows(mut self, mut push: impl FnMut(usize, &[u8]) -> Result<(), ReadError>) -> Result<(), ReadError> {
        let header = self.first.header.is_some();
        if !header {
            push(self.first_line, &self.line)?;
        }
        let mut more = self.more?;
        if header && !more {
            return Err(ReadError::new(Problem::HeaderOnly));
        }
        while more {
            push(self.lines.number, &self.lines.line)?;
            more = self.lines.advance()?;
        }
        Ok(())
    }
}

fn read_once(
    text: impl BufRead,
    options: &RecordsOptions,
    names: Option<&Arc<Names>>,
) -> Result<LoadedRecords, ReadError> {
    let opened = Opened::new(text, options)?;
    let header = opened.first.header.is_some();
    let columns = match &opened.first.header {
        Some(found) => Columns::named(found.clone(), names),
        None => Columns::numbered(opened.first.width, names),
    };
    let columns = columns.map_err(|problem| ReadError::at(opened.first_line, problem))?;
    let mut rows = Rows::new(Layout::new(&opened.first, opened.first_line), columns, options);
    opened.rows(|number, line| rows.push(number, line))?;
    let weighted = rows.weighted;
    let needed = rows.builder.bytes_to_finish();
    if rows.builder.bytes() + needed > options.max_memory {
        return Err(ReadError::new(Problem::LargeRecords { limit: options.max_memory }));
    }
    if !has_room(needed) {
        return Err(ReadError::new(Problem::OutOfMemory));
    }
    Ok(LoadedRecords { weighted, header, records: rows.builder.finish() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    /// A text without end.
    struct Endless(&'static [u8], usize);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            for byte in buffer.iter_mut() {
                *byte = self.0[self.1 % self.0.len()];
                self.1 += 1;
            }
            Ok(buffer.len())
        }
    }

    #[test]
    fn texts_without_end_are_refused() {
        let options = RecordsOptions { max_line: 1 << 20, ..RecordsOptions::default() };
        let names = Arc::new(Names::numbered(2));
        let read = |text: &mut dyn BufRead| *read_once(text, &options, Some(&names)).unwrap_err().problem;
        assert!(matches!(read(&mut BufReader::new(Endless(b"x", 0))), Problem::LongLine { .. }));
        // Quotes join lines.
        assert!(matches!(read(&mut BufReader::new(b"\"".chain(Endless(b"a\n", 0)))), Problem::LongLine { .. }));
        assert!(matches!(read(&mut BufReader::new(Endless(b"\0", 0))), Problem::Nul));
        let options = RecordsOptions { max_memory: 1 << 20, ..options };
        let read = |text| *read_once(BufReader::new(Endless(text, 0)), &options, Some(&names)).unwrap_err().problem;
        assert!(matches!(read(b"0,1\n"), Problem::LargeRecords { .. }));
        let error = keep(BufReader::new(Endless(b"0,1\n", 0)), 2 << 20).unwrap_err();
        assert!(matches!(*error.problem, Problem::LongText { .. }) && error.to_string().contains("more than 2 MB"));
    }
}
