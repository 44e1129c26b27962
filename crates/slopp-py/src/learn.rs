//! Learners by name, with their options by keyword.

use crate::error::{Answer, Failure};
use crate::knowledge::Rules;
use crate::model::Model;
use crate::records::Records;
use crate::run::run_long;
use crate::vtree::Vtree;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slopp::learn::baseline::{ChowLiu, Factorised};
use slopp::learn::refine::{LearnPsddConfig, Scope, StrudelConfig};
use slopp::learn::slopp::{Config, PublishedConfig, Variant};
use slopp::learn::{
    LearnPsdd, Learned, Learner, MixtureGrid, Restriction, Start, Strudel, StrudelMixture, Task, World, learnspn,
    merged,
};
use slopp::{AnyModel, Certified};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names of all learners.
pub(crate) const LEARNERS: [&str; 12] = [
    "slopp",
    "slopp-bag",
    "slopp-em",
    "slopp-tree",
    "slopp-kmeans",
    "factorised",
    "chow-liu",
    "learnpsdd",
    "slopp+learnpsdd",
    "strudel",
    "strudel-em",
    "learnspn",
];

/// Those that refine a model if one is given.
const REFINING: [&str; 3] = ["learnpsdd", "strudel", "strudel-em"];

/// The names of the options of all learners.
pub(crate) fn options(py: Python<'_>) -> PyResult<Vec<(&'static str, Vec<&'static str>)>> {
    let known = |learner| {
        let mut options = Options { learner, dict: PyDict::new(py), known: Vec::new() };
        options.learner(None, 0)?;
        Ok((learner, options.known))
    };
    LEARNERS.into_iter().map(known).collect()
}

/// What was learned, and how many elements it has and was to have at most if it has more.
type Made = (Model, Option<(usize, usize)>);

