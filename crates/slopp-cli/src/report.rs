//! Numbers, tables and JSON values as people and programs like to read them.

use serde_json::{Map, Value};
use slopp::fidelity::{Deviation, Fidelity};
use slopp::infer::Score;
use slopp::names::{Column, Group, abridged, visible};
use slopp::{Lit, Names, Var};
use std::borrow::Cow;
use std::fmt;
use unicode_width::UnicodeWidthStr;

/// A JSON object whose keys keep the order they are given in.
pub fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Value {
    Value::Object(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<Map<_, _>>())
}

/// A number in full precision; what JSON cannot say (−∞, NaN) is null.
pub fn json(number: f64) -> Value {
    serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
}

/// Numbers in full precision.
pub(crate) fn json_list(numbers: impl IntoIterator<Item = f64>) -> Value {
    numbers.into_iter().map(json).collect()
}

/// A total weight, which is a whole number unless weights are not.
pub fn json_count(count: f64) -> Value {
    if count.fract() == 0.0 && count < 9e15 { Value::from(count as u64) } else { json(count) }
}

/// A world as an object from columns to values: true or false, or the value of a column that has several.
pub(crate) fn json_world(names: &Names, world: &[bool]) -> Value {
    let cells = names.columns().zip(names.cells(world));
    object(cells.map(|(column, cell)| {
        let value = match column {
            Column::Boolean(var) => Value::Bool(world[var.index()]),
            Column::Group(_) => Value::from(cell),
        };
        (names.column_name(column), value)
    }))
}

/// Literals as an object from names to values.
pub(crate) fn json_literals(names: &Names, lits: &[Lit]) -> Value {
    object(lits.iter().map(|lit| (names.of(lit.var), Value::Bool(lit.value))))
}

/// Literals as an object from columns to their values; where a column does not have a value, its variable says so.
pub(crate) fn json_changes(names: &Names, changes: &[Lit]) -> Value {
    object(names.by_column(changes).into_iter().map(|lit| match names.group_of(lit.var).filter(|_| lit.value) {
        Some(group) => (group.name(), Value::from(&names.of(lit.var)[group.name().len() + 1..])),
        None => (names.of(lit.var), Value::Bool(lit.value)),
    }))
}

/// Changes in words: how many cells, and what they become.
pub(crate) fn changes_in_words(names: &Names, changes: &[Lit], word: &str) -> String {
    let words: Vec<String> = names.by_column(changes).into_iter().map(|lit| names.literal(lit)).collect();
    format!("{} to {}", counted(words.len(), word), words.join(", "))
}

/// A whole number with its digits in groups of three, any other number with three decimals, or three digits where
/// decimals would say next to nothing.
pub fn count(number: f64) -> String {
    match number.abs() {
        small if 0.0 < small && small < 0.01 => format!("{number:.2e}"),
        _ if number.fract() == 0.0 => grouped(&format!("{number:.0}")),
        _ => grouped(&format!("{number:.3}")),
    }
}

/// How many digits before the point people read.
const MOST_DIGITS: usize = 20;

/// A number, given by its digits, in groups of three before the point, or three digits and an exponent where it has too
/// many to read; minus nothing is nothing.
pub(crate) fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (whole, decimals) = digits.find('.').map_or((digits, ""), |point| digits.split_at(point));
    if whole.len() > MOST_DIGITS {
        let (exponent, first) = (whole.len() - 1, format!("0.{}", &whole[..MOST_DIGITS]));
        let first = 10.0 * first.parse::<f64>().unwrap_or(0.0);
        let (first, exponent) = if first >= 9.995 { (1.0, exponent + 1) } else { (first, exponent) };
        return format!("{sign}{first:.2}e{exponent}");
    }
    let mut text = if digits.contains(|c| ('1'..='9').contains(&c)) { sign.to_owned() } else { String::new() };
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text + decimals
}

/// How many of something, with the word in the right number.
pub fn counted(number: usize, word: &str) -> String {
    format!("{} {word}{}", count(number as f64), if number == 1 { "" } else { "s" })
}

/// So many records.
pub(crate) fn records(number: f64) -> String {
    format!("{} record{}", count(number), if number == 1.0 { "" } else { "s" })
}

/// `is` or `are`, for a number of things.
pub(crate) fn is_or_are(number: f64) -> &'static str {
    if number == 1.0 { "is" } else { "are" }
}

/// Some words, and how many more there are if they are too many to read.
pub(crate) fn some_of<S: AsRef<str>>(words: &[S]) -> String {
    const SHOWN: usize = 40;
    let mut shown: Vec<&str> = words.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let more = format!("and {} more (--json has all)", count(words.len().saturating_sub(SHOWN) as f64));
    if words.len() > SHOWN {
        shown.push(&more);
    }
    shown.join(", ")
}

/// A probability, given by its logarithm, with four significant digits, also where plain numbers underflow.
pub(crate) fn probability_of(log: f64) -> String {
    if log.exp() >= f64::MIN_POSITIVE || log == f64::NEG_INFINITY {
        return probability(log.exp());
    }
    scientific(log, 3)
}

