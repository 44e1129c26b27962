//! Closing a world: what no record uses of what was learned is dropped, but for variables that stay open.

use super::LearnError;
use super::inside::InsideError;
use super::learner::Learned;
use super::params::FitError;
use crate::circuit::{CarryOver, Circuit, Psdd, Smoothing, Weights};
use crate::data::{Records, RecordsBuilder};
use crate::mixture::Mixture;
use crate::model::Certified;
use crate::var::Var;

impl Learned {
    /// The same without what no record uses, whatever values it has for the variables that stay open: every record stays
    /// possible, and so does every other that differs from one only there. A PSDD is fitted to the records again, with
    /// what was learned as the prior; a mixture keeps what its components are.
    ///
    /// What was learned must make everything possible that the open variables are to allow, as it does in an open world:
    /// nothing is added here, so what was impossible stays so.
    ///
    /// ```
    /// use slopp::Var;
    /// use slopp::learn::{Learner, Task, World, merged};
    /// let records = slopp::example::records();
    /// let learned = merged::Config::new(World::Open).learn(&Task::new(&records), &())?.learned;
    /// let closed = learned.closed_but(&[Var(3)], &records, 1.0)?;
    /// let row: Vec<bool> = records.row(0).map(|cell| cell == Some(true)).collect();
    /// let other = [row[0], row[1], row[2], !row[3]];
    /// assert!(closed.psdd().unwrap().is_possible(&other)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closed_but(self, open: &[Var], records: &Records, pseudocount: f64) -> Result<Learned, InsideError> {
        let seen = erased(records, open);
        match self {
            Learned::Spn(_) => Err(InsideError::Network),
            Learned::Mixture(mixture) => Ok(Learned::Mixture(components_closed(&mixture, &seen).map_err(stopped)?)),
            Learned::Circuit(circuit) => {
                let closed = certified_closed(&circuit, &seen).map_err(stopped)?;
                let Certified::Psdd(psdd) = &closed else { return Ok(Learned::Circuit(closed)) };
                let counts = psdd.expected_counts(records)?.weights;
                // Without any prior, values of open variables that were not seen would go.
                let pseudocount = if open.is_empty() { pseudocount } else { pseudocount.max(LEAST_PSEUDOCOUNT) };
                let fitted = psdd.with_estimates_towards(counts, pseudocount).map_err(FitError::from)?;
                Ok(Learned::Circuit(Certified::Psdd(psdd.carry_over(fitted))))
            }
        }
    }
}

fn stopped(error: LearnError) -> InsideError {
    InsideError::Em(error.into())
}

/// The weight of the prior where some is needed.
const LEAST_PSEUDOCOUNT: f64 = 1e-3;

/// A mixture without what no record uses of each component.
pub(super) fn components_closed(mixture: &Mixture, seen: &Records) -> Result<Mixture, LearnError> {
    let parts = mixture.components().iter().zip(mixture.weights());
    let parts: Vec<(f64, Certified)> = parts
        .map(|(circuit, &weight)| Ok((weight, certified_closed(circuit, seen)?)))
        .collect::<Result<_, LearnError>>()?;
    Ok(Mixture::new(parts).expect("as many components over the same variables"))
}

/// A circuit of any certificate without what no record uses.
fn certified_closed(circuit: &Certified, seen: &Records) -> Result<Certified, LearnError> {
    Ok(circuit.carry_over(used(circuit, seen)?))
}

/// A PSDD without what no record uses; the rest keeps its shares.
pub(super) fn closed(psdd: &Psdd, seen: &Records) -> Result<Psdd, LearnError> {
    Ok(psdd.carry_over(used(psdd, seen)?))
}

/// The part of a circuit that records use, with its shares.
fn used(circuit: &Circuit, seen: &Records) -> Result<Circuit, LearnError> {
    let used = circuit.expected_counts(seen)?;
    if used.possible == 0.0 {
        return Err(LearnError::NothingPossible);
    }
    let share = |log: f64, used: f64| if used > 0.0 { log.exp() } else { 0.0 };
    let Weights { tops, elements } = circuit.log_parameters();
    let top = |([f, t], used): (&[f64; 2], &[f64; 2])| [share(*f, used[0]), share(*t, used[1])];
    let shares = Weights {
        tops: tops.iter().zip(&used.weights.tops).map(top).collect(),
        elements: elements.iter().zip(&used.weights.elements).map(|(log, used)| share(*log, *used)).collect(),
    };
    Ok(Circuit::clone(circuit).with_estimates(shares, &Smoothing::none())?.without_counts())
}

/// The records without the cells of some variables.
fn erased(records: &Records, vars: &[Var]) -> Records {
    let mut builder = RecordsBuilder::new(records.names().clone());
    for (row, &weight) in records.weights().iter().enumerate() {
        let cells = records.row(row).enumerate();
        builder.push(cells.map(|(i, cell)| cell.filter(|_| !vars.contains(&Var(i as u32)))), weight);
    }
    builder.finish()
}
