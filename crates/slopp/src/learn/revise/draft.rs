//! A circuit to which single worlds are added.
//!
//! At a sum, a world `(x, y)` becomes a new element if no prime allows `x`. Otherwise the prime that does is split into
//! `x` alone, whose sub adds `y`, and the rest. This follows one path down the vtree with siblings, so a world adds at
//! most a few nodes per variable.

use crate::circuit::{BuildError, Builder, Circuit, Node, NodeId, Sharing};
use crate::logspace::{LOG_ZERO, log_add, log_sum};
use crate::vtree::{Vtree, VtreeId};
use std::sync::Arc;

/// A node of a draft, by position; children come before parents.
type Place = usize;

/// A node that may be split. Parameters are logarithms; those of a leaf may be log zero.
enum Part {
    Leaf([f64; 2]),
    Sum(Vec<(Place, Place, f64)>),
}

/// The task of a vtree node to make room for a world; each has at most one.
#[derive(Clone, Copy)]
enum Task {
    Nothing,
    /// Mix this node with the world, in these proportions.
    Mix {
        node: Place,
        log_keep: f64,
        log_new: f64,
    },
    /// Remove the world from this node.
    Remove {
        node: Place,
    },
}

/// The result of a task.
#[derive(Clone, Copy)]
enum Outcome {
    Nothing,
    Mixed(Place),
    /// The rest and its log-probability; `None` if the node allowed only the world.
    Removed(Option<(Place, f64)>),
}

/// A circuit to which worlds are added.
pub(super) struct Draft {
    vtree: Arc<Vtree>,
    parts: Vec<Part>,
    at: Vec<VtreeId>,
    root: Place,
}

impl Draft {
    pub(super) fn new(circuit: &Circuit) -> Draft {
        let logs = circuit.log_parameters();
        let part = |id: NodeId| match circuit.node(id) {
            Node::Literal(lit) => Part::Leaf([false, true].map(|x| if x == lit.value { 0.0 } else { LOG_ZERO })),
            Node::Top { slot, .. } => Part::Leaf(logs.tops[slot as usize]),
            Node::Sum { .. } => {
                Part::Sum(circuit.elements_of(id).map(|(e, x)| (e.prime.index(), e.sub.index(), x)).collect())
            }
        };
        Draft {
            vtree: circuit.vtree().clone(),
            parts: circuit.ids().map(part).collect(),
            at: circuit.ids().map(|id| circuit.vtree_of(id)).collect(),
            root: circuit.root().index(),
        }
    }

    /// Mixes the distribution with one world.
    pub(super) fn add(&mut self, world: &[bool], log_keep: f64, log_new: f64) {
        let values = self.log_values(world);
        let vtree = self.vtree.clone();
        let mut tasks = vec![Task::Nothing; vtree.node_count()];
        let mut alone = vec![false; vtree.node_count()];
        tasks[vtree.root().index()] = Task::Mix { node: self.root, log_keep, log_new };
        // Downwards: the task of each vtree node, and where the world is needed by itself.
        for &v in vtree.bottom_up().iter().rev() {
            let Some([left, right]) = vtree.children(v) else { continue };
            if alone[v.index()] {
                [left, right].iter().for_each(|side| alone[side.index()] = true);
            }
            match tasks[v.index()] {
                Task::Nothing => {}
                Task::Mix { node, log_keep, log_new } => {
                    alone[left.index()] = true;
                    match self.holding(node, &values) {
                        None => alone[right.index()] = true,
                        Some((_, (prime, sub, theta))) => {
                            let keep = log_keep + theta + values[prime];
                            let total = log_add(keep, log_new);
                            tasks[left.index()] = Task::Remove { node: prime };
                            tasks[right.index()] =
                                Task::Mix { node: sub, log_keep: keep - total, log_new: log_new - total };
                        }
                    }
                }
                Task::Remove { node } => {
                    alone[left.index()] = true;
                    let (_, (prime, sub, _)) = self.holding(node, &values).expect("the world is there to be removed");
                    tasks[left.index()] = Task::Remove { node: prime };
                    tasks[right.index()] = Task::Remove { node: sub };
                }
            }
        }
        // Upwards: the new nodes.
        let mut outcomes = vec![Outcome::Nothing; vtree.node_count()];
        let mut terms: Vec<Place> = vec![0; vtree.node_count()];
        for &v in vtree.bottom_up() {
            if alone[v.index()] {
                terms[v.index()] = match (vtree.leaf_var(v), vtree.children(v)) {
                    (Some(var), _) => {
                        let value = world[var.index()];
                        self.push(v, Part::Leaf([false, true].map(|x| if x == value { 0.0 } else { LOG_ZERO })))
                    }
                    (_, Some([left, right])) => {
                        self.push(v, Part::Sum(vec![(terms[left.index()], terms[right.index()], 0.0)]))
                    }
                    _ => unreachable!("a vtree node is a leaf or has children"),
                };
            }
            outcomes[v.index()] = match (tasks[v.index()], vtree.leaf_var(v), vtree.children(v)) {
                (Task::Nothing, ..) => Outcome::Nothing,
                (task, Some(var), _) => self.leaf(v, task, world[var.index()]),
                (task, _, Some(sides)) => {
                    let below = sides.map(|side| outcomes[side.index()]);
                    self.sum(v, task, below, sides.map(|side| terms[side.index()]), &values)
                }
                _ => unreachable!("a vtree node is a leaf or has children"),
            };
        }
        let Outcome::Mixed(root) = outcomes[vtree.root().index()] else { unreachable!("the root is mixed") };
        self.root = root;
    }

