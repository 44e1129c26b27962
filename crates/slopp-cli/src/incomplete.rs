//! Missing cells, where a learner needs complete records: in which file, from which record on, and the way out.

use crate::error::Error;
use crate::report::count;
use slopp::Records;
use slopp::io::path_in_words;
use std::path::Path;

/// The way out where all records miss cells.
pub(crate) const FILL_IN: &str =
    "fill cells in, or leave out columns that are often missing: `slopp data describe` lists them";

/// What records are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// To learn from.
    Train,
    /// To choose by.
    Valid,
    /// Drawn from a teacher.
    Samples,
}

/// Refuses records with missing cells; without a file they are a part of the training file.
pub(crate) fn check(part: Part, file: Option<&Path>, records: &Records) -> Result<(), Error> {
    match records.incomplete().next() {
        None => Ok(()),
        Some(_) => Err(refusal(part, file, records)),
    }
}

/// The refusal of records with missing cells.
pub(crate) fn refusal(part: Part, file: Option<&Path>, records: &Records) -> Error {
    let (incomplete, all) = (records.incomplete().count(), records.original().len());
    let whose = match (part, file) {
        (Part::Train, None) => "training records".to_owned(),
        (Part::Valid, None) => "validation records".to_owned(),
        (Part::Samples, None) => "samples".to_owned(),
        (_, Some(file)) => format!("records of {}", path_in_words(file)),
    };
    // A part of a file has lost the numbers that its records had there.
    let first = records.incomplete().next().filter(|_| file.is_some());
    let first = first.map_or(String::new(), |place| format!(" (the first is record {})", count((place + 1) as f64)));
    let needs = if part == Part::Valid { "this learner chooses by" } else { "this learner needs" };
    let some = match incomplete == all {
        true => format!("all {}", count(all as f64)),
        false => [incomplete, all].map(|number| count(number as f64)).join(" of "),
    };
    let error = Error::new(format!("{some} {whose} have missing cells{first}, and {needs} complete records"));
    error.hint(match part {
        Part::Valid => "complete records for --valid; without --valid, a tenth of the training records is held out",
        Part::Train | Part::Samples if incomplete == all => FILL_IN,
        Part::Train => "leave these records out, or fill cells in",
        Part::Samples => "samples without missing cells, as `slopp sample` draws them",
    })
}
