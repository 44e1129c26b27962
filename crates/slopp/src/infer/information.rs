//! Entropy and divergence.

use super::QueryError;
use super::product::divergence;
use crate::circuit::{Deterministic, Node};
use crate::logic::Limits;
use crate::logspace::x_log_x;

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
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?; // two fair coins
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
    /// elements at the same vtree node, at most the product of the sizes; limits as in
    /// [`Circuit::log_probability_of`](crate::Circuit::log_probability_of).
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
    /// #     Ok(builder.finish(sum)?.certify(&slopp::logic::Limits::default())?)
    /// # }
    /// let (fair, bent) = (psdd(0.5)?, psdd(0.25)?);
    /// let expected = 0.5 * (0.5f64 / 0.25).ln() + 0.5 * (0.5f64 / 0.75).ln();
    /// let limits = slopp::logic::Limits::default();
    /// assert!((fair.kl_divergence(&bent, &limits)? - expected).abs() < 1e-12);
    /// assert_eq!(fair.kl_divergence(&fair, &limits)?, 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kl_divergence(&self, other: &Deterministic, limits: &Limits) -> Result<f64, QueryError> {
        Ok(match divergence(self, other, limits)? {
            Some((worlds, divergence)) if worlds == self.model_count() => divergence.max(0.0),
            _ => f64::INFINITY,
        })
    }
}
