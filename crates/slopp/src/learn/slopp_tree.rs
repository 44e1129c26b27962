//! SLoPP with a separating tree as CLUSTER: a certified PSDD on any vtree, by construction and by certificate.

use super::LearnError;
use super::baseline::USUAL_PSEUDOCOUNT;
use super::error::{check, check_numbers, check_range, in_digits};
use super::grow::{Database, finished, grow};
use super::separate::{Limits, Separating};
use super::structure::{Prior, Structure};
use super::task::{Learner, Task};
use super::vtree::{VtreeMethod, pair_information};
use crate::circuit::{Psdd, Smoothing};
use crate::progress::Progress;
use crate::var::Var;

/// SLoPP with separating trees as CLUSTER: a certified PSDD on any vtree.
///
/// Every training record is possible; in an open world, every world is possible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SloppTree {
    /// The largest number of clusters, which are the leaves of a decision tree.
    pub max_clusters: usize,
    /// The smallest number of records that may be clustered.
    pub min_records: f64,
    /// The gain that a cluster needs to be split off, in units of `½ ln N` nats.
    pub split_penalty: f64,
    /// The additional gain for each right parameter that the split doubles, in nats.
    pub parameter_penalty: f64,
    /// The weight of the prior in records; zero is maximum likelihood and needs a closed world. 2 unless given, none in
    /// a closed world.
    pub pseudocount: Option<f64>,
}

impl Default for SloppTree {
    fn default() -> SloppTree {
        SloppTree { max_clusters: 6, min_records: 20.0, split_penalty: 1.0, parameter_penalty: 1.2, pseudocount: None }
    }
}

impl Learner for SloppTree {
    fn name(&self) -> &'static str {
        "slopp-tree"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("max_clusters", self.max_clusters.to_string()),
            ("min_records", in_digits(self.min_records)),
            ("split_penalty", in_digits(self.split_penalty)),
            ("parameter_penalty", in_digits(self.parameter_penalty)),
        ]
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        let weight = task.support.weight(self.pseudocount, USUAL_PSEUDOCOUNT);
        task.support.check_weight(weight)?;
        let psdd = self.psdd(task, weight, progress)?;
        Ok(Structure::keeping_world(psdd, Prior::new(Some(weight), weight)))
    }
}

impl SloppTree {
    fn psdd(&self, task: &Task, pseudocount: f64, progress: &dyn Progress) -> Result<Psdd, LearnError> {
        let (records, vtree) = (task.train, task.vtree_or(VtreeMethod::ChowLiu, progress)?);
        check(records, &vtree)?;
        check_range("max_clusters", self.max_clusters, 1..=usize::MAX)?;
        check_numbers([
            ("min_records", self.min_records),
            ("split_penalty", self.split_penalty),
            ("parameter_penalty", self.parameter_penalty),
        ])?;
        let information = pair_information(records)?;
        let database = Database::new(records, vtree);
        let limits = Limits {
            leaves: self.max_clusters,
            min_records: self.min_records,
            gain: self.split_penalty * 0.5 * records.total().ln().max(1.0),
            gain_per_parameter: self.parameter_penalty,
        };
        let mutual_information = |a: Var, b: Var| information.at(a.index(), b.index());
        let mut cluster = Separating::new(&database, limits, &mutual_information);
        let is_closed = task.support.world.is_all_closed();
        let (builder, root) = grow(&database, &mut cluster, is_closed, 0, progress)?;
        let smoothing = Smoothing::marginal(pseudocount, records);
        let circuit = finished(builder, root, is_closed, &smoothing)?.merge_equal_nodes()?;
        // Nodes that were joined add their counts, which changes their parameters.
        let circuit = match circuit.counts().cloned() {
            Some(counts) => circuit.with_estimates(counts, &smoothing)?,
            None => circuit,
        };
        Ok(circuit.certify(&task.support.limits)?)
    }
}
