//! Every query on larger random circuits, in batches, on deep vtrees and near underflow.

mod against;
mod learned;

use against::*;
use slopp::infer::{Distribution, Evidence, QueryError};
use slopp::learn::{Factorised, Task};
use slopp::logic::Limits;
use slopp::{Builder, Circuit, Mixture, Names, NodeId, Records, RecordsBuilder, Sharing, Var, Vtree};
use slopp_oracle::{Dice, OracleCircuit, OracleNode, Table, Tree, deterministic, mixture, records};

/// Random circuits of up to nine variables, deterministic in every other round.
fn circuits(rounds: usize, seed: u64, mut check: impl FnMut(&Tree, &OracleCircuit, bool, &mut Dice)) {
    let mut dice = Dice::new(seed);
    for round in 0..rounds {
        let tree = Tree::random(2 + dice.below(8), &mut dice);
        let exclusive = round % 2 == 0;
        let oracle = match exclusive {
            true => deterministic(&tree, [0.05, 0.3, 0.9][round % 3], round % 4 == 0, &mut dice),
            false => mixture(&tree, 3, &mut dice),
        };
        check(&tree, &oracle, exclusive, &mut dice);
    }
}

#[test]
fn every_query_on_random_circuits() {
    circuits(60, 1, |tree, oracle, exclusive, dice| {
        let (circuit, ids) = convert(oracle, tree);
        let table = oracle.table();
        check_certificate(&circuit, &ids, oracle);
        let rows = records(oracle.vars, 12, 0.6, dice);
        rows.iter().for_each(|cells| check_circuit(&circuit, &table, cells));
        if exclusive {
            let circuit = circuit.certify_deterministic(&Limits::default()).unwrap();
            check_whole(&circuit, &table, oracle.vars);
            rows.iter().for_each(|cells| check_deterministic(&circuit, &table, cells));
        }
    });
}

/// Equal records are completed independently: each by a draw of its own, all with the right frequencies.
#[test]
fn equal_records_have_draws_of_their_own() {
    let psdd = slopp::example::psdd();
    let mut records = RecordsBuilder::new(Names::numbered(4));
    (0..20_000).for_each(|i| records.push([None, None, None, (i % 2 == 0).then_some(true)], 1.0));
    let records = records.finish();
    let mixture = Mixture::uniform([psdd.clone().into(), psdd.clone().into()]).unwrap();
    let drawn = [psdd.sample_batch(&records, 3).unwrap(), mixture.sample_batch(&records, 3).unwrap()];
    assert_eq!(drawn[0], psdd.sample_batch(&records, 3).unwrap());
    for drawn in drawn {
        for (half, given) in [(1, Evidence::none(4)), (0, Evidence::from_lits(4, [Var(3).is(true)]).unwrap())] {
            let marginals = psdd.marginals(&given).unwrap();
            for (i, expected) in marginals.into_iter().enumerate() {
                let of_half = drawn.iter().skip(half).step_by(2);
                let share = of_half.filter(|world| world.as_ref().unwrap()[i]).count() as f64 / 10_000.0;
                assert!((share - expected).abs() < 0.02, "{i}: {share} {expected}");
            }
        }
    }
}

/// Rows are taken a few at a time if there are many events; that must not show.
#[test]
fn many_joint_questions_answer_as_few() {
    let (psdd, data) = (slopp::example::psdd(), slopp::example::records());
    let events = [Evidence::none(4), Evidence::from_row(&data, 0), Evidence::from_row(&data, 1)];
    let few = psdd.joint_batch(&events, &data).unwrap();
    let repeated: Vec<Evidence> = events.iter().cycle().take(30_000).cloned().collect();
    let many = psdd.joint_batch(&repeated, &data).unwrap();
    assert_eq!(few.len(), data.len());
    assert_eq!(many, few.iter().map(|line| line.repeat(10_000)).collect::<Vec<_>>());
    assert_eq!(psdd.joint_batch(&[], &data).unwrap(), vec![Vec::<f64>::new(); data.len()]);
}

