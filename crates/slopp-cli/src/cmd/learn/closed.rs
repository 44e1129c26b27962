//! A partly closed world: what was not seen together in some columns does not happen.

use crate::error::Error;
use crate::report::counted;
use slopp::logic::{Formula, Rule, Rules};
use slopp::{Records, Var};

/// Groups of columns that are closed.
pub(super) struct Closed {
    /// For each group, that its columns have values which were seen together.
    pub(super) rules: Rules,
    groups: Vec<String>,
}

impl Closed {
    /// What training records show of each group of columns; `None` if no group is given.
    pub(super) fn new(groups: &[String], train: &Records) -> Result<Option<Closed>, Error> {
        if groups.is_empty() {
            return Ok(None);
        }
        let names = train.names();
        let mut rules = Vec::new();
        for text in groups {
            let mut vars: Vec<Var> = names.vars_of(text).map_err(|error| {
                Error::from(error).while_doing(format!("--closed {text}")).hint("names of columns, such as a,b,c")
            })?;
            vars.sort_unstable();
            vars.dedup();
            let formula = Formula::seen(train, &vars);
            rules.push(Rule { formula, text: format!("closed {text}"), line: 0 });
        }
        Ok(Some(Closed { rules: Rules::with_origin(names.clone(), rules), groups: groups.to_vec() }))
    }

    /// As one fact about the model.
    pub(super) fn origin(&self) -> String {
        self.groups.join("; ")
    }

    /// A line of the report.
    pub(super) fn fact(&self) -> String {
        let groups = counted(self.groups.len(), "group");
        format!("{groups} of columns ({}): what was not seen together there is impossible", self.origin())
    }
}
