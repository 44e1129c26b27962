//! Support: the one place that decides which worlds are possible.
//!
//! A learner finds a structure as if every world were possible. [`Support`] then rules worlds out: those that break
//! rules, those in which a column does not have exactly one value, unseen combinations in closed groups of columns and,
//! in a closed world, those that use elements no record uses. Some learners grow inside the world instead
//! (`Structure::keeps_world`): `slopp-tree` and `slopp-kmeans` prune while they grow, and refinements start from a
//! model of the world and keep to it.

mod enforce;

pub use enforce::{Enforced, OnViolation};

use super::em::{EmConfig, fit_circuit};
use super::error::{LearnError, check_numbers, in_digits};
use super::structure::{Prior, Structure};
use crate::circuit::{Certificate, Circuit, Psdd, Smoothing, Weights};
use crate::data::{Records, RecordsBuilder};
use crate::infer::QueryError;
use crate::logic::{Limits, Rules, Sdd};
use crate::mixture::Mixture;
use crate::model::{Certified, ModelKind};
use crate::names::Names;
use crate::progress::Progress;
use crate::var::Var;
use crate::vtree::Vtree;
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
    pub(crate) fn is_all_closed(&self) -> bool {
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

    /// An open world without rules, with the same limits.
    pub(super) fn without_rules(&self) -> Support {
        Support { limits: self.limits.clone(), ..Support::default() }
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
        Some((name, in_digits(self.weight_of(structure))))
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
            model = close(model, records, Prior { weight, ..prior }, &self.limits)
                .map_err(|error| LearnError::Closed(error.into()))?;
        }
        // Most learners give every column one value.
        let is_kept = self.rules.is_none() && has_one_value(&model, records.names());
        if let Some(rules) = self.rules_over(records.names())?.filter(|_| !is_kept) {
            model = condition(model, &rules, records, weight, &self.limits, progress)?;
        }
        if let Some(groups) = &self.groups {
            let groups = groups.over(records.names()).map_err(LearnError::RuleNames)?;
            model = condition(model, &groups, records, weight, &self.limits, progress)
                .map_err(|error| LearnError::Groups(error.into()))?;
        }
        if let World::Closed { except } = &self.world
            && !except.is_empty()
        {
            model = close_except(model, except, records, weight, &self.limits)
                .map_err(|error| LearnError::Closed(error.into()))?;
        }
        Ok(model)
    }

    /// A PSDD to refine, in this world and with one value for every column. Its parameters do not matter.
    pub(super) fn prepare_start(&self, psdd: Psdd, records: &Records) -> Result<Psdd, LearnError> {
        let world = if self.world.is_all_closed() { World::CLOSED } else { World::Open };
        let structure = Structure::new(psdd, Prior::new(Some(1.0), 1.0));
        let model = Support { limits: self.limits.clone(), ..Support::of(world) }.apply(structure, records, &())?;
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

/// Whether every possible world has one value in each column.
fn has_one_value(model: &ModelKind, names: &Names) -> bool {
    let holds = |circuit: &Circuit| circuit.column_without_one_value(names).is_none();
    match model {
        ModelKind::Circuit(circuit) => holds(circuit),
        ModelKind::Mixture(mixture) => mixture.components().iter().all(|circuit| holds(circuit)),
        ModelKind::Spn(_) => true,
    }
}

/// A model given rules, exactly: its base implies them. A PSDD is then fitted to the records again, since other
/// parameters fit best under the rules.
fn condition(
    model: ModelKind,
    rules: &Rules,
    records: &Records,
    pseudocount: f64,
    limits: &Limits,
    progress: &dyn Progress,
) -> Result<ModelKind, LearnError> {
    progress.begin("conditioning on the rules", 1);
    let mut on = |vtree: &Arc<Vtree>| -> Result<Sdd, QueryError> { Ok(rules.compile(vtree.clone(), limits)?) };
    let given = match model {
        ModelKind::Spn(_) => return Err(LearnError::Network),
        ModelKind::Mixture(mixture) => mixture.given(&mut on, limits).map(|(given, _)| ModelKind::Mixture(given)),
        ModelKind::Circuit(circuit) => {
            on(circuit.vtree()).and_then(|sdd| circuit.given(&sdd, limits)).map(|(given, _)| ModelKind::Circuit(given))
        }
    };
    match given {
        Ok(ModelKind::Circuit(Certified::Psdd(psdd))) => {
            Ok(ModelKind::Circuit(Certified::Psdd(refitted(&psdd, records, pseudocount, limits, progress)?)))
        }
        Ok(other) => Ok(other),
        Err(QueryError::ImpossibleFormula) => Err(LearnError::NothingObeys),
        Err(error) => Err(LearnError::Rules(error)),
    }
}

/// A PSDD with parameters fitted to records, by counting if no cell is missing.
fn refitted(
    psdd: &Psdd,
    records: &Records,
    pseudocount: f64,
    limits: &Limits,
    progress: &dyn Progress,
) -> Result<Psdd, LearnError> {
    match records.has_missing() {
        false => {
            let counted = psdd.count_records(records)?;
            if counted.possible == 0.0 {
                return Err(LearnError::NothingPossible);
            }
            let (prior, weight) = prior(psdd, records, pseudocount)?;
            let fitted = prior.with_estimates_towards(counted.weights, weight)?;
            Ok(psdd.carry_over(fitted))
        }
        true => {
            let smoothing = Smoothing::marginal(pseudocount, records);
            let config = EmConfig { smoothing, limits: limits.clone(), ..EmConfig::default() };
            Ok(psdd.carry_over(fit_circuit(psdd, records, &config, progress)?.model))
        }
    }
}

/// The prior to fit a PSDD towards, and its weight in records: the learned parameters given the rules, and for up to
/// one record the marginals of the records, independent except for the rules.
///
/// The learned parameters alone will not do. To them the values of a column are variables, so an unseen value is as
/// improbable as many surprises at once: all others are false, and this one is true. A uniform prior will not do
/// either: it favours the values that come first.
fn prior(psdd: &Psdd, records: &Records, pseudocount: f64) -> Result<(Circuit, f64), LearnError> {
    if pseudocount <= 0.0 {
        return Ok((Circuit::clone(psdd), 0.0));
    }
    let trues = Smoothing::marginal(pseudocount, records).prior.expect("it has one");
    let share = pseudocount.min(1.0);
    let learned = psdd.log_parameters();
    let weigh = |log: f64| pseudocount * log.exp();
    let learned = Weights {
        tops: learned.tops.iter().map(|logs| logs.map(weigh)).collect(),
        elements: learned.elements.iter().copied().map(weigh).collect(),
    };
    Ok((psdd.independent(&trues).with_estimates_towards(learned, share)?, pseudocount + share))
}

/// A model without the elements that no record uses; every record stays possible. A PSDD is fitted to the records
/// again, smoothed towards their marginals; a mixture keeps its parameters.
fn close(model: ModelKind, records: &Records, prior: Prior, limits: &Limits) -> Result<ModelKind, LearnError> {
    match model {
        ModelKind::Circuit(Certified::Psdd(psdd)) => {
            Ok(ModelKind::Circuit(Certified::Psdd(closed(&psdd, records, prior)?)))
        }
        other => close_except(other, &[], records, prior.weight, limits),
    }
}

/// The same, ignoring the values of the open variables: every world that differs from a record only there stays
/// possible. A PSDD is fitted to the records again, with its parameters as the prior.
///
/// The model must already allow all values of the open variables, as it does in an open world.
fn close_except(
    model: ModelKind,
    except: &[Var],
    records: &Records,
    pseudocount: f64,
    limits: &Limits,
) -> Result<ModelKind, LearnError> {
    let seen = erased(records, except);
    match model {
        ModelKind::Spn(_) => Err(LearnError::Network),
        ModelKind::Mixture(mixture) => Ok(ModelKind::Mixture(components_closed(&mixture, &seen, limits)?)),
        ModelKind::Circuit(circuit) => {
            let closed = certified_closed(&circuit, &seen, limits)?;
            let Certified::Psdd(psdd) = &closed else { return Ok(ModelKind::Circuit(closed)) };
            let counts = psdd.expected_counts(records)?.weights;
            // Without a prior, unseen values of open variables would be lost.
            let pseudocount = if except.is_empty() { pseudocount } else { pseudocount.max(LEAST_PSEUDOCOUNT) };
            let fitted = psdd.with_estimates_towards(counts, pseudocount)?;
            Ok(ModelKind::Circuit(Certified::Psdd(psdd.carry_over(fitted))))
        }
    }
}

/// A PSDD without the elements that no record uses, smoothed only then, so that smoothing does not make them possible.
fn closed(psdd: &Psdd, records: &Records, prior: Prior) -> Result<Psdd, LearnError> {
    let counts = match psdd.counts() {
        Some(counts) => counts.clone(),
        None => psdd.count_records(records)?.weights,
    };
    let mut used = Circuit::clone(psdd).with_estimates(counts, &Smoothing::none())?;
    if prior.weight > 0.0 {
        let smoothing = Smoothing::marginal(prior.weight, records).of_literals(prior.of_literals);
        let counts = used.counts().cloned().expect("kept by the estimates");
        used = used.with_estimates(counts, &smoothing)?;
    }
    Ok(psdd.carry_over(used))
}

/// The least weight of the prior where one is needed.
const LEAST_PSEUDOCOUNT: f64 = 1e-3;

/// A mixture whose components are without the elements that no record uses.
fn components_closed(mixture: &Mixture, seen: &Records, limits: &Limits) -> Result<Mixture, LearnError> {
    let parts = mixture.components().iter().zip(mixture.weights());
    let parts: Vec<(f64, Certified)> = parts
        .map(|(circuit, &weight)| Ok((weight, certified_closed(circuit, seen, limits)?)))
        .collect::<Result<_, LearnError>>()?;
    Ok(Mixture::new(parts).expect("as many components over the same variables"))
}

/// A circuit with its certificate, without the elements that no record uses.
fn certified_closed(circuit: &Certified, seen: &Records, limits: &Limits) -> Result<Certified, LearnError> {
    Ok(circuit.carry_over(used(circuit, seen)?, limits))
}

/// The part of a circuit that records use, with its parameters normalised.
fn used(circuit: &Circuit, seen: &Records) -> Result<Circuit, LearnError> {
    let used = circuit.expected_counts(seen)?;
    if used.possible == 0.0 {
        return Err(LearnError::NothingPossible);
    }
    let share = |log: f64, used: f64| if used > 0.0 { log.exp() } else { 0.0 };
    let Weights { tops, elements } = circuit.log_parameters();
    let top = |([f, t], used): (&[f64; 2], &[f64; 2])| [share(*f, used[0]), share(*t, used[1])];
    let shares = Weights {
        tops: tops.iter().zip(&used.weights.tops).map(top).collect(),
        elements: elements.iter().zip(&used.weights.elements).map(|(log, used)| share(*log, *used)).collect(),
    };
    Ok(Circuit::clone(circuit).with_estimates(shares, &Smoothing::none())?.without_counts())
}

/// The records without the cells of some variables.
fn erased(records: &Records, vars: &[Var]) -> Records {
    let mut builder = RecordsBuilder::new(records.names().clone());
    for (row, &weight) in records.weights().iter().enumerate() {
        let cells = records.row(row).enumerate();
        builder.push(cells.map(|(i, cell)| cell.filter(|_| !vars.contains(&Var(i as u32)))), weight);
    }
    builder.finish()
}
