//! The first structure, from the top down: every class is split by value, and the parts are merged.

use super::Start;
use super::agglomerate::agglomerate;
use super::forest::{Edges, Forest};
use super::layers::{Class, Layers};
use super::surrogate::{Count, Logs, Surrogate};
use super::view::View;
use crate::data::bit_of;
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

/// The structure of the records along their order.
pub(super) fn grow(view: &View, tree: &Tree<'_>, limits: Limits, progress: &dyn Progress) -> Layers {
    match view.is_whole() {
        true => grow_with::<u32>(view, tree, limits, progress),
        false => grow_with::<f64>(view, tree, limits, progress),
    }
}

fn grow_with<T: Count>(view: &View, tree: &Tree<'_>, limits: Limits, progress: &dyn Progress) -> Layers {
    let vars = view.vars();
    let logs = Logs::new(view.total());
    let mut forest = Forest::new(vars, tree.edges.iter().copied(), ());
    let mut open = Open::new(vars, tree);
    let mut layers = Vec::with_capacity(vars);
    // For each row its class; after the split by value, its part.
    let mut row_of = vec![0u32; view.len()];
    let mut classes = 1;
    for position in 0..vars {
        let column = view.column(position);
        let mut layer = vec![Class::default(); classes];
        for (row, (&class, weight)) in row_of.iter().zip(view.weights()).enumerate() {
            layer[class as usize].count[usize::from(bit_of(column, row))] += weight;
        }
        forest.replace(position, &tree.mended[position]);
        if position + 1 < vars {
            let mut parts = 0;
            for class in &mut layer {
                for value in 0..2 {
                    class.next[value] = parts;
                    parts += u32::from(class.count[value] > 0.0);
                }
            }
            for (row, class) in row_of.iter_mut().enumerate() {
                *class = layer[*class as usize].next[usize::from(bit_of(column, row))];
            }
            // From parts to classes of the next layer, in one step or in two.
            let mut class_of: Vec<u32> = (0..parts).collect();
            if limits.start == Start::Tree {
                class_of = open.agreeing(view, position, &row_of, parts as usize);
                row_of.iter_mut().for_each(|part| *part = class_of[*part as usize]);
            }
            let sets = class_of.iter().max().map_or(0, |&last| last as usize + 1);
            let hung = forest.hung(position + 1);
            let trees = vec![&hung; sets];
            let mut sets = Surrogate::<T>::new(view, position + 1..vars, &row_of, (trees, &logs), limits.start);
            let clusters = agglomerate(&mut sets, limits.per_class, limits.classes);
            row_of.iter_mut().for_each(|set| *set = clusters[*set as usize]);
            for class in &mut layer {
                let gap = class.count.iter().position(|&count| count <= 0.0);
                let mut set = class.next.map(|part| class_of.get(part as usize).copied().unwrap_or(0));
                if let Some(value) = gap {
                    let other = set[1 - value];
                    set[value] = if limits.start == Start::Tree { open.across(position, other) } else { other };
                }
                class.next = set.map(|set| clusters[set as usize]);
            }
            classes = clusters.iter().max().map_or(1, |&last| last as usize + 1);
        }
        layers.push(layer);
        progress.advance(1);
    }
    Layers(layers)
}

/// The positions with a neighbour in the tree after the current position: those that the tree must remember there.
struct Open {
    /// For each position its neighbours after it, with their mutual information.
    behind: Vec<Vec<(usize, f64)>>,
    positions: Vec<usize>,
    /// The combinations of values at these positions, in the order of their numbers.
    values: Vec<Vec<bool>>,
}

impl Open {
    fn new(vars: usize, tree: &Tree<'_>) -> Open {
        let mut behind = vec![Vec::new(); vars];
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
        let values = |&row: &usize| self.positions.iter().map(|&x| bit_of(view.column(x), row)).collect();
        let mut numbers: BTreeMap<Vec<bool>, u32> = BTreeMap::new();
        self.values.clear();
        let mut number = |values: Vec<bool>| {
            let next = numbers.len() as u32;
            *numbers.entry(values).or_insert_with_key(|values| {
                self.values.push(values.clone());
                next
            })
        };
        rows.iter().map(values).map(&mut number).collect()
    }

    /// The number for records that differ from those of `number` only at `position`: the one with the most shared
    /// values, weighted by their information about later positions.
    fn across(&self, position: usize, number: u32) -> u32 {
        if self.positions.last() != Some(&position) {
            return number;
        }
        let mut wanted = self.values[number as usize].clone();
        wanted.iter_mut().last().into_iter().for_each(|value| *value = !*value);
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
