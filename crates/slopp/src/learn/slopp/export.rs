//! From classes to a certified PSDD.

use super::layers::Layers;
use crate::circuit::{Builder, NodeId, Psdd, Sharing, Smoothing};
use crate::data::Records;
use crate::learn::LearnError;
use crate::logic::Limits;
use crate::vtree::Vtree;
use std::sync::Arc;

/// The PSDD of a structure on its right-linear vtree, smoothed towards the marginals of the records.
pub(super) fn psdd(
    layers: &Layers,
    vtree: &Arc<Vtree>,
    records: &Records,
    pseudocount: f64,
) -> Result<Psdd, LearnError> {
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    let order = vtree.vars(vtree.root());
    let mut below: Vec<NodeId> = Vec::new();
    for (position, layer) in layers.0.iter().enumerate().rev() {
        let var = order[position];
        let mut here = Vec::with_capacity(layer.len());
        for class in layer {
            let last = position + 1 == layers.0.len();
            here.push(match class.next.map(|next| below.get(next as usize).copied()) {
                _ if last => builder.top(var, class.count)?,
                [Some(f), Some(t)] => {
                    let inner = vtree.parent(vtree.leaf(var)).expect("a variable before the last has a vtree node");
                    let [falses, trues] = class.count;
                    if f == t {
                        let top = builder.top(var, class.count)?;
                        builder.sum(inner, &[(top, f, falses + trues)])?
                    } else {
                        let literals = [builder.literal(var.is(false))?, builder.literal(var.is(true))?];
                        builder.sum(inner, &[(literals[0], f, falses), (literals[1], t, trues)])?
                    }
                }
                _ => unreachable!("a class leads to classes of the next layer"),
            });
        }
        below = here;
    }
    let smoothing = Smoothing::marginal(pseudocount, records).of_literals(true);
    Ok(builder.finish_counts(below[0], &smoothing)?.certify(&Limits::default())?)
}
