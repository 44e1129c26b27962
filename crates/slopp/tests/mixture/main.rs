//! Mixtures against enumeration, and EM over components of one structure.

#[path = "../against/mod.rs"]
mod against;
mod em;
#[path = "../learned/mod.rs"]
mod learned;

use against::*;
use slopp::circuit::Smoothing;
use slopp::infer::{Evidence, QueryError};
use slopp::learn::{
    ChowLiu, EmConfig, Factorised, LearnError, MixtureGrid, Scope, SloppEm, SloppTree, Strudel, StrudelEm, Task,
};
use slopp::logic::Limits;
use slopp::mixture::MixtureError;
use slopp::{Certified, Mixture, Model, ModelKind, Names, Psdd, Random, Records, RecordsBuilder, Var, Vtree};
use slopp_oracle::{Dice, OracleCircuit, OracleNode, Table, Tree, all_evidence, deterministic, mixture, records};

/// The same structure with other parameters.
fn reweighed(circuit: &OracleCircuit, dice: &mut Dice) -> OracleCircuit {
    let mut circuit = circuit.clone();
    for node in &mut circuit.nodes {
        match node {
            OracleNode::Lit(..) => {}
            OracleNode::Top(_, p) => *p = 0.05 + 0.9 * dice.unit(),
            OracleNode::Sum(elements) => {
                elements.iter_mut().for_each(|element| element.2 = 0.05 + dice.unit());
                let total: f64 = elements.iter().map(|element| element.2).sum();
                elements.iter_mut().for_each(|element| element.2 /= total);
            }
        }
    }
    circuit
}

/// Random mixtures and the tables of their worlds: of one structure, of one vtree, of many vtrees, with and without
/// components that are not deterministic.
fn mixtures(rounds: usize, seed: u64, mut check: impl FnMut(&Mixture, &Table, &mut Dice)) {
    let mut dice = Dice::new(seed);
    for round in 0..rounds {
        let vars = 2 + dice.below(5);
        let tree = Tree::random(vars, &mut dice);
        let first = deterministic(&tree, 0.5, false, &mut dice);
        let count = 1 + dice.below(if round % 4 == 0 { 11 } else { 4 });
        let parts: Vec<(OracleCircuit, Tree)> = (0..count)
            .map(|_| match round % 4 {
                0 => (reweighed(&first, &mut dice), tree.clone()),
                1 => (deterministic(&tree, 0.4, true, &mut dice), tree.clone()),
                2 => {
                    let tree = Tree::random(vars, &mut dice);
                    (deterministic(&tree, 0.3, false, &mut dice), tree)
                }
                _ => (mixture(&tree, 2, &mut dice), tree.clone()),
            })
            .collect();
        let raw: Vec<f64> = (0..count).map(|_| 0.1 + dice.unit()).collect();
        let total: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
        let mut sums = vec![0.0; 1 << vars];
        for ((oracle, _), weight) in parts.iter().zip(&weights) {
            let table = oracle.table();
            sums.iter_mut().enumerate().for_each(|(world, sum)| *sum += weight * table.probability(world));
        }
        let components = parts.iter().map(|(oracle, tree)| Certified::new(convert(oracle, tree).0, &Limits::default()));
        let mixed = Mixture::new(weights.into_iter().zip(components)).unwrap();
        assert!(round % 4 != 0 || mixed.shares_structure());
        check(&mixed, &Table::new(vars, sums), &mut dice);
    }
}

#[test]
fn every_query_agrees_with_enumeration() {
    mixtures(60, 1, |mixed, table, dice| {
        let n = mixed.var_count();
        let all = all_evidence(n);
        for _ in 0..25 {
            check_mixture(mixed, table, &all[dice.below(all.len())]);
        }
        check_mixture(mixed, table, &vec![None; n]);
    });
}

