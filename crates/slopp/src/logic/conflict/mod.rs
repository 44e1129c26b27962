//! Minimal contradictions among rules, and entailment by rules.

mod encode;
mod hitting;

use super::formula::{Formula, Rule, Rules};
use super::manager::{Handle, Manager};
use super::solver::Answer;
use crate::limits::{Limits, Stopped};
use crate::random::Random;
use crate::vtree::Vtree;
use encode::Encoded;
use hitting::{Hit, Sets};
use std::sync::Arc;

/// Rules that cannot all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The positions of the rules, ascending.
    pub rules: Vec<usize>,
    /// Whether all are needed: without any one of them the others can hold. If false, this is unproved.
    pub minimal: bool,
    /// Whether no conflict of these rules is smaller. If false, this is unproved.
    pub smallest: bool,
}

/// The most clauses and literals visited in each part of the search: for a conflict, for rules that can be left out,
/// for other orders, and for the proof that none is smaller.
pub(super) const WORK: u64 = 200_000_000;

/// In how many orders rules are left out one by one.
const ORDERS: u64 = 8;

/// The most nodes of a diagram in the search for a conflict that clauses do not find.
const NODES: usize = 200_000;

impl Rules {
    /// A small set of rules that contradict each other; `None` if all can hold together.
    ///
    /// Rules become clauses with switches. Rules are left out one by one, in several orders, and the smallest
    /// contradiction is kept. The proof that none is smaller collects sets of rules of which every contradiction needs
    /// one, as the other rules share a world. If a smallest hitting set of them is itself a contradiction, none is
    /// smaller (Ignatiev et al. 2015). Where clauses do not decide, a diagram on the vtree does.
    ///
    /// The limits are for that diagram; clauses have their own bounds in time and memory, and also stop when cancelled.
    /// A contradiction found before a limit is still returned, marked as perhaps not minimal.
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
        self.conflict_within(WORK, vtree.into(), limits)
    }

    /// The same, with this much work for each part of the search among clauses.
    fn conflict_within(&self, work: u64, vtree: Arc<Vtree>, limits: &Limits) -> Result<Option<Conflict>, Stopped> {
        if let Some(mut search) = Search::new(self, work, limits) {
            match search.solve(&(0..self.len()).collect::<Vec<_>>()) {
                Found::World(_) => return Ok(None),
                Found::Conflict(core) => return Ok(Some(search.explain(core))),
                Found::Nothing => {}
            }
        }
        self.conflict_by_diagrams(vtree, limits)
    }

    /// The same by diagrams: rules are joined until no world is left, and the last rule is part of a conflict.
    fn conflict_by_diagrams(&self, vtree: Arc<Vtree>, limits: &Limits) -> Result<Option<Conflict>, Stopped> {
        if Manager::new(vtree.clone(), limits.clone()).compile_rules(self)? != Handle::FALSE {
            return Ok(None);
        }
        let small = limits.clone().with_nodes(limits.nodes.min(NODES)).with_steps(NODES as u64 * 64);
        let mut manager = Manager::new(vtree, small);
        let mut shrink = || {
            let formulas = self.iter().map(|rule| manager.compile(&rule.formula)).collect::<Result<Vec<_>, _>>()?;
            manager.minimal_conflict(&formulas)
        };
        Ok(Some(match shrink() {
            Ok(mut rules) => {
                rules.sort_unstable();
                Conflict { smallest: rules.len() == 1, rules, minimal: true }
            }
            Err(_) => Conflict { rules: (0..self.len()).collect(), minimal: false, smallest: false },
        }))
    }
}

impl Manager {
    /// A minimal conflict of formulas that cannot all hold; starts with those known to be part of it.
    fn minimal_conflict(&mut self, formulas: &[Handle]) -> Result<Vec<usize>, Stopped> {
        let mut found: Vec<usize> = Vec::new();
        let mut known = Handle::TRUE;
        let mut end = formulas.len();
        while known != Handle::FALSE {
            let mut joined = known;
            let mut last = 0;
            while joined != Handle::FALSE {
                assert!(last < end, "no world is possible");
                joined = self.and(joined, formulas[last])?;
                last += 1;
            }
            // Rules after this one are not needed, and those before it are not enough.
            end = last - 1;
            found.push(end);
            known = self.and(known, formulas[end])?;
        }
        Ok(found)
    }
}

