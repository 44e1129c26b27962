//! The rules of columns, as people know them.

use super::prove::Prover;
use super::{BaseRules, RuleKind};
use crate::names::Names;
use crate::var::{Lit, Var};
use std::collections::BTreeSet;

impl BaseRules {
    /// The same rules, in which that a column has one value is said by its own values.
    ///
    /// Of literals that are equivalent the search keeps the first, so a column may be told by the values of another. Here
    /// the values are put back that are equivalent by the rules, so the same follows as before.
    #[must_use]
    pub fn with_whole_columns(mut self, names: &Names) -> BaseRules {
        // Each variable as the first of the literals that are equivalent to it.
        let mut first: Vec<Lit> = (0..names.len()).map(|i| Var(i as u32).is(true)).collect();
        let mut never = vec![false; names.len()];
        for rule in &self.rules {
            match rule.kind {
                RuleKind::Equivalence => {
                    let one = rule.literals[0];
                    let others = rule.literals[1..].iter();
                    others.for_each(|lit| first[lit.var.index()] = if lit.value { one } else { !one });
                }
                RuleKind::Literal => never[rule.literals[0].var.index()] = !rule.literals[0].value,
                _ => {}
            }
        }
        let same = |lit: &Lit| if lit.value { first[lit.var.index()] } else { !first[lit.var.index()] };
        let mut is_changed = false;
        for group in names.groups() {
            let values: Vec<Lit> = group.vars().filter(|var| !never[var.index()]).map(|var| var.is(true)).collect();
            let told: BTreeSet<Lit> = values.iter().map(same).collect();
            let is_own =
                |lits: &[Lit]| names.groups().iter().any(|group| lits.iter().all(|lit| group.contains(lit.var)));
            let mut rules = self.rules.iter_mut().filter(|rule| rule.kind == RuleKind::ExactlyOne);
            let found = rules.find(|rule| {
                !is_own(&rule.literals) && rule.literals.iter().map(same).collect::<BTreeSet<_>>() == told
            });
            if let Some(rule) = found {
                rule.literals = values;
                is_changed = true;
            }
        }
        // Only an equivalence may follow now and did not before: of others as much is said as then.
        self.is_minimal &= !is_changed || self.no_equivalence_follows(names.len());
        self
    }

    /// Whether it is proved that no equivalence follows from the other rules.
    fn no_equivalence_follows(&self, vars: usize) -> bool {
        let mut prover = Prover::new(&vec![false; vars]);
        let clauses: Vec<Vec<Vec<Lit>>> = self.rules.iter().map(|rule| rule.to_clauses()).collect();
        clauses.iter().for_each(|clauses| prover.add(clauses));
        let equivalences = (0..self.rules.len()).filter(|&i| self.rules[i].kind == RuleKind::Equivalence);
        equivalences.into_iter().all(|i| prover.is_implied(&clauses[i], Some(i)) == Some(false))
    }
}