#[test]
fn batches_answer_as_single_queries() {
    circuits(40, 2, |tree, oracle, exclusive, dice| {
        let circuit = convert(oracle, tree).0;
        let table = oracle.table();
        for missing in [0.0, 0.5] {
            let rows = records(oracle.vars, 300, missing, dice);
            let data = to_records(&rows);
            let log_likelihoods = circuit.log_likelihoods(&data).unwrap();
            let possible = circuit.possible(&data).unwrap();
            let marginals = circuit.marginals_batch(&data).unwrap();
            let pairs = circuit.pair_marginals_batch(&data).unwrap();
            let nearest = circuit.nearest_batch(&data).unwrap();
            let drawn = circuit.sample_batch(&data, 9).unwrap();
            let event = evidence(&records(oracle.vars, 1, 0.5, dice)[0]);
            let conditionals = circuit.conditional_batch(&event, &data).unwrap();
            let questions = records(oracle.vars, 3, 0.6, dice);
            let events: Vec<Evidence> = questions.iter().map(|question| evidence(question)).collect();
            let joints = circuit.joint_batch(&events, &data).unwrap();
            assert_eq!(drawn.len(), data.original().len());
            for (world, &row) in drawn.iter().zip(data.original()) {
                assert_eq!(world.is_some(), possible[row as usize]);
                let support = table.support(&cells(&data, row as usize));
                assert!(world.iter().all(|world| support.contains(&Table::number(world))));
            }
            for row in 0..data.len() {
                let cells = cells(&data, row);
                let given = Evidence::from_row(&data, row);
                close(log_likelihoods[row].exp(), table.evidence(&cells));
                assert_eq!(possible[row], !table.support(&cells).is_empty());
                let expected = circuit.marginals(&given).ok();
                assert_eq!(marginals[row].is_some(), expected.is_some());
                for (a, b) in marginals[row].iter().flatten().zip(expected.iter().flatten()) {
                    close(*a, *b);
                }
                assert_eq!(pairs[row], circuit.pair_marginals(&given).ok());
                assert_eq!(nearest[row], circuit.nearest(&given).unwrap());
                assert_eq!(joints[row].len(), questions.len());
                for (log, question) in joints[row].iter().zip(&questions) {
                    // Of worlds that agree with both.
                    let agree = cells.iter().zip(question).all(|(a, b)| a.is_none() || b.is_none() || a == b);
                    let both: Vec<_> = cells.iter().zip(question).map(|(a, b)| a.or(*b)).collect();
                    close(log.exp(), if agree { table.evidence(&both) } else { 0.0 });
                }
                assert_eq!(conditionals[row].is_some(), possible[row]);
                if let Some(p) = conditionals[row] {
                    close(p, circuit.conditional(&event, &given).unwrap());
                }
            }
            if exclusive {
                let circuit = circuit.clone().certify_deterministic(&Limits::default()).unwrap();
                for (a, b) in circuit.log_likelihoods(&data).unwrap().iter().zip(&log_likelihoods) {
                    close(*a, *b);
                }
                let top = circuit.top_worlds_batch(&data, 3, &Limits::default()).unwrap();
                for (row, top) in top.into_iter().enumerate() {
                    assert_eq!(top, circuit.top_worlds(&Evidence::from_row(&data, row), 3, &Limits::default()).ok());
                }
                let mpe = circuit.mpe_batch(&data).unwrap();
                for (row, mpe) in mpe.into_iter().enumerate() {
                    assert_eq!(mpe, circuit.mpe(&Evidence::from_row(&data, row)).ok());
                }
            }
        }
    });
}

