//! Strudel and LearnPSDD: the base they start from stays, certificates hold by enumeration, and awkward records break nothing.

#[path = "../against/mod.rs"]
mod against;
mod learn_psdd;

use against::convert;
use slopp::circuit::Smoothing;
use slopp::learn::refine::{
    LearnPsddConfig, Refined, Scope, StrudelConfig, learn_psdd, strudel, strudel_deterministic,
};
use slopp::learn::{
    ChowLiu, LearnError, LearnPsdd, Learner, MixtureGrid, RefineFrom, SloppConfig, Strudel, StrudelEm, Support, Task,
    baseline, slopp as classes,
};
use slopp::logic::Limits;
use slopp::model::ModelKind;
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

/// The Chow-Liu tree in a closed world.
fn closed_tree(train: &Records, pseudocount: f64) -> Psdd {
    let tree = ChowLiu { pseudocount: Some(pseudocount) };
    Task::closed(train).learn(&tree, &()).unwrap().model.into_psdd().unwrap()
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
    check_within(refined, start, by_primes);
    for world in worlds(start.var_count()).filter(|world| *satisfied(start, world).last().unwrap()) {
        assert_eq!(satisfied(refined, &world).last(), Some(&true), "{world:?} is possible before only");
    }
}

/// Checks by enumeration that nothing new is possible and that elements, or even primes, are exclusive.
fn check_within(refined: &Circuit, start: &Circuit, by_primes: bool) {
    for world in worlds(start.var_count()) {
        let before = satisfied(start, &world);
        let after = satisfied(refined, &world);
        assert!(before.last() >= after.last(), "{world:?} is possible after only");
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
        if let Ok(psdd) = start.clone().certify(&Limits::default()) {
            let refined = strudel(&psdd, &train, None, &config, &()).unwrap();
            check(&refined.circuit, &start, true);
            same_as_refitted(&refined.circuit, &train, 0.7);
            steps[0] += refined.steps;
        }
        let start = start.certify_deterministic(&Limits::default()).unwrap();
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
        let start = baseline::chow_liu(&train, 1.0).unwrap();
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
    let start = baseline::chow_liu(&train, 1.0).unwrap();
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
    let start = baseline::chow_liu(&train, 1.0).unwrap();
    let config = StrudelConfig { check_every: 5, patience: 3, ..StrudelConfig::default() };
    let Refined { circuit, steps, history } = strudel(&start, &train, Some(&valid), &config, &()).unwrap();
    let best = history.iter().map(|&(_, score)| score).fold(f64::NEG_INFINITY, f64::max);
    assert!((log_likelihood(&circuit, &valid) / valid.total() - best).abs() < 1e-9, "the best look is kept");
    assert_eq!(history.last().unwrap().0, steps);
    assert!(best > history[0].1, "{history:?}");
}

#[test]
fn what_the_start_allows_of_the_validation_records_stays_possible() {
    let mut dice = Dice::new(21);
    let (mut hard, mut steps) = (0, 0);
    for round in 0..20 {
        let all = records(8, 120, &mut dice);
        let mut parts = all.split(&[0.5, 0.5], round).unwrap();
        let (valid, train) = (parts.pop().unwrap(), parts.pop().unwrap());
        let start = closed_tree(&train, 0.0);
        let config = StrudelConfig { check_every: 1, pseudocount: 0.0, ..StrudelConfig::default() };
        let grown = LearnPsddConfig { check_every: 1, pseudocount: 0.0, penalty: 0.0, ..LearnPsddConfig::default() };
        let strudel = strudel(&start, &train, Some(&valid), &config, &()).unwrap();
        let learn_psdd = learn_psdd(&start, &train, Some(&valid), &grown, &()).unwrap();
        let before = start.possible(&valid).unwrap();
        for refined in [strudel, learn_psdd] {
            assert_eq!(refined.circuit.possible(&valid).unwrap(), before);
            steps += refined.steps;
        }
        // That would not be so without a look.
        let blind = slopp::learn::refine::strudel(&start, &train, None, &config, &()).unwrap().circuit;
        hard += usize::from(blind.possible(&valid).unwrap() != before);
    }
    assert!(hard > 10 && steps > 40, "{hard} {steps}");
}

#[test]
fn empty_validation_records_are_none() {
    let train = records(6, 200, &mut Dice::new(4));
    let empty = RecordsBuilder::new(Names::numbered(6)).finish();
    let start = baseline::chow_liu(&train, 1.0).unwrap();
    let few = config(9, 2, 1.0);
    assert_eq!(
        strudel(&start, &train, Some(&empty), &few, &()).unwrap(),
        strudel(&start, &train, None, &few, &()).unwrap()
    );
    let task = Task::new(&train);
    let learner = Strudel { start: RefineFrom::Baseline, scope: Scope::Prime, config: few };
    let with_empty = Task { valid: Some(&empty), ..task };
    assert_eq!(with_empty.learn(&learner, &()).unwrap(), task.learn(&learner, &()).unwrap());
}

#[test]
fn without_validation_records_a_tenth_is_held_out_and_parameters_are_those_of_all() {
    let mut dice = Dice::new(31);
    for (support, pseudocount) in [(Support::open(), 1.0), (Support::closed(), 1.0), (Support::closed(), 0.0)] {
        let train = records(8, 400, &mut dice);
        let start = RefineFrom::Baseline;
        let few = StrudelConfig { check_every: 5, pseudocount, ..StrudelConfig::default() };
        let grown = LearnPsddConfig { check_every: 5, pseudocount, ..LearnPsddConfig::default() };
        let strudel = Strudel { start: start.clone(), scope: Scope::Prime, config: few.clone() };
        let learners: [Box<dyn Learner>; 3] = [
            Box::new(strudel.clone()),
            Box::new(Strudel { scope: Scope::Whole, ..strudel }),
            Box::new(LearnPsdd { start, config: grown }),
        ];
        for learner in learners {
            let outcome = Task { seed: 3, support, ..Task::new(&train) }.learn(&*learner, &()).unwrap();
            let fact = |name: &str| outcome.origin[name].parse::<f64>();
            assert_eq!(fact("held_out"), Ok(40.0), "{}", learner.name());
            assert!(fact("steps_done").unwrap() < 300.0, "it stops long before the budget is used up");
            let ModelKind::Circuit(circuit) = &outcome.model else { panic!("a circuit") };
            assert!(circuit.possible(&train).unwrap().into_iter().all(|possible| possible), "also those held out");
            let deterministic = circuit.deterministic().unwrap();
            same_as_refitted(deterministic, &train, pseudocount);
        }
    }
}

#[test]
fn an_open_world_needs_a_pseudocount() {
    let train = records(5, 60, &mut Dice::new(8));
    let task = Task::new(&train);
    let open = [RefineFrom::Baseline, RefineFrom::Slopp(SloppConfig::default())];
    for start in open {
        let psdd = LearnPsdd {
            start: start.clone(),
            config: LearnPsddConfig { pseudocount: 0.0, ..LearnPsddConfig::default() },
        };
        let strudel = Strudel { start, scope: Scope::Prime, config: config(5, 2, 0.0) };
        for refused in [task.learn(&psdd, &()), task.learn(&strudel, &())] {
            assert!(matches!(refused, Err(LearnError::Setting { name: "pseudocount", .. })));
        }
    }
}

#[test]
fn slopp_is_refined_from_what_merged_slopp_learns() {
    let mut dice = Dice::new(12);
    let train = records(8, 500, &mut dice);
    let valid = records(8, 100, &mut dice);
    let task = Task { valid: Some(&valid), seed: 7, ..Task::new(&train) };
    let start = SloppConfig::default();
    let learner = LearnPsdd { start: RefineFrom::Slopp(start.clone()), config: LearnPsddConfig::default() };
    assert_eq!(learner.name(), "slopp+learnpsdd");
    let merged = classes::learn(&task, &start, &()).unwrap().psdd;
    let expected = learn_psdd(&merged, &train, Some(&valid), &LearnPsddConfig::default(), &()).unwrap().circuit;
    assert_eq!(task.learn(&learner, &()).unwrap().model.psdd(), Some(&expected));
}

#[test]
fn ties_follow_no_threads() {
    let train = records(10, 400, &mut Dice::new(9));
    let start = baseline::chow_liu(&train, 1.0).unwrap();
    let config = config(60, 3, 1.0);
    let learn = || strudel(&start, &train, None, &config, &()).unwrap();
    let grow = || learn_psdd(&start, &train, None, &LearnPsddConfig::default(), &()).unwrap();
    let expected = (learn(), grow());
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| (learn(), grow())), expected);
    }
}

