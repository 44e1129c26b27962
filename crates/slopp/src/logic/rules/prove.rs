//! Whether rules imply a clause: a search for a world that breaks it and keeps the rules.

use crate::logic::solver::{Answer, L, Solver};
use crate::var::Lit;

/// The most clauses and literals that a search may visit.
const WORK: u64 = 5_000_000;

/// Rules as clauses, each with a switch.
pub(super) struct Prover {
    solver: Solver,
    /// The assumptions of every search: the switch of each rule, negated if the rule was dropped.
    assumed: Vec<L>,
}

impl Prover {
    /// No rules yet; searches try these values of the variables first, best those of a world that keeps the rules.
    pub(super) fn new(first: &[bool]) -> Prover {
        let mut solver = Solver::new(WORK);
        for &value in first {
            let var = solver.new_var().var();
            solver.prefer(var, value);
        }
        Prover { solver, assumed: Vec::new() }
    }

    /// Adds a rule, as clauses.
    pub(super) fn add(&mut self, clauses: &[Vec<Lit>]) {
        let switch = self.solver.new_var();
        self.assumed.push(switch);
        for clause in clauses {
            let lits: Vec<L> = clause.iter().map(|&lit| literal(lit)).chain([!switch]).collect();
            self.solver.add(&lits);
        }
    }

    /// Leaves a rule out from now on.
    pub(super) fn drop(&mut self, rule: usize) {
        self.assumed[rule] = L::new(self.assumed[rule].var(), false);
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
        let rules = self.assumed.len();
        let left_out = without.map(|rule| (rule, self.assumed[rule]));
        without.into_iter().for_each(|rule| self.drop(rule));
        // The rules come first: searches share the consequences of a common beginning.
        self.assumed.extend(clause.iter().map(|&lit| !literal(lit)));
        self.solver.work = WORK;
        let answer = self.solver.solve(&self.assumed);
        self.assumed.truncate(rules);
        left_out.into_iter().for_each(|(rule, switch)| self.assumed[rule] = switch);
        match answer {
            Answer::Possible => Some(true),
            Answer::Impossible(_) => Some(false),
            Answer::Unknown => None,
        }
    }
}

fn literal(lit: Lit) -> L {
    L::new(lit.var.index(), lit.value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::var::Var;

    #[test]
    fn what_is_implied_is_what_enumeration_says() {
        const VARS: usize = 6;
        let mut seen = [0; 2];
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut clause = || -> Vec<Lit> {
                (0..1 + random.below(3)).map(|_| Var(random.below(VARS) as u32).is(random.below(2) == 0)).collect()
            };
            let rules: Vec<Vec<Vec<Lit>>> = (0..8).map(|i| (0..1 + i % 2).map(|_| clause()).collect()).collect();
            let mut prover = Prover::new(&[true; VARS]);
            let mut is_there = [false; 8];
            let mut check = |prover: &mut Prover, is_there: &[bool], clauses: &[Vec<Lit>], without: Option<usize>| {
                let holds = |world: u32, clause: &Vec<Lit>| {
                    clause.iter().any(|lit| (world >> lit.var.index() & 1 == 1) == lit.value)
                };
                let counts = |i: &usize| is_there[*i] && Some(*i) != without;
                let keeps = |world: u32| (0..8).filter(counts).all(|i| rules[i].iter().all(|c| holds(world, c)));
                let implied = (0..1 << VARS).all(|w| !keeps(w) || clauses.iter().all(|clause| holds(w, clause)));
                assert_eq!(prover.is_implied(clauses, without), Some(implied), "seed {seed}");
                seen[usize::from(implied)] += 1;
            };
            for i in 0..8 {
                check(&mut prover, &is_there, &[clause()], None);
                prover.add(&rules[i]);
                is_there[i] = true;
            }
            for i in (0..8).rev() {
                check(&mut prover, &is_there, &rules[i], Some(i));
                if i % 3 == 0 {
                    prover.drop(i);
                    is_there[i] = false;
                }
                check(&mut prover, &is_there, &[clause()], None);
            }
        }
        assert!(seen.iter().all(|&n| n > 300), "{seen:?}");
    }
}
