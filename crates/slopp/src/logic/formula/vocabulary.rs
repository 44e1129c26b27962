//! Which names a formula may use: those of a model, or any, collected as they occur.

use super::lexer::is_plain;
use crate::names::{NameError, Names};
use crate::var::Var;
use rustc_hash::FxHashMap;

/// The names a text may use.
pub(super) enum Vocabulary<'a> {
    /// Those of a model or of records.
    Known {
        names: &'a Names,
        /// Names that hold what otherwise ends a name, longest first.
        odd: Vec<&'a str>,
    },
    /// Whatever occurs.
    Collected { names: Vec<String>, index: FxHashMap<String, Var> },
}

impl<'a> Vocabulary<'a> {
    pub(super) fn known(names: &'a Names) -> Vocabulary<'a> {
        let mut odd: Vec<&str> = names.iter().filter(|name| !is_plain(name)).collect();
        odd.sort_by_key(|name| std::cmp::Reverse(name.len()));
        Vocabulary::Known { names, odd }
    }

    pub(super) fn collected() -> Vocabulary<'static> {
        Vocabulary::Collected { names: Vec::new(), index: FxHashMap::default() }
    }

    /// Whether a variable is known to have this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        match self {
            Vocabulary::Known { names, .. } => names.contains(name) || names.bin(name).is_some(),
            Vocabulary::Collected { index, .. } => index.contains_key(name),
        }
    }

    /// Whether it is known as a column: of a variable, or with several values.
    pub(super) fn is_column(&self, name: &str) -> bool {
        matches!(self, Vocabulary::Known { names, .. } if names.contains(name) || names.group(name).is_some())
    }

    /// Whether any name will do.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Vocabulary::Collected { .. })
    }

    /// The variable with this name.
    pub(super) fn find(&mut self, name: &str) -> Result<Var, NameError> {
        match self {
            Vocabulary::Known { names, .. } => names.bin(name).map_or_else(|| names.find(name), Ok),
            Vocabulary::Collected { names, index } => Ok(*index.entry(name.to_owned()).or_insert_with(|| {
                names.push(name.to_owned());
                Var(names.len() as u32 - 1)
            })),
        }
    }

    /// The error about a column that is compared.
    pub(super) fn compared(&self, column: &str) -> NameError {
        match self {
            Vocabulary::Known { names, .. } => names.compared(column),
            Vocabulary::Collected { .. } => NameError::Compared { column: column.to_owned(), known: Vec::new() },
        }
    }

    /// The longest name that the text begins with although it holds what otherwise ends a name.
    pub(super) fn odd_prefix(&self, text: &str) -> Option<&'a str> {
        let Vocabulary::Known { odd, .. } = self else { return None };
        let ends = |rest: &str| rest.chars().next().is_none_or(|c| c.is_whitespace() || ",&|^)=<-".contains(c));
        odd.iter().copied().find(|name| text.strip_prefix(name).is_some_and(ends))
    }

    /// The names collected.
    pub(super) fn into_names(self) -> Option<Vec<String>> {
        match self {
            Vocabulary::Known { .. } => None,
            Vocabulary::Collected { names, .. } => Some(names),
        }
    }
}
