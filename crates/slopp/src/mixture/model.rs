//! A mixture as people keep it.

use super::Mixture;
use crate::names::Names;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A mixture with the names of its variables and how it came about: what a `.mix` file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureModel {
    /// The names of the variables.
    pub names: Arc<Names>,
    /// The mixture.
    pub mixture: Mixture,
    /// How the mixture was made: learner, seed, settings and so on, as name and value.
    pub origin: BTreeMap<String, String>,
}

impl MixtureModel {
    /// A mixture without a history.
    ///
    /// # Panics
    /// If there are not as many names as variables.
    pub fn new(names: impl Into<Arc<Names>>, mixture: Mixture) -> MixtureModel {
        let names = names.into();
        assert_eq!(names.len(), mixture.var_count(), "one name per variable");
        MixtureModel { names, mixture, origin: BTreeMap::new() }
    }
}
