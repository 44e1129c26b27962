//! The first structure, from the top down: every class is split by value, and the parts are merged.

use super::Start;
use super::agglomerate::{agglomerate, most_sets};
use super::forest::{Edges, Forest, Hung, NO_PARENT};
use super::layers::{Layer, Layers};
use super::surrogate::{Count, Logs, Surrogate};
use super::view::View;
use crate::progress::Progress;
use std::collections::BTreeMap;

/// How far parts are merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    /// The largest number of classes of a layer.
    pub(super) classes: usize,
    /// The gain that a class needs, in nats.
    pub(super) per_class: f64,
    /// Which parts may be merged, and by which measure.
    pub(super) start: Start,
}

/// The Chow-Liu tree of the records, over positions in the order.
pub(super) struct Tree<'a> {
    /// The mutual information of two positions.
    pub(super) information: &'a (dyn Fn(usize, usize) -> f64 + Sync),
    /// The edges.
    pub(super) edges: &'a [(usize, usize)],
    /// The edges that replace each position in the tree of those after it.
    pub(super) mended: &'a [Edges],
}

/// The mark of a part without records.
const NOTHING: u32 = u32::MAX;

/// The structure of the records along their order.
pub(super) fn grow(view: &View, tree: &Tree<'_>, limits: Limits, progress: &dyn Progress) -> Layers {
    match view.is_whole() {
        true => grow_with::<u32>(view, tree, limits, progress),
        false => grow_with::<f64>(view, tree, limits, progress),
    }
}

fn grow_with<T: Count>(view: &View, tree: &Tree<'_>, limits: Limits, progress: &dyn Progress) -> Layers {
    let columns = view.columns();
    let logs = Logs::new(view.total());
    let mut forest = Forest::new(columns, tree.edges.iter().copied(), ());
    let mut open = Open::new(columns, tree);
    let mut layers = Vec::with_capacity(columns);
    // For each row its class; after the split by value, its part.
    let mut row_of = vec![0u32; view.len()];
    let mut classes = 1;
    for position in 0..columns {
        let cells = view.column(position);
        let mut layer = Layer::new(view.values(position), classes);
        for (row, (&class, weight)) in row_of.iter().zip(view.weights()).enumerate() {
            layer.count[class as usize * layer.values + cells.at(row)] += weight;
        }
        forest.replace(position, &tree.mended[position]);
        if position + 1 < columns {
            let mut parts = 0;
            for (part, &count) in layer.next.iter_mut().zip(&layer.count) {
                *part = if count > 0.0 { parts } else { NOTHING };
                parts += u32::from(count > 0.0);
            }
            for (row, class) in row_of.iter_mut().enumerate() {
                *class = layer.next[*class as usize * layer.values + cells.at(row)];
            }
            // From parts to classes of the next layer, in one step or in more.
            let mut class_of: Vec<u32> = (0..parts).collect();
            if limits.start == Start::Tree {
                class_of = open.agreeing(view, position, &row_of, parts as usize);
            }
            let hung = forest.hung(position + 1);
            let most = most_sets(view.len(), columns, counts(view, position + 1, &hung));
            let number = |class_of: &[u32]| class_of.iter().max().map_or(0, |&last| last as usize + 1);
            // A variable makes few parts, so only many values are bounded before they are compared.
            let is_bounded = layer.values > 2 && number(&class_of) > most;
            if is_bounded {
                bound(&mut class_of, &layer, most);
            }
            row_of.iter_mut().for_each(|part| *part = class_of[*part as usize]);
            let trees = vec![&hung; number(&class_of)];
            let mut sets = Surrogate::<T>::new(view, position + 1..columns, &row_of, (trees, &logs), limits.start);
            let clusters = agglomerate(&mut sets, limits.per_class, limits.classes);
            row_of.iter_mut().for_each(|set| *set = clusters[*set as usize]);
            let sets: Vec<u32> =
                layer.next.iter().map(|&part| class_of.get(part as usize).copied().unwrap_or(NOTHING)).collect();
            let across = |set: u32, value| match limits.start == Start::Tree && !is_bounded {
                true => open.across(position, set, value),
                false => set,
            };
            fill_gaps(&mut layer, &sets, &clusters, view.is_ordered(position), across);
            classes = number(&clusters);
        }
        layers.push(layer);
        progress.advance(1);
    }
    Layers(layers)
}

/// How many counts a set has in a surrogate of the columns from a position on.
fn counts(view: &View, first: usize, tree: &Hung) -> usize {
    let rare = |x: usize| view.rare_values(first + x);
    let above = |x: usize| if tree.parent[x] == NO_PARENT { 0 } else { rare(tree.parent[x] as usize) };
    (0..tree.parent.len()).map(|x| rare(x) * (1 + above(x))).sum()
}

/// Leaves at most this many sets of parts, or two for each class: the smaller parts of a class become one set.
fn bound(set_of: &mut [u32], layer: &Layer, most: usize) {
    let mut weight: Vec<f64> = vec![0.0; set_of.len()];
    let mut class = vec![0; set_of.len()];
    for (place, (&part, &count)) in layer.next.iter().zip(&layer.count).enumerate().filter(|(_, (p, _))| **p != NOTHING)
    {
        weight[part as usize] = count;
        class[part as usize] = place / layer.values;
    }
    let mut largest: Vec<usize> = (0..set_of.len()).collect();
    largest.sort_by(|&a, &b| weight[b].total_cmp(&weight[a]));
    // Sets of parts that agree stay together if one of them is large.
    let mut number: Vec<Option<u32>> = vec![None; set_of.len()];
    let (mut next, room) = (0, most.saturating_sub(layer.len()).max(layer.len()));
    for &part in &largest[..room.min(largest.len())] {
        number[set_of[part] as usize].get_or_insert_with(|| {
            next += 1;
            next - 1
        });
    }
    let mut rest: Vec<Option<u32>> = vec![None; layer.len()];
    for (part, set) in set_of.iter_mut().enumerate() {
        *set = number[*set as usize].unwrap_or_else(|| {
            *rest[class[part]].get_or_insert_with(|| {
                next += 1;
                next - 1
            })
        });
    }
}

