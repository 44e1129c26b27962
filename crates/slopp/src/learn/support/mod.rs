//! Support: the one place that decides which worlds are possible.
//!
//! A learner finds a structure as if every world were possible. [`Support`] then rules worlds out: those that break
//! rules, those in which a column does not have exactly one value, unseen combinations in closed groups of columns and,
//! in a closed world, those that use elements no record uses. Some learners grow inside the world instead
//! (`Structure::keeps_world`): `slopp-tree` and `slopp-kmeans` prune while they grow, and refinements start from a
//! model of the world and keep to it.

mod close;
mod condition;
mod enforce;

pub use enforce::{Enforced, OnViolation};

use super::LearnError;
use super::error::check_numbers;
use super::structure::{Prior, Structure};
use crate::circuit::Psdd;
use crate::data::Records;
use crate::logic::{Limits, Rules};
use crate::model::ModelKind;
use crate::names::Names;
use crate::progress::Progress;
use crate::var::Var;
use std::sync::Arc;

/// The worlds that are possible in a learned model; by default all in which every column has one value.
///
/// ```
/// use slopp::Var;
/// use slopp::learn::{Slopp, Support, Task};
/// use slopp::logic::Rules;
/// let records = slopp::example::records();
/// let seen = Rules::seen(&records, [("X1,X2".to_owned(), vec![Var(0), Var(1)])]);
/// let support = Support { groups: Some(seen), ..Support::default() };
/// let task = Task { support: &support, ..Task::new(&records) };
/// assert!(task.learn(&Slopp::default(), &())?.model.psdd().is_some());
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Support {
    /// Rules that the base implies, in addition to one value for every column.
    pub rules: Option<Rules>,
    /// Rules that groups of columns have only combinations of values that were seen: [`Rules::seen`].
    pub groups: Option<Rules>,
    /// Whether unseen worlds are possible.
    pub world: World,
    /// How large rules may become when they are compiled.
    pub limits: Limits,
}

/// Whether worlds that the records do not show are possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum World {
    /// They are possible, only improbable.
    #[default]
    Open,
    /// Only combinations in the records, relaxed by the structure, are possible.
    Closed {
        /// The variables that stay open: every record stays possible with any of their values.
        except: Vec<Var>,
    },
}

static OPEN: Support = Support::of(World::Open);

static CLOSED: Support = Support::of(World::CLOSED);

impl Default for Support {
    fn default() -> Support {
        Support::of(World::Open)
    }
}

impl World {
    /// A closed world without exceptions.
    pub const CLOSED: World = World::Closed { except: Vec::new() };

    /// The name of the world.
    pub fn name(&self) -> &'static str {
        match self {
            World::Open => "open",
            World::Closed { .. } => "closed",
        }
    }

    /// Whether it is closed without exceptions.
    pub fn is_all_closed(&self) -> bool {
        matches!(self, World::Closed { except } if except.is_empty())
    }
}

impl Support {
    /// The same support, in which groups of variables have only combinations of values that occur in these records.
    #[must_use]
    pub fn with_groups(self, seen: &Records, groups: &[Vec<Var>]) -> Support {
        let group = |vars: &Vec<Var>| (seen.names().list(vars), vars.clone());
        let groups = (!groups.is_empty()).then(|| Rules::seen(seen, groups.iter().map(group)));
        Support { groups, ..self }
    }

    /// A world without rules.
    pub const fn of(world: World) -> Support {
        Support { rules: None, groups: None, world, limits: Limits::USUAL }
    }

