//! How many of some formulas hold, by counting over the vtree.
//!
//! Where formulas lie apart in the vtree, "from a to b of them hold" is a decision: for each number `i` on the left
//! that leaves the right a choice, the prime "exactly i hold" with the sub "from a − i to b − i hold"; one prime for all
//! numbers that leave everything open, one for those that leave nothing. All of them are such intervals again, over
//! fewer formulas, so nothing has to be combined: O(n·k²) elements for n variables and a bound k on balanced vtrees,
//! where writing the cases out takes n over k of them.

use super::{Element, Handle, Manager};
use crate::logic::formula::Comparison;
use crate::logic::limits::Stopped;
use rustc_hash::FxHashMap;

/// Formulas that are counted together.
enum Part {
    /// At `n`: exactly `n` hold.
    Table(Vec<Handle>),
    /// Those of a part over left and of a part over right variables of a vtree node; how many there are.
    Apart { vtree: u32, left: usize, right: usize, most: usize },
}

/// Parts of the formulas, and what was already found out: of a part, from so many to so many hold.
struct Tally {
    parts: Vec<Part>,
    found: FxHashMap<(usize, usize, usize), Handle>,
}

/// From `from` to `to` formulas of a part; `None` where that cannot be.
type Interval = Option<(usize, usize, usize)>;

impl Tally {
    /// How many formulas a part has.
    fn most(&self, part: usize) -> usize {
        match &self.parts[part] {
            Part::Table(exactly) => exactly.len() - 1,
            Part::Apart { most, .. } => *most,
        }
    }

    fn interval(&self, part: usize, from: usize, to: usize) -> Interval {
        let to = to.min(self.most(part));
        (from <= to).then_some((part, from, to))
    }

    /// What is known about an interval.
    fn known(&self, interval: Interval) -> Option<Handle> {
        let Some((part, from, to)) = interval else { return Some(Handle::FALSE) };
        if (from, to) == (0, self.most(part)) {
            return Some(Handle::TRUE);
        }
        self.found.get(&(part, from, to)).copied()
    }

    /// The elements of an interval of formulas that lie apart: the prime, whether it is negated, and the sub.
    fn elements(&self, (part, from, to): (usize, usize, usize)) -> Vec<(Interval, bool, Interval)> {
        let Part::Apart { left, right, .. } = self.parts[part] else { return Vec::new() };
        let (left_most, right_most) = (self.most(left), self.most(right));
        let (low, high) = (from.saturating_sub(right_most), to.min(left_most));
        let mut elements = vec![(self.interval(left, low, high), true, None)];
        // From so many on the left on, up to so many, the right may have any number.
        let open = to.checked_sub(right_most).map(|end| (from.max(low), end.min(high)));
        let open = open.filter(|(start, end)| start <= end);
        if let Some((start, end)) = open {
            elements.push((self.interval(left, start, end), false, self.interval(right, 0, right_most)));
        }
        for i in (low..=high).filter(|&i| open.is_none_or(|(start, end)| i < start || end < i)) {
            let sub = self.interval(right, from.saturating_sub(i), to - i);
            elements.push((self.interval(left, i, i), false, sub));
        }
        elements
    }
}

impl Manager {
    /// That so many of the formulas hold.
    pub fn count(&mut self, comparison: Comparison, bound: u32, formulas: &[Handle]) -> Result<Handle, Stopped> {
        let constant = formulas.iter().filter(|f| **f == Handle::TRUE).count();
        let counted: Vec<Handle> = formulas.iter().copied().filter(|f| self.vtree_of(*f).is_some()).collect();
        // At least k hold unless at most k − 1 do.
        let (from, to, negated) = match (comparison, bound as usize) {
            (Comparison::Exactly, bound) => (bound, Some(bound), false),
            (Comparison::AtMost, bound) => (0, Some(bound), false),
            (Comparison::AtLeast, bound) => (0, bound.checked_sub(1), true),
        };
        let to = to.and_then(|to| to.checked_sub(constant));
        let Some(to) = to else { return Ok(Handle::FALSE.negated_if(negated)) };
        let from = from.saturating_sub(constant);
        Ok(self.count_between(&counted, from, to)?.negated_if(negated))
    }

    fn count_between(&mut self, formulas: &[Handle], from: usize, to: usize) -> Result<Handle, Stopped> {
        let mut tally = Tally { parts: Vec::new(), found: FxHashMap::default() };
        let order = formulas.iter().enumerate().map(|(i, f)| (self.nodes[f.node()].vtree, i)).collect();
        let whole = self.meet(order, |manager, vtree, mut below: Vec<(u32, usize)>, own| {
            below.sort_unstable();
            let mut part = match below[..] {
                [(_, left), (_, right)] => {
                    let most = tally.most(left) + tally.most(right);
                    tally.parts.push(Part::Apart { vtree, left, right, most });
                    Some(tally.parts.len() - 1)
                }
                _ => below.first().map(|&(_, part)| part),
            };
            if !own.is_empty() {
                let mut table = match part {
                    None => vec![Handle::TRUE],
                    Some(part) => {
                        let numbers = 0..=tally.most(part);
                        let exactly = numbers.map(|n| manager.counted(&mut tally, Some((part, n, n))));
                        exactly.collect::<Result<_, _>>()?
                    }
                };
                for i in own {
                    table = manager.with_one_more(&table, formulas[i])?;
                }
                tally.parts.push(Part::Table(table));
                part = Some(tally.parts.len() - 1);
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

    /// The formula of an interval, found after those it is made of.
    fn counted(&mut self, tally: &mut Tally, goal: Interval) -> Result<Handle, Stopped> {
        let mut stack: Vec<Interval> = vec![goal];
        while let Some(&interval) = stack.last() {
            let Some(key) = interval.filter(|_| tally.known(interval).is_none()) else {
                stack.pop();
                continue;
            };
            let (part, from, to) = key;
            let formula = match &tally.parts[part] {
                Part::Table(exactly) => self.or_all(exactly[from..=to].to_vec())?,
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
                    self.distinct(vtree, &mut elements)?
                }
            };
            tally.found.insert(key, formula);
            stack.pop();
        }
        Ok(tally.known(goal).expect("just found"))
    }

    /// A decision whose subs are different unless formulas on the right depend on each other.
    fn distinct(&mut self, vtree: u32, elements: &mut [Element]) -> Result<Handle, Stopped> {
        elements.sort_unstable_by_key(|e| (e.sub, e.prime));
        if elements.windows(2).all(|pair| pair[0].sub != pair[1].sub) {
            return self.decision(vtree, elements);
        }
        let elements = elements.iter().map(|e| (e.prime, e.sub)).collect();
        self.partition(crate::vtree::VtreeId(vtree), elements)
    }

    /// The table with one more formula, over any variables.
    fn with_one_more(&mut self, exactly: &[Handle], formula: Handle) -> Result<Vec<Handle>, Stopped> {
        let at = |n: Option<usize>| n.and_then(|n| exactly.get(n)).copied().unwrap_or(Handle::FALSE);
        (0..=exactly.len()).map(|n| self.if_else(formula, at(n.checked_sub(1)), at(Some(n)))).collect()
    }
}
