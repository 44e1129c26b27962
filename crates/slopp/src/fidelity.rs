//! How well a model agrees with records about the dependences between columns.
//!
//! Likelihood is an average over whole records. It hides a model that is wrong about a rare value. So this compares
//! conditional probabilities, value by value, wherever the records have enough support to know them.

use crate::data::{Choice, Dependence, Records, RecordsBuilder};
use crate::infer::QueryError;
use crate::model::ModelKind;
use crate::names::Column;
use crate::var::{Lit, Var};
use rayon::prelude::*;

/// The agreement of a model with records: of `P(value | condition)`, by the model and by counting.
///
/// A condition is a value of a column, or two values of a pair of the most dependent columns, that enough records have.
/// So values are compared in pairs, and in triples where dependence is strongest.
///
/// ```
/// use slopp::fidelity::Fidelity;
/// use slopp::learn::{Slopp, Task};
/// let records = slopp::example::Truth::configurations().sample(2000, 1);
/// let model = Task::new(&records).learn(&Slopp::default(), &())?.model;
/// let fidelity = model.kind.fidelity(&records, Fidelity::MANY)?;
/// assert!(fidelity.conditionals > 500 && fidelity.mean < 0.01, "{} {}", fidelity.conditionals, fidelity.mean);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Fidelity {
    /// How many conditional probabilities were compared.
    pub conditionals: usize,
    /// The mean of their absolute differences, each weighted by its support: as often as records have the condition.
    /// Zero if none was compared.
    pub mean: f64,
    /// The largest differences, the largest first.
    pub worst: Vec<Deviation>,
    /// The largest of the differences that chance does not explain.
    pub beyond_chance: Option<Deviation>,
    /// How many columns were left out because there are too many values.
    pub left_out: usize,
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
    /// Conditions with less weight are not compared. Where so many records have one, a share has a standard error of up
    /// to 0.05.
    pub const SUPPORT: f64 = 100.0;

    /// A larger difference that chance does not explain is worth a warning.
    pub const LARGE: f64 = 0.1;

    /// Chance explains a difference of up to so many standard errors: of ten thousand, less than one is larger.
    pub const STANDARD_ERRORS: f64 = 4.0;

    /// More conditions than most tables have.
    pub const MANY: usize = 2000;

    /// So few conditions that comparing them costs next to nothing after learning from these records: each is a pass over
    /// the model, and a learner needs many for every distinct record.
    pub fn few(records: &Records) -> usize {
        (records.len() / 8).clamp(200, Fidelity::MANY)
    }

    /// The largest difference, zero if nothing was compared.
    pub fn largest(&self) -> f64 {
        self.worst.first().map_or(0.0, Deviation::difference)
    }

    /// The largest difference that is worth a warning.
    pub fn warning(&self) -> Option<&Deviation> {
        self.beyond_chance.as_ref().filter(|deviation| deviation.difference() > Fidelity::LARGE)
    }
}

/// How many deviations are kept.
const WORST: usize = 5;

/// The pairs of columns whose values together are conditions.
const STRONGEST: usize = 20;

/// Passes over elements and variables; there are fewer conditions in larger models.
const STEPS: usize = 2_000_000_000;

/// The marginals kept at a time.
const CELLS: usize = 4_000_000;

/// A condition, and the rows that have it.
struct Condition {
    given: Vec<Lit>,
    rows: Vec<u64>,
}

/// What was compared so far.
#[derive(Default)]
struct Tally {
    conditionals: usize,
    support: f64,
    sum: f64,
    worst: Vec<Deviation>,
    beyond_chance: Option<Deviation>,
}

impl ModelKind {
    /// Compares the model with records under at most `most` conditions, such as [`Fidelity::MANY`]; if there are more,
    /// columns of little entropy are left out. Conditions that the model excludes have probability zero for every value.
    ///
    /// Cost: a pass for each condition, and the counts of all pairs of values, shared by all threads; there are fewer than
    /// 2000 conditions in models with more than a million elements.
    pub fn fidelity(&self, records: &Records, most: usize) -> Result<Fidelity, QueryError> {
        let most = most.min(STEPS / (self.size().elements + records.var_count()).max(1));
        let Plan { columns, conditions, left_out } = Plan::new(records, most);
        let mut all = Tally::default();
        for conditions in conditions.chunks((CELLS / records.var_count().max(1)).max(1)) {
            let mut rows = RecordsBuilder::new(records.names().clone());
            for condition in conditions {
                let mut cells = vec![None; records.var_count()];
                condition.given.iter().for_each(|lit| cells[lit.var.index()] = Some(lit.value));
                rows.push(cells, 1.0);
            }
            let rows = rows.finish();
            let marginals = self.distribution().marginals_batch(&rows)?;
            let compared: Vec<Tally> = conditions
                .par_iter()
                .zip(rows.original())
                .map(|(condition, &row)| {
                    let marginals = marginals[row as usize].as_deref();
                    let probability = |var: Var| marginals.map_or(0.0, |marginals| marginals[var.index()]);
                    let mut tally = Tally::default();
                    columns.iter().for_each(|&column| tally.compare(condition, column, records, probability));
                    tally
                })
                .collect();
            compared.into_iter().for_each(|tally| all.join(tally));
        }
        let mean = if all.support > 0.0 { all.sum / all.support } else { 0.0 };
        let Tally { conditionals, worst, beyond_chance, .. } = all;
        Ok(Fidelity { conditionals, mean, worst, beyond_chance, left_out })
    }
}

