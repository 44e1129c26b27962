//! Pairs of nodes that share a world, or none.
//!
//! Two nodes of one vtree node share a world iff some pair of their elements has primes that share one and subs that
//! share one. With a memo on node pairs this is polynomial and needs structured decomposability only. Two nodes that
//! fix some variable to different values are exclusive at once (the separation lemma, which is how certified SLoPP is
//! built), and a found pair of elements is kept, so that a witness world can be read off.

use super::fixed::Fixed;
use super::sets::{Answer, Sets};
use super::{Circuit, Node, NodeId, Overlap};
use crate::limits::{LOOK_EVERY, Limit, Limits, table_bytes};
use rustc_hash::FxHashMap;

/// Whether two nodes share a world: known for elements `(i, j)` of the two, or not at all.
#[derive(Clone, Copy)]
pub(super) enum Verdict {
    Exclusive,
    Shared(u32, u32),
}

/// Sums with more elements than this do not remember which of their primes are exclusive.
const MANY_ELEMENTS: usize = 256;

/// How many pairs of elements may be compared for every pair of nodes that is allowed, which bounds time.
const STEPS_PER_NODE: u64 = 64;

pub(super) struct Search<'a> {
    pub(super) circuit: &'a Circuit,
    pub(super) fixed: Fixed,
    pub(super) sets: Sets,
    memo: FxHashMap<(NodeId, NodeId), Verdict>,
    limits: &'a Limits,
    /// Pairs of nodes that were searched.
    pairs: usize,
    /// Pairs of elements that were compared.
    steps: u64,
}

/// Positions of two elements of a sum whose primes overlap, and whether the elements are exclusive nevertheless.
type Found = ((usize, usize), bool);

/// A pair of sums under comparison and the pair of elements it has come to.
struct Frame {
    pair: (NodeId, NodeId),
    i: usize,
    j: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(circuit: &'a Circuit, limits: &'a Limits) -> Search<'a> {
        let fixed = Fixed::new(circuit, limits.bytes / 4);
        Search { circuit, fixed, sets: Sets::new(circuit), memo: FxHashMap::default(), limits, pairs: 0, steps: 0 }
    }

    /// Two elements of a sum with overlapping primes and whether they are exclusive nevertheless; a pair of elements
    /// that truly overlap is preferred.
    pub(super) fn overlap_of(&mut self, node: NodeId) -> Result<Option<Found>, Limit> {
        let circuit = self.circuit;
        let elements = &circuit.elements[circuit.element_range(node)];
        // The pairs of a large sum are too many to remember, and each of them is asked about once.
        let remember = elements.len() <= MANY_ELEMENTS;
        if elements.len() > 2 {
            match self.primes_of(elements)? {
                Answer::Exclusive => return Ok(None),
                Answer::Shared(a, b) => {
                    let place = |prime: NodeId| elements.iter().position(|element| element.prime == prime);
                    let last = elements.iter().rposition(|element| element.prime == b);
                    if let (Some(i), Some(j)) = (place(a), last)
                        && self.share_a_world(elements[i].sub, elements[j].sub, remember)?
                    {
                        return Ok(Some(((i.min(j), i.max(j)), false)));
                    }
                }
                Answer::Open => {}
            }
        }
        let mut weak = None;
        for (j, b) in elements.iter().enumerate() {
            for (i, a) in elements[..j].iter().enumerate() {
                self.step()?;
                if self.share_a_world(a.prime, b.prime, remember)? {
                    if self.share_a_world(a.sub, b.sub, remember)? {
                        return Ok(Some(((i, j), false)));
                    }
                    weak = weak.or(Some(((i, j), true)));
                }
            }
        }
        Ok(weak)
    }

    /// Counts a comparison, and looks at what is in use once in a while.
    fn step(&mut self) -> Result<(), Limit> {
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK_EVERY as u64) { self.check() } else { Ok(()) }
    }

    /// Looks at what is in use.
    pub(super) fn check(&self) -> Result<(), Limit> {
        let steps = self.limits.steps.min((self.limits.nodes as u64).saturating_mul(STEPS_PER_NODE));
        let bytes = self.fixed.bytes() + self.sets.bytes() + table_bytes(&self.memo);
        match () {
            _ if bytes > self.limits.bytes => Err(Limit::Bytes(self.limits.bytes)),
            _ if self.steps > steps => Err(Limit::Steps(steps)),
            _ if self.limits.is_cancelled() => Err(Limit::Cancelled),
            _ => Ok(()),
        }
    }

    /// Whether two nodes share a world; that they do not is kept in the memo only if told to `remember`.
    fn share_a_world(&mut self, a: NodeId, b: NodeId, remember: bool) -> Result<bool, Limit> {
        if let Some(verdict) = self.known(a, b) {
            return Ok(matches!(verdict, Verdict::Shared(..)));
        }
        let mut stack = vec![Frame { pair: ordered(a, b), i: 0, j: 0 }];
        while let Some(frame) = stack.last_mut() {
            let (a, b) = frame.pair;
            let (left, right) = (self.circuit.element_range(a), self.circuit.element_range(b));
            let verdict = loop {
                if frame.i == left.len() {
                    break Some(Verdict::Exclusive);
                }
                self.step()?;
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
                self.pairs += 1;
                if self.pairs > self.limits.nodes {
                    return Err(Limit::Nodes(self.limits.nodes));
                }
                let shared = matches!(verdict, Verdict::Shared(..));
                if stack.len() > 1 || shared || remember {
                    self.memo.insert((a, b), verdict);
                }
                if stack.len() == 1 {
                    return Ok(shared);
                }
                stack.pop();
            }
        }
        unreachable!("the search ends with its first frame")
    }

    /// What is known about two nodes of one vtree node without searching.
    pub(super) fn known(&self, a: NodeId, b: NodeId) -> Option<Verdict> {
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

    /// Keeps that element `i` of one node and `j` of another share a world.
    pub(super) fn keep_shared(&mut self, (a, i): (NodeId, u32), (b, j): (NodeId, u32)) {
        let (i, j) = if a <= b { (i, j) } else { (j, i) };
        self.memo.insert(ordered(a, b), Verdict::Shared(i, j));
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
    pub(super) fn explain(&self, node: NodeId, elements: (usize, usize), weak: bool) -> Overlap {
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
