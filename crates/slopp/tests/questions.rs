//! Questions about formulas, sets of variables and noise, against tables of all worlds.

mod against;

use against::*;
use slopp::infer::{Evidence, QueryError};
use slopp::logic::Sdd;
use slopp::{Builder, Certified, Circuit, OnVtrees, Sharing, Var, Vtree};
use slopp_oracle::{Dice, OracleCircuit, Table, Tree, deterministic, mixture, with_support};

/// The formula of these worlds on a vtree, trimmed; made by other code than what it is used to test.
fn formula(tree: &Tree, worlds: &[usize], dice: &mut Dice) -> Sdd {
    let circuit = convert(&with_support(tree, worlds, false, dice), tree).0;
    Sdd::base_of(&circuit.certify().unwrap()).unwrap()
}

/// The worlds of a random conjunction or disjunction of a few literals, or random worlds.
fn some_worlds(vars: usize, dice: &mut Dice) -> Vec<usize> {
    let lits: Vec<(usize, usize)> = (0..1 + dice.below(3)).map(|_| (dice.below(vars), dice.below(2))).collect();
    let kind = dice.below(3);
    let mut holds = |world: usize| match kind {
        0 => lits.iter().all(|&(x, value)| world >> x & 1 == value),
        1 => lits.iter().any(|&(x, value)| world >> x & 1 == value),
        _ => dice.chance(0.3),
    };
    (0..1 << vars).filter(|&world| holds(world)).collect()
}

/// Random circuits of up to eight variables, of every kind.
fn circuits(rounds: usize, seed: u64, mut check: impl FnMut(&Tree, &OracleCircuit, &mut Dice)) {
    let mut dice = Dice::new(seed);
    for round in 0..rounds {
        let tree = Tree::random(1 + dice.below(8), &mut dice);
        let oracle = match round % 3 {
            0 => deterministic(&tree, [0.1, 0.5, 1.0][round / 3 % 3], false, &mut dice),
            1 => deterministic(&tree, [0.1, 0.5, 1.0][round / 3 % 3], true, &mut dice),
            _ => mixture(&tree, 3, &mut dice),
        };
        check(&tree, &oracle, &mut dice);
    }
}

/// The table of a distribution over some worlds only.
fn restricted(table: &Table, vars: usize, worlds: &[usize]) -> (Table, f64) {
    let total: f64 = worlds.iter().map(|&world| table.probability(world)).sum();
    let share = |world| if worlds.contains(&world) { table.probability(world) / total } else { 0.0 };
    (Table::new(vars, (0..1 << vars).map(share).collect()), total)
}

/// A circuit answers as a table, under all evidence of one or two variables.
fn check_as(circuit: &Certified, table: &Table, vars: usize) {
    let mut evidence = vec![vec![None; vars]];
    for x in 0..vars {
        for value in [false, true] {
            let mut cells = vec![None; vars];
            cells[x] = Some(value);
            cells[(x + 1) % vars] = Some(value);
            evidence.push(cells);
        }
    }
    for cells in evidence {
        check_circuit(circuit, table, &cells);
        if let Ok(circuit) = circuit.deterministic() {
            check_deterministic(circuit, table, &cells);
        }
    }
}

