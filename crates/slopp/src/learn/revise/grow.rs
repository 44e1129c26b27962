//! A circuit to which a diagram of new worlds is added.
//!
//! A node `n` with elements `(pᵢ, sᵢ)` and new worlds `∨ⱼ qⱼ ∧ tⱼ` at its vtree node become elements over three kinds
//! of regions: where `pᵢ` and `qⱼ` meet, `sᵢ` grows by `tⱼ`; where `tⱼ` is false, `sᵢ` stays; the part of `qⱼ` outside
//! of all primes is new, with sub `tⱼ`. The primes are `pᵢ` given `qⱼ`, or the uniform distribution over a formula. So
//! only subs grow, and possible worlds keep their proportions exactly.
//!
//! New worlds have the measure `ε · P(x) · u(y)`: `P` of the longest possible part, in the order of the vtree, and the
//! uniform measure `u` of the rest. It depends only on the pair of node and formula, so pairs are shared. `ε` scales
//! the total to the given weight.

use crate::circuit::{Builder, Circuit, Node, NodeId, Psdd, Sharing};
use crate::infer::QueryError;
use crate::learn::error::LearnError;
use crate::logic::{Handle, Manager};
use crate::logspace::{log_add, log_sum};
use crate::var::Lit;
use crate::vtree::VtreeId;
use rustc_hash::FxHashMap;

/// The largest number of nodes of a revision; more are an error, before memory runs out.
const MOST_NODES: usize = 20_000_000;

/// The logarithm of one half.
const LOG_HALF: f64 = -std::f64::consts::LN_2;

/// The circuit with room for new worlds; `log_ratio` is the log of their total weight relative to that of the circuit.
///
/// `bases` are the formulas of the nodes; that of the root contains no new world.
pub(super) fn grown(
    psdd: &Psdd,
    manager: Manager,
    bases: Vec<Handle>,
    new: Handle,
    log_ratio: f64,
) -> Result<Circuit, LearnError> {
    let circuit: &Circuit = psdd;
    let mut builder = Builder::new(circuit.vtree().clone(), Sharing::Equal);
    let mut copies: Vec<NodeId> = Vec::with_capacity(circuit.nodes().len());
    for id in circuit.ids() {
        copies.push(match circuit.node(id) {
            Node::Literal(lit) => builder.literal(lit)?,
            Node::Top { var, slot } => builder.top(var, circuit.log_parameters().tops[slot as usize])?,
            Node::Sum { vtree, .. } => {
                let element = |(e, theta): (crate::circuit::Element, f64)| {
                    (copies[e.prime.index()], copies[e.sub.index()], theta)
                };
                let elements: Vec<_> = circuit.elements_of(id).map(element).collect();
                builder.sum(vtree, &elements)?
            }
        });
    }
    let made = FxHashMap::default();
    let mut growth = Growth { circuit, manager, bases, builder, copies, made, grown: Vec::new() };
    growth.run(Task::Grow(circuit.root(), new))?;
    growth.finish(log_ratio)
}

/// A node that is needed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Task {
    /// The uniform distribution over a formula at a vtree node.
    Inside(VtreeId, Handle),
    /// A node given a formula.
    Given(NodeId, Handle),
    /// A node that grows by a formula.
    Grow(NodeId, Handle),
}

/// The result of a task.
#[derive(Clone, Copy)]
enum Made {
    /// No world is left.
    Nothing,
    /// A node, and the logarithm of the share it had.
    Node(NodeId, f64),
    /// A grown node, by its position, and the logarithm of the measure of its new worlds, without ε.
    Grown(usize, f64),
}

/// A node that grew, not yet in the builder: its parameters wait for ε.
struct Grown {
    vtree: VtreeId,
    parts: Parts,
    log_new: f64,
}

enum Parts {
    /// A leaf where only this literal was possible; now both values are.
    Leaf(Lit),
    Sum(Vec<(NodeId, Sub, f64)>),
}

