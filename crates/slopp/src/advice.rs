//! Advice about errors as data, so that the command line and Python can each word it.

use std::io;

/// Something to try after an error.
///
/// ```
/// use slopp::Advice;
/// let error = slopp::io::read_records(&b"a,b\n"[..], &Default::default()).unwrap_err();
/// assert_eq!(error.advice(), [Advice::FirstLineIsRecord]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Say that the first line is a record.
    FirstLineIsRecord,
    /// Say that the first line holds names.
    FirstLineHoldsNames,
    /// Say that a column holds categories.
    Categories {
        /// Its name, if it has one.
        column: Option<String>,
    },
    /// Cut the numbers of a column into bins.
    Bins {
        /// Its name.
        column: String,
    },
    /// Allow a column more values.
    MoreValues,
    /// Allow more nodes and more memory.
    LargerLimits,
    /// Allow records more memory.
    MoreMemory,
    /// Ask which possible world is nearest to what is given.
    NearestWorld,
    /// Choose a learner that has an option, or leave the option out.
    OtherLearner {
        /// The option.
        option: &'static str,
        /// The learners that have it.
        owners: Vec<&'static str>,
    },
    /// Learn one model on the vtree of the other.
    SameVtree,
    /// Ask what each of two models allows.
    Difference,
    /// Distil a model of another kind to a PSDD that obeys rules.
    Distil,
    /// Leave one of two requests out.
    LeaveOneOut,
    /// Leave an option out.
    LeaveOut {
        /// The option.
        option: &'static str,
    },
    /// Name the columns that stay open in a closed world.
    NameOpen,
    /// Name the columns that are closed in an open world.
    NameClosed,
    /// Revise a model, to widen it by records that it excludes.
    Widen,
    /// Allow more elements.
    MoreElements {
        /// The least number that is possible.
        least: usize,
    },
    /// Fit the model to all records, not only to new ones.
    FitToAll,
    /// Say how many records the model stands for.
    Weight,
    /// Let a student allow what its teacher excludes.
    Free,
    /// Revise a model, to make room for records that it excludes.
    MakeRoom,
    /// Write to another place, or make room for the file.
    OtherPlace(io::ErrorKind),
}
