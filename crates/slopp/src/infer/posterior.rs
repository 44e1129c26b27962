//! The circuit given evidence: same structure, other parameters.

use super::lanes::{Lanes, Linear};
use super::{Evidence, QueryError, logpass};
use crate::circuit::{Circuit, Weights};
use crate::logspace::LOG_ZERO;

/// The distribution given evidence, as parameters of the same circuit.
///
/// The posterior of a smooth, decomposable circuit is the same circuit with `θᵢ P(prime) P(sub) / P(sum)` in place of
/// `θᵢ`; parameters of nodes that the evidence excludes are zero.
pub(super) struct Posterior {
    /// Plain numbers, not logarithms.
    pub(super) parameters: Weights,
}

impl Posterior {
    pub(super) fn new(circuit: &Circuit, evidence: &Evidence) -> Result<Posterior, QueryError> {
        circuit.check_evidence(evidence)?;
        Posterior::with(circuit, &Linear::new(circuit), &mut Lanes::new(circuit), evidence)
    }

    /// The same with parameters and scratch at hand; the evidence has the right length.
    pub(super) fn with(
        circuit: &Circuit,
        linear: &Linear,
        lanes: &mut Lanes<1>,
        evidence: &Evidence,
    ) -> Result<Posterior, QueryError> {
        lanes.set_evidence(0, evidence);
        lanes.upward(circuit, linear);
        let (log_evidence, parameters) = if lanes.is_lost(0) {
            let values = logpass::log_values(circuit, evidence);
            (values[circuit.root().index()], logpass::shares(circuit, evidence, &values))
        } else {
            (lanes.log_evidence(0), lanes.shares(circuit, linear, 0))
        };
        if log_evidence == LOG_ZERO {
            return Err(QueryError::ImpossibleEvidence);
        }
        Ok(Posterior { parameters })
    }
}
