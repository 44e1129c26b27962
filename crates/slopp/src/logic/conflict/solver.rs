//! Whether clauses can hold together: search with learned clauses, under assumptions.
//!
//! A diagram of contradicting rules is small, but one of half of them may be huge. Whether half of them can hold needs no
//! diagram: one world, or a proof that there is none, is enough.

use super::order::Order;

/// A literal: twice its variable, plus one if negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct L(u32);

impl L {
    pub(super) fn new(var: usize, value: bool) -> L {
        L(2 * var as u32 + u32::from(!value))
    }

    pub(super) fn var(self) -> usize {
        (self.0 / 2) as usize
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::ops::Not for L {
    type Output = L;

    fn not(self) -> L {
        L(self.0 ^ 1)
    }
}

/// What became of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The clauses hold where the variables have these values.
    Possible(Vec<bool>),
    /// These assumptions are enough to make the clauses impossible.
    Impossible(Vec<L>),
    /// The work that was allowed did not suffice.
    Unknown,
}

/// No clause: a value that was decided.
const DECIDED: u32 = u32::MAX;

/// Conflicts between restarts, times Luby's sequence.
const RESTART: u64 = 64;

/// The most literals of learned clauses, so that memory is bounded; above, long ones are forgotten.
const MOST_LEARNED: usize = 10_000_000;

/// Clauses, what follows from them, and how much work is left.
pub(super) struct Solver {
    /// The literals of all clauses; the first two of each are watched.
    lits: Vec<L>,
    /// Where each clause begins; one more for the end.
    starts: Vec<u32>,
    /// For each literal, the clauses that watch it.
    watches: Vec<Vec<u32>>,
    values: Vec<Option<bool>>,
    /// What each variable was last: tried first.
    last: Vec<bool>,
    level: Vec<u32>,
    reason: Vec<u32>,
    /// What is true, in the order it became so.
    trail: Vec<L>,
    /// Where on the trail each level begins.
    levels: Vec<usize>,
    /// How much of the trail was propagated.
    propagated: usize,
    order: Order,
    seen: Vec<bool>,
    /// Whether the clauses are impossible by themselves.
    broken: bool,
    /// Which clauses were learned.
    is_learned: Vec<bool>,
    /// How many literals learned clauses have, and may have.
    learned: usize,
    most_learned: usize,
    /// How much work is left: clauses and literals looked at.
    pub(super) work: u64,
}

impl Solver {
    pub(super) fn new(work: u64) -> Solver {
        Solver {
            lits: Vec::new(),
            starts: vec![0],
            watches: Vec::new(),
            values: Vec::new(),
            last: Vec::new(),
            level: Vec::new(),
            reason: Vec::new(),
            trail: Vec::new(),
            levels: Vec::new(),
            propagated: 0,
            order: Order::default(),
            seen: Vec::new(),
            broken: false,
            is_learned: Vec::new(),
            learned: 0,
            most_learned: MOST_LEARNED,
            work,
        }
    }

    pub(super) fn var_count(&self) -> usize {
        self.values.len()
    }

    /// How many literals the clauses have.
    pub(super) fn size(&self) -> usize {
        self.lits.len()
    }

    pub(super) fn new_var(&mut self) -> L {
        let var = self.values.len();
        self.watches.extend([Vec::new(), Vec::new()]);
        self.values.push(None);
        self.last.push(false);
        self.level.push(0);
        self.reason.push(DECIDED);
        self.seen.push(false);
        self.order.push(var);
        L::new(var, true)
    }

    /// Adds a clause; nothing may be assumed at the time.
    pub(super) fn add(&mut self, clause: &[L]) {
        debug_assert!(self.levels.is_empty());
        let mut clause = clause.to_vec();
        clause.sort_unstable_by_key(|lit| lit.0);
        clause.dedup();
        let always = clause.windows(2).any(|pair| pair[0] == !pair[1]);
        if always || clause.iter().any(|&lit| self.value(lit) == Some(true)) {
            return;
        }
        clause.retain(|&lit| self.value(lit).is_none());
        match clause[..] {
            [] => self.broken = true,
            [lit] => {
                self.set(lit, DECIDED);
                self.broken |= self.propagate().is_some();
            }
            _ => {
                self.push_clause(&clause, false);
            }
        }
    }

