//! Queries that circuits and mixtures of circuits share, beyond those of every distribution.

use crate::circuit::{Circuit, Deterministic};
use crate::data::Records;
use crate::infer::{Evidence, Nearest, NoiseFit, PairMarginals, QueryError};
use crate::logic::{Formula, Limits, LogicError, Manager};
use crate::mixture::Mixture;
use crate::model::{Certified, ModelKind};
use crate::names::Names;
use rayon::prelude::*;

/// Circuits on vtrees: pairs of variables, possible worlds, noise.
///
/// Every method answers like the one of the same name of [`Circuit`] or [`Mixture`]; sum-product networks have none.
///
/// ```
/// use slopp::{Mixture, Structured};
/// let psdd = slopp::example::psdd();
/// let mixture = Mixture::new(vec![(1.0, psdd.clone().into())])?;
/// let one: slopp::Certified = psdd.into();
/// let records = slopp::example::records();
/// for model in [&one as &dyn Structured, &mixture] {
///     assert!(model.possible(&records)?.into_iter().all(|possible| possible));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(missing_docs, reason = "documented by the methods of the same names")]
pub trait Structured: Sync {
    fn pair_marginals(&self, evidence: &Evidence) -> Result<PairMarginals, QueryError>;
    fn pair_marginals_batch(&self, records: &Records) -> Result<Vec<Option<PairMarginals>>, QueryError>;
    fn possible(&self, records: &Records) -> Result<Vec<bool>, QueryError>;
    fn nearest(&self, evidence: &Evidence) -> Result<Nearest, QueryError>;
    fn log_likelihoods_noisy(&self, records: &Records, epsilon: f64) -> Result<Vec<f64>, QueryError>;
    fn fit_noise(&self, records: &Records) -> Result<NoiseFit, QueryError>;

    /// Its circuits: itself alone, or the components of a mixture.
    fn circuits(&self) -> &[Certified];

    /// The circuit, if it is one and deterministic.
    fn deterministic(&self) -> Option<&Deterministic>;

    /// A possible world in which a formula does not hold; `None` if it holds in all of them.
    ///
    /// A world of a mixture is a world of some component. The base of a circuit can be large as a diagram, so only the
    /// formula is compiled, once for each vtree, and circuits are compared.
    ///
    /// ```
    /// use slopp::logic::{Formula, Limits};
    /// use slopp::{Certified, Structured};
    /// let psdd: Certified = slopp::example::psdd().into();
    /// let names = slopp::example::records().names().clone();
    /// let always = psdd.counterexample(&Formula::parse("X1 | !X1", &names)?, &Limits::default())?;
    /// let sometimes = psdd.counterexample(&Formula::parse("X1", &names)?, &Limits::default())?;
    /// assert!(always.is_none() && sometimes.is_some_and(|world| !world[0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If a variable of the formula is not in the model.
    fn counterexample(&self, formula: &Formula, limits: &Limits) -> Result<Option<Vec<bool>>, QueryError> {
        let mut denied: Option<Circuit> = None;
        for circuit in self.circuits() {
            if denied.as_ref().is_none_or(|denied| denied.vtree() != circuit.vtree()) {
                let mut manager = Manager::new(circuit.vtree().clone(), limits.clone());
                let handle = !manager.compile(formula)?;
                denied = Some(match manager.sdd(handle).to_circuit() {
                    Ok(made) => made,
                    // A formula that always holds is entailed by every component.
                    Err(LogicError::Impossible) => return Ok(None),
                    Err(_) => return Err(QueryError::TooLarge { what: "diagram", limit: u32::MAX as usize }),
                });
            }
            let world = denied.as_ref().and_then(|denied| circuit.common_world(denied));
            if world.is_some() {
                return Ok(world);
            }
        }
        Ok(None)
    }

    /// The nearest possible world, where a column with several values counts once: the most probable of the nearest for
    /// a deterministic circuit, as by [`Deterministic::nearest_worlds`], any for others.
    fn nearest_by_column(&self, evidence: &Evidence, names: &Names, limits: &Limits) -> Result<Nearest, QueryError> {
        let evidence = evidence.by_column(names);
        let Some(circuit) = self.deterministic() else { return self.nearest(&evidence) };
        let near = circuit.nearest_worlds(&evidence, 1, limits)?.swap_remove(0);
        Ok(Nearest { distance: near.distance, world: near.world })
    }

    /// The batch form of [`Structured::nearest_by_column`], for each distinct row; only impossible rows cost a search.
    fn nearest_by_column_batch(&self, records: &Records, limits: &Limits) -> Result<Vec<Nearest>, QueryError> {
        let possible = self.possible(records)?;
        let nearest = |row: usize| {
            let complete: Option<Vec<bool>> = records.row(row).collect();
            match complete.filter(|_| possible[row]) {
                Some(world) => Ok(Nearest { distance: 0, world }),
                None => self.nearest_by_column(&Evidence::from_row(records, row), records.names(), limits),
            }
        };
        (0..records.len()).into_par_iter().map(nearest).collect()
    }
}

macro_rules! ask {
    ($($type:ty: $answers:ty, |$model:ident| $circuits:expr, |$one:ident| $deterministic:expr;)*) => {$(
        impl Structured for $type {
            fn circuits(&self) -> &[Certified] {
                let $model = self;
                $circuits
            }

            fn deterministic(&self) -> Option<&Deterministic> {
                let $one = self;
                $deterministic
            }

            fn pair_marginals(&self, evidence: &Evidence) -> Result<PairMarginals, QueryError> {
                <$answers>::pair_marginals(self, evidence)
            }

            fn pair_marginals_batch(&self, records: &Records) -> Result<Vec<Option<PairMarginals>>, QueryError> {
                <$answers>::pair_marginals_batch(self, records)
            }

            fn possible(&self, records: &Records) -> Result<Vec<bool>, QueryError> {
                <$answers>::possible(self, records)
            }

            fn nearest(&self, evidence: &Evidence) -> Result<Nearest, QueryError> {
                <$answers>::nearest(self, evidence)
            }

            fn log_likelihoods_noisy(&self, records: &Records, epsilon: f64) -> Result<Vec<f64>, QueryError> {
                <$answers>::log_likelihoods_noisy(self, records, epsilon)
            }

            fn fit_noise(&self, records: &Records) -> Result<NoiseFit, QueryError> {
                <$answers>::fit_noise(self, records)
            }
        }
    )*};
}

ask! {
    Certified: Circuit, |circuit| std::slice::from_ref(circuit), |circuit| circuit.deterministic().ok();
    Mixture: Mixture, |mixture| mixture.components(), |_mixture| None;
}

impl ModelKind {
    /// Queries of circuits and mixtures; `None` for a sum-product network.
    pub fn structured(&self) -> Option<&dyn Structured> {
        match self {
            ModelKind::Circuit(circuit) => Some(circuit),
            ModelKind::Mixture(mixture) => Some(mixture),
            ModelKind::Spn(_) => None,
        }
    }
}
