//! Learners by name, with their options by keyword: all of them from the one table of the library.

use crate::error::{Answer, Failure};
use crate::knowledge::Rules;
use crate::model::Model;
use crate::records::Records;
use crate::run::{Watch, run_long};
use crate::vtree::Vtree;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use slopp::Var;
use slopp::learn::registry::{
    self, Entry, LEARNERS, LearnerOption, Makes, OPTIONS, OptionKind, OptionValue, Options, WorldRequest, find,
};
use slopp::learn::{LearnError, OnViolation, Outcome, Report, Task, VtreeFrom, World};
use std::sync::Arc;

/// The table of learners.
pub(crate) fn learners(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let learner = |entry: &'static Entry| {
        let dict = PyDict::new(py);
        let makes = match entry.makes {
            Makes::Psdd => "Psdd",
            Makes::Deterministic => "Deterministic",
            Makes::Circuit => "Circuit",
            Makes::Mixture => "Mixture",
            Makes::Spn => "Spn",
        };
        let options = PyDict::new(py);
        entry.options.iter().try_for_each(|(name, default)| options.set_item(name, default))?;
        dict.set_item("name", entry.name)?;
        dict.set_item("about", entry.about)?;
        dict.set_item("makes", makes)?;
        dict.set_item("world", entry.support().world.name())?;
        dict.set_item("refines", entry.refines())?;
        dict.set_item("obeys_rules", entry.obeys_rules())?;
        dict.set_item("options", options)?;
        Ok(dict)
    };
    PyList::new(py, LEARNERS.iter().map(learner).collect::<PyResult<Vec<_>>>()?)
}

/// The table of their options.
pub(crate) fn options(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let option = |option: &LearnerOption| {
        let (dict, words) = (PyDict::new(py), PyDict::new(py));
        let kind = match option.kind {
            OptionKind::Whole(_) => "int",
            OptionKind::Real => "float",
            OptionKind::Flag => "bool",
            OptionKind::Word(all) => {
                all.iter().try_for_each(|(word, about)| words.set_item(word, about))?;
                "str"
            }
        };
        dict.set_item("name", option.name)?;
        dict.set_item("about", option.about)?;
        dict.set_item("default", option.default_text())?;
        dict.set_item("kind", kind)?;
        dict.set_item("words", words)?;
        Ok(dict)
    };
    PyList::new(py, OPTIONS.iter().map(option).collect::<PyResult<Vec<_>>>()?)
}

/// The name of the world that is asked for, or else the usual one of a learner; refuses what contradicts itself.
#[pyfunction]
#[pyo3(signature = (learner, world, closed, open, rules, start))]
pub(crate) fn world_for(
    learner: &str,
    world: Option<&str>,
    closed: bool,
    open: bool,
    rules: bool,
    start: bool,
) -> Answer<&'static str> {
    let world = world.map(|world| if world == "closed" { World::CLOSED } else { World::Open });
    Ok(entry(learner)?.world_for(WorldRequest { world, closed, open, rules, start })?.name())
}

/// What is possible.
#[pyclass(frozen, module = "slopp._slopp")]
pub(crate) struct Support(pub(crate) slopp::learn::Support);

#[pymethods]
impl Support {
    /// Rules, a world, groups of variables that are closed as records show them, and variables that stay open.
    #[new]
    fn new(
        seen: &Records,
        rules: Option<&Rules>,
        world: &str,
        closed: Vec<Vec<String>>,
        open: Option<Vec<String>>,
    ) -> Answer<Support> {
        let names = seen.0.names();
        let vars = |list: &Vec<String>| -> Answer<Vec<Var>> {
            Ok(list.iter().map(|name| names.find(name)).collect::<Result<_, _>>()?)
        };
        let world = match (&open, world) {
            (Some(open), _) => World::Closed { except: vars(open)? },
            (None, "closed") => World::CLOSED,
            (None, _) => World::Open,
        };
        let rules = rules.map(|rules| rules.0.over(names)).transpose()?;
        let groups = closed.iter().map(vars).collect::<Answer<Vec<_>>>()?;
        Ok(Support(slopp::learn::Support { rules, ..slopp::learn::Support::of(world) }.with_groups(&seen.0, &groups)))
    }
}

impl Support {
    /// The same within the limits of some work.
    pub(crate) fn within(&self, watch: &Watch) -> slopp::learn::Support {
        slopp::learn::Support { limits: watch.limits(), ..self.0.clone() }
    }
}

/// A vtree as the Python half gives it: a vtree, and whether it was a text; or a method.
#[derive(FromPyObject)]
pub(crate) enum OnVtree<'py> {
    Given(Bound<'py, Vtree>, bool),
    Method(String),
}

/// A vtree, and where it comes from.
type Source = (Option<Arc<slopp::Vtree>>, Option<VtreeFrom>);

fn vtree_from(vtree: Option<OnVtree<'_>>) -> Answer<Source> {
    Ok(match vtree {
        None => (None, None),
        Some(OnVtree::Method(method)) => (None, Some(VtreeFrom::Method(method.parse()?))),
        Some(OnVtree::Given(vtree, is_text)) => {
            (Some(vtree.get().vtree.clone()), Some(if is_text { VtreeFrom::Text } else { VtreeFrom::File }))
        }
    })
}

/// The facts about the learning of a model.
fn facts<'py>(py: Python<'py>, report: &Report, elements: usize) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("elements", elements)?;
    dict.set_item("exceeded", report.exceeded)?;
    dict.set_item("much_smaller", report.much_smaller)?;
    dict.set_item("class_limit", report.class_limit)?;
    dict.set_item("divided", report.divided)?;
    dict.set_item("held_out", report.held_out)?;
    dict.set_item("few_judges", report.few_judges.map(|judges| (judges, Report::FEW_JUDGES)))?;
    Ok(dict)
}

