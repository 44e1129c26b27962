//! A sweep from the bottom up: classes are formed again by the exact likelihood of their records below.
//!
//! The log-likelihood of every row under every class of the layer below is known. So the worth of a set of records is
//! the entropy of its values plus, for each value, its likelihood in the best class below. Parts are agglomerated by
//! that, then moved to their best class, a few times.

use super::agglomerate::{Sets, agglomerate, most_sets};
use super::layers::{Layer, Layers, Prior};
use super::view::{Group, View};
use crate::logspace::x_log_x;
use rayon::prelude::*;
use std::cmp::Ordering;

/// The largest number of rounds of moving parts to their best class.
const ROUNDS: usize = 5;

/// Groups of rows that one thread sums up; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 4096;

/// So many chunks if a column has more than two values, whose sums take more memory.
const CHUNKS_OF_VALUES: usize = 4;

/// How far classes are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// The largest number of classes of a layer.
    pub(super) classes: usize,
    /// The gain that a class needs, in nats.
    pub(super) per_class: f64,
    /// The gain that each of its parameters beyond the first needs, in nats.
    pub(super) per_parameter: f64,
}

/// The parts of the records that enter a layer.
struct Entering {
    /// The number of classes below.
    below: usize,
    /// The number of values of the column.
    values: usize,
    parts: Vec<Part>,
    /// For each value, and each class below, the log-likelihood per record with the value there.
    usual: Vec<f64>,
}

/// Records that enter a layer from one class by one value.
#[derive(Clone)]
struct Part {
    /// The weight of each value.
    count: Vec<f64>,
    /// For each value that occurs, ascending, and each class below, the log-likelihood of its records there.
    worth: Vec<Line>,
}

#[derive(Clone)]
struct Line {
    value: usize,
    logs: Vec<f64>,
    largest: f64,
}

impl Line {
    fn new(value: usize, logs: Vec<f64>) -> Line {
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Line { value, logs, largest }
    }
}

/// The structure after one sweep, with the counts of the records.
pub(super) fn sweep(view: &View, old: &Layers, limits: Limits, prior: &Prior) -> Layers {
    let entering = classes_of(view, old);
    let columns = view.columns();
    let mut layers: Vec<Layer> = (0..columns).map(|position| Layer::new(view.values(position), 0)).collect();
    // The log-likelihood of each group of rows under each class below.
    let (mut groups, mut below, mut classes) = (view.all(), vec![0.0f32; 1], 1);
    let mut logs = Vec::new();
    for position in (0..columns).rev() {
        let parts = parts_of(view, old, &entering, position, classes);
        let finer = view.groups(position, &groups);
        let sets = Entering::new(view, view.values(position), &parts, &finer, (&below, classes));
        let layer = sets.classes(limits);
        // By value, then class.
        let (width, values) = (layer.len(), layer.values);
        let (mut log, mut next) = (vec![0.0f32; width * values], vec![0u32; width * values]);
        for class in 0..width {
            prior.log_parameters(position, layer.count(class), &mut logs);
            for value in 0..values {
                log[value * width + class] = logs[value] as f32;
                next[value * width + class] = layer.next(class)[value];
            }
        }
        let mut here = vec![0.0f32; finer.len() * width];
        here.par_chunks_mut(CHUNK * width).zip(finer.par_chunks(CHUNK)).for_each(|(lines, groups)| {
            for (line, group) in lines.chunks_mut(width).zip(groups) {
                let rest = &below[group.rest as usize * classes..(group.rest as usize + 1) * classes];
                let range = usize::from(group.value) * width..(usize::from(group.value) + 1) * width;
                for ((slot, log), next) in line.iter_mut().zip(&log[range.clone()]).zip(&next[range]) {
                    *slot = log + rest[*next as usize];
                }
            }
        });
        (groups, below, classes) = (finer, here, width);
        layers[position] = layer;
    }
    let mut new = Layers(layers);
    new.prune();
    let tally = new.tally(view.cells(), view.weights());
    new.take_counts(tally);
    new
}

/// For each layer and row, its class.
fn classes_of(view: &View, layers: &Layers) -> Vec<Vec<u16>> {
    let mut classes = Vec::with_capacity(view.columns());
    let mut class_of = vec![0u16; view.len()];
    for (layer, cells) in layers.0.iter().zip(view.cells()) {
        let next = |(row, &class): (usize, &u16)| layer.next[class as usize * layer.values + cells.at(row)] as u16;
        let below = class_of.iter().enumerate().map(next).collect();
        classes.push(std::mem::replace(&mut class_of, below));
    }
    classes
}