    /// For every node the log-probability of its part of a world, which has at most one derivation.
    fn log_values(&self, world: &[bool]) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::with_capacity(self.parts.len());
        for (part, &v) in self.parts.iter().zip(&self.at) {
            values.push(match part {
                Part::Leaf(logs) => {
                    let var = self.vtree.leaf_var(v).expect("leaves are at leaves");
                    logs[usize::from(world[var.index()])]
                }
                Part::Sum(elements) => {
                    elements.iter().map(|&(p, s, x)| x + values[p] + values[s]).fold(LOG_ZERO, f64::max)
                }
            });
        }
        values
    }

    /// The element of a sum whose prime allows the world.
    fn holding(&self, node: Place, values: &[f64]) -> Option<(usize, (Place, Place, f64))> {
        let Part::Sum(elements) = &self.parts[node] else { unreachable!("tasks at inner vtree nodes are about sums") };
        elements.iter().copied().enumerate().find(|(_, (prime, ..))| values[*prime] > LOG_ZERO)
    }

    fn leaf(&mut self, v: VtreeId, task: Task, value: bool) -> Outcome {
        let logs = |draft: &Draft, node: Place| match draft.parts[node] {
            Part::Leaf(logs) => logs,
            Part::Sum(_) => unreachable!("tasks at leaves are about leaves"),
        };
        match task {
            Task::Nothing => Outcome::Nothing,
            Task::Mix { node, log_keep, log_new } => {
                let mut mixed = logs(self, node).map(|log| log_keep + log);
                let side = &mut mixed[usize::from(value)];
                *side = log_add(*side, log_new);
                Outcome::Mixed(self.push(v, Part::Leaf(mixed)))
            }
            Task::Remove { node } => {
                let rest = logs(self, node)[usize::from(!value)];
                Outcome::Removed((rest > LOG_ZERO).then(|| {
                    let only = [false, true].map(|x| if x == value { LOG_ZERO } else { 0.0 });
                    (self.push(v, Part::Leaf(only)), rest)
                }))
            }
        }
    }

    fn sum(&mut self, v: VtreeId, task: Task, below: [Outcome; 2], terms: [Place; 2], values: &[f64]) -> Outcome {
        let (node, keep) = match task {
            Task::Nothing => return Outcome::Nothing,
            Task::Mix { node, log_keep, .. } => (node, log_keep),
            Task::Remove { node } => (node, 0.0),
        };
        let holding = self.holding(node, values);
        let Part::Sum(elements) = &self.parts[node] else { unreachable!("tasks at inner vtree nodes are about sums") };
        let others = elements.iter().enumerate().filter(|&(i, _)| holding.is_none_or(|(held, _)| i != held));
        let mut parts: Vec<_> = others.map(|(_, &(p, s, theta))| (p, s, keep + theta)).collect();
        let mut one = terms[0];
        if let (Some((_, (prime, sub, theta))), Outcome::Removed(rest)) = (holding, below[0]) {
            match rest {
                Some((rest, log_rest)) => parts.push((rest, sub, keep + theta + log_rest)),
                // The prime is already the world alone.
                None => one = prime,
            }
        }
        match (task, holding, below[1]) {
            (Task::Mix { log_new, .. }, None, _) => parts.push((one, terms[1], log_new)),
            (Task::Mix { log_new, .. }, Some((_, (prime, _, theta))), Outcome::Mixed(sub)) => {
                parts.push((one, sub, log_add(keep + theta + values[prime], log_new)));
            }
            (Task::Remove { .. }, Some((_, (prime, _, theta))), Outcome::Removed(Some((rest, log_rest)))) => {
                parts.push((one, rest, theta + values[prime] + log_rest));
            }
            _ => {}
        }
        let total = log_sum(parts.iter().map(|part| part.2));
        parts.iter_mut().for_each(|part| part.2 -= total);
        match task {
            Task::Mix { .. } => Outcome::Mixed(self.push(v, Part::Sum(parts))),
            _ if parts.is_empty() => Outcome::Removed(None),
            _ => Outcome::Removed(Some((self.push(v, Part::Sum(parts)), total))),
        }
    }

    fn push(&mut self, v: VtreeId, part: Part) -> Place {
        self.parts.push(part);
        self.at.push(v);
        self.parts.len() - 1
    }

    pub(super) fn finish(self) -> Result<Circuit, BuildError> {
        let mut needed = vec![false; self.parts.len()];
        needed[self.root] = true;
        for i in (0..=self.root).rev().filter(|&i| i == self.root || matches!(self.parts[i], Part::Sum(_))) {
            if let (true, Part::Sum(elements)) = (needed[i], &self.parts[i]) {
                elements.iter().for_each(|&(p, s, _)| (needed[p], needed[s]) = (true, true));
            }
        }
        let mut builder = Builder::new(self.vtree.clone(), Sharing::Equal);
        let mut made = vec![NodeId(0); self.parts.len()];
        for i in (0..self.parts.len()).filter(|&i| needed[i]) {
            made[i] = match &self.parts[i] {
                Part::Leaf(logs) => {
                    let var = self.vtree.leaf_var(self.at[i]).expect("leaves are at leaves");
                    match logs.map(|log| log > LOG_ZERO) {
                        [true, true] => builder.top(var, *logs)?,
                        [_, value] => builder.literal(var.is(value))?,
                    }
                }
                Part::Sum(elements) => {
                    let parts: Vec<_> = elements.iter().map(|&(p, s, x)| (made[p], made[s], x.min(0.0))).collect();
                    builder.sum(self.at[i], &parts)?
                }
            };
        }
        builder.finish(made[self.root])
    }
}
