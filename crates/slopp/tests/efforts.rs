//! Efforts of SLoPP, bags and shared mixtures: certified, the same on any number of threads, whatever the records.

mod chain;

use chain::chain;
use slopp::infer::{Distribution, Evidence};
use slopp::learn::{
    Effort, LearnError, Lesson, MixtureGrid, Outcome, Slopp, SloppBag, SloppEm, Student, Support, Task, Teacher,
};
use slopp::logic::Limits;
use slopp::model::ModelKind;
use slopp::{Mixture, Names, Psdd, Random, Records, RecordsBuilder, Vtree};
use std::collections::BTreeMap;
use std::sync::Arc;

fn open() -> Slopp {
    Slopp::default()
}

/// Records to learn from and to choose by.
fn on<'a>(train: &'a Records, valid: Option<&'a Records>) -> Task<'a> {
    Task { valid, ..Task::new(train) }
}

/// What is learned with an effort.
fn with(effort: Effort, task: &Task, config: &Slopp) -> Result<Outcome, LearnError> {
    task.learn(&Slopp { effort, ..config.clone() }, &())
}

/// The same, a PSDD.
fn psdd_with(effort: Effort, task: &Task, config: &Slopp) -> Psdd {
    with(effort, task, config).unwrap().model.into_psdd().expect("always a PSDD")
}

fn mixture(outcome: Outcome) -> Mixture {
    let ModelKind::Mixture(mixture) = outcome.model.kind else { panic!("a mixture") };
    mixture
}

/// A bag, and how it was made.
fn bag(task: &Task, config: &SloppBag) -> (Mixture, BTreeMap<String, String>) {
    let outcome = task.learn(config, &()).unwrap();
    let origin = outcome.model.origin.clone();
    (mixture(outcome), origin)
}

fn taught(samples: &Records, task: &Task) -> Result<Student, LearnError> {
    Lesson::new(Teacher::Records(samples)).learn(task, &())
}

