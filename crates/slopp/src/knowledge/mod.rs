//! Knowledge, however it is stored: the base of a circuit, a diagram, or rules; and comparisons of two.

mod columns;
mod difference;

pub use columns::UnsharedValues;
pub use difference::{Difference, KnowledgeError};

use crate::certified::Certified;
use crate::infer::QueryError;
use crate::logic::{BaseRules, Formula, Handle, Limits, LogicError, Manager, Rules, Sdd, Stopped};
use crate::names::{NameError, Names};
use crate::structured::Structured;
use crate::var::Var;
use crate::vtree::Vtree;
use num_bigint::BigUint;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A knowledge base with the names of its variables.
#[derive(Clone, Copy, Debug)]
pub enum Knowledge<'a> {
    /// The possible worlds of a circuit.
    Base(&'a Certified, &'a Arc<Names>),
    /// The worlds of a diagram.
    Diagram(&'a Sdd, &'a Arc<Names>),
    /// The worlds that satisfy rules.
    Rules(&'a Rules),
}

/// Whether a formula holds in every allowed world.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entailed {
    /// An allowed world in which it does not hold.
    pub counterexample: Option<Vec<bool>>,
    /// Whether no world is allowed, so that everything follows.
    pub is_contradiction: bool,
}

impl<'a> Knowledge<'a> {
    /// The names of its variables.
    pub fn names(&self) -> &'a Arc<Names> {
        match *self {
            Knowledge::Base(_, names) | Knowledge::Diagram(_, names) => names,
            Knowledge::Rules(rules) => rules.names(),
        }
    }

    /// Its vtree, or a good one for its rules; an error for rules without variables.
    pub fn vtree(&self) -> Result<Arc<Vtree>, LogicError> {
        match self {
            Knowledge::Base(circuit, _) => Ok(circuit.vtree().clone()),
            Knowledge::Diagram(sdd, _) => Ok(sdd.vtree().clone()),
            Knowledge::Rules(rules) => {
                rules.check_variables()?;
                Ok(Arc::new(rules.min_fill_vtree()))
            }
        }
    }

    /// Whether a formula over its names holds in every allowed world. The vtree is for rules that clauses do not
    /// decide.
    ///
    /// ```
    /// use slopp::knowledge::Knowledge;
    /// use slopp::logic::{Formula, Limits, Rules};
    /// let rules = Rules::parse("red -> hot\nhot -> dry")?;
    /// let entailed = |text: &str| {
    ///     let formula = Formula::parse(text, rules.names()).unwrap();
    ///     Knowledge::Rules(&rules).entails(&formula, None, &Limits::default()).unwrap().counterexample.is_none()
    /// };
    /// assert!(entailed("red -> dry") && !entailed("dry -> red"));
    /// # Ok::<(), slopp::logic::FormulaError>(())
    /// ```
    pub fn entails(
        &self,
        formula: &Formula,
        vtree: Option<&Arc<Vtree>>,
        limits: &Limits,
    ) -> Result<Entailed, KnowledgeError> {
        if let Knowledge::Rules(rules) = self {
            rules.check_variables()?;
            let counterexample = rules.counterexample(formula, vtree, limits)?;
            let is_contradiction = counterexample.is_none() && rules.is_contradiction(limits);
            return Ok(Entailed { counterexample, is_contradiction });
        }
        if let Knowledge::Base(circuit, _) = self {
            let counterexample = circuit.counterexample(formula, limits).map_err(|error| match error {
                QueryError::Compile(stopped) => KnowledgeError::Stopped(stopped),
                error => error.into(),
            })?;
            return Ok(Entailed { counterexample, is_contradiction: false });
        }
        let mut manager = Manager::new(self.vtree()?, limits.clone());
        let vars: Vec<_> = (0..self.names().len() as u32).map(Var).collect();
        let known = self.handle(&mut manager, &vars, limits)?;
        let denied = !manager.compile(formula)?;
        let both = manager.and(known, denied)?;
        Ok(Entailed { counterexample: manager.world(both), is_contradiction: known == Handle::FALSE })
    }

    /// The allowed worlds as a formula of a manager, with these variables.
    fn handle(&self, manager: &mut Manager, vars: &[Var], limits: &Limits) -> Result<Handle, KnowledgeError> {
        let in_order = vars.iter().enumerate().all(|(i, var)| var.index() == i);
        let same = |vtree: &Vtree, manager: &Manager| in_order && *vtree == **manager.vtree();
        let handle = match self {
            Knowledge::Base(Certified::Psdd(psdd), _) if same(psdd.vtree(), manager) => manager.base_of(psdd),
            Knowledge::Base(circuit, _) => manager.support_of(circuit, |var| vars[var.index()]),
            Knowledge::Diagram(sdd, _) if same(sdd.vtree(), manager) => manager.import(sdd),
            Knowledge::Diagram(sdd, _) => match sdd.to_circuit() {
                Ok(circuit) => manager.support_of(&circuit, |var| vars[var.index()]),
                Err(LogicError::Impossible) => Ok(Handle::FALSE),
                Err(error) => return Err(error.into()),
            },
            // The diagram of a contradiction is small, but those of parts of it may be huge.
            Knowledge::Rules(rules) if rules.is_contradiction(limits) => Ok(Handle::FALSE),
            Knowledge::Rules(rules) => manager.compile(&rules.formula().map_vars(|var| vars[var.index()])),
        };
        Ok(handle?)
    }

    /// Its variables among other names.
    fn vars_among(&self, names: &Names) -> Result<Vec<Var>, NameError> {
        self.names().iter().map(|name| names.find(name)).collect()
    }
}

/// The numbers of possible worlds and of worlds that the rules allow: equal if the rules are the whole base.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// The number of possible worlds of the circuit.
    pub possible: BigUint,
    /// The number of worlds that the rules allow; never fewer.
    pub allowed: BigUint,
}

impl Coverage {
    /// Whether the rules cover the whole base.
    pub fn is_whole_base(&self) -> bool {
        self.possible == self.allowed
    }

    /// Limits for [`Certified::coverage_by`] that give an answer soon.
    pub fn limits(cancel: Option<Arc<AtomicBool>>) -> Limits {
        Limits { nodes: 1_000_000, bytes: 1 << 30, steps: 20_000_000, cancel }
    }
}

impl Certified {
    /// How much of the base these rules, which were found in it, cover; an error where diagrams would be too large.
    ///
    /// ```
    /// use slopp::Certified;
    /// use slopp::knowledge::Coverage;
    /// use slopp::logic::RuleSearch;
    /// let psdd: Certified = slopp::example::psdd().into();
    /// let said = |length| {
    ///     let found = psdd.rules(&RuleSearch { length, ..RuleSearch::default() }).unwrap();
    ///     psdd.coverage_by(&found, &Coverage::limits(None)).unwrap().is_whole_base()
    /// };
    /// assert!(!said(2) && said(4));
    /// ```
    pub fn coverage_by(&self, found: &BaseRules, limits: &Limits) -> Result<Coverage, Stopped> {
        let possible = match self.deterministic() {
            Ok(circuit) => circuit.model_count(),
            Err(_) => {
                let mut manager = Manager::new(self.vtree().clone(), limits.clone());
                let base = manager.support_of(self, |var| var)?;
                manager.sdd(base).model_count()
            }
        };
        let allowed = found.compile(self.vtree().clone(), limits)?.model_count();
        Ok(Coverage { possible, allowed })
    }
}
