//! What rules that were found say together.

use super::{BaseRule, BaseRules, RuleKind};
use crate::limits::{Limits, Stopped};
use crate::logic::formula::{Comparison, Formula, Rules};
use crate::logic::sdd::Sdd;
use crate::names::Names;
use crate::vtree::Vtree;
use std::sync::Arc;

impl BaseRules {
    /// The worlds that the rules allow, as a diagram.
    ///
    /// Every rule is entailed by the base, so the rules are the whole base iff they allow as many worlds as it has.
    ///
    /// ```
    /// use slopp::logic::{Limits, RuleSearch};
    /// let psdd = slopp::example::psdd();
    /// let allowed = |length| {
    ///     let found = psdd.rules(&RuleSearch { length, ..RuleSearch::default() }).unwrap();
    ///     found.compile(psdd.vtree().clone(), &Limits::default()).unwrap().model_count()
    /// };
    /// assert!(allowed(2) > psdd.model_count());
    /// assert_eq!(allowed(4), psdd.model_count());
    /// ```
    ///
    /// # Panics
    /// If the vtree has fewer variables than the circuit the rules are of.
    pub fn compile(&self, vtree: impl Into<Arc<Vtree>>, limits: &Limits) -> Result<Sdd, Stopped> {
        let vtree = vtree.into();
        let names = Names::numbered(vtree.var_count());
        Rules::new(names, self.rules.iter().map(BaseRule::formula)).compile(vtree, limits)
    }
}

impl BaseRule {
    /// The rule as a formula.
    pub fn formula(&self) -> Formula {
        let mut lits = self.literals.iter().map(|&lit| Formula::literal(lit));
        match self.kind {
            RuleKind::ExactlyOne => Formula::count(Comparison::Exactly, 1, lits),
            RuleKind::Exclusion => Formula::count(Comparison::AtMost, 1, lits),
            RuleKind::Literal | RuleKind::Clause => Formula::or(lits),
            RuleKind::Implication => {
                let first = lits.next().expect("an implication has two literals");
                first.implies(Formula::or(lits))
            }
            RuleKind::Equivalence => {
                let all: Vec<Formula> = lits.collect();
                let none = all.iter().map(|lit| !lit.clone());
                Formula::or([Formula::and(none), Formula::and(all.iter().cloned())])
            }
        }
    }
}