#[test]
fn formulas_have_the_probability_of_their_worlds() {
    let (mut possible, mut impossible) = (0, 0);
    circuits(240, 1, |tree, oracle, dice| {
        let (vars, table) = (oracle.vars, oracle.table());
        let circuit = Certified::new(convert(oracle, tree).0);
        let worlds = some_worlds(vars, dice);
        if worlds.is_empty() {
            return;
        }
        let sdd = formula(tree, &worlds, dice);
        let (expected, total) = restricted(&table, vars, &worlds);
        let log = circuit.log_probability_of(&sdd).unwrap();
        close(log.exp(), total);
        assert_eq!(log == f64::NEG_INFINITY, total == 0.0);
        let given: Result<(Certified, f64), QueryError> = match &circuit {
            Certified::Psdd(psdd) => psdd.given(&sdd).map(|(psdd, log)| (Certified::Psdd(psdd), log)),
            Certified::Deterministic(one, overlap) => {
                one.given(&sdd).map(|(one, log)| (Certified::Deterministic(one, overlap.clone()), log))
            }
            Certified::Circuit(one, reason) => {
                one.given(&sdd).map(|(one, log)| (Certified::Circuit(one, reason.clone()), log))
            }
        };
        let marginals = circuit.marginals_given(&sdd);
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
        match &given {
            Certified::Psdd(psdd) => assert!(Circuit::clone(psdd).certify().is_ok()),
            Certified::Deterministic(one, _) => assert!(Circuit::clone(one).certify_deterministic().is_ok()),
            Certified::Circuit(one, _) => assert!(one.parameter_faults(1e-9).is_empty()),
        }
        check_as(&given, &expected, vars);
        for (var, p) in marginals.unwrap().into_iter().enumerate() {
            close(p, (0..1 << vars).filter(|&world| table.world(world)[var]).map(|w| expected.probability(w)).sum());
        }
        let other = some_worlds(vars, dice);
        if !other.is_empty() {
            let event = formula(tree, &other, dice);
            let both: f64 = other.iter().map(|&world| expected.probability(world)).sum();
            close(circuit.conditional_of(&event, &sdd).unwrap(), both);
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
        let [a, b] = [oracle, &other].map(|oracle| Certified::new(convert(oracle, tree).0));
        let product = match (&a, &b) {
            (Certified::Psdd(a), Certified::Psdd(b)) => a.product(b).map(|(psdd, log)| {
                assert!(Circuit::clone(&psdd).certify().is_ok());
                (Certified::Psdd(psdd), log)
            }),
            _ => match (a.deterministic(), b.deterministic()) {
                (Ok(a), Ok(b)) => a.product(b).map(|(product, log)| {
                    assert!(Circuit::clone(&product).certify_deterministic().is_ok());
                    (Certified::new(product.into_circuit()), log)
                }),
                _ => Circuit::product(&a, &b).map(|(product, log)| (Certified::new(product), log)),
            },
        };
        if total == 0.0 {
            assert_eq!(product.err(), Some(QueryError::NothingInCommon));
            disjoint += 1;
            return;
        }
        let (product, log) = product.unwrap();
        close(log.exp(), total);
        let table = Table::new(vars, products.into_iter().map(|x| x / total).collect());
        check_as(&product, &table, vars);
    });
    assert!(disjoint > 5, "{disjoint}");
}

#[test]
fn constant_formulas_and_other_vtrees() {
    let mut dice = Dice::new(3);
    let tree = Tree::random(5, &mut dice);
    let psdd = convert(&deterministic(&tree, 0.5, false, &mut dice), &tree).0.certify().unwrap();
    let constant = |node| Sdd::new(psdd.vtree().clone(), vec![node], vec![]).unwrap();
    close(psdd.log_probability_of(&constant(slopp::logic::SddNode::True)).unwrap(), 0.0);
    let never = constant(slopp::logic::SddNode::False);
    assert_eq!(psdd.log_probability_of(&never).unwrap(), f64::NEG_INFINITY);
    assert_eq!(psdd.given(&never).err(), Some(QueryError::ImpossibleFormula));
    let (same, log) = psdd.given(&constant(slopp::logic::SddNode::True)).unwrap();
    close(log, 0.0);
    assert!(same.kl_divergence(&psdd).unwrap() < 1e-12);
    let elsewhere = Sdd::new(Vtree::balanced(4), vec![slopp::logic::SddNode::True], vec![]).unwrap();
    assert_eq!(psdd.log_probability_of(&elsewhere), Err(QueryError::FormulaVtree));
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
        let ones = builder.finish(made[vtree.root().index()].unwrap()).unwrap().certify().unwrap();
        let expected = n as f64 * 0.25f64.ln();
        let sdd = Sdd::base_of(&ones).unwrap();
        close(psdd.log_probability_of(&sdd).unwrap(), expected);
        let (given, log) = psdd.given(&sdd).unwrap();
        let plain = given.marginals(&Evidence::none(psdd.var_count())).unwrap();
        psdd.marginals_given(&sdd).unwrap().into_iter().zip(plain).for_each(|(p, q)| close(p, q));
        close(log, expected);
        assert_eq!(given.mpe(&Evidence::none(n)).unwrap().0, vec![true; n]);
        close(psdd.product(&ones).unwrap().1, expected);
        let literal = slopp::logic::SddNode::Literal(Var(2999).is(true));
        let one = Sdd::new(psdd.vtree().clone(), vec![literal], vec![]).unwrap();
        close(psdd.log_probability_of(&one).unwrap(), 0.25f64.ln());
        let (given, _) = psdd.given(&one).unwrap();
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
        let found = circuit.log_probability_of(&sdd).unwrap();
        assert!((found - expected).abs() < 1e-9, "{text}: {found}");
        assert!(circuit.marginals_given(&sdd).unwrap().iter().all(|p| (0.0..=1.0).contains(p)), "{text}");
        assert!((circuit.given(&sdd).unwrap().1 - expected).abs() < 1e-9, "{text}");
    }
}

