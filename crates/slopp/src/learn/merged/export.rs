//! From classes to a certified PSDD.

use super::layers::Layers;
use crate::circuit::{BuildError, Builder, Circuit, Node, NodeId, Psdd, Sharing, Smoothing, SmoothingError};
use crate::data::Records;
use crate::learn::{LearnError, World, finish};
use crate::logspace::log_share;
use crate::vtree::Vtree;
use std::sync::Arc;

/// The PSDD of a structure on its right-linear vtree, smoothed towards the marginals of the records.
///
/// In a closed world what no record uses is dropped.
pub(super) fn psdd(
    layers: &Layers,
    vtree: &Arc<Vtree>,
    records: &Records,
    world: World,
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
    let circuit = finish(builder, below[0], records, world, pseudocount)?;
    let circuit = with_literal_priors(circuit, &Smoothing::marginal(pseudocount, records))?;
    Ok(circuit.certify()?)
}

/// The same circuit with the prior of a literal also where it is the prime of an element.
fn with_literal_priors(circuit: Circuit, smoothing: &Smoothing) -> Result<Circuit, BuildError> {
    let (Some(counts), Some(priors)) = (circuit.counts(), &smoothing.prior) else { return Ok(circuit) };
    let mut parameters = circuit.log_parameters().clone();
    for id in circuit.ids() {
        let range = circuit.element_range(id);
        if range.len() != 2 {
            continue;
        }
        let smoothed = |i: usize| match circuit.node(circuit.elements()[i].prime) {
            Node::Literal(lit) => {
                let share = priors[lit.var.index()];
                counts.elements[i] + smoothing.pseudocount * if lit.value { share } else { 1.0 - share }
            }
            _ => unreachable!("two primes of one variable are its literals"),
        };
        let [first, second] = [range.start, range.start + 1].map(smoothed);
        parameters.elements[range.start] = log_share(first, second);
        parameters.elements[range.start + 1] = log_share(second, first);
    }
    circuit.with_log_parameters(parameters).ok_or(SmoothingError::TooSmall(smoothing.pseudocount).into())
}
