//! The values of pairs, from the roots down: plain, or as logarithms where plain numbers underflow.

use crate::circuit::{Circuit, Node, NodeId};
use crate::infer::QueryError;
use crate::infer::factor::{ANY, Factor, Part};
use crate::limits::{LOOK_EVERY, Limit, Limits, table_bytes};
use crate::logic::Sdd;
use crate::logspace::{LOG_ZERO, log_add};
use rustc_hash::FxHashMap;

/// A circuit times a factor, computed from the roots down.
pub(super) struct Product<'a> {
    pub(super) circuit: &'a Circuit,
    pub(super) factor: Factor,
    /// Plain numbers or logarithms, like all values.
    pub(super) numbers: Numbers,
    pub(super) memo: Memo,
    pub(super) is_plain: bool,
    pub(super) budget: Budget<'a>,
    /// The bytes that do not grow.
    fixed: usize,
    value: f64,
}

/// A pair of sums in progress and its current pair of elements.
struct Frame {
    node: NodeId,
    part: u32,
    i: u32,
    j: u32,
    sum: f64,
}

impl<'a> Product<'a> {
    pub(super) fn of_formula(
        circuit: &'a Circuit,
        formula: &Sdd,
        limits: &'a Limits,
    ) -> Result<Product<'a>, QueryError> {
        if circuit.vtree() != formula.vtree() {
            return Err(QueryError::FormulaVtree);
        }
        let budget = Budget::new(limits);
        let factor = Factor::of_formula(formula, &mut |parts, bytes| budget.after(parts, || bytes))?;
        Product::new(circuit, factor, budget)
    }

    pub(super) fn of_circuits(
        circuit: &'a Circuit,
        other: &Circuit,
        limits: &'a Limits,
    ) -> Result<Product<'a>, QueryError> {
        if circuit.vtree() != other.vtree() {
            return Err(QueryError::DifferentVtrees);
        }
        Product::new(circuit, Factor::of_circuit(other), Budget::new(limits))
    }

    fn new(circuit: &'a Circuit, factor: Factor, budget: Budget<'a>) -> Result<Product<'a>, QueryError> {
        let plain = Numbers::new::<Plain>(circuit, &factor);
        let is_plain = plain.is_some();
        let numbers = plain.unwrap_or_else(|| Numbers::in_logs(circuit, &factor));
        let memo = Memo::new(circuit, &factor);
        let fixed = factor.bytes() + numbers.bytes();
        let mut product = Product { circuit, factor, numbers, memo, is_plain, budget, fixed, value: 0.0 };
        product.budget.check(product.bytes())?;
        if is_plain {
            if let Some(value) = product.run::<Plain>()? {
                product.value = value;
                return Ok(product);
            }
            product.is_plain = false;
            product.budget.restart();
            product.numbers = Numbers::in_logs(circuit, &product.factor);
            product.memo = Memo::new(circuit, &product.factor);
        }
        product.value = product.run::<Logs>()?.expect("logarithms lose nothing");
        Ok(product)
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.fixed + self.memo.bytes()
    }

    pub(super) fn log_value(&self) -> f64 {
        self.log(self.value)
    }

    fn log(&self, value: f64) -> f64 {
        if self.is_plain { Plain::log(value) } else { Logs::log(value) }
    }

    /// The value of the two roots; `None` if digits were lost.
    fn run<A: Arithmetic>(&mut self) -> Result<Option<f64>, QueryError> {
        let elements = self.circuit.elements();
        let (root, goal) = (self.circuit.root(), self.factor.root);
        if let Some(value) = self.known::<A>(root, goal) {
            return Ok(Some(value));
        }
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
                            let weight = self.numbers.weight::<A>(e, Some((start + frame.j) as usize));
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
            self.budget.pair(|| self.fixed + self.memo.bytes())?;
        }
        Ok(self.known::<A>(root, goal))
    }

    fn frame<A: Arithmetic>(&self, node: NodeId, part: u32) -> Frame {
        Frame { node, part, i: 0, j: 0, sum: A::ZERO }
    }

    /// The value of a pair, if it was reached or needs no sum.
    pub(super) fn known<A: Arithmetic>(&self, node: NodeId, part: u32) -> Option<f64> {
        match self.factor.parts[part as usize] {
            Part::Any => Some(self.numbers.totals[node.index()]),
            Part::Leaf(_) => {
                let [no, yes] = self.numbers.sides::<A>(self.circuit, node, part);
                Some(A::add(no, yes))
            }
            Part::Sum { start, end } if start == end => Some(A::ZERO),
            Part::Sum { .. } => self.memo.value(node, part),
        }
    }

    /// The log-value of a pair that was reached.
    pub(super) fn log_of(&self, node: NodeId, part: u32) -> f64 {
        let known = match self.is_plain {
            true => self.known::<Plain>(node, part),
            false => self.known::<Logs>(node, part),
        };
        known.map_or(LOG_ZERO, |value| self.log(value))
    }

    /// Whether a pair was reached and has a world.
    pub(super) fn is_alive(&self, node: NodeId, part: u32) -> bool {
        match self.is_plain {
            true => self.known::<Plain>(node, part).is_some_and(|value| value != Plain::ZERO),
            false => self.known::<Logs>(node, part).is_some_and(|value| value != Logs::ZERO),
        }
    }
}