fn distance(world: usize, cells: &[Option<bool>]) -> u32 {
    cells.iter().enumerate().filter(|(x, cell)| cell.is_some_and(|cell| cell != (world >> x & 1 == 1))).count() as u32
}

#[test]
fn nearest_worlds_come_in_order_of_distance_and_probability() {
    circuits(150, 4, |tree, oracle, dice| {
        let (vars, table) = (oracle.vars, oracle.table());
        let Ok(circuit) = convert(oracle, tree).0.certify_deterministic() else { return };
        let rows = slopp_oracle::records(vars, 6, [0.0, 0.3][dice.below(2)], dice);
        let mut firsts = Vec::new();
        for cells in &rows {
            let mut expected: Vec<(u32, f64)> = table
                .support(&vec![None; vars])
                .into_iter()
                .map(|world| (distance(world, cells), table.probability(world)))
                .collect();
            expected.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            let given = evidence(cells);
            let near = circuit.nearest_worlds(&given, expected.len() + 3).unwrap();
            assert_eq!(near.len(), expected.len());
            let mut seen = std::collections::BTreeSet::new();
            for (near, (far, probability)) in near.iter().zip(&expected) {
                let world = Table::number(&near.world);
                assert!(seen.insert(world), "no world twice");
                assert_eq!((near.distance, *far), (*far, distance(world, cells)));
                close(near.log_probability.exp(), *probability);
                close(table.probability(world), *probability);
                assert_eq!(near.changes(&given).len(), *far as usize);
            }
            assert_eq!(circuit.nearest(&given).unwrap().distance, near[0].distance);
            firsts.push(expected[0]);
        }
        let data = to_records(&rows);
        // Whoever asks for one world gets the first of these, also where a row with holes is possible.
        let certified = Certified::new(convert(oracle, tree).0);
        let by_row = certified.nearest_by_column_batch(&data).unwrap();
        for ((cells, (far, probability)), &row) in rows.iter().zip(firsts).zip(data.original()) {
            let alone = certified.nearest_by_column(&evidence(cells), data.names()).unwrap();
            for found in [&by_row[row as usize], &alone] {
                assert_eq!(found.distance, far);
                close(table.probability(Table::number(&found.world)), probability);
            }
        }
        for (row, near) in circuit.nearest_worlds_batch(&data, 2).unwrap().into_iter().enumerate() {
            assert_eq!(near, circuit.nearest_worlds(&Evidence::from_row(&data, row), 2).unwrap());
        }
    });
}

#[test]
fn conflicts_are_impossible_and_irreducible() {
    let mut found = 0;
    circuits(150, 5, |tree, oracle, dice| {
        let (vars, table) = (oracle.vars, oracle.table());
        let circuit = convert(oracle, tree).0;
        for cells in slopp_oracle::records(vars, 8, 0.2, dice) {
            let conflict = circuit.conflict(&evidence(&cells)).unwrap();
            assert_eq!(conflict.is_some(), table.support(&cells).is_empty());
            let Some(conflict) = conflict else { continue };
            found += 1;
            let only = |skip: Option<usize>| {
                let mut cells = vec![None; vars];
                for (i, lit) in conflict.iter().enumerate().filter(|&(i, _)| Some(i) != skip) {
                    assert!(i < vars);
                    cells[lit.var.index()] = Some(lit.value);
                }
                cells
            };
            assert!(conflict.iter().all(|lit| cells[lit.var.index()] == Some(lit.value)));
            assert!(table.support(&only(None)).is_empty());
            assert!((0..conflict.len()).all(|i| !table.support(&only(Some(i))).is_empty()));
        }
    });
    assert!(found > 200, "{found}");
    // More cells than are asked about at once: all variables are equal, the last cell breaks that.
    for n in [255, 256, 257, 700, 70_000] {
        let vtree = Vtree::right_linear(n);
        let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
        let mut made: Vec<Option<[slopp::NodeId; 2]>> = vec![None; vtree.node_count()];
        for &v in vtree.bottom_up() {
            made[v.index()] = Some(match (vtree.leaf_var(v), vtree.children(v)) {
                (Some(var), _) => [false, true].map(|value| builder.literal(var.is(value)).unwrap()),
                (_, Some([l, r])) => {
                    let parts = [0, 1].map(|i| (made[l.index()].unwrap()[i], made[r.index()].unwrap()[i], -0.7));
                    match v == vtree.root() {
                        true => [builder.sum(v, &parts).unwrap(); 2],
                        false => parts.map(|(p, s, _)| builder.sum(v, &[(p, s, 0.0)]).unwrap()),
                    }
                }
                _ => unreachable!(),
            });
        }
        let circuit = builder.finish(made[vtree.root().index()].unwrap()[0]).unwrap().renormalised();
        let mut world = vec![true; n];
        world[n - 2] = false;
        let conflict = circuit.conflict(&Evidence::of_world(&world)).unwrap().unwrap();
        assert_eq!(conflict, [Var(0).is(true), Var(n as u32 - 2).is(false)]);
    }
}

