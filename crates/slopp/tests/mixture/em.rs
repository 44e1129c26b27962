//! EM over components of one structure.

use super::*;
use slopp::logic::Limits;

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
    let task = Task { vtree: Some(&Vtree::balanced(records.var_count()).into()), ..Task::new(records) };
    task.learn(&SloppTree { min_records: 20.0, ..SloppTree::default() }, &()).unwrap().model.into_psdd().unwrap()
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
                assert!(slopp::Circuit::clone(component).certify(&Limits::default()).is_ok());
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
    let loose = Certified::new(convert(&mixture(&tree, 3, &mut dice), &tree).0, &Limits::default());
    assert!(matches!(em_mixture(&loose, &records, None, &config, &()), Err(LearnError::NotDeterministic(_))));
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
    let task = Task { vtree: Some(&Vtree::balanced(9).into()), ..Task::closed(&train) };
    let closed = task.learn(&Factorised { pseudocount: Some(1.0) }, &()).unwrap().model;
    let start = Certified::from(closed.into_psdd().unwrap());
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
        let components: Vec<Certified> = vec![
            structure(&complete).into(),
            learned::psdd(&Task::new(&complete), &ChowLiu { pseudocount: Some(1.0) }).into(),
        ];
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

#[test]
fn fitted_weights_are_at_the_maximum() {
    let [train, valid] = [6, 7].map(|seed| two_populations(8, 300, seed));
    let components: Vec<Certified> = vec![
        structure(&train).into(),
        learned::psdd(&Task::new(&train), &ChowLiu { pseudocount: Some(1.0) }).into(),
        learned::psdd(&Task::new(&train), &Factorised { pseudocount: Some(1.0) }).into(),
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
