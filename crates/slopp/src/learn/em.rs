//! Expectation maximisation: parameters of any structure, also with missing cells.

use super::LearnError;
use crate::certified::Certified;
use crate::circuit::{Certificate, Circuit, Smoothing};
use crate::data::Records;
use crate::logspace::{LOG_ZERO, log_sum};
use crate::mixture::Mixture;
use crate::progress::Progress;
use crate::spn::Spn;

/// Components that end up with a smaller share of the records are left out.
const NEGLIGIBLE: f64 = 1e-9;

/// Settings of [`em`].
#[derive(Clone, Debug, PartialEq)]
pub struct EmConfig {
    /// The largest number of steps.
    pub steps: usize,
    /// Stops when a step changes the likelihood by less than this, in nats per record.
    pub tolerance: f64,
    /// How expected counts become parameters.
    pub smoothing: Smoothing,
}

impl Default for EmConfig {
    fn default() -> EmConfig {
        EmConfig { steps: 100, tolerance: 1e-5, smoothing: Smoothing::none() }
    }
}

/// What EM made of a circuit.
#[derive(Clone, Debug, PartialEq)]
pub struct EmFit<C> {
    /// The circuit with the parameters of the last step, and its certificate, if it had one.
    pub circuit: C,
    /// The log-likelihood per possible record before each step and after the last one.
    pub history: Vec<f64>,
    /// The total weight of the records that are impossible under the structure.
    pub impossible: f64,
}

