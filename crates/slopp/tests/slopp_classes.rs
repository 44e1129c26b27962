//! SLoPP with merged classes: always certified, always what it says, whatever the records.

mod chain;

use chain::chain;
use proptest::prelude::*;
use slopp::circuit::Smoothing;
use slopp::learn::slopp::{self as classes, LearnedSlopp, Stage, Start};
use slopp::learn::{LearnError, Slopp, SloppConfig, Support, Task, World};
use slopp::logic::Limits;
use slopp::{Names, Psdd, Random, Records, RecordsBuilder, Var, Vtree};
use std::sync::Arc;

fn records(rows: &[(Vec<bool>, f64)]) -> Records {
    let mut builder = RecordsBuilder::new(Names::numbered(rows[0].0.len()));
    rows.iter().for_each(|(row, weight)| builder.push(row.iter().map(|&x| Some(x)), *weight));
    builder.finish()
}

fn worlds(vars: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << vars).map(move |w| (0..vars).map(|i| w >> i & 1 == 1).collect())
}

fn mean(psdd: &Psdd, records: &Records) -> f64 {
    let logs = psdd.log_likelihoods(records).unwrap();
    logs.iter().zip(records.weights()).map(|(log, weight)| log * weight).sum::<f64>() / records.total()
}

/// What is learned in an open world.
fn learn(train: &Records, valid: Option<&Records>, config: &SloppConfig) -> Result<LearnedSlopp, LearnError> {
    classes::learn(&Task { valid, ..Task::new(train) }, config, &())
}

/// The same on a vtree.
fn learn_on(vtree: &Arc<Vtree>, train: &Records, valid: Option<&Records>, config: &SloppConfig) -> LearnedSlopp {
    classes::learn(&Task { valid, vtree: Some(vtree), ..Task::new(train) }, config, &()).unwrap()
}

/// The PSDD that is learned in the support of a task.
fn learned_in(task: Task<'_>, config: &SloppConfig) -> Psdd {
    task.learn(&Slopp::from(config.clone()), &()).unwrap().model.into_psdd().expect("a PSDD")
}

