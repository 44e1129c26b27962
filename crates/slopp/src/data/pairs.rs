//! Counts of all pairs of variables, and their mutual information.

use super::Records;
use crate::var::Var;
use rayon::prelude::*;

/// The bytes of columns in one tile of the pair loop: two tiles fit the second-level cache.
const TILE_BYTES: usize = 128 * 1024;

/// A symmetric matrix of numbers, each pair stored once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymmetricMatrix {
    len: usize,
    /// Row `i` holds columns `0..=i`.
    data: Vec<f64>,
}

/// How many records have both variables true, for all pairs: enough for mutual information.
///
/// Counts are exact for whole weights, on any number of threads. Where cells are missing, a pair counts the records that
/// know both variables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairCounts {
    total: f64,
    /// Both true; one variable alone on the diagonal.
    both: SymmetricMatrix,
    known: Option<Known>,
}

/// Additional counts where cells are missing.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    /// Both variables known; one variable alone on the diagonal.
    both: SymmetricMatrix,
    /// Line `i`, column `j`: `i` is true and `j` is known.
    true_and_known: Vec<f64>,
}

impl SymmetricMatrix {
    /// Zeros for `len` variables.
    pub(crate) fn zeros(len: usize) -> SymmetricMatrix {
        SymmetricMatrix { len, data: vec![0.0; len * (len + 1) / 2] }
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the matrix has no lines.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of a pair, in either order.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[place(i, j)]
    }

    /// Sets the number of a pair.
    pub(crate) fn set(&mut self, i: usize, j: usize, number: f64) {
        self.data[place(i, j)] = number;
    }

    /// The full line of a variable, with the diagonal.
    pub fn line(&self, i: usize) -> impl ExactSizeIterator<Item = f64> {
        (0..self.len).map(move |j| self.at(i, j))
    }

    /// Fills the matrix in parallel, tile by tile, so that the columns of a tile stay in the cache.
    pub(super) fn filled(len: usize, tile: usize, number: impl Fn(usize, usize) -> f64 + Sync) -> SymmetricMatrix {
        let mut matrix = SymmetricMatrix::zeros(len);
        let mut parts = Vec::new();
        let mut rest = matrix.data.as_mut_slice();
        for start in (0..len).step_by(tile) {
            let end = (start + tile).min(len);
            let (part, others) = rest.split_at_mut(place(end, 0) - place(start, 0));
            parts.push((start, end, part));
            rest = others;
        }
        // Later tiles are longer: starting with them keeps all threads busy to the end.
        parts.reverse();
        parts.into_par_iter().for_each(|(start, end, part)| {
            for first in (0..end).step_by(tile) {
                for i in start..end {
                    for j in first..(first + tile).min(i + 1) {
                        part[place(i, j) - place(start, 0)] = number(i, j);
                    }
                }
            }
        });
        matrix
    }
}

/// The place of a pair.
fn place(i: usize, j: usize) -> usize {
    let (high, low) = if i < j { (j, i) } else { (i, j) };
    high * (high + 1) / 2 + low
}

impl PairCounts {
    /// Counts all pairs by AND and popcount.
    ///
    /// Cost: `n² / 2` times the words of a column, shared by all threads.
    pub(crate) fn of(records: &Records) -> PairCounts {
        let len = records.var_count();
        let tile = (TILE_BYTES / (8 * records.column_words().max(1))).clamp(4, 64);
        let column = |i: usize| records.column(Var(i as u32));
        let both = SymmetricMatrix::filled(len, tile, |i, j| records.count_both(column(i), column(j)));
        let known = records.has_missing().then(|| {
            let all = records.all_rows();
            let known = |i: usize| -> Vec<u64> {
                let missing = records.missing_column(Var(i as u32)).expect("some cell is missing");
                all.iter().zip(missing).map(|(all, missing)| all & !missing).collect()
            };
            let columns: Vec<Vec<u64>> = (0..len).map(known).collect();
            let mut true_and_known = vec![0.0; len * len];
            true_and_known.par_chunks_mut(len.max(1)).enumerate().for_each(|(i, line)| {
                line.iter_mut().zip(&columns).for_each(|(n, known)| *n = records.count_both(column(i), known));
            });
            let both = SymmetricMatrix::filled(len, tile, |i, j| records.count_both(&columns[i], &columns[j]));
            Known { both, true_and_known }
        });
        PairCounts { total: records.total(), both, known }
    }

    /// The number of variables.
    pub(crate) fn var_count(&self) -> usize {
        self.both.len()
    }

    /// The total weight of the records.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// In how many records a variable is false and true, where it is known.
    pub(crate) fn values(&self, var: Var) -> [f64; 2] {
        let i = var.index();
        let known = self.known.as_ref().map_or(self.total, |known| known.both.at(i, i));
        [known - self.both.at(i, i), self.both.at(i, i)]
    }

    /// In how many records two variables are false-false, false-true, true-false and true-true.
    pub(crate) fn cells(&self, a: Var, b: Var) -> [f64; 4] {
        let (i, j) = (a.index(), b.index());
        let both = self.both.at(i, j);
        let [known, first, second] = match &self.known {
            None => [self.total, self.both.at(i, i), self.both.at(j, j)],
            Some(known) => {
                let line = |i: usize, j: usize| known.true_and_known[i * self.var_count() + j];
                [known.both.at(i, j), line(i, j), line(j, i)]
            }
        };
        // Differences of real weights can be off by rounding, even below zero.
        [known - first - second + both, second - both, first - both, both].map(|n| n.max(0.0))
    }

