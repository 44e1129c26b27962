//! Writing records.

use super::error::WriteError;
use super::first_line::FirstLine;
use super::records::RecordsOptions;
use super::write_atomically;
use crate::data::Records;
use crate::names::Column;
use std::io::{self, Write};
use std::path::Path;

/// Writes records as CSV in their original order, missing cells as `?`, with or without a header.
///
/// Cells are 0 and 1, or the value of a column that has several. Records in which such a column has not exactly one
/// value are written by variable instead, `color=red` of 0 and 1.
///
/// Names that would not be taken for a header, such as `0` or `yes`, are quoted, all of them, and then they are.
/// Records with weights are refused: CSV has no place for them, [`write_weighted_records`] has.
pub fn write_records(path: &Path, records: &Records, header: bool) -> Result<(), WriteError> {
    write_atomically(path, |out| write_records_to(out, records, header))
}

/// Writes the text of a CSV file.
pub fn write_records_to(out: &mut dyn Write, records: &Records, header: bool) -> io::Result<()> {
    let mut repeated = vec![0.0; records.len()];
    for &row in records.original() {
        repeated[row as usize] += 1.0;
    }
    if repeated != records.weights() {
        let reason = "the records have weights, which CSV cannot hold; write them as .wdata";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    if by_column(records) {
        return write_values(out, records, header);
    }
    if header {
        out.write_all(&header_line(records)?)?;
    }
    let mut line = Vec::new();
    for &row in records.original() {
        line.clear();
        push_row(&mut line, records, row as usize);
        out.write_all(&line)?;
    }
    Ok(())
}

/// Whether there are columns with several values, and every row knows exactly one of each, or nothing.
fn by_column(records: &Records) -> bool {
    let groups = records.names().groups();
    let whole = |row: usize| {
        let cells: Vec<Option<bool>> = records.row(row).collect();
        groups.iter().all(|group| {
            let count = |value| group.vars().filter(|var| cells[var.index()] == value).count();
            count(None) == group.vars().len() || (count(None) == 0 && count(Some(true)) == 1)
        })
    };
    !groups.is_empty() && (0..records.len()).all(whole)
}

fn write_values(out: &mut dyn Write, records: &Records, header: bool) -> io::Result<()> {
    let names = records.names();
    let mut writer = csv::Writer::from_writer(out);
    if header {
        writer.write_record(names.columns().map(|column| names.column_name(column)))?;
    }
    for &row in records.original() {
        let cells: Vec<Option<bool>> = records.row(row as usize).collect();
        let world: Vec<bool> = cells.iter().map(|cell| *cell == Some(true)).collect();
        let known = names.columns().map(|column| match column {
            Column::Boolean(var) => cells[var.index()].is_some(),
            Column::Group(group) => group.vars().all(|var| cells[var.index()].is_some()),
        });
        let values = names.cells(&world).into_iter().zip(known);
        writer.write_record(values.map(|(value, known)| if known { value } else { "?".to_owned() }))?;
    }
    writer.flush()
}

/// Writes distinct rows with their weights, `2|0,1,1`: the `.wdata` format of LearnPSDD, without a header.
pub fn write_weighted_records(path: &Path, records: &Records) -> Result<(), WriteError> {
    write_atomically(path, |out| write_weighted_records_to(out, records))
}

/// Writes the text of a `.wdata` file.
pub fn write_weighted_records_to(out: &mut dyn Write, records: &Records) -> io::Result<()> {
    let mut line = Vec::new();
    for (row, weight) in records.weights().iter().enumerate() {
        line.clear();
        write!(line, "{weight}|")?;
        push_row(&mut line, records, row);
        out.write_all(&line)?;
    }
    Ok(())
}

/// The names in one line that reads back as the same names.
fn header_line(records: &Records) -> io::Result<Vec<u8>> {
    let line = |style| {
        let mut writer = csv::WriterBuilder::new().quote_style(style).from_writer(Vec::new());
        writer.write_record(records.names().iter())?;
        writer.into_inner().map_err(|e| e.into_error())
    };
    let plain = line(csv::QuoteStyle::Necessary)?;
    let mut row = Vec::new();
    if let Some(&first) = records.original().first() {
        push_row(&mut row, records, first as usize);
    }
    let second = (!row.is_empty()).then_some(row.trim_ascii_end());
    let read = FirstLine::new(plain.trim_ascii_end(), second, &RecordsOptions::default());
    match read {
        // A bar anywhere in the line could be taken for the end of a weight.
        Ok(FirstLine { header: Some(names), .. })
            if names.iter().eq(records.names().iter()) && !plain.contains(&b'|') =>
        {
            Ok(plain)
        }
        _ => line(csv::QuoteStyle::Always),
    }
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
