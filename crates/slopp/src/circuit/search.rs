//! Pairs of nodes that share a world, or none.
//!
//! Two nodes of one vtree node share a world iff some pair of their elements has primes that share one and subs that
//! share one. With a memo on node pairs this is polynomial and needs only structured decomposability. Two nodes that
//! fix some variable to different values are exclusive at once (the separation lemma, on which certified SLoPP is
//! built). A pair of elements that is found is kept, so that a witness world can be read off.

use super::sets::{Answer, Sets};
use super::{Circuit, Element, Node, NodeId, Overlap};
use crate::limits::{LOOK_EVERY, Limit, Limits, table_bytes};
use crate::var::Lit;
use crate::vtree::VtreeId;
use rustc_hash::FxHashMap;

/// Whether two nodes share a world: in their elements `(i, j)`, or not at all.
#[derive(Clone, Copy)]
pub(super) enum Verdict {
    Exclusive,
    Shared(u32, u32),
}

/// Sums with more elements than this do not remember which primes are exclusive.
const MANY_ELEMENTS: usize = 256;

/// The most pairs of elements compared per pair of nodes allowed, which bounds time.
const STEPS_PER_NODE: u64 = 64;

/// The pairs of elements that may be compared per element of a sum before its primes are taken as a set. Where pairs
/// suffice, as in learned circuits, they cost less than sets; where they do not, little is lost.
const STEPS_BEFORE_SETS: u64 = 8;

/// The same per element of the circuit, for the first sums that need more: the primes of a few sums may be deep.
const STEPS_AT_FIRST: u64 = 2;

/// In sums with fewer elements than the first, pairs are compared anyway; with more than the second, even pairs that
/// differ in a fixed variable are too many.
const SOME_ELEMENTS: usize = 16;
const TOO_MANY_ELEMENTS: usize = 1024;

/// What a pair of nodes may need in memory while the table of pairs grows.
const BYTES_PER_PAIR: usize = 64;

pub(super) struct Search<'a> {
    pub(super) circuit: &'a Circuit,
    pub(super) fixed: Fixed,
    pub(super) sets: Sets,
    memo: FxHashMap<(NodeId, NodeId), Verdict>,
    limits: &'a Limits,
    /// Pairs of nodes searched.
    pairs: usize,
    /// Pairs of elements compared.
    steps: u64,
    /// How many more may be compared before sets, and how many may be added to that.
    before_sets: u64,
    to_add: u64,
    /// The number of comparisons at which pairs give way to sets, if not past.
    pause: u64,
    /// The number at which limits are checked, or pairs give way.
    next_stop: u64,
}

/// Positions of two elements of a sum whose primes overlap, and whether the elements are still exclusive.
type Found = ((usize, usize), bool);

