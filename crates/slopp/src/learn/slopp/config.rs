//! Settings of SLoPP with merged classes.

use crate::circuit::Psdd;
use crate::learn::LearnError;
use crate::learn::error::{check_numbers, check_range, check_weights};
use crate::learn::support::Support;

/// The largest `max_classes`.
const MAX_CLASSES: usize = 16_384;

/// The largest `clone_depth`.
const MAX_DEPTH: usize = 64;

/// With more variables than this, the usual starts differ.
const MANY_VARIABLES: usize = 200;

/// So many times more classes for columns with several values.
const MORE_CLASSES: usize = 4;

/// How much is tried; for a [bag](crate::learn::SloppBag), how many models it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// One order, one setting.
    #[default]
    Fast,
    /// Several orders and settings.
    Balanced,
    /// A teacher, distilled into one model.
    Best,
}

impl Effort {
    /// The name of the effort.
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
/// The surrogate of a set of records is a Chow-Liu tree over the remaining variables, with edges shared by all sets.
/// The loss of a merge is the drop in its log-likelihood. Merging ends when every merge loses more than
/// [`Slopp::class_penalty`] plus, for each parameter that it saves, the penalty given here in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// By surrogate; a class pays for all remaining parameters.
    Whole(f64),
    /// By surrogate; a class pays for the parameters only as far down as keeping it apart pays, since it may be merged
    /// again from there on.
    Window(f64),
    /// One class for each combination of the variables that have neighbours further down in the Chow-Liu tree. Good for
    /// many variables with few records, where a surrogate finds no class worth its parameters.
    Tree,
}

impl Start {
    /// All classes merged: independent variables.
    pub const NOTHING: Start = Start::Whole(f64::INFINITY);

    /// The default starts for this number of columns, which are all Boolean or not.
    ///
    /// Measured on the validation parts of the benchmark datasets: with few variables a smaller penalty often wins.
    /// With many it never does and costs most, and a surrogate may miss dependences that the tree has. Columns with
    /// several values have many parameters, which small tables do not pay for.
    pub fn usual(columns: usize, are_boolean: bool) -> Vec<Start> {
        match (columns > MANY_VARIABLES, are_boolean) {
            (false, true) => vec![Start::Whole(1.0), Start::Whole(0.6)],
            (true, true) => vec![Start::Whole(1.0), Start::Tree],
            (false, false) => vec![Start::Whole(1.0), Start::Whole(2.0), Start::Whole(4.0), Start::Tree],
            (true, false) => vec![Start::Whole(0.3), Start::Whole(1.0), Start::Tree],
        }
    }
}

/// SLoPP with merged classes, the default learner: a certified PSDD, on a given vtree or on one that it learns.
///
/// The learned vtree is right-linear over columns, or that of the Chow-Liu tree if few elements are allowed
/// ([`Slopp::max_elements`]) or columns have several values and the tree is better. Boolean columns that exclude each
/// other may be taken together ([`Report::exclusive`](crate::learn::Report::exclusive)). Without validation records a
/// tenth of the records is held out by seed, and in the end the parameters are fitted to all records.
///
/// ```
/// use slopp::learn::{Slopp, Task};
/// let records = slopp::example::Truth::configurations().sample(500, 1);
/// let learned = Task::new(&records).learn(&Slopp::default(), &())?;
/// assert!(learned.model.psdd().is_some());
/// // Engines, bodies and the like: one Boolean column per value, never two of them true.
/// assert!(learned.report.exclusive.len() > 3);
/// assert_eq!(learned.model.origin["held_out"], "50");
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Slopp {
    /// How much is tried.
    pub effort: Effort,
    /// The largest number of classes that an inner vtree node starts with. Clones may add more; on vtrees that are not
    /// right-linear, up to sixteen elements for each allowed class.
    pub max_classes: usize,
    /// Whether `max_classes` also limits clones.
    pub capped: bool,
    /// The starts to try; if empty, those of [`Start::usual`].
    pub starts: Vec<Start>,
    /// The gain that a class of a start needs, in units of `½ ln N` nats.
    pub class_penalty: f64,
    /// The largest number of sweeps.
    pub sweeps: usize,
    /// The gain that a class of a sweep needs, in units of `½ ln N` nats.
    pub sweep_penalty: f64,
    /// The gain that a copy needs, in units of `½ ln N` nats.
    pub clone_penalty: f64,
    /// How many levels of nodes one clone may copy; zero for no clones.
    pub clone_depth: usize,
    /// The weights of the prior to try, in records.
    pub pseudocounts: Vec<f64>,
    /// The weight of the prior in records for the parameters of the result; by default the chosen one, in a closed
    /// world zero.
    pub pseudocount: Option<f64>,
    /// The largest number of elements; merging continues until the result has no more. If it is small and no vtree is
    /// given, a Chow-Liu tree on its own vtree, refined by LearnPSDD, is tried too.
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
    /// The largest number of classes that a layer starts with. The classes after a column with many values are as many,
    /// so unless it is asked for otherwise they may be more than those of variables.
    pub(super) fn starting_classes(&self, are_variables: bool) -> usize {
        match are_variables || self.capped {
            true => self.max_classes,
            false => MORE_CLASSES * self.max_classes,
        }
    }

    /// Whether every vtree node of a result keeps to the largest number of classes.
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
            return Err(LearnError::TooFewElements { max, least: variables - 1 });
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
