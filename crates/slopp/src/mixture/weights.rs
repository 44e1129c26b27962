//! Weights of given components, fitted to records.

use super::Mixture;
use crate::data::Records;
use crate::infer::QueryError;
use crate::logspace::LOG_ZERO;

/// Components that get less weight than this are left out: they would only cost time.
const NEGLIGIBLE: f64 = 1e-9;

impl Mixture {
    /// The same components with weights fitted to records by EM: for bags, to the validation part.
    ///
    /// Each step gives a component the mean of its posteriors over the records, so the likelihood never falls;
    /// as it is concave in the weights, the limit is the best there is. Stops after `steps` steps, or when one gains less
    /// than 1e-9 nats per record. Components that end up without weight are left out; records that are impossible do
    /// not count, and without any possible record the weights stay. Cost: the likelihood of the records under every
    /// component, once.
    ///
    /// ```
    /// use slopp::Mixture;
    /// let (psdd, records) = (slopp::example::psdd(), slopp::example::records());
    /// let task = slopp::learn::Task::new(&records);
    /// let other = task.learn(&slopp::learn::Factorised::default(), &())?.model.into_psdd().unwrap();
    /// let fitted = Mixture::uniform([psdd.into(), other.into()])?.fit_weights(&records, 1000)?;
    /// assert!(fitted.weights()[0] > 0.9, "the first one was learned from these records");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_weights(&self, records: &Records, steps: usize) -> Result<Mixture, QueryError> {
        const TOLERANCE: f64 = 1e-9;
        let by_component: Vec<Vec<f64>> =
            self.components.iter().map(|circuit| circuit.log_likelihoods(records)).collect::<Result<_, _>>()?;
        // Probabilities of a row beside its largest one: weights are all that changes between steps.
        let rows: Vec<(f64, f64, Vec<f64>)> = (0..records.len())
            .filter_map(|row| {
                let high = by_component.iter().map(|logs| logs[row]).fold(LOG_ZERO, f64::max);
                let relative = || by_component.iter().map(|logs| (logs[row] - high).exp()).collect();
                (high > LOG_ZERO).then(|| (records.weights()[row], high, relative()))
            })
            .collect();
        let total: f64 = rows.iter().map(|(weight, ..)| weight).sum();
        let mut weights = self.weights.clone();
        let mut last = LOG_ZERO;
        for _ in 0..steps {
            let mut sums = vec![0.0; weights.len()];
            let mut log_likelihood = 0.0;
            for (count, high, relative) in &rows {
                let mixed: f64 = relative.iter().zip(&weights).map(|(p, w)| p * w).sum();
                log_likelihood += count * (high + mixed.ln());
                let scale = count / mixed;
                for ((sum, p), w) in sums.iter_mut().zip(relative).zip(&weights) {
                    *sum += scale * p * w;
                }
            }
            if total == 0.0 || log_likelihood / total - last < TOLERANCE {
                break;
            }
            last = log_likelihood / total;
            weights = sums.into_iter().map(|sum| sum / total).collect();
        }
        let kept: f64 = weights.iter().filter(|&&weight| weight > NEGLIGIBLE).sum();
        let parts = weights.iter().zip(&self.components).filter(|&(&weight, _)| weight > NEGLIGIBLE);
        let parts = parts.map(|(weight, circuit)| (weight / kept, circuit.clone()));
        Ok(Mixture::new(parts).expect("weights are positive and were divided by their total"))
    }
}
