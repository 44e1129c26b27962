//! Products on one vtree: the probability of a formula, a circuit given a formula, and two circuits multiplied.
//!
//! The value of a pair of nodes at one vtree node is `Z(n,m) = Σ P(w) Q(w)` over the worlds of their variables, and
//! `Z(n,m) = Σᵢⱼ θᵢ φⱼ Z(primes) Z(subs)` over pairs of elements. Only pairs reached from the two roots are visited,
//! each once, and subs only where the primes share a world. Here: the queries, and the circuits and marginals made from
//! the values; the values are in `values`.

mod divergence;
mod values;

pub(super) use divergence::divergence;

use super::QueryError;
use super::factor::{ANY, Part};
use crate::circuit::{BuildError, Builder, Certificate, Circuit, Node, NodeId, Psdd, Sharing};
use crate::limits::array_bytes;
use crate::logic::{Limits, Sdd};
use crate::logspace::{LOG_ZERO, log_add};
use crate::var::Lit;
use values::{Logs, Plain, Product, Slots};

impl Circuit {
    /// The log-probability of a formula, −∞ if it is impossible.
    ///
    /// `P(f) = Σ P(w)` over the worlds `w` of `f`, without building anything. The formula is compiled on the vtree of
    /// the circuit; it may be trimmed. Cost: pairs of elements at the same vtree node reached from the roots; for a
    /// formula of a few literals a few times the elements. These pairs count as nodes of the limits, and their values
    /// as memory.
    ///
    /// ```
    /// use slopp::logic::{Formula, Limits};
    /// let (psdd, records) = (slopp::example::psdd(), slopp::example::records());
    /// let same = Formula::parse("X1 <-> X3", records.names())?.compile(psdd.vtree().clone(), &Limits::default())?;
    /// let summed: f64 = psdd.worlds(&slopp::infer::Evidence::none(4))?
    ///     .filter(|w| w[0] == w[2]).map(|w| psdd.log_probability(&w).unwrap().exp()).sum();
    /// let asked = psdd.log_probability_of(&same, &Limits::default())?.exp();
    /// assert!((asked - summed).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_probability_of(&self, formula: &Sdd, limits: &Limits) -> Result<f64, QueryError> {
        Ok(Product::of_formula(self, formula, limits)?.log_value())
    }

    /// The probability of a formula given another one.
    ///
    /// `P(f | g) = P(f ∧ g) / P(g)`, by conditioning on `g` first. An error if `g` is impossible.
    pub fn conditional_of(&self, formula: &Sdd, given: &Sdd, limits: &Limits) -> Result<f64, QueryError> {
        let (circuit, _) = self.given(given, limits)?;
        Ok(circuit.log_probability_of(formula, limits)?.exp().min(1.0))
    }

    /// The distribution given a formula, as a circuit on the same vtree, and the log-probability of the formula.
    ///
    /// `P(w | f)`: the base of the result is the base of the circuit and `f`. Queries on the result are queries given
    /// `f`. Cost, and largest size of the result: as [`Circuit::log_probability_of`]. An error if the formula is
    /// impossible.
    pub fn given(&self, formula: &Sdd, limits: &Limits) -> Result<(Circuit, f64), QueryError> {
        given(self, formula, limits)
    }

    /// The normalised product with another circuit on the same vtree, and the logarithm of its normalising constant.
    ///
    /// `P(w) Q(w) / Z` with `Z = Σ P(w) Q(w)`. Cost: pairs of elements at the same vtree node whose primes share a
    /// world, at most the product of the sizes. An error if no world is possible in both.
    pub fn product(&self, other: &Circuit, limits: &Limits) -> Result<(Circuit, f64), QueryError> {
        product(self, other, limits)
    }
}

