//! Saved models and SDDs: nothing is lost, counts are right, damage is explained.

mod sdds;

use num_bigint::BigUint;
use proptest::prelude::*;
use slopp::circuit::{Circuit, Node};
use slopp::io::*;
use slopp::logic::{Limits, Sdd};
use slopp::model::Certified;
use slopp::vtree::VtreeId;
use slopp::{Builder, Model, Names, NodeId, Psdd, Random, Sharing, Var, Vtree, Weights};
use slopp_oracle::shared;
use std::path::Path;

/// A random PSDD: below every vtree node there are lists of nodes that exclude each other by construction.
fn random_psdd(vars: usize, seed: u64) -> Psdd {
    let vtree = Vtree::random(vars, seed);
    let mut random = Random::new(seed);
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    let mut lists: Vec<Vec<Vec<NodeId>>> = vec![Vec::new(); vtree.node_count()];
    for &v in vtree.bottom_up() {
        let made = match (vtree.leaf_var(v), vtree.children(v)) {
            (Some(x), _) => {
                let pair = [true, false].map(|value| builder.literal(x.is(value)).unwrap());
                let p = 0.05 + 0.9 * random.unit();
                let top = builder.top(x, [(1.0 - p).ln(), p.ln()]).unwrap();
                vec![pair.to_vec(), vec![top], vec![pair[random.below(2)]]]
            }
            (_, Some([left, right])) => (0..2)
                .map(|_| exclusive_sums(&mut builder, &mut random, v, &lists[left.index()], &lists[right.index()]))
                .collect(),
            _ => unreachable!(),
        };
        lists[v.index()] = made;
    }
    let root = lists[vtree.root().index()][0][0];
    builder.finish(root).unwrap().certify(&Limits::default()).expect("exclusive by construction")
}

/// Sums over the same primes; for each prime, no two of them have the same sub.
fn exclusive_sums(
    builder: &mut Builder,
    random: &mut Random,
    v: VtreeId,
    left: &[Vec<NodeId>],
    right: &[Vec<NodeId>],
) -> Vec<NodeId> {
    let primes = &left[random.below(left.len())];
    let subs: Vec<&Vec<NodeId>> = primes.iter().map(|_| &right[random.below(right.len())]).collect();
    let width = subs.iter().map(|s| s.len()).min().unwrap();
    let mut sum = |k: usize| {
        let keep = random.below(primes.len());
        let chosen: Vec<usize> = (0..primes.len()).filter(|&i| i == keep || random.unit() < 0.8).collect();
        let weights: Vec<f64> = chosen.iter().map(|_| 0.01 + random.unit()).collect();
        let total: f64 = weights.iter().sum();
        let elements: Vec<_> =
            chosen.iter().zip(&weights).map(|(&i, w)| (primes[i], subs[i][k], (w / total).ln())).collect();
        builder.sum(v, &elements).unwrap()
    };
    (0..width).map(&mut sum).collect()
}

/// The probability of a world, by the definition.
fn probability(circuit: &Circuit, world: &[bool]) -> f64 {
    let mut values: Vec<f64> = Vec::new();
    for id in circuit.ids() {
        values.push(match circuit.node(id) {
            Node::Literal(lit) => f64::from(world[lit.var.index()] == lit.value),
            Node::Top { var, slot } => {
                circuit.log_parameters().tops[slot as usize][usize::from(world[var.index()])].exp()
            }
            Node::Sum { .. } => {
                circuit.elements_of(id).map(|(e, t)| t.exp() * values[e.prime.index()] * values[e.sub.index()]).sum()
            }
        });
    }
    values[circuit.root().index()]
}

fn worlds(vars: usize) -> impl Iterator<Item = Vec<bool>> {
    (0u32..1 << vars).map(move |bits| (0..vars).map(|i| bits >> i & 1 == 1).collect())
}

fn random_counts(circuit: &Circuit, random: &mut Random) -> Weights {
    let mut number = || match random.below(4) {
        0 => random.below(1000) as f64,
        1 => random.unit() * 1e-30,
        2 => random.unit() * 1e18,
        _ => random.unit(),
    };
    let shape = circuit.log_parameters();
    Weights {
        tops: shape.tops.iter().map(|_| [number(), number()]).collect(),
        elements: shape.elements.iter().map(|_| number()).collect(),
    }
}

