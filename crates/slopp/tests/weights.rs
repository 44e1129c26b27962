//! Real and extreme weights: rounding must not make an impossible record possible, nor the other way round.

use slopp::circuit::{BuildError, Reason, Smoothing};
use slopp::io::{load_records, read_psdd};
use slopp::learn::{ChowLiu, Factorised, LearnError, Learner, Partition, SloppKmeans, SloppTree, Task, Variant};
use slopp::logic::Limits;
use slopp::model::ModelKind;
use slopp::{Certified, Circuit, Names, Random, Records, RecordsBuilder, Vtree};
use std::sync::Arc;

/// Random records over four variables, the last constant, with weights drawn by `weight`.
fn records(rows: usize, random: &mut Random, weight: impl Fn(&mut Random) -> f64) -> Records {
    let mut builder = RecordsBuilder::new(Names::numbered(4));
    for _ in 0..rows {
        let row: Vec<_> = (0..4).map(|i| Some(i == 3 || random.unit() < 0.5)).collect();
        let weight = weight(random);
        builder.push(row, weight);
    }
    builder.finish()
}

/// Every learner, in a closed world.
fn closed(records: &Records) -> Vec<Circuit> {
    let (task, vtree) = (Task::closed(records), Arc::new(Vtree::balanced(4)));
    let on_vtree = Task { vtree: Some(&vtree), ..task };
    let made = |task: Task<'_>, learner: &dyn Learner| match task.learn(learner, &()).unwrap().model.kind {
        ModelKind::Circuit(circuit) => Circuit::clone(&circuit),
        _ => panic!("a circuit"),
    };
    vec![
        made(on_vtree, &Factorised::default()),
        made(task, &ChowLiu::default()),
        made(on_vtree, &SloppTree::default()),
        made(on_vtree, &SloppKmeans::new(Variant::Notebook, 2, 3)),
    ]
}

#[test]
fn a_closed_world_is_closed_and_complete_whatever_the_weights() {
    let mut random = Random::new(1);
    let kinds: [fn(&mut Random) -> f64; 4] = [
        |random| random.unit() + 1e-3,
        |random| 1.0 + (random.unit() * 1e15).floor(),
        |random| 10f64.powf(24.0 * random.unit() - 9.0),
        |random| 1.0 / (1.0 + random.below(9) as f64),
    ];
    for round in 0..80 {
        let data = records(1 + round % 12, &mut random, kinds[round % 4]);
        for circuit in closed(&data) {
            assert!(circuit.entailed_by(&data).unwrap(), "every training record is possible");
            let constant = circuit.log_probability(&[true, true, true, false]).unwrap();
            assert_eq!(constant, f64::NEG_INFINITY, "a constant column stays constant");
        }
    }
}

#[test]
fn counting_does_not_overflow() {
    let mut builder = RecordsBuilder::new(Names::numbered(12));
    for i in 0..3000u32 {
        builder.push((0..12).map(|bit| Some(i >> bit & 1 == 1)), 8.9e15);
    }
    let records = builder.finish();
    assert!((records.count(&records.all_rows()) / records.total() - 1.0).abs() < 1e-12);
}

#[test]
fn weights_that_would_drown_the_others_are_refused() {
    for text in ["1e308|0,1\n1e308|0,1\n1|1,1\n", "1e300|0,1\n", "1e-300|1,1\n", "inf|0,1\n", "nan|0,1\n", "-1|0,1\n"] {
        let error = load_records(text.as_bytes(), &Default::default()).unwrap_err().to_string();
        assert!(error.contains("line 1: expected a weight from 1e-9 to 1e15"), "{error}");
    }
}

#[test]
fn fitting_to_nothing_possible_is_refused() {
    let psdd = slopp::example::psdd();
    let mut random = Random::new(2);
    let mut builder = RecordsBuilder::new(Names::numbered(4));
    (0..4000).for_each(|_| builder.push([Some(true); 4], random.unit() + 0.1));
    let impossible = builder.finish();
    for pseudocount in [0.0, 1.0] {
        let refused = psdd.fit(&impossible, &Smoothing::uniform(pseudocount));
        assert!(matches!(refused, Err(LearnError::NothingPossible)), "{refused:?}");
    }
}

