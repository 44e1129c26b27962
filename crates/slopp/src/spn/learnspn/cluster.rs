//! CLUSTER: hard expectation-maximisation of mixtures of independent columns, on weighted distinct rows.

use crate::data::{BitMatrix, Choice, bit_of, ones};
use crate::random::Random;

/// The largest number of rounds of a run.
const MAX_ROUNDS: usize = 30;

/// Runs from random rows, in addition to the one from the most informative column; the best run counts.
const RESTARTS: usize = 2;

/// The weight of the prior of a cluster's column, in records.
const PRIOR: f64 = 1.0;

/// The rows of a sub-database.
pub(super) struct Rows<'a> {
    bits: &'a BitMatrix,
    weights: &'a [f64],
    /// The bits that are values of columns with several.
    of_values: Vec<u64>,
    /// For each bit, the uniform probability that it is true.
    uniform: Vec<f64>,
}

impl<'a> Rows<'a> {
    /// Weighted rows over columns whose variables are numbered as the bits.
    pub(super) fn new(bits: &'a BitMatrix, weights: &'a [f64], columns: &[Choice]) -> Rows<'a> {
        let mut of_values = vec![0; bits.width().div_ceil(64)];
        let mut uniform = vec![0.5; bits.width()];
        for column in columns.iter().filter(|column| column.as_boolean().is_none()) {
            for i in column.vars().iter().map(|var| var.index()) {
                of_values[i / 64] |= 1 << (i % 64);
                uniform[i] = 1.0 / column.values() as f64;
            }
        }
        Rows { bits, weights, of_values, uniform }
    }

    fn len(&self) -> usize {
        self.bits.lines()
    }

    /// In how many columns two rows differ; where a column has several values, in two bits.
    fn distance(&self, a: usize, b: usize) -> u32 {
        let (mut bits, mut of_values) = (0, 0);
        for ((a, b), values) in self.bits.line(a).iter().zip(self.bits.line(b)).zip(&self.of_values) {
            bits += (a ^ b).count_ones();
            of_values += ((a ^ b) & values).count_ones();
        }
        bits - of_values / 2
    }
}

/// A cluster for each row, or `None` if one cluster suffices.
///
/// The number of clusters grows from one as long as `Σ ln P(row, cluster)` rises by more than `penalty` for each
/// further cluster. `first` is the bit that the first run is split by.
pub(super) fn cluster(
    rows: &Rows<'_>,
    max_clusters: usize,
    penalty: f64,
    first: usize,
    random: &mut Random,
) -> Option<Vec<usize>> {
    let total: f64 = rows.weights.iter().sum();
    let mut trues = vec![0.0; rows.bits.width()];
    for (i, &weight) in rows.weights.iter().enumerate() {
        ones(rows.bits.line(i)).for_each(|bit| trues[bit] += weight);
    }
    let shares = trues.iter().zip(&rows.uniform).map(|(n, uniform)| (n + uniform * PRIOR) / (total + PRIOR));
    let prior: Vec<f64> = shares.collect();
    let single = Clusters::fit(rows, &vec![0; rows.len()], 1, &prior).score(rows);
    let mut best = (single, None);
    for k in 2..=max_clusters.min(rows.len()) {
        let mut found: Option<(f64, Vec<usize>)> = None;
        for run in 0..=RESTARTS {
            let start = match run {
                0 if k == 2 => (0..rows.len()).map(|i| usize::from(bit_of(rows.bits.line(i), first))).collect(),
                0 => continue,
                _ => seeded(rows, k, random),
            };
            let (score, labels) = expectation_maximisation(rows, start, k, &prior);
            if found.as_ref().is_none_or(|(best, _)| score > *best) {
                found = Some((score, labels));
            }
        }
        let Some((score, labels)) = found else { break };
        if score - best.0 <= penalty {
            break;
        }
        best = (score, Some(labels));
    }
    best.1.map(compact).filter(|labels| labels.iter().any(|&label| label > 0))
}

