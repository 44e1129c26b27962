//! Synthetic circuits of any size.

use slopp::logic::Limits;
use slopp::{Builder, Deterministic, NodeId, Random, Sharing, Vtree};

/// A circuit with full support and about this many elements: every node fixes its first and its last variable, and
/// splits by the last one on the left.
pub(crate) fn layered(vtree: &Vtree, elements: usize) -> Deterministic {
    let mut random = Random::new(2);
    let copies = (elements / (8 * (vtree.var_count() - 1))).max(1);
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    // By value of the first and of the last variable.
    let mut made: Vec<[[Vec<NodeId>; 2]; 2]> = vec![Default::default(); vtree.node_count()];
    let mut pick = |from: &[NodeId]| from[random.below(from.len())];
    for &v in vtree.bottom_up() {
        let Some([left, right]) = vtree.children(v) else {
            let var = vtree.leaf_var(v).expect("a leaf");
            let [no, yes] = [false, true].map(|value| vec![builder.literal(var.is(value)).expect("in the vtree")]);
            made[v.index()] = [[no, vec![]], [vec![], yes]];
            continue;
        };
        let mut root = Vec::new();
        for (first, last) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for copy in 0..copies {
                let mut sum = Vec::new();
                for (middle, next) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let (primes, subs) = (&made[left.index()][first][middle], &made[right.index()][next][last]);
                    // Where a side is a single variable, its first and last value must agree.
                    if !primes.is_empty() && !subs.is_empty() {
                        sum.push((pick(primes), pick(subs), 0.25f64.ln()));
                    }
                }
                if v != vtree.root() {
                    made[v.index()][first][last].push(builder.sum(v, &sum).expect("elements fit"));
                } else if copy == 0 {
                    root.extend(sum);
                }
            }
        }
        if v == vtree.root() {
            let root = builder.sum(v, &root).expect("elements fit");
            let circuit = builder.finish(root).expect("parameters are in range").renormalised();
            return circuit.certify_deterministic(&Limits::default()).unwrap_or_else(|refusal| panic!("{refusal}"));
        }
    }
    unreachable!("the root comes last")
}
