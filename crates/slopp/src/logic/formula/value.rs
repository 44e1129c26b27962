//! The value of a formula in a world, known in full or in part.

use super::{Comparison, Formula, Op};
use crate::var::Var;

impl Formula {
    /// Whether the formula holds in a complete world.
    ///
    /// # Panics
    /// If the world has no value for a variable of the formula.
    pub fn is_satisfied_by(&self, world: &[bool]) -> bool {
        self.value(|var| Some(world[var.index()])).expect("all values are known")
    }

    /// The value where only some variables are known, such as in a record with missing cells.
    ///
    /// `None` if what is known does not decide it step by step: an answer is right, but `x | !x` gets none while `x`
    /// is not known.
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

/// `neutral` if all operands are, its opposite if one of them is that.
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