/// A probability, given by its logarithm, in full precision.
pub(crate) fn full_probability(log: f64) -> String {
    match log.exp() {
        p if log == f64::NEG_INFINITY || p >= f64::MIN_POSITIVE => full(p),
        _ => scientific(log, 12),
    }
}

/// A probability in full precision.
pub(crate) fn full(p: f64) -> String {
    if p == 0.0 || p >= 1e-4 { p.to_string() } else { format!("{p:e}") }
}

fn scientific(log: f64, decimals: usize) -> String {
    let log = log / std::f64::consts::LN_10;
    let mantissa = format!("{:.decimals$}", 10f64.powf(log - log.floor()));
    match mantissa.strip_prefix("10") {
        Some(rest) => format!("1{rest}e{}", log.floor() + 1.0),
        None => format!("{mantissa}e{}", log.floor()),
    }
}

/// A probability with four significant digits, also near one.
pub(crate) fn probability(p: f64) -> String {
    if p == 0.0 || p == 1.0 {
        format!("{p:.0}")
    } else if p < 1e-4 {
        format!("{p:.3e}")
    } else if p > 0.9999 {
        format!("1 - {:.3e}", 1.0 - p)
    } else {
        format!("{p:.4}")
    }
}

/// A logarithm, or minus infinity.
pub fn logarithm(x: f64) -> String {
    if x == f64::NEG_INFINITY { "-inf".to_owned() } else { grouped(&format!("{x:.4}")) }
}

/// A world as people read it: what is true, by name.
pub(crate) fn world(names: &Names, world: &[bool]) -> String {
    let literals: Vec<Lit> = world.iter().enumerate().map(|(i, &value)| Var(i as u32).is(value)).collect();
    names.by_column(&literals).into_iter().map(|lit| names.literal(lit)).collect::<Vec<_>>().join(", ")
}

/// A world as an example, abridged if it is very long.
pub(crate) fn example_world(names: &Names, values: &[bool]) -> String {
    const MOST: usize = 4000;
    let text = world(names, values);
    if text.len() <= MOST { text } else { format!("{} (--json has all of it)", abridged(&text)) }
}

/// A world in the middle of a sentence: literals while they are few, then only what is true, then only how much is.
pub(crate) fn short_world(names: &Names, values: &[bool]) -> String {
    const FEW: usize = 24;
    let true_count = values.iter().filter(|value| **value).count();
    match (values.len(), true_count) {
        (..=FEW, _) => format!("the world {}", world(names, values)),
        (_, ..=FEW) => format!("the world in which only {} is true", trues(names, values)),
        (all, some) => {
            format!("a world in which {some} of {all} variables are true (`slopp validate --json` lists them)")
        }
    }
}

/// The columns with several values, if there are any: of each how many it has.
pub(crate) fn columns_in_words(names: &Names) -> Option<String> {
    let groups = names.groups().iter();
    let words: Vec<String> =
        groups.map(|group| format!("{} ({})", group.name(), counted(group.vars().len(), "value"))).collect();
    (!words.is_empty()).then(|| format!("one value each: {}", some_of(&words)))
}

/// The columns with several values as an object from names to values, if there are any.
pub(crate) fn columns_document(names: &Names) -> Option<Value> {
    let values = |group: &Group| group.values().map(|(_, value)| Value::from(value)).collect();
    let document = object(names.groups().iter().map(|group| (group.name(), values(group))));
    (!names.groups().is_empty()).then_some(document)
}

/// The name of a column as evidence reads it.
pub(crate) fn quoted_column(names: &Names, column: Column<'_>) -> String {
    names.list(&column.vars().collect::<Vec<_>>())
}

/// Only what is true in a world, by name.
pub(crate) fn trues(names: &Names, world: &[bool]) -> String {
    let vars = world.iter().enumerate().filter(|(_, value)| **value).map(|(i, _)| Var(i as u32));
    let found: Vec<Cow<'_, str>> = vars.map(|var| names.quoted(var)).collect();
    if found.is_empty() { "nothing".to_owned() } else { found.join(", ") }
}

/// Lines of cells, aligned in columns: the first to the left, the others to the right.
#[derive(Default)]
pub struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    /// A table with a line of titles.
    pub fn titled<C: Into<String>>(titles: impl IntoIterator<Item = C>) -> Table {
        let mut table = Table::default();
        table.push(titles);
        table
    }

    /// Adds a line.
    pub fn push<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let shown = |cell: C| match cell.into() {
            cell if matches!(visible(&cell), Cow::Borrowed(_)) => cell,
            cell => visible(&cell).into_owned(),
        };
        self.lines.push(cells.into_iter().map(shown).collect());
    }

    /// All lines, that of the titles first.
    pub fn lines(&self) -> &[Vec<String>] {
        &self.lines
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let wide = |column: usize| self.lines.iter().filter_map(|l| l.get(column)).map(|c| c.width()).max();
        let widths: Vec<usize> = (0..columns).map(|column| wide(column).unwrap_or(0)).collect();
        for line in &self.lines {
            let mut text = String::new();
            for (i, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                let room = " ".repeat(width - cell.width());
                text += &if i == 0 { format!("{cell}{room}") } else { format!("  {room}{cell}") };
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// Names with values below each other, the values aligned.
pub(crate) fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, String)>) -> impl fmt::Display {
    let facts: Vec<(&str, String)> = facts.into_iter().collect();
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, value): &(&str, String)| format!("{name:<width$}  {}", visible(value));
    let lines: Vec<String> = facts.iter().map(line).collect();
    lines.join("\n")
}

