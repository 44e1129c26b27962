//! Limits of merged SLoPP: the largest number of classes, and of elements.

mod chain;
mod learned;

use chain::chain;
use learned::psdd;
use slopp::learn::{ChowLiu, Effort, Factorised, Lesson, Slopp, Task, Teacher};
use slopp::{Names, Psdd, Random, Records, Vtree};
use std::sync::Arc;

fn mean(psdd: &Psdd, records: &Records) -> f64 {
    let logs = psdd.log_likelihoods(records).unwrap();
    logs.iter().zip(records.weights()).map(|(log, weight)| log * weight).sum::<f64>() / records.total()
}

#[test]
fn a_cap_on_classes_holds_for_clones_too() {
    let (train, valid) = (chain(12, 3000, 1), chain(12, 500, 2));
    let task = Task { valid: Some(&valid), ..Task::new(&train) };
    let free = psdd(&task, &Slopp::default());
    assert!(free.most_classes() > 4, "without a cap there are more: {}", free.most_classes());
    let shapes = [Vtree::right_linear(12), Vtree::left_linear(12), Vtree::balanced(12), Vtree::random(12, 3)];
    for vtree in shapes.into_iter().map(|vtree| Some(Arc::new(vtree))).chain([None]) {
        let task = Task { vtree: vtree.as_ref(), ..task };
        let mut last = f64::NEG_INFINITY;
        for max_classes in [1, 2, 4] {
            let config = Slopp { max_classes, capped: true, ..Slopp::default() };
            for effort in [Effort::Fast, Effort::Balanced, Effort::Best] {
                let model = task.learn(&Slopp { effort, ..config.clone() }, &()).unwrap().model;
                let psdd = model.psdd().unwrap();
                assert!(psdd.most_classes() <= max_classes, "{} of {max_classes}", psdd.most_classes());
                assert!(psdd.elements().len() <= 2 * max_classes * 11);
            }
            let reached = mean(&psdd(&task, &config), &valid);
            assert!(reached >= last, "{max_classes} classes do better than fewer: {reached} after {last}");
            last = reached;
        }
    }
    // Also where a small circuit is asked for.
    for max in [14, 25, 40] {
        let config = Slopp { max_classes: 2, capped: true, max_elements: Some(max), ..Slopp::default() };
        let psdd = psdd(&task, &config);
        assert!(psdd.most_classes() <= 2 && psdd.elements().len() <= max, "{} of 2", psdd.most_classes());
    }
    let config = Slopp { max_classes: 4, capped: true, ..Slopp::default() };
    let student = Lesson { student: config, ..Lesson::new(Teacher::Records(&train)) }.learn(&task, &()).unwrap();
    assert!(student.circuit.most_classes() <= 4);
}

#[test]
fn no_size_is_worse_than_the_chow_liu_tree_of_that_size() {
    for seed in 0..4 {
        let (train, valid) = (chain(14, 800, 10 + seed), chain(14, 300, 20 + seed));
        let tree = psdd(&Task::new(&train), &ChowLiu::default());
        let mut last = f64::NEG_INFINITY;
        for max in [13, 20, tree.elements().len(), 2 * tree.elements().len()] {
            let config = Slopp { max_elements: Some(max), ..Slopp::default() };
            let psdd = psdd(&Task { valid: Some(&valid), ..Task::new(&train) }, &config);
            assert!(psdd.elements().len() <= max, "{} elements are more than {max}", psdd.elements().len());
            let reached = mean(&psdd, &valid);
            assert!(reached >= last - 1e-9, "{max} elements do better than fewer: {reached} after {last}");
            last = reached;
            if max >= tree.elements().len() {
                assert!(
                    reached >= mean(&tree, &valid) - 1e-9,
                    "{reached} with {max}, {} the tree",
                    mean(&tree, &valid)
                );
            }
        }
    }
}

#[test]
fn independent_coins_are_left_alone_on_any_vtree() {
    let coins = |rows: usize, seed: u64| {
        let mut random = Random::new(seed);
        let mut row = || (0..40).map(|_| random.unit() < 0.5).collect::<Vec<bool>>();
        Records::from_rows(Names::numbered(40), (0..rows).map(|_| row()))
    };
    let test = coins(2000, 999);
    for vtree in [Vtree::balanced(40), Vtree::left_linear(40), Vtree::random(40, 1)].map(Arc::new) {
        let (mut learned, mut alone) = (0.0, 0.0);
        for seed in 0..4 {
            let train = coins(200, seed);
            let task = Task { vtree: Some(&vtree), ..Task::new(&train) };
            learned += mean(&psdd(&task, &Slopp::default()), &test) / 4.0;
            alone += mean(&psdd(&task, &Factorised::default()), &test) / 4.0;
        }
        assert!(learned > alone - 0.05, "{learned} learned, {alone} every coin for itself, on {vtree:?}");
    }
}

#[test]
fn room_is_used_whatever_the_largest_operation_needs() {
    let (train, valid) = (chain(14, 3000, 5), chain(14, 800, 6));
    let tree = psdd(&Task::new(&train), &ChowLiu::default()).elements().len();
    let reached = |max_elements| {
        let config = Slopp { max_elements, ..Slopp::default() };
        let psdd = psdd(&Task { valid: Some(&valid), ..Task::new(&train) }, &config);
        (psdd.elements().len(), mean(&psdd, &valid))
    };
    let none = psdd(&Task::new(&train), &Factorised::default());
    for max in (18..tree).step_by(4) {
        let (elements, log_likelihood) = reached(Some(max));
        assert!(elements + 4 > max && log_likelihood > mean(&none, &valid) + 0.01, "{elements} of {max}");
    }
    let (elements, log_likelihood) = reached(None);
    assert_eq!(
        reached(Some(elements)),
        (elements, log_likelihood),
        "what is learned without a limit keeps within its size"
    );
}

#[test]
fn more_classes_are_not_worse_than_one_on_any_vtree() {
    // Few records for so many variables: what grows from one class is better than many that are merged.
    let (train, valid) = (chain(30, 150, 7), chain(30, 100, 8));
    for vtree in [Vtree::left_linear(30), Vtree::balanced(30), Vtree::random(30, 1)].map(Arc::new) {
        let task = Task { valid: Some(&valid), vtree: Some(&vtree), ..Task::new(&train) };
        let one = Slopp { max_classes: 1, ..Slopp::default() };
        let [many, one] = [Slopp::default(), one].map(|config| mean(&psdd(&task, &config), &valid));
        assert!(many >= one, "{many} is less than {one}");
    }
}