/// Fits the parameters of any circuit to records, which may miss cells.
///
/// Each step divides expected counts, so without smoothing the likelihood never falls, and of a deterministic circuit
/// with complete records the first step already is maximum likelihood. Mixtures find a local optimum, from where they
/// start. Records that are impossible are left out and reported. What is expected nowhere, and not smoothed, is
/// dropped, as in [`Psdd::fit`](crate::Psdd::fit).
///
/// ```
/// use slopp::learn::{EmConfig, em};
/// use slopp::{Names, RecordsBuilder};
/// let mut records = RecordsBuilder::new(Names::numbered(4));
/// records.push([Some(false), Some(false), None, Some(true)], 3.0);
/// records.push([Some(true), Some(true), Some(true), None], 2.0);
/// let fit = em(&slopp::example::psdd(), &records.finish(), &EmConfig::default(), &())?;
/// assert!(fit.history.windows(2).all(|step| step[0] <= step[1] + 1e-12));
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub fn em<C: Certificate>(
    start: &C,
    records: &Records,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<EmFit<C>, LearnError> {
    let mut circuit: Circuit = start.as_ref().clone();
    config.smoothing.check(circuit.var_count())?;
    progress.begin("expectation maximisation", config.steps as u64);
    let mut expected = circuit.expected_counts(records)?;
    if expected.possible == 0.0 {
        return Err(LearnError::NothingPossible);
    }
    let impossible = expected.impossible;
    let mut history = vec![expected.log_likelihood / expected.possible];
    for _ in 0..config.steps {
        circuit = circuit.with_estimates(expected.weights, &config.smoothing)?;
        expected = circuit.expected_counts(records)?;
        history.push(expected.log_likelihood / expected.possible);
        progress.advance(1);
        let gain = history[history.len() - 1] - history[history.len() - 2];
        // With smoothing the likelihood of the records alone may fall before it settles.
        if gain.abs() < config.tolerance {
            break;
        }
    }
    Ok(EmFit { circuit: start.carry_over(circuit), history, impossible })
}

/// Fits the weights and the parameters of all components of a mixture to records, which may miss cells.
///
/// Each step shares every record among the components by their posteriors, and gives each the parameters of its share
/// as [`em`] does, and its part of the records as weight; without smoothing the likelihood never falls. Components that
/// no record needs are left out.
///
/// ```
/// use slopp::learn::{EmConfig, em_components};
/// use slopp::{Mixture, Names, RecordsBuilder};
/// let mixture = Mixture::uniform([slopp::example::psdd().into(), slopp::example::psdd().into()])?;
/// let mut records = RecordsBuilder::new(Names::numbered(4));
/// records.push([Some(false), Some(false), None, Some(true)], 3.0);
/// let fit = em_components(&mixture, &records.finish(), &EmConfig::default(), &())?;
/// assert!(fit.history.windows(2).all(|step| step[0] <= step[1] + 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn em_components(
    start: &Mixture,
    records: &Records,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<EmFit<Mixture>, LearnError> {
    config.smoothing.check(start.var_count())?;
    progress.begin("expectation maximisation", config.steps as u64);
    let mut mixture = start.clone();
    let mut shares = Shares::new(&mixture, records)?;
    if shares.possible == 0.0 {
        return Err(LearnError::NothingPossible);
    }
    let mut history = vec![shares.log_likelihood / shares.possible];
    for _ in 0..config.steps {
        mixture = shares.refit(&mixture, records, &config.smoothing)?;
        shares = Shares::new(&mixture, records)?;
        history.push(shares.log_likelihood / shares.possible);
        progress.advance(1);
        let gain = history[history.len() - 1] - history[history.len() - 2];
        if gain.abs() < config.tolerance {
            break;
        }
    }
    Ok(EmFit { circuit: mixture, history, impossible: records.total() - shares.possible })
}

/// Fits the parameters of a sum-product network to records, which may miss cells.
///
/// As [`em`], but the prior of every parameter is its value at the start, which weighs as much as the pseudocount of the
/// smoothing; it must be above zero, so that the structure stays as it is.
///
/// ```
/// use slopp::circuit::Smoothing;
/// use slopp::learn::{EmConfig, em_network, learnspn};
/// let records = slopp::example::Truth::configurations().sample(300, 1);
/// let spn = learnspn::learn(&records, None, &learnspn::LearnSpn::default(), &())?.spn;
/// let config = EmConfig { smoothing: Smoothing::uniform(1.0), ..EmConfig::default() };
/// let fit = em_network(&spn, &records, &config, &())?;
/// assert!(fit.history.last() >= fit.history.first());
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub fn em_network(
    start: &Spn,
    records: &Records,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<EmFit<Spn>, LearnError> {
    let pseudocount = config.smoothing.pseudocount;
    if !(pseudocount.is_finite() && pseudocount > 0.0) {
        let expected = "a finite number above 0 for a sum-product network";
        return Err(LearnError::Setting {
            name: "pseudocount",
            value: pseudocount.to_string(),
            expected: expected.into(),
        });
    }
    progress.begin("expectation maximisation", config.steps as u64);
    let mut expected = start.expected_counts(records)?;
    if expected.possible == 0.0 {
        return Err(LearnError::NothingPossible);
    }
    let impossible = records.total() - expected.possible;
    let mut spn = start.clone();
    let mut history = vec![expected.log_likelihood / expected.possible];
    for _ in 0..config.steps {
        spn = spn.with_expected(&expected, start, pseudocount);
        expected = spn.expected_counts(records)?;
        history.push(expected.log_likelihood / expected.possible);
        progress.advance(1);
        let gain = history[history.len() - 1] - history[history.len() - 2];
        if gain.abs() < config.tolerance {
            break;
        }
    }
    Ok(EmFit { circuit: spn, history, impossible })
}

/// How records are shared among the components of a mixture.
struct Shares {
    /// By component, then by row: its part of the weight.
    weights: Vec<Vec<f64>>,
    log_likelihood: f64,
    possible: f64,
}

impl Shares {
    fn new(mixture: &Mixture, records: &Records) -> Result<Shares, LearnError> {
        let mut weights = mixture.log_joint_batch(records)?;
        let (mut log_likelihood, mut possible) = (0.0, 0.0);
        for (row, &weight) in records.weights().iter().enumerate() {
            let log = log_sum(weights.iter().map(|logs| logs[row]));
            if log > LOG_ZERO {
                log_likelihood += weight * log;
                possible += weight;
            }
            for logs in &mut weights {
                logs[row] = if log > LOG_ZERO { weight * (logs[row] - log).exp() } else { 0.0 };
            }
        }
        Ok(Shares { weights, log_likelihood, possible })
    }

    fn refit(&self, mixture: &Mixture, records: &Records, smoothing: &Smoothing) -> Result<Mixture, LearnError> {
        let mut parts: Vec<(f64, Certified)> = Vec::new();
        for (component, shares) in mixture.components().iter().zip(&self.weights) {
            let weight: f64 = shares.iter().sum();
            if weight > NEGLIGIBLE * self.possible {
                let counts = component.expected_counts_of(records, shares)?.weights;
                let fitted = Circuit::clone(component).with_estimates(counts, smoothing)?;
                // Shares of records are no counts that others could be added to.
                parts.push((weight, component.carry_over(fitted.without_counts())));
            }
        }
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        let parts = parts.into_iter().map(|(weight, circuit)| (weight / total, circuit));
        Ok(Mixture::new(parts).expect("weights are positive and were divided by their total"))
    }
}
