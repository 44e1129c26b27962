//! Evidence: what is known about a world.

use super::error::QueryError;
use super::event::Event;
use crate::data::{Records, bit_of};
use crate::logic::{FormulaError, FormulaProblem};
use crate::names::{Column, Names};
use crate::var::{Lit, Var};
use std::fmt;

/// A partial assignment: some variables have a known value, the others may have any.
///
/// ```
/// use slopp::infer::Evidence;
/// use slopp::{Names, Var};
/// let names = Names::new(vec!["smoker".into(), "cancer".into(), "age".into()])?;
/// let evidence = Evidence::parse("smoker, !cancer", &names)?;
/// assert_eq!(evidence.value(Var(1)), Some(false));
/// assert_eq!(evidence.value(Var(2)), None);
/// assert_eq!(evidence.display(&names).to_string(), "smoker, !cancer");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Evidence {
    len: usize,
    known: Vec<u64>,
    /// Value bits; zero where unknown.
    value: Vec<u64>,
}

impl Evidence {
    /// Nothing is known about `len` variables.
    pub fn none(len: usize) -> Evidence {
        let words = len.div_ceil(64);
        Evidence { len, known: vec![0; words], value: vec![0; words] }
    }

    /// Reads evidence: literals, separated by `,` or `&`.
    ///
    /// A literal is `x`, one of `!x`, `~x`, `-x`, `¬x`, `not x`, or `x=1` with one of the values `1`, `0`, `true`,
    /// `false`, `yes`, `no`, or `x=?` if the value is unknown. Names with a separator, `=` or a negation need double
    /// quotes, in which a quote is written twice. A comma may follow the last literal. A column with several values is
    /// `color=red`, `color!=red`, or `color=?`; where it holds bins of numbers, `age=42` is the bin of 42. An empty
    /// text says nothing.
    pub fn parse(text: &str, names: &Names) -> Result<Evidence, FormulaError> {
        match Event::parse(text, names)? {
            Event::Literals(evidence) => Ok(evidence),
            Event::Formula(_) => Err(FormulaError::new(text, 0..text.len(), FormulaProblem::NotLiterals)),
        }
    }

    /// Evidence about every variable.
    pub fn of_world(world: &[bool]) -> Evidence {
        let mut evidence = Evidence::none(world.len());
        for (i, &value) in world.iter().enumerate() {
            evidence.set(Var(i as u32), Some(value));
        }
        evidence
    }

    /// Evidence about `len` variables from literals; two literals of one variable must agree.
    ///
    /// ```
    /// use slopp::{Var, infer::Evidence};
    /// assert!(Evidence::from_lits(2, [Var(0).is(true)]).is_ok());
    /// assert!(Evidence::from_lits(2, [Var(0).is(true), Var(0).is(false)]).is_err());
    /// ```
    pub fn from_lits(len: usize, lits: impl IntoIterator<Item = Lit>) -> Result<Evidence, QueryError> {
        let mut evidence = Evidence::none(len);
        for Lit { var, value } in lits {
            if var.index() >= len {
                return Err(QueryError::UnknownVariable { variable: var.number(), variables: len });
            }
            if evidence.value(var) == Some(!value) {
                return Err(QueryError::Contradiction { variable: var.number() });
            }
            evidence.set(var, Some(value));
        }
        Ok(evidence)
    }

