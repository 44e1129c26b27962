//! What can be asked of a circuit and of a mixture alike.

use slopp::infer::{Evidence, Nearest, PairMarginals, QueryError, Samples};
use slopp::{Certified, Circuit, Mixture, Records};

/// A distribution with the queries that need no determinism.
pub(crate) trait Distribution: Sync {
    fn var_count(&self) -> usize;
    fn log_evidence(&self, evidence: &Evidence) -> Result<f64, QueryError>;
    fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError>;
    fn conditional_batch(&self, event: &Evidence, given: &Records) -> Result<Vec<Option<f64>>, QueryError>;
    fn marginals(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError>;
    fn marginals_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError>;
    fn pair_marginals(&self, evidence: &Evidence) -> Result<PairMarginals, QueryError>;
    fn pair_marginals_batch(&self, records: &Records) -> Result<Vec<Option<PairMarginals>>, QueryError>;
    fn possible(&self, records: &Records) -> Result<Vec<bool>, QueryError>;
    fn nearest(&self, evidence: &Evidence) -> Result<Nearest, QueryError>;
    fn sample(&self, count: usize, evidence: &Evidence, seed: u64) -> Result<Samples, QueryError>;
    fn sample_in_parts<'a>(
        &'a self,
        count: usize,
        evidence: &Evidence,
        seed: u64,
    ) -> Result<Box<dyn Iterator<Item = Samples> + 'a>, QueryError>;
}

/// Every answer is that of the method of the same name on `$answers`, to which `$type` derefs or which it is.
macro_rules! ask {
    ($type:ty, $answers:ty) => {
        impl Distribution for $type {
            fn var_count(&self) -> usize {
                <$answers>::var_count(self)
            }

            fn log_evidence(&self, evidence: &Evidence) -> Result<f64, QueryError> {
                <$answers>::log_evidence(self, evidence)
            }

            fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError> {
                // Not that of a mere circuit: a certificate makes it faster.
                <$type>::log_likelihoods(self, records)
            }

            fn conditional_batch(&self, event: &Evidence, given: &Records) -> Result<Vec<Option<f64>>, QueryError> {
                <$answers>::conditional_batch(self, event, given)
            }

            fn marginals(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError> {
                <$answers>::marginals(self, evidence)
            }

            fn marginals_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError> {
                <$answers>::marginals_batch(self, records)
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

            fn sample(&self, count: usize, evidence: &Evidence, seed: u64) -> Result<Samples, QueryError> {
                <$answers>::sample(self, count, evidence, seed)
            }

            fn sample_in_parts<'a>(
                &'a self,
                count: usize,
                evidence: &Evidence,
                seed: u64,
            ) -> Result<Box<dyn Iterator<Item = Samples> + 'a>, QueryError> {
                Ok(Box::new(<$answers>::sample_in_parts(self, count, evidence, seed)?))
            }
        }
    };
}

ask!(Certified, Circuit);
ask!(Mixture, Mixture);
