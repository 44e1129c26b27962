//! Names of variables, as in the header of a file, and the columns they come from.

mod group;
mod text;

pub(crate) use group::canonical;
pub use group::{Bins, Column, Group, Kind};
pub(crate) use text::is_unprintable;
#[doc(hidden)]
pub use text::{abridged, quote, split_list, visible, visible_json, visible_lines};
pub(crate) use text::{quoted_list, unescaped};

use crate::var::{Lit, Var};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt;

/// The names of the variables `0..len`, all distinct, and which of them are the values of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    names: Vec<String>,
    index: FxHashMap<String, Var>,
    /// By their first variable.
    groups: Vec<Group>,
}

/// An invalid list of names, or a name that was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Two variables share a name.
    #[error("the name \"{}\" is used by columns {first} and {second}; rename one of them", abridged(.name))]
    Repeated {
        /// The shared name.
        name: String,
        /// First column, from one.
        first: usize,
        /// Second column, from one.
        second: usize,
    },
    /// A variable has no name.
    #[error("column {column} has an empty name; give it one")]
    Empty {
        /// The column, from one.
        column: usize,
    },
    /// No variable has this name.
    #[error("there is no variable \"{}\"; did you mean \"{}\"?", abridged(.name), abridged(.nearest))]
    Unknown {
        /// The name that was looked up.
        name: String,
        /// The nearest existing name.
        nearest: String,
    },
    /// No variable has this name, or a similar one.
    #[error("there is no variable \"{}\"{}", abridged(.name), Others(.known))]
    NotAmong {
        /// The name that was looked up.
        name: String,
        /// The names of all columns.
        known: Vec<String>,
    },
    /// A comparison of a column.
    #[error(
        "values are not compared by <, > and ==; write {}=VALUE{}",
        abridged(.column),
        if .known.is_empty() { String::new() } else { format!(" with one of {}, or some of them joined by |", quoted_list(.known)) }
    )]
    Compared {
        /// The column.
        column: String,
        /// Its known values.
        known: Vec<String>,
    },
    /// A column has no such value.
    #[error("{}; write {}=VALUE with one of {}", NoValue(.name), abridged(column_of(.name).0), quoted_list(.known))]
    Value {
        /// The name that was not found: a column, `=` and a value, or a column alone.
        name: String,
        /// The values it has.
        known: Vec<String>,
    },
}

/// The most names listed in an error.
const NAMES_SHOWN: usize = 8;

/// The column and the value of a name like `color=red`; the value is empty if there is none.
fn column_of(name: &str) -> (&str, &str) {
    let (column, value) = name.split_once('=').unwrap_or((name, ""));
    (column.trim(), value.trim())
}

struct NoValue<'a>(&'a str);

impl fmt::Display for NoValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match column_of(self.0) {
            (column, "") => write!(f, "column \"{}\" has several values", abridged(column)),
            (column, value) => write!(f, "column \"{}\" has no value \"{}\"", abridged(column), abridged(value)),
        }
    }
}

struct Others<'a>(&'a [String]);

impl fmt::Display for Others<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.len().min(NAMES_SHOWN);
        match self.0.len() - shown {
            _ if shown == 0 => Ok(()),
            0 => write!(f, "; the names are {}", quoted_list(self.0)),
            more => write!(f, "; the names are {} and {more} more", quoted_list(&self.0[..shown])),
        }
    }
}

