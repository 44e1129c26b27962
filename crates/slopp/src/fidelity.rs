//! How well a model agrees with records about the dependences between columns.
//!
//! Likelihood is an average over whole records. It hides a model that is wrong about a rare value. So this compares
//! conditional probabilities, value by value, wherever the records have enough support to know them.

use crate::data::{Choice, PairCounts, Records, RecordsBuilder, information};
use crate::infer::QueryError;
use crate::model::ModelKind;
use crate::var::Lit;

/// The agreement of a model with records: of `P(value | condition)`, by the model and by counting.
///
/// A condition is a value of a column, or of two of the most dependent columns, that enough records have.
///
/// ```
/// use slopp::fidelity::Fidelity;
/// use slopp::learn::{Slopp, Task};
/// let records = slopp::example::Truth::configurations().sample(2000, 1);
/// let model = Task::new(&records).learn(&Slopp::default(), &())?.model;
/// let fidelity = model.kind.fidelity(&records)?;
/// assert!(fidelity.conditionals > 500 && fidelity.mean < 0.01, "{} {}", fidelity.conditionals, fidelity.mean);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fidelity {
    /// How many conditional probabilities were compared.
    pub conditionals: usize,
    /// The mean of their absolute differences; zero if none was compared.
    pub mean: f64,
    /// The largest differences, the largest first.
    pub worst: Vec<Deviation>,
}

/// A conditional probability by the model and by the records.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Deviation {
    /// The value.
    pub value: Lit,
    /// The condition, a value of one column or of two.
    pub given: Vec<Lit>,
    /// The weight of the records with the condition that know the column of the value.
    pub support: f64,
    /// The share of those with the value.
    pub share: f64,
    /// The probability by the model.
    pub probability: f64,
}

impl Deviation {
    /// The absolute difference.
    pub fn difference(&self) -> f64 {
        (self.share - self.probability).abs()
    }
}

impl Fidelity {
    /// Conditions with less weight are not compared.
    pub const SUPPORT: f64 = 100.0;

    /// A larger difference is worth a warning.
    pub const LARGE: f64 = 0.1;

    /// The largest difference, zero if nothing was compared.
    pub fn largest(&self) -> f64 {
        self.worst.first().map_or(0.0, Deviation::difference)
    }
}

/// How many deviations are kept.
const WORST: usize = 5;

/// The pairs of columns whose values together are conditions.
const STRONGEST: usize = 6;

/// The largest number of conditions of two values.
const DOUBLE: usize = 2000;

/// Steps that the comparison may take, each for an element or a word of a column; conditions of less support are left
/// out.
const STEPS: f64 = 2e9;

/// A condition, and the rows that have it.
struct Condition {
    given: Vec<Lit>,
    rows: Vec<u64>,
    support: f64,
}

impl ModelKind {
    /// Compares the model with records. Conditions that the model excludes have probability zero for every value.
    ///
    /// Cost: a pass for each condition, shared by all threads; at most about two thousand million steps, so that it is
    /// cheap after learning.
    pub fn fidelity(&self, records: &Records) -> Result<Fidelity, QueryError> {
        let choices = Choice::all(records.names());
        let conditions = conditions(&choices, records, self.size().elements);
        let mut rows = RecordsBuilder::new(records.names().clone());
        for condition in &conditions {
            let mut cells = vec![None; records.var_count()];
            condition.given.iter().for_each(|lit| cells[lit.var.index()] = Some(lit.value));
            rows.push(cells, 1.0);
        }
        let rows = rows.finish();
        let marginals = self.distribution().marginals_batch(&rows)?;
        let mut fidelity = Fidelity { conditionals: 0, mean: 0.0, worst: Vec::new() };
        for (condition, &row) in conditions.iter().zip(rows.original()) {
            let marginals = &marginals[row as usize];
            for choice in
                choices.iter().filter(|choice| !condition.given.iter().any(|lit| choice.vars().contains(&lit.var)))
            {
                let lits: Vec<Lit> = literals(choice).collect();
                let counts: Vec<f64> =
                    lits.iter().map(|lit| records.count_both(&condition.rows, &rows_with(records, *lit))).collect();
                let support: f64 = counts.iter().sum();
                if support < Fidelity::SUPPORT {
                    continue;
                }
                // Of a Boolean column both differences are the same.
                let first = usize::from(choice.as_boolean().is_some());
                for (lit, count) in lits.iter().zip(counts).skip(first) {
                    let probability = marginals.as_ref().map_or(0.0, |marginals| marginals[lit.var.index()]);
                    let share = count / support;
                    fidelity.conditionals += 1;
                    fidelity.mean += (share - probability).abs();
                    let is_worse = |other: &Deviation| (share - probability).abs() > other.difference();
                    if fidelity.worst.len() < WORST || fidelity.worst.last().is_some_and(is_worse) {
                        let given = condition.given.clone();
                        let deviation = Deviation { value: *lit, given, support, share, probability };
                        let place = fidelity.worst.partition_point(|other| !is_worse(other));
                        fidelity.worst.insert(place, deviation);
                        fidelity.worst.truncate(WORST);
                    }
                }
            }
        }
        fidelity.mean /= (fidelity.conditionals as f64).max(1.0);
        Ok(fidelity)
    }
}