fn written(model: &Model) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_model(&mut bytes, model).unwrap();
    bytes
}

fn bits(weights: &Weights) -> Vec<u64> {
    weights.tops.iter().flatten().chain(&weights.elements).map(|x| x.to_bits()).collect()
}

fn message<T: std::fmt::Debug>(result: Result<T, ReadError>) -> String {
    result.expect_err("must be refused").to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn models_come_back_bit_for_bit(
        seed: u64,
        vars in 1usize..30,
        with_counts: bool,
        word in "\\PC{1,8}",
        origin in proptest::collection::btree_map("[a-z]{1,5}", any::<String>(), 0..4),
    ) {
        let mut circuit = random_psdd(vars, seed).into_circuit();
        if with_counts {
            let counts = random_counts(&circuit, &mut Random::new(seed ^ 1));
            circuit = circuit.with_counts(counts).unwrap();
        }
        let names = (0..vars).map(|i| format!("{word}\n\0\"{i}")).collect();
        let mut model = Model::new(Names::new(names).unwrap(), Certified::new(circuit, &Limits::default()));
        model.origin = origin;
        let bytes = written(&model);
        let again = read_model(&bytes, None, &Default::default()).unwrap();
        prop_assert_eq!(&again.model, &model);
        prop_assert_eq!(bits(again.model.circuit().unwrap().log_parameters()), bits(model.circuit().unwrap().log_parameters()));
        prop_assert_eq!(again.model.circuit().unwrap().counts().map(bits), model.circuit().unwrap().counts().map(bits));
        prop_assert_eq!(written(&again.model), bytes.clone());
        // Other tools ignore the comments.
        let plain = read_psdd(&bytes, None).unwrap();
        prop_assert!(plain.circuit.same_structure(model.circuit().unwrap()));
    }

    #[test]
    fn the_base_is_the_support(seed: u64, vars in 1usize..9) {
        let psdd = random_psdd(vars, seed);
        let sdd = Sdd::base_of(&psdd, &Limits::default()).unwrap();
        let mut possible = 0u32;
        for world in worlds(vars) {
            let support = probability(&psdd, &world) > 0.0;
            possible += u32::from(support);
            prop_assert_eq!(sdd.is_satisfied_by(&world), support);
        }
        prop_assert_eq!(sdd.model_count(), BigUint::from(possible));

        let mut bytes = Vec::new();
        write_sdd(&mut bytes, &sdd, None).unwrap();
        let vtree = LoadedVtree::in_order(Vtree::clone(psdd.vtree()));
        let again = read_sdd(&bytes, Some(&vtree)).unwrap().0;
        prop_assert_eq!(&again, &sdd);

        let uniform = again.to_circuit().unwrap().certify(&Limits::default()).unwrap();
        for world in worlds(vars) {
            let expected = if sdd.is_satisfied_by(&world) { 1.0 / f64::from(possible) } else { 0.0 };
            prop_assert!((probability(&uniform, &world) - expected).abs() < 1e-12);
        }
        // Equal up to the numbers of nodes, for canonical diagrams of one formula.
        prop_assert_eq!(Sdd::base_of(&uniform, &Limits::default()).unwrap().size(), sdd.size());
    }

    #[test]
    fn vtrees_come_back(seed: u64, vars in 1usize..300) {
        let vtree = Vtree::random(vars, seed);
        let mut bytes = Vec::new();
        write_vtree(&mut bytes, &vtree).unwrap();
        let again = read_vtree(&bytes).unwrap();
        prop_assert!(again.is_in_order());
        prop_assert_eq!(again.vtree, vtree);
    }

    #[test]
    fn records_come_back(seed: u64, vars in 1usize..80, rows in 1usize..40) {
        let mut random = Random::new(seed);
        let mut builder = slopp::RecordsBuilder::new(Names::numbered(vars));
        for _ in 0..rows {
            let row: Vec<_> = (0..vars).map(|_| [Some(true), Some(false), None][random.below(3)]).collect();
            builder.push(row, 1.0);
        }
        let records = builder.finish();
        let mut csv = Vec::new();
        write_records(&mut csv, &records, true).unwrap();
        let read = |bytes: &[u8]| load_records(bytes, &RecordsOptions::default()).unwrap();
        prop_assert_eq!(&read(&csv).records, &records);
        let mut weighted = Vec::new();
        write_weighted_records(&mut weighted, &records, false).unwrap();
        let again = read(&weighted).records;
        let rows = |records: &slopp::Records| -> Vec<Vec<_>> {
            (0..records.len()).map(|i| records.row(i).collect()).collect()
        };
        prop_assert_eq!(rows(&again), rows(&records));
        prop_assert_eq!(again.weights(), records.weights());
    }
}

