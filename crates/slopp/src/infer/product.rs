//! Products on one vtree: the probability of a formula, a circuit given a formula, and two circuits multiplied.
//!
//! The value of a pair of nodes at one vtree node is `Z(n,m) = Σ P(w) Q(w)` over the worlds of their variables, and
//! `Z(n,m) = Σᵢⱼ θᵢ φⱼ Z(primes) Z(subs)` over pairs of elements. Only pairs that are reached from the two roots are
//! looked at, subs only where the primes share a world, each pair once.

mod marginals;

use super::QueryError;
use super::factor::{ANY, Factor, Part};
use crate::circuit::{BuildError, Builder, Circuit, Deterministic, Kind, Node, NodeId, Psdd, Sharing};
use crate::logic::Sdd;
use crate::logspace::{LOG_ZERO, log_add, log_sum};
use rustc_hash::FxHashMap;

/// How many pairs of nodes a product may have: beyond it, it is an error and not a lack of memory.
pub const PRODUCT_LIMIT: usize = 20_000_000;

impl Circuit {
    /// The log-probability of a formula, −∞ if it is impossible.
    ///
    /// `P(f) = Σ P(w)` over the worlds `w` of `f`, without building anything. The formula is compiled on the vtree of
    /// the circuit; it may be trimmed. Cost: pairs of elements at the same vtree node that are reached from the roots,
    /// for a formula of a few literals a few times the elements.
    ///
    /// ```
    /// # use slopp::logic::{Sdd, SddElement, SddId, SddNode};
    /// let psdd = slopp::example::psdd();
    /// // X1 ∧ X3, or ¬X1 ∧ ¬X3.
    /// let vtree = psdd.vtree().clone();
    /// let lit = |x: u32, value| SddNode::Literal(slopp::Var(x).is(value));
    /// let nodes = vec![lit(0, true), lit(2, true), lit(0, false), lit(2, false),
    ///     SddNode::Decision { vtree: vtree.root(), start: 0, end: 2 }];
    /// let elements = [(0, 1), (2, 3)].map(|(p, s)| SddElement { prime: SddId(p), sub: SddId(s) });
    /// let same = Sdd::new(vtree, nodes, elements.to_vec())?;
    /// let summed: f64 = psdd.worlds(&slopp::infer::Evidence::none(4))?
    ///     .filter(|w| w[0] == w[2]).map(|w| psdd.log_probability(&w).unwrap().exp()).sum();
    /// assert!((psdd.log_probability_of(&same)?.exp() - summed).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_probability_of(&self, formula: &Sdd) -> Result<f64, QueryError> {
        Ok(Product::of_formula(self, formula)?.log_value())
    }

    /// The probability of a formula given another one.
    ///
    /// `P(f | g) = P(f ∧ g) / P(g)`, by conditioning on `g` first. An error if `g` is impossible.
    pub fn conditional_of(&self, formula: &Sdd, given: &Sdd) -> Result<f64, QueryError> {
        let (circuit, _) = self.given(given)?;
        Ok(circuit.log_probability_of(formula)?.exp().min(1.0))
    }

    /// The distribution given a formula, as a circuit on the same vtree, and the log-probability of the formula.
    ///
    /// `P(w | f)`: the base of the result is the base of the circuit and `f`. Marginals, samples and all other queries
    /// given a formula are those of the result. Cost: as [`Circuit::log_probability_of`], which is also the size of the
    /// result at most. An error if the formula is impossible.
    pub fn given(&self, formula: &Sdd) -> Result<(Circuit, f64), QueryError> {
        given(self, formula)
    }

    /// The normalised product with another circuit on the same vtree, and the logarithm of its normalising constant.
    ///
    /// `P(w) Q(w) / Z` with `Z = Σ P(w) Q(w)`. Cost: pairs of elements at the same vtree node whose primes share a
    /// world, at most the product of the sizes. An error if no world is possible in both.
    pub fn product(&self, other: &Circuit) -> Result<(Circuit, f64), QueryError> {
        product(self, other)
    }
}

impl Deterministic {
    /// As [`Circuit::given`]; every world still has one derivation, as the primes of the formula are exclusive.
    pub fn given(&self, formula: &Sdd) -> Result<(Deterministic, f64), QueryError> {
        given(self, formula)
    }

    /// As [`Circuit::product`]; a world has one derivation in each, and so in the product.
    pub fn product(&self, other: &Deterministic) -> Result<(Deterministic, f64), QueryError> {
        product(self, other)
    }
}

