//! Formulas and products, against tables of all worlds.

use super::*;
use slopp::logic::Limits;

#[test]
fn formulas_have_the_probability_of_their_worlds() {
    let (mut possible, mut impossible) = (0, 0);
    circuits(240, 1, |tree, oracle, dice| {
        let (vars, table) = (oracle.vars, oracle.table());
        let circuit = Certified::new(convert(oracle, tree).0, &Limits::default());
        let worlds = some_worlds(vars, dice);
        if worlds.is_empty() {
            return;
        }
        let sdd = formula(tree, &worlds, dice);
        let (expected, total) = restricted(&table, vars, &worlds);
        let log = circuit.log_probability_of(&sdd, &Limits::default()).unwrap();
        close(log.exp(), total);
        assert_eq!(log == f64::NEG_INFINITY, total == 0.0);
        let given = circuit.given(&sdd, &Limits::default());
        let marginals = circuit.marginals_given(&sdd, &Limits::default());
        if total == 0.0 {
            assert_eq!(given.err(), Some(QueryError::ImpossibleFormula));
            assert_eq!(marginals.err(), Some(QueryError::ImpossibleFormula));
            impossible += 1;
            return;
        }
        possible += 1;
        let (given, log) = given.unwrap();
        close(log.exp(), total);
        // The certificate was carried over; here it is proved again.
        assert_eq!(Certified::new(Circuit::clone(&given), &Limits::default()), given);
        assert!(given.deterministic().is_ok() || circuit.deterministic().is_err());
        assert!(given.parameter_faults(1e-9).is_empty());
        check_as(&given, &expected, vars);
        for (var, p) in marginals.unwrap().into_iter().enumerate() {
            close(p, (0..1 << vars).filter(|&world| table.world(world)[var]).map(|w| expected.probability(w)).sum());
        }
        let other = some_worlds(vars, dice);
        if !other.is_empty() {
            let event = formula(tree, &other, dice);
            let both: f64 = other.iter().map(|&world| expected.probability(world)).sum();
            close(circuit.conditional_of(&event, &sdd, &Limits::default()).unwrap(), both);
        }
    });
    assert!(possible > 150 && impossible > 10, "{possible} {impossible}");
}

#[test]
fn products_are_products_of_tables() {
    let mut disjoint = 0;
    circuits(240, 2, |tree, oracle, dice| {
        let vars = oracle.vars;
        let other = match dice.below(3) {
            0 => deterministic(tree, 0.6, false, dice),
            1 => deterministic(tree, 0.2, true, dice),
            _ => mixture(tree, 3, dice),
        };
        let [one, two] = [oracle.table(), other.table()];
        let products: Vec<f64> = (0..1 << vars).map(|world| one.probability(world) * two.probability(world)).collect();
        let total: f64 = products.iter().sum();
        let [a, b] = [oracle, &other].map(|oracle| Certified::new(convert(oracle, tree).0, &Limits::default()));
        let product = a.product(&b, &Limits::default());
        if total == 0.0 {
            assert_eq!(product.err(), Some(QueryError::NothingInCommon));
            disjoint += 1;
            return;
        }
        let (product, log) = product.unwrap();
        close(log.exp(), total);
        assert_eq!(Certified::new(Circuit::clone(&product), &Limits::default()), product);
        assert!(product.deterministic().is_ok() || a.deterministic().is_err() || b.deterministic().is_err());
        let table = Table::new(vars, products.into_iter().map(|x| x / total).collect());
        check_as(&product, &table, vars);
    });
    assert!(disjoint > 5, "{disjoint}");
}

#[test]
fn constant_formulas_and_other_vtrees() {
    let mut dice = Dice::new(3);
    let tree = Tree::random(5, &mut dice);
    let psdd = convert(&deterministic(&tree, 0.5, false, &mut dice), &tree).0.certify(&Limits::default()).unwrap();
    let constant = |value| Formula::constant(value).compile(psdd.vtree().clone(), &Limits::default()).unwrap();
    close(psdd.log_probability_of(&constant(true), &Limits::default()).unwrap(), 0.0);
    let never = constant(false);
    assert_eq!(psdd.log_probability_of(&never, &Limits::default()).unwrap(), f64::NEG_INFINITY);
    assert_eq!(psdd.given(&never, &Limits::default()).err(), Some(QueryError::ImpossibleFormula));
    let (same, log) = psdd.given(&constant(true), &Limits::default()).unwrap();
    close(log, 0.0);
    assert!(same.kl_divergence(&psdd, &Limits::default()).unwrap() < 1e-12);
    let elsewhere = Formula::constant(true).compile(Vtree::balanced(4), &Limits::default()).unwrap();
    assert_eq!(psdd.log_probability_of(&elsewhere, &Limits::default()), Err(QueryError::FormulaVtree));
}

