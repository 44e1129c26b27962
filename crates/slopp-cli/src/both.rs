//! Two files side by side: what only one of them allows.

use crate::error::Error;
use crate::knowledge::{Knowledge, check_variables, is_diagram, stopped};
use slopp::Names;
use slopp::logic::{Handle, Limits, Manager, Rules};
use std::path::Path;
use std::sync::Arc;

/// What two files allow, over the variables of both; a variable that only one mentions may have any value in the other.
pub(crate) struct Both {
    pub(crate) names: Arc<Names>,
    pub(crate) manager: Manager,
    /// What each file allows.
    pub(crate) formulas: [Handle; 2],
    /// What each file allows and the other does not.
    pub(crate) only: [Handle; 2],
}

impl Both {
    /// Reads both; the vtree is that of diagrams which do not tell theirs.
    pub(crate) fn read(files: [&Path; 2], vtree: Option<&Path>, limits: Limits) -> Result<Both, Error> {
        if vtree.is_some() && !files.iter().any(|file| is_diagram(file)) {
            return Err(Error::new("--vtree is for .sdd files, and none is given").hint("leave it out"));
        }
        let [first, second] = files.map(|file| Knowledge::read(file, vtree.filter(|_| is_diagram(file)), None));
        let (first, second) = (first?, second?);
        let (names, mut manager) = common(&first, &second, limits)?;
        let a = first.formula(&mut manager, &names)?;
        let b = second.formula(&mut manager, &names)?;
        let only = [manager.and(a, !b).map_err(stopped)?, manager.and(b, !a).map_err(stopped)?];
        Ok(Both { names, manager, formulas: [a, b], only })
    }
}

/// The names of both, and a manager over them: on the vtree of the first file that has one, if all names are in it.
fn common(first: &Knowledge, second: &Knowledge, limits: Limits) -> Result<(Arc<Names>, Manager), Error> {
    let mut all: Vec<String> = first.names().iter().map(str::to_owned).collect();
    all.extend(second.names().iter().filter(|name| !first.names().contains(name)).map(str::to_owned));
    for one in [first, second].into_iter().filter(|one| !matches!(one, Knowledge::Rules(_))) {
        if one.names().len() == all.len() {
            return Ok((one.names().clone(), Manager::new(one.vtree()?, limits)));
        }
    }
    let names = Arc::new(Names::new(all)?);
    // All rules together say which variables belong together.
    let mut formulas = Vec::new();
    for one in [first, second] {
        if let Knowledge::Rules(rules) = one {
            let vars = rules.names().iter().map(|name| names.find(name)).collect::<Result<Vec<_>, _>>()?;
            formulas.extend(rules.iter().map(|rule| rule.formula.map_vars(|var| vars[var.index()])));
        }
    }
    let rules = Rules::new(names.clone(), formulas);
    check_variables(&rules)?;
    Ok((names, Manager::new(rules.min_fill_vtree(), limits)))
}
