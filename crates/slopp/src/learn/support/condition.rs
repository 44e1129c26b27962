//! Conditioning on rules: what was learned, given that they hold, and fitted again.

use crate::circuit::{CarryOver, Circuit, Psdd, Smoothing, Weights};
use crate::data::Records;
use crate::learn::em::{EmConfig, em};
use crate::learn::error::ConditionError;
use crate::learn::params::FitError;
use crate::logic::{Limits, Rules, Sdd};
use crate::model::Certified;
use crate::model::ModelKind;
use crate::progress::Progress;
use crate::vtree::Vtree;
use std::sync::Arc;

/// A model given rules, exactly: its base implies them. A PSDD is then fitted to the records again, since given the rules
/// other parameters fit best.
pub(super) fn condition(
    model: ModelKind,
    rules: &Rules,
    records: &Records,
    pseudocount: f64,
    limits: &Limits,
    progress: &dyn Progress,
) -> Result<ModelKind, ConditionError> {
    progress.begin("conditioning on the rules", 1);
    let mut on = |vtree: &Arc<Vtree>| -> Result<Sdd, ConditionError> { Ok(rules.compile(vtree.clone(), limits)?) };
    match model {
        ModelKind::Spn(_) => Err(ConditionError::Network),
        ModelKind::Mixture(mixture) => Ok(ModelKind::Mixture(mixture.given(&mut on, limits)?.0)),
        ModelKind::Circuit(circuit) => {
            let sdd = on(circuit.vtree())?;
            Ok(ModelKind::Circuit(match circuit.given(&sdd, limits)?.0 {
                Certified::Psdd(psdd) => Certified::Psdd(refitted(&psdd, records, pseudocount, progress)?),
                other => other,
            }))
        }
    }
}

/// A PSDD with parameters fitted to records, by counting where no cell is missing.
fn refitted(psdd: &Psdd, records: &Records, pseudocount: f64, progress: &dyn Progress) -> Result<Psdd, ConditionError> {
    match records.has_missing() {
        false => {
            let counted = psdd.count_records(records)?;
            if counted.possible == 0.0 {
                return Err(FitError::NothingPossible.into());
            }
            let (prior, weight) = prior(psdd, records, pseudocount)?;
            let fitted = prior.with_estimates_towards(counted.weights, weight).map_err(FitError::from)?;
            Ok(psdd.carry_over(fitted))
        }
        true => {
            let smoothing = Smoothing::marginal(pseudocount, records);
            let config = EmConfig { smoothing, ..EmConfig::default() };
            Ok(em(psdd, records, &config, progress).map_err(|error| ConditionError::Em(error.into()))?.circuit)
        }
    }
}

/// What to fit a PSDD towards, and its weight in records: what was learned, given the rules, and for up to one record the
/// records' variables as if they were independent but for the rules.
///
/// What was learned alone will not do. It knows values of a column as variables, and one that was never seen is as
/// improbable as many surprises at once: that all others are false, and that this one is true. A uniform prior will not
/// do either: it favours the values that come first.
fn prior(psdd: &Psdd, records: &Records, pseudocount: f64) -> Result<(Circuit, f64), FitError> {
    if pseudocount <= 0.0 {
        return Ok((Circuit::clone(psdd), 0.0));
    }
    let trues = Smoothing::marginal(pseudocount, records).prior.expect("it has one");
    let share = pseudocount.min(1.0);
    let learned = psdd.log_parameters();
    let weigh = |log: f64| pseudocount * log.exp();
    let learned = Weights {
        tops: learned.tops.iter().map(|logs| logs.map(weigh)).collect(),
        elements: learned.elements.iter().copied().map(weigh).collect(),
    };
    Ok((psdd.independent(&trues).with_estimates_towards(learned, share)?, pseudocount + share))
}
