//! What the columns of a file of records hold, found out by reading it once.

use super::cells::{is_missing, is_number, word};
use super::error::ReadError;
use super::phrases::show;
use super::problem::Problem;
use super::records::{Opened, RecordsOptions};
use super::rows::Layout;
use crate::data::RecordsError;
use crate::limits::array_bytes;
use crate::names::{Bins, Kind, Names, canonical};
use rustc_hash::FxHashSet;
use std::io::BufRead;

/// How the numbers of a column are cut into bins.
#[derive(Clone, Debug, PartialEq)]
pub enum Binning {
    /// At most this many bins of about equal weight.
    Quantiles(usize),
    /// These.
    Named(Bins),
}

/// Reads `age=4` or `age=young:30:old`: a column, and how it is cut into bins.
///
/// ```
/// use slopp::io::{Binning, parse_bins};
/// assert_eq!(parse_bins("age=4")?, ("age".into(), Binning::Quantiles(4)));
/// let (_, Binning::Named(bins)) = parse_bins("age=young:30:old")? else { unreachable!() };
/// assert_eq!((bins.of(29.0), bins.of(30.0)), (0, 1));
/// # Ok::<(), slopp::data::RecordsError>(())
/// ```
pub fn parse_bins(text: &str) -> Result<(String, Binning), RecordsError> {
    let fail = |reason| RecordsError::Bins { text: text.to_owned(), reason };
    let (column, bins) = text.rsplit_once('=').ok_or_else(|| fail("there is no \"=\" after the name of a column"))?;
    let parts: Vec<&str> = bins.split(':').map(str::trim).collect();
    let column = column.trim().to_owned();
    if column.is_empty() {
        return Err(fail("the name of the column is empty"));
    }
    if let &[number] = &parts[..] {
        let number = number.parse().ok().filter(|&number: &usize| number >= 2);
        return Ok((column, Binning::Quantiles(number.ok_or_else(|| fail("one bin is not enough"))?)));
    }
    let names: Vec<String> = parts.iter().step_by(2).map(|name| (*name).to_owned()).collect();
    let cuts: Option<Vec<f64>> = parts.iter().skip(1).step_by(2).map(|cut| cut.parse().ok()).collect();
    let cuts = cuts.ok_or_else(|| fail("names and numbers do not take turns"))?;
    let different = names.iter().enumerate().all(|(i, name)| !name.is_empty() && !names[..i].contains(name));
    if !different {
        return Err(fail("every bin needs a name of its own"));
    }
    let bins = Bins::new(names, cuts).ok_or_else(|| fail("the numbers must increase, with a name at both ends"))?;
    Ok((column, Binning::Named(bins)))
}

/// What was seen in a column.
struct Seen<'a> {
    name: String,
    binning: Option<&'a Binning>,
    /// Whether it holds values even if it looks Boolean.
    categories: bool,
    /// The different values, up to one more than are allowed.
    values: FxHashSet<String>,
    /// The numbers with their weights, if they are cut into quantiles.
    numbers: Vec<(f64, f64)>,
    all_numbers: bool,
    /// Whether a cell is 0 or 1; false; true.
    boolean: [bool; 3],
    /// The first cell that is not Boolean, and its line.
    odd: Option<(usize, String)>,
    /// How many cells are Boolean, and how many are not.
    cells: [usize; 2],
}

/// The names of the variables that the columns of a file become.
pub(super) fn survey(text: impl BufRead, options: &RecordsOptions) -> Result<Names, ReadError> {
    let opened = Opened::new(text, options)?;
    let first_line = opened.first_line;
    let layout = Layout::new(&opened.first, first_line);
    let header = opened.first.header.clone().unwrap_or_else(|| Names::numbered(opened.first.width));
    for name in options.categories.iter().chain(options.bins.iter().map(|(name, _)| name)) {
        header.find(name).map_err(|error| ReadError::at(first_line, Problem::NoSuchColumn(error)))?;
    }
    let seen = |name: &str| Seen {
        name: name.to_owned(),
        binning: options.bins.iter().find(|(column, _)| column == name).map(|(_, binning)| binning),
        categories: options.categories.iter().any(|column| column == name),
        values: FxHashSet::default(),
        numbers: Vec::new(),
        all_numbers: true,
        boolean: [false; 3],
        odd: None,
        cells: [0; 2],
    };
    let mut columns: Vec<Seen> = header.iter().map(seen).collect();
    // Only these keep something of each record.
    let cut = columns.iter().filter(|seen| matches!(seen.binning, Some(Binning::Quantiles(_)))).count().max(1);
    opened.rows(|number, line| {
        let (weight, row) = layout.weight(number, line)?;
        layout.cells(number, row, header.len(), |cell, column| match columns.get_mut(column) {
            Some(seen) if array_bytes(&seen.numbers) > options.max_memory / cut => {
                Err(Problem::LargeRecords { limit: options.max_memory })
            }
            Some(seen) => seen.look(column, number, cell, weight.unwrap_or(1.0), options.max_values),
            None => Ok(()),
        })
    })?;
    let kinds = columns.into_iter().enumerate().map(|(i, seen)| {
        let name = seen.name.clone();
        Ok((name, seen.kind(i, options)?))
    });
    let columns = kinds.collect::<Result<Vec<_>, ReadError>>()?;
    if let [(name, Kind::Values(values))] = &columns[..] {
        refuse_joined(name, values, options)?;
    }
    Names::of_columns(columns).map_err(|error| ReadError::at(first_line, Problem::Header { error, because: None }))
}

