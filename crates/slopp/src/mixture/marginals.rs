//! Posterior marginals: means of those of the components, weighed by the posterior of each.

use super::Mixture;
use crate::data::Records;
use crate::infer::{Evidence, PairMarginals, QueryError, certain};
use rayon::prelude::*;

impl Mixture {
    /// `P(x = true | evidence)` for every variable `x`. Cost: elements of all components.
    pub fn marginals(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError> {
        let mut sums = vec![0.0; self.var_count()];
        for (share, circuit) in self.component_posterior(evidence)?.into_iter().zip(&self.components) {
            if share > 0.0 {
                let of_component = circuit.marginals(evidence)?;
                sums.iter_mut().zip(of_component).for_each(|(sum, p)| *sum += share * p);
            }
        }
        Ok(sums.into_iter().enumerate().map(|(i, p)| certain(evidence, i, p)).collect())
    }

    /// The marginals given each distinct row as evidence; `None` where the row is impossible.
    pub fn marginals_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError> {
        let shares = self.component_posterior_batch(records)?;
        let mut sums: Vec<Option<Vec<f64>>> =
            shares.iter().map(|row| row.as_ref().map(|_| vec![0.0; self.var_count()])).collect();
        for (k, circuit) in self.components.iter().enumerate() {
            let of_component = circuit.marginals_batch(records)?;
            for ((sums, shares), found) in sums.iter_mut().zip(&shares).zip(of_component) {
                if let (Some(sums), Some(shares), Some(found)) = (sums, shares, found) {
                    sums.iter_mut().zip(found).for_each(|(sum, p)| *sum += shares[k] * p);
                }
            }
        }
        let finished = |(row, sums): (usize, Option<Vec<f64>>)| {
            let evidence = Evidence::from_row(records, row);
            sums.map(|sums| sums.into_iter().enumerate().map(|(i, p)| certain(&evidence, i, p)).collect())
        };
        Ok(sums.into_iter().enumerate().map(finished).collect())
    }

    /// `P(x = true, y = true | evidence)` for all pairs of variables, and the singles.
    pub fn pair_marginals(&self, evidence: &Evidence) -> Result<PairMarginals, QueryError> {
        self.first().check_pairs()?;
        let shares = self.component_posterior(evidence)?.into_iter().zip(&self.components);
        let parts = shares.filter(|&(share, _)| share > 0.0).map(|(share, circuit)| {
            let pairs = circuit.pair_marginals(evidence).expect("a component with a share has the evidence possible");
            (share, pairs)
        });
        PairMarginals::mean(parts).ok_or(QueryError::ImpossibleEvidence)
    }

    /// The pair marginals given each distinct row as evidence; `None` where the row is impossible.
    pub fn pair_marginals_batch(&self, records: &Records) -> Result<Vec<Option<PairMarginals>>, QueryError> {
        self.first().check_pairs()?;
        self.first().check_records(records)?;
        let of_row = |row| self.pair_marginals(&Evidence::from_row(records, row)).ok();
        Ok((0..records.len()).into_par_iter().map(of_row).collect())
    }
}
