//! How much of a base rules say that were found in it.

use crate::certified::Certified;
use crate::logic::{BaseRules, Limits, Manager, Stopped};
use num_bigint::BigUint;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How many worlds are possible, and how many the rules allow: all of them, if the rules are the whole base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How many worlds the circuit makes possible.
    pub possible: BigUint,
    /// How many the rules allow; never fewer.
    pub allowed: BigUint,
}

impl Coverage {
    /// Whether the rules say all that the base does.
    pub fn is_whole_base(&self) -> bool {
        self.possible == self.allowed
    }

    /// The limits of [`Certified::coverage_by`], within which an answer comes soon.
    pub fn limits(cancel: Option<Arc<AtomicBool>>) -> Limits {
        Limits { nodes: 1_000_000, bytes: 1 << 30, steps: 20_000_000, cancel }
    }
}

impl Certified {
    /// How much of the base the rules say that were found in it; an error where diagrams would be too large.
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
