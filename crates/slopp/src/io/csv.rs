//! Lines of CSV that read back as what they were made of.

use super::cells::{cells, is_missing};
use super::first_line::blanks_separate;
use super::records::{Opened, RecordsOptions};
use super::rows::Lines;
use crate::names::{Column, Group, Names};
use crate::var::Var;
use std::borrow::Cow;
use std::io;

/// Lines of CSV for worlds and records over some names, which [`read_records`](super::read_records) reads back as
/// what they were made of.
///
/// A line has a cell per column: 0 or 1, or the value of a column that has several. It has a cell per variable instead
/// where the reader would take a value for something else, such as `NA`, or `5` as the name of a bin that 5 is not in.
///
/// ```
/// use slopp::io::CsvLines;
/// use slopp::{Kind, Names};
/// let pairs = Kind::Values(["x|y", "z"].map(String::from).to_vec());
/// let names = Names::of_columns([("pair".into(), pairs), ("b".into(), Kind::Boolean)])?;
/// let lines = CsvLines::new(&names)?;
/// assert_eq!(lines.header(), "pair,b");
/// assert_eq!(lines.world(&[true, false, true]), "\"x|y\",1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CsvLines<'a> {
    names: &'a Names,
    by_column: bool,
    header: String,
}

impl<'a> CsvLines<'a> {
    /// Lines by column if they read back, else by variable; an error if no header can hold the names.
    pub fn new(names: &'a Names) -> io::Result<CsvLines<'a>> {
        let columns: Vec<&str> = names.columns().map(|column| names.column_name(column)).collect();
        let header =
            names.groups().iter().all(all_read_back).then(|| header(&columns, has_plain_cell(names))).flatten();
        match header {
            Some(header) => Ok(CsvLines { names, by_column: true, header }),
            None => CsvLines::by_variable(names),
        }
    }

    /// Lines by variable, all cells 0 or 1; an error if no header can hold the names.
    pub fn by_variable(names: &'a Names) -> io::Result<CsvLines<'a>> {
        let list: Vec<&str> = names.iter().collect();
        let header = header(&list, true).ok_or_else(|| {
            let odd = list.iter().find(|name| header(&[*name], true).is_none()).unwrap_or(&"");
            let reason = format!("a line of CSV cannot hold the name {odd:?}; rename the column");
            io::Error::new(io::ErrorKind::InvalidInput, reason)
        })?;
        Ok(CsvLines { names, by_column: false, header })
    }

    /// Whether a line has a cell per column, and not per variable; without columns of several values it is both.
    pub(super) fn is_by_column(&self) -> bool {
        self.by_column && !self.names.groups().is_empty()
    }

    /// The line of names; all are quoted if they would be taken for a record otherwise.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Whether the line of names is taken for one where nothing is below it.
    pub(super) fn header_stands_alone(&self) -> bool {
        let opened = Opened::new(self.header.as_bytes(), &RecordsOptions::default());
        opened.is_ok_and(|opened| opened.first.header.is_some())
    }

    /// The line of a world.
    pub fn world(&self, world: &[bool]) -> String {
        let bit = |value: bool| if value { "1" } else { "0" };
        if !self.by_column {
            return joined(world.iter().map(|&value| bit(value).into()));
        }
        joined(self.names.columns().map(|column| match column {
            Column::Boolean(var) => bit(world[var.index()]).into(),
            Column::Group(group) => match group.cell(world) {
                Cow::Borrowed(value) => quoted(value),
                Cow::Owned(values) => quoted(&values).into_owned().into(),
            },
        }))
    }

    /// The line of a row by column, with `?` where it is missing; what is known of a column of which something is
    /// missing is lost.
    pub(super) fn row(&self, row: &[Option<bool>]) -> String {
        let world: Vec<bool> = row.iter().map(|cell| *cell == Some(true)).collect();
        let known = self.names.columns().map(|column| match column {
            Column::Boolean(var) => row[var.index()].is_some(),
            Column::Group(group) => group.vars().all(|var| row[var.index()].is_some()),
        });
        let cells = self.names.cells(&world);
        joined(cells.iter().zip(known).map(|(cell, known)| if known { quoted(cell) } else { "?".into() }))
    }

    /// The line of a record of which nothing is known: empty cells, or `?` where a line would be blank.
    pub fn unknown(&self) -> String {
        let columns = if self.by_column { self.names.columns().count() } else { self.names.len() };
        if columns == 1 { "?".to_owned() } else { ",".repeat(columns - 1) }
    }
}

/// A cell in double quotes; a quote in it is written twice, and nothing else is changed.
pub(super) fn quote(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

fn quoted(cell: &str) -> Cow<'_, str> {
    if needs_quotes(cell) { quote(cell).into() } else { cell.into() }
}

fn joined<'a>(cells: impl Iterator<Item = Cow<'a, str>>) -> String {
    let mut line = String::new();
    for (i, cell) in cells.enumerate() {
        line += if i > 0 { "," } else { "" };
        line += &cell;
    }
    line
}

/// A header that reads back, with quotes where needed or, if that helps, around all names: then below must be a line
/// with a cell that has none.
fn header(names: &[&str], plain_below: bool) -> Option<String> {
    let reads_back = |header: &str, below: &str| {
        let text = format!("{header}\n{below}\n");
        let opened = Opened::new(text.as_bytes(), &RecordsOptions::default());
        opened.is_ok_and(|opened| {
            let found = opened.first.header.as_ref();
            opened.first.delimiter == b',' && found.is_some_and(|found| found.iter().eq(names.iter().copied()))
        })
    };
    let plain = joined(names.iter().map(|name| quoted(name)));
    if reads_back(&plain, "\"\"") {
        return Some(plain);
    }
    let all_quoted = joined(names.iter().map(|name| quote(name).into()));
    (plain_below && reads_back(&all_quoted, "?")).then_some(all_quoted)
}

/// Whether every line by column has a cell without quotes.
fn has_plain_cell(names: &Names) -> bool {
    names.columns().any(|column| match column {
        Column::Boolean(_) => true,
        Column::Group(group) => !group.values().any(|(_, value)| needs_quotes(value)),
    })
}

/// Whether a cell needs quotes to read back, whatever separates cells.
pub(super) fn needs_quotes(cell: &str) -> bool {
    let special = [',', ';', '\t', '"', '|', '\n', '\r'];
    cell.contains(special) || cell.trim_ascii() != cell || (cell.contains(' ') && blanks_separate(cell.as_bytes()) > 1)
}

fn all_read_back(group: &Group) -> bool {
    group.values().all(|(var, value)| reads_back(group, var, value))
}

/// Whether the cell of a column is taken for this value.
fn reads_back(group: &Group, var: Var, cell: &str) -> bool {
    let text = quoted(cell);
    let mut lines = Lines::new(text.as_bytes(), RecordsOptions::default().max_line);
    let is_line = lines.advance().is_ok_and(|more| more);
    let found = cells(&lines.line, b',').next().and_then(|cell| String::from_utf8(cell.text).ok());
    is_line && found.is_some_and(|found| !is_missing(&found) && group.find(&found) == Some(var))
}

/// A cell that reads back as a value of a column: the value itself or, if its name is that of a number elsewhere, a
/// number in the bin.
pub(super) fn cell_of(group: &Group, var: Var) -> Option<String> {
    let (place, (_, value)) = group.values().enumerate().find(|(_, (found, _))| *found == var)?;
    let in_bin = |cuts: &[f64]| match place.checked_sub(1) {
        None => cuts.first().map_or(0.0, |cut| (cut - 1.0).min(cut.next_down())),
        Some(below) => cuts[below],
    };
    let number = group.cuts().map(|cuts| in_bin(cuts).to_string());
    [Some(value.to_owned()), number].into_iter().flatten().find(|cell| reads_back(group, var, cell))
}
