//! A sweep from the bottom up: classes are formed again by the exact likelihood of their records below.
//!
//! The log-likelihood of every row under every class of the layer below is known. So the worth of a set of records is
//! the entropy of its values plus, for each value, its likelihood in the best class below. Parts are agglomerated by
//! that, then moved to their best class, a few times.

use super::agglomerate::{Sets, agglomerate};
use super::layers::{Class, Layers, Prior};
use super::view::{Group, View};
use crate::data::bit_of;
use crate::logspace::x_log_x;
use rayon::prelude::*;

/// The largest number of rounds of moving parts to their best class.
const ROUNDS: usize = 5;

/// Groups of rows that one thread sums up; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 4096;

/// How far classes are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// The largest number of classes of a layer.
    pub(super) classes: usize,
    /// The gain that a class needs, in nats.
    pub(super) per_class: f64,
}

/// The parts of the records that enter a layer.
struct Entering {
    /// The number of classes below.
    below: usize,
    /// The weight of each part with *false* and with *true*.
    count: Vec<[f64; 2]>,
    /// For each part, value and class below, the log-likelihood of its records there.
    worth: Vec<[Vec<f64>; 2]>,
    /// For each value and class below, the log-likelihood per record with the value there.
    usual: [Vec<f64>; 2],
}

/// The structure after one sweep, with the counts of the records.
pub(super) fn sweep(view: &View, old: &Layers, limits: Limits, prior: &Prior) -> Layers {
    let entering = entering_parts(view, old);
    let vars = view.vars();
    let mut layers: Vec<Vec<Class>> = vec![Vec::new(); vars];
    // The log-likelihood of each group of rows under each class below.
    let (mut groups, mut below, mut classes) = (view.all(), vec![0.0f32; 1], 1);
    for position in (0..vars).rev() {
        let part_of = &entering[position];
        let parts = if position == 0 { 1 } else { 2 * old.0[position - 1].len() };
        let finer = view.groups(position, &groups);
        let sets = Entering::new(view, (part_of, parts), &finer, (&below, classes));
        let layer = sets.classes(limits);
        let log: Vec<[f32; 2]> =
            layer.iter().map(|class| prior.log_parameters(position, class.count).map(|log| log as f32)).collect();
        let next: Vec<[u32; 2]> = layer.iter().map(|class| class.next).collect();
        let mut here = vec![0.0f32; finer.len() * layer.len()];
        let width = layer.len();
        here.par_chunks_mut(CHUNK * width).zip(finer.par_chunks(CHUNK)).for_each(|(lines, groups)| {
            for (line, group) in lines.chunks_mut(width).zip(groups) {
                let rest = &below[group.rest as usize * classes..(group.rest as usize + 1) * classes];
                let value = usize::from(group.value);
                for ((slot, log), next) in line.iter_mut().zip(&log).zip(&next) {
                    *slot = log[value] + rest[next[value] as usize];
                }
            }
        });
        (groups, below, classes) = (finer, here, width);
        layers[position] = layer;
    }
    let mut new = Layers(layers);
    new.prune();
    let tally = new.tally(|position| view.column(position), view.weights());
    new.take_counts(&tally);
    new
}

/// For each layer and row, the part of the layer before that it comes from: twice its class, and its value.
fn entering_parts(view: &View, layers: &Layers) -> Vec<Vec<u16>> {
    let mut entering = Vec::with_capacity(view.vars());
    let mut class_of = vec![0u16; view.len()];
    entering.push(class_of.clone());
    for (position, layer) in layers.0.iter().enumerate().take(view.vars() - 1) {
        let column = view.column(position);
        let part = |(row, class): (usize, &mut u16)| {
            let value = usize::from(bit_of(column, row));
            let part = 2 * *class + value as u16;
            *class = layer[*class as usize].next[value] as u16;
            part
        };
        entering.push(class_of.iter_mut().enumerate().map(part).collect());
    }
    entering
}