/// The sub of an element, which decides the factor of its weight.
#[derive(Clone, Copy)]
enum Sub {
    /// As it was.
    Kept(NodeId),
    /// Grown: one, and ε times the measure of its new worlds.
    Grown(usize),
    /// New: ε.
    New(NodeId),
}

struct Growth<'a> {
    circuit: &'a Circuit,
    manager: Manager,
    bases: Vec<Handle>,
    builder: Builder,
    /// The nodes of the circuit in the builder.
    copies: Vec<NodeId>,
    made: FxHashMap<Task, Made>,
    /// Subs before those that need them.
    grown: Vec<Grown>,
}

impl Growth<'_> {
    fn run(&mut self, goal: Task) -> Result<(), LearnError> {
        let mut stack = vec![goal];
        while let Some(&task) = stack.last() {
            if self.made.contains_key(&task) {
                stack.pop();
                continue;
            }
            let done = match task {
                Task::Inside(v, formula) => self.inside(v, formula, &mut stack)?,
                Task::Given(node, formula) => self.given(node, formula, &mut stack)?,
                Task::Grow(node, formula) => self.grow(node, formula, &mut stack)?,
            };
            if let Some(done) = done {
                self.made.insert(task, done);
                if self.made.len() > MOST_NODES {
                    return Err(QueryError::TooLarge { what: "revised circuit", limit: MOST_NODES }.into());
                }
            }
        }
        Ok(())
    }

    /// The result of a task; if it is not done yet, it goes on the stack.
    fn needed(&self, task: Task, stack: &mut Vec<Task>) -> Option<Made> {
        let made = self.made.get(&task).copied();
        if made.is_none() {
            stack.push(task);
        }
        made
    }

    fn inside(&mut self, v: VtreeId, formula: Handle, stack: &mut Vec<Task>) -> Result<Option<Made>, LearnError> {
        let vtree = self.circuit.vtree();
        let Some([left, right]) = vtree.children(v) else {
            return Ok(Some(match self.manager.lit_of(formula) {
                Some(lit) => Made::Node(self.builder.literal(lit)?, LOG_HALF),
                None => {
                    let var = vtree.leaf_var(v).expect("a vtree node is a leaf or has children");
                    Made::Node(self.builder.top(var, [LOG_HALF; 2])?, 0.0)
                }
            }));
        };
        let waiting = stack.len();
        let mut elements = Vec::new();
        for (q, t) in self.manager.elements_at(formula, v).into_iter().filter(|(_, t)| *t != Handle::FALSE) {
            let sides = [Task::Inside(left, q), Task::Inside(right, t)].map(|task| self.needed(task, stack));
            if let [Some(Made::Node(prime, a)), Some(Made::Node(sub, b))] = sides {
                elements.push((prime, sub, a + b));
            }
        }
        if stack.len() > waiting { Ok(None) } else { self.sum(v, elements).map(Some) }
    }

    fn given(&mut self, node: NodeId, formula: Handle, stack: &mut Vec<Task>) -> Result<Option<Made>, LearnError> {
        let copy = self.copies[node.index()];
        let v = match (self.circuit.node(node), self.manager.lit_of(formula)) {
            _ if formula == Handle::TRUE => return Ok(Some(Made::Node(copy, 0.0))),
            _ if formula == Handle::FALSE => return Ok(Some(Made::Nothing)),
            (Node::Literal(own), Some(lit)) if own == lit => return Ok(Some(Made::Node(copy, 0.0))),
            (Node::Top { slot, .. }, Some(lit)) => {
                let log = self.circuit.log_parameters().tops[slot as usize][usize::from(lit.value)];
                return Ok(Some(Made::Node(self.builder.literal(lit)?, log)));
            }
            (Node::Sum { vtree, .. }, _) => vtree,
            _ => return Ok(Some(Made::Nothing)),
        };
        let waiting = stack.len();
        let terms = self.manager.elements_at(formula, v);
        let mut elements = Vec::new();
        for (element, theta) in self.circuit.elements_of(node) {
            for &(q, t) in terms.iter().filter(|(_, t)| *t != Handle::FALSE) {
                let Some(Made::Node(prime, a)) = self.needed(Task::Given(element.prime, q), stack) else { continue };
                if let Some(Made::Node(sub, b)) = self.needed(Task::Given(element.sub, t), stack) {
                    elements.push((prime, sub, theta + a + b));
                }
            }
        }
        if stack.len() > waiting { Ok(None) } else { self.sum(v, elements).map(Some) }
    }

    /// The normalised sum, and the logarithm of its total.
    fn sum(&mut self, v: VtreeId, mut elements: Vec<(NodeId, NodeId, f64)>) -> Result<Made, LearnError> {
        if elements.is_empty() {
            return Ok(Made::Nothing);
        }
        let total = log_sum(elements.iter().map(|element| element.2));
        elements.iter_mut().for_each(|element| element.2 = (element.2 - total).min(0.0));
        Ok(Made::Node(self.builder.sum(v, &elements)?, total))
    }

    fn grow(&mut self, node: NodeId, formula: Handle, stack: &mut Vec<Task>) -> Result<Option<Made>, LearnError> {
        let v = match self.circuit.node(node) {
            Node::Sum { vtree, .. } => vtree,
            Node::Literal(lit) => {
                let vtree = self.circuit.vtree().leaf(lit.var);
                return Ok(Some(self.push(vtree, Parts::Leaf(lit), LOG_HALF)));
            }
            Node::Top { .. } => unreachable!("a ⊤ allows every value, so none is new"),
        };
        let [left, right] = self.circuit.vtree().children(v).expect("sums are at inner vtree nodes");
        let waiting = stack.len();
        let terms = self.manager.elements_at(formula, v);
        let (mut parts, mut new, mut primes) = (Vec::new(), Vec::new(), Vec::new());
        for (element, theta) in self.circuit.elements_of(node) {
            primes.push(self.bases[element.prime.index()]);
            for &(q, t) in &terms {
                let Some(Made::Node(prime, log)) = self.needed(Task::Given(element.prime, q), stack) else { continue };
                if t == Handle::FALSE {
                    parts.push((prime, Sub::Kept(self.copies[element.sub.index()]), theta + log));
                } else if let Some(Made::Grown(sub, log_new)) = self.needed(Task::Grow(element.sub, t), stack) {
                    parts.push((prime, Sub::Grown(sub), theta + log));
                    new.push(theta + log + log_new);
                }
            }
        }
        let outside = !self.manager.or_all(primes)?;
        for &(q, t) in terms.iter().filter(|(_, t)| *t != Handle::FALSE) {
            let region = self.manager.and(q, outside)?;
            if region == Handle::FALSE {
                continue;
            }
            let sides = [Task::Inside(left, region), Task::Inside(right, t)].map(|task| self.needed(task, stack));
            if let [Some(Made::Node(prime, a)), Some(Made::Node(sub, b))] = sides {
                parts.push((prime, Sub::New(sub), a + b));
                new.push(a + b);
            }
        }
        if stack.len() > waiting {
            return Ok(None);
        }
        Ok(Some(self.push(v, Parts::Sum(parts), log_sum(new.into_iter()))))
    }

    fn push(&mut self, vtree: VtreeId, parts: Parts, log_new: f64) -> Made {
        self.grown.push(Grown { vtree, parts, log_new });
        Made::Grown(self.grown.len() - 1, log_new)
    }

    /// The circuit, once ε is known: the last node that grew is the root.
    fn finish(mut self, log_ratio: f64) -> Result<Circuit, LearnError> {
        let log_epsilon = log_ratio - self.grown.last().expect("the root grew").log_new;
        let totals: Vec<f64> = self.grown.iter().map(|grown| log_add(0.0, log_epsilon + grown.log_new)).collect();
        let mut nodes: Vec<NodeId> = Vec::with_capacity(self.grown.len());
        for (grown, total) in self.grown.iter().zip(&totals) {
            nodes.push(match &grown.parts {
                Parts::Leaf(lit) => {
                    let side = |value| if value == lit.value { -total } else { log_epsilon + LOG_HALF - total };
                    self.builder.top(lit.var, [false, true].map(|value| side(value).min(0.0)))?
                }
                Parts::Sum(parts) => {
                    let element = |&(prime, sub, log): &(NodeId, Sub, f64)| {
                        let (sub, factor) = match sub {
                            Sub::Kept(sub) => (sub, 0.0),
                            Sub::Grown(i) => (nodes[i], totals[i]),
                            Sub::New(sub) => (sub, log_epsilon),
                        };
                        (prime, sub, (log + factor - total).min(0.0))
                    };
                    let elements: Vec<_> = parts.iter().map(element).collect();
                    self.builder.sum(grown.vtree, &elements)?
                }
            });
        }
        let root = *nodes.last().expect("the root grew");
        Ok(self.builder.finish(root)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::{Formula, Limits};
    use crate::{Random, Var, Vtree};

    /// Worlds chosen at random, as a formula.
    fn some(random: &mut Random, vars: usize, chosen: impl Fn(usize, usize) -> bool) -> (Vec<bool>, Formula) {
        let table: Vec<bool> = (0..1usize << vars).map(|world| chosen(world, random.below(100))).collect();
        let term = |world: usize| Formula::and((0..vars).map(|i| Var(i as u32).is(world >> i & 1 == 1).into()));
        let worlds = (0..table.len()).filter(|&world| table[world]).map(term);
        (table.clone(), Formula::or(worlds))
    }

    /// Success, inclusion and preservation, with exact proportions of the old worlds and an exact share of the new.
    #[test]
    fn regions_become_possible_and_nothing_else_does() {
        let mut tried = 0;
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let vars = 1 + random.below(6);
            let (density, more) = (5 + random.below(80), 5 + random.below(80));
            let vtree = std::sync::Arc::new(Vtree::random(vars, seed));
            let (base, formula) = some(&mut random, vars, |_, dice| dice < density);
            let (new, extra) = some(&mut random, vars, |world, dice| !base[world] && dice < more);
            if !base.contains(&true) || !new.contains(&true) {
                continue;
            }
            tried += 1;
            let trues: Vec<f64> = (0..vars).map(|_| (1.0 + random.below(8) as f64) / 10.0).collect();
            let sdd = formula.compile(vtree.clone(), &Limits::default()).unwrap();
            let psdd = sdd.to_circuit().unwrap().independent(&trues).certify(&Limits::default()).unwrap();
            let mut manager = Manager::new(vtree, Limits::default());
            let bases = manager.bases_of(&psdd).unwrap();
            let new_handle = manager.compile(&extra).unwrap();
            let revised = psdd.with_region(manager, bases, new_handle, [2.0, 6.0], &Limits::default()).unwrap();
            let mut share = 0.0;
            for world in 0..1usize << vars {
                let cells: Vec<bool> = (0..vars).map(|i| world >> i & 1 == 1).collect();
                let [before, after] = [&psdd, &revised.psdd].map(|p| p.log_probability(&cells).unwrap().exp());
                assert_eq!(after > 0.0, base[world] || new[world], "seed {seed}, world {world:b}");
                match base[world] {
                    true => assert!((after - 0.75 * before).abs() < 1e-12, "seed {seed}: {after} {before}"),
                    false => share += after,
                }
            }
            assert!((share - 0.25).abs() < 1e-12 && revised.share == 0.25, "seed {seed}: {share}");
            let added = new.iter().filter(|&&is_new| is_new).count();
            assert_eq!(revised.added, added.into(), "seed {seed}");
        }
        assert!(tried > 150, "{tried}");
    }
}
