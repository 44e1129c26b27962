//! Evidence as text: `smoker, !cancer, "age > 50" = yes`.

use super::Evidence;
use super::error::EvidenceError;
use crate::names::{Names, unescaped};
use crate::var::{Lit, Var};
use std::fmt;

impl Evidence {
    /// Reads evidence: literals separated by `,` or `&`.
    ///
    /// A literal is `x`, one of `!x`, `~x`, `-x`, `¬x`, `not x`, or `x=1` with one of the values `1`, `0`, `true`, `false`,
    /// `yes`, `no`, or `x=?` if nothing is known of it. Names may stand in double quotes, and must if they hold a separator,
    /// `=` or a negation; a quote in a quoted name is written twice. A comma may follow the last literal.
    /// A column with several values is `color=red`, `!color=red`, or `color=?`; where it holds bins of numbers, `age=42` is
    /// the bin of 42. A text without literals is no evidence.
    pub fn parse(text: &str, names: &Names) -> Result<Evidence, EvidenceError> {
        let mut evidence = Evidence::none(names.len());
        let mut reader = Reader { text, at: 0 };
        reader.skip_spaces();
        if reader.rest().is_empty() {
            return Ok(evidence);
        }
        loop {
            let (column, lit) = reader.literal(names)?;
            if let Some(lit) = lit {
                check(lit, &evidence, names, column)?;
                evidence.set(lit.var, Some(lit.value));
            }
            reader.skip_spaces();
            let list = reader.rest().starts_with(',');
            match reader.rest().chars().next() {
                None => return Ok(evidence),
                Some(',' | '&') => reader.at += 1,
                Some(_) => return Err(reader.expected("\",\" or \"&\"")),
            }
            reader.skip_spaces();
            if list && reader.rest().is_empty() {
                return Ok(evidence);
            }
        }
    }
}

/// Refuses a literal that contradicts what was said before.
fn check(lit: Lit, evidence: &Evidence, names: &Names, column: usize) -> Result<(), EvidenceError> {
    if !evidence.allows(lit) {
        let name = names.of(lit.var).to_owned();
        return Err(EvidenceError::Contradiction { name, column: Some(column) });
    }
    let Some(group) = names.group_of(lit.var).filter(|_| lit.value) else { return Ok(()) };
    let other = group.values().find(|&(var, _)| var != lit.var && evidence.value(var) == Some(true));
    let second = group.values().find(|&(var, _)| var == lit.var);
    match (other, second) {
        (Some((_, first)), Some((_, second))) => Err(EvidenceError::TwoValues {
            name: group.name().to_owned(),
            first: first.to_owned(),
            second: second.to_owned(),
            column,
        }),
        _ => Ok(()),
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

    /// A literal, and the column where its name stands; none if it says that nothing is known.
    fn literal(&mut self, names: &Names) -> Result<(usize, Option<Lit>), EvidenceError> {
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
        let name = self.name("a variable")?;
        self.skip_spaces();
        if self.rest().starts_with("==") {
            return Err(EvidenceError::Name { column, source: names.compared(&name) });
        }
        if let Some(group) = names.group(&name).filter(|_| self.rest().starts_with('=')) {
            self.at += 1;
            self.skip_spaces();
            let cell = self.name("a value, or ? for unknown")?;
            return match group.find(&cell) {
                _ if cell == "?" => Ok((column, None)),
                Some(var) => Ok((column, Some(var.is(value)))),
                None => {
                    let source = names.find(&format!("{name}={cell}")).expect_err("the column has no such value");
                    Err(EvidenceError::Name { column, source })
                }
            };
        }
        let var = self.variable(&name, column, names, value)?;
        if self.rest().starts_with('=') {
            self.at += 1;
            match self.truth()? {
                Some(truth) => value = value == truth,
                None => return Ok((column, None)),
            }
        }
        Ok((column, Some(var.is(value))))
    }

    /// A name or a value, in quotes or not.
    fn name(&mut self, expected: &'static str) -> Result<String, EvidenceError> {
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let name = self.word();
        if name.is_empty() {
            return Err(self.expected(expected));
        }
        self.at += name.len();
        Ok(name.to_owned())
    }

    /// The variable of a literal whose sign is read.
    fn variable(&self, name: &str, column: usize, names: &Names, value: bool) -> Result<Var, EvidenceError> {
        names.find(name).map_err(|source| match with_commas(name, names) {
            Some(fixed) => EvidenceError::Blanks { column, fixed: format!("{}{fixed}", if value { "" } else { "!" }) },
            None => EvidenceError::Name { column, source },
        })
    }

    /// A name in quotes, as [`quote`](crate::names::quote) writes it.
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
                return Ok(unescaped(&name));
            }
            name.push('"');
        }
    }

    /// A truth value; none if it is unknown.
    fn truth(&mut self) -> Result<Option<bool>, EvidenceError> {
        self.skip_spaces();
        let word = self.word();
        let value = match word.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" => Some(true),
            "0" | "false" | "no" => Some(false),
            "?" => None,
            _ => return Err(self.expected("one of 1, 0, true, false, yes, no, or ? for unknown")),
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
    use crate::names::{Bins, Kind};

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
            Err("evidence, column 10: it says that variable \"not\" is both true and false, which is impossible; keep one of the two".into())
        );
        assert_eq!(parse("  "), Ok(vec![]));
        assert_eq!(parse("smoker, note, "), Ok(vec![1, 4]));
        assert_eq!(parse("smoker=?, note"), Ok(vec![4]));
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
    fn columns_with_several_values() {
        let values = |text: &str| Kind::Values(text.split('|').map(String::from).collect());
        let bins = Bins::new(["young", "old"].map(String::from).to_vec(), vec![30.0]).unwrap();
        let columns = [("color", values("red|a, b|0")), ("x", Kind::Boolean), ("age", Kind::Bins(bins))];
        let names = Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
        let parse = |text: &str| Evidence::parse(text, &names).map_err(|e| e.to_string());
        let lits = |text: &str| parse(text).map(|evidence| evidence.lits().map(Lit::number).collect::<Vec<_>>());
        assert_eq!(lits("color=red, !age = old"), Ok(vec![1, -6]));
        assert_eq!(lits("color = \"a, b\" & x=0, age=29.5"), Ok(vec![2, -4, 5]));
        assert_eq!(lits("color=?, color=0, \"age=old\""), Ok(vec![3, 6]));
        for (text, says) in [
            (
                "x, color=blue",
                "column 4: column \"color\" has no value \"blue\"; write color=VALUE with one of \"red\", \"a, b\", \"0\"",
            ),
            ("color", "column 1: column \"color\" has several values; write color=VALUE"),
            ("color=", "column 7: expected a value, or ? for unknown, found the end"),
            ("color=red, color=0", "column 12: it says that \"color\" is both \"red\" and \"0\""),
            ("age=old, !age=old", "\"age=old\" is both true and false"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let evidence = parse("!color=red, \"color=a, b\", x, age=old").unwrap();
        assert_eq!(evidence.display(&names).to_string(), "!color=red, \"color=a, b\", x, age=old");
        let text = evidence.display(&names).to_string();
        assert_eq!(parse(&text), Ok(evidence));
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, says) in [
            ("smoker, smokr", "column 9: there is no variable \"smokr\"; did you mean \"smoker\"?"),
            ("smoker,,", "column 8: expected a variable, found ','"),
            ("!", "column 2: expected a variable, found the end"),
            ("smoker & ", "column 10: expected a variable, found the end"),
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