impl Psdd {
    /// As [`Circuit::given`], and the result is a PSDD again.
    ///
    /// Its primes are conjunctions of a prime of the circuit with a prime of the formula: two of them differ in one
    /// factor or the other, and so are exclusive. This relies on invariant 3 of [`Sdd`].
    ///
    /// ```
    /// use slopp::infer::Evidence;
    /// use slopp::logic::{Formula, Limits};
    /// let psdd = slopp::example::psdd();
    /// let x1 = Formula::literal(slopp::Var(0).is(true)).compile(psdd.vtree().clone(), &Limits::default())?;
    /// let (given, log_probability) = psdd.given(&x1, &Limits::default())?;
    /// assert!((log_probability.exp() - psdd.marginals(&Evidence::none(4))?[0]).abs() < 1e-12);
    /// let (world, _) = given.mpe(&Evidence::none(4))?;
    /// assert!(world[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn given(&self, formula: &Sdd, limits: &Limits) -> Result<(Psdd, f64), QueryError> {
        given(self, formula, limits)
    }

    /// As [`Circuit::product`], and the result is a PSDD again.
    ///
    /// ```
    /// let psdd = slopp::example::psdd();
    /// let (square, log_constant) = psdd.product(&psdd, &slopp::logic::Limits::default())?;
    /// let world = [false, true, true, false];
    /// let expected = 2.0 * psdd.log_probability(&world)? - log_constant;
    /// assert!((square.log_probability(&world)? - expected).abs() < 1e-12);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn product(&self, other: &Psdd, limits: &Limits) -> Result<(Psdd, f64), QueryError> {
        product(self, other, limits)
    }
}

fn given<C: Certificate>(circuit: &C, formula: &Sdd, limits: &Limits) -> Result<(C, f64), QueryError> {
    let product = Product::of_formula(circuit.as_ref(), formula, limits)?;
    let (built, log_value) = product.build()?.ok_or(QueryError::ImpossibleFormula)?;
    // Every node has at most the worlds of a node of the circuit, and parts of one element differ in the exclusive
    // primes of the formula.
    Ok((circuit.carry_over(built), log_value))
}

fn product<C: Certificate>(circuit: &C, other: &C, limits: &Limits) -> Result<(C, f64), QueryError> {
    let product = Product::of_circuits(circuit.as_ref(), other.as_ref(), limits)?;
    let (built, log_value) = product.build()?.ok_or(QueryError::NothingInCommon)?;
    Ok((circuit.carry_over(built), log_value))
}

