//! Strudel: the base it starts from stays, certificates hold by enumeration, and awkward records break nothing.

mod against;

use against::convert;
use slopp::circuit::Smoothing;
use slopp::learn::refine::{Refined, Scope, StrudelConfig, strudel, strudel_deterministic};
use slopp::learn::{LearnError, Learned, Learner, MixtureGrid, Start, Strudel, StrudelMixture, Task, World, baseline};
use slopp::{Circuit, Deterministic, Names, Node, Progress, Psdd, Records, RecordsBuilder};
use slopp_oracle::{Dice, Tree, deterministic};
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows with two hidden kinds, so that there is something to split by; weights make distinct rows few.
fn records(vars: usize, rows: usize, dice: &mut Dice) -> Records {
    let kinds: Vec<Vec<f64>> = (0..3).map(|_| (0..vars).map(|_| dice.unit()).collect()).collect();
    let rows: Vec<Vec<bool>> = (0..rows)
        .map(|_| {
            let kind = &kinds[dice.below(3)];
            kind.iter().map(|&p| dice.chance(p)).collect()
        })
        .collect();
    Records::from_rows(Names::numbered(vars), rows)
}

fn log_likelihood(circuit: &Circuit, records: &Records) -> f64 {
    let values = circuit.log_likelihoods(records).unwrap();
    let possible = values.iter().zip(records.weights()).filter(|(ll, _)| ll.is_finite());
    possible.map(|(ll, weight)| ll * weight).sum()
}

fn config(steps: usize, depth: usize, pseudocount: f64) -> StrudelConfig {
    StrudelConfig { steps, depth, pseudocount, ..StrudelConfig::default() }
}

fn worlds(vars: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1usize << vars).map(move |world| (0..vars).map(|x| world >> x & 1 == 1).collect())
}

/// Which nodes a world satisfies, by definition.
fn satisfied(circuit: &Circuit, world: &[bool]) -> Vec<bool> {
    let mut holds: Vec<bool> = Vec::new();
    for id in circuit.ids() {
        holds.push(match circuit.node(id) {
            Node::Literal(lit) => world[lit.var.index()] == lit.value,
            Node::Top { .. } => true,
            Node::Sum { .. } => circuit.elements_of(id).any(|(e, _)| holds[e.prime.index()] && holds[e.sub.index()]),
        });
    }
    holds
}

/// Checks by enumeration that the base is the same and that elements, or even primes, are exclusive.
fn check(refined: &Circuit, start: &Circuit, by_primes: bool) {
    for world in worlds(start.var_count()) {
        let before = satisfied(start, &world);
        let after = satisfied(refined, &world);
        assert_eq!(before.last(), after.last(), "{world:?} is possible before or after only");
        for id in refined.ids() {
            let used = |e: slopp::Element| after[e.prime.index()] && (by_primes || after[e.sub.index()]);
            assert!(refined.elements_of(id).filter(|&(e, _)| used(e)).count() < 2, "{id:?} at {world:?}");
        }
    }
}

#[test]
fn the_base_stays_and_certificates_hold() {
    let mut dice = Dice::new(11);
    let mut steps = [0, 0];
    for round in 0..60 {
        let tree = Tree::random(2 + dice.below(6), &mut dice);
        let vars = tree.vars().len();
        let weak = round % 2 == 0;
        let (start, _) = convert(&deterministic(&tree, 0.6, weak, &mut dice), &tree);
        let train = records(vars, 200, &mut dice);
        if start.possible(&train).unwrap().iter().all(|possible| !possible) {
            continue;
        }
        let config = config(1 + dice.below(20), 1 + dice.below(4), 0.7);
        if let Ok(psdd) = start.clone().certify() {
            let refined = strudel(&psdd, &train, None, &config, &()).unwrap();
            check(&refined.circuit, &start, true);
            same_as_refitted(&refined.circuit, &train, 0.7);
            steps[0] += refined.steps;
        }
        let start = start.certify_deterministic().unwrap();
        let refined = strudel_deterministic(&start, &train, None, &config, &()).unwrap();
        check(&refined.circuit, &start, false);
        same_as_refitted(&refined.circuit, &train, 0.7);
        steps[1] += refined.steps;
    }
    assert!(steps[0] > 50 && steps[1] > 100, "{steps:?}");
}

/// The counts that are kept through all splits are those of counting anew.
fn same_as_refitted(circuit: &Deterministic, train: &Records, pseudocount: f64) {
    let fitted = circuit.fit(train, &Smoothing::marginal(pseudocount, train)).unwrap().circuit;
    assert_eq!(&fitted, circuit);
}

