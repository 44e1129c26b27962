//! Rules that contradict each other: which ones, and no more than needed.

use super::formula::Rules;
use super::limits::{Limits, Stopped};
use super::manager::{Handle, Manager};
use crate::vtree::Vtree;
use std::sync::Arc;

/// Rules that cannot all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The positions of the rules, ascending: without any of them the others can hold together.
    pub rules: Vec<usize>,
    /// Whether no conflict of these rules has fewer rules; otherwise that was not proved.
    pub smallest: bool,
}

/// How many pairs or triples of rules are tried to prove that no conflict is smaller.
const MOST_TRIES: usize = 200_000;

impl Rules {
    /// A minimal set of rules that contradict each other; `None` if all can hold together.
    ///
    /// Rules are joined until nothing is possible: the last one is part of a conflict. That is repeated, beginning with
    /// the rules known to be part of it, until these alone are impossible. Smaller conflicts of up to three rules are then looked for.
    ///
    /// ```
    /// use slopp::Vtree;
    /// use slopp::logic::{Limits, Rules};
    /// let rules = Rules::parse("a -> b\nb -> c\nd | e\na & !c")?;
    /// let conflict = rules.conflict(Vtree::balanced(5), &Limits::default())?.unwrap();
    /// assert_eq!((conflict.rules, conflict.smallest), (vec![0, 1, 3], true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the vtree has fewer variables than the rules.
    pub fn conflict(&self, vtree: impl Into<Arc<Vtree>>, limits: &Limits) -> Result<Option<Conflict>, Stopped> {
        let mut manager = Manager::new(vtree, limits.clone());
        let formulas = self.iter().map(|rule| manager.compile(&rule.formula)).collect::<Result<Vec<_>, _>>()?;
        let Some(mut rules) = manager.minimal_conflict(&formulas)? else { return Ok(None) };
        let smaller = manager.smallest_conflict(&formulas, rules.len())?;
        let smallest = smaller.is_some();
        if let Some(Some(better)) = smaller {
            rules = better;
        }
        rules.sort_unstable();
        Ok(Some(Conflict { rules, smallest }))
    }
}

impl Manager {
    fn minimal_conflict(&mut self, formulas: &[Handle]) -> Result<Option<Vec<usize>>, Stopped> {
        let mut found: Vec<usize> = Vec::new();
        let mut known = Handle::TRUE;
        let mut end = formulas.len();
        while known != Handle::FALSE {
            let mut joined = known;
            let mut last = None;
            for (i, &formula) in formulas[..end].iter().enumerate() {
                joined = self.and(joined, formula)?;
                if joined == Handle::FALSE {
                    last = Some(i);
                    break;
                }
            }
            let Some(i) = last else { return Ok(None) };
            // Rules after this one are not needed, and those before it are not enough.
            end = i;
            found.push(i);
            known = self.and(known, formulas[i])?;
        }
        Ok(Some(found))
    }

    /// A conflict with fewer rules than `size`, or that there is none; `None` if there are too many to try.
    fn smallest_conflict(&mut self, formulas: &[Handle], size: usize) -> Result<Option<Option<Vec<usize>>>, Stopped> {
        let len = formulas.len();
        if let (Some(i), true) = (formulas.iter().position(|f| *f == Handle::FALSE), size > 1) {
            return Ok(Some(Some(vec![i])));
        }
        if size <= 2 {
            return Ok(Some(None));
        }
        if len * (len - 1) / 2 > MOST_TRIES {
            return Ok(None);
        }
        let pairs = |end: usize| (1..end).flat_map(|j| (0..j).map(move |i| (i, j)));
        for (i, j) in pairs(len) {
            if self.and(formulas[i], formulas[j])? == Handle::FALSE {
                return Ok(Some(Some(vec![i, j])));
            }
        }
        if size == 3 {
            return Ok(Some(None));
        }
        if len * (len - 1) / 2 * (len - 2) / 3 > MOST_TRIES {
            return Ok(None);
        }
        for (j, k) in pairs(len) {
            let both = self.and(formulas[j], formulas[k])?;
            for (i, &formula) in formulas[..j].iter().enumerate() {
                if self.and(formula, both)? == Handle::FALSE {
                    return Ok(Some(Some(vec![i, j, k])));
                }
            }
        }
        Ok((size == 4).then_some(None))
    }
}
