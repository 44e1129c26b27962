//! Questions about formulas, sets of variables and noise, against tables of all worlds.

#[path = "../against/mod.rs"]
mod against;
mod nearest;
mod products;
mod sets;

use against::*;
use slopp::infer::{Evidence, QueryError};
use slopp::logic::{Formula, Limits, Sdd};
use slopp::{Builder, Certified, Circuit, Sharing, Structured, Var, Vtree};
use slopp_oracle::{Dice, OracleCircuit, Table, Tree, deterministic, mixture, with_support};

/// The formula of these worlds on a vtree, trimmed; made by other code than what it is used to test.
fn formula(tree: &Tree, worlds: &[usize], dice: &mut Dice) -> Sdd {
    let circuit = convert(&with_support(tree, worlds, false, dice), tree).0;
    Sdd::base_of(&circuit.certify(&Limits::default()).unwrap(), &Limits::default()).unwrap()
}

/// The worlds of a random conjunction or disjunction of a few literals, or random worlds.
fn some_worlds(vars: usize, dice: &mut Dice) -> Vec<usize> {
    let lits: Vec<(usize, usize)> = (0..1 + dice.below(3)).map(|_| (dice.below(vars), dice.below(2))).collect();
    let kind = dice.below(3);
    let mut holds = |world: usize| match kind {
        0 => lits.iter().all(|&(x, value)| world >> x & 1 == value),
        1 => lits.iter().any(|&(x, value)| world >> x & 1 == value),
        _ => dice.chance(0.3),
    };
    (0..1 << vars).filter(|&world| holds(world)).collect()
}

/// Random circuits of up to eight variables, of every kind.
fn circuits(rounds: usize, seed: u64, mut check: impl FnMut(&Tree, &OracleCircuit, &mut Dice)) {
    let mut dice = Dice::new(seed);
    for round in 0..rounds {
        let tree = Tree::random(1 + dice.below(8), &mut dice);
        let oracle = match round % 3 {
            0 => deterministic(&tree, [0.1, 0.5, 1.0][round / 3 % 3], false, &mut dice),
            1 => deterministic(&tree, [0.1, 0.5, 1.0][round / 3 % 3], true, &mut dice),
            _ => mixture(&tree, 3, &mut dice),
        };
        check(&tree, &oracle, &mut dice);
    }
}

/// The table of a distribution over some worlds only.
fn restricted(table: &Table, vars: usize, worlds: &[usize]) -> (Table, f64) {
    let total: f64 = worlds.iter().map(|&world| table.probability(world)).sum();
    let share = |world| if worlds.contains(&world) { table.probability(world) / total } else { 0.0 };
    (Table::new(vars, (0..1 << vars).map(share).collect()), total)
}

/// A circuit answers as a table, under all evidence of one or two variables.
fn check_as(circuit: &Certified, table: &Table, vars: usize) {
    let mut evidence = vec![vec![None; vars]];
    for x in 0..vars {
        for value in [false, true] {
            let mut cells = vec![None; vars];
            cells[x] = Some(value);
            cells[(x + 1) % vars] = Some(value);
            evidence.push(cells);
        }
    }
    for cells in evidence {
        check_circuit(circuit, table, &cells);
        if let Ok(circuit) = circuit.deterministic() {
            check_deterministic(circuit, table, &cells);
        }
    }
}

fn distance(world: usize, cells: &[Option<bool>]) -> u32 {
    cells.iter().enumerate().filter(|(x, cell)| cell.is_some_and(|cell| cell != (world >> x & 1 == 1))).count() as u32
}

#[test]
fn noise_is_the_channel_summed_over_all_worlds() {
    circuits(120, 6, |tree, oracle, dice| {
        let (vars, table) = (oracle.vars, oracle.table());
        let circuit = convert(oracle, tree).0;
        let data = to_records(&slopp_oracle::records(vars, 20, 0.2, dice));
        for epsilon in [0.0, 1e-9, 0.01, 0.3, 0.5] {
            let found = circuit.log_likelihoods_noisy(&data, epsilon).unwrap();
            for (row, log) in found.into_iter().enumerate() {
                let cells = cells(&data, row);
                let known = cells.iter().filter(|cell| cell.is_some()).count() as i32;
                let channel = |world: usize| {
                    let d = distance(world, &cells) as i32;
                    table.probability(world) * epsilon.powi(d) * (1.0 - epsilon).powi(known - d)
                };
                let expected: f64 = (0..1 << vars).map(channel).sum();
                assert_eq!(log == f64::NEG_INFINITY, expected == 0.0);
                assert!((log.exp() - expected).abs() <= 1e-11 * expected, "{log} {}", expected.ln());
            }
        }
        // Over all complete records it adds up to one.
        let all: Vec<_> = (0..1 << vars).map(|world| table.world(world).into_iter().map(Some).collect()).collect();
        let total: f64 = circuit.log_likelihoods_noisy(&to_records(&all), 0.2).unwrap().iter().map(|x| x.exp()).sum();
        close(total, 1.0);
        assert!(matches!(circuit.log_likelihoods_noisy(&data, 0.6), Err(QueryError::Noise { .. })));
        assert!(matches!(circuit.log_likelihoods_noisy(&data, f64::NAN), Err(QueryError::Noise { .. })));
        let fit = circuit.fit_noise(&data).unwrap();
        let mean = |epsilon: f64| {
            let logs = circuit.log_likelihoods_noisy(&data, epsilon).unwrap();
            logs.iter().zip(data.weights()).map(|(x, w)| x * w).sum::<f64>() / data.total()
        };
        close(fit.log_likelihood, mean(fit.epsilon));
        for i in 0..200 {
            let epsilon = (1e-6f64.ln() + (0.5f64.ln() - 1e-6f64.ln()) * i as f64 / 199.0).exp().min(0.5);
            assert!(mean(epsilon) <= fit.log_likelihood + 1e-4, "{epsilon} beats {fit:?}");
        }
    });
}

#[test]
fn noise_does_not_underflow() {
    for vtree in [Vtree::right_linear(2000), Vtree::balanced(2000)] {
        let psdd = factorised(&vtree, 1e-9);
        let data = to_records(&[vec![Some(true); 2000]]);
        let p = 1e-9 * 0.9 + (1.0 - 1e-9) * 0.1;
        close(psdd.log_likelihoods_noisy(&data, 0.1).unwrap()[0], 2000.0 * f64::ln(p));
        let tiny = psdd.log_likelihoods_noisy(&data, 1e-300).unwrap()[0];
        assert!((tiny - 2000.0 * 1e-9f64.ln()).abs() < 1e-3, "{tiny}");
    }
}