/// How values are multiplied and added: plain, or as logarithms where plain numbers underflow.
pub(super) trait Arithmetic {
    const ZERO: f64;
    fn of_log(log: f64) -> f64;
    fn log(value: f64) -> f64;
    fn multiply(a: f64, b: f64) -> f64;
    fn add(a: f64, b: f64) -> f64;
    /// Whether a product of values other than zero has lost digits.
    fn is_lost(value: f64) -> bool;
    /// Whether a nonzero number is so small that products of a few may lose digits.
    fn is_small(value: f64) -> bool;
}

pub(super) struct Plain;

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

    fn is_small(value: f64) -> bool {
        value < SMALL
    }
}

pub(super) struct Logs;

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

    fn is_small(_value: f64) -> bool {
        false
    }
}

/// The numbers a product is computed from, so that it takes no logarithms.
pub(super) struct Numbers {
    /// The parameters of the circuit.
    pub(super) thetas: Vec<f64>,
    tops: Vec<[f64; 2]>,
    /// The value of every node times the constant one; one up to rounding, unless a file differs.
    pub(super) totals: Vec<f64>,
    /// The weights of the terms of the factor.
    phis: Vec<f64>,
    /// The weights of *false* and *true* of the leaves of the factor.
    leaves: Vec<[f64; 2]>,
}

impl Numbers {
    /// `None` if a number other than zero is too small for products of two.
    pub(super) fn new<A: Arithmetic>(circuit: &Circuit, factor: &Factor) -> Option<Numbers> {
        let logs = circuit.log_parameters();
        let leaf = |part: &Part| if let Part::Leaf(weights) = part { *weights } else { [LOG_ZERO; 2] };
        let small = |log: f64| log > LOG_ZERO && A::is_small(A::of_log(log));
        let thetas: Vec<f64> = logs.elements.iter().map(|&log| A::of_log(log)).collect();
        let is_small = thetas.iter().any(|&theta| A::is_small(theta))
            || logs.tops.iter().flatten().any(|&log| small(log))
            || factor.parts.iter().flat_map(leaf).any(small)
            || factor.terms.iter().any(|&(_, _, log)| small(log));
        if is_small {
            return None;
        }
        let mut totals: Vec<f64> = Vec::with_capacity(circuit.nodes().len());
        for node in circuit.nodes() {
            let total = match *node {
                Node::Literal(_) | Node::Top { .. } => A::of_log(0.0),
                Node::Sum { start, end, .. } => (start as usize..end as usize).fold(A::ZERO, |sum, i| {
                    let element = circuit.elements()[i];
                    let [prime, sub] = [element.prime, element.sub].map(|id| totals[id.index()]);
                    A::add(sum, A::multiply(thetas[i], A::multiply(prime, sub)))
                }),
            };
            if A::is_small(total) {
                return None;
            }
            totals.push(total);
        }
        Some(Numbers {
            tops: logs.tops.iter().map(|top| top.map(A::of_log)).collect(),
            phis: factor.terms.iter().map(|&(_, _, log)| A::of_log(log)).collect(),
            leaves: factor.parts.iter().map(|part| leaf(part).map(A::of_log)).collect(),
            thetas,
            totals,
        })
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> usize {
        let singles = self.thetas.len() + self.totals.len() + self.phis.len();
        8 * singles + 16 * (self.tops.len() + self.leaves.len())
    }

    /// As logarithms, which are never too small.
    pub(super) fn in_logs(circuit: &Circuit, factor: &Factor) -> Numbers {
        Numbers::new::<Logs>(circuit, factor).expect("no logarithm is too small")
    }

    /// The weights of *false* and *true* under a leaf times a leaf of the factor.
    pub(super) fn sides<A: Arithmetic>(&self, circuit: &Circuit, node: NodeId, part: u32) -> [f64; 2] {
        let weights = self.leaves[part as usize];
        match circuit.node(node) {
            Node::Literal(lit) => [false, true].map(|x| if x == lit.value { weights[usize::from(x)] } else { A::ZERO }),
            Node::Top { slot, .. } => [0, 1].map(|x| A::multiply(self.tops[slot as usize][x], weights[x])),
            Node::Sum { .. } => unreachable!("leaves of both are at leaves of the vtree"),
        }
    }

    /// The weight of an element times a term of the factor; no term is the constant one.
    pub(super) fn weight<A: Arithmetic>(&self, element: usize, term: Option<usize>) -> f64 {
        let theta = self.thetas[element];
        term.map_or(theta, |term| A::multiply(theta, self.phis[term]))
    }
}

/// 2⁻²⁰⁰: a product of four numbers that are not below it is a normal number.
const SMALL: f64 = f64::from_bits((1023 - 200) << 52);

/// The values of pairs of a node and a part; both give the place of a pair.
pub(super) enum Memo {
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
    pub(super) fn new(circuit: &Circuit, factor: &Factor) -> Memo {
        let mut total = 0;
        let mut base = vec![0; factor.parts.len()];
        for (part, &v) in factor.at.iter().enumerate().skip(1) {
            let layer = circuit.layer(v);
            base[part] = total as i64 - layer.start as i64;
            total += layer.len();
        }
        // A table costs less than hashing while most of it is used, as with formulas of a few literals.
        if total <= 8 * (circuit.nodes().len() + factor.parts.len()) {
            Memo::Dense { base, values: vec![OPEN; total] }
        } else {
            Memo::Sparse(FxHashMap::default())
        }
    }

