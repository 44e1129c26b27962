//! Mixtures over one structure, by expectation maximisation.
//!
//! Determinism makes both steps cheap: the derivation of a record is the same in every component, so one pass of bit
//! masks serves them all, and the parameters of a component are its shares of the counts, in closed form.

use super::LearnError;
use super::error::{check, check_validation};
use super::judge::Possible;
use super::kmeans::k_means;
use crate::certified::Certified;
use crate::circuit::{Deterministic, Weights};
use crate::data::Records;
use crate::infer::{SideBySide, count_shares};
use crate::mixture::Mixture;
use crate::progress::Progress;
use crate::random::Random;
use rayon::prelude::*;

/// The largest number of components, or of models of a bag, that may be asked for.
pub(super) const MAX_COMPONENTS: usize = 4096;

/// Components that end up with a smaller share of the records are left out.
const NEGLIGIBLE: f64 = 1e-9;

/// Settings of [`em_mixture`].
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureConfig {
    /// How many components to begin with.
    pub components: usize,
    /// The largest number of steps.
    pub steps: usize,
    /// Stops when a step changes the likelihood of the training records by less than this, in nats per record.
    pub tolerance: f64,
    /// Stops after so many steps without a better validation likelihood.
    pub patience: usize,
    /// How many records the parameters of the circuit to start from weigh in each sum of each component.
    pub pseudocount: f64,
    /// Where components begin.
    pub start: MixtureStart,
    /// The seed of what is random about that.
    pub seed: u64,
}

/// How records are shared among components before the first step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MixtureStart {
    /// Mostly to the component of their k-means cluster.
    #[default]
    Clusters,
    /// At random, every record on its own.
    Random,
}

impl MixtureConfig {
    /// The default settings for so many components.
    pub fn new(components: usize) -> MixtureConfig {
        MixtureConfig {
            components,
            steps: 200,
            tolerance: 1e-4,
            patience: 6,
            pseudocount: 10.0,
            start: MixtureStart::Clusters,
            seed: 0,
        }
    }

    fn check(&self) -> Result<(), LearnError> {
        let setting = |name, value: String, expected: &'static str| {
            Err(LearnError::Setting { name, value, expected: expected.into() })
        };
        if !(1..=MAX_COMPONENTS).contains(&self.components) {
            return setting("components", self.components.to_string(), "at least 1 and at most 4096");
        }
        for (name, value) in [("pseudocount", self.pseudocount), ("tolerance", self.tolerance)] {
            if !(value.is_finite() && value >= 0.0) {
                return setting(name, value.to_string(), "a finite number of at least 0");
            }
        }
        Ok(())
    }
}

/// What EM made of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureFit {
    /// The best mixture by validation likelihood; without validation records, the last.
    pub mixture: Mixture,
    /// The training log-likelihood per possible record, at the start and after each step.
    pub history: Vec<f64>,
    /// The same for the validation records; empty without any.
    pub valid_history: Vec<f64>,
    /// After how many steps the mixture was best.
    pub steps: usize,
    /// The total weight of the training records that are impossible under the structure.
    pub impossible: f64,
}

