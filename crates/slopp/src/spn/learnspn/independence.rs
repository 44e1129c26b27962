//! The G-test of columns.

use crate::data::{Choice, Dependence, PairCounts, SymmetricMatrix};
use crate::var::Var;

/// Which columns of a sub-database depend on each other, and how much.
pub(super) struct GTests {
    total: f64,
    /// The mutual information of two columns in nats.
    information: SymmetricMatrix,
    /// The degrees of freedom of their table; zero also if all columns are variables, which have one.
    freedom: SymmetricMatrix,
}

impl GTests {
    /// The tests of all pairs of columns, whose variables are numbered as in the counts.
    pub(super) fn new(columns: &[Choice], pairs: &PairCounts) -> GTests {
        let total = pairs.total();
        let mut freedom = SymmetricMatrix::zeros(columns.len());
        if are_variables(columns) {
            return GTests { total, information: pairs.mutual_information(0.0), freedom };
        }
        let mut information = SymmetricMatrix::zeros(columns.len());
        for (j, b) in columns.iter().enumerate() {
            for (i, a) in columns[..j].iter().enumerate() {
                let dependence = Dependence::of(&a.table(b, pairs));
                information.set(i, j, dependence.information());
                freedom.set(i, j, dependence.freedom() as f64);
            }
        }
        GTests { total, information, freedom }
    }

    /// The mutual information of all pairs, in nats.
    pub(super) fn information(&self) -> &SymmetricMatrix {
        &self.information
    }

    /// The same less what independent columns have on average, but not below zero.
    pub(super) fn unbiased_information(&self) -> SymmetricMatrix {
        let mut unbiased = SymmetricMatrix::zeros(self.freedom.len());
        for j in 0..unbiased.len() {
            for i in 0..j {
                let chance = self.freedom.at(i, j) / (2.0 * self.total);
                unbiased.set(i, j, (self.information.at(i, j) - chance).max(0.0));
            }
        }
        unbiased
    }

    /// The variable with the most mutual information with all other columns; the first of equals.
    pub(super) fn most_informative(&self, columns: &[Choice], pairs: &PairCounts) -> Var {
        let mut best = (Var(0), f64::NEG_INFINITY);
        for (i, column) in columns.iter().enumerate() {
            for &var in column.vars() {
                let sum: f64 = match column.as_boolean() {
                    Some(_) => self.information.line(i).sum(),
                    None => {
                        let value = Choice::boolean(var);
                        let others = columns.iter().enumerate().filter(|(j, _)| *j != i);
                        others.map(|(_, other)| Dependence::of(&value.table(other, pairs)).information()).sum()
                    }
                };
                if sum > best.1 {
                    best = (var, sum);
                }
            }
        }
        best.0
    }

    /// Whether two columns are dependent: if they were independent, what they show would be rarer than that two
    /// independent variables show a G statistic of `limit`.
    pub(super) fn are_dependent(&self, i: usize, j: usize, limit: f64) -> bool {
        self.information.at(i, j) > as_rare(limit, self.freedom.at(i, j)) / (2.0 * self.total)
    }
}

/// Whether all columns are variables.
pub(super) fn are_variables(columns: &[Choice]) -> bool {
    columns.iter().all(|column| column.as_boolean().is_some())
}

