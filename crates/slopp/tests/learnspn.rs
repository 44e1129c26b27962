//! Sum-product networks against enumeration, and what LearnSPN makes of awkward and of benchmark data.

mod against;

use against::{cells, close, evidence, to_records};
use slopp::infer::{Evidence, QueryError};
use slopp::io::{Problem, ReadError, RecordsOptions, read_records, write_model};
use slopp::learn::{LearnError, LearnSpn, Leaves, Task};
use slopp::spn::{Spn, SpnError};
use slopp::{Model, ModelKind, Names, Progress, Random, Records, RecordsBuilder, Var};
use slopp_oracle::{Dice, Network, Table, all_evidence, records};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

/// The network of these lines.
fn read(vars: usize, lines: &[String]) -> Result<Spn, ReadError> {
    let text = format!("spn {} {vars}\n{}\n", lines.len(), lines.join("\n"));
    let ModelKind::Spn(spn) = Model::load(text.as_bytes())?.kind else { panic!("a network") };
    Ok(spn)
}

/// Adds a network to these lines, and gives the id of its root.
fn add(network: &Network, lines: &mut Vec<String>) -> usize {
    let parts = |children: Vec<String>| format!("{} {}", children.len(), children.join(" "));
    let (kind, rest) = match network {
        Network::Coin(x, p) => ("B", format!("{} {p:?}", x + 1)),
        Network::Tree(tree) => {
            let branch = |&(x, parent, [no, yes]): &(usize, Option<usize>, [f64; 2])| {
                format!("{} {} {no:?} {yes:?}", x + 1, parent.map_or(0, |i| i + 1))
            };
            ("C", parts(tree.iter().map(branch).collect()))
        }
        Network::Product(children) => {
            ("P", parts(children.iter().map(|child| add(child, lines).to_string()).collect()))
        }
        Network::Sum(children) => {
            ("S", parts(children.iter().map(|(w, child)| format!("{} {w:?}", add(child, lines))).collect()))
        }
    };
    lines.push(format!("{kind} {} {rest}", lines.len()));
    lines.len() - 1
}

fn learn(train: &Records, valid: Option<&Records>, config: &LearnSpn) -> Result<Spn, LearnError> {
    let ModelKind::Spn(spn) = (Task { valid, ..Task::new(train) }).learn(config, &())?.model.kind else {
        panic!("a network")
    };
    Ok(spn)
}

fn mean(spn: &Spn, records: &Records) -> f64 {
    let logs = spn.log_likelihoods(records).unwrap();
    logs.iter().zip(records.weights()).map(|(log, weight)| log * weight).sum::<f64>() / records.total()
}

/// A random network of the oracle, the same of the library, and its table.
fn random_network(vars: usize, dice: &mut Dice) -> (Spn, Table) {
    let network = Network::random(&(0..vars).collect::<Vec<_>>(), 3, dice);
    let mut lines = Vec::new();
    add(&network, &mut lines);
    (read(vars, &lines).unwrap(), network.table(vars))
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
    let mut lines: Vec<String> = (0..vars).map(|i| format!("B {i} {} 0.001", i + 1)).collect();
    let mut product = format!("P {vars} {vars}");
    let mut chain = format!("C {} {vars}", vars + 1);
    for i in 0..vars {
        write!(product, " {i}").unwrap();
        write!(chain, " {} {i} 0.001 0.001", i + 1).unwrap();
    }
    lines.extend([product, chain]);
    for id in vars + 2..2 * vars {
        lines.push(format!("S {id} 2 {} 0.5 {vars} 0.5", id - 1));
    }
    let spn = read(vars, &lines).unwrap();
    let expected = vars as f64 * 1e-3f64.ln();
    let found = spn.log_probability(&vec![true; vars]).unwrap();
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    let mut half = Evidence::none(vars);
    (0..vars as u32 / 2).for_each(|i| half.set(Var(i), Some(true)));
    assert!((spn.log_evidence(&half).unwrap() / expected - 0.5).abs() < 1e-9);
    assert!((spn.marginals(&half).unwrap()[vars - 1] - 1e-3).abs() < 1e-9);
}

