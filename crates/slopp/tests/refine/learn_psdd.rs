//! LearnPSDD, and what all refinements refuse or bear.

use super::*;
use slopp::logic::Limits;

/// Rows with weights that are no whole numbers.
fn weighed(vars: usize, rows: usize, dice: &mut Dice) -> Records {
    let plain = records(vars, rows, dice);
    let mut builder = RecordsBuilder::new(Names::numbered(vars));
    for row in 0..plain.len() {
        builder.push(plain.row(row), plain.weights()[row] * (0.1 + dice.unit()));
    }
    builder.finish()
}

#[test]
fn learn_psdd_keeps_the_base_and_its_certificate() {
    let mut dice = Dice::new(41);
    let mut steps = 0;
    for round in 0..60 {
        let tree = Tree::random(2 + dice.below(6), &mut dice);
        let vars = tree.vars().len();
        let (start, _) = convert(&deterministic(&tree, 0.6, false, &mut dice), &tree);
        let real = round % 2 == 0;
        let train = if real { weighed(vars, 200, &mut dice) } else { records(vars, 200, &mut dice) };
        let Ok(psdd) = start.clone().certify(&Limits::default()) else { continue };
        if psdd.possible(&train).unwrap().iter().all(|possible| !possible) {
            continue;
        }
        let (penalty, depth) = (0.05 + dice.unit(), 1 + dice.below(4));
        let learner = LearnPsdd { steps: 1 + dice.below(20), penalty, depth, pseudocount: 0.7, ..LearnPsdd::default() };
        let (refined, done) = refine(&learner, psdd, &train, None).unwrap();
        check(&refined, &start, true);
        if real {
            // Sums of weights depend on the order they are added in, up to rounding.
            let refined = refined.deterministic().unwrap();
            let fitted = refined.fit(&train, &Smoothing::marginal(0.7, &train)).unwrap().circuit;
            for world in worlds(vars) {
                let [a, b] = [&fitted, refined].map(|circuit| circuit.log_probability(&world).unwrap().exp());
                assert!((a - b).abs() < 1e-9, "{world:?}: {a} {b}");
            }
        } else {
            same_as_refitted(&refined, &train, 0.7);
        }
        steps += done;
    }
    assert!(steps > 40, "{steps}");
}

#[test]
fn learn_psdd_keeps_within_so_many_elements_also_without_validation_records() {
    let train = records(9, 600, &mut Dice::new(6));
    let start = tree(&Task::new(&train), 1.0);
    let small = start.elements().len();
    let learn = |max_elements: Option<usize>| {
        let learner = LearnPsdd { penalty: 0.1, depth: 2, max_elements, ..LearnPsdd::default() };
        refine(&learner, start.clone(), &train, None).unwrap().0.elements().len()
    };
    let free = learn(None);
    assert!(free > 3 * small, "{free} of {small}");
    for max in [small, small + 9, 2 * small, free / 2, free] {
        let found = learn(Some(max));
        assert!(found <= max, "{found} of {max}");
        assert!(max < 2 * small || found > small, "{found} of {max}: it grows as far as it may");
    }
    assert_eq!(learn(Some(1)), small, "a start that has more stays as it is");
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
        for (is_closed, pseudocount) in [(false, 1.0), (true, 0.0), (true, 1.0)] {
            let start = tree(&if is_closed { Task::closed(train) } else { Task::new(train) }, pseudocount);
            let learners = [prime(30, 4, pseudocount), whole(30, 4, pseudocount)];
            let [prime, whole] = learners.map(|learner| refine(&learner, start.clone(), train, None).unwrap().0);
            let check = if pseudocount > 0.0 { check } else { check_within };
            check(&prime, &start, true);
            check(&whole, &start, false);
            assert!(whole.possible(train).unwrap().into_iter().all(|possible| possible));
            assert!(log_likelihood(&prime, train) >= log_likelihood(&start, train) - 1e-9);
        }
    }
}

#[test]
fn what_cannot_be_refined_is_an_error() {
    let train = records(4, 50, &mut Dice::new(2));
    let start = tree(&Task::new(&train), 1.0);
    let refine = |start: &Psdd, train: &Records, learner: &Strudel| refine(learner, start.clone(), train, None);
    let usual = Strudel::default();
    let none = RecordsBuilder::new(Names::numbered(4)).finish();
    assert!(matches!(refine(&start, &none, &usual), Err(LearnError::NoRecords)));
    let mut holes = RecordsBuilder::new(Names::numbered(4));
    holes.push([Some(true), None, Some(false), Some(true)], 1.0);
    assert!(matches!(refine(&start, &holes.finish(), &usual), Err(LearnError::MissingCells { rows: 1, total: 1 })));
    let wide = records(5, 50, &mut Dice::new(2));
    let model = Model::new(Names::numbered(4), start.clone());
    let refused = Task { start: Some(&model), ..Task::new(&wide) }.learn(&usual, &());
    assert!(matches!(refused, Err(LearnError::WrongVtree { vtree: 4, records: 5 })));
    for pseudocount in [-1.0, f64::NAN, f64::INFINITY] {
        let learner = Strudel { pseudocount, ..usual.clone() };
        assert!(matches!(refine(&start, &train, &learner), Err(LearnError::Setting { name: "pseudocount", .. })));
    }
    let one = Records::from_rows(Names::numbered(4), [[true, true, false, false]]);
    let other = Records::from_rows(Names::numbered(4), [[true, true, true, false]]);
    let only = tree(&Task::closed(&one), 0.0);
    assert!(matches!(refine(&only, &other, &usual), Err(LearnError::NothingPossible)));
    let task = Task { start: Some(&model), valid: Some(&wide), ..Task::new(&train) };
    for learner in [&usual as &dyn Learner, &LearnPsdd::default()] {
        let refused = task.learn(learner, &());
        assert!(matches!(refused, Err(LearnError::WrongValidation { valid: 5, train: 4 })));
    }
}