    fn push_clause(&mut self, clause: &[L], is_learned: bool) -> u32 {
        let id = self.starts.len() as u32 - 1;
        clause[..2].iter().for_each(|lit| self.watches[lit.index()].push(id));
        self.lits.extend_from_slice(clause);
        self.starts.push(self.lits.len() as u32);
        self.is_learned.push(is_learned);
        self.learned += if is_learned { clause.len() } else { 0 };
        id
    }

    pub(super) fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_sub(work as u64);
    }

    fn range(&self, clause: u32) -> std::ops::Range<usize> {
        self.starts[clause as usize] as usize..self.starts[clause as usize + 1] as usize
    }

    fn value(&self, lit: L) -> Option<bool> {
        self.values[lit.var()].map(|value| value == (lit.0 & 1 == 0))
    }

    fn set(&mut self, lit: L, reason: u32) {
        let var = lit.var();
        self.values[var] = Some(lit.0 & 1 == 0);
        self.level[var] = self.levels.len() as u32;
        self.reason[var] = reason;
        self.trail.push(lit);
    }

    /// All that follows from what is true; the clause that is broken then, if any.
    fn propagate(&mut self) -> Option<u32> {
        while self.propagated < self.trail.len() {
            let false_lit = !self.trail[self.propagated];
            self.propagated += 1;
            let watching = std::mem::take(&mut self.watches[false_lit.index()]);
            self.spend(1 + watching.len());
            let mut kept = Vec::with_capacity(watching.len());
            let mut broken = None;
            for (i, &clause) in watching.iter().enumerate() {
                let range = self.range(clause);
                let start = range.start;
                if self.lits[start] == false_lit {
                    self.lits.swap(start, start + 1);
                }
                let first = self.lits[start];
                if self.value(first) == Some(true) {
                    kept.push(clause);
                    continue;
                }
                let other = (start + 2..range.end).find(|&j| self.value(self.lits[j]) != Some(false));
                self.spend(other.unwrap_or(range.end) - start);
                if let Some(j) = other {
                    self.lits.swap(start + 1, j);
                    self.watches[self.lits[start + 1].index()].push(clause);
                    continue;
                }
                kept.push(clause);
                if self.value(first) == Some(false) {
                    kept.extend_from_slice(&watching[i + 1..]);
                    broken = Some(clause);
                    break;
                }
                self.set(first, clause);
            }
            self.watches[false_lit.index()] = kept;
            if broken.is_some() {
                self.propagated = self.trail.len();
                return broken;
            }
        }
        None
    }

    /// Whether the clauses can hold together with the assumptions.
    pub(super) fn solve(&mut self, assumptions: &[L]) -> Answer {
        if self.broken {
            return Answer::Impossible(Vec::new());
        }
        self.spend(assumptions.len());
        let answer = self.search(assumptions);
        self.back_to(0);
        answer
    }

    fn search(&mut self, assumptions: &[L]) -> Answer {
        let (mut conflicts, mut restarts) = (0, 0);
        loop {
            if let Some(clause) = self.propagate() {
                if self.levels.is_empty() {
                    self.broken = true;
                    return Answer::Impossible(Vec::new());
                }
                conflicts += 1;
                let (learned, level) = self.learn(clause);
                self.back_to(level);
                match learned[..] {
                    [lit] => self.set(lit, DECIDED),
                    _ => {
                        let id = self.push_clause(&learned, true);
                        self.set(learned[0], id);
                    }
                }
                self.order.decay();
                if self.learned > self.most_learned {
                    self.back_to(0);
                    self.forget();
                }
                continue;
            }
            if self.work == 0 {
                return Answer::Unknown;
            }
            if conflicts >= RESTART * luby(restarts) {
                (conflicts, restarts) = (0, restarts + 1);
                self.back_to(0);
                continue;
            }
            // Assumptions are decided first, one per level.
            let next = match assumptions.get(self.levels.len()) {
                Some(&lit) => match self.value(lit) {
                    Some(false) => return Answer::Impossible(self.reasons_against(lit)),
                    Some(true) => None,
                    None => Some(lit),
                },
                None => match self.undecided() {
                    Some(var) => Some(L::new(var, self.last[var])),
                    None => return Answer::Possible(self.values.iter().map(|value| *value == Some(true)).collect()),
                },
            };
            self.levels.push(self.trail.len());
            if let Some(lit) = next {
                self.set(lit, DECIDED);
            }
        }
    }

