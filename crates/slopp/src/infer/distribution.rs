//! Queries of every kind of model: circuits with or without a certificate, and sum-product networks.

use super::{Evidence, QueryError, Samples};
use crate::circuit::Circuit;
use crate::data::{Records, RecordsBuilder};
use crate::logspace::LOG_ZERO;
use crate::var::Var;

/// A distribution over worlds, with the queries that need no determinism.
///
/// For code that handles several kinds of models behind `&dyn Distribution`; each kind has the same methods, documented
/// with their costs.
pub trait Distribution: Sync {
    /// The number of variables.
    fn var_count(&self) -> usize;

    /// The log-probability of evidence, −∞ if it is impossible.
    fn log_evidence(&self, evidence: &Evidence) -> Result<f64, QueryError>;

    /// The log-likelihood of each distinct row, −∞ if it is impossible; missing cells are summed out.
    fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError>;

    /// `P(true | evidence)` of every variable.
    fn marginals(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError>;

    /// The marginals given each distinct row; `None` where the row is impossible.
    fn marginals_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError>;

    /// Worlds drawn given evidence, in parts of bounded size: they need not fit in memory together.
    fn sample_in_parts<'a>(
        &'a self,
        count: usize,
        evidence: &Evidence,
        seed: u64,
    ) -> Result<Box<dyn Iterator<Item = Samples> + 'a>, QueryError>;

    /// Each record, in its order, with its missing cells drawn given the others; `None` where it is impossible. Equal
    /// records have draws of their own.
    fn sample_batch(&self, records: &Records, seed: u64) -> Result<Vec<Option<Vec<bool>>>, QueryError>;

    /// `P(event | row)` for each distinct row; `None` where the row is impossible.
    fn conditional_batch(&self, event: &Evidence, given: &Records) -> Result<Vec<Option<f64>>, QueryError> {
        let log_both = self.joint_batch(std::slice::from_ref(event), given)?;
        let log_given = self.log_likelihoods(given)?;
        let answers = log_given
            .into_iter()
            .zip(log_both)
            .map(|(log_given, log_both)| (log_given > LOG_ZERO).then(|| (log_both[0] - log_given).exp().min(1.0)));
        Ok(answers.collect())
    }

    /// The log-probability of each distinct row together with each of several events: a line per row.
    fn joint_batch(&self, events: &[Evidence], given: &Records) -> Result<Vec<Vec<f64>>, QueryError> {
        let expected = self.var_count();
        if let Some(found) = events.iter().map(Evidence::var_count).find(|&found| found != expected) {
            return Err(QueryError::WrongLength { what: "evidence", expected, found });
        }
        let mut lines = Vec::with_capacity(given.len());
        let rows: Vec<usize> = (0..given.len()).collect();
        for rows in rows.chunks((JOINTS_AT_ONCE / events.len().max(1)).max(1)) {
            let mut both = RecordsBuilder::new(given.names().clone());
            // The row among `both` of each pair, or `None` where event and row contradict each other.
            let mut place = Vec::with_capacity(rows.len() * events.len());
            for &row in rows {
                let known = Evidence::from_row(given, row);
                place.extend(events.iter().map(|event| {
                    let joint = event.and(&known)?;
                    both.push((0..joint.var_count()).map(|i| joint.value(Var(i as u32))), 1.0);
                    Some(both.len() - 1)
                }));
            }
            let both = both.finish();
            let logs = self.log_likelihoods(&both)?;
            let log = |place: &Option<usize>| place.map_or(LOG_ZERO, |place| logs[both.original()[place] as usize]);
            lines.extend((0..rows.len()).map(|i| place[i * events.len()..][..events.len()].iter().map(log).collect()));
        }
        Ok(lines)
    }
}

/// How many pairs of row and event are packed at a time, so that memory does not grow with all of them.
const JOINTS_AT_ONCE: usize = 1 << 16;

/// Implements `Distribution` by the methods of the same names.
macro_rules! answer_by_methods {
    ($kind:ty) => {
        $crate::infer::answer_by_methods!($kind, $kind);
    };
    ($kind:ty, $target:ty) => {
        impl $crate::infer::Distribution for $kind {
            fn var_count(&self) -> usize {
                <$target>::var_count(self)
            }

            fn log_evidence(&self, evidence: &$crate::infer::Evidence) -> Result<f64, $crate::infer::QueryError> {
                <$target>::log_evidence(self, evidence)
            }

            fn log_likelihoods(&self, records: &$crate::data::Records) -> Result<Vec<f64>, $crate::infer::QueryError> {
                <$kind>::log_likelihoods(self, records)
            }

            fn marginals(&self, evidence: &$crate::infer::Evidence) -> Result<Vec<f64>, $crate::infer::QueryError> {
                <$target>::marginals(self, evidence)
            }

            fn marginals_batch(
                &self,
                records: &$crate::data::Records,
            ) -> Result<Vec<Option<Vec<f64>>>, $crate::infer::QueryError> {
                <$target>::marginals_batch(self, records)
            }

            fn sample_in_parts<'a>(
                &'a self,
                count: usize,
                evidence: &$crate::infer::Evidence,
                seed: u64,
            ) -> Result<Box<dyn Iterator<Item = $crate::infer::Samples> + 'a>, $crate::infer::QueryError> {
                Ok(Box::new(<$target>::sample_in_parts(self, count, evidence, seed)?))
            }

            fn sample_batch(
                &self,
                records: &$crate::data::Records,
                seed: u64,
            ) -> Result<Vec<Option<Vec<bool>>>, $crate::infer::QueryError> {
                <$target>::sample_batch(self, records, seed)
            }
        }
    };
}

pub(crate) use answer_by_methods;

answer_by_methods!(Circuit);
