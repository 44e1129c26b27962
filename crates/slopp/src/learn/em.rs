//! Expectation maximisation: parameters of any model, also from records with missing cells.
//!
//! [`climb`] is the one loop; each kind of model supplies the two [`Steps`].

use super::LearnError;
use crate::certified::Certified;
use crate::circuit::{Circuit, Smoothing, Weights};
use crate::data::Records;
use crate::infer::QueryError;
use crate::limits::Limits;
use crate::logspace::{LOG_ZERO, log_sum};
use crate::mixture::Mixture;
use crate::model::ModelKind;
use crate::progress::Progress;
use crate::spn::{self, Spn};

/// A component with a smaller share of the records is left out.
const NEGLIGIBLE: f64 = 1e-9;

/// Settings of [`ModelKind::em`].
#[derive(Clone, Debug)]
pub struct EmConfig {
    /// The largest number of steps.
    pub steps: usize,
    /// Stops when a step changes the likelihood by less than this, in nats per record.
    pub tolerance: f64,
    /// How expected counts become parameters.
    pub smoothing: Smoothing,
    /// How much a proof may cost where elements were dropped.
    pub limits: Limits,
}

impl Default for EmConfig {
    fn default() -> EmConfig {
        EmConfig { steps: 100, tolerance: 1e-5, smoothing: Smoothing::none(), limits: Limits::USUAL }
    }
}

/// A model fitted by EM.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EmFit {
    /// The model with the parameters of the last step.
    pub model: ModelKind,
    /// The log-likelihood per possible record, before each step and after the last one.
    pub history: Vec<f64>,
    /// The total weight of the records that are impossible under the structure.
    pub impossible: f64,
}

impl ModelKind {
    /// Fits the parameters to records, which may have missing cells.
    ///
    /// Without smoothing the likelihood never falls. For a deterministic circuit and complete records the first step
    /// already gives maximum likelihood; otherwise EM finds a local optimum. Impossible records are left out and
    /// reported. An element that is never expected and not smoothed is dropped, as in [`Psdd::fit`](crate::Psdd::fit).
    ///
    /// A mixture shares every record among its components by their posteriors. Each component gets the parameters and
    /// the weight of its share; a component without a share is left out. In a sum-product network the parameters of
    /// the start are the prior, with the weight of the pseudocount, which must be above zero.
    ///
    /// ```
    /// use slopp::{ModelKind, Names, RecordsBuilder, learn::EmConfig};
    /// let mut records = RecordsBuilder::new(Names::numbered(4));
    /// records.push([Some(false), Some(false), None, Some(true)], 3.0);
    /// records.push([Some(true), Some(true), Some(true), None], 2.0);
    /// let model = ModelKind::from(slopp::example::psdd());
    /// let fit = model.em(&records.finish(), &EmConfig::default(), &())?;
    /// assert!(fit.history.windows(2).all(|step| step[0] <= step[1] + 1e-12));
    /// # Ok::<(), slopp::learn::LearnError>(())
    /// ```
    pub fn em(&self, records: &Records, config: &EmConfig, progress: &dyn Progress) -> Result<EmFit, LearnError> {
        Ok(match self {
            ModelKind::Circuit(start) => {
                fit_circuit(start, records, config, progress)?.fit(|circuit| start.carry_over(circuit, &config.limits))
            }
            ModelKind::Mixture(start) => {
                config.smoothing.check(start.var_count())?;
                let steps = Fit { records, config };
                climb(&steps, start.clone(), &config.stop(), progress)?.fit(|mixture| mixture)
            }
            ModelKind::Spn(start) => {
                let pseudocount = config.smoothing.pseudocount;
                if !(pseudocount.is_finite() && pseudocount > 0.0) {
                    let expected = "a finite number above 0 for a sum-product network";
                    return Err(LearnError::setting("pseudocount", pseudocount, expected));
                }
                let steps = FitNetwork { records, prior: start, pseudocount };
                climb(&steps, start.clone(), &config.stop(), progress)?.fit(|spn| spn)
            }
        })
    }
}

