//! The certificate: are the primes of every sum exclusive?
//!
//! Two nodes of one vtree node share a world iff some pair of their elements has primes that share one and subs that
//! share one. With a memo on node pairs this is polynomial and needs structured decomposability only. Two shortcuts
//! make it fast: nodes that fix some variable to different values are exclusive at once (the separation lemma, which
//! is how certified SLoPP is built), and a found pair of elements is kept, so that a witness world can be read off.

use super::fixed::Fixed;
use super::{Circuit, Deterministic, Node, NodeId, PARAMETER_TOLERANCE, ParameterFault, Psdd};
use rustc_hash::FxHashMap;
use std::fmt;

/// Two elements of a sum whose primes share a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The sum.
    pub node: NodeId,
    /// Positions of the two elements in the sum, from zero.
    pub elements: (usize, usize),
    /// Whether the elements are exclusive nevertheless, because their subs are: *weak* determinism.
    pub weak: bool,
    /// A possible world that reaches the sum and satisfies both primes; both elements, unless `weak`.
    pub witness: Vec<bool>,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overlap { node: NodeId(node), elements: (i, j), .. } = self;
        let world: String = self.witness.iter().map(|&x| if x { '1' } else { '0' }).collect();
        match self.weak {
            false => write!(f, "node {node}: elements {i} and {j} share the world {world}"),
            true => write!(
                f,
                "node {node}: the primes of elements {i} and {j} share the world {world}, their subs exclude each other"
            ),
        }
    }
}

/// All sums with overlapping primes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// How many sums have two primes that share a world.
    pub sums: usize,
    /// How many of those are deterministic nevertheless, because the elements are exclusive.
    pub weak_sums: usize,
    /// One overlap for each of the first such sums, up to the limit asked for.
    pub examples: Vec<Overlap>,
}

/// Why a circuit has no certificate.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Two elements of a sum, or their primes, share a world.
    Overlap(Overlap),
    /// The parameters of a sum do not add up to one, within [`PARAMETER_TOLERANCE`].
    Parameters(ParameterFault),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Overlap(overlap) => overlap.fmt(f),
            Reason::Parameters(ParameterFault { node, total }) => {
                write!(f, "node {}: its parameters add up to {total}, not to 1; renormalise the circuit", node.0)
            }
        }
    }
}

/// A circuit that failed its certificate, given back unharmed with the reason.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The circuit.
    pub circuit: Box<Circuit>,
    /// The first reason found.
    pub reason: Reason,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a PSDD: {}", self.reason)
    }
}

impl std::error::Error for Refusal {}

impl Circuit {
    /// Proves that parameters add up to one and the primes of every sum are exclusive, which makes this a [`Psdd`].
    ///
    /// Time: for circuits from certified learners one bit-set comparison per pair of elements; at worst the product of
    /// the sizes of the pairs of nodes compared. Memory: a few words per node, and per pair that had to be searched.
    pub fn certify(self) -> Result<Psdd, Refusal> {
        match self.first_reason(true) {
            None => Ok(Psdd::proved(self)),
            Some(reason) => Err(Refusal { circuit: Box::new(self), reason }),
        }
    }

    /// Proves that parameters add up to one and the elements of every sum are exclusive: every world has at most one
    /// derivation.
    ///
    /// Weaker than [`Circuit::certify`]: primes may overlap where the subs exclude each other. Enough for every query
    /// that needs determinism.
    pub fn certify_deterministic(self) -> Result<Deterministic, Refusal> {
        match self.first_reason(false) {
            None => Ok(Deterministic::proved(self)),
            Some(reason) => Err(Refusal { circuit: Box::new(self), reason }),
        }
    }

