//! Formulas as diagrams: compared with enumeration, with other tools' counts, and at their limits.

use slopp::io::{cnf_text, dnf_text, read_dimacs_bytes, read_rules, read_sdd, read_vtree};
use slopp::logic::{Comparison, Formula, Handle, Limit, Limits, Manager, Rules, Sdd, VtreeSearch, shared_world};
use slopp::{Names, Random, Var, Vtree};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A random formula over `vars` variables with about `size` literals.
fn random_formula(random: &mut Random, vars: usize, size: usize) -> Formula {
    if size <= 1 {
        return match random.below(30) {
            0 => Formula::constant(random.below(2) == 0),
            _ => Var(random.below(vars) as u32).is(random.below(2) == 0).into(),
        };
    }
    let parts = 2 + random.below(3.min(size - 1));
    let operands: Vec<Formula> = (0..parts).map(|_| random_formula(random, vars, size / parts)).collect();
    let mut two = operands.clone().into_iter();
    let (a, b) = (two.next().unwrap(), two.next().unwrap());
    match random.below(9) {
        0 => !a,
        1 | 2 => Formula::and(operands),
        3 | 4 => Formula::or(operands),
        5 => Formula::xor(operands),
        6 => a.implies(b),
        7 => a.iff(b),
        _ => {
            let comparison = [Comparison::Exactly, Comparison::AtMost, Comparison::AtLeast][random.below(3)];
            Formula::count(comparison, random.below(parts + 1) as u32, operands)
        }
    }
}

fn worlds(len: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << len).map(move |bits| (0..len).map(|i| bits >> i & 1 == 1).collect())
}

fn table(vars: usize, holds: impl Fn(&[bool]) -> bool) -> Vec<bool> {
    worlds(vars).map(|world| holds(&world)).collect()
}

fn check(sdd: &Sdd, expected: &[bool], what: &str) {
    let vars = sdd.vtree().var_count();
    assert_eq!(table(vars, |world| sdd.is_satisfied_by(world)), expected, "{what}");
    assert_eq!(sdd.model_count(), expected.iter().filter(|x| **x).count().into(), "{what}");
    sdd.prove_partitions().unwrap_or_else(|e| panic!("{what}: {e}"));
}

#[test]
fn random_formulas_on_random_vtrees() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let vars = 1 + random.below(9);
        let size = 1 + random.below(40);
        let formula = random_formula(&mut random, vars, size);
        let expected = table(vars, |world| formula.is_satisfied_by(world));
        let vtree = Vtree::random(vars, seed);
        let sdd = formula.compile(vtree.clone(), &Limits::default()).unwrap();
        check(&sdd, &expected, &format!("seed {seed}"));
        // Canonical: the same formula read back from its diagram, or written otherwise, is the same node.
        let mut manager = Manager::new(vtree, Limits::default());
        let handle = manager.compile(&formula).unwrap();
        assert_eq!(manager.import(&sdd).unwrap(), handle, "seed {seed}");
        let twice = manager.compile(&!Formula::or([!formula.clone(), Formula::constant(false)])).unwrap();
        assert_eq!(twice, handle, "seed {seed}");
        assert_eq!(manager.size(handle), sdd.size());
        let world = manager.world(handle);
        assert_eq!(world.is_some(), expected.contains(&true));
        assert!(world.is_none_or(|world| formula.is_satisfied_by(&world)));
        if let Ok(circuit) = sdd.to_circuit() {
            let base = Sdd::base_of(&circuit.certify().unwrap()).unwrap();
            assert_eq!(manager.import(&base).unwrap(), handle, "seed {seed}");
        }
    }
}