#[test]
fn a_line_that_breaks_an_invariant_is_refused() {
    let coins = ["B 0 1 0.5", "B 1 2 0.5"];
    let refused = |line: &str| {
        let lines: Vec<String> = coins.iter().copied().chain([line]).map(str::to_owned).collect();
        match *read(3, &lines).unwrap_err().problem {
            Problem::Spn(error) => error,
            other => panic!("{line}: {other}"),
        }
    };
    for (line, expected) in [
        ("B 2 4 0.5", SpnError::UnknownVariable { var: Var(3), len: 3 }),
        ("B 2 1 1e-80", SpnError::Probability(1e-80)),
        ("P 2 0", SpnError::Empty),
        ("P 2 3 0 1 0", SpnError::NotDecomposable(Var(0))),
        ("S 2 2 0 0.5 1 0.5", SpnError::NotSmooth { first: 0, second: 1 }),
        ("S 2 2 0 0.5 0 0.25", SpnError::Total(0.75)),
        ("S 2 2 0 1 0 0", SpnError::Probability(0.0)),
        ("C 2 0", SpnError::Empty),
        ("C 2 2 1 0 0.5 0.5 2 0 0.5 0.5", SpnError::Parent(1)),
        ("C 2 2 1 0 0.5 0.5 2 2 0.5 0.5", SpnError::Parent(1)),
        ("C 2 2 1 0 0.5 0.5 1 1 0.5 0.5", SpnError::NotDecomposable(Var(0))),
        ("P 2 2 0 1", SpnError::Incomplete(Var(2))),
    ] {
        assert_eq!(refused(line), expected, "{line}");
    }
    let rest = ["P 2 2 0 1", "B 3 3 0.3", "C 4 1 3 0 0.5 0.5", "P 5 2 2 4"];
    let spn = read(3, &coins.into_iter().chain(rest).map(str::to_owned).collect::<Vec<_>>()).unwrap();
    let stats = spn.stats();
    assert_eq!((stats.nodes, stats.edges, stats.parameters), (5, 4, 6), "a node that is not below the root is dropped");
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
                let spn = learn(&train, valid.as_ref(), &config).unwrap();
                let world = |w: usize| (0..8).map(|i| w >> i & 1 == 1).collect::<Vec<bool>>();
                let all: Vec<f64> = (0..256).map(|w| spn.log_probability(&world(w)).unwrap().exp()).collect();
                close(all.iter().sum(), 1.0);
                assert!(all.iter().all(|&p| p > 0.0));
            }
        }
    }
}

#[test]
fn the_planted_mixture_is_found() {
    let (train, valid, test) = (blocks(12, 3000, 1), blocks(12, 500, 2), blocks(12, 3000, 3));
    let spn = learn(&train, Some(&valid), &LearnSpn::default()).unwrap();
    // The truth: two kinds, and four columns of noise.
    let log_truth = |row: usize| {
        let part = |kind: usize| -> f64 {
            let p = |i: usize| if i % 3 == 2 { 0.4 } else { [0.1, 0.85][(i + kind) % 2] };
            test.row(row).enumerate().map(|(i, x)| if x.unwrap() { p(i) } else { 1.0 - p(i) }).product()
        };
        (0.5 * part(0) + 0.5 * part(1)).ln()
    };
    let truth = (0..test.len()).map(|row| log_truth(row) * test.weights()[row]).sum::<f64>() / test.total();
    let found = mean(&spn, &test);
    assert!(found <= truth && found > truth - 0.02, "{found} {truth}");
    let mut text = Vec::new();
    write_model(&mut text, &Model::new(Names::numbered(12), spn)).unwrap();
    let many = |line: &str| line.starts_with("P ") && line.split(' ').count() >= 7;
    assert!(String::from_utf8(text).unwrap().lines().any(many), "noise columns are split off");
}

