//! Expectation maximisation: parameters of any structure, also with missing cells.

use super::LearnError;
use crate::circuit::{Circuit, Kind, Smoothing};
use crate::data::Records;
use crate::progress::Progress;

/// Settings of [`em`].
#[derive(Clone, Debug, PartialEq)]
pub struct EmConfig {
    /// The largest number of steps.
    pub steps: usize,
    /// Stops when a step gains less than this, in nats per record.
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
pub fn em<C: Kind>(
    start: &C,
    records: &Records,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<EmFit<C>, LearnError> {
    let mut circuit: Circuit = start.as_ref().clone();
    config.smoothing.check(circuit.var_count()).map_err(crate::circuit::BuildError::from)?;
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
        if gain < config.tolerance {
            break;
        }
    }
    Ok(EmFit { circuit: start.carry_over(circuit), history, impossible })
}
