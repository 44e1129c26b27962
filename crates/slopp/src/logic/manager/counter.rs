//! Counting how many formulas hold, over the vtree.
//!
//! If two groups of formulas are on either side of a vtree node, "from a to b of them hold" is a decision. For each
//! number `i` on the left that constrains the right, it has the prime "exactly i hold" with the sub "from a − i to b −
//! i hold"; one prime covers all numbers that leave the right free, one those that are impossible. All of these are
//! intervals over fewer formulas, so nothing has to be conjoined: O(n·k²) elements for n variables and a bound k on
//! balanced vtrees, where writing the cases out takes n over k of them. Repeated formulas are counted once, with a
//! weight.

use super::{Element, Handle, Manager};
use super::{Sums, Weighted};
use crate::limits::{Limit, Stopped};
use crate::logic::formula::Comparison;
use rustc_hash::FxHashMap;

/// Formulas counted together.
enum Part {
    /// By `n`: exactly `n` hold.
    Table(Vec<(usize, Handle)>),
    /// A part over left and a part over right variables of a vtree node.
    Apart { vtree: u32, left: usize, right: usize },
}

/// Parts of the formulas, and the known intervals of each part.
struct Tally {
    /// With the possible numbers of true formulas.
    parts: Vec<(Part, Sums)>,
    found: FxHashMap<(usize, usize, usize), Handle>,
}

/// From `from` to `to` formulas of a part; `None` where that is impossible.
type Interval = Option<(usize, usize, usize)>;

impl Tally {
    /// The number of formulas of a part.
    fn most(&self, part: usize) -> usize {
        self.parts[part].1.most()
    }

    fn interval(&self, part: usize, from: usize, to: usize) -> Interval {
        self.parts[part].1.within(from, to).map(|(from, to)| (part, from, to))
    }

    fn table(&mut self, exactly: Vec<(usize, Handle)>) -> usize {
        let sums = Sums::of(exactly.iter().map(|&(n, _)| n));
        self.parts.push((Part::Table(exactly), sums));
        self.parts.len() - 1
    }

    fn apart(&mut self, vtree: u32, left: usize, right: usize) -> usize {
        let sums = self.parts[left].1.plus(&self.parts[right].1);
        self.parts.push((Part::Apart { vtree, left, right }, sums));
        self.parts.len() - 1
    }

    /// The formula of an interval, if it is known.
    fn known(&self, interval: Interval) -> Option<Handle> {
        let Some((part, from, to)) = interval else { return Some(Handle::FALSE) };
        if (from, to) == (0, self.most(part)) {
            return Some(Handle::TRUE);
        }
        self.found.get(&(part, from, to)).copied()
    }

    /// The elements of an interval of separate formulas: the prime, whether it is negated, and the sub.
    fn elements(&self, (part, from, to): (usize, usize, usize)) -> Vec<(Interval, bool, Interval)> {
        let Part::Apart { left, right, .. } = self.parts[part].0 else { return Vec::new() };
        let (left_most, right_most) = (self.most(left), self.most(right));
        let (low, high) = (from.saturating_sub(right_most), to.min(left_most));
        let mut elements = vec![(self.interval(left, low, high), true, None)];
        // From this many to this many on the left, the right is free.
        let open = to.checked_sub(right_most).map(|end| (from.max(low), end.min(high)));
        let open = open.filter(|(start, end)| start <= end);
        if let Some((start, end)) = open {
            elements.push((self.interval(left, start, end), false, self.interval(right, 0, right_most)));
        }
        for i in self.parts[left].1.between(low, high).filter(|&i| open.is_none_or(|(start, end)| i < start || end < i))
        {
            let sub = self.interval(right, from.saturating_sub(i), to - i);
            elements.push((self.interval(left, i, i), false, sub));
        }
        elements
    }
}

impl Manager {
    /// That this many of the formulas hold.
    pub fn count(&mut self, comparison: Comparison, bound: u32, formulas: &[Handle]) -> Result<Handle, Stopped> {
        let counted = Weighted::new(self, formulas);
        // At least k hold unless at most k − 1 do.
        let (from, to, negated) = match (comparison, bound as usize) {
            (Comparison::Exactly, bound) => (bound, Some(bound), false),
            (Comparison::AtMost, bound) => (0, Some(bound), false),
            (Comparison::AtLeast, bound) => (0, bound.checked_sub(1), true),
        };
        let to = to.and_then(|to| to.checked_sub(counted.always));
        let Some(to) = to else { return Ok(Handle::FALSE.negated_if(negated)) };
        let from = from.saturating_sub(counted.always);
        let (counted, common) = counted.divided();
        let (from, to) = (from.div_ceil(common), to / common);
        Ok(self.count_between(&counted, from, to)?.negated_if(negated))
    }