#[test]
fn counts_and_flow_values_follow_the_derivations() {
    circuits(40, 3, |tree, oracle, exclusive, dice| {
        let (circuit, ids) = convert(oracle, tree);
        let table = oracle.table();
        for scale in [1.0, 0.3] {
            let mut builder = RecordsBuilder::new(Names::numbered(oracle.vars));
            let support = table.support(&vec![None; oracle.vars]);
            for row in records(oracle.vars, 900, 0.0, dice) {
                let possible = support[dice.below(support.len())];
                let row = if dice.chance(0.7) { table.world(possible).into_iter().map(Some).collect() } else { row };
                builder.push(row, scale * (1 + dice.below(5)) as f64);
            }
            let data = builder.finish();
            let world = |row: usize| Table::number(&data.row(row).map(Option::unwrap).collect::<Vec<_>>());
            for (row, flow) in circuit.flow_log_values(&data).unwrap().into_iter().enumerate() {
                close(flow, oracle.flow(world(row)).unwrap_or(f64::NEG_INFINITY));
            }
            if exclusive {
                check_counts(oracle, circuit.clone(), &ids, &data);
            }
        }
    });
}

#[test]
fn counts_add_up_over_many_blocks() {
    let mut dice = Dice::new(6);
    let tree = Tree::random(12, &mut dice);
    let oracle = deterministic(&tree, 0.3, false, &mut dice);
    let (circuit, ids) = convert(&oracle, &tree);
    for scale in [1.0, 0.3] {
        let mut builder = RecordsBuilder::new(Names::numbered(12));
        for world in 0..1usize << 12 {
            builder.push((0..12).map(|x| Some(world >> x & 1 == 1)), scale * (1 + dice.below(9)) as f64);
        }
        check_counts(&oracle, circuit.clone(), &ids, &builder.finish());
    }
}

fn check_counts(oracle: &OracleCircuit, circuit: Circuit, ids: &[NodeId], data: &Records) {
    let circuit = circuit.certify_deterministic(&Limits::default()).unwrap();
    let counted = circuit.count_records(data).unwrap();
    let mut expected = vec![0.0; circuit.elements().len()];
    let (mut tops, mut impossible) = (vec![[0.0; 2]; circuit.log_parameters().tops.len()], 0.0);
    for row in 0..data.len() {
        let world = Table::number(&data.row(row).map(Option::unwrap).collect::<Vec<_>>());
        let weight = data.weights()[row];
        let used = oracle.used(world);
        impossible += if used.is_empty() { weight } else { 0.0 };
        for (node, element) in used {
            expected[circuit.element_range(ids[node]).start + element] += weight;
            let OracleNode::Sum(elements) = &oracle.nodes[node] else { panic!("only sums have elements") };
            for child in [elements[element].0, elements[element].1] {
                let child_node = (&oracle.nodes[child], circuit.node(ids[child]));
                if let (OracleNode::Top(x, _), slopp::Node::Top { slot, .. }) = child_node {
                    tops[slot as usize][world >> x & 1] += weight;
                }
            }
        }
    }
    close(counted.impossible, impossible);
    counted.weights.elements.iter().zip(&expected).for_each(|(a, b)| close(*a, *b));
    counted.weights.tops.concat().iter().zip(tops.concat()).for_each(|(a, b)| close(*a, b));
}

#[test]
fn samples_follow_the_distribution() {
    circuits(12, 4, |tree, oracle, _, dice| {
        let circuit = convert(oracle, tree).0;
        let table = oracle.table();
        let cells = loop {
            let cells = records(oracle.vars, 1, 0.7, dice).remove(0);
            if !table.support(&cells).is_empty() {
                break cells;
            }
        };
        let count = 20_000;
        let mut drawn = vec![0.0; 1 << oracle.vars];
        let samples = circuit.sample(count, &evidence(&cells), 7).unwrap();
        samples.worlds().for_each(|world| drawn[Table::number(&world)] += 1.0);
        let total = table.evidence(&cells);
        let (mut chi_square, mut freedom, mut rest) = (0.0, 0.0, [0.0; 2]);
        for (world, &drawn) in drawn.iter().enumerate() {
            let agrees = table.support(&cells).contains(&world);
            assert!(agrees || drawn == 0.0, "only possible worlds that agree are drawn");
            let expected = if agrees { count as f64 * table.probability(world) / total } else { 0.0 };
            if expected < 8.0 {
                rest = [rest[0] + expected, rest[1] + drawn];
                continue;
            }
            chi_square += (drawn - expected).powi(2) / expected;
            freedom += 1.0;
        }
        if rest[0] > 8.0 {
            chi_square += (rest[1] - rest[0]).powi(2) / rest[0];
        }
        // Mean and five standard deviations of chi-square: one in a million.
        assert!(chi_square < freedom + 5.0 * f64::sqrt(2.0 * freedom) + 10.0, "{chi_square} {freedom}");
        let records = samples.clone().into_records(Names::numbered(oracle.vars));
        let first = records.row(records.original()[0] as usize).map(Option::unwrap).collect::<Vec<_>>();
        assert_eq!(first, samples.world(0));
    });
}

