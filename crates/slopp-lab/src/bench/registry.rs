//! The learners of the benchmark: all of the table of learners, and what is tried of each.

use super::learner::{Entry, Pseudocount};
use serde_json::json;
use slopp::learn::registry::LEARNERS;
use std::sync::LazyLock;

/// The number of clusters and the smallest database that is clustered, as in the paper's experiments.
const PAPER: (usize, usize) = (3, 20);

const PSEUDOCOUNTS: &[f64] = &[0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0];

/// What is tried of learners: a name of the table of learners, and after a colon how it differs.
const TRIED: &[Entry] = &[
    Entry { grid: &[("pseudocount", PSEUDOCOUNTS)], pseudocount: Pseudocount::Refitted, ..Entry::usual("factorised") },
    Entry { grid: &[("pseudocount", PSEUDOCOUNTS)], pseudocount: Pseudocount::Refitted, ..Entry::usual("chow-liu") },
    Entry { differs: || json!({ "effort": "fast" }), ..Entry::usual("slopp") },
    Entry { differs: || json!({ "effort": "balanced" }), ..Entry::usual("slopp:balanced") },
    Entry { differs: || json!({ "effort": "best" }), ..Entry::usual("slopp:best") },
    Entry::usual("slopp-bag"),
    Entry { differs: || json!({ "effort": "best" }), ..Entry::usual("slopp-bag:best") },
    Entry::usual("slopp-em"),
    Entry {
        grid: &[("parameter_penalty", &[0.4, 0.7, 1.2, 2.0, 3.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0, 16.0])],
        pseudocount: Pseudocount::RefittedThenLearned,
        ..Entry::usual("slopp-tree")
    },
    Entry {
        differs: || json!({ "variant": "notebook", "k": PAPER.0, "d": PAPER.1 }),
        grid: &[("pseudocount", &[0.0])],
        ..Entry::usual("slopp-kmeans")
    },
    Entry {
        differs: || json!({ "world": "open", "variant": "notebook", "k": PAPER.0, "d": PAPER.1 }),
        grid: &[("pseudocount", &[1.0, 4.0])],
        ..Entry::usual("slopp-kmeans:open")
    },
    Entry {
        differs: || json!({ "leaves": "chow-liu", "max_clusters": 2 }),
        grid: &[("independence", &[4.0, 12.0, 25.0]), ("min_records", &[20.0, 100.0]), ("pseudocount", &[1.0, 4.0])],
        ..Entry::usual("learnspn")
    },
    Entry {
        differs: || json!({ "start": "chow-liu" }),
        grid: REFINEMENT,
        pseudocount: Pseudocount::RefittedThenLearned,
        ..Entry::usual("learnpsdd")
    },
    Entry {
        differs: || json!({ "start": "slopp" }),
        grid: REFINEMENT,
        pseudocount: Pseudocount::RefittedThenLearned,
        ..Entry::usual("slopp+learnpsdd")
    },
    Entry {
        differs: || json!({ "start": "chow-liu", "scope": "prime" }),
        grid: &[("depth", &[2.0, 4.0, 8.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0])],
        pseudocount: Pseudocount::RefittedThenLearned,
        ..Entry::usual("strudel")
    },
    Entry { differs: || json!({ "start": "chow-liu", "scope": "prime" }), ..Entry::usual("strudel-em") },
];

/// What is tried of a refinement.
const REFINEMENT: &[(&str, &[f64])] = &[("penalty", &[0.7, 1.0, 2.0, 4.0]), ("pseudocount", &[1.0, 2.0, 4.0, 8.0])];

/// All learners, in the order they run: those of which something is tried, and all others of the table of learners.
pub(super) static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let is_tried = |name: &str| TRIED.iter().any(|entry| entry.learner_name() == name);
    let others = LEARNERS.iter().map(|learner| learner.name).filter(|name| !is_tried(name));
    TRIED.iter().copied().chain(others.map(Entry::usual)).collect()
});

/// The learner of this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}
