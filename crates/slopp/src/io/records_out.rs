//! Writing records.

use super::csv::CsvLines;
use crate::data::Records;
use std::io::{self, Write};

/// Writes records as CSV in their original order, missing cells as `?`, with or without a header.
///
/// Cells are 0 and 1, or the value of a column that has several. Records are written by variable instead, `color=red`
/// of 0 and 1, if in one of them such a column has not exactly one value, if a value would not read back
/// ([`CsvLines`]), or if there is no header to distinguish the two.
///
/// Names that would not be taken for a header, such as `0` or `yes`, are quoted, all of them, and then they are.
/// Records with weights are refused: CSV has no place for them, [`write_weighted_records`] has.
pub fn write_records(out: &mut dyn Write, records: &Records, header: bool) -> io::Result<()> {
    if records.is_weighted() {
        let reason = "the records have weights, which CSV cannot hold; write them as .wdata";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    write_rows(out, records, header, records.original().iter().map(|&row| (None, row as usize)))
}

/// Writes distinct rows with their weights, `2|0,1,1`; cells and names are as in [`write_records`].
///
/// Without a header this is the `.wdata` format of LearnPSDD.
pub fn write_weighted_records(out: &mut dyn Write, records: &Records, header: bool) -> io::Result<()> {
    write_rows(out, records, header, records.weights().iter().enumerate().map(|(row, &weight)| (Some(weight), row)))
}

fn write_rows(
    out: &mut dyn Write,
    records: &Records,
    header: bool,
    rows: impl Iterator<Item = (Option<f64>, usize)>,
) -> io::Result<()> {
    let names = records.names();
    let lines = match header {
        true if has_one_value_each(records) => Some(CsvLines::new(names)?),
        true => Some(CsvLines::by_variable(names)?),
        false => None,
    };
    // The rows below show that names which look like a record are names.
    if let Some(lines) = lines.as_ref().filter(|lines| !records.is_empty() || lines.header_stands_alone()) {
        writeln!(out, "{}", lines.header())?;
    }
    let by_column = lines.as_ref().filter(|lines| lines.is_by_column());
    let mut line = Vec::new();
    for (weight, row) in rows {
        line.clear();
        weight.map_or(Ok(()), |weight| write!(line, "{weight}|"))?;
        match by_column {
            Some(lines) => writeln!(line, "{}", lines.row(&records.row(row).collect::<Vec<_>>()))?,
            None => push_row(&mut line, records, row),
        }
        out.write_all(&line)?;
    }
    Ok(())
}

/// Whether every row knows exactly one value of each column with several, or nothing.
fn has_one_value_each(records: &Records) -> bool {
    let groups = records.names().groups();
    let whole = |row: usize| {
        let cells: Vec<Option<bool>> = records.row(row).collect();
        groups.iter().all(|group| {
            let count = |value| group.vars().filter(|var| cells[var.index()] == value).count();
            count(None) == group.vars().len() || (count(None) == 0 && count(Some(true)) == 1)
        })
    };
    groups.is_empty() || (0..records.len()).all(whole)
}

fn push_row(line: &mut Vec<u8>, records: &Records, row: usize) {
    for cell in records.row(row) {
        line.push(cell.map_or(b'?', |value| b'0' + u8::from(value)));
        line.push(b',');
    }
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
}
