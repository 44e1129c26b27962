//! Proposition 1 as properties: on random records and vtrees, relaxation always holds; exclusive primes hold for
//! certified SLoPP always, and for k-means SLoPP exactly when the certificate says so.

use slopp::circuit::{Overlaps, Smoothing};
use slopp::learn::{
    ChowLiu, Factorised, LearnError, Learner, Refit, SloppKmeans, SloppTree, Support, Task, Variant, World,
    pair_information,
};
use slopp::logic::{Formula, Limits};
use slopp::{Circuit, Model, Names, Node, NodeId, Psdd, Random, Records, Vtree};
use std::sync::Arc;

/// Correlated random records: some variables copy or negate earlier ones.
fn random_records(vars: usize, rows: usize, random: &mut Random) -> Records {
    let sources: Vec<Option<usize>> =
        (0..vars).map(|i| (i > 0 && random.unit() < 0.6).then(|| random.below(i))).collect();
    let bias: Vec<f64> = (0..vars).map(|_| random.unit()).collect();
    let rows: Vec<Vec<bool>> = (0..rows)
        .map(|_| {
            let mut row = Vec::with_capacity(vars);
            for i in 0..vars {
                let copied = sources[i].filter(|_| random.unit() < 0.8).map(|j| row[j] ^ (i % 3 == 0));
                row.push(copied.unwrap_or_else(|| random.unit() < bias[i]));
            }
            row
        })
        .collect();
    Records::from_rows(Names::numbered(vars), rows)
}

/// The circuit of SLoPP as published, and where its primes overlap.
fn published(k_means: &SloppKmeans, task: &Task) -> (Circuit, Overlaps) {
    let model = task.learn(k_means, &()).unwrap().model;
    let circuit = Circuit::clone(model.circuit().expect("a circuit"));
    let overlaps = circuit.overlaps(10, &Limits::default());
    (circuit, overlaps)
}

fn worlds(vars: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << vars).map(move |w| (0..vars).map(|i| w >> i & 1 == 1).collect())
}

/// Whether a world satisfies a node, by definition.
fn satisfies(circuit: &Circuit, world: &[bool]) -> Vec<bool> {
    let mut result: Vec<bool> = Vec::new();
    for id in circuit.ids() {
        let holds = match circuit.node(id) {
            Node::Literal(lit) => world[lit.var.index()] == lit.value,
            Node::Top { .. } => true,
            Node::Sum { .. } => circuit.elements_of(id).any(|(e, _)| result[e.prime.index()] && result[e.sub.index()]),
        };
        result.push(holds);
    }
    result
}

/// The sums with two primes that some world satisfies, by enumeration.
fn overlapping_sums(circuit: &Circuit) -> Vec<NodeId> {
    let tables: Vec<Vec<bool>> = worlds(circuit.var_count()).map(|world| satisfies(circuit, &world)).collect();
    let overlaps = |id: &NodeId| {
        let primes: Vec<NodeId> = circuit.elements_of(*id).map(|(e, _)| e.prime).collect();
        tables.iter().any(|table| primes.iter().filter(|prime| table[prime.index()]).count() > 1)
    };
    circuit.ids().filter(overlaps).collect()
}

fn total_probability(circuit: &Circuit) -> f64 {
    worlds(circuit.var_count()).map(|world| circuit.log_probability(&world).unwrap().exp()).sum()
}

/// A PSDD that is learned on a vtree.
fn learned(task: Task<'_>, vtree: &Arc<Vtree>, learner: &dyn Learner) -> Result<Psdd, LearnError> {
    Ok(Task { vtree: Some(vtree), ..task }.learn(learner, &())?.model.into_psdd().expect("a PSDD"))
}

