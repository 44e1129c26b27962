//! Circuits that passed a certificate.

use super::Circuit;
use std::ops::Deref;

/// A circuit whose elements are proved exclusive: every world has at most one derivation.
///
/// What most probable worlds, entropy, model counts and closed-form fitting need. Comes from
/// [`Circuit::certify_deterministic`]; every [`Psdd`] is one too.
#[derive(Clone, Debug, PartialEq)]
pub struct Deterministic(Circuit);

/// A circuit whose primes are proved exclusive: a Probabilistic Sentential Decision Diagram.
///
/// The only ways to get one are [`Circuit::certify`] and the learners that certify.
///
/// A query that needs determinism cannot be called on a mere [`Circuit`]:
/// ```compile_fail
/// fn wrong(circuit: &slopp::Circuit) -> f64 {
///     circuit.entropy()
/// }
/// ```
/// while on a `Psdd` it can:
/// ```
/// fn right(psdd: &slopp::Psdd) -> f64 {
///     psdd.entropy()
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Psdd(Deterministic);

impl Deterministic {
    pub(crate) fn proved(circuit: Circuit) -> Deterministic {
        Deterministic(circuit)
    }

    /// The circuit, without the certificate.
    pub fn into_circuit(self) -> Circuit {
        self.0
    }
}

impl Psdd {
    pub(crate) fn proved(circuit: Circuit) -> Psdd {
        Psdd(Deterministic::proved(circuit))
    }

    /// The circuit, without the certificate.
    pub fn into_circuit(self) -> Circuit {
        self.0.into_circuit()
    }
}

impl Deref for Deterministic {
    type Target = Circuit;

    fn deref(&self) -> &Circuit {
        &self.0
    }
}

impl Deref for Psdd {
    type Target = Deterministic;

    fn deref(&self) -> &Deterministic {
        &self.0
    }
}

/// A circuit with or without a certificate: [`Circuit`], [`Deterministic`] or [`Psdd`].
///
/// What changes parameters only, or takes worlds away, takes any of them and gives the same kind back.
pub trait Kind: AsRef<Circuit> + sealed::CarryOver {}

impl<C: AsRef<Circuit> + sealed::CarryOver> Kind for C {}

mod sealed {
    use super::{Circuit, Deterministic, Psdd};

    /// Not for others: the certificate is only as good as the care of whoever carries it over.
    pub trait CarryOver: Sized {
        /// The same kind of circuit, if every node has the same worlds as one of this circuit, or fewer.
        fn carry_over(&self, circuit: Circuit) -> Self;
    }

    impl CarryOver for Circuit {
        fn carry_over(&self, circuit: Circuit) -> Circuit {
            circuit
        }
    }

    impl CarryOver for Deterministic {
        fn carry_over(&self, circuit: Circuit) -> Deterministic {
            Deterministic(circuit)
        }
    }

    impl CarryOver for Psdd {
        fn carry_over(&self, circuit: Circuit) -> Psdd {
            Psdd(Deterministic(circuit))
        }
    }
}

pub(crate) use sealed::CarryOver;

impl AsRef<Circuit> for Deterministic {
    fn as_ref(&self) -> &Circuit {
        self
    }
}

impl AsRef<Deterministic> for Deterministic {
    fn as_ref(&self) -> &Deterministic {
        self
    }
}

impl AsRef<Deterministic> for Psdd {
    fn as_ref(&self) -> &Deterministic {
        self
    }
}

impl AsRef<Circuit> for Psdd {
    fn as_ref(&self) -> &Circuit {
        self
    }
}

impl AsRef<Circuit> for Circuit {
    fn as_ref(&self) -> &Circuit {
        self
    }
}
