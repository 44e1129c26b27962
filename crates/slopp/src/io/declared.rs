//! The line above a header that says what columns hold, where their cells alone would be taken for something else.
//!
//! ```text
//! # columns [{"name":"grade","values":["no","yes"]},{"name":"age","values":["young","old"],"cuts":[30.0]}]
//! ```
//! It is written by [`CsvLines`](super::CsvLines) and only where it is needed: most programs do not know such lines.

use super::error::ReadError;
use super::phrases::show;
use super::problem::Problem;
use crate::names::{Bins, Kind, NameError, Names, visible_json};
use serde_json::{Value, json};

/// How such a line begins.
const MARK: &[u8] = b"# columns ";

/// What some columns hold.
pub(super) type Declared = Vec<(String, Kind)>;

/// Whether a first line says what columns hold.
pub(super) fn is_declaration(line: &[u8]) -> bool {
    line.strip_prefix(MARK).is_some_and(|list| list.trim_ascii_start().starts_with(b"["))
}

/// The line for columns with several values.
pub(super) fn declaration(names: &Names) -> String {
    let columns = names.groups().iter().map(|group| {
        let mut column =
            json!({ "name": group.name(), "values": group.values().map(|(_, value)| value).collect::<Vec<_>>() });
        if let Some(cuts) = group.cuts() {
            column["cuts"] = json!(cuts);
        }
        column
    });
    format!("{}{}", String::from_utf8_lossy(MARK), visible_json(&Value::from_iter(columns).to_string()))
}

/// What a line says that columns hold.
pub(super) fn declared(number: usize, line: &[u8]) -> Result<Declared, ReadError> {
    let list: Option<Vec<Value>> = line.strip_prefix(MARK).and_then(|list| serde_json::from_slice(list).ok());
    let columns = list.and_then(|list| list.iter().map(column).collect());
    let expected = "`# columns` and a JSON list such as [{\"name\":\"color\",\"values\":[\"green\",\"red\"]}]";
    columns.ok_or_else(|| ReadError::unexpected(number, expected, show(line)))
}

fn column(entry: &Value) -> Option<(String, Kind)> {
    let values = entry["values"].as_array().filter(|values| !values.is_empty())?;
    let values = values.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()?;
    let kind = match &entry["cuts"] {
        Value::Null => Kind::Values(values),
        cuts => {
            let cuts = cuts.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<_>>>()?;
            Kind::Bins(Bins::new(values, cuts)?)
        }
    };
    Some((entry["name"].as_str()?.to_owned(), kind))
}

/// The names of the variables below a header, by column or by variable.
pub(super) fn names(header: &Names, declared: &Declared) -> Result<Names, Problem> {
    let fail = |error: NameError| Problem::Header { error, because: None };
    let by_column = declared.iter().any(|(name, _)| header.contains(name));
    if by_column {
        declared.iter().try_for_each(|(name, _)| header.find(name).map(drop)).map_err(fail)?;
        let kind = |name: &str| declared.iter().find(|(column, _)| column == name).map(|(_, kind)| kind.clone());
        return Names::of_columns(header.iter().map(|name| (name.to_owned(), kind(name).unwrap_or(Kind::Boolean))))
            .map_err(fail);
    }
    let mut names = header.clone();
    for (column, kind) in declared {
        let (values, cuts) = match kind {
            Kind::Values(values) => (values, None),
            Kind::Bins(bins) => (&bins.names().to_vec(), Some(bins.cuts().to_vec())),
            Kind::Boolean => continue,
        };
        let vars = values.iter().map(|value| header.find(&format!("{column}={value}")));
        let vars = vars.collect::<Result<Vec<_>, _>>().map_err(fail)?;
        let first = vars[0].index();
        let grouped = (0..).zip(&vars).all(|(i, var)| var.index() == first + i);
        let refused = || Problem::Unexpected {
            column: None,
            expected: format!("the values of {column:?} side by side and in order, as the first line says"),
            found: "another order".to_owned(),
        };
        names = Some(names)
            .filter(|_| grouped)
            .and_then(|names| names.with_group(column, first, vars.len(), cuts))
            .ok_or_else(refused)?;
    }
    Ok(names)
}
