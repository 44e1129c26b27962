//! Satisfiability of clauses: search with learned clauses, under assumptions.
//!
//! A diagram of contradicting rules is small, but one of half of them may be huge. Whether half of them can hold needs
//! no diagram: one world, or a proof that there is none, is enough. Questions with a common beginning of assumptions
//! share its consequences.
//!
//! References: J. Marques-Silva and K. Sakallah, GRASP, IEEE Transactions on Computers 1999 (learned clauses); N. Eén and
//! N. Sörensson, An Extensible SAT-solver, SAT 2003 (assumptions).

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The clauses hold together with the assumptions, in [`Solver::world`].
    Possible,
    /// These assumptions are enough to make the clauses impossible.
    Impossible(Vec<L>),
    /// The work limit was reached.
    Unknown,
}

/// No clause: the value was decided.
const DECIDED: u32 = u32::MAX;

/// Conflicts between restarts, times Luby's sequence.
const RESTART: u64 = 64;

/// The most literals of learned clauses; above, long ones are forgotten.
const MOST_LEARNED: usize = 10_000_000;

/// Clauses, their consequences, and the remaining work.
pub(super) struct Solver {
    /// The literals of all clauses; the first two of each are watched.
    lits: Vec<L>,
    /// Where each clause starts, and the end.
    starts: Vec<u32>,
    /// For each literal, the clauses that watch it.
    watches: Vec<Vec<u32>>,
    values: Vec<Option<bool>>,
    /// The last value of each variable, which is tried first.
    last: Vec<bool>,
    level: Vec<u32>,
    reason: Vec<u32>,
    /// The true literals, in the order they became so.
    trail: Vec<L>,
    /// Where on the trail each level starts.
    levels: Vec<usize>,
    /// How much of the trail is propagated.
    propagated: usize,
    /// The last assumptions, one per level from the first.
    assumed: Vec<L>,
    order: Order,
    seen: Vec<bool>,
    /// Whether the clauses are impossible by themselves.
    broken: bool,
    /// Which clauses were learned.
    is_learned: Vec<bool>,
    /// The number of literals of learned clauses, and its limit.
    learned: usize,
    most_learned: usize,
    /// The remaining work: clauses and literals visited.
    pub(super) work: u64,
    /// Once cancelled, no work is left.
    pub(super) cancel: Option<Arc<AtomicBool>>,
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
            assumed: Vec::new(),
            order: Order::default(),
            seen: Vec::new(),
            broken: false,
            is_learned: Vec::new(),
            learned: 0,
            most_learned: MOST_LEARNED,
            work,
            cancel: None,
        }
    }

    pub(super) fn var_count(&self) -> usize {
        self.values.len()
    }

    /// The number of literals of the clauses.
    pub(super) fn size(&self) -> usize {
        self.lits.len()
    }

    /// A new variable, tried as false first.
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

    /// Tries this value of a variable first.
    pub(super) fn prefer(&mut self, var: usize, value: bool) {
        self.last[var] = value;
    }

    /// Adds a clause.
    pub(super) fn add(&mut self, clause: &[L]) {
        self.back_to(0);
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

    /// Propagates all consequences; returns the broken clause, if any.
    fn propagate(&mut self) -> Option<u32> {
        while self.propagated < self.trail.len() {
            let false_lit = !self.trail[self.propagated];
            self.propagated += 1;
            let mut watching = std::mem::take(&mut self.watches[false_lit.index()]);
            self.spend(1 + watching.len());
            // Clauses that keep watching move to the front.
            let (mut kept, mut broken) = (0, None);
            for i in 0..watching.len() {
                let clause = watching[i];
                watching[kept] = clause;
                kept += 1;
                let range = self.range(clause);
                let start = range.start;
                if self.lits[start] == false_lit {
                    self.lits.swap(start, start + 1);
                }
                let first = self.lits[start];
                if self.value(first) == Some(true) {
                    continue;
                }
                let other = (start + 2..range.end).find(|&j| self.value(self.lits[j]) != Some(false));
                self.spend(other.unwrap_or(range.end) - start);
                if let Some(j) = other {
                    self.lits.swap(start + 1, j);
                    self.watches[self.lits[start + 1].index()].push(clause);
                    kept -= 1;
                    continue;
                }
                if self.value(first) == Some(false) {
                    watching.copy_within(i + 1.., kept);
                    kept += watching.len() - (i + 1);
                    broken = Some(clause);
                    break;
                }
                self.set(first, clause);
            }
            watching.truncate(kept);
            self.watches[false_lit.index()] = watching;
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
        let shared = self.assumed.iter().zip(assumptions).take_while(|(a, b)| a == b).count();
        self.back_to(shared);
        self.assumed.truncate(shared);
        self.assumed.extend_from_slice(&assumptions[shared..]);
        self.search(assumptions)
    }

    /// The values of the first variables, after a satisfiable answer and until the next question.
    pub(super) fn world(&self, vars: usize) -> Vec<bool> {
        self.values[..vars].iter().map(|value| *value == Some(true)).collect()
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
            if self.work == 0 || self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Answer::Unknown;
            }
            if conflicts >= RESTART * luby(restarts) {
                (conflicts, restarts) = (0, restarts + 1);
                self.back_to(assumptions.len());
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
                    None => return Answer::Possible,
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

impl Solver {
    fn push_clause(&mut self, clause: &[L], is_learned: bool) -> u32 {
        let id = self.starts.len() as u32 - 1;
        clause[..2].iter().for_each(|lit| self.watches[lit.index()].push(id));
        self.lits.extend_from_slice(clause);
        self.starts.push(self.lits.len() as u32);
        self.is_learned.push(is_learned);
        self.learned += if is_learned { clause.len() } else { 0 };
        id
    }

    /// The clause of the first unique implication point, with its asserting literal first, and the level to go to.
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

    /// The assumptions, including this one, that make an assumption false.
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

    /// Keeps half of the learned clauses: short ones, and the latest of equal length. Only where nothing is assumed.
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
        // Literals that hold without assumptions need no reason any more.
        self.trail.iter().for_each(|lit| self.reason[lit.var()] = DECIDED);
        for id in (0..is_kept.len()).filter(|&id| is_kept[id]) {
            self.push_clause(&lits[starts[id] as usize..starts[id + 1] as usize], is_learned[id]);
        }
    }
}

/// Variables by how often they were in recent conflicts: a heap.
#[derive(Default)]
struct Order {
    heap: Vec<u32>,
    /// The place of each variable in the heap, if it is there.
    place: Vec<Option<u32>>,
    activity: Vec<f64>,
    step: f64,
}

impl Order {
    fn push(&mut self, var: usize) {
        self.step = 1.0;
        self.place.push(None);
        self.activity.push(0.0);
        self.insert(var);
    }

    fn insert(&mut self, var: usize) {
        if self.place[var].is_none() {
            self.place[var] = Some(self.heap.len() as u32);
            self.heap.push(var as u32);
            self.up(self.heap.len() - 1);
        }
    }

    fn pop(&mut self) -> Option<usize> {
        let var = *self.heap.first()? as usize;
        let last = self.heap.pop().expect("there is one") as usize;
        self.place[var] = None;
        if last != var {
            self.heap[0] = last as u32;
            self.place[last] = Some(0);
            self.down(0);
        }
        Some(var)
    }

    fn bump(&mut self, var: usize) {
        self.activity[var] += self.step;
        if self.activity[var] > 1e100 {
            self.activity.iter_mut().for_each(|activity| *activity *= 1e-100);
            self.step *= 1e-100;
        }
        if let Some(place) = self.place[var] {
            self.up(place as usize);
        }
    }

    fn decay(&mut self) {
        self.step /= 0.95;
    }

    /// Whether one place of the heap belongs above another; ties by number.
    fn above(&self, a: usize, b: usize) -> bool {
        let [a, b] = [self.heap[a] as usize, self.heap[b] as usize];
        self.activity[a] > self.activity[b] || (self.activity[a] == self.activity[b] && a < b)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        [a, b].into_iter().for_each(|i| self.place[self.heap[i] as usize] = Some(i as u32));
    }

    fn up(&mut self, mut i: usize) {
        while i > 0 && self.above(i, (i - 1) / 2) {
            self.swap(i, (i - 1) / 2);
            i = (i - 1) / 2;
        }
    }

    fn down(&mut self, mut i: usize) {
        loop {
            let below = [2 * i + 1, 2 * i + 2].into_iter().filter(|&j| j < self.heap.len());
            let Some(best) = below.reduce(|a, b| if self.above(b, a) { b } else { a }) else { return };
            if !self.above(best, i) {
                return;
            }
            self.swap(i, best);
            i = best;
        }
    }
}
