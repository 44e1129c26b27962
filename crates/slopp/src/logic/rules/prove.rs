//! Whether rules imply a clause: a search for a world that breaks it and keeps the rules.

use super::index;
use crate::var::Lit;

/// How many literals a search may set before it gives up.
const STEPS: usize = 200_000;

/// Clauses in groups, one group per rule, with watched literals.
pub(super) struct Prover {
    /// The literals of all clauses; the first two of each are watched.
    literals: Vec<u32>,
    /// Start, end and rule of each clause.
    clauses: Vec<(u32, u32, u32)>,
    /// By literal: the clauses that watch it.
    watches: Vec<Vec<u32>>,
    dropped: Vec<bool>,
    /// By literal: whether it holds.
    value: Vec<Option<bool>>,
    trail: Vec<u32>,
    /// How many literals the search has set.
    steps: usize,
    /// A world that keeps all rules: values that rarely lead astray.
    phase: Vec<bool>,
}

impl Prover {
    pub(super) fn new(vars: usize, phase: Vec<bool>) -> Prover {
        Prover {
            literals: Vec::new(),
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * vars],
            dropped: Vec::new(),
            value: vec![None; 2 * vars],
            trail: Vec::new(),
            steps: 0,
            phase,
        }
    }

    /// Adds a rule: clauses that hold together.
    pub(super) fn add(&mut self, clauses: &[Vec<Lit>]) {
        let rule = self.dropped.len() as u32;
        self.dropped.push(false);
        // A clause of one literal is about a variable that no other rule mentions.
        for clause in clauses.iter().filter(|clause| clause.len() > 1) {
            let start = self.literals.len() as u32;
            self.literals.extend(clause.iter().map(|&lit| index(lit) as u32));
            for &lit in &clause[..2] {
                self.watches[index(lit)].push(self.clauses.len() as u32);
            }
            self.clauses.push((start, self.literals.len() as u32, rule));
        }
    }

    /// Leaves a rule out from now on.
    pub(super) fn drop(&mut self, rule: usize) {
        self.dropped[rule] = true;
    }

    /// Whether the rules, `without` one, imply all of these clauses; `None` if the search was too long.
    pub(super) fn is_implied(&mut self, clauses: &[Vec<Lit>], without: Option<usize>) -> Option<bool> {
        let mut undecided = false;
        for clause in clauses {
            match self.has_counterexample(clause, without) {
                Some(true) => return Some(false),
                Some(false) => {}
                None => undecided = true,
            }
        }
        (!undecided).then_some(true)
    }

    /// Whether some world breaks the clause and keeps the rules.
    fn has_counterexample(&mut self, clause: &[Lit], without: Option<usize>) -> Option<bool> {
        self.value.fill(None);
        self.trail.clear();
        self.steps = 0;
        for &lit in clause {
            if !self.set(index(!lit) as u32) {
                return Some(false);
            }
        }
        let without = without.map_or(u32::MAX, |rule| rule as u32);
        // Where each decision begins on the trail, and whether the other value was tried before.
        let mut decisions: Vec<(usize, bool)> = Vec::new();
        let (mut done, mut next) = (0, 0);
        loop {
            if self.steps > STEPS {
                return None;
            }
            if !self.propagate(&mut done, without) {
                loop {
                    let Some((start, tried)) = decisions.pop() else { return Some(false) };
                    let decided = self.trail[start];
                    for lit in self.trail.drain(start..) {
                        self.value[lit as usize] = None;
                        self.value[(lit ^ 1) as usize] = None;
                        next = next.min(lit as usize / 2);
                    }
                    done = start;
                    if !tried {
                        decisions.push((start, true));
                        self.set(decided ^ 1);
                        break;
                    }
                }
                continue;
            }
            while next < self.phase.len() && self.value[2 * next].is_some() {
                next += 1;
            }
            if next == self.phase.len() {
                return Some(true);
            }
            decisions.push((self.trail.len(), false));
            self.set(2 * next as u32 + u32::from(self.phase[next]));
        }
    }

    /// Makes a literal true; false if it is false already.
    fn set(&mut self, lit: u32) -> bool {
        match self.value[lit as usize] {
            Some(value) => value,
            None => {
                self.value[lit as usize] = Some(true);
                self.value[(lit ^ 1) as usize] = Some(false);
                self.trail.push(lit);
                self.steps += 1;
                true
            }
        }
    }

    /// Sets what follows; false if a clause is broken.
    fn propagate(&mut self, done: &mut usize, without: u32) -> bool {
        while let Some(&lit) = self.trail.get(*done) {
            *done += 1;
            let broken = lit ^ 1;
            let mut watching = std::mem::take(&mut self.watches[broken as usize]);
            let mut holds = true;
            let mut i = 0;
            'clauses: while i < watching.len() {
                let (start, end, rule) = self.clauses[watching[i] as usize];
                if rule == without || self.dropped[rule as usize] {
                    i += 1;
                    continue;
                }
                let start = start as usize;
                if self.literals[start] == broken {
                    self.literals.swap(start, start + 1);
                }
                let other = self.literals[start];
                if self.value[other as usize] == Some(true) {
                    i += 1;
                    continue;
                }
                for k in start + 2..end as usize {
                    let candidate = self.literals[k];
                    if self.value[candidate as usize] != Some(false) {
                        self.literals.swap(start + 1, k);
                        self.watches[candidate as usize].push(watching.swap_remove(i));
                        continue 'clauses;
                    }
                }
                if !self.set(other) {
                    holds = false;
                    break;
                }
                i += 1;
            }
            self.watches[broken as usize].append(&mut watching);
            if !holds {
                return false;
            }
        }
        true
    }
}
