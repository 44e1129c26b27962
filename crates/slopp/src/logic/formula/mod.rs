//! Formulas as text: `smoker & !(cancer | xray)`.
//!
//! Here: the [`Formula`], its text, its value in a world, and [`Rules`], a conjunction of formulas with their lines.
//! [`Rules::compile`] makes diagrams of them.

mod clauses;
mod error;
mod lexer;
mod parser;
mod rules;
mod vocabulary;

pub use error::{FormulaError, FormulaProblem};
pub use rules::{Rule, Rules};

use crate::names::{Names, quote};
use crate::var::{Lit, Var};
use lexer::{Lexer, is_plain};
use std::fmt;
use std::ops::Range;
use vocabulary::Vocabulary;

/// A step of a formula in postfix order: operands come before the step that joins them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// True or false in every world.
    Constant(bool),
    /// The value of a variable.
    Var(Var),
    /// The negation of the last operand.
    Not,
    /// The conjunction of this many operands, at least two.
    And(u32),
    /// The disjunction of this many operands, at least two.
    Or(u32),
    /// Whether an odd number of this many operands holds, at least two.
    Xor(u32),
    /// The last operand but one implies the last.
    Implies,
    /// The last two operands have the same value.
    Iff,
    /// How many of this many operands hold.
    Count(Comparison, u32, u32),
}

/// How a number of true operands is compared with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `exactly(k, …)`
    Exactly,
    /// `at_most(k, …)`
    AtMost,
    /// `at_least(k, …)`
    AtLeast,
}

impl Comparison {
    /// Whether a number of true operands satisfies the bound.
    pub fn holds(self, number: u32, bound: u32) -> bool {
        match self {
            Comparison::Exactly => number == bound,
            Comparison::AtMost => number <= bound,
            Comparison::AtLeast => number >= bound,
        }
    }

    /// Its word in texts.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Exactly => "exactly",
            Comparison::AtMost => "at_most",
            Comparison::AtLeast => "at_least",
        }
    }
}

impl Op {
    /// The number of operands of the step.
    pub(crate) fn arity(self) -> usize {
        match self {
            Op::Constant(_) | Op::Var(_) => 0,
            Op::Not => 1,
            Op::Implies | Op::Iff => 2,
            Op::And(n) | Op::Or(n) | Op::Xor(n) | Op::Count(_, _, n) => n as usize,
        }
    }
}

/// A propositional formula over variables.
///
/// Stored as steps in postfix order, so nothing recurses however deep the formula is. Nested conjunctions are one
/// conjunction, likewise `|` and `^`; everything else stays as written.
///
/// | written | means | binds |
/// |---|---|---|
/// | `!a`, also `~a`, `-a`, `¬a`, `not a` | not | tightest |
/// | `a & b`, also `&&`, `∧` | and | |
/// | `a ^ b`, also `⊕` | either, not both; of many: an odd number | |
/// | `a \| b`, also `\|\|`, `∨` | or | |
/// | `a -> b`, also `=>`, `→` | if a then b; `a -> b -> c` is `a -> (b -> c)` | |
/// | `a <-> b`, also `<=>`, `↔` | both or neither | |
/// | `a, b` | and; not inside parentheses | loosest |
/// | `exactly(2, a, b, c)`, `at_most(…)`, `at_least(…)` | how many of the formulas hold | |
/// | `true`, `false` | | |
///
/// A name needs double quotes if it has blanks or could be read as something else; `x=1` and `x=0` (also true, false,
/// yes, no) are `x` and `!x`; `color=red` is the variable of that name, and `color!=red` its negation.
///
/// ```
/// use slopp::Names;
/// use slopp::logic::Formula;
/// let names = Names::new(["smoker", "cancer", "x ray"].map(String::from).to_vec())?;
/// let formula = Formula::parse("smoker & !(cancer | \"x ray\")", &names)?;
/// assert!(formula.is_satisfied_by(&[true, false, false]));
/// assert!(!formula.is_satisfied_by(&[true, true, false]));
/// assert_eq!(formula.display(&names).to_string(), "smoker & !(cancer | \"x ray\")");
/// let error = Formula::parse("smoker -> cancr", &names).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "column 11: there is no variable \"cancr\"; did you mean \"cancer\"?\n  smoker -> cancr\n            ^^^^^"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Formula {
    ops: Vec<Op>,
}

