//! Several circuits of one deterministic structure at once, for mixtures over one structure.
//!
//! Which parameters a complete record uses depends on the structure alone, so one pass of masks serves all circuits,
//! and their numbers are added side by side, eight at a time. Costs beyond the masks: variables × records × circuits.

use super::masks::{Mask, Masks, RECORDS, Visit, blocks, each};
use crate::circuit::{Circuit, Deterministic, Weights};
use crate::data::Records;
use crate::logspace::LOG_ZERO;
use rayon::prelude::*;

/// Circuits that are handled together.
const WIDTH: usize = 8;

/// A number for each of some circuits.
type Lane = [f64; WIDTH];

/// Blocks whose counts are added up in a row: fixed, so the order of float sums does not depend on threads.
const PARTS: usize = 8;

/// The log-parameters of several circuits of one structure.
pub(crate) struct SideBySide<'a> {
    structure: &'a Deterministic,
    /// The number of circuits, and of lanes for them.
    circuits: usize,
    lanes: usize,
    /// By ⊤ node or element, then by lane.
    tops: Vec<[Lane; 2]>,
    elements: Vec<Lane>,
}

/// The share of each circuit of a mixture in the records.
pub(crate) struct ShareCounts {
    /// For each circuit the counts of its parameters.
    pub(crate) counts: Vec<Weights>,
    /// For each circuit the weight of its records.
    pub(crate) weights: Vec<f64>,
    /// The log-likelihood of the possible records under the mixture.
    pub(crate) log_likelihood: f64,
    /// The weight of the possible records, and of the others.
    pub(crate) possible: f64,
    pub(crate) impossible: f64,
}

