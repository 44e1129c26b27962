//! Clones: an edge into a shared class gets its own copy of it if that gains more than it costs.
//!
//! The gain of a copy is known exactly before it is made: the records that come through the edge move from the old
//! class to the new one. They may get copies of the classes further down, too, to some depth. A heap gives the best
//! edge; its entries are computed again when they come to the top.

use super::layers::{Class, Layers};
use super::surrogate::{Count, Logs};
use super::view::View;
use crate::data::bit_of;
use crate::heap::Scored;
use crate::logspace::x_log_x;
use std::collections::BinaryHeap;

/// The edge from a class to the next layer by a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    layer: u32,
    class: u32,
    value: bool,
}

/// The copies for an edge: of its target, and of the targets of the copy that have a plan.
#[derive(Clone, Debug)]
struct Plan {
    /// The gain of the copies in log-likelihood, less their cost.
    gain: f64,
    below: [Option<Box<Plan>>; 2],
}

impl Plan {
    /// The number of copies.
    fn copies(&self) -> usize {
        1 + self.below.iter().flatten().map(|plan| plan.copies()).sum::<usize>()
    }

    /// Adds the number of copies in each layer, from that of its target on.
    fn count(&self, copies: &mut [usize]) {
        copies[0] += 1;
        self.below.iter().flatten().for_each(|plan| plan.count(&mut copies[1..]));
    }
}