/// A score by the keys that scripts rely on.
pub fn score_entries(score: &Score) -> Vec<(&'static str, Value)> {
    let or_null = |log: Option<f64>| log.map_or(Value::Null, json);
    vec![
        ("records", json_count(score.records)),
        ("impossible", json_count(score.impossible)),
        ("log_likelihood", or_null(score.sum())),
        ("log_likelihood_per_record", or_null(score.per_record())),
        ("log_likelihood_per_possible_record", or_null(score.per_possible())),
    ]
}

/// A conditional probability that was compared, as text.
pub(crate) fn conditional(deviation: &Deviation, names: &Names) -> String {
    let given: Vec<String> = deviation.given.iter().map(|&lit| names.literal(lit)).collect();
    format!("P({} | {})", names.literal(deviation.value), given.join(", "))
}

/// The agreement of a model with records by the keys that scripts rely on.
pub(crate) fn fidelity_document(fidelity: &Fidelity, names: &Names) -> Value {
    let worst = |worst: &Deviation| {
        object([
            ("conditional", Value::from(conditional(worst, names))),
            ("probability", json(worst.probability)),
            ("share", json(worst.share)),
            ("records", json_count(worst.support)),
        ])
    };
    object([
        ("conditionals", Value::from(fidelity.conditionals)),
        ("left_out", Value::from(fidelity.left_out)),
        ("mean", json(fidelity.mean)),
        ("largest", json(fidelity.largest())),
        ("worst", fidelity.worst.iter().map(worst).collect()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(1234567.0), "1 234 567");
        assert_eq!(count(100.0), "100");
        assert_eq!([count(1e300), count(-1.5e250)], ["1.00e300", "-1.50e250"]);
        assert_eq!(["9", "1"].map(|digit| grouped(&digit.repeat(25))), ["1.00e25", "1.11e24"]);
        assert_eq!(logarithm(-2e30), "-2.00e30");
        assert_eq!([count(-0.0), count(-1234.0), count(12345.5)], ["0", "-1 234", "12 345.500"]);
        assert_eq!([logarithm(-0.0), logarithm(-1959.9931)], ["0.0000", "-1 959.9931"]);
        assert_eq!([probability_of(-1275.0), probability_of(f64::NEG_INFINITY)], ["1.882e-554", "0"]);
        assert_eq!(probability_of(0.25f64.ln()), "0.2500");
        assert_eq!(scientific(-1000.0 * std::f64::consts::LN_10, 3), "1.000e-1000");
        assert_eq!([full_probability((1.0f64 / 3.0).ln()), full_probability(-1e3)].map(|p| p.len() > 12), [true; 2]);
        assert_eq!([full(0.0), full(0.5), full(1.5e-9)], ["0", "0.5", "1.5e-9"]);
        assert_eq!(count(2.5), "2.500");
        assert_eq!([probability(0.0), probability(1.0), probability(0.25)], ["0", "1", "0.2500"]);
        assert_eq!(probability(1.5e-7), "1.500e-7");
        assert_eq!(probability(1.0 - 1e-6), "1 - 1.000e-6");
        assert_eq!(json(f64::NEG_INFINITY), Value::Null);
    }

    #[test]
    fn long_worlds_are_told_shortly() {
        let names = Names::numbered(30);
        let words = |trues: usize| short_world(&names, &(0..30).map(|i| i < trues).collect::<Vec<_>>());
        assert_eq!(words(2), "the world in which only x1, x2 is true");
        assert_eq!(words(29), "a world in which 29 of 30 variables are true (`slopp validate --json` lists them)");
        assert_eq!(short_world(&Names::numbered(2), &[true, false]), "the world x1, !x2");
    }

    #[test]
    fn worlds_are_examples_while_they_are_short() {
        let words = |len: usize| example_world(&Names::numbered(len), &vec![true; len]);
        assert_eq!(words(2), "x1, x2");
        assert!(words(100).ends_with(", x100") && words(10_000).ends_with("x10000 (--json has all of it)"));
        assert!(words(10_000).len() < 300);
    }

    #[test]
    fn tables_are_aligned() {
        let mut table = Table::titled(["name", "p"]);
        table.push(["a", "0.25"]);
        assert_eq!(table.to_string(), "name     p\na     0.25\n");
        let mut wide = Table::titled(["名前", "p"]);
        wide.push(["abcd", "1"]);
        assert_eq!(wide.to_string(), "名前  p\nabcd  1\n");
    }
}