impl Tally {
    /// Compares the values of a column under a condition on others.
    fn compare(
        &mut self,
        condition: &Condition,
        column: Column<'_>,
        records: &Records,
        probability: impl Fn(Var) -> f64,
    ) {
        if condition.given.iter().any(|lit| column.vars().any(|var| var == lit.var)) {
            return;
        }
        let counts: Vec<f64> =
            column.vars().map(|var| records.count_both(&condition.rows, records.column(var))).collect();
        let support = match column {
            Column::Boolean(var) => match records.missing_column(var) {
                None => records.count(&condition.rows),
                Some(_) => counts[0] + records.count_both(&rows_with(records, var.is(false)), &condition.rows),
            },
            Column::Group(_) => counts.iter().sum(),
        };
        if support < Fidelity::SUPPORT {
            return;
        }
        for (var, count) in column.vars().zip(counts) {
            let (share, probability) = (count / support, probability(var));
            let difference = (share - probability).abs();
            self.conditionals += 1;
            self.support += support;
            self.sum += support * difference;
            let error = (probability * (1.0 - probability)).max(0.0) / support;
            let is_beyond_chance = difference > Fidelity::STANDARD_ERRORS * error.sqrt();
            let is_among_worst = self.worst.len() < WORST || self.worst[WORST - 1].difference() < difference;
            let is_largest = |found: &Option<Deviation>| found.as_ref().is_none_or(|d| d.difference() < difference);
            if is_among_worst || (is_beyond_chance && is_largest(&self.beyond_chance)) {
                let given = condition.given.clone();
                let deviation = Deviation { value: var.is(true), given, support, share, probability };
                self.keep(deviation, is_beyond_chance);
            }
        }
    }

    /// Keeps a deviation if it is one of the largest; of equal ones the first.
    fn keep(&mut self, deviation: Deviation, is_beyond_chance: bool) {
        let difference = deviation.difference();
        if is_beyond_chance && self.beyond_chance.as_ref().is_none_or(|other| other.difference() < difference) {
            self.beyond_chance = Some(deviation.clone());
        }
        let place = self.worst.partition_point(|other| other.difference() >= difference);
        self.worst.insert(place, deviation);
        self.worst.truncate(WORST);
    }

    /// Adds what was compared later.
    fn join(&mut self, later: Tally) {
        self.conditionals += later.conditionals;
        self.support += later.support;
        self.sum += later.sum;
        later.worst.into_iter().for_each(|deviation| self.keep(deviation, false));
        if let Some(deviation) = later.beyond_chance
            && self.beyond_chance.as_ref().is_none_or(|other| other.difference() < deviation.difference())
        {
            self.beyond_chance = Some(deviation);
        }
    }
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

/// What is compared.
struct Plan<'a> {
    columns: Vec<Column<'a>>,
    conditions: Vec<Condition>,
    left_out: usize,
}

