//! The noisy channel over columns with several values, against enumeration of worlds and records.

mod against;

use against::{close, convert};
use slopp::infer::QueryError;
use slopp::logic::{Limits, Rules};
use slopp::names::Column;
use slopp::{Certified, Circuit, Kind, Mixture, Names, Records, RecordsBuilder};
use slopp_oracle::{Dice, Tree, deterministic, mixture};
use std::sync::Arc;

/// A column of three values, one of a single value, one of two, and Boolean ones between.
fn names() -> Arc<Names> {
    let values = |text: &str| Kind::Values(text.split(' ').map(String::from).collect());
    let columns = [
        ("color", values("red green blue")),
        ("fast", Kind::Boolean),
        ("only", values("this")),
        ("size", values("small large")),
        ("new", Kind::Boolean),
    ];
    Arc::new(Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap())
}

fn worlds(len: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1usize << len).map(move |bits| (0..len).map(|i| bits >> i & 1 == 1).collect())
}

/// Every record that a file with these columns can have, without missing cells.
fn rows(names: &Names) -> Vec<Vec<bool>> {
    let one = |world: &Vec<bool>| names.groups().iter().all(|group| group.value_in(world).is_some());
    worlds(names.len()).filter(one).collect()
}

fn records(names: &Arc<Names>, rows: impl IntoIterator<Item = Vec<Option<bool>>>) -> Records {
    let mut builder = RecordsBuilder::new(names.clone());
    rows.into_iter().for_each(|row| builder.push(row, 1.0));
    builder.finish()
}

/// The probability of seeing one record where another is true, column by column.
fn channel(names: &Names, truth: &[bool], seen: &[bool], epsilon: f64) -> f64 {
    let of = |(column, (a, b)): (Column, (String, String))| {
        let others = match column {
            Column::Boolean(_) => 1.0,
            Column::Group(group) => group.vars().len() as f64 - 1.0,
        };
        match a == b {
            true if others == 0.0 => 1.0,
            true => 1.0 - epsilon,
            false => epsilon / others,
        }
    };
    names.columns().zip(names.cells(truth).into_iter().zip(names.cells(seen))).map(of).product()
}

/// Circuits in which columns have one value, on trees that keep nothing together, and before that was made sure.
fn circuits(rounds: usize, seed: u64, mut check: impl FnMut(&Arc<Names>, Circuit, Circuit, &mut Dice)) {
    let (names, dice) = (names(), &mut Dice::new(seed));
    let mut checked = 0;
    for round in 0..rounds {
        let tree = Tree::random(names.len(), dice);
        let oracle = match round % 2 {
            0 => deterministic(&tree, 0.5, false, dice),
            _ => mixture(&tree, 3, dice),
        };
        let free = convert(&oracle, &tree).0;
        let sdd = Rules::of_columns(names.clone()).compile(free.vtree().clone(), &Limits::default()).unwrap();
        match free.given(&sdd, &Limits::default()) {
            Ok((inside, _)) => check(&names, inside, free, dice),
            Err(QueryError::ImpossibleFormula) => continue,
            Err(error) => panic!("{error}"),
        }
        checked += 1;
    }
    assert!(checked > rounds / 2, "{checked}");
}

/// Some cells of a record missing: of columns as files have them, or of single values as programs can.
fn with_missing(names: &Names, row: &[bool], dice: &mut Dice) -> Vec<Option<bool>> {
    let by_column = dice.chance(0.5);
    let mut cells: Vec<Option<bool>> = row.iter().map(|&cell| Some(cell)).collect();
    for column in names.columns() {
        let vars: Vec<_> = match column {
            Column::Boolean(var) => vec![var],
            Column::Group(group) => group.vars().collect(),
        };
        let whole = dice.chance(0.3);
        vars.iter().filter(|_| if by_column { whole } else { dice.chance(0.4) }).for_each(|v| cells[v.index()] = None);
    }
    cells
}

