//! Settings of SLoPP with merged classes.

use crate::circuit::Psdd;
use crate::learn::LearnError;
use crate::learn::error::{check_numbers, check_range, check_weights};
use crate::learn::support::Support;

/// The largest number of classes that may be asked for.
const MAX_CLASSES: usize = 16_384;

/// The deepest plans of copies that may be asked for.
const MAX_DEPTH: usize = 64;

/// With more variables than this other starts are usual.
const MANY_VARIABLES: usize = 200;

/// How much is tried; for a [bag](crate::learn::SloppBag::with_effort), how many models it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// One order, one setting.
    #[default]
    Fast,
    /// Several orders and settings.
    Balanced,
    /// A teacher, distilled to one model.
    Best,
}

impl Effort {
    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Fast => "fast",
            Effort::Balanced => "balanced",
            Effort::Best => "best",
        }
    }
}

/// How the first structure is made, from the top down.
///
/// The surrogate of a set of records is a Chow-Liu tree over the variables that are left, with edges shared by all
/// sets; what a merge loses is the drop of its log-likelihood. Merging ends when every merge loses more than
/// [`Slopp::class_penalty`] and, for each parameter that it saves, the penalty given here in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// By surrogate; a class pays for all parameters that are left.
    Whole(f64),
    /// By surrogate; a class pays for the parameters as far down as it pays to keep it apart, since it may be merged
    /// again from there on.
    Window(f64),
    /// Classes are what the Chow-Liu tree of all variables remembers: the values of those that have neighbours further
    /// down. Right for many variables with few records, where a surrogate finds no class worth its parameters.
    Tree,
}

impl Start {
    /// Everything is merged: every variable for itself.
    pub const NOTHING: Start = Start::Whole(f64::INFINITY);

    /// The starts that are tried for so many variables where none are given.
    ///
    /// By the validation parts of the benchmark datasets: among few variables a smaller penalty often wins; among many
    /// it never does, costs most, and a surrogate may miss what the tree sees.
    pub fn usual(variables: usize) -> Vec<Start> {
        match variables {
            0..=MANY_VARIABLES => vec![Start::Whole(1.0), Start::Whole(0.6)],
            _ => vec![Start::Whole(1.0), Start::Tree],
        }
    }
}

/// SLoPP with merged classes, the default learner: a certified PSDD, on the vtree that is given, or on one that it learns.
///
/// That is a right-linear one, except that where few elements are allowed ([`Slopp::max_elements`]) it may be that of the
/// Chow-Liu tree. Without validation records a tenth of the records is held out by seed to choose by, and the parameters
/// are fitted to all of them.
///
/// ```
/// use slopp::learn::{Slopp, Task};
/// let records = slopp::example::Truth::configurations().sample(500, 1);
/// let learned = Task::new(&records).learn(&Slopp::default(), &())?;
/// assert!(learned.model.psdd().unwrap().vtree().is_right_linear());
/// assert_eq!(learned.origin["held_out"], "50");
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Slopp {
    /// How much is tried.
    pub effort: Effort,
    /// The largest number of classes that an inner vtree node starts with; clones may add to them, on vtrees that are not
    /// right-linear until there are sixteen elements for each class that is allowed.
    pub max_classes: usize,
    /// Whether `max_classes` also holds once there are clones.
    pub capped: bool,
    /// The starts that are tried; if empty, [`Start::usual`] ones.
    pub starts: Vec<Start>,
    /// What a class of a start must gain, in units of `½ ln N` nats.
    pub class_penalty: f64,
    /// How many sweeps are made at most.
    pub sweeps: usize,
    /// What a class of a sweep must gain, in units of `½ ln N` nats.
    pub sweep_penalty: f64,
    /// What a copy must gain, in units of `½ ln N` nats.
    pub clone_penalty: f64,
    /// How many levels of nodes one clone may copy; zero for no clones at all.
    pub clone_depth: usize,
    /// The weights of the prior in records that are tried.
    pub pseudocounts: Vec<f64>,
    /// The weight of the prior in records for the parameters of the result. Without one, it is the one chosen; in a
    /// closed world zero.
    pub pseudocount: Option<f64>,
    /// The largest number of elements. Where the result would have more, merging goes on. Where that is little and no
    /// vtree is given, a Chow-Liu tree on its own vtree, which is not right-linear, is tried too, refined by LearnPSDD.
    pub max_elements: Option<usize>,
}

impl Default for Slopp {
    fn default() -> Slopp {
        Slopp {
            effort: Effort::Fast,
            max_classes: 32,
            capped: false,
            starts: Vec::new(),
            class_penalty: 2.0,
            sweeps: 3,
            sweep_penalty: 2.0,
            clone_penalty: 0.7,
            clone_depth: 6,
            pseudocounts: vec![0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0],
            pseudocount: None,
            max_elements: None,
        }
    }
}

impl Slopp {
    /// Whether no vtree node has more classes than it may have in the end.
    pub(in crate::learn) fn allows_classes_of(&self, psdd: &Psdd) -> bool {
        !self.capped || psdd.most_classes() <= self.max_classes
    }

    pub(in crate::learn) fn check(&self, variables: usize, support: &Support) -> Result<(), LearnError> {
        check_range("max_classes", self.max_classes, 1..=MAX_CLASSES)?;
        check_range("clone_depth", self.clone_depth, 0..=MAX_DEPTH)?;
        check_numbers(self.starts.iter().filter_map(|start| match *start {
            Start::Whole(penalty) | Start::Window(penalty) => Some(("starts", penalty)),
            Start::Tree => None,
        }))?;
        check_numbers([
            ("class_penalty", self.class_penalty),
            ("sweep_penalty", self.sweep_penalty),
            ("clone_penalty", self.clone_penalty),
        ])?;
        check_weights("pseudocounts", &self.pseudocounts)?;
        if let Some(max) = self.max_elements.filter(|&max| max + 1 < variables) {
            return Err(LearnError::setting("max_elements", max, "at least the number of variables less one"));
        }
        self.pseudocount.map_or(Ok(()), |pseudocount| support.check_weight(pseudocount))
    }

    /// The settings of the structure, as name and value.
    pub(in crate::learn) fn structure_settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = vec![("max_classes", self.max_classes.to_string())];
        settings.extend(self.capped.then(|| ("clones", "within max_classes".to_owned())));
        settings.extend(self.max_elements.map(|max| ("max_elements", max.to_string())));
        settings
    }

    /// The same with another largest number of elements.
    pub(in crate::learn) fn with_max_elements(&self, max_elements: usize) -> Slopp {
        Slopp { max_elements: Some(max_elements), ..self.clone() }
    }
}

impl std::fmt::Display for Start {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Start::Whole(penalty) => write!(f, "whole {penalty}"),
            Start::Window(penalty) => write!(f, "window {penalty}"),
            Start::Tree => write!(f, "tree"),
        }
    }
}
