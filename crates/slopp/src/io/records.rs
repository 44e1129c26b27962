//! Records from CSV, `.data` and `.wdata` files.

use super::cells::{split, split_plain, word};
use super::columns::Columns;
use super::error::{Problem, ReadError, show};
use super::first_line::FirstLine;
use super::lines::kind_by_first_line;
use super::source;
use crate::data::{Records, RecordsBuilder};
use crate::names::Names;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

/// Weights beyond these would drown all other records, or drown in them, in double precision.
pub(super) const MIN_WEIGHT: f64 = 1e-9;
pub(super) const MAX_WEIGHT: f64 = 1e15;

/// Whether the first line of a file holds names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does iff one of its cells is neither a Boolean word nor missing, and none is `0` or `1`, which nobody
    /// calls a column: so a slip in the first record is an error and not a header. It also does if all its cells are
    /// quoted and not all of the next line are, as [`write_records`](super::write_records) writes such names.
    #[default]
    Detect,
    /// It does.
    Present,
    /// It does not.
    Absent,
}

/// How to read records; the default takes everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordsOptions {
    /// Whether there is a header.
    pub header: Header,
    /// Whether cells may be missing.
    pub missing: bool,
    /// What separates cells; by default the one of `,`, `;` and tab that the first line has most of, or blanks if it
    /// has none of them and they separate Boolean cells.
    pub delimiter: Option<u8>,
}

impl Default for RecordsOptions {
    fn default() -> RecordsOptions {
        RecordsOptions { header: Header::Detect, missing: true, delimiter: None }
    }
}

/// Records with what was found out about their file.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedRecords {
    /// The records.
    pub records: Records,
    /// Whether the file has a header; if not, variables are `x1`, `x2`, ….
    pub header: bool,
    /// Whether rows have weights, as in `.wdata` files.
    pub weighted: bool,
}

/// Reads records from a file, `-` for stdin, gzipped or not.
///
/// Cells are 0/1, 0.0/1.0, true/false, t/f, yes/no, y/n in any case; empty, `?`, `NA`, `nan` and `-1` are missing. A
/// row may begin with a weight: `2.5|0,1,1`; then the header may begin with a label: `weight|a,b,c`. Blank lines are
/// skipped.
pub fn read_records(path: &Path, options: &RecordsOptions) -> Result<Records, ReadError> {
    load_records(path, options, None).map(|loaded| loaded.records)
}

/// Reads records over known variables: columns are matched by name if there is a header, else by position.
pub fn read_records_of(path: &Path, options: &RecordsOptions, names: &Arc<Names>) -> Result<Records, ReadError> {
    load_records(path, options, Some(names)).map(|loaded| loaded.records)
}

/// As [`read_records`] or, if names are given, [`read_records_of`]; tells also what the file is like.
pub fn load_records(
    path: &Path,
    options: &RecordsOptions,
    names: Option<&Arc<Names>>,
) -> Result<LoadedRecords, ReadError> {
    read_records_from(source::open(path)?, options, names).map_err(|e| e.in_file(path))
}

/// Reads records from a plain text, over the variables `names` or those the text has.
pub fn read_records_from(
    text: impl BufRead,
    options: &RecordsOptions,
    names: Option<&Arc<Names>>,
) -> Result<LoadedRecords, ReadError> {
    let mut lines = Lines { text, number: 0, line: Vec::new(), first: true };
    if !lines.advance()? {
        return Err(ReadError::new(Problem::Empty { expected: "records, one per line, of cells like 0,1,1" }));
    }
    let (number, line) = (lines.number, std::mem::take(&mut lines.line));
    if let Some(found) = kind_by_first_line(&line) {
        return Err(ReadError::at(number, Problem::OtherKind { expected: "a file of records", found }));
    }
    // What is wrong with the second line is told after what is wrong with the first.
    let more = lines.advance();
    let second = matches!(more, Ok(true)).then_some(&lines.line[..]);
    let in_first = |problem| ReadError::at(number, problem);
    let first = FirstLine::new(&line, second, options).map_err(in_first)?;
    let header = first.header.is_some();
    let columns = match first.header {
        Some(found) => Columns::named(found, names),
        None => Columns::numbered(first.width, names),
    };
    let columns = columns.map_err(in_first)?;
    let mut rows = Rows {
        first_line: number,
        delimiter: first.delimiter,
        weighted: false,
        missing: options.missing,
        header,
        bar_in_name: first.bar_in_name,
        packed: vec![0; first.width.div_ceil(64)],
        cells: Vec::new(),
        builder: RecordsBuilder::new(columns.names().clone()),
        columns,
    };
    if !header {
        rows.push(number, &line)?;
    }
    let mut more = more?;
    if header && !more {
        return Err(ReadError::new(Problem::HeaderOnly));
    }
    while more {
        rows.push(lines.number, &lines.line)?;
        more = lines.advance()?;
    }
    Ok(LoadedRecords { weighted: rows.weighted, header, records: rows.builder.finish() })
}

/// The lines of a text that are not blank; a line end inside quotes does not end a line.
struct Lines<R> {
    text: R,
    number: usize,
    line: Vec<u8>,
    first: bool,
}