    fn undecided(&mut self) -> Option<usize> {
        while let Some(var) = self.order.pop() {
            if self.values[var].is_none() {
                return Some(var);
            }
        }
        None
    }

    /// The clause that the first unique implication point gives, its true-to-be literal first, and the level to go to.
    fn learn(&mut self, broken: u32) -> (Vec<L>, usize) {
        let now = self.levels.len() as u32;
        let mut learned = vec![L(0)];
        let mut work = self.trail.len();
        let (mut open, mut place, mut clause, mut resolved) = (0, self.trail.len(), broken, None);
        loop {
            work += self.range(clause).len();
            for i in self.range(clause) {
                let lit = self.lits[i];
                let var = lit.var();
                if Some(var) == resolved || self.seen[var] || self.level[var] == 0 {
                    continue;
                }
                self.seen[var] = true;
                self.order.bump(var);
                match self.level[var] == now {
                    true => open += 1,
                    false => learned.push(lit),
                }
            }
            let lit = loop {
                place -= 1;
                if self.seen[self.trail[place].var()] {
                    break self.trail[place];
                }
            };
            self.seen[lit.var()] = false;
            open -= 1;
            if open == 0 {
                learned[0] = !lit;
                break;
            }
            (clause, resolved) = (self.reason[lit.var()], Some(lit.var()));
        }
        self.spend(work - place);
        learned.iter().for_each(|lit| self.seen[lit.var()] = false);
        let highest = (1..learned.len()).max_by_key(|&i| self.level[learned[i].var()]);
        let level = highest.map_or(0, |i| {
            learned.swap(1, i);
            self.level[learned[1].var()] as usize
        });
        (learned, level)
    }

    /// The assumptions, this one among them, that make an assumption false.
    fn reasons_against(&mut self, assumption: L) -> Vec<L> {
        let mut found = vec![assumption];
        self.spend(self.trail.len());
        self.seen[assumption.var()] = true;
        for i in (0..self.trail.len()).rev() {
            let lit = self.trail[i];
            if !std::mem::take(&mut self.seen[lit.var()]) || self.level[lit.var()] == 0 {
                continue;
            }
            match self.reason[lit.var()] {
                DECIDED => found.push(lit),
                clause => {
                    self.spend(self.range(clause).len());
                    let others = self.lits[self.range(clause)].iter().filter(|other| other.var() != lit.var());
                    others.for_each(|other| self.seen[other.var()] = true);
                }
            }
        }
        found
    }

    /// Keeps half of what may be learned: short clauses, of those as long the last ones. Only where nothing is assumed.
    fn forget(&mut self) {
        debug_assert!(self.levels.is_empty());
        self.spend(self.lits.len() + self.starts.len());
        let mut by_length: Vec<u32> =
            (0..self.is_learned.len() as u32).filter(|&id| self.is_learned[id as usize]).collect();
        by_length.sort_by_key(|&id| (self.range(id).len(), std::cmp::Reverse(id)));
        let mut is_kept: Vec<bool> = self.is_learned.iter().map(|is_learned| !is_learned).collect();
        let mut left = self.most_learned / 2;
        for id in by_length {
            match left.checked_sub(self.range(id).len()) {
                Some(less) => left = less,
                None => break,
            }
            is_kept[id as usize] = true;
        }
        let (lits, starts) = (std::mem::take(&mut self.lits), std::mem::replace(&mut self.starts, vec![0]));
        let is_learned = std::mem::take(&mut self.is_learned);
        self.watches.iter_mut().for_each(Vec::clear);
        self.learned = 0;
        // What holds without assumptions needs no reason any more.
        self.trail.iter().for_each(|lit| self.reason[lit.var()] = DECIDED);
        for id in (0..is_kept.len()).filter(|&id| is_kept[id]) {
            self.push_clause(&lits[starts[id] as usize..starts[id + 1] as usize], is_learned[id]);
        }
    }

    fn back_to(&mut self, level: usize) {
        let Some(&start) = self.levels.get(level) else { return };
        for lit in self.trail.drain(start..) {
            let var = lit.var();
            self.last[var] = self.values[var] == Some(true);
            self.values[var] = None;
            self.order.insert(var);
        }
        self.levels.truncate(level);
        self.propagated = start;
    }
}

