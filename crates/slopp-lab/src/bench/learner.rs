//! What the benchmark knows of a learner, and the choice among its settings on the validation part.

use serde_json::{Map, Value, json};
use slopp::circuit::Smoothing;
use slopp::learn::{Learned, Learner, Outcome, Start, Task, VtreeUse};
use slopp::{Progress, Records};
use slopp_cli::{Error, Score};
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
    /// What a refinement starts from: learned once, for all settings.
    pub(super) start: Option<fn() -> Start>,
    /// The learner with the settings of a point of the grid.
    pub(super) make: fn(&Point) -> Box<dyn Learner>,
}

/// How the pseudocount of the grid is chosen.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Pseudocount {
    /// By learning again with each.
    Learned,
    /// By counting again on the learned structure, which is far cheaper; what is chosen is a refitted circuit.
    Refitted,
    /// The same, and what is chosen is learned again. A refitted circuit is not quite the learned one, whose equal
    /// nodes are shared after smoothing; so the row is what `slopp learn` gives with its settings.
    RefittedThenLearned,
}

/// A point of the grid.
#[derive(Clone)]
pub(super) struct Point {
    settings: Vec<(&'static str, f64)>,
    start: Option<Start>,
}

impl Point {
    /// The value of a setting, or this one where it is not chosen yet.
    pub(super) fn or(&self, name: &str, default: f64) -> f64 {
        self.settings.iter().find(|(known, _)| *known == name).map_or(default, |&(_, value)| value)
    }

    /// What a refinement starts from.
    pub(super) fn start(&self) -> Start {
        self.start.clone().expect("the entry has a start")
    }

    fn with(&self, name: &'static str, value: f64) -> Point {
        let mut point = self.clone();
        point.settings.push((name, value));
        point
    }
}

/// The best of what was learned, with the settings that made it.
pub(super) struct Chosen {
    pub(super) settings: Map<String, Value>,
    pub(super) learned: Learned,
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
        let task = Task { valid: Some(valid), seed, ..Task::new(train) };
        let start = self.start.map(|start| start().psdd(&task, progress)).transpose()?.map(Start::Given);
        let points = self.points(start);
        // Made once for all settings.
        let vtree = match points.first().map(|point| (self.make)(point).vtree()) {
            Some(VtreeUse::Any(method)) => Some(Arc::new(method.build(train, seed)?)),
            _ => None,
        };
        let task = Task { vtree: vtree.as_ref(), ..task };
        let mut best = Best::new(valid);
        for point in points {
            let outcome = (self.make)(&point).learn(&task, progress)?;
            match outcome.learned.psdd().filter(|_| self.is_refitted()) {
                None => best.offer(point, outcome)?,
                Some(psdd) => {
                    for &pseudocount in self.values("pseudocount") {
                        let fitted = psdd.fit(train, &Smoothing::marginal(pseudocount, train))?.circuit;
                        best.offer(point.with("pseudocount", pseudocount), Outcome::new(fitted, pseudocount))?;
                    }
                }
            }
        }
        let nothing = || Error::new(format!("the learner {} has nothing to try: its grid is empty", self.name));
        let (point, mut outcome) = best.found.map(|(_, point, outcome)| (point, outcome)).ok_or_else(nothing)?;
        if self.pseudocount == Pseudocount::RefittedThenLearned {
            outcome = (self.make)(&point).learn(&task, progress)?;
        }
        let mut settings = self.settings(&point);
        if !outcome.chosen.is_empty() {
            let chosen = outcome.chosen.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
            settings.insert("chosen".to_owned(), chosen.collect::<Map<_, _>>().into());
        }
        Ok(Chosen { settings, learned: outcome.learned })
    }

    fn values(&self, name: &str) -> &'static [f64] {
        self.grid.iter().find(|(known, _)| *known == name).map_or(&[], |(_, values)| values)
    }

    /// All points of the grid, without the pseudocount where that is refitted; the last setting changes fastest.
    fn points(&self, start: Option<Start>) -> Vec<Point> {
        let mut points = vec![Point { settings: Vec::new(), start }];
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
    found: Option<(Rank, Point, Outcome)>,
}

/// Fewer impossible records first, then a higher likelihood of the others.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Rank(f64, f64);

impl<'a> Best<'a> {
    fn new(valid: &'a Records) -> Best<'a> {
        Best { valid, found: None }
    }

    fn offer(&mut self, point: Point, outcome: Outcome) -> Result<(), Error> {
        let score = score(&outcome.learned, self.valid)?;
        let rank = Rank(-score.impossible, score.log_likelihood);
        if self.found.as_ref().is_none_or(|(best, ..)| rank > *best) {
            self.found = Some((rank, point, outcome));
        }
        Ok(())
    }
}

/// The score of what was learned on records.
pub(super) fn score(learned: &Learned, records: &Records) -> Result<Score, Error> {
    Ok(Score::new(records, &learned.distribution().log_likelihoods(records)?))
}