#[test]
fn certified_slopp_is_a_psdd_on_any_data_and_vtree() {
    let mut random = Random::new(11);
    for round in 0..150 {
        let (vars, rows) = (1 + random.below(8), 1 + random.below(200));
        let records = random_records(vars, rows, &mut random);
        let vtree = Arc::new(Vtree::random(vars, round));
        for support in [Support::open(), Support::closed()] {
            let greedy =
                SloppTree { split_penalty: 0.0, parameter_penalty: 0.0, min_records: 1.0, ..SloppTree::default() };
            for tree in [SloppTree::default(), greedy] {
                let psdd = learned(Task { support, ..Task::new(&records) }, &vtree, &tree).unwrap();
                assert!(overlapping_sums(&psdd).is_empty());
                assert!(psdd.entailed_by(&records).unwrap(), "every training record is possible");
                assert!((total_probability(&psdd) - 1.0).abs() < 1e-9);
                if support.world == World::Open {
                    let possible = worlds(vars).all(|w| psdd.log_probability(&w).unwrap().is_finite());
                    assert!(possible, "an open world has full support");
                }
            }
        }
    }
}

#[test]
fn published_slopp_relaxes_and_its_certificate_agrees_with_enumeration() {
    let mut random = Random::new(12);
    let mut broken = 0;
    for round in 0..150 {
        let (vars, rows) = (1 + random.below(7), 1 + random.below(120));
        let records = random_records(vars, rows, &mut random);
        let vtree = Arc::new(Vtree::random(vars, round));
        for variant in [Variant::Algorithm2, Variant::Notebook] {
            for (k, d) in [(2, 4), (3, 10)] {
                let task = Task { vtree: Some(&vtree), seed: round, ..Task::closed(&records) };
                let (circuit, overlaps) = published(&SloppKmeans::new(variant, k, d), &task);
                assert!(circuit.entailed_by(&records).unwrap(), "every training record is possible");
                assert!((total_probability(&circuit) - 1.0).abs() < 1e-9, "a mixture is normalised");
                let enumerated = overlapping_sums(&circuit);
                assert_eq!(overlaps.sums, enumerated.len());
                broken += usize::from(!enumerated.is_empty());
                for overlap in &overlaps.examples {
                    let table = satisfies(&circuit, &overlap.witness);
                    let elements: Vec<_> = circuit.elements_of(overlap.node).map(|(e, _)| e).collect();
                    let (a, b) = (elements[overlap.elements.0], elements[overlap.elements.1]);
                    assert!(table[a.prime.index()] && table[b.prime.index()]);
                    assert!(overlap.weak || table[a.sub.index()] && table[b.sub.index()]);
                    assert!(table[circuit.root().index()], "the witness is a possible world");
                }
                assert_eq!(circuit.certify(&Limits::default()).is_ok(), enumerated.is_empty());
            }
        }
    }
    assert!(broken > 10, "random data must reach the failures of Proposition 1: {broken} of 600 did");
}

#[test]
fn an_open_world_gives_k_means_slopp_full_support() {
    let mut random = Random::new(13);
    for round in 0..40 {
        let vars = 1 + random.below(6);
        let records = random_records(vars, 60, &mut random);
        for variant in [Variant::Algorithm2, Variant::Notebook] {
            let k_means = SloppKmeans { pseudocount: Some(1.0), ..SloppKmeans::new(variant, 2, 10) };
            let task = Task { vtree: Some(&Vtree::random(vars, round).into()), ..Task::new(&records) };
            let (circuit, _) = published(&k_means, &task);
            assert!(worlds(vars).all(|world| circuit.log_probability(&world).unwrap().is_finite()));
        }
    }
}

#[test]
fn maximum_likelihood_is_a_maximum() {
    let mut random = Random::new(14);
    let records = random_records(6, 200, &mut random);
    let psdd = learned(Task::closed(&records), &Vtree::balanced(6).into(), &SloppTree::default()).unwrap();
    let log_likelihood = |circuit: &slopp::Psdd| -> f64 {
        let values = circuit.log_likelihoods(&records).unwrap();
        values.iter().zip(records.weights()).map(|(ll, weight)| ll * weight).sum()
    };
    let best = log_likelihood(&psdd);
    assert_eq!(psdd.fit(&records, &Smoothing::none()).unwrap().circuit, psdd, "fitting again changes nothing");
    for pseudocount in [0.5, 5.0, 50.0] {
        let smoothed = psdd.fit(&records, &Smoothing::uniform(pseudocount)).unwrap();
        assert!(log_likelihood(&smoothed.circuit) < best);
        assert!(smoothed.circuit.same_structure(&psdd));
    }
}

