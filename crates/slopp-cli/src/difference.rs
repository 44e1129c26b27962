//! Two files side by side: what only one of them allows.

use crate::error::Error;
use crate::knowledge::{Knowledge, is_diagram, no_variables, stopped};
use crate::report::{object, some_of};
use serde_json::Value;
use slopp::io::path_in_words;
use slopp::knowledge::{Difference, KnowledgeError, UnsharedValues};
use slopp::logic::Limits;
use std::path::Path;

/// Reads and compares two files; the vtree is for diagrams that do not show their own.
pub(crate) fn compare(files: [&Path; 2], vtree: Option<&Path>, limits: Limits) -> Result<Difference, Error> {
    if vtree.is_some() && !files.iter().any(|file| is_diagram(file)) {
        return Err(Error::new("--vtree is for .sdd files, and none is given").hint("leave it out"));
    }
    let [first, second] = files.map(|file| Knowledge::read(file, vtree.filter(|_| is_diagram(file)), None, &limits));
    let known = by_columns(files, [first?, second?], &limits);
    Difference::new(known.each_ref().map(Knowledge::known), limits).map_err(|error| in_words(error, files))
}

/// Rules compared with a model that has columns are read by its columns, if they fit: so `age=42` is a bin.
fn by_columns(files: [&Path; 2], mut known: [Knowledge; 2], limits: &Limits) -> [Knowledge; 2] {
    for (one, other) in [(0, 1), (1, 0)] {
        let names = known[other].names().clone();
        if let (Knowledge::Rules(_), false) = (&known[one], names.groups().is_empty())
            && let Ok(rules) = slopp::io::read_rules(files[one], Some(&names), limits)
        {
            known[one] = Knowledge::Rules(rules);
        }
    }
    known
}

/// Why two files cannot be compared, by their names.
pub(crate) fn in_words(error: KnowledgeError, files: [&Path; 2]) -> Error {
    let [one, other] = files.map(Path::display);
    match error {
        KnowledgeError::NothingInCommon => Error::new(format!(
            "{one} and {other} have no variable in common, so there is nothing to compare"
        ))
        .hint("a file without names counts its variables x1, x2, …; compare files that have names, such as .psdd"),
        KnowledgeError::DifferentBins { column, cuts: [first, second] } => Error::new(format!(
            "column {column:?} is cut differently, so worlds cannot be compared: {one} has {first}, and {other} has {second}"
        ))
        .hint("learn both with the same --bins"),
        KnowledgeError::DifferentKinds { column, several } => {
            let [one, other] = if several == 0 { [one, other] } else { [other, one] };
            Error::new(format!("column {column:?} has several values in {one} and is Boolean in {other}"))
                .hint("learn both from records whose columns hold the same, for example with --categories")
        }
        KnowledgeError::Logic(error) => no_variables(error),
        KnowledgeError::Stopped(error) => stopped(error),
        error => error.into(),
    }
}

/// What else there is to say of two files, a line each: values that only one knows, and names that only one mentions.
pub(crate) fn notes(both: &Difference, files: [&Path; 2]) -> Vec<String> {
    let of_values = both.differ.iter().flat_map(|differ| {
        let lines = files.into_iter().zip(&differ.only).filter(|(_, values)| !values.is_empty());
        lines.map(|(file, values)| {
            let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            let (column, file, values) = (&differ.column, path_in_words(file), values.join(", "));
            format!("column {column:?}: only {file} has the value {values}; no world of the other has it")
        })
    });
    // They may be misspelt.
    let named = files.into_iter().zip(&both.only_named).filter(|(_, names)| !names.is_empty());
    let of_names = named.map(|(file, names)| format!("only {} mentions: {}", path_in_words(file), some_of(names)));
    of_values.chain(of_names).collect()
}

/// The same for machines.
pub(crate) fn document(both: &Difference) -> [(&'static str, Value); 3] {
    let differ = |differ: &UnsharedValues| {
        let [first, second] = &differ.only;
        object([
            ("column", Value::from(differ.column.as_str())),
            ("only_first", Value::from(first.clone())),
            ("only_second", Value::from(second.clone())),
        ])
    };
    let [first, second] = &both.only_named;
    [
        ("different_values", both.differ.iter().map(differ).collect()),
        ("only_named_first", Value::from(first.clone())),
        ("only_named_second", Value::from(second.clone())),
    ]
}