/// The same for a circuit, without its certificate.
pub(super) fn fit_circuit(
    start: &Circuit,
    records: &Records,
    config: &EmConfig,
    progress: &dyn Progress,
) -> Result<Climb<Circuit>, LearnError> {
    config.smoothing.check(start.var_count())?;
    let steps = Fit { records, config };
    climb(&steps, start.clone(), &config.stop(), progress)
}

/// The two steps of EM for a kind of model.
pub(super) trait Steps<M> {
    /// The result of the E step, which the M step needs.
    type Counts;

    /// E: the counts that a model expects, and how likely the records are.
    fn expect(&self, model: &M) -> Result<Expected<Self::Counts>, LearnError>;

    /// M: the model that follows from the counts.
    fn fit(&self, model: &M, counts: Self::Counts) -> Result<M, LearnError>;
}

/// The result of an E step.
pub(super) struct Expected<C> {
    pub(super) counts: C,
    /// Of the possible records, each times its weight.
    pub(super) log_likelihood: f64,
    /// The weight of the possible records.
    pub(super) possible: f64,
    pub(super) impossible: f64,
    /// How well the model explains validation records, if there are any.
    pub(super) score: Option<f64>,
}

/// When to stop.
pub(super) struct Stop {
    pub(super) steps: usize,
    /// Stops when a step changes the likelihood by less, in nats per record.
    pub(super) tolerance: f64,
    /// Stops after this number of steps without a better score.
    pub(super) patience: usize,
}

impl EmConfig {
    fn stop(&self) -> Stop {
        Stop { steps: self.steps, tolerance: self.tolerance, patience: usize::MAX }
    }
}

/// The result of all steps.
pub(super) struct Climb<M> {
    /// The model with the best score; without validation records, the last one.
    pub(super) model: M,
    /// Its score.
    pub(super) score: Option<f64>,
    /// The number of steps that led to it.
    pub(super) steps: usize,
    /// The log-likelihood per possible record, before each step and after the last one.
    pub(super) history: Vec<f64>,
    impossible: f64,
}

impl<M> Climb<M> {
    fn fit<N: Into<ModelKind>>(self, certified: impl FnOnce(M) -> N) -> EmFit {
        EmFit { model: certified(self.model).into(), history: self.history, impossible: self.impossible }
    }
}

/// Runs EM from a start.
pub(super) fn climb<M, S: Steps<M>>(
    steps: &S,
    start: M,
    stop: &Stop,
    progress: &dyn Progress,
) -> Result<Climb<M>, LearnError> {
    progress.begin("expectation maximisation", stop.steps as u64);
    let mut model = start;
    let mut history: Vec<f64> = Vec::new();
    let mut best: Option<Climb<M>> = None;
    loop {
        let step = history.len();
        let Expected { counts, log_likelihood, possible, impossible, score } = steps.expect(&model)?;
        if possible == 0.0 {
            return Err(LearnError::NothingPossible);
        }
        history.push(log_likelihood / possible);
        // With a prior the likelihood of the records alone may fall before it settles.
        let is_settled = step > 0 && (history[step] - history[step - 1]).abs() < stop.tolerance;
        let is_last = step == stop.steps || is_settled;
        let is_best = best.as_ref().is_none_or(|best| score.is_none() || score > best.score);
        let waited = if is_best { 0 } else { step - best.as_ref().map_or(0, |best| best.steps) };
        let next = match is_last || waited >= stop.patience {
            true => None,
            false => Some(steps.fit(&model, counts)?),
        };
        if is_best {
            best = Some(Climb { model, score, steps: step, history: Vec::new(), impossible });
        }
        match next {
            Some(next) => model = next,
            None => return Ok(Climb { history, ..best.expect("the first step sets it") }),
        }
        progress.advance(1);
    }
}

/// Records, and how the counts of a circuit become its parameters.
struct Fit<'a> {
    records: &'a Records,
    config: &'a EmConfig,
}

impl Steps<Circuit> for Fit<'_> {
    type Counts = Weights;

    fn expect(&self, circuit: &Circuit) -> Result<Expected<Weights>, LearnError> {
        let found = circuit.expected_counts(self.records)?;
        Ok(Expected {
            counts: found.weights,
            log_likelihood: found.log_likelihood,
            possible: found.possible,
            impossible: found.impossible,
            score: None,
        })
    }

    fn fit(&self, circuit: &Circuit, counts: Weights) -> Result<Circuit, LearnError> {
        Ok(circuit.clone().with_estimates(counts, &self.config.smoothing)?)
    }
}