/// 1, 1, 2, 1, 1, 2, 4, …
fn luby(mut i: u64) -> u64 {
    loop {
        let length = (i + 2).next_power_of_two();
        if length == i + 2 {
            return length / 2;
        }
        i -= length / 2 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn answers_are_those_of_enumeration() {
        let mut seen = [0; 2];
        for seed in 0..600 {
            let mut random = Random::new(seed);
            let (vars, number) = (1 + random.below(7), random.below(40));
            let mut lit = || L::new(random.below(vars), random.below(2) == 0);
            let clauses: Vec<Vec<L>> = (0..number).map(|i| (0..1 + i % 4).map(|_| lit()).collect()).collect();
            let assumed: Vec<Vec<L>> = (0..4).map(|i| (0..i).map(|_| lit()).collect()).collect();
            let mut solver = Solver::new(1 << 30);
            // Every other one forgets most of what it learns.
            solver.most_learned = if seed % 2 == 0 { MOST_LEARNED } else { 12 };
            for _ in 0..vars {
                solver.new_var();
            }
            clauses.iter().for_each(|clause| solver.add(clause));
            let holds = |world: u32, lit: &L| (world >> lit.var() & 1 == 1) == (lit.0 & 1 == 0);
            let obeys = |world: u32| clauses.iter().all(|clause| clause.iter().any(|lit| holds(world, lit)));
            let possible = |lits: &[L]| (0..1 << vars).any(|w| obeys(w) && lits.iter().all(|lit| holds(w, lit)));
            for lits in &assumed {
                match solver.solve(lits) {
                    Answer::Possible(world) => {
                        let world = world.iter().rev().fold(0, |w, &bit| 2 * w + u32::from(bit));
                        assert!(obeys(world) && lits.iter().all(|lit| holds(world, lit)), "seed {seed}");
                        seen[0] += 1;
                    }
                    Answer::Impossible(core) => {
                        assert!(!possible(&core) && core.iter().all(|lit| lits.contains(lit)), "seed {seed}");
                        seen[1] += 1;
                    }
                    Answer::Unknown => panic!("seed {seed}"),
                }
            }
        }
        assert!(seen.iter().all(|&n| n > 300), "{seen:?}");
    }

    #[test]
    fn restarts_follow_luby() {
        assert_eq!((0..15).map(luby).collect::<Vec<_>>(), [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    /// One pigeon more than holes, which has no short proof.
    fn pigeons(holes: usize) -> Solver {
        let mut solver = Solver::new(1 << 30);
        let vars: Vec<L> = (0..(holes + 1) * holes).map(|_| solver.new_var()).collect();
        vars.chunks(holes).for_each(|pigeon| solver.add(pigeon));
        for (hole, b) in (0..holes).flat_map(|hole| (0..=holes).map(move |b| (hole, b))) {
            (0..b).for_each(|a| solver.add(&[!vars[holes * a + hole], !vars[holes * b + hole]]));
        }
        solver
    }

    #[test]
    fn work_is_bounded() {
        let mut solver = pigeons(6);
        solver.work = 500;
        assert_eq!(solver.solve(&[]), Answer::Unknown);
        solver.work = 1 << 30;
        assert_eq!(solver.solve(&[]), Answer::Impossible(Vec::new()));
    }

    #[test]
    fn literals_are_work() {
        // All literals of one long clause are looked at, again and again.
        let mut solver = Solver::new(1 << 30);
        let vars: Vec<L> = (0..1001).map(|_| solver.new_var()).collect();
        solver.add(&vars);
        let before = solver.work;
        let no: Vec<L> = vars[..1000].iter().rev().map(|&lit| !lit).collect();
        assert!(matches!(solver.solve(&no), Answer::Possible(_)));
        let looked_at = before - solver.work;
        assert!(looked_at > 3000, "{looked_at}");
    }

    #[test]
    fn what_is_learned_is_bounded() {
        let sizes = [MOST_LEARNED, 2000].map(|most| {
            let mut solver = pigeons(7);
            let given = solver.size();
            (solver.most_learned, solver.work) = (most, 20_000_000);
            assert!(!matches!(solver.solve(&[]), Answer::Possible(_)));
            let learned: usize = (0..solver.is_learned.len() as u32)
                .filter(|&id| solver.is_learned[id as usize])
                .map(|id| solver.range(id).len())
                .sum();
            assert_eq!((learned, solver.size()), (solver.learned, given + learned));
            learned
        });
        assert!(sizes[0] > 4000 && sizes[1] <= 2000, "{sizes:?}");
    }
}
