//! Sets of exclusive nodes, each proved at once instead of pair by pair.
//!
//! The elements of all nodes of a set are sorted by prime. If the primes are exclusive, which is again a question about
//! a set, then two nodes share a world iff they have elements with the same prime whose subs share one. So the subs of
//! each prime are the next sets. At a leaf of the vtree a value takes the place of a prime. This compares many nodes of
//! a layer in time linear in their elements, where pairs would need the square.
//!
//! Where neither primes nor subs are exclusive the answer stays open, and pairs decide. They also decide when sets have
//! cost too much: there may be more sets than pairs.

use super::search::{Search, Verdict};
use super::{Circuit, Element, Node, NodeId};
use crate::limits::{Limit, table_bytes};
use rustc_hash::FxHashMap;

/// The answer for the nodes of a set.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// No two of them share a world.
    Exclusive,
    /// These two do; the same node twice if it was there twice.
    Shared(NodeId, NodeId),
    /// Pairs decide.
    Open,
}

/// The answers for sets.
pub(super) struct Sets {
    memo: FxHashMap<Box<[NodeId]>, Answer>,
    /// The total number of their nodes.
    members: usize,
    /// The remaining number of nodes and elements to visit.
    effort: usize,
}

/// How often each node and element may be visited, on average.
const EFFORT: usize = 32;

/// In sets of at most this many nodes, pairs with known answers are tried first.
const FEW: usize = 16;

impl Sets {
    pub(super) fn new(circuit: &Circuit) -> Sets {
        let effort = EFFORT * (circuit.nodes.len() + circuit.elements.len());
        Sets { memo: FxHashMap::default(), members: 0, effort }
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> usize {
        table_bytes(&self.memo) + size_of::<NodeId>() * self.members
    }

    fn keep(&mut self, set: Vec<NodeId>, answer: Answer) {
        self.members += set.len();
        self.memo.insert(set.into(), answer);
    }
}

/// The decision about a set: an answer, or the sets that must be known first.
type Decision = Result<Answer, Vec<Vec<NodeId>>>;

/// A child of one of the nodes of a set, the node, and the position of the element with the child.
type Member = (NodeId, NodeId, u32);

impl Search<'_> {
    /// Whether the primes of these elements are exclusive.
    pub(super) fn primes_of(&mut self, elements: &[Element]) -> Result<Answer, Limit> {
        let mut primes: Vec<NodeId> = elements.iter().map(|element| element.prime).collect();
        primes.sort_unstable();
        if let Some(twice) = primes.windows(2).find(|pair| pair[0] == pair[1]) {
            return Ok(Answer::Shared(twice[0], twice[0]));
        }
        let mut stack = vec![primes];
        loop {
            let set = stack.last().expect("the first set ends the search");
            let known = self.known_set(set);
            let decision = match known {
                Some(answer) => Ok(answer),
                None => {
                    self.check()?;
                    self.decide(set)
                }
            };
            match decision {
                Err(first) => stack.extend(first),
                Ok(answer) => {
                    let set = stack.pop().expect("it was there");
                    if known.is_none() {
                        self.sets.keep(set, answer);
                    }
                    if stack.is_empty() {
                        return Ok(answer);
                    }
                }
            }
        }
    }

    /// The answer for a set, sorted and without repetition, where it needs no elements.
    fn known_set(&self, set: &[NodeId]) -> Option<Answer> {
        let few = &set[..set.len().min(FEW)];
        for (j, &b) in few.iter().enumerate() {
            for &a in &few[..j] {
                match self.known(a, b) {
                    Some(Verdict::Exclusive) => {}
                    Some(Verdict::Shared(..)) => return Some(Answer::Shared(a, b)),
                    None => return self.sets.memo.get(set).copied(),
                }
            }
        }
        if set.len() <= FEW { Some(Answer::Exclusive) } else { self.sets.memo.get(set).copied() }
    }