/// How records are shared among components.
struct Shares {
    /// By component, then by row: its part of the weight.
    shares: Vec<Vec<f64>>,
    /// The weight of the possible records.
    possible: f64,
}

impl Steps<Mixture> for Fit<'_> {
    type Counts = Shares;

    fn expect(&self, mixture: &Mixture) -> Result<Expected<Shares>, LearnError> {
        let mut shares = mixture.log_joint_batch(self.records)?;
        let (mut log_likelihood, mut possible) = (0.0, 0.0);
        for (row, &weight) in self.records.weights().iter().enumerate() {
            let log = log_sum(shares.iter().map(|logs| logs[row]));
            if log > LOG_ZERO {
                log_likelihood += weight * log;
                possible += weight;
            }
            for logs in &mut shares {
                logs[row] = if log > LOG_ZERO { weight * (logs[row] - log).exp() } else { 0.0 };
            }
        }
        let (counts, impossible) = (Shares { shares, possible }, self.records.total() - possible);
        Ok(Expected { counts, log_likelihood, possible, impossible, score: None })
    }

    fn fit(&self, mixture: &Mixture, Shares { shares, possible }: Shares) -> Result<Mixture, LearnError> {
        let weights: Vec<f64> = shares.iter().map(|shares| shares.iter().sum()).collect();
        weighted(&weights, possible, |i| {
            let component = &mixture.components()[i];
            let counts = component.expected_counts_of(self.records, &shares[i])?.weights;
            let fitted = Circuit::clone(component).with_estimates(counts, &self.config.smoothing)?;
            // Shares of records are not counts that later records could be added to.
            Ok(component.carry_over(fitted.without_counts(), &self.config.limits))
        })
    }
}

/// A mixture of the components whose share of the total is not negligible.
pub(super) fn weighted(
    weights: &[f64],
    total: f64,
    component: impl Fn(usize) -> Result<Certified, LearnError>,
) -> Result<Mixture, LearnError> {
    let kept: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > NEGLIGIBLE * total).collect();
    let total: f64 = kept.iter().map(|&i| weights[i]).sum();
    let parts = kept.into_iter().map(|i| Ok((weights[i] / total, component(i)?)));
    let parts: Vec<(f64, Certified)> = parts.collect::<Result<_, LearnError>>()?;
    Ok(Mixture::new(parts).expect("weights are positive and were divided by their total"))
}

/// Records, and the network that is the prior.
struct FitNetwork<'a> {
    records: &'a Records,
    prior: &'a Spn,
    pseudocount: f64,
}

impl Steps<Spn> for FitNetwork<'_> {
    type Counts = spn::Counts;

    fn expect(&self, spn: &Spn) -> Result<Expected<spn::Counts>, LearnError> {
        let counts = spn.expected_counts(self.records)?;
        let (log_likelihood, possible) = (counts.log_likelihood, counts.possible);
        let impossible = self.records.total() - possible;
        Ok(Expected { counts, log_likelihood, possible, impossible, score: None })
    }

    fn fit(&self, spn: &Spn, counts: spn::Counts) -> Result<Spn, LearnError> {
        Ok(spn.with_expected(&counts, self.prior, self.pseudocount))
    }
}

impl Mixture {
    /// The same components with weights fitted to records by EM; for bags, to the validation records.
    ///
    /// Each step gives a component the mean of its posteriors over the records, so the likelihood never falls; it is
    /// concave in the weights, so the limit is the optimum. Stops after `steps` steps, or when a step gains less than
    /// 1e-9 nats per record. Components that lose all weight are left out. Impossible records do not count; without a
    /// possible record the weights stay. Cost: the likelihood of the records under every component, once.
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
        let components = self.components();
        let by_component: Vec<Vec<f64>> =
            components.iter().map(|circuit| circuit.log_likelihoods(records)).collect::<Result<_, _>>()?;
        let row = |row: usize| {
            let high = by_component.iter().map(|logs| logs[row]).fold(LOG_ZERO, f64::max);
            let relative = || by_component.iter().map(|logs| (logs[row] - high).exp()).collect();
            (high > LOG_ZERO).then(|| Row { weight: records.weights()[row], high, relative: relative() })
        };
        let rows: Vec<Row> = (0..records.len()).filter_map(row).collect();
        let total = rows.iter().map(|row| row.weight).sum();
        let stop = Stop { steps, tolerance: 1e-9, patience: usize::MAX };
        let weights = match rows.is_empty() {
            true => self.weights().to_vec(),
            false => {
                climb(&FitWeights { rows, total }, self.weights().to_vec(), &stop, &())
                    .expect("every row is possible")
                    .model
            }
        };
        Ok(weighted(&weights, 1.0, |i| Ok(components[i].clone())).expect("components as they were"))
    }
}

