//! The worlds that two circuits share: their number, their probability, and the divergence over them.

use super::values::Product;
use super::values::Slots;
use crate::circuit::{Deterministic, Node, NodeId};
use crate::infer::QueryError;
use crate::infer::factor::Part;
use crate::logic::Limits;
use crate::logspace::LOG_ZERO;
use num_bigint::BigUint;
use std::ops::Range;

/// The worlds that two nodes of one vtree node share.
#[derive(Clone, Debug, Default)]
struct Shared {
    /// Their number.
    worlds: BigUint,
    /// Their probability under the first.
    probability: f64,
    /// `Σ P(w) ln(P(w) / Q(w))` over them.
    divergence: f64,
}

/// The number of worlds that two circuits share, and `Σ P(w) ln(P(w) / Q(w))` over them; `None` if they share none.
pub(in crate::infer) fn divergence(
    one: &Deterministic,
    other: &Deterministic,
    limits: &Limits,
) -> Result<Option<(BigUint, f64)>, QueryError> {
    let product = Product::of_circuits(one, other, limits)?;
    if product.log_value() == LOG_ZERO {
        return Ok(None);
    }
    let mut slots = Slots::new(&product.memo, one.nodes().len());
    let goal = (one.root(), product.factor.root);
    let pairs = product.alive(goal, &mut slots, true)?;
    let mut shared = vec![Shared::default(); slots.len()];
    let fixed = product.bytes() + slots.bytes() + 8 * pairs.len() + size_of::<Shared>() * slots.len();
    // Counts have as many bits as variables, so those of a layer are freed when the layer above is done.
    let mut layers: Vec<Range<usize>> = vec![0..0; one.vtree().node_count()];
    let mut counts = 0;
    let bytes_of = |worlds: &BigUint| worlds.bits().div_ceil(8) as usize;
    let mut start = 0;
    for layer in pairs.chunk_by(|(a, _), (b, _)| one.vtree_of(*a) == one.vtree_of(*b)) {
        for &(node, part) in layer {
            let sum = match leaf(&product, node, part) {
                Some(leaf) => leaf,
                None => {
                    let mut sum = Shared::default();
                    product.live_elements((node, part), |prime, sub, e, term| {
                        let [primes, subs] = [prime, sub].map(|(node, part)| &shared[slots.of(node, part)]);
                        let log = one.log_parameters().elements[e];
                        let log_ratio = log - term.map_or(0.0, |term| product.factor.terms[term].2);
                        let theta = log.exp();
                        let both = primes.probability * subs.probability;
                        sum.worlds += &primes.worlds * &subs.worlds;
                        sum.probability += theta * both;
                        sum.divergence += theta
                            * (both * log_ratio
                                + primes.divergence * subs.probability
                                + primes.probability * subs.divergence);
                    });
                    sum
                }
            };
            counts += bytes_of(&sum.worlds);
            shared[slots.of(node, part)] = sum;
            product.budget.check(fixed + counts)?;
        }
        let v = one.vtree_of(layer[0].0);
        layers[v.index()] = start..start + layer.len();
        start += layer.len();
        for child in one.vtree().children(v).into_iter().flatten() {
            for &(node, part) in &pairs[layers[child.index()].clone()] {
                let worlds = std::mem::take(&mut shared[slots.of(node, part)].worlds);
                counts -= bytes_of(&worlds);
            }
        }
    }
    let Shared { worlds, divergence, .. } = std::mem::take(&mut shared[slots.of(goal.0, goal.1)]);
    Ok(Some((worlds, divergence)))
}

/// The answer for two leaves; `None` for sums.
fn leaf(product: &Product<'_>, node: NodeId, part: u32) -> Option<Shared> {
    let Part::Leaf(theirs) = product.factor.parts[part as usize] else { return None };
    let ours = match product.circuit.node(node) {
        Node::Literal(lit) => [false, true].map(|value| if value == lit.value { 0.0 } else { LOG_ZERO }),
        Node::Top { slot, .. } => product.circuit.log_parameters().tops[slot as usize],
        Node::Sum { .. } => return None,
    };
    let mut shared = Shared::default();
    for (p, q) in ours.into_iter().zip(theirs) {
        if p > LOG_ZERO && q > LOG_ZERO {
            shared.worlds += 1u32;
            shared.probability += p.exp();
            shared.divergence += p.exp() * (p - q);
        }
    }
    Some(shared)
}