impl Product<'_> {
    /// The normalised product and its log-constant; `None` if that is zero.
    fn build(&self) -> Result<Option<(Circuit, f64)>, QueryError> {
        let log_value = self.log_value();
        if log_value == LOG_ZERO {
            return Ok(None);
        }
        let mut slots = Slots::new(&self.memo, self.circuit.nodes().len());
        let thetas = &self.circuit.log_parameters().elements;
        let goal = (self.circuit.root(), self.factor.root);
        let pairs = self.alive(goal, &mut slots, true)?;
        // Pairs are different nodes; looking for equal ones would cost more than everything else.
        let mut builder = Builder::new(self.circuit.vtree().clone(), Sharing::LiteralsOnly);
        let mut made = vec![NodeId(0); slots.len()];
        let mut logs = vec![LOG_ZERO; slots.len()];
        let mut elements = Vec::new();
        let used = self.bytes() + slots.bytes() + 12 * slots.len() + 8 * pairs.len();
        let mut element_count = 0;
        for (i, (node, part)) in pairs.into_iter().enumerate() {
            // Nodes, elements and parameters, in arrays that may be half empty, and a copy at the end.
            self.budget.after(i, || used + 72 * i + 64 * element_count)?;
            let slot = slots.of(node, part);
            logs[slot] = self.log_of(node, part);
            let id = match (self.circuit.node(node), self.factor.parts[part as usize]) {
                (Node::Literal(lit), _) => builder.literal(lit),
                (Node::Top { var, slot }, Part::Any) => {
                    builder.top(var, self.circuit.log_parameters().tops[slot as usize])
                }
                (Node::Top { var, slot }, Part::Leaf(weights)) => {
                    let logs = self.circuit.log_parameters().tops[slot as usize];
                    match [0, 1].map(|x| logs[x] + weights[x]) {
                        [f, t] if f > LOG_ZERO && t > LOG_ZERO => {
                            let total = log_add(f, t);
                            builder.top(var, [f - total, t - total])
                        }
                        [_, t] => builder.literal(var.is(t > LOG_ZERO)),
                    }
                }
                (Node::Sum { vtree, .. }, _) => {
                    elements.clear();
                    self.live_elements((node, part), |prime, sub, e, term| {
                        let log = thetas[e] + term.map_or(0.0, |term| self.factor.terms[term].2);
                        let [p, s] = [prime, sub].map(|(node, part)| slots.of(node, part));
                        elements.push((made[p], made[s], (log + logs[p] + logs[s] - logs[slot]).min(0.0)));
                    });
                    element_count += elements.len();
                    match builder.sum(vtree, &elements) {
                        // Elements of a mixture may become the same.
                        Err(BuildError::RepeatedElement { .. }) => {
                            crate::circuit::merge_equal(&mut elements, |a, b| log_add(a, b).min(0.0));
                            builder.sum(vtree, &elements)
                        }
                        result => result,
                    }
                }
                (Node::Top { .. }, Part::Sum { .. }) => unreachable!("sums are at inner vtree nodes"),
            };
            made[slot] = id.map_err(too_large)?;
        }
        let root = made[slots.of(goal.0, goal.1)];
        Ok(Some((builder.finish(root).map_err(too_large)?, log_value)))
    }

    /// The pairs below a pair that are part of some world, children before parents; with `below_any`, also below nodes that
    /// the factor leaves unchanged.
    fn alive(&self, goal: (NodeId, u32), slots: &mut Slots, below_any: bool) -> Result<Vec<(NodeId, u32)>, QueryError> {
        let mut seen = vec![false; slots.len()];
        let mut pairs = Vec::new();
        let mut reach = |pair: (NodeId, u32), pairs: &mut Vec<(NodeId, u32)>, slots: &mut Slots| {
            let slot = slots.add(pair.0, pair.1);
            if slot >= seen.len() {
                seen.resize(slot + 1, false);
            }
            if !std::mem::replace(&mut seen[slot], true) {
                pairs.push(pair);
            }
        };
        reach(goal, &mut pairs, slots);
        let mut next = 0;
        let mut children = Vec::new();
        while let Some(&pair) = pairs.get(next) {
            next += 1;
            // Pairs are copied when they are sorted.
            self.budget.after(next, || self.bytes() + slots.bytes() + 2 * array_bytes(&pairs) + slots.len())?;
            if pair.1 == ANY && !below_any {
                continue;
            }
            children.clear();
            self.live_elements(pair, |prime, sub, _, _| children.extend([prime, sub]));
            children.iter().for_each(|&child| reach(child, &mut pairs, slots));
        }
        // The nodes of a circuit have children before parents, so pairs sorted by node have too: a counting sort.
        let mut place = vec![0u32; self.circuit.nodes().len() + 1];
        pairs.iter().for_each(|(node, _)| place[node.index() + 1] += 1);
        for i in 1..place.len() {
            place[i] += place[i - 1];
        }
        let mut sorted = vec![goal; pairs.len()];
        for pair in pairs {
            let at = &mut place[pair.0.index()];
            sorted[*at as usize] = pair;
            *at += 1;
        }
        Ok(sorted)
    }

    /// The pairs of elements with worlds below a pair of sums: prime, sub, the element, and the term of the factor.
    fn live_elements(
        &self,
        (node, part): (NodeId, u32),
        mut visit: impl FnMut((NodeId, u32), (NodeId, u32), usize, Option<usize>),
    ) {
        let elements = self.circuit.element_range(node).map(|e| (e, self.circuit.elements()[e]));
        let terms = match self.factor.parts[part as usize] {
            Part::Any => {
                elements.for_each(|(e, element)| visit((element.prime, ANY), (element.sub, ANY), e, None));
                return;
            }
            Part::Leaf(_) => return,
            Part::Sum { start, end } => start as usize..end as usize,
        };
        for (e, element) in elements {
            for term in terms.clone() {
                let (q, t, _) = self.factor.terms[term];
                if self.is_alive(element.prime, q) && self.is_alive(element.sub, t) {
                    visit((element.prime, q), (element.sub, t), e, Some(term));
                }
            }
        }
    }
}

/// The only error that can occur in the product of valid circuits.
fn too_large(_: BuildError) -> QueryError {
    QueryError::TooLarge { what: "product", limit: u32::MAX as usize }
}

impl Circuit {
    /// `P(x = true | formula)` for every variable `x`; the formula is on the same vtree.
    ///
    /// The marginals of [`Circuit::given`], in a fraction of the time: flows go down the pairs of nodes that share a
    /// world, and down the circuit itself where the formula is true. Cost: as [`Circuit::log_probability_of`]. An error
    /// if the formula is impossible.
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
        // Flows into nodes where the formula is true.
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

    /// The share of a pair of elements in their pair of sums.
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

    /// The share of *true* in a pair of leaves.
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