#[test]
fn values_are_replaced_by_others_and_all_records_add_up_to_one() {
    circuits(60, 3, |names, circuit, _, dice| {
        let rows = rows(names);
        assert_eq!(rows.len(), 3 * 2 * 2 * 2);
        let truth: Vec<f64> = rows.iter().map(|row| circuit.log_probability(row).unwrap().exp()).collect();
        close(truth.iter().sum(), 1.0);
        let all = records(names, rows.iter().map(|row| row.iter().map(|&cell| Some(cell)).collect()));
        for epsilon in [0.0, 1e-6, 0.03, 0.5] {
            let found = circuit.log_likelihoods_noisy(&all, epsilon).unwrap();
            close(found.iter().map(|log| log.exp()).sum(), 1.0);
            let seen = |seen: &[bool]| -> f64 {
                rows.iter().zip(&truth).map(|(world, p)| p * channel(names, world, seen, epsilon)).sum()
            };
            for (row, log) in found.iter().enumerate() {
                let world: Vec<bool> = all.row(row).flatten().collect();
                close(log.exp(), seen(&world));
            }
            for _ in 0..20 {
                let cells = with_missing(names, &rows[dice.below(rows.len())], dice);
                let agrees =
                    |row: &&Vec<bool>| row.iter().zip(&cells).all(|(x, cell)| cell.is_none_or(|cell| cell == *x));
                let expected: f64 = rows.iter().filter(agrees).map(|row| seen(row)).sum();
                let found = circuit.log_likelihoods_noisy(&records(names, [cells.clone()]), epsilon).unwrap()[0];
                close(found.exp(), expected);
            }
        }
        // No file has such records.
        for odd in [[0, 0, 0, 1, 1, 1, 0, 1], [1, 0, 1, 1, 1, 1, 0, 1], [1, 0, 0, 1, 0, 1, 0, 1]] {
            let odd = records(names, [odd.iter().map(|&bit| Some(bit == 1)).collect()]);
            assert_eq!(circuit.log_likelihoods_noisy(&odd, 0.2).unwrap(), [f64::NEG_INFINITY]);
        }
    });
}

#[test]
fn a_mixture_is_seen_through_the_same_channel() {
    let mut before: Option<Circuit> = None;
    circuits(30, 8, |names, circuit, _, dice| {
        let Some(other) = before.replace(circuit.clone()) else { return };
        let share = 0.1 + 0.8 * dice.unit();
        let parts = [(share, circuit.clone()), (1.0 - share, other)];
        let mixture =
            Mixture::new(parts.map(|(weight, part)| (weight, Certified::new(part, &Limits::default())))).unwrap();
        let rows = rows(names);
        let all = records(names, rows.iter().map(|row| row.iter().map(|&cell| Some(cell)).collect()));
        let found = mixture.log_likelihoods_noisy(&all, 0.1).unwrap();
        close(found.iter().map(|log| log.exp()).sum(), 1.0);
        for (row, log) in found.iter().enumerate() {
            let seen: Vec<bool> = all.row(row).flatten().collect();
            let part = |world: &Vec<bool>| mixture.log_probability(world).unwrap().exp();
            close(log.exp(), rows.iter().map(|world| part(world) * channel(names, world, &seen, 0.1)).sum());
        }
        let fit = mixture.fit_noise(&all).unwrap();
        let mean = mixture.log_likelihoods_noisy(&all, fit.epsilon).unwrap().iter().sum::<f64>() / all.total();
        close(fit.log_likelihood, mean);
    });
}

#[test]
fn a_circuit_that_lets_columns_go_is_refused() {
    let mut refused = 0;
    circuits(60, 21, |names, inside, free, _| {
        assert!(inside.column_without_one_value(names).is_none());
        let breaks = |world: &Vec<bool>| names.groups().iter().any(|group| group.value_in(world).is_none());
        let expected = worlds(names.len()).filter(breaks).any(|world| free.is_possible(&world).unwrap());
        assert_eq!(free.column_without_one_value(names).is_some(), expected);
        if expected {
            let row = records(names, [rows(names)[0].iter().map(|&cell| Some(cell)).collect()]);
            assert!(matches!(free.log_likelihoods_noisy(&row, 0.1), Err(QueryError::ManyValues { .. })));
            assert!(matches!(free.fit_noise(&row), Err(QueryError::ManyValues { .. })));
            refused += 1;
        }
    });
    assert!(refused > 0);
}
