//! Columns with several values: read, kept, learned with exactly one value each, asked, against enumeration.

mod against;

use against::{close, convert};
use slopp::infer::{Evidence, QueryError};
use slopp::io::{self, RecordsOptions, load_records, parse_bins};
use slopp::learn::VtreeMethod;
use slopp::learn::{
    ChowLiu, Effort, Factorised, LearnError, LearnPsdd, Learner, Prior, Slopp, SloppBag, SloppKmeans, SloppLearnPsdd,
    SloppTree, Structure, Strudel, Support, Task, Variant, World,
};
use slopp::logic::{Limits, Rules};
use slopp::model::ModelKind;
use slopp::names::Column;
use slopp::{Advice, Kind, Lit, Model, Names, Random, Records, RecordsBuilder, Var};
use slopp_oracle::{Dice, Tree, with_support};
use std::sync::Arc;

fn read(text: &str, options: &RecordsOptions) -> Result<Records, String> {
    load_records(text.as_bytes(), options).map(|loaded| loaded.records).map_err(|e| e.to_string())
}

fn names_of(text: &str) -> Result<Vec<String>, String> {
    read(text, &RecordsOptions::default()).map(|records| records.names().iter().map(String::from).collect())
}

/// Records of so many columns of each kind, with values that depend on those before.
fn records(groups: usize, values: usize, booleans: usize, count: usize, seed: u64) -> Records {
    let kind = || Kind::Values((0..values).map(|i| format!("v{i}")).collect());
    let columns = (0..groups).map(|i| (format!("g{i}"), kind()));
    let columns = columns.chain((0..booleans).map(|i| (format!("b{i}"), Kind::Boolean)));
    let names = Arc::new(Names::of_columns(columns).unwrap());
    let mut random = Random::new(seed);
    let mut builder = RecordsBuilder::new(names.clone());
    for _ in 0..count {
        let mut world = vec![Some(false); names.len()];
        let mut before = random.below(values);
        for column in names.columns() {
            if random.unit() < 0.35 {
                before = random.below(values);
            }
            match column {
                Column::Boolean(var) => world[var.index()] = Some(before == 0),
                Column::Group(group) => world[group.vars().nth(before).unwrap().index()] = Some(true),
            }
        }
        builder.push(world, 1.0);
    }
    builder.finish()
}

fn worlds(len: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1usize << len).map(move |bits| (0..len).map(|i| bits >> i & 1 == 1).collect())
}

fn has_one_value_each(names: &Names, world: &[bool]) -> bool {
    names.groups().iter().all(|group| group.vars().filter(|var| world[var.index()]).count() == 1)
}

fn learners() -> Vec<Box<dyn Learner>> {
    let pseudocount = Some(1.0);
    vec![
        Box::new(Slopp::default()),
        Box::new(Slopp { effort: Effort::Balanced, ..Slopp::default() }),
        Box::new(SloppBag { members: 3, ..SloppBag::default() }),
        Box::new(SloppTree::default()),
        Box::new(SloppKmeans { pseudocount, ..SloppKmeans::new(Variant::Notebook, 3, 20) }),
        Box::new(Factorised { pseudocount }),
        Box::new(ChowLiu { pseudocount }),
        Box::new(LearnPsdd::default()),
        Box::new(SloppLearnPsdd::default()),
        Box::new(Strudel::default()),
    ]
}

/// A model given rules, which weighs so many records where it is fitted again.
fn inside(
    model: ModelKind,
    rules: Rules,
    records: &Records,
    weight: f64,
    limits: &Limits,
) -> Result<ModelKind, LearnError> {
    let support = Support { rules: Some(rules), limits: limits.clone(), ..Support::default() };
    support.apply(Structure::new(model, Prior::new(Some(weight), weight)), records, &())
}