#[test]
fn adding_records_equals_fitting_to_all() {
    let mut random = Random::new(15);
    let (first, second) = (random_records(5, 80, &mut random), random_records(5, 50, &mut random));
    let both = Records::from_rows(
        Names::numbered(5),
        [&first, &second].into_iter().flat_map(|part| {
            let row = |&i: &u32| part.row(i as usize).map(|cell| cell.unwrap()).collect::<Vec<_>>();
            part.original().iter().map(row).collect::<Vec<_>>()
        }),
    );
    let smoothing = Smoothing::uniform(1.0);
    let psdd = learned(Task::new(&first), &Vtree::balanced(5).into(), &SloppTree::default()).unwrap();
    let added = psdd.fit(&first, &smoothing).unwrap().circuit.add_records(&second, &smoothing).unwrap();
    let fitted = psdd.fit(&both, &smoothing).unwrap();
    assert_eq!(added.circuit, fitted.circuit);
    assert_eq!((added.counted, fitted.counted, added.impossible), (50.0, 130.0, 0.0));
}

/// Records that are impossible are left out of the prior, too.
#[test]
fn impossible_records_change_nothing() {
    let names = Names::numbered(3);
    let rows = [[true, true, false], [false, false, true], [true, true, true]];
    let base = Formula::parse("(x1 <-> x2) & (x1 | x3)", &names).unwrap();
    let base = base.compile(Vtree::balanced(3), &Limits::default()).unwrap();
    let psdd = base.to_circuit().unwrap().certify(&Limits::default()).unwrap();
    let model = Model::new(names.clone(), psdd);
    let fit = |model: &Model, rows: &[[bool; 3]], add: bool| {
        let records = Records::from_rows(names.clone(), rows.iter().copied());
        model.refit(&records, &Refit { pseudocount: Some(1.0), add, ..Refit::default() }, &()).unwrap().model
    };
    let impossible = [false, true, true];
    let fitted = fit(&model, &rows, false);
    assert_eq!(fit(&model, &[rows[0], rows[1], rows[2], impossible], false), fitted);
    let first = fit(&model, &rows[..2], false);
    assert_eq!(fit(&first, &[impossible, rows[2], impossible], true).kind, fitted.kind);
}

#[test]
fn a_pseudocount_that_is_too_small_is_told() {
    let records = Records::from_rows(Names::numbered(2), [[true, false], [true, true]]);
    let error = Task::new(&records).learn(&ChowLiu { pseudocount: Some(5e-324) }, &()).unwrap_err().to_string();
    assert!(error.starts_with("the pseudocount 5e-324 is too small"), "{error}");
}

#[test]
fn parameters_follow_from_the_counts_that_are_kept() {
    let mut random = Random::new(21);
    for round in 0..10 {
        let (first, second) = (random_records(6, 150, &mut random), random_records(6, 40, &mut random));
        let psdd = learned(Task::new(&first), &Vtree::random(6, round).into(), &SloppTree::default()).unwrap();
        let pseudocount = 2.0;
        let same = psdd.fit(&first, &Smoothing::marginal(pseudocount, &first)).unwrap().circuit;
        assert_eq!(same, psdd, "fitting to the training records changes nothing");
        let added = psdd.add_records(&second, &Smoothing::marginal_with(pseudocount, &psdd, &second)).unwrap().circuit;
        let all = first.merged(&second).unwrap();
        let fitted = psdd.fit(&all, &Smoothing::marginal(pseudocount, &all)).unwrap().circuit;
        assert_eq!(added, fitted, "adding records is fitting to all of them");
    }
}

#[test]
fn unseen_elements_are_dropped_by_maximum_likelihood_and_only_then() {
    let psdd = slopp::example::psdd();
    let one = Records::from_rows(Names::numbered(4), [[false, false, false, false]]);
    let fitted = psdd.fit(&one, &Smoothing::none()).unwrap();
    assert_eq!(fitted.circuit.stats().elements, 3);
    assert_eq!(fitted.dropped, 10);
    assert!(fitted.circuit.log_probability(&[false; 4]).unwrap().abs() < 1e-12);
    assert_eq!(psdd.fit(&one, &Smoothing::uniform(0.1)).unwrap().dropped, 0);
    let impossible = Records::from_rows(Names::numbered(4), [[true; 4]]);
    assert!(psdd.fit(&impossible, &Smoothing::none()).unwrap_err().to_string().contains("none of the records"));
}