#[test]
fn awkward_records_work() {
    let equal = vec![vec![true, false, true, false, true]; 30];
    let wide: Vec<Vec<bool>> = (0..3).map(|i| (0..200).map(|j| (i * j) % 7 < 3).collect()).collect();
    let constant: Vec<Vec<bool>> = (0..60).map(|i| vec![true, i % 2 == 0, i % 2 == 0, false, i % 3 == 0]).collect();
    for rows in [equal.clone(), equal[..1].to_vec(), wide, constant, vec![vec![true]; 2]] {
        let train = Records::from_rows(Names::numbered(rows[0].len()), rows);
        for config in settings() {
            let fit = mean(&learn(&train, Some(&train), &config).unwrap(), &train);
            assert!(fit.is_finite() && fit <= 0.0);
        }
    }
    let mut none = RecordsBuilder::new(Names::numbered(2));
    assert!(matches!(learn(&none.clone().finish(), None, &LearnSpn::default()), Err(LearnError::NoRecords)));
    none.push([Some(true), None], 1.0);
    let missing = none.finish();
    assert!(matches!(learn(&missing, None, &LearnSpn::default()), Err(LearnError::MissingCells { .. })));
    let no_columns = Records::from_rows(Names::numbered(0), [[false; 0]]);
    assert!(matches!(learn(&no_columns, None, &LearnSpn::default()), Err(LearnError::NoVariables)));
    let (train, valid) = (blocks(4, 20, 1), blocks(5, 20, 1));
    let wrong = learn(&train, Some(&valid), &LearnSpn::default());
    assert!(matches!(wrong, Err(LearnError::WrongValidation { valid: 5, train: 4 })));
    for config in [
        LearnSpn { max_clusters: 0, ..LearnSpn::default() },
        LearnSpn { pseudocount: 0.0, ..LearnSpn::default() },
        LearnSpn { independence: f64::NAN, ..LearnSpn::default() },
        LearnSpn { cluster_penalty: -1.0, ..LearnSpn::default() },
    ] {
        assert!(matches!(learn(&train, None, &config), Err(LearnError::Setting { .. })));
    }
}

#[test]
fn validation_records_decide_what_is_cut_back() {
    let (train, valid) = (blocks(10, 300, 1), blocks(10, 300, 2));
    let greedy = settings()[1].clone();
    let grown = learn(&train, None, &greedy).unwrap();
    let pruned = learn(&train, Some(&valid), &greedy).unwrap();
    assert!(pruned.stats().nodes < grown.stats().nodes);
    assert!(mean(&pruned, &valid) > mean(&grown, &valid) + 0.01);
}

#[test]
fn threads_do_not_matter_and_seeds_do() {
    let (train, valid) = (blocks(20, 800, 5), blocks(20, 200, 6));
    let config = LearnSpn { min_records: 10.0, independence: 3.0, max_clusters: 3, ..LearnSpn::default() };
    let run = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let task = Task { valid: Some(&valid), seed, ..Task::new(&train) };
            let ModelKind::Spn(spn) = task.learn(&config, &()).unwrap().model.kind else { panic!("a network") };
            let samples = spn.sample(700, &Evidence::none(20), 3).unwrap();
            (spn, samples)
        })
    };
    assert_eq!(run(1, 0), run(3, 0));
    assert_ne!(run(1, 0).0, run(1, 1).0);
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
    Task::new(&train).learn(&LearnSpn { min_records: 5.0, ..LearnSpn::default() }, &listener).unwrap();
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
        let test = mean(&learn(&read("train"), Some(&read("valid")), &config).unwrap(), &read("test"));
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
        let spn = learn(&train, None, &config).unwrap();
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
    let mut scores = Vec::new();
    for leaves in [Leaves::ChowLiu, Leaves::Independent] {
        for (independence, min_records) in [(12.0, 50.0), (0.0, 2000.0), (1e6, 50.0)] {
            for valid in [None, Some(&valid)] {
                let config = LearnSpn { leaves, independence, min_records, ..LearnSpn::default() };
                let spn = learn(&train, valid, &config).unwrap();
                let mut total = 0.0;
                for bits in 0..1usize << names.len() {
                    let world: Vec<bool> = (0..names.len()).map(|i| bits >> i & 1 == 1).collect();
                    let p = spn.log_probability(&world).unwrap().exp();
                    let one = names.groups().iter().all(|group| group.value_in(&world).is_some());
                    assert_eq!(p > 0.0, one, "{world:?} {config:?}");
                    total += p;
                }
                assert!((total - 1.0).abs() < 1e-9, "{total} {config:?}");
                scores.push(mean(&spn, &test));
            }
        }
    }
    // One tree over all columns knows the chain; columns apart do not.
    let (tree, apart) = (scores[2], scores[8]);
    assert!(tree > apart + 0.3, "{scores:?}");
}