#[test]
fn fixing_and_forgetting_variables() {
    for seed in 0..200 {
        let mut random = Random::new(1000 + seed);
        let vars = 2 + random.below(7);
        let formula = random_formula(&mut random, vars, 24);
        let mut manager = Manager::new(Vtree::random(vars, seed), Limits::default());
        let handle = manager.compile(&formula).unwrap();
        let chosen: Vec<Var> = (0..vars as u32).map(Var).filter(|_| random.below(3) == 0).collect();
        let lits: Vec<_> = chosen.iter().map(|var| var.is(random.below(2) == 0)).collect();
        let fixed = |world: &[bool]| {
            let mut world = world.to_vec();
            lits.iter().for_each(|lit| world[lit.var.index()] = lit.value);
            formula.is_satisfied_by(&world)
        };
        let conditioned = manager.condition(handle, &lits).unwrap();
        check(&manager.sdd(conditioned), &table(vars, fixed), &format!("condition, seed {seed}"));
        let some = |world: &[bool]| {
            worlds(chosen.len()).any(|values| {
                let mut world = world.to_vec();
                chosen.iter().zip(values).for_each(|(var, value)| world[var.index()] = value);
                formula.is_satisfied_by(&world)
            })
        };
        let forgotten = manager.exists(handle, &chosen).unwrap();
        check(&manager.sdd(forgotten), &table(vars, some), &format!("exists, seed {seed}"));
    }
}

#[test]
fn collecting_keeps_what_is_asked_for() {
    for seed in 0..100 {
        let mut random = Random::new(2000 + seed);
        let mut manager = Manager::new(Vtree::random(8, seed), Limits::default());
        let formulas: Vec<Formula> = (0..6).map(|_| random_formula(&mut random, 8, 30)).collect();
        let mut handles: Vec<Handle> = formulas.iter().map(|f| manager.compile(f).unwrap()).collect();
        let before = manager.node_count();
        handles.truncate(3);
        manager.collect(&mut handles);
        assert!(manager.node_count() <= before);
        for (formula, &handle) in formulas.iter().zip(&handles) {
            assert_eq!(manager.compile(formula).unwrap(), handle, "seed {seed}");
            check(&manager.sdd(handle), &table(8, |w| formula.is_satisfied_by(w)), "kept");
        }
        let both = manager.and(handles[0], !handles[1]).unwrap();
        let expected = table(8, |w| formulas[0].is_satisfied_by(w) && !formulas[1].is_satisfied_by(w));
        check(&manager.sdd(both), &expected, "joined");
    }
}

#[test]
fn fixtures_of_other_tools() {
    let Some(folder) = slopp_oracle::shared("fixtures/pypsdd") else { return };
    for (file, vtree, count) in [
        ("alarm.cnf", "alarm.vtree", "306008118077774000476671232294789283527465584454107968569344"),
        ("c432.cnf", "c432.vtree", "68719476736"),
        ("example.dnf", "example.vtree", "8"),
        ("true.cnf", "true.vtree", "8"),
        ("false.cnf", "false.vtree", "0"),
        ("literal.cnf", "literal.vtree", "4"),
    ] {
        let rules = read_rules(&folder.join(file), None).unwrap();
        let vtree = read_vtree(&folder.join(vtree)).unwrap().vtree;
        let sdd = rules.compile(vtree, &Limits::default()).unwrap();
        assert_eq!(sdd.model_count().to_string(), count, "{file}");
        sdd.prove_partitions().unwrap();
    }
    // The diagrams of libsdd for the same formula and vtree have the same size, since both are canonical.
    for name in ["c432", "example", "false", "literal", "true"] {
        let vtree = read_vtree(&folder.join(format!("{name}.vtree"))).unwrap();
        let theirs = read_sdd(&folder.join(format!("{name}.sdd")), Some(&vtree)).unwrap();
        let file = if name == "example" { "example.dnf".to_owned() } else { format!("{name}.cnf") };
        let rules = read_rules(&folder.join(file), None).unwrap();
        let mut manager = Manager::new(vtree.vtree, Limits::default());
        let ours = manager.compile(&rules.formula()).unwrap();
        assert_eq!(manager.import(&theirs).unwrap(), ours, "{name}");
        assert_eq!(manager.size(ours), theirs.size(), "{name}");
    }
    for len in [4, 8, 16, 32] {
        let vtree = read_vtree(&folder.join(format!("xor-{len}.vtree"))).unwrap();
        let theirs = read_sdd(&folder.join(format!("xor-{len}.sdd")), Some(&vtree)).unwrap();
        let odd = Formula::xor((0..len).map(|i| Var(i).is(true).into()));
        let mut manager = Manager::new(vtree.vtree, Limits::default());
        let (ours, theirs) = (manager.compile(&odd).unwrap(), manager.import(&theirs).unwrap());
        assert!(ours == theirs || ours == !theirs, "xor-{len}");
    }
}

