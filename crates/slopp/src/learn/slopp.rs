//! SLoPP: structural learning of PSDDs under a partial closed-world assumption.
//!
//! [`certified`] is our variant, whose CLUSTER is a separating tree: a [`Psdd`] on any vtree, by construction and by
//! certificate. [`published`] is the paper's, whose CLUSTER is k-means or an explicit partition: each prime is a
//! *relaxation* of its cluster, two relaxations may overlap, and so the result is a [`Circuit`] that comes with a
//! report of its overlaps. The paper's Proposition 1 claims exclusive primes for it; the tests hold the smallest
//! counterexamples.

use super::grow::{Database, grow};
use super::learner::{Learner, Outcome, Task};
use super::partition::Published;
use super::separate::{Limits, Separating};
use super::vtree::{VtreeMethod, pair_information};
use super::{LearnError, Partition, World, check, finish};
use crate::circuit::{Circuit, Overlaps, Psdd, Smoothing};
use crate::data::Records;
use crate::model::Certified;
use crate::progress::Progress;
use crate::var::Var;
use crate::vtree::Vtree;
use std::sync::Arc;

/// Settings of [`certified`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// What is possible beyond the records.
    pub world: World,
    /// The largest number of clusters, which are the leaves of a decision tree.
    pub max_clusters: usize,
    /// The smallest number of records that may be clustered.
    pub min_records: usize,
    /// What a cluster must gain, in units of `½ ln N` nats, to be split off.
    pub split_penalty: f64,
    /// The same for each parameter that the split doubles on the right side, in nats.
    pub parameter_penalty: f64,
    /// The weight of the prior in records; zero is maximum likelihood and needs a closed world.
    pub pseudocount: f64,
}

impl Config {
    /// The defaults for a world.
    pub fn new(world: World) -> Config {
        Config {
            world,
            max_clusters: 6,
            min_records: 20,
            split_penalty: 1.0,
            parameter_penalty: 1.2,
            pseudocount: if world == World::Open { 2.0 } else { 0.0 },
        }
    }

    fn check(&self) -> Result<(), LearnError> {
        let fault = |name, value: String, expected| Err(LearnError::Setting { name, value, expected });
        if self.max_clusters == 0 {
            return fault("max_clusters", "0".into(), "at least 1");
        }
        for (name, value) in [("split_penalty", self.split_penalty), ("parameter_penalty", self.parameter_penalty)] {
            if !(value.is_finite() && value >= 0.0) {
                return fault(name, value.to_string(), "a finite number of at least 0");
            }
        }
        check_pseudocount(self.pseudocount, self.world)
    }
}

impl Learner for Config {
    fn name(&self) -> &'static str {
        "slopp-tree"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("world", self.world.name().to_owned()),
            ("pseudocount", self.pseudocount.to_string()),
            ("max_clusters", self.max_clusters.to_string()),
            ("min_records", self.min_records.to_string()),
            ("split_penalty", self.split_penalty.to_string()),
            ("parameter_penalty", self.parameter_penalty.to_string()),
        ]
    }

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let vtree = task.vtree_or(VtreeMethod::ChowLiu, progress)?;
        Ok(Outcome::new(certified(task.train, vtree, self, progress)?, self.pseudocount))
    }
}

pub(super) fn check_pseudocount(pseudocount: f64, world: World) -> Result<(), LearnError> {
    let expected = match world {
        World::Open => "a finite number above 0 in an open world, or nothing unseen would be possible",
        World::Closed => "a finite number of at least 0",
    };
    let fits = pseudocount.is_finite() && (pseudocount > 0.0 || pseudocount == 0.0 && world == World::Closed);
    let value = pseudocount.to_string();
    if fits { Ok(()) } else { Err(LearnError::Setting { name: "pseudocount", value, expected }) }
}

