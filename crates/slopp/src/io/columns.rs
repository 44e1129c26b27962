//! Matching the columns of a file to variables.

use super::error::Problem;
use crate::names::{NameError, Names};
use crate::var::Var;
use std::sync::Arc;

/// Which variable each column of a file holds.
#[derive(Clone, Debug)]
pub struct Columns {
    names: Arc<Names>,
    /// The variable of each column; `None` if column `i` holds variable `i`.
    vars: Option<Vec<Var>>,
}

/// How many unknown columns get a suggestion.
const SUGGESTIONS: usize = 5;

impl Columns {
    /// Columns without a header: matched by position, so there must be one per variable.
    pub fn numbered(width: usize, names: Option<&Arc<Names>>) -> Result<Columns, Problem> {
        match names {
            None => Ok(Columns { names: Names::numbered(width).into(), vars: None }),
            Some(names) if names.len() == width => Ok(Columns { names: names.clone(), vars: None }),
            Some(names) => Err(Problem::ColumnCount { expected: names.len(), found: width }),
        }
    }

    /// Columns with a header: matched by name, in any order, every variable once.
    pub fn named(header: Names, names: Option<&Arc<Names>>) -> Result<Columns, Problem> {
        let Some(names) = names else { return Ok(Columns { names: header.into(), vars: None }) };
        if **names == header {
            return Ok(Columns { names: names.clone(), vars: None });
        }
        let unknown = header.iter().filter(|name| !names.contains(name)).enumerate();
        let unknown: Vec<String> = unknown
            .map(|(i, name)| {
                // The error of the lookup knows the nearest name, but looks at all of them to find it.
                let error = if i < SUGGESTIONS { names.find(name).err() } else { None };
                match error {
                    // A variable that has its column is not meant.
                    Some(NameError::Unknown { nearest: Some(nearest), .. }) if !header.contains(&nearest) => {
                        format!("\"{name}\" (did you mean \"{nearest}\"?)")
                    }
                    _ => format!("\"{name}\""),
                }
            })
            .collect();
        let missing: Vec<String> =
            names.iter().filter(|name| !header.contains(name)).map(|name| format!("\"{name}\"")).collect();
        if !unknown.is_empty() || !missing.is_empty() {
            return Err(Problem::Columns { missing, unknown });
        }
        let vars = header.iter().map(|name| names.find(name).expect("checked above")).collect();
        Ok(Columns { names: names.clone(), vars: Some(vars) })
    }

    /// The names of the variables.
    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// Whether column `i` holds variable `i`, for all `i`.
    pub fn in_order(&self) -> bool {
        self.vars.is_none()
    }

    /// The position of the variable in a column.
    pub(super) fn var(&self, column: usize) -> usize {
        self.vars.as_ref().map_or(column, |vars| vars[column].index())
    }

    /// The name of a column, if there is one.
    pub(super) fn name(&self, column: usize) -> Option<String> {
        (column < self.width()).then(|| self.names.of(Var(self.var(column) as u32)).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Names {
        Names::new(text.split(' ').map(String::from).collect()).unwrap()
    }

    #[test]
    fn names_match_in_any_order() {
        let model = Arc::new(names("a b c"));
        let columns = Columns::named(names("c a b"), Some(&model)).unwrap();
        assert_eq!([0, 1, 2].map(|i| columns.var(i)), [2, 0, 1]);
        assert!(!columns.in_order() && columns.name(0) == Some("c".into()));
        assert!(Columns::named(names("a b c"), Some(&model)).unwrap().in_order());
    }

    #[test]
    fn wrong_columns_are_named() {
        let model = Arc::new(names("smoker cancer"));
        let error = Columns::named(names("smokr age"), Some(&model)).unwrap_err().to_string();
        for part in ["missing \"smoker\", \"cancer\"", "unknown \"smokr\" (did you mean \"smoker\"?), \"age\""] {
            assert!(error.contains(part), "{error}");
        }
        assert!(Columns::numbered(3, Some(&model)).unwrap_err().to_string().contains("expected 2 columns"));
    }
}
