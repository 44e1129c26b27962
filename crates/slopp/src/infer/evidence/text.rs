//! Evidence as text: `smoker, !cancer, "age > 50" = yes`.

use super::Evidence;
use crate::names::{NameError, Names};
use crate::var::{Lit, Var};
use std::fmt;

/// Why a text or a list of literals is not evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// A name that no variable has.
    #[error("evidence, column {column}: {source}")]
    Name {
        /// Column of the text, from one.
        column: usize,
        /// Which name, and which one is near.
        source: NameError,
    },
    /// Literals that are separated by blanks.
    #[error("evidence, column {column}: literals are separated by commas; write it like \"{fixed}\"")]
    Blanks {
        /// Column of the text, from one.
        column: usize,
        /// The same with commas.
        fixed: String,
    },
    /// A variable is said to have both values.
    #[error(
        "evidence{}: it says that variable \"{name}\" is both true and false; keep one of the two",
        Column(.column)
    )]
    Contradiction {
        /// The variable: its name, or its number where names are not known.
        name: String,
        /// Column of the second mention, from one; `None` for evidence that was not text.
        column: Option<usize>,
    },
    /// A text that cannot be read.
    #[error("evidence, column {column}: expected {expected}, found {found}; write it like \"smoker, !cancer, age=1\"")]
    Text {
        /// Column, from one.
        column: usize,
        /// What may stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A variable that is not there.
    #[error("evidence about variable {variable}, but there are only {len} variables")]
    OutOfRange {
        /// The variable, from one.
        variable: u32,
        /// How many there are.
        len: usize,
    },
}

struct Column<'a>(&'a Option<usize>);

impl fmt::Display for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |column| write!(f, ", column {column}"))
    }
}

