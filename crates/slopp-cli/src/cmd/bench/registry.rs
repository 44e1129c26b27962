//! The learners of the benchmark, one entry each.
//!
//! To add one: an entry in [`ALL`] and a function that offers [`Best`] a model for every setting of its grid.

use super::learner::{Best, Chosen, Learner, Task};
use crate::error::Error;
use serde_json::json;
use slopp::circuit::Smoothing;
use slopp::learn::refine::{LearnPsddConfig, learn_psdd};
use slopp::learn::slopp::{Config, PublishedConfig, Variant, certified, published};
use slopp::learn::vtree::VtreeMethod;
use slopp::learn::{World, baseline, learnspn, merged};
use slopp::{Certified, Psdd};

/// The number of clusters and the smallest database that is clustered, as in the paper's experiments.
const PAPER: (usize, usize) = (3, 20);

const PSEUDOCOUNTS: &[f64] = &[0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0];

/// All learners, in the order they run.
pub(super) const ALL: &[Learner] = &[
    Learner {
        name: "factorised",
        fixed: || json!({ "world": "open", "vtree": "balanced" }),
        grid: &[("pseudocount", PSEUDOCOUNTS)],
        learn: factorised,
    },
    Learner {
        name: "chow-liu",
        fixed: || json!({ "world": "open", "vtree": "chow-liu" }),
        grid: &[("pseudocount", PSEUDOCOUNTS)],
        learn: chow_liu,
    },
    Learner { name: "slopp", fixed: || json!({ "world": "open", "effort": "fast" }), grid: &[], learn: slopp },
    Learner {
        name: "slopp-tree",
        fixed: || json!({ "world": "open", "vtree": "chow-liu" }),
        grid: &[("parameter_penalty", &[0.4, 0.7, 1.2, 2.0, 3.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0, 16.0])],
        learn: slopp_tree,
    },
    Learner {
        name: "slopp-kmeans",
        fixed: || json!({ "world": "closed", "vtree": "chow-liu", "variant": "notebook", "k": PAPER.0, "d": PAPER.1 }),
        grid: &[("pseudocount", &[0.0])],
        learn: |task| kmeans(task, World::Closed),
    },
    Learner {
        name: "slopp-kmeans:open",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "variant": "notebook", "k": PAPER.0, "d": PAPER.1 }),
        grid: &[("pseudocount", &[1.0, 4.0])],
        learn: |task| kmeans(task, World::Open),
    },
    Learner {
        name: "learnspn",
        fixed: || json!({ "leaves": "chow-liu", "max_clusters": learnspn::Config::default().max_clusters }),
        grid: &[("independence", &[4.0, 12.0, 25.0]), ("min_records", &[20.0, 100.0]), ("pseudocount", &[1.0, 4.0])],
        learn: learn_spn,
    },
    Learner {
        name: "learnpsdd",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "start": "chow-liu" }),
        grid: REFINEMENT,
        learn: |task| refined(task, &baseline::chow_liu(task.train, World::Open, 1.0)?),
    },
    Learner {
        name: "slopp+learnpsdd",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "start": "slopp-tree" }),
        grid: REFINEMENT,
        learn: |task| {
            let config = Config::new(World::Open);
            refined(task, &certified(task.train, task.chow_liu_vtree()?, &config, task.progress)?)
        },
    },
];

/// What is tried of a refinement.
const REFINEMENT: &[(&str, &[f64])] = &[("penalty", &[0.7, 1.0, 2.0, 4.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0])];

/// The learner of this name.
pub(super) fn find(name: &str) -> Option<&'static Learner> {
    ALL.iter().find(|learner| learner.name == name)
}

fn factorised(task: &Task) -> Result<Chosen, Error> {
    // Its distribution is the same on every vtree.
    let vtree = VtreeMethod::Balanced.build(task.train, task.seed)?.into();
    refitted(task, baseline::factorised(task.train, vtree, World::Open, 1.0)?)
}

fn chow_liu(task: &Task) -> Result<Chosen, Error> {
    refitted(task, baseline::chow_liu(task.train, World::Open, 1.0)?)
}

/// A structure that does not depend on the pseudocount, which alone is chosen.
fn refitted(task: &Task, psdd: Psdd) -> Result<Chosen, Error> {
    let mut best = Best::new(task);
    offer_refitted(&mut best, task, &[], &psdd)?;
    best.chosen()
}

