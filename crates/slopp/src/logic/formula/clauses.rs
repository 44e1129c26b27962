//! Formulas as clauses over their own variables, where these are few enough.

use super::{Comparison, Formula, Op, starts};
use crate::var::Lit;

/// Clauses that hold together; each is sorted and has no literal twice.
type Clauses = Vec<Vec<Lit>>;

/// The most literals written and combinations tried for one formula.
const WORK: usize = 10_000_000;

/// The clauses of a formula and of its negation, as far as needed.
#[derive(Default)]
struct Both {
    holds: Clauses,
    fails: Clauses,
}

/// Which of both are needed.
#[derive(Clone, Copy, Default)]
struct Asked {
    holds: bool,
    fails: bool,
}

impl Formula {
    /// Equivalent clauses without new variables; `None` if that takes more than `limit` of them, or more than ten
    /// million literals and combinations.
    ///
    /// Counts become all subsets of their operands: `exactly(1, a, b, c)` is `a | b | c` and a clause for each pair.
    ///
    /// ```
    /// use slopp::Names;
    /// use slopp::logic::Formula;
    /// let names = Names::numbered(3);
    /// let clauses = Formula::parse("exactly(1, x1, x2, x3)", &names)?.to_clauses(10).unwrap();
    /// let numbers: Vec<Vec<i64>> = clauses.iter().map(|clause| clause.iter().map(|lit| lit.number()).collect()).collect();
    /// assert_eq!(numbers, [vec![1, 2, 3], vec![-1, -2], vec![-1, -3], vec![-2, -3]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_clauses(&self, limit: usize) -> Option<Vec<Vec<Lit>>> {
        let asked = self.asked();
        let mut budget = Budget { clauses: limit, work: WORK };
        let mut stack: Vec<Both> = Vec::new();
        for (op, asked) in self.ops().iter().zip(asked) {
            let operands = stack.split_off(stack.len() - op.arity());
            stack.push(joined(*op, &operands, asked, &mut budget)?);
        }
        stack.pop().map(|whole| whole.holds)
    }

    /// For each step, whether its clauses and those of its negation are needed.
    fn asked(&self) -> Vec<Asked> {
        let ops = self.ops();
        let starts = starts(ops);
        let mut asked = vec![Asked::default(); ops.len()];
        if let Some(last) = asked.last_mut() {
            last.holds = true;
        }
        for place in (0..ops.len()).rev() {
            let Asked { holds, fails } = asked[place];
            let (same, other) = (Asked { holds, fails }, Asked { holds: fails, fails: holds });
            let both = Asked { holds: true, fails: true };
            let arity = ops[place].arity();
            let mut end = place;
            for operand in (0..arity).rev() {
                asked[end - 1] = match ops[place] {
                    Op::And(_) | Op::Or(_) | Op::Count(Comparison::AtLeast, ..) => same,
                    Op::Not | Op::Count(Comparison::AtMost, ..) => other,
                    Op::Implies if operand == 0 => other,
                    Op::Implies => same,
                    _ => both,
                };
                end = starts[end - 1] as usize;
            }
        }
        asked
    }
}

/// The remaining work for the clauses of one formula.
struct Budget {
    /// The most clauses of any step.
    clauses: usize,
    /// Literals written and combinations tried: clauses may be few and long, or mostly tautologies.
    work: usize,
}

impl Budget {
    fn spend(&mut self, work: usize) -> Option<()> {
        self.work = self.work.checked_sub(work)?;
        Some(())
    }
}

fn joined(op: Op, operands: &[Both], asked: Asked, budget: &mut Budget) -> Option<Both> {
    let mut made = |asked: bool, value: bool| match asked {
        true => side(op, operands, value, budget),
        false => Some(Vec::new()),
    };
    Some(Both { holds: made(asked.holds, true)?, fails: made(asked.fails, false)? })
}

