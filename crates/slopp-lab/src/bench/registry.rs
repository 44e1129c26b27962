//! The learners of the benchmark, one entry each.
//!
//! To add one: an entry in [`ALL`] that names what is tried, and makes the learner from a point of its grid.

use super::learner::{Entry, Point, Pseudocount};
use serde_json::json;
use slopp::learn::baseline::{ChowLiu, Factorised};
use slopp::learn::merged::Effort;
use slopp::learn::refine::{LearnPsddConfig, Scope, StrudelConfig};
use slopp::learn::slopp::{Config, PublishedConfig, Variant};
use slopp::learn::{LearnPsdd, MixtureGrid, Start, Strudel, StrudelMixture, World, learnspn, merged};

/// The number of clusters and the smallest database that is clustered, as in the paper's experiments.
const PAPER: (usize, usize) = (3, 20);

const PSEUDOCOUNTS: &[f64] = &[0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0];

/// All learners, in the order they run.
pub(super) const ALL: &[Entry] = &[
    Entry {
        name: "factorised",
        fixed: || json!({ "world": "open", "vtree": "balanced" }),
        grid: &[("pseudocount", PSEUDOCOUNTS)],
        pseudocount: Pseudocount::Refitted,
        start: None,
        make: |p| Box::new(Factorised { world: World::Open, pseudocount: p.or("pseudocount", 1.0) }),
    },
    Entry {
        name: "chow-liu",
        fixed: || json!({ "world": "open", "vtree": "chow-liu" }),
        grid: &[("pseudocount", PSEUDOCOUNTS)],
        pseudocount: Pseudocount::Refitted,
        start: None,
        make: |p| Box::new(ChowLiu { world: World::Open, pseudocount: p.or("pseudocount", 1.0) }),
    },
    Entry {
        name: "slopp",
        fixed: || json!({ "world": "open", "effort": "fast" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |_| Box::new(merged::Config::new(World::Open)),
    },
    Entry {
        name: "slopp:balanced",
        fixed: || json!({ "world": "open", "vtree": "learned", "effort": "balanced" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |_| Box::new(merged::Slopp { config: merged::Config::new(World::Open), effort: Effort::Balanced }),
    },
    Entry {
        name: "slopp:best",
        fixed: || json!({ "world": "open", "vtree": "learned", "effort": "best" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |_| Box::new(merged::Slopp { config: merged::Config::new(World::Open), effort: Effort::Best }),
    },
    Entry {
        name: "slopp-bag",
        fixed: || json!({ "world": "open", "vtree": "learned" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |_| Box::new(merged::BagConfig::new(merged::Config::new(World::Open))),
    },
    Entry {
        name: "slopp-bag:best",
        fixed: || json!({ "world": "open", "vtree": "learned", "effort": "best" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |_| Box::new(merged::BagConfig::with_effort(merged::Config::new(World::Open), Effort::Best)),
    },
    Entry {
        name: "slopp-em",
        fixed: || json!({ "world": "open", "vtree": "learned" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |_| Box::new(merged::EmConfig::new(merged::Config::new(World::Open))),
    },
    Entry {
        name: "slopp-tree",
        fixed: || json!({ "world": "open", "vtree": "chow-liu" }),
        grid: &[("parameter_penalty", &[0.4, 0.7, 1.2, 2.0, 3.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0, 16.0])],
        pseudocount: Pseudocount::RefittedThenLearned,
        start: None,
        make: |p| {
            let config = Config::new(World::Open);
            let parameter_penalty = p.or("parameter_penalty", config.parameter_penalty);
            Box::new(Config { parameter_penalty, pseudocount: p.or("pseudocount", config.pseudocount), ..config })
        },
    },
    Entry {
        name: "slopp-kmeans",
        fixed: || json!({ "world": "closed", "vtree": "chow-liu", "variant": "notebook", "k": PAPER.0, "d": PAPER.1 }),
        grid: &[("pseudocount", &[0.0])],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |p| Box::new(kmeans(p, World::Closed)),
    },
    Entry {
        name: "slopp-kmeans:open",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "variant": "notebook", "k": PAPER.0, "d": PAPER.1 }),
        grid: &[("pseudocount", &[1.0, 4.0])],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |p| Box::new(kmeans(p, World::Open)),
    },
    Entry {
        name: "learnspn",
        fixed: || json!({ "leaves": "chow-liu", "max_clusters": learnspn::Config::default().max_clusters }),
        grid: &[("independence", &[4.0, 12.0, 25.0]), ("min_records", &[20.0, 100.0]), ("pseudocount", &[1.0, 4.0])],
        pseudocount: Pseudocount::Learned,
        start: None,
        make: |p| {
            let config = learnspn::Config::default();
            Box::new(learnspn::Config {
                independence: p.or("independence", config.independence),
                min_records: p.or("min_records", config.min_records),
                pseudocount: p.or("pseudocount", config.pseudocount),
                ..config
            })
        },
    },
    Entry {
        name: "learnpsdd",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "start": "chow-liu" }),
        grid: REFINEMENT,
        pseudocount: Pseudocount::RefittedThenLearned,
        start: Some(|| Start::Baseline(World::Open)),
        make: |p| Box::new(refined(p)),
    },
    Entry {
        name: "slopp+learnpsdd",
        fixed: || json!({ "world": "open", "start": "slopp" }),
        grid: REFINEMENT,
        pseudocount: Pseudocount::RefittedThenLearned,
        start: Some(|| Start::Slopp(merged::Config::new(World::Open))),
        make: |p| Box::new(refined(p)),
    },
    Entry {
        name: "strudel",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "start": "chow-liu", "scope": "prime" }),
        grid: &[("depth", &[2.0, 4.0, 8.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0])],
        pseudocount: Pseudocount::RefittedThenLearned,
        start: Some(|| Start::Baseline(World::Open)),
        make: |p| Box::new(strudel(p)),
    },
    Entry {
        name: "strudel-em",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "start": "chow-liu", "scope": "prime" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
        start: Some(|| Start::Baseline(World::Open)),
        make: |p| Box::new(StrudelMixture { strudel: strudel(p), grid: MixtureGrid::default() }),
    },
];

/// What is tried of a refinement.
const REFINEMENT: &[(&str, &[f64])] = &[("penalty", &[0.7, 1.0, 2.0, 4.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0])];

/// The learner of this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

fn kmeans(p: &Point, world: World) -> PublishedConfig {
    let paper = PublishedConfig::new(Variant::Notebook, PAPER.0, PAPER.1);
    PublishedConfig { world, pseudocount: p.or("pseudocount", paper.pseudocount), ..paper }
}

fn strudel(p: &Point) -> Strudel {
    let config = StrudelConfig::default();
    let depth = p.or("depth", config.depth as f64) as usize;
    let pseudocount = p.or("pseudocount", config.pseudocount);
    Strudel { start: p.start(), scope: Scope::Prime, config: StrudelConfig { depth, pseudocount, ..config } }
}

fn refined(p: &Point) -> LearnPsdd {
    let config = LearnPsddConfig::default();
    let [penalty, pseudocount] =
        [("penalty", config.penalty), ("pseudocount", config.pseudocount)].map(|(name, value)| p.or(name, value));
    LearnPsdd { start: p.start(), config: LearnPsddConfig { penalty, pseudocount, ..config } }
}
