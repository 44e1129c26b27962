//! From formulas to diagrams.

use super::formula::{Formula, Op, Rules};
use super::manager::{Handle, Manager};
use super::sdd::Sdd;
use crate::limits::{Limits, Stopped};
use crate::vtree::Vtree;
use std::sync::Arc;

impl Rules {
    /// The rules as one canonical SDD.
    ///
    /// Rules are joined in the order of the vtree, deepest first. The result is the constant false if they contradict
    /// each other; [`Rules::conflict`] finds out which ones do.
    ///
    /// ```
    /// use slopp::Vtree;
    /// use slopp::logic::{Limits, Rules};
    /// let rules = Rules::parse("exactly(1, red, green, blue)\nred -> hot")?;
    /// let sdd = rules.compile(Vtree::balanced(4), &Limits::default())?;
    /// assert_eq!(sdd.model_count(), 5u32.into());
    /// let uniform = sdd.to_circuit()?.certify(&slopp::logic::Limits::default())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the vtree has fewer variables than the rules.
    pub fn compile(&self, vtree: impl Into<Arc<Vtree>>, limits: &Limits) -> Result<Sdd, Stopped> {
        let mut manager = Manager::new(vtree, limits.clone());
        let formula = manager.compile_rules(self)?;
        Ok(manager.sdd(formula))
    }
}

impl Formula {
    /// The formula as a canonical SDD.
    ///
    /// # Panics
    /// If a variable of the formula is not in the vtree.
    pub fn compile(&self, vtree: impl Into<Arc<Vtree>>, limits: &Limits) -> Result<Sdd, Stopped> {
        let mut manager = Manager::new(vtree, limits.clone());
        let mut stack = Vec::new();
        manager.collects = true;
        manager.push(self, &mut stack)?;
        Ok(manager.sdd(stack[0]))
    }
}

impl Manager {
    /// The diagram of a formula.
    ///
    /// # Panics
    /// If a variable of the formula is not in the vtree.
    pub fn compile(&mut self, formula: &Formula) -> Result<Handle, Stopped> {
        let mut stack = Vec::new();
        self.push(formula, &mut stack)?;
        Ok(stack[0])
    }

    /// The diagram of the conjunction of rules; older handles become invalid.
    pub(super) fn compile_rules(&mut self, rules: &Rules) -> Result<Handle, Stopped> {
        self.collects = true;
        let mut stack = Vec::new();
        let mut done = 0;
        let mut run = || {
            for rule in rules.iter() {
                // A conjunction is split, so that its parts meet those of other rules deep in the vtree.
                let ops = rule.formula.ops();
                match ops.last() {
                    Some(Op::And(_)) => self.push_steps(&ops[..ops.len() - 1], &mut stack)?,
                    _ => self.push_steps(ops, &mut stack)?,
                }
            }
            self.join(&mut stack, 0, &mut |n| done += n)
        };
        let outcome = run();
        let all = rules.len();
        self.collects = false;
        outcome.map_err(|stopped| Stopped { rules: Some((done.min(all), all)), ..stopped })?;
        Ok(stack[0])
    }

    fn push(&mut self, formula: &Formula, stack: &mut Vec<Handle>) -> Result<(), Stopped> {
        self.push_steps(formula.ops(), stack)
    }

    /// Pushes the diagrams of steps on a stack, which survives garbage collection.
    fn push_steps(&mut self, ops: &[Op], stack: &mut Vec<Handle>) -> Result<(), Stopped> {
        for &op in ops {
            let start = stack.len() - op.arity();
            match op {
                Op::Constant(value) => stack.push(if value { Handle::TRUE } else { Handle::FALSE }),
                Op::Var(var) => stack.push(self.literal(var.is(true))),
                Op::Not => stack[start] = !stack[start],
                Op::And(_) => self.join(stack, start, &mut |_| ())?,
                Op::Or(_) => self.join_or(stack, start)?,
                Op::Implies => {
                    stack[start + 1] = !stack[start + 1];
                    self.join(stack, start, &mut |_| ())?;
                    stack[start] = !stack[start];
                }
                Op::Xor(_) | Op::Iff => self.join_xor(stack, start, op == Op::Iff)?,
                Op::Count(comparison, bound, _) => {
                    let result = self.count(comparison, bound, &stack[start..])?;
                    stack.truncate(start);
                    stack.push(result);
                }
            }
            self.collect_if_full(stack);
        }
        Ok(())
    }

    fn join_or(&mut self, stack: &mut Vec<Handle>, start: usize) -> Result<(), Stopped> {
        stack[start..].iter_mut().for_each(|formula| *formula = !*formula);
        self.join(stack, start, &mut |_| ())?;
        stack[start] = !stack[start];
        Ok(())
    }

    /// Whether an odd number of formulas holds, or with `even` an even one; joined in the order of the vtree too.
    fn join_xor(&mut self, stack: &mut Vec<Handle>, start: usize, even: bool) -> Result<(), Stopped> {
        let result = self.xor_all(&stack[start..])?;
        stack.truncate(start);
        stack.push(if even { !result } else { result });
        Ok(())
    }
}