    /// The cells of a row of records; missing cells are unknown.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn from_row(records: &Records, row: usize) -> Evidence {
        let mut evidence = Evidence::none(records.var_count());
        for (i, cell) in records.row(row).enumerate() {
            evidence.set(Var(i as u32), cell);
        }
        evidence
    }

    /// Sets the value of a variable, or makes it unknown with `None`.
    ///
    /// # Panics
    /// If there is no such variable, as does [`Evidence::value`].
    pub fn set(&mut self, var: Var, value: Option<bool>) {
        assert!(var.index() < self.len, "no such variable");
        let (word, bit) = (var.index() / 64, 1 << (var.index() % 64));
        self.known[word] &= !bit;
        self.value[word] &= !bit;
        if let Some(value) = value {
            self.known[word] |= bit;
            self.value[word] |= if value { bit } else { 0 };
        }
    }

    /// The value of a variable, if known.
    pub fn value(&self, var: Var) -> Option<bool> {
        assert!(var.index() < self.len, "no such variable");
        bit_of(&self.known, var.index()).then(|| bit_of(&self.value, var.index()))
    }

    /// Whether the value of a column is known: that of its variable, or which one of several it is.
    pub fn knows(&self, column: Column<'_>) -> bool {
        let unknown = column.vars().filter(|&var| self.value(var).is_none()).count();
        match column {
            Column::Boolean(_) => unknown == 0,
            // Exactly one is true, so it is the one that is left.
            Column::Group(group) => unknown <= 1 || group.vars().any(|var| self.value(var) == Some(true)),
        }
    }

    /// Whether a literal agrees with what is known.
    pub fn allows(&self, lit: Lit) -> bool {
        self.value(lit.var) != Some(!lit.value)
    }

    /// The same evidence without literals that follow from the value of their column.
    ///
    /// So a distance from it counts a column once, however many variables a new value changes.
    pub fn by_column(&self, names: &Names) -> Evidence {
        let mut evidence = self.clone();
        for group in names.groups().iter().filter(|group| group.vars().any(|var| self.value(var) == Some(true))) {
            let denied = group.vars().filter(|&var| self.value(var) == Some(false));
            denied.for_each(|var| evidence.set(var, None));
        }
        evidence
    }

    /// The number of variables, known or not.
    pub fn var_count(&self) -> usize {
        self.len
    }

    /// The number of known variables.
    pub fn known_count(&self) -> usize {
        self.known.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The known literals, by variable.
    pub fn lits(&self) -> impl Iterator<Item = Lit> {
        crate::data::ones(&self.known).map(|i| Var(i as u32).is(bit_of(&self.value, i)))
    }

    /// The conjunction, or `None` if they contradict each other.
    pub(crate) fn and(&self, other: &Evidence) -> Option<Evidence> {
        let words = || self.known.iter().zip(&other.known).zip(self.value.iter().zip(&other.value));
        if words().any(|((a, b), (x, y))| a & b & (x ^ y) != 0) {
            return None;
        }
        Some(Evidence {
            len: self.len,
            known: words().map(|((a, b), _)| a | b).collect(),
            value: words().map(|(_, (x, y))| x | y).collect(),
        })
    }

    /// The evidence as text; [`Evidence::parse`] reads it back.
    ///
    /// # Panics
    /// When printed, if there are fewer names than variables.
    pub fn display<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| {
            for (i, lit) in self.lits().enumerate() {
                write!(f, "{}{}", if i == 0 { "" } else { ", " }, names.literal(lit))?;
            }
            Ok(())
        })
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
        assert_eq!(parse("  "), Ok(vec![]));
        assert_eq!(parse("smoker, note, "), Ok(vec![1, 4]));
        assert_eq!(parse("smoker=?, note"), Ok(vec![4]));
    }

    #[test]
    fn printed_evidence_reads_back() {
        let names = names();
        let evidence = Evidence::parse("smoker, !a b, !\"x,y\", note=0, not", &names).unwrap();
        let text = evidence.display(&names).to_string();
        assert_eq!(text, "smoker, !\"a b\", !\"x,y\", !note, not");
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
            ("color=", "column 1: column \"color\" has several values"),
            ("color=red, color=0", "column 12: \"color\" is both \"red\" and \"0\""),
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
            ("smoker,,", "column 8: expected a variable or \"(\", found ','"),
            ("!", "column 2: expected a variable or \"(\", found the end"),
            ("smoker & ", "column 10: expected a variable or \"(\", found the end"),
            (",smoker", "column 1: expected a variable or \"(\", found ','"),
            ("smoker=maybe", "column 8: expected one of 1, 0, true"),
            ("smoker=\"1\"", "column 8: expected one of 1, 0, true, false, yes, no, or ? for unknown, found '\"'"),
            ("\"smoker", "column 1: this quote is not closed"),
            ("\"smoker\" x", "column 10: expected an operator"),
            (
                "smoker note, not",
                "column 8: an operator is missing between smoker and note; literals are separated by commas: write it like \"smoker, note\"",
            ),
            ("!smoker !note", "write it like \"!smoker, !note\""),
            ("smoker and note", "write & for and"),
            (
                "smoker, note, !smoker",
                "column 16: variable \"smoker\" is both true and false, which is impossible; see column 1,",
            ),
            ("(smoker) & !smoker", "column 13: variable \"smoker\" is both"),
            ("smoker | note", "column 1: only literals can be given here"),
            ("é, smokr", "column 1: there is no variable \"é\""),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let contradiction = Evidence::from_lits(2, [Var(1).is(true), Var(1).is(false)]).unwrap_err();
        assert!(contradiction.to_string().contains("variable 2 is both"), "{contradiction}");
        assert!(Evidence::from_lits(1, [Var(1).is(true)]).is_err());
    }
}
