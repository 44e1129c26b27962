//! Why nothing could be learned, such as records that break rules, and the checks that every learner makes first.

use crate::advice::Advice;
use crate::circuit::{BuildError, Reason, Refusal};
use crate::data::{MAX_PAIR_VARIABLES, Records};
use crate::infer::QueryError;
use crate::logic::{Clause, Conflict, LogicError, Rules, Stopped};
use crate::names::{NameError, abridged, quoted_list};
use crate::spn::SpnError;
use crate::var::Lit;
use crate::vtree::Vtree;
use num_bigint::BigUint;
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Why nothing could be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// There are no records.
    #[error("there are no records to learn from; give at least one")]
    NoRecords,
    /// There are no variables.
    #[error("the records have no variables; give data with at least one column")]
    NoVariables,
    /// The vtree is over other variables than the records.
    #[error("the vtree has {vtree} variables but the records have {records}: use a vtree made for these records")]
    WrongVtree {
        /// Variables of the vtree.
        vtree: usize,
        /// Variables of the records.
        records: usize,
    },
    /// The validation records are over other variables than the training records.
    #[error(
        "the validation records have {valid} variables, but the training records have {train}; use parts of one data set"
    )]
    WrongValidation {
        /// Variables of the validation records.
        valid: usize,
        /// Variables of the training records.
        train: usize,
    },
    /// No method to make vtrees has this name.
    #[error("there is no vtree method \"{name}\"; the methods are {known}")]
    NoSuchVtree {
        /// The name.
        name: String,
        /// The methods.
        known: String,
    },
    /// Too many variables to count all pairs.
    #[error(
        "this counts all pairs of variables, but {variables} variables are too many (limit {MAX_PAIR_VARIABLES}); use \
         the vtree balanced, right-linear, left-linear or random and a learner that does not count pairs"
    )]
    TooManyPairs {
        /// How many variables there are.
        variables: usize,
    },
    /// A vtree is given together with a model to start from, which has its own.
    #[error("the model to start from has its own vtree, but another is given: leave one of them out")]
    VtreeOfStart,
    /// A vtree is given to a learner that takes none.
    #[error("the learner {learner} takes no vtree, but one is given: leave it out, or choose another learner")]
    VtreeGiven {
        /// The learner.
        learner: &'static str,
    },
    /// A model to start from is given to a learner that refines none.
    #[error(
        "the learner {learner} does not refine models: leave the model to start from out, or choose another learner"
    )]
    StartGiven {
        /// The learner.
        learner: &'static str,
    },
    /// Cells are missing.
    #[error(
        "{rows} of {total} records have missing cells, but this learner needs complete records: drop them or fill them \
         in"
    )]
    MissingCells {
        /// How many records have missing cells.
        rows: usize,
        /// How many records there are.
        total: usize,
    },
    /// The circuit to start from is not a PSDD.
    #[error(
        "the circuit to start from is not a PSDD: {reason}; start from one, or let elements be split by their whole \
         scope"
    )]
    NotPsdd {
        /// Why not.
        reason: Reason,
    },
    /// There are too few records to hold some out.
    #[error("there are too few records to hold some out; give validation records")]
    NothingToChooseBy,
    /// No record is possible.
    #[error("none of the records is possible under the circuit, so it cannot be fitted to them; learn a new one")]
    NothingPossible,
    /// There are no counts to add to.
    #[error("the circuit has no counts to add records to: fit it to all records instead")]
    NoCounts,
    /// Records can only be added to exact counts, not to expected ones.
    #[error(
        "records can only be added to exact counts, but {}, so counts would only be expected ones",
        if *.missing { "cells are missing" } else { "sums of the model overlap" }
    )]
    ExpectedCounts {
        /// Whether cells are missing; otherwise the model is not deterministic.
        missing: bool,
    },
    /// A structure to be shared by components must be deterministic.
    #[error("the circuit to start from is not deterministic ({0}); start from a PSDD")]
    NotDeterministic(Reason),
    /// The records do not fit a circuit.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A setting is out of its range.
    #[error("{name} is {value}, but must be {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// The values it may have.
        expected: Cow<'static, str>,
    },
    /// The size is less than any circuit over all variables has.
    #[error("max_elements is {max}, too small: a circuit over these variables needs {least}")]
    TooFewElements {
        /// The largest number of elements that is allowed.
        max: usize,
        /// The least that is possible.
        least: usize,
    },
    /// Requests about what is possible contradict each other.
    #[error("{}", .0.words(&|option, value| value.map_or(option.to_owned(), |value| format!("{option} {value}"))))]
    Together(Together),
    /// The learner has only an open world, and something was to be closed or to obey rules.
    #[error(
        "the learner {learner} has only an open world, where everything is possible: a sum-product network has no \
         vtree, so it cannot be conditioned on rules"
    )]
    OnlyOpen {
        /// The learner.
        learner: &'static str,
        /// The request: `world`, `closed`, `open` or `rules`.
        option: &'static str,
        /// The learners that can close worlds.
        owners: Vec<&'static str>,
    },
    /// No learner has an option of this name.
    #[error("no learner has an option {option}; the options are {}", .known.join(", "))]
    NoSuchOption {
        /// The name.
        option: String,
        /// All options.
        known: Vec<&'static str>,
    },
    /// The option belongs to other learners only.
    #[error("{option} belongs to {}, not to {learner}", .owners.join(", "))]
    OptionOfOthers {
        /// The learner.
        learner: &'static str,
        /// The option.
        option: &'static str,
        /// The learners that have it.
        owners: Vec<&'static str>,
    },
    /// The rules name what the records do not have.
    #[error("the rules are not about these records: {0}")]
    RuleNames(#[source] NameError),
    /// No world obeys the rules.
    #[error("no world obeys the rules; change or leave out one of those that contradict each other")]
    Contradiction {
        /// All rules; the last ones say that every column has one value.
        rules: Rules,
        /// The rules that contradict each other.
        conflict: Conflict,
    },
    /// Records break rules and were to be refused.
    #[error("records of weight {} of {} break a rule; drop or repair them", .0.weight, .0.total)]
    Broken(Box<Violations>),
    /// No record is left.
    #[error("every record breaks a rule, so dropping leaves none; check the rules, or repair the records")]
    NothingLeft,
    /// Rules are compiled on a vtree, and a sum-product network has none.
    #[error("a sum-product network cannot be conditioned on rules; choose a learner that gives a circuit")]
    Network,
    /// No world of the learned model obeys the rules.
    #[error("no world of the learned model obeys the rules; check the rules")]
    NothingObeys,
    /// The rules, or their product with the model, are too large on its vtree.
    #[error("the rules do not fit the vtree of the learned model: {0}")]
    Rules(#[source] QueryError),
    /// Groups of columns cannot be closed.
    #[error("columns cannot be closed: {0}; close fewer columns at a time")]
    Groups(#[source] Box<LearnError>),
    /// The world cannot be closed.
    #[error("the world cannot be closed: {0}")]
    Closed(#[source] Box<LearnError>),
    /// Records to learn from are impossible for the teacher.
    #[error("{outside} of {total} records to learn from are impossible for the teacher")]
    Outside {
        /// The weight of those records.
        outside: f64,
        /// The weight of all records.
        total: f64,
    },
    /// The base of the teacher is too large on the vtree of the student.
    #[error("the base of the teacher is too large on the vtree of the student: {0}")]
    Base(#[source] Stopped),
    /// The weight of the circuit relative to new records is unknown.
    #[error("the circuit has no counts, so the number of records it stands for is unknown; give that number")]
    NoWeight,
    /// A column does not have exactly one value in a record, so no model of its columns can allow the record.
    #[error(
        "column \"{}\" has {} in record {record}, but must have exactly one; correct the record",
        abridged(.column),
        if *.values == 0 { "no value".to_owned() } else { format!("{values} values") }
    )]
    Column {
        /// The first such record, from one.
        record: usize,
        /// The column.
        column: String,
        /// How many of its values the record has.
        values: usize,
    },
    /// Some columns do not have exactly one value in any world of a formula.
    #[error("{} exactly one value in any world of the formula; correct the formula", without(.columns))]
    NoWorldOfColumns {
        /// The columns, of which none can be left out where that was proved.
        columns: Vec<String>,
    },
    /// A weight is not a positive number.
    #[error(
        "the weight is {0}, but must be a finite number above 0; {way_out}",
        way_out = if *.0 > 0.0 { "give a smaller one" } else { "use a small one, such as 0.001, for almost no weight" }
    )]
    Weight(f64),
    /// The weights are so far apart that a possible world would get probability zero.
    #[error(
        "the model weighs {own:e} records and the new worlds {new:e}, which is too far apart: probabilities would be \
         too small to represent; choose weights that are closer"
    )]
    TooFarApart {
        /// The weight of the model.
        own: f64,
        /// The weight of the new worlds together.
        new: f64,
    },
    /// The new worlds of a formula need a diagram that is too large.
    #[error("the diagram of the new worlds of the formula is too large: {0}; or make the formula stronger")]
    NewWorlds(#[source] Stopped),
    /// The formula has too many models to list, and too large a diagram to find those that are impossible.
    #[error(
        "the formula has {models} models, more than the {limit} that can be listed, and the diagram of the impossible \
         ones is too large; make the formula stronger, or allow larger diagrams"
    )]
    TooManyModels {
        /// The number of models.
        models: BigUint,
        /// The largest number that can be listed.
        limit: usize,
    },
    /// The rules name no variables, or the formula has no models.
    #[error(transparent)]
    Logic(#[from] LogicError),
    /// The circuit would be too large.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The sum-product network would be too large.
    #[error(transparent)]
    Spn(#[from] SpnError),
    /// A result that must be a PSDD is not proved to be one within limits; or it is not one: a bug.
    #[error("{}{}", if .0.is_unproved() { "" } else { "the circuit failed its certificate, please report this: " }, .0)]
    Certificate(#[from] Refusal),
}

/// Requests about what is possible that contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Together {
    /// Groups of columns that are closed in an open world, and a closed world.
    ClosedInClosed,
    /// Columns that stay open in a closed world, and an open world.
    OpenInOpen,
    /// Columns that stay open in a closed world, and groups that are closed in an open one.
    OpenAndClosed,
    /// A world, and a model to start from, which has its own.
    WorldOfStart,
    /// Columns that stay open, and a model to start from.
    OpenOfStart,
}

impl Together {
    /// A model to start from keeps its own world: no other can be asked for, as a whole or by columns that stay open.
    pub(super) fn with_start(whole: bool) -> Together {
        if whole { Together::WorldOfStart } else { Together::OpenOfStart }
    }

    /// The contradiction in words; `spell` writes an option, with its value if it has one.
    pub fn words(self, spell: &dyn Fn(&str, Option<&str>) -> String) -> String {
        let [open, closed, start, world] = ["open", "closed", "start", "world"].map(|option| spell(option, None));
        let world_is = |value| spell("world", Some(value));
        match self {
            Together::ClosedInClosed => {
                format!("{closed} is for an open world; {} already closes all columns", world_is("closed"))
            }
            Together::OpenInOpen => {
                format!("{open} is for a closed world; {} already opens all columns", world_is("open"))
            }
            Together::OpenAndClosed => {
                format!("{open} closes all columns but those it names, and {closed} only those it names")
            }
            Together::WorldOfStart => {
                format!("{world} has no effect: the world of the model given by {start} is kept")
            }
            Together::OpenOfStart => {
                format!("{open} has no effect: the world of the model given by {start} is kept")
            }
        }
    }

    fn advice(self) -> Vec<Advice> {
        match self {
            Together::ClosedInClosed => vec![Advice::LeaveOneOut, Advice::NameOpen],
            Together::OpenInOpen => vec![Advice::LeaveOneOut, Advice::NameClosed],
            Together::OpenAndClosed => vec![Advice::LeaveOneOut],
            Together::WorldOfStart => vec![Advice::LeaveOut { option: "world" }, Advice::Widen],
            Together::OpenOfStart => vec![Advice::LeaveOut { option: "open" }],
        }
    }
}

/// Columns that do not have something.
fn without(columns: &[String]) -> String {
    let (s, verb) = if columns.len() == 1 { ("", "does not") } else { ("s", "do not each") };
    format!("column{s} {} {verb} have", quoted_list(columns))
}

impl LearnError {
    /// What to try.
    pub fn advice(&self) -> Vec<Advice> {
        match self {
            LearnError::Query(error) | LearnError::Rules(error) => error.advice(),
            LearnError::NewWorlds(error) => error.advice(),
            LearnError::Certificate(refusal) => refusal.advice(),
            LearnError::TooManyModels { .. } => vec![Advice::LargerLimits],
            LearnError::Together(together) => together.advice(),
            LearnError::OnlyOpen { option: "rules", owners, .. } => {
                vec![Advice::OtherLearner { option: "rules", owners: owners.clone() }, Advice::Distil]
            }
            LearnError::OptionOfOthers { option, owners, .. } | LearnError::OnlyOpen { option, owners, .. } => {
                vec![Advice::OtherLearner { option, owners: owners.clone() }]
            }
            LearnError::NoCounts | LearnError::ExpectedCounts { .. } => vec![Advice::FitToAll],
            LearnError::TooFewElements { least, .. } => vec![Advice::MoreElements { least: *least }],
            LearnError::NoWeight => vec![Advice::Weight],
            LearnError::Outside { .. } => vec![Advice::Free, Advice::MakeRoom],
            LearnError::Base(_) => vec![Advice::Free],
            LearnError::Groups(error) | LearnError::Closed(error) => error.advice(),
            _ => Vec::new(),
        }
    }
}

impl From<Stopped> for LearnError {
    fn from(error: Stopped) -> LearnError {
        LearnError::Query(error.into())
    }
}

impl LearnError {
    /// The refusal of a setting that is out of its range.
    pub(crate) fn setting(
        name: &'static str,
        value: impl ToString,
        expected: impl Into<Cow<'static, str>>,
    ) -> LearnError {
        let value = value.to_string();
        let value = match value.parse() {
            Ok(number) if value.len() > MOST_DIGITS => in_digits(number),
            _ => value,
        };
        LearnError::Setting { name, value, expected: expected.into() }
    }
}

/// The most characters of a number without an exponent.
const MOST_DIGITS: usize = 24;

/// A number as origins hold it: it reads back as the same number, and has not hundreds of digits.
pub(super) fn in_digits(number: f64) -> String {
    let digits = number.to_string();
    if digits.len() > MOST_DIGITS { format!("{number:e}") } else { digits }
}

/// Checks that settings are finite and at least 0.
pub(crate) fn check_numbers(settings: impl IntoIterator<Item = (&'static str, f64)>) -> Result<(), LearnError> {
    match settings.into_iter().find(|(_, value)| !(value.is_finite() && *value >= 0.0)) {
        None => Ok(()),
        Some((name, value)) => Err(LearnError::setting(name, value, "a finite number of at least 0")),
    }
}

/// Checks that there are weights to try, all finite and above 0.
pub(crate) fn check_weights(name: &'static str, weights: &[f64]) -> Result<(), LearnError> {
    if weights.is_empty() {
        return Err(LearnError::setting(name, "empty", "at least one"));
    }
    match weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
        None => Ok(()),
        Some(weight) => Err(LearnError::setting(name, weight, "finite numbers above 0")),
    }
}

/// Checks that a setting is within a range.
pub(crate) fn check_range(name: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), LearnError> {
    let expected = match (*range.start(), *range.end()) {
        _ if range.contains(&value) => return Ok(()),
        (0, most) => format!("at most {most}"),
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) => format!("at least {least} and at most {most}"),
    };
    Err(LearnError::setting(name, value, expected))
}

