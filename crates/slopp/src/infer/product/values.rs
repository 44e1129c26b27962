//! The values of pairs, from the roots down.

use super::arithmetic::{Arithmetic, Logs, Numbers, Plain};
use super::budget::Budget;
use super::memo::Memo;
use crate::circuit::{Circuit, NodeId};
use crate::infer::QueryError;
use crate::infer::factor::{Factor, Part};
use crate::logic::{Limits, Sdd};
use crate::logspace::LOG_ZERO;

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

/// A pair of sums under way and the pair of elements it has come to.
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

    /// How many bytes are in use.
    pub(super) fn bytes(&self) -> usize {
        self.fixed + self.memo.bytes()
    }

    pub(super) fn log_value(&self) -> f64 {
        self.log(self.value)
    }

    fn log(&self, value: f64) -> f64 {
        if self.is_plain { Plain::log(value) } else { Logs::log(value) }
    }

    /// The value of the two roots; `None` if digits were lost on the way.
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
