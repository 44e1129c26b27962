//! A world that two circuits on one vtree share.

use crate::circuit::{Circuit, Node, NodeId};
use rustc_hash::FxHashMap;

/// Two nodes in comparison and their current pair of elements.
struct Frame {
    pair: (NodeId, NodeId),
    step: usize,
}

impl Circuit {
    /// A world that is possible in both circuits; `None` if there is none.
    ///
    /// With the circuit of a negated formula, this decides whether a model entails the formula. Cost: at worst the product
    /// of the two sizes.
    ///
    /// # Panics
    /// If the circuits have different vtrees.
    pub fn common_world(&self, other: &Circuit) -> Option<Vec<bool>> {
        let (a, b) = (self, other);
        assert_eq!(**a.vtree(), **b.vtree(), "one vtree");
        let goal = (a.root(), b.root());
        let search = Search { a, b };
        // For pairs of sums: the pair of elements that share a world, or none.
        let mut memo: FxHashMap<(NodeId, NodeId), Option<usize>> = FxHashMap::default();
        let mut stack = vec![Frame { pair: goal, step: 0 }];
        while let Some(frame) = stack.last_mut() {
            if search.known(frame.pair, &memo).is_some() {
                stack.pop();
                continue;
            }
            let verdict = loop {
                let Some(pairs) = search.pairs(frame.pair, frame.step) else { break Some(None) };
                let known = pairs.map(|pair| search.known(pair, &memo));
                match known {
                    [Some(true), Some(true)] => break Some(Some(frame.step)),
                    [Some(false), _] | [Some(true), Some(false)] => frame.step += 1,
                    [None, _] | [Some(true), None] => {
                        let open = if known[0].is_none() { pairs[0] } else { pairs[1] };
                        stack.push(Frame { pair: open, step: 0 });
                        break None;
                    }
                }
            };
            if let Some(verdict) = verdict {
                let frame = stack.pop().expect("still there");
                memo.insert(frame.pair, verdict);
            }
        }
        if search.known(goal, &memo) != Some(true) {
            return None;
        }
        let mut world = vec![false; a.var_count()];
        let mut stack = vec![goal];
        while let Some(pair) = stack.pop() {
            match (a.node(pair.0), b.node(pair.1)) {
                (Node::Literal(lit), _) | (_, Node::Literal(lit)) => world[lit.var.index()] = lit.value,
                (Node::Sum { .. }, Node::Sum { .. }) => {
                    let step = memo[&pair].expect("only pairs that share a world are followed");
                    stack.extend(search.pairs(pair, step).expect("found before"));
                }
                _ => {}
            }
        }
        Some(world)
    }
}

struct Search<'a> {
    a: &'a Circuit,
    b: &'a Circuit,
}

impl Search<'_> {
    /// Whether two nodes share a world, where that needs no search.
    fn known(&self, pair: (NodeId, NodeId), memo: &FxHashMap<(NodeId, NodeId), Option<usize>>) -> Option<bool> {
        match (self.a.node(pair.0), self.b.node(pair.1)) {
            (Node::Literal(x), Node::Literal(y)) => Some(x == y),
            (Node::Sum { .. }, Node::Sum { .. }) => memo.get(&pair).map(Option::is_some),
            _ => Some(true),
        }
    }

    /// The primes and the subs of a pair of elements; `None` after the last pair.
    fn pairs(&self, (x, y): (NodeId, NodeId), step: usize) -> Option<[(NodeId, NodeId); 2]> {
        let (left, right) = (self.a.element_range(x), self.b.element_range(y));
        if step >= left.len() * right.len() {
            return None;
        }
        let e = self.a.elements()[left.start + step / right.len()];
        let f = self.b.elements()[right.start + step % right.len()];
        Some([(e.prime, f.prime), (e.sub, f.sub)])
    }
}
