//! Marginals given a formula, from the values of the product alone: no circuit is built.

use super::{Part, Plain, Product};
use crate::circuit::{Circuit, Node, NodeId};
use crate::infer::QueryError;
use crate::logic::Sdd;
use crate::logspace::LOG_ZERO;
use crate::var::Lit;

impl Circuit {
    /// `P(x = true | formula)` for every variable `x`; the formula is on the same vtree.
    ///
    /// As the marginals of [`Circuit::given`], in a fraction of the time: flows go down the pairs of nodes that share a
    /// world, and from where the formula says nothing more down the circuit itself. Cost: as
    /// [`Circuit::log_probability_of`]. An error if the formula is impossible.
    ///
    /// ```
    /// use slopp::{infer::Evidence, logic::{Formula, Limits}};
    /// let psdd = slopp::example::psdd();
    /// let either = Formula::parse("X1 | X2", slopp::example::records().names())?;
    /// let either = either.compile(psdd.vtree().clone(), &Limits::default())?;
    /// let (given, _) = psdd.given(&either)?;
    /// let pairs = psdd.marginals_given(&either)?.into_iter().zip(given.marginals(&Evidence::none(4))?);
    /// assert!(pairs.map(|(a, b)| (a - b).abs()).all(|difference| difference < 1e-12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn marginals_given(&self, formula: &Sdd) -> Result<Vec<f64>, QueryError> {
        let product = Product::of_formula(self, formula)?;
        match product.log_value() == LOG_ZERO {
            true => Err(QueryError::ImpossibleFormula),
            false => Ok(product.marginals()),
        }
    }
}

impl Product<'_> {
    fn marginals(&self) -> Vec<f64> {
        let circuit = self.circuit;
        let mut slots = self.slots();
        let goal = (circuit.root(), self.factor.root);
        let pairs = self.alive(goal, &mut slots, false);
        let mut flows = vec![0.0; slots.len()];
        // What flows into nodes below which the formula says nothing.
        let mut free = vec![0.0; circuit.nodes().len()];
        let mut trues = vec![0.0; circuit.var_count()];
        flows[slots.of(goal.0, goal.1)] = 1.0;
        for &(node, part) in pairs.iter().rev() {
            let flow = flows[slots.of(node, part)];
            match (self.factor.parts[part as usize], circuit.node(node)) {
                (Part::Any, _) => free[node.index()] += flow,
                (Part::Leaf(weights), Node::Literal(Lit { var, .. }) | Node::Top { var, .. }) => {
                    let [no, yes] = self.leaf(node, weights);
                    trues[var.index()] += flow / (1.0 + (no - yes).exp());
                }
                _ => self.live_elements((node, part), |prime, sub, theta| {
                    let used = flow * self.share((node, part), prime, sub, theta);
                    flows[slots.of(prime.0, prime.1)] += used;
                    flows[slots.of(sub.0, sub.1)] += used;
                }),
            }
        }
        for id in circuit.ids().rev() {
            let flow = free[id.index()];
            match circuit.node(id) {
                Node::Literal(lit) if lit.value => trues[lit.var.index()] += flow,
                Node::Top { var, slot } => {
                    trues[var.index()] += flow * circuit.log_parameters().tops[slot as usize][1].exp()
                }
                Node::Sum { .. } if flow > 0.0 => {
                    for (element, theta) in circuit.elements_of(id) {
                        let [prime, sub] = [element.prime, element.sub].map(NodeId::index);
                        let used =
                            flow * (theta + self.totals[prime] + self.totals[sub] - self.totals[id.index()]).exp();
                        free[prime] += used;
                        free[sub] += used;
                    }
                }
                Node::Literal(_) | Node::Sum { .. } => {}
            }
        }
        trues.into_iter().map(|p: f64| p.min(1.0)).collect()
    }

    /// Which share of a pair of sums a pair of their elements has.
    fn share(&self, whole: (NodeId, u32), prime: (NodeId, u32), sub: (NodeId, u32), theta: f64) -> f64 {
        let plain = |(node, part): (NodeId, u32)| self.known::<Plain>(node, part).unwrap_or(0.0);
        match self.is_plain {
            true => theta.exp() * plain(prime) * plain(sub) / plain(whole),
            false => {
                let log = |(node, part)| self.log_of(node, part);
                (theta + log(prime) + log(sub) - log(whole)).exp()
            }
        }
    }
}
