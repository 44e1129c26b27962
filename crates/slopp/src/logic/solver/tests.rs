//! Searches compared with enumeration, and their bounds.

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
        // Some start as the one before, as if rules were switched off one by one.
        let mut assumed: Vec<Vec<L>> = (0..4).map(|i| (0..i).map(|_| lit()).collect()).collect();
        for i in 0..4 {
            let other = [&assumed[3][..i.min(3)], &[lit()]].concat();
            assumed.push(other);
        }
        let mut solver = Solver::new(1 << 30);
        // Every other one forgets most of what it learns.
        solver.most_learned = if seed % 2 == 0 { MOST_LEARNED } else { 12 };
        for _ in 0..vars {
            solver.new_var();
        }
        let holds = |world: u32, lit: &L| (world >> lit.var() & 1 == 1) == (lit.0 & 1 == 0);
        let mut added = 0;
        for (question, lits) in assumed.iter().enumerate() {
            // Clauses come between questions too.
            let now = if question < 4 { number / 2 } else { number };
            clauses[added..now].iter().for_each(|clause| solver.add(clause));
            added = now;
            let obeys = |world: u32| clauses[..now].iter().all(|clause| clause.iter().any(|lit| holds(world, lit)));
            let possible = |lits: &[L]| (0..1 << vars).any(|w| obeys(w) && lits.iter().all(|lit| holds(w, lit)));
            match solver.solve(lits) {
                Answer::Possible => {
                    let world = solver.world(vars).iter().rev().fold(0, |w, &bit| 2 * w + u32::from(bit));
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
    // All literals of one long clause are visited, again and again.
    let mut solver = Solver::new(1 << 30);
    let vars: Vec<L> = (0..1001).map(|_| solver.new_var()).collect();
    solver.add(&vars);
    let before = solver.work;
    let no: Vec<L> = vars[..1000].iter().rev().map(|&lit| !lit).collect();
    assert!(matches!(solver.solve(&no), Answer::Possible));
    let looked_at = before - solver.work;
    assert!(looked_at > 3000, "{looked_at}");
}

#[test]
fn what_is_learned_is_bounded() {
    let sizes = [MOST_LEARNED, 2000].map(|most| {
        let mut solver = pigeons(7);
        let given = solver.size();
        (solver.most_learned, solver.work) = (most, 20_000_000);
        assert!(!matches!(solver.solve(&[]), Answer::Possible));
        let learned: usize = (0..solver.is_learned.len() as u32)
            .filter(|&id| solver.is_learned[id as usize])
            .map(|id| solver.range(id).len())
            .sum();
        assert_eq!((learned, solver.size()), (solver.learned, given + learned));
        learned
    });
    assert!(sizes[0] > 4000 && sizes[1] <= 2000, "{sizes:?}");
}
