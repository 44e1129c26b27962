//! Sentential Decision Diagrams: formulas structured by a vtree, their model counts, and the proof that a diagram is one.

use crate::var::{Lit, Var};
use crate::vtree::{Vtree, VtreeId};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// A node of an SDD, by its position: children come before parents, the root is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SddId(pub(crate) u32);

impl SddId {
    /// The position of this node in arrays over nodes.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SddNode {
    /// No world.
    False,
    /// Every world.
    True,
    /// The worlds where the literal holds.
    Literal(Lit),
    /// The worlds where the prime and the sub of one of the elements `start..end` hold.
    Decision {
        /// The inner vtree node.
        vtree: VtreeId,
        /// First element.
        start: u32,
        /// One past the last element.
        end: u32,
    },
}

/// A conjunction of a prime, over left variables, and a sub, over right variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SddElement {
    /// The formula over the left variables.
    pub(crate) prime: SddId,
    /// The formula over the right variables.
    pub(crate) sub: SddId,
}

/// A formula as a trimmed SDD: constants and literals fit anywhere, decisions skip vtree nodes.
///
/// Stored as flat arrays like a [`crate::Circuit`].
///
/// # Invariants
/// 1. Children come before parents, the root is last.
/// 2. The primes of a decision at vtree node `v` have variables below its left child only, its subs below its right
///    child only; either may be constant.
/// 3. The primes of a decision are exclusive and cover everything, so a circuit given a diagram keeps its certificate.
///    Readers prove this; managers guarantee it.
///
/// ```
/// use slopp::logic::{Formula, Limits, Sdd};
/// use slopp::{Names, Vtree};
/// let formula = Formula::parse("x1 -> x3", &Names::numbered(3))?;
/// let sdd = formula.compile(Vtree::balanced(3), &Limits::default())?;
/// assert_eq!(sdd.model_count(), 6u32.into());
/// let uniform = sdd.to_circuit()?.certify(&Limits::default())?;
/// assert_eq!(Sdd::base_of(&uniform, &Limits::default())?.model_count(), 6u32.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Reference: A. Darwiche, SDD: A New Canonical Representation of Propositional Knowledge Bases, IJCAI 2011.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sdd {
    vtree: Arc<Vtree>,
    nodes: Vec<SddNode>,
    elements: Vec<SddElement>,
}

/// A node that breaks an invariant of [`Sdd`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node {}: {fault}", .node.0)]
pub(crate) struct SddError {
    /// The node.
    pub(crate) node: SddId,
    /// What is wrong with it.
    pub(crate) fault: SddFault,
}

/// What is wrong with a node of an SDD.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SddFault {
    /// There are no nodes at all.
    #[error("an SDD needs at least one node")]
    Empty,
    /// A variable is not in the vtree.
    #[error("variable {} is not in the vtree", .0.number())]
    UnknownVariable(Var),
    /// A decision at a leaf, or at no node of the vtree.
    #[error("a decision needs an inner vtree node, and {} is not one", .0.0)]
    NotInner(VtreeId),
    /// A child does not come before its parent, or the elements do not exist (invariant 1).
    #[error("children must come before parents")]
    Order,
    /// A decision without elements.
    #[error("a decision needs at least one element")]
    NoElements,
    /// A prime or sub with variables of the other side (invariant 2).
    #[error("the {role} of element {element} has variables that are not below the {side} child", side = if *.role == "prime" { "left" } else { "right" })]
    WrongSide {
        /// Position of the element, from one.
        element: usize,
        /// "prime" or "sub".
        role: &'static str,
    },
    /// Two primes of a decision share a world (invariant 3).
    #[error("the primes of its elements {} and {} share a world, and primes must be exclusive", .elements.0, .elements.1)]
    Overlap {
        /// Positions of the elements, from one.
        elements: (usize, usize),
    },
    /// The primes of a decision do not cover everything (invariant 3).
    #[error(
        "its primes leave out some worlds of the variables below the left child, and primes must cover all of them"
    )]
    NotExhaustive,
}

