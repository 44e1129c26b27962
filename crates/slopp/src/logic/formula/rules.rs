//! Rules: a conjunction of formulas, each with its text and line; also rules seen in records.

use super::error::FormulaError;
use super::lexer::{Lexer, begins_with_operator, ends_with_operator};
use super::vocabulary::Vocabulary;
use super::{Comparison, Formula, Op, parser};
use crate::data::Records;
use crate::logic::error::LogicError;
use crate::names::{Group, NameError, Names, visible_json};
use crate::var::Var;
use std::ops::Range;
use std::sync::Arc;

/// A formula with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The formula.
    pub formula: Formula,
    /// Its text; empty if it was not read.
    pub text: String,
    /// Its first line, from one; zero if it was not read.
    pub line: usize,
}

/// A conjunction of formulas over named variables.
///
/// A file of rules has one per line. `#` starts a comment, blank lines are skipped. A rule continues on the next line
/// while a parenthesis is open, after or before an operator, and after `\` at the end.
///
/// ```
/// use slopp::logic::Rules;
/// let rules = Rules::parse("# one colour\nexactly(1, red, green)\nred -> hot  # always\n")?;
/// assert_eq!(rules.names().iter().collect::<Vec<_>>(), ["red", "green", "hot"]);
/// assert_eq!((rules[1].line, rules[1].text.as_str()), (3, "red -> hot"));
/// assert_eq!(rules.broken_by(&[true, false, false]), [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    names: Arc<Names>,
    rules: Vec<Rule>,
}

impl Rules {
    /// Rules without text.
    ///
    /// # Panics
    /// If a variable has no name.
    pub fn new(names: impl Into<Arc<Names>>, formulas: impl IntoIterator<Item = Formula>) -> Rules {
        let rules = formulas.into_iter().map(|formula| Rule { formula, text: String::new(), line: 0 });
        Rules::with_origin(names, rules.collect())
    }

    /// Rules with their texts and lines.
    ///
    /// # Panics
    /// If a variable has no name.
    pub(crate) fn with_origin(names: impl Into<Arc<Names>>, mut rules: Vec<Rule>) -> Rules {
        let names = names.into();
        for rule in &mut rules {
            let known = rule.formula.vars().last().is_none_or(|var| var.index() < names.len());
            assert!(known, "every variable has a name");
            if rule.text.is_empty() {
                rule.text = rule.formula.display(&names).to_string();
            }
        }
        Rules { names, rules }
    }

