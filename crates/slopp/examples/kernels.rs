//! Measures the kernels of the queries: element·records per second on one thread, best of several runs.
//!
//! `cargo run --release -p slopp --example kernels`
#![allow(clippy::print_stdout)]

use slopp::{Builder, Circuit, Deterministic, Names, NodeId, Random, Records, RecordsBuilder, Sharing, Vtree};
use std::time::Instant;

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("the only pool");
    let shapes = [("right-linear", Vtree::right_linear(100)), ("balanced", Vtree::balanced(64))];
    for (shape, vtree) in shapes {
        for elements in [5_000, 50_000, 200_000] {
            let psdd = layered(&vtree, elements);
            let vars = vtree.var_count();
            let size = psdd.elements().len();
            println!("{shape}, {vars} variables, {} nodes, {size} elements", psdd.nodes().len());
            let complete = records(vars, 8192, 0.0);
            let partial = records(vars, 512, 0.3);
            let rate = |what: &str, rows: usize, run: &dyn Fn() -> f64| {
                let best = (0..5).map(|_| time(run)).fold(f64::INFINITY, f64::min);
                println!("  {what:<40} {:>10.3e} element records/s", (size * rows) as f64 / best);
            };
            rate("log-likelihood, complete", complete.len(), &|| psdd.log_likelihoods(&complete).unwrap()[0]);
            rate("counts, complete", complete.len(), &|| psdd.count_records(&complete).unwrap().impossible);
            rate("possible", complete.len(), &|| f64::from(psdd.possible(&complete).unwrap()[0]));
            rate("log-evidence, partial", partial.len(), &|| psdd.log_likelihoods(&partial).unwrap()[0]);
            rate("log-likelihood as a mixture", 512, &|| {
                Circuit::log_likelihoods(&psdd, &records(vars, 512, 0.0)).unwrap()[0]
            });
            rate("marginals, partial", partial.len(), &|| psdd.marginals_batch(&partial).unwrap().len() as f64);
            rate("mpe, partial", partial.len(), &|| psdd.mpe_batch(&partial).unwrap().len() as f64);
            rate("nearest, partial", partial.len(), &|| psdd.nearest_batch(&partial).unwrap().len() as f64);
        }
    }
}

fn time(run: &dyn Fn() -> f64) -> f64 {
    let start = Instant::now();
    std::hint::black_box(run());
    start.elapsed().as_secs_f64()
}

fn records(vars: usize, rows: usize, missing: f64) -> Records {
    let mut random = Random::new(1);
    let mut builder = RecordsBuilder::new(Names::numbered(vars));
    for _ in 0..rows {
        let row: Vec<_> = (0..vars).map(|_| (random.unit() >= missing).then(|| random.unit() < 0.5)).collect();
        builder.push(row, 1.0);
    }
    builder.finish()
}

/// A circuit with full support: every node fixes its first and last variable, and splits by the last one on the left.
fn layered(vtree: &Vtree, elements: usize) -> Deterministic {
    let mut random = Random::new(2);
    let copies = (elements / (8 * (vtree.var_count() - 1))).max(1);
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    // By value of the first and of the last variable.
    let mut made: Vec<[[Vec<NodeId>; 2]; 2]> = vec![Default::default(); vtree.node_count()];
    let mut pick = |from: &[NodeId]| from[random.below(from.len())];
    for &v in vtree.bottom_up() {
        let Some([left, right]) = vtree.children(v) else {
            let var = vtree.leaf_var(v).expect("a leaf");
            let [no, yes] = [false, true].map(|value| vec![builder.literal(var.is(value)).unwrap()]);
            made[v.index()] = [[no, vec![]], [vec![], yes]];
            continue;
        };
        let mut all = Vec::new();
        for (first, last) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for _ in 0..copies {
                let mut sum = Vec::new();
                for (middle, next) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    let (primes, subs) = (&made[left.index()][first][middle], &made[right.index()][next][last]);
                    // Where a side is a single variable, its first and last value must agree.
                    if !primes.is_empty() && !subs.is_empty() {
                        sum.push((pick(primes), pick(subs), 0.25f64.ln()));
                    }
                }
                all.extend_from_slice(&sum);
                if v != vtree.root() {
                    made[v.index()][first][last].push(builder.sum(v, &sum).unwrap());
                }
            }
        }
        if v == vtree.root() {
            // One copy of each of the four kinds, together: every world has one derivation.
            let kinds: Vec<_> =
                all.chunks(all.len() / 4).flat_map(|kind| kind[..kind.len() / copies].to_vec()).collect();
            let root = builder.sum(v, &kinds).unwrap();
            let circuit = builder.finish(root).unwrap().renormalised();
            return circuit.certify_deterministic().unwrap_or_else(|refusal| panic!("{refusal}"));
        }
    }
    unreachable!("the root comes last")
}
