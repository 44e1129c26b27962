//! What a search learns where it fails: clauses, and which assumptions are to blame.

use super::{DECIDED, L, Solver};

impl Solver {
    pub(super) fn push_clause(&mut self, clause: &[L], is_learned: bool) -> u32 {
        let id = self.starts.len() as u32 - 1;
        clause[..2].iter().for_each(|lit| self.watches[lit.index()].push(id));
        self.lits.extend_from_slice(clause);
        self.starts.push(self.lits.len() as u32);
        self.is_learned.push(is_learned);
        self.learned += if is_learned { clause.len() } else { 0 };
        id
    }

    /// The clause that the first unique implication point gives, its true-to-be literal first, and the level to go to.
    pub(super) fn learn(&mut self, broken: u32) -> (Vec<L>, usize) {
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
    pub(super) fn reasons_against(&mut self, assumption: L) -> Vec<L> {
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
    pub(super) fn forget(&mut self) {
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
}