impl<R: BufRead> Lines<R> {
    /// Moves to the next line; `false` at the end.
    fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            self.line.clear();
            self.number += 1;
            if self.read_on()? == 0 {
                return Ok(false);
            }
            if self.first {
                self.first = false;
                if self.line.starts_with(b"\xef\xbb\xbf") {
                    self.line.drain(..3);
                }
            }
            // Cells 0 and 1 need no closer look.
            if !self.line.iter().any(|&b| b == 0 || b == b'"') {
                if !self.line.iter().all(|&b| b == b' ') {
                    return Ok(true);
                }
                continue;
            }
            let start = self.number;
            let odd_quotes = |part: &[u8]| part.iter().filter(|&&b| b == b'"').count() % 2 == 1;
            let mut open = odd_quotes(&self.line);
            while open {
                self.line.push(b'\n');
                let before = self.line.len();
                if self.read_on()? == 0 {
                    return Err(ReadError::unexpected(start, "a closing quote", "the end of the file"));
                }
                open ^= odd_quotes(&self.line[before..]);
                self.number += 1;
            }
            return match self.line.contains(&0) {
                true => Err(ReadError::at(start, Problem::Nul)),
                false => Ok(true),
            };
        }
    }

    /// Appends the next line without its end; returns how many bytes were read.
    fn read_on(&mut self) -> Result<usize, ReadError> {
        let read = self.text.read_until(b'\n', &mut self.line).map_err(|e| {
            let error = source::read_problem(e);
            ReadError { line: Some(self.number), ..error }
        })?;
        if self.line.ends_with(b"\n") {
            self.line.pop();
        }
        if self.line.ends_with(b"\r") {
            self.line.pop();
        }
        Ok(read)
    }
}

/// Turns lines into rows.
struct Rows {
    first_line: usize,
    delimiter: u8,
    weighted: bool,
    missing: bool,
    header: bool,
    bar_in_name: bool,
    columns: Columns,
    packed: Vec<u64>,
    cells: Vec<Option<bool>>,
    builder: RecordsBuilder,
}

impl Rows {
    fn push(&mut self, number: usize, line: &[u8]) -> Result<(), ReadError> {
        let mut weight = 1.0;
        let mut row = line;
        let width = self.columns.width();
        let mut packed = self.columns.in_order() && pack(row, self.delimiter, width, &mut self.packed);
        if !packed && let Some(bar) = line.iter().position(|&b| b == b'|') {
            if self.bar_in_name {
                let expected = format!(
                    "no weight, because the first column is called {} and the row below has no weight either (a header \
                     like `weight|a,b` needs a weighted row below it; a name with a bar needs quotes)",
                    show(self.columns.name(0).unwrap_or_default().as_bytes())
                );
                return Err(ReadError::unexpected(number, expected, format!("{} before `|`", show(&line[..bar]))));
            }
            self.weighted = true;
            let text = &line[..bar];
            let parsed = std::str::from_utf8(text).ok().and_then(|t| t.trim().parse::<f64>().ok());
            weight = parsed
                .filter(|w| (MIN_WEIGHT..=MAX_WEIGHT).contains(w))
                .ok_or_else(|| ReadError::at(number, Problem::Weight { found: show(text) }))?;
            row = &line[bar + 1..];
            packed = self.columns.in_order() && pack(row, self.delimiter, width, &mut self.packed);
        }
        if packed {
            self.builder.push_words(&self.packed, weight);
            return Ok(());
        }
        self.cells.clear();
        self.cells.resize(width, None);
        let mut found = 0;
        let mut take = |cell: &[u8], column: usize| {
            let value = word(cell).filter(|value| self.missing || value.is_some());
            let value = value.ok_or_else(|| {
                let name = self.header.then(|| self.columns.name(column)).flatten();
                let problem = Problem::Cell {
                    column: column + 1,
                    name,
                    found: show(cell),
                    missing: self.missing,
                    alone: width == 1,
                    first: !self.header && number == self.first_line,
                };
                ReadError::at(number, problem)
            })?;
            if column < width {
                self.cells[self.columns.var(column)] = value;
            }
            Ok(())
        };
        if row.contains(&b'"') {
            for cell in split(row, self.delimiter) {
                take(&cell.text, found)?;
                found += 1;
            }
        } else {
            for cell in split_plain(row, self.delimiter) {
                take(cell, found)?;
                found += 1;
            }
        }
        if found != width {
            let problem = Problem::Ragged { expected: width, first_line: self.first_line, found };
            return Err(ReadError::at(number, problem));
        }
        self.builder.push(self.cells.iter().copied(), weight);
        Ok(())
    }
}

/// Packs a line of exactly `0,1,…` into words; `false` if it is anything else.
fn pack(line: &[u8], delimiter: u8, width: usize, packed: &mut [u64]) -> bool {
    if line.len() + 1 != 2 * width {
        return false;
    }
    // Eight bytes hold four cells: `0,1,0,1,` differs from `0,0,0,0,` in the lowest bit of every other byte only.
    const ONES: u64 = 0x0001_0001_0001_0001;
    let zeros = u64::from_le_bytes([b'0', delimiter, b'0', delimiter, b'0', delimiter, b'0', delimiter]);
    packed.fill(0);
    let (fours, rest) = line.as_chunks::<8>();
    for (i, four) in fours.iter().enumerate() {
        let bits = u64::from_le_bytes(*four) ^ zeros;
        if bits & !ONES != 0 {
            return false;
        }
        // The product gathers bits 0, 16, 32 and 48 in bits 48 to 51.
        let gathered = bits.wrapping_mul(1 << 48 | 1 << 33 | 1 << 18 | 1 << 3) >> 48 & 15;
        packed[i / 16] |= gathered << (4 * (i % 16));
    }
    for (i, pair) in rest.chunks(2).enumerate() {
        let cell = 4 * fours.len() + i;
        let bit = pair[0] ^ b'0';
        if bit > 1 || pair.get(1).is_some_and(|&b| b != delimiter) {
            return false;
        }
        packed[cell / 64] |= u64::from(bit) << (cell % 64);
    }
    true
}