    /// Every sum with overlapping primes, with examples for the first `limit`.
    pub fn overlaps(&self, limit: usize) -> Overlaps {
        let mut search = Search::new(self);
        let mut report = Overlaps::default();
        for node in self.ids() {
            let Some((elements, weak)) = search.overlap_of(node) else { continue };
            report.sums += 1;
            report.weak_sums += usize::from(weak);
            if report.examples.len() < limit {
                report.examples.push(search.explain(node, elements, weak));
            }
        }
        report
    }

    /// For every node whether its elements exclude each other; true for what has no elements.
    pub(crate) fn exclusive_sums(&self) -> Vec<bool> {
        let mut search = Search::new(self);
        self.ids().map(|node| search.overlap_of(node).is_none_or(|(_, weak)| weak)).collect()
    }

    fn first_reason(&self, also_weak: bool) -> Option<Reason> {
        if let Some(&fault) = self.parameter_faults(PARAMETER_TOLERANCE).first() {
            return Some(Reason::Parameters(fault));
        }
        let mut search = Search::new(self);
        let mut found = self.ids().filter_map(|node| search.overlap_of(node).map(|(pair, weak)| (node, pair, weak)));
        let (node, pair, weak) = found.find(|&(_, _, weak)| also_weak || !weak)?;
        drop(found);
        Some(Reason::Overlap(search.explain(node, pair, weak)))
    }
}

/// Whether two nodes share a world: known for elements `(i, j)` of the two, or not at all.
#[derive(Clone, Copy)]
enum Verdict {
    Exclusive,
    Shared(u32, u32),
}

/// Sums with more elements than this do not remember which of their primes are exclusive.
const MANY_ELEMENTS: usize = 256;

struct Search<'a> {
    circuit: &'a Circuit,
    fixed: Fixed,
    memo: FxHashMap<(NodeId, NodeId), Verdict>,
}

/// A pair of sums under comparison and the pair of elements it has come to.
struct Frame {
    pair: (NodeId, NodeId),
    i: usize,
    j: usize,
}