    /// Reads rules; the variables are the names that occur, in this order.
    ///
    /// A comment line `# names ["a", "b"]` puts names first, including variables that no rule mentions.
    ///
    /// ```
    /// use slopp::logic::Rules;
    /// let rules = Rules::parse("# names [\"cold\", \"hot\"]\nred -> hot")?;
    /// assert_eq!(rules.names().iter().collect::<Vec<_>>(), ["cold", "hot", "red"]);
    /// # Ok::<(), slopp::logic::FormulaError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Rules, FormulaError> {
        let mut vocabulary = Vocabulary::collected();
        for name in named(text).into_iter().filter(|name| !name.is_empty()) {
            vocabulary.find(&name).expect("any name will do");
        }
        let rules = read(text, &mut vocabulary)?;
        let names = vocabulary.into_names().expect("collected");
        Ok(Rules { names: Arc::new(Names::new(names).expect("collected once each")), rules })
    }

    /// Reads rules over these names.
    pub fn parse_with(text: &str, names: impl Into<Arc<Names>>) -> Result<Rules, FormulaError> {
        let names = names.into();
        let rules = read(text, &mut Vocabulary::known(&names, false))?;
        Ok(Rules { names, rules })
    }

    /// A rule for each column with several values: exactly one holds.
    ///
    /// ```
    /// use slopp::logic::Rules;
    /// use slopp::{Kind, Names};
    /// let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    /// let rules = Rules::of_columns(Names::of_columns([("color".into(), colors)])?);
    /// assert_eq!(rules[0].text, "exactly(1, color=green, color=red)");
    /// # Ok::<(), slopp::NameError>(())
    /// ```
    pub fn of_columns(names: impl Into<Arc<Names>>) -> Rules {
        let names = names.into();
        let one = |group: &Group| {
            Formula::count(Comparison::Exactly, 1, group.vars().map(|var| Formula::literal(var.is(true))))
        };
        let formulas: Vec<Formula> = names.groups().iter().map(one).collect();
        Rules::new(names, formulas)
    }

    /// For each named group of variables, the rule that their values occur together in some record: [`Formula::seen`].
    pub fn seen(records: &Records, groups: impl IntoIterator<Item = (String, Vec<Var>)>) -> Rules {
        let rule = |(text, mut vars): (String, Vec<Var>)| {
            vars.sort_unstable();
            vars.dedup();
            Rule { formula: Formula::seen(records, &vars), text, line: 0 }
        };
        Rules::with_origin(records.names().clone(), groups.into_iter().map(rule).collect())
    }

    /// These rules and those of columns with several values.
    pub fn with_columns(mut self) -> Rules {
        self.rules.extend(Rules::of_columns(self.names.clone()).rules);
        self
    }

    /// The same rules over other names, among which each of theirs must be.
    ///
    /// ```
    /// use slopp::{Names, Var, logic::Rules};
    /// let names = Names::new(vec!["a".into(), "b".into()])?.into();
    /// let rules = Rules::parse("b -> a")?.over(&names)?;
    /// assert_eq!(rules, Rules::parse_with("b -> a", names)?);
    /// # Ok::<(), slopp::Error>(())
    /// ```
    pub fn over(&self, names: &Arc<Names>) -> Result<Rules, NameError> {
        if self.names.iter().eq(names.iter()) {
            return Ok(Rules { names: names.clone(), rules: self.rules.clone() });
        }
        let vars: Vec<Var> = self.names.iter().map(|name| names.find(name)).collect::<Result<_, _>>()?;
        let renamed =
            |rule: &Rule| Rule { formula: Formula::map_vars(&rule.formula, |var| vars[var.index()]), ..rule.clone() };
        Ok(Rules { names: names.clone(), rules: self.rules.iter().map(renamed).collect() })
    }

    /// The same rules over the variables that they mention, or one variable if they mention none, and how many others
    /// there are.
    ///
    /// ```
    /// use slopp::logic::Rules;
    /// let rules = Rules::parse("# names [\"cold\", \"hot\"]\nred -> hot")?;
    /// let (mentioned, others) = rules.over_mentioned();
    /// assert_eq!((mentioned.names().iter().collect::<Vec<_>>(), others), (vec!["hot", "red"], 1));
    /// # Ok::<(), slopp::logic::FormulaError>(())
    /// ```
    pub fn over_mentioned(&self) -> (Rules, usize) {
        let mut place = vec![None; self.names.len()];
        let mut vars: Vec<Var> = self.rules.iter().flat_map(|rule| rule.formula.vars()).collect();
        vars.sort_unstable();
        vars.dedup();
        if vars.is_empty() && !self.names.is_empty() {
            vars.push(Var(0));
        }
        vars.iter().zip(0..).for_each(|(var, i)| place[var.index()] = Some(Var(i)));
        let names = vars.iter().map(|&var| self.names.of(var).to_owned()).collect();
        let map = |var: Var| place[var.index()].expect("mentioned");
        let rule = |rule: &Rule| Rule { formula: Formula::map_vars(&rule.formula, map), ..rule.clone() };
        let names = Arc::new(Names::new(names).expect("some of different names"));
        (Rules { names, rules: self.rules.iter().map(rule).collect() }, self.names.len() - vars.len())
    }

    /// The names of the variables.
    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// How many variables there are.
    pub fn var_count(&self) -> usize {
        self.names.len()
    }

    /// Refuses rules without variables.
    pub fn check_variables(&self) -> Result<(), LogicError> {
        if self.names.is_empty() { Err(LogicError::NoVariables { rules: self.rules.len() }) } else { Ok(()) }
    }

    /// The positions of the rules that a complete world breaks.
    pub fn broken_by(&self, world: &[bool]) -> Vec<usize> {
        (0..self.rules.len()).filter(|&i| !self.rules[i].formula.is_satisfied_by(world)).collect()
    }

    /// The positions of the rules that known cells break, whatever the others are.
    ///
    /// ```
    /// use slopp::logic::Rules;
    /// let rules = Rules::parse("red | green\nred -> hot")?;
    /// let red_but_not_hot = [Some(true), None, Some(false)];
    /// assert_eq!(rules.broken_by_known(|var| red_but_not_hot[var.index()]), [1]);
    /// # Ok::<(), slopp::logic::FormulaError>(())
    /// ```
    pub fn broken_by_known(&self, known: impl Fn(Var) -> Option<bool>) -> Vec<usize> {
        (0..self.rules.len()).filter(|&i| self.rules[i].formula.value(&known) == Some(false)).collect()
    }

    /// The comment line with the names, needed if some variable is in none of the rules.
    pub fn names_line(&self) -> Option<String> {
        let mut is_named = vec![false; self.names.len()];
        self.rules.iter().flat_map(|rule| rule.formula.vars()).for_each(|var| is_named[var.index()] = true);
        is_named.contains(&false).then(|| {
            let names: Vec<&str> = self.names.iter().collect();
            let list = serde_json::Value::from(names).to_string();
            format!("{NAMES}{}", visible_json(&list))
        })
    }

    /// All rules as one formula.
    pub fn formula(&self) -> Formula {
        Formula::and(self.rules.iter().map(|rule| rule.formula.clone()))
    }
}

impl std::ops::Deref for Rules {
    type Target = [Rule];

    fn deref(&self) -> &[Rule] {
        &self.rules
    }
}

/// Comes before the names in a comment line.
const NAMES: &str = "# names ";