impl Sdd {
    /// Checks invariants 1 and 2; the third is promised by the caller, or proved next.
    pub(crate) fn promised(
        vtree: impl Into<Arc<Vtree>>,
        nodes: Vec<SddNode>,
        elements: Vec<SddElement>,
    ) -> Result<Sdd, SddError> {
        let sdd = Sdd { vtree: vtree.into(), nodes, elements };
        if sdd.nodes.is_empty() {
            return Err(SddError { node: SddId(0), fault: SddFault::Empty });
        }
        for node in sdd.ids() {
            sdd.check(node).map_err(|fault| SddError { node, fault })?;
        }
        Ok(sdd)
    }

    /// The vtree.
    pub fn vtree(&self) -> &Arc<Vtree> {
        &self.vtree
    }

    /// All nodes, children before parents.
    pub(crate) fn nodes(&self) -> &[SddNode] {
        &self.nodes
    }

    /// One node.
    pub(crate) fn node(&self, id: SddId) -> SddNode {
        self.nodes[id.index()]
    }

    /// The ids of all nodes, children before parents.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = SddId> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(SddId)
    }

    /// The root: the last node.
    pub(crate) fn root(&self) -> SddId {
        SddId(self.nodes.len() as u32 - 1)
    }

    /// The elements of a decision; none for other nodes.
    pub(crate) fn elements_of(&self, id: SddId) -> &[SddElement] {
        &self.elements[self.element_range(id)]
    }

    /// The vtree node of a decision or literal; `None` for constants.
    pub(crate) fn vtree_of(&self, id: SddId) -> Option<VtreeId> {
        match self.node(id) {
            SddNode::False | SddNode::True => None,
            SddNode::Literal(lit) => Some(self.vtree.leaf(lit.var)),
            SddNode::Decision { vtree, .. } => Some(vtree),
        }
    }

    /// Whether a complete world satisfies the formula.
    ///
    /// # Panics
    /// If the world does not have one value per variable.
    pub fn is_satisfied_by(&self, world: &[bool]) -> bool {
        assert_eq!(world.len(), self.vtree.var_count(), "one value per variable");
        let mut values = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            values.push(match node {
                SddNode::False => false,
                SddNode::True => true,
                SddNode::Literal(lit) => world[lit.var.index()] == lit.value,
                SddNode::Decision { start, end, .. } => self.elements[start as usize..end as usize]
                    .iter()
                    .any(|e| values[e.prime.index()] && values[e.sub.index()]),
            });
        }
        values[self.root().index()]
    }

    /// The numbers of decisions and of their elements: the size in libsdd's terms.
    pub fn size(&self) -> (usize, usize) {
        let decisions = self.nodes.iter().filter(|n| matches!(n, SddNode::Decision { .. })).count();
        (decisions, self.elements.len())
    }

    fn element_range(&self, id: SddId) -> Range<usize> {
        match self.node(id) {
            SddNode::Decision { start, end, .. } => start as usize..end as usize,
            _ => 0..0,
        }
    }

    fn check(&self, id: SddId) -> Result<(), SddFault> {
        let (vtree, start, end) = match self.node(id) {
            SddNode::False | SddNode::True => return Ok(()),
            SddNode::Literal(lit) if lit.var.index() < self.vtree.var_count() => return Ok(()),
            SddNode::Literal(lit) => return Err(SddFault::UnknownVariable(lit.var)),
            SddNode::Decision { vtree, start, end } => (vtree, start as usize, end as usize),
        };
        if vtree.is_leaf() || vtree.index() >= self.vtree.node_count() {
            return Err(SddFault::NotInner(vtree));
        }
        let [left, right] = self.vtree.children(vtree).expect("inner");
        if start == end {
            return Err(SddFault::NoElements);
        }
        let elements = self.elements.get(start..end).ok_or(SddFault::Order)?;
        for (i, element) in elements.iter().enumerate() {
            for (role, child, side) in [("prime", element.prime, left), ("sub", element.sub, right)] {
                if child >= id {
                    return Err(SddFault::Order);
                }
                if self.vtree_of(child).is_some_and(|v| !self.vtree.is_below(v, side)) {
                    return Err(SddFault::WrongSide { element: i + 1, role });
                }
            }
        }
        Ok(())
    }
}

