//! CLUSTER: hard expectation-maximisation of mixtures of independent columns, on weighted distinct rows.

use crate::data::{BitMatrix, bit_of, ones};
use crate::random::Random;

/// The largest number of rounds of a run.
const MAX_ROUNDS: usize = 30;

/// Runs from random rows, in addition to the one from the most informative column; the best run counts.
const RESTARTS: usize = 2;

/// The weight of the prior of a cluster's column, in records.
const PRIOR: f64 = 1.0;

/// A cluster for each row, or `None` if one cluster suffices.
///
/// The number of clusters grows from one as long as `Σ ln P(row, cluster)` rises by more than `penalty` for each
/// further cluster. `first` is the column that the first run is split by.
pub(super) fn cluster(
    rows: &BitMatrix,
    weights: &[f64],
    max_clusters: usize,
    penalty: f64,
    first: usize,
    random: &mut Random,
) -> Option<Vec<usize>> {
    let total: f64 = weights.iter().sum();
    let mut trues = vec![0.0; rows.width()];
    for (i, &weight) in weights.iter().enumerate() {
        ones(rows.line(i)).for_each(|bit| trues[bit] += weight);
    }
    let prior: Vec<f64> = trues.iter().map(|n| (n + 0.5 * PRIOR) / (total + PRIOR)).collect();
    let single = Clusters::fit(rows, weights, &vec![0; rows.lines()], 1, &prior).score(rows, weights);
    let mut best = (single, None);
    for k in 2..=max_clusters.min(rows.lines()) {
        let mut found: Option<(f64, Vec<usize>)> = None;
        for run in 0..=RESTARTS {
            let start = match run {
                0 if k == 2 => (0..rows.lines()).map(|i| usize::from(bit_of(rows.line(i), first))).collect(),
                0 => continue,
                _ => seeded(rows, weights, k, random),
            };
            let (score, labels) = expectation_maximisation(rows, weights, start, k, &prior);
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
fn seeded(rows: &BitMatrix, weights: &[f64], k: usize, random: &mut Random) -> Vec<usize> {
    let distance =
        |a: usize, b: usize| -> u32 { rows.line(a).iter().zip(rows.line(b)).map(|(a, b)| (a ^ b).count_ones()).sum() };
    let mut nearest = vec![(u32::MAX, 0); rows.lines()];
    let mut seed = random.choose(weights).expect("weights are positive");
    for c in 0..k {
        for (i, best) in nearest.iter_mut().enumerate() {
            *best = (*best).min((distance(i, seed), c));
        }
        let draw: Vec<f64> = nearest.iter().zip(weights).map(|(&(d, _), w)| f64::from(d) * w).collect();
        let Some(next) = random.choose(&draw) else { break };
        seed = next;
    }
    nearest.into_iter().map(|(_, c)| c).collect()
}

fn expectation_maximisation(
    rows: &BitMatrix,
    weights: &[f64],
    mut labels: Vec<usize>,
    k: usize,
    prior: &[f64],
) -> (f64, Vec<usize>) {
    let mut score = f64::NEG_INFINITY;
    for _ in 0..MAX_ROUNDS {
        let clusters = Clusters::fit(rows, weights, &labels, k, prior);
        let mut moved = 0.0;
        score = 0.0;
        let mut total = 0.0;
        for (i, label) in labels.iter_mut().enumerate() {
            let (best, log) = clusters.best(rows.line(i));
            score += weights[i] * log;
            total += weights[i];
            if best != *label {
                moved += weights[i];
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
    fn fit(rows: &BitMatrix, weights: &[f64], labels: &[usize], k: usize, prior: &[f64]) -> Clusters {
        let width = rows.width();
        let mut totals = vec![0.0; k];
        let mut slope = vec![0.0; k * width];
        for (i, &label) in labels.iter().enumerate() {
            totals[label] += weights[i];
            let trues = &mut slope[label * width..(label + 1) * width];
            ones(rows.line(i)).for_each(|bit| trues[bit] += weights[i]);
        }
        let all: f64 = totals.iter().sum();
        let base = slope.chunks_mut(width).zip(&totals).map(|(trues, &total)| {
            let mut base = ((total + PRIOR) / (all + PRIOR * k as f64)).ln();
            for (number, q) in trues.iter_mut().zip(prior) {
                let p = (*number + PRIOR * q) / (total + PRIOR);
                let (yes, no) = (p.ln(), (1.0 - p).ln());
                base += no;
                *number = yes - no;
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

    fn score(&self, rows: &BitMatrix, weights: &[f64]) -> f64 {
        weights.iter().enumerate().map(|(i, weight)| weight * self.best(rows.line(i)).1).sum()
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
        let labels = cluster(&rows, &[1.0; 400], 4, 20.0, 0, &mut Random::new(1)).unwrap();
        let agree = labels.iter().zip(&kinds).filter(|(a, b)| a == b).count();
        assert!(agree.max(400 - agree) >= 396, "{agree} of 400");
        assert!(labels.iter().all(|&label| label < 2), "a third cluster does not pay");
    }

    #[test]
    fn one_cluster_does_for_noise_and_for_equal_rows() {
        let mut random = Random::new(2);
        let mut noise = BitMatrix::zeros(300, 10);
        (0..3000).filter(|_| random.unit() < 0.5).for_each(|i| noise.set(i / 10, i % 10));
        assert_eq!(cluster(&noise, &[1.0; 300], 3, 40.0, 0, &mut random), None);
        assert_eq!(cluster(&BitMatrix::zeros(1, 4), &[9.0], 3, 0.0, 0, &mut random), None);
    }
}