/// For each row, the part that it enters a layer with: its class in the layer before, and its value there. Where
/// columns with several values make too many parts, the smaller ones that led to the same class are one.
fn parts_of(view: &View, old: &Layers, class_of: &[Vec<u16>], position: usize, below: usize) -> Parts {
    let Some(before) = position.checked_sub(1) else { return Parts { of_row: vec![0; view.len()], len: 1 } };
    let (layer, cells) = (&old.0[before], view.column(before));
    let part = |(row, &class): (usize, &u16)| (usize::from(class) * layer.values + cells.at(row)) as u32;
    let mut of_row: Vec<u32> = class_of[before].iter().enumerate().map(part).collect();
    let most = most_sets(view.len(), view.columns(), below * view.values(position));
    if layer.values <= 2 || layer.next.len() <= most {
        return Parts { of_row, len: layer.next.len() };
    }
    let mut largest: Vec<usize> = (0..layer.next.len()).collect();
    largest.sort_by(|&a, &b| layer.count[b].total_cmp(&layer.count[a]));
    let small = old.0[position].len();
    let mut number: Vec<u32> = layer.next.clone();
    for (i, &part) in largest[..most.saturating_sub(small).min(largest.len())].iter().enumerate() {
        number[part] = (small + i) as u32;
    }
    of_row.iter_mut().for_each(|part| *part = number[*part as usize]);
    Parts { of_row, len: small.max(most) }
}

/// The part of each row, and the number of parts.
struct Parts {
    of_row: Vec<u32>,
    len: usize,
}

impl Entering {
    /// Sums up the log-likelihoods of each part; parts without rows are left out.
    fn new(
        view: &View,
        values: usize,
        parts: &Parts,
        groups: &[Group],
        (log_likelihoods, below): (&[f32], usize),
    ) -> Entering {
        let starts = groups.iter().map(|group| group.start as usize);
        let ends: Vec<usize> = starts.skip(1).chain([view.len()]).collect();
        // Each part and value that occur together have a slot, in the order of the rows.
        const NONE: u32 = u32::MAX;
        let mut slots = vec![NONE; parts.len * values];
        let mut used = 0;
        for (group, &end) in groups.iter().zip(&ends) {
            for &part in &parts.of_row[group.start as usize..end] {
                let slot = &mut slots[part as usize * values + usize::from(group.value)];
                if *slot == NONE {
                    *slot = used;
                    used += 1;
                }
            }
        }
        let used = used as usize;
        let chunk = if values == 2 { CHUNK } else { groups.len().div_ceil(CHUNKS_OF_VALUES).max(CHUNK) };
        // Each chunk has its own sums, added up in the order of the chunks.
        let sums = groups.par_chunks(chunk).zip(ends.par_chunks(chunk)).map(|(groups, ends)| {
            let mut count = vec![0.0f64; used];
            let mut worth = vec![0.0f64; used * below];
            let mut weights = vec![0.0f64; parts.len];
            let mut seen: Vec<u32> = Vec::new();
            for (group, &end) in groups.iter().zip(ends) {
                let rows = group.start as usize..end;
                for (&part, weight) in parts.of_row[rows.clone()].iter().zip(&view.weights()[rows]) {
                    if weights[part as usize] == 0.0 {
                        seen.push(part);
                    }
                    weights[part as usize] += weight;
                }
                let line = &log_likelihoods[group.rest as usize * below..(group.rest as usize + 1) * below];
                for part in seen.drain(..) {
                    let part = part as usize;
                    let weight = std::mem::take(&mut weights[part]);
                    let slot = slots[part * values + usize::from(group.value)] as usize;
                    count[slot] += weight;
                    let sums = &mut worth[slot * below..(slot + 1) * below];
                    sums.iter_mut().zip(line).for_each(|(sum, log)| *sum += weight * f64::from(*log));
                }
            }
            (count, worth)
        });
        let sums: Vec<_> = sums.collect();
        let add = |mut a: (Vec<f64>, Vec<f64>), b: (Vec<f64>, Vec<f64>)| {
            a.0.iter_mut().zip(b.0).for_each(|(a, b)| *a += b);
            a.1.iter_mut().zip(b.1).for_each(|(a, b)| *a += b);
            a
        };
        let (count, worth) = sums.into_iter().reduce(add).expect("there is a row");
        let part = |slots: &[u32]| {
            let slots =
                || slots.iter().enumerate().filter(|(_, slot)| **slot != NONE).map(|(v, slot)| (v, *slot as usize));
            let line =
                |(value, slot): (usize, usize)| Line::new(value, worth[slot * below..(slot + 1) * below].to_vec());
            let mut of_value = vec![0.0; values];
            slots().for_each(|(value, slot)| of_value[value] = count[slot]);
            Part { count: of_value, worth: slots().map(line).collect() }
        };
        let parts: Vec<Part> = slots.chunks(values).map(part).filter(|part| !part.worth.is_empty()).collect();
        let mut usual = vec![0.0; values * below];
        let mut totals = vec![0.0; values];
        for part in &parts {
            for Line { value, logs, .. } in &part.worth {
                totals[*value] += part.count[*value];
                usual[value * below..(value + 1) * below].iter_mut().zip(logs).for_each(|(sum, log)| *sum += log);
            }
        }
        for (usual, total) in usual.chunks_mut(below).zip(totals).filter(|(_, total)| *total > 0.0) {
            usual.iter_mut().for_each(|sum| *sum /= total);
        }
        Entering { below, values, parts, usual }
    }