impl Psdd {
    /// As [`Circuit::given`], and the result is a PSDD again.
    ///
    /// Its primes are conjunctions of a prime of the circuit with a prime of the formula: two of them differ in one
    /// factor or the other, and so exclude each other. This rests on invariant 3 of [`Sdd`].
    ///
    /// ```
    /// # use slopp::logic::{Sdd, SddNode};
    /// # use slopp::infer::Evidence;
    /// let psdd = slopp::example::psdd();
    /// let x1 = Sdd::new(psdd.vtree().clone(), vec![SddNode::Literal(slopp::Var(0).is(true))], vec![])?;
    /// let (given, log_probability) = psdd.given(&x1)?;
    /// assert!((log_probability.exp() - psdd.marginals(&Evidence::none(4))?[0]).abs() < 1e-12);
    /// let (world, _) = given.mpe(&Evidence::none(4))?;
    /// assert!(world[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn given(&self, formula: &Sdd) -> Result<(Psdd, f64), QueryError> {
        given(self, formula)
    }

    /// As [`Circuit::product`], and the result is a PSDD again.
    ///
    /// ```
    /// let psdd = slopp::example::psdd();
    /// let (square, log_constant) = psdd.product(&psdd)?;
    /// let world = [false, true, true, false];
    /// let expected = 2.0 * psdd.log_probability(&world)? - log_constant;
    /// assert!((square.log_probability(&world)? - expected).abs() < 1e-12);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn product(&self, other: &Psdd) -> Result<(Psdd, f64), QueryError> {
        product(self, other)
    }
}

fn given<C: Kind>(circuit: &C, formula: &Sdd) -> Result<(C, f64), QueryError> {
    let product = Product::of_formula(circuit.as_ref(), formula)?;
    let (built, log_value) = product.build()?.ok_or(QueryError::ImpossibleFormula)?;
    // Every node has the worlds of a node of the circuit or fewer, and elements that were one are told apart by the
    // exclusive primes of the formula.
    Ok((circuit.carry_over(built), log_value))
}

fn product<C: Kind>(circuit: &C, other: &C) -> Result<(C, f64), QueryError> {
    let product = Product::of_circuits(circuit.as_ref(), other.as_ref())?;
    let (built, log_value) = product.build()?.ok_or(QueryError::NothingInCommon)?;
    Ok((circuit.carry_over(built), log_value))
}

/// How values are multiplied and added: plain, or as logarithms where plain numbers do not reach.
trait Arithmetic {
    const ZERO: f64;
    fn of_log(log: f64) -> f64;
    fn log(value: f64) -> f64;
    fn multiply(a: f64, b: f64) -> f64;
    fn add(a: f64, b: f64) -> f64;
    /// Whether a product of values other than zero has lost digits.
    fn is_lost(value: f64) -> bool;
}

struct Plain;

impl Arithmetic for Plain {
    const ZERO: f64 = 0.0;

    fn of_log(log: f64) -> f64 {
        log.exp()
    }

    fn log(value: f64) -> f64 {
        value.ln()
    }

    fn multiply(a: f64, b: f64) -> f64 {
        a * b
    }

    fn add(a: f64, b: f64) -> f64 {
        a + b
    }

    fn is_lost(value: f64) -> bool {
        value < f64::MIN_POSITIVE
    }
}

struct Logs;

impl Arithmetic for Logs {
    const ZERO: f64 = LOG_ZERO;

    fn of_log(log: f64) -> f64 {
        log
    }

    fn log(value: f64) -> f64 {
        value
    }

    fn multiply(a: f64, b: f64) -> f64 {
        a + b
    }

    fn add(a: f64, b: f64) -> f64 {
        log_add(a, b)
    }

    fn is_lost(_value: f64) -> bool {
        false
    }
}

/// The values of pairs of a node and a part; the place of a pair is known from both.
enum Memo {
    /// Where the values of each part begin, less the first node of its layer: small products.
    Dense {
        base: Vec<i64>,
        values: Vec<f64>,
    },
    Sparse(FxHashMap<(u32, u32), f64>),
}

/// Not computed yet: no value is NaN.
const OPEN: f64 = f64::NAN;

impl Memo {
    fn new(circuit: &Circuit, factor: &Factor) -> Memo {
        let mut total = 0;
        let mut base = vec![0; factor.parts.len()];
        for (part, &v) in factor.at.iter().enumerate().skip(1) {
            let layer = circuit.layer(v);
            base[part] = total as i64 - layer.start as i64;
            total += layer.len();
        }
        // A table costs less than hashing as long as most of it is looked at, as with formulas of a few literals.
        if total <= 8 * (circuit.nodes().len() + factor.parts.len()) {
            Memo::Dense { base, values: vec![OPEN; total] }
        } else {
            Memo::Sparse(FxHashMap::default())
        }
    }