/// The G statistic with these degrees of freedom that has the p-value of `limit` with one.
///
/// The cube root of a chi-squared number is nearly normal (Wilson and Hilferty, 1931).
fn as_rare(limit: f64, freedom: f64) -> f64 {
    if freedom <= 1.0 || limit <= 0.0 {
        return limit;
    }
    let of = |freedom: f64| 2.0 / (9.0 * freedom);
    let deviations = (limit.cbrt() - 1.0 + of(1.0)) / of(1.0).sqrt();
    freedom * (1.0 - of(freedom) + deviations * of(freedom).sqrt()).max(0.0).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Records;
    use crate::names::{Kind, Names};
    use crate::random::Random;

    /// Three columns of four, two and six values, the last value of the last unused, and their cells. The first two
    /// depend on each other.
    fn records(seed: u64) -> (Records, Vec<[usize; 3]>) {
        let values = |n: usize| Kind::Values((0..n).map(|i| i.to_string()).collect());
        let kinds = [("a", values(4)), ("b", Kind::Boolean), ("c", values(6))];
        let names = Names::of_columns(kinds.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
        let mut random = Random::new(seed);
        let row = |_| {
            let a = random.below(4);
            let b = if random.unit() < 0.4 { usize::from(a == 3) } else { random.below(2) };
            [a, b, random.below(5)]
        };
        let rows: Vec<[usize; 3]> = (0..300).map(row).collect();
        let bits = |&[a, b, c]: &[usize; 3]| {
            (0..4).map(move |i| i == a).chain([b == 1]).chain((0..6).map(move |i| i == c)).collect::<Vec<bool>>()
        };
        (Records::from_rows(names, rows.iter().map(bits)), rows)
    }

    #[test]
    fn statistics_are_those_of_whole_tables() {
        let mut rejected = 0;
        for seed in 0..200 {
            let (records, rows) = records(seed);
            let columns = Choice::all(records.names());
            let tests = GTests::new(&columns, &PairCounts::of(&records));
            for (i, j, freedom) in [(0, 1, 3.0), (0, 2, 12.0), (1, 2, 4.0)] {
                let count = |x: Option<usize>, y: Option<usize>| {
                    let matches = |row: &&[usize; 3]| x.is_none_or(|x| row[i] == x) && y.is_none_or(|y| row[j] == y);
                    rows.iter().filter(matches).count() as f64
                };
                let mut g = 0.0;
                for (x, y) in (0..4).flat_map(|x| (0..6).map(move |y| (x, y))) {
                    let expected = count(Some(x), None) * count(None, Some(y)) / 300.0;
                    let n = count(Some(x), Some(y));
                    g += if n > 0.0 { 2.0 * n * (n / expected).ln() } else { 0.0 };
                }
                assert!((600.0 * tests.information.at(i, j) - g).abs() < 1e-9);
                assert_eq!(tests.freedom.at(i, j), freedom, "only used values count");
            }
            assert!(tests.are_dependent(0, 1, 6.635));
            rejected += usize::from(tests.are_dependent(0, 2, 3.841)) + usize::from(tests.are_dependent(1, 2, 3.841));
        }
        assert!((8..=40).contains(&rejected), "{rejected} of 400 at a p-value of 0.05");
    }

    #[test]
    fn limits_have_the_p_value_of_one_degree() {
        // With an even number of degrees the p-value of x is that of fewer than half as many Poisson events.
        let p_value = |x: f64, freedom: usize| {
            let mut term = (-x / 2.0).exp();
            let mut sum = term;
            (1..freedom / 2).for_each(|k| {
                term *= x / 2.0 / k as f64;
                sum += term;
            });
            sum
        };
        for (limit, p) in [(3.841, 0.05), (6.635, 0.01), (10.828, 0.001), (15.137, 0.0001)] {
            assert_eq!(as_rare(limit, 1.0), limit);
            for freedom in [2, 6, 20, 100, 400] {
                let found = p_value(as_rare(limit, freedom as f64), freedom) / p;
                assert!((0.9..1.7).contains(&found), "{freedom}: {found} of {p}");
            }
        }
        assert_eq!(as_rare(0.0, 9.0), 0.0);
    }

    #[test]
    fn the_most_informative_variable_tells_most_about_other_columns() {
        let information = |pairs: &[(bool, usize)]| -> f64 {
            let share = |matches: &dyn Fn(&(bool, usize)) -> bool| {
                pairs.iter().filter(|pair| matches(pair)).count() as f64 / pairs.len() as f64
            };
            let cells = [false, true].into_iter().flat_map(|x| (0..6).map(move |y| (x, y)));
            let term = |(x, y)| match share(&|pair| *pair == (x, y)) {
                0.0 => 0.0,
                p => p * (p / share(&|pair| pair.0 == x) / share(&|pair| pair.1 == y)).ln(),
            };
            cells.map(term).sum()
        };
        for seed in 0..10 {
            let (records, rows) = records(seed);
            let columns = Choice::all(records.names());
            let pairs = PairCounts::of(&records);
            let of_value = |column: usize, value: usize| -> f64 {
                let others = (0..3).filter(|other| *other != column);
                let with = |other: usize| rows.iter().map(|row| (row[column] == value, row[other])).collect::<Vec<_>>();
                others.map(|other| information(&with(other))).sum()
            };
            let values = (0..4).map(|v| (0, v)).chain([(1, 1)]).chain((0..6).map(|v| (2, v)));
            let all: Vec<f64> = values.map(|(column, value)| of_value(column, value)).collect();
            let found = GTests::new(&columns, &pairs).most_informative(&columns, &pairs);
            assert!(all.iter().all(|other| *other < all[found.index()] + 1e-12), "{found:?} of {all:?}");
        }
    }
}
