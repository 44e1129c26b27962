//! Closing a world: drops elements that no record uses, except for variables that stay open.

use crate::circuit::{Certificate, Circuit, Psdd, Smoothing, Weights};
use crate::data::{Records, RecordsBuilder};
use crate::learn::error::LearnError;
use crate::learn::structure::Prior;
use crate::limits::Limits;
use crate::mixture::Mixture;
use crate::model::{Certified, ModelKind};
use crate::var::Var;

/// A model without the elements that no record uses; every record stays possible. A PSDD is fitted to the records
/// again, smoothed towards their marginals; a mixture keeps its parameters.
pub(super) fn close(
    model: ModelKind,
    records: &Records,
    prior: Prior,
    limits: &Limits,
) -> Result<ModelKind, LearnError> {
    match model {
        ModelKind::Circuit(Certified::Psdd(psdd)) => {
            Ok(ModelKind::Circuit(Certified::Psdd(closed(&psdd, records, prior)?)))
        }
        other => close_except(other, &[], records, prior.weight, limits),
    }
}

/// The same, ignoring the values of the open variables: every world that differs from a record only there stays
/// possible. A PSDD is fitted to the records again, with its parameters as the prior.
///
/// The model must already allow all values of the open variables, as it does in an open world.
pub(super) fn close_except(
    model: ModelKind,
    except: &[Var],
    records: &Records,
    pseudocount: f64,
    limits: &Limits,
) -> Result<ModelKind, LearnError> {
    let seen = erased(records, except);
    match model {
        ModelKind::Spn(_) => Err(LearnError::Network),
        ModelKind::Mixture(mixture) => Ok(ModelKind::Mixture(components_closed(&mixture, &seen, limits)?)),
        ModelKind::Circuit(circuit) => {
            let closed = certified_closed(&circuit, &seen, limits)?;
            let Certified::Psdd(psdd) = &closed else { return Ok(ModelKind::Circuit(closed)) };
            let counts = psdd.expected_counts(records)?.weights;
            // Without a prior, unseen values of open variables would be lost.
            let pseudocount = if except.is_empty() { pseudocount } else { pseudocount.max(LEAST_PSEUDOCOUNT) };
            let fitted = psdd.with_estimates_towards(counts, pseudocount)?;
            Ok(ModelKind::Circuit(Certified::Psdd(psdd.carry_over(fitted))))
        }
    }
}

/// A PSDD without the elements that no record uses, smoothed only then, so that smoothing does not make them possible.
fn closed(psdd: &Psdd, records: &Records, prior: Prior) -> Result<Psdd, LearnError> {
    let counts = match psdd.counts() {
        Some(counts) => counts.clone(),
        None => psdd.count_records(records)?.weights,
    };
    let mut used = Circuit::clone(psdd).with_estimates(counts, &Smoothing::none())?;
    if prior.weight > 0.0 {
        let smoothing = Smoothing::marginal(prior.weight, records).of_literals(prior.of_literals);
        let counts = used.counts().cloned().expect("kept by the estimates");
        used = used.with_estimates(counts, &smoothing)?;
    }
    Ok(psdd.carry_over(used))
}

/// The least weight of the prior where one is needed.
const LEAST_PSEUDOCOUNT: f64 = 1e-3;

/// A mixture whose components are without the elements that no record uses.
fn components_closed(mixture: &Mixture, seen: &Records, limits: &Limits) -> Result<Mixture, LearnError> {
    let parts = mixture.components().iter().zip(mixture.weights());
    let parts: Vec<(f64, Certified)> = parts
        .map(|(circuit, &weight)| Ok((weight, certified_closed(circuit, seen, limits)?)))
        .collect::<Result<_, LearnError>>()?;
    Ok(Mixture::new(parts).expect("as many components over the same variables"))
}

/// A circuit with its certificate, without the elements that no record uses.
fn certified_closed(circuit: &Certified, seen: &Records, limits: &Limits) -> Result<Certified, LearnError> {
    Ok(circuit.carry_over(used(circuit, seen)?, limits))
}

/// The part of a circuit that records use, with its parameters normalised.
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
