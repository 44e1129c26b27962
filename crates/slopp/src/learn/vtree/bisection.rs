//! Recursive bisection: every vtree node splits its variables into halves with little mutual information.
//!
//! The half with the first variable is the left one. Halves are found by exchanging variables (Kernighan and Lin, 1970)
//! from several starts, so they are good but not optimal.

use crate::data::SymmetricMatrix;
use crate::random::Random;
use crate::var::Var;
use crate::vtree::ChowLiuTree;
use crate::vtree::{Step, Vtree};

/// Random starts, in addition to the one along the Chow-Liu tree.
const RANDOM_STARTS: usize = 3;

/// The largest number of passes of exchanges from one start; they nearly always stop earlier.
const MAX_PASSES: usize = 12;

/// Weights among some variables as a full square, so that lines are contiguous.
struct Square {
    len: usize,
    data: Vec<f64>,
}

impl Square {
    fn of(information: &SymmetricMatrix, vars: &[Var]) -> Square {
        let line = |x: &Var| {
            let x = x.index();
            vars.iter().map(move |y| information.at(x, y.index()))
        };
        Square { len: vars.len(), data: vars.iter().flat_map(line).collect() }
    }

    fn line(&self, i: usize) -> &[f64] {
        &self.data[i * self.len..(i + 1) * self.len]
    }

    /// The mutual information between the two sides.
    fn cut(&self, left: &[bool]) -> f64 {
        let side = |value: bool| (0..self.len).filter(move |&i| left[i] == value);
        side(true).map(|i| side(false).map(|j| self.line(i)[j]).sum::<f64>()).sum()
    }
}

pub(super) fn top_down(information: &SymmetricMatrix, seed: u64) -> Vtree {
    enum Task {
        Split(Vec<Var>),
        Join,
    }
    let mut random = Random::new(seed);
    let mut steps = Vec::new();
    // In this order contiguous halves are a good start.
    let mut tasks = vec![Task::Split(ChowLiuTree::new(information).linear_order())];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Join => steps.push(Step::Join),
            Task::Split(vars) if vars.len() == 1 => steps.push(Step::Leaf(vars[0])),
            Task::Split(vars) => {
                let [left, right] = bisect(&Square::of(information, &vars), &mut random)
                    .map(|side| side.into_iter().map(|i| vars[i]).collect::<Vec<Var>>());
                let first = |side: &[Var]| side.iter().min().copied();
                let [left, right] = if first(&left) < first(&right) { [left, right] } else { [right, left] };
                tasks.extend([Task::Join, Task::Split(right), Task::Split(left)]);
            }
        }
    }
    Vtree::from_postfix(steps).expect("halves of a permutation form a vtree")
}

/// The positions of two halves with a small cut; their sizes differ by at most one.
fn bisect(weights: &Square, random: &mut Random) -> [Vec<usize>; 2] {
    let half = weights.len / 2;
    let mut best: Option<(f64, Vec<bool>)> = None;
    let mut order: Vec<usize> = (0..weights.len).collect();
    for _ in 0..=RANDOM_STARTS {
        let mut left = vec![false; weights.len];
        order[..half].iter().for_each(|&i| left[i] = true);
        exchange(weights, &mut left);
        let cut = weights.cut(&left);
        if best.as_ref().is_none_or(|(least, _)| cut < *least) {
            best = Some((cut, left));
        }
        random.shuffle(&mut order);
    }
    let left = best.expect("there is a start").1;
    [true, false].map(|side| (0..weights.len).filter(|&i| left[i] == side).collect())
}