/// Renumbers labels by first use.
fn compact(mut labels: Vec<usize>) -> Vec<usize> {
    let mut names: Vec<usize> = Vec::new();
    for label in &mut labels {
        *label = names.iter().position(|name| name == label).unwrap_or_else(|| {
            names.push(*label);
            names.len() - 1
        });
    }
    labels
}

/// The nearest of `k` rows, drawn far from each other.
fn seeded(rows: &Rows<'_>, k: usize, random: &mut Random) -> Vec<usize> {
    let mut nearest = vec![(u32::MAX, 0); rows.len()];
    let mut seed = random.choose(rows.weights).expect("weights are positive");
    for c in 0..k {
        for (i, best) in nearest.iter_mut().enumerate() {
            *best = (*best).min((rows.distance(i, seed), c));
        }
        let draw: Vec<f64> = nearest.iter().zip(rows.weights).map(|(&(d, _), w)| f64::from(d) * w).collect();
        let Some(next) = random.choose(&draw) else { break };
        seed = next;
    }
    nearest.into_iter().map(|(_, c)| c).collect()
}

fn expectation_maximisation(rows: &Rows<'_>, mut labels: Vec<usize>, k: usize, prior: &[f64]) -> (f64, Vec<usize>) {
    let mut score = f64::NEG_INFINITY;
    for _ in 0..MAX_ROUNDS {
        let clusters = Clusters::fit(rows, &labels, k, prior);
        let mut moved = 0.0;
        score = 0.0;
        let mut total = 0.0;
        for ((i, label), weight) in labels.iter_mut().enumerate().zip(rows.weights) {
            let (best, log) = clusters.best(rows.bits.line(i));
            score += weight * log;
            total += weight;
            if best != *label {
                moved += weight;
                *label = best;
            }
        }
        // The last few rows that alternate are not worth more rounds.
        if moved <= 0.001 * total {
            break;
        }
    }
    (score, labels)
}

/// Log-probabilities of clusters: `ln P(row, c) = base(c) + Σ slope(c, bit)` over the ones of the row.
struct Clusters {
    width: usize,
    base: Vec<f64>,
    slope: Vec<f64>,
}

impl Clusters {
    fn fit(rows: &Rows<'_>, labels: &[usize], k: usize, prior: &[f64]) -> Clusters {
        let width = rows.bits.width();
        let mut totals = vec![0.0; k];
        let mut slope = vec![0.0; k * width];
        for ((i, &label), weight) in labels.iter().enumerate().zip(rows.weights) {
            totals[label] += weight;
            let trues = &mut slope[label * width..(label + 1) * width];
            ones(rows.bits.line(i)).for_each(|bit| trues[bit] += weight);
        }
        let all: f64 = totals.iter().sum();
        let base = slope.chunks_mut(width).zip(&totals).map(|(trues, &total)| {
            let mut base = ((total + PRIOR) / (all + PRIOR * k as f64)).ln();
            for (bit, (number, q)) in trues.iter_mut().zip(prior).enumerate() {
                let p = (*number + PRIOR * q) / (total + PRIOR);
                // One of the values of a column is true, which says that the others are false.
                let no = if bit_of(&rows.of_values, bit) { 0.0 } else { (1.0 - p).ln() };
                base += no;
                *number = p.ln() - no;
            }
            base
        });
        Clusters { width, base: base.collect(), slope }
    }

