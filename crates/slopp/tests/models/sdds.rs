//! SDD files: golden counts, foreign vtree files, and what is wrong with bad ones.

use super::*;
use slopp::logic::Limits;

#[test]
fn fixture_sdds_have_their_golden_counts() {
    let Some(folder) = shared("fixtures") else { return };
    let golden: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("golden_counts.json")).unwrap()).unwrap();
    for (file, expected) in golden["sdd"].as_object().unwrap() {
        let path = folder.join(file);
        let vtree = read_vtree(&path.with_extension("vtree")).unwrap();
        let sdd = read_sdd(&path, Some(&vtree)).unwrap().0;
        assert_eq!(sdd.model_count().to_string(), expected["model_count"].as_str().unwrap(), "{file}");
        let size = (expected["decision_nodes"].as_u64().unwrap(), expected["size"].as_u64().unwrap());
        assert_eq!(sdd.size(), (size.0 as usize, size.1 as usize), "{file}");
        if file.ends_with("false.sdd") {
            let error = message(read_model(&path, Some(&vtree), &Default::default()));
            assert!(error.contains("no world is possible"), "{error}");
            continue;
        }
        let psdd = sdd.to_circuit().unwrap().certify(&Limits::default()).unwrap();
        let base = Sdd::base_of(&psdd, &Limits::default()).unwrap();
        assert_eq!(base.model_count(), sdd.model_count(), "{file}");
    }
}

#[test]
fn sdds_with_bottom_up_vtree_files_load() {
    let Some(folder) = shared("fixtures") else { return };
    for (name, expected) in
        [("pysdd/big-swap", None), ("pysdd/opt-swap", None), ("zoo/random", None), ("pypsdd/xor-8", Some(128u32))]
    {
        let path = folder.join(name).with_extension("sdd");
        let vtree = read_vtree(&folder.join(format!("{name}.vtree"))).unwrap();
        let loaded = read_model(&path, Some(&vtree), &Default::default()).unwrap();
        assert!(loaded.model.psdd().is_some(), "{name}");
        if let Some(expected) = expected {
            let vtree = read_vtree(&folder.join(format!("{name}.vtree"))).unwrap();
            assert_eq!(read_sdd(&path, Some(&vtree)).unwrap().0.model_count(), BigUint::from(expected));
        }
    }
    // The formula that big-swap was made from: its .cnf file, which libsdd was told to read as a DNF.
    let terms: [&[i32]; 4] = [&[1, 5], &[-1, 2, 6], &[-1, -2, 3, 7], &[-1, -2, -3, 4, 8]];
    let holds = |world: &[bool], lit: i32| world[lit.unsigned_abs() as usize - 1] == (lit > 0);
    let satisfied = |world: &[bool]| terms.iter().any(|term| term.iter().all(|&lit| holds(world, lit)));
    let vtree = read_vtree(&folder.join("pysdd/big-swap.vtree")).unwrap();
    let sdd = read_sdd(&folder.join("pysdd/big-swap.sdd"), Some(&vtree)).unwrap().0;
    for world in worlds(8) {
        assert_eq!(sdd.is_satisfied_by(&world), satisfied(&world));
    }
    let inferred = read_sdd(&folder.join("pysdd/test.sdd"), None).unwrap().0;
    assert_eq!(inferred.vtree().to_string(), "(1,(2,3))");
}

#[test]
fn bad_sdds_are_explained() {
    let vtree = LoadedVtree::in_order(Vtree::balanced(2));
    for (text, parts) in [
        ("", vec!["is empty"]),
        ("sdd 1\n", vec!["lines of nodes"]),
        ("sdd 1\nT 0 1", vec!["line 2", "end of the line"]),
        ("sdd 1\nL 0 2 1", vec!["line 2", "variable 2, which is at vtree node 2"]),
        ("sdd 2\nL 0 0 1\nD 1 1 1 0 5", vec!["line 3", "node 5 does not exist"]),
        ("sdd 2\nL 0 0 1\nD 1 1 1 0 1", vec!["line 3", "used before it is defined"]),
        (
            "sdd 2\nL 0 0 1\nD 1 1 1 0 0",
            vec!["line 3", "the sub of element 1 has variables that are not below the right"],
        ),
        ("sdd 2\nL 0 0 1\nT 2\nD 1 0 1 0 2", vec!["line 4", "an inner vtree node"]),
        ("sdd 2\nL 0 0 1\nT 2\nD 1 9 1 0 2", vec!["line 4", "vtree node 9 does not exist"]),
        ("sdd 2\nL 0 0 1\nD 1 1 0", vec!["line 3", "at least one element"]),
        ("sdd 2\nL 0 0 1\nL 0 2 2", vec!["line 3", "already defined in line 2"]),
        ("sdd 2\nL 0 0 1\nT 3\nD 1 1 4000000000 0 3", vec!["line 4", "id of a prime"]),
    ] {
        let error = message(read_sdd(text.as_bytes(), Some(&vtree)));
        for part in parts {
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
    // Primes that are no partition: twice the same, overlapping, with a dead sub, deep below; then some left out.
    let literals = "sdd 9\nL 0 0 1\nL 1 2 2\nL 2 2 -2\nL 3 0 -1\nT 4\nF 5\n";
    for (lines, id, parts) in [
        ("D 7 1 2 0 1 0 2", 7, vec!["primes of its elements 1 and 2 share a world", "make the file again"]),
        ("D 7 1 3 3 5 0 1 4 2", 7, vec!["elements 1 and 3 share a world"]),
        ("D 7 1 2 4 5 0 1", 7, vec!["elements 1 and 2 share a world"]),
        ("D 7 1 1 0 1", 7, vec!["leave out some worlds", "cover all"]),
        ("D 7 1 2 0 1 5 2", 7, vec!["leave out some worlds"]),
    ] {
        for (text, vtree) in [(format!("{literals}{lines}\n"), None), (format!("{literals}{lines}\n"), Some(&vtree))] {
            let error = message(read_model(text.as_bytes(), vtree, &Default::default()));
            assert!(error.starts_with(&format!("line 8: node {id} is not a decision node of an SDD: ")), "{error}");
            for part in parts.iter() {
                assert!(error.contains(part), "{lines}: {error}");
            }
        }
    }
    // ((1,2),3): the primes x1∧x2 and x2 overlap, x1∧x2 and x1∧¬x2 leave out ¬x1.
    let deep = LoadedVtree::in_order(Vtree::balanced(3));
    let start = "sdd 9\nL 0 0 1\nL 1 0 -1\nL 2 2 2\nL 3 2 -2\nF 4\nL 5 4 3\nT 6\nD 10 1 2 0 2 1 4\nD 11 1 2 0 3 1 4\n";
    for (line, part) in [
        ("D 12 3 2 10 5 2 6", "elements 1 and 2 share a world"),
        ("D 12 3 2 10 5 11 6", "leave out some worlds"),
        ("D 12 3 3 10 5 11 6 1 4", ""),
    ] {
        match read_sdd(format!("{start}{line}").as_bytes(), Some(&deep)) {
            Ok((sdd, _)) => assert!(part.is_empty() && sdd.model_count() == BigUint::from(3u32), "{line}"),
            Err(e) => assert!(e.line == Some(11) && !part.is_empty() && e.to_string().contains(part), "{line}: {e}"),
        }
    }
    for text in ["sdd 1\nT 0", "sdd 3\nL 0 0 1\nT 2\nD 1 1 1 0 2"] {
        assert!(message(read_sdd(text.as_bytes(), None)).contains("give the vtree file"));
    }
}
