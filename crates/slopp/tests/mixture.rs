//! Mixtures against enumeration, and EM over components of one structure.

mod against;

use against::*;
use slopp::circuit::Smoothing;
use slopp::infer::{Evidence, QueryError};
use slopp::learn::slopp::{Config, certified};
use slopp::learn::{
    EmConfig, LearnError, MixtureConfig, MixtureGrid, MixtureStart, World, baseline, em_components, em_mixture,
};
use slopp::mixture::MixtureError;
use slopp::{Certified, Mixture, Names, Psdd, Random, Records, RecordsBuilder, Var, Vtree, Weights};
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
        let components = parts.iter().map(|(oracle, tree)| Certified::new(convert(oracle, tree).0));
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
            close(found.both(Var(x as u32), Var(y as u32)), both);
        }
    }
    let posterior = mixed.component_posterior(&given).unwrap();
    for ((share, weight), component) in posterior.iter().zip(mixed.weights()).zip(mixed.components()) {
        close(*share, weight * component.log_evidence(&given).unwrap().exp() / table.evidence(cells));
    }
    for world in mixed.sample(5, &given, 5).unwrap().worlds() {
        assert!(table.support(cells).contains(&Table::number(&world)));
    }
    let bounds = mixed.mpe_bounds(&given).unwrap();
    let best = table.descending(cells)[0];
    close(bounds.log_probability.exp(), table.probability(Table::number(&bounds.world)));
    assert!(table.support(cells).contains(&Table::number(&bounds.world)));
    assert!(bounds.log_probability.exp() <= best + 1e-12 && best <= bounds.log_upper.exp() + 1e-12);
    assert!(bounds.log_upper.exp() <= table.evidence(cells) + 1e-12);
    let exact = mixed.component_count() == 1 && mixed.components()[0].deterministic().is_ok();
    assert!(!exact || (bounds.log_upper.exp() - best).abs() < 1e-12);
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
    let two = baseline::factorised(
        &Records::from_rows(Names::numbered(2), [[true, false]]),
        Vtree::balanced(2).into(),
        World::Open,
        1.0,
    )
    .unwrap();
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

/// Records from two populations that no tree fits well.
fn two_populations(vars: usize, rows: usize, seed: u64) -> Records {
    let mut random = Random::new(seed);
    let mut builder = RecordsBuilder::new(Names::numbered(vars));
    for _ in 0..rows {
        let first = random.unit() < 0.4;
        let mut last = random.unit() < 0.5;
        let row: Vec<_> = (0..vars)
            .map(|i| {
                last = if random.unit() < if first { 0.8 } else { 0.3 } { last } else { (i % 2 == 0) == first };
                Some(last)
            })
            .collect();
        builder.push(row, 1.0 + random.below(2) as f64);
    }
    builder.finish()
}

fn structure(records: &Records) -> Psdd {
    let config = Config { min_records: 20, ..Config::new(World::Open) };
    certified(records, Vtree::balanced(records.var_count()).into(), &config, &()).unwrap()
}

fn mean(values: &[f64], records: &Records) -> f64 {
    values.iter().zip(records.weights()).map(|(value, weight)| value * weight).sum::<f64>() / records.total()
}

#[test]
fn without_smoothing_the_likelihood_never_falls() {
    let records = two_populations(10, 700, 1);
    let start = Certified::from(structure(&records));
    for start_from in [MixtureStart::Clusters, MixtureStart::Random] {
        for components in [2, 3, 9] {
            let config = MixtureConfig {
                pseudocount: 0.0,
                steps: 40,
                tolerance: 0.0,
                start: start_from,
                ..MixtureConfig::new(components)
            };
            let fit = em_mixture(&start, &records, None, &config, &()).unwrap();
            assert!(fit.history.windows(2).all(|step| step[1] >= step[0] - 1e-10), "{:?}", fit.history);
            assert_eq!((fit.history.len(), fit.steps), (41, 40));
            let reached = mean(&fit.mixture.log_likelihoods(&records).unwrap(), &records);
            assert!((reached - fit.history[40]).abs() < 1e-9, "the history tells of the mixture that is returned");
            assert!(reached > mean(&start.log_likelihoods(&records).unwrap(), &records) + 0.01);
            for component in fit.mixture.components() {
                assert!(matches!(component, Certified::Psdd(_)));
                assert!(slopp::Circuit::clone(component).certify().is_ok());
            }
        }
    }
}