#[test]
fn columns_are_what_their_cells_are() {
    assert_eq!(names_of("a,c\n1,red\n0,green\n1,red\n").unwrap(), ["a", "c=green", "c=red"]);
    assert_eq!(names_of("a,n\nyes,10\nno,9\n?,0\n").unwrap(), ["a", "n=0", "n=9", "n=10"]);
    assert_eq!(names_of("wind,a\nn,1\ne,0\n,1\n").unwrap(), ["wind=e", "wind=n", "a"]);
    assert_eq!(names_of("a,b\n1,0\n-1,1\n").unwrap(), ["a", "b"], "Boolean files stay as they are");
    assert_eq!(names_of("n,a\n2.0,1\n2,1\n3,0\n").unwrap(), ["n=2", "n=3", "a"]);
    for (text, says) in [
        ("a,b\n0,1\n0,maybe\n", "line 3: column 2 (b): expected 0, 1, true"),
        ("a,b\n0,yes\n0,no\n1,perhaps\n", "line 4: column 2 (b)"),
        ("a=x,a\n1,x\n", "the name \"a=x\" is used by columns 1 and 2"),
    ] {
        let error = names_of(text).unwrap_err();
        assert!(error.contains(says), "{text:?}: {error}");
    }
    let many: String = (0..30).map(|i| format!("{},w{i}\n", i % 2)).collect();
    let error = names_of(&format!("a,c\n{many}")).unwrap_err();
    assert!(error.contains("column 2 (c) has more than 20 different values, such as \"w0\", \"w1\""), "{error}");
    let advice = |text: &str| io::read_records(text.as_bytes(), &RecordsOptions::default()).unwrap_err().advice();
    let numbers = format!("a,c\n{}", many.replace('w', "7"));
    assert_eq!(advice(&numbers), [Advice::Bins { column: "c".into() }, Advice::MoreValues]);
    assert_eq!(advice("a,b\n0,yes\n0,no\n1,perhaps\n"), [Advice::Categories { column: Some("b".into()) }]);
    let options = RecordsOptions { max_values: 30, ..RecordsOptions::default() };
    assert_eq!(read(&format!("a,c\n{many}"), &options).unwrap().var_count(), 31);
    let options = RecordsOptions { max_values: 0, ..RecordsOptions::default() };
    assert!(read("a,c\n1,red\n", &options).unwrap_err().contains("column 2 (c): expected 0, 1"));
    let options = RecordsOptions { categories: vec!["b".into()], ..RecordsOptions::default() };
    let told = read("a,b\n0,yes\n0,no\n1,perhaps\n", &options).unwrap();
    assert_eq!(told.names().iter().collect::<Vec<_>>(), ["a", "b=no", "b=perhaps", "b=yes"]);
    let error = read("a\n0\n", &options).unwrap_err();
    assert!(error.contains("there is no variable \"b\"") && error.contains("columns of the header"), "{error}");
}

#[test]
fn numbers_are_cut_into_bins() {
    let options = |bins: &str| RecordsOptions { bins: vec![parse_bins(bins).unwrap()], ..RecordsOptions::default() };
    let text = "age,a\n12,1\n30,0\n-5.5,1\n1e2,0\n,1\n";
    let named = read(text, &options("age=young:30:old")).unwrap();
    assert_eq!(named.names().iter().collect::<Vec<_>>(), ["age=young", "age=old", "a"]);
    let row = |i: usize| named.row(named.original()[i] as usize).collect::<Vec<_>>();
    assert_eq!(row(1), [Some(false), Some(true), Some(false)], "a number between two bins is in the upper one");
    assert_eq!(row(2), [Some(true), Some(false), Some(true)]);
    assert_eq!(row(4), [None, None, Some(true)], "a missing cell is missing for the whole column");
    let equal = read(text, &options("age=2")).unwrap();
    assert_eq!(equal.names().iter().collect::<Vec<_>>(), ["age=..30", "age=30..", "a"]);
    let error = read("age,a\n12,1\nold,0\n", &options("age=2")).unwrap_err();
    assert!(error.contains("line 3: column 1 (age): expected a number"), "{error}");
    for (text, says) in [
        ("age", "no \"=\""),
        ("age=1", "one bin is not enough"),
        ("age=young:old", "do not take turns"),
        ("age=a:3:b:2:c", "must increase"),
        ("age=a:3:a", "a name of its own"),
        ("=3", "is empty"),
    ] {
        let error = parse_bins(text).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("age=young:30:old"), "{error}");
    }
}