/// The order in which a column has its values says nothing about it.
#[test]
fn the_order_of_values_does_not_matter() {
    use slopp::Kind;
    let sizes = [3, 7, 1, 4, 2, 5];
    let mut random = Random::new(8);
    let kinds: Vec<Vec<usize>> = (0..3).map(|_| sizes.map(|size| random.below(size)).to_vec()).collect();
    let mut row = || {
        let kind = &kinds[random.below(3)];
        let value = |(&usual, &size): (&usize, &usize)| if random.unit() < 0.6 { usual } else { random.below(size) };
        kind.iter().zip(&sizes).map(value).collect::<Vec<usize>>()
    };
    let [train, valid, test] = [2000, 300, 1000].map(|rows| (0..rows).map(|_| row()).collect::<Vec<_>>());
    let score = |places: &[Vec<usize>], valid: Option<&[Vec<usize>]>| {
        let values = |size: usize| Kind::Values((0..size).map(|i| i.to_string()).collect());
        let kinds = sizes.iter().enumerate().map(|(i, &size)| (format!("c{i}"), values(size)));
        let names = Arc::new(Names::of_columns(kinds).unwrap());
        let records = |rows: &[Vec<usize>]| {
            let bits = |row: &Vec<usize>| -> Vec<bool> {
                let cells = row.iter().zip(places);
                cells.flat_map(|(&value, places)| (0..places.len()).map(move |i| i == places[value])).collect()
            };
            Records::from_rows(names.clone(), rows.iter().map(bits))
        };
        let valid = valid.map(records);
        let spn = learn(&records(&train), valid.as_ref(), &LearnSpn::default()).unwrap();
        assert!(spn.stats().sums > 2, "clusters are found");
        mean(&spn, &records(&test))
    };
    let in_order: Vec<Vec<usize>> = sizes.iter().map(|&size| (0..size).collect()).collect();
    for valid in [None, Some(&valid[..])] {
        let expected = score(&in_order, valid);
        for _ in 0..4 {
            let mut places = in_order.clone();
            places.iter_mut().for_each(|places| random.shuffle(places));
            close(score(&places, valid), expected);
        }
    }
}

/// Known cells stay, missing ones have the right frequencies, and equal records have draws of their own.
#[test]
fn records_are_completed_by_draws() {
    let train = slopp::example::records();
    let spn = learn(&train, None, &LearnSpn::default()).unwrap();
    let mut records = RecordsBuilder::new(train.names().clone());
    (0..20_000).for_each(|_| records.push([Some(true), None, None, None], 1.0));
    let drawn = spn.sample_batch(&records.finish(), 3).unwrap();
    let given = Evidence::from_lits(4, [Var(0).is(true)]).unwrap();
    for (i, expected) in spn.marginals(&given).unwrap().into_iter().enumerate() {
        let share = drawn.iter().filter(|world| world.as_ref().unwrap()[i]).count() as f64 / 20_000.0;
        assert!((share - expected).abs() < 0.02, "{i}: {share} {expected}");
    }
}
