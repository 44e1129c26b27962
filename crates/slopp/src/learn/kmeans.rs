//! k-means on weighted distinct rows of bits.

use crate::data::{BitMatrix, ones};
use crate::random::Random;

/// The largest number of rounds of Lloyd's iteration.
const MAX_ROUNDS: usize = 100;

/// A cluster for each row: Lloyd's iteration from k-means++ seeds, with squared Euclidean distance.
///
/// Labels are below `k` and all in use; there are at most as many as rows. Cost per round: ones of the rows × k.
pub(super) fn k_means(rows: &BitMatrix, weights: &[f64], k: usize, random: &mut Random) -> Vec<usize> {
    let k = k.min(rows.lines());
    if k == rows.lines() {
        return (0..k).collect();
    }
    let mut centres = Centres::seeded(rows, weights, k, random);
    let mut labels = vec![usize::MAX; rows.lines()];
    for _ in 0..MAX_ROUNDS {
        let mut moved = false;
        for (i, label) in labels.iter_mut().enumerate() {
            let nearest = centres.nearest(rows.line(i));
            moved |= *label != nearest;
            *label = nearest;
        }
        if !moved {
            break;
        }
        centres.recentre(rows, weights, &labels);
    }
    compact(&mut labels, k);
    labels
}

/// Renumbers labels so that none is left out.
fn compact(labels: &mut [usize], k: usize) {
    let mut used = vec![false; k];
    labels.iter().for_each(|&label| used[label] = true);
    let mut next = 0;
    let names: Vec<usize> = used
        .into_iter()
        .map(|used| {
            next += usize::from(used);
            next - usize::from(used)
        })
        .collect();
    labels.iter_mut().for_each(|label| *label = names[*label]);
}

struct Centres {
    width: usize,
    /// Means, a line per centre.
    means: Vec<f64>,
    /// For each centre `Σ c²`, and for each coordinate the amount that a one adds: `1 - 2c`.
    base: Vec<f64>,
    slope: Vec<f64>,
}

impl Centres {
    /// k-means++: the next seed is a row drawn with probability proportional to weight × squared distance.
    fn seeded(rows: &BitMatrix, weights: &[f64], k: usize, random: &mut Random) -> Centres {
        let width = rows.width();
        let mut seeds = vec![random.choose(weights).expect("weights are positive")];
        let mut nearest = vec![f64::INFINITY; rows.lines()];
        while seeds.len() < k {
            let last = rows.line(seeds[seeds.len() - 1]);
            for (i, distance) in nearest.iter_mut().enumerate() {
                let differ: u32 = rows.line(i).iter().zip(last).map(|(a, b)| (a ^ b).count_ones()).sum();
                *distance = distance.min(f64::from(differ));
            }
            let draw: Vec<f64> = nearest.iter().zip(weights).map(|(d, w)| d * w).collect();
            seeds.push(random.choose(&draw).expect("rows are distinct and more than seeds"));
        }
        let mut means = vec![0.0; k * width];
        for (c, &seed) in seeds.iter().enumerate() {
            ones(rows.line(seed)).for_each(|bit| means[c * width + bit] = 1.0);
        }
        let mut centres = Centres { width, means, base: vec![0.0; k], slope: vec![0.0; k * width] };
        centres.tabulate();
        centres
    }

    fn tabulate(&mut self) {
        for (base, means) in self.base.iter_mut().zip(self.means.chunks(self.width)) {
            *base = means.iter().map(|c| c * c).sum();
        }
        for (slope, c) in self.slope.iter_mut().zip(&self.means) {
            *slope = 1.0 - 2.0 * c;
        }
    }

    /// The nearest centre; the first of equals.
    fn nearest(&self, row: &[u64]) -> usize {
        let mut best = (0, f64::INFINITY);
        for (c, slope) in self.slope.chunks(self.width).enumerate() {
            let distance = self.base[c] + ones(row).map(|bit| slope[bit]).sum::<f64>();
            if distance < best.1 {
                best = (c, distance);
            }
        }
        best.0
    }

    /// Moves every centre to the mean of its rows; a centre without rows stays.
    fn recentre(&mut self, rows: &BitMatrix, weights: &[f64], labels: &[usize]) {
        let mut totals = vec![0.0; self.base.len()];
        let mut sums = vec![0.0; self.means.len()];
        for (i, &label) in labels.iter().enumerate() {
            totals[label] += weights[i];
            ones(rows.line(i)).for_each(|bit| sums[label * self.width + bit] += weights[i]);
        }
        for (c, &total) in totals.iter().enumerate().filter(|&(_, &total)| total > 0.0) {
            for bit in 0..self.width {
                self.means[c * self.width + bit] = sums[c * self.width + bit] / total;
            }
        }
        self.tabulate();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[&str]) -> BitMatrix {
        let mut rows = BitMatrix::zeros(texts.len(), texts[0].len());
        for (i, text) in texts.iter().enumerate() {
            text.chars().enumerate().filter(|&(_, c)| c == '1').for_each(|(j, _)| rows.set(i, j));
        }
        rows
    }

    #[test]
    fn separates_two_far_groups() {
        let rows = rows(&["000000", "000001", "111111", "111110", "000010"]);
        for seed in 0..20 {
            let labels = k_means(&rows, &[1.0; 5], 2, &mut Random::new(seed));
            assert_eq!(labels[0], labels[1]);
            assert_eq!(labels[0], labels[4]);
            assert_eq!(labels[2], labels[3]);
            assert_ne!(labels[0], labels[2]);
        }
    }

    #[test]
    fn as_many_rows_as_clusters_get_one_each() {
        assert_eq!(k_means(&rows(&["01", "10"]), &[1.0, 1.0], 3, &mut Random::new(0)), [0, 1]);
    }

    #[test]
    fn result_is_a_fixed_point_and_labels_are_dense() {
        let mut random = Random::new(5);
        let mut matrix = BitMatrix::zeros(200, 9);
        for i in 0..200 {
            (0..9).filter(|_| random.unit() < 0.5).collect::<Vec<_>>().into_iter().for_each(|j| matrix.set(i, j));
        }
        let weights: Vec<f64> = (0..200).map(|i| 1.0 + (i % 3) as f64).collect();
        for k in 2..7 {
            let labels = k_means(&matrix, &weights, k, &mut random);
            let used = labels.iter().max().unwrap() + 1;
            assert!(used <= k && (0..used).all(|label| labels.contains(&label)));
            for i in 0..200 {
                let distance = |label: usize| -> f64 {
                    let members: Vec<usize> = (0..200).filter(|&j| labels[j] == label).collect();
                    let total: f64 = members.iter().map(|&j| weights[j]).sum();
                    (0..9)
                        .map(|bit| {
                            let mean =
                                members.iter().filter(|&&j| matrix.bit(j, bit)).map(|&j| weights[j]).sum::<f64>();
                            (f64::from(u8::from(matrix.bit(i, bit))) - mean / total).powi(2)
                        })
                        .sum()
                };
                let own = distance(labels[i]);
                assert!((0..used).all(|label| own <= distance(label) + 1e-9));
            }
        }
    }
}
