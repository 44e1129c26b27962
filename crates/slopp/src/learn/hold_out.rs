//! The records to learn from and those to choose by: given, or a tenth held out.

use super::LearnError;
use super::error::check_validation;
use super::structure::Report;
use crate::data::Records;
use crate::logic::Limits;

/// [`Report::FEW_JUDGES`].
pub(crate) const FEW_JUDGES: f64 = Report::FEW_JUDGES;

/// The records to learn from and those to choose by, and how much work on circuits may cost.
pub(crate) struct Parts<'a> {
    all: &'a Records,
    valid: Option<&'a Records>,
    /// Both parts of the training records, if some are held out.
    divided: Option<(Records, Records)>,
    limits: &'a Limits,
}

impl<'a> Parts<'a> {
    /// The validation records; if there are none or they are empty, a tenth of all records, held out by seed.
    pub(crate) fn new(
        all: &'a Records,
        valid: Option<&'a Records>,
        seed: u64,
        limits: &'a Limits,
    ) -> Result<Parts<'a>, LearnError> {
        check_validation(all, valid)?;
        let valid = valid.filter(|valid| !valid.is_empty());
        let divided = if valid.is_none() { all.hold_out(seed) } else { None };
        Ok(Parts { all, valid, divided, limits })
    }

    /// All training records.
    pub(crate) fn all(&self) -> &Records {
        self.all
    }

    /// The records to learn from.
    pub(crate) fn train(&self) -> &Records {
        self.divided.as_ref().map_or(self.all, |(train, _)| train)
    }

    /// The records to choose by; `None` if there are too few to hold some out.
    pub(crate) fn judge(&self) -> Option<&Records> {
        self.divided.as_ref().map(|(_, held)| held).or(self.valid)
    }

    /// The limits of proofs.
    pub(crate) fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// Whether parameters are to be fitted to all records at the end.
    pub(crate) fn is_divided(&self) -> bool {
        self.divided.is_some()
    }

    /// The weight of the records that were held out.
    pub(crate) fn held_out(&self) -> f64 {
        self.divided.as_ref().map_or(0.0, |(_, held)| held.total())
    }
}
