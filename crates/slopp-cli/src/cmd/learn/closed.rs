//! A partly closed world: combinations of some columns, or of all but some, that no record has are impossible.

use super::options::LearnArgs;
use crate::error::Error;
use crate::input::variables;
use crate::report::counted;
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
        format!("{groups} of columns ({}): unseen combinations of these columns are impossible", self.texts.join("; "))
    }

    /// A line of the report about columns that stay open.
    pub(super) fn open_fact(&self) -> String {
        let columns = self.texts.join(",");
        format!(
            "{columns}; in all other columns, combinations absent from the training records are impossible, as far as the \
             structure can tell them apart"
        )
    }
}

/// Refuses, before any work, lists that name nothing.
pub(super) fn check(args: &LearnArgs) -> Result<(), Error> {
    for (option, lists) in [("--closed", &args.closed), ("--open", &args.open)] {
        if lists.iter().any(|text| slopp::names::split_list(text).is_empty()) {
            let all = if option == "--closed" { "open" } else { "closed" };
            return Err(Error::new(format!("{option} names no column"))
                .hint(format!("names such as {option} a,b,c, or --world {all} without {option}")));
        }
    }
    Ok(())
}