    /// An open world without rules.
    pub fn open() -> &'static Support {
        &OPEN
    }

    /// A closed world without rules.
    pub fn closed() -> &'static Support {
        &CLOSED
    }

    /// The rules over these names, and that every column has one value; `None` if there are none.
    fn rules_over(&self, names: &Arc<Names>) -> Result<Option<Rules>, LearnError> {
        match &self.rules {
            Some(rules) => Ok(Some(rules.over(names).map_err(LearnError::RuleNames)?.with_columns())),
            None if names.groups().is_empty() => Ok(None),
            None => Ok(Some(Rules::of_columns(names.clone()))),
        }
    }

    /// Whether every world over these names stays possible.
    pub(super) fn is_everything(&self, names: &Names) -> bool {
        self.rules.is_none() && self.groups.is_none() && self.world == World::Open && names.groups().is_empty()
    }

    /// The given weight of the prior, or else the usual one; zero in a closed world, where unseen worlds must stay
    /// impossible.
    pub(super) fn weight(&self, asked: Option<f64>, usual: f64) -> f64 {
        asked.unwrap_or(if self.world.is_all_closed() { 0.0 } else { usual })
    }

    /// Refuses a weight of the prior that does not fit the world.
    pub(super) fn check_weight(&self, pseudocount: f64) -> Result<(), LearnError> {
        let expected = match &self.world {
            World::Open => "a finite number above 0 in an open world, so that unseen worlds are possible",
            World::Closed { except } if except.is_empty() => return check_numbers([("pseudocount", pseudocount)]),
            World::Closed { .. } => {
                "a finite number above 0 if columns stay open, so that their unseen values are possible"
            }
        };
        match pseudocount.is_finite() && pseudocount > 0.0 {
            true => Ok(()),
            false => Err(LearnError::setting("pseudocount", pseudocount, expected)),
        }
    }

    /// The weight of the prior once support has been applied to a structure.
    fn weight_of(&self, structure: &Structure) -> f64 {
        let Prior { asked, weight, .. } = structure.prior;
        if structure.keeps_world { weight } else { self.weight(asked, weight) }
    }

    /// The weight of the prior, as name and value, if it is reported.
    pub(super) fn reported_weight(&self, structure: &Structure) -> Option<(&'static str, String)> {
        // In a closed world a student is fitted to the records alone, without its teacher's parameters.
        let name = structure.prior.reported_as?;
        let name = if self.world.is_all_closed() { "pseudocount" } else { name };
        Some((name, self.weight_of(structure).to_string()))
    }

    /// The model of a structure without the worlds that are ruled out, fitted to the records again.
    ///
    /// A circuit is conditioned exactly, so it keeps its certificate. No world becomes possible.
    pub fn apply(
        &self,
        structure: Structure,
        records: &Records,
        progress: &dyn Progress,
    ) -> Result<ModelKind, LearnError> {
        let weight = self.weight_of(&structure);
        let Structure { mut model, prior, keeps_world, .. } = structure;
        if self.world.is_all_closed() && !keeps_world {
            model = close::close(model, records, Prior { weight, ..prior }, &self.limits)
                .map_err(|error| LearnError::Closed(error.into()))?;
        }
        // A network already gives every column one value.
        let is_network = matches!(model, ModelKind::Spn(_)) && self.rules.is_none();
        if let Some(rules) = self.rules_over(records.names())?.filter(|_| !is_network) {
            model = condition::condition(model, &rules, records, weight, &self.limits, progress)?;
        }
        if let Some(groups) = &self.groups {
            let groups = groups.over(records.names()).map_err(LearnError::RuleNames)?;
            model = condition::condition(model, &groups, records, weight, &self.limits, progress)
                .map_err(|error| LearnError::Groups(error.into()))?;
        }
        if let World::Closed { except } = &self.world
            && !except.is_empty()
        {
            model = close::close_except(model, except, records, weight, &self.limits)
                .map_err(|error| LearnError::Closed(error.into()))?;
        }
        Ok(model)
    }

    /// A PSDD to refine, in this world and with one value for every column. Its parameters do not matter.
    pub(super) fn start(&self, psdd: Psdd, records: &Records) -> Result<Psdd, LearnError> {
        let world = if self.world.is_all_closed() { World::CLOSED } else { World::Open };
        let structure = Structure::new(psdd, Prior::new(Some(1.0), 1.0));
        let model = Support::of(world).apply(structure, records, &())?;
        Ok(model.into_psdd().expect("a PSDD stays one"))
    }

    /// The support over these names, as name and value: `world`, and `closed`, `open` and `rules` if there are any.
    /// Rules are given by their formulas; those of columns are left out.
    pub fn facts(&self, names: &Names) -> Vec<(&'static str, String)> {
        let mut facts = vec![("world", self.world.name().to_owned())];
        if let Some(groups) = &self.groups {
            facts.push(("closed", groups.iter().map(|rule| rule.text.as_str()).collect::<Vec<_>>().join("; ")));
        }
        match &self.world {
            World::Closed { except } if !except.is_empty() => facts.push(("open", names.list(except))),
            _ => {}
        }
        if let Some(rules) = self.rules.as_ref().filter(|rules| !rules.is_empty()) {
            let text = |rule: &crate::logic::Rule| rule.formula.display(rules.names()).to_string();
            facts.push(("rules", rules.iter().map(text).collect::<Vec<_>>().join("; ")));
        }
        facts
    }
}
