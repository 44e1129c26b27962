//! Which names a formula may use: those of a model, or any, collected as they occur.

use super::lexer::{NEGATIONS, is_plain};
use crate::names::{NameError, Names};
use crate::var::Var;
use rustc_hash::FxHashMap;

/// The names a text may use.
pub(super) enum Vocabulary<'a> {
    /// Those of a model or of records.
    Known {
        names: &'a Names,
        /// Names that contain characters that would end a name, longest first.
        odd: Vec<&'a str>,
        /// The length of the longest name in a list of literals, where only `,`, `&` and `=` end a known name.
        list: Option<usize>,
    },
    /// Any name.
    Collected { names: Vec<String>, index: FxHashMap<String, Var> },
}

impl<'a> Vocabulary<'a> {
    pub(super) fn known(names: &'a Names, list: bool) -> Vocabulary<'a> {
        let mut odd: Vec<&str> = names.iter().filter(|name| !is_plain(name)).collect();
        odd.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let longest = list.then(|| names.iter().map(str::len).max().unwrap_or(0));
        Vocabulary::Known { names, odd, list: longest }
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

    /// Whether it is a known column: of a variable, or with several values.
    pub(super) fn is_column(&self, name: &str) -> bool {
        matches!(self, Vocabulary::Known { names, .. } if names.contains(name) || names.group(name).is_some())
    }

    /// The known column name that a list of literals continues with.
    pub(super) fn listed<'t>(&self, text: &'t str) -> Option<&'t str> {
        let Vocabulary::Known { names, .. } = self else { return None };
        let word = self.item(text)?;
        let value = text[word.len()..].trim_start().strip_prefix('=').map(str::trim_start);
        let has = |value: &str| value.starts_with(['"', '?']) || self.listed_value(word, value).is_some();
        let known = names.contains(word) || (names.group(word).is_some() && value.is_some_and(has));
        (known && !word.starts_with('"')).then_some(word)
    }

    /// The value of a column that a list of literals continues with.
    pub(super) fn listed_value<'t>(&self, column: &str, text: &'t str) -> Option<&'t str> {
        self.item(text).filter(|word| self.value(column, word).is_some())
    }

    /// The next item of a list of literals, if it is not longer than all names.
    fn item<'t>(&self, text: &'t str) -> Option<&'t str> {
        let Vocabulary::Known { list: Some(longest), .. } = self else { return None };
        let end = text.char_indices().take_while(|(i, _)| i <= longest).find(|(_, c)| [',', '&', '='].contains(c));
        let end = end.map(|(i, _)| i).or_else(|| (text.len() <= *longest).then_some(text.len()))?;
        Some(text[..end].trim_end())
    }

    /// The variable of a value in a list of literals; a number stands for its bin.
    pub(super) fn value(&self, column: &str, value: &str) -> Option<Var> {
        let Vocabulary::Known { names, list: Some(_), .. } = self else { return None };
        names.group(column)?.find(value)
    }

    /// Literals separated by blanks only, with commas between them; `None` if a word is not a literal.
    pub(super) fn with_commas(&self, text: &str) -> Option<String> {
        let Vocabulary::Known { names, list: Some(_), .. } = self else { return None };
        let (mut literals, mut negated): (Vec<String>, bool) = (Vec::new(), false);
        for word in text.split_whitespace() {
            let is = |other: &str| word.eq_ignore_ascii_case(other) && !names.contains(word);
            if is("not") {
                negated = true;
            } else if names.contains(word.trim_start_matches(NEGATIONS)) {
                literals.push(format!("{}{word}", if std::mem::take(&mut negated) { "!" } else { "" }));
            } else if !is("and") {
                return None;
            }
        }
        (literals.len() > 1 && !negated).then(|| literals.join(", "))
    }

    /// Whether any name is accepted.
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

    /// The error about a comparison of a column.
    pub(super) fn compared(&self, column: &str) -> NameError {
        match self {
            Vocabulary::Known { names, .. } => names.compared(column),
            Vocabulary::Collected { .. } => NameError::Compared { column: column.to_owned(), known: Vec::new() },
        }
    }

    /// The longest name that the text starts with and that contains characters that would end a name.
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