    fn count_between(&mut self, formulas: &[(Handle, usize)], from: usize, to: usize) -> Result<Handle, Stopped> {
        let mut tally = Tally { parts: Vec::new(), found: FxHashMap::default() };
        let order = formulas.iter().enumerate().map(|(i, (f, _))| (self.nodes[f.node()].vtree, i)).collect();
        let whole = self.meet(order, |manager, vtree, mut below: Vec<(u32, usize)>, own| {
            below.sort_unstable();
            let mut part = match below[..] {
                [(_, left), (_, right)] => Some(tally.apart(vtree, left, right)),
                _ => below.first().map(|&(_, part)| part),
            };
            if !own.is_empty() {
                let mut table = match part {
                    None => vec![(0, Handle::TRUE)],
                    Some(part) => {
                        let numbers: Vec<usize> = tally.parts[part].1.between(0, tally.most(part)).collect();
                        let exactly = |n| Ok((n, manager.counted(&mut tally, Some((part, n, n)))?));
                        numbers.into_iter().map(exactly).collect::<Result<_, _>>()?
                    }
                };
                for i in own {
                    table = manager.with_one_more(&table, formulas[i])?;
                }
                part = Some(tally.table(table));
            }
            Ok((vtree, part.expect("somebody meets here")))
        })?;
        match whole {
            None => Ok(if from == 0 { Handle::TRUE } else { Handle::FALSE }),
            Some((_, part)) => {
                let interval = tally.interval(part, from, to);
                self.counted(&mut tally, interval)
            }
        }
    }

    /// The formula of an interval, built after its parts.
    fn counted(&mut self, tally: &mut Tally, goal: Interval) -> Result<Handle, Stopped> {
        let mut stack: Vec<Interval> = vec![goal];
        while let Some(&interval) = stack.last() {
            let Some(key) = interval.filter(|_| tally.known(interval).is_none()) else {
                stack.pop();
                continue;
            };
            let (part, from, to) = key;
            let formula = match &tally.parts[part].0 {
                Part::Table(exactly) => {
                    let meant = exactly.iter().filter(|(n, _)| (from..=to).contains(n));
                    self.or_all(meant.map(|&(_, formula)| formula).collect())?
                }
                &Part::Apart { vtree, .. } => {
                    let parts = tally.elements(key);
                    let waiting = stack.len();
                    let needed = parts.iter().flat_map(|&(prime, _, sub)| [prime, sub]);
                    stack.extend(needed.filter(|&needed| tally.known(needed).is_none()));
                    if stack.len() > waiting {
                        continue;
                    }
                    let known = |interval| tally.known(interval).expect("found before");
                    let elements = parts.into_iter().map(|(prime, negated, sub)| Element {
                        prime: known(prime).negated_if(negated),
                        sub: known(sub),
                    });
                    let mut elements: Vec<Element> = elements.filter(|e| e.prime != Handle::FALSE).collect();
                    self.check_steps()?;
                    // Impossible intervals need no node, only an entry.
                    if tally.found.len() > self.limits.nodes {
                        return Err(self.stopped(Limit::Nodes(self.limits.nodes)));
                    }
                    self.distinct(vtree, &mut elements)?
                }
            };
            tally.found.insert(key, formula);
            stack.pop();
        }
        Ok(tally.known(goal).expect("just found"))
    }

    /// A decision whose subs differ unless formulas on the right depend on each other.
    fn distinct(&mut self, vtree: u32, elements: &mut [Element]) -> Result<Handle, Stopped> {
        elements.sort_unstable_by_key(|e| (e.sub, e.prime));
        if elements.windows(2).all(|pair| pair[0].sub != pair[1].sub) {
            return self.decision(vtree, elements);
        }
        let elements = elements.iter().map(|e| (e.prime, e.sub)).collect();
        self.partition(crate::vtree::VtreeId(vtree), elements)
    }

    /// The table with one more formula, over any variables, and its weight.
    fn with_one_more(
        &mut self,
        exactly: &[(usize, Handle)],
        (formula, weight): (Handle, usize),
    ) -> Result<Vec<(usize, Handle)>, Stopped> {
        let at = |n: Option<usize>| {
            let place = n.and_then(|n| exactly.binary_search_by_key(&n, |&(n, _)| n).ok());
            place.map_or(Handle::FALSE, |place| exactly[place].1)
        };
        let mut totals: Vec<usize> = exactly.iter().flat_map(|&(n, _)| [n, n + weight]).collect();
        totals.sort_unstable();
        totals.dedup();
        let one = |n: usize| Ok((n, self.if_else(formula, at(n.checked_sub(weight)), at(Some(n)))?));
        totals.into_iter().map(one).collect()
    }
}