/// Rankings of three: every item has one place and every place one item, against libsdd's diagram.
#[test]
fn rankings_by_counting() {
    let Some(folder) = slopp_oracle::shared("fixtures/pypsdd") else { return };
    let vtree = read_vtree(&folder.join("ranking-3.vtree")).unwrap();
    let theirs = read_sdd(&folder.join("ranking-3.sdd"), Some(&vtree)).unwrap();
    let one = |vars: [u32; 3]| Formula::count(Comparison::Exactly, 1, vars.map(|i| Var(i).is(true).into()));
    let rules = (0..3).flat_map(|i| [one([3 * i, 3 * i + 1, 3 * i + 2]), one([i, i + 3, i + 6])]);
    let mut manager = Manager::new(vtree.vtree, Limits::default());
    let ours = manager.compile(&Formula::and(rules)).unwrap();
    assert_eq!(manager.import(&theirs).unwrap(), ours);
    assert_eq!(manager.sdd(ours).model_count(), 6u32.into());
}

/// Counting is polynomial: writing out the cases would take forever.
#[test]
fn counting_does_not_write_out_cases() {
    let all = |len: u32| (0..len).map(|i| Formula::from(Var(i).is(i % 3 > 0)));
    for (vtree, most_nodes) in [
        (Vtree::balanced(200), 100_000),
        (Vtree::right_linear(200), 50_000),
        (Vtree::left_linear(200), 1_500_000),
        (Vtree::random(200, 1), 500_000),
    ] {
        let vtree = Arc::new(vtree);
        let half = Formula::count(Comparison::Exactly, 100, all(200));
        let sdd = half.compile(vtree.clone(), &Limits::default().with_nodes(most_nodes)).unwrap();
        // 200 over 100.
        assert_eq!(sdd.model_count().to_string(), "90548514656103281165404177077484163874504589675413336841320");
        let most = Formula::count(Comparison::AtMost, 1, all(200)).compile(vtree.clone(), &Limits::default()).unwrap();
        assert_eq!(most.model_count(), 201u32.into());
        assert!(most.size().1 < 3000, "{:?}", most.size());
    }
}

#[test]
fn limits_stop_cleanly() {
    // The equality of two halves is exponential when the halves are apart.
    let hard = Formula::and((0..40).map(|i| Formula::from(Var(i).is(true)).iff(Var(i + 40).is(true).into())));
    let vtree = Arc::new(Vtree::right_linear(80));
    let error = hard.compile(vtree.clone(), &Limits::default().with_nodes(5000)).unwrap_err();
    assert_eq!(error.limit, Limit::Nodes(5000));
    assert!(error.to_string().contains("more than 5000 nodes (reached: 5000 nodes"), "{error}");
    let error = hard.compile(vtree.clone(), &Limits { bytes: 1 << 22, ..Limits::default() }).unwrap_err();
    assert!(matches!(error.limit, Limit::Bytes(_)) && error.bytes < 1 << 24, "{error:?}");
    let error = hard.compile(vtree.clone(), &Limits::default().with_steps(10_000)).unwrap_err();
    assert_eq!(error.limit, Limit::Steps(10_000));
    let cancel = Some(Arc::new(AtomicBool::new(true)));
    let error = hard.compile(vtree.clone(), &Limits { cancel, ..Limits::default() }).unwrap_err();
    assert_eq!(error.limit, Limit::Cancelled);
    let rules = Rules::new(Names::numbered(80), hard.conjuncts());
    let error = rules.compile(vtree.clone(), &Limits::default().with_nodes(5000)).unwrap_err();
    let (done, all) = error.rules.unwrap();
    assert!(all == 40 && 0 < done && done < 40, "{error}");
    // The manager is as good as before.
    let mut manager = Manager::new(vtree, Limits::default().with_nodes(5000));
    let x = manager.literal(Var(3).is(true));
    let y = manager.and(x, manager.literal(Var(5).is(false))).unwrap();
    assert!(manager.compile(&hard).is_err());
    manager.collect([]);
    let z = manager.and(manager.literal(Var(5).is(false)), x).unwrap();
    assert_eq!(manager.sdd(z).model_count().bits(), 79);
    let _ = y;
}

