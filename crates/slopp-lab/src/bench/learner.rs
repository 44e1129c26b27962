//! What the benchmark knows of a learner, and the choice among its settings on the validation part.

use serde_json::{Map, Value, json};
use slopp::circuit::Smoothing;
use slopp::infer::Score;
use slopp::learn::registry::{self, OptionValue, Options};
use slopp::learn::{Learner, Support, Task, VtreeMethod, VtreeUse};
use slopp::{ModelKind, Progress, Records};
use slopp_cli::Error;
use std::sync::Arc;

/// A learner of the benchmark: a name, what is tried, and how a setting becomes a learner.
pub(super) struct Entry {
    /// The name on the command line and in the rows.
    pub(super) name: &'static str,
    /// The settings that are the same in every run, as an object.
    pub(super) fixed: fn() -> Value,
    /// The settings that are chosen on the validation part, with the values that are tried.
    pub(super) grid: &'static [(&'static str, &'static [f64])],
    /// How the pseudocount is chosen.
    pub(super) pseudocount: Pseudocount,
}

/// How the pseudocount of the grid is chosen.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Pseudocount {
    /// By learning again with each.
    Learned,
    /// By counting again on the learned structure, which is far cheaper; what is chosen is a refitted circuit. Where
    /// columns have several values, which a refit does not know of, it is learned again.
    Refitted,
    /// The same, and what is chosen is learned again. A refitted circuit is not quite the learned one, whose equal
    /// nodes are shared after smoothing; so the row is what `slopp learn` gives with its settings.
    RefittedThenLearned,
}

/// A point of the grid.
#[derive(Clone)]
pub(super) struct Point {
    settings: Vec<(&'static str, f64)>,
}

impl Point {
    fn with(&self, name: &'static str, value: f64) -> Point {
        let mut point = self.clone();
        point.settings.push((name, value));
        point
    }
}

/// The best of what was learned, with the settings that made it.
pub(super) struct Chosen {
    pub(super) settings: Map<String, Value>,
    pub(super) learned: ModelKind,
}

impl Entry {
    /// Whether a row with these settings is a result of this learner as it is now.
    pub(super) fn made(&self, settings: &Value) -> bool {
        let fixed = (self.fixed)();
        let fixed = fixed.as_object().into_iter().flatten();
        settings["grid"] == self.grid() && fixed.into_iter().all(|(name, value)| settings[name] == *value)
    }

    fn grid(&self) -> Value {
        self.grid.iter().map(|&(name, values)| (name.to_owned(), json!(values))).collect::<Map<_, _>>().into()
    }

    /// The name in the table of learners.
    fn learner_name(&self) -> &'static str {
        self.name.split(':').next().unwrap_or(self.name)
    }

    fn is_refitted(&self) -> bool {
        self.pseudocount != Pseudocount::Learned
    }

    /// Learns with the settings of the grid and keeps what explains the validation records best. The test part is not
    /// here.
    pub(super) fn choose(
        &self,
        train: &Records,
        valid: &Records,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Chosen, Error> {
        let support = if (self.fixed)()["world"] == "closed" { Support::closed() } else { Support::open() };
        let task = Task { valid: Some(valid), seed, support, ..Task::new(train) };
        // Made once for all settings: what a refinement starts from, or the vtree.
        let fixed = (self.fixed)();
        let made = fixed["start"].as_str().map(|name| registry::find(name).expect("it is in the table").usual());
        let start = made.map(|made| task.learn(&*made, progress)).transpose()?;
        let start = start.map(|start| start.model);
        let points = self.points();
        let vtree = match points.first().filter(|_| start.is_none()).map(|point| self.learner(point)).transpose()? {
            Some(learner) => match learner.vtree() {
                VtreeUse::Any(method) => Some(Arc::new(method.build(train, seed)?)),
                _ => None,
            },
            None => None,
        };
        let task = Task { vtree: vtree.as_ref(), start: start.as_ref(), ..task };
        let mut best = Best::new(valid);
        for point in points {
            let outcome = task.learn(&*self.learner(&point)?, progress)?;
            match outcome.model.psdd().filter(|_| self.is_refitted()) {
                None => best.offer(point, outcome.model.kind, outcome.chosen)?,
                Some(psdd) => {
                    for &pseudocount in self.values("pseudocount") {
                        let fitted = psdd.fit(train, &Smoothing::marginal(pseudocount, train))?.circuit;
                        best.offer(point.with("pseudocount", pseudocount), fitted.into(), Vec::new())?;
                    }
                }
            }
        }
        let nothing = || Error::new(format!("the learner {} has nothing to try: its grid is empty", self.name));
        let Found { point, mut model, mut chosen, .. } = best.found.ok_or_else(nothing)?;
        let is_learned_again = match self.pseudocount {
            Pseudocount::Learned => false,
            Pseudocount::Refitted => !train.names().groups().is_empty(),
            Pseudocount::RefittedThenLearned => true,
        };
        if is_learned_again {
            let outcome = task.learn(&*self.learner(&point)?, progress)?;
            (model, chosen) = (outcome.model.kind, outcome.chosen);
        }
        let mut settings = self.settings(&point);
        // What the grid chose is reported already.
        chosen.retain(|(name, _)| !settings.contains_key(*name));
        if !chosen.is_empty() {
            let chosen = chosen.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
            settings.insert("chosen".to_owned(), chosen.collect::<Map<_, _>>().into());
        }
        Ok(Chosen { settings, learned: model })
    }

    /// The learner with its fixed settings and those of a point; a refinement is that of LearnPSDD or Strudel alone,
    /// since what it starts from is given. A setting that it does not have is an error.
    fn learner(&self, point: &Point) -> Result<Box<dyn Learner + Send + Sync>, Error> {
        let name = self.learner_name().trim_start_matches("slopp+");
        let entry = registry::find(name).expect("the benchmark names learners of the table");
        let mut options = Options::default();
        let (fixed, mut vtree) = ((self.fixed)(), None);
        for (name, value) in fixed.as_object().into_iter().flatten() {
            match name.as_str() {
                // Used by `choose`.
                "world" | "start" => {}
                "vtree" => vtree = value.as_str(),
                _ => options.set(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str())?,
            }
        }
        for &(name, value) in &point.settings {
            options.insert(name, OptionValue::Number(value))?;
        }
        let learner = entry.learner(&options)?;
        let used = learner.vtree().method().map_or("learned", VtreeMethod::name);
        match vtree.filter(|vtree| *vtree != used) {
            Some(vtree) => Err(Error::new(format!("the learner {} uses the vtree {used}, not {vtree}", self.name))),
            None => Ok(learner),
        }
    }

    fn values(&self, name: &str) -> &'static [f64] {
        self.grid.iter().find(|(known, _)| *known == name).map_or(&[], |(_, values)| values)
    }

