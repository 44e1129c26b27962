//! All possible worlds, one by one, and their number.

use super::{Evidence, QueryError};
use crate::circuit::{Deterministic, Node, NodeId};
use crate::data::Records;
use num_bigint::BigUint;

/// The possible worlds that agree with evidence, in the order of the circuit; from [`Deterministic::worlds`].
///
/// A depth-first walk over derivations: `trail` is the derivation of the last world. The nodes still to be derived at
/// each step are a linked list, so going back is free.
#[derive(Clone, Debug)]
pub struct Worlds<'a> {
    circuit: &'a Deterministic,
    evidence: Evidence,
    /// Whether a node has a world that agrees with the evidence.
    alive: Vec<bool>,
    world: Vec<bool>,
    trail: Vec<Step>,
    agenda: Vec<Agenda>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Start,
    Running,
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    node: NodeId,
    /// Element, or value of ⊤.
    choice: u32,
    /// The nodes to derive after this one.
    next: Option<u32>,
    /// The length of the agenda.
    agenda: u32,
}

#[derive(Clone, Copy, Debug)]
struct Agenda {
    node: NodeId,
    next: Option<u32>,
}

impl Deterministic {
    /// All possible worlds that agree with evidence, each once, lazily, in an order fixed by the circuit.
    ///
    /// None if the evidence is impossible. Cost: elements once, then at most the variables of the vtree per world.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::Evidence};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// let worlds: Vec<_> = psdd.worlds(&Evidence::none(2))?.collect();
    /// assert_eq!(worlds, [[true, false], [true, true]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn worlds(&self, evidence: &Evidence) -> Result<Worlds<'_>, QueryError> {
        self.check_evidence(evidence)?;
        let mut alive = Vec::with_capacity(self.nodes().len());
        for (id, node) in self.ids().zip(self.nodes()) {
            alive.push(match *node {
                Node::Literal(lit) => evidence.allows(lit),
                Node::Top { .. } => true,
                Node::Sum { .. } => self.elements_of(id).any(|(e, _)| alive[e.prime.index()] && alive[e.sub.index()]),
            });
        }
        Ok(Worlds {
            circuit: self,
            evidence: evidence.clone(),
            alive,
            world: vec![false; self.var_count()],
            trail: Vec::new(),
            agenda: Vec::new(),
            state: State::Start,
        })
    }
}

impl Worlds<'_> {
    /// The first choice of a node from `from` on that agrees with the evidence.
    fn choice(&self, node: NodeId, from: u32) -> Option<u32> {
        match self.circuit.node(node) {
            Node::Literal(_) => (from == 0).then_some(0),
            Node::Top { var, .. } => (from..2).find(|&value| self.evidence.allows(var.is(value == 1))),
            Node::Sum { start, end, .. } => (start.max(from)..end).find(|&e| {
                let element = self.circuit.elements()[e as usize];
                self.alive[element.prime.index()] && self.alive[element.sub.index()]
            }),
        }
    }

    /// Makes a choice and returns the next node to derive.
    fn take(&mut self, step: Step) -> Option<u32> {
        self.agenda.truncate(step.agenda as usize);
        self.trail.push(step);
        match self.circuit.node(step.node) {
            Node::Literal(lit) => self.world[lit.var.index()] = lit.value,
            Node::Top { var, .. } => self.world[var.index()] = step.choice == 1,
            Node::Sum { .. } => {
                let element = self.circuit.elements()[step.choice as usize];
                self.agenda.push(Agenda { node: element.sub, next: step.next });
                self.agenda.push(Agenda { node: element.prime, next: Some(step.agenda) });
                return Some(step.agenda + 1);
            }
        }
        step.next
    }

    /// Goes back to the last step with another choice, and takes it.
    fn back(&mut self) -> Option<Option<u32>> {
        while let Some(step) = self.trail.pop() {
            if let Some(choice) = self.choice(step.node, step.choice + 1) {
                return Some(self.take(Step { choice, ..step }));
            }
        }
        None
    }
}

impl Iterator for Worlds<'_> {
    type Item = Vec<bool>;

    fn next(&mut self) -> Option<Vec<bool>> {
        let root = self.circuit.root();
        let begun = match self.state {
            State::Start if self.alive[root.index()] => {
                self.agenda.push(Agenda { node: root, next: None });
                Some(Some(0))
            }
            State::Running => self.back(),
            State::Start | State::Done => None,
        };
        let Some(mut next) = begun else {
            self.state = State::Done;
            return None;
        };
        self.state = State::Running;
        while let Some(place) = next {
            let Agenda { node, next: after } = self.agenda[place as usize];
            let choice = self.choice(node, 0).expect("nodes that are alive have a choice");
            next = self.take(Step { node, choice, next: after, agenda: self.agenda.len() as u32 });
        }
        Some(self.world.clone())
    }
}

impl std::iter::FusedIterator for Worlds<'_> {}

impl Deterministic {
    /// The number of possible worlds, exactly.
    ///
    /// `#(sum) = Σ #(prime) · #(sub)`, as elements are exclusive; ⊤ has two worlds. Cost: elements, each with numbers
    /// of one bit per variable.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// assert_eq!(psdd.model_count().to_string(), "2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn model_count(&self) -> BigUint {
        let mut counts: Vec<BigUint> = vec![BigUint::ZERO; self.nodes().len()];
        for &v in self.vtree().bottom_up() {
            for i in self.layer(v) {
                counts[i] = match self.nodes()[i] {
                    Node::Literal(_) => BigUint::from(1u32),
                    Node::Top { .. } => BigUint::from(2u32),
                    Node::Sum { start, end, .. } => self.elements()[start as usize..end as usize]
                        .iter()
                        .map(|e| &counts[e.prime.index()] * &counts[e.sub.index()])
                        .sum(),
                };
            }
            // Only the layer of the parent reads the layers of its children: on deep vtrees memory stays small.
            for child in self.vtree().children(v).into_iter().flatten() {
                // Not `fill`, which would keep the allocations of the numbers.
                counts[self.layer(child)].iter_mut().for_each(|count| *count = BigUint::ZERO);
            }
        }
        counts.swap_remove(self.root().index())
    }

    /// Whether the base is the closed-world formula φ(D) of complete records: exactly the records are possible.
    ///
    /// All records are possible, and there are no more possible worlds than distinct records.
    ///
    /// ```
    /// # use slopp::{Builder, Names, Records, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// let records = |rows: &[[bool; 2]]| Records::from_rows(Names::numbered(2), rows.iter().copied());
    /// assert!(psdd.equals_closed_world(&records(&[[true, true], [true, false]]))?);
    /// assert!(!psdd.equals_closed_world(&records(&[[true, true]]))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn equals_closed_world(&self, records: &Records) -> Result<bool, QueryError> {
        Ok(self.entailed_by(records)? && self.model_count() == BigUint::from(records.len()))
    }
}
