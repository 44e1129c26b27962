//! The result of a learner before support is applied.

use crate::model::ModelKind;
use crate::var::Var;

/// The result of a learner, before support is applied.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Structure {
    /// The model, fitted to the training records.
    pub model: ModelKind,
    /// The prior of its parameters.
    pub prior: Prior,
    /// Whether the model already keeps to the world of the task, because the learner grew it there.
    ///
    /// Closing such a model at the end could drop worlds that a refinement promises to keep.
    pub keeps_world: bool,
    /// The settings that the learner chose, as name and value. They replace those of
    /// [`Learner::settings`](super::Learner::settings).
    pub chosen: Vec<(&'static str, String)>,
    /// Facts about the learning.
    pub report: Report,
}

/// Facts about the learning of a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The weight of the records that were held out to choose by; `None` for learners that need none.
    pub held_out: Option<f64>,
    /// The weight of the records to choose by, if it is too small for the effort; [`Report::FEW_JUDGES`] are
    /// enough.
    pub few_judges: Option<f64>,
    /// After how many columns there are as many classes as structures start with, and how many that is; only where
    /// columns have several values and nobody asked for that limit.
    pub class_limit: Option<(usize, usize)>,
    /// Boolean columns that are true in no record together, learned as one column each.
    pub exclusive: Vec<Vec<Var>>,
    /// How many models were divided into the components of a mixture.
    pub divided: Option<usize>,
    /// The elements of the largest circuit before support was applied, if it has many times more now.
    pub much_smaller: Option<usize>,
    /// The given largest number of elements, if the largest circuit has more.
    pub exceeded: Option<usize>,
}

/// The prior of parameters that are fitted to records.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prior {
    /// The given weight, in records.
    pub asked: Option<f64>,
    /// The weight that the parameters of the structure were fitted with; zero for mixtures and networks, whose
    /// parameters stay.
    pub weight: f64,
    /// Whether the prior of a literal also holds where it is the prime of an element.
    pub of_literals: bool,
    /// The name of the weight in reports; without one it is not reported.
    pub reported_as: Option<&'static str>,
}

impl Report {
    /// Fewer records than this suffice to decide when to stop, but not to judge how improbable unseen worlds are.
    pub const FEW_JUDGES: f64 = 50.0;
}

impl Structure {
    /// A model in which everything is possible, and the prior it was fitted with.
    pub fn new(model: impl Into<ModelKind>, prior: Prior) -> Structure {
        Structure { model: model.into(), prior, keeps_world: false, chosen: Vec::new(), report: Report::default() }
    }

    /// The same, with the weight of the records that were held out.
    pub(super) fn holding_out(mut self, weight: f64) -> Structure {
        self.report.held_out = Some(weight);
        self
    }

    /// A model that keeps to the world of its task.
    pub(crate) fn keeping_world(model: impl Into<ModelKind>, prior: Prior) -> Structure {
        Structure { keeps_world: true, ..Structure::new(model, prior) }
    }
}

impl Prior {
    /// No prior: the parameters stay as they are.
    pub const NONE: Prior = Prior { asked: None, weight: 0.0, of_literals: false, reported_as: None };

    /// The given weight, or else the usual one.
    pub fn new(asked: Option<f64>, usual: f64) -> Prior {
        Prior { asked, weight: asked.unwrap_or(usual), of_literals: false, reported_as: Some("pseudocount") }
    }
}
