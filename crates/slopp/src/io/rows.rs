//! The lines of a file of records, and the rows they become.

use super::cells::{cells, is_missing, split_plain, weight_bar, word};
use super::columns::{Columns, Place};
use super::error::ReadError;
use super::first_line::FirstLine;
use super::phrases::show;
use super::problem::Problem;
use super::records::{MAX_WEIGHT, MIN_WEIGHT, RecordsOptions};
use super::source;
use crate::data::RecordsBuilder;
use std::io::{BufRead, Read};

/// The lines of a text that are not blank; a line end inside quotes does not end a line.
pub(super) struct Lines<R> {
    text: R,
    pub(super) number: usize,
    pub(super) line: Vec<u8>,
    first: bool,
    max_line: usize,
}

impl<R: BufRead> Lines<R> {
    /// The lines of a text, of at most `limit` bytes each.
    pub(super) fn new(text: R, max_line: usize) -> Lines<R> {
        Lines { text, number: 0, line: Vec::new(), first: true, max_line }
    }

    /// Moves to the next line; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
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

    /// What is left of the text.
    pub(super) fn rest(&self) -> &R {
        &self.text
    }

    /// Appends the next line without its end; returns how many bytes were read.
    fn read_on(&mut self) -> Result<usize, ReadError> {
        // One byte more than is allowed: that of the line end.
        let room = (self.max_line + 1).saturating_sub(self.line.len()).max(1);
        let read = self.text.by_ref().take(room as u64).read_until(b'\n', &mut self.line).map_err(|e| {
            let error = source::read_problem(e);
            ReadError { line: Some(self.number), ..error }
        })?;
        if self.line.ends_with(b"\n") {
            self.line.pop();
        }
        if self.line.len() > self.max_line {
            let is_text = !self.line.contains(&0);
            let problem = if is_text { Problem::LongLine { limit: self.max_line } } else { Problem::Nul };
            return Err(ReadError::at(self.number, problem));
        }
        if self.line.ends_with(b"\r") {
            self.line.pop();
        }
        Ok(read)
    }
}

/// How the lines of a file hold rows.
pub(super) struct Layout {
    pub(super) first_line: usize,
    pub(super) delimiter: u8,
    pub(super) header: bool,
    words_only: bool,
    bar_in_name: bool,
    first_name: String,
}

impl Layout {
    pub(super) fn new(first: &FirstLine, first_line: usize) -> Layout {
        let first_name = first.header.as_ref().and_then(|names| names.iter().next()).unwrap_or_default().to_owned();
        let (header, bar_in_name) = (first.header.is_some(), first.bar_in_name);
        let (delimiter, words_only) = (first.delimiter, first.words_only);
        Layout { first_line, delimiter, header, words_only, bar_in_name, first_name }
    }

    /// The weight of a row, if it has one, and its cells.
    pub(super) fn weight<'a>(&self, number: usize, line: &'a [u8]) -> Result<(Option<f64>, &'a [u8]), ReadError> {
        let Some(bar) = weight_bar(line) else { return Ok((None, line)) };
        if self.bar_in_name {
            let expected = format!(
                "no weight, because the first column is called {} and the row below has no weight either (a header \
                 like `weight|a,b` needs a weighted row below it; a name with a bar needs quotes)",
                show(self.first_name.as_bytes())
            );
            return Err(ReadError::unexpected(number, expected, format!("{} before `|`", show(&line[..bar]))));
        }
        let text = &line[..bar];
        let parsed = std::str::from_utf8(text).ok().and_then(|t| t.trim().parse::<f64>().ok());
        let weight = parsed
            .filter(|w| (MIN_WEIGHT..=MAX_WEIGHT).contains(w))
            .ok_or_else(|| ReadError::at(number, Problem::Weight { found: show(text) }))?;
        Ok((Some(weight), &line[bar + 1..]))
    }

    /// Hands over the cells of a row, one for each column.
    pub(super) fn cells(
        &self,
        number: usize,
        row: &[u8],
        width: usize,
        mut take: impl FnMut(&[u8], usize) -> Result<(), Problem>,
    ) -> Result<(), ReadError> {
        let mut found = 0;
        let mut each = |cell: &[u8]| {
            take(cell, found).map_err(|problem| ReadError::at(number, problem))?;
            found += 1;
            Ok(())
        };
        match row.contains(&b'"') {
            true => cells(row, self.delimiter).try_for_each(|cell| each(&cell.text))?,
            false => split_plain(row, self.delimiter).try_for_each(each)?,
        }
        match found == width {
            true => Ok(()),
            false => {
                Err(ReadError::at(number, Problem::Ragged { expected: width, first_line: self.first_line, found }))
            }
        }
    }
}

