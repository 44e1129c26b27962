//! The learners of the benchmark, one entry each.
//!
//! To add one: an entry in [`ALL`] that names what is tried, and makes the learner from a point of its grid.

use super::learner::{Entry, Pseudocount};
use serde_json::json;

/// The number of clusters and the smallest database that is clustered, as in the paper's experiments.
const PAPER: (usize, usize) = (3, 20);

const PSEUDOCOUNTS: &[f64] = &[0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0];

/// All learners, in the order they run: a name of the table of learners, and after a colon how it differs.
pub(super) const ALL: &[Entry] = &[
    Entry {
        name: "factorised",
        fixed: || json!({ "world": "open", "vtree": "balanced" }),
        grid: &[("pseudocount", PSEUDOCOUNTS)],
        pseudocount: Pseudocount::Refitted,
    },
    Entry {
        name: "chow-liu",
        fixed: || json!({ "world": "open", "vtree": "chow-liu" }),
        grid: &[("pseudocount", PSEUDOCOUNTS)],
        pseudocount: Pseudocount::Refitted,
    },
    Entry {
        name: "slopp",
        fixed: || json!({ "world": "open", "effort": "fast" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "slopp:balanced",
        fixed: || json!({ "world": "open", "vtree": "learned", "effort": "balanced" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "slopp:best",
        fixed: || json!({ "world": "open", "vtree": "learned", "effort": "best" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "slopp-bag",
        fixed: || json!({ "world": "open", "vtree": "learned" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "slopp-bag:best",
        fixed: || json!({ "world": "open", "vtree": "learned", "effort": "best" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "slopp-em",
        fixed: || json!({ "world": "open", "vtree": "learned" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "slopp-tree",
        fixed: || json!({ "world": "open", "vtree": "chow-liu" }),
        grid: &[("parameter_penalty", &[0.4, 0.7, 1.2, 2.0, 3.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0, 16.0])],
        pseudocount: Pseudocount::RefittedThenLearned,
    },
    Entry {
        name: "slopp-kmeans",
        fixed: || json!({ "world": "closed", "vtree": "chow-liu", "variant": "notebook", "k": PAPER.0, "d": PAPER.1 }),
        grid: &[("pseudocount", &[0.0])],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "slopp-kmeans:open",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "variant": "notebook", "k": PAPER.0, "d": PAPER.1 }),
        grid: &[("pseudocount", &[1.0, 4.0])],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "learnspn",
        fixed: || json!({ "leaves": "chow-liu", "max_clusters": 2 }),
        grid: &[("independence", &[4.0, 12.0, 25.0]), ("min_records", &[20.0, 100.0]), ("pseudocount", &[1.0, 4.0])],
        pseudocount: Pseudocount::Learned,
    },
    Entry {
        name: "learnpsdd",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "start": "chow-liu" }),
        grid: REFINEMENT,
        pseudocount: Pseudocount::RefittedThenLearned,
    },
    Entry {
        name: "slopp+learnpsdd",
        fixed: || json!({ "world": "open", "start": "slopp" }),
        grid: REFINEMENT,
        pseudocount: Pseudocount::RefittedThenLearned,
    },
    Entry {
        name: "strudel",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "start": "chow-liu", "scope": "prime" }),
        grid: &[("depth", &[2.0, 4.0, 8.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0])],
        pseudocount: Pseudocount::RefittedThenLearned,
    },
    Entry {
        name: "strudel-em",
        fixed: || json!({ "world": "open", "vtree": "chow-liu", "start": "chow-liu", "scope": "prime" }),
        grid: &[],
        pseudocount: Pseudocount::Learned,
    },
];

/// What is tried of a refinement.
const REFINEMENT: &[(&str, &[f64])] = &[("penalty", &[0.7, 1.0, 2.0, 4.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0])];

/// The learner of this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