/// The values of a column as literals.
fn literals(choice: &Choice) -> impl Iterator<Item = Lit> {
    let boolean = choice.as_boolean().map(|var| [var.is(false), var.is(true)]);
    let values = choice.vars().iter().filter(move |_| boolean.is_none()).map(|var| var.is(true));
    boolean.into_iter().flatten().chain(values)
}

/// The rows that have a literal.
fn rows_with(records: &Records, lit: Lit) -> Vec<u64> {
    let column = records.column(lit.var);
    if lit.value {
        return column.to_vec();
    }
    let missing = records.missing_column(lit.var);
    let all = records.all_rows();
    let missing = |word: usize| missing.map_or(0, |missing| missing[word]);
    all.iter().zip(column).enumerate().map(|(i, (all, column))| all & !column & !missing(i)).collect()
}

/// The conditions with enough support, as many as there are steps for.
fn conditions(choices: &[Choice], records: &Records, elements: usize) -> Vec<Condition> {
    let condition = |given: Vec<Lit>, rows: Vec<u64>| {
        let support = records.count(&rows);
        (support >= Fidelity::SUPPORT).then_some(Condition { given, rows, support })
    };
    let single: Vec<Vec<Condition>> = choices
        .iter()
        .map(|choice| literals(choice).filter_map(|lit| condition(vec![lit], rows_with(records, lit))).collect())
        .collect();
    let mut double = Vec::new();
    for (a, b) in strongest(choices, records) {
        for (a, b) in single[a].iter().flat_map(|a| single[b].iter().map(move |b| (a, b))) {
            let rows = a.rows.iter().zip(&b.rows).map(|(a, b)| a & b).collect();
            double.extend(condition([&a.given[..], &b.given].concat(), rows));
        }
    }
    double.sort_by(|a, b| b.support.total_cmp(&a.support));
    double.truncate(DOUBLE);
    let mut all: Vec<Condition> = single.into_iter().flatten().chain(double).collect();
    all.sort_by(|a, b| b.support.total_cmp(&a.support));
    let words = records.var_count() * records.column_words();
    all.truncate((STEPS / (elements + words).max(1) as f64) as usize);
    all
}

/// The pairs of columns with the most mutual information.
fn strongest(choices: &[Choice], records: &Records) -> Vec<(usize, usize)> {
    if records.var_count() > crate::data::MAX_PAIR_VARIABLES {
        return Vec::new();
    }
    let information = information(choices, &PairCounts::of(records), 0.0);
    let mut pairs: Vec<(usize, usize)> = (0..choices.len()).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    pairs.sort_by(|&(a, b), &(c, d)| information.at(c, d).total_cmp(&information.at(a, b)));
    pairs.truncate(STRONGEST);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{ChowLiu, Factorised, Task};
    use crate::names::{Kind, Names};
    use crate::random::Random;
    use crate::var::Var;

    /// A column of four values, a Boolean one that follows it, and noise.
    fn records(rows: usize) -> Records {
        let values = Kind::Values(["a", "b", "c", "d"].map(String::from).to_vec());
        let columns = [("x", values), ("y", Kind::Boolean), ("z", Kind::Boolean)];
        let names = Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
        let mut random = Random::new(3);
        let row = |_| {
            let x = random.below(4);
            let y = random.unit() < [0.0, 0.1, 0.5, 0.9][x];
            (0..4).map(move |i| i == x).chain([y, random.unit() < 0.3]).collect::<Vec<bool>>()
        };
        Records::from_rows(names, (0..rows).map(row).collect::<Vec<_>>())
    }

    #[test]
    fn deviations_are_those_of_the_table() {
        let records = records(4000);
        let wrong = Task::new(&records).learn(&Factorised::default(), &()).unwrap().model.kind;
        let fidelity = wrong.fidelity(&records).unwrap();
        // Given d, y is true in nine of ten records, and in three of eight in all.
        let worst = &fidelity.worst[0];
        assert_eq!((worst.value, &worst.given[0]), (Var(4).is(true), &Var(3).is(true)));
        let (mut with, mut all) = (0.0, 0.0);
        for (row, weight) in records.weights().iter().enumerate() {
            if worst.given.iter().all(|lit| records.cell(row, lit.var) == Some(lit.value)) {
                all += weight;
                with += if records.cell(row, Var(4)) == Some(true) { *weight } else { 0.0 };
            }
        }
        let mut given = crate::infer::Evidence::none(6);
        worst.given.iter().for_each(|lit| given.set(lit.var, Some(lit.value)));
        let probability = wrong.distribution().marginals(&given).unwrap()[4];
        assert_eq!((worst.share, worst.support), (with / all, all));
        assert!((worst.probability - probability).abs() < 1e-12);
        assert_eq!(fidelity.largest(), worst.difference());
        assert!(fidelity.worst.windows(2).all(|pair| pair[0].difference() >= pair[1].difference()));
        let right = Task::new(&records).learn(&ChowLiu::default(), &()).unwrap().model.kind;
        let better = right.fidelity(&records).unwrap();
        assert!(better.largest() < 0.12 && better.mean < 0.3 * fidelity.mean, "{better:?}");
        assert_eq!(better.conditionals, fidelity.conditionals);
    }

    #[test]
    fn few_records_support_nothing() {
        let few = records(50);
        let model = Task::new(&few).learn(&Factorised::default(), &()).unwrap().model.kind;
        let fidelity = model.fidelity(&few).unwrap();
        assert_eq!((fidelity.conditionals, fidelity.largest(), fidelity.mean), (0, 0.0, 0.0));
    }
}
