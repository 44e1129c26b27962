//! The difference of two knowledge bases: worlds that only one of them allows.

use super::Knowledge;
use super::columns::{UnsharedValues, merged};
use crate::circuit::Refusal;
use crate::infer::{Evidence, QueryError};
use crate::logic::{Handle, Limits, LogicError, Manager, Rules, Stopped};
use crate::names::{NameError, Names};
use num_bigint::BigUint;
use std::sync::Arc;

/// The worlds that two allow, over the variables of both. A variable that only one mentions is free in the other. A
/// column with several values has one of them in every world, and a value that only one has is impossible in the other.
///
/// ```
/// use slopp::knowledge::{Difference, Knowledge};
/// use slopp::logic::{Limits, Rules};
/// let (strict, loose) = (Rules::parse("a & b")?, Rules::parse("a | c")?);
/// let both = Difference::new([Knowledge::Rules(&strict), Knowledge::Rules(&loose)], Limits::default())?;
/// let [only_strict, only_loose] = both.only.map(|part| both.count(part));
/// assert_eq!((only_strict, only_loose), (0u32.into(), 4u32.into()));
/// assert_eq!(both.worlds(both.only[1], 2)?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Difference {
    /// The names of both.
    pub names: Arc<Names>,
    /// The worlds that each allows and the other does not.
    pub only: [Handle; 2],
    /// The worlds that both allow.
    pub common: Handle,
    /// Columns whose values differ.
    pub differ: Vec<UnsharedValues>,
    /// The names that only one mentions, if it is rules; without values of columns. They may be misspelt.
    pub only_named: [Vec<String>; 2],
    manager: Manager,
}