#[test]
fn bytes_do_not_depend_on_threads() {
    let mut dice = Dice::new(5);
    let tree = Tree::random(9, &mut dice);
    let oracle = deterministic(&tree, 0.5, false, &mut dice);
    let circuit = convert(&oracle, &tree).0.certify(&Limits::default()).unwrap();
    let mut builder = RecordsBuilder::new(Names::numbered(9));
    let mut partial = RecordsBuilder::new(Names::numbered(9));
    for row in records(9, 3000, 0.0, &mut dice) {
        builder.push(row, 0.1 + dice.unit());
    }
    for row in records(9, 3000, 0.4, &mut dice) {
        partial.push(row, 0.1 + dice.unit());
    }
    let (data, partial) = (builder.finish(), partial.finish());
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            (
                circuit.count_records(&data).unwrap(),
                circuit.log_likelihoods(&partial).unwrap(),
                circuit.sample(3000, &Evidence::none(9), 3).unwrap(),
                circuit.marginals_batch(&partial).unwrap(),
            )
        })
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(1), run(5));
}

#[test]
fn deep_vtrees_answer_every_query() {
    for vtree in [Vtree::right_linear(2000), Vtree::left_linear(2000), Vtree::balanced(2000)] {
        let psdd = factorised(&vtree, 0.25);
        let n = 2000;
        let none = Evidence::none(n);
        close(psdd.log_evidence(&none).unwrap(), 0.0);
        let world = vec![true; n];
        let expected = n as f64 * 0.25f64.ln();
        close(psdd.log_probability(&world).unwrap(), expected);
        let records = Records::from_rows(Names::numbered(n), [world.clone(), vec![false; n]]);
        let both = psdd.log_likelihoods(&records).unwrap();
        let [of_ones, of_zeros] = [0, 1].map(|i| both[records.original()[i] as usize]);
        close(of_ones, expected);
        close(of_zeros, n as f64 * 0.75f64.ln());
        for (a, b) in Circuit::log_likelihoods(&psdd, &records).unwrap().iter().zip(&both) {
            close(*a, *b);
        }
        psdd.marginals(&none).unwrap().into_iter().for_each(|p| close(p, 0.25));
        let pairs = psdd.pair_marginals(&none).unwrap();
        close(pairs.joint(Var(3), Var(1999)), 0.0625);
        let (best, log) = psdd.mpe(&none).unwrap();
        assert_eq!(best, vec![false; n]);
        close(log, n as f64 * 0.75f64.ln());
        let top = psdd.top_worlds(&none, 5, &Limits::default()).unwrap();
        close(top[1].1, log + (0.25f64 / 0.75).ln());
        assert_eq!(top[1].0.iter().filter(|&&x| x).count(), 1);
        close(psdd.entropy(), -(n as f64) * (0.25 * 0.25f64.ln() + 0.75 * 0.75f64.ln()));
        assert_eq!(psdd.model_count(), num_bigint::BigUint::from(2u32).pow(n as u32));
        assert_eq!(psdd.worlds(&none).unwrap().take(9).count(), 9);
        assert_eq!(psdd.nearest(&Evidence::of_world(&world)).unwrap().distance, 0);
        let drawn = psdd.sample(50, &none, 1).unwrap();
        let ones: usize = drawn.worlds().map(|world| world.iter().filter(|&&x| x).count()).sum();
        assert!((23_500..26_500).contains(&ones), "{ones}");
        let other = factorised(&vtree, 0.5);
        close(psdd.kl_divergence(&other, &Limits::default()).unwrap(), n as f64 * 2f64.ln() - psdd.entropy());
        assert_eq!(psdd.count_records(&records).unwrap().impossible, 0.0);
        assert!(psdd.is_possible(&world).unwrap());
    }
}

