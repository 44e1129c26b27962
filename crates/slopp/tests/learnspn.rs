//! Sum-product networks against enumeration, and what LearnSPN makes of awkward and of benchmark data.

mod against;

use against::{cells, close, evidence, to_records};
use slopp::circuit::NodeId;
use slopp::infer::{Evidence, QueryError};
use slopp::io::{RecordsOptions, read_records};
use slopp::learn::LearnError;
use slopp::learn::learnspn::{LearnSpn, Leaves, learn, tune};
use slopp::spn::{Branch, Spn, SpnBuilder, SpnError, SpnNode};
use slopp::{Names, Progress, Random, Records, RecordsBuilder, Var};
use slopp_oracle::{Dice, Network, Table, all_evidence, records};
use std::sync::{Arc, Mutex};

fn convert(network: &Network, builder: &mut SpnBuilder) -> NodeId {
    match network {
        Network::Coin(x, p) => builder.bernoulli(Var(*x as u32), *p).unwrap(),
        Network::Tree(tree) => {
            let branch = |&(x, parent, probability): &(usize, Option<usize>, [f64; 2])| Branch {
                var: Var(x as u32),
                parent: parent.map(|i| i as u32),
                probability,
            };
            builder.tree(&tree.iter().map(branch).collect::<Vec<_>>()).unwrap()
        }
        Network::Product(parts) => {
            let parts: Vec<NodeId> = parts.iter().map(|part| convert(part, builder)).collect();
            builder.product(&parts).unwrap()
        }
        Network::Sum(parts) => {
            let parts: Vec<_> = parts.iter().map(|(w, part)| (convert(part, builder), *w)).collect();
            builder.sum(&parts).unwrap()
        }
    }
}

/// A random network of the oracle, the same of the library, and its table.
fn random_network(vars: usize, dice: &mut Dice) -> (Spn, Table) {
    let network = Network::random(&(0..vars).collect::<Vec<_>>(), 3, dice);
    let mut builder = SpnBuilder::new(vars);
    let root = convert(&network, &mut builder);
    (builder.finish(root).unwrap(), network.table(vars))
}

fn check(spn: &Spn, table: &Table, cells: &[Option<bool>]) {
    let given = evidence(cells);
    close(spn.log_evidence(&given).unwrap().exp(), table.evidence(cells));
    let Some(pairs) = table.pairs(cells) else {
        assert_eq!(spn.log_evidence(&given), Ok(f64::NEG_INFINITY));
        assert_eq!(spn.marginals(&given), Err(QueryError::ImpossibleEvidence));
        assert_eq!(spn.sample(1, &given, 0), Err(QueryError::ImpossibleEvidence));
        return;
    };
    let marginals = spn.marginals(&given).unwrap();
    (0..cells.len()).for_each(|x| close(marginals[x], pairs[x][x]));
    for world in spn.sample(3, &given, 7).unwrap().worlds() {
        assert!(table.support(cells).contains(&Table::number(&world)));
    }
}

#[test]
fn all_evidence_on_small_networks() {
    let mut dice = Dice::new(1);
    for round in 0..150 {
        let vars = 1 + round % 4;
        let (spn, table) = random_network(vars, &mut dice);
        all_evidence(vars).iter().for_each(|cells| check(&spn, &table, cells));
    }
}

#[test]
fn batches_on_larger_networks_with_and_without_missing_cells() {
    let mut dice = Dice::new(2);
    for round in 0..60 {
        let vars = 5 + round % 5;
        let (spn, table) = random_network(vars, &mut dice);
        for missing in [0.0, 0.4] {
            let data = to_records(&records(vars, 150, missing, &mut dice));
            let logs = spn.log_likelihoods(&data).unwrap();
            let marginals = spn.marginals_batch(&data).unwrap();
            for row in 0..data.len() {
                let cells = cells(&data, row);
                close(logs[row].exp(), table.evidence(&cells));
                close(logs[row], spn.log_evidence(&Evidence::from_row(&data, row)).unwrap());
                assert_eq!(logs[row] == f64::NEG_INFINITY, table.support(&cells).is_empty());
                assert_eq!(marginals[row].is_some(), table.evidence(&cells) > 0.0);
            }
            check(&spn, &table, &cells(&data, 0));
        }
    }
}