/// Turns lines into rows.
pub(super) struct Rows {
    layout: Layout,
    missing: bool,
    max_memory: usize,
    columns: Columns,
    packed: Vec<u64>,
    cells: Vec<Option<bool>>,
    pub(super) weighted: bool,
    pub(super) builder: RecordsBuilder,
}

impl Rows {
    pub(super) fn new(layout: Layout, columns: Columns, options: &RecordsOptions) -> Rows {
        Rows {
            layout,
            missing: options.missing,
            max_memory: options.max_memory,
            packed: vec![0; columns.width().div_ceil(64)],
            cells: Vec::new(),
            weighted: false,
            builder: RecordsBuilder::new(columns.names().clone()),
            columns,
        }
    }

    pub(super) fn push(&mut self, number: usize, line: &[u8]) -> Result<(), ReadError> {
        let (delimiter, width) = (self.layout.delimiter, self.columns.width());
        let in_order = self.columns.in_order();
        if self.builder.bytes() > self.max_memory {
            return Err(ReadError::at(number, Problem::LargeRecords { limit: self.max_memory }));
        }
        self.builder.reserve_row().map_err(|_| ReadError::at(number, Problem::OutOfMemory))?;
        if in_order && pack(line, delimiter, width, &mut self.packed) {
            self.builder.push_words(&self.packed, 1.0);
            return Ok(());
        }
        let (weight, row) = self.layout.weight(number, line)?;
        self.weighted |= weight.is_some();
        let weight = weight.unwrap_or(1.0);
        if in_order && pack(row, delimiter, width, &mut self.packed) {
            self.builder.push_words(&self.packed, weight);
            return Ok(());
        }
        self.cells.clear();
        self.cells.resize(self.columns.names().len(), None);
        let (header, first_line) = (self.layout.header, self.layout.first_line);
        let first = !header && number == first_line;
        let taken = (self.layout.words_only && !first).then_some(first_line);
        self.layout.cells(number, row, width, |cell, column| {
            let name = || header.then(|| self.columns.name(column)).flatten();
            match self.columns.place(column) {
                Some(Place::Group(group)) => {
                    let group = &self.columns.names().groups()[group];
                    let text = std::str::from_utf8(cell).map_err(|_| Problem::NotUtf8)?;
                    let unknown = |known| Problem::Value { column: column + 1, name: name(), found: show(cell), known };
                    if is_missing(text) {
                        return match self.missing {
                            true => Ok(()),
                            false => Err(unknown(group.known())),
                        };
                    }
                    let found = group.find(text).ok_or_else(|| unknown(group.known()))?;
                    group.vars().for_each(|var| self.cells[var.index()] = Some(var == found));
                }
                place => {
                    let value = word(cell).filter(|value| self.missing || value.is_some());
                    let value = value.ok_or_else(|| Problem::Cell {
                        column: column + 1,
                        name: name(),
                        found: show(cell),
                        missing: self.missing,
                        alone: width == 1,
                        first,
                        taken,
                        categories: false,
                    })?;
                    if let Some(Place::Var(var)) = place {
                        self.cells[var] = value;
                    }
                }
            }
            Ok(())
        })?;
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
