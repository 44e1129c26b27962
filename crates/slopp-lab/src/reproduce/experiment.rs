//! Tables 3 and 4: SLoPP as published over several seeds, with the rows it is compared with.

use super::paper::{Benchmark, Slopp};
use crate::datasets::Parts;
use rayon::prelude::*;
use slopp::infer::Score;
use slopp::learn::VtreeMethod;
use slopp::learn::{ChowLiu, Factorised, Learner, SloppKmeans, SloppTree, Strudel, Support, Task, Variant};
use slopp::logic::Limits;
use slopp::{Circuit, Model, Progress, Psdd, Records, Vtree};
use slopp_cli::{Bar, Error};
use std::sync::Arc;

/// The weight of the prior, in records, of the trained baselines.
pub(super) const PSEUDOCOUNT: f64 = 1.0;

/// One circuit, learned with one seed.
pub(super) struct Run {
    pub(super) seed: u64,
    /// |C|.
    pub(super) size: f64,
    /// Impossible test records, and the log-likelihood of the others as the mixture that the circuit is.
    pub(super) score: Score,
    /// What the paper's library computes over the same records.
    pub(super) flow: f64,
    /// Sums with overlapping primes.
    pub(super) overlaps: f64,
    /// The share of possible test records with more than one derivation.
    pub(super) several: f64,
    /// The log-likelihood per record over all test records, mixed with a Chow-Liu tree.
    pub(super) mixed: f64,
    /// The weight of the Chow-Liu tree in it.
    pub(super) weight: f64,
    /// The log-likelihood per record over all test records of the same learner in an open world.
    pub(super) open: f64,
    /// Whether every training record is possible.
    pub(super) relaxes: bool,
    /// How the Chow-Liu tree finds the records that this circuit drops and those that it keeps, per record.
    pub(super) dropped_and_kept: [f64; 2],
}

/// A row of SLoPP: the paper's, and ours over several seeds.
pub(super) struct Setting {
    pub(super) paper: Slopp,
    pub(super) runs: Vec<Run>,
}

/// A certified model next to them, which needs no seeds.
pub(super) struct Reference {
    pub(super) name: &'static str,
    pub(super) size: f64,
    pub(super) score: Score,
    /// The log-likelihood per record over all test records, mixed with a Chow-Liu tree where some are impossible.
    pub(super) all: f64,
    /// The weight of the tree in it; zero if all test records are possible anyway.
    pub(super) weight: f64,
}

/// Everything about one dataset.
pub(super) struct Experiment {
    pub(super) benchmark: &'static Benchmark,
    pub(super) variables: usize,
    /// Records for training, validation and test.
    pub(super) records: [f64; 3],
    pub(super) vtree: String,
    pub(super) settings: Vec<Setting>,
    pub(super) references: Vec<Reference>,
}

impl Experiment {
    /// Learns everything: the same for any number of threads.
    pub(super) fn new(
        benchmark: &'static Benchmark,
        parts: &Parts,
        seeds: u64,
        bar: &Bar,
    ) -> Result<Experiment, Error> {
        let vtree = Arc::new(VtreeMethod::ChowLiu.build(&parts.train, 0)?);
        let tree = Tree::new(parts)?;
        let jobs: Vec<(Slopp, u64)> =
            benchmark.slopp.iter().flat_map(|&row| (0..seeds).map(move |seed| (row, seed))).collect();
        bar.begin(&format!("{}: {} circuits", benchmark.name, jobs.len()), jobs.len() as u64);
        let runs: Vec<Result<Run, Error>> = jobs
            .into_par_iter()
            .map(|(row, seed)| {
                let run = Run::new(row, seed, parts, &vtree, &tree);
                bar.advance(1);
                run
            })
            .collect();
        let mut runs = runs.into_iter();
        let mut settings = Vec::new();
        for &paper in &benchmark.slopp {
            settings.push(Setting { paper, runs: runs.by_ref().take(seeds as usize).collect::<Result<_, _>>()? });
        }
        Ok(Experiment {
            benchmark,
            variables: parts.train.var_count(),
            records: [&parts.train, &parts.valid, &parts.test].map(Records::total),
            vtree: vtree.to_string(),
            settings,
            references: references(parts, &vtree, &tree)?,
        })
    }