#[test]
fn samples_follow_the_posterior() {
    let mut dice = Dice::new(4);
    for round in 0..10 {
        let (spn, table) = random_network(4, &mut dice);
        let cells: Vec<Option<bool>> = vec![None, Some(round % 2 == 0), None, None];
        if table.evidence(&cells) == 0.0 {
            continue;
        }
        let mut counts = [0.0; 16];
        let samples = spn.sample(20_000, &evidence(&cells), round).unwrap();
        samples.worlds().for_each(|world| counts[Table::number(&world)] += 1.0 / 20_000.0);
        for world in table.support(&cells) {
            let expected = table.probability(world) / table.evidence(&cells);
            assert!((counts[world] - expected).abs() < 0.02, "{} {expected}", counts[world]);
            counts[world] = 0.0;
        }
        assert_eq!(counts, [0.0; 16], "nothing impossible is drawn");
    }
}

#[test]
fn thousands_of_variables_neither_underflow_nor_overflow_the_stack() {
    let vars = 20_000;
    let mut builder = SpnBuilder::new(vars);
    let chain = |p: f64| -> Vec<Branch> {
        let branch = |i: u32| Branch { var: Var(i), parent: i.checked_sub(1), probability: [p; 2] };
        (0..vars as u32).map(branch).collect()
    };
    let mut node = builder.tree(&chain(1e-3)).unwrap();
    let leaves: Vec<NodeId> = (0..vars as u32).map(|i| builder.bernoulli(Var(i), 1e-3).unwrap()).collect();
    let product = builder.product(&leaves).unwrap();
    for _ in 0..20_000 {
        node = builder.sum(&[(node, 0.5), (product, 0.5)]).unwrap();
    }
    let spn = builder.finish(node).unwrap();
    let expected = vars as f64 * 1e-3f64.ln();
    let found = spn.log_probability(&vec![true; vars]).unwrap();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    let mut half = Evidence::none(vars);
    (0..vars as u32 / 2).for_each(|i| half.set(Var(i), Some(true)));
    assert!((spn.log_evidence(&half).unwrap() / expected - 0.5).abs() < 1e-9);
    assert!((spn.marginals(&half).unwrap()[vars - 1] - 1e-3).abs() < 1e-9);
}

#[test]
fn the_builder_refuses_what_breaks_an_invariant() {
    let mut builder = SpnBuilder::new(3);
    let x = builder.bernoulli(Var(0), 0.5).unwrap();
    let y = builder.bernoulli(Var(1), 0.5).unwrap();
    let branch = |x: u32, parent| Branch { var: Var(x), parent, probability: [0.5; 2] };
    assert_eq!(builder.bernoulli(Var(3), 0.5), Err(SpnError::UnknownVariable { var: Var(3), len: 3 }));
    assert_eq!(builder.bernoulli(Var(0), 1.5), Err(SpnError::Probability(1.5)));
    assert_eq!(builder.bernoulli(Var(0), 1e-80), Err(SpnError::Probability(1e-80)));
    assert!(matches!(builder.bernoulli(Var(0), f64::NAN), Err(SpnError::Probability(_))));
    assert_eq!(builder.product(&[]), Err(SpnError::Empty));
    assert_eq!(builder.product(&[x, NodeId(99)]), Err(SpnError::UnknownChild));
    assert_eq!(builder.product(&[x, y, x]), Err(SpnError::NotDecomposable(Var(0))));
    assert_eq!(builder.sum(&[(x, 0.5), (y, 0.5)]), Err(SpnError::NotSmooth { first: 0, second: 1 }));
    assert_eq!(builder.sum(&[(x, 0.5), (x, 0.25)]), Err(SpnError::Total(0.75)));
    assert_eq!(builder.sum(&[(x, 1.0), (x, 0.0)]), Err(SpnError::Probability(0.0)));
    assert_eq!(builder.tree(&[]), Err(SpnError::Empty));
    assert_eq!(builder.tree(&[branch(0, None), branch(1, None)]), Err(SpnError::Parent(1)));
    assert_eq!(builder.tree(&[branch(0, None), branch(1, Some(1))]), Err(SpnError::Parent(1)));
    assert_eq!(builder.tree(&[branch(0, None), branch(0, Some(0))]), Err(SpnError::NotDecomposable(Var(0))));
    let product = builder.product(&[x, y]).unwrap();
    assert_eq!(builder.clone().finish(product), Err(SpnError::Incomplete(Var(2))));
    let unused = builder.bernoulli(Var(2), 0.3).unwrap();
    let tree = builder.tree(&[branch(2, None)]).unwrap();
    let root = builder.product(&[product, tree]).unwrap();
    let spn = builder.finish(root).unwrap();
    assert!(!spn.nodes().contains(&SpnNode::Bernoulli { var: Var(2), probability: 0.3 }), "{unused:?} is not below");
    let stats = spn.stats();
    assert_eq!((stats.nodes, stats.edges, stats.parameters), (5, 4, 6));
    assert_eq!((stats.products, stats.univariate, stats.trees, stats.branches), (2, 2, 1, 1));
    let wrong = spn.log_evidence(&Evidence::none(2));
    assert_eq!(wrong, Err(QueryError::WrongLength { what: "evidence", expected: 3, found: 2 }));
}

