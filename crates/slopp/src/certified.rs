//! A circuit with its strongest certificate.

use crate::circuit::{Certificate, Circuit, Deterministic, Overlap, Psdd, Reason};
use crate::data::Records;
use crate::infer::{QueryError, answer_by_methods};
use crate::logic::{Limits, Sdd};
use std::ops::Deref;

/// The strongest certificate a circuit has.
#[derive(Clone, Debug, PartialEq)]
pub enum Certified {
    /// Primes are exclusive.
    Psdd(Psdd),
    /// Elements are exclusive, primes are not: the overlap is an example.
    Deterministic(Deterministic, Overlap),
    /// Elements overlap, so the circuit is a mixture; or parameters do not add up to one; or limits were too tight for
    /// a proof.
    Circuit(Circuit, Reason),
}

impl Certified {
    /// Gives a circuit its strongest certificate, as far as limits allow a proof, as [`Circuit::certify`].
    pub fn new(circuit: Circuit, limits: &Limits) -> Certified {
        match circuit.proof(false, limits) {
            Ok(None) => Certified::Psdd(Psdd::promised(circuit)),
            Ok(Some(weak)) => Certified::Deterministic(Deterministic::promised(circuit), weak),
            Err(reason) => Certified::Circuit(circuit, reason),
        }
    }

    /// The certificate of a circuit of which every node has the same worlds, or fewer. Unless this is a PSDD, what has
    /// fewer is proved anew, within limits.
    pub(crate) fn carry_over(&self, circuit: Circuit, limits: &Limits) -> Certified {
        match self {
            Certified::Psdd(psdd) => Certified::Psdd(psdd.carry_over(circuit)),
            _ if !self.same_structure(&circuit) => Certified::new(circuit, limits),
            Certified::Deterministic(deterministic, overlap) => {
                Certified::Deterministic(deterministic.carry_over(circuit), overlap.clone())
            }
            // Other parameters may add up to one.
            Certified::Circuit(_, Reason::Parameters(_)) => Certified::new(circuit, limits),
            Certified::Circuit(_, reason) => Certified::Circuit(circuit, reason.clone()),
        }
    }

    /// The circuit, if it is proved deterministic; otherwise the reason.
    pub fn deterministic(&self) -> Result<&Deterministic, &Reason> {
        match self {
            Certified::Psdd(psdd) => Ok(psdd),
            Certified::Deterministic(deterministic, _) => Ok(deterministic),
            Certified::Circuit(_, reason) => Err(reason),
        }
    }

    /// As [`Circuit::given`]; a PSDD stays one, and any other result is proved again.
    pub fn given(&self, formula: &Sdd, limits: &Limits) -> Result<(Certified, f64), QueryError> {
        let (given, log) = Circuit::given(self, formula, limits)?;
        let given = match self {
            Certified::Psdd(psdd) => psdd.carry_over(given).into(),
            _ => Certified::new(given, limits),
        };
        Ok((given, log))
    }

    /// As [`Circuit::product`]; that of two PSDDs is one, and any other result is proved again.
    pub fn product(&self, other: &Certified, limits: &Limits) -> Result<(Certified, f64), QueryError> {
        let (product, log) = Circuit::product(self, other, limits)?;
        let product = match (self, other) {
            (Certified::Psdd(psdd), Certified::Psdd(_)) => psdd.carry_over(product).into(),
            _ => Certified::new(product, limits),
        };
        Ok((product, log))
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