impl Sdd {
    /// The number of worlds over all variables of the vtree that satisfy the formula.
    ///
    /// Cost: one multiplication of big integers per element.
    pub fn model_count(&self) -> BigUint {
        let counts = self.counts();
        counts[self.root().index()].clone() << self.gap(self.root(), self.vtree().root())
    }

    /// For each node, the number of satisfying assignments of the variables below its own vtree node; for constants,
    /// of no variables.
    pub(super) fn counts(&self) -> Vec<BigUint> {
        let mut counts: Vec<BigUint> = Vec::with_capacity(self.nodes().len());
        for id in self.ids() {
            counts.push(match self.node(id) {
                SddNode::False => BigUint::ZERO,
                SddNode::True | SddNode::Literal(_) => BigUint::from(1u32),
                SddNode::Decision { vtree, .. } => {
                    let mut sum = BigUint::ZERO;
                    for e in self.elements_of(id) {
                        let product = &counts[e.prime.index()] * &counts[e.sub.index()];
                        sum += product << self.element_gap(vtree, e.prime, e.sub);
                    }
                    sum
                }
            });
        }
        counts
    }

    /// How many variables below `v` are outside the vtree node of a node: each doubles the count.
    pub(super) fn gap(&self, id: SddId, v: VtreeId) -> usize {
        self.vtree().vars(v).len() - self.vtree_of(id).map_or(0, |own| self.vtree().vars(own).len())
    }

    /// The gaps of a prime and a sub below an inner vtree node together.
    pub(super) fn element_gap(&self, v: VtreeId, prime: SddId, sub: SddId) -> usize {
        let [left, right] = self.vtree().children(v).expect("decisions are at inner nodes");
        self.gap(prime, left) + self.gap(sub, right)
    }
}

/// Decisions with more elements than this do not remember which primes are exclusive.
const MANY_ELEMENTS: usize = 256;

impl Sdd {
    /// Proves invariant 3: the primes of every decision are exclusive and exhaustive.
    ///
    /// Two nodes share a world iff some pair of their elements has primes that share one and subs that share one; a memo
    /// on node pairs makes that polynomial. Exclusive primes cover everything iff their model counts add up to 2ⁿ for
    /// the `n` variables of the left child. The proof uses the diagram and not its circuit, which has no elements with
    /// sub false.
    ///
    /// Cost: at worst the product of the sizes of the primes compared, and one sum of big integers per element.
    pub(crate) fn prove_partitions(&self) -> Result<(), SddError> {
        let counts = self.counts();
        let satisfiable = counts.iter().map(|count| *count != BigUint::ZERO).collect();
        let mut search = Search { sdd: self, satisfiable, memo: FxHashMap::default() };
        // Children come first, so the counts of primes are right when they are used.
        for node in self.ids() {
            let SddNode::Decision { vtree, .. } = self.node(node) else { continue };
            if let Some(elements) = search.overlap_of(node) {
                return Err(SddError { node, fault: SddFault::Overlap { elements } });
            }
            let [left, _] = self.vtree().children(vtree).expect("decisions are at inner nodes");
            let covered: BigUint =
                self.elements_of(node).iter().map(|e| &counts[e.prime.index()] << self.gap(e.prime, left)).sum();
            if covered != BigUint::from(1u32) << self.vtree().vars(left).len() {
                return Err(SddError { node, fault: SddFault::NotExhaustive });
            }
        }
        Ok(())
    }
}