/// Rows of two kinds, in blocks of columns, plus noise columns.
fn blocks(vars: usize, rows: usize, seed: u64) -> Records {
    let mut random = Random::new(seed);
    let row = |_| {
        let kind = random.below(2);
        (0..vars).map(|i| random.unit() < if i % 3 == 2 { 0.4 } else { [0.1, 0.85][(i + kind) % 2] }).collect()
    };
    Records::from_rows(Names::numbered(vars), (0..rows).map(row).collect::<Vec<Vec<bool>>>())
}

fn settings() -> Vec<LearnSpn> {
    let greedy = LearnSpn { min_records: 1.0, cluster_penalty: 0.0, independence: 0.0, ..LearnSpn::default() };
    let independent = LearnSpn { leaves: Leaves::Independent, max_clusters: 4, ..LearnSpn::default() };
    vec![LearnSpn::default(), greedy.clone(), independent, LearnSpn { leaves: Leaves::Independent, ..greedy }]
}

#[test]
fn learned_networks_are_distributions_with_full_support() {
    for config in settings() {
        for (rows, seed) in [(1, 0), (3, 1), (40, 2), (600, 3)] {
            let train = blocks(8, rows, seed);
            for valid in [None, Some(blocks(8, 100, 9))] {
                let learned = learn(&train, valid.as_ref(), &config, &()).unwrap();
                let world = |w: usize| (0..8).map(|i| w >> i & 1 == 1).collect::<Vec<bool>>();
                let all: Vec<f64> = (0..256).map(|w| learned.spn.log_probability(&world(w)).unwrap().exp()).collect();
                close(all.iter().sum(), 1.0);
                assert!(all.iter().all(|&p| p > 0.0));
                let mean = learned.spn.mean_log_likelihood(&train).unwrap();
                assert_eq!(learned.train, mean);
                assert_eq!(learned.valid.is_some(), valid.is_some());
            }
        }
    }
}

#[test]
fn the_planted_mixture_is_found() {
    let (train, valid, test) = (blocks(12, 3000, 1), blocks(12, 500, 2), blocks(12, 3000, 3));
    let learned = learn(&train, Some(&valid), &LearnSpn::default(), &()).unwrap();
    // The truth: two kinds, and four columns of noise.
    let log_truth = |row: usize| {
        let part = |kind: usize| -> f64 {
            let p = |i: usize| if i % 3 == 2 { 0.4 } else { [0.1, 0.85][(i + kind) % 2] };
            test.row(row).enumerate().map(|(i, x)| if x.unwrap() { p(i) } else { 1.0 - p(i) }).product()
        };
        (0.5 * part(0) + 0.5 * part(1)).ln()
    };
    let truth = (0..test.len()).map(|row| log_truth(row) * test.weights()[row]).sum::<f64>() / test.total();
    let found = learned.spn.mean_log_likelihood(&test).unwrap();
    assert!(found <= truth && found > truth - 0.02, "{found} {truth}");
    let noise = |id: u32| learned.spn.children_of(NodeId(id)).count() >= 4;
    assert!((0..learned.spn.nodes().len() as u32).any(noise), "noise columns are split off");
}

