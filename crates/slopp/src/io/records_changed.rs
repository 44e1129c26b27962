//! A file of records with some cells changed, and everything else byte for byte as it was.

use super::cells::{split, word};
use super::columns::{Columns, Place};
use super::csv::{cell_of, needs_quotes, quote};
use super::error::ReadError;
use super::first_line::FirstLine;
use super::records::{Opened, RecordsOptions};
use super::rows::{Layout, Lines};
use crate::names::Names;
use crate::var::{Lit, Var};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// Words for *true* and *false*, in pairs.
const WORDS: [[&str; 2]; 6] = [["1", "0"], ["1.0", "0.0"], ["true", "false"], ["t", "f"], ["yes", "no"], ["y", "n"]];

/// Writes a text of records, read over these names, with changes: for each record, counted from zero, the literals that
/// become true.
///
/// What does not change stays as it is, byte for byte: header, order of columns, words, quotes, weights, blank lines
/// and line ends. A Boolean cell gets the opposite word in the same spelling; one of a column with several values gets
/// the value, or the name of a bin, which reads back as that bin (a number in the bin, if the name is a number that is
/// not). The error is that of reading if the text is not what was read.
pub fn write_changed_records<'a>(
    out: &mut dyn Write,
    text: &[u8],
    options: &RecordsOptions,
    names: &Arc<Names>,
    changes: impl Fn(usize) -> &'a [Lit],
) -> io::Result<()> {
    let Opened { first, first_line, .. } = Opened::new(text, options).map_err(invalid)?;
    let columns = columns(&first, names).map_err(invalid)?;
    let layout = Layout::new(&first, first_line);
    // Everything up to the last of `most` records, or the whole text if there are fewer.
    let write = |out: &mut dyn Write, most: usize| -> io::Result<()> {
        let mut lines = Lines::new(text, options.max_line);
        let (mut written, mut record) = (0, 0);
        let mut header = layout.header;
        while record < most {
            let before = text.len() - lines.rest().len();
            if !lines.advance().map_err(invalid)? {
                return out.write_all(&text[written..]);
            }
            if std::mem::take(&mut header) {
                continue;
            }
            let change = changes(record);
            record += 1;
            if change.is_empty() {
                continue;
            }
            let line = not_blank(text, before..text.len() - lines.rest().len());
            let (_, row) = layout.weight(lines.number, &text[line.clone()]).map_err(invalid)?;
            for (place, cell) in changed_cells(row, layout.delimiter, &columns, change)? {
                let start = line.end - row.len();
                out.write_all(&text[written..start + place.start])?;
                out.write_all(&cell)?;
                written = start + place.end;
            }
        }
        out.write_all(&text[written..text.len() - lines.rest().len()])
    };
    // The first two lines decide how all others are read.
    let mut start = Vec::new();
    write(&mut start, 2)?;
    let again = Opened::new(&start[..], options).map_err(invalid)?.first;
    if (again.delimiter, again.width, &again.header) != (first.delimiter, first.width, &first.header) {
        let reason = "the changed records would not read back, because their first line could be a header or a record; \
                      say which it is";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    write(out, usize::MAX)
}

fn invalid(error: ReadError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

fn columns(first: &FirstLine, names: &Arc<Names>) -> Result<Columns, ReadError> {
    let columns = match &first.header {
        Some(header) => Columns::named(header.clone(), Some(names)),
        None => Columns::numbered(first.width, Some(names)),
    };
    columns.map_err(ReadError::new)
}

/// Where the line of a record stands, without the blank lines before it and without its end.
fn not_blank(text: &[u8], mut range: Range<usize>) -> Range<usize> {
    if range.start == 0 && text.starts_with(b"\xef\xbb\xbf") {
        range.start = 3;
    }
    while let Some(end) = text[range.clone()].iter().position(|&b| b == b'\n') {
        let line = &text[range.start..range.start + end];
        if !line.strip_suffix(b"\r").unwrap_or(line).iter().all(|&b| b == b' ') {
            break;
        }
        range.start += end + 1;
    }
    for ending in [b'\n', b'\r'] {
        range.end -= usize::from(text[range.clone()].ends_with(&[ending]));
    }
    range
}

/// Where a cell stands, and what it becomes.
type Changed = (Range<usize>, Vec<u8>);

/// The cells of a row that change.
fn changed_cells(row: &[u8], delimiter: u8, columns: &Columns, change: &[Lit]) -> io::Result<Vec<Changed>> {
    let names = columns.names();
    let mut changed = Vec::new();
    for (column, cell) in split(row, delimiter).into_iter().enumerate() {
        let new = match columns.place(column) {
            Some(Place::Var(var)) => {
                let lit = change.iter().find(|lit| lit.var == Var(var as u32));
                lit.map(|lit| opposite(&cell.text, lit.value))
            }
            Some(Place::Group(group)) => {
                let group = &names.groups()[group];
                let value = group.vars().find(|var| change.contains(&var.is(true)));
                value.map(|var| cell_of(group, var).ok_or_else(|| unwritable(names.of(var)))).transpose()?
            }
            None => None,
        };
        let Some(new) = new else { continue };
        let quoted = cell.quoted || needs_quotes(&new) || new.contains(delimiter as char);
        changed.push((cell.place, if quoted { quote(&new) } else { new }.into_bytes()));
    }
    Ok(changed)
}

fn unwritable(value: &str) -> io::Error {
    let reason = format!("no cell reads back as {value:?}; rename the value");
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// A truth value in the spelling of the cell that it replaces.
fn opposite(cell: &[u8], value: bool) -> String {
    let old = String::from_utf8_lossy(cell);
    let pair = WORDS.iter().find(|pair| pair.iter().any(|word| word.eq_ignore_ascii_case(&old)));
    debug_assert!(pair.is_none() || word(cell).is_some());
    let new = pair.unwrap_or(&WORDS[0])[usize::from(!value)];
    let mut letters = old.chars().filter(|c| c.is_alphabetic());
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            new[..1].to_uppercase() + &new[1..]
        }
        (Some(first), _) if first.is_uppercase() => new.to_uppercase(),
        _ => new.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{parse_bins, read_records};

    #[test]
    fn truth_values_keep_their_spelling() {
        for (old, new) in [("1", "0"), ("0.0", "1.0"), ("Yes", "No"), ("n", "y"), ("FALSE", "TRUE"), ("T", "F")] {
            let value = word(old.as_bytes()).flatten().unwrap();
            assert_eq!(opposite(old.as_bytes(), !value), new);
        }
    }

    /// All but the changed cells stays, byte for byte, and what is written reads back as what was meant.
    #[test]
    fn only_the_changed_cells_change() {
        let text = "\u{feff}new;\"color\";age;sold\r\n\r\nYes;\"dark \"\"red\"\"\";37.50; 1\r\n  \nno; blue ;12;?\n\
                    \"no\";\"two\r\nlines\";+5;\"0\"\r\n2.5|yes;blue;1e2;1";
        let bins = vec![parse_bins("age=young:30:old").unwrap()];
        let options = RecordsOptions { bins, ..RecordsOptions::default() };
        let records = read_records(text.as_bytes(), &options).unwrap();
        let names = records.names();
        let vars = |name: &str| names.find(name).unwrap();
        let to = |column: &str, value: &str| -> Vec<Lit> {
            let group = names.group(column).unwrap();
            group.values().map(|(var, found)| var.is(found == value)).collect()
        };
        let write = |changes: [Vec<Lit>; 4]| {
            let mut out = Vec::new();
            let options = RecordsOptions::default();
            write_changed_records(&mut out, text.as_bytes(), &options, names, |record| &changes[record]).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(write([vec![], vec![], vec![], vec![]]), text);
        let found = write([
            [to("color", "blue"), to("age", "young")].concat(),
            vec![vars("new").is(true)],
            [to("color", "dark \"red\""), vec![vars("sold").is(true)]].concat(),
            [vec![vars("new").is(false)], to("color", "two\nlines")].concat(),
        ]);
        let expected = text
            .replace("\"dark \"\"red\"\"\";37.50;", "\"blue\";young;")
            .replace("\nno; blue", "\nyes; blue")
            .replace("\"two\r\nlines\";+5;\"0\"", "\"dark \"\"red\"\"\";+5;\"1\"")
            .replace("|yes;blue", "|no;\"two\nlines\"");
        assert_eq!(found, expected);
        let again = read_records(found.as_bytes(), &RecordsOptions::over(names)).unwrap();
        assert_eq!(again.row(again.original()[0] as usize).collect::<Vec<_>>()[1..3], [Some(true), Some(false)]);
    }
}
