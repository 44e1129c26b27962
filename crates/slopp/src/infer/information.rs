//! Entropy and divergence.

use super::QueryError;
use crate::circuit::{Deterministic, Node, NodeId};
use crate::logspace::x_log_x;
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

impl Deterministic {
    /// The entropy of the distribution, in nats.
    ///
    /// `H(sum) = Σ θᵢ (H(prime) + H(sub) − ln θᵢ)`, as elements are exclusive. Cost: elements.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let any_x = builder.top(Var(0), [0.5f64.ln(); 2])?;
    /// # let any_y = builder.top(Var(1), [0.5f64.ln(); 2])?;
    /// # let sum = builder.sum(root, &[(any_x, any_y, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify()?; // two fair coins
    /// assert!((psdd.entropy() - 4f64.ln()).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn entropy(&self) -> f64 {
        let mut entropies: Vec<f64> = Vec::with_capacity(self.nodes().len());
        for (id, node) in self.ids().zip(self.nodes()) {
            entropies.push(match *node {
                Node::Literal(_) => 0.0,
                Node::Top { slot, .. } => {
                    -self.log_parameters().tops[slot as usize].iter().map(|log| x_log_x(log.exp())).sum::<f64>()
                }
                Node::Sum { .. } => self
                    .elements_of(id)
                    .map(|(e, log)| log.exp() * (entropies[e.prime.index()] + entropies[e.sub.index()] - log))
                    .sum(),
            });
        }
        entropies[self.root().index()]
    }

    /// The Kullback-Leibler divergence from this distribution to another one on the same vtree, in nats.
    ///
    /// `Σ P(w) ln(P(w) / Q(w))`, +∞ exactly when some world is possible here but not there, which is decided by
    /// counting the common worlds exactly. The structures may differ: with `A(n,m)` the probability under `n` of the
    /// base of `m`, `D(n,m) = Σᵢⱼ θᵢ [A(p,q) A(s,t) ln(θᵢ/φⱼ) + D(p,q) A(s,t) + A(p,q) D(s,t)]`. Cost: pairs of
    /// elements at the same vtree node, at most the product of the sizes.
    /// Liang and Van den Broeck, *Towards compact interpretable models: shrinking of learned PSDDs* (2017).
    ///
    /// ```
    /// # use slopp::{Builder, Psdd, Sharing, Var, Vtree};
    /// # fn psdd(p: f64) -> Result<Psdd, Box<dyn std::error::Error>> {
    /// #     let vtree = Vtree::balanced(2);
    /// #     let root = vtree.root();
    /// #     let mut builder = Builder::new(vtree, Sharing::Equal);
    /// #     let x = builder.literal(Var(0).is(true))?;
    /// #     let any = builder.top(Var(1), [(1.0 - p).ln(), p.ln()])?;
    /// #     let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// #     Ok(builder.finish(sum)?.certify()?)
    /// # }
    /// let (fair, bent) = (psdd(0.5)?, psdd(0.25)?);
    /// let expected = 0.5 * (0.5f64 / 0.25).ln() + 0.5 * (0.5f64 / 0.75).ln();
    /// assert!((fair.kl_divergence(&bent)? - expected).abs() < 1e-12);
    /// assert_eq!(fair.kl_divergence(&fair)?, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kl_divergence(&self, other: &Deterministic) -> Result<f64, QueryError> {
        if self.vtree() != other.vtree() {
            return Err(QueryError::DifferentVtrees);
        }
        let mut compare = Compare { one: self, other, memo: FxHashMap::default() };
        let shared = compare.pair(self.root(), other.root());
        Ok(if shared.worlds == self.model_count() { shared.divergence.max(0.0) } else { f64::INFINITY })
    }
}

/// What two nodes of one vtree node have in common.
#[derive(Clone, Debug, Default)]
struct Shared {
    /// How many worlds.
    worlds: BigUint,
    /// Their probability under the first.
    probability: f64,
    /// `Σ P(w) ln(P(w) / Q(w))` over them.
    divergence: f64,
}

struct Compare<'a> {
    one: &'a Deterministic,
    other: &'a Deterministic,
    memo: FxHashMap<(NodeId, NodeId), Shared>,
}

/// A pair of nodes under comparison and the pair of elements it has come to.
struct Frame {
    pair: (NodeId, NodeId),
    i: usize,
    j: usize,
    sum: Shared,
}

impl Frame {
    fn new(pair: (NodeId, NodeId)) -> Frame {
        Frame { pair, i: 0, j: 0, sum: Shared::default() }
    }
}

impl Compare<'_> {
    fn pair(&mut self, n: NodeId, m: NodeId) -> Shared {
        let mut stack = vec![Frame::new((n, m))];
        while let Some(mut frame) = stack.pop() {
            match self.step(&mut frame) {
                Some(child) => stack.extend([frame, Frame::new(child)]),
                None => {
                    self.memo.insert(frame.pair, frame.sum);
                }
            }
        }
        self.memo.remove(&(n, m)).expect("the stack is empty")
    }

    /// Goes on with a pair until it is done, or until another pair has to be known first.
    fn step(&self, frame: &mut Frame) -> Option<(NodeId, NodeId)> {
        let (n, m) = frame.pair;
        if let Some(leaf) = self.leaf(n, m) {
            frame.sum = leaf;
            return None;
        }
        let (ours, theirs) = (self.one.element_range(n), self.other.element_range(m));
        while frame.i < ours.len() {
            let (i, j) = (ours.start + frame.i, theirs.start + frame.j);
            let (a, b) = (self.one.elements()[i], self.other.elements()[j]);
            let Some(primes) = self.memo.get(&(a.prime, b.prime)) else { return Some((a.prime, b.prime)) };
            if primes.worlds != BigUint::ZERO {
                let Some(subs) = self.memo.get(&(a.sub, b.sub)) else { return Some((a.sub, b.sub)) };
                let log_ratio = self.one.log_parameters().elements[i] - self.other.log_parameters().elements[j];
                let theta = self.one.log_parameters().elements[i].exp();
                let both = primes.probability * subs.probability;
                frame.sum.worlds += &primes.worlds * &subs.worlds;
                frame.sum.probability += theta * both;
                frame.sum.divergence += theta
                    * (both * log_ratio + primes.divergence * subs.probability + primes.probability * subs.divergence);
            }
            frame.j += 1;
            if frame.j == theirs.len() {
                (frame.i, frame.j) = (frame.i + 1, 0);
            }
        }
        None
    }

    /// The answer for two leaves; `None` for sums.
    fn leaf(&self, n: NodeId, m: NodeId) -> Option<Shared> {
        let ours = log_leaf(self.one, n)?;
        let theirs = log_leaf(self.other, m)?;
        let mut shared = Shared::default();
        for (p, q) in ours.into_iter().zip(theirs) {
            if let (Some(p), Some(q)) = (p, q) {
                shared.worlds += 1u32;
                shared.probability += p.exp();
                shared.divergence += p.exp() * (p - q);
            }
        }
        Some(shared)
    }
}

/// The log-probabilities of *false* and *true* under a leaf, `None` where impossible.
fn log_leaf(circuit: &Deterministic, id: NodeId) -> Option<[Option<f64>; 2]> {
    match circuit.node(id) {
        Node::Literal(lit) => Some([false, true].map(|value| (value == lit.value).then_some(0.0))),
        Node::Top { slot, .. } => Some(circuit.log_parameters().tops[slot as usize].map(Some)),
        Node::Sum { .. } => None,
    }
}
