//! The proof that a diagram is an SDD: the primes of every decision are exclusive and cover everything.
//!
//! Two nodes share a world iff some pair of their elements has primes that share one and subs that share one; a memo on
//! node pairs makes that polynomial. Exclusive primes cover everything iff their model counts add up to 2ⁿ for the `n`
//! variables of the left child. The proof uses the diagram and not its circuit, which has no elements with sub false.

use super::sdd::{Sdd, SddError, SddFault, SddId, SddNode};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

/// Decisions with more elements than this do not remember which primes are exclusive.
const MANY_ELEMENTS: usize = 256;

impl Sdd {
    /// Proves invariant 3: the primes of every decision are exclusive and exhaustive.
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
