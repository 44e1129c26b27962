//! Conditioning on rules: the learned model given that they hold, fitted again.

use crate::circuit::{Certificate, Circuit, Psdd, Smoothing, Weights};
use crate::data::Records;
use crate::infer::QueryError;
use crate::learn::em::{EmConfig, fit_circuit};
use crate::learn::error::LearnError;
use crate::logic::{Limits, Rules, Sdd};
use crate::model::Certified;
use crate::model::ModelKind;
use crate::progress::Progress;
use crate::vtree::Vtree;
use std::sync::Arc;

/// A model given rules, exactly: its base implies them. A PSDD is then fitted to the records again, since other
/// parameters fit best under the rules.
pub(super) fn condition(
    model: ModelKind,
    rules: &Rules,
    records: &Records,
    pseudocount: f64,
    limits: &Limits,
    progress: &dyn Progress,
) -> Result<ModelKind, LearnError> {
    progress.begin("conditioning on the rules", 1);
    let mut on = |vtree: &Arc<Vtree>| -> Result<Sdd, QueryError> { Ok(rules.compile(vtree.clone(), limits)?) };
    let given = match model {
        ModelKind::Spn(_) => return Err(LearnError::Network),
        ModelKind::Mixture(mixture) => mixture.given(&mut on, limits).map(|(given, _)| ModelKind::Mixture(given)),
        ModelKind::Circuit(circuit) => {
            on(circuit.vtree()).and_then(|sdd| circuit.given(&sdd, limits)).map(|(given, _)| ModelKind::Circuit(given))
        }
    };
    match given {
        Ok(ModelKind::Circuit(Certified::Psdd(psdd))) => {
            Ok(ModelKind::Circuit(Certified::Psdd(refitted(&psdd, records, pseudocount, progress)?)))
        }
        Ok(other) => Ok(other),
        Err(QueryError::ImpossibleFormula) => Err(LearnError::NothingObeys),
        Err(error) => Err(LearnError::Rules(error)),
    }
}

/// A PSDD with parameters fitted to records, by counting if no cell is missing.
fn refitted(psdd: &Psdd, records: &Records, pseudocount: f64, progress: &dyn Progress) -> Result<Psdd, LearnError> {
    match records.has_missing() {
        false => {
            let counted = psdd.count_records(records)?;
            if counted.possible == 0.0 {
                return Err(LearnError::NothingPossible);
            }
            let (prior, weight) = prior(psdd, records, pseudocount)?;
            let fitted = prior.with_estimates_towards(counted.weights, weight)?;
            Ok(psdd.carry_over(fitted))
        }
        true => {
            let smoothing = Smoothing::marginal(pseudocount, records);
            let config = EmConfig { smoothing, ..EmConfig::default() };
            Ok(psdd.carry_over(fit_circuit(psdd, records, &config, progress)?.model))
        }
    }
}

/// The prior to fit a PSDD towards, and its weight in records: the learned parameters given the rules, and for up to
/// one record the marginals of the records, independent except for the rules.
///
/// The learned parameters alone will not do. To them the values of a column are variables, so an unseen value is as
/// improbable as many surprises at once: all others are false, and this one is true. A uniform prior will not do
/// either: it favours the values that come first.
fn prior(psdd: &Psdd, records: &Records, pseudocount: f64) -> Result<(Circuit, f64), LearnError> {
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