#[test]
fn noise_is_the_channel_summed_over_all_worlds() {
    circuits(120, 6, |tree, oracle, dice| {
        let (vars, table) = (oracle.vars, oracle.table());
        let circuit = convert(oracle, tree).0;
        let data = to_records(&slopp_oracle::records(vars, 20, 0.2, dice));
        for epsilon in [0.0, 1e-9, 0.01, 0.3, 0.5] {
            let found = circuit.log_likelihoods_noisy(&data, epsilon).unwrap();
            for (row, log) in found.into_iter().enumerate() {
                let cells = cells(&data, row);
                let known = cells.iter().filter(|cell| cell.is_some()).count() as i32;
                let channel = |world: usize| {
                    let d = distance(world, &cells) as i32;
                    table.probability(world) * epsilon.powi(d) * (1.0 - epsilon).powi(known - d)
                };
                let expected: f64 = (0..1 << vars).map(channel).sum();
                assert_eq!(log == f64::NEG_INFINITY, expected == 0.0);
                assert!((log.exp() - expected).abs() <= 1e-11 * expected, "{log} {}", expected.ln());
            }
        }
        // Over all complete records it adds up to one.
        let all: Vec<_> = (0..1 << vars).map(|world| table.world(world).into_iter().map(Some).collect()).collect();
        let total: f64 = circuit.log_likelihoods_noisy(&to_records(&all), 0.2).unwrap().iter().map(|x| x.exp()).sum();
        close(total, 1.0);
        assert!(matches!(circuit.log_likelihoods_noisy(&data, 0.6), Err(QueryError::Noise { .. })));
        assert!(matches!(circuit.log_likelihoods_noisy(&data, f64::NAN), Err(QueryError::Noise { .. })));
        let fit = circuit.fit_noise(&data).unwrap();
        let mean = |epsilon: f64| {
            let logs = circuit.log_likelihoods_noisy(&data, epsilon).unwrap();
            logs.iter().zip(data.weights()).map(|(x, w)| x * w).sum::<f64>() / data.total()
        };
        close(fit.log_likelihood, mean(fit.epsilon));
        for i in 0..200 {
            let epsilon = (1e-6f64.ln() + (0.5f64.ln() - 1e-6f64.ln()) * i as f64 / 199.0).exp().min(0.5);
            assert!(mean(epsilon) <= fit.log_likelihood + 1e-4, "{epsilon} beats {fit:?}");
        }
    });
}

#[test]
fn noise_does_not_underflow() {
    for vtree in [Vtree::right_linear(2000), Vtree::balanced(2000)] {
        let psdd = factorised(&vtree, 1e-9);
        let data = to_records(&[vec![Some(true); 2000]]);
        let p = 1e-9 * 0.9 + (1.0 - 1e-9) * 0.1;
        close(psdd.log_likelihoods_noisy(&data, 0.1).unwrap()[0], 2000.0 * f64::ln(p));
        let tiny = psdd.log_likelihoods_noisy(&data, 1e-300).unwrap()[0];
        assert!((tiny - 2000.0 * 1e-9f64.ln()).abs() < 1e-3, "{tiny}");
    }
}

/// Some variables in any order.
fn some_vars(vars: usize, dice: &mut Dice) -> Vec<usize> {
    let mut all: Vec<usize> = (0..vars).collect();
    for i in (1..vars).rev() {
        all.swap(i, dice.below(i + 1));
    }
    all.truncate(dice.below(vars + 1));
    all
}

fn as_vars(vars: &[usize]) -> Vec<Var> {
    vars.iter().map(|&x| Var(x as u32)).collect()
}