struct Search<'a> {
    sdd: &'a Sdd,
    satisfiable: Vec<bool>,
    memo: FxHashMap<(SddId, SddId), bool>,
}

/// Two nodes in comparison and their current pair of elements.
struct Frame {
    pair: (SddId, SddId),
    step: usize,
}

/// The state of a comparison.
enum Outcome {
    Open(SddId, SddId),
    Known(bool),
}

impl Search<'_> {
    /// Two elements of a decision, from one, whose primes share a world.
    fn overlap_of(&mut self, node: SddId) -> Option<(usize, usize)> {
        let elements = self.sdd.elements_of(node);
        let remember = elements.len() <= MANY_ELEMENTS;
        for (j, b) in elements.iter().enumerate() {
            for (i, a) in elements[..j].iter().enumerate() {
                if self.share_a_world(a.prime, b.prime, remember) {
                    return Some((i + 1, j + 1));
                }
            }
        }
        None
    }

    /// Whether two nodes share a world; a negative answer enters the memo only with `remember`.
    fn share_a_world(&mut self, a: SddId, b: SddId, remember: bool) -> bool {
        if let Some(known) = self.known(a, b) {
            return known;
        }
        let mut stack = vec![Frame { pair: ordered(a, b), step: 0 }];
        while let Some(frame) = stack.last_mut() {
            match self.go_on(frame) {
                Outcome::Open(x, y) => stack.push(Frame { pair: ordered(x, y), step: 0 }),
                Outcome::Known(shared) => {
                    let pair = frame.pair;
                    if stack.len() > 1 || remember {
                        self.memo.insert(pair, shared);
                    }
                    if stack.len() == 1 {
                        return shared;
                    }
                    stack.pop();
                }
            }
        }
        unreachable!("the search ends with its first frame")
    }

    fn go_on(&self, frame: &mut Frame) -> Outcome {
        let (a, b) = frame.pair;
        'steps: while let Some(both) = self.step(a, b, frame.step) {
            for (x, y) in both {
                match self.known(x, y) {
                    None => return Outcome::Open(x, y),
                    Some(true) => {}
                    Some(false) => {
                        frame.step += 1;
                        continue 'steps;
                    }
                }
            }
            return Outcome::Known(true);
        }
        Outcome::Known(false)
    }

    /// The two pairs of nodes that must both share a world for this pair of elements to share one; `None` after the
    /// last pair of elements.
    ///
    /// A node whose vtree node is below the other's is compared with the primes, or the subs, of the other.
    fn step(&self, a: SddId, b: SddId, step: usize) -> Option<[(SddId, SddId); 2]> {
        let vtree = self.sdd.vtree();
        let (at, bt) = (self.sdd.vtree_of(a)?, self.sdd.vtree_of(b)?);
        if at == bt {
            let (x, y) = (self.sdd.elements_of(a), self.sdd.elements_of(b));
            let (x, y) = (x.get(step / y.len())?, y[step % y.len()]);
            return Some([(x.prime, y.prime), (x.sub, y.sub)]);
        }
        let (upper, lower, v, w) = if vtree.is_below(bt, at) { (a, b, at, bt) } else { (b, a, bt, at) };
        let e = self.sdd.elements_of(upper).get(step)?;
        let [left, _] = vtree.children(v)?;
        Some(match vtree.is_below(w, left) {
            true => [(e.prime, lower), (e.sub, e.sub)],
            false => [(e.sub, lower), (e.prime, e.prime)],
        })
    }

    /// The answer for two nodes, where it needs no search.
    fn known(&self, a: SddId, b: SddId) -> Option<bool> {
        if !self.satisfiable[a.index()] || !self.satisfiable[b.index()] {
            return Some(false);
        }
        if a == b {
            return Some(true);
        }
        let (Some(v), Some(w)) = (self.sdd.vtree_of(a), self.sdd.vtree_of(b)) else { return Some(true) };
        let vtree = self.sdd.vtree();
        match (self.sdd.node(a), self.sdd.node(b)) {
            (SddNode::Literal(x), SddNode::Literal(y)) => Some(x != !y),
            _ if !vtree.is_below(v, w) && !vtree.is_below(w, v) => Some(true),
            _ => self.memo.get(&ordered(a, b)).copied(),
        }
    }
}

