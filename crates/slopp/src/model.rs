//! A model with its kind, names and origin.

use crate::circuit::{Deterministic, Psdd, Stats};
use crate::infer::{Distribution, QueryError};
use crate::logic::Limits;
use crate::mixture::Mixture;
use crate::names::{Names, abridged, quote};
use crate::spn::Spn;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

pub use crate::certified::Certified;

/// A model with the names of its variables and its origin: the content of a model file.
///
/// Its queries are those of its [kind](ModelKind).
///
/// ```
/// use slopp::Model;
/// let model = Model::new(slopp::example::records().names().clone(), slopp::example::psdd());
/// assert!(model.psdd().is_some() && model.structured().is_some());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The names of the variables.
    pub names: Arc<Names>,
    /// The circuit, the mixture or the network itself.
    pub kind: ModelKind,
    /// How the model was made: learner, seed, settings and so on, as name and value.
    pub origin: BTreeMap<String, String>,
}

impl Model {
    /// A model without an origin.
    ///
    /// # Panics
    /// If the number of names differs from the number of variables.
    pub fn new(names: impl Into<Arc<Names>>, kind: impl Into<ModelKind>) -> Model {
        let (names, kind) = (names.into(), kind.into());
        assert_eq!(names.len(), kind.distribution().var_count(), "one name per variable");
        Model { names, kind, origin: BTreeMap::new() }
    }

    /// The PSDD by value, if it is proved to be one.
    pub fn into_psdd(self) -> Option<Psdd> {
        self.kind.into_psdd()
    }

    /// Refuses a model over other variables, which would be taken for these by their places.
    pub fn check_same_variables(&self, other: &Model) -> Result<(), QueryError> {
        let (own, others) = (&self.names, &other.names);
        if own == others {
            return Ok(());
        }
        let why = match own.iter().zip(others.iter()).find(|(a, b)| a != b) {
            Some((a, b)) => {
                format!("the first has {} where the second has {}", quote(&abridged(a)), quote(&abridged(b)))
            }
            None if own.len() != others.len() => format!("the first has {}, the second {}", own.len(), others.len()),
            None => "their columns are of different kinds".to_owned(),
        };
        Err(QueryError::DifferentVariables(why))
    }

    /// The normalised product with another circuit over the same variables and vtree, and the logarithm of its total,
    /// as [`Certified::product`]. Its origin names the learners of both.
    ///
    /// ```
    /// use slopp::Model;
    /// let model = Model::new(slopp::example::records().names().clone(), slopp::example::psdd());
    /// let (square, log_total) = model.product(&model, &slopp::logic::Limits::default())?;
    /// assert!(square.psdd().is_some() && log_total < 0.0);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn product(&self, other: &Model, limits: &Limits) -> Result<(Model, f64), QueryError> {
        self.check_same_variables(other)?;
        let [a, b] = [self, other].map(|model| model.circuit().ok_or(QueryError::OtherKind("a circuit on a vtree")));
        let (product, log) = a?.product(b?, limits)?;
        let learner = |model: &Model| model.origin.get("learner").map_or("a circuit", String::as_str).to_owned();
        let origin = BTreeMap::from([("product".to_owned(), [self, other].map(learner).join(" x "))]);
        Ok((Model { names: self.names.clone(), kind: product.into(), origin }, log))
    }
}

impl Deref for Model {
    type Target = ModelKind;

    fn deref(&self) -> &ModelKind {
        &self.kind
    }
}

/// The kinds of models.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelKind {
    /// A circuit on a vtree, with its certificate.
    Circuit(Certified),
    /// A mixture of circuits.
    Mixture(Mixture),
    /// A sum-product network, which has no vtree.
    Spn(Spn),
}

/// The size of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Nodes.
    pub nodes: usize,
    /// Elements of a circuit; edges of a sum-product network.
    pub elements: usize,
    /// Parameters.
    pub parameters: usize,
}

impl ModelKind {
    /// The queries of every kind.
    pub fn distribution(&self) -> &dyn Distribution {
        match self {
            ModelKind::Circuit(circuit) => circuit,
            ModelKind::Mixture(mixture) => mixture,
            ModelKind::Spn(spn) => spn,
        }
    }

    /// The endings of the names of files of circuits, mixtures and sum-product networks.
    pub const ENDINGS: [&'static str; 3] = [".psdd", ".mix", ".spn"];

    /// The ending of the names of its files.
    pub fn ending(&self) -> &'static str {
        let [circuit, mixture, network] = ModelKind::ENDINGS;
        match self {
            ModelKind::Circuit(_) => circuit,
            ModelKind::Mixture(_) => mixture,
            ModelKind::Spn(_) => network,
        }
    }

    /// Its size.
    pub fn size(&self) -> Size {
        match self {
            ModelKind::Circuit(circuit) => circuit.stats().into(),
            ModelKind::Mixture(mixture) => mixture.stats().into(),
            ModelKind::Spn(spn) => {
                let stats = spn.stats();
                Size { nodes: stats.nodes, elements: stats.edges, parameters: stats.parameters }
            }
        }
    }

    /// The elements to compare with a limit: those of the largest component of a mixture; none of a sum-product
    /// network.
    pub fn most_elements(&self) -> usize {
        match self {
            ModelKind::Circuit(circuit) => circuit.elements().len(),
            ModelKind::Mixture(mixture) => {
                mixture.components().iter().map(|part| part.elements().len()).max().unwrap_or(0)
            }
            ModelKind::Spn(_) => 0,
        }
    }

    /// The largest number of nodes of an inner vtree node, to compare with a limit of classes: in any component of a
    /// mixture; a sum-product network has no vtree.
    pub fn most_classes(&self) -> usize {
        match self {
            ModelKind::Circuit(circuit) => circuit.most_classes(),
            ModelKind::Mixture(mixture) => mixture.most_classes(),
            ModelKind::Spn(_) => 0,
        }
    }

    /// The circuit, if it is a single one.
    pub fn circuit(&self) -> Option<&Certified> {
        match self {
            ModelKind::Circuit(circuit) => Some(circuit),
            _ => None,
        }
    }

    /// The circuit, if it is proved deterministic.
    pub fn deterministic(&self) -> Option<&Deterministic> {
        self.circuit()?.deterministic().ok()
    }

    /// The PSDD, if it is proved to be one.
    pub fn psdd(&self) -> Option<&Psdd> {
        match self {
            ModelKind::Circuit(Certified::Psdd(psdd)) => Some(psdd),
            _ => None,
        }
    }

    /// The same by value.
    pub fn into_psdd(self) -> Option<Psdd> {
        match self {
            ModelKind::Circuit(Certified::Psdd(psdd)) => Some(psdd),
            _ => None,
        }
    }
}

impl From<Psdd> for ModelKind {
    fn from(psdd: Psdd) -> ModelKind {
        ModelKind::Circuit(Certified::Psdd(psdd))
    }
}

impl From<Certified> for ModelKind {
    fn from(circuit: Certified) -> ModelKind {
        ModelKind::Circuit(circuit)
    }
}

impl From<Spn> for ModelKind {
    fn from(spn: Spn) -> ModelKind {
        ModelKind::Spn(spn)
    }
}

impl From<Mixture> for ModelKind {
    fn from(mixture: Mixture) -> ModelKind {
        ModelKind::Mixture(mixture)
    }
}

impl From<Stats> for Size {
    fn from(stats: Stats) -> Size {
        Size { nodes: stats.nodes, elements: stats.elements, parameters: stats.parameters }
    }
}