#[test]
fn awkward_records_work() {
    let equal = vec![vec![true, false, true, false, true]; 30];
    let wide: Vec<Vec<bool>> = (0..3).map(|i| (0..200).map(|j| (i * j) % 7 < 3).collect()).collect();
    let constant: Vec<Vec<bool>> = (0..60).map(|i| vec![true, i % 2 == 0, i % 2 == 0, false, i % 3 == 0]).collect();
    for rows in [equal.clone(), equal[..1].to_vec(), wide, constant, vec![vec![true]; 2]] {
        let train = Records::from_rows(Names::numbered(rows[0].len()), rows);
        for config in settings() {
            let learned = learn(&train, Some(&train), &config, &()).unwrap();
            assert!(learned.train.is_finite() && learned.train <= 0.0);
        }
    }
    let mut none = RecordsBuilder::new(Names::numbered(2));
    assert!(matches!(learn(&none.clone().finish(), None, &LearnSpn::default(), &()), Err(LearnError::NoRecords)));
    none.push([Some(true), None], 1.0);
    let missing = none.finish();
    assert!(matches!(learn(&missing, None, &LearnSpn::default(), &()), Err(LearnError::MissingCells { .. })));
    let no_columns = Records::from_rows(Names::numbered(0), [[false; 0]]);
    assert!(matches!(learn(&no_columns, None, &LearnSpn::default(), &()), Err(LearnError::NoVariables)));
    let (train, valid) = (blocks(4, 20, 1), blocks(5, 20, 1));
    let wrong = learn(&train, Some(&valid), &LearnSpn::default(), &());
    assert!(matches!(wrong, Err(LearnError::WrongValidation { valid: 5, train: 4 })));
    for config in [
        LearnSpn { max_clusters: 0, ..LearnSpn::default() },
        LearnSpn { pseudocount: 0.0, ..LearnSpn::default() },
        LearnSpn { independence: f64::NAN, ..LearnSpn::default() },
        LearnSpn { cluster_penalty: -1.0, ..LearnSpn::default() },
    ] {
        assert!(matches!(learn(&train, None, &config, &()), Err(LearnError::Setting { .. })));
    }
    assert!(matches!(tune(&train, &train, &[], &()), Err(LearnError::Setting { .. })));
}

#[test]
fn validation_records_decide_what_is_cut_back_and_what_is_chosen() {
    let (train, valid) = (blocks(10, 300, 1), blocks(10, 300, 2));
    let greedy = settings()[1].clone();
    let grown = learn(&train, None, &greedy, &()).unwrap();
    let pruned = learn(&train, Some(&valid), &greedy, &()).unwrap();
    assert!(pruned.spn.stats().nodes < grown.spn.stats().nodes);
    assert!(pruned.valid.unwrap() > grown.spn.mean_log_likelihood(&valid).unwrap() + 0.01);
    let best = tune(&train, &valid, &settings(), &()).unwrap();
    for config in settings() {
        assert!(best.valid >= learn(&train, Some(&valid), &config, &()).unwrap().valid);
    }
}

#[test]
fn threads_do_not_matter_and_seeds_do() {
    let (train, valid) = (blocks(20, 800, 5), blocks(20, 200, 6));
    let config = |seed| LearnSpn { seed, min_records: 10.0, independence: 3.0, max_clusters: 3, ..LearnSpn::default() };
    let run = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let learned = learn(&train, Some(&valid), &config(seed), &()).unwrap();
            let samples = learned.spn.sample(700, &Evidence::none(20), 3).unwrap();
            (learned, samples)
        })
    };
    assert_eq!(run(1, 0), run(3, 0));
    assert_ne!(run(1, 0).0.spn, run(1, 1).0.spn);
}

#[test]
fn progress_ends_where_it_said() {
    struct Listener(Mutex<(u64, u64)>);
    impl Progress for Listener {
        fn begin(&self, _: &str, steps: u64) {
            self.0.lock().unwrap().0 += steps;
        }

        fn advance(&self, steps: u64) {
            self.0.lock().unwrap().1 += steps;
        }
    }
    let listener = Listener(Mutex::new((0, 0)));
    let train = blocks(9, 400, 1);
    learn(&train, None, &LearnSpn { min_records: 5.0, ..LearnSpn::default() }, &listener).unwrap();
    let (said, done) = *listener.0.lock().unwrap();
    assert!(said > 0 && said == done, "{said} {done}");
}

#[test]
fn published_values_are_reached() {
    for (name, published) in [("nltcs", -6.11), ("plants", -12.98)] {
        let Some(folder) = slopp_oracle::shared(&format!("data/{name}")) else { return };
        let read = |part: &str| {
            let path = folder.join(format!("{name}.{part}.data.gz"));
            read_records(&path, &RecordsOptions::default()).unwrap()
        };
        let config = LearnSpn { independence: 5.0, min_records: 20.0, ..LearnSpn::default() };
        let learned = learn(&read("train"), Some(&read("valid")), &config, &()).unwrap();
        let test = learned.spn.mean_log_likelihood(&read("test")).unwrap();
        assert!(test > published, "{name}: {test}");
    }
}