#[test]
fn nothing_underflows_unnoticed() {
    // A root that mixes a likely and an absurdly unlikely world: the second must keep its probability.
    for vtree in [Vtree::right_linear(2000), Vtree::left_linear(2000), Vtree::balanced(2000)] {
        for log_rare in [-0.5, -3.0, -100.0, -400.0, -800.0] {
            let n = 2000;
            let circuit = twins(&vtree, log_rare);
            let (ones, zeros) = (vec![true; n], vec![false; n]);
            let log_common = (-f64::exp_m1(log_rare)).ln();
            let expected = log_rare + (n - 1) as f64 * log_rare;
            let first = circuit.log_probability(&ones).unwrap();
            assert!((first - expected).abs() <= 1e-9 * expected.abs(), "{first} {expected}");
            close(circuit.log_probability(&zeros).unwrap(), log_common);
            let mut mixed = zeros.clone();
            mixed[n / 2] = true;
            assert_eq!(circuit.log_probability(&mixed).unwrap(), f64::NEG_INFINITY);
            // Without evidence both worlds are alive in every layer, far apart.
            let none = Evidence::none(n);
            let high = log_common.max(expected);
            let total = high + ((log_common - high).exp() + (expected - high).exp()).ln();
            close(circuit.log_evidence(&none).unwrap(), total);
            circuit.marginals(&none).unwrap().into_iter().for_each(|p| close(p, (expected - total).exp()));
            // Evidence on one variable: what was nothing beside the other world is now everything.
            for x in [0, n as u32 - 1] {
                let given = Evidence::from_lits(n, [Var(x).is(true)]).unwrap();
                close(circuit.log_evidence(&given).unwrap() / expected, 1.0);
                circuit.marginals(&given).unwrap().into_iter().for_each(|p| close(p, 1.0));
                let mut records = RecordsBuilder::new(Names::numbered(n));
                records.push((0..n).map(|y| (x as usize == y).then_some(true)), 1.0);
                close(circuit.log_likelihoods(&records.finish()).unwrap()[0] / expected, 1.0);
            }
            // Evidence that leaves one value open: all of the posterior is on the unlikely world.
            let mut given = Evidence::of_world(&ones);
            given.set(Var(7), None);
            let marginals = circuit.marginals(&given).unwrap();
            marginals.into_iter().for_each(|p| close(p, 1.0));
            assert_eq!(circuit.sample(2, &given, 1).unwrap().world(1), ones);
            let mut records = RecordsBuilder::new(Names::numbered(n));
            records.push((0..n).map(|x| (x != 7).then_some(true)), 1.0);
            let records = records.finish();
            close(circuit.log_likelihoods(&records).unwrap()[0] / expected, 1.0);
            circuit.marginals_batch(&records).unwrap()[0].iter().flatten().for_each(|&p| close(p, 1.0));
        }
    }
}

#[test]
fn values_that_lose_digits_are_noticed() {
    // Right-linear, so the unlikely part is multiplied up beside the likely one, into the range of lost digits.
    // Just above the smallest number there is, with every parameter large enough for plain numbers.
    for n in 11..20 {
        for log_total in [-700.0, -720.0, -740.0] {
            let log_rare = log_total / n as f64;
            let circuit = twins(&Vtree::right_linear(n), log_rare);
            let given = Evidence::from_lits(n, [Var(0).is(true)]).unwrap();
            close(circuit.log_evidence(&given).unwrap() / (n as f64 * log_rare), 1.0);
        }
    }
}

