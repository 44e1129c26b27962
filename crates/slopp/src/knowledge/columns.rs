//! The columns of two knowledge bases together.

use super::KnowledgeError;
use crate::names::{Bins, Column, Group, Kind, Names};

/// A column of both with values that only one of them has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsharedValues {
    /// The column.
    pub column: String,
    /// The values that only the first and only the second has.
    pub only: [Vec<String>; 2],
}

/// The columns of both, those of the first in front unless only the second has all; a column of both has the values of
/// both. An error if they share no variable, if they cut numbers into different bins, or if a column has different
/// kinds.
pub(super) fn merged(names: [&Names; 2]) -> Result<(Names, Vec<UnsharedValues>), KnowledgeError> {
    let mut differ = compared(names)?;
    // As a variable, or as a value of a column.
    let knows = |names: &Names, name: &str| {
        names.contains(name) || name.split_once('=').is_some_and(|(column, _)| names.group(column).is_some())
    };
    let [one, other] = names;
    let is_common = one.iter().any(|name| knows(other, name)) || other.iter().any(|name| knows(one, name));
    if !is_common && !one.is_empty() && !other.is_empty() {
        return Err(KnowledgeError::NothingInCommon);
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
                // Boolean columns of the other stay Boolean.
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

/// Notes a value that only one has, as a variable of its own, as rules do.
fn note(differ: &mut Vec<UnsharedValues>, (column, value): (&str, &str), side: usize) {
    let at = differ.iter().position(|known| known.column == column).unwrap_or_else(|| {
        differ.push(UnsharedValues { column: column.to_owned(), only: [Vec::new(), Vec::new()] });
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

/// The columns of both whose values differ.
fn compared(names: [&Names; 2]) -> Result<Vec<UnsharedValues>, KnowledgeError> {
    let mut differ = Vec::new();
    for group in names[0].groups() {
        let Some(other) = names[1].group(group.name()) else { continue };
        if group.cuts() != other.cuts() {
            return Err(different_bins(group, other));
        }
        let values = |group: &Group| group.values().map(|(_, value)| value.to_owned()).collect::<Vec<_>>();
        let (a, b) = (values(group), values(other));
        if group.cuts().is_some() && a != b {
            return Err(different_bins(group, other));
        }
        let only = [missing_in(&a, &b), missing_in(&b, &a)];
        if only.iter().any(|values| !values.is_empty()) {
            differ.push(UnsharedValues { column: group.name().to_owned(), only });
        }
    }
    for (one, other) in [(0, 1), (1, 0)] {
        if let Some(group) = names[one].groups().iter().find(|group| names[other].contains(group.name())) {
            return Err(KnowledgeError::DifferentKinds { column: group.name().to_owned(), several: one });
        }
    }
    Ok(differ)
}

fn missing_in(values: &[String], other: &[String]) -> Vec<String> {
    values.iter().filter(|value| !other.contains(value)).cloned().collect()
}

fn different_bins(group: &Group, other: &Group) -> KnowledgeError {
    // The same names may have different cuts.
    let cuts = [group, other].map(|group| {
        let values = group.values().map(|(_, value)| value).collect::<Vec<_>>().join(", ");
        let Some(cuts) = group.cuts() else { return format!("the values {values}") };
        let places: Vec<String> = cuts.iter().map(f64::to_string).collect();
        format!("the bins {values}, cut at {}", places.join(", "))
    });
    KnowledgeError::DifferentBins { column: group.name().to_owned(), cuts }
}