/// SLoPP with separating trees as CLUSTER: a certified PSDD on any vtree.
///
/// Every training record is possible; in an open world every world is.
pub fn certified(
    records: &Records,
    vtree: Arc<Vtree>,
    config: &Config,
    progress: &dyn Progress,
) -> Result<Psdd, LearnError> {
    check(records, &vtree)?;
    config.check()?;
    let information = pair_information(records)?;
    let database = Database::new(records, vtree);
    let limits = Limits {
        leaves: config.max_clusters,
        min_records: config.min_records as f64,
        gain: config.split_penalty * 0.5 * records.total().ln().max(1.0),
        gain_per_parameter: config.parameter_penalty,
    };
    let mutual_information = |a: Var, b: Var| information.at(a.index(), b.index());
    let mut cluster = Separating::new(&database, limits, &mutual_information);
    let (builder, root) = grow(&database, &mut cluster, config.world, 0, progress)?;
    let circuit = finish(builder, root, records, config.world, config.pseudocount)?.shared()?;
    // Nodes that became one have their counts together, and the parameters that follow from them.
    let circuit = match circuit.counts().cloned() {
        Some(counts) => circuit.with_estimates(counts, &Smoothing::marginal(config.pseudocount, records))?,
        None => circuit,
    };
    Ok(circuit.certify()?)
}

/// Which reading of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The pseudo-code: k-means wherever at least `d` records are left.
    Algorithm2,
    /// The authors' code: a single left variable is always split by value, otherwise k-means on more than `d` records.
    Notebook,
}

/// Settings of [`published`].
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedConfig {
    /// Which reading of the paper.
    pub variant: Variant,
    /// The number of clusters.
    pub k: usize,
    /// The number of records from which a sub-database is clustered.
    pub d: usize,
    /// What is possible beyond the records; the paper's world is closed.
    pub world: World,
    /// The weight of the prior in records; the paper has zero.
    pub pseudocount: f64,
    /// The seed of k-means++.
    pub seed: u64,
    /// Clusters given by hand, which take precedence over k-means.
    pub partition: Partition,
}

impl PublishedConfig {
    /// The paper's settings for a variant, `k` and `d`.
    pub fn new(variant: Variant, k: usize, d: usize) -> PublishedConfig {
        PublishedConfig { variant, k, d, world: World::Closed, pseudocount: 0.0, seed: 0, partition: Partition::new() }
    }
}

impl Learner for PublishedConfig {
    fn name(&self) -> &'static str {
        "slopp-kmeans"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        let variant = match self.variant {
            Variant::Algorithm2 => "algorithm2",
            Variant::Notebook => "notebook",
        };
        vec![
            ("world", self.world.name().to_owned()),
            ("pseudocount", self.pseudocount.to_string()),
            ("variant", variant.to_owned()),
            ("k", self.k.to_string()),
            ("d", self.d.to_string()),
        ]
    }

    fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Outcome, LearnError> {
        let vtree = task.vtree_or(VtreeMethod::ChowLiu, progress)?;
        let config = PublishedConfig { seed: task.seed, ..self.clone() };
        let (circuit, _) = published(task.train, vtree, &config, progress)?;
        Ok(Outcome::new(Certified::new(circuit), self.pseudocount))
    }
}

/// SLoPP as published: a circuit, and where its primes overlap.
pub fn published(
    records: &Records,
    vtree: Arc<Vtree>,
    config: &PublishedConfig,
    progress: &dyn Progress,
) -> Result<(Circuit, Overlaps), LearnError> {
    check(records, &vtree)?;
    if config.k == 0 {
        return Err(LearnError::Setting { name: "k", value: "0".into(), expected: "at least 1" });
    }
    check_pseudocount(config.pseudocount, config.world)?;
    let database = Database::new(records, vtree);
    let PublishedConfig { variant, k, d, world, seed, .. } = *config;
    let mut cluster = Published { variant, k, d, partition: &config.partition };
    let (builder, root) = grow(&database, &mut cluster, world, seed, progress)?;
    let circuit = finish(builder, root, records, config.world, config.pseudocount)?;
    let overlaps = circuit.overlaps(10);
    Ok((circuit, overlaps))
}
