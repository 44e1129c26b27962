//! Clones: an edge into a shared class gets its own copy of it if that gains more than it costs.
//!
//! The gain of a copy is known exactly before it is made: the records that come through the edge move from the old
//! class to the new one. They may get copies of the classes further down, too, to some depth. A heap gives the best
//! edge; its entries are computed again when they come to the top.

use super::layers::{Layer, Layers};
use super::surrogate::{Count, Logs};
use super::view::View;
use crate::heap::Scored;
use crate::logspace::x_log_x;
use std::collections::BinaryHeap;

/// The edge from a class to the next layer by a value, or by all values of the class that lead to the same target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    layer: u32,
    class: u32,
    by: By,
}

/// What an edge goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Value(u32),
    /// Every value that leads where this one does.
    Target(u32),
}

/// The copies for an edge: of its target, and of the targets of the copy that have a plan.
#[derive(Clone, Debug)]
struct Plan {
    /// The gain of the copies in log-likelihood, less their cost.
    gain: f64,
    /// How much of the cost that is.
    cost: f64,
    /// Plans by value.
    below: Vec<(u32, Plan)>,
}

impl Plan {
    /// What all copies cost.
    fn costs(&self) -> f64 {
        self.cost + self.below.iter().map(|(_, plan)| plan.costs()).sum::<f64>()
    }

    /// Adds the number of copies in each layer, from that of its target on.
    fn count(&self, copies: &mut [usize]) {
        copies[0] += 1;
        self.below.iter().for_each(|(_, plan)| plan.count(&mut copies[1..]));
    }
}

/// Records that copies of a plan take from a class.
struct Taken {
    layer: u32,
    class: u32,
    count: Vec<f64>,
}

/// How far a structure may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// The largest number of elements.
    pub(super) elements: usize,
    /// The largest number of classes of a layer.
    pub(super) classes: usize,
}

/// A structure that is being refined by clones.
pub(super) struct Cloning<'a> {
    view: &'a View,
    logs: Logs,
    whole: bool,
    layers: Layers,
    /// For each layer and class its rows, ascending.
    rows: Vec<Vec<Vec<u32>>>,
    /// For each layer and class, how many edges lead to it.
    edges: Vec<Vec<u32>>,
    cost: f64,
    depth: usize,
    /// Edges with the gains of their plans when last computed.
    heap: BinaryHeap<Scored<Edge>>,
    taken: Vec<Taken>,
    /// Rows of the plans under way, one range after the other.
    arena: Vec<u32>,
    touched: Vec<Edge>,
    elements: usize,
    gained: f64,
}

