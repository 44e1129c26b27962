//! A model as people keep it: a circuit with its certificate, names and origin.

use crate::circuit::{Psdd, Stats};
use crate::infer::Distribution;
use crate::mixture::Mixture;
use crate::names::Names;
use crate::spn::Spn;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use crate::certified::Certified;

/// A circuit with the names of its variables and how it came about: what a model file holds.
///
/// The circuit is one with its certificate, or of another kind, such as an [`Spn`] or a
/// [`Mixture`].
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

impl Model<Mixture> {
    /// A mixture without a history.
    ///
    /// # Panics
    /// If there are not as many names as variables.
    pub fn mixture(names: impl Into<Arc<Names>>, mixture: Mixture) -> Model<Mixture> {
        let names = names.into();
        assert_eq!(names.len(), mixture.var_count(), "one name per variable");
        Model { names, circuit: mixture, origin: BTreeMap::new() }
    }
}

/// The kinds of models.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelKind {
    /// A circuit on a vtree, with its certificate.
    Circuit(Certified),
    /// A sum-product network, which has no vtree.
    Spn(Spn),
    /// A mixture of circuits.
    Mixture(Mixture),
}

/// How large a model is.
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
    /// What every kind can be asked.
    pub fn distribution(&self) -> &dyn Distribution {
        match self {
            ModelKind::Circuit(circuit) => circuit,
            ModelKind::Spn(spn) => spn,
            ModelKind::Mixture(mixture) => mixture,
        }
    }

    /// How large it is.
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

    /// Its elements, which a largest number of them bounds: of a mixture, those of its largest component; a sum-product
    /// network has none.
    pub fn most_elements(&self) -> usize {
        match self {
            ModelKind::Circuit(circuit) => circuit.elements().len(),
            ModelKind::Mixture(mixture) => {
                mixture.components().iter().map(|part| part.elements().len()).max().unwrap_or(0)
            }
            ModelKind::Spn(_) => 0,
        }
    }

    /// The largest number of nodes that an inner vtree node has, which a largest number of classes bounds: of a mixture,
    /// in any component; a sum-product network has no vtree.
    pub fn most_classes(&self) -> usize {
        match self {
            ModelKind::Circuit(circuit) => circuit.most_classes(),
            ModelKind::Mixture(mixture) => mixture.most_classes(),
            ModelKind::Spn(_) => 0,
        }
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

    /// The model with the names of its variables and how it was made.
    pub fn into_model(self, names: Arc<Names>, origin: BTreeMap<String, String>) -> AnyModel {
        match self {
            ModelKind::Circuit(circuit) => AnyModel::Circuit(Model { names, circuit, origin }),
            ModelKind::Spn(circuit) => AnyModel::Spn(Model { names, circuit, origin }),
            ModelKind::Mixture(circuit) => AnyModel::Mixture(Model { names, circuit, origin }),
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

/// A model of any kind, with names and origin.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyModel {
    /// A circuit on a vtree.
    Circuit(Model),
    /// A sum-product network.
    Spn(Model<Spn>),
    /// A mixture of circuits.
    Mixture(Model<Mixture>),
}

impl AnyModel {
    /// The names of the variables.
    pub fn names(&self) -> &Arc<Names> {
        match self {
            AnyModel::Circuit(model) => &model.names,
            AnyModel::Spn(model) => &model.names,
            AnyModel::Mixture(model) => &model.names,
        }
    }

    /// How the model was made.
    pub fn origin(&self) -> &BTreeMap<String, String> {
        match self {
            AnyModel::Circuit(model) => &model.origin,
            AnyModel::Spn(model) => &model.origin,
            AnyModel::Mixture(model) => &model.origin,
        }
    }

    /// What every kind can be asked.
    pub fn distribution(&self) -> &dyn Distribution {
        match self {
            AnyModel::Circuit(model) => &model.circuit,
            AnyModel::Spn(model) => &model.circuit,
            AnyModel::Mixture(model) => &model.circuit,
        }
    }
}