/// The PSDD is certified again from scratch, sums to one, and has the support its world promises.
fn check(psdd: &Psdd, train: &Records, is_open: bool) {
    slopp::Circuit::clone(psdd).certify(&Limits::default()).expect("what was certified can be certified again");
    let table: Vec<f64> = worlds(train.var_count()).map(|world| psdd.log_probability(&world).unwrap().exp()).collect();
    assert!((table.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    if is_open {
        assert!(table.iter().all(|&p| p > 0.0), "in an open world everything is possible");
    }
    assert!(psdd.log_likelihoods(train).unwrap().iter().all(|log| log.is_finite()), "training records are possible");
    // A circuit that is one literal has no parameter that could keep a count.
    let kept = psdd.kept_values().unwrap();
    for (i, kept) in kept.iter().enumerate().filter(|_| train.var_count() > 1) {
        let counted = train.count_values(Var(i as u32));
        assert!((kept[0] - counted[0]).abs() < 1e-6 && (kept[1] - counted[1]).abs() < 1e-6, "counts of variable {i}");
    }
}

fn starts() -> impl Strategy<Value = Vec<Start>> {
    prop_oneof![
        Just(vec![Start::Whole(0.2)]),
        Just(vec![Start::Window(0.2)]),
        Just(vec![Start::Tree]),
        Just(vec![Start::Whole(1.0), Start::Window(1.0), Start::Tree]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_result_is_certified_and_sums_to_one(
        vars in 1usize..7,
        picks in prop::collection::vec((any::<u8>(), 1u32..5), 1..60),
        real in any::<bool>(),
        constant in any::<bool>(),
        closed in any::<bool>(),
        max_classes in prop_oneof![Just(1usize), Just(2), Just(32), Just(500)],
        starts in starts(),
        penalty in prop_oneof![Just(0.0), Just(0.3), Just(2.0)],
        with_valid in any::<bool>(),
        shape in 0..4,
    ) {
        let row = |bits: u8| (0..vars).map(|i| bits >> i & 1 == 1 && !(constant && i == 0)).collect::<Vec<bool>>();
        let weight = |w: u32| if real { f64::from(w) * 0.37 } else { f64::from(w) };
        let train = records(&picks.iter().map(|&(bits, w)| (row(bits), weight(w))).collect::<Vec<_>>());
        let valid = records(&picks.iter().map(|&(bits, _)| (row(bits.rotate_left(1)), 1.0)).collect::<Vec<_>>());
        let vtree = match shape {
            0 => None,
            1 => Some(Vtree::balanced(vars)),
            2 => Some(Vtree::left_linear(vars)),
            _ => Some(Vtree::random(vars, picks.len() as u64)),
        };
        let vtree = vtree.map(Arc::new);
        let config = SloppConfig {
            max_classes, starts, class_penalty: penalty, sweep_penalty: penalty, clone_penalty: penalty,
            ..SloppConfig::default()
        };
        let task = Task { valid: with_valid.then_some(&valid), vtree: vtree.as_ref(), ..Task::new(&train) };
        let learned = classes::learn(&task, &config, &()).unwrap();
        check(&learned.psdd, &train, true);
        if closed {
            let closed = learned_in(Task { support: Support::closed(), ..task }, &config);
            check(&closed, &train, false);
            prop_assert_eq!(closed.vtree(), learned.psdd.vtree());
        }
        match vtree {
            None => prop_assert!(learned.psdd.vtree().is_right_linear()),
            Some(vtree) => prop_assert_eq!(learned.psdd.vtree(), &vtree),
        }
        if with_valid {
            // The learner's own bookkeeping is the likelihood of the circuit it returns.
            let best = learned.history.iter().map(|look| look.log_likelihood).fold(f64::NEG_INFINITY, f64::max);
            let (found, told) = (mean(&learned.psdd, &valid), learned.log_likelihood);
            prop_assert!((found - told).abs() < 1e-9, "{found} is not {told}");
            prop_assert!(learned.history.iter().any(|look| look.log_likelihood == told), "{told} was not looked at");
            // Independent variables are kept where nothing is clearly better.
            let is_nothing = learned.start == Start::Whole(f64::INFINITY);
            prop_assert!(found <= best + 1e-9 && (is_nothing || found >= best - 1e-9), "{found} is not {best}");
        }
    }
}

#[test]
fn better_than_what_it_starts_from() {
    let (train, valid, test) = (chain(12, 3000, 1), chain(12, 500, 2), chain(12, 3000, 3));
    let learned = learn(&train, Some(&valid), &SloppConfig::default()).unwrap();
    let tree = slopp::learn::baseline::chow_liu(&train, 1.0).unwrap();
    let gain = mean(&learned.psdd, &test) - mean(&tree, &test);
    assert!(gain > 0.3, "the switch is worth more than {gain} nats");
    for vtree in [Vtree::balanced(12), Vtree::left_linear(12), Vtree::random(12, 5)] {
        let general = learn_on(&Arc::new(vtree), &train, Some(&valid), &SloppConfig::default());
        let gain = mean(&general.psdd, &test) - mean(&tree, &test);
        assert!(gain > 0.2, "the switch is worth more than {gain} nats on any vtree");
    }
    assert!(learned.history.iter().any(|look| matches!(look.stage, Stage::Cloned(steps) if steps > 0)));
}

#[test]
fn threads_do_not_matter_and_seeds_do() {
    let train = chain(30, 700, 4);
    let on = |vtree: Option<Vtree>, threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let vtree = vtree.map(Arc::new);
        let task = Task { seed, vtree: vtree.as_ref(), ..Task::new(&train) };
        pool.install(|| classes::learn(&task, &SloppConfig::default(), &()).unwrap())
    };
    assert_eq!(on(Some(Vtree::balanced(30)), 1, 0), on(Some(Vtree::balanced(30)), 3, 0));
    let run = |threads: usize, seed: u64| on(None, threads, seed);
    let one = run(1, 0);
    assert_eq!(one, run(2, 0));
    assert_eq!(one, run(3, 0));
    assert_eq!(one.held_out, 70.0);
    assert_ne!(one.history, run(1, 1).history, "another seed holds out other records");
}

#[test]
fn real_weights_are_shares_of_whole_ones() {
    let train = chain(8, 400, 9);
    let half = records(
        &(0..train.len())
            .map(|i| (train.row(i).map(Option::unwrap).collect(), train.weights()[i] * 0.5))
            .chain((0..train.len()).map(|i| (train.row(i).map(Option::unwrap).collect(), train.weights()[i] * 0.5)))
            .collect::<Vec<_>>(),
    );
    let valid = chain(8, 100, 10);
    assert_eq!(
        learn(&train, Some(&valid), &SloppConfig::default()).unwrap(),
        learn(&half, Some(&valid), &SloppConfig::default()).unwrap(),
        "half weights twice are whole weights"
    );
}

#[test]
fn classes_of_a_vtree_node_keep_within_their_limit() {
    // Groups that every left half tells something about: without a limit terms multiply on the way down.
    let mut random = Random::new(21);
    let chances: Vec<Vec<f64>> = (0..8).map(|_| (0..16).map(|_| 0.1 + 0.8 * random.unit()).collect()).collect();
    let mut row = || -> Vec<bool> {
        let group = &chances[random.below(8)];
        group.iter().map(|&chance| random.unit() < chance).collect()
    };
    let train = Records::from_rows(Names::numbered(16), (0..4000).map(|_| row()));
    for vtree in [Vtree::balanced(16), Vtree::left_linear(16), Vtree::random(16, 3)] {
        let vtree = Arc::new(vtree);
        for max_classes in [1, 4, 32] {
            let starts = vec![Start::Whole(0.0)];
            let config =
                SloppConfig { max_classes, starts, class_penalty: 0.1, clone_depth: 0, ..SloppConfig::default() };
            let psdd = learn_on(&vtree, &train, None, &config).psdd;
            let inner = vtree.bottom_up().iter().filter(|&&v| vtree.children(v).is_some());
            let most = inner.map(|&v| psdd.layer(v).len()).max().unwrap();
            assert!(most <= max_classes, "{most} classes where {max_classes} are allowed");
            let cloned = learn_on(&vtree, &train, None, &SloppConfig { clone_depth: 6, ..config }).psdd;
            assert!(cloned.elements().len() <= 16 * max_classes * 15, "{} elements", cloned.elements().len());
        }
    }
}

#[test]
fn elements_keep_within_their_limit() {
    let (train, valid) = (chain(14, 2000, 5), chain(14, 400, 6));
    let free = learn(&train, Some(&valid), &SloppConfig::default()).unwrap().psdd;
    let balanced = Arc::new(Vtree::balanced(14));
    for max in [13, 30, 100] {
        let config = SloppConfig { max_elements: Some(max), ..SloppConfig::default() };
        let elements = learn_on(&balanced, &train, Some(&valid), &config).psdd.stats().elements;
        assert!(elements <= max, "{elements} elements are more than {max}");
    }
    let mut last = f64::NEG_INFINITY;
    for max in [13, 20, 40, free.stats().elements] {
        let config = SloppConfig { max_elements: Some(max), ..SloppConfig::default() };
        let psdd = learn(&train, Some(&valid), &config).unwrap().psdd;
        assert!(psdd.stats().elements <= max, "{} elements are more than {max}", psdd.stats().elements);
        let reached = mean(&psdd, &valid);
        assert!(reached >= last, "{max} elements should do better than fewer: {reached} after {last}");
        last = reached;
    }
    assert!(matches!(
        learn(&train, None, &SloppConfig { max_elements: Some(12), ..SloppConfig::default() }),
        Err(LearnError::Setting { name: "max_elements", .. })
    ));
}

#[test]
fn a_given_vtree_is_kept() {
    let (train, valid) = (chain(6, 500, 7), chain(6, 100, 8));
    let order = [3, 1, 5, 0, 2, 4].map(Var);
    let vtree = Arc::new(Vtree::right_linear_over(&order));
    let learned = learn_on(&vtree, &train, Some(&valid), &SloppConfig::default());
    assert_eq!(learned.psdd.vtree(), &vtree);
    check(&learned.psdd, &train, true);
    let wrong = Task { vtree: Some(&Vtree::right_linear(5).into()), ..Task::new(&train) };
    let refused = classes::learn(&wrong, &SloppConfig::default(), &());
    assert!(matches!(refused, Err(LearnError::WrongVtree { .. })));
}

#[test]
fn more_variables_than_records() {
    let train = chain(200, 30, 11);
    let learned = learn(&train, None, &SloppConfig::default()).unwrap();
    assert!(mean(&learned.psdd, &train).is_finite());
    assert_eq!(learned.held_out, 3.0);
}

#[test]
fn one_record_and_equal_records() {
    for (rows, held_out) in [(1, 0.0), (100, 10.0)] {
        let train = Records::from_rows(Names::numbered(5), (0..rows).map(|_| [true, false, true, true, false]));
        let learned = learn(&train, None, &SloppConfig::default()).unwrap();
        assert_eq!(learned.held_out, held_out);
        check(&learned.psdd, &train, true);
        let closed = learned_in(Task::closed(&train), &SloppConfig::default());
        assert!(mean(&closed, &train).abs() < 1e-12, "in a closed world only the one record is possible");
    }
}

#[test]
fn closed_worlds_drop_what_was_never_seen() {
    let train = records(&[(vec![true, true, false], 5.0), (vec![false, false, false], 3.0)]);
    let learned = Task::closed(&train).learn(&Slopp::default(), &()).unwrap();
    assert_eq!(learned.origin["pseudocount"], "0");
    let psdd = learned.model.into_psdd().unwrap();
    assert!(psdd.log_probability(&[true, true, true]).unwrap() == f64::NEG_INFINITY);
    let smoothed = SloppConfig { pseudocount: Some(1.0), ..SloppConfig::default() };
    let smoothed = learned_in(Task::closed(&train), &smoothed);
    for world in worlds(3) {
        let [a, b] = [&psdd, &smoothed].map(|psdd| psdd.log_probability(&world).unwrap().is_finite());
        assert_eq!(a, b, "smoothing makes nothing possible in a closed world: {world:?}");
    }
}

#[test]
fn bad_input_is_refused_with_a_way_out() {
    let train = chain(4, 50, 12);
    let refused = |config: SloppConfig| learn(&train, None, &config).unwrap_err().to_string();
    assert!(refused(SloppConfig { max_classes: 0, ..SloppConfig::default() }).contains("max_classes is 0"));
    assert!(refused(SloppConfig { max_classes: 20_000, ..SloppConfig::default() }).contains("at most 16384"));
    assert!(refused(SloppConfig { clone_depth: 1000, ..SloppConfig::default() }).contains("at most 64"));
    assert!(refused(SloppConfig { starts: vec![Start::Whole(f64::NAN)], ..SloppConfig::default() }).contains("starts"));
    assert!(refused(SloppConfig { sweep_penalty: -1.0, ..SloppConfig::default() }).contains("sweep_penalty"));
    assert!(refused(SloppConfig { pseudocounts: vec![0.0], ..SloppConfig::default() }).contains("pseudocounts"));
    assert!(refused(SloppConfig { pseudocount: Some(0.0), ..SloppConfig::default() }).contains("pseudocount is 0"));
    let mut builder = RecordsBuilder::new(Names::numbered(2));
    builder.push([Some(true), None], 1.0);
    let missing = builder.finish();
    assert!(matches!(learn(&missing, None, &SloppConfig::default()), Err(LearnError::MissingCells { .. })));
    let two = chain(2, 50, 1);
    assert!(matches!(learn(&two, Some(&missing), &SloppConfig::default()), Err(LearnError::MissingCells { .. })));
    assert!(matches!(learn(&two, Some(&train), &SloppConfig::default()), Err(LearnError::WrongValidation { .. })));
    let none = Records::from_rows(Names::numbered(3), Vec::<Vec<bool>>::new());
    assert!(matches!(learn(&none, None, &SloppConfig::default()), Err(LearnError::NoRecords)));
    let empty = Records::from_rows(Names::numbered(0), [Vec::<bool>::new()]);
    assert!(matches!(learn(&empty, None, &SloppConfig::default()), Err(LearnError::NoVariables)));
}

#[test]
fn long_orders_do_not_overflow_the_stack() {
    let train = chain(3000, 12, 13);
    assert_eq!(learn(&train, None, &SloppConfig::default()).unwrap().psdd.var_count(), 3000);
}

#[test]
fn the_bars_of_two_datasets() {
    for (name, bar, size) in [("nltcs", -6.058, 1_000), ("plants", -13.10, 10_000)] {
        let part = |part: &str| {
            let path = slopp_oracle::shared(&format!("data/{name}/{name}.{part}.data.gz"))?;
            Some(slopp::io::read_records(&path, &slopp::io::RecordsOptions::default()).unwrap())
        };
        let (Some(train), Some(valid), Some(test)) = (part("train"), part("valid"), part("test")) else { return };
        let learned = learn(&train, Some(&valid), &SloppConfig::default()).unwrap();
        let reached = mean(&learned.psdd, &test);
        assert!(reached > bar, "{name}: {reached}");
        assert!(learned.psdd.stats().size_paper < size);
    }
}

#[test]
fn what_no_record_has_leads_where_others_lead() {
    // A switch, a value, and copies of the value; in training, the value never is on where the switch is.
    let mut random = Random::new(4);
    let mut draw = |both: bool| {
        let switch = random.unit() < 0.4;
        let value = (both || !switch) && random.unit() < 0.5;
        let copies = (0..5).map(|_| value ^ (random.unit() < 0.05)).collect::<Vec<bool>>();
        [vec![switch, value], copies].concat()
    };
    let train = Records::from_rows(Names::numbered(7), (0..400).map(|_| draw(false)));
    let valid = Records::from_rows(Names::numbered(7), (0..100).map(|_| draw(true)));
    let order: Vec<Var> = (0..7).map(Var).collect();
    let vtree = Arc::new(Vtree::right_linear_over(&order));
    for start in [Start::Tree, Start::Whole(1.0)] {
        let config = SloppConfig { starts: vec![start], clone_depth: 0, ..SloppConfig::default() };
        let psdd = learn_on(&vtree, &train, Some(&valid), &config).psdd;
        let log = |copies: bool| psdd.log_probability(&[vec![true, true], vec![copies; 5]].concat()).unwrap();
        assert!(log(true) > log(false) + 2.0, "{start}: {} {}", log(true), log(false));
    }
}

#[test]
fn what_is_closed_but_for_some_variables_is_open_there() {
    let train = chain(7, 60, 60);
    let seen: Vec<Vec<bool>> = (0..train.len()).map(|row| train.row(row).map(|x| x == Some(true)).collect()).collect();
    for vtree in [None, Some(Vtree::balanced(7)), Some(Vtree::left_linear(7))] {
        let vtree = vtree.map(Arc::new);
        let task = Task { vtree: vtree.as_ref(), ..Task::new(&train) };
        // Some weight of the prior, or the closed world would have none.
        let config = SloppConfig { pseudocount: Some(1.0), ..SloppConfig::default() };
        let learned = learned_in(task, &config);
        let closed = learned_in(Task { support: Support::closed(), ..task }, &config);
        let used = learned.fit(&train, &Smoothing::none()).unwrap().circuit;
        let mut last = closed.model_count();
        for free in [&[][..], &[Var(2)], &[Var(2), Var(6)], &[0, 1, 2, 3, 4, 5, 6].map(Var)] {
            let support = Support::of(World::Closed { except: free.to_vec() });
            let psdd = &learned_in(Task { support: &support, ..task }, &config);
            slopp::Circuit::clone(psdd).certify(&Limits::default()).expect("what was certified can be certified again");
            let total: f64 = worlds(7).map(|world| psdd.log_probability(&world).unwrap().exp()).sum();
            assert!((total - 1.0).abs() < 1e-9);
            for world in worlds(7) {
                let agrees = |row: &Vec<bool>| (0..7).all(|i| row[i] == world[i] || free.contains(&Var(i as u32)));
                let is_possible = psdd.is_possible(&world).unwrap();
                assert!(is_possible || !seen.iter().any(agrees), "{world:?} is like a record but for {free:?}");
                if free.is_empty() {
                    assert_eq!(is_possible, closed.is_possible(&world).unwrap(), "nothing open is the closed world");
                    assert_eq!(is_possible, used.is_possible(&world).unwrap(), "which is what the records use");
                }
            }
            assert!(psdd.model_count() >= last, "the more is open the more is possible");
            last = psdd.model_count();
        }
        assert_eq!(last, learned.model_count(), "with all open everything is possible");
        assert!(closed.model_count() < last);
    }
}
