//! More effort is never worse by validation, over random tables: with columns of several values and without, open and
//! closed, judged by what is left in the end.

use slopp::learn::{Effort, Slopp, Support, Task, World};
use slopp::model::ModelKind;
use slopp::{Kind, Names, Random, Records, RecordsBuilder};
use std::sync::Arc;

/// A table: a column has so many values, two if it is Boolean, that depend on the column before it and on a hidden group.
struct Table {
    values: Vec<usize>,
    /// For each column, group and value before, the value that is likely.
    likely: Vec<[Vec<usize>; 2]>,
    noise: f64,
}

impl Table {
    fn random(with_columns: bool, random: &mut Random) -> Table {
        let values: Vec<usize> = match with_columns {
            true => (0..2 + random.below(2)).map(|_| 2 + random.below(4)).chain([3]).collect(),
            false => vec![2; 4 + random.below(5)],
        };
        let likely = values.iter().map(|&n| [0, 1].map(|_| (0..6).map(|_| random.below(n)).collect())).collect();
        Table { values, likely, noise: 0.05 + 0.4 * random.unit() }
    }

    fn draw(&self, rows: usize, random: &mut Random) -> Records {
        let kind = |n: usize| match n {
            2 => Kind::Boolean,
            n => Kind::Values((0..n).map(|i| format!("v{i}")).collect()),
        };
        let columns = self.values.iter().enumerate().map(|(i, &n)| (format!("c{i}"), kind(n)));
        let mut builder = RecordsBuilder::new(Arc::new(Names::of_columns(columns).unwrap()));
        for _ in 0..rows {
            let (group, mut before) = (random.below(2), 0);
            let mut cells = Vec::new();
            for (&n, likely) in self.values.iter().zip(&self.likely) {
                before = if random.unit() < self.noise { random.below(n) } else { likely[group][before] };
                match n {
                    2 => cells.push(Some(before == 1)),
                    n => cells.extend((0..n).map(|value| Some(value == before))),
                }
            }
            builder.push(cells, 1.0);
        }
        builder.finish()
    }
}

/// What is possible: everything, what is seen, or what is seen but for the first column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Possible {
    Open,
    Closed,
    ClosedButFirst,
}

/// What is left in the end, as `slopp learn` makes it.
fn made(effort: Effort, possible: Possible, train: &Records, valid: &Records) -> ModelKind {
    let world = match possible {
        Possible::Open => World::Open,
        Possible::Closed => World::CLOSED,
        Possible::ClosedButFirst => World::Closed { except: train.names().vars_of("c0").unwrap() },
    };
    let task = Task { valid: Some(valid), support: &Support::of(world), ..Task::new(train) };
    task.learn(&Slopp { effort, ..Slopp::default() }, &()).unwrap().model.kind
}

/// The weight of impossible records, and the log-likelihood per record. In a closed world, of a model that keeps one
/// record's weight for independent variables: so losing records is never for free, whatever others gain by it.
fn worth(model: &ModelKind, possible: Possible, train: &Records, valid: &Records) -> (f64, f64) {
    let logs = model.distribution().log_likelihoods(valid).unwrap();
    let total = train.total();
    let (mut impossible, mut sum) = (0.0, 0.0);
    for (row, (log, weight)) in logs.into_iter().zip(valid.weights()).enumerate() {
        impossible += if log == f64::NEG_INFINITY { *weight } else { 0.0 };
        let cells = valid.row(row).enumerate().map(|(i, cell)| {
            let [_, trues] = train.count_values(slopp::Var(i as u32));
            let share = (trues + 0.5) / (total + 1.0);
            if cell == Some(true) { share } else { 1.0 - share }
        });
        let independent: f64 = cells.product();
        sum += weight
            * match possible {
                Possible::Open => log,
                _ => ((total * log.exp() + independent) / (total + 1.0)).ln(),
            };
    }
    (impossible, sum / valid.total())
}

fn check(efforts: [Effort; 2], possible: Possible, with_columns: bool, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut random = Random::new(seed);
        let table = Table::random(with_columns, &mut random);
        let (rows, others) = (30 + random.below(250), 50 + random.below(150));
        let (train, valid) = (table.draw(rows, &mut random), table.draw(others, &mut random));
        let [less, more] =
            efforts.map(|effort| worth(&made(effort, possible, &train, &valid), possible, &train, &valid));
        let told =
            format!("seed {seed}, {possible:?}: {more:?} with effort {:?}, {less:?} with {:?}", efforts[1], efforts[0]);
        assert!(more.1 >= less.1 - 1e-9, "less likely: {told}");
        assert!(more.0 <= less.0 + 1e-9, "more impossible records: {told}");
    }
}

#[test]
fn balanced_is_never_below_fast() {
    for with_columns in [false, true] {
        for possible in [Possible::Open, Possible::Closed, Possible::ClosedButFirst] {
            check([Effort::Fast, Effort::Balanced], possible, with_columns, 0..60);
        }
    }
}

#[test]
fn best_is_never_below_balanced() {
    for with_columns in [false, true] {
        for possible in [Possible::Open, Possible::Closed, Possible::ClosedButFirst] {
            check([Effort::Balanced, Effort::Best], possible, with_columns, 0..6);
        }
    }
}