impl Formula {
    /// Reads a formula over these names.
    ///
    /// All evidence, as [`crate::infer::Evidence::parse`] reads it, is a formula with the same meaning.
    pub fn parse(text: &str, names: &Names) -> Result<Formula, FormulaError> {
        Ok(Formula::parse_places(text, &mut Vocabulary::known(names, false))?.0)
    }

    /// Reads literals or a formula, and the places of its variables: a known name ends only at `,`, `&` or `=`.
    pub(crate) fn parse_list(text: &str, names: &Names) -> Result<(Formula, Vec<Range<usize>>), FormulaError> {
        Formula::parse_places(text, &mut Vocabulary::known(names, true))
    }

    fn parse_places(text: &str, names: &mut Vocabulary<'_>) -> Result<(Formula, Vec<Range<usize>>), FormulaError> {
        parser::parse(Lexer::new(text, 0..text.len(), false), names)
    }

    /// True or false.
    pub fn constant(value: bool) -> Formula {
        Formula { ops: vec![Op::Constant(value)] }
    }

    /// A literal.
    pub fn literal(lit: Lit) -> Formula {
        let mut ops = vec![Op::Var(lit.var)];
        if !lit.value {
            ops.push(Op::Not);
        }
        Formula { ops }
    }

    /// The conjunction; true if there are no operands.
    pub fn and(operands: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::joined(operands, Op::And, true)
    }

    /// The disjunction; false if there are no operands.
    pub fn or(operands: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::joined(operands, Op::Or, false)
    }

    /// Whether an odd number of operands holds; false if there are none.
    pub fn xor(operands: impl IntoIterator<Item = Formula>) -> Formula {
        Formula::joined(operands, Op::Xor, false)
    }

    /// `self -> other`.
    pub fn implies(mut self, other: Formula) -> Formula {
        self.ops.extend(other.ops);
        self.ops.push(Op::Implies);
        self
    }

    /// `self <-> other`.
    pub fn iff(mut self, other: Formula) -> Formula {
        self.ops.extend(other.ops);
        self.ops.push(Op::Iff);
        self
    }

    /// That this many of the operands hold.
    pub fn count(comparison: Comparison, bound: u32, operands: impl IntoIterator<Item = Formula>) -> Formula {
        let (mut ops, mut number) = (Vec::new(), 0);
        for operand in operands {
            ops.extend(operand.ops);
            number += 1;
        }
        ops.push(Op::Count(comparison, bound, number));
        Formula { ops }
    }

