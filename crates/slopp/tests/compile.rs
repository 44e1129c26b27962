//! Formulas as diagrams: compared with enumeration, with other tools' counts, and at their limits.

mod formula;

use formula::{random_formula, random_rules, worlds};
use slopp::io::{LoadedVtree, cnf_text, read_rules, read_sdd, read_vtree, write_sdd};
use slopp::logic::{Comparison, Formula, Handle, Limit, Limits, LogicError, Manager, Rules, Sdd, VtreeSearch};
use slopp::{Names, Random, Var, Vtree};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn table(vars: usize, holds: impl Fn(&[bool]) -> bool) -> Vec<bool> {
    worlds(vars).map(|world| holds(&world)).collect()
}

fn check(sdd: &Sdd, expected: &[bool], what: &str) {
    let vars = sdd.vtree().var_count();
    assert_eq!(table(vars, |world| sdd.is_satisfied_by(world)), expected, "{what}");
    assert_eq!(sdd.model_count(), expected.iter().filter(|x| **x).count().into(), "{what}");
    prove(sdd, what);
}

/// Readers prove that primes are exclusive and cover everything.
fn prove(sdd: &Sdd, what: &str) {
    let mut text = Vec::new();
    write_sdd(&mut text, sdd, None).unwrap();
    let vtree = LoadedVtree::in_order(sdd.vtree().as_ref().clone());
    let (again, _) = read_sdd(&text, Some(&vtree)).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(&again, sdd, "{what}");
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
            let base = Sdd::base_of(&circuit.certify(&Limits::default()).unwrap(), &Limits::default()).unwrap();
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
        let rules = read_rules(&folder.join(file), None, &Limits::default()).unwrap();
        let vtree = read_vtree(&folder.join(vtree)).unwrap().vtree;
        let sdd = rules.compile(vtree, &Limits::default()).unwrap();
        assert_eq!(sdd.model_count().to_string(), count, "{file}");
        prove(&sdd, file);
    }
    // The diagrams of libsdd for the same formula and vtree have the same size, since both are canonical.
    for name in ["c432", "example", "false", "literal", "true"] {
        let vtree = read_vtree(&folder.join(format!("{name}.vtree"))).unwrap();
        let theirs = read_sdd(&folder.join(format!("{name}.sdd")), Some(&vtree)).unwrap().0;
        let file = if name == "example" { "example.dnf".to_owned() } else { format!("{name}.cnf") };
        let rules = read_rules(&folder.join(file), None, &Limits::default()).unwrap();
        let mut manager = Manager::new(vtree.vtree, Limits::default());
        let ours = manager.compile(&rules.formula()).unwrap();
        assert_eq!(manager.import(&theirs).unwrap(), ours, "{name}");
        assert_eq!(manager.size(ours), theirs.size(), "{name}");
    }
    for len in [4, 8, 16, 32] {
        let vtree = read_vtree(&folder.join(format!("xor-{len}.vtree"))).unwrap();
        let theirs = read_sdd(&folder.join(format!("xor-{len}.sdd")), Some(&vtree)).unwrap().0;
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
    let theirs = read_sdd(&folder.join("ranking-3.sdd"), Some(&vtree)).unwrap().0;
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
    assert!(error.to_string().contains("more than 5 000 nodes (reached: 5 000 nodes"), "{error}");
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
fn clauses_say_what_formulas_say() {
    let names = Names::numbered(4);
    let mut texts = Vec::from(
        ["true", "false", "!(x1 & x2)", "x1 ^ x2 ^ x3", "!(x1 ^ x2 ^ x3)", "!(x1 <-> x2 & x3)", "!(x1 -> x2 | x3)"]
            .map(String::from),
    );
    for comparison in ["exactly", "at_most", "at_least"] {
        for bound in 0..6 {
            texts.push(format!("{comparison}({bound}, x1, !x2, x3 & x4, x2 ^ x4)"));
            texts.push(format!("!{comparison}({bound}, x1, !x2, x3 & x4, x2 ^ x4) | x1 & x2"));
        }
    }
    let mut random = Random::new(1);
    let parsed = texts.iter().map(|text| Formula::parse(text, &names).unwrap());
    let formulas: Vec<Formula> = parsed.chain((0..300).map(|i| random_formula(&mut random, 4, 1 + i % 12))).collect();
    for formula in formulas {
        let clauses = formula.to_clauses(100_000).unwrap();
        for world in (0..16).map(|bits| [0, 1, 2, 3].map(|var| bits >> var & 1 == 1)) {
            let holds = |lit: &slopp::Lit| world[lit.var.index()] == lit.value;
            let together = clauses.iter().all(|clause| clause.iter().any(holds));
            assert_eq!(together, formula.is_satisfied_by(&world), "{} in {world:?}", formula.display(&names));
        }
    }
}

#[test]
fn clauses_are_bounded_in_work() {
    let var = |i: u32| Formula::from(Var(i).is(true));
    let both = (0..20).flat_map(|i| [var(i), !var(i)]);
    let none = [
        // Nearly all of C(40, 21) clauses always hold, and are not kept.
        Formula::count(Comparison::Exactly, 20, both),
        // Few clauses, but of 10^8 literals.
        Formula::count(Comparison::AtLeast, 2, (0..9999).map(var)),
    ];
    none.iter().for_each(|formula| assert_eq!(formula.to_clauses(10_000), None));
    // Many parts of one clause each are one clause, in no more than their number of steps.
    let long = Formula::or((0..200_000).rev().map(|i| if i % 2 == 0 { var(i) } else { !!var(i) }));
    let clauses = long.to_clauses(1).unwrap();
    assert_eq!(clauses, [(0..200_000).map(|i| Var(i).is(true)).collect::<Vec<_>>()]);
}

#[test]
fn dimacs_files_read_and_write() {
    let text = "c a comment\ncc another\np cnf 4 3\n1 -2\n 0 3 0\n-4 0\n%\n0\n";
    let rules = read_rules(text.as_bytes(), None, &Limits::default()).unwrap();
    let lines: Vec<_> = rules.iter().map(|rule| (rule.line, rule.text.as_str())).collect();
    assert_eq!(lines, [(4, "x1 | !x2"), (5, "x3"), (6, "!x4")]);
    assert_eq!(cnf_text(&rules).unwrap(), "p cnf 4 3\n1 -2 0\n3 0\n-4 0\n");
    let named = Rules::parse("a | !\"b c\"\n(b c | d) & true & !a").unwrap();
    let text = cnf_text(&Rules::new(named.names().clone(), named.iter().map(|r| r.formula.clone()))).unwrap();
    assert_eq!(text, "c names [\"a\",\"b c\",\"d\"]\np cnf 3 3\n1 -2 0\n2 3 0\n-1 0\n");
    let again = read_rules(text.as_bytes(), None, &Limits::default()).unwrap();
    assert_eq!(again.names(), named.names());
    assert_eq!(again.len(), 3);
    let others = cnf_text(&Rules::parse("a -> b\nb <-> c\nexactly(1, a, b, c)").unwrap()).unwrap();
    let clauses: Vec<&str> = others.lines().skip(2).collect();
    assert_eq!(clauses, ["-1 2 0", "-2 3 0", "2 -3 0", "1 2 3 0", "-1 -2 0", "-1 -3 0", "-2 -3 0"]);
    let names: Vec<String> = (0..30).map(|i| format!("v{i}")).collect();
    let refusal = cnf_text(&Rules::parse(&format!("a\nat_most(15, {})", names.join(", "))).unwrap()).unwrap_err();
    assert!(refusal.to_string().starts_with("the rule in line 2 is not a conjunction of few clauses: at_most(15"));
    assert!(matches!(refusal, LogicError::NotClausal { line: 2, .. }));
    let dnf = read_rules(b"p dnf 3 2\n1 -2 0\n3 0\n", None, &Limits::default()).unwrap();
    assert_eq!(dnf[0].text, "x1 & !x2 | x3");
    let small = Limits { bytes: 100 << 20, ..Limits::default() };
    let announced = b"p cnf 1000000 1\n1 0\n";
    let error = read_rules(announced, None, &small).unwrap_err().to_string();
    assert!(error.contains("line 1") && error.contains("1000000 variables need more than 100 MB"), "{error}");
    let two = Arc::new(Names::numbered(2));
    let error = read_rules(announced, Some(&two), &small).unwrap_err().to_string();
    assert!(error.contains("at most 2 variables, as there are names"), "{error}");
    let rules = read_rules(b"p cnf 200000 1\n1 0\n", None, &small).unwrap();
    let stopped = rules.compile_with_search(&VtreeSearch::default(), &small, &mut |_| ()).unwrap_err();
    assert_eq!(stopped.limit, Limit::Bytes(small.bytes));
    let empty = read_rules(b"p cnf 2 1\n0\n", None, &Limits::default()).unwrap();
    assert_eq!(empty[0].formula, Formula::constant(false));
    let empty = read_rules(b"p dnf 2 1\n0\n", None, &Limits::default()).unwrap();
    assert_eq!(empty[0].formula, Formula::constant(true));
    for (text, says) in [
        ("p cnf 3\n", "line 1: column 8: expected the number of clauses"),
        ("p cnf 3 1\n1 4 0\n", "line 2: column 3: expected a literal from -3 to 3"),
        ("p cnf 3 1\n1  x 0\n", "column 4: expected a literal from -3 to 3, or 0 at the end of a clause, found \"x\""),
        ("p dnf 3 1\n1 x 0\n", "or 0 at the end of a term"),
        ("p cnf 3 1 7\n", "line 1: column 11: expected the end of the line, found \"7\""),
        ("p cnf three 1\n", "line 1: column 7: expected the number of variables"),
        ("p cnf 3 2\n1 2 0\n", "2 clauses, as line 1 says"),
        ("p cnf 3 2\n1 2 0\n3", "line 3: expected 0 at the end of the last clause, found the end of the file"),
        ("p cnf 3 2\n1 2 0\n3\n%\n0\n", "line 4: expected 0 at the end of the last clause, found a line `%`"),
        ("p cnf 99999999999 2\n", "line 1: column 7: expected at most 10000000 variables"),
        ("c names [\"a\"]\np cnf 2 0\n", "line 1: expected 2 names, found 1"),
        ("c names [\"a\",\"a\"]\np cnf 2 0\n", "used by columns 1 and 2"),
    ] {
        let error = read_rules(text.as_bytes(), None, &Limits::default()).unwrap_err().to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }
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
    let rules = read_rules(&folder.join("alarm.cnf"), None, &Limits::default()).unwrap();
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
        match a.common_world(&b) {
            Some(world) => assert!(both(&world), "seed {seed}"),
            None => {
                assert!(worlds(vars).all(|world| !both(&world)), "seed {seed}");
                apart += 1;
            }
        }
    }
    assert!(apart > 5, "{apart}");
}
