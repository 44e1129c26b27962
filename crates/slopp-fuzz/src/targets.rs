//! The readers, each with samples of what it reads.

use flate2::Compression;
use flate2::write::GzEncoder;
use slopp::infer::Evidence;
use slopp::io::{self, RecordsOptions, load_records, read_psdd, read_vtree};
use slopp::logic::{Formula, Limits, Rules};
use slopp::{Circuit, Mixture, Model, ModelKind, Names, Vtree};
use std::io::Write;

/// A reader under test.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) samples: Vec<Vec<u8>>,
    /// Reads the bytes; whether they were accepted.
    pub(crate) read: fn(&[u8]) -> bool,
}

const RECORDS: &[&str] = &[
    "a,b,c\n0,1,1\n1,0,0\n",
    "0,1,1\n1,0,0\n0,1,1\n",
    "\"x, y\";b\ntrue;no\nFALSE;yes\n;?\n",
    "2|0,1\n0.5|1,1\n1,0\n",
    "one\n1\n0\n",
    "a\tb\r\n1\t0\r\n0\tNA\r\n",
    "color,n,a\nred,3,1\n\"dark, red\",4.0,?\n?,3,0\n",
];

const VTREES: &[&str] = &[
    "c comment\nvtree 7\nL 0 1\nL 2 2\nI 1 0 2\nL 4 3\nL 6 4\nI 5 4 6\nI 3 1 5\n",
    "vtree 5\nL 0 1\nL 1 2\nL 2 3\nI 3 1 2\nI 4 0 3\n",
    "vtree 1\nL 0 1\n",
];

const PSDDS: &[&str] = &[
    "c one value\npsdd 6\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -0.2876820724517809\nL 3 2 -2\nD 4 1 2 0 2 -0.6931471805599453 1 3 -0.6931471805599453",
    "psdd 5\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -1.386294 -0.287682\nD 3 1 2 0 2 -0.693147 1 2 -0.693147\n",
    "psdd 9\nL 0 0 -1\nT 1 6 4 -0.69\nT 2 4 3 -0.69\nT 3 2 2 -0.69\nL 4 0 1\nD 5 1 1 0 3 0.0\nD 6 5 1 2 1 0.0\nD 7 1 1 4 3 0.0\nD 8 3 2 7 6 -0.69 5 6 -0.69",
];

const TEXTS: &[&str] = &["((1,2),(3,4))", "(1,(2,(3,(4,5))))", "1"];

const EVIDENCE: &[&str] = &["smoker, !cancer", "age=1 & not smoker", "\"x ray\", ~cancer", ""];

const SDDS: &[&str] = &[
    "c comment\nsdd 11\nL 1 0 1\nL 3 2 -2\nL 4 4 3\nL 5 2 2\nT 6\nD 2 3 2 3 4 5 6\nL 7 0 -1\nL 9 4 -3\nF 10\nD 8 3 2 3 9 5 10\nD 0 1 2 1 2 7 8\n",
    "sdd 1\nT 0\n",
    "sdd 1\nF 0\n",
];

const SPNS: &[&str] = &[
    "c slopp 1\nc names [\"a\",\"b\"]\nspn 6 2\nL 0 -2\nB 1 1 0.75\nB 2 2 0.5\nP 3 2 1 0\nC 4 2 1 0 0.5 0.5 2 1 0.1 0.9\nS 5 2 3 0.25 4 0.75\n",
    "spn 3 2\nB 7 1 0.5\nB 8 2 1e-9\nP 9 2 7 8\n",
];

const RULES: &[&str] = &[
    "smoker & !(cancer | \"x ray\") -> age=1\n",
    "# rules\nexactly(1, smoker, cancer, age)\nat_most(2, !smoker, cancer ^ age, true) # end\n\nx ray <-> \\\n  not age",
    "smoker, !cancer, age=0",
    "at_least(0)\n(((smoker)))\n~smoker || cancer => age",
];

const DIMACS: &[&str] = &[
    "c comment\np cnf 4 3\n1 -2 0\n3 0\n-4 2\n1 0\n",
    "cc other\np dnf 3 2\n1 -2 0\n3 0\n",
    "c names [\"a\",\"b c\"]\np cnf 2 1\n1 2 0\n%\n0\n",
    "p cnf 2 1\n0\n",
];

/// Every reader.
pub(crate) fn all() -> [Target; 12] {
    let target = |name, samples: &[&str], read| Target {
        name,
        samples: samples.iter().map(|s| s.as_bytes().to_vec()).collect(),
        read,
    };
    [
        target("records", RECORDS, |bytes| load_records(bytes, &RecordsOptions::default()).is_ok()),
        target("vtree", VTREES, |bytes| read_vtree(bytes).is_ok()),
        target("vtree text", TEXTS, |bytes| text(bytes).is_some_and(|text| text.parse::<Vtree>().is_ok())),
        target("psdd", PSDDS, psdd),
        target("sdd", SDDS, sdd),
        target("rules", RULES, |bytes| text(bytes).is_some_and(rules)),
        target("dimacs", DIMACS, dimacs),
        target("evidence", EVIDENCE, |bytes| text(bytes).is_some_and(evidence)),
        Target { name: "gzip", samples: RECORDS.iter().map(|text| zipped(text)).collect(), read: gzip },
        target("spn", SPNS, model),
        Target { name: "model", samples: vec![saved_model()], read: model },
        Target { name: "mixture", samples: vec![saved_mixture()], read: model },
    ]
}

fn zipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

fn gzip(bytes: &[u8]) -> bool {
    load_records(bytes, &RecordsOptions::default()).is_ok()
}