/// The names in comment lines; a malformed one is an ordinary comment.
fn named(text: &str) -> Vec<String> {
    let lists = text.lines().filter_map(|line| line.trim_start_matches('\u{feff}').trim_start().strip_prefix(NAMES));
    lists.filter_map(|list| serde_json::from_str::<Vec<String>>(list).ok()).flatten().collect()
}

fn read(text: &str, vocabulary: &mut Vocabulary<'_>) -> Result<Vec<Rule>, FormulaError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rules = Vec::new();
    for (line, part, shown) in parts(text) {
        let (formula, _) = parser::parse(Lexer::new(text, part, true), vocabulary)?;
        rules.push(Rule { formula, text: shown, line });
    }
    Ok(rules)
}

/// The parts of a text with one rule each, their first lines, and their shown text.
fn parts(text: &str) -> Vec<(usize, Range<usize>, String)> {
    let mut parts: Vec<(usize, Range<usize>, String)> = Vec::new();
    let mut open: Option<(usize, usize, String)> = None;
    let (mut depth, mut start) = (0usize, 0);
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let end = start + line.len();
        let mut quoted = false;
        let mut content = line.len();
        for (at, c) in line.char_indices() {
            match c {
                '"' => quoted = !quoted,
                '#' if !quoted => {
                    content = at;
                    break;
                }
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let content = line[..content].trim();
        let (continued, words) = match content.strip_suffix('\\') {
            Some(words) => (true, words.trim_end()),
            None => (depth > 0, content),
        };
        if open.is_none() && begins_with_operator(content) {
            open = parts.pop().map(|(line, part, shown)| (line, part.start, shown));
        }
        if !words.is_empty() || open.is_some() {
            let (_, _, shown) = open.get_or_insert((i + 1, start, String::new()));
            if !shown.is_empty() && !words.is_empty() {
                shown.push(' ');
            }
            shown.push_str(words);
            if !continued && !ends_with_operator(shown) {
                let (line, from, shown) = open.take().expect("just put there");
                parts.push((line, from..end, shown));
                depth = 0;
            }
        }
        start = end;
    }
    if let Some((line, from, shown)) = open {
        parts.push((line, from..text.len(), shown));
    }
    parts
}

impl Formula {
    /// That these variables have values which some record has: combinations that were not seen do not occur.
    ///
    /// A record with missing cells shows every way to fill them in. The formula is a decision tree over the variables
    /// in the given order, with at most distinct rows × variables nodes; it compiles fastest in the order of the vtree.
    ///
    /// ```
    /// use slopp::logic::Formula;
    /// use slopp::{Names, Records, Var};
    /// let records = Records::from_rows(Names::numbered(3), [[true, false, true], [false, true, true]]);
    /// let seen = Formula::seen(&records, &[Var(0), Var(1)]);
    /// assert!(seen.is_satisfied_by(&[true, false, false]), "nothing is said of the third");
    /// assert!(!seen.is_satisfied_by(&[true, true, true]), "never seen together");
    /// ```
    pub fn seen(records: &Records, vars: &[Var]) -> Formula {
        if records.is_empty() {
            return Formula::constant(false);
        }
        let mut ops = Vec::new();
        // The rest to write, last first.
        let mut stack = vec![Part::Rows { rows: (0..records.len() as u32).collect(), position: 0, value: None }];
        while let Some(part) = stack.pop() {
            let (rows, mut position, value) = match part {
                Part::Op(op) => {
                    ops.push(op);
                    continue;
                }
                Part::Rows { rows, position, value } => (rows, position, value),
            };
            let mut operands = 0;
            let mut literal = |position: usize, value: bool| {
                ops.push(Op::Var(vars[position]));
                ops.extend((!value).then_some(Op::Not));
                operands += 1;
            };
            if let Some(value) = value {
                literal(position - 1, value);
            }
            // As long as only one value was seen, it is one conjunction.
            let mut sides = None;
            while position < vars.len() && sides.is_none() {
                let [no, yes] = [false, true].map(|value| {
                    let fits = |row: &u32| records.cell(*row as usize, vars[position]).is_none_or(|cell| cell == value);
                    rows.iter().copied().filter(fits).collect::<Vec<_>>()
                });
                match (no.is_empty(), yes.is_empty()) {
                    (false, false) => sides = Some([no, yes]),
                    (is_true, _) => literal(position, is_true),
                }
                position += 1;
            }
            operands += u32::from(sides.is_some());
            match operands {
                0 => stack.push(Part::Op(Op::Constant(true))),
                1 => {}
                _ => stack.push(Part::Op(Op::And(operands))),
            }
            if let Some([no, yes]) = sides {
                stack.push(Part::Op(Op::Or(2)));
                stack.push(Part::Rows { rows: yes, position, value: Some(true) });
                stack.push(Part::Rows { rows: no, position, value: Some(false) });
            }
        }
        Formula { ops }
    }
}

/// A part of a formula still to be written.
enum Part {
    /// A step as it is.
    Op(Op),
    /// The values that rows with a common prefix show from a position on, with their value just before it.
    Rows { rows: Vec<u32>, position: usize, value: Option<bool> },
}