#[test]
fn training_likelihood_never_falls() {
    let mut dice = Dice::new(5);
    let mut rose = 0;
    for round in 0..6 {
        let train = records(7, 300, &mut dice);
        let start = baseline::chow_liu(&train, World::Open, 1.0).unwrap();
        let depth = 1 + round;
        let mut before = [f64::NEG_INFINITY; 2];
        for steps in 0..25 {
            let config = config(steps, depth, 0.0);
            let prime = strudel(&start, &train, None, &config, &()).unwrap();
            let whole = strudel_deterministic(&start, &train, None, &config, &()).unwrap();
            let after = [log_likelihood(&prime.circuit, &train), log_likelihood(&whole.circuit, &train)];
            for (before, after) in before.iter_mut().zip(after) {
                assert!(after >= *before - 1e-8, "{steps} steps: {before} {after}");
                rose += usize::from(after > *before + 1e-6);
                *before = after;
            }
            assert!(prime.circuit.possible(&train).unwrap().into_iter().all(|possible| possible));
        }
    }
    assert!(rose > 100, "{rose}");
}

/// Counts what it is told.
#[derive(Default)]
struct Told(AtomicU64, AtomicU64);

impl Progress for Told {
    fn begin(&self, _what: &str, steps: u64) {
        self.0.store(steps, Ordering::Relaxed);
    }

    fn advance(&self, steps: u64) {
        self.1.fetch_add(steps, Ordering::Relaxed);
    }
}

#[test]
fn the_budget_is_kept_and_told() {
    let train = records(8, 500, &mut Dice::new(1));
    let start = baseline::chow_liu(&train, World::Open, 1.0).unwrap();
    let mut sizes = Vec::new();
    for steps in [0, 1, 7, 20] {
        let told = Told::default();
        let refined = strudel(&start, &train, None, &config(steps, 2, 1.0), &told).unwrap();
        assert_eq!(refined.steps, steps);
        assert_eq!((told.0.into_inner(), told.1.into_inner()), (steps as u64, steps as u64));
        assert!(refined.history.is_empty());
        sizes.push(refined.circuit.elements().len());
    }
    assert!(sizes.is_sorted() && sizes[0] < sizes[3], "{sizes:?}");
    assert_eq!(strudel(&start, &train, None, &config(0, 2, 1.0), &()).unwrap().circuit, start);
}

#[test]
fn validation_records_stop_it_and_choose() {
    let mut dice = Dice::new(3);
    let all = records(9, 600, &mut dice);
    let mut parts = all.split(&[0.5, 0.5], 1).unwrap();
    let (valid, train) = (parts.pop().unwrap(), parts.pop().unwrap());
    let start = baseline::chow_liu(&train, World::Open, 1.0).unwrap();
    let config = StrudelConfig { check_every: 5, patience: 3, ..StrudelConfig::default() };
    let Refined { circuit, steps, history } = strudel(&start, &train, Some(&valid), &config, &()).unwrap();
    let best = history.iter().map(|&(_, score)| score).fold(f64::NEG_INFINITY, f64::max);
    assert!((log_likelihood(&circuit, &valid) / valid.total() - best).abs() < 1e-9, "the best look is kept");
    assert_eq!(history.last().unwrap().0, steps);
    assert!(best > history[0].1, "{history:?}");
}

#[test]
fn ties_follow_no_threads() {
    let train = records(10, 400, &mut Dice::new(9));
    let start = baseline::chow_liu(&train, World::Open, 1.0).unwrap();
    let config = config(60, 3, 1.0);
    let learn = || strudel(&start, &train, None, &config, &()).unwrap();
    let expected = learn();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(learn), expected);
    }
}

#[test]
fn awkward_records_break_nothing() {
    let rows = |vars: usize, rows: &[&[u8]]| {
        let rows = rows.iter().map(|row| row.iter().map(|&cell| cell == 1).collect::<Vec<_>>());
        Records::from_rows(Names::numbered(vars), rows)
    };
    let cases = [
        rows(3, &[&[1, 0, 1]]),
        rows(3, &[&[1, 0, 1], &[1, 0, 1], &[1, 0, 1]]),
        rows(3, &[&[1, 0, 1], &[1, 1, 0], &[1, 1, 1], &[1, 0, 0], &[1, 0, 0]]),
        rows(1, &[&[1], &[0], &[1]]),
        rows(1, &[&[1]]),
        rows(9, &[&[1, 0, 1, 1, 0, 0, 1, 0, 1], &[0, 0, 1, 0, 1, 0, 1, 1, 1], &[1, 1, 1, 0, 0, 0, 0, 0, 1]]),
    ];
    for train in &cases {
        for (world, pseudocount) in [(World::Open, 1.0), (World::Closed, 0.0), (World::Closed, 1.0)] {
            let start = baseline::chow_liu(train, world, pseudocount).unwrap();
            let config = config(30, 4, pseudocount);
            let prime = strudel(&start, train, Some(train), &config, &()).unwrap();
            let whole = strudel_deterministic(&start, train, None, &config, &()).unwrap();
            if pseudocount > 0.0 {
                check(&prime.circuit, &start, true);
                check(&whole.circuit, &start, false);
            }
            assert!(log_likelihood(&prime.circuit, train) >= log_likelihood(&start, train) - 1e-9);
        }
    }
}

