//! EM of mixtures.

use super::*;

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
fn odd_data_and_settings() {
    let records = slopp::example::records();
    let refused = |train: &Records, valid: Option<&Records>, grid: &MixtureGrid| {
        let learner = SloppEm { grid: grid.clone(), ..SloppEm::default() };
        Task { valid, ..Task::new(train) }.learn(&learner, &()).unwrap_err()
    };
    let grid = |components, pseudocount| MixtureGrid { components: vec![components], pseudocounts: vec![pseudocount] };
    let many = SloppEm { grid: grid(50, 10.0), ..SloppEm::default() };
    assert!(Task::new(&records).learn(&many, &()).is_ok(), "more components than records");
    for wrong in [grid(0, 1.0), grid(5000, 1.0), grid(2, -1.0), grid(2, f64::NAN)] {
        assert!(matches!(refused(&records, None, &wrong), LearnError::Setting { .. }));
    }
    let usual = MixtureGrid::default();
    let short = Records::from_rows(Names::numbered(3), [[true; 3]]);
    assert!(matches!(refused(&records, Some(&short), &usual), LearnError::WrongValidation { .. }));
    let mut holes = RecordsBuilder::new(records.names().clone());
    holes.push([None, Some(true), Some(true), Some(true)], 1.0);
    assert!(matches!(refused(&holes.finish(), None, &usual), LearnError::MissingCells { .. }));
    // On a structure that is given.
    let divided = |start: Certified, train: &Records| {
        let start = Model::new(records.names().clone(), start);
        let strudel = Strudel { scope: Scope::Whole, pseudocount: 0.0, ..Strudel::default() };
        let learner = StrudelEm { strudel, grid: grid(50, 0.0) };
        Task { start: Some(&start), valid: Some(train), ..Task::new(train) }.learn(&learner, &())
    };
    let example = || Certified::from(slopp::example::psdd());
    let one = Records::from_rows(records.names().clone(), [records.row(0).map(Option::unwrap).collect::<Vec<_>>()]);
    let ModelKind::Mixture(fitted) = divided(example(), &one).unwrap().model.kind else { panic!("a mixture") };
    close(fitted.log_likelihoods(&one).unwrap()[0], 0.0);
    let impossible = Records::from_rows(records.names().clone(), [[true; 4]]);
    assert!(matches!(divided(example(), &impossible), Err(LearnError::NothingPossible)));
    let mut dice = Dice::new(5);
    let tree = Tree::random(4, &mut dice);
    let loose = Certified::new(convert(&mixture(&tree, 3, &mut dice), &tree).0, &Limits::default());
    assert!(matches!(divided(loose, &records), Err(LearnError::NotDeterministic(_))));
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
        let start_kind = ModelKind::from(start.clone());
        let ModelKind::Mixture(stepped) = start_kind.em(&partial, &config, &()).unwrap().model else {
            panic!("a mixture")
        };
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
        let history = start_kind.em(&partial, &climb, &()).unwrap().history;
        assert!(history.windows(2).all(|step| step[1] >= step[0] - 1e-9), "{history:?}");
        assert!(history[history.len() - 1] > history[0]);
    }
    let impossible = Records::from_rows(Names::numbered(4), [[true; 4]]);
    let mixture = ModelKind::from(Mixture::uniform([slopp::example::psdd().into()]).unwrap());
    let refused = mixture.em(&impossible, &EmConfig::default(), &());
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
