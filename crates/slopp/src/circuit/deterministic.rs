//! Circuits that passed a certificate.

use super::{Circuit, Refusal};
use crate::limits::Limits;
use std::ops::Deref;

/// A circuit whose elements are proved exclusive: every world has at most one derivation.
///
/// Most probable worlds, entropy, model counts and closed-form fitting need it. It comes from
/// [`Circuit::certify_deterministic`]; every [`Psdd`] is one too.
#[derive(Clone, Debug, PartialEq)]
pub struct Deterministic(Circuit);

/// A circuit whose primes are proved exclusive: a Probabilistic Sentential Decision Diagram.
///
/// It comes only from [`Circuit::certify`] and from learners that certify.
///
/// A query that needs determinism cannot be called on a plain [`Circuit`]:
/// ```compile_fail
/// fn wrong(circuit: &slopp::Circuit) -> f64 {
///     circuit.entropy()
/// }
/// ```
/// but it can be on a `Psdd`:
/// ```
/// fn right(psdd: &slopp::Psdd) -> f64 {
///     psdd.entropy()
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Psdd(Deterministic);

impl Deterministic {
    /// The circuit, without the certificate.
    pub fn into_circuit(self) -> Circuit {
        self.0
    }
}

impl Psdd {
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
/// Operations that change only parameters, or remove worlds, take any of them and return the same kind;
/// [`Certificate::certify`] proves any of them. Private: a certificate that is carried over is only as good as the
/// caller's reasoning.
pub(crate) trait Certificate: AsRef<Circuit> + Sized {
    /// Whether this kind promises exclusive elements, and whether exclusive primes too.
    const EXCLUSIVE_PRIMES: Option<bool>;

    /// The same kind of circuit, whatever is known of it.
    fn promised(circuit: Circuit) -> Self;

    /// Proves within limits what this kind promises, and that parameters add up to one; nothing for a plain circuit.
    fn certify(circuit: Circuit, limits: &Limits) -> Result<Self, Refusal> {
        let proof = Self::EXCLUSIVE_PRIMES.map_or(Ok(None), |exclusive_primes| circuit.proof(exclusive_primes, limits));
        match proof {
            Ok(_) => Ok(Self::promised(circuit)),
            Err(reason) => Err(Refusal { circuit: Box::new(circuit), reason }),
        }
    }

    /// The same kind of circuit, if the worlds of every node are among those of a node of this circuit.
    ///
    /// The caller promises this. Debug builds, and so all tests, look for an overlap in circuits of up to 10 000 nodes,
    /// and panic if they find one within default limits; release builds check nothing. Parameters are not checked.
    fn carry_over(&self, circuit: Circuit) -> Self {
        /// The most nodes worth a second look.
        const LOOKED_AT_AGAIN: usize = 10_000;
        if let (true, Some(exclusive_primes)) = (cfg!(debug_assertions), Self::EXCLUSIVE_PRIMES)
            && circuit.nodes.len() <= LOOKED_AT_AGAIN
        {
            let overlap = circuit.first_overlap(exclusive_primes);
            assert!(overlap.is_none(), "no certificate to carry over: {}", overlap.expect("there is one"));
        }
        Self::promised(circuit)
    }
}

impl Certificate for Circuit {
    const EXCLUSIVE_PRIMES: Option<bool> = None;

    fn promised(circuit: Circuit) -> Circuit {
        circuit
    }
}

impl Certificate for Deterministic {
    const EXCLUSIVE_PRIMES: Option<bool> = Some(false);

    fn promised(circuit: Circuit) -> Deterministic {
        Deterministic(circuit)
    }
}

impl Certificate for Psdd {
    const EXCLUSIVE_PRIMES: Option<bool> = Some(true);

    fn promised(circuit: Circuit) -> Psdd {
        Psdd(Deterministic(circuit))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::{Builder, Sharing};
    use crate::var::Var;
    use crate::vtree::Vtree;

    /// Both elements have the prime ⊤: a mixture, whose subs may exclude each other.
    fn two_elements(exclusive_subs: bool) -> Circuit {
        let vtree = Vtree::balanced(2);
        let root = vtree.root();
        let mut builder = Builder::new(vtree, Sharing::Equal);
        let half = 0.5f64.ln();
        let prime = builder.top(Var(0), [half; 2]).unwrap();
        let subs = match exclusive_subs {
            true => [false, true].map(|value| builder.literal(Var(1).is(value)).unwrap()),
            false => [builder.literal(Var(1).is(true)).unwrap(), builder.top(Var(1), [half; 2]).unwrap()],
        };
        let sum = builder.sum(root, &subs.map(|sub| (prime, sub, half))).unwrap();
        builder.finish(sum).unwrap()
    }

    #[test]
    fn every_kind_is_proved_in_one_way() {
        let limits = Limits::default();
        let [weak, mixture] = [true, false].map(two_elements);
        assert!(<Psdd as Certificate>::certify(weak.clone(), &limits).is_err());
        assert!(<Deterministic as Certificate>::certify(weak, &limits).is_ok());
        assert!(<Deterministic as Certificate>::certify(mixture.clone(), &limits).is_err());
        assert_eq!(<Circuit as Certificate>::certify(mixture.clone(), &limits).unwrap(), mixture);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "no certificate to carry over: node")]
    fn a_certificate_is_not_carried_over_to_what_does_not_deserve_it() {
        crate::example::psdd().carry_over(two_elements(false));
    }
}
