//! What the benchmark asks of a learner, and the choice among its settings on the validation part.

use crate::cmd::eval::Score;
use crate::error::Error;
use crate::input::log_likelihoods;
use serde_json::{Map, Value, json};
use slopp::learn::vtree::VtreeMethod;
use slopp::spn::Spn;
use slopp::{Certified, Progress, Records, Vtree};
use std::sync::Arc;

/// A learner of the benchmark: a name, what is tried, and one function.
pub(super) struct Learner {
    /// The name on the command line and in the rows.
    pub(super) name: &'static str,
    /// The settings that are the same in every run, as an object.
    pub(super) fixed: fn() -> Value,
    /// The settings that are chosen on the validation part, with the values that are tried.
    pub(super) grid: &'static [(&'static str, &'static [f64])],
    /// Learns with every setting of the grid and keeps the best.
    pub(super) learn: fn(&Task) -> Result<Chosen, Error>,
}

/// What a learner has to work with. The test part is not here.
pub(super) struct Task<'a> {
    pub(super) learner: &'a Learner,
    pub(super) train: &'a Records,
    pub(super) valid: &'a Records,
    pub(super) seed: u64,
    pub(super) progress: &'a dyn Progress,
}

/// What a learner learned, as far as the benchmark wants to know.
pub(super) trait Learned {
    /// The log-likelihood of each distinct row.
    fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, Error>;

    /// How large it is.
    fn sizes(&self) -> Sizes;

    /// Whether it is proved to be a PSDD.
    fn certified(&self) -> bool;

    /// Its score on records.
    fn score(&self, records: &Records) -> Result<Score, Error> {
        Ok(Score::new(records, &self.log_likelihoods(records)?))
    }
}

/// Sizes as the rows have them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sizes {
    pub(super) nodes: usize,
    pub(super) elements: usize,
    pub(super) parameters: usize,
}

/// The best of what was learned, with the settings that made it.
pub(super) struct Chosen {
    pub(super) settings: Map<String, Value>,
    pub(super) learned: Box<dyn Learned>,
}

impl Learner {
    /// Whether a row with these settings is a result of this learner as it is now.
    pub(super) fn made(&self, settings: &Value) -> bool {
        let fixed = (self.fixed)();
        let fixed = fixed.as_object().into_iter().flatten();
        settings["grid"] == self.grid() && fixed.into_iter().all(|(name, value)| settings[name] == *value)
    }

    fn grid(&self) -> Value {
        self.grid.iter().map(|&(name, values)| (name.to_owned(), json!(values))).collect::<Map<_, _>>().into()
    }
}

impl Task<'_> {
    /// The values to be tried of a setting of the grid.
    pub(super) fn values(&self, name: &str) -> &'static [f64] {
        self.learner.grid.iter().find(|(known, _)| *known == name).map_or(&[], |(_, values)| values)
    }

    /// The vtree of the Chow-Liu tree of the training records.
    pub(super) fn chow_liu_vtree(&self) -> Result<Arc<Vtree>, Error> {
        Ok(Arc::new(VtreeMethod::ChowLiu.build(self.train, self.seed)?))
    }
}

/// Keeps the candidate that explains the validation records best; the first of equals.
pub(super) struct Best<'a> {
    task: &'a Task<'a>,
    found: Option<(Rank, Chosen)>,
}

/// Fewer impossible records first, then a higher likelihood of the others.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Rank(f64, f64);

impl<'a> Best<'a> {
    pub(super) fn new(task: &'a Task<'a>) -> Best<'a> {
        Best { task, found: None }
    }

    /// Scores a candidate, made with these settings of the grid, on the validation records.
    pub(super) fn offer(&mut self, settings: &[(&str, f64)], learned: impl Learned + 'static) -> Result<(), Error> {
        let score = learned.score(self.task.valid)?;
        let rank = Rank(-score.impossible, score.log_likelihood);
        if self.found.as_ref().is_none_or(|(best, _)| rank > *best) {
            let mut all: Map<String, Value> = match (self.task.learner.fixed)() {
                Value::Object(fixed) => fixed,
                _ => Map::new(),
            };
            all.extend(settings.iter().map(|&(name, value)| (name.to_owned(), json!(value))));
            all.insert("grid".to_owned(), self.task.learner.grid());
            self.found = Some((rank, Chosen { settings: all, learned: Box::new(learned) }));
        }
        Ok(())
    }

    /// The best of all that were offered.
    pub(super) fn chosen(self) -> Result<Chosen, Error> {
        let none =
            || Error::new(format!("the learner {} has nothing to try: its grid is empty", self.task.learner.name));
        self.found.map(|(_, chosen)| chosen).ok_or_else(none)
    }
}

impl Learned for Spn {
    fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, Error> {
        Ok(Spn::log_likelihoods(self, records)?)
    }

    /// Edges stand for elements, which a network without a vtree does not have.
    fn sizes(&self) -> Sizes {
        let stats = self.stats();
        Sizes { nodes: stats.nodes, elements: stats.edges, parameters: stats.parameters }
    }

    fn certified(&self) -> bool {
        false
    }
}

impl Learned for Certified {
    fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, Error> {
        log_likelihoods(self, records)
    }

    fn sizes(&self) -> Sizes {
        let stats = self.stats();
        Sizes { nodes: stats.nodes, elements: stats.elements, parameters: stats.parameters }
    }

    fn certified(&self) -> bool {
        matches!(self, Certified::Psdd(_))
    }
}