/// Records that copies of a plan take from a class.
struct Taken {
    layer: u32,
    class: u32,
    count: [f64; 2],
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
            let column = view.column(position);
            for (row, class) in class_of.iter_mut().enumerate() {
                rows[position][*class as usize].push(row as u32);
                *class = layer[*class as usize].next[usize::from(bit_of(column, row))];
            }
            if let Some(edges) = edges.get_mut(position + 1) {
                layer.iter().flat_map(|class| class.next).for_each(|next| edges[next as usize] += 1);
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
                for value in [false, true] {
                    cloning.offer(Edge { layer, class, value });
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
            // A copy has two elements at most, and may divide the ⊤ that leads to it.
            if self.elements + 3 * plan.copies() > limits.elements || !self.has_room(edge, &plan, limits.classes) {
                continue;
            }
            self.gained += plan.gain + self.cost * plan.copies() as f64;
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

    fn class(&self, layer: u32, class: u32) -> &Class {
        &self.layers.0[layer as usize][class as usize]
    }

    /// The best plan for an edge, if one gains anything.
    fn plan_for(&mut self, edge: Edge) -> Option<Plan> {
        let Edge { layer, class, value } = edge;
        let from = self.class(layer, class);
        let (target, through) = (from.next[usize::from(value)], from.count[usize::from(value)]);
        let [f, t] = self.class(layer + 1, target).count;
        if self.edges[layer as usize + 1][target as usize] < 2 || through <= 0.0 || through >= f + t {
            return None;
        }
        self.arena.clear();
        let column = self.view.column(layer as usize);
        let rows = &self.rows[layer as usize][class as usize];
        self.arena.extend(rows.iter().filter(|&&row| bit_of(column, row as usize) == value));
        self.taken.clear();
        self.plan(layer + 1, target, 0, self.depth)
    }

    /// The best plan for the rows of the arena from `start` on, which come to a class.
    ///
    /// Recursion is bounded by the depth of plans.
    fn plan(&mut self, layer: u32, class: u32, start: usize, depth: usize) -> Option<Plan> {
        let end = self.arena.len();
        if depth == 0 || start == end {
            return None;
        }
        let column = self.view.column(layer as usize);
        let weights = self.view.weights();
        // Appended to the arena: first the rows with false, then those with true.
        let deeper = depth > 1 && layer as usize + 1 < self.layers.0.len();
        let mut moved = [0.0; 2];
        let mut middle = end;
        for value in [false, true] {
            middle = self.arena.len();
            for i in start..end {
                let row = self.arena[i];
                if bit_of(column, row as usize) == value {
                    moved[usize::from(value)] += weights[row as usize];
                    if deeper {
                        self.arena.push(row);
                    }
                }
            }
        }
        let mut left = self.class(layer, class).count;
        for taken in self.taken.iter().filter(|taken| (taken.layer, taken.class) == (layer, class)) {
            left = [left[0] - taken.count[0], left[1] - taken.count[1]];
        }
        let stay = [left[0] - moved[0], left[1] - moved[1]];
        let mut gain = self.entropy(moved) + self.entropy(stay) - self.entropy(left) - self.cost;
        let mark = self.taken.len();
        self.taken.push(Taken { layer, class, count: moved });
        let mut below = [None, None];
        if deeper {
            let next = self.class(layer, class).next;
            // The rows with true come last, so they are used, and dropped, first.
            for (value, first) in [(1, middle), (0, end)] {
                let plan = self.plan(layer + 1, next[value], first, depth - 1);
                self.arena.truncate(first);
                gain += plan.as_ref().map_or(0.0, |plan| plan.gain);
                below[value] = plan.map(Box::new);
            }
        }
        self.arena.truncate(end);
        if gain > 0.0 {
            return Some(Plan { gain, below });
        }
        self.taken.truncate(mark);
        None
    }

    fn entropy(&self, [f, t]: [f64; 2]) -> f64 {
        if self.whole {
            let n = |x: f64| (x as u32).x_log_x(&self.logs);
            return n(f) + n(t) - n(f + t);
        }
        x_log_x(f) + x_log_x(t) - x_log_x(f + t)
    }

    /// Makes the copies of a plan.
    fn carry_out(&mut self, edge: Edge, plan: &Plan) {
        let mut todo = vec![(edge, plan)];
        while let Some((edge, plan)) = todo.pop() {
            let copy = self.copy(edge);
            for (value, below) in [false, true].into_iter().zip(&plan.below) {
                if let Some(below) = below {
                    todo.push((Edge { layer: edge.layer + 1, class: copy, value }, below));
                }
            }
        }
    }

    /// Gives an edge its own copy of its target.
    fn copy(&mut self, edge: Edge) -> u32 {
        let (layer, here) = (edge.layer as usize, edge.layer as usize + 1);
        let value = usize::from(edge.value);
        let before = self.layers.0[layer][edge.class as usize].elements();
        let old = self.layers.0[layer][edge.class as usize].next[value];
        let copy = self.layers.0[here].len() as u32;
        let from = self.view.column(layer);
        let source = &self.rows[layer][edge.class as usize];
        let moved: Vec<u32> = source.iter().copied().filter(|&row| bit_of(from, row as usize) == edge.value).collect();
        let column = self.view.column(here);
        let mut count = [0.0; 2];
        for &row in &moved {
            count[usize::from(bit_of(column, row as usize))] += self.view.weights()[row as usize];
        }
        let target = self.layers.0[here][old as usize];
        let mut gone = moved.iter().peekable();
        self.rows[here][old as usize].retain(|row| gone.next_if_eq(&row).is_none());
        self.layers.0[here][old as usize].count = [target.count[0] - count[0], target.count[1] - count[1]];
        self.layers.0[here].push(Class { next: target.next, count });
        self.rows[here].push(moved);
        self.layers.0[layer][edge.class as usize].next[value] = copy;
        self.edges[here][old as usize] -= 1;
        self.edges[here].push(1);
        let after = self.layers.0[layer][edge.class as usize].elements();
        self.elements = self.elements + after - before;
        if here + 1 < self.layers.0.len() {
            self.elements += target.elements();
            for next in target.next {
                self.edges[here + 1][next as usize] += 1;
            }
            for value in [false, true] {
                for class in [old, copy] {
                    self.touched.push(Edge { layer: here as u32, class, value });
                }
            }
        }
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;
    use crate::random::Random;
    use crate::var::Var;
    use crate::{Records, RecordsBuilder};

    fn log_likelihood(layers: &Layers) -> f64 {
        let entropy = |[f, t]: [f64; 2]| x_log_x(f) + x_log_x(t) - x_log_x(f + t);
        layers.0.iter().flatten().map(|class| entropy(class.count)).sum()
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
        let layers = (0..view.vars()).map(|position| {
            let classes = if position == 0 { 1 } else { width };
            let mut next = || if position + 1 == view.vars() { 0 } else { random.below(width as usize) as u32 };
            (0..classes).map(|_| Class { next: [next(), next()], count: [0.0; 2] }).collect()
        });
        let mut layers = Layers(layers.collect());
        layers.prune();
        let tally = layers.tally(|position| view.column(position), view.weights());
        layers.take_counts(&tally);
        layers
    }

    #[test]
    fn gains_are_exact_and_likelihood_never_falls() {
        for seed in 0..12 {
            let mut random = Random::new(seed);
            let records = records(9, 300, if seed % 2 == 0 { 1.0 } else { 0.7 }, &mut random);
            let order: Vec<Var> = (0..9).map(Var).collect();
            let view = View::new(&records, &order);
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
                let tally = counted.tally(|position| view.column(position), view.weights());
                for (class, count) in counted.0.iter_mut().flatten().zip(tally.iter().flatten()) {
                    assert!((class.count[0] - count[0]).abs() + (class.count[1] - count[1]).abs() < 1e-9);
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
        let order: Vec<Var> = (0..10).map(Var).collect();
        let view = View::new(&records, &order);
        let start = structure(&view, 1, &mut random);
        let mut cloning = Cloning::new(&view, start, 0.1, 4);
        while cloning.step(Limits { elements: 25, classes: usize::MAX }) {}
        assert!(cloning.elements <= 25 && cloning.elements > 9, "{}", cloning.elements);
    }

    #[test]
    fn limits_of_classes_are_kept() {
        let mut random = Random::new(78);
        let records = records(10, 500, 1.0, &mut random);
        let order: Vec<Var> = (0..10).map(Var).collect();
        let view = View::new(&records, &order);
        for classes in [1, 2, 5] {
            let mut cloning = Cloning::new(&view, structure(&view, 1, &mut random), 0.1, 4);
            while cloning.step(Limits { elements: usize::MAX, classes }) {}
            let most = cloning.layers().0.iter().map(Vec::len).max().unwrap();
            assert_eq!(most, classes, "the limit is used fully");
        }
    }
}