#[test]
fn damaged_models_are_explained() {
    let psdd = random_psdd(6, 3);
    let counts = random_counts(&psdd, &mut Random::new(5));
    let circuit = psdd.into_circuit().with_counts(counts).unwrap();
    let mut model = Model::new(Names::numbered(6), Certified::new(circuit, &Limits::default()));
    model.origin.insert("seed".into(), "7".into());
    let text = String::from_utf8(written(&model)).unwrap();
    assert!(text.starts_with("c slopp 1\nc vtree "), "{text}");
    let without =
        |start: &str| text.lines().filter(|l| !l.starts_with(start)).map(|l| format!("{l}\n")).collect::<String>();
    let last_count = text.lines().rfind(|l| l.starts_with("c count ")).unwrap().to_owned();
    for (changed, parts) in [
        (text.replace("c slopp 1", "c slopp 2"), vec!["line 1", "format version 2", "newer slopp"]),
        (text.replace("c vtree (", "c vtree ["), vec!["line 2", "`c vtree`", "c slopp"]),
        (without("c vtree"), vec!["`c vtree`"]),
        (without("c names"), vec!["`c names` holds 0 names for 6 variables"]),
        (text.replace("c names [", "c names {"), vec!["line 3", "`c names` does not hold a JSON list"]),
        (text.replace("\"x2\"", "\"x1\""), vec!["line 3", "used by columns 1 and 2"]),
        (text.replace("c origin {", "c origin "), vec!["line 4", "`c origin`"]),
        (without("c counts"), vec!["without `c counts`"]),
        (without("c count "), vec!["`c counts` says"]),
        (text.replace(&last_count, &format!("{last_count} 5")), vec!["parameters and"]),
        (text.replace(&last_count, "c count 100000 5"), vec!["counts"]),
        (text.replace(&last_count, "c count x"), vec!["the id of a node"]),
        (text[..text.len() - 1].to_owned(), vec!["the file is cut off", "complete lines of nodes"]),
        (text[..text.len() - 3].to_owned(), vec!["the file is cut off", "complete lines of nodes"]),
        (text[..text.trim_end().rfind('\n').unwrap() + 1].to_owned(), vec!["cut off", "complete lines of nodes"]),
        (text[..text.trim_end().rfind('\n').unwrap() + 4].to_owned(), vec!["cut off", "complete lines of nodes"]),
        (text[..text.find("\npsdd").unwrap() + 1].to_owned(), vec!["cut off: it ends before its `psdd` line"]),
        (text[..text.find("c names").unwrap()].to_owned(), vec!["line 2: the file is cut off: it ends before"]),
        (text[..text.find("\npsdd").unwrap() + 4].to_owned(), vec!["the file is cut off"]),
        (format!("{text}{}\n", text.trim_end().lines().last().unwrap()), vec!["already defined"]),
    ] {
        let error = message(read_model(changed.as_bytes(), None, &Default::default()));
        for part in parts {
            assert!(error.contains(part), "{error}\n{changed}");
        }
    }
    let plain = read_model(without("c slopp").as_bytes(), None, &Default::default()).unwrap();
    assert!(plain.model.circuit().unwrap().counts().is_none() && plain.model.names.of(Var(0)) == "x1");
    let other = LoadedVtree::in_order(Vtree::right_linear(6));
    assert!(
        message(read_model(text.as_bytes(), Some(&other), &Default::default()))
            .contains("the vtree given is not the vtree of this circuit: expected")
    );
    let larger = LoadedVtree::in_order(Vtree::right_linear(7));
    let error = message(read_model(text.as_bytes(), Some(&larger), &Default::default()));
    assert!(error.contains("the circuit has 6 variables, the vtree 7"), "{error}");
    let same = LoadedVtree::in_order(Vtree::clone(model.circuit().unwrap().vtree()));
    assert_eq!(read_model(text.as_bytes(), Some(&same), &Default::default()).unwrap().model, model);
}