#[test]
fn sharing_keeps_the_distribution_and_the_counts() {
    let mut random = Random::new(16);
    for round in 0..30 {
        let records = random_records(7, 60, &mut random);
        let task = Task { vtree: Some(&Vtree::random(7, round).into()), ..Task::closed(&records) };
        let (circuit, _) = published(&SloppKmeans::new(Variant::Notebook, 3, 5), &task);
        let shared = circuit.merge_equal_nodes().unwrap();
        assert!(shared.nodes().len() <= circuit.nodes().len());
        for world in worlds(7) {
            let (a, b) = (circuit.log_probability(&world).unwrap(), shared.log_probability(&world).unwrap());
            assert!(a == b || (a - b).abs() < 1e-12, "{a} {b}");
        }
        let total = |c: &Circuit| c.counts().unwrap().elements.iter().sum::<f64>();
        assert!((total(&circuit) - total(&shared)).abs() < 1e-9);
    }
}

#[test]
fn factorised_is_the_product_of_marginals() {
    let mut random = Random::new(17);
    let records = random_records(4, 50, &mut random);
    let psdd = learned(Task::closed(&records), &Vtree::random(4, 1).into(), &Factorised::default()).unwrap();
    for world in worlds(4) {
        let share = |i: usize| {
            let trues: f64 = (0..records.len())
                .filter(|&row| records.row(row).nth(i) == Some(Some(world[i])))
                .map(|row| records.weights()[row])
                .sum();
            trues / 50.0
        };
        let product: f64 = (0..4).map(share).product();
        assert!((psdd.log_probability(&world).unwrap().exp() - product).abs() < 1e-12);
    }
}

/// The parent of each variable, of equally strong edges by the first one found.
fn maximum_spanning_tree(records: &Records) -> Vec<Option<usize>> {
    let information = pair_information(records).unwrap();
    let (mut parents, mut inside) = (vec![None; records.var_count()], vec![0]);
    while inside.len() < parents.len() {
        let mut best = (f64::NEG_INFINITY, 0, 0);
        for outside in (0..parents.len()).filter(|x| !inside.contains(x)) {
            for &parent in &inside {
                let weight = information.at(parent, outside);
                best = if weight > best.0 { (weight, parent, outside) } else { best };
            }
        }
        parents[best.2] = Some(best.1);
        inside.push(best.2);
    }
    parents
}

#[test]
fn chow_liu_is_the_product_of_conditionals() {
    let mut random = Random::new(20);
    for round in 0..20 {
        let vars = 1 + round % 6;
        let records = random_records(vars, 60, &mut random);
        let rows: Vec<Vec<bool>> =
            (0..records.len()).map(|row| records.row(row).map(|c| c.unwrap()).collect()).collect();
        let share = |holds: &dyn Fn(&[bool]) -> bool| -> f64 {
            rows.iter().zip(records.weights()).filter(|(row, _)| holds(row)).map(|(_, weight)| weight).sum()
        };
        let parents = maximum_spanning_tree(&records);
        let psdd = Task::closed(&records).learn(&ChowLiu::default(), &()).unwrap().model.into_psdd().unwrap();
        for world in worlds(vars) {
            let conditional = |i: usize| {
                let parent = parents[i];
                let above = |row: &[bool]| parent.is_none_or(|p| row[p] == world[p]);
                let given = share(&above);
                if given == 0.0 { 0.0 } else { share(&|row| above(row) && row[i] == world[i]) / given }
            };
            let product: f64 = (0..vars).map(conditional).product();
            assert!((psdd.log_probability(&world).unwrap().exp() - product).abs() < 1e-12);
        }
        let open =
            Task::new(&records).learn(&ChowLiu { pseudocount: Some(1.0) }, &()).unwrap().model.into_psdd().unwrap();
        assert!(worlds(vars).all(|world| open.log_probability(&world).unwrap().is_finite()));
    }
}

