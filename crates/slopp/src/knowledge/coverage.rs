//! How much of a base its rules cover.

use crate::certified::Certified;
use crate::logic::{BaseRules, Limits, Manager, Stopped};
use num_bigint::BigUint;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
