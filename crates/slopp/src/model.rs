//! A model as people keep it: a circuit with its certificate, names and origin.

use crate::circuit::{Circuit, Deterministic, Overlap, Psdd, Reason};
use crate::data::Records;
use crate::infer::{Distribution, Evidence, QueryError, Samples};
use crate::names::Names;
use crate::spn::Spn;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// The strongest certificate a circuit has.
#[derive(Clone, Debug, PartialEq)]
pub enum Certified {
    /// Primes are exclusive.
    Psdd(Psdd),
    /// Elements are exclusive, primes are not: the overlap shows where.
    Deterministic(Deterministic, Overlap),
    /// Elements overlap, which makes the circuit a mixture, or parameters do not add up to one.
    Circuit(Circuit, Reason),
}

impl Certified {
    /// Gives a circuit the strongest certificate it deserves.
    pub fn new(circuit: Circuit) -> Certified {
        let refusal = match circuit.certify() {
            Ok(psdd) => return Certified::Psdd(psdd),
            Err(refusal) => refusal,
        };
        match (refusal.reason, refusal.circuit) {
            (Reason::Overlap(weak), circuit) if weak.weak => match circuit.certify_deterministic() {
                Ok(deterministic) => Certified::Deterministic(deterministic, weak),
                Err(stronger) => Certified::Circuit(*stronger.circuit, stronger.reason),
            },
            (reason, circuit) => Certified::Circuit(*circuit, reason),
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

    /// The log-likelihood of each distinct row, in the fastest way the certificate allows.
    pub fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError> {
        match self.deterministic() {
            Ok(deterministic) => deterministic.log_likelihoods(records),
            Err(_) => Circuit::log_likelihoods(self, records),
        }
    }
}

impl Distribution for Certified {
    fn var_count(&self) -> usize {
        Circuit::var_count(self)
    }

    fn log_evidence(&self, evidence: &Evidence) -> Result<f64, QueryError> {
        Circuit::log_evidence(self, evidence)
    }

    fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError> {
        Certified::log_likelihoods(self, records)
    }

    fn marginals(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError> {
        Circuit::marginals(self, evidence)
    }

    fn marginals_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError> {
        Circuit::marginals_batch(self, records)
    }

    fn sample_in_parts<'a>(
        &'a self,
        count: usize,
        evidence: &Evidence,
        seed: u64,
    ) -> Result<Box<dyn Iterator<Item = Samples> + 'a>, QueryError> {
        Ok(Box::new(Circuit::sample_in_parts(self, count, evidence, seed)?))
    }
}

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

/// A circuit with the names of its variables and how it came about: what a model file holds.
///
/// The circuit is one with its certificate, or of another kind, such as an [`Spn`](crate::spn::Spn).
#[derive(Clone, Debug, PartialEq)]
pub struct Model<C = Certified> {
    /// The names of the variables.
    pub names: Arc<Names>,
    /// The circuit with its certificate.
    pub circuit: C,
    /// How the model was made: learner, seed, settings and so on, as name and value.
    pub origin: BTreeMap<String, String>,
}

impl Model {
    /// A model without a history.
    ///
    /// # Panics
    /// If there are not as many names as variables.
    pub fn new(names: impl Into<Arc<Names>>, circuit: impl Into<Certified>) -> Model {
        let (names, circuit) = (names.into(), circuit.into());
        assert_eq!(names.len(), circuit.var_count(), "one name per variable");
        Model { names, circuit, origin: BTreeMap::new() }
    }
}

/// A model of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyModel {
    /// A circuit on a vtree.
    Circuit(Model),
    /// A sum-product network.
    Spn(Model<Spn>),
}

impl AnyModel {
    /// The names of the variables.
    pub fn names(&self) -> &Arc<Names> {
        match self {
            AnyModel::Circuit(model) => &model.names,
            AnyModel::Spn(model) => &model.names,
        }
    }

    /// How the model was made.
    pub fn origin(&self) -> &BTreeMap<String, String> {
        match self {
            AnyModel::Circuit(model) => &model.origin,
            AnyModel::Spn(model) => &model.origin,
        }
    }

    /// What every kind can be asked.
    pub fn distribution(&self) -> &dyn Distribution {
        match self {
            AnyModel::Circuit(model) => &model.circuit,
            AnyModel::Spn(model) => &model.circuit,
        }
    }
}
