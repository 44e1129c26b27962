//! Matching the columns of a file to variables.

use super::problem::Problem;
use crate::names::{Column, Group, NameError, Names, abridged};
use crate::var::Var;
use std::sync::Arc;

/// What each column of a file holds.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    names: Arc<Names>,
    /// What each column holds; `None` if column `i` holds variable `i`.
    places: Option<Vec<Place>>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A variable.
    Var(usize),
    /// One of several values, by the number of its group.
    Group(usize),
}

/// How many unknown columns get a suggestion.
const SUGGESTIONS: usize = 5;

impl Columns {
    /// Columns without a header: matched by position, so there must be one per variable, or one per column of the
    /// model.
    pub(super) fn numbered(width: usize, names: Option<&Arc<Names>>) -> Result<Columns, Problem> {
        let Some(names) = names else { return Ok(Columns { names: Names::numbered(width).into(), places: None }) };
        if names.len() == width {
            return Ok(Columns { names: names.clone(), places: None });
        }
        let places = by_column(names).1;
        match places.len() == width {
            true => Ok(Columns { names: names.clone(), places: Some(places) }),
            false => Err(Problem::ColumnCount { expected: places.len(), found: width }),
        }
    }

    /// Columns with a header: matched by name, in any order, every column of the model once; or every variable, if the
    /// header has values of columns and none of these columns.
    pub(super) fn named(header: Names, names: Option<&Arc<Names>>) -> Result<Columns, Problem> {
        let Some(names) = names else { return Ok(Columns { names: header.into(), places: None }) };
        if names.iter().eq(header.iter()) {
            return Ok(Columns { names: names.clone(), places: None });
        }
        let mut values = names.groups().iter().flat_map(Group::vars).map(|var| names.of(var));
        let has_column = names.groups().iter().any(|group| header.contains(group.name()));
        let (own, places) = match has_column || !values.any(|value| header.contains(value)) {
            true => by_column(names),
            false => (Names::clone(names), (0..names.len()).map(Place::Var).collect()),
        };
        let quoted = |name: &str| format!("\"{}\"", abridged(name));
        let unknown = header.iter().filter(|name| !own.contains(name)).enumerate();
        let unknown: Vec<String> = unknown
            .map(|(i, name)| {
                // The error of the lookup knows the nearest name, but looks at all of them to find it.
                let error = if i < SUGGESTIONS { own.find(name).err() } else { None };
                match error {
                    // A variable that has its column is not meant.
                    Some(NameError::Unknown { nearest, .. }) if !header.contains(&nearest) => {
                        format!("{} (did you mean {}?)", quoted(name), quoted(&nearest))
                    }
                    _ => quoted(name),
                }
            })
            .collect();
        let missing: Vec<String> = own.iter().filter(|name| !header.contains(name)).map(quoted).collect();
        if !unknown.is_empty() || !missing.is_empty() {
            return Err(Problem::Columns { missing, unknown });
        }
        let places = header.iter().map(|name| places[own.find(name).expect("checked above").index()]).collect();
        Ok(Columns { names: names.clone(), places: Some(places) })
    }

    /// The names of the variables.
    pub(super) fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// How many columns there are.
    pub(super) fn width(&self) -> usize {
        self.places.as_ref().map_or(self.names.len(), Vec::len)
    }

    /// Whether column `i` holds variable `i`, for all `i`.
    pub(super) fn in_order(&self) -> bool {
        self.places.is_none()
    }

    /// What a column holds, if it is there.
    pub(super) fn place(&self, column: usize) -> Option<Place> {
        match &self.places {
            None => (column < self.width()).then_some(Place::Var(column)),
            Some(places) => places.get(column).copied(),
        }
    }

    /// The name of a column, if it is there.
    pub(super) fn name(&self, column: usize) -> Option<String> {
        self.place(column).map(|place| match place {
            Place::Var(var) => self.names.of(Var(var as u32)).to_owned(),
            Place::Group(group) => self.names.groups()[group].name().to_owned(),
        })
    }
}

/// The names of the columns of a model, and what each holds.
fn by_column(names: &Names) -> (Names, Vec<Place>) {
    let mut group = 0..;
    let places = names.columns().map(|column| match column {
        Column::Boolean(var) => Place::Var(var.index()),
        Column::Group(_) => Place::Group(group.next().expect("without end")),
    });
    let places = places.collect();
    let own = names.columns().map(|column| names.column_name(column).to_owned()).collect();
    (Names::new(own).expect("columns have different names"), places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Kind;

    fn names(text: &str) -> Names {
        Names::new(text.split(' ').map(String::from).collect()).unwrap()
    }

    #[test]
    fn names_match_in_any_order() {
        let model = Arc::new(names("a b c"));
        let columns = Columns::named(names("c a b"), Some(&model)).unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(|i| columns.place(i)),
            [Some(2), Some(0), Some(1), None].map(|i| i.map(Place::Var))
        );
        assert!(!columns.in_order() && columns.name(0) == Some("c".into()));
        assert!(Columns::named(names("a b c"), Some(&model)).unwrap().in_order());
    }

    #[test]
    fn columns_are_missing_and_not_their_values() {
        let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
        let model = Names::of_columns([("color".into(), colors), ("fast".into(), Kind::Boolean)]).unwrap().into();
        let error = |header: &str| Columns::named(names(header), Some(&model)).unwrap_err().to_string();
        assert!(error("age old").contains("missing \"color\", \"fast\";"), "{}", error("age old"));
        assert!(error("age color=red").contains("missing \"color=green\", \"fast\";"));
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