/// Refuses the only column of a file if its values are Boolean cells joined by something that separates no cells.
fn refuse_joined(name: &str, values: &[String], options: &RecordsOptions) -> Result<(), ReadError> {
    let is_joined = |text: &str| {
        let bits = text.chars().filter(|c| matches!(c, '0' | '1')).count();
        bits > 1 && text.chars().all(|c| matches!(c, '0' | '1') || !c.is_alphanumeric())
    };
    // A number is one only if the header looks like a row as well.
    let is_row = |value: &String| is_joined(value) && (value.parse::<f64>().is_err() || is_joined(name));
    if options.categories.iter().any(|known| known == name) || !values.iter().all(is_row) {
        return Ok(());
    }
    let (found, missing) = (show(values[0].as_bytes()), options.missing);
    let name = Some(name.to_owned());
    let problem =
        Problem::Cell { column: 1, name, found, missing, alone: true, first: false, taken: None, categories: true };
    Err(ReadError::at(2, problem))
}

impl Seen<'_> {
    fn look(&mut self, column: usize, line: usize, cell: &[u8], weight: f64, limit: usize) -> Result<(), Problem> {
        let text = std::str::from_utf8(cell).map_err(|_| Problem::NotUtf8)?;
        if is_missing(text) {
            return Ok(());
        }
        let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        if let Some(binning) = self.binning {
            let known = matches!(binning, Binning::Named(bins) if bins.names().iter().any(|name| name == text.trim()));
            return match number {
                Some(_) if matches!(binning, Binning::Named(_)) => Ok(()),
                Some(number) => {
                    self.numbers.try_reserve(1).map_err(|_| Problem::OutOfMemory)?;
                    self.numbers.push((number, weight));
                    Ok(())
                }
                None if known => Ok(()),
                None => Err(Problem::Number { column: column + 1, name: self.name.clone(), found: show(cell) }),
            };
        }
        self.all_numbers &= number.is_some();
        let value = word(cell);
        self.cells[usize::from(value.is_none())] += 1;
        match value {
            Some(value) => {
                self.boolean[0] |= is_number(cell);
                value.into_iter().for_each(|value| self.boolean[1 + usize::from(value)] = true);
            }
            None if self.odd.is_none() => self.odd = Some((line, show(cell))),
            None => {}
        }
        if self.values.len() <= limit && !self.values.contains(canonical(text)) {
            self.values.insert(canonical(text).to_owned());
        }
        Ok(())
    }

    /// What the column holds, given all that was seen of it.
    fn kind(self, column: usize, options: &RecordsOptions) -> Result<Kind, ReadError> {
        match self.binning {
            Some(Binning::Named(bins)) => return Ok(Kind::Bins(bins.clone())),
            Some(Binning::Quantiles(bins)) => return Ok(Kind::Bins(Bins::quantiles(self.numbers, *bins))),
            None => {}
        }
        let (column, name) = (column + 1, self.name);
        if !self.categories {
            let Some((line, found)) = self.odd else { return Ok(Kind::Boolean) };
            let [number, no, yes] = self.boolean;
            // A few cells of many are slips; where most are others, the column holds others.
            let [booleans, others] = self.cells;
            let seems_boolean = !self.all_numbers && (number || (no && yes)) && booleans >= others;
            if seems_boolean || options.max_values == 0 {
                let (missing, categories) = (options.missing, options.max_values > 0);
                let (name, alone, first, taken) = (Some(name), false, false, None);
                let problem = Problem::Cell { column, name, found, missing, alone, first, taken, categories };
                return Err(ReadError::at(line, problem));
            }
        }
        let mut values: Vec<String> = self.values.into_iter().collect();
        let number = |value: &String| value.parse::<f64>().ok().filter(|_| self.all_numbers).unwrap_or(0.0);
        values.sort_by(|a, b| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b)));
        if values.len() > options.max_values {
            let some = values.into_iter().take(3).collect();
            let (limit, numbers) = (options.max_values, self.all_numbers);
            return Err(ReadError::new(Problem::TooManyValues { column, name, limit, some, numbers }));
        }
        // A column without any cell says nothing, which one Boolean says at least cost.
        Ok(if values.is_empty() { Kind::Boolean } else { Kind::Values(values) })
    }
}