/// The outcome for a set of rules.
enum Found {
    /// They share a world, in which at least these rules hold.
    World(Vec<usize>),
    /// These of them contradict each other.
    Conflict(Vec<usize>),
    /// The work limit was reached.
    Nothing,
}

/// Rules as clauses.
pub(super) struct Search<'a> {
    rules: &'a Rules,
    encoded: Encoded,
    /// The rule of each switch, by variable, from that of the first.
    rule_of: Vec<usize>,
    /// The total number of steps of the rules.
    steps: usize,
    /// The work limit of each part of the search.
    work: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(rules: &'a Rules, work: u64, limits: &Limits) -> Option<Search<'a>> {
        let mut encoded = Encoded::new(rules, work)?;
        encoded.solver.cancel = limits.cancel.clone();
        let mut rule_of = vec![usize::MAX; encoded.solver.var_count()];
        encoded.switches.iter().enumerate().for_each(|(i, switch)| rule_of[switch.var()] = i);
        let steps = rules.iter().map(|rule| rule.formula.ops().len()).sum();
        Some(Search { rules, encoded, rule_of, steps, work })
    }

    /// A world in which all rules hold, or `Some(None)` if there is none; `None` at the work limit.
    pub(super) fn world(&mut self) -> Option<Option<Vec<bool>>> {
        match self.encoded.solver.solve(&self.encoded.switches) {
            Answer::Possible => Some(Some(self.encoded.solver.world(self.rules.var_count()))),
            Answer::Impossible(_) => Some(None),
            Answer::Unknown => None,
        }
    }

    /// Whether these rules can hold together.
    fn solve(&mut self, chosen: &[usize]) -> Found {
        let switches: Vec<_> = chosen.iter().map(|&i| self.encoded.switches[i]).collect();
        match self.encoded.solver.solve(&switches) {
            Answer::Possible => {
                let world = self.encoded.solver.world(self.rules.var_count());
                self.encoded.solver.spend(self.encoded.solver.var_count() + self.steps);
                Found::World((0..self.rules.len()).filter(|&i| self.rules[i].formula.is_satisfied_by(&world)).collect())
            }
            Answer::Impossible(core) => Found::Conflict(core.iter().map(|switch| self.rule_of[switch.var()]).collect()),
            Answer::Unknown => Found::Nothing,
        }
    }

    /// A small contradiction among rules that contradict each other.
    fn explain(&mut self, core: Vec<usize>) -> Conflict {
        self.encoded.solver.work = self.work;
        let (mut best, minimal) = self.shrink(core.clone());
        self.encoded.solver.work = self.work;
        let mut smallest = best.len() <= 1;
        // Where one order was too much work, so are others.
        if !smallest && minimal {
            for order in 1..ORDERS {
                let mut shuffled = core.clone();
                Random::stream(0, order).shuffle(&mut shuffled);
                self.encoded.solver.work = self.encoded.solver.work.min(self.work / ORDERS * (ORDERS + 1 - order) / 2);
                let (other, is_minimal) = self.shrink(shuffled);
                if is_minimal && other.len() < best.len() {
                    best = other;
                }
            }
            self.encoded.solver.work = self.work;
            smallest = self.prove_smallest(&mut best);
        }
        best.sort_unstable();
        Conflict { rules: best, minimal, smallest }
    }

    /// Leaves out rules one by one; returns whether the result is proved minimal.
    fn shrink(&mut self, mut core: Vec<usize>) -> (Vec<usize>, bool) {
        let (mut needed, mut minimal) = (Vec::new(), true);
        while let Some(tried) = core.pop() {
            let rest: Vec<usize> = needed.iter().chain(&core).copied().collect();
            match self.solve(&rest) {
                Found::Conflict(found) => {
                    let mut is_left = vec![false; self.rules.len()];
                    found.iter().for_each(|&i| is_left[i] = true);
                    core.retain(|&i| is_left[i]);
                }
                Found::World(_) => needed.push(tried),
                Found::Nothing => {
                    needed.push(tried);
                    minimal = false;
                    // No work is left.
                    needed.append(&mut core);
                }
            }
        }
        (needed, minimal)
    }

    /// Looks for smaller conflicts until there is none; returns whether that was proved.
    fn prove_smallest(&mut self, best: &mut Vec<usize>) -> bool {
        let mut sets = Sets::new(self.rules.len());
        loop {
            let hit = match sets.fewest(best.len()) {
                Hit::Fewest(hit) => hit,
                Hit::NoneBelow => return true,
                Hit::Unknown => return false,
            };
            match self.solve(&hit) {
                // A smallest hitting set that is a conflict: no conflict is smaller.
                Found::Conflict(_) => {
                    *best = hit;
                    return true;
                }
                Found::World(kept) => match self.grow(kept) {
                    Some(missing) => sets.push(missing),
                    None => return false,
                },
                Found::Nothing => return false,
            }
        }
    }

    /// Extends rules that can hold together until no more can be added; returns the others, one of which every conflict
    /// needs.
    fn grow(&mut self, mut kept: Vec<usize>) -> Option<Vec<usize>> {
        let mut is_kept = vec![false; self.rules.len()];
        kept.iter().for_each(|&i| is_kept[i] = true);
        let mut missing = Vec::new();
        for i in 0..self.rules.len() {
            if is_kept[i] {
                continue;
            }
            kept.push(i);
            match self.solve(&kept) {
                Found::World(more) => {
                    more.iter().for_each(|&j| is_kept[j] = true);
                    kept = more;
                }
                Found::Conflict(_) => {
                    kept.pop();
                    missing.push(i);
                }
                Found::Nothing => return None,
            }
        }
        Some(missing)
    }
}

