//! A model as people keep it: a circuit with its certificate, names and origin.

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

/// A model of any kind.
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