#[test]
fn what_cannot_be_refined_is_an_error() {
    let train = records(4, 50, &mut Dice::new(2));
    let start = baseline::chow_liu(&train, World::Open, 1.0).unwrap();
    let refine = |start: &Psdd, train: &Records, config: &StrudelConfig| strudel(start, train, None, config, &());
    let usual = StrudelConfig::default();
    let none = RecordsBuilder::new(Names::numbered(4)).finish();
    assert!(matches!(refine(&start, &none, &usual), Err(LearnError::NoRecords)));
    let mut holes = RecordsBuilder::new(Names::numbered(4));
    holes.push([Some(true), None, Some(false), Some(true)], 1.0);
    assert!(matches!(refine(&start, &holes.finish(), &usual), Err(LearnError::MissingCells { rows: 1, total: 1 })));
    let wide = records(5, 50, &mut Dice::new(2));
    assert!(matches!(refine(&start, &wide, &usual), Err(LearnError::WrongVtree { vtree: 4, records: 5 })));
    for pseudocount in [-1.0, f64::NAN, f64::INFINITY] {
        let config = StrudelConfig { pseudocount, ..usual.clone() };
        assert!(matches!(refine(&start, &train, &config), Err(LearnError::Setting { name: "pseudocount", .. })));
    }
    let one = Records::from_rows(Names::numbered(4), [[true, true, false, false]]);
    let other = Records::from_rows(Names::numbered(4), [[true, true, true, false]]);
    let only = baseline::chow_liu(&one, World::Closed, 0.0).unwrap();
    assert!(matches!(refine(&only, &other, &usual), Err(LearnError::NothingPossible)));
    assert!(strudel(&start, &train, Some(&wide), &usual, &()).is_err(), "validation records of other data");
}

#[test]
fn a_mixture_shares_the_structure_of_the_single_model() {
    let mut dice = Dice::new(77);
    let all = records(7, 900, &mut dice);
    let parts = all.split(&[0.6, 0.2, 0.2], 1).unwrap();
    let [train, valid, test] = &parts[..] else { panic!("three parts") };
    let task = Task { valid: Some(valid), ..Task::new(train) };
    for scope in [Scope::Prime, Scope::Whole] {
        let single = Strudel { start: Start::Baseline(World::Open), scope, config: config(3, 2, 1.0) };
        let Learned::Circuit(alone) = single.learn(&task, &()).unwrap().learned else { panic!("a circuit") };
        let learner = StrudelMixture { strudel: single, grid: MixtureGrid::default() };
        let Learned::Mixture(mixture) = learner.learn(&task, &()).unwrap().learned else { panic!("a mixture") };
        assert!(mixture.shares_structure() && mixture.component_count() > 1);
        assert_eq!(mixture.components()[0].ids().len(), alone.ids().len());
        let total: f64 = worlds(7).map(|world| mixture.log_probability(&world).unwrap().exp()).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        let mean = |logs: Vec<f64>| logs.iter().zip(test.weights()).map(|(ll, w)| ll * w).sum::<f64>();
        let [one, many] = [alone.log_likelihoods(test), mixture.log_likelihoods(test)].map(|logs| mean(logs.unwrap()));
        assert!(many > one, "three kinds of records are better told apart by components: {many} against {one}");
        // Without validation records some are held out.
        assert!(matches!(learner.learn(&Task::new(train), &()).unwrap().learned, Learned::Mixture(_)));
    }
    let strudel = Strudel { start: Start::Baseline(World::Open), scope: Scope::Prime, config: config(1, 2, 1.0) };
    let grid = MixtureGrid { pseudocounts: Vec::new(), ..MixtureGrid::default() };
    let refused = StrudelMixture { strudel, grid }.learn(&task, &());
    assert!(matches!(refused, Err(LearnError::Setting { name: "pseudocounts", .. })));
}
