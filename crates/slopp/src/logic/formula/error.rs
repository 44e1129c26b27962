//! Errors in the text of a formula, with the place and a caret under it.

use crate::names::{NameError, abridged, is_unprintable};
use std::fmt;
use std::ops::Range;

/// Why a text is not a formula or not evidence, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormulaError {
    /// The line, from one; `None` if the text has only one.
    pub line: Option<usize>,
    /// The column in the line, from one.
    pub column: usize,
    /// What is wrong.
    pub problem: Box<FormulaProblem>,
    /// The line of the text, or the part of it around the place.
    excerpt: String,
    /// Where the carets start below the excerpt, and their number.
    carets: (usize, usize),
}

/// What is wrong with the text of a formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaProblem {
    /// An unknown name.
    #[error("{0}")]
    Name(#[from] NameError),
    /// Something other than expected.
    #[error("expected {expected}, found {}", abridged(.found))]
    Unexpected {
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// Two words side by side that are not one name.
    #[error("an operator is missing between {} and {}; {}", abridged(.left), abridged(.right), advice(.right, .fixed))]
    NoOperator {
        /// The word before.
        left: String,
        /// The word after it.
        right: String,
        /// Literals separated by blanks only, rewritten with commas.
        fixed: Option<String>,
    },
    /// A variable with both values.
    #[error(
        "variable \"{}\" is both true and false, which is impossible; see column {first}, and keep one of the two",
        abridged(.name)
    )]
    Contradiction {
        /// The variable.
        name: String,
        /// Where it is named first, from one.
        first: usize,
    },
    /// A column with two values.
    #[error("\"{}\" is both \"{}\" and \"{}\", which is impossible; keep one of the two",
        abridged(.name), abridged(.first), abridged(.second))]
    TwoValues {
        /// The column of the records.
        name: String,
        /// One value.
        first: String,
        /// The other.
        second: String,
    },
    /// A formula where only literals can stand.
    #[error("only literals can be given here, such as \"smoker, !cancer\"")]
    NotLiterals,
    /// A negation of what says nothing.
    #[error("`=?` says that nothing is known, and cannot be negated; leave it out, or name a value")]
    NotUnknown,
    /// A parenthesis that is not closed.
    #[error("this parenthesis is not closed; add \")\"")]
    NotClosed,
    /// A quote that is not closed.
    #[error("this quote is not closed in its line; add a quote, and write one in a name twice")]
    NotQuoted,
    /// A word before a list of formulas that is not a count.
    #[error("\"{}\" is not a count; did you mean {nearest}?", abridged(.word))]
    NoCount {
        /// The word.
        word: String,
        /// The nearest count.
        nearest: &'static str,
    },
    /// Quotes with nothing between them.
    #[error("there is no name between the quotes; write the name of a variable")]
    NoName,
    /// A number that is too large.
    #[error("the number is too large; at most {} makes sense", u32::MAX)]
    Number,
    /// An empty text.
    #[error("expected a formula, found nothing; write it like \"smoker -> !(young | healthy)\"")]
    Empty,
}

/// Advice where an operator is missing before a word.
fn advice(word: &str, fixed: &Option<String>) -> String {
    match (word.to_ascii_lowercase().as_str(), fixed) {
        ("and" | "or" | "xor" | "then" | "implies" | "iff", _) => {
            "write & for and, | for or, ^ for either, -> for then".to_owned()
        }
        (_, Some(fixed)) => format!("literals are separated by commas: write it like \"{}\"", abridged(fixed)),
        (_, None) => "a name with blanks goes in quotes".to_owned(),
    }
}

impl FormulaError {
    /// The error about a part of a text.
    pub(crate) fn new(text: &str, place: Range<usize>, problem: FormulaProblem) -> FormulaError {
        /// How much of a long line is shown on either side.
        const AROUND: usize = 60;
        let start = place.start.min(text.len());
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let line: Vec<char> = text[line_start..line_end].trim_end().chars().collect();
        let column = text[line_start..start].chars().count();
        let length = text[start..place.end.clamp(start, line_end)].trim_end().chars().count().max(1);
        let (from, to) = (column.saturating_sub(AROUND), (column + AROUND).min(line.len()));
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
        let shown = line[from.min(to)..to].iter().map(|&c| if is_unprintable(c) { ' ' } else { c });
        FormulaError {
            line: text.trim_end().contains('\n').then(|| text[..start].matches('\n').count() + 1),
            column: column + 1,
            problem: Box::new(problem),
            excerpt: format!("{before}{}{after}", shown.collect::<String>()),
            carets: (column - from + before.chars().count(), length.min(AROUND)),
        }
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}, ")?;
        }
        let (indent, length) = self.carets;
        let (space, carets) = (" ".repeat(indent), "^".repeat(length));
        write!(f, "column {}: {}\n  {}\n  {space}{carets}", self.column, self.problem, self.excerpt)
    }
}

impl std::error::Error for FormulaError {}
