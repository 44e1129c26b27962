//! A description of a data set, before learning.

use super::{Choice, MAX_PAIR_VARIABLES, PairCounts, Records, information};
use crate::var::Var;

/// A summary of records as plain numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// The number of variables.
    pub variables: usize,
    /// The total weight of the records.
    pub records: f64,
    /// The number of distinct rows.
    pub distinct: usize,
    /// The weight of the most frequent row.
    pub most_frequent: f64,
    /// The share of *true* among the known cells; zero without any.
    pub density: f64,
    /// The number of missing cells, weighted; a missing cell of a column with several values counts once.
    pub missing: f64,
    /// Each variable's share of *true* among its known cells; `None` if it has none.
    pub frequencies: Vec<Option<f64>>,
    /// The constant variables and their value, among known cells.
    pub constants: Vec<(Var, bool)>,
    /// The pairs of columns with the most mutual information, strongest first.
    pub strongest: Vec<Pair>,
}

/// Two columns and their mutual information.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// The place of the first one among the columns, from zero; where all are Boolean, that of its variable.
    pub a: usize,
    /// The place of the second one.
    pub b: usize,
    /// Their mutual information in nats, without smoothing. Of records of a column with several values, it is less by
    /// what independent columns have on average in so many records.
    pub mutual_information: f64,
}

impl Description {
    /// Describes the records, with at most `pairs` strongest pairs; above 10 000 variables with none.
    pub fn of(records: &Records, pairs: usize) -> Description {
        let vars = (0..records.var_count() as u32).map(Var);
        let total = records.total();
        let trues: Vec<f64> = vars.clone().map(|x| records.count(records.column(x))).collect();
        let missing: Vec<f64> =
            vars.clone().map(|x| records.missing_column(x).map_or(0.0, |m| records.count(m))).collect();
        let known: Vec<f64> = missing.iter().map(|m| total - m).collect();
        let all = records.all_rows();
        // Compared row by row, not by weight: sums of real weights are off by rounding.
        let constant = |x: Var| {
            let missing = |word: usize| records.missing_column(x).map_or(0, |missing| missing[word]);
            let known = all.iter().enumerate().map(|(word, rows)| rows & !missing(word));
            let column = records.column(x);
            let (never, always) = (column.iter().all(|&word| word == 0), known.clone().eq(column.iter().copied()));
            (never != always).then_some((x, always))
        };
        let all_known: f64 = known.iter().sum();
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        Description {
            variables: records.var_count(),
            records: total,
            distinct: records.len(),
            most_frequent: records.weights().first().copied().unwrap_or(0.0),
            density: share(trues.iter().sum(), all_known).unwrap_or(0.0),
            missing: records
                .names()
                .columns()
                .flat_map(|column| column.vars().next())
                .map(|x| missing[x.index()])
                .sum(),
            constants: vars.clone().filter_map(constant).collect(),
            frequencies: trues.iter().zip(&known).map(|(&t, &k)| share(t, k)).collect(),
            strongest: strongest_pairs(records, pairs),
        }
    }
}