/// The clauses that give a step a value.
fn side(op: Op, operands: &[Both], value: bool, budget: &mut Budget) -> Option<Clauses> {
    let holds: Vec<&Clauses> = operands.iter().map(|operand| &operand.holds).collect();
    let fails: Vec<&Clauses> = operands.iter().map(|operand| &operand.fails).collect();
    // That operands have this value, and the other one.
    let (same, other) = if value { (&holds, &fails) } else { (&fails, &holds) };
    match op {
        Op::Constant(constantly) => Some(constant(constantly == value)),
        Op::Var(var) => Some(vec![vec![var.is(value)]]),
        Op::Not => all(other, budget),
        Op::And(_) if value => all(same, budget),
        Op::And(_) => any(same, budget),
        Op::Or(_) if value => any(same, budget),
        Op::Or(_) => all(same, budget),
        Op::Implies if value => any(&[other[0], same[1]], budget),
        Op::Implies => all(&[other[0], same[1]], budget),
        Op::Iff => alike(&operands[0], &operands[1], value, budget),
        Op::Xor(_) => {
            let (last, others) = operands.split_last().expect("at least two");
            let mut sum = Both { holds: constant(false), fails: constant(true) };
            for operand in others {
                let holds = alike(&sum, operand, false, budget)?;
                sum = Both { holds, fails: alike(&sum, operand, true, budget)? };
            }
            alike(&sum, last, !value, budget)
        }
        Op::Count(comparison, bound, number) => {
            let (bound, number) = (bound as usize, number as usize);
            let at_least = |bound: usize, budget: &mut Budget| several(bound, &holds, budget);
            let fewer_than =
                |bound: usize, budget: &mut Budget| several((number + 1).saturating_sub(bound), &fails, budget);
            match (comparison, value) {
                (Comparison::AtLeast, true) => at_least(bound, budget),
                (Comparison::AtLeast, false) => fewer_than(bound, budget),
                (Comparison::AtMost, true) => fewer_than(bound + 1, budget),
                (Comparison::AtMost, false) => at_least(bound + 1, budget),
                (Comparison::Exactly, true) => {
                    let parts = [at_least(bound, budget)?, fewer_than(bound + 1, budget)?];
                    all(&parts.each_ref(), budget)
                }
                (Comparison::Exactly, false) => {
                    let parts = [fewer_than(bound, budget)?, at_least(bound + 1, budget)?];
                    any(&parts.each_ref(), budget)
                }
            }
        }
    }
}

fn constant(value: bool) -> Clauses {
    if value { Vec::new() } else { vec![Vec::new()] }
}

/// Clauses that two have the same value, or that they differ.
fn alike(a: &Both, b: &Both, value: bool, budget: &mut Budget) -> Option<Clauses> {
    let (holds, fails) = if value { (&b.holds, &b.fails) } else { (&b.fails, &b.holds) };
    let parts = [any(&[&a.fails, holds], budget)?, any(&[&a.holds, fails], budget)?];
    all(&parts.each_ref(), budget)
}

/// Clauses that all of these hold.
fn all(parts: &[&Clauses], budget: &mut Budget) -> Option<Clauses> {
    let number: usize = parts.iter().map(|part| part.len()).sum();
    if number > budget.clauses {
        return None;
    }
    let literals: usize = parts.iter().flat_map(|part| part.iter()).map(Vec::len).sum();
    budget.spend(parts.len() + number + literals)?;
    Some(parts.iter().flat_map(|part| part.iter().cloned()).collect())
}

/// Clauses that one of these holds: all combinations of a clause of each, without tautologies.
fn any(parts: &[&Clauses], budget: &mut Budget) -> Option<Clauses> {
    budget.spend(parts.len())?;
    if parts.iter().any(|part| part.is_empty()) {
        return Some(constant(true));
    }
    // Parts of one clause are in all clauses: joined at once, however many there are.
    let (single, several): (Vec<&Clauses>, Vec<&Clauses>) = parts.iter().partition(|part| part.len() == 1);
    budget.spend(single.iter().map(|part| part[0].len()).sum())?;
    let mut found: Clauses = clause(single.iter().flat_map(|part| &part[0])).into_iter().collect();
    for part in several {
        let mut longer = Vec::new();
        for (first, more) in found.iter().flat_map(|first| part.iter().map(move |more| (first, more))) {
            budget.spend(1 + first.len() + more.len())?;
            longer.extend(clause(first.iter().chain(more)));
            if longer.len() > budget.clauses {
                return None;
            }
        }
        found = longer;
    }
    Some(found)
}

/// A clause of these literals, unless it is a tautology.
fn clause<'a>(lits: impl Iterator<Item = &'a Lit>) -> Option<Vec<Lit>> {
    let mut clause: Vec<Lit> = lits.copied().collect();
    // Mostly made of sorted parts, which this sort merges.
    clause.sort();
    clause.dedup();
    clause.windows(2).all(|pair| pair[0].var != pair[1].var).then_some(clause)
}

/// Clauses that at least `bound` of these hold: one of any subset larger than the number that may fail.
fn several(bound: usize, parts: &[&Clauses], budget: &mut Budget) -> Option<Clauses> {
    if bound == 0 || bound > parts.len() {
        return Some(constant(bound == 0));
    }
    let mut chosen: Vec<usize> = (0..=parts.len() - bound).collect();
    let mut found: Clauses = Vec::new();
    loop {
        budget.spend(chosen.len())?;
        let subset: Vec<&Clauses> = chosen.iter().map(|&part| parts[part]).collect();
        found.extend(any(&subset, budget)?);
        if found.len() > budget.clauses {
            return None;
        }
        // The next subset of this size in the order of words.
        let last = |place: usize| place + parts.len() - chosen.len();
        let Some(place) = (0..chosen.len()).rev().find(|&place| chosen[place] < last(place)) else {
            return Some(found);
        };
        let first = chosen[place] + 1;
        for (next, choice) in chosen[place..].iter_mut().enumerate() {
            *choice = first + next;
        }
    }
}
