//! Strudel and LearnPSDD: the base they start from stays, certificates hold by enumeration, and awkward records break nothing.

#[path = "../against/mod.rs"]
mod against;
mod learn_psdd;

use against::convert;
use slopp::circuit::Smoothing;
use slopp::learn::{
    ChowLiu, LearnError, LearnPsdd, Learner, MixtureGrid, Scope, Slopp, SloppLearnPsdd, Strudel, StrudelEm, Support,
    Task,
};
use slopp::logic::Limits;
use slopp::model::ModelKind;
use slopp::{Certified, Circuit, Deterministic, Model, Names, Node, Progress, Psdd, Records, RecordsBuilder};
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

/// The Chow-Liu tree, closed in a closed world.
fn tree(task: &Task, pseudocount: f64) -> Psdd {
    task.learn(&ChowLiu { pseudocount: Some(pseudocount) }, &()).unwrap().model.into_psdd().unwrap()
}

/// What becomes of a circuit, and how many operations that took; without validation records, chosen by training records.
fn refine(
    learner: &dyn Learner,
    start: impl Into<Certified>,
    train: &Records,
    valid: Option<&Records>,
) -> Result<(Certified, usize), LearnError> {
    let start = Model::new(Names::numbered(train.var_count()), start.into());
    let task = Task { start: Some(&start), valid: Some(valid.unwrap_or(train)), ..Task::new(train) };
    let outcome = task.learn(learner, &())?;
    let steps = outcome.model.origin["steps_done"].parse().unwrap();
    let ModelKind::Circuit(circuit) = outcome.model.kind else { panic!("a circuit") };
    Ok((circuit, steps))
}

/// Strudel by primes.
fn prime(steps: usize, depth: usize, pseudocount: f64) -> Strudel {
    Strudel { steps, depth, pseudocount, ..Strudel::default() }
}

/// Strudel by all variables.
fn whole(steps: usize, depth: usize, pseudocount: f64) -> Strudel {
    Strudel { scope: Scope::Whole, ..prime(steps, depth, pseudocount) }
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
        let (most, depth) = (1 + dice.below(20), 1 + dice.below(4));
        let certified = Certified::new(start.clone(), &Limits::default());
        if let Certified::Psdd(psdd) = certified.clone() {
            let (refined, done) = refine(&prime(most, depth, 0.7), psdd, &train, None).unwrap();
            check(&refined, &start, true);
            same_as_refitted(&refined, &train, 0.7);
            steps[0] += done;
        }
        let (refined, done) = refine(&whole(most, depth, 0.7), certified, &train, None).unwrap();
        check(&refined, &start, false);
        same_as_refitted(&refined, &train, 0.7);
        steps[1] += done;
    }
    assert!(steps[0] > 50 && steps[1] > 100, "{steps:?}");
}

/// The counts that are kept through all splits are those of counting anew.
fn same_as_refitted(circuit: &Certified, train: &Records, pseudocount: f64) {
    let circuit: &Deterministic = circuit.deterministic().unwrap();
    let fitted = circuit.fit(train, &Smoothing::marginal(pseudocount, train)).unwrap().circuit;
    assert_eq!(&fitted, circuit);
}

