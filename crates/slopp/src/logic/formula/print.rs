//! Formulas as text, with no more parentheses than needed and without recursion.

use super::lexer::is_plain;
use super::{Formula, Op, starts};
use crate::names::{Names, quote};
use std::fmt;

/// A formula together with the names to print it with.
pub(super) struct Named<'a> {
    pub(super) formula: &'a Formula,
    pub(super) names: &'a Names,
}

/// What is still to be printed, last first.
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
