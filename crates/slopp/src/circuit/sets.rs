//! Sets of nodes that are exclusive, each proved at once instead of pair by pair.
//!
//! The elements of all nodes of a set are sorted by prime. If the primes are exclusive, which is again a question about a
//! set, then two nodes share a world iff they have elements with the same prime whose subs share one, so that the subs
//! of each prime are the next sets. At a leaf of the vtree a value takes the place of a prime. Many nodes of a layer are
//! thus compared in the time of their elements, where pairs would need its square.
//!
//! Where neither primes nor subs are exclusive the answer stays open, and pairs decide. So they do when sets have cost
//! too much: there may be more of them than pairs.

use super::search::{Search, Verdict};
use super::{Circuit, Element, Node, NodeId};
use crate::limits::{Limit, table_bytes};
use rustc_hash::FxHashMap;

/// What is known of the nodes of a set.
#[derive(Clone, Copy)]
pub(super) enum Answer {
    /// No two of them share a world.
    Exclusive,
    /// These two do; for the same node twice, it was there twice.
    Shared(NodeId, NodeId),
    /// Pairs have to tell.
    Open,
}

/// The sets that were looked at.
pub(super) struct Sets {
    memo: FxHashMap<Box<[NodeId]>, Answer>,
    /// How many nodes they have together.
    members: usize,
    /// How many nodes and elements may still be looked at.
    effort: usize,
}

/// How often each node and element may be looked at, on average.
const EFFORT: usize = 32;

/// In sets of at most so many nodes, pairs that are known without a search are tried first.
const FEW: usize = 16;

impl Sets {
    pub(super) fn new(circuit: &Circuit) -> Sets {
        let effort = EFFORT * (circuit.nodes.len() + circuit.elements.len());
        Sets { memo: FxHashMap::default(), members: 0, effort }
    }

    /// How many bytes are in use.
    pub(super) fn bytes(&self) -> usize {
        table_bytes(&self.memo) + size_of::<NodeId>() * self.members
    }

    fn keep(&mut self, set: Vec<NodeId>, answer: Answer) {
        self.members += set.len();
        self.memo.insert(set.into(), answer);
    }
}

/// What a set is decided by: an answer, or the sets that have to be known first.
type Decision = Result<Answer, Vec<Vec<NodeId>>>;

/// A child of one of the nodes of a set, the node, and which of its elements has the child.
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

    /// What is known of a set, sorted and without repetition, without looking at its elements.
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

    /// Goes on with a set of sums as far as the sets below it are known.
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

    /// Whether each of these sets is exclusive; what shares a world in one of them is told by whose children it is.
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

    /// Children of the nodes of a set such that two nodes share a world iff they have children in one group that do;
    /// `None` if both primes and subs overlap, an error with the set that has to be known first.
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