fn mean(model: &dyn Distribution, records: &Records) -> f64 {
    let logs = model.log_likelihoods(records).unwrap();
    logs.iter().zip(records.weights()).map(|(log, weight)| log * weight).sum::<f64>() / records.total()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Certified again from scratch, a distribution, and everything is possible.
fn check(psdd: &Psdd) {
    slopp::Circuit::clone(psdd).certify(&Limits::default()).expect("what was certified can be certified again");
    let vars = psdd.var_count();
    let worlds = (0..1u32 << vars).map(|w| (0..vars).map(|i| w >> i & 1 == 1).collect::<Vec<bool>>());
    let table: Vec<f64> = worlds.map(|world| psdd.log_probability(&world).unwrap().exp()).collect();
    assert!((table.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(table.iter().all(|&p| p > 0.0));
}

#[test]
fn more_effort_is_never_worse_by_validation() {
    let (train, valid) = (chain(8, 300, 1), chain(8, 200, 2));
    let task = on(&train, Some(&valid));
    let fast = psdd_with(Effort::Fast, &task, &open());
    let [balanced, best] = [Effort::Balanced, Effort::Best].map(|effort| psdd_with(effort, &task, &open()));
    check(&balanced);
    check(&best);
    let [fast, balanced, best] = [fast, balanced, best].map(|psdd| mean(&slopp::Certified::from(psdd), &valid));
    assert!(fast <= balanced + 1e-9 && balanced <= best + 1e-9, "{fast} {balanced} {best}");
}

#[test]
fn threads_change_nothing() {
    let (train, valid) = (chain(7, 200, 3), chain(7, 100, 4));
    let config = SloppBag { members: 5, ..SloppBag::new(open()) };
    let task = on(&train, Some(&valid));
    let work = || {
        (
            with(Effort::Best, &task, &open()).unwrap(),
            with(Effort::Best, &on(&train, None), &open()).unwrap(),
            bag(&task, &config),
            task.learn(&SloppEm::default(), &()).unwrap(),
        )
    };
    assert_eq!(on_threads(1, work), on_threads(3, work));
}

/// Too few to hold some out, so models are fitted to all records, not to their bootstraps.
#[test]
fn models_of_a_bag_of_few_records_are_fitted_to_all() {
    let coin = Records::from_rows(slopp::Names::numbered(1), (0..12).map(|i| [i < 6]));
    let config = SloppBag { members: 6, ..SloppBag::new(Slopp { pseudocount: Some(1.0), ..open() }) };
    let (bag, origin) = bag(&Task::new(&coin), &config);
    assert_eq!(origin["held_out"], "0");
    for component in bag.components() {
        assert_eq!(component.counts().unwrap().tops, [[6.0, 6.0]]);
    }
}

#[test]
fn a_teacher_passes_on_what_few_records_do_not_show() {
    let (few, valid, test) = (chain(9, 60, 5), chain(9, 300, 6), chain(9, 2000, 7));
    // The truth itself, as a file of samples.
    let samples = chain(9, 20_000, 8);
    let task = on(&few, Some(&valid));
    let alone = psdd_with(Effort::Fast, &task, &open());
    let student = ModelKind::from(taught(&samples, &task).unwrap().circuit).into_psdd().unwrap();
    check(&student);
    let [alone, taught] = [alone, student].map(|psdd| mean(&slopp::Certified::from(psdd), &test));
    assert!(taught > alone + 0.1, "{taught} against {alone}");
}

#[test]
fn lessons_are_drawn_from_a_model() {
    let train = chain(6, 500, 9);
    let (teacher, origin) = bag(&Task::new(&train), &SloppBag { members: 3, ..SloppBag::new(open()) });
    assert_eq!(origin["held_out"], "50");
    let teacher = ModelKind::from(teacher);
    let lesson = Lesson { samples: Some(20_000), ..Lesson::new(Teacher::Model(&teacher)) };
    let student = lesson.learn(&Task::new(&train), &()).unwrap();
    assert_eq!((student.samples, student.keeps_base), (20_000.0, false));
    let [taught, teacher] = [&student.circuit as &dyn Distribution, teacher.distribution()];
    assert!((mean(taught, &train) - mean(teacher, &train)).abs() < 0.1);
}

#[test]
fn components_tell_hidden_groups_apart() {
    // Groups with their own chances of every value; a deterministic model has to guess the group from the values so far.
    let groups = |rows: usize, seed: u64| {
        let (mut truth, mut random) = (Random::new(99), Random::new(seed));
        let chances: Vec<Vec<f64>> =
            (0..5).map(|_| (0..30).map(|_| if truth.unit() < 0.4 { 0.75 } else { 0.1 }).collect()).collect();
        let mut row = || -> Vec<bool> {
            let group = &chances[random.below(5)];
            group.iter().map(|&chance| random.unit() < chance).collect()
        };
        Records::from_rows(Names::numbered(30), (0..rows).map(|_| row()))
    };
    let (train, valid, test) = (groups(300, 1), groups(300, 2), groups(3000, 3));
    let config = SloppBag { members: 4, ..SloppBag::new(open()) };
    let (divided, origin) = bag(&on(&train, Some(&valid)), &config);
    assert_eq!(origin["models"], "divided");
    let (whole, origin) = bag(&on(&train, Some(&valid)), &SloppBag { divide: false, ..config });
    assert!(origin["models"] == "whole" && whole.component_count() <= 4);
    let [divided_test, whole_test] = [&divided, &whole].map(|bag| mean(bag, &test));
    assert!(divided_test > whole_test + 0.1, "{divided_test} against {whole_test}");
    let weights: f64 = divided.weights().iter().sum();
    assert!((weights - 1.0).abs() < 1e-9);
    divided.components().iter().for_each(|circuit| assert!(matches!(circuit, slopp::Certified::Psdd(_))));
}

#[test]
fn a_bag_is_better_than_one_and_stays_on_the_vtree_that_is_given() {
    let (train, valid, test) = (chain(10, 150, 10), chain(10, 150, 11), chain(10, 3000, 12));
    let task = on(&train, Some(&valid));
    let one = psdd_with(Effort::Fast, &task, &open());
    let many = bag(&task, &SloppBag::new(open())).0;
    assert!(mean(&many, &test) > mean(&slopp::Certified::from(one), &test));
    let vtree = Arc::new(Vtree::right_linear(10));
    let four = SloppBag { members: 4, ..SloppBag::new(open()) };
    let shared = bag(&Task { vtree: Some(&vtree), ..task }, &four).0;
    assert!(shared.shares_vtree() && shared.components().iter().all(|circuit| **circuit.vtree() == *vtree));
    let mixture = mixture(task.learn(&SloppEm::default(), &()).unwrap());
    assert!(mixture.shares_structure());
    let any = Arc::new(Vtree::balanced(10));
    for effort in [Effort::Balanced, Effort::Best] {
        let psdd = psdd_with(effort, &Task { vtree: Some(&any), ..task }, &open());
        assert_eq!(psdd.vtree(), &any, "a PSDD on any vtree");
        check(&psdd);
    }
}

#[test]
fn few_and_odd_records_are_learned_from() {
    let mut builder = RecordsBuilder::new(Names::numbered(3));
    builder.push([true, false, true].map(Some), 0.25);
    builder.push([true, true, true].map(Some), 2.5);
    let odd = builder.finish();
    let one = Records::from_rows(Names::numbered(1), [[true], [false], [true]]);
    let equal = Records::from_rows(Names::numbered(4), vec![[true; 4]; 50]);
    for records in [&odd, &one, &equal] {
        for effort in [Effort::Fast, Effort::Balanced, Effort::Best] {
            let psdd = psdd_with(effort, &Task::new(records), &open());
            assert!(psdd.log_likelihoods(records).unwrap().iter().all(|log| log.is_finite()));
        }
        assert!(mean(&bag(&Task::new(records), &SloppBag::new(open())).0, records).is_finite());
        assert!(mean(&mixture(Task::new(records).learn(&SloppEm::default(), &()).unwrap()), records).is_finite());
    }
    let alone = with(Effort::Best, &Task::new(&odd), &open()).unwrap().model.origin;
    assert_eq!((&*alone["teacher"], &*alone["held_out"]), ("none", "0"));
}

#[test]
fn in_a_closed_world_the_best_forgets_what_a_teacher_made_up() {
    let mut rows = vec![[true, true, false, false], [false, false, true, true], [true, false, true, false]];
    rows = rows.iter().cycle().take(90).copied().collect();
    let train = Records::from_rows(Names::numbered(4), rows);
    let learned = psdd_with(Effort::Best, &Task::closed(&train), &open());
    slopp::Circuit::clone(&learned).certify(&Limits::default()).expect("a PSDD");
    assert!(learned.log_likelihoods(&train).unwrap().iter().all(|log| log.is_finite()));
    let open = psdd_with(Effort::Best, &Task::new(&train), &open());
    let [closed, open] = [learned, open].map(|psdd| psdd.model_count().to_string());
    assert_eq!(open, "16");
    assert!(closed.parse::<u32>().unwrap() < 16, "{closed} worlds are possible");
}

#[test]
fn a_pseudocount_that_is_given_is_the_weight_of_the_prior_at_best() {
    let (train, valid) = (chain(6, 200, 40), chain(6, 100, 41));
    for valid in [Some(&valid), None] {
        let at = |given| {
            let config = Slopp { pseudocount: Some(given), ..open() };
            with(Effort::Best, &on(&train, valid), &config).unwrap()
        };
        for given in [0.5, 1e7] {
            let model = at(given).model;
            // Whatever won: a student has a strength.
            let used = model.origin.get("strength").or(model.origin.get("pseudocount")).unwrap();
            assert_eq!(used.parse(), Ok(given));
            let psdd = model.psdd().unwrap();
            check(psdd);
            // Its counts are those of the training records.
            let counts = psdd.kept_values().unwrap();
            assert!(counts.iter().all(|[f, t]| (f + t - 200.0).abs() < 1e-6), "{counts:?}");
        }
        let [light, heavy] = [0.5, 1e7].map(|given| mean(at(given).model.distribution(), &train));
        assert!(light > heavy + 0.02, "{light} with little weight on the prior, {heavy} with much");
    }
}

#[test]
fn a_pseudocount_that_is_given_is_the_weight_of_the_prior_in_a_bag() {
    let (train, valid) = (chain(6, 200, 40), chain(6, 100, 41));
    for support in [Support::open(), Support::closed()] {
        for valid in [Some(&valid), None] {
            let at = |pseudocount| {
                let three = SloppBag { members: 3, ..SloppBag::new(Slopp { pseudocount, ..open() }) };
                bag(&Task { support, ..on(&train, valid) }, &three)
            };
            let [light, heavy] = [0.5, 1e7].map(|given: f64| {
                let (bag, origin) = at(Some(given));
                let used = origin.get("mixture_pseudocount");
                assert!(used.is_none_or(|used| used.parse() == Ok(given)), "{used:?} for {given}");
                mean(&bag, &train)
            });
            assert!(light > heavy + 0.02, "{light} with little weight on the prior, {heavy} with much");
        }
    }
    let [chosen, none] = [None, Some(0.0)].map(|pseudocount| {
        let three = SloppBag { members: 3, ..SloppBag::new(Slopp { pseudocount, ..open() }) };
        bag(&Task::closed(&train), &three).0
    });
    assert_eq!(chosen, none, "a pseudocount of 0 leaves the choice to the learner");
}

#[test]
fn what_was_held_out_makes_a_bag_hardly_worse_and_on_average_better() {
    let test = chain(8, 4000, 60);
    for divide in [false, true] {
        let mut gains = 0.0;
        for (seed, rows) in [(1, 60), (2, 120), (3, 250), (4, 500), (5, 60), (6, 120)] {
            let all = chain(8, rows, 60 + seed);
            let config = SloppBag { members: 3, divide, ..SloppBag::new(open()) };
            let (rest, held) = all.hold_out(seed).unwrap();
            let (before, how) = bag(&Task { seed, ..on(&rest, Some(&held)) }, &config);
            let (after, now) = bag(&Task { seed, ..on(&all, None) }, &config);
            for choice in ["mixture_pseudocount", "weights"] {
                assert_eq!(how.get(choice), now.get(choice), "the same choices");
            }
            let [before, after] = [&before, &after].map(|bag| mean(bag, &test));
            assert!(after > before - 0.05, "{after} after, {before} before; {rows} records, divided: {divide}");
            gains += after - before;
        }
        assert!(gains > 0.0, "{gains} in all; divided: {divide}");
    }
}

#[test]
fn a_closed_bag_gives_every_training_record_a_chance_in_every_component() {
    // The last variable is never true.
    let records = |rows: usize, seed: u64| {
        let free = chain(8, rows, seed);
        let row = |&row: &u32| free.row(row as usize).map(|x| x == Some(true)).chain([false]).collect::<Vec<_>>();
        Records::from_rows(Names::numbered(9), free.original().iter().map(row))
    };
    let (train, valid) = (records(120, 50), records(100, 51));
    for (members, valid) in [(1, None), (1, Some(&valid)), (4, None), (4, Some(&valid))] {
        let task = Task { support: Support::closed(), ..on(&train, valid) };
        let mixture = mixture(task.learn(&SloppBag { members, ..SloppBag::new(open()) }, &()).unwrap());
        for component in mixture.components() {
            assert!(component.log_likelihoods(&train).unwrap().iter().all(|log| log.is_finite()), "{members} models");
        }
        let worlds = (0..1u32 << 9).map(|w| (0..9).map(|i| w >> i & 1 == 1).collect::<Vec<bool>>());
        let table: Vec<f64> = worlds.map(|world| mixture.log_probability(&world).unwrap().exp()).collect();
        assert!((table.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(table[256..].iter().all(|&p| p == 0.0), "{members} models: what is never true is impossible");
    }
}

#[test]
fn contradictions_are_errors() {
    let train = chain(4, 50, 13);
    let balanced = Arc::new(Vtree::balanced(5));
    for effort in [Effort::Balanced, Effort::Best] {
        let task = Task { vtree: Some(&balanced), ..Task::new(&train) };
        let error = with(effort, &task, &open()).unwrap_err();
        assert!(matches!(error, LearnError::WrongVtree { .. }));
    }
    let none = SloppBag { members: 0, ..SloppBag::new(open()) };
    assert!(matches!(Task::new(&train).learn(&none, &()), Err(LearnError::Setting { name: "components", .. })));
    let none = SloppEm { grid: MixtureGrid { components: Vec::new(), ..MixtureGrid::default() }, ..SloppEm::default() };
    assert!(matches!(Task::new(&train).learn(&none, &()), Err(LearnError::Setting { name: "components", .. })));
    let other = chain(5, 50, 14);
    let wrong = on(&train, Some(&other));
    assert!(matches!(with(Effort::Best, &wrong, &open()), Err(LearnError::WrongValidation { .. })));
    assert!(matches!(wrong.learn(&SloppBag::new(open()), &()), Err(LearnError::WrongValidation { .. })));
    let empty = train.subset(|_| false);
    assert!(matches!(with(Effort::Best, &Task::new(&empty), &open()), Err(LearnError::NoRecords)));
}

#[test]
fn what_is_held_out_is_fitted_to_in_the_end() {
    let train = chain(7, 400, 30);
    let outcome = Task::new(&train).learn(&SloppEm::default(), &()).unwrap();
    assert_eq!(outcome.model.origin["held_out"], "40");
    let mixture = mixture(outcome);
    // Fitted to all records, one variable of a component without prior would have the share of all of them.
    let marginals = mixture.marginals(&Evidence::none(7)).unwrap();
    for (i, p) in marginals.into_iter().enumerate() {
        let share = train.count_values(slopp::Var(i as u32))[1] / train.total();
        assert!((p - share).abs() < 0.01, "variable {i}: {p} against {share} of all records");
    }
    let (one, origin) = bag(&Task::new(&train), &SloppBag { members: 1, divide: false, ..SloppBag::new(open()) });
    assert_eq!(origin["held_out"], "40");
    let counted = one.components()[0].kept_values().unwrap();
    assert_eq!(counted, (0..7).map(|i| train.count_values(slopp::Var(i))).collect::<Vec<_>>(), "counts of all records");
    let samples = chain(7, 5000, 31);
    let student = taught(&samples, &Task::new(&train)).unwrap();
    assert_eq!(student.held_out, 40.0);
    let counted: f64 = student.circuit.kept_values().unwrap()[0].iter().sum();
    assert!((counted - 400.0).abs() < 1e-6, "counts of all real records: {counted}");
    let few = chain(7, 10, 32);
    let refused = taught(&samples, &Task::new(&few));
    assert!(matches!(refused, Err(LearnError::NothingToChooseBy)));
    // With nothing to choose by, the choice is careful.
    let choice = Task::new(&few).learn(&SloppEm::default(), &()).unwrap().model.origin;
    assert_eq!((&*choice["components"], &*choice["mixture_pseudocount"]), ("4", "100"));
}

#[test]
fn a_few_records_do_not_choose_how_improbable_the_rest_is() {
    let rare = |rows: usize, seed: u64| {
        let mut random = Random::new(seed);
        let mut row = || (0..8).map(|_| random.unit() < 0.02).collect::<Vec<bool>>();
        Records::from_rows(Names::numbered(8), (0..rows).map(|_| row()))
    };
    let test = rare(4000, 999);
    let alone = |train: &Records| -> f64 {
        let share = |i: u32, value: usize| (train.count_values(slopp::Var(i))[value] + 0.5) / (train.total() + 1.0);
        let each = (0..8).map(|i| {
            let [falses, trues] = test.count_values(slopp::Var(i));
            falses * share(i, 0).ln() + trues * share(i, 1).ln()
        });
        each.sum::<f64>() / test.total()
    };
    let (mut fast, mut most, mut factorised) = (0.0, 0.0, 0.0);
    for seed in 0..6 {
        let train = rare(60, seed);
        fast += mean(&slopp::Certified::from(psdd_with(Effort::Fast, &Task::new(&train), &open())), &test) / 6.0;
        most += mean(&slopp::Certified::from(psdd_with(Effort::Best, &Task::new(&train), &open())), &test) / 6.0;
        factorised += alone(&train) / 6.0;
    }
    // Six held-out records that are all alike would ask for no smoothing at all, and the next surprise is ruinous.
    assert!(fast > factorised - 0.1 && most > factorised - 0.1, "{fast} {most} {factorised}");
}
