//! Two files side by side: what only one of them allows.

use crate::columns_of_both::{ValuesOfOne, merged};
use crate::error::Error;
use crate::knowledge::{Knowledge, check_variables, is_diagram, stopped};
use crate::report::some_of;
use slopp::Names;
use slopp::logic::{Handle, Limits, Manager, Rules};
use std::path::Path;
use std::sync::Arc;

/// What two files allow, over the variables of both; a variable that only one mentions may have any value in the other. A
/// column with several values has one of them in every world.
pub(crate) struct Both {
    pub(crate) names: Arc<Names>,
    pub(crate) manager: Manager,
    /// What each file allows.
    pub(crate) formulas: [Handle; 2],
    /// What each file allows and the other does not.
    pub(crate) only: [Handle; 2],
    /// Columns that have other values in one file than in the other.
    pub(crate) differ: Vec<ValuesOfOne>,
    /// The names that only one file mentions, if it is one of rules; values of columns aside.
    pub(crate) only_named: [Vec<String>; 2],
}

impl Both {
    /// Reads both; the vtree is that of diagrams which do not tell theirs.
    pub(crate) fn read(files: [&Path; 2], vtree: Option<&Path>, limits: Limits) -> Result<Both, Error> {
        if vtree.is_some() && !files.iter().any(|file| is_diagram(file)) {
            return Err(Error::new("--vtree is for .sdd files, and none is given").hint("leave it out"));
        }
        let [first, second] = files.map(|file| Knowledge::read(file, vtree.filter(|_| is_diagram(file)), None));
        let known = [first?, second?];
        let known = by_columns(files, known);
        let (names, differ) = merged(files, known.each_ref().map(|one| &**one.names()))?;
        let only_named = [(0, 1), (1, 0)].map(|(one, other)| {
            let (own, others) = (known[one].names(), known[other].names());
            let is_rules = matches!(known[one], Knowledge::Rules(_));
            let is_missing = |name: &&str| is_rules && !others.contains(name) && others.group(column(name)).is_none();
            own.iter().filter(is_missing).map(str::to_owned).collect()
        });
        let names = Arc::new(names);
        let mut manager = manager(&known, &names, limits)?;
        // What a file allows that has no one value in a column is no world: it only did not say so.
        let columns = manager.compile(&Rules::of_columns(names.clone()).formula()).map_err(stopped)?;
        let mut allowed = |one: &Knowledge| {
            let formula = one.formula(&mut manager, &names)?;
            manager.and(formula, columns).map_err(stopped)
        };
        let [a, b] = [allowed(&known[0])?, allowed(&known[1])?];
        let only = [manager.and(a, !b).map_err(stopped)?, manager.and(b, !a).map_err(stopped)?];
        Ok(Both { names, manager, formulas: [a, b], only, differ, only_named })
    }

    /// Which names only one file mentions, in words: they may be misspelt.
    pub(crate) fn only_named_in_words(only_named: &[Vec<String>; 2], files: [&Path; 2]) -> Vec<String> {
        let named = files.into_iter().zip(only_named).filter(|(_, names)| !names.is_empty());
        named.map(|(file, names)| format!("only {} mentions: {}", file.display(), some_of(names))).collect()
    }
}

/// The column that a name may be a value of.
fn column(name: &str) -> &str {
    name.split_once('=').map_or(name, |(column, _)| column)
}

/// Rules beside a model with columns are read by its columns, if they fit them: so `age=42` is a bin.
fn by_columns(files: [&Path; 2], mut known: [Knowledge; 2]) -> [Knowledge; 2] {
    for (one, other) in [(0, 1), (1, 0)] {
        let names = known[other].names().clone();
        if let (Knowledge::Rules(_), false) = (&known[one], names.groups().is_empty())
            && let Ok(rules) = slopp::io::read_rules(files[one], Some(&names))
        {
            known[one] = Knowledge::Rules(rules);
        }
    }
    known
}

/// A manager on the vtree of the first file that has one, if all names are in it.
fn manager(known: &[Knowledge; 2], names: &Arc<Names>, limits: Limits) -> Result<Manager, Error> {
    for one in known.iter().filter(|one| !matches!(one, Knowledge::Rules(_))) {
        if one.names().iter().eq(names.iter()) {
            return Ok(Manager::new(one.vtree()?, limits));
        }
    }
    // All rules together say which variables belong together.
    let mut formulas = Vec::new();
    for one in known {
        if let Knowledge::Rules(rules) = one {
            let vars = rules.names().iter().map(|name| names.find(name)).collect::<Result<Vec<_>, _>>()?;
            formulas.extend(rules.iter().map(|rule| rule.formula.map_vars(|var| vars[var.index()])));
        }
    }
    let rules = Rules::new(names.clone(), formulas).with_columns();
    check_variables(&rules)?;
    Ok(Manager::new(rules.min_fill_vtree(), limits))
}