#[test]
fn training_likelihood_never_falls() {
    let mut dice = Dice::new(5);
    let mut rose = 0;
    for round in 0..6 {
        let train = records(7, 300, &mut dice);
        let start = tree(&Task::new(&train), 1.0);
        let depth = 1 + round;
        let mut before = [f64::NEG_INFINITY; 2];
        for steps in 0..25 {
            let learners = [prime(steps, depth, 0.0), whole(steps, depth, 0.0)];
            let refined = learners.map(|learner| refine(&learner, start.clone(), &train, None).unwrap().0);
            let after = refined.each_ref().map(|circuit| log_likelihood(circuit, &train));
            for (before, after) in before.iter_mut().zip(after) {
                assert!(after >= *before - 1e-8, "{steps} steps: {before} {after}");
                rose += usize::from(after > *before + 1e-6);
                *before = after;
            }
            assert!(refined[0].possible(&train).unwrap().into_iter().all(|possible| possible));
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
    let start = Model::new(Names::numbered(8), tree(&Task::new(&train), 1.0));
    let mut sizes = Vec::new();
    for steps in [0, 1, 7, 20] {
        let told = Told::default();
        let task = Task { start: Some(&start), valid: Some(&train), ..Task::new(&train) };
        let outcome = task.learn(&prime(steps, 2, 1.0), &told).unwrap();
        assert_eq!(outcome.model.origin["steps_done"], steps.to_string());
        assert_eq!((told.0.into_inner(), told.1.into_inner()), (steps as u64, steps as u64));
        sizes.push(outcome.model.most_elements());
        if steps == 0 {
            assert_eq!(outcome.model.kind, start.kind);
        }
    }
    assert!(sizes.is_sorted() && sizes[0] < sizes[3], "{sizes:?}");
}

#[test]
fn validation_records_stop_it_and_choose() {
    let mut dice = Dice::new(3);
    let all = records(9, 600, &mut dice);
    let mut parts = all.split(&[0.5, 0.5], 1).unwrap();
    let (valid, train) = (parts.pop().unwrap(), parts.pop().unwrap());
    let start = tree(&Task::new(&train), 1.0);
    let usual = Strudel { check_every: 5, patience: 3, ..Strudel::default() };
    let (best, steps) = refine(&usual, start.clone(), &train, Some(&valid)).unwrap();
    assert!(log_likelihood(&best, &valid) > log_likelihood(&start, &valid));
    // Every look again, by runs that compare only the start and their last step.
    let looks = std::iter::successors(Some(5), |done| Some(done + 5.max(done / 10))).take_while(|&done| done <= steps);
    let look = |done: usize| {
        let once = Strudel { steps: done, check_every: done, ..usual.clone() };
        log_likelihood(&refine(&once, start.clone(), &train, Some(&valid)).unwrap().0, &valid)
    };
    let looks: Vec<f64> = looks.map(look).collect();
    let highest = looks.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!((log_likelihood(&best, &valid) - highest).abs() / valid.total() < 1e-9, "the best look is kept");
    let first = looks.iter().position(|&look| look == highest).unwrap();
    assert_eq!(looks.len() - 1 - first, usual.patience, "{looks:?}");
    let (last, all) = refine(&usual, start, &train, None).unwrap();
    assert!(steps < all && log_likelihood(&best, &valid) > log_likelihood(&last, &valid), "{steps} of {all}");
}

#[test]
fn what_the_start_allows_of_the_validation_records_stays_possible() {
    let mut dice = Dice::new(21);
    let (mut hard, mut steps) = (0, 0);
    for round in 0..20 {
        let all = records(8, 120, &mut dice);
        let mut parts = all.split(&[0.5, 0.5], round).unwrap();
        let (valid, train) = (parts.pop().unwrap(), parts.pop().unwrap());
        let start = tree(&Task::closed(&train), 0.0);
        let strudel = Strudel { check_every: 1, pseudocount: 0.0, ..Strudel::default() };
        let grown = LearnPsdd { check_every: 1, pseudocount: 0.0, penalty: 0.0, ..LearnPsdd::default() };
        let before = start.possible(&valid).unwrap();
        for learner in [&strudel as &dyn Learner, &grown] {
            let (refined, done) = refine(learner, start.clone(), &train, Some(&valid)).unwrap();
            assert_eq!(refined.possible(&valid).unwrap(), before);
            steps += done;
        }
        // That would not be so without these validation records.
        let (blind, _) = refine(&strudel, start, &train, None).unwrap();
        hard += usize::from(blind.possible(&valid).unwrap() != before);
    }
    assert!(hard > 10 && steps > 40, "{hard} {steps}");
}

#[test]
fn empty_validation_records_are_none() {
    let train = records(6, 200, &mut Dice::new(4));
    let empty = RecordsBuilder::new(Names::numbered(6)).finish();
    let (task, learner) = (Task::new(&train), prime(9, 2, 1.0));
    let with_empty = Task { valid: Some(&empty), ..task };
    assert_eq!(with_empty.learn(&learner, &()).unwrap(), task.learn(&learner, &()).unwrap());
}

#[test]
fn without_validation_records_a_tenth_is_held_out_and_parameters_are_those_of_all() {
    let mut dice = Dice::new(31);
    for (support, pseudocount) in [(Support::open(), 1.0), (Support::closed(), 1.0), (Support::closed(), 0.0)] {
        let train = records(8, 400, &mut dice);
        let strudel = Strudel { check_every: 5, pseudocount, ..Strudel::default() };
        let learners: [Box<dyn Learner>; 3] = [
            Box::new(strudel.clone()),
            Box::new(Strudel { scope: Scope::Whole, ..strudel }),
            Box::new(LearnPsdd { check_every: 5, pseudocount, ..LearnPsdd::default() }),
        ];
        for learner in learners {
            let outcome = Task { seed: 3, support, ..Task::new(&train) }.learn(&*learner, &()).unwrap();
            let fact = |name: &str| outcome.model.origin[name].parse::<f64>();
            assert_eq!(fact("held_out"), Ok(40.0), "{}", learner.name());
            assert!(fact("steps_done").unwrap() < 300.0, "it stops long before the budget is used up");
            let ModelKind::Circuit(circuit) = &outcome.model.kind else { panic!("a circuit") };
            assert!(circuit.possible(&train).unwrap().into_iter().all(|possible| possible), "also those held out");
            same_as_refitted(circuit, &train, pseudocount);
        }
    }
}

#[test]
fn an_open_world_needs_a_pseudocount() {
    let train = records(5, 60, &mut Dice::new(8));
    let task = Task::new(&train);
    let refinement = LearnPsdd { pseudocount: 0.0, ..LearnPsdd::default() };
    let slopp = SloppLearnPsdd { refinement: refinement.clone(), slopp: Slopp::default() };
    for learner in [&refinement as &dyn Learner, &slopp, &prime(5, 2, 0.0)] {
        assert!(matches!(task.learn(learner, &()), Err(LearnError::Setting { name: "pseudocount", .. })));
    }
}

#[test]
fn slopp_is_refined_from_what_merged_slopp_learns() {
    let mut dice = Dice::new(12);
    let train = records(8, 500, &mut dice);
    let valid = records(8, 100, &mut dice);
    let task = Task { valid: Some(&valid), seed: 7, ..Task::new(&train) };
    let learner = SloppLearnPsdd::default();
    assert_eq!(learner.name(), "slopp+learnpsdd");
    let merged = task.learn(&Slopp::default(), &()).unwrap().model.into_psdd().unwrap();
    let (expected, _) = refine(&LearnPsdd::default(), merged, &train, Some(&valid)).unwrap();
    assert_eq!(task.learn(&learner, &()).unwrap().model.circuit(), Some(&expected));
}

#[test]
fn ties_follow_no_threads() {
    let train = records(10, 400, &mut Dice::new(9));
    let learn = || Task::new(&train).learn(&prime(60, 3, 1.0), &()).unwrap();
    let grow = || Task::new(&train).learn(&LearnPsdd::default(), &()).unwrap();
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
        let single = Strudel { scope, ..prime(3, 2, 1.0) };
        let ModelKind::Circuit(alone) = task.learn(&single, &()).unwrap().model.kind else { panic!("a circuit") };
        let learner = StrudelEm { strudel: single, grid: MixtureGrid::default() };
        let ModelKind::Mixture(mixture) = task.learn(&learner, &()).unwrap().model.kind else { panic!("a mixture") };
        assert!(mixture.shares_structure() && mixture.component_count() > 1);
        assert_eq!(mixture.components()[0].ids().len(), alone.ids().len());
        let total: f64 = worlds(7).map(|world| mixture.log_probability(&world).unwrap().exp()).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        let mean = |logs: Vec<f64>| logs.iter().zip(test.weights()).map(|(ll, w)| ll * w).sum::<f64>();
        let [one, many] = [alone.log_likelihoods(test), mixture.log_likelihoods(test)].map(|logs| mean(logs.unwrap()));
        assert!(many > one, "three kinds of records are better told apart by components: {many} against {one}");
        // Without validation records some are held out, and what is chosen is fitted to all.
        let outcome = Task::new(train).learn(&learner, &()).unwrap();
        let fact = |name: &str| outcome.model.origin.get(name).map(String::as_str);
        assert_eq!(fact("held_out"), Some("54"));
        assert!(fact("mixture_pseudocount").is_some());
        assert_eq!(fact("pseudocount"), Some("1"), "that of the structure, which nothing that is chosen replaces");
        let setting = |name: &str| learner.settings().into_iter().find(|(key, _)| *key == name).unwrap().1;
        assert_eq!((setting("pseudocount"), setting("tried_components")), ("1".to_owned(), "4 8 16".to_owned()));
        let ModelKind::Mixture(fitted) = outcome.model.kind else { panic!("a mixture") };
        assert!(fitted.shares_structure());
    }
    let strudel = prime(1, 2, 1.0);
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