fn ordered(a: SddId, b: SddId) -> (SddId, SddId) {
    if a <= b { (a, b) } else { (b, a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::SddElement;
    use crate::random::Random;
    use crate::var::Var;
    use crate::vtree::{Vtree, VtreeId};

    /// A random diagram over a random vtree whose decisions may or may not be partitions.
    fn random_diagram(vars: usize, seed: u64) -> Sdd {
        let mut random = Random::new(seed);
        let vtree = Vtree::random(vars, seed);
        let mut nodes = vec![SddNode::False, SddNode::True];
        let mut elements = Vec::new();
        for i in 0..vars as u32 {
            nodes.extend([true, false].map(|value| SddNode::Literal(Var(i).is(value))));
        }
        for &v in vtree.bottom_up() {
            let Some([left, right]) = vtree.children(v) else { continue };
            for _ in 0..2 {
                let at = |node: &SddNode| match *node {
                    SddNode::Literal(lit) => Some(vtree.leaf(lit.var)),
                    SddNode::Decision { vtree, .. } => Some(vtree),
                    _ => None,
                };
                let below = |side: VtreeId| -> Vec<u32> {
                    let fits = |i: &u32| at(&nodes[*i as usize]).is_none_or(|w| vtree.is_below(w, side));
                    (0..nodes.len() as u32).filter(fits).collect()
                };
                let (primes, subs) = (below(left), below(right));
                let start = elements.len() as u32;
                for _ in 0..1 + random.below(2) {
                    let prime = SddId(primes[random.below(primes.len())]);
                    elements.push(SddElement { prime, sub: SddId(subs[random.below(subs.len())]) });
                }
                nodes.push(SddNode::Decision { vtree: v, start, end: elements.len() as u32 });
            }
        }
        Sdd::promised(vtree, nodes, elements).unwrap()
    }

    /// The first decision whose primes do not hold one at a time in every world, and whether two of them hold at once.
    fn first_fault(sdd: &Sdd, vars: usize) -> Option<(SddId, bool)> {
        let worlds: Vec<Vec<bool>> =
            (0..1u32 << vars).map(|bits| (0..vars).map(|i| bits >> i & 1 == 1).collect()).collect();
        let holds = |id: SddId, world: &[bool]| {
            let part = sdd.nodes()[..=id.index()].to_vec();
            let elements = sdd.ids().flat_map(|id| sdd.elements_of(id)).copied().collect();
            Sdd::promised(sdd.vtree().clone(), part, elements).unwrap().is_satisfied_by(world)
        };
        sdd.ids().filter(|&id| !sdd.elements_of(id).is_empty()).find_map(|id| {
            let held = |w: &Vec<bool>| sdd.elements_of(id).iter().filter(|e| holds(e.prime, w)).count();
            let held: Vec<usize> = worlds.iter().map(held).collect();
            let overlap = held.iter().any(|&n| n > 1);
            (overlap || held.contains(&0)).then_some((id, overlap))
        })
    }

    #[test]
    fn partitions_are_told_from_all_else() {
        let mut seen = [0; 3];
        for seed in 0..400 {
            let vars = 2 + seed as usize % 3;
            let sdd = random_diagram(vars, seed);
            let found = sdd.prove_partitions().map_err(|e| (e.node, matches!(e.fault, SddFault::Overlap { .. })));
            let expected = first_fault(&sdd, vars);
            assert_eq!(found.err(), expected, "seed {seed}: {sdd:?}");
            seen[expected.map_or(0, |(_, overlap)| 1 + usize::from(overlap))] += 1;
        }
        assert!(seen.iter().all(|&n| n >= 5), "{seen:?}");
    }
}