    /// Whether this is the dataset of Table 2.
    pub(super) fn is_that_of_the_paper(&self) -> bool {
        let Benchmark { train, test, variables, .. } = *self.benchmark;
        (self.records[0], self.records[2], self.variables) == (train, test, variables)
    }
}

impl Run {
    fn new(row: Slopp, seed: u64, parts: &Parts, vtree: &Arc<Vtree>, tree: &Tree) -> Result<Run, Error> {
        let paper = SloppKmeans::new(Variant::Notebook, row.k, row.d);
        let task = Task { vtree: Some(vtree), seed, ..Task::closed(&parts.train) };
        let learned = task.learn(&paper, &())?.model;
        let circuit = learned.circuit().expect("SLoPP makes a circuit");
        let overlaps = circuit.overlaps(10, &Limits::default());
        let log_likelihoods = circuit.log_likelihoods(&parts.test)?;
        let flows = circuit.flow_log_values(&parts.test)?;
        let score = Score::new(&parts.test, &log_likelihoods);
        // With one derivation the two are equal; with two, of probabilities a and b, flow has ab where the mixture has
        // a + b, which is at least twice as much.
        let has_several = |i: &usize| flows[*i] < log_likelihoods[*i] - 0.5 * std::f64::consts::LN_2;
        let several: f64 = (0..flows.len()).filter(has_several).map(|i| parts.test.weights()[i]).sum();
        let (mixed, weight) = tree.mixed(&circuit.log_likelihoods(&parts.valid)?, &log_likelihoods, parts);
        let open = SloppKmeans { pseudocount: Some(PSEUDOCOUNT), ..paper };
        let open = Task { support: Support::open(), ..task }.learn(&open, &())?.model;
        let open = Score::new(&parts.test, &open.distribution().log_likelihoods(&parts.test)?);
        let by_tree = |dropped: bool| {
            let rows = (0..flows.len()).filter(|&i| (log_likelihoods[i] == f64::NEG_INFINITY) == dropped);
            mean(rows.map(|i| (tree.test[i], parts.test.weights()[i])))
        };
        Ok(Run {
            seed,
            size: circuit.stats().size_paper as f64,
            flow: Score::new(&parts.test, &flows).log_likelihood,
            overlaps: overlaps.sums as f64,
            several: several / (score.records - score.impossible),
            mixed,
            weight,
            open: open.per_record().unwrap_or(f64::NEG_INFINITY),
            relaxes: circuit.entailed_by(&parts.train)?,
            dropped_and_kept: [by_tree(true), by_tree(false)],
            score,
        })
    }
}

impl Setting {
    /// What the runs have of something: smallest, mean, largest.
    pub(super) fn spread(&self, of: impl Fn(&Run) -> f64) -> Spread {
        Spread::of(self.runs.iter().map(of))
    }
}

/// Numbers over several seeds.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    pub(super) low: f64,
    pub(super) mean: f64,
    pub(super) high: f64,
}

impl Spread {
    fn of(numbers: impl Iterator<Item = f64>) -> Spread {
        let numbers: Vec<f64> = numbers.collect();
        let (low, high) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &x| (a.min(x), b.max(x)));
        Spread { low, mean: numbers.iter().sum::<f64>() / numbers.len() as f64, high }
    }

    /// Whether a number is between the smallest and the largest.
    pub(super) fn holds(self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }
}

/// The Chow-Liu tree, which gives full support to what is mixed with it.
struct Tree {
    psdd: Psdd,
    valid: Vec<f64>,
    test: Vec<f64>,
}

impl Tree {
    fn new(parts: &Parts) -> Result<Tree, Error> {
        let psdd = psdd(&Task::new(&parts.train), &ChowLiu { pseudocount: Some(PSEUDOCOUNT) })?;
        let [valid, test] = [&parts.valid, &parts.test].map(|records| psdd.log_likelihoods(records));
        Ok(Tree { valid: valid?, test: test?, psdd })
    }