    /// The classes of the layer.
    fn classes(&self, limits: Limits) -> Layer {
        let mut sets = Merging::new(self.parts.clone(), limits.per_parameter);
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
            for class in (0..fresh.len()).filter(|&class| fresh.count(class).iter().any(|&count| count != 0.0)) {
                let range = class * self.values..(class + 1) * self.values;
                classes.count[range.clone()].copy_from_slice(fresh.count(class));
                classes.next[range].copy_from_slice(fresh.next(class));
            }
        }
        let mut used = vec![false; classes.len()];
        class_of.iter().for_each(|&class| used[class as usize] = true);
        let mut kept = Layer::new(self.values, 0);
        for class in (0..classes.len()).filter(|&class| used[class]) {
            kept.push(classes.next(class), classes.count(class));
        }
        kept
    }

    /// The classes of these parts, each with its best classes below.
    fn gathered(&self, class_of: &[u32]) -> Layer {
        let (below, values) = (self.below, self.values);
        let len = class_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut members: Vec<Vec<&Part>> = vec![Vec::new(); len];
        class_of.iter().zip(&self.parts).for_each(|(&class, part)| members[class as usize].push(part));
        let mut classes = Layer::new(values, 0);
        let mut worth = vec![0.0; values * below];
        for members in members {
            let mut count = vec![0.0; values];
            worth.fill(0.0);
            for part in members {
                count.iter_mut().zip(&part.count).for_each(|(sum, x)| *sum += x);
                for Line { value, logs, .. } in &part.worth {
                    worth[value * below..(value + 1) * below].iter_mut().zip(logs).for_each(|(sum, x)| *sum += x);
                }
            }
            let total: f64 = count.iter().sum();
            // The average record of the class, where it has no record with a value.
            let mut average = vec![0.0; if count.iter().all(|&count| count > 0.0) { 0 } else { below }];
            for line in worth.chunks(below) {
                average.iter_mut().zip(line).for_each(|(sum, x)| *sum += x);
            }
            let share = 1.0 / total.max(f64::MIN_POSITIVE);
            let next: Vec<u32> = (0..values)
                .map(|value| {
                    // The average record with this value counts as one more, so that few records are not trusted
                    // blindly. If the class has no record with this value, so does the average record of the class.
                    let range = value * below..(value + 1) * below;
                    let sums = worth[range.clone()].iter().zip(&self.usual[range]).map(|(own, usual)| own + usual);
                    match count[value] > 0.0 {
                        true => best(&sums.collect::<Vec<f64>>()),
                        false => best(&sums.zip(&average).map(|(sum, x)| sum + share * x).collect::<Vec<f64>>()),
                    }
                })
                .collect();
            classes.push(&next, &count);
        }
        classes
    }

    /// The best class of each part.
    fn moved(&self, classes: &Layer) -> Vec<u32> {
        let log: Vec<Vec<f64>> = (0..classes.len()).map(|class| half_smoothed(classes.count(class))).collect();
        let suits = |part: &Part| {
            let fit = |class: usize| -> f64 {
                let next = classes.next(class);
                let of_line = |line: &Line| {
                    part.count[line.value] * log[class][line.value] + line.logs[next[line.value] as usize]
                };
                part.worth.iter().map(of_line).sum()
            };
            best(&(0..classes.len()).map(fit).collect::<Vec<f64>>())
        };
        self.parts.iter().map(suits).collect()
    }
}

