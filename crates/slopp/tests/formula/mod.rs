//! Random formulas, and all worlds to check them in.

use slopp::logic::{Comparison, Formula, Rules};
use slopp::{Names, Random, Var};

/// A random formula over `vars` variables with about `size` literals.
pub(crate) fn random_formula(random: &mut Random, vars: usize, size: usize) -> Formula {
    if size <= 1 {
        return match random.below(30) {
            0 => Formula::constant(random.below(2) == 0),
            _ => Var(random.below(vars) as u32).is(random.below(2) == 0).into(),
        };
    }
    let parts = 2 + random.below(3.min(size - 1));
    let operands: Vec<Formula> = (0..parts).map(|_| random_formula(random, vars, size / parts)).collect();
    let mut two = operands.clone().into_iter();
    let (a, b) = (two.next().unwrap(), two.next().unwrap());
    match random.below(9) {
        0 => !a,
        1 | 2 => Formula::and(operands),
        3 | 4 => Formula::or(operands),
        5 => Formula::xor(operands),
        6 => a.implies(b),
        7 => a.iff(b),
        _ => {
            let comparison = [Comparison::Exactly, Comparison::AtMost, Comparison::AtLeast][random.below(3)];
            Formula::count(comparison, random.below(parts + 1) as u32, operands)
        }
    }
}

/// A random rule set over `vars` variables.
pub(crate) fn random_rules(random: &mut Random, vars: usize, len: usize) -> Rules {
    Rules::new(Names::numbered(vars), (0..len).map(|_| random_formula(random, vars, 30 / len)))
}

pub(crate) fn worlds(len: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << len).map(move |bits| (0..len).map(|i| bits >> i & 1 == 1).collect())
}
