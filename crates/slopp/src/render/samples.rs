//! Circuits to draw in tests.

use crate::circuit::{Builder, Circuit, NodeId, Sharing};
use crate::random::Random;
use crate::var::Var;
use crate::vtree::Vtree;
use std::collections::BTreeSet;

/// A random circuit over a random vtree: up to `width` sums per vtree node, up to three elements per sum.
pub(super) fn random_circuit(vars: usize, width: usize, seed: u64) -> Circuit {
    let mut random = Random::new(seed);
    let vtree = Vtree::random(vars, seed);
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    let mut made: Vec<Vec<NodeId>> = vec![Vec::new(); vtree.node_count()];
    for &v in vtree.bottom_up() {
        made[v.index()] = match vtree.children(v) {
            None => {
                let x = vtree.leaf_var(v).unwrap();
                let p = 0.05 + 0.9 * random.unit();
                vec![
                    builder.literal(x.is(true)).unwrap(),
                    builder.literal(x.is(false)).unwrap(),
                    builder.top(x, [(1.0 - p).ln(), p.ln()]).unwrap(),
                ]
            }
            Some([left, right]) => {
                let sums = if v == vtree.root() { 1 } else { width };
                let mut nodes = Vec::new();
                for _ in 0..sums {
                    let mut pairs = BTreeSet::new();
                    for _ in 0..1 + random.below(3) {
                        let [p, s] =
                            [left, right].map(|child| made[child.index()][random.below(made[child.index()].len())]);
                        pairs.insert((p, s));
                    }
                    let log_theta = -(pairs.len() as f64).ln();
                    let elements: Vec<_> = pairs.into_iter().map(|(p, s)| (p, s, log_theta)).collect();
                    nodes.push(builder.sum(v, &elements).unwrap());
                }
                nodes
            }
        };
    }
    let root = made[vtree.root().index()][0];
    builder.finish(root).unwrap()
}

/// The circuit of Figure 2 of the paper: 7 sums, 13 elements.
pub(super) fn figure_2() -> Circuit {
    let vtree: Vtree = "((1,2),(3,4))".parse().unwrap();
    let root = vtree.root();
    let [left, right] = vtree.children(root).unwrap();
    let mut b = Builder::new(vtree, Sharing::Equal);
    let lit = |b: &mut Builder, n: i64| b.literal(crate::var::Lit::from_number(n).unwrap()).unwrap();
    let pair = |b: &mut Builder, v, elements: &[(i64, i64, f64)]| {
        let elements: Vec<_> = elements.iter().map(|&(p, s, x)| (lit(b, p), lit(b, s), x.ln())).collect();
        b.sum(v, &elements).unwrap()
    };
    let p1 = pair(&mut b, left, &[(-1, -2, 1.0)]);
    let p2 = pair(&mut b, left, &[(1, -2, 1.0 / 7.0), (-1, 2, 6.0 / 7.0)]);
    let p3 = pair(&mut b, left, &[(1, 2, 1.0)]);
    let s1 = pair(&mut b, right, &[(3, 4, 0.3), (-3, -4, 0.7)]);
    let s3 = pair(&mut b, right, &[(3, -4, 2.0 / 3.0), (-3, 4, 1.0 / 3.0)]);
    let top = b.top(Var(3), [0.75f64.ln(), 0.25f64.ln()]).unwrap();
    let [x3, not_x3, x4] = [3, -3, 4].map(|n| lit(&mut b, n));
    let s2 = b.sum(right, &[(not_x3, x4, (1.0f64 / 7.0).ln()), (x3, top, (6.0f64 / 7.0).ln())]).unwrap();
    let elements = [(p1, s1, 1.0f64 / 3.0), (p2, s2, 7.0 / 15.0), (p3, s3, 0.2)].map(|(p, s, x)| (p, s, x.ln()));
    let sum = b.sum(root, &elements).unwrap();
    b.finish(sum).unwrap()
}