/// The possible rows, under fixed components.
struct FitWeights {
    rows: Vec<Row>,
    /// The weight of all rows.
    total: f64,
}

struct Row {
    weight: f64,
    /// The largest log-probability that a component gives to the row.
    high: f64,
    /// The probability under each component, divided by the largest one.
    relative: Vec<f64>,
}

impl Steps<Vec<f64>> for FitWeights {
    type Counts = Vec<f64>;

    fn expect(&self, weights: &Vec<f64>) -> Result<Expected<Vec<f64>>, LearnError> {
        let mut counts = vec![0.0; weights.len()];
        let mut log_likelihood = 0.0;
        for row in &self.rows {
            let mixed: f64 = row.relative.iter().zip(weights).map(|(p, w)| p * w).sum();
            log_likelihood += row.weight * (row.high + mixed.ln());
            let scale = row.weight / mixed;
            for ((count, p), w) in counts.iter_mut().zip(&row.relative).zip(weights) {
                *count += scale * p * w;
            }
        }
        Ok(Expected { counts, log_likelihood, possible: self.total, impossible: 0.0, score: None })
    }

    fn fit(&self, _: &Vec<f64>, counts: Vec<f64>) -> Result<Vec<f64>, LearnError> {
        Ok(counts.into_iter().map(|count| count / self.total).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step on the way: the model is its number, and the likelihood comes nearer to 0 by half each time.
    struct Scored(&'static [f64]);

    impl Steps<usize> for Scored {
        type Counts = ();

        fn expect(&self, &step: &usize) -> Result<Expected<()>, LearnError> {
            let (log_likelihood, score) = (-2.0 * 0.5f64.powi(step as i32), self.0.get(step).copied());
            Ok(Expected { counts: (), log_likelihood, possible: 2.0, impossible: 1.0, score })
        }

        fn fit(&self, step: &usize, (): ()) -> Result<usize, LearnError> {
            Ok(step + 1)
        }
    }

    fn climbed(scores: &'static [f64], steps: usize, tolerance: f64, patience: usize) -> Climb<usize> {
        climb(&Scored(scores), 0, &Stop { steps, tolerance, patience }, &()).unwrap()
    }

    #[test]
    fn the_best_score_is_kept_and_patience_ends() {
        let scores = &[1.0, 3.0, 2.0, 4.0, 0.0, 4.0, 3.0, 9.0, 8.0];
        // The patience, the largest number of steps, the best step and the last one.
        for (patience, steps, best, last) in
            [(1, 8, 1, 2), (2, 8, 3, 5), (3, 8, 3, 6), (4, 8, 7, 8), (usize::MAX, 8, 7, 8), (9, 6, 3, 6), (9, 0, 0, 0)]
        {
            let found = climbed(scores, steps, 0.0, patience);
            assert_eq!((found.model, found.steps, found.score), (best, best, Some(scores[best])), "{patience} {steps}");
            assert_eq!((found.history.len(), found.impossible), (last + 1, 1.0), "{patience} {steps}");
        }
    }

    #[test]
    fn without_scores_the_last_step_is_kept() {
        let found = climbed(&[], 5, 0.0, 1);
        assert_eq!((found.model, found.steps, found.score), (5, 5, None));
        assert_eq!(found.history, [-1.0, -0.5, -0.25, -0.125, -0.0625, -0.03125]);
        assert_eq!(climbed(&[], 5, 0.2, 1).steps, 3, "a gain of an eighth is below the tolerance");
    }
}