#[test]
fn new_records_are_read_by_the_columns_of_a_model() {
    let train = read("c,a,n\nred,1,3\nblue,0,4\n", &RecordsOptions::default()).unwrap();
    let names = train.names();
    let of = |text: &str| {
        let read = load_records(text.as_bytes(), &RecordsOptions::over(names));
        read.map(|loaded| loaded.records.row(0).collect::<Vec<_>>()).map_err(|e| e.to_string())
    };
    let red = vec![Some(false), Some(true), Some(true), Some(false), Some(true)];
    let options = |header| RecordsOptions { header, ..RecordsOptions::over(names) };
    for (text, header) in [
        ("c,a,n\nred,yes,4\n", io::Header::Detect),
        ("n,c,a\n4.0, red ,1\n", io::Header::Detect),
        ("red,1,4\n", io::Header::Absent),
        ("c=blue,c=red,a,n=3,n=4\n0,1,1,0,1\n", io::Header::Detect),
        ("0,1,1,0,1\n", io::Header::Detect),
    ] {
        let found = load_records(text.as_bytes(), &options(header)).unwrap().records;
        assert_eq!(found.row(0).collect::<Vec<_>>(), red, "{text:?}");
    }
    assert_eq!(of("c,a,n\n?,1,nan\n").unwrap(), [None, None, Some(true), None, None]);
    for (text, says) in [
        (
            "c,a,n\nred,1,3\ngreen,1,3\n",
            "line 3: column 1 (c): found \"green\", and the values of this column are \"blue\", \"red\"",
        ),
        ("c,a\nred,1\n", "missing \"n\""),
        ("c,a,m\nred,1,3\n", "unknown \"m\""),
        ("0,1\n", "expected 3 columns"),
    ] {
        let error = of(text).unwrap_err();
        assert!(error.contains(says), "{text:?}: {error}");
    }
}

#[test]
fn written_records_read_back() {
    let text = "c,a,n\n\"x, y\",1,3\nblue,?,4\n?,0,3\n";
    let records = read(text, &RecordsOptions::default()).unwrap();
    let mut written = Vec::new();
    io::write_records(&mut written, &records, true).unwrap();
    assert_eq!(String::from_utf8(written.clone()).unwrap(), text);
    let again = load_records(&written[..], &RecordsOptions::over(records.names())).unwrap();
    assert_eq!(again.records, records);
    // Without one value each, variables are written.
    let mut odd = RecordsBuilder::new(records.names().clone());
    odd.push([Some(true); 5], 1.0);
    let mut written = Vec::new();
    io::write_records(&mut written, &odd.finish(), true).unwrap();
    assert!(String::from_utf8(written).unwrap().starts_with("c=blue,\"c=x, y\",a,n=3,n=4\n1,1,1,1,1\n"));
}

