//! A circuit with the strongest certificate it deserves.

use crate::circuit::{CarryOver, Circuit, Deterministic, Overlap, Psdd, Reason};
use crate::data::Records;
use crate::infer::{QueryError, answer_by_methods};
use crate::logic::{Limits, Sdd};
use std::ops::Deref;

/// The strongest certificate a circuit has.
#[derive(Clone, Debug, PartialEq)]
pub enum Certified {
    /// Primes are exclusive.
    Psdd(Psdd),
    /// Elements are exclusive, primes are not: the overlap shows where.
    Deterministic(Deterministic, Overlap),
    /// Elements overlap, which makes the circuit a mixture, or parameters do not add up to one, or limits were too
    /// tight for a proof.
    Circuit(Circuit, Reason),
}

impl Certified {
    /// Gives a circuit the strongest certificate it deserves, as far as [`Limits::default`] allow to prove it.
    pub fn new(circuit: Circuit) -> Certified {
        Certified::within(circuit, &Limits::default())
    }

    /// The same within limits, as [`Circuit::certify_within`].
    pub fn within(circuit: Circuit, limits: &Limits) -> Certified {
        match circuit.proof(false, limits) {
            Ok(None) => Certified::Psdd(Psdd::promised(circuit)),
            Ok(Some(weak)) => Certified::Deterministic(Deterministic::promised(circuit), weak),
            Err(reason) => Certified::Circuit(circuit, reason),
        }
    }

    /// The certificate of another circuit of the same structure: every node has the same worlds, or fewer.
    pub(crate) fn carry_over(&self, circuit: Circuit) -> Certified {
        match self {
            Certified::Psdd(psdd) => Certified::Psdd(psdd.carry_over(circuit)),
            Certified::Deterministic(deterministic, overlap) if deterministic.same_structure(&circuit) => {
                Certified::Deterministic(deterministic.carry_over(circuit), overlap.clone())
            }
            _ => Certified::new(circuit),
        }
    }

    /// The circuit, if it is proved deterministic; otherwise the reason why not.
    pub fn deterministic(&self) -> Result<&Deterministic, &Reason> {
        match self {
            Certified::Psdd(psdd) => Ok(psdd),
            Certified::Deterministic(deterministic, _) => Ok(deterministic),
            Certified::Circuit(_, reason) => Err(reason),
        }
    }

    /// The circuit given a formula on its vtree, and the log-probability of the formula; an error if it is impossible.
    pub fn given(&self, formula: &Sdd) -> Result<(Certified, f64), QueryError> {
        self.given_within(formula, &Limits::default())
    }

    /// The same within limits, as [`Circuit::log_probability_of_within`].
    pub fn given_within(&self, formula: &Sdd, limits: &Limits) -> Result<(Certified, f64), QueryError> {
        Ok(match self {
            Certified::Psdd(psdd) => {
                let (given, log) = psdd.given_within(formula, limits)?;
                (Certified::Psdd(given), log)
            }
            Certified::Deterministic(circuit, _) => {
                let (given, log) = circuit.given_within(formula, limits)?;
                (Certified::within(given.into_circuit(), limits), log)
            }
            Certified::Circuit(circuit, _) => {
                let (given, log) = circuit.given_within(formula, limits)?;
                (Certified::within(given, limits), log)
            }
        })
    }

    /// The normalised product with another circuit on the same vtree, and the logarithm of its normalising constant.
    pub fn product(&self, other: &Certified) -> Result<(Certified, f64), QueryError> {
        self.product_within(other, &Limits::default())
    }

    /// The same within limits, as [`Circuit::log_probability_of_within`].
    pub fn product_within(&self, other: &Certified, limits: &Limits) -> Result<(Certified, f64), QueryError> {
        if let (Certified::Psdd(a), Certified::Psdd(b)) = (self, other) {
            let (product, log) = a.product_within(b, limits)?;
            return Ok((Certified::Psdd(product), log));
        }
        let (product, log) = Circuit::product_within(self, other, limits)?;
        Ok((Certified::within(product, limits), log))
    }

    /// The log-likelihood of each distinct row, in the fastest way the certificate allows.
    pub fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError> {
        match self.deterministic() {
            Ok(deterministic) => deterministic.log_likelihoods(records),
            Err(_) => Circuit::log_likelihoods(self, records),
        }
    }
}

answer_by_methods!(Certified, Circuit);

impl Deref for Certified {
    type Target = Circuit;

    fn deref(&self) -> &Circuit {
        match self {
            Certified::Psdd(psdd) => psdd,
            Certified::Deterministic(deterministic, _) => deterministic,
            Certified::Circuit(circuit, _) => circuit,
        }
    }
}

impl From<Psdd> for Certified {
    fn from(psdd: Psdd) -> Certified {
        Certified::Psdd(psdd)
    }
}