impl<'a> SideBySide<'a> {
    /// Log-parameters of circuits with this structure; log zero is allowed.
    pub(crate) fn new(structure: &'a Deterministic, parameters: &[&Weights]) -> SideBySide<'a> {
        let (circuits, lanes) = (parameters.len(), parameters.len().div_ceil(WIDTH));
        let lane = |first: usize, number: &dyn Fn(&Weights) -> f64| -> Lane {
            std::array::from_fn(|i| parameters.get(first * WIDTH + i).map_or(0.0, |weights| number(weights)))
        };
        let shape = structure.log_parameters();
        let mut tops = Vec::with_capacity(lanes * shape.tops.len());
        for slot in 0..shape.tops.len() {
            tops.extend((0..lanes).map(|first| [0, 1].map(|side| lane(first, &|w| w.tops[slot][side]))));
        }
        let mut elements = Vec::with_capacity(lanes * shape.elements.len());
        for e in 0..shape.elements.len() {
            elements.extend((0..lanes).map(|first| lane(first, &|w| w.elements[e])));
        }
        SideBySide { structure, circuits, lanes, tops, elements }
    }

    /// `ln Σ weight · P(row)` for every distinct row; the records are complete.
    pub(crate) fn log_mixture(&self, log_weights: &[f64], records: &Records) -> Vec<f64> {
        let mut answers = vec![0.0; records.len()];
        answers.par_chunks_mut(RECORDS).enumerate().for_each_init(
            || (Masks::new(self.structure), self.scratch()),
            |(masks, values), (block, answers)| {
                masks.upward(self.structure, records, block);
                self.log_values(log_weights, masks, records, values);
                for (i, answer) in answers.iter_mut().enumerate() {
                    *answer = self.normalise(values, i, 0.0);
                }
            },
        );
        answers
    }

    /// The E step of a mixture: each record is shared among the circuits by their posteriors.
    pub(crate) fn share(&self, log_weights: &[f64], records: &Records) -> ShareCounts {
        count(self.structure, self.circuits, records, |masks, block, values, sums| {
            self.log_values(log_weights, masks, records, values);
            // Rows after the last record are impossible and must share nothing.
            let weights = &records.weights()[RECORDS * block..];
            for i in 0..RECORDS {
                let weight = weights.get(i).copied().unwrap_or(0.0);
                sums.add(weight, self.normalise(values, i, weight));
            }
        })
    }

    /// Fills in `log weight + log P(row)` of the rows of a block, −∞ where they are impossible.
    fn log_values(&self, log_weights: &[f64], masks: &mut Masks, records: &Records, values: &mut [Lane]) {
        for (lane, values) in values.chunks_mut(RECORDS).enumerate() {
            let start = |i| log_weights.get(lane * WIDTH + i).copied().unwrap_or(LOG_ZERO);
            values.fill(std::array::from_fn(start));
        }
        let possible = masks.possible(self.structure);
        masks.downward(self.structure, records, &mut AddUp { side: self, values });
        let impossible = possible.map(|word| !word);
        for values in values.chunks_mut(RECORDS) {
            each(&impossible, |i| values[i] = [LOG_ZERO; WIDTH]);
        }
    }

    /// Turns the log-values of a row into shares of its weight; returns the logarithm of their sum.
    fn normalise(&self, values: &mut [Lane], i: usize, weight: f64) -> f64 {
        let lanes = |values: &mut [Lane], change: &mut dyn FnMut(&mut f64)| {
            (0..self.lanes).for_each(|lane| values[lane * RECORDS + i].iter_mut().for_each(&mut *change));
        };
        let mut high = LOG_ZERO;
        lanes(values, &mut |value| high = high.max(*value));
        if high == LOG_ZERO {
            lanes(values, &mut |value| *value = 0.0);
            return LOG_ZERO;
        }
        let mut sum = 0.0;
        lanes(values, &mut |value| {
            *value = (*value - high).exp();
            sum += *value;
        });
        lanes(values, &mut |value| *value *= weight / sum);
        high + sum.ln()
    }

    fn scratch(&self) -> Vec<Lane> {
        vec![[0.0; WIDTH]; self.lanes * RECORDS]
    }
}

/// The counts of several circuits, where each row is shared among them by `circuits` weights per row.
pub(crate) fn count_shares(
    structure: &Deterministic,
    circuits: usize,
    records: &Records,
    shares: &[f64],
) -> ShareCounts {
    count(structure, circuits, records, |masks, block, values, sums| {
        let possible = masks.possible(structure);
        for (i, &weight) in records.weights()[RECORDS * block..].iter().take(RECORDS).enumerate() {
            let row = &shares[(RECORDS * block + i) * circuits..][..circuits];
            let is_possible = possible[i / 64] >> (i % 64) & 1 == 1;
            for (k, share) in row.iter().enumerate() {
                values[k / WIDTH * RECORDS + i][k % WIDTH] = if is_possible { *share } else { 0.0 };
            }
            sums.add(weight, if is_possible { 0.0 } else { LOG_ZERO });
        }
    })
}

/// The log-likelihood and the weights of records so far.
#[derive(Clone, Copy, Default)]
struct Sums {
    log_likelihood: f64,
    possible: f64,
    impossible: f64,
}

impl Sums {
    fn add(&mut self, weight: f64, log_probability: f64) {
        if log_probability == LOG_ZERO {
            self.impossible += weight;
        } else {
            self.possible += weight;
            self.log_likelihood += weight * log_probability;
        }
    }
}

/// Counts the records of each circuit; `share` fills in the shares of the rows of a block.
fn count(
    structure: &Deterministic,
    circuits: usize,
    records: &Records,
    share: impl Fn(&mut Masks, usize, &mut [Lane], &mut Sums) + Sync,
) -> ShareCounts {
    let lanes = circuits.div_ceil(WIDTH);
    let shape = structure.log_parameters();
    let nothing = || Counts {
        tops: vec![[[0.0; WIDTH]; 2]; lanes * shape.tops.len()],
        elements: vec![[0.0; WIDTH]; lanes * shape.elements.len()],
        weights: vec![[0.0; WIDTH]; lanes],
        sums: Sums::default(),
    };
    let blocks: Vec<usize> = (0..blocks(records)).collect();
    let parts: Vec<Counts> = blocks
        .par_chunks(blocks.len().div_ceil(PARTS).max(1))
        .map(|blocks| {
            let mut masks = Masks::new(structure);
            let mut values = vec![[0.0; WIDTH]; lanes * RECORDS];
            let mut counts = nothing();
            for &block in blocks {
                masks.upward(structure, records, block);
                values.fill([0.0; WIDTH]);
                share(&mut masks, block, &mut values, &mut counts.sums);
                for (sum, values) in counts.weights.iter_mut().zip(values.chunks(RECORDS)) {
                    values.iter().for_each(|value| add(sum, value));
                }
                masks.downward(structure, records, &mut Adding { lanes, values: &values, counts: &mut counts });
            }
            counts
        })
        .collect();
    let total = parts.into_iter().reduce(Counts::and).unwrap_or_else(nothing);
    let of = |k: usize| {
        let (lane, i) = (k / WIDTH, k % WIDTH);
        Weights {
            tops: total.tops.iter().skip(lane).step_by(lanes).map(|top| [top[0][i], top[1][i]]).collect(),
            elements: total.elements.iter().skip(lane).step_by(lanes).map(|element| element[i]).collect(),
        }
    };
    let Sums { log_likelihood, possible, impossible } = total.sums;
    ShareCounts {
        counts: (0..circuits).map(of).collect(),
        weights: (0..circuits).map(|k| total.weights[k / WIDTH][k % WIDTH]).collect(),
        log_likelihood,
        possible,
        impossible,
    }
}

fn add(sum: &mut Lane, other: &Lane) {
    for i in 0..WIDTH {
        sum[i] += other[i];
    }
}

/// Counts by parameter, then by lane.
struct Counts {
    tops: Vec<[Lane; 2]>,
    elements: Vec<Lane>,
    weights: Vec<Lane>,
    sums: Sums,
}

impl Counts {
    fn and(mut self, other: Counts) -> Counts {
        self.tops.iter_mut().flatten().zip(other.tops.iter().flatten()).for_each(|(sum, n)| add(sum, n));
        self.elements.iter_mut().zip(&other.elements).for_each(|(sum, n)| add(sum, n));
        self.weights.iter_mut().zip(&other.weights).for_each(|(sum, n)| add(sum, n));
        self.sums.log_likelihood += other.sums.log_likelihood;
        self.sums.possible += other.sums.possible;
        self.sums.impossible += other.sums.impossible;
        self
    }
}

/// Adds the log-parameters a record uses, of all circuits.
struct AddUp<'a> {
    side: &'a SideBySide<'a>,
    values: &'a mut [Lane],
}