/// The table of some variables given evidence, and the probability of the evidence.
fn projected(table: &Table, vars: &[usize], cells: &[Option<bool>]) -> (Vec<f64>, f64) {
    let mut sums = vec![0.0; 1 << vars.len()];
    for world in table.support(cells) {
        let place: usize = vars.iter().enumerate().map(|(i, x)| (world >> x & 1) << i).sum();
        sums[place] += table.probability(world);
    }
    (sums, table.evidence(cells))
}

fn entropy(probabilities: &[f64]) -> f64 {
    probabilities.iter().filter(|&&p| p > 0.0).map(|p| -p * p.ln()).sum()
}

#[test]
fn marginals_of_sets_and_their_information() {
    circuits(240, 7, |tree, oracle, dice| {
        let (n, table) = (oracle.vars, oracle.table());
        let circuit = convert(oracle, tree).0;
        let [a, b] = [some_vars(n, dice), some_vars(n, dice)];
        let none = vec![None; n];
        let of = |vars: &[usize]| entropy(&projected(&table, vars, &none).0);
        let mut both = [a.clone(), b.clone()].concat();
        both.sort_unstable();
        both.dedup();
        let [va, vb] = [as_vars(&a), as_vars(&b)];
        close(circuit.entropy_of(&va).unwrap(), of(&a));
        close(circuit.conditional_entropy(&va, &vb).unwrap(), of(&both) - of(&b));
        close(circuit.mutual_information(&va, &vb).unwrap(), of(&a) + of(&b) - of(&both));
        let cells = slopp_oracle::records(n, 1, 0.7, dice).remove(0);
        let (sums, total) = projected(&table, &a, &cells);
        let marginal = circuit.marginal_given(&va, &evidence(&cells));
        if a.is_empty() {
            assert_eq!(marginal.err(), Some(QueryError::NoVariables));
        } else if total == 0.0 {
            assert_eq!(marginal.err(), Some(QueryError::ImpossibleEvidence));
        } else {
            let marginal = marginal.unwrap();
            assert!(marginal.parameter_faults(1e-9).is_empty());
            for (place, sum) in sums.into_iter().enumerate() {
                let world: Vec<bool> = (0..a.len()).map(|i| place >> i & 1 == 1).collect();
                let log = marginal.log_probability(&world).unwrap();
                close(log.exp(), sum / total);
                assert_eq!(log == f64::NEG_INFINITY, sum == 0.0);
            }
        }
    });
}

#[test]
fn questions_about_sets_have_limits() {
    let psdd = factorised(&Vtree::balanced(60), 0.3);
    let all: Vec<Var> = (0..60).map(Var).collect();
    let one = -(0.3 * 0.3f64.ln() + 0.7 * 0.7f64.ln());
    close(psdd.entropy_of(&all).unwrap(), 60.0 * one);
    // Independent variables stay deterministic whatever is summed out.
    close(psdd.entropy_of(&all[7..49]).unwrap(), 42.0 * one);
    close(psdd.conditional_entropy(&all[..30], &all[20..]).unwrap(), 20.0 * one);
    assert!(psdd.mutual_information(&all[..30], &all[30..]).unwrap() < 1e-9);
    assert_eq!(psdd.entropy_of(&[Var(60)]), Err(QueryError::UnknownVariable { variable: 61, variables: 60 }));
    assert_eq!(psdd.marginal(&[Var(1), Var(1)]).err(), Some(QueryError::RepeatedVariable { variable: 2 }));
    assert_eq!(psdd.conditional_entropy(&[Var(1)], &all).unwrap(), 0.0);
    // A mixture of two coins for each of thirty variables, told apart by one that is summed out: 2³⁰ assignments.
    let vtree = Vtree::right_linear(31);
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    let mut below: Option<[slopp::NodeId; 2]> = None;
    let mut root = None;
    for x in (0..31).rev() {
        let var = Var(x);
        let v = vtree.parent(vtree.leaf(var)).unwrap();
        let [no, yes] = [false, true].map(|value| builder.literal(var.is(value)).unwrap());
        let coins = [0.2f64, 0.6].map(|p| builder.top(var, [(1.0 - p).ln(), p.ln()]).unwrap());
        match (below, x) {
            (None, _) => below = Some(coins),
            (Some([s, t]), 0) => root = Some(builder.sum(v, &[(no, s, 0.5f64.ln()), (yes, t, 0.5f64.ln())]).unwrap()),
            (Some(subs), _) => {
                below = Some([0, 1].map(|i| builder.sum(v, &[(coins[i], subs[i], 0.0)]).unwrap()));
            }
        }
    }
    let psdd = builder.finish(root.unwrap()).unwrap().certify().unwrap();
    let rest: Vec<Var> = (1..31).map(Var).collect();
    assert!(matches!(psdd.entropy_of(&rest), Err(QueryError::TooManyAssignments { variables: 30, .. })));
    assert!(psdd.entropy_of(&rest[..8]).is_ok());
    // Bounds meet before all 2³⁰ assignments are looked at.
    let found = psdd.marginal_map(&rest, &Evidence::none(31), 10_000).unwrap();
    assert!(found.is_exact());
    // All false under the first coin, all true under the second: 0.8³⁰ beats 0.6³⁰.
    close(found.log_lower, (0.5 * 0.8f64.powi(30) + 0.5 * 0.4f64.powi(30)).ln());
    let cut = psdd.marginal_map(&rest, &Evidence::none(31), 0).unwrap();
    assert!(cut.log_lower <= found.log_lower && found.log_lower <= cut.log_upper);
}