/// Learns a model.
#[pyfunction]
#[pyo3(signature = (learner, records, valid, vtree, start, seed, options, support, progress))]
#[expect(clippy::too_many_arguments, reason = "called by the Python half only, by position")]
pub(crate) fn learn<'py>(
    py: Python<'py>,
    learner: &str,
    records: &Records,
    valid: Option<&Records>,
    vtree: Option<OnVtree<'_>>,
    start: Option<&Model>,
    seed: u64,
    options: &Bound<'_, PyDict>,
    support: &Support,
    progress: Option<Py<PyAny>>,
) -> Answer<(Model, Bound<'py, PyDict>)> {
    let learner = entry(learner)?.learner(&options_of(options)?)?;
    start.map_or(Ok(()), |start| start.deterministic().map(|_| ()))?;
    let (train, valid) = (records.0.clone(), valid.map(|valid| valid.0.clone()));
    let (vtree, vtree_from) = vtree_from(vtree)?;
    let start = start.map(|start| start.0.clone());
    let support = Support(support.0.clone());
    let Outcome { model, report, .. } = run_long(py, progress, move |progress| {
        let support = &support.within(progress);
        let (vtree, start) = (vtree.as_ref(), start.as_deref());
        Task { valid: valid.as_deref(), vtree, vtree_from, start, support, seed, ..Task::new(&train) }
            .learn(&*learner, progress)
    })??;
    let facts = facts(py, &report, model.most_elements())?;
    Ok((Model::of(model), facts))
}

/// SLoPP at several sizes: the largest number of elements that was asked for, and the model.
#[pyfunction]
#[pyo3(signature = (records, valid, vtree, seed, points, progress))]
pub(crate) fn curve(
    py: Python<'_>,
    records: &Records,
    valid: Option<&Records>,
    vtree: Option<OnVtree<'_>>,
    seed: u64,
    points: usize,
    progress: Option<Py<PyAny>>,
) -> Answer<Vec<(Option<usize>, Model)>> {
    let (train, valid) = (records.0.clone(), valid.map(|valid| valid.0.clone()));
    let (vtree, vtree_from) = vtree_from(vtree)?;
    let sizes = run_long(py, progress, move |progress| {
        let task = Task { valid: valid.as_deref(), vtree: vtree.as_ref(), vtree_from, seed, ..Task::new(&train) };
        task.sizes(&*registry::default().usual(), points, progress)
    })??;
    Ok(sizes.into_iter().map(|size| (size.max_elements, Model::of(size.outcome.model))).collect())
}

/// Which records break rules, as the Python half shows it: for each record its place, the rules it breaks, or what they
/// say together.
type Broken = (f64, f64, Vec<(usize, Vec<String>, String)>);

/// Records that obey rules, if they are others than those that were given; those that break one, where they are
/// refused.
#[pyfunction]
pub(crate) fn enforce(
    py: Python<'_>,
    rules: &Rules,
    records: &Records,
    on_violation: &str,
) -> Answer<(Option<Records>, Option<Broken>)> {
    let (rules, records) = (rules.0.clone(), records.0.clone());
    let on_violation = OnViolation::ALL.into_iter().find(|known| known.name() == on_violation);
    let on_violation = on_violation.ok_or_else(|| Failure::new("ArgumentError", "there is no such word"))?;
    let enforced = run_long(py, None, move |watch: &Watch| rules.enforce(&records, on_violation, &watch.limits()))?;
    match enforced {
        Ok(enforced) => Ok((enforced.changed.map(|changed| Records(Arc::new(changed))), None)),
        Err(LearnError::Broken(found)) => {
            let names = found.rules.names();
            let text = |&i: &usize| found.rules[i].text.clone();
            let list = found.records.iter().map(|violation| {
                let together = violation.rule().display(names).to_string();
                (violation.record, violation.broken.iter().map(text).collect(), together)
            });
            Ok((None, Some((found.weight, found.total, list.collect()))))
        }
        Err(LearnError::Contradiction { rules, conflict }) => {
            let lines: Vec<&str> = conflict.rules.iter().map(|&i| rules[i].text.as_str()).collect();
            let lines = lines.join("\n  ");
            let text = format!("no world obeys the rules; these contradict each other:\n  {lines}");
            Err(Failure::new("LearnError", text))
        }
        Err(LearnError::NothingLeft) => Err(Failure::new(
            "RecordsError",
            "every record breaks a rule, so dropping leaves none; look at the rules, or on_violation=\"repair\"",
        )),
        Err(error) => Err(error.into()),
    }
}

/// The learner of this name.
fn entry(name: &str) -> Answer<&'static Entry> {
    find(name).ok_or_else(|| {
        let known: Vec<&str> = LEARNERS.iter().map(|entry| entry.name).collect();
        Failure::new("LearnError", format!("there is no learner \"{name}\"; the learners are {}", known.join(", ")))
    })
}

/// Options by keyword; None is not given.
pub(crate) fn options_of(given: &Bound<'_, PyDict>) -> Answer<Options> {
    let mut options = Options::default();
    for (name, value) in given.iter().filter(|(_, value)| !value.is_none()) {
        let name: String = name.extract()?;
        let value = match (value.extract(), value.extract()) {
            (Ok(flag), _) => OptionValue::Flag(flag),
            (_, Ok(number)) => OptionValue::Number(number),
            // What is neither a number nor a word is refused as a word that no option knows.
            _ => OptionValue::Word(value.str()?.to_string()),
        };
        options.insert(&name, value)?;
    }
    Ok(options)
}
