//! Formulas as clauses: every step gets a variable for its value.

use crate::logic::formula::{Comparison, Formula, Op, Rules};
use crate::logic::solver::{L, Solver};

/// The most literals tried: as clauses, a count of many among many is large.
const MOST_LITERALS: usize = 20_000_000;

/// Clauses that are satisfiable together exactly if the rules are; `None` if they are too many.
pub(super) struct Encoded {
    pub(super) solver: Solver,
    /// For each rule, the literal that switches it on.
    pub(super) switches: Vec<L>,
}

impl Encoded {
    pub(super) fn new(rules: &Rules, work: u64) -> Option<Encoded> {
        let mut solver = Solver::new(work);
        // The first variables are those of the rules.
        for _ in 0..rules.var_count() {
            solver.new_var();
        }
        let always = solver.new_var();
        solver.add(&[always]);
        let mut encoder = Encoder { solver, always };
        let mut switches = Vec::with_capacity(rules.len());
        for rule in rules.iter() {
            let switch = encoder.solver.new_var();
            encoder.switch(switch, &rule.formula)?;
            switches.push(switch);
        }
        Some(Encoded { solver: encoder.solver, switches })
    }
}

struct Encoder {
    solver: Solver,
    /// A literal that is true.
    always: L,
}

impl Encoder {
    /// A formula that must hold if its switch does.
    fn switch(&mut self, switch: L, formula: &Formula) -> Option<()> {
        let (&last, ops) = formula.ops().split_last().expect("a formula has a last step");
        // The last step needs no variable of its own.
        match last {
            Op::And(_) => self.values(ops)?.into_iter().for_each(|part| self.solver.add(&[!switch, part])),
            Op::Or(_) => {
                let mut clause = self.values(ops)?;
                clause.push(!switch);
                self.solver.add(&clause);
            }
            Op::Implies => {
                let parts = self.values(ops)?;
                self.solver.add(&[!switch, !parts[0], parts[1]]);
            }
            _ => {
                let value = self.values(formula.ops())?[0];
                self.solver.add(&[!switch, value]);
            }
        }
        Some(())
    }

    /// The literals that steps leave on the stack.
    fn values(&mut self, ops: &[Op]) -> Option<Vec<L>> {
        let mut stack: Vec<L> = Vec::new();
        for &op in ops {
            let operands = stack.split_off(stack.len() - op.arity());
            stack.push(match op {
                Op::Constant(true) => self.always,
                Op::Constant(false) => !self.always,
                Op::Var(var) => L::new(var.index(), true),
                Op::Not => !operands[0],
                Op::And(_) => self.and(&operands),
                Op::Or(_) => !self.and(&operands.iter().map(|&lit| !lit).collect::<Vec<_>>()),
                Op::Implies => !self.and(&[operands[0], !operands[1]]),
                Op::Xor(_) => operands.into_iter().reduce(|a, b| self.xor(a, b)).expect("at least two"),
                Op::Iff => !self.xor(operands[0], operands[1]),
                Op::Count(comparison, bound, _) => self.count(comparison, bound, &operands)?,
            });
            if self.solver.size() > MOST_LITERALS {
                return None;
            }
        }
        Some(stack)
    }

    fn and(&mut self, operands: &[L]) -> L {
        let all = self.solver.new_var();
        operands.iter().for_each(|&lit| self.solver.add(&[!all, lit]));
        let clause: Vec<L> = operands.iter().map(|&lit| !lit).chain([all]).collect();
        self.solver.add(&clause);
        all
    }

    fn xor(&mut self, a: L, b: L) -> L {
        let odd = self.solver.new_var();
        [[!odd, a, b], [!odd, !a, !b], [odd, !a, b], [odd, a, !b]].iter().for_each(|clause| self.solver.add(clause));
        odd
    }

    fn count(&mut self, comparison: Comparison, bound: u32, operands: &[L]) -> Option<L> {
        let at_least = |encoder: &Encoder, reached: &[L], k: u32| match k {
            0 => encoder.always,
            _ => reached.get(k as usize - 1).copied().unwrap_or(!encoder.always),
        };
        let most = (bound as usize).saturating_add(1).min(operands.len());
        // Whether at least 1, 2, … of the operands so far hold.
        let mut reached: Vec<L> = Vec::new();
        for &operand in operands {
            let before = std::mem::take(&mut reached);
            for k in 0..(before.len() + 1).min(most) {
                let one_less = if k == 0 { self.always } else { before[k - 1] };
                let step = self.and(&[operand, one_less]);
                let already = before.get(k).copied().unwrap_or(!self.always);
                reached.push(!self.and(&[!step, !already]));
            }
            if self.solver.size() > MOST_LITERALS {
                return None;
            }
        }
        let enough = at_least(self, &reached, bound);
        let too_many = match bound.checked_add(1) {
            Some(more) => at_least(self, &reached, more),
            None => !self.always,
        };
        Some(match comparison {
            Comparison::AtLeast => enough,
            Comparison::AtMost => !too_many,
            Comparison::Exactly => self.and(&[enough, !too_many]),
        })
    }
}