impl<'a> Plan<'a> {
    /// At most `most` conditions with enough support, a quarter of them of two values. A column with little entropy has
    /// little information about others, so it is left out first, also as what is compared.
    fn new(records: &'a Records, most: usize) -> Plan<'a> {
        if records.total() < Fidelity::SUPPORT {
            return Plan { columns: Vec::new(), conditions: Vec::new(), left_out: 0 };
        }
        let choices = Choice::all(records.names());
        let counts: Vec<Vec<f64>> = choices.par_iter().map(|choice| choice.counts(records)).collect();
        let has_support = |count: &&f64| **count >= Fidelity::SUPPORT;
        let mut order: Vec<usize> = (0..choices.len()).collect();
        order.sort_by(|&a, &b| entropy(&counts[b]).total_cmp(&entropy(&counts[a])));
        let (mut chosen, mut singles) = (Vec::new(), 0);
        for i in order {
            // A column without a frequent value is no condition, but it is compared under those of others.
            let values = counts[i].iter().filter(has_support).count().max(1);
            if singles + values <= most - most / 4 {
                singles += values;
                chosen.push(i);
            }
        }
        chosen.sort_unstable();
        let columns: Vec<Column<'_>> = records.names().columns().collect();
        let supported = |i: usize| {
            let literals = columns[i].literals().into_iter().zip(&counts[i]);
            literals.filter(|(_, count)| has_support(count)).map(|(lit, _)| lit).collect::<Vec<_>>()
        };
        let mut conditions: Vec<Condition> = chosen
            .iter()
            .flat_map(|&i| supported(i))
            .map(|lit| Condition { given: vec![lit], rows: rows_with(records, lit) })
            .collect();
        let pairs = strongest(&choices, &chosen, records);
        let both = pairs.into_iter().flat_map(|(i, j)| {
            let others = supported(j);
            supported(i).into_iter().flat_map(move |a| others.clone().into_iter().map(move |b| [a, b]))
        });
        let double = both.map(|[a, b]| {
            let [x, y] = [a, b].map(|lit| rows_with(records, lit));
            Condition { given: vec![a, b], rows: x.iter().zip(&y).map(|(x, y)| x & y).collect() }
        });
        let double = double.filter(|condition| records.count(&condition.rows) >= Fidelity::SUPPORT);
        conditions.extend(double.take(most / 4));
        let left_out = choices.len() - chosen.len();
        Plan { columns: chosen.into_iter().map(|i| columns[i]).collect(), conditions, left_out }
    }
}

/// The entropy of a column with these counts.
fn entropy(counts: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let term = |count: f64| if count > 0.0 { -count / total * (count / total).ln() } else { 0.0 };
    counts.iter().map(|&count| term(count)).sum()
}

/// The pairs of the chosen columns with the most mutual information, strongest first.
fn strongest(choices: &[Choice], chosen: &[usize], records: &Records) -> Vec<(usize, usize)> {
    let line = |(place, &i): (usize, &usize)| -> Vec<(f64, usize, usize)> {
        let pair = |&j: &usize| (Dependence::of(&choices[j].pair_counts(&choices[i], records)).unbiased(), j, i);
        stronger(chosen[..place].iter().map(pair).collect())
    };
    let lines: Vec<_> = chosen.par_iter().enumerate().map(line).collect();
    stronger(lines.into_iter().flatten().collect()).into_iter().map(|(_, i, j)| (i, j)).collect()
}

/// The strongest of some pairs.
fn stronger(mut pairs: Vec<(f64, usize, usize)>) -> Vec<(f64, usize, usize)> {
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs.truncate(STRONGEST);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Evidence;
    use crate::learn::{ChowLiu, Factorised, Task};
    use crate::names::{Kind, Names};
    use crate::random::Random;
    use crate::var::Var;

    /// A column of four values, a Boolean one that follows it, and noise.
    fn records(rows: usize, missing: f64) -> Records {
        let values = Kind::Values(["a", "b", "c", "d"].map(String::from).to_vec());
        let columns = [("x", values), ("y", Kind::Boolean), ("z", Kind::Boolean)];
        let names = Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
        let mut random = Random::new(3);
        let mut builder = RecordsBuilder::new(names);
        for _ in 0..rows {
            let x = random.below(4);
            let y = random.unit() < [0.0, 0.1, 0.5, 0.9][x];
            let [x, y, z] = [(0..4).map(|i| i == x).collect(), vec![y], vec![random.unit() < 0.3]].map(|cells| {
                let is_missing = random.unit() < missing;
                cells.into_iter().map(move |cell| (!is_missing).then_some(cell))
            });
            builder.push(x.chain(y).chain(z), 1.0);
        }
        builder.finish()
    }

    /// Everything that is compared, from cells and worlds one by one.
    fn one_by_one(model: &ModelKind, records: &Records) -> (Vec<Deviation>, f64) {
        let columns: Vec<Column<'_>> = records.names().columns().collect();
        let n = records.var_count();
        let worlds: Vec<(Vec<bool>, f64)> = (0..1usize << n)
            .map(|bits| (0..n).map(|i| bits >> i & 1 == 1).collect::<Vec<bool>>())
            .map(|world| (world.clone(), model.distribution().log_evidence(&Evidence::of_world(&world)).unwrap().exp()))
            .collect();
        let weight = |lits: &[Lit], known: &Column<'_>| -> f64 {
            let has = |row: usize| lits.iter().all(|lit| records.cell(row, lit.var) == Some(lit.value));
            let knows = |row: usize| known.vars().all(|var| records.cell(row, var).is_some());
            (0..records.len()).filter(|&row| has(row) && knows(row)).map(|row| records.weights()[row]).sum()
        };
        let mass = |lits: &[Lit]| -> f64 {
            let has = |world: &[bool]| lits.iter().all(|lit| world[lit.var.index()] == lit.value);
            worlds.iter().filter(|(world, _)| has(world)).map(|(_, p)| p).sum()
        };
        let mut found = Vec::new();
        let singles = columns.iter().flat_map(|a| a.literals()).map(|a| vec![a]);
        let pairs = (0..columns.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let both = |(i, j): (usize, usize)| {
            let others = columns[j].literals();
            columns[i].literals().into_iter().flat_map(move |a| others.clone().into_iter().map(move |b| vec![a, b]))
        };
        for given in singles.chain(pairs.flat_map(both)) {
            let about = |column: &&Column<'_>| !given.iter().any(|lit| column.vars().any(|var| var == lit.var));
            let known = columns.iter().find(|column| !about(column)).unwrap();
            for column in columns.iter().filter(about).filter(|_| weight(&given, known) >= Fidelity::SUPPORT) {
                let support = weight(&given, column);
                for var in column.vars().filter(|_| support >= Fidelity::SUPPORT) {
                    let value = var.is(true);
                    let with = [&given[..], &[value]].concat();
                    let [share, probability] = [weight(&with, column) / support, mass(&with) / mass(&given)];
                    found.push(Deviation { value, given: given.clone(), support, share, probability });
                }
            }
        }
        let mean = found.iter().map(|d| d.support * d.difference()).sum::<f64>()
            / found.iter().map(|d| d.support).sum::<f64>();
        found.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
        (found, mean)
    }

    #[test]
    fn deviations_are_those_of_the_table() {
        for missing in [0.0, 0.1] {
            let complete = records(4000, 0.0);
            let wrong = Task::new(&complete).learn(&Factorised::default(), &()).unwrap().model.kind;
            let right = Task::new(&complete).learn(&ChowLiu::default(), &()).unwrap().model.kind;
            let records = records(4000, missing);
            for model in [&wrong, &right] {
                let fidelity = model.fidelity(&records, Fidelity::MANY).unwrap();
                let (expected, mean) = one_by_one(model, &records);
                assert_eq!((fidelity.conditionals, fidelity.left_out), (expected.len(), 0));
                assert!((fidelity.mean - mean).abs() < 1e-12, "{} {mean}", fidelity.mean);
                assert_eq!(fidelity.worst.len(), WORST);
                for (found, expected) in fidelity.worst.iter().zip(&expected) {
                    assert!((found.difference() - expected.difference()).abs() < 1e-12, "{found:?} {expected:?}");
                }
                assert_eq!(fidelity.largest(), fidelity.worst[0].difference());
            }
            // Given d, y is true in nine of ten records, and in three of eight in all.
            let found = wrong.fidelity(&records, Fidelity::MANY).unwrap();
            let warned = found.warning().unwrap();
            assert_eq!((warned.value, warned.given[0]), (Var(4).is(true), Var(3).is(true)));
            let noise = right.fidelity(&records, Fidelity::MANY).unwrap();
            assert!(noise.warning().is_none() && noise.mean < 0.3 * found.mean, "{noise:?}");
        }
    }

    #[test]
    fn columns_of_little_entropy_are_left_out_first() {
        let records = records(4000, 0.0);
        let model = Task::new(&records).learn(&Factorised::default(), &()).unwrap().model.kind;
        let all = model.fidelity(&records, Fidelity::MANY).unwrap();
        let few = model.fidelity(&records, 6).unwrap();
        // There is room for the four values of x and not for those of y, which has more entropy than z.
        assert_eq!((all.left_out, few.left_out, few.conditionals), (0, 2, 0));
        let most = model.fidelity(&records, 8).unwrap();
        assert_eq!((most.left_out, most.conditionals), (1, 4 + 2 * 4));
        assert!(most.largest() > 0.3, "{most:?}");
        assert_eq!(model.fidelity(&records, 0).unwrap().left_out, 3);
    }

    #[test]
    fn few_records_support_nothing() {
        let few = records(50, 0.0);
        let model = Task::new(&few).learn(&Factorised::default(), &()).unwrap().model.kind;
        let fidelity = model.fidelity(&few, Fidelity::MANY).unwrap();
        assert_eq!((fidelity.conditionals, fidelity.largest(), fidelity.mean), (0, 0.0, 0.0));
    }
}