impl Entering {
    /// Sums up the log-likelihoods of each part; parts without rows are left out.
    fn new(
        view: &View,
        (part_of, parts): (&[u16], usize),
        groups: &[Group],
        (log_likelihoods, below): (&[f32], usize),
    ) -> Entering {
        let starts = groups.iter().map(|group| group.start as usize);
        let ends: Vec<usize> = starts.skip(1).chain([view.len()]).collect();
        // Each chunk has its own sums, added up in the order of the chunks.
        let sums = groups.par_chunks(CHUNK).zip(ends.par_chunks(CHUNK)).map(|(groups, ends)| {
            let mut count = vec![[0.0; 2]; parts];
            let mut worth = vec![0.0f64; 2 * parts * below];
            let mut weights = vec![0.0f64; parts];
            let mut seen: Vec<u16> = Vec::new();
            for (group, &end) in groups.iter().zip(ends) {
                let value = usize::from(group.value);
                let rows = group.start as usize..end;
                for (&part, weight) in part_of[rows.clone()].iter().zip(&view.weights()[rows]) {
                    if weights[part as usize] == 0.0 {
                        seen.push(part);
                    }
                    weights[part as usize] += weight;
                }
                let line = &log_likelihoods[group.rest as usize * below..(group.rest as usize + 1) * below];
                for part in seen.drain(..) {
                    let part = part as usize;
                    let weight = std::mem::take(&mut weights[part]);
                    count[part][value] += weight;
                    let start = (2 * part + value) * below;
                    let sums = &mut worth[start..start + below];
                    sums.iter_mut().zip(line).for_each(|(sum, log)| *sum += weight * f64::from(*log));
                }
            }
            (count, worth)
        });
        let sums: Vec<_> = sums.collect();
        let add = |mut a: (Vec<[f64; 2]>, Vec<f64>), b: (Vec<[f64; 2]>, Vec<f64>)| {
            a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a = [a[0] + b[0], a[1] + b[1]]);
            a.1.iter_mut().zip(b.1).for_each(|(a, b)| *a += b);
            a
        };
        let (count, worth) = sums.into_iter().reduce(add).expect("there is a row");
        let live: Vec<usize> = (0..parts).filter(|&part| count[part] != [0.0; 2]).collect();
        let line = |part: usize, value: usize| {
            let start = (2 * part + value) * below;
            worth[start..start + below].to_vec()
        };
        let usual = [0, 1].map(|value| {
            let total: f64 = count.iter().map(|count| count[value]).sum();
            let sum = |class: usize| (0..parts).map(|part| worth[(2 * part + value) * below + class]).sum::<f64>();
            (0..below).map(|class| if total > 0.0 { sum(class) / total } else { 0.0 }).collect()
        });
        Entering {
            below,
            usual,
            count: live.iter().map(|&part| count[part]).collect(),
            worth: live.iter().map(|&part| [line(part, 0), line(part, 1)]).collect(),
        }
    }

    /// The classes of the layer.
    fn classes(&self, limits: Limits) -> Vec<Class> {
        let mut sets = Merging::new(self.count.clone(), self.worth.clone());
        let mut class_of = agglomerate(&mut sets, limits.per_class, limits.classes);
        let mut classes = self.gathered(&class_of);
        for _ in 0..ROUNDS {
            let moved = self.moved(&classes);
            if moved == class_of {
                break;
            }
            class_of = moved;
            let fresh = self.gathered(&class_of);
            // A class without parts stays as it was: it may get some in the next round.
            for (class, fresh) in classes.iter_mut().zip(fresh) {
                if fresh.count != [0.0; 2] {
                    *class = fresh;
                }
            }
        }
        let mut used = vec![false; classes.len()];
        class_of.iter().for_each(|&class| used[class as usize] = true);
        let mut used = used.iter();
        classes.retain(|_| *used.next().expect("one mark per class"));
        classes
    }

    /// The classes of these parts, each with its best classes below.
    fn gathered(&self, class_of: &[u32]) -> Vec<Class> {
        let len = class_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut classes = vec![Class::default(); len];
        let mut worth = vec![vec![0.0; self.below]; 2 * len];
        for ((&class, count), lines) in class_of.iter().zip(&self.count).zip(&self.worth) {
            for value in 0..2 {
                classes[class as usize].count[value] += count[value];
                let sums = &mut worth[2 * class as usize + value];
                sums.iter_mut().zip(&lines[value]).for_each(|(sum, x)| *sum += x);
            }
        }
        for (class, worth) in classes.iter_mut().zip(worth.chunks(2)) {
            class.next = [0, 1].map(|value| {
                // The average record with this value counts as one more, so that few records are not trusted blindly.
                // If the class has no record with this value, so does the average record of the class.
                let own = &worth[value];
                let (other, share) = match class.count[value] > 0.0 {
                    true => (own, 0.0),
                    false => (&worth[1 - value], 1.0 / class.count[1 - value].max(f64::MIN_POSITIVE)),
                };
                let sums = own.iter().zip(&self.usual[value]).zip(other);
                best(&sums.map(|((own, usual), other)| own + usual + share * other).collect::<Vec<f64>>())
            });
        }
        classes
    }

    /// The best class of each part.
    fn moved(&self, classes: &[Class]) -> Vec<u32> {
        let log: Vec<[f64; 2]> = classes.iter().map(|class| half_smoothed(class.count)).collect();
        let suits = |(count, worth): (&[f64; 2], &[Vec<f64>; 2])| {
            let fit = |class: usize| -> f64 {
                (0..2).map(|v| count[v] * log[class][v] + worth[v][classes[class].next[v] as usize]).sum()
            };
            best(&(0..classes.len()).map(fit).collect::<Vec<f64>>())
        };
        self.count.iter().zip(&self.worth).map(suits).collect()
    }
}