#[test]
fn one_component_is_the_plain_fit() {
    let records = two_populations(8, 300, 2);
    let psdd = structure(&records);
    let config = MixtureConfig { pseudocount: 0.0, ..MixtureConfig::new(1) };
    let fit = em_mixture(&psdd.clone().into(), &records, None, &config, &()).unwrap();
    let plain = psdd.fit(&records, &Smoothing::none()).unwrap().circuit;
    assert!(fit.mixture.components()[0].same_structure(&plain));
    let numbers = |w: &Weights| w.tops.concat().into_iter().chain(w.elements.clone()).collect::<Vec<f64>>();
    let found = numbers(fit.mixture.components()[0].log_parameters());
    found.into_iter().zip(numbers(plain.log_parameters())).for_each(|(a, b)| close(a, b));
    assert_eq!(fit.mixture.weights(), [1.0]);
}

#[test]
fn one_step_is_responsibilities_times_counts() {
    // The step is done again here, component by component, with queries that know nothing of mixtures.
    let records = two_populations(6, 200, 3);
    let start = Certified::from(structure(&records));
    let config = MixtureConfig { steps: 3, tolerance: 0.0, pseudocount: 2.0, ..MixtureConfig::new(3) };
    let before = em_mixture(&start, &records, None, &config, &()).unwrap().mixture;
    let after = em_mixture(&start, &records, None, &MixtureConfig { steps: 4, ..config }, &()).unwrap().mixture;
    let posterior = before.component_posterior_batch(&records).unwrap();
    for k in 0..3 {
        let mut shared = RecordsBuilder::new(records.names().clone());
        for (row, shares) in posterior.iter().enumerate() {
            shared.push(records.row(row), records.weights()[row] * shares.as_ref().unwrap()[k]);
        }
        let shared = shared.finish();
        close(after.weights()[k], shared.total() / records.total());
        let counts = start.deterministic().unwrap().count_records(&shared).unwrap().weights;
        let (prior, found) = (start.log_parameters(), after.components()[k].log_parameters());
        for id in start.ids() {
            let range = start.element_range(id);
            let total: f64 = counts.elements[range.clone()].iter().sum::<f64>() + 2.0;
            for e in range {
                close(found.elements[e].exp(), (counts.elements[e] + 2.0 * prior.elements[e].exp()) / total);
            }
        }
        for ((n, prior), found) in counts.tops.iter().zip(&prior.tops).zip(&found.tops) {
            close(found[1].exp(), (n[1] + 2.0 * prior[1].exp()) / (n[0] + n[1] + 2.0));
        }
    }
}

#[test]
fn validation_chooses_the_step_and_threads_do_not_matter() {
    let [train, valid] = [4, 5].map(|seed| two_populations(10, 400, seed));
    let start = Certified::from(structure(&train));
    let config = MixtureConfig { pseudocount: 0.1, tolerance: 0.0, seed: 3, ..MixtureConfig::new(6) };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| em_mixture(&start, &train, Some(&valid), &config, &()).unwrap())
    };
    let fit = run(1);
    assert_eq!(fit, run(3));
    let best = fit.valid_history.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(fit.valid_history[fit.steps], best);
    assert!((mean(&fit.mixture.log_likelihoods(&valid).unwrap(), &valid) - best).abs() < 1e-9);
    assert!(fit.mixture.shares_structure(), "with a pseudocount nothing is dropped");
    let other = MixtureConfig { seed: 4, ..config.clone() };
    assert_ne!(em_mixture(&start, &train, Some(&valid), &other, &()).unwrap().mixture, fit.mixture);
}