fn check_mixture(mixed: &Mixture, table: &Table, cells: &[Option<bool>]) {
    let (given, n) = (evidence(cells), cells.len());
    close(mixed.log_evidence(&given).unwrap().exp(), table.evidence(cells));
    let nearest = mixed.nearest(&given).unwrap();
    assert_eq!(nearest.distance, table.nearest(cells));
    assert!(table.probability(Table::number(&nearest.world)) > 0.0);
    let event: Vec<Option<bool>> = (0..n).map(|x| (x % 2 == 0).then_some(x % 4 == 0)).collect();
    let Some(pairs) = table.pairs(cells) else {
        assert_eq!(mixed.log_evidence(&given), Ok(f64::NEG_INFINITY));
        assert_eq!(mixed.marginals(&given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(mixed.pair_marginals(&given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(mixed.conditional(&evidence(&event), &given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(mixed.sample(1, &given, 0), Err(QueryError::ImpossibleEvidence));
        assert_eq!(mixed.component_posterior(&given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(mixed.mpe_bounds(&given), Err(QueryError::ImpossibleEvidence));
        return;
    };
    close(mixed.conditional(&evidence(&event), &given).unwrap(), table.conditional(&event, cells).unwrap());
    let marginals = mixed.marginals(&given).unwrap();
    let found = mixed.pair_marginals(&given).unwrap();
    for x in 0..n {
        close(marginals[x], pairs[x][x]);
        for (y, &both) in pairs[x].iter().enumerate() {
            close(found.joint(Var(x as u32), Var(y as u32)), both);
        }
    }
    let posterior = mixed.component_posterior(&given).unwrap();
    for ((share, weight), component) in posterior.iter().zip(mixed.weights()).zip(mixed.components()) {
        close(*share, weight * component.log_evidence(&given).unwrap().exp() / table.evidence(cells));
    }
    for world in mixed.sample(5, &given, 5).unwrap().worlds() {
        assert!(table.support(cells).contains(&Table::number(&world)));
    }
    let (world, bounds) = mixed.mpe_bounds(&given).unwrap();
    let [lower, upper] = bounds.map(f64::exp);
    let best = table.descending(cells)[0];
    close(lower, table.probability(Table::number(&world)));
    assert!(table.support(cells).contains(&Table::number(&world)));
    assert!(lower <= best + 1e-12 && best <= upper + 1e-12);
    assert!(upper <= table.evidence(cells) + 1e-12);
    let exact = mixed.component_count() == 1 && mixed.components()[0].deterministic().is_ok();
    assert!(!exact || (upper - best).abs() < 1e-12);
}

#[test]
fn batches_answer_as_single_queries() {
    mixtures(24, 2, |mixed, table, dice| {
        let n = mixed.var_count();
        for missing in [0.0, 0.4] {
            let data = to_records(&records(n, 300, missing, dice));
            let log_likelihoods = mixed.log_likelihoods(&data).unwrap();
            let possible = mixed.possible(&data).unwrap();
            let marginals = mixed.marginals_batch(&data).unwrap();
            let pairs = mixed.pair_marginals_batch(&data).unwrap();
            let posteriors = mixed.component_posterior_batch(&data).unwrap();
            let nearest = mixed.nearest_batch(&data).unwrap();
            let drawn = mixed.sample_batch(&data, 9).unwrap();
            let event = evidence(&records(n, 1, 0.5, dice)[0]);
            let conditionals = mixed.conditional_batch(&event, &data).unwrap();
            for (world, &row) in drawn.iter().zip(data.original()) {
                let support = table.support(&cells(&data, row as usize));
                match world {
                    Some(world) => assert!(support.contains(&Table::number(world))),
                    None => assert!(support.is_empty()),
                }
            }
            for row in 0..data.len() {
                let (cells, given) = (cells(&data, row), Evidence::from_row(&data, row));
                close(log_likelihoods[row].exp(), table.evidence(&cells));
                let support = table.support(&cells);
                assert_eq!(possible[row], !support.is_empty());
                assert_eq!(nearest[row].distance, table.nearest(&cells));
                assert_eq!(marginals[row].is_some(), possible[row]);
                assert_eq!(pairs[row].is_some(), possible[row]);
                if !possible[row] {
                    assert_eq!((&posteriors[row], conditionals[row]), (&None, None));
                    continue;
                }
                let single = mixed.marginals(&given).unwrap();
                marginals[row].as_ref().unwrap().iter().zip(&single).for_each(|(a, b)| close(*a, *b));
                let single = mixed.component_posterior(&given).unwrap();
                posteriors[row].as_ref().unwrap().iter().zip(&single).for_each(|(a, b)| close(*a, *b));
                close(conditionals[row].unwrap(), mixed.conditional(&event, &given).unwrap());
            }
            if missing == 0.0 {
                assert_eq!(mixed.entailed_by(&data).unwrap(), possible.iter().all(|p| *p));
            }
        }
    });
}

#[test]
fn samples_have_the_probabilities_of_worlds_and_do_not_depend_on_threads() {
    mixtures(8, 3, |mixed, table, _| {
        let n = mixed.var_count();
        let draw = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| mixed.sample(20_000, &Evidence::none(n), 7).unwrap())
        };
        let samples = draw(1);
        assert_eq!(samples, draw(3));
        let parts = mixed.sample_in_parts(20_000, &Evidence::none(n), 7).unwrap();
        assert!(parts.flat_map(|part| part.worlds().collect::<Vec<_>>()).eq(samples.worlds()));
        let mut counts = vec![0.0; 1 << n];
        samples.worlds().for_each(|world| counts[Table::number(&world)] += 1.0 / 20_000.0);
        for (world, share) in counts.into_iter().enumerate() {
            let p = table.probability(world);
            assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / 20_000.0).sqrt() + 1e-9, "{share} {p}");
        }
    });
}

#[test]
fn what_is_no_mixture_is_refused() {
    let psdd = || Certified::from(slopp::example::psdd());
    let two = Records::from_rows(Names::numbered(2), [[true, false]]);
    let two = learned::psdd(&Task::new(&two), &Factorised::default());
    assert_eq!(Mixture::new([]), Err(MixtureError::Empty));
    assert_eq!(Mixture::uniform([]), Err(MixtureError::Empty));
    let wrong = MixtureError::Variables { component: 2, expected: 4, found: 2 };
    assert_eq!(Mixture::uniform([psdd(), two.into()]), Err(wrong));
    for weight in [0.0, -0.5, f64::INFINITY, 1.5] {
        assert_eq!(Mixture::new([(weight, psdd())]), Err(MixtureError::Weight { component: 1, weight }));
    }
    assert!(matches!(Mixture::new([(f64::NAN, psdd())]), Err(MixtureError::Weight { component: 1, .. })));
    assert_eq!(Mixture::new([(0.25, psdd()), (0.5, psdd())]), Err(MixtureError::Total { total: 0.75 }));
    let mixture = Mixture::uniform([psdd()]).unwrap();
    let wrong = QueryError::WrongLength { what: "evidence", expected: 4, found: 3 };
    assert_eq!(mixture.log_evidence(&Evidence::none(3)), Err(wrong.clone()));
    assert_eq!(mixture.marginals(&Evidence::none(3)), Err(wrong.clone()));
    assert_eq!(mixture.nearest(&Evidence::none(3)), Err(wrong));
    assert!(mixture.log_probability(&[true]).is_err());
    let records = Records::from_rows(Names::numbered(3), [[true; 3]]);
    assert!(mixture.log_likelihoods(&records).is_err() && mixture.possible(&records).is_err());
    assert!(mixture.marginals_batch(&records).is_err() && mixture.sample_batch(&records, 0).is_err());
    assert!(mixture.fit_weights(&records, 3).is_err());
}

#[test]
fn noise_is_the_channel_summed_over_all_worlds() {
    mixtures(60, 31, |mixed, table, dice| {
        let vars = mixed.var_count();
        let data = to_records(&records(vars, 12, 0.2, dice));
        for epsilon in [0.0, 0.01, 0.3] {
            let found = mixed.log_likelihoods_noisy(&data, epsilon).unwrap();
            for (row, log) in found.into_iter().enumerate() {
                let cells: Vec<Option<bool>> = data.row(row).collect();
                let channel = |world: usize| {
                    let cells =
                        cells.iter().zip(table.world(world)).filter_map(|(cell, value)| Some((*cell)? == value));
                    let kept = |kept: bool| if kept { 1.0 - epsilon } else { epsilon };
                    table.probability(world) * cells.map(kept).product::<f64>()
                };
                let expected: f64 = (0..1 << vars).map(channel).sum();
                assert!((log.exp() - expected).abs() <= 1e-10 * expected, "{log} {}", expected.ln());
            }
        }
        let fit = mixed.fit_noise(&data).unwrap();
        let mean = |epsilon: f64| {
            let logs = mixed.log_likelihoods_noisy(&data, epsilon).unwrap();
            logs.iter().zip(data.weights()).map(|(x, w)| x * w).sum::<f64>() / data.total()
        };
        close(fit.log_likelihood, mean(fit.epsilon));
        assert!([1e-4, 0.01, 0.1, 0.4].into_iter().all(|epsilon| mean(epsilon) <= fit.log_likelihood + 1e-3));
        assert!(matches!(mixed.log_likelihoods_noisy(&data, 0.6), Err(QueryError::Noise { .. })));
    });
}