    pub(super) fn value(&self, node: NodeId, part: u32) -> Option<f64> {
        match self {
            Memo::Dense { base, values } => {
                let value = values[(base[part as usize] + i64::from(node.0)) as usize];
                (!value.is_nan()).then_some(value)
            }
            Memo::Sparse(values) => values.get(&(node.0, part)).copied(),
        }
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Memo::Dense { base, values } => 8 * (base.len() + values.len()),
            Memo::Sparse(values) => table_bytes(values),
        }
    }

    pub(super) fn insert(&mut self, node: NodeId, part: u32, value: f64) {
        match self {
            Memo::Dense { base, values } => values[(base[part as usize] + i64::from(node.0)) as usize] = value,
            Memo::Sparse(values) => drop(values.insert((node.0, part), value)),
        }
    }
}

/// A place for every pair.
pub(super) enum Slots {
    Dense { base: Vec<i64>, len: usize },
    Sparse(FxHashMap<(NodeId, u32), u32>),
}

impl Slots {
    /// Places for the pairs of a memo, and for every node with the constant one.
    pub(super) fn new(memo: &Memo, nodes: usize) -> Slots {
        match memo {
            Memo::Dense { base, values } => {
                let mut base = base.clone();
                base[ANY as usize] = values.len() as i64;
                Slots::Dense { base, len: values.len() + nodes }
            }
            Memo::Sparse(_) => Slots::Sparse(FxHashMap::default()),
        }
    }

    /// The bytes in use.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Slots::Dense { base, .. } => 8 * base.len(),
            Slots::Sparse(places) => table_bytes(places),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Slots::Dense { len, .. } => *len,
            Slots::Sparse(places) => places.len(),
        }
    }

    pub(super) fn add(&mut self, node: NodeId, part: u32) -> usize {
        match self {
            Slots::Dense { .. } => self.of(node, part),
            Slots::Sparse(places) => {
                let next = places.len() as u32;
                *places.entry((node, part)).or_insert(next) as usize
            }
        }
    }

    pub(super) fn of(&self, node: NodeId, part: u32) -> usize {
        match self {
            Slots::Dense { base, .. } => (base[part as usize] + i64::from(node.0)) as usize,
            Slots::Sparse(places) => places[&(node, part)] as usize,
        }
    }
}

/// The limits of a product, and its use so far.
pub(super) struct Budget<'a> {
    limits: &'a Limits,
    /// Pairs of nodes so far.
    pairs: usize,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a Limits) -> Budget<'a> {
        Budget { limits, pairs: 0 }
    }

    /// Counts another pair; `bytes` adds up the memory in use.
    pub(super) fn pair(&mut self, bytes: impl FnOnce() -> usize) -> Result<(), QueryError> {
        self.pairs += 1;
        if self.pairs > self.limits.nodes {
            return Err(self.stopped(Limit::Nodes(self.limits.nodes), bytes()));
        }
        self.after(self.pairs, bytes)
    }

    /// Starts counting again.
    pub(super) fn restart(&mut self) {
        self.pairs = 0;
    }

    /// Checks the memory in use, for some of the numbered steps.
    pub(super) fn after(&self, number: usize, bytes: impl FnOnce() -> usize) -> Result<(), QueryError> {
        if number.is_multiple_of(LOOK_EVERY) { self.check(bytes()) } else { Ok(()) }
    }

    pub(super) fn check(&self, bytes: usize) -> Result<(), QueryError> {
        match () {
            _ if bytes > self.limits.bytes => Err(self.stopped(Limit::Bytes(self.limits.bytes), bytes)),
            _ if self.limits.is_cancelled() => Err(self.stopped(Limit::Cancelled, bytes)),
            _ => Ok(()),
        }
    }

    fn stopped(&self, limit: Limit, bytes: usize) -> QueryError {
        QueryError::Stopped { limit, nodes: self.pairs, megabytes: bytes.div_ceil(1 << 20) }
    }
}