impl<'a> Cloning<'a> {
    /// From a structure, the cost of a copy in nats, and the number of levels that a plan may copy.
    pub(super) fn new(view: &'a View, layers: Layers, cost: f64, depth: usize) -> Cloning<'a> {
        let mut rows: Vec<Vec<Vec<u32>>> = layers.0.iter().map(|layer| vec![Vec::new(); layer.len()]).collect();
        let mut edges: Vec<Vec<u32>> = layers.0.iter().map(|layer| vec![0; layer.len()]).collect();
        let mut class_of = vec![0u32; view.len()];
        for (position, layer) in layers.0.iter().enumerate() {
            let cells = view.column(position);
            for (row, class) in class_of.iter_mut().enumerate() {
                rows[position][*class as usize].push(row as u32);
                *class = layer.next[*class as usize * layer.values + cells.at(row)];
            }
            if let Some(edges) = edges.get_mut(position + 1) {
                layer.next.iter().for_each(|&next| edges[next as usize] += 1);
            }
        }
        let mut cloning = Cloning {
            view,
            logs: Logs::new(view.total()),
            whole: view.is_whole(),
            elements: layers.elements(),
            layers,
            rows,
            edges,
            cost,
            depth,
            heap: BinaryHeap::new(),
            taken: Vec::new(),
            arena: Vec::new(),
            touched: Vec::new(),
            gained: 0.0,
        };
        for layer in 0..cloning.layers.0.len() as u32 - 1 {
            for class in 0..cloning.layers.0[layer as usize].len() as u32 {
                for edge in cloning.edges_of(layer, class) {
                    cloning.offer(edge);
                }
            }
        }
        cloning
    }

    /// The structure as it is now, with the counts of the records.
    pub(super) fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The gain in log-likelihood so far, at maximum likelihood, according to the plans.
    #[cfg(test)]
    fn gained(&self) -> f64 {
        self.gained
    }

    /// Makes the copies of the best edge that keeps within the limits; `false` if no edge gains anything.
    pub(super) fn step(&mut self, limits: Limits) -> bool {
        while let Some(Scored { tie: edge, .. }) = self.heap.pop() {
            let Some(plan) = self.plan_for(edge) else { continue };
            if self.heap.peek().is_some_and(|top| plan.gain < top.score) {
                self.heap.push(Scored { score: plan.gain, tie: edge });
                continue;
            }
            if self.elements + self.elements_of(edge.layer, &plan) > limits.elements
                || !self.has_room(edge, &plan, limits.classes)
            {
                continue;
            }
            self.gained += plan.gain + plan.costs();
            self.carry_out(edge, &plan);
            let mut touched = std::mem::take(&mut self.touched);
            touched.sort_unstable();
            touched.dedup();
            touched.drain(..).for_each(|edge| self.offer(edge));
            self.touched = touched;
            return true;
        }
        false
    }

    /// Whether every layer has at most this many classes after the copies of a plan.
    fn has_room(&self, edge: Edge, plan: &Plan, classes: usize) -> bool {
        let layers = &self.layers.0[edge.layer as usize + 1..];
        let mut copies = vec![0; layers.len().min(self.depth)];
        plan.count(&mut copies);
        layers.iter().zip(copies).all(|(layer, copies)| layer.len() + copies <= classes)
    }

    fn offer(&mut self, edge: Edge) {
        if let Some(plan) = self.plan_for(edge) {
            self.heap.push(Scored { score: plan.gain, tie: edge });
        }
    }

    /// How many elements a plan for an edge of a layer adds at most.
    fn elements_of(&self, layer: u32, plan: &Plan) -> usize {
        // A copy has as many elements as values at most, and may divide the one that leads to it.
        let below = plan.below.iter().map(|(_, plan)| self.elements_of(layer + 1, plan)).sum::<usize>();
        let own = |layer: usize| if self.layers.0[layer].values <= 2 { 1 } else { 2 };
        let target = layer as usize + 1;
        own(layer as usize) + own(target) * self.layers.0[target].values + below
    }

    /// The edges of a class: by each value and, if there are more than two, by the values with the same target.
    fn edges_of(&self, layer: u32, class: u32) -> Vec<Edge> {
        let next = self.layer(layer).next(class as usize);
        let values = (0..next.len() as u32).map(By::Value);
        let is_first = |value: &usize| next.iter().position(|to| *to == next[*value]) == Some(*value);
        let is_shared = |value: &usize| next[value + 1..].contains(&next[*value]);
        let wide = if next.len() > 2 { next.len() } else { 0 };
        let targets = (0..wide).filter(is_first).filter(is_shared).map(|value| By::Target(value as u32));
        values.chain(targets).map(|by| Edge { layer, class, by }).collect()
    }

    fn layer(&self, layer: u32) -> &Layer {
        &self.layers.0[layer as usize]
    }

    /// The values that an edge goes by, and its target.
    fn values_of(&self, edge: Edge) -> (Vec<u32>, u32) {
        let next = self.layer(edge.layer).next(edge.class as usize);
        match edge.by {
            By::Value(value) => (vec![value], next[value as usize]),
            By::Target(value) => {
                let target = next[value as usize];
                ((0..next.len() as u32).filter(|&value| next[value as usize] == target).collect(), target)
            }
        }
    }

    /// The rows that come through an edge, ascending.
    fn rows_through(&self, edge: Edge, values: &[u32], into: &mut Vec<u32>) {
        let cells = self.view.column(edge.layer as usize);
        let rows = self.rows[edge.layer as usize][edge.class as usize].iter().copied();
        match *values {
            [value] => into.extend(rows.filter(|&row| cells.at(row as usize) == value as usize)),
            _ => {
                let mut is_in = vec![false; self.layer(edge.layer).values];
                values.iter().for_each(|&value| is_in[value as usize] = true);
                into.extend(rows.filter(|&row| is_in[cells.at(row as usize)]));
            }
        }
    }

    /// The best plan for an edge, if one gains anything.
    fn plan_for(&mut self, edge: Edge) -> Option<Plan> {
        let (values, target) = self.values_of(edge);
        let count = self.layer(edge.layer).count(edge.class as usize);
        let through: f64 = values.iter().map(|&value| count[value as usize]).sum();
        let all: f64 = self.layer(edge.layer + 1).count(target as usize).iter().sum();
        let edges = self.edges[edge.layer as usize + 1][target as usize];
        if edges <= values.len() as u32 || through <= 0.0 || through >= all {
            return None;
        }
        let mut arena = std::mem::take(&mut self.arena);
        arena.clear();
        self.rows_through(edge, &values, &mut arena);
        self.arena = arena;
        self.taken.clear();
        self.plan(edge.layer + 1, target, 0, self.depth)
    }

    /// The best plan for the rows of the arena from `start` on, which come to a class.
    ///
    /// Recursion is bounded by the depth of plans.
    fn plan(&mut self, layer: u32, class: u32, start: usize, depth: usize) -> Option<Plan> {
        let end = self.arena.len();
        if depth == 0 || start == end {
            return None;
        }
        let view = self.view;
        let (cells, weights, values) = (view.column(layer as usize), view.weights(), self.layer(layer).values);
        let mut moved = vec![0.0; values];
        let mut ends = vec![0; values];
        for &row in &self.arena[start..end] {
            let value = cells.at(row as usize);
            moved[value] += weights[row as usize];
            ends[value] += 1;
        }
        let deeper = depth > 1 && layer as usize + 1 < self.layers.0.len();
        let mut left = self.layer(layer).count(class as usize).to_vec();
        for taken in self.taken.iter().filter(|taken| (taken.layer, taken.class) == (layer, class)) {
            left.iter_mut().zip(&taken.count).for_each(|(left, taken)| *left -= taken);
        }
        let stay: Vec<f64> = left.iter().zip(&moved).map(|(left, moved)| left - moved).collect();
        // A variable has one parameter, whatever its values.
        let occurring = moved.iter().filter(|count| **count > 0.0).count();
        let cost = self.cost * if values <= 2 { 1.0 } else { occurring.max(2) as f64 - 1.0 };
        let mut gain = self.entropy(&moved) + self.entropy(&stay) - self.entropy(&left) - cost;
        let mark = self.taken.len();
        self.taken.push(Taken { layer, class, count: moved });
        let mut below = Vec::new();
        if deeper {
            // Appended to the arena: the rows by value. Those of the last value come last, so they are used, and
            // dropped, first.
            let mut place = end;
            for rows in &mut ends {
                place += std::mem::replace(rows, place);
            }
            self.arena.resize(place, 0);
            for i in start..end {
                let row = self.arena[i];
                let place = &mut ends[cells.at(row as usize)];
                self.arena[*place] = row;
                *place += 1;
            }
            for value in (0..values).rev() {
                let first = if value == 0 { end } else { ends[value - 1] };
                let next = self.layer(layer).next(class as usize)[value];
                let plan = self.plan(layer + 1, next, first, depth - 1);
                self.arena.truncate(first);
                gain += plan.as_ref().map_or(0.0, |plan| plan.gain);
                below.extend(plan.map(|plan| (value as u32, plan)));
            }
            below.reverse();
        }
        self.arena.truncate(end);
        if gain > 0.0 {
            return Some(Plan { gain, cost, below });
        }
        self.taken.truncate(mark);
        None
    }

    fn entropy(&self, counts: &[f64]) -> f64 {
        let total = counts.iter().fold(0.0, |sum, count| sum + count);
        if self.whole {
            let n = |x: f64| (x as u32).x_log_x(&self.logs);
            return counts.iter().fold(0.0, |sum, count| sum + n(*count)) - n(total);
        }
        counts.iter().fold(0.0, |sum, count| sum + x_log_x(*count)) - x_log_x(total)
    }

    /// Makes the copies of a plan.
    fn carry_out(&mut self, edge: Edge, plan: &Plan) {
        let mut todo = vec![(edge, plan)];
        while let Some((edge, plan)) = todo.pop() {
            let copy = self.copy(edge);
            for (value, below) in &plan.below {
                todo.push((Edge { layer: edge.layer + 1, class: copy, by: By::Value(*value) }, below));
            }
        }
    }

    /// Gives an edge its own copy of its target.
    fn copy(&mut self, edge: Edge) -> u32 {
        let (layer, here) = (edge.layer as usize, edge.layer as usize + 1);
        let (values, old) = self.values_of(edge);
        let before = self.layers.0[layer].elements(edge.class as usize);
        let copy = self.layers.0[here].len() as u32;
        let mut moved = Vec::new();
        self.rows_through(edge, &values, &mut moved);
        let width = self.layers.0[here].values;
        let cells = self.view.column(here);
        let mut count = vec![0.0; width];
        for &row in &moved {
            count[cells.at(row as usize)] += self.view.weights()[row as usize];
        }
        let mut gone = moved.iter().peekable();
        self.rows[here][old as usize].retain(|row| gone.next_if_eq(&row).is_none());
        let range = old as usize * width..(old as usize + 1) * width;
        self.layers.0[here].count[range.clone()].iter_mut().zip(&count).for_each(|(left, moved)| *left -= moved);
        let next = self.layers.0[here].next[range].to_vec();
        self.layers.0[here].push(&next, &count);
        self.rows[here].push(moved);
        let source = edge.class as usize * self.layers.0[layer].values;
        for &value in &values {
            self.layers.0[layer].next[source + value as usize] = copy;
        }
        self.edges[here][old as usize] -= values.len() as u32;
        self.edges[here].push(values.len() as u32);
        let after = self.layers.0[layer].elements(edge.class as usize);
        self.elements = self.elements + after - before;
        if here + 1 < self.layers.0.len() {
            self.elements += self.layers.0[here].elements(copy as usize);
            for next in next {
                self.edges[here + 1][next as usize] += 1;
            }
            // As long as both edges of a value led to one class, neither was worth a copy.
            let both = [self.edges_of(here as u32, old), self.edges_of(here as u32, copy)];
            self.touched.extend(both.into_iter().flatten());
        } else if width > 2 {
            self.elements += self.layers.0[here].elements(copy as usize);
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Choice;
    use crate::names::{Kind, Names};
    use crate::random::Random;
    use crate::{Records, RecordsBuilder};
    use std::sync::Arc;

    fn log_likelihood(layers: &Layers) -> f64 {
        let entropy = |counts: &[f64]| counts.iter().map(|&n| x_log_x(n)).sum::<f64>() - x_log_x(counts.iter().sum());
        layers.0.iter().flat_map(|layer| layer.count.chunks(layer.values)).map(entropy).sum()
    }

    fn records(vars: usize, rows: usize, weight: f64, random: &mut Random) -> Records {
        let mut builder = RecordsBuilder::new(Names::numbered(vars));
        for _ in 0..rows {
            let mut row = vec![random.unit() < 0.5, random.unit() < 0.3];
            for i in 2..vars {
                row.push(random.unit() < if row[i - 1] ^ row[i - 2] { 0.9 } else { 0.2 });
            }
            builder.push(row.into_iter().map(Some), weight);
        }
        builder.finish()
    }

    /// A random structure with `width` classes per layer and the counts of the records.
    fn structure(view: &View, width: u32, random: &mut Random) -> Layers {
        let layers = (0..view.columns()).map(|position| {
            let mut layer = Layer::new(view.values(position), if position == 0 { 1 } else { width as usize });
            if position + 1 < view.columns() {
                layer.next.iter_mut().for_each(|next| *next = random.below(width as usize) as u32);
            }
            layer
        });
        let mut layers = Layers(layers.collect());
        layers.prune();
        let tally = layers.tally(view.cells(), view.weights());
        layers.take_counts(tally);
        layers
    }

    fn order(records: &Records) -> Vec<Choice> {
        Choice::all(records.names())
    }

    /// Columns of one to four values and variables, each depending on the two before.
    fn wide_records(random: &mut Random) -> Records {
        let kind = |i: usize| match i % 3 {
            0 => Kind::Boolean,
            _ => Kind::Values((0..1 + i % 4).map(|value| value.to_string()).collect()),
        };
        let names = Arc::new(Names::of_columns((0..9).map(|i| (format!("c{i}"), kind(i)))).unwrap());
        let mut builder = RecordsBuilder::new(names.clone());
        for _ in 0..300 {
            let (mut row, mut last) = (Vec::new(), [0, 0]);
            for choice in Choice::all(&names) {
                let follows = random.unit() < 0.7;
                let value = if follows { last[0] + last[1] } else { random.below(4) } % choice.values();
                last = [last[1], value];
                match choice.as_boolean() {
                    Some(_) => row.push(Some(value == 1)),
                    None => row.extend((0..choice.values()).map(|i| Some(i == value))),
                }
            }
            builder.push(row, 1.0);
        }
        builder.finish()
    }

    #[test]
    fn gains_are_exact_and_likelihood_never_falls() {
        for seed in 0..18 {
            let mut random = Random::new(seed);
            let records = match seed % 3 {
                0 => records(9, 300, 1.0, &mut random),
                1 => records(9, 300, 0.7, &mut random),
                _ => wide_records(&mut random),
            };
            let view = View::new(&records, &order(&records));
            let start = structure(&view, 1 + seed as u32 % 4, &mut random);
            let before = log_likelihood(&start);
            let mut cloning = Cloning::new(&view, start, 0.5, 1 + seed as usize % 5);
            let mut last = before;
            for _ in 0..60 {
                let more = cloning.step(Limits { elements: usize::MAX, classes: usize::MAX });
                let now = log_likelihood(cloning.layers());
                assert!(now >= last - 1e-9, "the likelihood fell from {last} to {now}");
                assert!((now - before - cloning.gained()).abs() < 1e-6, "{} is not {}", now - before, cloning.gained());
                last = now;
                let mut counted = cloning.layers().clone();
                let tally = counted.tally(view.cells(), view.weights());
                for (layer, tally) in counted.0.iter_mut().zip(&tally) {
                    assert!(layer.count.iter().zip(tally).all(|(a, b)| (a - b).abs() < 1e-9));
                }
                assert_eq!(cloning.elements, cloning.layers().elements());
                if !more {
                    break;
                }
            }
        }
    }

    #[test]
    fn limits_of_elements_are_kept() {
        let mut random = Random::new(77);
        let records = records(10, 500, 1.0, &mut random);
        let view = View::new(&records, &order(&records));
        let start = structure(&view, 1, &mut random);
        let mut cloning = Cloning::new(&view, start, 0.1, 4);
        while cloning.step(Limits { elements: 25, classes: usize::MAX }) {}
        assert!(cloning.elements <= 25 && cloning.elements > 9, "{}", cloning.elements);
    }

    #[test]
    fn limits_of_classes_are_kept() {
        let mut random = Random::new(78);
        let records = records(10, 500, 1.0, &mut random);
        let view = View::new(&records, &order(&records));
        for classes in [1, 2, 5] {
            let mut cloning = Cloning::new(&view, structure(&view, 1, &mut random), 0.1, 4);
            while cloning.step(Limits { elements: usize::MAX, classes }) {}
            let most = cloning.layers().0.iter().map(Layer::len).max().unwrap();
            assert_eq!(most, classes, "the limit is used fully");
        }
    }
}