#[test]
fn odd_data_and_settings() {
    let start = Certified::from(slopp::example::psdd());
    let records = slopp::example::records();
    let config = MixtureConfig::new(50);
    assert!(em_mixture(&start, &records, None, &config, &()).is_ok(), "more components than records");
    let one = Records::from_rows(records.names().clone(), [records.row(0).map(Option::unwrap).collect::<Vec<_>>()]);
    let fit = em_mixture(&start, &one, None, &MixtureConfig { pseudocount: 0.0, ..config.clone() }, &()).unwrap();
    close(fit.mixture.log_likelihoods(&one).unwrap()[0], 0.0);
    let impossible = Records::from_rows(records.names().clone(), [[true; 4]]);
    let refused = |records: &Records, valid: Option<&Records>, config: &MixtureConfig| {
        em_mixture(&start, records, valid, config, &()).unwrap_err()
    };
    assert!(matches!(refused(&impossible, None, &config), LearnError::NothingPossible));
    for wrong in [
        MixtureConfig::new(0),
        MixtureConfig { pseudocount: -1.0, ..config.clone() },
        MixtureConfig { tolerance: f64::NAN, ..config.clone() },
    ] {
        assert!(matches!(refused(&records, None, &wrong), LearnError::Setting { .. }));
    }
    let short = Records::from_rows(Names::numbered(3), [[true; 3]]);
    assert!(matches!(refused(&short, None, &config), LearnError::WrongVtree { .. }));
    assert!(matches!(refused(&records, Some(&short), &config), LearnError::WrongValidation { .. }));
    let mut holes = RecordsBuilder::new(records.names().clone());
    holes.push([None, Some(true), Some(true), Some(true)], 1.0);
    assert!(matches!(refused(&holes.finish(), None, &config), LearnError::MissingCells { .. }));
    let mut dice = Dice::new(5);
    let tree = Tree::random(4, &mut dice);
    let loose = Certified::new(convert(&mixture(&tree, 3, &mut dice), &tree).0);
    assert!(matches!(em_mixture(&loose, &records, None, &config, &()), Err(LearnError::NotDeterministic(_))));
}

#[test]
fn fitted_weights_are_at_the_maximum() {
    let [train, valid] = [6, 7].map(|seed| two_populations(8, 300, seed));
    let components: Vec<Certified> = vec![
        structure(&train).into(),
        baseline::chow_liu(&train, World::Open, 1.0).unwrap().into(),
        baseline::factorised(&train, Vtree::balanced(8).into(), World::Open, 1.0).unwrap().into(),
    ];
    let bag = Mixture::uniform(components).unwrap();
    let fitted = bag.fit_weights(&valid, 100_000).unwrap();
    let score = |mixture: &Mixture| mean(&mixture.log_likelihoods(&valid).unwrap(), &valid);
    assert!(score(&fitted) >= score(&bag));
    assert_eq!(fitted.component_count(), 3, "all three are of use, so that there is something to move");
    // Moving weight between any two components never helps.
    for (i, j) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
        let mut weights = fitted.weights().to_vec();
        let moved = 0.5 * weights[i].min(0.02);
        weights[i] -= moved;
        weights[j] += moved;
        let moved = Mixture::new(weights.into_iter().zip(fitted.components().iter().cloned())).unwrap();
        assert!(score(&moved) <= score(&fitted) + 1e-7, "from {i} to {j}");
    }
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