#[test]
fn products_on_deep_vtrees_neither_recurse_nor_underflow() {
    for vtree in [Vtree::right_linear(3000), Vtree::left_linear(3000), Vtree::balanced(3000)] {
        let n = 3000;
        let psdd = factorised(&vtree, 0.25);
        // All variables true: one world, far below what plain numbers hold.
        let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
        let mut made = vec![None; vtree.node_count()];
        for &v in vtree.bottom_up() {
            made[v.index()] = Some(match (vtree.leaf_var(v), vtree.children(v)) {
                (Some(var), _) => builder.literal(var.is(true)).unwrap(),
                (_, Some([l, r])) => {
                    builder.sum(v, &[(made[l.index()].unwrap(), made[r.index()].unwrap(), 0.0)]).unwrap()
                }
                _ => unreachable!(),
            });
        }
        let ones = builder.finish(made[vtree.root().index()].unwrap()).unwrap().certify(&Limits::default()).unwrap();
        let expected = n as f64 * 0.25f64.ln();
        let sdd = Sdd::base_of(&ones, &Limits::default()).unwrap();
        close(psdd.log_probability_of(&sdd, &Limits::default()).unwrap(), expected);
        let (given, log) = psdd.given(&sdd, &Limits::default()).unwrap();
        let plain = given.marginals(&Evidence::none(psdd.var_count())).unwrap();
        psdd.marginals_given(&sdd, &Limits::default()).unwrap().into_iter().zip(plain).for_each(|(p, q)| close(p, q));
        close(log, expected);
        assert_eq!(given.mpe(&Evidence::none(n)).unwrap().0, vec![true; n]);
        close(psdd.product(&ones, &Limits::default()).unwrap().1, expected);
        let one = Formula::literal(Var(2999).is(true)).compile(psdd.vtree().clone(), &Limits::default()).unwrap();
        close(psdd.log_probability_of(&one, &Limits::default()).unwrap(), 0.25f64.ln());
        let (given, _) = psdd.given(&one, &Limits::default()).unwrap();
        assert_eq!(given.marginals(&Evidence::none(n)).unwrap()[2999], 1.0);
    }
}

/// A leaf that is as good as impossible is not impossible.
#[test]
fn leaves_do_not_underflow() {
    use slopp::logic::{Formula, Limits};
    let vtree = std::sync::Arc::new(Vtree::balanced(2));
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    let [a, b] = [0, 1].map(|i| builder.top(Var(i), [0.0, -800.0]).unwrap());
    let root = builder.sum(vtree.root(), &[(a, b, 0.0)]).unwrap();
    let circuit = builder.finish(root).unwrap();
    let names = slopp::Names::numbered(2);
    for (text, expected) in [("x1", -800.0), ("x1 & x2", -1600.0), ("x1 ^ x2", -800.0 + 2f64.ln())] {
        let sdd = Formula::parse(text, &names).unwrap().compile(vtree.clone(), &Limits::default()).unwrap();
        let found = circuit.log_probability_of(&sdd, &Limits::default()).unwrap();
        assert!((found - expected).abs() < 1e-9, "{text}: {found}");
        assert!(
            circuit.marginals_given(&sdd, &Limits::default()).unwrap().iter().all(|p| (0.0..=1.0).contains(p)),
            "{text}"
        );
        assert!((circuit.given(&sdd, &Limits::default()).unwrap().1 - expected).abs() < 1e-9, "{text}");
    }
}

/// A product stops at its limits, whatever is asked of it, and is the same within them.
#[test]
fn products_stop_at_limits() {
    use slopp::logic::{Limit, Limits, Rules};
    let names = slopp::Names::numbered(40);
    let vtree = std::sync::Arc::new(slopp::Vtree::balanced(40));
    let diagram = |text: String| {
        let rules = Rules::parse_with(&text, names.clone()).unwrap();
        rules.compile(vtree.clone(), &Limits::default()).unwrap()
    };
    let count = |word: &str, k: u32, step: usize| {
        let operands: Vec<String> = (1..=40).step_by(step).map(|i| format!("x{i}")).collect();
        diagram(format!("{word}({k}, {})", operands.join(", ")))
    };
    let psdd = count("at_most", 12, 1).to_circuit().unwrap().certify(&Limits::default()).unwrap();
    let formula = count("exactly", 5, 3);
    let other = count("at_least", 4, 2).to_circuit().unwrap().certify(&Limits::default()).unwrap();
    let cancelled = Limits { cancel: Some(std::sync::Arc::new(true.into())), ..Limits::default() };
    let cases = [
        (Limits::default().with_nodes(100), Limit::Nodes(100)),
        (Limits { bytes: 2000, ..Limits::default() }, Limit::Bytes(2000)),
        (cancelled, Limit::Cancelled),
    ];
    for (limits, expected) in cases {
        let outcomes = [
            psdd.log_probability_of(&formula, &limits).err(),
            psdd.marginals_given(&formula, &limits).err(),
            psdd.given(&formula, &limits).err(),
            psdd.product(&other, &limits).err(),
        ];
        for outcome in outcomes {
            let Some(QueryError::Stopped { limit, .. }) = outcome else { panic!("{outcome:?}") };
            assert_eq!(limit, expected);
        }
    }
    let text = psdd.given(&formula, &Limits::default().with_nodes(100)).unwrap_err().to_string();
    assert!(text.starts_with("the product with the model needs more than 100 nodes (reached: 101 nodes"), "{text}");
    // The result itself takes memory too.
    let values = Limits { bytes: 300_000, ..Limits::default() };
    assert!(psdd.log_probability_of(&formula, &values).is_ok());
    // The fewest nodes that do give the same as no limit, and one fewer is refused.
    let expected = psdd.given(&formula, &Limits::default()).unwrap();
    let within = |nodes| psdd.given(&formula, &Limits::default().with_nodes(nodes));
    let (mut few, mut enough) = (100, 100_000);
    while enough - few > 1 {
        let middle = (few + enough) / 2;
        *if within(middle).is_ok() { &mut enough } else { &mut few } = middle;
    }
    assert_eq!(within(enough).unwrap(), expected);
    let refused = within(few).unwrap_err();
    assert!(matches!(refused, QueryError::Stopped { limit: Limit::Nodes(nodes), .. } if nodes == few), "{refused}");
}
