//! How a model was made, in the words that every door writes: the same task has the same origin.

use super::task::{Learner, Task, VtreeFrom, VtreeUse};
use std::collections::BTreeMap;

/// What makes a model: enough to make it again from the same records, and nothing about the machine.
pub(super) fn of(learner: &dyn Learner, task: &Task) -> BTreeMap<String, String> {
    let facts = [
        ("learner", learner.name().to_owned()),
        ("records", task.train.total().to_string()),
        ("seed", task.seed.to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
    ];
    let vtree = vtree(learner, task).map(|name| ("vtree", name.to_owned()));
    let facts = facts.into_iter().chain(vtree).chain(task.support.facts(task.train.names()));
    let mut origin: BTreeMap<String, String> =
        facts.chain(learner.settings()).map(|(key, value)| (key.to_owned(), value)).collect();
    if let Some(start) = task.refined {
        // What is possible was decided by whatever made the model.
        for (key, made) in [("start", "learner"), ("world", "world")] {
            let known = start.get(made).map_or("given", String::as_str);
            origin.insert(key.to_owned(), known.to_owned());
        }
    }
    origin
}

/// How the vtree was made, if there is one.
fn vtree(learner: &dyn Learner, task: &Task) -> Option<&'static str> {
    let given = task.vtree_from.or(task.vtree.map(|_| VtreeFrom::File)).map(VtreeFrom::name);
    let own = || match learner.vtree() {
        VtreeUse::Inside => Some("learned"),
        VtreeUse::None => task.refined.map(|_| VtreeFrom::File.name()),
        other => other.method().map(|method| method.name()),
    };
    given.or_else(own)
}