impl Rules {
    /// A world in which all rules hold and a formula does not; `None` if the rules entail it.
    ///
    /// Rules and the negated formula are solved as clauses. Only if that reaches its work limit, a diagram on the
    /// vtree, or on a good one for the rules, decides within the limits. Rules that contradict each other entail
    /// everything.
    ///
    /// ```
    /// use slopp::logic::{Formula, Limits, Rules};
    /// let rules = Rules::parse("a -> b\nb -> c")?;
    /// let counterexample = |text| -> Result<_, Box<dyn std::error::Error>> {
    ///     let formula = Formula::parse(text, rules.names())?;
    ///     Ok(rules.counterexample(&formula, None, &Limits::default())?)
    /// };
    /// assert_eq!(counterexample("a -> c")?, None);
    /// let world = counterexample("c -> a")?.unwrap();
    /// assert!(rules.broken_by(&world).is_empty() && world[2] && !world[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are no variables, or the formula has other variables than the rules.
    pub fn counterexample(
        &self,
        formula: &Formula,
        vtree: Option<&Arc<Vtree>>,
        limits: &Limits,
    ) -> Result<Option<Vec<bool>>, Stopped> {
        let denied = Rule { formula: !formula.clone(), text: "denied".to_owned(), line: 0 };
        let rules = self.iter().cloned().chain([denied]).collect();
        Rules::with_origin(self.names().clone(), rules).world(vtree, limits)
    }

    /// A world in which all rules hold; `None` if they contradict each other. Cost: as [`Rules::counterexample`].
    pub fn world(&self, vtree: Option<&Arc<Vtree>>, limits: &Limits) -> Result<Option<Vec<bool>>, Stopped> {
        if let Some(decided) = Search::new(self, WORK, limits).and_then(|mut search| search.world()) {
            return Ok(decided);
        }
        let vtree = vtree.cloned().unwrap_or_else(|| Arc::new(self.min_fill_vtree()));
        let mut manager = Manager::new(vtree, limits.clone());
        let all = manager.compile_rules(self)?;
        Ok(manager.world(all))
    }

