//! What can be asked of a circuit and of a mixture of circuits alike, beyond what every distribution answers.

use slopp::infer::{Evidence, Nearest, NoiseFit, PairMarginals, QueryError};
use slopp::{Circuit, Mixture, Records};

/// Pairs of variables, what is possible, and what is seen through noise.
pub(crate) trait OnVtrees: Sync {
    fn pair_marginals(&self, evidence: &Evidence) -> Result<PairMarginals, QueryError>;
    fn pair_marginals_batch(&self, records: &Records) -> Result<Vec<Option<PairMarginals>>, QueryError>;
    fn possible(&self, records: &Records) -> Result<Vec<bool>, QueryError>;
    fn nearest(&self, evidence: &Evidence) -> Result<Nearest, QueryError>;
    fn log_likelihoods_noisy(&self, records: &Records, epsilon: f64) -> Result<Vec<f64>, QueryError>;
    fn fit_noise(&self, records: &Records) -> Result<NoiseFit, QueryError>;
}

/// Every answer is that of the method of the same name.
macro_rules! ask {
    ($($type:ty: $answers:ty),*) => {$(
        impl OnVtrees for $type {
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

ask!(slopp::Certified: Circuit, Mixture: Mixture);