/// All variables equal; every step of the way to all-true costs `log_rare`.
fn twins(vtree: &Vtree, log_rare: f64) -> Circuit {
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    let mut made: Vec<Option<[NodeId; 2]>> = vec![None; vtree.node_count()];
    for &v in vtree.bottom_up() {
        made[v.index()] = Some(match (vtree.leaf_var(v), vtree.children(v)) {
            (Some(var), _) => [false, true].map(|value| builder.literal(var.is(value)).unwrap()),
            (_, Some(children)) => {
                let [left, right] = children.map(|child| made[child.index()].unwrap());
                let [no, yes] = [0, 1].map(|value| (left[value], right[value]));
                if v == vtree.root() {
                    let log_common = (-f64::exp_m1(log_rare)).ln();
                    let root = [(no.0, no.1, log_common), (yes.0, yes.1, 2.0 * log_rare)];
                    [builder.sum(v, &root).unwrap(); 2]
                } else {
                    [
                        builder.sum(v, &[(no.0, no.1, 0.0)]).unwrap(),
                        builder.sum(v, &[(yes.0, yes.1, log_rare)]).unwrap(),
                    ]
                }
            }
            _ => unreachable!(),
        });
    }
    builder.finish(made[vtree.root().index()].unwrap()[0]).unwrap()
}

#[test]
fn wrong_questions_are_errors() {
    let psdd = factorised(&Vtree::balanced(3), 0.5);
    let wrong = |what, found| QueryError::WrongLength { what, expected: 3, found };
    assert_eq!(psdd.log_probability(&[true]), Err(wrong("world", 1)));
    assert_eq!(psdd.marginals(&Evidence::none(4)), Err(wrong("evidence", 4)));
    assert_eq!(psdd.mpe(&Evidence::none(2)), Err(wrong("evidence", 2)));
    assert_eq!(psdd.worlds(&Evidence::none(2)).err(), Some(wrong("evidence", 2)));
    let narrow = to_records(&[vec![Some(true)]]);
    assert_eq!(psdd.log_likelihoods(&narrow), Err(wrong("data", 1)));
    assert_eq!(psdd.possible(&narrow), Err(wrong("data", 1)));
    let missing = to_records(&[vec![Some(true), None, Some(true)]]);
    assert_eq!(psdd.count_records(&missing), Err(QueryError::MissingCell { record: 1, name: "x2".to_owned() }));
    assert_eq!(psdd.entailed_by(&missing), Err(QueryError::MissingCell { record: 1, name: "x2".to_owned() }));
    let other = factorised(&Vtree::right_linear(3), 0.5);
    assert_eq!(psdd.kl_divergence(&other, &Limits::default()), Err(QueryError::DifferentVtrees));
    let empty = RecordsBuilder::new(Names::numbered(3)).finish();
    assert!(psdd.log_likelihoods(&empty).unwrap().is_empty() && psdd.possible(&empty).unwrap().is_empty());
    assert!(psdd.marginals_batch(&empty).unwrap().is_empty());
    assert_eq!(psdd.count_records(&empty).unwrap().impossible, 0.0);
}

#[test]
fn divergence_is_infinite_however_unlikely_the_missing_world() {
    let vtree = Vtree::balanced(2);
    let over = |elements: &[(bool, f64)]| {
        let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
        let y = builder.literal(Var(1).is(true)).unwrap();
        let elements: Vec<_> =
            elements.iter().map(|&(x, log)| (builder.literal(Var(0).is(x)).unwrap(), y, log)).collect();
        let sum = builder.sum(vtree.root(), &elements).unwrap();
        builder.finish(sum).unwrap().certify(&Limits::default()).unwrap()
    };
    let (wide, narrow) = (over(&[(true, 0.0), (false, -1e5)]), over(&[(true, 0.0)]));
    assert_eq!(wide.kl_divergence(&narrow, &Limits::default()), Ok(f64::INFINITY));
    assert_eq!(narrow.kl_divergence(&wide, &Limits::default()), Ok(0.0));
}

#[test]
fn too_many_pairs_are_refused() {
    let records = Records::from_rows(Names::numbered(20_000), [vec![true; 20_000]]);
    let psdd = learned::psdd(&Task::new(&records), &Factorised::default());
    let error = psdd.pair_marginals(&Evidence::none(20_000)).unwrap_err().to_string();
    assert!(error.contains("too many pairs"), "{error}");
    assert!(psdd.pair_marginals_batch(&records).is_err());
}
