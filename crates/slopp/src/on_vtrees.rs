//! What can be asked of a circuit and of a mixture of circuits alike, beyond what every distribution answers.

use crate::circuit::{Circuit, Deterministic};
use crate::data::Records;
use crate::infer::{Evidence, Nearest, NoiseFit, PairMarginals, QueryError};
use crate::mixture::Mixture;
use crate::model::{AnyModel, Certified};
use crate::names::Names;
use rayon::prelude::*;

/// Circuits on vtrees: pairs of variables, what is possible, what is seen through noise.
///
/// Every answer is that of the method of the same name of [`Circuit`] or [`Mixture`]; a sum-product network has none.
///
/// ```
/// use slopp::{Mixture, OnVtrees};
/// let psdd = slopp::example::psdd();
/// let mixture = Mixture::new(vec![(1.0, psdd.clone().into())])?;
/// let one: slopp::Certified = psdd.into();
/// let records = slopp::example::records();
/// for model in [&one as &dyn OnVtrees, &mixture] {
///     assert!(model.possible(&records)?.into_iter().all(|possible| possible));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(missing_docs, reason = "said of all of them above")]
pub trait OnVtrees: Sync {
    fn pair_marginals(&self, evidence: &Evidence) -> Result<PairMarginals, QueryError>;
    fn pair_marginals_batch(&self, records: &Records) -> Result<Vec<Option<PairMarginals>>, QueryError>;
    fn possible(&self, records: &Records) -> Result<Vec<bool>, QueryError>;
    fn nearest(&self, evidence: &Evidence) -> Result<Nearest, QueryError>;
    fn sample_batch(&self, records: &Records, seed: u64) -> Result<Vec<Option<Vec<bool>>>, QueryError>;
    fn log_likelihoods_noisy(&self, records: &Records, epsilon: f64) -> Result<Vec<f64>, QueryError>;
    fn fit_noise(&self, records: &Records) -> Result<NoiseFit, QueryError>;

    /// The circuit, if it is one and deterministic.
    fn deterministic(&self) -> Option<&Deterministic>;

    /// The nearest possible world, where a column with several values counts once: of a deterministic circuit the most
    /// probable of the nearest, as [`Deterministic::nearest_worlds`] has it, of others any.
    fn nearest_by_column(&self, evidence: &Evidence, names: &Names) -> Result<Nearest, QueryError> {
        let evidence = evidence.by_column(names);
        let Some(circuit) = self.deterministic() else { return self.nearest(&evidence) };
        let near = circuit.nearest_worlds(&evidence, 1)?.swap_remove(0);
        Ok(Nearest { distance: near.distance, world: near.world })
    }

    /// The batch form of [`OnVtrees::nearest_by_column`], for each distinct row; only rows that are not possible
    /// themselves cost a search.
    fn nearest_by_column_batch(&self, records: &Records) -> Result<Vec<Nearest>, QueryError> {
        let possible = self.possible(records)?;
        let nearest = |row: usize| {
            let complete: Option<Vec<bool>> = records.row(row).collect();
            match complete.filter(|_| possible[row]) {
                Some(world) => Ok(Nearest { distance: 0, world }),
                None => self.nearest_by_column(&Evidence::from_row(records, row), records.names()),
            }
        };
        (0..records.len()).into_par_iter().map(nearest).collect()
    }
}

/// Every answer is that of the method of the same name.
macro_rules! ask {
    ($($type:ty: $answers:ty, |$model:ident| $deterministic:expr;)*) => {$(
        impl OnVtrees for $type {
            fn deterministic(&self) -> Option<&Deterministic> {
                let $model = self;
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

            fn sample_batch(&self, records: &Records, seed: u64) -> Result<Vec<Option<Vec<bool>>>, QueryError> {
                <$answers>::sample_batch(self, records, seed)
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
    Certified: Circuit, |circuit| circuit.deterministic().ok();
    Mixture: Mixture, |_mixture| None;
}

impl AnyModel {
    /// What circuits and mixtures of them can be asked; nothing of a sum-product network.
    pub fn on_vtrees(&self) -> Option<&dyn OnVtrees> {
        match self {
            AnyModel::Circuit(model) => Some(&model.circuit),
            AnyModel::Mixture(model) => Some(&model.circuit),
            AnyModel::Spn(_) => None,
        }
    }
}
