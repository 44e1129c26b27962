//! SLoPP as published, with k-means or an explicit partition as CLUSTER.
//!
//! Each prime is a *relaxation* of its cluster, and relaxations may overlap. So the result is a [`Circuit`] whose
//! primes may overlap. The paper's Proposition 1 claims that they are exclusive; the tests hold the smallest
//! counterexamples.

use super::LearnError;
use super::baseline::USUAL_PSEUDOCOUNT;
use super::error::{check, check_range};
use super::grow::{Database, finished, grow};
use super::partition::{Partition, Published, Variant};
use super::structure::{Prior, Structure};
use super::task::{Learner, Task};
use super::vtree::VtreeMethod;
use crate::circuit::{Circuit, Smoothing};
use crate::model::Certified;
use crate::progress::Progress;

/// SLoPP as published. The paper's world is closed.
///
/// ```
/// use slopp::learn::{SloppKmeans, Task, Variant};
/// let records = slopp::example::records();
/// let model = Task::closed(&records).learn(&SloppKmeans::new(Variant::Notebook, 2, 2), &())?.model;
/// let circuit = model.circuit().expect("a circuit");
/// let overlaps = circuit.overlaps(10, &slopp::logic::Limits::default());
/// println!("{} nodes, primes overlap in {} sums", circuit.nodes().len(), overlaps.sums);
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SloppKmeans {
    /// Which reading of the paper.
    pub variant: Variant,
    /// The number of clusters.
    pub k: usize,
    /// The smallest number of records that are clustered.
    pub d: usize,
    /// The weight of the prior in records; 2 unless given, none in a closed world, as in the paper.
    pub pseudocount: Option<f64>,
    /// Clusters given by hand, which take precedence over k-means.
    pub partition: Partition,
}

impl SloppKmeans {
    /// The paper's settings for a variant, `k` and `d`.
    pub fn new(variant: Variant, k: usize, d: usize) -> SloppKmeans {
        SloppKmeans { variant, k, d, pseudocount: None, partition: Partition::new() }
    }
}

impl Learner for SloppKmeans {
    fn name(&self) -> &'static str {
        "slopp-kmeans"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let variant = match self.variant {
            Variant::Algorithm2 => "algorithm2",
            Variant::Notebook => "notebook",
        };
        vec![("variant", variant.to_owned()), ("k", self.k.to_string()), ("d", self.d.to_string())]
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        let weight = task.support.weight(self.pseudocount, USUAL_PSEUDOCOUNT);
        let circuit = Certified::new(self.circuit(task, progress)?, &task.support.limits);
        Ok(Structure::keeping_world(circuit, Prior::new(Some(weight), weight)))
    }
}

impl SloppKmeans {
    fn circuit(&self, task: &Task, progress: &dyn Progress) -> Result<Circuit, LearnError> {
        let (records, vtree) = (task.train, task.vtree_or(VtreeMethod::ChowLiu, progress)?);
        check(records, &vtree)?;
        check_range("k", self.k, 1..=usize::MAX)?;
        let weight = task.support.weight(self.pseudocount, USUAL_PSEUDOCOUNT);
        task.support.check_weight(weight)?;
        let database = Database::new(records, vtree);
        let SloppKmeans { variant, k, d, .. } = *self;
        let mut cluster = Published { variant, k, d, partition: &self.partition };
        let is_closed = task.support.world.is_all_closed();
        let (builder, root) = grow(&database, &mut cluster, is_closed, task.seed, progress)?;
        Ok(finished(builder, root, is_closed, &Smoothing::marginal(weight, records))?)
    }
}