#[test]
fn steps_bound_how_often_records_are_cut() {
    let mut dice = Dice::new(4);
    let kinds: Vec<Vec<f64>> = (0..4).map(|_| (0..10).map(|_| dice.unit()).collect()).collect();
    let row = |dice: &mut Dice| {
        let kind = kinds[dice.below(4)].clone();
        kind.into_iter().map(|p| dice.chance(p)).collect::<Vec<bool>>()
    };
    let rows: Vec<Vec<bool>> = (0..2000).map(|_| row(&mut dice)).collect();
    let train = Records::from_rows(Names::numbered(10), rows);
    let inner = |steps: usize| {
        let config = LearnSpn { steps, independence: 4.0, ..LearnSpn::default() };
        let spn = learn(&train, None, &config, &()).unwrap().spn;
        let total: f64 = (0..1024usize)
            .map(|w| spn.log_probability(&(0..10).map(|i| w >> i & 1 == 1).collect::<Vec<_>>()).unwrap().exp())
            .sum();
        close(total, 1.0);
        let stats = spn.stats();
        (stats.sums, stats.sums + stats.products)
    };
    let (_, all) = inner(usize::MAX);
    assert!(all > 6, "there is something to cut: {all}");
    assert_eq!(inner(0).0, 0, "a leaf has no sum");
    let mut last = 0;
    for steps in [1, 2, 4] {
        let (sums, _) = inner(steps);
        assert!(sums <= steps && sums >= last, "{sums} sums after {steps} steps");
        last = sums;
    }
    assert!(last > 0);
}

/// Columns with several values: a distribution over records with one value each, and nothing else.
#[test]
fn columns_have_one_value() {
    use slopp::Kind;
    use slopp::names::Column;
    let values = |n: usize| Kind::Values((0..n).map(|i| format!("v{i}")).collect());
    let columns = [("a", values(3)), ("x", Kind::Boolean), ("only", values(1)), ("b", values(4)), ("y", Kind::Boolean)];
    let names = Arc::new(Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap());
    let draw = |count: usize, seed: u64| {
        let mut random = slopp::Random::new(seed);
        let mut builder = RecordsBuilder::new(names.clone());
        for _ in 0..count {
            let mut world = vec![Some(false); names.len()];
            let mut before = random.below(4);
            for column in names.columns() {
                before = if random.unit() < 0.3 { random.below(4) } else { before };
                match column {
                    Column::Boolean(var) => world[var.index()] = Some(before == 0),
                    Column::Group(group) => {
                        world[group.vars().nth(before % group.vars().len()).unwrap().index()] = Some(true);
                    }
                }
            }
            builder.push(world, 1.0);
        }
        builder.finish()
    };
    let (train, valid, test) = (draw(1500, 1), draw(500, 2), draw(2000, 3));
    let mean = |spn: &slopp::spn::Spn| spn.mean_log_likelihood(&test).unwrap();
    let mut scores = Vec::new();
    for leaves in [Leaves::ChowLiu, Leaves::Independent] {
        for (independence, min_records) in [(12.0, 50.0), (0.0, 2000.0), (1e6, 50.0)] {
            for valid in [None, Some(&valid)] {
                let config = LearnSpn { leaves, independence, min_records, ..LearnSpn::default() };
                let spn = learn(&train, valid, &config, &()).unwrap().spn;
                let mut total = 0.0;
                for bits in 0..1usize << names.len() {
                    let world: Vec<bool> = (0..names.len()).map(|i| bits >> i & 1 == 1).collect();
                    let p = spn.log_probability(&world).unwrap().exp();
                    let one = names.groups().iter().all(|group| group.value_in(&world).is_some());
                    assert_eq!(p > 0.0, one, "{world:?} {config:?}");
                    total += p;
                }
                assert!((total - 1.0).abs() < 1e-9, "{total} {config:?}");
                scores.push(mean(&spn));
            }
        }
    }
    // One tree over all columns knows the chain; columns apart do not.
    let (tree, apart) = (scores[2], scores[8]);
    assert!(tree > apart + 0.3, "{scores:?}");
}