#[test]
fn marginal_map_is_the_best_of_all_assignments() {
    let (mut split, mut stopped) = (0, 0);
    circuits(300, 8, |tree, oracle, dice| {
        let (n, table) = (oracle.vars, oracle.table());
        let circuit = convert(oracle, tree).0;
        let a = some_vars(n, dice);
        let cells = slopp_oracle::records(n, 1, 0.8, dice).remove(0);
        let (sums, total) = projected(&table, &a, &cells);
        if a.is_empty() || total == 0.0 {
            assert!(circuit.marginal_map(&as_vars(&a), &evidence(&cells), 10).is_err());
            return;
        }
        let best = sums.iter().copied().fold(0.0, f64::max);
        let value = |found: &slopp::infer::MarginalMap| {
            assert!(found.values.iter().zip(&a).all(|(lit, &x)| lit.var.index() == x));
            let place: usize = found.values.iter().enumerate().map(|(i, lit)| usize::from(lit.value) << i).sum();
            sums[place]
        };
        let found = circuit.marginal_map(&as_vars(&a), &evidence(&cells), usize::MAX).unwrap();
        assert!(found.is_exact());
        close(found.log_lower.exp(), best);
        close(value(&found), best);
        split += usize::from(found.steps > 0);
        for budget in [0, 1] {
            let found = circuit.marginal_map(&as_vars(&a), &evidence(&cells), budget).unwrap();
            assert!(found.steps <= budget);
            close(found.log_lower.exp(), value(&found));
            assert!(found.log_upper.exp() >= best - 1e-9 && found.log_lower.exp() <= best + 1e-9);
            stopped += usize::from(!found.is_exact());
        }
    });
    assert!(split > 40 && stopped > 40, "{split} {stopped}");
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
    let psdd = count("at_most", 12, 1).to_circuit().unwrap().certify().unwrap();
    let formula = count("exactly", 5, 3);
    let other = count("at_least", 4, 2).to_circuit().unwrap().certify().unwrap();
    let cancelled = Limits { cancel: Some(std::sync::Arc::new(true.into())), ..Limits::default() };
    let cases = [
        (Limits::default().with_nodes(100), Limit::Nodes(100)),
        (Limits { bytes: 2000, ..Limits::default() }, Limit::Bytes(2000)),
        (cancelled, Limit::Cancelled),
    ];
    for (limits, expected) in cases {
        let outcomes = [
            psdd.log_probability_of_within(&formula, &limits).err(),
            psdd.marginals_given_within(&formula, &limits).err(),
            psdd.given_within(&formula, &limits).err(),
            psdd.product_within(&other, &limits).err(),
        ];
        for outcome in outcomes {
            let Some(QueryError::Stopped { limit, .. }) = outcome else { panic!("{outcome:?}") };
            assert_eq!(limit, expected);
        }
    }
    let text = psdd.given_within(&formula, &Limits::default().with_nodes(100)).unwrap_err().to_string();
    assert!(text.starts_with("the product with the model needs more than 100 nodes (reached: 101 nodes"), "{text}");
    // The result itself takes memory too.
    let values = Limits { bytes: 300_000, ..Limits::default() };
    assert!(psdd.log_probability_of_within(&formula, &values).is_ok());
    assert_eq!(psdd.given(&formula).unwrap(), psdd.given_within(&formula, &Limits::default()).unwrap());
}