    fn value(&self, node: NodeId, part: u32) -> Option<f64> {
        match self {
            Memo::Dense { base, values } => {
                let value = values[(base[part as usize] + i64::from(node.0)) as usize];
                (!value.is_nan()).then_some(value)
            }
            Memo::Sparse(values) => values.get(&(node.0, part)).copied(),
        }
    }

    fn insert(&mut self, node: NodeId, part: u32, value: f64) {
        match self {
            Memo::Dense { base, values } => values[(base[part as usize] + i64::from(node.0)) as usize] = value,
            Memo::Sparse(values) => drop(values.insert((node.0, part), value)),
        }
    }
}

/// A circuit times a factor, computed from the roots down.
struct Product<'a> {
    circuit: &'a Circuit,
    factor: Factor,
    /// The log-value of every node times the constant one; zero up to rounding, unless a file says otherwise.
    totals: Vec<f64>,
    memo: Memo,
    is_plain: bool,
    value: f64,
}

/// A pair of sums under way and the pair of elements it has come to.
struct Frame {
    node: NodeId,
    part: u32,
    i: u32,
    j: u32,
    sum: f64,
}

impl<'a> Product<'a> {
    fn of_formula(circuit: &'a Circuit, formula: &Sdd) -> Result<Product<'a>, QueryError> {
        if circuit.vtree() != formula.vtree() {
            return Err(QueryError::FormulaVtree);
        }
        Product::new(circuit, Factor::of_formula(formula))
    }

    fn of_circuits(circuit: &'a Circuit, other: &Circuit) -> Result<Product<'a>, QueryError> {
        if circuit.vtree() != other.vtree() {
            return Err(QueryError::DifferentVtrees);
        }
        Product::new(circuit, Factor::of_circuit(other))
    }

    fn new(circuit: &'a Circuit, factor: Factor) -> Result<Product<'a>, QueryError> {
        let memo = Memo::new(circuit, &factor);
        let totals = totals(circuit);
        let mut product = Product { circuit, factor, totals, memo, is_plain: true, value: 0.0 };
        let plain: Vec<f64> = circuit.log_parameters().elements.iter().map(|theta| theta.exp()).collect();
        match product.run::<Plain>(&plain)? {
            Some(value) => product.value = value,
            None => {
                product.memo = Memo::new(circuit, &product.factor);
                product.is_plain = false;
                let run = product.run::<Logs>(&circuit.log_parameters().elements)?;
                product.value = run.expect("logarithms lose nothing");
            }
        }
        Ok(product)
    }

    fn log_value(&self) -> f64 {
        self.log(self.value)
    }

    fn log(&self, value: f64) -> f64 {
        if self.is_plain { Plain::log(value) } else { Logs::log(value) }
    }

    /// The value of the two roots; `None` if digits were lost on the way.
    fn run<A: Arithmetic>(&mut self, thetas: &[f64]) -> Result<Option<f64>, QueryError> {
        let elements = self.circuit.elements();
        let (root, goal) = (self.circuit.root(), self.factor.root);
        if let Some(value) = self.known::<A>(root, goal) {
            return Ok(Some(value));
        }
        let phis: Vec<f64> = self.factor.terms.iter().map(|&(_, _, log)| A::of_log(log)).collect();
        let mut pairs = 0;
        let mut stack = vec![self.frame::<A>(root, goal)];
        'frames: while let Some(mut frame) = stack.pop() {
            let range = self.circuit.element_range(frame.node);
            let Part::Sum { start, end } = self.factor.parts[frame.part as usize] else {
                unreachable!("other parts are known")
            };
            while frame.i < range.len() as u32 {
                let e = range.start + frame.i as usize;
                let element = elements[e];
                while start + frame.j < end {
                    let (q, t, _) = self.factor.terms[(start + frame.j) as usize];
                    let Some(primes) = self.known::<A>(element.prime, q) else {
                        let child = self.frame::<A>(element.prime, q);
                        stack.extend([frame, child]);
                        continue 'frames;
                    };
                    if primes != A::ZERO {
                        let Some(subs) = self.known::<A>(element.sub, t) else {
                            let child = self.frame::<A>(element.sub, t);
                            stack.extend([frame, child]);
                            continue 'frames;
                        };
                        if subs != A::ZERO {
                            let weight = A::multiply(thetas[e], phis[(start + frame.j) as usize]);
                            let term = A::multiply(weight, A::multiply(primes, subs));
                            if A::is_lost(term) {
                                return Ok(None);
                            }
                            frame.sum = A::add(frame.sum, term);
                        }
                    }
                    frame.j += 1;
                }
                (frame.i, frame.j) = (frame.i + 1, 0);
            }
            self.memo.insert(frame.node, frame.part, frame.sum);
            pairs += 1;
            if pairs > PRODUCT_LIMIT {
                return Err(QueryError::TooLarge { what: "product", limit: PRODUCT_LIMIT });
            }
        }
        Ok(self.known::<A>(root, goal))
    }

    fn frame<A: Arithmetic>(&self, node: NodeId, part: u32) -> Frame {
        Frame { node, part, i: 0, j: 0, sum: A::ZERO }
    }

    fn known<A: Arithmetic>(&self, node: NodeId, part: u32) -> Option<f64> {
        match self.factor.parts[part as usize] {
            Part::Any => Some(A::of_log(self.totals[node.index()])),
            Part::Leaf(weights) => Some(A::of_log(log_sum(self.leaf(node, weights).into_iter()))),
            Part::Sum { start, end } if start == end => Some(A::ZERO),
            Part::Sum { .. } => self.memo.value(node, part),
        }
    }

    /// The log-weights of *false* and *true* under a leaf times a leaf.
    fn leaf(&self, node: NodeId, weights: [f64; 2]) -> [f64; 2] {
        match self.circuit.node(node) {
            Node::Literal(lit) => {
                [false, true].map(|x| if x == lit.value { weights[usize::from(x)] } else { LOG_ZERO })
            }
            Node::Top { slot, .. } => {
                let logs = self.circuit.log_parameters().tops[slot as usize];
                [0, 1].map(|x| logs[x] + weights[x])
            }
            Node::Sum { .. } => unreachable!("leaves of both are at leaves of the vtree"),
        }
    }

    /// The log-value of a pair that was reached.
    fn log_of(&self, node: NodeId, part: u32) -> f64 {
        let known = match self.is_plain {
            true => self.known::<Plain>(node, part),
            false => self.known::<Logs>(node, part),
        };
        known.map_or(LOG_ZERO, |value| self.log(value))
    }

    /// The normalised product and its log-constant; `None` if that is zero.
    fn build(&self) -> Result<Option<(Circuit, f64)>, QueryError> {
        let log_value = self.log_value();
        if log_value == LOG_ZERO {
            return Ok(None);
        }
        let mut slots = self.slots();
        let goal = (self.circuit.root(), self.factor.root);
        let pairs = self.alive(goal, &mut slots, true);
        // Pairs are different nodes; looking for equal ones would cost more than all the rest.
        let mut builder = Builder::new(self.circuit.vtree().clone(), Sharing::LiteralsOnly);
        let mut made = vec![NodeId(0); slots.len()];
        let mut logs = vec![LOG_ZERO; slots.len()];
        let mut elements = Vec::new();
        for (node, part) in pairs {
            let slot = slots.of(node, part);
            logs[slot] = self.log_of(node, part);
            let id = match (self.circuit.node(node), self.factor.parts[part as usize]) {
                (Node::Literal(lit), _) => builder.literal(lit),
                (Node::Top { var, slot }, Part::Any) => {
                    builder.top(var, self.circuit.log_parameters().tops[slot as usize])
                }
                (Node::Top { var, .. }, Part::Leaf(weights)) => match self.leaf(node, weights) {
                    [f, t] if f > LOG_ZERO && t > LOG_ZERO => {
                        let total = log_add(f, t);
                        builder.top(var, [f - total, t - total])
                    }
                    [_, t] => builder.literal(var.is(t > LOG_ZERO)),
                },
                (Node::Sum { vtree, .. }, _) => {
                    elements.clear();
                    self.live_elements((node, part), |prime, sub, log| {
                        let [p, s] = [prime, sub].map(|(node, part)| slots.of(node, part));
                        elements.push((made[p], made[s], (log + logs[p] + logs[s] - logs[slot]).min(0.0)));
                    });
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

    /// Places for what is known about pairs.
    fn slots(&self) -> Slots {
        match &self.memo {
            Memo::Dense { base, values } => {
                let mut base = base.clone();
                // The constant one goes with every node.
                base[ANY as usize] = values.len() as i64;
                Slots::Dense { base, len: values.len() + self.circuit.nodes().len() }
            }
            Memo::Sparse(_) => Slots::Sparse(FxHashMap::default()),
        }
    }

    /// The pairs below a pair that are part of some world, children before parents; also, if told to, below nodes that
    /// the factor leaves as they are.
    fn alive(&self, goal: (NodeId, u32), slots: &mut Slots, below_any: bool) -> Vec<(NodeId, u32)> {
        let mut seen = vec![false; slots.len()];
        let mut pairs = Vec::new();
        let mut reach = |pair: (NodeId, u32), pairs: &mut Vec<(NodeId, u32)>| {
            let slot = slots.add(pair.0, pair.1);
            if slot >= seen.len() {
                seen.resize(slot + 1, false);
            }
            if !std::mem::replace(&mut seen[slot], true) {
                pairs.push(pair);
            }
        };
        reach(goal, &mut pairs);
        let mut next = 0;
        let mut children = Vec::new();
        while let Some(&pair) = pairs.get(next) {
            next += 1;
            if pair.1 == ANY && !below_any {
                continue;
            }
            children.clear();
            self.live_elements(pair, |prime, sub, _| children.extend([prime, sub]));
            children.iter().for_each(|&child| reach(child, &mut pairs));
        }
        // The nodes of a circuit have children before parents, and so have pairs by node: a counting sort.
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
        sorted
    }

    /// The pairs of elements below a pair of sums that have worlds, with the logarithms of their parameters.
    fn live_elements(&self, (node, part): (NodeId, u32), mut visit: impl FnMut((NodeId, u32), (NodeId, u32), f64)) {
        let terms = match self.factor.parts[part as usize] {
            Part::Any => &[(ANY, ANY, 0.0)][..],
            Part::Leaf(_) => &[],
            Part::Sum { start, end } => &self.factor.terms[start as usize..end as usize],
        };
        for (element, theta) in self.circuit.elements_of(node) {
            for &(q, t, phi) in terms {
                if self.is_alive(element.prime, q) && self.is_alive(element.sub, t) {
                    visit((element.prime, q), (element.sub, t), theta + phi);
                }
            }
        }
    }

    /// Whether a pair was reached and has a world.
    fn is_alive(&self, node: NodeId, part: u32) -> bool {
        match self.factor.parts[part as usize] {
            Part::Any => true,
            Part::Leaf(weights) => self.leaf(node, weights).iter().any(|&log| log > LOG_ZERO),
            Part::Sum { .. } => {
                let zero = if self.is_plain { Plain::ZERO } else { Logs::ZERO };
                self.memo.value(node, part).is_some_and(|value| value != zero)
            }
        }
    }
}

/// A place for every pair.
enum Slots {
    Dense { base: Vec<i64>, len: usize },
    Sparse(FxHashMap<(NodeId, u32), u32>),
}

impl Slots {
    fn len(&self) -> usize {
        match self {
            Slots::Dense { len, .. } => *len,
            Slots::Sparse(places) => places.len(),
        }
    }

    fn add(&mut self, node: NodeId, part: u32) -> usize {
        match self {
            Slots::Dense { .. } => self.of(node, part),
            Slots::Sparse(places) => {
                let next = places.len() as u32;
                *places.entry((node, part)).or_insert(next) as usize
            }
        }
    }

    fn of(&self, node: NodeId, part: u32) -> usize {
        match self {
            Slots::Dense { base, .. } => (base[part as usize] + i64::from(node.0)) as usize,
            Slots::Sparse(places) => places[&(node, part)] as usize,
        }
    }
}

/// The log-value of every node over all worlds.
fn totals(circuit: &Circuit) -> Vec<f64> {
    let mut totals: Vec<f64> = Vec::with_capacity(circuit.nodes().len());
    for (id, node) in circuit.ids().zip(circuit.nodes()) {
        totals.push(match node {
            Node::Literal(_) | Node::Top { .. } => 0.0,
            Node::Sum { .. } => {
                let sum: f64 = circuit
                    .elements_of(id)
                    .map(|(e, theta)| (theta + totals[e.prime.index()] + totals[e.sub.index()]).exp())
                    .sum();
                if sum > f64::MIN_POSITIVE {
                    sum.ln()
                } else {
                    log_sum(
                        circuit
                            .elements_of(id)
                            .map(|(e, theta)| theta + totals[e.prime.index()] + totals[e.sub.index()]),
                    )
                }
            }
        });
    }
    totals
}

/// The only way a product of valid circuits cannot be built.
fn too_large(_: BuildError) -> QueryError {
    QueryError::TooLarge { what: "product", limit: u32::MAX as usize }
}
