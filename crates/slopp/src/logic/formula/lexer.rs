//! The words of a formula: names, operators, parentheses.

use super::error::{FormulaError, FormulaProblem};
use super::vocabulary::Vocabulary;
use crate::names::{is_unprintable, unescaped};
use crate::var::Lit;
use std::ops::Range;

/// Operators between two formulas, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binary {
    Comma,
    Iff,
    Implies,
    Or,
    Xor,
    And,
}

/// The spellings of the operators; longer ones before those they begin with.
const OPERATORS: [(&str, Binary); 15] = [
    ("<->", Binary::Iff),
    ("<=>", Binary::Iff),
    ("->", Binary::Implies),
    ("=>", Binary::Implies),
    ("&&", Binary::And),
    ("||", Binary::Or),
    ("↔", Binary::Iff),
    ("→", Binary::Implies),
    ("∧", Binary::And),
    ("∨", Binary::Or),
    ("⊕", Binary::Xor),
    ("&", Binary::And),
    ("|", Binary::Or),
    ("^", Binary::Xor),
    (",", Binary::Comma),
];

/// The spellings of a negation that are one character.
pub(super) const NEGATIONS: [char; 4] = ['!', '~', '-', '¬'];

/// Reads words from a part of a text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    pub(super) at: usize,
    end: usize,
    /// Whether `#` starts a comment, as in files.
    comments: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str, part: Range<usize>, comments: bool) -> Lexer<'a> {
        Lexer { text, at: part.start, end: part.end, comments }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    /// Skips blanks, comments, and the mark that continues a rule on the next line.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            self.at = self.end - self.rest().trim_start().len();
            let rest = self.rest();
            match rest.chars().next() {
                Some('#') if self.comments => self.at += rest.find('\n').unwrap_or(rest.len()),
                Some('\\') if self.comments && rest[1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                    self.at += 1
                }
                _ => return,
            }
        }
    }

    pub(super) fn error(&self, place: Range<usize>, problem: FormulaProblem) -> FormulaError {
        FormulaError::new(self.text, place, problem)
    }

    /// The error at the current place.
    pub(super) fn expected(&self, expected: &'static str) -> FormulaError {
        let (found, length) = match self.rest().chars().next() {
            None => ("the end".to_owned(), 0),
            Some(c) => (format!("{c:?}"), c.len_utf8()),
        };
        // Something missing at the end is missing in the last line with text.
        let before = self.text[..self.at].trim_end();
        let lines_end = length == 0 && self.text[before.len()..self.at].contains('\n');
        let at = if lines_end { before.len() } else { self.at };
        self.error(at..at + length, FormulaProblem::Unexpected { expected, found })
    }

    /// Whether this place starts a line other than the first.
    pub(super) fn begins_line(&self) -> bool {
        self.text[..self.at].trim_end_matches([' ', '\t']).ends_with('\n')
    }

    /// Takes this character, if it is next.
    pub(super) fn take(&mut self, c: char) -> bool {
        let found = self.rest().starts_with(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    /// Takes a negation, if it is next.
    pub(super) fn take_negation(&mut self) -> bool {
        let rest = self.rest();
        if let Some(sign) = rest.chars().next().filter(|c| NEGATIONS.contains(c) && !rest.starts_with("->")) {
            self.at += sign.len_utf8();
            return true;
        }
        // As in evidence, the word is a name where no operand follows.
        let Some(after) = rest.get(..3).filter(|word| word.eq_ignore_ascii_case("not")).map(|_| &rest[3..]) else {
            return false;
        };
        let operand = after.trim_start();
        let ends = operand.starts_with([')', '=']) || (self.comments && operand.starts_with('#'));
        let follows = !operand.is_empty() && !ends && operator_at(operand).is_none();
        let negates = follows && (operand.len() < after.len() || operand.starts_with('('));
        self.at += if negates { 3 } else { 0 };
        negates
    }

    /// Takes an operator, if it is next.
    pub(super) fn take_operator(&mut self) -> Option<Binary> {
        let (spelling, operator) = operator_at(self.rest())?;
        self.at += spelling.len();
        Some(operator)
    }

    /// Takes a word from a list, if it is next.
    pub(super) fn take_word(&mut self, words: &[&str]) -> Option<usize> {
        let found = self.word();
        let i = words.iter().position(|word| *word == found)?;
        self.at += found.len();
        Some(i)
    }

    /// The text before the next operator, parenthesis or comment.
    pub(super) fn word(&self) -> &'a str {
        let rest = self.rest();
        let ends = |(i, c): (usize, char)| {
            let special = match c {
                '(' | ')' | '=' | '"' | '\n' | '!' | '~' | '¬' => true,
                '#' | '\\' => self.comments,
                '&' | '|' | '^' | ',' | '<' | '-' | '↔' | '→' | '∧' | '∨' | '⊕' => {
                    operator_at(&rest[i..]).is_some()
                }
                _ => false,
            };
            special.then_some(i)
        };
        rest[..rest.char_indices().find_map(ends).unwrap_or(rest.len())].trim_end()
    }

    /// A whole number.
    pub(super) fn number(&mut self) -> Result<u32, FormulaError> {
        let rest = self.rest();
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        if digits.is_empty() {
            return Err(self.expected("a whole number"));
        }
        let place = self.at..self.at + digits.len();
        let number = digits.parse().map_err(|_| self.error(place, FormulaProblem::Number))?;
        self.at += digits.len();
        Ok(number)
    }

    /// A name and its value: `x`, `x=0`, `color=red`, `color!=red`, `color=red = yes`; `None` for `color=?`, which says
    /// nothing.
    pub(super) fn literal(&mut self, names: &mut Vocabulary<'_>) -> Result<Option<Lit>, FormulaError> {
        let start = self.at;
        let mut name = self.name(names)?;
        let mut name_end = self.at;
        self.skip_blanks();
        let (mut value, mut listed) = (true, None);
        if self.rest().starts_with("==") {
            return Err(self.error(self.at..self.at + 2, names.compared(&name).into()));
        }
        // The name may continue after the sign: `color=red` is one.
        if let Some(length) = self.equals() {
            let (before, denied) = (self.at, length == 2);
            self.at += length;
            self.skip_blanks();
            let word_start = self.at;
            let is_quoted = self.rest().starts_with('"');
            let word = match is_quoted {
                true => self.quoted()?,
                false => names.listed_value(&name, self.rest()).unwrap_or_else(|| self.word()).to_owned(),
            };
            self.at += if is_quoted { 0 } else { word.len() };
            let joined = format!("{name}={word}");
            if word == "?" && names.is_column(&name) && !names.contains(&joined) {
                return match denied {
                    true => Err(self.error(start..self.at, FormulaProblem::NotUnknown)),
                    false => Ok(None),
                };
            }
            if !is_quoted && names.is_open() && !names.contains(&joined) {
                self.check_blanks(word_start, &word, names)?;
            }
            listed = names.value(&name, &word);
            let whole = if denied { joined.clone() } else { self.text[start..self.at].to_owned() };
            let truth = truth(&word);
            if listed.is_some() {
                value = !denied;
            } else if !word.is_empty()
                && (names.contains(&whole) || names.contains(&joined) || (truth.is_none() && names.is_open()))
            {
                name = if names.contains(&whole) { whole } else { joined };
                (name_end, value) = (self.at, !denied);
            } else if truth.is_none() && !names.contains(&name) {
                name = joined;
                name_end = self.at;
            } else {
                self.at = before;
            }
        }
        let var = match listed {
            Some(var) => var,
            None => names.find(&name).map_err(|e| self.error(start..name_end, e.into()))?,
        };
        self.skip_blanks();
        if let Some(length) = self.equals() {
            self.at += length;
            self.skip_blanks();
            let word = self.word();
            let Some(truth) = truth(word) else {
                let expected = "one of 1, 0, true, false, yes, no, or ? for unknown";
                return Err(match word {
                    "" => self.expected(expected),
                    _ => {
                        let problem = FormulaProblem::Unexpected { expected, found: format!("{word:?}") };
                        self.error(self.at..self.at + word.len(), problem)
                    }
                });
            };
            self.at += word.len();
            value = (value == truth) == (length == 1);
        }
        Ok(Some(var.is(value)))
    }

    /// The length of `=` or `!=`, if it is next.
    fn equals(&self) -> Option<usize> {
        let rest = self.rest();
        if rest.starts_with("!=") {
            return Some(2);
        }
        (rest.starts_with('=') && !rest.starts_with("=>")).then_some(1)
    }

    fn name(&mut self, names: &Vocabulary<'_>) -> Result<String, FormulaError> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let word = self.word();
        let found = match names.listed(self.rest()) {
            Some(name) => name,
            None if names.contains(word) => word,
            None => names.odd_prefix(self.rest()).unwrap_or(word),
        };
        if found.is_empty() {
            return Err(self.expected("a variable or \"(\""));
        }
        // Without known names, or if only the first word is one, an operator is missing at the blank.
        let first = found.split_whitespace().next().unwrap_or(found);
        if !names.contains(found) && (names.is_open() || names.contains(first)) {
            self.check_blanks(self.at, found, names)?;
        }
        self.at += found.len();
        Ok(found.to_owned())
    }

    /// Refuses an unquoted name of several words.
    fn check_blanks(&self, start: usize, name: &str, names: &Vocabulary<'_>) -> Result<(), FormulaError> {
        let Some((left, rest)) = name.split_once(char::is_whitespace) else { return Ok(()) };
        let right = rest.split_whitespace().next().unwrap_or_default();
        let at = start + name.len() - rest.trim_start().len();
        Err(self.no_operator(left, at..at + right.len(), names))
    }

    /// The error about two words in a row; a list of literals is shown with its commas.
    fn no_operator(&self, left: &str, right: Range<usize>, names: &Vocabulary<'_>) -> FormulaError {
        let start = self.text[..right.start].rfind([',', '&']).map_or(0, |i| i + 1);
        let end = self.text[right.start..].find([',', '&']).map_or(self.text.len(), |i| right.start + i);
        let fixed = names.with_commas(&self.text[start..end]);
        let (left, word) = (left.to_owned(), self.text[right.clone()].to_owned());
        self.error(right, FormulaProblem::NoOperator { left, right: word, fixed })
    }

    /// The error after an operand without an operator.
    pub(super) fn expected_operator(&self, names: &Vocabulary<'_>) -> FormulaError {
        let right = self.rest().split_whitespace().next().unwrap_or_default();
        let left = self.text[..self.at].split_whitespace().next_back().unwrap_or_default();
        let error = self.no_operator(left, self.at..self.at + right.len(), names);
        match *error.problem {
            FormulaProblem::NoOperator { fixed: Some(_), .. } => error,
            _ => self.expected("an operator such as \"&\", \"|\", \"->\""),
        }
    }

    /// A name in quotes, as [`quote`](crate::names::quote) writes it.
    fn quoted(&mut self) -> Result<String, FormulaError> {
        let start = self.at;
        let mut name = String::new();
        loop {
            self.at += 1;
            let rest = self.rest();
            let Some(end) = rest.find('"') else {
                return Err(self.error(start..self.end, FormulaProblem::NotQuoted));
            };
            name += &rest[..end];
            self.at += end + 1;
            if !self.rest().starts_with('"') {
                return match name.is_empty() {
                    true => Err(self.error(start..self.at, FormulaProblem::NoName)),
                    false => Ok(unescaped(&name)),
                };
            }
            name.push('"');
        }
    }
}

