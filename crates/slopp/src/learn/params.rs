//! Parameters of a fixed structure: fitted to records, or with records added to its counts.
//!
//! Determinism makes maximum likelihood a matter of counting: every possible record uses one element of each sum it
//! reaches, so `θ` is the share of records that use the element, smoothed as [`Smoothing`] says.

use super::error::LearnError;
use crate::circuit::{Certificate, Circuit, Deterministic, Psdd, Smoothing, Weights};
use crate::data::Records;
use crate::infer::{Distribution, QueryError};
use crate::logspace::LOG_ZERO;
use std::borrow::Cow;

/// A circuit with new parameters, and the weights of the records that were used and left out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fitted<C> {
    /// The circuit.
    pub circuit: C,
    /// The weight of the records that were counted.
    pub counted: f64,
    /// The weight of the records that are impossible under the structure, and were left out.
    pub impossible: f64,
    /// How many elements were dropped, because no record uses them and there is no pseudocount.
    pub dropped: usize,
}

impl<C> Fitted<C> {
    /// The same with the circuit as another type, such as a [`Certified`](crate::Certified).
    pub fn map<D>(self, as_other: impl FnOnce(C) -> D) -> Fitted<D> {
        let Fitted { circuit, counted, impossible, dropped } = self;
        Fitted { circuit: as_other(circuit), counted, impossible, dropped }
    }
}

/// The records that are possible under a model. Fitting counts only these, so priors must come from them alone.
pub(super) fn possible_records<'a>(
    model: &dyn Distribution,
    records: &'a Records,
) -> Result<Cow<'a, Records>, QueryError> {
    let logs = model.log_likelihoods(records)?;
    let possible = |row: usize| logs[row] > LOG_ZERO;
    Ok(match (0..records.len()).all(possible) {
        true => Cow::Borrowed(records),
        false => Cow::Owned(records.subset(possible)),
    })
}

impl Deterministic {
    /// The same structure with parameters fitted to these records.
    ///
    /// Impossible records are left out and reported. With a pseudocount the base stays the same. Without one, elements
    /// that no record uses are dropped. The prior is the caller's; [`Model::refit`](crate::Model::refit) takes it from
    /// the possible records alone.
    ///
    /// ```
    /// use slopp::circuit::Smoothing;
    /// let (psdd, records) = (slopp::example::psdd(), slopp::example::records());
    /// assert_eq!(psdd.fit(&records, &Smoothing::none())?.circuit, psdd);
    /// # Ok::<(), slopp::learn::LearnError>(())
    /// ```
    pub fn fit(&self, records: &Records, smoothing: &Smoothing) -> Result<Fitted<Deterministic>, LearnError> {
        estimate(self, records, None, smoothing)
    }

    /// The same structure with these records added to its counts.
    pub fn add_records(&self, records: &Records, smoothing: &Smoothing) -> Result<Fitted<Deterministic>, LearnError> {
        estimate(self, records, Some(self.counts().ok_or(LearnError::NoCounts)?), smoothing)
    }
}

impl Psdd {
    /// Like [`Deterministic::fit`], for a PSDD.
    pub fn fit(&self, records: &Records, smoothing: &Smoothing) -> Result<Fitted<Psdd>, LearnError> {
        estimate(self, records, None, smoothing)
    }

    /// Like [`Deterministic::add_records`], for a PSDD.
    pub fn add_records(&self, records: &Records, smoothing: &Smoothing) -> Result<Fitted<Psdd>, LearnError> {
        estimate(self, records, Some(self.counts().ok_or(LearnError::NoCounts)?), smoothing)
    }
}

/// Fits or adds records, for circuits with either certificate.
fn estimate<C: Certificate + AsRef<Deterministic>>(
    given: &C,
    records: &Records,
    kept: Option<&Weights>,
    smoothing: &Smoothing,
) -> Result<Fitted<C>, LearnError> {
    let circuit: &Deterministic = given.as_ref();
    smoothing.check(circuit.var_count())?;
    let found = circuit.count_records(records)?;
    let counted = found.possible;
    let mut counts = found.weights;
    match kept {
        Some(kept) => counts.add(kept),
        None if records.is_empty() => return Err(QueryError::NoRecords.into()),
        None if counted == 0.0 => return Err(LearnError::NothingPossible),
        None => {}
    }
    let before = circuit.elements().len();
    let fitted = Circuit::clone(circuit).with_estimates(counts, smoothing)?;
    let dropped = before - fitted.elements().len();
    Ok(Fitted { circuit: given.carry_over(fitted), counted, impossible: found.impossible, dropped })
}
