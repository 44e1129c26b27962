//! How good a learned base is: precision and recall against a truth that is known, by exact model counting.
//!
//! `cargo xtask bench base > docs/results/base.md` writes the page.

use slopp::ModelKind;
use slopp::example::Truth;
use slopp::infer::Evidence;
use slopp::learn::{Learner, Slopp, SloppKmeans, SloppTree, Task, Variant};
use slopp::logic::{Limits, Manager};
use slopp::{Certified, Deterministic};

/// Numbers of records.
const RECORDS: [usize; 5] = [100, 300, 1000, 3000, 10_000];
/// Every number is the mean over these.
const SEEDS: [u64; 3] = [1, 2, 3];

const PAGE: &str = "\
# How good is the learned base?

A closed-world learner says what is possible. Here the truth is known: `slopp data generate` knows every possible world
and its probability. The worlds that a learned base allows are counted exactly and looked at one by one; nothing is
sampled. Learners have their default settings in a closed world; every number is the mean over three sets of records.

- *allowed*: how many worlds the base allows
- *precision*: how many of them are truly possible
- *recall*: how many of the truly possible worlds are allowed
- *mass*: the probability that a new record is possible under the base, which is recall with every world weighed by how
  likely it is

Precision and recall pull against each other: a base that allows only the records seen has precision 1, one that allows
everything has recall 1. `cargo xtask bench base` makes this page again.
";

/// Writes the page.
pub(crate) fn measure() {
    println!("{PAGE}");
    let rankings = Truth::rankings(4, 0.5).expect("four items can be ranked");
    for (title, truth) in [("Configurations", Truth::configurations()), ("Rankings of four items", rankings)] {
        let (variables, possible) = (truth.names().len(), truth.count());
        println!("## {title}: {variables} variables, {possible} possible worlds\n");
        println!("| records | learner | allowed | precision | recall | mass |\n|---:|---|---:|---:|---:|---:|");
        for records in RECORDS {
            for learner in learners() {
                let found: Vec<Quality> = SEEDS.iter().map(|&seed| quality(&truth, records, &*learner, seed)).collect();
                let mean = |part: fn(&Quality) -> f64| found.iter().map(part).sum::<f64>() / found.len() as f64;
                println!(
                    "| {records} | {} | {:.0} | {:.4} | {:.4} | {:.4} |",
                    learner.name(),
                    mean(|q| q.allowed),
                    mean(|q| q.right / q.allowed),
                    mean(|q| q.right / q.possible),
                    mean(|q| q.mass),
                );
            }
        }
        println!();
    }
}

fn learners() -> [Box<dyn Learner>; 3] {
    [Box::new(SloppKmeans::new(Variant::Notebook, 3, 20)), Box::new(SloppTree::default()), Box::new(Slopp::default())]
}

/// A base next to the truth.
struct Quality {
    allowed: f64,
    possible: f64,
    /// Allowed and possible.
    right: f64,
    mass: f64,
}

fn quality(truth: &Truth, records: usize, learner: &dyn Learner, seed: u64) -> Quality {
    let records = truth.sample(records, seed);
    let task = Task { seed, ..Task::closed(&records) };
    let ModelKind::Circuit(circuit) = task.learn(learner, &()).expect("records can be learned from").model.kind else {
        unreachable!("these learners make circuits");
    };
    let mut quality = Quality {
        allowed: 0.0,
        possible: truth.count().to_string().parse().unwrap_or(f64::NAN),
        right: 0.0,
        mass: 0.0,
    };
    let base = base_of(&circuit);
    for world in base.worlds(&Evidence::none(base.var_count())).expect("no evidence fits any circuit") {
        quality.allowed += 1.0;
        if truth.is_possible(&world) {
            quality.right += 1.0;
            quality.mass += truth.log_probability(&world).exp();
        }
    }
    assert_eq!(quality.allowed.to_string(), base.model_count().to_string(), "enumeration and counting agree");
    quality
}

/// The worlds of a circuit, each with one derivation: a mixture derives some in several ways, its diagram in one.
fn base_of(circuit: &Certified) -> Deterministic {
    if let Ok(circuit) = circuit.deterministic() {
        return circuit.clone();
    }
    let mut manager = Manager::new(circuit.vtree().clone(), Limits::default());
    let support = manager.support_of(circuit, |var| var).expect("a base of a few dozen variables fits in memory");
    let uniform = manager.sdd(support).to_circuit().expect("something is possible");
    uniform.certify_deterministic(&Limits::default()).expect("a diagram is deterministic")
}