    /// The mutual information of all pairs in nats; the diagonal is zero.
    ///
    /// The pseudocount is added to each of the four cells of a pair: `1` is Laplace smoothing, `0` none.
    pub(crate) fn mutual_information(&self, pseudocount: f64) -> SymmetricMatrix {
        SymmetricMatrix::filled(self.var_count(), 64, |i, j| match i == j {
            true => 0.0,
            false => mutual_information(self.cells(Var(i as u32), Var(j as u32)).map(|n| n + pseudocount)),
        })
    }
}

/// `Σ p(x,y) ln(p(x,y) / p(x) p(y))` of a table of counts; zero for an empty table.
fn mutual_information([ff, ft, tf, tt]: [f64; 4]) -> f64 {
    let total = ff + ft + tf + tt;
    let (a, b) = ([ff + ft, tf + tt], [ff + tf, ft + tt]);
    let term = |n: f64, x: f64, y: f64| if n > 0.0 { n * (n * total / (x * y)).ln() } else { 0.0 };
    let sum = term(ff, a[0], b[0]) + term(ft, a[0], b[1]) + term(tf, a[1], b[0]) + term(tt, a[1], b[1]);
    // Rounding can leave a small negative number, where the variables are independent.
    if total > 0.0 { (sum / total).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::RecordsBuilder;
    use crate::names::Names;
    use crate::random::Random;

    fn random_records(vars: usize, rows: usize, missing: f64, weight: impl Fn(usize) -> f64, seed: u64) -> Records {
        let mut random = Random::new(seed);
        let mut builder = RecordsBuilder::new(Names::numbered(vars));
        for i in 0..rows {
            let bias = random.unit();
            let row: Vec<_> = (0..vars).map(|_| (random.unit() >= missing).then(|| random.unit() < bias)).collect();
            builder.push(row, weight(i));
        }
        builder.finish()
    }

    /// Counts one pair cell by cell.
    fn table(records: &Records, i: u32, j: u32) -> [f64; 4] {
        let mut cells = [0.0; 4];
        for (row, weight) in records.weights().iter().enumerate() {
            if let (Some(a), Some(b)) = (records.cell(row, Var(i)), records.cell(row, Var(j))) {
                cells[2 * usize::from(a) + usize::from(b)] += weight;
            }
        }
        cells
    }

    #[test]
    fn counts_agree_with_cell_by_cell_counting() {
        for (missing, scale, vars) in [(0.0, 1.0, 7), (0.3, 1.0, 7), (0.0, 0.25, 5), (0.3, 0.25, 5), (0.1, 1.0, 150)] {
            let records = random_records(vars, 200, missing, |i| scale * (1 + i % 5) as f64, 3);
            let pairs = PairCounts::of(&records);
            for (i, j) in (0..vars as u32).flat_map(|i| (0..i).map(move |j| (i, j))) {
                assert_eq!(pairs.cells(Var(i), Var(j)), table(&records, i, j), "{i} {j}");
                assert_eq!(pairs.cells(Var(j), Var(i)), table(&records, j, i), "{j} {i}");
            }
            let single = table(&records, 2, 2);
            assert_eq!(pairs.values(Var(2)), [single[0], single[3]]);
        }
    }

    #[test]
    fn mutual_information_is_entropy_minus_conditional_entropy() {
        let records = random_records(5, 300, 0.1, |_| 1.0, 9);
        let entropy =
            |cells: &[f64], total: f64| -> f64 { cells.iter().map(|n| -(n / total) * (n / total).ln()).sum() };
        let matrix = PairCounts::of(&records).mutual_information(1.0);
        for (i, j) in (0..5).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let [ff, ft, tf, tt] = table(&records, i, j).map(|n| n + 1.0);
            let total = ff + ft + tf + tt;
            let expected = entropy(&[ff + ft, tf + tt], total) + entropy(&[ff + tf, ft + tt], total)
                - entropy(&[ff, ft, tf, tt], total);
            assert!((matrix.at(i as usize, j as usize) - expected).abs() < 1e-12);
            assert_eq!(matrix.at(i as usize, j as usize), matrix.at(j as usize, i as usize));
        }
    }

    #[test]
    fn known_values_of_mutual_information() {
        assert!((mutual_information([5.0, 0.0, 0.0, 5.0]) - std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!(mutual_information([1.0, 2.0, 2.0, 4.0]), 0.0);
        assert_eq!(mutual_information([0.0; 4]), 0.0);
        assert_eq!(mutual_information([7.0, 0.0, 0.0, 0.0]), 0.0);
    }

    #[test]
    fn threads_do_not_matter() {
        let records = random_records(130, 500, 0.05, |i| 0.1 * (1 + i) as f64, 4);
        let counts = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let pairs = PairCounts::of(&records);
                let information = pairs.mutual_information(1.0);
                (pairs, information)
            })
        };
        assert_eq!(counts(1), counts(3));
    }

    #[test]
    fn no_variables_and_no_records() {
        assert_eq!(PairCounts::of(&random_records(3, 0, 0.0, |_| 1.0, 0)).cells(Var(0), Var(1)), [0.0; 4]);
        assert!(PairCounts::of(&random_records(0, 0, 0.0, |_| 1.0, 0)).mutual_information(1.0).is_empty());
    }
}