/// Fits a mixture of components that all have the structure of one deterministic circuit to complete records.
///
/// Each step shares every record among the components by their posteriors, and refits each component to its shares.
/// Without a pseudocount the training likelihood never falls, and what a component never sees is dropped from it; with
/// one, all keep the base of the circuit to start from, whose parameters are the prior. One component without
/// pseudocount is the plain fit. The same bytes for a seed on any number of threads. Cost of a step: elements × records
/// / 64, and variables × records × components.
///
/// ```
/// use slopp::learn::{MixtureConfig, em_mixture};
/// let (psdd, records) = (slopp::example::psdd(), slopp::example::records());
/// let config = MixtureConfig { pseudocount: 0.0, ..MixtureConfig::new(2) };
/// let fit = em_mixture(&psdd.into(), &records, None, &config, &())?;
/// assert!(fit.history.windows(2).all(|step| step[0] <= step[1] + 1e-12));
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub fn em_mixture(
    start: &Certified,
    train: &Records,
    valid: Option<&Records>,
    config: &MixtureConfig,
    progress: &dyn Progress,
) -> Result<MixtureFit, LearnError> {
    config.check()?;
    let structure = start.deterministic().map_err(|reason| LearnError::NotDeterministic(reason.clone()))?;
    check(train, structure.vtree())?;
    check_validation(train, valid)?;
    let valid = valid.filter(|valid| !valid.is_empty());
    let judge = valid.map(|valid| Possible::new(structure, valid)).transpose()?;
    progress.begin("expectation maximisation", config.steps as u64);
    let shares = first_shares(train, config);
    let first = count_shares(structure, config.components, train, &shares);
    drop(shares);
    if first.possible == 0.0 {
        return Err(LearnError::NothingPossible);
    }
    let impossible = first.impossible;
    let mut state = State { counts: first.counts, weights: first.weights, total: first.possible };
    let (mut history, mut valid_history) = (Vec::new(), Vec::new());
    let mut best: Option<(f64, usize, State)> = None;
    let mut step = 0;
    loop {
        let parameters = state.parameters(structure, config.pseudocount);
        let side = SideBySide::new(structure, &parameters.iter().collect::<Vec<_>>());
        let log_weights = state.log_weights();
        let shared = side.share(&log_weights, train);
        history.push(shared.log_likelihood / shared.possible);
        let gain = history.len().checked_sub(2).map_or(f64::INFINITY, |last| history[step] - history[last]);
        // With a pseudocount the likelihood of the records alone may fall before it settles.
        let last_step = step == config.steps || gain.abs() < config.tolerance;
        let next = State { counts: shared.counts, weights: shared.weights, total: shared.possible };
        let now = std::mem::replace(&mut state, next);
        match &judge {
            None if last_step => best = Some((0.0, step, now)),
            None => {}
            Some(judge) => {
                let score = judge.mean(&side.log_mixture(&log_weights, judge.records));
                valid_history.push(score);
                if best.as_ref().is_none_or(|(best, ..)| score > *best) {
                    best = Some((score, step, now));
                }
            }
        }
        let waited = best.as_ref().map_or(0, |&(_, best, _)| step - best);
        if last_step || (judge.is_some() && waited >= config.patience) {
            break;
        }
        step += 1;
        progress.advance(1);
    }
    let (_, steps, state) = best.expect("the last step sets it if no other does");
    let mixture = state.mixture(start, structure, config.pseudocount)?;
    Ok(MixtureFit { mixture, history, valid_history, steps, impossible })
}

/// What each component is responsible for; its parameters follow.
struct State {
    counts: Vec<Weights>,
    weights: Vec<f64>,
    total: f64,
}

impl State {
    fn parameters(&self, structure: &Deterministic, pseudocount: f64) -> Vec<Weights> {
        self.counts.par_iter().map(|counts| structure.estimates_towards(counts, pseudocount)).collect()
    }

    fn log_weights(&self) -> Vec<f64> {
        self.weights.iter().map(|weight| (weight / self.total).ln()).collect()
    }

    fn mixture(self, start: &Certified, structure: &Deterministic, pseudocount: f64) -> Result<Mixture, LearnError> {
        let kept = |weight: f64| weight > NEGLIGIBLE * self.total;
        let total: f64 = self.weights.iter().copied().filter(|&weight| kept(weight)).sum();
        let parts: Vec<(f64, Certified)> = self
            .weights
            .into_iter()
            .zip(self.counts)
            .filter(|&(weight, _)| weight > NEGLIGIBLE * self.total)
            .map(|(weight, counts)| {
                let circuit = structure.with_estimates_towards(counts, pseudocount)?;
                // Shares of records are no counts that others could be added to.
                Ok((weight / total, start.carry_over(circuit.without_counts())))
            })
            .collect::<Result<_, LearnError>>()?;
        Ok(Mixture::new(parts).expect("weights are positive and were divided by their total"))
    }
}

/// For every row how its weight is shared among the components at first.
fn first_shares(records: &Records, config: &MixtureConfig) -> Vec<f64> {
    let k = config.components;
    let mut random = Random::new(config.seed);
    let labels = match config.start {
        MixtureStart::Clusters if k > 1 => k_means(records.rows(), records.weights(), k, &mut random),
        _ => Vec::new(),
    };
    let mut shares = Vec::with_capacity(records.len() * k);
    for (row, &weight) in records.weights().iter().enumerate() {
        let start = shares.len();
        match labels.get(row) {
            // A little for all, so that without a pseudocount nothing is ruled out before it was tried.
            Some(&label) => shares.extend((0..k).map(|i| if i == label { 0.9 } else { 0.0 } + 0.1 / k as f64)),
            // Exponential numbers, divided by their sum, are uniform over all ways to share.
            None => shares.extend((0..k).map(|_| -(1.0 - random.unit()).ln() + f64::MIN_POSITIVE)),
        }
        let total: f64 = shares[start..].iter().sum();
        shares[start..].iter_mut().for_each(|share| *share *= weight / total);
    }
    shares
}