#[test]
fn a_mixture_shares_the_structure_of_the_single_model() {
    let mut dice = Dice::new(77);
    let all = records(7, 900, &mut dice);
    let parts = all.split(&[0.6, 0.2, 0.2], 1).unwrap();
    let [train, valid, test] = &parts[..] else { panic!("three parts") };
    let task = Task { valid: Some(valid), ..Task::new(train) };
    for scope in [Scope::Prime, Scope::Whole] {
        let single = Strudel { start: RefineFrom::Baseline, scope, config: config(3, 2, 1.0) };
        let ModelKind::Circuit(alone) = task.learn(&single, &()).unwrap().model else { panic!("a circuit") };
        let learner = StrudelEm { strudel: single, grid: MixtureGrid::default() };
        let ModelKind::Mixture(mixture) = task.learn(&learner, &()).unwrap().model else { panic!("a mixture") };
        assert!(mixture.shares_structure() && mixture.component_count() > 1);
        assert_eq!(mixture.components()[0].ids().len(), alone.ids().len());
        let total: f64 = worlds(7).map(|world| mixture.log_probability(&world).unwrap().exp()).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        let mean = |logs: Vec<f64>| logs.iter().zip(test.weights()).map(|(ll, w)| ll * w).sum::<f64>();
        let [one, many] = [alone.log_likelihoods(test), mixture.log_likelihoods(test)].map(|logs| mean(logs.unwrap()));
        assert!(many > one, "three kinds of records are better told apart by components: {many} against {one}");
        // Without validation records some are held out, and what is chosen is fitted to all.
        let outcome = Task::new(train).learn(&learner, &()).unwrap();
        let fact = |name: &str| outcome.origin.get(name).map(String::as_str);
        assert_eq!(fact("held_out"), Some("54"));
        assert!(fact("mixture_pseudocount").is_some());
        assert_eq!(fact("pseudocount"), Some("1"), "that of the structure, which nothing that is chosen replaces");
        let setting = |name: &str| learner.settings().into_iter().find(|(key, _)| *key == name).unwrap().1;
        assert_eq!((setting("pseudocount"), setting("tried_components")), ("1".to_owned(), "4 8 16".to_owned()));
        let ModelKind::Mixture(fitted) = outcome.model else { panic!("a mixture") };
        assert!(fitted.shares_structure());
    }
    let strudel = Strudel { start: RefineFrom::Baseline, scope: Scope::Prime, config: config(1, 2, 1.0) };
    let grid = MixtureGrid { pseudocounts: Vec::new(), ..MixtureGrid::default() };
    let mut holes = RecordsBuilder::new(Names::numbered(7));
    holes.push([None; 7], 1.0);
    let holes = holes.finish();
    let learner = StrudelEm { strudel: strudel.clone(), grid: MixtureGrid::default() };
    let refused = Task { valid: Some(&holes), ..task }.learn(&learner, &());
    assert!(matches!(refused, Err(LearnError::MissingCells { rows: 1, total: 1 })));
    let refused = task.learn(&StrudelEm { strudel, grid }, &());
    assert!(matches!(refused, Err(LearnError::Setting { name: "pseudocounts", .. })));
}