/// Whether a line goes on with the formula before it.
pub(super) fn begins_with_operator(line: &str) -> bool {
    operator_at(line).is_some()
}

/// Whether the formula goes on after a line.
pub(super) fn ends_with_operator(line: &str) -> bool {
    OPERATORS.iter().any(|(spelling, _)| line.ends_with(spelling))
}

fn operator_at(text: &str) -> Option<(&'static str, Binary)> {
    OPERATORS.iter().copied().find(|(spelling, _)| text.starts_with(spelling))
}

fn truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// Whether a name needs no quotes, even where no names are known; `color=red` does not.
pub(super) fn is_plain(name: &str) -> bool {
    let (first, second) = name.split_once('=').map_or((name, None), |(a, b)| (a, Some(b)));
    let simple = |word: &str| {
        let odd = |c: char| c == '\\' || c.is_whitespace() || is_unprintable(c);
        !word.is_empty() && Lexer::new(word, 0..word.len(), true).word() == word && !word.contains(odd)
    };
    let negated = name.starts_with(NEGATIONS) || Lexer::new(name, 0..name.len(), true).take_negation();
    let reserved =
        ["true", "false", "exactly", "at_most", "at_least", "not"].iter().any(|w| w.eq_ignore_ascii_case(first));
    simple(first)
        && second.is_none_or(simple)
        && !negated
        && !reserved
        && name.trim() == name
        && !second.is_some_and(|s| s.starts_with('>') || s.trim() != s)
        && first.trim() == first
}