impl Names {
    /// Checks that no name is empty or used twice.
    pub fn new(names: Vec<String>) -> Result<Names, NameError> {
        let mut index = FxHashMap::default();
        for (i, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(NameError::Empty { column: i + 1 });
            }
            if let Some(Var(first)) = index.insert(name.clone(), Var(i as u32)) {
                return Err(NameError::Repeated { name: name.clone(), first: first as usize + 1, second: i + 1 });
            }
        }
        Ok(Names { names, index, groups: Vec::new() })
    }

    /// The names `x1`, `x2`, … for data without a header.
    pub fn numbered(len: usize) -> Names {
        Names::new((1..=len).map(|i| format!("x{i}")).collect()).expect("numbers are distinct")
    }

    /// The number of variables.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name of a variable.
    pub fn of(&self, var: Var) -> &str {
        &self.names[var.index()]
    }

    /// The name as evidence reads it: in double quotes where needed.
    pub fn quoted(&self, var: Var) -> Cow<'_, str> {
        let name = self.of(var);
        let misread = match self.group_of(var) {
            // A value is read up to the next separator.
            Some(group) => is_misread(group.name()) || is_misread(&name[group.name().len() + 1..]),
            None => is_misread(name),
        };
        if misread { quote(name).into() } else { name.into() }
    }

    /// The literal as evidence reads it: `smoker`, `!smoker` or `!"a, b"`.
    pub fn literal(&self, lit: Lit) -> String {
        format!("{}{}", if lit.value { "" } else { "!" }, self.quoted(lit.var))
    }

    /// All names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether a variable has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.index.contains_key(name)
    }

    /// The variable with this name; the error suggests the nearest name.
    pub fn find(&self, name: &str) -> Result<Var, NameError> {
        self.index.get(name).copied().ok_or_else(|| self.unknown_value(name).unwrap_or_else(|| self.unknown(name)))
    }

    /// The variables of a list of columns, separated by commas: all those of a column with several values.
    ///
    /// Single variables such as `color=red` are allowed too. Names with a comma need double quotes; blanks around names
    /// are ignored.
    ///
    /// ```
    /// use slopp::{Kind, Names, Var};
    /// let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    /// let names = Names::of_columns([("fast".into(), Kind::Boolean), ("color".into(), colors)])?;
    /// assert_eq!(names.vars_of("color, fast")?, [Var(1), Var(2), Var(0)]);
    /// assert_eq!(names.vars_of("color=red")?, [Var(2)]);
    /// # Ok::<(), slopp::NameError>(())
    /// ```
    pub fn vars_of(&self, list: &str) -> Result<Vec<Var>, NameError> {
        let mut vars = Vec::new();
        for name in split_list(list) {
            match self.group(&name) {
                Some(group) => vars.extend(group.vars()),
                None => vars.push(self.find(&name)?),
            }
        }
        Ok(vars)
    }

    /// The list that [`Names::vars_of`] reads; a column replaces its variables if all are there.
    ///
    /// ```
    /// # use slopp::{Kind, Names, Var};
    /// let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    /// let names = Names::of_columns([("a,b".into(), Kind::Boolean), ("color".into(), colors)])?;
    /// assert_eq!(names.list(&[Var(1), Var(2), Var(0)]), "color,\"a,b\"");
    /// assert_eq!(names.list(&[Var(2)]), "color=red");
    /// # Ok::<(), slopp::NameError>(())
    /// ```
    pub fn list(&self, vars: &[Var]) -> String {
        let whole = |group: &Group| group.vars().all(|var| vars.contains(&var));
        let mut list: Vec<Cow<'_, str>> = Vec::new();
        for &var in vars {
            let name = match self.group_of(var).filter(|group| whole(group)) {
                Some(group) if is_misread(group.name()) => quote(group.name()).into(),
                Some(group) => group.name().into(),
                None => self.quoted(var),
            };
            if !list.contains(&name) {
                list.push(name);
            }
        }
        list.join(",")
    }

    /// The bin of a number, as in `age=42`; none if a variable has that name.
    pub(crate) fn bin(&self, name: &str) -> Option<Var> {
        let (column, value) = column_of(name);
        let group = self.group(column).filter(|group| group.cuts().is_some() && !self.contains(name))?;
        group.find(value)
    }

    fn unknown(&self, name: &str) -> NameError {
        let name = name.to_owned();
        match self.nearest(&name) {
            Some(nearest) => NameError::Unknown { name, nearest },
            None => {
                let known = self.columns().map(|column| self.column_name(column).to_owned()).collect();
                NameError::NotAmong { name, known }
            }
        }
    }

    /// The error about a name that is or begins with the name of a column.
    fn unknown_value(&self, name: &str) -> Option<NameError> {
        let (group, name) = match self.group(column_of(name).0) {
            Some(group) => (group, name.to_owned()),
            // A comparison, which columns do not support.
            None => {
                let (column, _) = name.split_once(['<', '>'])?;
                self.group(column.trim())?;
                return Some(self.compared(column.trim()));
            }
        };
        Some(NameError::Value { name, known: group.values().map(|(_, value)| value.to_owned()).collect() })
    }

    /// The error about a comparison of a column.
    pub(crate) fn compared(&self, column: &str) -> NameError {
        let known = self.group(column).map(|group| group.values().map(|(_, value)| value.to_owned()).collect());
        NameError::Compared { column: column.to_owned(), known: known.unwrap_or_default() }
    }

    fn nearest(&self, name: &str) -> Option<String> {
        let limit = 1 + name.chars().count() / 3;
        let columns = self.groups.iter().map(Group::name);
        let distances = self.iter().chain(columns).map(|n| (edit_distance(&n.to_lowercase(), &name.to_lowercase()), n));
        // Names without a common letter are not similar.
        let shares = |d: usize, n: &str| d < n.chars().count().max(name.chars().count());
        distances.filter(|&(d, n)| d <= limit && shares(d, n)).min_by_key(|&(d, _)| d).map(|(_, n)| n.to_owned())
    }
}