    /// Whether clauses show that the rules contradict each other; if not, they still may.
    pub fn is_contradiction(&self, limits: &Limits) -> bool {
        Search::new(self, WORK, limits).and_then(|mut search| search.world()).is_some_and(|world| world.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limit;
    use crate::logic::formula::{Comparison, Formula};
    use crate::names::Names;
    use crate::var::Var;
    use std::sync::atomic::AtomicBool;

    /// A chain that contradicts itself, between two unrelated rules.
    fn chain() -> Rules {
        Rules::parse("f | g\na -> b\nb -> c\na & !c\nf -> g").unwrap()
    }

    #[test]
    fn diagrams_find_what_clauses_find() {
        let rules = chain();
        let vtree = Arc::new(rules.min_fill_vtree());
        let found = rules.conflict_by_diagrams(vtree.clone(), &Limits::default()).unwrap().unwrap();
        assert_eq!(found, Conflict { rules: vec![1, 2, 3], minimal: true, smallest: false });
        assert_eq!(rules.conflict(vtree, &Limits::default()).unwrap().unwrap().rules, found.rules);
        let possible = Rules::parse("a -> b\nb | c").unwrap();
        let none = possible.conflict_by_diagrams(Arc::new(Vtree::balanced(3)), &Limits::default()).unwrap();
        assert_eq!(none, None);
        // One rule that contradicts itself is a smallest conflict.
        let own = Rules::parse("a\nb & !b").unwrap();
        let found = own.conflict_by_diagrams(Arc::new(Vtree::balanced(2)), &Limits::default()).unwrap().unwrap();
        assert_eq!(found, Conflict { rules: vec![1], minimal: true, smallest: true });
    }

    #[test]
    fn rules_are_left_out_even_if_the_conflict_took_all_work() {
        let rules = chain();
        let mut search = Search::new(&rules, WORK, &Limits::default()).unwrap();
        let Found::Conflict(_) = search.solve(&[0, 1, 2, 3, 4]) else { panic!("they contradict each other") };
        search.encoded.solver.work = 0;
        let found = search.explain(vec![0, 1, 2, 3, 4]);
        assert_eq!(found, Conflict { rules: vec![1, 2, 3], minimal: true, smallest: true });
    }

    /// One pigeon more than holes, and an unrelated rule.
    fn pigeons(holes: usize) -> Rules {
        let cell = |pigeon: usize, hole: usize| Var((pigeon * holes + hole) as u32).is(true).into();
        let some_hole = (0..=holes).map(|pigeon| Formula::or((0..holes).map(|hole| cell(pigeon, hole))));
        let one_pigeon =
            (0..holes).map(|hole| Formula::count(Comparison::AtMost, 1, (0..=holes).map(|pigeon| cell(pigeon, hole))));
        let vars = (holes + 1) * holes + 1;
        let other = Var(vars as u32 - 1).is(true).into();
        Rules::new(Names::numbered(vars), some_hole.chain(one_pigeon).chain([other]))
    }

    #[test]
    fn what_clauses_do_not_decide_is_decided_by_diagrams() {
        let (holes, work, limits) = (5, 1000, Limits::default());
        let rules = pigeons(holes);
        let all: Vec<usize> = (0..rules.len()).collect();
        assert!(matches!(Search::new(&rules, work, &limits).unwrap().solve(&all), Found::Nothing));
        let found = rules.conflict_within(work, Arc::new(rules.min_fill_vtree()), &limits).unwrap();
        let expected = Conflict { rules: (0..2 * holes + 1).collect(), minimal: true, smallest: false };
        assert_eq!(found, Some(expected));
        // Without the last pigeon all have a place, which clauses do not see either.
        let possible = Rules::new(rules.names().clone(), (1..rules.len()).map(|i| rules[i].formula.clone()));
        assert!(matches!(Search::new(&possible, 0, &limits).unwrap().solve(&all[..possible.len()]), Found::Nothing));
        assert_eq!(possible.conflict_within(0, Arc::new(possible.min_fill_vtree()), &limits).unwrap(), None);
    }

    #[test]
    fn a_cancelled_search_stops_like_one_whose_work_is_used_up() {
        let cancel = Arc::new(AtomicBool::new(true));
        let limits = Limits { cancel: Some(cancel), ..Limits::default() };
        let rules = chain();
        let mut search = Search::new(&rules, WORK, &limits).unwrap();
        assert!(matches!(search.solve(&[0, 1, 2, 3, 4]), Found::Nothing));
        assert_eq!(search.explain(vec![1, 2, 3]), Conflict { rules: vec![1, 2, 3], minimal: false, smallest: false });
        // Diagrams check now and then, so small ones finish first.
        let rules = pigeons(8);
        let stopped = rules.conflict(rules.min_fill_vtree(), &limits).unwrap_err();
        assert_eq!(stopped.limit, Limit::Cancelled);
    }
}