#[test]
fn a_prior_must_fit() {
    let (psdd, records) = (slopp::example::psdd(), slopp::example::records());
    let other = Records::from_rows(Names::numbered(2), [[true, false]]);
    let refused = psdd.fit(&records, &Smoothing::marginal(1.0, &other));
    assert!(matches!(refused, Err(LearnError::Build(BuildError::PriorLength { expected: 4, found: 2 }))));
    let certain = Smoothing { prior: Some(vec![0.0; 4]), ..Smoothing::uniform(1.0) };
    assert!(matches!(psdd.fit(&records, &certain), Err(LearnError::Build(BuildError::Prior { .. }))));
    assert!(matches!(
        psdd.fit(&records, &Smoothing::uniform(-1.0)),
        Err(LearnError::Build(BuildError::Pseudocount(_)))
    ));
}

#[test]
fn sharing_merges_elements_that_become_equal() {
    let bits = |text: &str| text.chars().map(|c| c == '1').collect::<Vec<bool>>();
    let rows = ["000", "110", "010", "100", "001", "111", "011", "101"].map(bits);
    let records = Records::from_rows(Names::numbered(3), rows);
    let vtree: Vtree = "((1,2),3)".parse().unwrap();
    let partition =
        Partition::new().with(vtree.root(), 0, ["00", "11"].map(bits)).with(vtree.root(), 1, ["01", "10"].map(bits));
    let k_means = SloppKmeans { partition, ..SloppKmeans::new(Variant::Algorithm2, 2, 100) };
    let task = Task { vtree: Some(&vtree.into()), ..Task::closed(&records) };
    let learned = task.learn(&k_means, &()).unwrap().model;
    let circuit = learned.circuit().unwrap();
    assert_eq!(circuit.elements_of(circuit.root()).len(), 2);
    let shared = circuit.merge_equal_nodes().unwrap();
    assert_eq!(shared.elements_of(shared.root()).len(), 1);
    assert_eq!(shared.counts().unwrap().elements[shared.element_range(shared.root()).start], 8.0);
    for world in 0..8 {
        let world = [world & 1 == 1, world & 2 == 2, world & 4 == 4];
        let difference = circuit.log_probability(&world).unwrap() - shared.log_probability(&world).unwrap();
        assert!(difference.abs() < 1e-12);
    }
}

#[test]
fn parameters_that_do_not_add_up_have_no_certificate() {
    let text = "psdd 4\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -0.6931471805599453\nD 3 1 2 0 2 -0.1 1 2 -0.1\n";
    let circuit = read_psdd(text.as_bytes(), None).unwrap().circuit;
    match Certified::new(circuit.clone(), &Limits::default()) {
        Certified::Circuit(_, Reason::Parameters(fault)) => assert!((fault.total - 1.80967).abs() < 1e-4),
        other => panic!("{other:?}"),
    }
    assert!(circuit.clone().certify(&Limits::default()).unwrap_err().to_string().contains("renormalise"));
    assert!(circuit.renormalised().certify(&Limits::default()).is_ok());
}

#[test]
fn totals_above_one_do_not_overflow() {
    let vars = 1200;
    let vtree = Vtree::right_linear(vars);
    let mut builder = slopp::Builder::new(vtree.clone(), slopp::Sharing::Equal);
    let mut below = None;
    for &v in vtree.bottom_up() {
        below = Some(match (vtree.leaf_var(v), vtree.children(v)) {
            (Some(var), _) => builder.top(var, [0.5f64.ln(); 2]).unwrap(),
            (_, Some([left, _])) => {
                let var = vtree.leaf_var(left).unwrap();
                let [no, yes] = [false, true].map(|value| builder.literal(var.is(value)).unwrap());
                builder.sum(v, &[(no, below.unwrap(), 0.0), (yes, below.unwrap(), 0.0)]).unwrap()
            }
            _ => unreachable!(),
        });
    }
    let circuit = builder.finish(below.unwrap()).unwrap();
    let found = circuit.log_evidence(&slopp::infer::Evidence::none(vars)).unwrap();
    assert!((found - (vars - 1) as f64 * 2f64.ln()).abs() < 1e-6, "{found}");
}

#[test]
fn two_values_of_a_top_must_add_up() {
    for values in ["-10 -10", "-0.1 -0.1", "-inf -5", "0 0"] {
        let text = format!("psdd 1\nT 0 0 1 {values}\n");
        let error = read_psdd(text.as_bytes(), None).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("add up to 1"), "{error}");
    }
    assert!(read_psdd(b"psdd 1\nT 0 0 1 -inf 0\n", None).is_ok());
}