impl Evidence {
    /// Reads evidence: literals separated by `,` or `&`.
    ///
    /// A literal is `x`, one of `!x`, `~x`, `-x`, `¬x`, `not x`, or `x=1` with one of the values `1`, `0`, `true`, `false`,
    /// `yes`, `no`. Names may stand in double quotes, and must if they hold a separator, `=` or a negation; a
    /// quote in a quoted name is written twice. A separator may follow the last literal.
    /// A text without literals is no evidence.
    pub fn parse(text: &str, names: &Names) -> Result<Evidence, EvidenceError> {
        let mut evidence = Evidence::none(names.len());
        let mut reader = Reader { text, at: 0 };
        reader.skip_spaces();
        if reader.rest().is_empty() {
            return Ok(evidence);
        }
        loop {
            let (column, lit) = reader.literal(names)?;
            if !evidence.allows(lit) {
                let name = names.of(lit.var).to_owned();
                return Err(EvidenceError::Contradiction { name, column: Some(column) });
            }
            evidence.set(lit.var, Some(lit.value));
            reader.skip_spaces();
            match reader.rest().chars().next() {
                None => return Ok(evidence),
                Some(',' | '&') => reader.at += 1,
                Some(_) => return Err(reader.expected("\",\" or \"&\"")),
            }
            reader.skip_spaces();
            if reader.rest().is_empty() {
                return Ok(evidence);
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn column(&self) -> usize {
        self.text[..self.at].chars().count() + 1
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn expected(&self, expected: &'static str) -> EvidenceError {
        let found = match self.rest().chars().next() {
            None => "the end".to_owned(),
            Some(c) => format!("{c:?}"),
        };
        EvidenceError::Text { column: self.column(), expected, found }
    }

    /// A literal, and the column where its name stands.
    fn literal(&mut self, names: &Names) -> Result<(usize, Lit), EvidenceError> {
        let mut value = true;
        loop {
            self.skip_spaces();
            let rest = self.rest();
            if let Some(sign) = rest.chars().next().filter(|c| ['!', '~', '-', '¬'].contains(c)) {
                self.at += sign.len_utf8();
            } else if rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("not"))
                && rest[3..].trim_start().len() < rest[3..].len()
                && !rest[3..].trim_start().starts_with(['=', ',', '&'])
            {
                self.at += 3;
            } else {
                break;
            }
            value = !value;
        }
        let column = self.column();
        let var = self.name(names, value)?;
        self.skip_spaces();
        if self.rest().starts_with('=') {
            self.at += 1;
            value = value == self.truth()?;
        }
        Ok((column, var.is(value)))
    }

    /// The variable of a literal whose sign is read.
    fn name(&mut self, names: &Names, value: bool) -> Result<Var, EvidenceError> {
        let column = self.column();
        let name = if self.rest().starts_with('"') {
            self.quoted()?
        } else {
            let name = self.word();
            if name.is_empty() {
                return Err(self.expected("a variable"));
            }
            self.at += name.len();
            name.to_owned()
        };
        names.find(&name).map_err(|source| match with_commas(&name, names) {
            Some(fixed) => EvidenceError::Blanks { column, fixed: format!("{}{fixed}", if value { "" } else { "!" }) },
            None => EvidenceError::Name { column, source },
        })
    }

    /// A name in quotes; a quote in the name is written twice.
    fn quoted(&mut self) -> Result<String, EvidenceError> {
        let mut name = String::new();
        loop {
            self.at += 1;
            let Some(end) = self.rest().find('"') else {
                self.at = self.text.len();
                return Err(self.expected("a closing quote"));
            };
            name += &self.rest()[..end];
            self.at += end + 1;
            if !self.rest().starts_with('"') {
                return Ok(name);
            }
            name.push('"');
        }
    }

    fn truth(&mut self) -> Result<bool, EvidenceError> {
        self.skip_spaces();
        let word = self.word();
        let value = match word.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" => true,
            "0" | "false" | "no" => false,
            _ => return Err(self.expected("one of 1, 0, true, false, yes, no")),
        };
        self.at += word.len();
        Ok(value)
    }

    /// What stands before the next separator.
    fn word(&self) -> &'a str {
        let rest = self.rest();
        rest[..rest.find([',', '&', '=']).unwrap_or(rest.len())].trim_end()
    }
}

/// Several literals that only blanks separate, with commas; `None` if a word is no literal.
fn with_commas(text: &str, names: &Names) -> Option<String> {
    let mut literals: Vec<String> = Vec::new();
    let mut negated = false;
    for word in text.split_whitespace() {
        if word.eq_ignore_ascii_case("not") && !names.contains(word) {
            negated = true;
            continue;
        }
        // `and` is what `&` is read as.
        if word.eq_ignore_ascii_case("and") && !names.contains(word) && !literals.is_empty() {
            continue;
        }
        if !names.contains(word.trim_start_matches(['!', '~', '-', '¬'])) {
            return None;
        }
        literals.push(format!("{}{word}", if std::mem::take(&mut negated) { "!" } else { "" }));
    }
    (literals.len() > 1 && !negated).then(|| literals.join(", "))
}

/// Evidence together with the names to print it with.
pub(super) struct Named<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) names: &'a Names,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, lit) in self.evidence.lits().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{}", self.names.literal(lit))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(["smoker", "a b", "x,y", "note", "not"].map(String::from).to_vec()).unwrap()
    }

    fn parse(text: &str) -> Result<Vec<i64>, String> {
        let evidence = Evidence::parse(text, &names()).map_err(|e| e.to_string())?;
        Ok(evidence.lits().map(Lit::number).collect())
    }

    #[test]
    fn literals_in_every_spelling() {
        for text in [
            "!smoker",
            "~smoker",
            "¬smoker",
            "¬ smoker ,",
            "- smoker",
            "not smoker",
            "NOT  smoker",
            "smoker=0",
            "smoker = No",
            "!smoker=1",
        ] {
            assert_eq!(parse(text), Ok(vec![-1]), "{text}");
        }
        for text in ["smoker", " smoker ", "smoker=1", "\"smoker\" = TRUE", "!!smoker", "not smoker=false"] {
            assert_eq!(parse(text), Ok(vec![1]), "{text}");
        }
        assert_eq!(parse("a b & !\"x,y\", note"), Ok(vec![2, -3, 4]));
        assert_eq!(
            parse("not, not not"),
            Err("evidence, column 10: it says that variable \"not\" is both true and false; keep one of the two".into())
        );
        assert_eq!(parse("  "), Ok(vec![]));
        assert_eq!(parse("smoker, note, "), Ok(vec![1, 4]));
    }

    #[test]
    fn printed_evidence_reads_back() {
        let names = names();
        let evidence = Evidence::parse("smoker, !a b, !\"x,y\", note=0, not", &names).unwrap();
        let text = evidence.display(&names).to_string();
        assert_eq!(text, "smoker, !a b, !\"x,y\", !note, not");
        assert_eq!(Evidence::parse(&text, &names).unwrap(), evidence);
    }

    #[test]
    fn odd_names_read_back() {
        let odd = ["-x", "not y", "a\"b", "\"q\" & r", " pad ", "=", "NOT\tz", "!", "¬é, è"];
        let names = Names::new(odd.map(String::from).to_vec()).unwrap();
        for value in [true, false] {
            let evidence = Evidence::of_world(&[value; 9]);
            let text = evidence.display(&names).to_string();
            assert_eq!(Evidence::parse(&text, &names).as_ref(), Ok(&evidence), "{text}");
        }
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, says) in [
            ("smoker, smokr", "column 9: there is no variable \"smokr\"; did you mean \"smoker\"?"),
            ("smoker,,", "column 8: expected a variable, found ','"),
            ("!", "column 2: expected a variable, found the end"),
            (",smoker", "column 1: expected a variable, found ','"),
            ("smoker=maybe", "column 8: expected one of 1, 0, true"),
            ("\"smoker", "expected a closing quote"),
            ("\"smoker\" x", "column 10: expected \",\" or \"&\""),
            ("smoker, note, !smoker", "column 16: it says that variable \"smoker\" is both"),
            ("é, smokr", "column 1: there is no variable \"é\""),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let contradiction = Evidence::from_lits(2, [Var(1).is(true), Var(1).is(false)]).unwrap_err();
        assert!(contradiction.to_string().contains("variable \"2\" is both"), "{contradiction}");
        assert!(Evidence::from_lits(1, [Var(1).is(true)]).is_err());
    }
}
