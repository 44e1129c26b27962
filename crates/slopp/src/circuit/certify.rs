//! The certificate: are the primes of every sum exclusive?
//!
//! Two nodes of one vtree node share a world iff some pair of their elements has primes that share one and subs that
//! share one. With a memo on node pairs this is polynomial and needs structured decomposability only. Two shortcuts
//! make it fast: nodes that fix some variable to different values are exclusive at once (the separation lemma, which
//! is how certified SLoPP is built), and a found pair of elements is kept, so that a witness world can be read off.

use super::{Circuit, Deterministic, Node, NodeId, Psdd};
use crate::var::Lit;
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
    pub weak: usize,
    /// One overlap for each of the first such sums, up to the limit asked for.
    pub examples: Vec<Overlap>,
}

/// A circuit that failed its certificate, given back unharmed with the reason.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The circuit.
    pub circuit: Box<Circuit>,
    /// The first overlap found.
    pub overlap: Overlap,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a PSDD: {}", self.overlap)
    }
}

impl std::error::Error for Refusal {}

impl Circuit {
    /// Proves that the primes of every sum are exclusive, which makes this circuit a [`Psdd`].
    ///
    /// Cost: at most the product of the sizes of the pairs of nodes compared; for circuits from certified learners
    /// one bit-set comparison per pair of elements.
    pub fn certify(self) -> Result<Psdd, Refusal> {
        match self.first_overlap(true) {
            None => Ok(Psdd::proved(self)),
            Some(overlap) => Err(Refusal { circuit: Box::new(self), overlap }),
        }
    }

    /// Proves that the elements of every sum are exclusive: every world has at most one derivation.
    ///
    /// Weaker than [`Circuit::certify`]: primes may overlap where the subs exclude each other. Enough for every query
    /// that needs determinism.
    pub fn certify_deterministic(self) -> Result<Deterministic, Refusal> {
        match self.first_overlap(false) {
            None => Ok(Deterministic::proved(self)),
            Some(overlap) => Err(Refusal { circuit: Box::new(self), overlap }),
        }
    }

    /// Every sum with overlapping primes, with examples for the first `limit`.
    pub fn overlaps(&self, limit: usize) -> Overlaps {
        let mut search = Search::new(self);
        let mut report = Overlaps::default();
        for node in self.ids() {
            let Some((elements, weak)) = search.overlap_of(node) else { continue };
            report.sums += 1;
            report.weak += usize::from(weak);
            if report.examples.len() < limit {
                report.examples.push(search.explain(node, elements, weak));
            }
        }
        report
    }

    fn first_overlap(&self, also_weak: bool) -> Option<Overlap> {
        let mut search = Search::new(self);
        let mut found = self.ids().filter_map(|node| search.overlap_of(node).map(|(pair, weak)| (node, pair, weak)));
        let (node, pair, weak) = found.find(|&(_, _, weak)| also_weak || !weak)?;
        drop(found);
        Some(search.explain(node, pair, weak))
    }
}

/// Whether two nodes share a world: known for elements `(i, j)` of the two, or not at all.
#[derive(Clone, Copy)]
enum Verdict {
    Exclusive,
    Shared(u32, u32),
}

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
        let mut weak = None;
        for (j, b) in elements.iter().enumerate() {
            for (i, a) in elements[..j].iter().enumerate() {
                if self.share_a_world(a.prime, b.prime) {
                    if self.share_a_world(a.sub, b.sub) {
                        return Some(((i, j), false));
                    }
                    weak = weak.or(Some(((i, j), true)));
                }
            }
        }
        weak
    }

    fn share_a_world(&mut self, a: NodeId, b: NodeId) -> bool {
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
                self.memo.insert((a, b), verdict);
                stack.pop();
            }
        }
        matches!(self.known(a, b), Some(Verdict::Shared(..)))
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
        // Some world of everything, then the branches on the way to the node, then the node itself.
        self.write_shared(circuit.root(), circuit.root(), &mut witness);
        let mut way = Vec::new();
        let mut child = node;
        for parent in (node.0 + 1..circuit.nodes.len() as u32).map(NodeId) {
            if let Some((element, _)) = circuit.elements_of(parent).find(|(e, _)| e.prime == child || e.sub == child) {
                way.push(element);
                child = parent;
            }
        }
        for element in way.into_iter().rev() {
            self.write_shared(element.prime, element.prime, &mut witness);
            self.write_shared(element.sub, element.sub, &mut witness);
        }
        self.write_shared(a.sub, if weak { a.sub } else { b.sub }, &mut witness);
        self.write_shared(a.prime, b.prime, &mut witness);
        Overlap { node, elements, weak, witness }
    }
}

