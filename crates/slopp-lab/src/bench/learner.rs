//! What the benchmark knows of a learner, and the choice among its settings on the validation part.

use serde_json::{Map, Value, json};
use slopp::circuit::Smoothing;
use slopp::infer::Score;
use slopp::learn::registry::{self, OptionValue, Options};
use slopp::learn::{Learner, Support, Task, VtreeUse};
use slopp::{ModelKind, Progress, Records};
use slopp_cli::Error;
use std::sync::Arc;

/// A learner of the benchmark: a name, what is tried, and how a setting becomes a learner.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The name on the command line and in the rows.
    pub(super) name: &'static str,
    /// The settings that are the same in every run and not those of the table of learners, as an object.
    pub(super) differs: fn() -> Value,
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
    /// A learner with its usual settings, of which nothing else is tried.
    pub(super) const fn usual(name: &'static str) -> Entry {
        Entry { name, differs: || json!({}), grid: &[], pseudocount: Pseudocount::Learned }
    }

    /// The settings that are the same in every run: its world, unless it obeys no rules, its vtree, unless it learns
    /// one, and those that differ.
    fn fixed(&self) -> Map<String, Value> {
        let known = self.known();
        let mut fixed = Map::new();
        if known.obeys_rules() {
            fixed.insert("world".to_owned(), known.world.name().into());
        }
        if let Some(method) = known.usual().vtree().method() {
            fixed.insert("vtree".to_owned(), method.name().into());
        }
        fixed.extend(
            (self.differs)().as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())),
        );
        fixed
    }

    /// Its entry in the table of learners.
    fn known(&self) -> &'static registry::Entry {
        registry::find(self.learner_name()).expect("the benchmark names learners of the table")
    }

    /// Whether a row with these settings is a result of this learner as it is now.
    pub(super) fn made(&self, settings: &Value) -> bool {
        settings["grid"] == self.grid() && self.fixed().iter().all(|(name, value)| settings[name] == *value)
    }

    fn grid(&self) -> Value {
        self.grid.iter().map(|&(name, values)| (name.to_owned(), json!(values))).collect::<Map<_, _>>().into()
    }

    /// The name in the table of learners.
    pub(super) fn learner_name(&self) -> &'static str {
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
        let fixed = self.fixed();
        let is_closed = fixed.get("world").is_some_and(|world| world == "closed");
        let support = if is_closed { Support::closed() } else { Support::open() };
        let task = Task { valid: Some(valid), seed, support, ..Task::new(train) };
        // Made once for all settings: what a refinement starts from, or the vtree.
        let made = fixed
            .get("start")
            .and_then(Value::as_str)
            .map(|name| registry::find(name).expect("it is in the table").usual());
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
        for (name, value) in &self.fixed() {
            match name.as_str() {
                // Used by `choose`, or made by the learner.
                "world" | "start" | "vtree" => {}
                _ => options.set(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str())?,
            }
        }
        for &(name, value) in &point.settings {
            options.insert(name, OptionValue::Number(value))?;
        }
        Ok(entry.learner(&options)?)
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
        let mut all = self.fixed();
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

    /// Rows that were measured go on counting while the table of learners says the same.
    #[test]
    fn what_is_fixed_comes_from_the_table_of_learners() {
        let fixed = |name: &str| Value::from(super::super::registry::find(name).unwrap().fixed());
        assert_eq!(fixed("chow-liu"), json!({ "world": "open", "vtree": "chow-liu" }));
        assert_eq!(fixed("slopp:best"), json!({ "world": "open", "effort": "best" }));
        let kmeans = |world| json!({ "world": world, "vtree": "chow-liu", "variant": "notebook", "k": 3, "d": 20 });
        assert_eq!(["slopp-kmeans", "slopp-kmeans:open"].map(fixed), ["closed", "open"].map(kmeans));
        assert_eq!(fixed("learnspn"), json!({ "leaves": "chow-liu", "max_clusters": 2 }));
        for entry in registry::LEARNERS {
            let rows = super::super::registry::ALL.iter().filter(|row| row.learner_name() == entry.name);
            assert!(rows.count() > 0, "{} is not in the benchmark", entry.name);
        }
    }

    #[test]
    fn settings_that_a_learner_does_not_have_are_refused() {
        for entry in super::super::registry::ALL.iter() {
            let point = &entry.points()[0];
            entry.learner(point).unwrap_or_else(|error| panic!("{}: {error:?}", entry.name));
        }
        let slopp = |differs| Entry { differs, ..Entry::usual("slopp") };
        let none = Point { settings: Vec::new() };
        for differs in [|| json!({ "efort": "best" }), || json!({ "k": 3 })] {
            assert!(slopp(differs).learner(&none).is_err(), "{}", differs());
        }
    }
}
