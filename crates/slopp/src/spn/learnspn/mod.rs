//! LearnSPN: Algorithm 1 of the paper (Gens and Domingos, ICML 2013).
//!
//! A sub-database is cut into independent sets of columns if there are any (a product), else into clusters of similar
//! rows (a sum), until one column or few records are left (a leaf). Differences from the original:
//!
//! - Clusters come from hard expectation-maximisation with at most [`LearnSpn::max_clusters`] clusters, by default two,
//!   since deeper sums do the rest (Vergari, Di Mauro and Esposito, ECML 2015).
//! - Leaves are Chow-Liu trees by default (same source).
//! - Estimates are shrunk towards those of larger sub-databases instead of towards one half.
//! - With validation records, sub-networks that do not pay are cut back to leaves.
//! - The values of one column stay together: tests are of whole columns, clusters count a column once, however many
//!   values it has, and every leaf gives the column exactly one value. Worlds with none or two are impossible, all others
//!   are possible.

mod cluster;
mod grow;
mod independence;
mod leaf;
mod prune;

use super::{Spn, SpnError};
use crate::data::Records;
use crate::progress::Progress;

/// The model of a sub-database that is not cut further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaves {
    /// A Chow-Liu tree over the columns.
    #[default]
    ChowLiu,
    /// Independent columns, as in the original.
    Independent,
}

/// LearnSPN, as a [`Learner`](crate::learn::Learner).
///
/// With validation records, sub-networks that do not pay there are cut back to leaves. Cost per level of the network:
/// pairs of columns × records / 64, and cells × clusters × rounds of clustering. The result depends on records,
/// settings and seed, not on the number of threads.
///
/// ```
/// use slopp::learn::{LearnSpn, Task};
/// let records = slopp::example::records();
/// let model = Task::new(&records).learn(&LearnSpn { min_records: 2.0, ..LearnSpn::default() }, &())?.model;
/// assert!(matches!(model.kind, slopp::ModelKind::Spn(_)));
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LearnSpn {
    /// Two columns are dependent if their G statistic is above this: 3.8 is a p-value of 0.05, 6.6 of 0.01, 10.8 of
    /// 0.001 and 15.1 of 0.0001. Where columns have several values, the limit is the G statistic with the same p-value.
    pub independence: f64,
    /// The largest number of clusters of one sum.
    pub max_clusters: usize,
    /// λ: a further cluster must raise the log-likelihood of the clusters by more than this for each column.
    pub cluster_penalty: f64,
    /// Sub-databases with fewer records become leaves.
    pub min_records: f64,
    /// The kind of leaves.
    pub leaves: Leaves,
    /// The weight of the prior in records: every estimate is shrunk towards that of a larger sub-database.
    pub pseudocount: f64,
    /// The largest number of sub-databases that are cut; the others become leaves.
    pub steps: usize,
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
        }
    }
}

impl LearnSpn {
    /// A small grid around the defaults.
    pub(crate) fn grid() -> Vec<LearnSpn> {
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

    /// Learns a network from complete records; settings must be in range.
    pub(crate) fn grow(
        &self,
        train: &Records,
        valid: Option<&Records>,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Spn, SpnError> {
        let mut plan = grow::grow(train, self, seed, progress);
        if let Some(valid) = valid.filter(|valid| !valid.is_empty()) {
            prune::prune(&mut plan, train.var_count(), valid)?;
        }
        Ok(plan.build(train.var_count(), false)?.spn)
    }
}
