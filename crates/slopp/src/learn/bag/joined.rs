//! Held-out records come in: a mixture that was chosen by them is fitted to all records.

use super::Member;
use crate::certified::Certified;
use crate::data::Records;
use crate::infer::count_shares;
use crate::learn::LearnError;
use crate::learn::refine::refit;
use crate::logspace::{LOG_ZERO, log_sum};
use crate::mixture::Mixture;

/// The same structures and weights with parameters fitted to all records, smoothed as was chosen.
///
/// A whole model is fitted with its own pseudocount. Components that a model was divided into share the records among them,
/// as in a step of expectation maximisation, with that model as the prior, which has this weight.
pub(super) fn joined(
    mixture: &Mixture,
    members: &[Member],
    divided: Option<f64>,
    all: &Records,
) -> Result<Mixture, LearnError> {
    let (components, weights) = (mixture.components(), mixture.weights());
    let mut parts: Vec<(f64, Certified)> = Vec::with_capacity(components.len());
    while let Some(first) = components.get(parts.len()) {
        let start = parts.len();
        let is_first = |member: &&Member| member.model.same_structure(first);
        let member = members.iter().find(is_first).expect("every component has the structure of a model");
        let whole = refit(&member.model, all, member.pseudocount)?;
        let Some(pseudocount) = divided else {
            parts.push((weights[start], whole));
            continue;
        };
        let structure = whole.deterministic().map_err(|reason| LearnError::NotDeterministic(reason.clone()))?;
        let len = components[start..].iter().take_while(|other| structure.same_structure(other)).count();
        let group = start..start + len;
        let logs: Vec<Vec<f64>> =
            components[group.clone()].iter().map(|c| c.log_likelihoods(all)).collect::<Result<_, _>>()?;
        let mut shares = Vec::with_capacity(len * all.len());
        for (row, &weight) in all.weights().iter().enumerate() {
            let joint: Vec<f64> = logs.iter().zip(&weights[group.clone()]).map(|(l, w)| l[row] + w.ln()).collect();
            let sum = log_sum(joint.iter().copied());
            shares.extend(joint.iter().map(|log| if sum > LOG_ZERO { weight * (log - sum).exp() } else { 0.0 }));
        }
        let counts = count_shares(structure, len, all, &shares).counts;
        for (i, counts) in group.zip(counts) {
            let fitted = structure.with_estimates_towards(counts, pseudocount)?;
            parts.push((weights[i], whole.carry_over(fitted.without_counts())));
        }
    }
    Ok(Mixture::new(parts).expect("the same weights"))
}