    /// All points of the grid, without the pseudocount where that is refitted; the last setting changes fastest.
    fn points(&self) -> Vec<Point> {
        let mut points = vec![Point { settings: Vec::new() }];
        for &(name, values) in self.grid.iter().filter(|(name, _)| !(self.is_refitted() && *name == "pseudocount")) {
            points = points.iter().flat_map(|point| values.iter().map(|&value| point.with(name, value))).collect();
        }
        points
    }

    /// The settings as a row has them.
    fn settings(&self, point: &Point) -> Map<String, Value> {
        let mut all = match (self.fixed)() {
            Value::Object(fixed) => fixed,
            _ => Map::new(),
        };
        all.extend(point.settings.iter().map(|&(name, value)| (name.to_owned(), json!(value))));
        all.insert("grid".to_owned(), self.grid());
        all
    }
}

/// Keeps the candidate that explains the validation records best; the first of equals.
struct Best<'a> {
    valid: &'a Records,
    found: Option<Found>,
}

/// A candidate.
struct Found {
    rank: Rank,
    point: Point,
    model: ModelKind,
    chosen: Vec<(&'static str, String)>,
}

/// Fewer impossible records first, then a higher likelihood of the others.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Rank(f64, f64);

impl<'a> Best<'a> {
    fn new(valid: &'a Records) -> Best<'a> {
        Best { valid, found: None }
    }

    fn offer(&mut self, point: Point, model: ModelKind, chosen: Vec<(&'static str, String)>) -> Result<(), Error> {
        let score = score(&model, self.valid)?;
        let rank = Rank(-score.impossible, score.log_likelihood);
        if self.found.as_ref().is_none_or(|best| rank > best.rank) {
            self.found = Some(Found { rank, point, model, chosen });
        }
        Ok(())
    }
}

/// The score of what was learned on records.
pub(super) fn score(learned: &ModelKind, records: &Records) -> Result<Score, Error> {
    Ok(Score::of(learned.distribution(), records)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_learner_is_measured() {
        let measured = |name: &str| super::super::registry::ALL.iter().any(|entry| entry.learner_name() == name);
        for entry in registry::LEARNERS {
            assert!(measured(entry.name), "{} is not in the benchmark", entry.name);
        }
    }

    #[test]
    fn settings_that_a_learner_does_not_have_are_refused() {
        for entry in super::super::registry::ALL {
            let point = &entry.points()[0];
            entry.learner(point).unwrap_or_else(|error| panic!("{}: {error:?}", entry.name));
        }
        let slopp = |fixed| Entry { name: "slopp", fixed, grid: &[], pseudocount: Pseudocount::Learned };
        let none = Point { settings: Vec::new() };
        for fixed in [|| json!({ "efort": "best" }), || json!({ "k": 3 }), || json!({ "vtree": "balanced" })] {
            assert!(slopp(fixed).learner(&none).is_err(), "{}", fixed());
        }
    }
}
