//! Circuits made by other tools give the answers that an independent program computed.

use serde_json::Value;
use slopp::circuit::PARAMETER_TOLERANCE;
use slopp::infer::Evidence;
use slopp::io::{RecordsOptions, read_model, read_records, read_vtree};
use slopp::logic::Limits;
use slopp::model::Certified;
use slopp::{Model, Var};
use std::path::PathBuf;

/// The golden answers of a folder.
fn golden(file: &str) -> Option<(PathBuf, Value)> {
    let folder = slopp_oracle::shared("fixtures/zoo")?;
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    Some((folder, serde_json::from_str(&text).unwrap()))
}

fn load(folder: &std::path::Path, name: &str) -> Model {
    let stem = name.split('.').next().unwrap();
    let vtree = folder.join(format!("{stem}.vtree"));
    let path = folder.join(format!("{name}.psdd"));
    let vtree = vtree.exists().then(|| read_vtree(&vtree).unwrap());
    read_model(&path, vtree.as_ref(), &Default::default()).unwrap_or_else(|e| panic!("{name}: {e}")).model
}

fn close(found: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {found} instead of {expected}");
}

fn world(value: &Value) -> Vec<bool> {
    value.as_array().unwrap().iter().map(|cell| cell.as_u64() == Some(1)).collect()
}

#[test]
fn queries_of_the_zoo() {
    let Some((folder, golden)) = golden("golden_queries.json") else { return };
    for (name, expected) in golden.as_object().unwrap() {
        let model = load(&folder, name);
        let circuit = model.circuit().unwrap().deterministic().unwrap_or_else(|overlap| panic!("{name}: {overlap}"));
        let vars = expected["nvars"].as_u64().unwrap() as usize;
        assert_eq!(circuit.var_count(), vars, "{name}");
        let nothing = Evidence::none(vars);
        let total = circuit.log_evidence(&nothing).unwrap().exp();
        close(total, &expected["Z"], name);
        assert_eq!(circuit.model_count().to_string(), expected["model_count"], "{name}");
        // Golden entropies are those of the normalised circuit to the precision of the file.
        let entropy = expected["entropy"].as_f64().unwrap();
        assert!((circuit.entropy() - entropy).abs() < 1e-5, "{name}: {} {entropy}", circuit.entropy());
        let mut evidence = Evidence::none(vars);
        for (number, value) in expected["evidence"].as_object().unwrap() {
            let var = Var::from_number(number.parse().unwrap()).unwrap();
            evidence.set(var, Some(value.as_u64() == Some(1)));
        }
        close(circuit.log_evidence(&evidence).unwrap().exp(), &expected["prob_evidence"], name);
        for (given, key) in [(&nothing, "marginals"), (&evidence, "cond_marginals")] {
            let marginals = circuit.marginals(given).unwrap();
            for (number, value) in expected[key].as_object().unwrap() {
                close(marginals[number.parse::<usize>().unwrap() - 1], value, &format!("{name} {key} {number}"));
            }
        }
        for (given, key) in [(&nothing, "mpe"), (&evidence, "mpe_given_evidence")] {
            let (found, log_probability) = circuit.mpe(given).unwrap();
            close(log_probability, &expected[format!("{key}_logprob")], name);
            let golden = circuit.log_probability(&world(&expected[key])).unwrap();
            assert!((golden - log_probability).abs() < 1e-9, "{name}: as probable as the golden world");
            assert!((circuit.log_probability(&found).unwrap() - log_probability).abs() < 1e-9, "{name}");
        }
    }
}

#[test]
fn likelihoods_of_the_zoo() {
    let Some((folder, golden)) = golden("golden_loglik.json") else { return };
    let Some(data) = slopp_oracle::shared("data/nltcs") else { return };
    for (name, expected) in golden.as_object().unwrap() {
        let model = load(&folder, name);
        let circuit = model.circuit().unwrap().deterministic().unwrap_or_else(|overlap| panic!("{name}: {overlap}"));
        assert!(circuit.parameter_faults(PARAMETER_TOLERANCE).is_empty());
        for part in ["train", "valid", "test"] {
            let path = data.join(format!("nltcs.{part}.data.gz"));
            let records = read_records(&path, &RecordsOptions::default()).unwrap();
            let sum = |values: Vec<f64>| values.iter().zip(records.weights()).map(|(ll, w)| ll * w).sum::<f64>();
            assert_eq!(records.total(), expected[part]["N"].as_f64().unwrap());
            close(sum(circuit.log_likelihoods(&records).unwrap()), &expected[part]["LL"], name);
            let circuit: &slopp::Circuit = circuit;
            close(sum(circuit.log_likelihoods(&records).unwrap()), &expected[part]["LL"], name);
        }
    }
}

#[test]
fn known_constants() {
    let Some(folder) = slopp_oracle::shared("fixtures/zoo") else { return };
    let little = load(&folder, "little_4var");
    for (cells, expected) in
        [("0000", 0.07), ("0110", 0.03), ("0011", 0.14), ("000?", 0.35), ("?10?", 0.1), ("0???", 0.8)]
    {
        let mut evidence = Evidence::none(4);
        for (i, cell) in cells.chars().enumerate() {
            evidence.set(Var(i as u32), (cell != '?').then_some(cell == '1'));
        }
        let found = little.circuit().unwrap().log_evidence(&evidence).unwrap().exp();
        assert!((found - expected).abs() < 1e-12, "{cells}: {found}");
    }
    let simple = |i: usize| load(&folder, &format!("simple2.{i}"));
    let kl = |a: usize, b: usize| {
        simple(a)
            .circuit()
            .unwrap()
            .deterministic()
            .unwrap()
            .kl_divergence(simple(b).circuit().unwrap().deterministic().unwrap(), &Limits::default())
            .unwrap()
    };
    assert!((kl(1, 2) - 0.56728002).abs() < 1e-7, "{}", kl(1, 2));
    assert!((kl(2, 3) - 0.38966506).abs() < 1e-7, "{}", kl(2, 3));
}

#[test]
fn weak_determinism_is_told_apart() {
    let Some(folder) = slopp_oracle::shared("fixtures/zoo") else { return };
    for name in ["little_4var", "simple2.1"] {
        match load(&folder, name).circuit().unwrap() {
            Certified::Deterministic(_, overlap) => assert!(overlap.weak, "{name}"),
            other => panic!("{name} is only weakly deterministic, found {other:?}"),
        }
    }
    for name in ["nltcs.clt", "asia.uai", "asia-bdd"] {
        assert!(load(&folder, name).psdd().is_some(), "{name}");
    }
}