    /// The steps, operands before the step that joins them; the last step is the whole.
    pub(crate) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The variables that occur, ascending.
    pub fn vars(&self) -> Vec<Var> {
        let occurring = self.ops.iter().filter_map(|op| if let Op::Var(var) = op { Some(*var) } else { None });
        let mut vars: Vec<Var> = occurring.collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// The formula as text, with the fewest parentheses; [`Formula::parse`] reads it back.
    ///
    /// # Panics
    /// When printed, if a variable has no name.
    pub fn display<'a>(&'a self, names: &'a Names) -> impl fmt::Display + 'a {
        Named { formula: self, names }
    }

    /// The operands of a conjunction, or the formula alone.
    pub fn conjuncts(&self) -> Vec<Formula> {
        let Some((last, rest)) = self.ops.split_last().filter(|(op, _)| matches!(op, Op::And(_))) else {
            return vec![self.clone()];
        };
        let starts = starts(rest);
        let mut end = rest.len();
        let mut parts: Vec<Formula> = Vec::with_capacity(last.arity());
        for _ in 0..last.arity() {
            let start = starts[end - 1] as usize;
            parts.push(Formula { ops: rest[start..end].to_vec() });
            end = start;
        }
        parts.reverse();
        parts
    }

    /// The formula with other variables.
    pub(crate) fn map_vars(&self, new: impl Fn(Var) -> Var) -> Formula {
        let renamed = |op: &Op| if let Op::Var(var) = op { Op::Var(new(*var)) } else { *op };
        Formula { ops: self.ops.iter().map(renamed).collect() }
    }

    /// The literals of a clause or of a single literal, in order; `None` for other formulas.
    pub(crate) fn as_clause(&self) -> Option<Vec<Lit>> {
        self.literals_joined_by(|op| matches!(op, Op::Or(_)), false)
    }

    /// The literals of a conjunction of literals or of a single literal, in order; `None` for other formulas.
    pub(crate) fn as_term(&self) -> Option<Vec<Lit>> {
        self.literals_joined_by(|op| matches!(op, Op::And(_)), true)
    }

    fn literals_joined_by(&self, joins: impl Fn(&Op) -> bool, empty: bool) -> Option<Vec<Lit>> {
        let (last, rest) = self.ops.split_last()?;
        let steps = match last {
            Op::Constant(value) if *value == empty && rest.is_empty() => return Some(Vec::new()),
            last if joins(last) => rest,
            _ => &self.ops[..],
        };
        let mut lits: Vec<Lit> = Vec::new();
        for (i, op) in steps.iter().enumerate() {
            match op {
                Op::Var(var) => lits.push(var.is(true)),
                Op::Not if matches!(steps[i - 1], Op::Var(_) | Op::Not) => {
                    let lit = lits.last_mut().expect("a variable came before");
                    *lit = !*lit;
                }
                // It says nothing, like `color=?`.
                Op::Constant(value) if *value == empty => {}
                _ => return None,
            }
        }
        Some(lits)
    }

    fn joined(operands: impl IntoIterator<Item = Formula>, join: fn(u32) -> Op, empty: bool) -> Formula {
        let (mut ops, mut number) = (Vec::new(), 0);
        for operand in operands {
            ops.extend(operand.ops);
            number += flattened(&mut ops, join);
        }
        match number {
            0 => return Formula::constant(empty),
            1 => {}
            _ => ops.push(join(number)),
        }
        Formula { ops }
    }
}

impl std::ops::Not for Formula {
    type Output = Formula;

    fn not(mut self) -> Formula {
        self.ops.push(Op::Not);
        self
    }
}

impl From<Lit> for Formula {
    fn from(lit: Lit) -> Formula {
        Formula::literal(lit)
    }
}

/// Opens the last operand if it is joined in the same way; returns the number of operands it counts for.
fn flattened(ops: &mut Vec<Op>, join: fn(u32) -> Op) -> u32 {
    match ops.last() {
        Some(&op @ (Op::And(n) | Op::Or(n) | Op::Xor(n))) if op == join(n) => {
            ops.pop();
            n
        }
        _ => 1,
    }
}

/// For each step, where the steps of its operands begin.
fn starts(ops: &[Op]) -> Vec<u32> {
    let mut starts: Vec<u32> = Vec::with_capacity(ops.len());
    let mut open: Vec<u32> = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        let kept = open.len() - op.arity();
        let start = open.get(kept).copied().unwrap_or(i as u32);
        open.truncate(kept);
        open.push(start);
        starts.push(start);
    }
    starts
}

impl Formula {
    /// Whether the formula holds in a complete world.
    ///
    /// # Panics
    /// If the world has no value for a variable of the formula.
    pub fn is_satisfied_by(&self, world: &[bool]) -> bool {
        self.value(|var| Some(world[var.index()])).expect("all values are known")
    }

    /// The value where only some variables are known, as in a record with missing cells.
    ///
    /// `None` if the known values do not decide it step by step: answers are right, but `x | !x` has none while `x` is
    /// unknown.
    pub fn value(&self, known: impl Fn(Var) -> Option<bool>) -> Option<bool> {
        let mut stack: Vec<Option<bool>> = Vec::new();
        for &op in &self.ops {
            let kept = stack.len() - op.arity();
            let operands = &stack[kept..];
            let value = match op {
                Op::Constant(value) => Some(value),
                Op::Var(var) => known(var),
                Op::Not => operands[0].map(|value| !value),
                Op::And(_) => all(operands, true),
                Op::Or(_) => all(operands, false),
                Op::Xor(_) => operands.iter().try_fold(false, |odd, value| Some(odd ^ (*value)?)),
                Op::Implies => all(&[operands[0].map(|value| !value), operands[1]], false),
                Op::Iff => operands[0].zip(operands[1]).map(|(a, b)| a == b),
                Op::Count(comparison, bound, _) => counted(comparison, bound, operands),
            };
            stack.truncate(kept);
            stack.push(value);
        }
        stack.pop().expect("a formula has a last step")
    }
}