/// The place of the largest number; the first of equals.
fn best(numbers: &[f64]) -> u32 {
    let better = |a: usize, b: usize| if numbers[b] > numbers[a] { b } else { a };
    (0..numbers.len()).reduce(better).unwrap_or(0) as u32
}

fn half_smoothed([f, t]: [f64; 2]) -> [f64; 2] {
    let total = f + t + 1.0;
    [((f + 0.5) / total).ln(), ((t + 0.5) / total).ln()]
}

/// Parts while they are merged.
struct Merging {
    count: Vec<[f64; 2]>,
    worth: Vec<[Vec<f64>; 2]>,
    /// The worth of each part by itself.
    alone: Vec<f64>,
}

impl Merging {
    fn new(count: Vec<[f64; 2]>, worth: Vec<[Vec<f64>; 2]>) -> Merging {
        let alone = count.iter().zip(&worth).map(|(&count, worth)| worth_alone(count, worth)).collect();
        Merging { count, worth, alone }
    }
}

fn worth_alone(count: [f64; 2], [f, t]: &[Vec<f64>; 2]) -> f64 {
    let largest = |line: &[f64]| line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    entropy(count) + largest(f) + largest(t)
}

impl Sets for Merging {
    fn len(&self) -> usize {
        self.count.len()
    }

    fn loss(&self, i: usize, j: usize) -> f64 {
        let [a, b] = [self.count[i], self.count[j]];
        let [f, t] = [0, 1].map(|value| largest_sum(&self.worth[i][value], &self.worth[j][value]));
        self.alone[i] + self.alone[j] - (entropy([a[0] + b[0], a[1] + b[1]]) + f + t)
    }

    fn merge(&mut self, i: usize, j: usize) {
        let moved = std::mem::take(&mut self.worth[j]);
        for (into, from) in self.worth[i].iter_mut().flatten().zip(moved.into_iter().flatten()) {
            *into += from;
        }
        let moved = self.count[j];
        self.count[i].iter_mut().zip(moved).for_each(|(into, from)| *into += from);
        self.alone[i] = worth_alone(self.count[i], &self.worth[i]);
    }

    fn cost(&self) -> usize {
        self.worth.iter().map(|[line, _]| line.len()).max().unwrap_or(0) + 20
    }
}

/// The log-likelihood of counted values, under their own shares.
fn entropy([f, t]: [f64; 2]) -> f64 {
    x_log_x(f) + x_log_x(t) - x_log_x(f + t)
}

/// The largest sum of two numbers at the same place; in lanes, since it is called very often.
fn largest_sum(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut largest = [f64::NEG_INFINITY; LANES];
    let (heads, tails) = (a.chunks_exact(LANES).zip(b.chunks_exact(LANES)), a.len() / LANES * LANES);
    for (a, b) in heads {
        for lane in 0..LANES {
            let sum = a[lane] + b[lane];
            largest[lane] = if sum > largest[lane] { sum } else { largest[lane] };
        }
    }
    let rest = a[tails..].iter().zip(&b[tails..]).map(|(a, b)| a + b);
    largest.into_iter().chain(rest).fold(f64::NEG_INFINITY, f64::max)
}