/// Every learner in every world: the base allows only worlds with one value each, and the result is a distribution.
#[test]
fn every_learner_keeps_one_value_for_each_column() {
    let train = records(2, 3, 3, 120, 4);
    let names = train.names();
    for support in [Support::open(), Support::closed()] {
        let (task, world) = (Task { support, ..Task::new(&train) }, &support.world);
        for learner in learners() {
            let psdd = learner.find(&task, &()).unwrap().model.psdd().is_some();
            let inside = task.learn(&*learner, &()).unwrap().model;
            assert_eq!(inside.psdd().is_some(), psdd, "{}", learner.name());
            let mut total = 0.0;
            for world in worlds(names.len()) {
                let log = inside.distribution().log_evidence(&Evidence::of_world(&world)).unwrap();
                assert!(log == f64::NEG_INFINITY || has_one_value_each(names, &world), "{} {world:?}", learner.name());
                total += log.exp();
            }
            assert!((total - 1.0).abs() < 1e-9, "{} {world:?}: {total}", learner.name());
            if *world == World::Open && psdd {
                let possible = worlds(names.len()).filter(|world| has_one_value_each(names, world)).count();
                assert_eq!(inside.psdd().unwrap().model_count(), possible.into(), "{}", learner.name());
            }
            let logs = inside.distribution().log_likelihoods(&train).unwrap();
            assert!(logs.iter().all(|log| log.is_finite()), "{} {world:?}", learner.name());
        }
    }
}

/// Conditioning is exact: before fitting again, probabilities are those of the learned circuit, divided.
#[test]
fn mixtures_are_conditioned_exactly() {
    let train = records(2, 3, 1, 80, 9);
    let names = train.names();
    let (task, bag) = (Task::new(&train), SloppBag { members: 3, ..SloppBag::default() });
    let ModelKind::Mixture(mixture) = bag.find(&task, &()).unwrap().model else { panic!("a mixture") };
    let inside = task.learn(&bag, &()).unwrap().model;
    let one = |world: &Vec<bool>| has_one_value_each(names, world);
    let mass: f64 = worlds(names.len()).filter(one).map(|w| mixture.log_probability(&w).unwrap().exp()).sum();
    for world in worlds(names.len()) {
        let expected = if one(&world) { mixture.log_probability(&world).unwrap().exp() / mass } else { 0.0 };
        let found = inside.distribution().log_evidence(&Evidence::of_world(&world)).unwrap().exp();
        assert!((expected - found).abs() < 1e-9, "{world:?}: {expected} {found}");
    }
}

