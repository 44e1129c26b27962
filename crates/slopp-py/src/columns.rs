//! Columns with several values, and the names of the variables they become.

use crate::error::{Answer, Failure};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use slopp::io::Binning;
use slopp::names::Bins;
use slopp::{Kind, Names};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Columns with several values, each a variable `column=value`, those values, and the numbers between them if they are
/// bins.
pub(crate) type Groups = Vec<Group>;

type Group = (String, Vec<String>, Option<Vec<f64>>);

/// The columns with several values that names come from.
pub(crate) fn groups_of(names: &Names) -> Groups {
    let of = |group: &slopp::names::Group| {
        let values = group.values().map(|(_, value)| value.to_owned()).collect();
        (group.name().to_owned(), values, group.cuts().map(<[f64]>::to_vec))
    };
    names.groups().iter().map(of).collect()
}

/// Names of which some are the values of columns; those of one column are neighbours.
pub(crate) fn in_columns(names: Vec<String>, groups: Groups) -> Answer<Arc<Names>> {
    let mut starts: BTreeMap<String, Group> = BTreeMap::new();
    for (column, values, cuts) in groups {
        let first = values.first().map_or_else(String::new, |value| format!("{column}={value}"));
        starts.insert(first, (column, values, cuts));
    }
    let mut columns = Vec::new();
    let mut rest = names.into_iter();
    while let Some(name) = rest.next() {
        columns.push(match starts.remove(&name) {
            None => (name, Kind::Boolean),
            Some((column, values, cuts)) => {
                rest.by_ref().take(values.len() - 1).for_each(drop);
                let kind = match cuts.map(|cuts| Bins::new(values.clone(), cuts)) {
                    None => Kind::Values(values),
                    Some(Some(bins)) => Kind::Bins(bins),
                    Some(None) => {
                        let text = format!("the bins of column \"{column}\" need numbers that increase between them");
                        return Err(Failure::new("RecordsError", text));
                    }
                };
                (column, kind)
            }
        });
    }
    Ok(Arc::new(Names::of_columns(columns)?))
}

/// The names of bins, and the numbers between them, as `age=4` or `age=young:30:old` defines them for these numbers.
#[pyfunction]
pub(crate) fn bins(
    text: &str,
    numbers: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
) -> Answer<(Vec<String>, Vec<f64>)> {
    let numbers = numbers.as_array();
    let weight = |i: usize| weights.as_ref().map_or(1.0, |weights| weights.as_array()[i]);
    let found = match slopp::io::parse_bins(text)?.1 {
        Binning::Named(bins) => bins,
        Binning::Quantiles(wanted) => {
            Bins::quantiles(numbers.iter().enumerate().map(|(i, &number)| (number, weight(i))).collect(), wanted)
        }
    };
    Ok((found.names().to_vec(), found.cuts().to_vec()))
}