/// Neither deep vtrees nor deep formulas use the stack.
#[test]
fn deep_vtrees_and_formulas() {
    const LEN: u32 = 20_000;
    let literal = |i: u32| Formula::from(Var(i).is(i.is_multiple_of(2)));
    for vtree in [Vtree::right_linear(LEN as usize), Vtree::left_linear(LEN as usize)] {
        let vtree = Arc::new(vtree);
        let chain =
            Rules::new(Names::numbered(LEN as usize), (1..LEN).map(|i| Formula::or([literal(i - 1), literal(i)])));
        let sdd = chain.compile(vtree.clone(), &Limits::default()).unwrap();
        assert!(sdd.size().0 < 5 * LEN as usize);
        let odd = Formula::xor((0..LEN).map(literal)).compile(vtree.clone(), &Limits::default()).unwrap();
        assert_eq!(odd.model_count().bits(), u64::from(LEN));
        let two = Formula::count(Comparison::Exactly, 2, (0..LEN).map(literal));
        let two = two.compile(vtree.clone(), &Limits::default()).unwrap();
        assert_eq!(two.model_count(), (LEN * (LEN - 1) / 2).into());
    }
    let names = Names::numbered(3);
    let deep = format!("{}x1{}", "(x2 -> !(x3 & ".repeat(100_000), "))".repeat(100_000));
    let sdd = Formula::parse(&deep, &names).unwrap().compile(Vtree::balanced(3), &Limits::default()).unwrap();
    assert!(sdd.size().1 < 10);
}

#[test]
fn dimacs_files_read_and_write() {
    let text = "c a comment\ncc another\np cnf 4 3\n1 -2\n 0 3 0\n-4 0\n%\n0\n";
    let rules = read_dimacs_bytes(text.as_bytes(), None).unwrap();
    let lines: Vec<_> = rules.iter().map(|rule| (rule.line, rule.text.as_str())).collect();
    assert_eq!(lines, [(4, "x1 | !x2"), (5, "x3"), (6, "!x4")]);
    assert_eq!(cnf_text(&rules).unwrap(), "p cnf 4 3\n1 -2 0\n3 0\n-4 0\n");
    let named = Rules::parse("a | !\"b c\"\n(b c | d) & true & !a").unwrap();
    let text = cnf_text(&Rules::new(named.names().clone(), named.iter().map(|r| r.formula.clone()))).unwrap();
    assert_eq!(text, "c names [\"a\",\"b c\",\"d\"]\np cnf 3 3\n1 -2 0\n2 3 0\n-1 0\n");
    let again = read_dimacs_bytes(text.as_bytes(), None).unwrap();
    assert_eq!(again.names(), named.names());
    assert_eq!(again.len(), 3);
    let refusal = cnf_text(&Rules::parse("a\nb <-> c").unwrap()).unwrap_err();
    assert_eq!((refusal.line, refusal.text.as_str()), (2, "b <-> c"));
    let dnf = read_dimacs_bytes(b"p dnf 3 2\n1 -2 0\n3 0\n", None).unwrap();
    assert_eq!(dnf[0].text, "x1 & !x2 | x3");
    assert_eq!(dnf_text(&dnf[0].formula, dnf.names()).unwrap(), "p dnf 3 2\n1 -2 0\n3 0\n");
    let empty = read_dimacs_bytes(b"p cnf 2 1\n0\n", None).unwrap();
    assert_eq!(empty[0].formula, Formula::constant(false));
    let empty = read_dimacs_bytes(b"p dnf 2 1\n0\n", None).unwrap();
    assert_eq!(empty[0].formula, Formula::constant(true));
    for (text, says) in [
        ("", "is empty: expected a DIMACS file"),
        ("p cnf 3\n", "line 1: expected the number of clauses"),
        ("p cnf 3 1\n1 4 0\n", "line 2: expected a literal from -3 to 3"),
        ("p cnf 3 1\n1 x 0\n", "found \"x\""),
        ("p cnf 3 2\n1 2 0\n", "2 clauses, as line 1 says"),
        ("p cnf 99999999999 2\n", "at most 10000000 variables"),
        ("c names [\"a\"]\np cnf 2 0\n", "line 1: expected 2 names, found 1"),
        ("c names [\"a\",\"a\"]\np cnf 2 0\n", "used by columns 1 and 2"),
    ] {
        let error = read_dimacs_bytes(text.as_bytes(), None).unwrap_err().to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }
}

