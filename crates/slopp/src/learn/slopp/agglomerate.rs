//! Agglomeration: merges sets in pairs, cheapest first, until the rest is worth keeping apart.

use rayon::prelude::*;

/// Work, in steps of about a nanosecond, below which a second thread does not pay.
const WORTH_A_THREAD: usize = 1 << 19;

/// Steps for the losses of all pairs of sets, in one layer and in all, and the least and most sets that these may be.
const WORTH_COMPARING: [f64; 2] = [2e8, 1e10];
const SETS: [usize; 2] = [64, 1024];

/// Of fewer distinct records on average, sets say little about where they belong.
const RECORDS: usize = 4;

/// How many sets of so many distinct records are compared at most in each of so many layers, given about how many steps
/// a pair takes.
pub(super) fn most_sets(records: usize, layers: usize, cost: usize) -> usize {
    let steps = WORTH_COMPARING[0].min(WORTH_COMPARING[1] / layers as f64);
    let worth = (2.0 * steps / cost.max(1) as f64).sqrt() as usize;
    worth.min(records / RECORDS).clamp(SETS[0], SETS[1])
}

/// Sets of records that can be merged at a loss.
pub(super) trait Sets: Sync {
    /// How many sets there are, merged ones included.
    fn len(&self) -> usize;

    /// The loss of merging two sets.
    fn loss(&self, i: usize, j: usize) -> f64;

    /// Puts set `j` into set `i`.
    fn merge(&mut self, i: usize, j: usize);

    /// About how many steps computing a loss takes.
    fn cost(&self) -> usize;
}

/// Merges sets while a merge loses less than `penalty`, or while there are more than `max`.
///
/// Returns for each set its cluster; clusters are numbered in the order of their first sets.
pub(super) fn agglomerate(sets: &mut impl Sets, penalty: f64, max: usize) -> Vec<u32> {
    let len = sets.len();
    // The loss of every pair `i < j`, at `i * len + j`, and for each set its cheapest partner after it.
    let mut losses = vec![f64::INFINITY; len * len];
    let line = |i: usize, line: &mut [f64]| (i + 1..len).for_each(|j| line[j] = sets.loss(i, j));
    if len * len / 2 * sets.cost() > 2 * WORTH_A_THREAD {
        losses.par_chunks_mut(len).enumerate().for_each(|(i, chunk)| line(i, chunk));
    } else {
        losses.chunks_mut(len.max(1)).enumerate().for_each(|(i, chunk)| line(i, chunk));
    }
    let cheapest = |losses: &[f64], i: usize| {
        let mut best = (f64::INFINITY, i);
        for (j, &loss) in losses[i * len..(i + 1) * len].iter().enumerate().skip(i + 1) {
            if loss < best.0 {
                best = (loss, j);
            }
        }
        best
    };
    let mut partner: Vec<(f64, usize)> = (0..len).map(|i| cheapest(&losses, i)).collect();
    let mut into: Vec<usize> = (0..len).collect();
    let mut alive: Vec<usize> = (0..len).collect();
    while alive.len() > 1 {
        let first = |a: usize, b: usize| if partner[b].0 < partner[a].0 { b } else { a };
        let i = alive.iter().copied().reduce(first).expect("at least two sets");
        let (loss, j) = partner[i];
        if j == i || loss >= penalty && alive.len() <= max {
            break;
        }
        sets.merge(i, j);
        into.iter_mut().filter(|set| **set == j).for_each(|set| *set = i);
        alive.retain(|&set| set != j);
        let loss = |&k: &usize| if k == i { f64::INFINITY } else { sets.loss(i, k) };
        let fresh: Vec<f64> = match alive.len() * sets.cost() > 2 * WORTH_A_THREAD {
            true => alive.par_iter().map(loss).collect(),
            false => alive.iter().map(loss).collect(),
        };
        for (&k, loss) in alive.iter().zip(fresh) {
            losses[i.min(k) * len + i.max(k)] = loss;
            losses[j.min(k) * len + j.max(k)] = f64::INFINITY;
        }
        for &k in &alive {
            if k == i || partner[k].1 == i || partner[k].1 == j {
                partner[k] = cheapest(&losses, k);
            } else if k < i && losses[k * len + i] < partner[k].0 {
                partner[k] = (losses[k * len + i], i);
            }
        }
    }
    let mut place = vec![0; len];
    alive.iter().enumerate().for_each(|(new, &old)| place[old] = new as u32);
    into.iter().map(|&set| place[set]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Points on a line; a set loses the squared distances to its mean.
    #[derive(Clone)]
    struct Points(Vec<Vec<f64>>);

    fn spread(points: &[f64]) -> f64 {
        let mean = points.iter().sum::<f64>() / points.len() as f64;
        -points.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    }

    impl Sets for Points {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn loss(&self, i: usize, j: usize) -> f64 {
            spread(&self.0[i]) + spread(&self.0[j]) - spread(&[self.0[i].as_slice(), self.0[j].as_slice()].concat())
        }

        fn merge(&mut self, i: usize, j: usize) {
            let moved = std::mem::take(&mut self.0[j]);
            self.0[i].extend(moved);
        }

        fn cost(&self) -> usize {
            10
        }
    }

    /// Looks at every pair again and again.
    fn by_hand(points: &[f64], penalty: f64, max: usize) -> Vec<Vec<f64>> {
        let mut sets: Vec<Vec<f64>> = points.iter().map(|&x| vec![x]).collect();
        while sets.len() > 1 {
            let pairs = (0..sets.len()).flat_map(|i| (i + 1..sets.len()).map(move |j| (i, j)));
            let loss = |&(i, j): &(usize, usize)| {
                spread(&sets[i]) + spread(&sets[j]) - spread(&[sets[i].as_slice(), sets[j].as_slice()].concat())
            };
            let (i, j) = pairs.min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap();
            if loss(&(i, j)) >= penalty && sets.len() <= max {
                break;
            }
            let moved = sets.remove(j);
            sets[i].extend(moved);
        }
        sets.iter_mut().for_each(|set| set.sort_by(f64::total_cmp));
        sets
    }

    #[test]
    fn the_cheapest_pair_is_merged_first() {
        let mut random = Random::new(3);
        for case in 0..60 {
            let points: Vec<f64> = (0..1 + random.below(20)).map(|_| random.unit()).collect();
            let (penalty, max) = (random.unit() * 0.1, 1 + random.below(6));
            let clusters = agglomerate(&mut Points(points.iter().map(|&x| vec![x]).collect()), penalty, max);
            let mut found = vec![Vec::new(); 1 + *clusters.iter().max().unwrap() as usize];
            points.iter().zip(&clusters).for_each(|(&x, &cluster)| found[cluster as usize].push(x));
            found.iter_mut().for_each(|set: &mut Vec<f64>| set.sort_by(f64::total_cmp));
            assert_eq!(found, by_hand(&points, penalty, max), "case {case}");
        }
    }

    #[test]
    fn nothing_and_one_set() {
        assert!(agglomerate(&mut Points(vec![]), 1.0, 3).is_empty());
        assert_eq!(agglomerate(&mut Points(vec![vec![1.0]]), 1.0, 3), [0]);
    }
}
