//! Products on one vtree: the probability of a formula, a circuit given a formula, and two circuits multiplied.
//!
//! The value of a pair of nodes at one vtree node is `Z(n,m) = Σ P(w) Q(w)` over the worlds of their variables, and
//! `Z(n,m) = Σᵢⱼ θᵢ φⱼ Z(primes) Z(subs)` over pairs of elements. Only pairs that are reached from the two roots are
//! looked at, subs only where the primes share a world, each pair once. Here: what can be asked; the values are in
//! `values`, the circuit that they make in `build`.

mod arithmetic;
mod budget;
mod build;
mod divergence;
mod marginals;
mod memo;
mod values;

pub(super) use divergence::divergence;

use super::QueryError;
use crate::circuit::{Certificate, Circuit, Psdd};
use crate::logic::{Limits, Sdd};
use values::Product;

/// How many pairs of nodes a revision may have: beyond it, it is an error and not a lack of memory.
pub const PRODUCT_LIMIT: usize = 20_000_000;

impl Circuit {
    /// The log-probability of a formula, −∞ if it is impossible.
    ///
    /// `P(f) = Σ P(w)` over the worlds `w` of `f`, without building anything. The formula is compiled on the vtree of
    /// the circuit; it may be trimmed. Cost: pairs of elements at the same vtree node that are reached from the roots,
    /// for a formula of a few literals a few times the elements. Pairs of nodes that are reached count as nodes of the
    /// limits, what is remembered of them as memory.
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
    /// `P(w | f)`: the base of the result is the base of the circuit and `f`. Marginals, samples and all other queries
    /// given a formula are those of the result. Cost: as [`Circuit::log_probability_of`], which is also the size of the
    /// result at most. An error if the formula is impossible.
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
    /// factor or the other, and so exclude each other. This rests on invariant 3 of [`Sdd`].
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
    // Every node has the worlds of a node of the circuit or fewer, and elements that were one are told apart by the
    // exclusive primes of the formula.
    Ok((circuit.carry_over(built), log_value))
}

fn product<C: Certificate>(circuit: &C, other: &C, limits: &Limits) -> Result<(C, f64), QueryError> {
    let product = Product::of_circuits(circuit.as_ref(), other.as_ref(), limits)?;
    let (built, log_value) = product.build()?.ok_or(QueryError::NothingInCommon)?;
    Ok((circuit.carry_over(built), log_value))
}
