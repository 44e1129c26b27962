//! Which pairs of literals can hold together, and what follows: fixed literals, classes, implications.

use super::together::{LANES, Together, lane};
use super::{BaseRule, RuleKind, index, literal};
use crate::circuit::Circuit;
use crate::data::{BitMatrix, ones};
use crate::var::Lit;

/// All pairs of literals that can hold together, and one literal for each class of equivalent ones.
pub(super) struct Pairs {
    together: BitMatrix,
    /// The classes of two or more equivalent literals, each class up to negation, the first literal positive.
    classes: Vec<Vec<Lit>>,
    /// Both literals of every variable that is neither fixed nor stands for by another.
    pub(super) literals: Vec<Lit>,
}

impl Pairs {
    pub(super) fn of(circuit: &Circuit) -> Pairs {
        let count = 2 * circuit.var_count();
        let mut together = BitMatrix::zeros(count, count);
        let mut passes = Together::new(circuit);
        for first in (0..count).step_by(LANES) {
            let sets: Vec<[Lit; 1]> = (first..count.min(first + LANES)).map(|i| [literal(i)]).collect();
            let partners = passes.partners(&sets);
            for i in 0..sets.len() {
                for (j, mask) in partners.iter().enumerate().filter(|(_, mask)| lane(mask, i)) {
                    debug_assert!(lane(mask, i));
                    together.set(first + i, j);
                }
            }
        }
        let mut pairs = Pairs { together, classes: Vec::new(), literals: Vec::new() };
        let mut done = vec![false; count / 2];
        for v in 0..count / 2 {
            let first = literal(2 * v + 1);
            if done[v] || !pairs.both(first, first) || !pairs.both(!first, !first) {
                continue;
            }
            let mut class = vec![first];
            for other in (2 * v + 2..count).map(literal).filter(|lit| !done[lit.var.index()]) {
                // Equivalent literals are possible with the same literals; two tests decide.
                if pairs.both(other, other) && pairs.implies(first, other) && pairs.implies(other, first) {
                    class.push(other);
                }
            }
            class.iter().for_each(|lit| done[lit.var.index()] = true);
            pairs.literals.extend([!first, first]);
            if class.len() > 1 {
                pairs.classes.push(class);
            }
        }
        pairs
    }

    /// Whether two literals can hold together; a literal with itself, whether it can hold at all.
    pub(super) fn both(&self, a: Lit, b: Lit) -> bool {
        self.together.bit(index(a), index(b))
    }

    fn implies(&self, a: Lit, b: Lit) -> bool {
        !self.both(a, !b)
    }

    /// The rules about literals that always hold and about classes.
    pub(super) fn literals_and_classes(&self, marginals: &[f64]) -> Vec<BaseRule> {
        let all = (0..self.together.lines()).map(literal);
        let fixed = all.filter(|&lit| !self.both(!lit, !lit));
        let fixed = fixed.map(|lit| BaseRule::new(RuleKind::Literal, vec![lit], marginals));
        let classes = self.classes.iter();
        fixed.chain(classes.map(|class| BaseRule::new(RuleKind::Equivalence, class.clone(), marginals))).collect()
    }

    /// The clauses of two literals that do not follow from other clauses of two literals.
    ///
    /// Entailed implications are closed under transitivity, and without equivalent literals they have no cycles: so
    /// exactly one set of them implies all and has nothing superfluous, the implications without a literal between.
    pub(super) fn reduced(&self) -> Vec<[Lit; 2]> {
        let count = self.together.lines();
        let mut implied = BitMatrix::zeros(count, count);
        for &a in &self.literals {
            for &b in self.literals.iter().filter(|&&b| b != a && self.implies(a, b)) {
                implied.set(index(a), index(b));
            }
        }
        let mut clauses = Vec::new();
        let mut direct = vec![0; implied.line(0).len()];
        for &a in &self.literals {
            let all = implied.line(index(a));
            direct.copy_from_slice(all);
            for between in ones(all) {
                direct.iter_mut().zip(implied.line(between)).for_each(|(word, beyond)| *word &= !beyond);
            }
            for b in ones(&direct).map(literal) {
                // Every clause is two implications; the one that begins with the smaller negated literal is taken.
                if !a < b {
                    clauses.push([!a, b]);
                }
            }
        }
        clauses.sort_unstable();
        clauses
    }
}