impl AddUp<'_> {
    fn add(values: &mut [Lane], lane: usize, theta: &Lane, records: &Mask) {
        // The only element of a sum is certain under every parameter.
        if *theta != [0.0; WIDTH] {
            let values = &mut values[lane * RECORDS..][..RECORDS];
            each(records, |i| add(&mut values[i], theta));
        }
    }
}

impl Visit for AddUp<'_> {
    fn element(&mut self, element: usize, records: &Mask) {
        let lanes = self.side.lanes;
        for (lane, theta) in self.side.elements[element * lanes..][..lanes].iter().enumerate() {
            AddUp::add(self.values, lane, theta, records);
        }
    }

    fn top(&mut self, slot: usize, records: [&Mask; 2]) {
        let lanes = self.side.lanes;
        for (lane, thetas) in self.side.tops[slot * lanes..][..lanes].iter().enumerate() {
            records.iter().zip(thetas).for_each(|(mask, theta)| AddUp::add(self.values, lane, theta, mask));
        }
    }
}

/// Adds the shares of the records that use a parameter.
struct Adding<'a> {
    lanes: usize,
    values: &'a [Lane],
    counts: &'a mut Counts,
}

impl Adding<'_> {
    fn sum(&self, lane: usize, records: &Mask) -> Lane {
        let values = &self.values[lane * RECORDS..][..RECORDS];
        let mut sum = [0.0; WIDTH];
        each(records, |i| add(&mut sum, &values[i]));
        sum
    }
}

impl Visit for Adding<'_> {
    fn element(&mut self, element: usize, records: &Mask) {
        for lane in 0..self.lanes {
            let sum = self.sum(lane, records);
            add(&mut self.counts.elements[element * self.lanes + lane], &sum);
        }
    }

    fn top(&mut self, slot: usize, records: [&Mask; 2]) {
        for lane in 0..self.lanes {
            let sums = records.map(|mask| self.sum(lane, mask));
            let counts = &mut self.counts.tops[slot * self.lanes + lane];
            counts.iter_mut().zip(&sums).for_each(|(count, sum)| add(count, sum));
        }
    }
}

impl Masks {
    /// The possible records of the block of the last upward pass.
    fn possible(&self, circuit: &Circuit) -> Mask {
        self.at(circuit.root())
    }
}