fn ordered(a: NodeId, b: NodeId) -> (NodeId, NodeId) {
    if a <= b { (a, b) } else { (b, a) }
}

/// For every node inside a prime, the literals that hold in all its worlds: bit sets over leaf positions.
struct Fixed {
    /// Where the words of a node start; the second half of a node's words are the literals fixed to true.
    start: Vec<usize>,
    words: Vec<u64>,
}

/// Above this many words the sets would cost more than they save: `Fixed` stays empty.
const MAX_FIXED_WORDS: usize = 1 << 26;

impl Fixed {
    fn new(circuit: &Circuit) -> Fixed {
        let vtree = circuit.vtree();
        // Only nodes that are inside the prime of some sum are ever compared.
        let mut inside = vec![false; vtree.node_count()];
        for &v in vtree.bottom_up().iter().rev() {
            if let Some(parent) = vtree.parent(v) {
                let is_left = vtree.children(parent).is_some_and(|[left, _]| left == v);
                inside[v.index()] = is_left || inside[parent.index()];
            }
        }
        let span = |v: crate::vtree::VtreeId| {
            let vars = vtree.vars(v);
            let position = |lit: usize| vtree.leaf(vars[lit]).index() / 2;
            (position(0) / 64, position(vars.len() - 1) / 64 + 1)
        };
        let mut start = Vec::with_capacity(circuit.nodes.len() + 1);
        let mut total = 0;
        for &v in vtree.bottom_up() {
            let (first, end) = span(v);
            for _ in circuit.layer(v) {
                start.push(total);
                total += if inside[v.index()] { 2 * (end - first) } else { 0 };
            }
        }
        start.push(total);
        if total > MAX_FIXED_WORDS {
            return Fixed { start: vec![0; circuit.nodes.len() + 1], words: Vec::new() };
        }
        let mut fixed = Fixed { start, words: vec![0; total] };
        let mut one = Vec::new();
        for &v in vtree.bottom_up().iter().filter(|v| inside[v.index()]) {
            let (first, end) = span(v);
            let width = end - first;
            for id in circuit.layer(v) {
                let at = fixed.start[id];
                match circuit.nodes[id] {
                    Node::Top { .. } => {}
                    Node::Literal(Lit { var, value }) => {
                        let bit = vtree.leaf(var).index() / 2;
                        fixed.words[at + usize::from(value) * width] |= 1 << (bit % 64);
                    }
                    Node::Sum { vtree: v, .. } => {
                        let [left, right] = vtree.children(v).expect("sums are at inner nodes");
                        let parts = [span(left), span(right)];
                        fixed.words[at..at + 2 * width].fill(u64::MAX);
                        for (element, _) in circuit.elements_of(NodeId(id as u32)) {
                            one.clear();
                            one.resize(2 * width, 0);
                            for (child, (child_first, child_end)) in [element.prime, element.sub].into_iter().zip(parts)
                            {
                                let (from, child_width) = (fixed.start[child.index()], child_end - child_first);
                                for value in 0..2 {
                                    for w in 0..child_width {
                                        one[value * width + child_first - first + w] |=
                                            fixed.words[from + value * child_width + w];
                                    }
                                }
                            }
                            for (all, this) in fixed.words[at..at + 2 * width].iter_mut().zip(&one) {
                                *all &= this;
                            }
                        }
                    }
                }
            }
        }
        fixed
    }

    /// Whether some variable is fixed to true in one and to false in the other.
    fn differ(&self, a: NodeId, b: NodeId) -> bool {
        let words = |id: NodeId| &self.words[self.start[id.index()]..self.start[id.index() + 1]];
        let (a, b) = (words(a), words(b));
        let width = a.len() / 2;
        a.len() == b.len() && (0..width).any(|w| a[w] & b[width + w] | a[width + w] & b[w] != 0)
    }
}
