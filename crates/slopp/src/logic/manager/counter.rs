//! How many of some formulas hold, by counting over the vtree.
//!
//! For each vtree node, one diagram per number says that so many of the formulas below it hold, up to a cap, and one
//! that at least so many do. Those of a node are decisions over those of its children: primes "i hold on the left",
//! subs "the other n − i hold on the right". That takes O(n·k²) elements for n formulas over different variables and a
//! bound k, where writing the cases out takes n over k of them.

use super::{Handle, Manager};
use crate::logic::formula::Comparison;
use crate::logic::limits::Stopped;
use crate::vtree::VtreeId;

/// At `n`: exactly `n` hold; and at least `n` hold. Up to the cap, or to the number of formulas.
struct Tally {
    exactly: Vec<Handle>,
    at_least: Vec<Handle>,
}

impl Tally {
    fn none() -> Tally {
        Tally { exactly: vec![Handle::TRUE], at_least: vec![Handle::TRUE] }
    }

    /// How many formulas are counted at most.
    fn most(&self) -> usize {
        self.exactly.len() - 1
    }

    fn exactly(&self, n: usize) -> Handle {
        self.exactly.get(n).copied().unwrap_or(Handle::FALSE)
    }

    fn at_least(&self, n: usize) -> Handle {
        self.at_least.get(n).copied().unwrap_or(Handle::FALSE)
    }
}

impl Manager {
    /// That so many of the formulas hold.
    pub fn count(&mut self, comparison: Comparison, bound: u32, formulas: &[Handle]) -> Result<Handle, Stopped> {
        let constant = formulas.iter().filter(|f| **f == Handle::TRUE).count() as u32;
        let counted: Vec<Handle> = formulas.iter().copied().filter(|f| self.vtree_of(*f).is_some()).collect();
        if constant > bound {
            let always = comparison == Comparison::AtLeast;
            return Ok(if always { Handle::TRUE } else { Handle::FALSE });
        }
        let bound = (bound - constant) as usize;
        if bound > counted.len() {
            let always = comparison == Comparison::AtMost;
            return Ok(if always { Handle::TRUE } else { Handle::FALSE });
        }
        let cap = if comparison == Comparison::AtLeast { bound } else { bound + 1 };
        let tally = self.tally(&counted, cap)?;
        Ok(match comparison {
            Comparison::Exactly => tally.exactly(bound),
            Comparison::AtMost => !tally.at_least(bound + 1),
            Comparison::AtLeast => tally.at_least(bound),
        })
    }

    fn tally(&mut self, formulas: &[Handle], cap: usize) -> Result<Tally, Stopped> {
        let order = formulas.iter().enumerate().map(|(i, f)| (self.nodes[f.node()].vtree, i)).collect();
        let tally = self.meet(order, |manager, v, mut below: Vec<(u32, Tally)>, own| {
            below.sort_by_key(|(at, _)| *at);
            let mut parts = below.into_iter().map(|(_, tally)| tally);
            let mut tally = match (parts.next(), parts.next()) {
                (Some(left), Some(right)) => manager.side_by_side(VtreeId(v), &left, &right, cap)?,
                (only, _) => only.unwrap_or_else(Tally::none),
            };
            for i in own {
                tally = manager.with_one_more(&tally, formulas[i], cap)?;
            }
            Ok((v, tally))
        })?;
        Ok(tally.map_or_else(Tally::none, |(_, tally)| tally))
    }

    /// The tally of formulas over left and of formulas over right variables of a vtree node.
    fn side_by_side(&mut self, v: VtreeId, left: &Tally, right: &Tally, cap: usize) -> Result<Tally, Stopped> {
        let most = (left.most() + right.most()).min(cap);
        let mut tally = Tally::none();
        tally.exactly.clear();
        for n in 0..=most {
            // Where the left has more than n already, and where it has all n that count.
            let mut exactly = vec![(left.at_least(n + 1), Handle::FALSE)];
            exactly.extend((0..=n).map(|i| (left.exactly(i), right.exactly(n - i))));
            let mut at_least = vec![(left.at_least(n), Handle::TRUE)];
            at_least.extend((0..n).map(|i| (left.exactly(i), right.at_least(n - i))));
            let exactly = self.partition(v, exactly)?;
            tally.exactly.push(exactly);
            if n > 0 {
                let at_least = self.partition(v, at_least)?;
                tally.at_least.push(at_least);
            }
        }
        Ok(tally)
    }

    /// The tally with one more formula, over any variables.
    fn with_one_more(&mut self, tally: &Tally, formula: Handle, cap: usize) -> Result<Tally, Stopped> {
        let most = (tally.most() + 1).min(cap);
        let mut more = Tally::none();
        more.exactly.clear();
        for n in 0..=most {
            let one_less = |of: &dyn Fn(usize) -> Handle| n.checked_sub(1).map_or(Handle::FALSE, of);
            let before = one_less(&|n| tally.exactly(n));
            let exactly = self.if_else(formula, before, tally.exactly(n))?;
            more.exactly.push(exactly);
            if n > 0 {
                let at_least = self.if_else(formula, tally.at_least(n - 1), tally.at_least(n))?;
                more.at_least.push(at_least);
            }
        }
        Ok(more)
    }
}
