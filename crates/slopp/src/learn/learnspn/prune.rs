//! Cutting back what does not pay on validation records.

use super::grow::{Built, Plan, Shape};
use crate::data::Records;
use crate::spn::SpnError;

/// Replaces sums by leaves where that raises the likelihood of the validation records, or leaves it as it is.
///
/// The gain of every single replacement is exact; that of several together is taken to be their sum, so that the best
/// set of them is found bottom-up.
pub(super) fn prune(plan: &mut Plan, var_count: usize, valid: &Records) -> Result<(), SpnError> {
    let Built { spn, stand_ins } = plan.build(var_count, true)?;
    let pairs: Vec<_> = stand_ins.iter().map(|&(_, node, leaf)| (node, leaf)).collect();
    let mut gains = vec![None; plan.nodes.len()];
    for (gain, (i, _, _)) in spn.replacement_gains(valid, &pairs).into_iter().zip(stand_ins) {
        gains[i] = Some(gain);
    }
    let mut best = vec![0.0; plan.nodes.len()];
    for i in (0..plan.nodes.len()).rev() {
        let below: f64 = match &plan.nodes[i].shape {
            Shape::Leaf => 0.0,
            Shape::Product(children) => children.iter().map(|&child| best[child]).sum(),
            Shape::Sum(children) => children.iter().map(|&(child, _)| best[child]).sum(),
        };
        best[i] = below;
        if let Some(gain) = gains[i].filter(|&gain| gain >= below) {
            best[i] = gain;
            plan.nodes[i].shape = Shape::Leaf;
        }
    }
    Ok(())
}
