//! Mixtures: weighted circuits over the same variables, and the queries that survive mixing.
//!
//! `P(w) = Σ weight · P(w)` over the components, which may have a vtree each, share one, or share a whole structure.
//! Queries that are linear in the distribution are exact and have the same names as on a [`Circuit`]: likelihoods,
//! marginals, conditionals, samples, possibility. A mixture is not deterministic, so *exact* most probable worlds,
//! entropy, divergence and model counts are hard in general, and there are no methods for them. [`Mixture::mpe_bounds`]
//! gives bounds that always hold.

mod queries;

pub(crate) use queries::posterior;

use crate::certified::Certified;
use crate::circuit::{Circuit, PARAMETER_TOLERANCE, Stats};
use std::ops::AddAssign;

/// A mixture of circuits over the same variables.
///
/// ```
/// use slopp::{Mixture, infer::Evidence};
/// let (a, b) = (slopp::example::psdd(), slopp::example::psdd());
/// let mixture = Mixture::new([(0.25, a.clone().into()), (0.75, b.into())])?;
/// let nothing = Evidence::none(4);
/// let (mixed, single) = (mixture.marginals(&nothing)?, a.marginals(&nothing)?);
/// assert!(mixed.iter().zip(&single).all(|(p, q)| (p - q).abs() < 1e-12));
/// assert!(Mixture::new([]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Queries that need determinism do not compile:
/// ```compile_fail
/// fn wrong(mixture: &slopp::Mixture) -> f64 {
///     mixture.entropy()
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    components: Vec<Certified>,
    weights: Vec<f64>,
    /// The components by structure, in order: those of a group of several are deterministic and share a structure.
    groups: Vec<Vec<usize>>,
}

/// Why circuits cannot form a mixture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MixtureError {
    /// There are no components.
    #[error("a mixture needs at least one component, and there is none")]
    Empty,
    /// Components over different variables.
    #[error(
        "component {component} has {found} variables, but component 1 has {expected}; mix circuits over the same \
         variables"
    )]
    Variables {
        /// The component, from one.
        component: usize,
        /// The variables of the first component.
        expected: usize,
        /// The variables of this one.
        found: usize,
    },
    /// A weight that is not positive, or not a number.
    #[error(
        "the weight of component {component} is {weight}, but must be above 0 and at most 1; leave out components \
         without weight"
    )]
    Weight {
        /// The component, from one.
        component: usize,
        /// Its weight.
        weight: f64,
    },
    /// Weights that do not add up to one.
    #[error("the weights add up to {total}, not to 1; divide them by their total")]
    Total {
        /// Their total.
        total: f64,
    },
    /// A component that is not a distribution.
    #[error("the parameters of component {component} do not add up to 1, so it is not a distribution; renormalise it")]
    Parameters {
        /// The component, from one.
        component: usize,
    },
}

impl Mixture {
    /// A mixture of components with weights, which must be positive and add up to one.
    pub fn new(components: impl IntoIterator<Item = (f64, Certified)>) -> Result<Mixture, MixtureError> {
        let (weights, components): (Vec<f64>, Vec<Certified>) = components.into_iter().unzip();
        let expected = components.first().ok_or(MixtureError::Empty)?.var_count();
        for (i, (circuit, &weight)) in components.iter().zip(&weights).enumerate() {
            let (component, found) = (i + 1, circuit.var_count());
            if found != expected {
                return Err(MixtureError::Variables { component, expected, found });
            }
            if !(weight > 0.0 && weight <= 1.0 + PARAMETER_TOLERANCE) {
                return Err(MixtureError::Weight { component, weight });
            }
            if matches!(circuit, Certified::Circuit(_, crate::circuit::Reason::Parameters(_))) {
                return Err(MixtureError::Parameters { component });
            }
        }
        let total: f64 = weights.iter().sum();
        if (total - 1.0).abs() > PARAMETER_TOLERANCE {
            return Err(MixtureError::Total { total });
        }
        Ok(Mixture { groups: groups(&components), components, weights })
    }

    /// A bag: a mixture with equal weights.
    pub fn uniform(components: impl IntoIterator<Item = Certified>) -> Result<Mixture, MixtureError> {
        let components: Vec<Certified> = components.into_iter().collect();
        let weight = 1.0 / components.len() as f64;
        Mixture::new(components.into_iter().map(|component| (weight, component)))
    }

    /// The number of variables.
    pub fn var_count(&self) -> usize {
        self.components[0].var_count()
    }

    /// The number of components, at least one.
    pub fn component_count(&self) -> usize {
        self.components.len()
    }

    /// The largest number of nodes that an inner vtree node has in any component.
    pub fn most_classes(&self) -> usize {
        self.components.iter().map(|component| component.most_classes()).max().unwrap_or(0)
    }

    /// The components, each with its strongest certificate.
    pub fn components(&self) -> &[Certified] {
        &self.components
    }

    /// The weights of the components: positive, and one in total.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether all components have the same structure and differ only in parameters.
    pub fn shares_structure(&self) -> bool {
        self.components[1..].iter().all(|other| self.components[0].same_structure(other))
    }

    /// Whether all components have the same vtree.
    pub fn shares_vtree(&self) -> bool {
        self.components[1..].iter().all(|other| self.components[0].vtree() == other.vtree())
    }

    /// The sizes of all components together.
    pub fn stats(&self) -> Stats {
        let mut sum = Stats::default();
        self.components.iter().for_each(|component| sum += component.stats());
        sum
    }

    /// The components with the logarithms of their weights.
    fn weighed(&self) -> impl ExactSizeIterator<Item = (f64, &Certified)> + Clone {
        self.weights.iter().map(|weight| weight.ln()).zip(&self.components)
    }

    /// Any component, to check lengths against.
    fn first(&self) -> &Circuit {
        &self.components[0]
    }
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.nodes += other.nodes;
        self.sums += other.sums;
        self.elements += other.elements;
        self.tops += other.tops;
        self.literals += other.literals;
        self.parameters += other.parameters;
        self.size_paper += other.size_paper;
    }
}

/// Puts deterministic components of one structure together.
fn groups(components: &[Certified]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, component) in components.iter().enumerate() {
        let fits = |group: &Vec<usize>| {
            let first = &components[group[0]];
            first.deterministic().is_ok() && component.deterministic().is_ok() && first.same_structure(component)
        };
        match groups.iter().position(fits) {
            Some(found) => groups[found].push(i),
            None => groups.push(vec![i]),
        }
    }
    groups
}