/// The place of the largest number; the first of equals.
fn best(numbers: &[f64]) -> u32 {
    let better = |a: usize, b: usize| if numbers[b] > numbers[a] { b } else { a };
    (0..numbers.len()).reduce(better).unwrap_or(0) as u32
}

fn half_smoothed(count: &[f64]) -> Vec<f64> {
    let total = count.iter().sum::<f64>() + 0.5 * count.len() as f64;
    count.iter().map(|n| ((n + 0.5) / total).ln()).collect()
}

/// Parts while they are merged.
struct Merging {
    parts: Vec<Part>,
    /// The worth of each part by itself.
    alone: Vec<f64>,
    per_parameter: f64,
}

impl Merging {
    fn new(parts: Vec<Part>, per_parameter: f64) -> Merging {
        let alone = parts.iter().map(worth_alone).collect();
        Merging { parts, alone, per_parameter }
    }
}

fn worth_alone(part: &Part) -> f64 {
    part.worth.iter().fold(entropy(part.count.iter().copied()), |sum, line| sum + line.largest)
}

/// The lines of two parts, by value: of one or of both.
fn by_value<'a>(a: &'a [Line], b: &'a [Line]) -> impl Iterator<Item = (Option<&'a Line>, Option<&'a Line>)> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    std::iter::from_fn(move || {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(x), Some(y)) => x.value.cmp(&y.value),
        };
        Some((if order.is_le() { a.next() } else { None }, if order.is_ge() { b.next() } else { None }))
    })
}

/// The parameters of this many values that occur. A variable has one whatever occurs.
fn parameters(values: usize, occurring: usize) -> f64 {
    if values <= 2 { 1.0 } else { occurring.max(2) as f64 - 1.0 }
}

impl Sets for Merging {
    fn len(&self) -> usize {
        self.parts.len()
    }

    fn loss(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (&self.parts[i], &self.parts[j]);
        let mut together = entropy(a.count.iter().zip(&b.count).map(|(x, y)| x + y));
        let mut occurring = 0;
        for lines in by_value(&a.worth, &b.worth) {
            occurring += 1;
            together += match lines {
                (Some(x), Some(y)) => largest_sum(&x.logs, &y.logs),
                (x, y) => x.or(y).map_or(0.0, |line| line.largest),
            };
        }
        let parameters = |occurring: usize| parameters(a.count.len(), occurring);
        let saved = parameters(a.worth.len()) + parameters(b.worth.len()) - parameters(occurring);
        self.alone[i] + self.alone[j] - together - self.per_parameter * (saved - 1.0)
    }

    fn merge(&mut self, i: usize, j: usize) {
        let moved = std::mem::replace(&mut self.parts[j], Part { count: Vec::new(), worth: Vec::new() });
        let into = &mut self.parts[i];
        let lines = by_value(&into.worth, &moved.worth).map(|lines| match lines {
            (Some(x), Some(y)) => Line::new(x.value, x.logs.iter().zip(&y.logs).map(|(x, y)| x + y).collect()),
            (x, y) => x.or(y).expect("of one or of both").clone(),
        });
        into.worth = lines.collect();
        into.count.iter_mut().zip(moved.count).for_each(|(into, from)| *into += from);
        self.alone[i] = worth_alone(&self.parts[i]);
    }

    fn cost(&self) -> usize {
        let steps = |part: &Part| part.worth.iter().map(|line| line.logs.len()).sum();
        match self.parts.iter().find(|part| !part.count.is_empty()) {
            Some(part) if part.count.len() == 2 => self.width() + 20,
            _ => self.parts.iter().map(steps).max().unwrap_or(0) + 20,
        }
    }
}

impl Merging {
    /// The number of classes below.
    fn width(&self) -> usize {
        self.parts.iter().filter_map(|part| part.worth.first()).map(|line| line.logs.len()).max().unwrap_or(0)
    }
}

/// The log-likelihood of counted values, under their own shares.
fn entropy(counts: impl Iterator<Item = f64> + Clone) -> f64 {
    counts.clone().map(x_log_x).fold(0.0, |a, b| a + b) - x_log_x(counts.fold(0.0, |a, b| a + b))
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