#[test]
fn a_validation_record_that_is_impossible_does_not_stop_the_choice() {
    // A last column that is never true makes its other value impossible.
    let with_column = |records: &Records, and_one: bool| {
        let mut builder = RecordsBuilder::new(Names::numbered(9));
        for row in 0..records.len() {
            builder.push(records.row(row).chain([Some(false)]), records.weights()[row]);
        }
        if and_one {
            builder.push([Some(true); 9], 1.0);
        }
        builder.finish()
    };
    let [train, valid] = [8, 9].map(|seed| two_populations(8, 300, seed));
    let train = with_column(&train, false);
    let start = Certified::from(baseline::factorised(&train, Vtree::balanced(9).into(), World::Closed, 1.0).unwrap());
    let grid = MixtureGrid { components: vec![1, 2, 4], pseudocounts: vec![1000.0, 1.0] };
    let expected = grid.choose(&start, &train, Some(&with_column(&valid, false)), 1, &()).unwrap();
    assert_ne!((expected.components, expected.pseudocount), (1, 1000.0), "the first point is not the best one");
    assert_eq!(grid.choose(&start, &train, Some(&with_column(&valid, true)), 1, &()).unwrap(), expected);
}

#[test]
fn one_step_on_missing_cells_is_responsibilities_times_expected_counts() {
    let mut random = Random::new(12);
    for seed in 0..10 {
        let complete = two_populations(5, 60, seed);
        let components: Vec<Certified> =
            vec![structure(&complete).into(), baseline::chow_liu(&complete, World::Open, 1.0).unwrap().into()];
        let start = Mixture::new([0.3, 0.7].into_iter().zip(components)).unwrap();
        let mut builder = RecordsBuilder::new(Names::numbered(5));
        for row in 0..complete.len().min(8) {
            builder.push(complete.row(row).map(|cell| cell.filter(|_| random.unit() < 0.6)), complete.weights()[row]);
        }
        let partial = builder.finish();
        // Every completion of every row, with the probability of the component and it given the row.
        let worlds: Vec<Vec<bool>> = (0..32u32).map(|w| (0..5).map(|i| w >> i & 1 == 1).collect()).collect();
        let joint =
            |k: usize, world: &[bool]| start.weights()[k] * start.components()[k].log_probability(world).unwrap().exp();
        let mut completions = [0, 1].map(|_| RecordsBuilder::new(Names::numbered(5)));
        for row in 0..partial.len() {
            let fits =
                |world: &&Vec<bool>| partial.row(row).zip(*world).all(|(cell, x)| cell.is_none_or(|cell| cell == *x));
            let fitting: Vec<&Vec<bool>> = worlds.iter().filter(fits).collect();
            let total: f64 = fitting.iter().map(|world| joint(0, world) + joint(1, world)).sum();
            for world in fitting {
                for (k, builder) in completions.iter_mut().enumerate() {
                    let share = partial.weights()[row] * joint(k, world) / total;
                    builder.push(world.iter().map(|&x| Some(x)), share);
                }
            }
        }
        let smoothing = Smoothing::marginal(1.5, &partial);
        let config = EmConfig { steps: 1, smoothing: smoothing.clone(), ..EmConfig::default() };
        let stepped = em_components(&start, &partial, &config, &()).unwrap().circuit;
        for (k, builder) in completions.into_iter().enumerate() {
            let shared = builder.finish();
            close(stepped.weights()[k], shared.total() / partial.total());
            let expected = start.components()[k].deterministic().unwrap().fit(&shared, &smoothing).unwrap().circuit;
            for world in &worlds {
                let found = stepped.components()[k].log_probability(world).unwrap();
                close(found.exp(), expected.log_probability(world).unwrap().exp());
            }
        }
        let climb = EmConfig { steps: 20, tolerance: 0.0, ..EmConfig::default() };
        let history = em_components(&start, &partial, &climb, &()).unwrap().history;
        assert!(history.windows(2).all(|step| step[1] >= step[0] - 1e-9), "{history:?}");
        assert!(history[history.len() - 1] > history[0]);
    }
    let impossible = Records::from_rows(Names::numbered(4), [[true; 4]]);
    let mixture = Mixture::uniform([slopp::example::psdd().into()]).unwrap();
    let refused = em_components(&mixture, &impossible, &EmConfig::default(), &());
    assert!(matches!(refused, Err(LearnError::NothingPossible)));
}
