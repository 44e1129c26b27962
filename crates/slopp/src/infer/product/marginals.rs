//! Marginals given a formula, from the values of the product alone: no circuit is built.

use super::arithmetic::{Logs, Plain};
use super::memo::Slots;
use super::values::Product;
use crate::circuit::{Circuit, Node, NodeId};
use crate::infer::QueryError;
use crate::infer::factor::Part;
use crate::logic::{Limits, Sdd};
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
    /// let (given, _) = psdd.given(&either, &Limits::default())?;
    /// let marginals = psdd.marginals_given(&either, &Limits::default())?;
    /// let pairs = marginals.into_iter().zip(given.marginals(&Evidence::none(4))?);
    /// assert!(pairs.map(|(a, b)| (a - b).abs()).all(|difference| difference < 1e-12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn marginals_given(&self, formula: &Sdd, limits: &Limits) -> Result<Vec<f64>, QueryError> {
        let product = Product::of_formula(self, formula, limits)?;
        match product.log_value() == LOG_ZERO {
            true => Err(QueryError::ImpossibleFormula),
            false => product.marginals(),
        }
    }
}

impl Product<'_> {
    fn marginals(&self) -> Result<Vec<f64>, QueryError> {
        let circuit = self.circuit;
        let mut slots = Slots::new(&self.memo, circuit.nodes().len());
        let goal = (circuit.root(), self.factor.root);
        let pairs = self.alive(goal, &mut slots, false)?;
        let mut flows = vec![0.0; slots.len()];
        // What flows into nodes below which the formula says nothing.
        let mut free = vec![0.0; circuit.nodes().len()];
        let mut trues = vec![0.0; circuit.var_count()];
        flows[slots.of(goal.0, goal.1)] = 1.0;
        for &(node, part) in pairs.iter().rev() {
            let flow = flows[slots.of(node, part)];
            match (self.factor.parts[part as usize], circuit.node(node)) {
                (Part::Any, _) => free[node.index()] += flow,
                (Part::Leaf(_), Node::Literal(Lit { var, .. }) | Node::Top { var, .. }) => {
                    trues[var.index()] += flow * self.share_of_true(node, part);
                }
                _ => self.live_elements((node, part), |prime, sub, element, term| {
                    let used = flow * self.share((node, part), prime, sub, (element, term));
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
                    let totals = &self.numbers.totals;
                    for e in circuit.element_range(id) {
                        let (element, theta) = (circuit.elements()[e], self.numbers.thetas[e]);
                        let [prime, sub] = [element.prime, element.sub].map(NodeId::index);
                        let used = flow * self.divided([theta, totals[prime], totals[sub]], totals[id.index()]);
                        free[prime] += used;
                        free[sub] += used;
                    }
                }
                Node::Literal(_) | Node::Sum { .. } => {}
            }
        }
        Ok(trues.into_iter().map(|p: f64| p.min(1.0)).collect())
    }

    /// Which share of a pair of sums a pair of their elements has.
    fn share(
        &self,
        whole: (NodeId, u32),
        prime: (NodeId, u32),
        sub: (NodeId, u32),
        (element, term): (usize, Option<usize>),
    ) -> f64 {
        let value = |(node, part): (NodeId, u32)| match self.is_plain {
            true => self.known::<Plain>(node, part).unwrap_or(0.0),
            false => self.known::<Logs>(node, part).unwrap_or(LOG_ZERO),
        };
        let weight = match self.is_plain {
            true => self.numbers.weight::<Plain>(element, term),
            false => self.numbers.weight::<Logs>(element, term),
        };
        self.divided([weight, value(prime), value(sub)], value(whole))
    }

    /// Which share of a pair of leaves is true.
    fn share_of_true(&self, node: NodeId, part: u32) -> f64 {
        match self.is_plain {
            true => {
                let [no, yes] = self.numbers.sides::<Plain>(self.circuit, node, part);
                yes / (no + yes)
            }
            false => {
                let [no, yes] = self.numbers.sides::<Logs>(self.circuit, node, part);
                1.0 / (1.0 + (no - yes).exp())
            }
        }
    }

    /// A product divided by a value, as a plain number.
    fn divided(&self, [a, b, c]: [f64; 3], by: f64) -> f64 {
        if self.is_plain { a * b * c / by } else { (a + b + c - by).exp() }
    }
}
