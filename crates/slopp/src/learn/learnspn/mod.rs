//! LearnSPN: Algorithm 1 of the paper (Gens and Domingos, ICML 2013).
//!
//! A sub-database is cut into independent sets of columns if there are any (a product), else into clusters of similar
//! rows (a sum), until one column or few records are left (a leaf). Where we depart from the original: clusters come
//! from hard expectation-maximisation with at most [`LearnSpn::max_clusters`] clusters, by default two, since deeper
//! sums do the rest (Vergari, Di Mauro and Esposito, ECML 2015); leaves are Chow-Liu trees by default (same source);
//! estimates are shrunk towards those of larger sub-databases instead of towards one half; and with validation
//! records sub-networks that do not pay are cut back to leaves. The values of a column with several stay together, and
//! every leaf gives it exactly one, so records with none or two are impossible; otherwise every world is possible.

mod cluster;
mod columns;
mod grow;
mod leaf;
mod prune;

use super::LearnError;
use super::error::check_records;
use super::structure::{Prior, Structure};
use super::task::{Learner, Task, VtreeUse};
use crate::data::{MAX_PAIR_VARIABLES, Records};
use crate::progress::Progress;
use crate::spn::Spn;

/// What stands where a sub-database is not cut further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaves {
    /// A Chow-Liu tree over the columns.
    #[default]
    ChowLiu,
    /// Every column for itself, as in the original.
    Independent,
}

/// LearnSPN, as a [`Learner`].
#[derive(Clone, Debug, PartialEq)]
pub struct LearnSpn {
    /// Two columns are dependent if their G statistic is above this: 3.8 is a p-value of 0.05, 6.6 of 0.01, 10.8 of
    /// 0.001 and 15.1 of 0.0001.
    pub independence: f64,
    /// The most clusters of one sum.
    pub max_clusters: usize,
    /// λ: a further cluster must raise the log-likelihood of the clusters by more than this for each column.
    pub cluster_penalty: f64,
    /// Sub-databases with fewer records become leaves.
    pub min_records: f64,
    /// What leaves are.
    pub leaves: Leaves,
    /// The weight of the prior in records: every estimate is shrunk towards that of a larger sub-database.
    pub pseudocount: f64,
    /// The largest number of sub-databases that are cut; those that come after become leaves.
    pub steps: usize,
    /// The seed of the clusters.
    pub seed: u64,
}

impl Default for LearnSpn {
    fn default() -> LearnSpn {
        LearnSpn {
            independence: 12.0,
            max_clusters: 2,
            cluster_penalty: 0.2,
            min_records: 50.0,
            leaves: Leaves::ChowLiu,
            pseudocount: 2.0,
            steps: 20_000,
            seed: 0,
        }
    }
}

impl LearnSpn {
    /// A small grid around the defaults, for [`tune`].
    pub fn grid() -> Vec<LearnSpn> {
        let mut grid = Vec::new();
        for independence in [4.0, 12.0, 25.0] {
            for min_records in [20.0, 100.0] {
                for pseudocount in [1.0, 4.0] {
                    grid.push(LearnSpn { independence, min_records, pseudocount, ..LearnSpn::default() });
                }
            }
        }
        grid
    }

    fn check(&self) -> Result<(), LearnError> {
        let fault = |name, value: String, expected: &'static str| {
            Err(LearnError::Setting { name, value, expected: expected.into() })
        };
        if self.max_clusters == 0 {
            return fault("max_clusters", "0".into(), "at least 1");
        }
        let numbers = [
            ("independence", self.independence),
            ("cluster_penalty", self.cluster_penalty),
            ("min_records", self.min_records),
        ];
        for (name, value) in numbers {
            if !(value.is_finite() && value >= 0.0) {
                return fault(name, value.to_string(), "a finite number of at least 0");
            }
        }
        if !(1e-6..=1e6).contains(&self.pseudocount) {
            return fault("pseudocount", self.pseudocount.to_string(), "between 1e-6 and 1e6");
        }
        Ok(())
    }
}