    /// Continues with a set of sums as far as the sets below it are known.
    fn decide(&mut self, set: &[NodeId]) -> Decision {
        let circuit = self.circuit;
        let cost: usize = set.iter().map(|&node| 1 + circuit.element_range(node).len()).sum();
        if cost > self.sets.effort {
            self.sets.effort = 0;
            return Ok(Answer::Open);
        }
        self.sets.effort -= cost;
        let parts = self.fixed.parts(set.to_vec());
        if parts.len() > 1 {
            return self.all_of(parts.into_iter().map(|part| (part, Vec::new())));
        }
        let groups = match self.groups(set) {
            Ok(Some(groups)) => groups,
            Ok(None) => return Ok(Answer::Open),
            Err(first) => return Err(vec![first]),
        };
        let mut below = Vec::new();
        for mut group in groups {
            group.sort_unstable();
            if let Some(&[(_, a, i), (_, b, j)]) =
                group.array_windows().find(|[(child, a, _), (other, b, _)]| child == other && a != b)
            {
                self.keep_shared((a, i), (b, j));
                return Ok(Answer::Shared(a, b));
            }
            group.dedup_by_key(|(child, ..)| *child);
            below.push((group.iter().map(|&(child, ..)| child).collect(), group));
        }
        self.all_of(below.into_iter())
    }

    /// Whether each of these sets is exclusive; nodes that share a world are given by their parents.
    fn all_of(&mut self, sets: impl Iterator<Item = (Vec<NodeId>, Vec<Member>)>) -> Decision {
        let mut first = Vec::new();
        for (set, members) in sets {
            match self.known_set(&set) {
                None => first.push(set),
                Some(Answer::Exclusive) => {}
                Some(Answer::Open) => return Ok(Answer::Open),
                Some(shared @ Answer::Shared(..)) if members.is_empty() => return Ok(shared),
                Some(Answer::Shared(c, d)) => {
                    let [(_, a, i), (_, b, j)] = [c, d].map(|child| {
                        members[members.binary_search_by_key(&child, |member| member.0).expect("one of the set")]
                    });
                    if a == b {
                        return Ok(Answer::Open);
                    }
                    self.keep_shared((a, i), (b, j));
                    return Ok(Answer::Shared(a, b));
                }
            }
        }
        if first.is_empty() { Ok(Answer::Exclusive) } else { Err(first) }
    }

    /// Children of the nodes of a set, grouped such that two nodes share a world iff children in one group do; `None`
    /// if both primes and subs overlap, an error with the set that must be known first.
    fn groups(&self, set: &[NodeId]) -> Result<Option<Vec<Vec<Member>>>, Vec<NodeId>> {
        let circuit = self.circuit;
        let elements = set.iter().flat_map(|&node| {
            let own = circuit.elements[circuit.element_range(node)].iter();
            own.enumerate().map(move |(i, &Element { prime, sub })| ([prime, sub], node, i as u32))
        });
        let mut elements: Vec<([NodeId; 2], NodeId, u32)> = elements.collect();
        let children = circuit.vtree.children(circuit.vtree_of(set[0])).expect("leaves are known");
        if let Some(side) = children.iter().position(|child| child.is_leaf()) {
            let of_value = |value: bool| {
                let allows = |node| !matches!(circuit.node(node), Node::Literal(lit) if lit.value != value);
                let agree = elements.iter().filter(|(both, ..)| allows(both[side]));
                agree.map(|&(both, node, i)| (both[1 - side], node, i)).collect()
            };
            return Ok(Some([false, true].map(of_value).into()));
        }
        for side in [0, 1] {
            elements.sort_by_key(|(both, ..)| both[side]);
            let mut keys: Vec<NodeId> = elements.iter().map(|(both, ..)| both[side]).collect();
            keys.dedup();
            match self.known_set(&keys) {
                None => return Err(keys),
                Some(Answer::Exclusive) => {
                    let groups = elements.chunk_by(|(a, ..), (b, ..)| a[side] == b[side]);
                    let member = |&(both, node, i): &([NodeId; 2], NodeId, u32)| (both[1 - side], node, i);
                    return Ok(Some(groups.map(|group| group.iter().map(member).collect()).collect()));
                }
                Some(_) => {}
            }
        }
        Ok(None)
    }
}