#[test]
fn columns_are_kept_in_model_files() {
    let text = "age,c,a\n12,red,1\n40,blue,0\n77,\"dark, red\",0\n";
    let options = RecordsOptions { bins: vec![parse_bins("age=young:30:old").unwrap()], ..RecordsOptions::default() };
    let train = read(text, &options).unwrap();
    for learner in &learners()[..4] {
        let outcome = Task::new(&train).learn(&**learner, &()).unwrap();
        let model = Model::new(train.names().clone(), outcome.model.kind);
        let mut file = Vec::new();
        io::write_model(&mut file, &model).unwrap();
        assert_eq!(&io::read_model(&file, None, &Default::default()).unwrap().model.names, train.names());
        let text = String::from_utf8(file).unwrap();
        let line = "c column {\"name\":\"age\",\"first\":1,\"values\":2,\"cuts\":[30.0]}";
        assert!(text.contains(line), "{text}");
        for (broken, says) in [
            (line.replace("\"values\":2", "\"values\":3"), "does not fit the names"),
            (line.replace("\"first\":1", "\"first\":0"), "a column as a JSON object"),
            (line.replace("[30.0]", "[30.0,40.0]"), "does not fit the names"),
            (line.replace("\"age\"", "\"ag\""), "does not fit the names"),
            ("c column {".to_owned(), "a column as a JSON object"),
        ] {
            let error = io::read_model(text.replace(line, &broken).as_bytes(), None, &Default::default())
                .unwrap_err()
                .to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}

/// By column, a distance is the number of columns that change: against all worlds with one value each.
#[test]
fn distances_count_columns() {
    let train = records(3, 3, 2, 25, 12);
    let names = train.names();
    let inside = Task::closed(&train).learn(&Slopp::default(), &()).unwrap().model;
    let psdd = inside.psdd().unwrap();
    let possible: Vec<Vec<bool>> = psdd.worlds(&Evidence::none(names.len())).unwrap().collect();
    let mut impossible = 0;
    for world in worlds(names.len()).filter(|world| has_one_value_each(names, world)) {
        let differ =
            |other: &Vec<bool>| names.cells(&world).iter().zip(names.cells(other)).filter(|(a, b)| *a != b).count();
        let expected = possible.iter().map(differ).min().unwrap();
        let evidence = Evidence::of_world(&world);
        let near = psdd.nearest_worlds(&evidence.by_column(names), 1, &Limits::default()).unwrap();
        assert_eq!(near[0].distance as usize, expected, "{world:?}");
        assert_eq!(differ(&near[0].world), expected);
        assert_eq!(names.by_column(&near[0].changes(&evidence)).len(), expected);
        impossible += usize::from(expected > 0);
    }
    assert!(impossible > 0, "some worlds are far");
}

/// The values of a column side by side keep the rule that one holds small.
#[test]
#[allow(clippy::print_stdout, reason = "the figures of the guide")]
fn columns_stay_small_among_many() {
    let train = records(10, 8, 0, 5000, 1);
    let names = train.names();
    let rules = Rules::of_columns(names.clone());
    let plain = Names::new(names.iter().map(String::from).collect()).unwrap();
    let scattered = Records::from_rows(
        plain,
        train.original().iter().map(|&row| train.row(row as usize).map(|c| c == Some(true)).collect::<Vec<_>>()),
    );
    let size = |records: &Records| {
        let learned = Slopp::default().find(&Task::new(records), &()).unwrap().model;
        let before = learned.size().elements;
        let inside = inside(learned, rules.clone(), records, 1.0, &Limits::default()).unwrap();
        let log: f64 = inside
            .distribution()
            .log_likelihoods(records)
            .unwrap()
            .iter()
            .zip(records.weights())
            .map(|(l, w)| l * w)
            .sum();
        (before, inside.size().elements, log / records.total())
    };
    let (together, apart) = (size(&train), size(&scattered));
    println!("elements before, inside, mean log-likelihood: together {together:?}, without columns {apart:?}");
    assert!(together.1 <= 2 * together.0, "{together:?}");
    assert!(together.1 <= apart.1, "{together:?} {apart:?}");
    // On a vtree of any method a column is a node of its own, and exactly one of n values takes a few elements each.
    for method in VtreeMethod::ALL {
        let sdd = rules.compile(method.build(&train, 3).unwrap(), &Limits::default()).unwrap();
        assert!(sdd.size().1 <= 8 * names.len(), "{method}: {}", sdd.size().1);
        assert_eq!(sdd.model_count(), 8u32.pow(10).into());
    }
    assert_eq!(names.group_of(Var(9)).unwrap().name(), "g1");
}

#[test]
fn rules_that_are_too_large_stop_cleanly() {
    let train = records(3, 4, 0, 60, 2);
    let rules = Rules::of_columns(train.names().clone());
    let learned = Slopp::default().find(&Task::new(&train), &()).unwrap().model;
    let few = Limits::default().with_nodes(3);
    let error = inside(learned.clone(), rules, &train, 1.0, &few).unwrap_err();
    assert!(matches!(error, LearnError::Rules(QueryError::Compile(_))), "{error}");
    assert!(error.to_string().contains("do not fit the vtree"), "{error}");
    let nothing = Rules::parse_with("g0=v0 & !g0=v0", train.names().clone()).unwrap();
    let error = inside(learned, nothing, &train, 1.0, &Limits::default()).unwrap_err();
    assert!(matches!(error, LearnError::NothingObeys), "{error}");
}

#[test]
fn more_effort_is_never_worse_once_columns_have_one_value_each() {
    for seed in 0..4 {
        let train = records(3, 4, 2, 150, seed);
        let valid = records(3, 4, 2, 100, seed + 100);
        let given = |effort| {
            let task = Task { valid: Some(&valid), ..Task::new(&train) };
            let slopp = Slopp { effort, ..Slopp::default() };
            let inside = task.learn(&slopp, &()).unwrap().model;
            let logs = inside.distribution().log_likelihoods(&valid).unwrap();
            logs.iter().zip(valid.weights()).map(|(log, weight)| log * weight).sum::<f64>() / valid.total()
        };
        let [balanced, best] = [Effort::Balanced, Effort::Best].map(given);
        assert!(best >= balanced - 1e-9, "seed {seed}: {best} at best, {balanced} balanced");
    }
}

#[test]
fn a_value_that_was_never_seen_is_one_surprise_not_many() {
    for values in [3, 5] {
        let kind = Kind::Values((0..=values).map(|i| format!("v{i}")).collect());
        let names = Arc::new(Names::of_columns([("g".into(), kind), ("b".into(), Kind::Boolean)]).unwrap());
        let mut builder = RecordsBuilder::new(names.clone());
        for row in 0..400 {
            let value = row % values;
            let cells = (0..=values).map(|i| Some(i == value)).chain([Some(row % 3 == 0)]);
            builder.push(cells, 1.0);
        }
        let train = builder.finish();
        let slopp = Slopp { pseudocount: Some(1.0), ..Slopp::default() };
        let inside = Task::new(&train).learn(&slopp, &()).unwrap().model;
        let psdd = inside.psdd().unwrap();
        let unseen = psdd.marginals(&Evidence::none(values + 2)).unwrap()[values];
        // As a Boolean column that was never true: the marginal that half a record gives, with the weight of one record.
        let boolean = 0.5 / 401.0 / 401.0;
        assert!((0.1 * boolean..10.0 * boolean).contains(&unseen), "{values} values and one more: {unseen}");
    }
}

/// That a column has exactly one value is checked wherever a file says so, and its line is told.
#[test]
fn files_that_claim_columns_which_their_worlds_break_are_refused() {
    let head = "c slopp 1\nc vtree (1,2)\nc names [\"color=red\",\"color=blue\"]\n";
    let column = "c column {\"name\":\"color\",\"first\":1,\"values\":2}\n";
    let free = "psdd 3\nT 0 0 1 -0.5\nT 1 2 2 -0.5\nD 2 1 1 0 1 0.0\n";
    let inside =
        "psdd 5\nL 0 0 1\nL 1 0 -1\nL 2 2 -2\nL 3 2 2\nD 4 1 2 0 2 -0.6931471805599453 1 3 -0.6931471805599453\n";
    let names = &head.replace("c vtree (1,2)\n", "");
    let mixture =
        |body: &str, column: &str| format!("{names}{column}mixture 1\ncomponent 1 1\nc slopp 1\nc vtree (1,2)\n{body}");
    let trees = |p: &str| format!("{names}{column}spn 1 2\nC 0 2 1 0 0.25 0.25 2 1 {p}\n");
    let cases = [
        (format!("{head}{column}{free}"), Some(4)),
        (format!("{head}{free}"), None),
        (format!("{head}{column}{inside}"), None),
        (mixture(free, column), Some(3)),
        (mixture(free, ""), None),
        (mixture(inside, column), None),
        (format!("{head}{column}sdd 1\nL 0 0 1\n"), Some(4)),
        (format!("{names}{column}spn 3 2\nB 0 1 0.5\nB 1 2 0.5\nP 2 2 0 1\n"), Some(3)),
        (format!("{names}{column}spn 3 2\nL 0 1\nL 1 -2\nP 2 2 0 1\n"), None),
        (trees("0.5 0.5"), Some(3)),
        (trees("1 0"), None),
    ];
    for (text, line) in cases {
        let read = slopp::io::read_model(text.as_bytes(), None, &Default::default());
        let told = read.as_ref().err().map(|error| (error.line, error.to_string()));
        match line {
            None => assert!(read.is_ok(), "{told:?}\n{text}"),
            Some(_) => {
                let (found, told) = told.expect(&text);
                assert_eq!(found, line, "{told}");
                assert!(told.contains("\"color\" has none or several; delete this line"), "{told}");
            }
        }
    }
}

/// The joint distributions of columns and their mutual information, against the worlds that are counted one by one.
#[test]
fn pairs_are_of_columns() {
    let values = |n: usize| Kind::Values((0..n).map(|i| i.to_string()).collect());
    let columns = [("a", values(3)), ("b", Kind::Boolean), ("c", values(2)), ("d", Kind::Boolean)];
    let names = Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
    let columns: [Column<'_>; 4] = std::array::from_fn(|i| names.columns().nth(i).unwrap());
    let n = names.len();
    let possible: Vec<usize> = worlds(n)
        .enumerate()
        .filter_map(|(number, world)| has_one_value_each(&names, &world).then_some(number))
        .collect();
    let mut dice = Dice::new(5);
    for round in 0..20 {
        let tree = Tree::random(n, &mut dice);
        let some: Vec<usize> = possible.iter().copied().filter(|_| round % 2 == 0 || dice.chance(0.6)).collect();
        let oracle = with_support(&tree, &some, false, &mut dice);
        let (circuit, table) = (convert(&oracle, &tree).0, oracle.table());
        for given in ["", "b", "a!=1", "a=2", "a!=0, a!=1", "!d, c=1"] {
            let given = Evidence::parse(given, &names).unwrap();
            let agrees = |world: &[bool]| given.lits().all(|lit| world[lit.var.index()] == lit.value);
            let of = |lits: &[Lit]| -> f64 {
                let has = |world: &[bool]| lits.iter().all(|lit| world[lit.var.index()] == lit.value);
                (0..1usize << n)
                    .filter(|&world| agrees(&table.world(world)) && has(&table.world(world)))
                    .map(|world| table.probability(world))
                    .sum()
            };
            let total = of(&[]);
            let Ok(pairs) = circuit.pair_marginals(&given) else {
                assert_eq!(total, 0.0);
                continue;
            };
            let mut expected = Vec::new();
            for (i, j) in (0..4).flat_map(|j| (0..j).map(move |i| (i, j))) {
                let (a, b) = (columns[i], columns[j]);
                let (mut information, mut most) = (0.0, f64::NEG_INFINITY);
                let closest = pairs.closest(a, b);
                let mut of_closest = f64::NAN;
                for (x, row) in a.literals().into_iter().zip(pairs.table(a, b)) {
                    for (y, found) in b.literals().into_iter().zip(row) {
                        let [both, p, q] = [of(&[x, y]), of(&[x]), of(&[y])].map(|p| p / total);
                        close(found, both);
                        let term = if both > 0.0 { both * (both / (p * q)).ln() } else { 0.0 };
                        information += term;
                        most = most.max(term);
                        if closest == [x, y] {
                            of_closest = term;
                        }
                    }
                }
                assert!((most - of_closest).abs() < 1e-9, "{closest:?} contribute {of_closest}, not {most}");
                let is_known = |column: Column<'_>| column.literals().iter().any(|&x| of(&[x]) == total);
                let told = |column: Column<'_>| given.knows(column);
                assert!([a, b].into_iter().all(|column| is_known(column) || !told(column)));
                if !told(a) && !told(b) {
                    expected.push((i, j, information));
                }
            }
            let found = pairs.strongest(&names, &given, usize::MAX);
            assert_eq!(found.len(), expected.len());
            assert!(found.windows(2).all(|two| two[0].mutual_information >= two[1].mutual_information));
            for pair in &found {
                let of = expected.iter().find(|(i, j, _)| (*i, *j) == (pair.a, pair.b)).unwrap();
                assert!((pair.mutual_information - of.2).abs() < 1e-9, "{pair:?} and {of:?}");
            }
            assert_eq!(pairs.strongest(&names, &given, 2), found[..found.len().min(2)]);
        }
    }
    let given = Evidence::parse("a!=0, a!=1, !d", &names).unwrap();
    assert_eq!(columns.map(|column| given.knows(column)), [true, false, false, true]);
}
