//! A partly closed world: what was not seen together in some columns, or in all but some, does not happen.

use super::options::{LearnArgs, WorldName};
use crate::error::Error;
use crate::input::variables;
use crate::report::counted;
use slopp::learn::registry::Entry;
use slopp::{Names, Var};

/// Lists of columns that `--closed` or `--open` names.
pub(super) struct Listed {
    pub(super) groups: Vec<Vec<Var>>,
    texts: Vec<String>,
}

impl Listed {
    /// The columns of these lists; `None` if there is no list.
    pub(super) fn new(option: &str, lists: &[String], names: &Names) -> Result<Option<Listed>, Error> {
        let groups = lists.iter().map(|text| variables(option, text, names)).collect::<Result<Vec<_>, _>>()?;
        Ok((!groups.is_empty()).then(|| Listed { groups, texts: lists.to_vec() }))
    }

    /// A line of the report about closed columns.
    pub(super) fn closed_fact(&self) -> String {
        let groups = counted(self.groups.len(), "group");
        format!("{groups} of columns ({}): what was not seen together there is impossible", self.texts.join("; "))
    }

    /// A line of the report about columns that stay open.
    pub(super) fn open_fact(&self) -> String {
        let columns = self.texts.join(",");
        format!(
            "{columns}; elsewhere what no training record shows is impossible, as far as the structure can distinguish it"
        )
    }
}

/// Refuses, before any work, lists that name nothing, that contradict each other, or that the learner cannot obey.
pub(super) fn check(args: &LearnArgs, entry: &Entry) -> Result<(), Error> {
    for (option, lists) in [("--closed", &args.closed), ("--open", &args.open)] {
        if lists.is_empty() {
            continue;
        }
        if lists.iter().any(|text| slopp::names::split_list(text).is_empty()) {
            let all = if option == "--closed" { "open" } else { "closed" };
            return Err(Error::new(format!("{option} names no column"))
                .hint(format!("names such as {option} a,b,c, or --world {all} without {option}")));
        }
        if !entry.obeys_rules() {
            return Err(Error::new("a sum-product network has only an open world, where everything is possible")
                .hint(format!("--learner slopp, or leave {option} out")));
        }
    }
    if !args.closed.is_empty() && matches!(args.world, Some(WorldName::Closed)) {
        return Err(Error::new("--closed names columns in a world that is open, and --world closed closes all of it")
            .hint("leave one of them out; --open names the columns that stay open in a closed world"));
    }
    if !args.open.is_empty() && matches!(args.world, Some(WorldName::Open)) {
        return Err(Error::new("--open names columns in a world that is closed, and --world open opens all of it")
            .hint("leave one of them out; --closed names the columns that are closed in an open world"));
    }
    if !args.open.is_empty() && args.start.is_some() {
        return Err(Error::new("--start gives a model, and what it makes impossible stays so, whatever --open says")
            .hint("leave --open out, or learn without --start"));
    }
    if !args.open.is_empty() && !args.closed.is_empty() {
        return Err(Error::new("--open closes all columns but its own, and --closed none but its own")
            .hint("leave one of them out"));
    }
    Ok(())
}
