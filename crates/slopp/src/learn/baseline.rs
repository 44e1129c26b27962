//! Baselines: the fully factorised model and the Chow-Liu tree, as certified PSDDs.

use super::{LearnError, World, check};
use crate::circuit::{Builder, Node, Psdd, Sharing, Smoothing};
use crate::data::Records;
use crate::vtree::Vtree;
use std::sync::Arc;

/// Every variable for itself: `P(x) = Π P(xᵢ)`, on any vtree.
///
/// In a closed world constant columns are literals and the others are maximum likelihood if the pseudocount is zero.
pub fn factorised(records: &Records, vtree: Arc<Vtree>, world: World, pseudocount: f64) -> Result<Psdd, LearnError> {
    check(records, &vtree)?;
    super::slopp::check_pseudocount(pseudocount, world)?;
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    let total = records.total();
    let mut done = Vec::with_capacity(vtree.node_count());
    for &v in vtree.bottom_up() {
        let node = match (vtree.leaf_var(v), vtree.children(v)) {
            (Some(var), _) => {
                let trues = records.count(records.column(var));
                match [total - trues, trues] {
                    [_, 0.0] if world == World::Closed => builder.literal(var.is(false))?,
                    [0.0, _] if world == World::Closed => builder.literal(var.is(true))?,
                    counts => builder.top(var, counts)?,
                }
            }
            (_, Some(sides)) => {
                let [prime, sub] = sides.map(|side| done[vtree.rank(side)]);
                builder.sum(v, &[(prime, sub, total)])?
            }
            (None, None) => unreachable!("a vtree node is a leaf or has children"),
        };
        done.push(node);
    }
    let circuit = builder.finish_counts(done[vtree.rank(vtree.root())], &Smoothing::marginal(pseudocount, records))?;
    debug_assert!(circuit.nodes().iter().all(|node| !matches!(node, Node::Sum { start, end, .. } if end - start != 1)));
    Ok(circuit.certify()?)
}