    /// The most probable cluster of a row, the first of equals, and its log-probability with the row.
    fn best(&self, row: &[u64]) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (c, slope) in self.slope.chunks(self.width).enumerate() {
            let log = self.base[c] + ones(row).map(|bit| slope[bit]).sum::<f64>();
            if log > best.1 {
                best = (c, log);
            }
        }
        best
    }

    fn score(&self, rows: &Rows<'_>) -> f64 {
        rows.weights.iter().enumerate().map(|(i, weight)| weight * self.best(rows.bits.line(i)).1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two kinds of rows: the first half of the columns mostly true, or the second.
    fn two_kinds(lines: usize, width: usize) -> (BitMatrix, Vec<usize>) {
        let mut random = Random::new(5);
        let mut rows = BitMatrix::zeros(lines, width);
        let kinds: Vec<usize> = (0..lines).map(|_| random.below(2)).collect();
        for (i, &kind) in kinds.iter().enumerate() {
            for bit in 0..width {
                if random.unit() < if (bit < width / 2) == (kind == 0) { 0.85 } else { 0.15 } {
                    rows.set(i, bit);
                }
            }
        }
        (rows, kinds)
    }

    #[test]
    fn planted_clusters_are_found() {
        let (rows, kinds) = two_kinds(400, 20);
        let labels = cluster(&Rows::new(&rows, &[1.0; 400], &[]), 4, 20.0, 0, &mut Random::new(1)).unwrap();
        let agree = labels.iter().zip(&kinds).filter(|(a, b)| a == b).count();
        assert!(agree.max(400 - agree) >= 396, "{agree} of 400");
        assert!(labels.iter().all(|&label| label < 2), "a third cluster does not pay");
    }

    #[test]
    fn one_cluster_does_for_noise_and_for_equal_rows() {
        let mut random = Random::new(2);
        let mut noise = BitMatrix::zeros(300, 10);
        (0..3000).filter(|_| random.unit() < 0.5).for_each(|i| noise.set(i / 10, i % 10));
        assert_eq!(cluster(&Rows::new(&noise, &[1.0; 300], &[]), 3, 40.0, 0, &mut random), None);
        assert_eq!(cluster(&Rows::new(&BitMatrix::zeros(1, 4), &[9.0], &[]), 3, 0.0, 0, &mut random), None);
    }

    /// Two columns of three and two values, and a variable.
    fn columns() -> Vec<Choice> {
        use crate::names::{Kind, Names};
        let values = |n: usize| Kind::Values((0..n).map(|i| i.to_string()).collect());
        let kinds = [("a", values(3)), ("b", Kind::Boolean), ("c", values(2))];
        Choice::all(&Names::of_columns(kinds.map(|(name, kind)| (name.to_owned(), kind))).unwrap())
    }

    #[test]
    fn columns_weigh_the_same_whatever_they_hold() {
        let mut bits = BitMatrix::zeros(12, 6);
        for row in 0..12 {
            bits.set(row, row % 3);
            bits.set(row, 4 + row / 6);
            if row / 3 % 2 == 1 {
                bits.set(row, 3);
            }
        }
        let weights: Vec<f64> = (1..=12).map(f64::from).collect();
        let rows = Rows::new(&bits, &weights, &columns());
        for (a, b) in (0..12).flat_map(|a| (0..12).map(move |b| (a, b))) {
            let differ = [a % 3 != b % 3, a / 3 % 2 != b / 3 % 2, a / 6 != b / 6];
            assert_eq!(rows.distance(a, b), differ.iter().filter(|differ| **differ).count() as u32);
        }
        // Each cluster is a distribution over the twelve rows.
        let labels: Vec<usize> = (0..12).map(|row| usize::from(row % 5 < 2)).collect();
        let clusters = Clusters::fit(&rows, &labels, 2, &rows.uniform);
        for (c, slope) in clusters.slope.chunks(6).enumerate() {
            let row = |row| (clusters.base[c] + ones(bits.line(row)).map(|bit| slope[bit]).sum::<f64>()).exp();
            let total: f64 = weights.iter().zip(&labels).filter(|(_, label)| **label == c).map(|(n, _)| n).sum();
            assert!(((0..12).map(row).sum::<f64>() - (total + PRIOR) / (78.0 + 2.0 * PRIOR)).abs() < 1e-12);
        }
    }
}
