//! What the first line of records shows: the separator, whether there are names, and how many columns.

use super::cells::{Cell, cells, is_number, split, split_plain, unweighted, weight_bar, word};
use super::phrases::show;
use super::problem::Problem;
use super::records::{Header, RecordsOptions};
use crate::limits::has_room;
use crate::names::Names;
use std::borrow::Borrow;

/// More columns than this are a mistake, and their names would fill the memory.
pub(super) const MOST_VARS: usize = 10_000_000;

/// The bytes for a variable: its name, twice, and its place in the index.
pub(super) const BYTES_PER_VARIABLE: usize = 192;

/// The bytes for a column while the first line is understood: its cell, its name and its variable.
const BYTES_PER_COLUMN: usize = 128 + BYTES_PER_VARIABLE;

/// The first line of a file of records, understood.
#[derive(Debug)]
pub(super) struct FirstLine {
    /// What separates cells.
    pub(super) delimiter: u8,
    /// How many columns there are.
    pub(super) width: usize,
    /// The names of the columns, if the line is a header.
    pub(super) header: Option<Names>,
    /// Whether it was taken for a record though none of its cells is a number, which nobody calls a column.
    pub(super) words_only: bool,
    /// Whether the first name has a bar that is not quoted, so that rows cannot have weights.
    pub(super) bar_in_name: bool,
}

impl FirstLine {
    /// Understands the first line, if need be with the help of the second.
    pub(super) fn new(line: &[u8], second: Option<&[u8]>, options: &RecordsOptions) -> Result<FirstLine, Problem> {
        let separators = line.iter().filter(|byte| matches!(byte, b',' | b';' | b'\t' | b' ')).count();
        if separators >= MOST_VARS {
            return Err(Problem::TooManyColumns);
        }
        if !has_room((separators + 1) * BYTES_PER_COLUMN) {
            return Err(Problem::OutOfMemory);
        }
        let delimiter = options.delimiter.unwrap_or_else(|| detect_delimiter(line, second));
        let mut found = split(line, delimiter);
        let weighted = weighted_row(line, delimiter);
        let odd = found.iter().find(|cell| word(&cell.text).is_none());
        let because = match odd {
            Some(odd) if !weighted && !found.iter().any(|cell| is_number(&cell.text)) => {
                Some(format!("{} is not Boolean", show(&odd.text)))
            }
            _ if all_quoted(found.iter()) && second.is_some_and(|second| !all_quoted(cells(second, delimiter))) => {
                Some("its cells are quoted and those of the next line are not".to_owned())
            }
            _ if second.is_some_and(|second| above_numbers(&found, unweighted(second), delimiter)) => {
                Some("the next line has numbers".to_owned())
            }
            _ => None,
        };
        let header = match options.header {
            Header::Detect => because.is_some(),
            Header::Present => true,
            Header::Absent => false,
        };
        if !header {
            let width = if weighted { split(unweighted(line), delimiter).len() } else { found.len() };
            let words_only = !weighted && !found.iter().any(|cell| is_number(&cell.text));
            return Ok(FirstLine { delimiter, width, header: None, words_only, bar_in_name: false });
        }
        let mut bar_in_name = found.first().is_some_and(|cell| !cell.quoted && cell.text.contains(&b'|'));
        if bar_in_name && second.is_some_and(|second| weight_bar(second).is_some()) {
            found = split(unweighted(line), delimiter);
            bar_in_name = false;
        }
        let texts = found.into_iter().map(|cell| String::from_utf8(cell.text)).collect::<Result<Vec<_>, _>>();
        let texts = texts.map_err(|_| Problem::NotUtf8)?;
        let because = because.filter(|_| options.header == Header::Detect);
        let names = Names::new(texts).map_err(|error| Problem::Header { error, because })?;
        Ok(FirstLine { delimiter, width: names.len(), header: Some(names), words_only: false, bar_in_name })
    }
}

fn all_quoted(mut cells: impl Iterator<Item = impl Borrow<Cell>>) -> bool {
    cells.all(|cell| cell.borrow().quoted)
}

/// Whether words of truth, all different, stand above numbers: as names do.
fn above_numbers(first: &[Cell], second: &[u8], delimiter: u8) -> bool {
    let is_word = |cell: &Cell| matches!(word(&cell.text), Some(Some(_))) && !is_number(&cell.text);
    let different = || first.iter().enumerate().all(|(i, a)| first[..i].iter().all(|b| a.text != b.text));
    if !first.iter().all(is_word) || !different() {
        return false;
    }
    let below: Vec<Cell> = cells(second, delimiter).collect();
    let is_missing = |cell: &Cell| word(&cell.text) == Some(None);
    below.len() == first.len()
        && below.iter().all(|cell| is_number(&cell.text) || is_missing(cell))
        && !below.iter().all(is_missing)
}

/// The one of `,`, `;` and tab that a line has most of outside quotes; blanks if it has none of them and blanks
/// separate Boolean cells, in this line or, below as many words, in the next one.
fn detect_delimiter(line: &[u8], second: Option<&[u8]>) -> u8 {
    let mut counts = [0usize; 3];
    let mut quoted = false;
    for &byte in line {
        quoted ^= byte == b'"';
        match byte {
            b',' if !quoted => counts[0] += 1,
            b';' if !quoted => counts[1] += 1,
            b'\t' if !quoted => counts[2] += 1,
            _ => {}
        }
    }
    let most = counts.into_iter().max().unwrap_or(0);
    if most == 0 {
        let below = second.map_or(1, blanks_separate);
        if blanks_separate(line) > 1 || (below > 1 && below == split(line, b' ').len()) {
            return b' ';
        }
    }
    [b',', b';', b'\t'][counts.iter().position(|&c| c == most).unwrap_or(0)]
}

/// How many Boolean cells a row has if blanks separate them; one if they do not.
pub(super) fn blanks_separate(line: &[u8]) -> usize {
    let boolean = |count, cell: Cell| word(&cell.text).map(|_| count + 1);
    cells(unweighted(line), b' ').try_fold(0, boolean).unwrap_or(1)
}

/// Whether a line is something, a bar and Boolean cells: a weighted row, perhaps with a broken weight, but no header.
fn weighted_row(line: &[u8], delimiter: u8) -> bool {
    line.contains(&b'|') && split_plain(unweighted(line), delimiter).all(|cell| word(cell).is_some())
}