/// Checks that there are variables and records, and that no cell is missing.
pub(crate) fn check_records(records: &Records) -> Result<(), LearnError> {
    check_some(records)?;
    check_complete(records)
}

/// Also checks that the vtree has the same number of variables.
pub(crate) fn check(records: &Records, vtree: &Vtree) -> Result<(), LearnError> {
    check_some(records)?;
    if records.var_count() != vtree.var_count() {
        return Err(LearnError::WrongVtree { vtree: vtree.var_count(), records: records.var_count() });
    }
    check_complete(records)
}

fn check_some(records: &Records) -> Result<(), LearnError> {
    match (records.var_count(), records.is_empty()) {
        (0, _) => Err(LearnError::NoVariables),
        (_, true) => Err(LearnError::NoRecords),
        _ => Ok(()),
    }
}

/// Checks that no cell is missing.
pub(crate) fn check_complete(records: &Records) -> Result<(), LearnError> {
    match records.incomplete().count() {
        0 => Ok(()),
        incomplete => Err(LearnError::MissingCells { rows: incomplete, total: records.original().len() }),
    }
}

/// Checks that validation records are over the same variables and complete.
pub(crate) fn check_validation(train: &Records, valid: Option<&Records>) -> Result<(), LearnError> {
    let variables = train.var_count();
    match valid {
        Some(valid) if valid.var_count() != variables => {
            Err(LearnError::WrongValidation { valid: valid.var_count(), train: variables })
        }
        Some(valid) => check_complete(valid),
        None => Ok(()),
    }
}

/// A record that breaks rules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Violation {
    /// Its place among the original records, from zero.
    pub record: usize,
    /// The rules that it breaks; none if it only breaks several rules together.
    pub broken: Vec<usize>,
    /// A smallest set of known cells that cannot hold together.
    pub conflict: Vec<Lit>,
    /// The cells that a repair changes, with their new values.
    pub change: Vec<Lit>,
}

/// The records that break rules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Violations {
    /// All rules; the last ones say that every column has one value.
    pub rules: Rules,
    /// The records, in their order.
    pub records: Vec<Violation>,
    /// Their weight.
    pub weight: f64,
    /// The weight of all records.
    pub total: f64,
}

impl Violation {
    /// The clause that follows from the rules: one of the cells of the conflict is false.
    pub fn rule(&self) -> Clause {
        Clause { literals: self.conflict.iter().map(|&lit| !lit).collect() }
    }
}