impl Learner for LearnSpn {
    fn name(&self) -> &'static str {
        "learnspn"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let leaves = match self.leaves {
            Leaves::ChowLiu => "chow-liu",
            Leaves::Independent => "independent",
        };
        vec![
            ("pseudocount", self.pseudocount.to_string()),
            ("independence", self.independence.to_string()),
            ("max_clusters", self.max_clusters.to_string()),
            ("cluster_penalty", self.cluster_penalty.to_string()),
            ("min_records", self.min_records.to_string()),
            ("leaves", leaves.to_owned()),
            ("steps", self.steps.to_string()),
        ]
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::None
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        task.without_vtree(self.name())?;
        let config = LearnSpn { seed: task.seed, ..self.clone() };
        Ok(Structure::new(learn(task.train, task.valid, &config, progress)?.spn, Prior::NONE))
    }
}

/// A learned network, and how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedSpn {
    /// The network; every world is possible that has one value for each column.
    pub spn: Spn,
    /// The settings it was learned with.
    pub config: LearnSpn,
    /// The average log-likelihood of the training records.
    pub train: f64,
    /// The average log-likelihood of the validation records, if there are any.
    pub valid: Option<f64>,
}

/// LearnSPN; with validation records, sub-networks that do not pay there are cut back to leaves.
///
/// Cost per level of the network: pairs of columns × records / 64, and cells × clusters × rounds of clustering. The
/// result depends on records, settings and seed, not on the number of threads.
///
/// ```
/// use slopp::learn::learnspn::{LearnSpn, learn};
/// let records = slopp::example::records();
/// let learned = learn(&records, None, &LearnSpn::default(), &())?;
/// assert!(learned.spn.log_probability(&[true, true, true, true])? > f64::NEG_INFINITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learn(
    train: &Records,
    valid: Option<&Records>,
    config: &LearnSpn,
    progress: &dyn Progress,
) -> Result<LearnedSpn, LearnError> {
    check(train, valid)?;
    config.check()?;
    let mut plan = grow::grow(train, config, progress);
    if let Some(valid) = valid.filter(|valid| !valid.is_empty()) {
        prune::prune(&mut plan, train.var_count(), valid)?;
    }
    let spn = plan.build(train.var_count(), false)?.spn;
    let fit = |records: &Records| spn.mean_log_likelihood(records).expect("same variables");
    let (train, valid) = (fit(train), valid.filter(|valid| !valid.is_empty()).map(fit));
    Ok(LearnedSpn { spn, config: config.clone(), train, valid })
}

/// Learns with each of several settings and keeps what fits the validation records best; of equals the first.
///
/// The budget is the number of settings. Progress counts them.
pub fn tune(
    train: &Records,
    valid: &Records,
    configs: &[LearnSpn],
    progress: &dyn Progress,
) -> Result<LearnedSpn, LearnError> {
    configs.iter().try_for_each(LearnSpn::check)?;
    if valid.is_empty() {
        return Err(LearnError::NoRecords);
    }
    progress.begin("settings of LearnSPN", configs.len() as u64);
    let mut best: Option<LearnedSpn> = None;
    for config in configs {
        let learned = learn(train, Some(valid), config, &())?;
        progress.advance(1);
        if best.as_ref().is_none_or(|best| learned.valid > best.valid) {
            best = Some(learned);
        }
    }
    best.ok_or(LearnError::Setting { name: "configs", value: "empty".into(), expected: "at least one".into() })
}

fn check(train: &Records, valid: Option<&Records>) -> Result<(), LearnError> {
    check_records(train)?;
    let variables = train.var_count();
    if variables > MAX_PAIR_VARIABLES {
        return Err(LearnError::TooManyPairs { variables });
    }
    if let Some(valid) = valid.filter(|valid| valid.var_count() != variables) {
        return Err(LearnError::WrongValidation { valid: valid.var_count(), train: variables });
    }
    Ok(())
}