/// Whether evidence, or a rule where no names are known, would misread a name without quotes.
fn is_misread(name: &str) -> bool {
    name.contains([',', '&', '='])
        || name.contains(char::is_whitespace)
        || name.starts_with(['!', '~', '-', '¬', '"'])
        || name.contains(is_unprintable)
}

/// Levenshtein distance between two words.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_get_a_suggestion() {
        let names = Names::new(vec!["smoker".into(), "cancer".into()]).unwrap();
        assert_eq!(names.find("cancer"), Ok(Var(1)));
        let error = names.find("smokr").unwrap_err().to_string();
        assert!(error.contains("did you mean \"smoker\""), "{error}");
        let error = names.find("zebra").unwrap_err().to_string();
        assert_eq!(error, "there is no variable \"zebra\"; the names are \"smoker\", \"cancer\"");
        assert!(Names::numbered(10).find("zebra").unwrap_err().to_string().ends_with("\"x8\" and 2 more"));
        let letters = Names::new(["a", "b", "xy"].map(String::from).to_vec()).unwrap();
        for (name, nearest) in [("c", None), ("x", Some("xy")), ("A", Some("a")), ("qr", None)] {
            let found = match letters.find(name).unwrap_err() {
                NameError::Unknown { nearest, .. } => Some(nearest),
                _ => None,
            };
            assert_eq!(found.as_deref(), nearest, "{name}");
        }
    }

    #[test]
    fn columns_are_suggested_too() {
        let colors = Kind::Values(["red", "green"].map(String::from).to_vec());
        let names = Names::of_columns([("color".into(), colors), ("fast".into(), Kind::Boolean)]).unwrap();
        for (name, nearest) in [("colour", "color"), ("colour=red", "color=red")] {
            let unknown = NameError::Unknown { name: name.into(), nearest: nearest.into() };
            assert_eq!(names.find(name), Err(unknown));
        }
        let error = names.find("color=red2").unwrap_err().to_string();
        assert_eq!(error, "column \"color\" has no value \"red2\"; write color=VALUE with one of \"red\", \"green\"");
        for name in ["color>=red2", "color < red", "color>"] {
            let error = names.find(name).unwrap_err().to_string();
            assert!(error.starts_with("values are not compared") && error.contains("write color=VALUE"), "{error}");
        }
    }

    #[test]
    fn repeated_and_empty_names_are_errors() {
        let repeated = Names::new(vec!["a".into(), "b".into(), "a".into()]);
        assert_eq!(repeated, Err(NameError::Repeated { name: "a".into(), first: 1, second: 3 }));
        assert_eq!(Names::new(vec!["a".into(), String::new()]), Err(NameError::Empty { column: 2 }));
    }

    #[test]
    fn odd_names_are_quoted() {
        let names = Names::new(["a,b", "x y", "-1", "say \"hi\"", "\"", "¬z"].map(String::from).to_vec()).unwrap();
        let literals: Vec<String> = (0..6).map(|i| names.literal(Var(i).is(i % 2 == 0))).collect();
        assert_eq!(literals, ["\"a,b\"", "!\"x y\"", "\"-1\"", "!\"say \"\"hi\"\"\"", "\"\"\"\"", "!\"¬z\""]);
    }

    #[test]
    fn lists_of_names() {
        let names = Names::new(["a,b", "c", "say \"hi\""].map(String::from).to_vec()).unwrap();
        assert_eq!(names.vars_of(" c , \"a,b\""), Ok(vec![Var(1), Var(0)]));
        assert_eq!(names.vars_of("\"say \"\"hi\"\"\","), Ok(vec![Var(2)]));
        assert_eq!(names.vars_of(""), Ok(vec![]));
        assert!(matches!(names.vars_of("c,d"), Err(NameError::NotAmong { .. })));
    }

    #[test]
    fn edit_distances() {
        for (a, b, d) in [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)] {
            assert_eq!(edit_distance(a, b), d, "{a} {b}");
        }
    }
}