/// A random rule set over `vars` variables.
fn random_rules(random: &mut Random, vars: usize, len: usize) -> Rules {
    Rules::new(Names::numbered(vars), (0..len).map(|_| random_formula(random, vars, 30 / len)))
}

#[test]
fn found_vtrees_compile_to_the_same_worlds() {
    let mut improved = 0;
    for seed in 0..60 {
        let mut random = Random::new(3000 + seed);
        // Fewer variables leave little to find; a single one has no moves at all.
        let vars = if seed == 0 { 1 } else { 5 + random.below(5) };
        let rules = random_rules(&mut random, vars, 3);
        let expected = table(vars, |world| rules.broken_by(world).is_empty());
        let search = VtreeSearch { moves: 200, ..VtreeSearch::default() };
        let found = rules.compile_with_search(&search, &Limits::default(), &mut |_| ()).unwrap();
        check(&found.sdd, &expected, &format!("seed {seed}"));
        assert!(found.sdd.size().1 <= found.first_elements && found.tried <= 200);
        improved += usize::from(found.sdd.size().1 < found.first_elements);
        let again = rules.compile_with_search(&search, &Limits::default(), &mut |_| ()).unwrap();
        assert_eq!(again.sdd, found.sdd);
    }
    assert!(improved > 5, "{improved}");
}

#[test]
fn large_rules_find_a_vtree() {
    let Some(folder) = slopp_oracle::shared("fixtures/pypsdd") else { return };
    let rules = read_rules(&folder.join("alarm.cnf"), None).unwrap();
    let search = VtreeSearch { moves: 5, ..VtreeSearch::default() };
    let found = rules.compile_with_search(&search, &Limits::default(), &mut |_| ()).unwrap();
    assert_eq!(found.sdd.model_count().to_string(), "306008118077774000476671232294789283527465584454107968569344");
    // A chain of many variables: the elimination order must not cost the square of their number.
    let chain = Rules::new(
        Names::numbered(50_000),
        (1..50_000).map(|i| Formula::or([Var(i - 1).is(true).into(), Var(i).is(false).into()])),
    );
    assert_eq!(chain.min_fill_vtree().var_count(), 50_000);
}

#[test]
fn conflicts_are_minimal_and_called_smallest_only_if_they_are() {
    let mut sizes = [0; 6];
    for seed in 0..400 {
        let mut random = Random::new(4000 + seed);
        let rules = random_rules(&mut random, 4, 6);
        let possible = |chosen: &dyn Fn(usize) -> bool| {
            worlds(4).any(|world| rules.broken_by(&world).into_iter().all(|i| !chosen(i)))
        };
        let conflict = rules.conflict(Vtree::random(4, seed), &Limits::default()).unwrap();
        let Some(conflict) = conflict else {
            assert!(possible(&|_| true), "seed {seed}");
            continue;
        };
        let found = &conflict.rules;
        assert!(!possible(&|i| found.contains(&i)), "seed {seed}");
        for left_out in found {
            assert!(possible(&|i| found.contains(&i) && i != *left_out), "seed {seed}");
        }
        let least = (1..64u32).filter(|set| !possible(&|i| set >> i & 1 == 1)).map(u32::count_ones).min();
        if conflict.smallest {
            assert_eq!(least, Some(found.len() as u32), "seed {seed}");
        }
        sizes[found.len() - 1] += 1;
    }
    assert!(sizes[..3].iter().all(|&n| n > 3), "{sizes:?}");
}

#[test]
fn circuits_share_a_world_iff_their_formulas_do() {
    let mut apart = 0;
    for seed in 0..200 {
        let mut random = Random::new(5000 + seed);
        let vars = 1 + random.below(6);
        let vtree = Arc::new(Vtree::random(vars, seed));
        let [f, g] = [0, 1].map(|_| random_formula(&mut random, vars, 14));
        let circuits = [&f, &g].map(|h| h.compile(vtree.clone(), &Limits::default()).unwrap().to_circuit());
        let [Ok(a), Ok(b)] = circuits else { continue };
        let both = |world: &[bool]| f.is_satisfied_by(world) && g.is_satisfied_by(world);
        match shared_world(&a, &b) {
            Some(world) => assert!(both(&world), "seed {seed}"),
            None => {
                assert!(worlds(vars).all(|world| !both(&world)), "seed {seed}");
                apart += 1;
            }
        }
    }
    assert!(apart > 5, "{apart}");
}
