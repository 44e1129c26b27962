//! All vtrees over up to four variables, all evidence, every query, against tables of all worlds.

mod against;

use against::*;
use slopp::logic::Limits;
use slopp_oracle::{Dice, Tree, all_evidence, all_trees, deterministic, mixture};

fn every_tree(mut check: impl FnMut(&Tree, usize, &mut Dice)) {
    for n in 1..=4 {
        let rounds = [40, 20, 6, 2][n - 1];
        let mut dice = Dice::new(n as u64);
        for tree in all_trees(n) {
            (0..rounds).for_each(|_| check(&tree, n, &mut dice));
        }
    }
}

#[test]
fn mixtures_answer_as_their_tables() {
    every_tree(|tree, n, dice| {
        let oracle = mixture(tree, 3, dice);
        let (circuit, ids) = convert(&oracle, tree);
        let table = oracle.table();
        check_certificate(&circuit, &ids, &oracle);
        for cells in all_evidence(n) {
            check_circuit(&circuit, &table, &cells);
        }
    });
}

#[test]
fn deterministic_circuits_answer_as_their_tables() {
    let mut round = 0;
    every_tree(|tree, n, dice| {
        round += 1;
        let density = [0.3, 0.7, 1.0][round % 3];
        let oracle = deterministic(tree, density, round % 2 == 0, dice);
        let (circuit, ids) = convert(&oracle, tree);
        let table = oracle.table();
        check_certificate(&circuit, &ids, &oracle);
        let circuit = circuit.certify_deterministic(&Limits::default()).unwrap();
        check_whole(&circuit, &table, n);
        for cells in all_evidence(n) {
            check_circuit(&circuit, &table, &cells);
            check_deterministic(&circuit, &table, &cells);
        }
    });
}

#[test]
fn divergences_between_different_structures() {
    let (mut finite, mut infinite) = (0, 0);
    every_tree(|tree, _, dice| {
        let density = if dice.chance(0.5) { 1.0 } else { 0.6 };
        let [one, other] = [0.6, density].map(|density| deterministic(tree, density, true, dice));
        let [a, b] =
            [&one, &other].map(|oracle| convert(oracle, tree).0.certify_deterministic(&Limits::default()).unwrap());
        for (p, q, from, to) in [(&a, &b, &one, &other), (&b, &a, &other, &one), (&a, &a, &one, &one)] {
            let expected = from.table().divergence(&to.table());
            let found = p.kl_divergence(q, &Limits::default()).unwrap();
            close(found, expected);
            *(if expected.is_finite() { &mut finite } else { &mut infinite }) += 1;
        }
    });
    assert!(finite > 100 && infinite > 100, "{finite} {infinite}");
}
