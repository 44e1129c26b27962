//! The columns of two files together.

use crate::error::Error;
use crate::report::object;
use serde_json::Value;
use slopp::names::{Bins, Column, Group};
use slopp::{Kind, Names};
use std::path::Path;

/// A column of both files with values that only one of them knows.
pub(crate) struct ValuesOfOne {
    column: String,
    /// What only the first and only the second file has.
    only: [Vec<String>; 2],
}

impl ValuesOfOne {
    /// In words, a line for each file that knows more.
    pub(crate) fn in_words(&self, files: [&Path; 2]) -> Vec<String> {
        let told = |(file, values): (&Path, &Vec<String>)| {
            let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            let values = values.join(", ");
            format!(
                "column {:?}: only {} knows the value {values}; in the other no world has it",
                self.column,
                file.display()
            )
        };
        files.into_iter().zip(&self.only).filter(|(_, values)| !values.is_empty()).map(told).collect()
    }

    pub(crate) fn document(&self) -> Value {
        let [first, second] = &self.only;
        object([
            ("column", Value::from(self.column.as_str())),
            ("only_first", Value::from(first.clone())),
            ("only_second", Value::from(second.clone())),
        ])
    }
}

/// The columns of both, those of the first in front unless only the second has all; a column of both has the values of
/// both. An error if they have no variable in common, if one cuts numbers into other bins than the other, or if a column is
/// of another kind.
pub(crate) fn merged(files: [&Path; 2], names: [&Names; 2]) -> Result<(Names, Vec<ValuesOfOne>), Error> {
    let mut differ = compared(files, names)?;
    // As a variable, or as a value of a column.
    let knows = |names: &Names, name: &str| {
        names.contains(name) || name.split_once('=').is_some_and(|(column, _)| names.group(column).is_some())
    };
    let [one, other] = names;
    let is_common = one.iter().any(|name| knows(other, name)) || other.iter().any(|name| knows(one, name));
    if !is_common && !one.is_empty() && !other.is_empty() {
        let [one, other] = files.map(Path::display);
        return Err(Error::new(format!(
            "{one} and {other} have no variable in common, so there is nothing to compare"
        ))
        .hint("a file without names counts its variables x1, x2, …; compare files that have names, such as .psdd"));
    }
    let more = |one: &Names, other: &Names| (one.groups().len(), one.len()) > (other.groups().len(), other.len());
    let side = if more(names[1], names[0]) { 0 } else { 1 };
    let [base, other] = [names[1 - side], names[side]];
    let mut columns: Vec<(String, Kind)> =
        base.columns().map(|column| (base.column_name(column).to_owned(), kind(column))).collect();
    let mut add = |name: &str, kind: Kind| columns.push((name.to_owned(), kind));
    let mut values: Vec<(&str, &str)> = Vec::new();
    for column in other.columns() {
        match column {
            Column::Boolean(var) => {
                let name = other.of(var);
                match name
                    .split_once('=')
                    .filter(|(column, _)| base.group(column).is_some_and(|group| group.cuts().is_none()))
                {
                    _ if base.contains(name) => {}
                    Some(value) => {
                        values.push(value);
                        note(&mut differ, value, side);
                    }
                    None => add(name, Kind::Boolean),
                }
            }
            Column::Group(group) => match base.group(group.name()) {
                Some(same) => {
                    let new = group.values().filter(|(_, value)| !same.values().any(|(_, known)| known == *value));
                    values.extend(new.map(|(_, value)| (group.name(), value)));
                }
                // Where the other file has them as Boolean columns, they stay so.
                None if group.vars().any(|var| base.contains(other.of(var))) => {
                    let new = group.vars().map(|var| other.of(var)).filter(|name| !base.contains(name));
                    new.for_each(|name| add(name, Kind::Boolean));
                }
                None => add(group.name(), kind(column)),
            },
        }
    }
    for (name, kind) in &mut columns {
        if let Kind::Values(known) = kind {
            known.extend(values.iter().filter(|(column, _)| column == name).map(|(_, value)| (*value).to_owned()));
        }
    }
    Ok((Names::of_columns(columns)?, differ))
}

/// Notes a value that only one file knows, and knows as a variable of its own, as rules do.
fn note(differ: &mut Vec<ValuesOfOne>, (column, value): (&str, &str), side: usize) {
    let at = differ.iter().position(|known| known.column == column).unwrap_or_else(|| {
        differ.push(ValuesOfOne { column: column.to_owned(), only: [Vec::new(), Vec::new()] });
        differ.len() - 1
    });
    differ[at].only[side].push(value.to_owned());
}

fn kind(column: Column<'_>) -> Kind {
    let Column::Group(group) = column else { return Kind::Boolean };
    let values: Vec<String> = group.values().map(|(_, value)| value.to_owned()).collect();
    match group.cuts() {
        None => Kind::Values(values),
        Some(cuts) => Kind::Bins(Bins::new(values, cuts.to_vec()).expect("they were bins")),
    }
}

/// The columns of both files that have other values in one than in the other.
fn compared(files: [&Path; 2], names: [&Names; 2]) -> Result<Vec<ValuesOfOne>, Error> {
    let mut differ = Vec::new();
    for group in names[0].groups() {
        let Some(other) = names[1].group(group.name()) else { continue };
        if group.cuts() != other.cuts() {
            return Err(different_bins(files, group, other));
        }
        let values = |group: &Group| group.values().map(|(_, value)| value.to_owned()).collect::<Vec<_>>();
        let (a, b) = (values(group), values(other));
        if group.cuts().is_some() && a != b {
            return Err(different_bins(files, group, other));
        }
        let only = [missing_in(&a, &b), missing_in(&b, &a)];
        if only.iter().any(|values| !values.is_empty()) {
            differ.push(ValuesOfOne { column: group.name().to_owned(), only });
        }
    }
    for (one, other) in [(0, 1), (1, 0)] {
        if let Some(group) = names[one].groups().iter().find(|group| names[other].contains(group.name())) {
            let (name, [one, other]) = (group.name(), [files[one].display(), files[other].display()]);
            return Err(Error::new(format!("column {name:?} has several values in {one} and is Boolean in {other}"))
                .hint("learn both from records whose columns hold the same, for example with --categories"));
        }
    }
    Ok(differ)
}

fn missing_in(values: &[String], other: &[String]) -> Vec<String> {
    values.iter().filter(|value| !other.contains(value)).cloned().collect()
}

fn different_bins(files: [&Path; 2], group: &Group, other: &Group) -> Error {
    let shown = |group: &Group, file: &Path| {
        let values: Vec<&str> = group.values().map(|(_, value)| value).collect();
        match group.cuts() {
            None => format!("{} has the values {}", file.display(), values.join(", ")),
            // The same names may be cut at other numbers.
            Some(cuts) => {
                let cuts: Vec<String> = cuts.iter().map(f64::to_string).collect();
                format!("{} has the bins {}, cut at {}", file.display(), values.join(", "), cuts.join(", "))
            }
        }
    };
    let told = format!("{}, and {}", shown(group, files[0]), shown(other, files[1]));
    Error::new(format!("column {:?} is cut differently, so worlds cannot be compared: {told}", group.name()))
        .hint("learn both with the same --bins")
}