/// Exchanges variables between the sides until a pass does not make the cut smaller.
///
/// Each pass exchanges greedily, every variable once, even at a loss, and keeps the best state.
fn exchange(weights: &Square, left: &mut [bool]) {
    for _ in 0..MAX_PASSES {
        // The gain of moving a variable to the other side: its weight across less its weight inside.
        let mut gain: Vec<f64> = (0..weights.len)
            .map(|i| {
                let signed = |(j, &w): (usize, &f64)| if left[i] == left[j] { -w } else { w };
                weights.line(i).iter().enumerate().filter(|&(j, _)| j != i).map(signed).sum()
            })
            .collect();
        let mut locked = vec![false; weights.len];
        let mut swaps: Vec<(usize, usize)> = Vec::new();
        let (mut total, mut best, mut keep) = (0.0, 0.0, 0);
        let sides = left.iter().filter(|&&side| side).count().min(left.iter().filter(|&&side| !side).count());
        for _ in 0..sides {
            let a = best_of(weights.len, |i| (left[i] && !locked[i]).then(|| gain[i]));
            let line = weights.line(a);
            let b = best_of(weights.len, |i| (!left[i] && !locked[i]).then(|| gain[i] - 2.0 * line[i]));
            total += gain[a] + gain[b] - 2.0 * line[b];
            (locked[a], locked[b]) = (true, true);
            swaps.push((a, b));
            let (from_a, from_b) = (weights.line(a), weights.line(b));
            for i in 0..weights.len {
                let change = 2.0 * (from_a[i] - from_b[i]);
                gain[i] += if left[i] { change } else { -change };
            }
            // A gain must exceed rounding, or two equal halvings would alternate.
            if total > best + 1e-12 {
                (best, keep) = (total, swaps.len());
            }
        }
        for &(a, b) in &swaps[..keep] {
            (left[a], left[b]) = (false, true);
        }
        if keep == 0 {
            return;
        }
    }
}

/// The first position with the largest number among those that have one.
fn best_of(len: usize, number: impl Fn(usize) -> Option<f64>) -> usize {
    let mut best: Option<(usize, f64)> = None;
    for i in 0..len {
        if let Some(x) = number(i)
            && best.is_none_or(|(_, most)| x > most)
        {
            best = Some((i, x));
        }
    }
    best.expect("each side has as many exchanges as variables").0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(len: usize, seed: u64) -> Square {
        let mut random = Random::new(seed);
        let mut data = vec![0.0; len * len];
        for i in 0..len {
            for j in 0..i {
                let weight = random.unit().powi(3);
                (data[i * len + j], data[j * len + i]) = (weight, weight);
            }
        }
        Square { len, data }
    }

    #[test]
    fn halves_are_near_the_optimum() {
        let mut optimal = 0;
        for seed in 0..40 {
            let weights = square(4 + seed as usize % 9, seed);
            let sides = bisect(&weights, &mut Random::new(seed));
            assert_eq!(sides[0].len(), weights.len / 2);
            let cut = |mask: u32| weights.cut(&(0..weights.len).map(|i| mask >> i & 1 == 1).collect::<Vec<_>>());
            let found = cut(sides[0].iter().map(|i| 1 << i).sum());
            let halves = (0u32..1 << weights.len).filter(|mask| mask.count_ones() as usize == weights.len / 2);
            let best = halves.map(cut).fold(f64::INFINITY, f64::min);
            assert!(found < best * 1.1 + 1e-9, "{found} {best}");
            optimal += usize::from(found < best + 1e-9);
        }
        assert!(optimal >= 36, "{optimal} of 40");
    }

    #[test]
    fn groups_are_found() {
        let mut matrix = SymmetricMatrix::zeros(16);
        for i in 0..16 {
            (0..i).filter(|j| i % 4 == j % 4).for_each(|j| matrix.set(i, j, 1.0));
            (0..i).filter(|j| i % 2 == j % 2 && i % 4 != j % 4).for_each(|j| matrix.set(i, j, 0.1));
        }
        let vtree = top_down(&matrix, 1);
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for &v in vtree.bottom_up().iter().filter(|&&v| vtree.vars(v).len() == 4) {
            groups.push(vtree.vars(v).iter().map(|x| x.0 % 4).collect());
        }
        assert_eq!(groups.len(), 4);
        assert!(groups.iter().all(|group| group.iter().all(|x| *x == group[0])), "{groups:?}");
        assert_eq!(vtree.depth(), 4);
    }
}