impl<'a> Search<'a> {
    fn new(circuit: &'a Circuit) -> Search<'a> {
        Search { circuit, fixed: Fixed::new(circuit), memo: FxHashMap::default() }
    }

    /// Two elements of a sum with overlapping primes and whether they are exclusive nevertheless; a pair of elements
    /// that truly overlap is preferred.
    fn overlap_of(&mut self, node: NodeId) -> Option<((usize, usize), bool)> {
        let range = self.circuit.element_range(node);
        let elements = &self.circuit.elements()[range];
        // The pairs of a large sum are too many to remember, and each of them is asked about once.
        let remember = elements.len() <= MANY_ELEMENTS;
        let mut weak = None;
        for (j, b) in elements.iter().enumerate() {
            for (i, a) in elements[..j].iter().enumerate() {
                if self.share_a_world(a.prime, b.prime, remember) {
                    if self.share_a_world(a.sub, b.sub, remember) {
                        return Some(((i, j), false));
                    }
                    weak = weak.or(Some(((i, j), true)));
                }
            }
        }
        weak
    }

    /// Whether two nodes share a world; that they do not is kept in the memo only if told to `remember`.
    fn share_a_world(&mut self, a: NodeId, b: NodeId, remember: bool) -> bool {
        if let Some(verdict) = self.known(a, b) {
            return matches!(verdict, Verdict::Shared(..));
        }
        let mut stack = vec![Frame { pair: ordered(a, b), i: 0, j: 0 }];
        while let Some(frame) = stack.last_mut() {
            let (a, b) = frame.pair;
            let (left, right) = (self.circuit.element_range(a), self.circuit.element_range(b));
            let verdict = loop {
                if frame.i == left.len() {
                    break Some(Verdict::Exclusive);
                }
                let (x, y) =
                    (self.circuit.elements[left.start + frame.i], self.circuit.elements[right.start + frame.j]);
                let primes = self.known(x.prime, y.prime);
                let open = match primes {
                    None => Some((x.prime, y.prime)),
                    Some(Verdict::Exclusive) => None,
                    Some(Verdict::Shared(..)) => match self.known(x.sub, y.sub) {
                        None => Some((x.sub, y.sub)),
                        Some(Verdict::Exclusive) => None,
                        Some(Verdict::Shared(..)) => break Some(Verdict::Shared(frame.i as u32, frame.j as u32)),
                    },
                };
                if let Some((p, q)) = open {
                    stack.push(Frame { pair: ordered(p, q), i: 0, j: 0 });
                    break None;
                }
                frame.j += 1;
                if frame.j == right.len() {
                    (frame.i, frame.j) = (frame.i + 1, 0);
                }
            };
            if let Some(verdict) = verdict {
                let shared = matches!(verdict, Verdict::Shared(..));
                if stack.len() > 1 || shared || remember {
                    self.memo.insert((a, b), verdict);
                }
                if stack.len() == 1 {
                    return shared;
                }
                stack.pop();
            }
        }
        unreachable!("the search ends with its first frame")
    }

    /// What is known about two nodes of one vtree node without searching.
    fn known(&self, a: NodeId, b: NodeId) -> Option<Verdict> {
        if a == b {
            return Some(Verdict::Shared(0, 0));
        }
        match (self.circuit.node(a), self.circuit.node(b)) {
            (Node::Literal(x), Node::Literal(y)) if x != y => Some(Verdict::Exclusive),
            (Node::Sum { .. }, Node::Sum { .. }) if self.fixed.differ(a, b) => Some(Verdict::Exclusive),
            (Node::Sum { .. }, Node::Sum { .. }) => self.memo.get(&ordered(a, b)).copied(),
            _ => Some(Verdict::Shared(0, 0)),
        }
    }

    /// A world that two nodes share, written into `world`.
    fn write_shared(&self, a: NodeId, b: NodeId, world: &mut [bool]) {
        let mut stack = vec![ordered(a, b)];
        while let Some((a, b)) = stack.pop() {
            match (self.circuit.node(a), self.circuit.node(b)) {
                (Node::Literal(lit), _) | (_, Node::Literal(lit)) => world[lit.var.index()] = lit.value,
                (Node::Sum { .. }, Node::Sum { .. }) => {
                    let (i, j) = match self.known(a, b) {
                        Some(Verdict::Shared(i, j)) => (i as usize, j as usize),
                        _ => unreachable!("only pairs that share a world are written"),
                    };
                    let x = self.circuit.elements[self.circuit.element_range(a).start + i];
                    let y = self.circuit.elements[self.circuit.element_range(b).start + j];
                    stack.extend([ordered(x.prime, y.prime), ordered(x.sub, y.sub)]);
                }
                _ => {}
            }
        }
    }

    /// The overlap with a witness that is a possible world of the whole circuit.
    fn explain(&self, node: NodeId, elements: (usize, usize), weak: bool) -> Overlap {
        let circuit = self.circuit;
        let mut witness = vec![false; circuit.var_count()];
        let range = circuit.element_range(node);
        let (a, b) = (circuit.elements[range.start + elements.0], circuit.elements[range.start + elements.1]);
        // The branches beside the way from the root to the node, then the node itself: all variables, once each.
        let mut way = Vec::new();
        let mut child = node;
        for parent in (node.0 + 1..circuit.nodes.len() as u32).map(NodeId) {
            if let Some((element, _)) = circuit.elements_of(parent).find(|(e, _)| e.prime == child || e.sub == child) {
                way.push(if element.prime == child { element.sub } else { element.prime });
                child = parent;
            }
        }
        for sibling in way {
            self.write_shared(sibling, sibling, &mut witness);
        }
        self.write_shared(a.sub, if weak { a.sub } else { b.sub }, &mut witness);
        self.write_shared(a.prime, b.prime, &mut witness);
        Overlap { node, elements, weak, witness }
    }
}

fn ordered(a: NodeId, b: NodeId) -> (NodeId, NodeId) {
    if a <= b { (a, b) } else { (b, a) }
}