/// Learns a model, and rules out what rules do and what records do not show: values of groups of variables together, or
/// anything but for variables that stay open.
#[pyfunction]
#[pyo3(signature = (learner, records, valid, vtree, start, seed, options, rules, closed, open, progress))]
#[expect(clippy::too_many_arguments, reason = "called by the Python half only, by position")]
pub(crate) fn learn(
    py: Python<'_>,
    learner: &str,
    records: &Records,
    valid: Option<&Records>,
    vtree: Option<&Vtree>,
    start: Option<&Model>,
    seed: u64,
    options: Bound<'_, PyDict>,
    rules: Option<&Rules>,
    closed: Option<&Rules>,
    open: Option<Vec<String>>,
    progress: Option<Py<PyAny>>,
) -> Answer<Made> {
    let mut options = Options { learner, dict: options, known: Vec::new() };
    let learner = options.learner(start, seed)?;
    options.finish()?;
    let (train, valid) = (records.0.clone(), valid.map(|valid| valid.0.clone()));
    let vtree = vtree.map(|vtree| vtree.vtree.clone());
    let names = train.names().clone();
    let rules_of = |rules: Option<&Rules>| rules.map(|rules| (*rules.0).clone());
    let open = open.map(|open| open.iter().map(|name| names.find(name)).collect::<Result<Vec<_>, _>>()).transpose()?;
    let restriction = Restriction { rules: rules_of(rules), closed: rules_of(closed), open, ..Restriction::default() };
    let max = learner.max_elements();
    let (outcome, mut origin) = run_long(py, progress, move |progress| {
        let task = Task { valid: valid.as_deref(), vtree: vtree.as_ref(), seed, ..Task::new(&train) };
        let facts = [
            ("learner", learner.name().to_owned()),
            ("records", train.total().to_string()),
            ("seed", seed.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        let facts = facts.into_iter().chain(learner.settings()).map(|(key, value)| (key.to_owned(), value));
        let origin: BTreeMap<String, String> = facts.collect();
        (restriction.learn(&*learner, &task, progress), origin)
    })?;
    let outcome = outcome?;
    origin.extend(outcome.chosen.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let elements = outcome.learned.most_elements();
    let too_large = max.filter(|&max| elements > max).map(|max| (elements, max));
    Ok((Model::of(outcome.learned.into_model(names, origin)), too_large))
}

/// Merged SLoPP at several sizes inside rules: the largest number of elements that was asked for, and the model.
#[pyfunction]
#[pyo3(signature = (records, valid, vtree, seed, points, rules, progress))]
#[expect(clippy::too_many_arguments, reason = "called by the Python half only, by position")]
pub(crate) fn curve(
    py: Python<'_>,
    records: &Records,
    valid: Option<&Records>,
    vtree: Option<&Vtree>,
    seed: u64,
    points: usize,
    rules: Option<&Rules>,
    progress: Option<Py<PyAny>>,
) -> Answer<Vec<(Option<usize>, Model)>> {
    let (train, valid) = (records.0.clone(), valid.map(|valid| valid.0.clone()));
    let vtree = vtree.map(|vtree| vtree.vtree.clone());
    let names = train.names().clone();
    let restriction = Restriction { rules: rules.map(|rules| (*rules.0).clone()), ..Restriction::default() };
    let sizes = run_long(py, progress, move |progress| {
        let task = Task { valid: valid.as_deref(), vtree: vtree.as_ref(), seed, ..Task::new(&train) };
        restriction.sizes(&merged::Config::new(World::Open), &task, points, progress)
    })??;
    let model = |learned: Learned| Model::of(learned.into_model(names.clone(), BTreeMap::new()));
    Ok(sizes.into_iter().map(|size| (size.max_elements, model(size.outcome.learned))).collect())
}

/// Options by keyword, taken out one by one.
struct Options<'a, 'py> {
    learner: &'a str,
    dict: Bound<'py, PyDict>,
    known: Vec<&'static str>,
}

impl<'py> Options<'_, 'py> {
    /// The option of this name, if it is given and not None.
    fn take<T: for<'a> FromPyObject<'a, 'py>>(&mut self, name: &'static str) -> Answer<Option<T>> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        let Some(value) = self.dict.get_item(name)? else { return Ok(None) };
        self.dict.del_item(name)?;
        if value.is_none() {
            return Ok(None);
        }
        let wrong = || Failure::new("LearnError", format!("{name} cannot be {value}"));
        value.extract().map(Some).map_err(|_| wrong())
    }

    /// The choice of this name among those with names.
    fn choose<T: Copy>(&mut self, name: &'static str, choices: &[(&str, T)]) -> Answer<T> {
        let Some(word) = self.take::<String>(name)? else { return Ok(choices[0].1) };
        let found = choices.iter().find(|(choice, _)| *choice == word).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
            Failure::new("LearnError", format!("{name} is \"{word}\", but must be one of {}", words.join(", ")))
        })
    }

    fn effort(&mut self) -> Answer<merged::Effort> {
        let efforts = [merged::Effort::Fast, merged::Effort::Balanced, merged::Effort::Best];
        self.choose("effort", &efforts.map(|effort| (effort.name(), effort)))
    }

    /// Refuses what the learner does not have.
    fn finish(self) -> Answer<()> {
        for (name, value) in self.dict.iter() {
            if !value.is_none() {
                let (learner, known) = (self.learner, self.known.join(", "));
                let text = format!("the learner {learner} has no option {name}; it has: {known}");
                return Err(Failure::new("LearnError", text));
            }
        }
        Ok(())
    }

    fn learner(&mut self, start: Option<&Model>, seed: u64) -> Answer<Box<dyn Learner + Send>> {
        if start.is_some() && LEARNERS.contains(&self.learner) && !REFINING.contains(&self.learner) {
            let text = format!(
                "start= gives a model to refine, and the learner {} refines none: leave it out, or choose one of {}",
                self.learner,
                REFINING.join(", ")
            );
            return Err(Failure::new("LearnError", text));
        }
        let published = self.learner == "slopp-kmeans";
        let open = [("open", World::Open), ("closed", World::Closed)];
        let closed = [("closed", World::Closed), ("open", World::Open)];
        let world = |options: &mut Self| options.choose("world", if published { &closed } else { &open });
        Ok(match self.learner {
            "slopp" => {
                let world = world(self)?;
                let effort = self.effort()?;
                Box::new(merged::Slopp { config: self.merged(world)?, effort })
            }
            "slopp-bag" => {
                let world = world(self)?;
                let effort = self.effort()?;
                let default = merged::BagConfig::with_effort(self.merged(world)?, effort);
                let members = self.take("components")?.unwrap_or(default.members);
                let divide = !self.take("whole")?.unwrap_or(false);
                Box::new(merged::BagConfig { members, divide, ..default })
            }
            "slopp-em" => Box::new(merged::EmConfig { model: self.merged(World::Open)?, grid: self.grid()? }),
            "slopp-tree" => {
                let world = world(self)?;
                Box::new(self.tree(world)?)
            }
            "slopp-kmeans" => {
                let world = world(self)?;
                let variants = [("notebook", Variant::Notebook), ("algorithm2", Variant::Algorithm2)];
                let variant = self.choose("variant", &variants)?;
                let (k, d) = (self.take("k")?.unwrap_or(3), self.take("d")?.unwrap_or(20));
                let pseudocount = self.pseudocount(world)?;
                Box::new(PublishedConfig { world, pseudocount, ..PublishedConfig::new(variant, k, d) })
            }
            "factorised" => {
                let world = world(self)?;
                Box::new(Factorised { world, pseudocount: self.pseudocount(world)? })
            }
            "chow-liu" => {
                let world = world(self)?;
                Box::new(ChowLiu { world, pseudocount: self.pseudocount(world)? })
            }
            "learnpsdd" => {
                let world = world(self)?;
                Box::new(self.learn_psdd(self::start(start, world)?)?)
            }
            "slopp+learnpsdd" => {
                let world = world(self)?;
                // The refinement has its own pseudocount, and keeps to the size too.
                let refined = self.learn_psdd(Start::Baseline(world))?;
                let start = self.merged(world)?;
                let max_classes = start.capped.then_some(start.max_classes);
                let config = LearnPsddConfig { max_elements: start.max_elements, max_classes, ..refined.config };
                Box::new(LearnPsdd { start: Start::Slopp(start), config })
            }
            "strudel" => {
                let world = world(self)?;
                Box::new(self.strudel(self::start(start, world)?)?)
            }
            "strudel-em" => {
                let world = world(self)?;
                let strudel = self.strudel(self::start(start, world)?)?;
                Box::new(StrudelMixture { strudel, grid: self.grid()? })
            }
            "learnspn" => {
                let default = learnspn::Config::default();
                let leaves = [("chow-liu", learnspn::Leaves::ChowLiu), ("independent", learnspn::Leaves::Independent)];
                Box::new(learnspn::Config {
                    independence: self.take("independence")?.unwrap_or(default.independence),
                    cluster_penalty: self.take("cluster_penalty")?.unwrap_or(default.cluster_penalty),
                    max_clusters: self.take("max_clusters")?.unwrap_or(default.max_clusters),
                    min_records: self.take("min_records")?.unwrap_or(default.min_records),
                    leaves: self.choose("leaves", &leaves)?,
                    steps: self.take("steps")?.unwrap_or(default.steps),
                    pseudocount: self.take("pseudocount")?.unwrap_or(default.pseudocount),
                    seed,
                })
            }
            other => {
                let text = format!("there is no learner \"{other}\"; the learners are {}", LEARNERS.join(", "));
                return Err(Failure::new("LearnError", text));
            }
        })
    }

    fn pseudocount(&mut self, world: World) -> Answer<f64> {
        Ok(self.take("pseudocount")?.unwrap_or(Config::new(world).pseudocount))
    }

    fn merged(&mut self, world: World) -> Answer<merged::Config> {
        let default = merged::Config::new(world);
        let max_classes: Option<usize> = self.take("max_classes")?;
        Ok(merged::Config {
            max_classes: max_classes.unwrap_or(default.max_classes),
            capped: max_classes.is_some(),
            max_elements: self.take("max_elements")?,
            pseudocount: self.take("pseudocount")?,
            ..default
        })
    }

    fn tree(&mut self, world: World) -> Answer<Config> {
        let default = Config::new(world);
        Ok(Config {
            world,
            max_clusters: self.take("max_clusters")?.unwrap_or(default.max_clusters),
            min_records: self.take("min_records")?.unwrap_or(default.min_records),
            split_penalty: self.take("split_penalty")?.unwrap_or(default.split_penalty),
            parameter_penalty: self.take("parameter_penalty")?.unwrap_or(default.parameter_penalty),
            pseudocount: self.pseudocount(world)?,
        })
    }

    /// The mixtures over one structure that are tried.
    fn grid(&mut self) -> Answer<MixtureGrid> {
        let default = MixtureGrid::default();
        Ok(MixtureGrid { components: self.take("components")?.map_or(default.components, |n| vec![n]), ..default })
    }

    fn strudel(&mut self, start: Start) -> Answer<Strudel> {
        let default = StrudelConfig::default();
        let config = StrudelConfig {
            depth: self.take("depth")?.unwrap_or(default.depth),
            steps: self.take("steps")?.unwrap_or(default.steps),
            pseudocount: self.take("pseudocount")?.unwrap_or(default.pseudocount),
            ..default
        };
        let scope = self.choose("scope", &[("prime", Scope::Prime), ("whole", Scope::Whole)])?;
        Ok(Strudel { start, scope, config })
    }

    fn learn_psdd(&mut self, start: Start) -> Answer<LearnPsdd> {
        let default = LearnPsddConfig::default();
        let config = LearnPsddConfig {
            penalty: self.take("penalty")?.unwrap_or(default.penalty),
            depth: self.take("depth")?.unwrap_or(default.depth),
            steps: self.take("steps")?.unwrap_or(default.steps),
            pseudocount: self.take("pseudocount")?.unwrap_or(default.pseudocount),
            ..default
        };
        Ok(LearnPsdd { start, config })
    }
}

/// Where a refinement starts from.
fn start(given: Option<&Model>, world: World) -> Answer<Start> {
    let Some(given) = given else { return Ok(Start::Baseline(world)) };
    Ok(match &*given.0 {
        AnyModel::Circuit(slopp::Model { circuit: Certified::Psdd(psdd), .. }) => Start::Given(Arc::new(psdd.clone())),
        _ => Start::Deterministic(Arc::new(given.deterministic()?.clone())),
    })
}