/// Leads every class to its clusters, given the set of each part. A value that a class does not have leads where the
/// other value of a variable does; where it leads in the nearest value of an ordered column; or else where most records
/// with this value go, or most records of the class.
fn fill_gaps(layer: &mut Layer, sets: &[u32], clusters: &[u32], ordered: bool, across: impl Fn(u32, usize) -> u32) {
    let values = layer.values;
    let weighted = |place: usize| (clusters[sets[place] as usize], layer.count[place]);
    let most_of =
        |places: &mut dyn Iterator<Item = usize>| most(places.filter(|&place| sets[place] != NOTHING).map(weighted));
    let usual = |value: usize| most_of(&mut (value..sets.len()).step_by(values));
    let usual: Vec<Option<u32>> = if values == 2 { Vec::new() } else { (0..values).map(usual).collect() };
    let mut next = Vec::with_capacity(sets.len());
    for class in 0..layer.len() {
        let range = class * values..(class + 1) * values;
        let own = &sets[range.clone()];
        let seen = |value: &usize| own[*value] != NOTHING;
        let of_class = most_of(&mut range.clone());
        next.extend((0..values).map(|value| {
            let nearest = || (0..values).filter(seen).min_by_key(|other| other.abs_diff(value));
            match own[value] {
                NOTHING if values == 2 => clusters[across(own[1 - value], value) as usize],
                NOTHING => {
                    let nearest = if ordered { nearest().map(|other| clusters[own[other] as usize]) } else { None };
                    nearest.or(usual[value]).or(of_class).unwrap_or(0)
                }
                set => clusters[set as usize],
            }
        }));
    }
    layer.next = next;
}

/// The number with the largest weight in total; the smallest of equals.
fn most(weighted: impl Iterator<Item = (u32, f64)>) -> Option<u32> {
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    weighted.for_each(|(number, weight)| *sums.entry(number).or_default() += weight);
    let better = |a: (u32, f64), b: (u32, f64)| if b.1 > a.1 { b } else { a };
    sums.into_iter().reduce(better).map(|(number, _)| number)
}

/// The positions with a neighbour in the tree after the current position: those that the tree must remember there.
struct Open {
    /// For each position its neighbours after it, with their mutual information.
    behind: Vec<Vec<(usize, f64)>>,
    positions: Vec<usize>,
    /// The combinations of values at these positions, in the order of their numbers.
    values: Vec<Vec<usize>>,
}

impl Open {
    fn new(columns: usize, tree: &Tree<'_>) -> Open {
        let mut behind = vec![Vec::new(); columns];
        for &(a, b) in tree.edges {
            behind[a.min(b)].push((a.max(b), (tree.information)(a, b)));
        }
        Open { behind, positions: Vec::new(), values: Vec::new() }
    }

    /// Moves on to `position`, and numbers the parts by their values at the open positions.
    fn agreeing(&mut self, view: &View, position: usize, part_of: &[u32], parts: usize) -> Vec<u32> {
        self.positions.push(position);
        self.positions.retain(|&x| self.behind[x].iter().any(|&(y, _)| y > position));
        // Rows of one part agree at every open position, so any of them will do.
        let mut rows = vec![0; parts];
        part_of.iter().enumerate().for_each(|(row, &part)| rows[part as usize] = row);
        let values = |&row: &usize| self.positions.iter().map(|&x| view.column(x).at(row)).collect();
        let mut numbers: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        self.values.clear();
        let mut number = |values: Vec<usize>| {
            let next = numbers.len() as u32;
            *numbers.entry(values).or_insert_with_key(|values| {
                self.values.push(values.clone());
                next
            })
        };
        rows.iter().map(values).map(&mut number).collect()
    }

    /// The number for records that differ from those of `number` only by their value at `position`: the one with the
    /// most shared values, weighted by their information about later positions.
    fn across(&self, position: usize, number: u32, value: usize) -> u32 {
        if self.positions.last() != Some(&position) {
            return number;
        }
        let mut wanted = self.values[number as usize].clone();
        wanted.iter_mut().last().into_iter().for_each(|last| *last = value);
        let weight = |&x: &usize| -> f64 { self.behind[x].iter().filter(|(y, _)| *y > position).map(|(_, i)| i).sum() };
        let weights: Vec<f64> = self.positions.iter().map(weight).collect();
        let shared = |number: usize| -> f64 {
            let pairs = self.values[number].iter().zip(&wanted).zip(&weights);
            pairs.filter(|((a, b), _)| a == b).map(|(_, weight)| weight).sum()
        };
        let better = |a: (f64, usize), b: (f64, usize)| if b.0 > a.0 { b } else { a };
        let all = (0..self.values.len()).map(|number| (shared(number), number));
        all.reduce(better).map_or(number, |(_, number)| number as u32)
    }
}