    /// The mean over all test records of the mixture with the tree, and the weight of the tree that is best on the
    /// validation records.
    fn mixed(&self, valid: &[f64], test: &[f64], parts: &Parts) -> (f64, f64) {
        let weight = best_weight(valid, &self.valid, parts.valid.weights());
        let both = |(&a, &b): (&f64, &f64)| log_add((1.0 - weight).ln() + a, weight.ln() + b);
        let mixed = test.iter().zip(&self.test).map(both);
        (mean(mixed.zip(parts.test.weights().iter().copied())), weight)
    }
}

/// `ln(exp(a) + exp(b))`.
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The weight `w` that maximises `Σ ln((1−w)·exp(a) + w·exp(b))`, which is concave: where its slope changes its sign.
fn best_weight(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    // Never nothing: a test record may be impossible where no validation record is.
    let (mut low, mut high) = (1e-6, 1.0);
    for _ in 0..50 {
        let w = 0.5 * (low + high);
        let slope = |i: usize| {
            let ratio = (a[i] - b[i]).min(600.0).exp();
            weights[i] * (1.0 - ratio) / ((1.0 - w) * ratio + w)
        };
        match (0..a.len()).map(slope).sum::<f64>() > 0.0 {
            true => low = w,
            false => high = w,
        }
    }
    0.5 * (low + high)
}

fn mean(weighted: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, total) = weighted.fold((0.0, 0.0), |(sum, total), (x, weight)| (sum + weight * x, total + weight));
    sum / total
}

fn psdd(task: &Task, learner: &dyn Learner) -> Result<Psdd, Error> {
    Ok(task.learn(learner, &())?.model.into_psdd().expect("the learner makes PSDDs"))
}

fn references(parts: &Parts, vtree: &Arc<Vtree>, tree: &Tree) -> Result<Vec<Reference>, Error> {
    let task = Task { vtree: Some(vtree), ..Task::new(&parts.train) };
    let factorised = psdd(&task, &Factorised { pseudocount: Some(PSEUDOCOUNT) })?;
    let closed = psdd(&Task { support: Support::closed(), ..task }, &SloppTree::default())?;
    let open = psdd(&task, &SloppTree::default())?;
    let start = Model::new(parts.train.names().clone(), tree.psdd.clone());
    let refining = Task { start: Some(&start), valid: Some(&parts.valid), ..Task::new(&parts.train) };
    let strudel = psdd(&refining, &Strudel::default())?;
    let models = [
        ("factorised, trained", factorised),
        ("Chow-Liu tree", tree.psdd.clone()),
        ("Strudel, our own", strudel),
        ("certified SLoPP, closed world", closed),
        ("certified SLoPP, open world", open),
    ];
    let reference = |(name, psdd): (&'static str, Psdd)| -> Result<Reference, Error> {
        let test = psdd.log_likelihoods(&parts.test)?;
        let score = Score::new(&parts.test, &test);
        let (all, weight) = match score.per_record() {
            Some(all) => (all, 0.0),
            None => tree.mixed(&psdd.log_likelihoods(&parts.valid)?, &test, parts),
        };
        Ok(Reference { name, size: Circuit::stats(&psdd).size_paper as f64, score, all, weight })
    };
    models.into_iter().map(reference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_weight_is_where_the_likelihood_is_highest() {
        let (a, b) = ([-1.0f64, -2.0, f64::NEG_INFINITY, -0.5], [-2.0f64, -1.0, -3.0, -4.0]);
        let weights = [3.0, 1.0, 1.0, 2.0];
        let value =
            |w: f64| -> f64 { (0..4).map(|i| weights[i] * ((1.0 - w) * a[i].exp() + w * b[i].exp()).ln()).sum() };
        let best = (1..1000).map(|i| f64::from(i) / 1000.0).max_by(|x, y| value(*x).total_cmp(&value(*y))).unwrap();
        assert!((best_weight(&a, &b, &weights) - best).abs() < 2e-3);
    }

    #[test]
    fn a_weight_is_never_nothing() {
        assert!(best_weight(&[-1.0, -1.0], &[-5.0, -5.0], &[1.0, 1.0]) > 0.0);
        assert!(best_weight(&[-900.0], &[-1.0], &[1.0]) > 0.999);
        assert!(best_weight(&[-1.0], &[-900.0], &[1.0]) < 1e-5);
    }
}