#[test]
fn models_travel_through_gzip_and_damage_is_seen() {
    let folder = std::env::temp_dir().join(format!("slopp-models-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let model = Model::new(Names::numbered(20), random_psdd(20, 11));
    let path = folder.join("model.psdd.gz");
    model.save(&path).unwrap();
    assert_eq!(read_model(&path, None, &Default::default()).unwrap().model, model);
    let zipped = std::fs::read(&path).unwrap();
    let refuse = |name: &str, bytes: &[u8], part: &str| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = message(read_model(&path, None, &Default::default()));
        assert!(error.contains(part) && error.contains(name), "{error}");
    };
    refuse("cut.psdd.gz", &zipped[..zipped.len() / 2], "cut off");
    let mut flipped = zipped.clone();
    flipped[zipped.len() - 6] ^= 0xff;
    refuse("flipped.psdd.gz", &flipped, "damaged");
    refuse("plain.psdd.gz", &written(&model), "no gzip data");
    // Two members, as `cat a.gz b.gz` makes them, and no name that says so.
    std::fs::write(folder.join("twice"), [&gzip(b"0,1\n"), &gzip(b"1,1\n")[..]].concat()).unwrap();
    assert_eq!(read_records(&folder.join("twice"), &RecordsOptions::default()).unwrap().total(), 2.0);
    let zipped = gzip("0,1,1\n1,0,1\n".repeat(1000).as_bytes());
    std::fs::write(folder.join("cut"), &zipped[..zipped.len() - 9]).unwrap();
    let error = message(read_records(&folder.join("cut"), &RecordsOptions::default()));
    assert!(error.contains("gzip data are cut off"), "{error}");
    for junk in [&b"\n"[..], b"0,1,1\n1,0,1\n", b"\x1f\x00 something else"] {
        refuse("junk.psdd.gz", &[&gzip(&written(&model)), junk].concat(), "complete, but other bytes follow them");
        std::fs::write(folder.join("junk"), [&zipped, junk].concat()).unwrap();
        let error = message(read_records(&folder.join("junk"), &RecordsOptions::default()));
        assert!(error.contains("complete, but other bytes follow them"), "{error}");
    }
    let vtree = folder.join("other.vtree");
    write_atomically(&vtree, |out| write_vtree(out, &Vtree::balanced(3))).unwrap();
    let vtree = read_vtree(&vtree).unwrap();
    let error = message(read_model(&path, Some(&vtree), &Default::default()));
    assert!(error.contains("other.vtree is not the vtree of this circuit (the circuit has 20"), "{error}");
    assert!(message(read_model(&folder, None, &Default::default())).contains("is a folder"));
    assert!(message(read_model(Path::new("no such file"), None, &Default::default())).contains("cannot be opened"));
    std::fs::remove_dir_all(folder).unwrap();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    zip.write_all(bytes).unwrap();
    zip.finish().unwrap()
}

#[test]
fn weighted_records_are_not_written_as_csv() {
    let loaded = load_records(&b"2.5|0,1\n1|1,1\n"[..], &RecordsOptions::default()).unwrap();
    let error = write_records(&mut Vec::new(), &loaded.records, false).unwrap_err().to_string();
    assert!(error.contains(".wdata"), "{error}");
    let mut bytes = Vec::new();
    write_weighted_records(&mut bytes, &loaded.records, false).unwrap();
    assert_eq!(bytes, b"2.5|0,1\n1|1,1\n");
}

#[test]
fn an_exception_for_ln_false_is_kept() {
    // ln P(true) rounds to zero here, and yet *false* is possible.
    let text = "c slopp 1\nc vtree (1,2)\nc names [\"a\",\"b\"]\nc false 1 -800.0\nc\npsdd 3\nL 0 0 1\nT 1 2 2 -0.0\nD 2 1 1 0 1 -0.0\n";
    let loaded = read_model(text.as_bytes(), None, &Default::default()).unwrap();
    let parameters = loaded.model.circuit().unwrap().log_parameters();
    assert_eq!(parameters.tops, [[-800.0, 0.0]]);
    let bytes = String::from_utf8(written(&loaded.model)).unwrap();
    assert!(bytes.contains("c false 1 -800.0\n") && bytes.contains("D 2 1 1 0 1 -0.0\n"), "{bytes}");
}

#[test]
fn deep_vtrees_do_not_overflow_the_stack() {
    for vtree in [Vtree::right_linear(2000), Vtree::left_linear(2000)] {
        let loaded = LoadedVtree::in_order(vtree.clone());
        // x₁ over all variables: one literal, lifted through the whole vtree.
        let leaf = vtree.leaf(Var(1999)).0;
        let sdd = read_sdd(format!("sdd 1\nL 0 {leaf} 2000\n").as_bytes(), Some(&loaded)).unwrap().0;
        assert_eq!(sdd.model_count(), BigUint::from(1u32) << 1999u32);
        let psdd = sdd.to_circuit().unwrap().certify(&Limits::default()).unwrap();
        assert_eq!(Sdd::base_of(&psdd, &Limits::default()).unwrap(), sdd);
        let model = Model::new(Names::numbered(2000), psdd);
        let bytes = written(&model);
        assert!(bytes.split(|&b| b == b'\n').all(|line| line.len() < 1100));
        assert_eq!(read_model(&bytes, None, &Default::default()).unwrap().model, model);
    }
    let huge = Vtree::left_linear(100_000);
    let mut bytes = Vec::new();
    write_vtree(&mut bytes, &huge).unwrap();
    assert_eq!(read_vtree(&bytes).unwrap().vtree, huge);
}

#[test]
fn a_base_that_is_too_large_is_refused() {
    let psdd = random_psdd(25, 1);
    let error = Sdd::base_of(&psdd, &Limits::default().with_nodes(10)).unwrap_err().to_string();
    assert!(error.contains("more than 10 nodes"), "{error}");
}

#[test]
fn fixture_psdds_have_their_golden_answers() {
    let Some(folder) = shared("fixtures/zoo") else { return };
    let golden: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("golden_queries.json")).unwrap()).unwrap();
    // In the other nine, some prime occurs with several subs: elements are exclusive, primes are not.
    let mut certified = Vec::new();
    for (name, expected) in golden.as_object().unwrap() {
        let circuit = read_psdd(&folder.join(format!("{name}.psdd")), None).unwrap().circuit;
        let vars = expected["nvars"].as_u64().unwrap() as usize;
        assert_eq!(circuit.var_count(), vars, "{name}");
        if vars <= 10 {
            let z: f64 = worlds(vars).map(|world| probability(&circuit, &world)).sum();
            assert!((z - expected["Z"].as_f64().unwrap()).abs() < 1e-9, "{name}: {z}");
            let possible = worlds(vars).filter(|world| probability(&circuit, world) > 0.0).count();
            assert_eq!(possible.to_string(), expected["model_count"].as_str().unwrap(), "{name}");
            for (var, marginal) in expected["marginals"].as_object().unwrap() {
                let var: usize = var.parse().unwrap();
                let mass: f64 = worlds(vars).filter(|w| w[var - 1]).map(|w| probability(&circuit, &w)).sum();
                assert!((mass / z - marginal.as_f64().unwrap()).abs() < 1e-6, "{name}, variable {var}: {mass}");
            }
        }
        match Certified::new(circuit, &Limits::default()) {
            Certified::Psdd(psdd) => {
                let count = Sdd::base_of(&psdd, &Limits::default()).unwrap().model_count().to_string();
                assert_eq!(count, expected["model_count"].as_str().unwrap(), "{name}");
                certified.push(name.as_str());
            }
            Certified::Deterministic(_, overlap) => assert!(overlap.weak, "{name}"),
            Certified::Circuit(_, reason) => panic!("{name}: {reason}"),
        }
    }
    certified.sort_unstable();
    assert_eq!(certified, ["asia-bdd", "asia.uai", "nltcs.clt"]);
}