/// `neutral` if all operands are, its opposite if one of them is.
fn all(operands: &[Option<bool>], neutral: bool) -> Option<bool> {
    if operands.contains(&Some(!neutral)) {
        return Some(!neutral);
    }
    operands.iter().all(Option::is_some).then_some(neutral)
}

fn counted(comparison: Comparison, bound: u32, operands: &[Option<bool>]) -> Option<bool> {
    let number = |value| operands.iter().filter(|operand| **operand == value).count() as u32;
    let (least, unknown) = (number(Some(true)), number(None));
    let most = least + unknown;
    match comparison {
        Comparison::AtLeast if least >= bound => Some(true),
        Comparison::AtMost if most <= bound => Some(true),
        Comparison::Exactly if unknown == 0 => Some(least == bound),
        Comparison::AtLeast | Comparison::Exactly if most < bound => Some(false),
        Comparison::AtMost | Comparison::Exactly if least > bound => Some(false),
        _ => None,
    }
}

/// A formula together with the names to print it with.
struct Named<'a> {
    formula: &'a Formula,
    names: &'a Names,
}

/// The rest to print, last first.
enum Task {
    /// The step at this position with its operands.
    Step(usize),
    Text(&'static str),
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops = self.formula.ops();
        let starts = starts(ops);
        let mut tasks = vec![Task::Step(ops.len() - 1)];
        let mut operands = Vec::new();
        while let Some(task) = tasks.pop() {
            let at = match task {
                Task::Step(at) => at,
                Task::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
            };
            operands.clear();
            let mut end = at;
            for _ in 0..ops[at].arity() {
                operands.push(end - 1);
                end = starts[end - 1] as usize;
            }
            let between = match ops[at] {
                Op::Constant(value) => {
                    write!(f, "{value}")?;
                    continue;
                }
                Op::Var(var) => {
                    let name = self.names.of(var);
                    if is_plain(name) {
                        f.write_str(name)?
                    } else {
                        f.write_str(&quote(name))?
                    }
                    continue;
                }
                Op::Count(comparison, bound, _) => {
                    write!(f, "{}({bound}", comparison.name())?;
                    tasks.push(Task::Text(")"));
                    for &operand in &operands {
                        tasks.extend([Task::Step(operand), Task::Text(", ")]);
                    }
                    continue;
                }
                Op::Not => {
                    f.write_str("!")?;
                    ""
                }
                Op::And(_) => " & ",
                Op::Or(_) => " | ",
                Op::Xor(_) => " ^ ",
                Op::Implies => " -> ",
                Op::Iff => " <-> ",
            };
            // Operands are found last first, which is the order a stack wants.
            for (i, &operand) in operands.iter().enumerate() {
                let (is_first, is_last) = (i + 1 == operands.len(), i == 0);
                let (own, inner) = (strength(ops[at]), strength(ops[operand]));
                let fits = inner > own
                    || inner == own
                        && match ops[at] {
                            Op::Not => true,
                            Op::Implies => is_last,
                            Op::Iff => is_first,
                            _ => false,
                        };
                match fits {
                    true => tasks.push(Task::Step(operand)),
                    false => tasks.extend([Task::Text(")"), Task::Step(operand), Task::Text("(")]),
                }
                if !is_first {
                    tasks.push(Task::Text(between));
                }
            }
        }
        Ok(())
    }
}

/// How tightly a step holds its operands together.
fn strength(op: Op) -> u32 {
    match op {
        Op::Iff => 1,
        Op::Implies => 2,
        Op::Or(_) => 3,
        Op::Xor(_) => 4,
        Op::And(_) => 5,
        Op::Not => 6,
        Op::Constant(_) | Op::Var(_) | Op::Count(..) => 7,
    }
}