/// Why two knowledge bases cannot be compared, or entailment cannot be decided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnowledgeError {
    /// They share no variable.
    #[error(
        "the two have no variable in common, so there is nothing to compare; variables without names are called x1, \
         x2, …: give both the same names"
    )]
    NothingInCommon,
    /// Numbers are cut at different places.
    #[error(
        "column {column:?} is cut differently, so worlds cannot be compared: the first has {}, and the second has {}; \
         learn both with the same bins", .cuts[0], .cuts[1]
    )]
    DifferentBins {
        /// The column.
        column: String,
        /// The values of each, as text.
        cuts: [String; 2],
    },
    /// A column has several values in one and is Boolean in the other.
    #[error(
        "column {column:?} has several values in the {}, and is Boolean in the other; learn both from records whose \
         columns hold the same", ["first", "second"][*.several]
    )]
    DifferentKinds {
        /// The column.
        column: String,
        /// Which of the two has several values: 0 or 1.
        several: usize,
    },
    /// There are no variables at all, or their circuit would be too large to list worlds.
    #[error(transparent)]
    Logic(#[from] LogicError),
    /// The names cannot be joined.
    #[error(transparent)]
    Names(#[from] NameError),
    /// A diagram would be too large.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A bug, and never silent.
    #[error("the worlds failed their certificate, please report this: {0}")]
    Certificate(#[from] Refusal),
    /// Worlds could not be listed.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl Difference {
    /// Compares two. The vtree is that of the first one that has all names, or else made for all rules.
    pub fn new(known: [Knowledge<'_>; 2], limits: Limits) -> Result<Difference, KnowledgeError> {
        let (names, differ) = merged(known.map(|one| &**one.names()))?;
        let only_named = [(0, 1), (1, 0)].map(|(one, other)| {
            let (own, others) = (known[one].names(), known[other].names());
            let is_rules = matches!(known[one], Knowledge::Rules(_));
            let is_missing = |name: &&str| is_rules && !others.contains(name) && others.group(column(name)).is_none();
            own.iter().filter(is_missing).map(str::to_owned).collect()
        });
        let names = Arc::new(names);
        let mut manager = manager(&known, &names, limits.clone())?;
        // Worlds without exactly one value per column do not count.
        let columns = manager.compile(&Rules::of_columns(names.clone()).formula())?;
        let mut allowed = |one: &Knowledge<'_>| -> Result<Handle, KnowledgeError> {
            let formula = one.handle(&mut manager, &one.vars_among(&names)?, &limits)?;
            Ok(manager.and(formula, columns)?)
        };
        let [a, b] = [allowed(&known[0])?, allowed(&known[1])?];
        let only = [manager.and(a, !b)?, manager.and(b, !a)?];
        let common = manager.and(a, b)?;
        Ok(Difference { names, only, common, differ, only_named, manager })
    }

    /// Whether both allow the same worlds.
    pub fn is_same(&self) -> bool {
        self.only == [Handle::FALSE; 2]
    }

    /// The number of worlds of a part, exactly.
    pub fn count(&self, part: Handle) -> BigUint {
        self.manager.sdd(part).model_count()
    }

    /// A world of a part; `None` if it has none.
    pub fn world(&self, part: Handle) -> Option<Vec<bool>> {
        self.manager.world(part)
    }

    /// Some worlds of a part.
    pub fn worlds(&self, part: Handle, limit: usize) -> Result<Vec<Vec<bool>>, KnowledgeError> {
        if part == Handle::FALSE || limit == 0 {
            return Ok(Vec::new());
        }
        let circuit = self.manager.sdd(part).to_circuit()?.certify_deterministic(self.manager.limits())?;
        Ok(circuit.worlds(&Evidence::none(circuit.var_count()))?.take(limit).collect())
    }
}

/// The column that a name may be a value of.
fn column(name: &str) -> &str {
    name.split_once('=').map_or(name, |(column, _)| column)
}

/// A manager on the vtree of the first one that has all names.
fn manager(known: &[Knowledge<'_>; 2], names: &Arc<Names>, limits: Limits) -> Result<Manager, KnowledgeError> {
    for one in known.iter().filter(|one| !matches!(one, Knowledge::Rules(_))) {
        if one.names().iter().eq(names.iter()) {
            return Ok(Manager::new(one.vtree()?, limits));
        }
    }
    // All rules together show which variables belong together.
    let mut formulas = Vec::new();
    for one in known {
        if let Knowledge::Rules(rules) = one {
            let vars = one.vars_among(names)?;
            formulas.extend(rules.iter().map(|rule| rule.formula.map_vars(|var| vars[var.index()])));
        }
    }
    let rules = Rules::new(names.clone(), formulas).with_columns();
    rules.check_variables()?;
    rules.check_room(&limits)?;
    Ok(Manager::new(rules.min_fill_vtree(), limits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Kind;
    use crate::{Certified, Psdd, Vtree};

    fn colours(values: &[&str], more: &str) -> Arc<Names> {
        let kind = Kind::Values(values.iter().map(|value| (*value).to_owned()).collect());
        Arc::new(Names::of_columns([("color".into(), kind), (more.into(), Kind::Boolean)]).unwrap())
    }

    /// All worlds in which every column has one value.
    fn everything(names: &Arc<Names>) -> Certified {
        let sdd = Rules::of_columns(names.clone()).compile(Vtree::balanced(names.len()), &Limits::default()).unwrap();
        let psdd: Psdd = sdd.to_circuit().unwrap().certify(&Limits::default()).unwrap();
        psdd.into()
    }

    fn compared(a: &Arc<Names>, b: &Arc<Names>) -> Difference {
        let [first, second] = [everything(a), everything(b)];
        Difference::new([Knowledge::Base(&first, a), Knowledge::Base(&second, b)], Limits::default()).unwrap()
    }

    #[test]
    fn columns_stay_where_neither_has_all_names() {
        let both = compared(&colours(&["blue", "red"], "hot"), &colours(&["blue", "red"], "wet"));
        assert!(both.is_same() && both.names.groups().len() == 1);
        assert_eq!(both.count(both.common), 8u32.into());
    }

    #[test]
    fn a_value_that_one_does_not_know_is_impossible_there() {
        let both = compared(&colours(&["blue", "red"], "hot"), &colours(&["grey", "red"], "hot"));
        assert_eq!(both.only.map(|part| both.count(part)), [2u32.into(), 2u32.into()]);
        assert_eq!(both.count(both.common), 2u32.into());
        let [differ] = &both.differ[..] else { panic!("one column differs") };
        assert_eq!(differ.only, [vec!["blue".to_owned()], vec!["grey".to_owned()]]);
        let worlds = both.worlds(both.only[0], 10).unwrap();
        let blue = both.names.find("color=blue").unwrap();
        assert!(worlds.len() == 2 && worlds.iter().all(|world| world[blue.index()]));
    }

    #[test]
    fn what_cannot_be_compared_is_told() {
        let [none, a, b] = ["true", "a", "b"].map(|text| Rules::parse(text).unwrap());
        let compared =
            |first, second| Difference::new([Knowledge::Rules(first), Knowledge::Rules(second)], Limits::default());
        assert!(matches!(compared(&none, &none), Err(KnowledgeError::Logic(LogicError::NoVariables { rules: 2 }))));
        assert!(matches!(compared(&a, &b), Err(KnowledgeError::NothingInCommon)));
        assert!(compared(&a, &none).is_ok_and(|both| both.count(both.only[1]) == 1u32.into()));
        let names = colours(&["blue", "red"], "hot");
        let boolean = Rules::parse("color | hot").unwrap();
        let everything = everything(&names);
        let found =
            Difference::new([Knowledge::Rules(&boolean), Knowledge::Base(&everything, &names)], Limits::default());
        assert!(matches!(found, Err(KnowledgeError::DifferentKinds { several: 1, .. })));
    }
}