/// The paper's example as slopp saves it.
fn saved_model() -> Vec<u8> {
    let names = slopp::example::records().names().clone();
    let mut model = Model::new(names, slopp::example::psdd());
    model.origin.insert("learner".into(), "slopp-kmeans".into());
    let mut bytes = Vec::new();
    io::write_model(&mut bytes, &model).expect("memory can be written");
    bytes
}

/// A mixture of one structure with two sets of numbers, and of another one.
fn saved_mixture() -> Vec<u8> {
    let records = slopp::example::records();
    let psdd = slopp::example::psdd();
    let smoothing = slopp::circuit::Smoothing::uniform(1.0);
    let fitted = psdd.fit(&records, &smoothing).expect("the records are those it was learned from").circuit;
    let vtree = psdd.vtree().clone();
    let task = slopp::learn::Task { vtree: Some(&vtree), ..slopp::learn::Task::new(&records) };
    let other = task.learn(&slopp::learn::Factorised { pseudocount: Some(1.0) }, &()).expect("there are records");
    let other = other.model.into_psdd().expect("independent variables are a PSDD");
    let components = [(0.5, psdd.into()), (0.25, fitted.into()), (0.25, other.into())];
    let mixture = Mixture::new(components).expect("weights add up to one");
    let mut bytes = Vec::new();
    let model = Model::new(records.names().clone(), mixture);
    io::write_model(&mut bytes, &model).expect("memory can be written");
    bytes
}

/// What is read has a model count, and a circuit unless it is false; also without the vtree, if that can be inferred.
fn sdd(bytes: &[u8]) -> bool {
    let vtree = io::LoadedVtree::in_order("(1,(2,3))".parse().expect("a vtree"));
    let read = [Some(&vtree), None].map(|vtree| io::read_sdd(bytes, vtree));
    for (sdd, _) in read.iter().flatten() {
        let _ = sdd.model_count();
        if let Ok(circuit) = sdd.to_circuit() {
            ask(&circuit);
        }
    }
    read.iter().any(Result::is_ok)
}

/// A saved model of any kind can be asked and saved again.
fn model(bytes: &[u8]) -> bool {
    let Ok(io::LoadedModel { model, .. }) = io::read_model(bytes, None, &Default::default()) else { return false };
    model.structured().into_iter().flat_map(|model| model.circuits()).for_each(|circuit| ask(circuit));
    let total_within = |most: f64| {
        let nothing = Evidence::none(model.names.len());
        let log_total = model.distribution().log_evidence(&nothing).expect("nothing is known");
        assert!(log_total.abs() < most, "the total is {log_total}");
    };
    match model.kind {
        // A circuit whose parameters add up to anything is read too.
        ModelKind::Circuit(_) => {}
        ModelKind::Mixture(_) => total_within(0.01),
        ModelKind::Spn(_) => total_within(1e-6),
    }
    io::write_model(&mut Vec::new(), &model).expect("memory can be written");
    true
}

/// The first questions to what was read: answers must be numbers.
fn ask(circuit: &Circuit) {
    let world = vec![false; circuit.var_count()];
    let log_probability = circuit.log_probability(&world).expect("the world has the right length");
    let log_total = circuit.log_evidence(&Evidence::none(world.len())).expect("nothing is known");
    assert!(!log_probability.is_nan() && log_total.is_finite() && log_probability <= log_total + 1e-9);
    let _ = circuit.overlaps(1, &Limits::default());
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn evidence(text: &str) -> bool {
    let names = ["smoker", "cancer", "age", "x ray"].map(String::from).to_vec();
    Evidence::parse(text, &Names::new(names).expect("four different names")).is_ok()
}

/// A formula is what it was after printing, in a file too, and has a diagram that agrees with it.
fn rules(text: &str) -> bool {
    let names = ["smoker", "cancer", "age", "x ray"].map(String::from).to_vec();
    let names = Names::new(names).expect("four different names");
    let one = Formula::parse(text, &names).is_ok();
    let Ok(rules) = Rules::parse_with(text, names.clone()) else { return one };
    for rule in rules.iter() {
        let printed = rule.formula.display(&names).to_string();
        assert_eq!(Formula::parse(&printed, &names).as_ref(), Ok(&rule.formula));
        assert_eq!(Rules::parse_with(&printed, names.clone()).expect("one rule")[0].formula, rule.formula);
    }
    agree(&rules);
    true
}

fn dimacs(bytes: &[u8]) -> bool {
    let Ok(rules) = io::read_rules(bytes, None, &slopp::logic::Limits::default()) else { return false };
    if (1..8).contains(&rules.var_count()) {
        agree(&rules);
    }
    true
}

/// The diagram of rules holds where they do.
fn agree(rules: &Rules) {
    let vars = rules.var_count();
    let sdd = rules.compile(rules.min_fill_vtree(), &Limits::default()).expect("small");
    for bits in 0..1u32 << vars {
        let world: Vec<bool> = (0..vars).map(|i| bits >> i & 1 == 1).collect();
        assert_eq!(sdd.is_satisfied_by(&world), rules.broken_by(&world).is_empty());
    }
}

/// With the vtree inferred, and with one that may or may not fit.
fn psdd(bytes: &[u8]) -> bool {
    let vtree = io::LoadedVtree::in_order(Vtree::balanced(2));
    let read = [None, Some(&vtree)].map(|vtree| read_psdd(bytes, vtree));
    read.iter().flatten().for_each(|loaded| ask(&loaded.circuit));
    read.iter().any(Result::is_ok)
}