/// A pair of sums in comparison and its current pair of elements.
struct Frame {
    pair: (NodeId, NodeId),
    i: usize,
    j: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(circuit: &'a Circuit, limits: &'a Limits) -> Search<'a> {
        let fixed = Fixed::new(circuit, limits.bytes / 4);
        // Most of what is allowed is left for the search after the sets.
        let to_add = (limits.nodes as u64).min(limits.steps).min((limits.bytes / BYTES_PER_PAIR) as u64) / 8;
        let before_sets = to_add.min(STEPS_AT_FIRST * circuit.elements.len() as u64);
        Search {
            circuit,
            fixed,
            sets: Sets::new(circuit),
            memo: FxHashMap::default(),
            limits,
            pairs: 0,
            steps: 0,
            before_sets,
            to_add: to_add - before_sets,
            pause: 0,
            next_stop: LOOK_EVERY as u64,
        }
    }

    /// Two elements of a sum with overlapping primes and whether they are still exclusive; a pair of elements that
    /// overlap is preferred.
    pub(super) fn overlap_of(&mut self, node: NodeId) -> Result<Option<Found>, Limit> {
        let circuit = self.circuit;
        let elements = &circuit.elements[circuit.element_range(node)];
        // The pairs of a large sum are too many to remember, and each is needed once.
        let remember = elements.len() <= MANY_ELEMENTS;
        if elements.len() > 2 {
            if let Some(found) = self.overlap_before_sets(elements, remember)? {
                return Ok(found);
            }
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
        self.overlap_by_pairs(elements, remember)
    }

    /// The overlap of a sum, if a few comparisons find it; what one sum does not need is left to others.
    fn overlap_before_sets(&mut self, elements: &[Element], remember: bool) -> Result<Option<Option<Found>>, Limit> {
        let more = self.to_add.min(STEPS_BEFORE_SETS * elements.len() as u64);
        self.to_add -= more;
        self.before_sets += more;
        if (SOME_ELEMENTS..=TOO_MANY_ELEMENTS).contains(&elements.len()) && self.differ_in_pairs(elements) {
            return Ok(Some(None));
        }
        if self.before_sets == 0 {
            return Ok(None);
        }
        self.pause = self.steps + self.before_sets;
        self.next_stop = self.next_stop.min(self.pause);
        let overlap = self.overlap_by_pairs(elements, remember);
        let is_paused = self.steps >= self.pause;
        self.before_sets = self.pause.saturating_sub(self.steps);
        self.pause = 0;
        if is_paused { Ok(None) } else { overlap.map(Some) }
    }

    /// Whether it is known of all primes that they are exclusive.
    fn differ_in_pairs(&self, elements: &[Element]) -> bool {
        let differ = |a: &Element, b: &Element| matches!(self.known(a.prime, b.prime), Some(Verdict::Exclusive));
        elements.iter().enumerate().all(|(j, b)| elements[..j].iter().all(|a| differ(a, b)))
    }

    fn overlap_by_pairs(&mut self, elements: &[Element], remember: bool) -> Result<Option<Found>, Limit> {
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

    /// Counts a comparison, and checks the limits now and then.
    #[inline]
    fn step(&mut self) -> Result<(), Limit> {
        self.steps += 1;
        if self.steps < self.next_stop { Ok(()) } else { self.stop() }
    }

    #[cold]
    fn stop(&mut self) -> Result<(), Limit> {
        self.next_stop = self.steps + LOOK_EVERY as u64;
        if self.pause > self.steps {
            self.next_stop = self.next_stop.min(self.pause);
        }
        if self.steps == self.pause { Err(Limit::Steps(self.pause)) } else { self.check() }
    }

    /// Checks the limits.
    pub(super) fn check(&self) -> Result<(), Limit> {
        let by_nodes = (self.limits.nodes as u64).saturating_mul(STEPS_PER_NODE);
        let bytes = self.fixed.bytes() + self.sets.bytes() + table_bytes(&self.memo);
        match () {
            _ if bytes > self.limits.bytes => Err(Limit::Bytes(self.limits.bytes)),
            _ if self.steps > self.limits.steps => Err(Limit::Steps(self.limits.steps)),
            _ if self.steps > by_nodes => Err(Limit::Nodes(self.limits.nodes)),
            _ if self.limits.is_cancelled() => Err(Limit::Cancelled),
            _ => Ok(()),
        }
    }

    /// Whether two nodes share a world; a negative answer enters the memo only with `remember`.
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

    /// The answer for two nodes of one vtree node, where it needs no search.
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

    /// Remembers that element `i` of one node and `j` of another share a world.
    pub(super) fn keep_shared(&mut self, (a, i): (NodeId, u32), (b, j): (NodeId, u32)) {
        let (i, j) = if a <= b { (i, j) } else { (j, i) };
        self.memo.insert(ordered(a, b), Verdict::Shared(i, j));
    }

    /// Writes a world that two nodes share into `world`.
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

    /// The overlap with a possible world of the whole circuit as witness.
    pub(super) fn explain(&self, node: NodeId, elements: (usize, usize), weak: bool) -> Overlap {
        let circuit = self.circuit;
        let mut witness = vec![false; circuit.var_count()];
        let range = circuit.element_range(node);
        let (a, b) = (circuit.elements[range.start + elements.0], circuit.elements[range.start + elements.1]);
        // The branches off the path from the root to the node, then the node itself: all variables, once each.
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

/// For every node inside a prime, the literals that hold in all its worlds: bit sets over leaf positions.
pub(super) struct Fixed {
    /// Where the words of a node start; the second half of a node's words are the literals fixed to true.
    start: Vec<usize>,
    words: Vec<u64>,
}

/// Words of bit sets per node and element, plus a flat allowance. Above that, or above the bytes allowed, `Fixed` stays
/// empty, which only costs time in the search.
const WORDS_PER_PART: usize = 64;
const WORDS_ANYWAY: usize = 1 << 20;

impl Fixed {
    pub(super) fn new(circuit: &Circuit, bytes: usize) -> Fixed {
        let vtree = circuit.vtree();
        // Only nodes inside the prime of some sum are ever compared.
        let mut inside = vec![false; vtree.node_count()];
        for &v in vtree.bottom_up().iter().rev() {
            if let Some(parent) = vtree.parent(v) {
                let is_left = vtree.children(parent).is_some_and(|[left, _]| left == v);
                inside[v.index()] = is_left || inside[parent.index()];
            }
        }
        let span = |v: VtreeId| {
            let vars = vtree.vars(v);
            (vtree.position(vars[0]) / 64, vtree.position(vars[vars.len() - 1]) / 64 + 1)
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
        let most = WORDS_ANYWAY + WORDS_PER_PART * (circuit.nodes.len() + circuit.elements.len());
        if total > most.min(bytes / 8) {
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
                        let bit = vtree.position(var);
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
    pub(super) fn differ(&self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.words(a), self.words(b));
        let width = a.len() / 2;
        a.len() == b.len() && (0..width).any(|w| a[w] & b[width + w] | a[width + w] & b[w] != 0)
    }

    /// Sorts nodes of one vtree node by the values of the variables that are fixed in all of them, and cuts them where
    /// these differ: nodes of different parts are exclusive.
    pub(super) fn parts(&self, mut nodes: Vec<NodeId>) -> Vec<Vec<NodeId>> {
        let width = self.words(nodes[0]).len() / 2;
        let mut in_all = vec![u64::MAX; width];
        for &node in &nodes {
            let words = self.words(node);
            in_all.iter_mut().enumerate().for_each(|(w, all)| *all &= words[w] | words[width + w]);
        }
        if in_all.iter().all(|&word| word == 0) {
            return vec![nodes];
        }
        let key = |node: NodeId| self.words(node)[width..].iter().zip(&in_all).map(|(word, all)| word & all);
        nodes.sort_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
        nodes.chunk_by(|&a, &b| key(a).eq(key(b))).map(<[NodeId]>::to_vec).collect()
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.start.len() + self.words.len())
    }

    fn words(&self, id: NodeId) -> &[u64] {
        &self.words[self.start[id.index()]..self.start[id.index() + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::{Builder, Sharing};
    use crate::var::Var;
    use crate::vtree::Vtree;

    /// Three elements, of which the subs of two exclude each other, as in layered circuits.
    fn weak() -> Circuit {
        let vtree = Vtree::balanced(4);
        let root = vtree.root();
        let [left, right] = vtree.children(root).unwrap();
        let mut builder = Builder::new(vtree, Sharing::Equal);
        let mut sum = |v, x: u32, value: bool, p: f64| {
            let lit = builder.literal(Var(x).is(value)).unwrap();
            let top = builder.top(Var(x + 1), [(1.0 - p).ln(), p.ln()]).unwrap();
            builder.sum(v, &[(lit, top, 0.0)]).unwrap()
        };
        let primes = [(true, 0.5), (true, 0.25), (false, 0.5)].map(|(value, p)| sum(left, 0, value, p));
        let subs = [true, false, true].map(|value| sum(right, 2, value, 0.5));
        let third = (1.0f64 / 3.0).ln();
        let elements: Vec<_> = primes.into_iter().zip(subs).map(|(prime, sub)| (prime, sub, third)).collect();
        let sum = builder.sum(root, &elements).unwrap();
        builder.finish(sum).unwrap()
    }

    /// Sets cost more than a few comparisons.
    #[test]
    fn no_set_is_made_where_a_few_pairs_decide() {
        let circuit = weak();
        let overlap = |limits: &Limits| {
            let mut search = Search::new(&circuit, limits);
            let found = search.overlap_of(NodeId(circuit.nodes.len() as u32 - 1)).unwrap();
            (found, search.sets.bytes())
        };
        let usual = overlap(&Limits::default());
        assert_eq!(usual, (Some(((0, 1), true)), 0));
        // Where limits leave no room for trying, sets come first and find the same.
        let (found, bytes) = overlap(&Limits::default().with_steps(7));
        assert!(found == usual.0 && bytes > 0);
    }
}