#[test]
fn a_closed_world_stays_closed_when_smoothed() {
    let records =
        Records::from_rows(Names::numbered(3), [[true, true, false], [true, false, true], [true, true, false]]);
    let vtree: Arc<Vtree> = Vtree::balanced(3).into();
    let (closed, pseudocount) = (Task::closed(&records), Some(1.0));
    for psdd in [
        learned(closed, &vtree, &Factorised { pseudocount }).unwrap(),
        closed.learn(&ChowLiu { pseudocount }, &()).unwrap().model.into_psdd().unwrap(),
        learned(closed, &vtree, &SloppTree { pseudocount, ..SloppTree::default() }).unwrap(),
    ] {
        assert_eq!(psdd.log_probability(&[false, true, false]).unwrap(), f64::NEG_INFINITY);
        assert!(psdd.log_probability(&[true, true, false]).unwrap() < 0.0);
    }
}

#[test]
fn awkward_records_are_learned_or_refused_clearly() {
    let learn = |rows: &[&[bool]], vtree: Vtree| {
        let records = Records::from_rows(
            Names::numbered(rows.first().map_or(0, |row| row.len())),
            rows.iter().map(|r| r.to_vec()),
        );
        learned(Task::new(&records), &vtree.into(), &SloppTree::default())
    };
    assert!(learn(&[&[true]], Vtree::balanced(1)).is_ok(), "one variable, one record");
    assert!(learn(&[&[true, true][..]; 50], Vtree::balanced(2)).is_ok(), "all records equal");
    assert!(matches!(
        learn(&[&[true, true]], Vtree::balanced(3)),
        Err(LearnError::WrongVtree { vtree: 3, records: 2 })
    ));
    let none = Records::from_rows(Names::numbered(2), Vec::<Vec<bool>>::new());
    let (vtree, tree) = (Arc::new(Vtree::balanced(2)), SloppTree::default());
    assert!(matches!(learned(Task::new(&none), &vtree, &tree), Err(LearnError::NoRecords)));
    let some = Records::from_rows(Names::numbered(2), [[true, false]]);
    for wrong in [
        SloppTree { pseudocount: Some(0.0), ..tree },
        SloppTree { pseudocount: Some(f64::NAN), ..tree },
        SloppTree { max_clusters: 0, ..tree },
        SloppTree { split_penalty: -1.0, ..tree },
        SloppTree { min_records: f64::NAN, ..tree },
    ] {
        let refused = learned(Task::new(&some), &vtree, &wrong);
        assert!(matches!(refused, Err(LearnError::Setting { .. })), "{wrong:?}");
    }
}

#[test]
fn deep_vtrees_are_learned_without_overflowing_the_stack() {
    let mut random = Random::new(18);
    let records = random_records(2000, 30, &mut random);
    for vtree in [Vtree::right_linear(2000), Vtree::left_linear(2000)] {
        let vtree = Arc::new(vtree);
        let psdd = learned(Task::new(&records), &vtree, &SloppTree::default()).unwrap();
        assert!(psdd.entailed_by(&records).unwrap());
        let task = Task { vtree: Some(&vtree), ..Task::closed(&records) };
        published(&SloppKmeans::new(Variant::Notebook, 2, 10), &task);
    }
}

#[test]
fn weights_count_as_repetition() {
    let mut random = Random::new(19);
    let records = random_records(6, 300, &mut random);
    let mut builder = slopp::RecordsBuilder::new(records.names().clone());
    for row in 0..records.len() {
        builder.push(records.row(row), records.weights()[row]);
    }
    let weighted = builder.finish();
    let vtree = Arc::new(Vtree::balanced(6));
    let [one, other] = [&records, &weighted].map(|records| Task { vtree: Some(&vtree), ..Task::closed(records) });
    let tree = |task: Task<'_>| learned(task, &vtree, &SloppTree::default()).unwrap();
    assert_eq!(tree(one), tree(other));
    let k_means = SloppKmeans::new(Variant::Notebook, 2, 20);
    assert_eq!(published(&k_means, &one), published(&k_means, &other));
}