fn strongest_pairs(records: &Records, wanted: usize) -> Vec<Pair> {
    if wanted == 0 || records.var_count() > MAX_PAIR_VARIABLES {
        return Vec::new();
    }
    let information = information(&Choice::all(records.names()), &PairCounts::of(records), 0.0);
    let len = information.len();
    let mut pairs: Vec<Pair> = Vec::new();
    for (i, j) in (0..len).flat_map(|i| (i + 1..len).map(move |j| (i, j))) {
        let mutual_information = information.at(i, j);
        let full = pairs.len() == wanted;
        if mutual_information > 0.0 && !(full && pairs[wanted - 1].mutual_information >= mutual_information) {
            let place = pairs.partition_point(|pair| pair.mutual_information >= mutual_information);
            pairs.truncate(wanted - 1);
            pairs.insert(place.min(pairs.len()), Pair { a: i, b: j, mutual_information });
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::RecordsBuilder;
    use crate::names::{Kind, Names};

    #[test]
    fn a_small_data_set() {
        let mut builder = RecordsBuilder::new(Names::numbered(5));
        let cells = |text: &str| text.chars().map(|c| (c != '?').then_some(c == '1')).collect::<Vec<_>>();
        for (row, weight) in [("1010?", 3.0), ("1101?", 2.0), ("?101?", 1.0), ("1010?", 1.0)] {
            builder.push(cells(row), weight);
        }
        let description = Description::of(&builder.finish(), 2);
        assert_eq!((description.variables, description.records, description.distinct), (5, 7.0, 3));
        assert_eq!(description.most_frequent, 4.0);
        assert_eq!(description.missing, 8.0);
        assert_eq!(description.constants, [(Var(0), true)]);
        assert_eq!(description.frequencies, [Some(1.0), Some(3.0 / 7.0), Some(4.0 / 7.0), Some(3.0 / 7.0), None]);
        assert_eq!(description.density, (6.0 + 3.0 + 4.0 + 3.0) / 27.0);
        let pairs: Vec<_> = description.strongest.iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(pairs, [(1, 2), (1, 3)]);
        let entropy = -(3.0 / 7.0f64) * (3.0 / 7.0f64).ln() - (4.0 / 7.0f64) * (4.0 / 7.0f64).ln();
        assert!((description.strongest[0].mutual_information - entropy).abs() < 1e-12);
    }

    #[test]
    fn a_missing_cell_of_a_column_is_one() {
        let colors = Kind::Values(["red", "green", "blue"].map(String::from).to_vec());
        let names = Names::of_columns([("color".into(), colors), ("fast".into(), Kind::Boolean)]).unwrap();
        let mut builder = RecordsBuilder::new(names);
        builder.push([None, None, None, Some(true)], 2.0);
        builder.push([Some(true), Some(false), Some(false), None], 1.0);
        assert_eq!(Description::of(&builder.finish(), 0).missing, 3.0);
    }

    /// The values of one column exclude each other, which says nothing.
    #[test]
    fn pairs_are_of_columns() {
        let colors = Kind::Values(["red", "green", "blue"].map(String::from).to_vec());
        let columns = [("a", Kind::Boolean), ("color", colors), ("b", Kind::Boolean)];
        let names = Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
        let row = |i: usize| {
            let color = i % 3;
            [i.is_multiple_of(7), color == 0, color == 1, color == 2, color == 0]
        };
        let records = Records::from_rows(names, (0..420).map(row));
        let strongest = Description::of(&records, 9).strongest;
        assert_eq!((strongest[0].a, strongest[0].b), (1, 2));
        // The entropy of b, with half a nat in all records together for its second value, after Miller and Madow.
        let entropy = -(1.0 / 3.0f64) * (1.0 / 3.0f64).ln() - (2.0 / 3.0f64) * (2.0 / 3.0f64).ln();
        assert!((strongest[0].mutual_information - entropy - 0.5 / 420.0).abs() < 1e-12, "{strongest:?}");
        assert!(strongest[1..].iter().all(|pair| pair.mutual_information < 1e-12), "{strongest:?}");
    }

    #[test]
    fn strongest_pairs_are_the_head_of_the_sorted_list() {
        let mut random = crate::Random::new(5);
        let rows: Vec<Vec<bool>> = (0..60).map(|_| (0..9).map(|_| random.unit() < 0.4).collect()).collect();
        let records = Records::from_rows(Names::numbered(9), rows);
        let all = Description::of(&records, 100).strongest;
        assert_eq!(all.len(), 36);
        assert!(all.windows(2).all(|w| w[0].mutual_information >= w[1].mutual_information));
        for wanted in [0, 1, 5, 36] {
            assert_eq!(Description::of(&records, wanted).strongest, all[..wanted]);
        }
    }

    #[test]
    fn constants_are_found_under_real_weights() {
        let mut builder = RecordsBuilder::new(Names::numbered(3));
        for i in 0..70 {
            builder.push([Some(true), (i % 3 > 0).then_some(true), Some(i % 2 == 0)], 0.1 + f64::from(i) / 7.0);
        }
        assert_eq!(Description::of(&builder.finish(), 0).constants, [(Var(0), true), (Var(1), true)]);
    }

    #[test]
    fn nothing_at_all() {
        let description = Description::of(&RecordsBuilder::new(Names::numbered(2)).finish(), 3);
        assert_eq!((description.records, description.density), (0.0, 0.0));
        assert_eq!(description.frequencies, [None, None]);
        assert!(description.constants.is_empty() && description.strongest.is_empty());
    }
}