/// Chooses by the validation records itself, so there is nothing left to be tried.
fn slopp(task: &Task) -> Result<Chosen, Error> {
    let config = merged::Config { seed: task.seed, ..merged::Config::new(World::Open) };
    let learned = merged::learn(task.train, Some(task.valid), &config, task.progress)?;
    let mut best = Best::new(task);
    best.offer(&[("pseudocount", learned.pseudocount)], Certified::Psdd(learned.psdd))?;
    best.chosen()
}

/// Settings are chosen by refitting, far cheaper than learning again; the chosen ones then learn the model anew.
///
/// A refitted circuit is not quite the learned one, whose equal nodes are shared after smoothing. So the row is what
/// `slopp learn` gives with its settings.
fn slopp_tree(task: &Task) -> Result<Chosen, Error> {
    let vtree = task.chow_liu_vtree()?;
    let learn = |config: &Config| certified(task.train, vtree.clone(), config, task.progress);
    let mut search = Best::new(task);
    for &parameter_penalty in task.values("parameter_penalty") {
        let psdd = learn(&Config { parameter_penalty, ..Config::new(World::Open) })?;
        offer_refitted(&mut search, task, &[("parameter_penalty", parameter_penalty)], &psdd)?;
    }
    let chosen = search.chosen()?.settings;
    let setting = |name: &str| chosen[name].as_f64().expect("a setting of the grid is a number");
    let settings = ["parameter_penalty", "pseudocount"].map(|name| (name, setting(name)));
    let [(_, parameter_penalty), (_, pseudocount)] = settings;
    let psdd = learn(&Config { parameter_penalty, pseudocount, ..Config::new(World::Open) })?;
    let mut best = Best::new(task);
    best.offer(&settings, Certified::Psdd(psdd))?;
    best.chosen()
}

fn kmeans(task: &Task, world: World) -> Result<Chosen, Error> {
    let vtree = task.chow_liu_vtree()?;
    let mut best = Best::new(task);
    for &pseudocount in task.values("pseudocount") {
        let (k, d) = PAPER;
        let paper = PublishedConfig::new(Variant::Notebook, k, d);
        let config = PublishedConfig { world, pseudocount, seed: task.seed, ..paper };
        let (circuit, _) = published(task.train, vtree.clone(), &config, task.progress)?;
        best.offer(&[("pseudocount", pseudocount)], Certified::new(circuit))?;
    }
    best.chosen()
}

fn learn_spn(task: &Task) -> Result<Chosen, Error> {
    let mut best = Best::new(task);
    for &independence in task.values("independence") {
        for &min_records in task.values("min_records") {
            for &pseudocount in task.values("pseudocount") {
                let rest = learnspn::Config { seed: task.seed, ..learnspn::Config::default() };
                let config = learnspn::Config { independence, min_records, pseudocount, ..rest };
                let learned = learnspn::learn(task.train, Some(task.valid), &config, task.progress)?;
                let settings =
                    [("independence", independence), ("min_records", min_records), ("pseudocount", pseudocount)];
                best.offer(&settings, learned.spn)?;
            }
        }
    }
    best.chosen()
}

/// LearnPSDD from a PSDD: the structure by penalty, then its parameters by pseudocount.
fn refined(task: &Task, start: &Psdd) -> Result<Chosen, Error> {
    let mut best = Best::new(task);
    for &penalty in task.values("penalty") {
        let config = LearnPsddConfig { penalty, ..LearnPsddConfig::default() };
        let psdd = learn_psdd(start, task.train, Some(task.valid), &config, task.progress)?.psdd;
        offer_refitted(&mut best, task, &[("penalty", penalty)], &psdd)?;
    }
    best.chosen()
}

/// Offers one structure with every pseudocount of the grid; counting again is far cheaper than learning again.
fn offer_refitted(best: &mut Best, task: &Task, settings: &[(&str, f64)], psdd: &Psdd) -> Result<(), Error> {
    for &pseudocount in task.values("pseudocount") {
        let fitted = psdd.fit(task.train, &Smoothing::marginal(pseudocount, task.train))?.circuit;
        let settings: Vec<_> = settings.iter().copied().chain([("pseudocount", pseudocount)]).collect();
        best.offer(&settings, Certified::Psdd(fitted))?;
    }
    Ok(())
}
