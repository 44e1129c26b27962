//! Queries: element·records per second, and the certificate.

use crate::layered::layered;
use crate::measure::{Bar, Line, Report};
use slopp::infer::Evidence;
use slopp::learn::{SloppKmeans, SloppTree, Task, Variant};
use slopp::logic::{Comparison, Formula, Limits, RuleSearch, Sdd};
use slopp::{
    Builder, Circuit, Deterministic, Lit, Names, NodeId, Random, Records, RecordsBuilder, Sharing, Var, Vtree,
};

/// Random records, cells missing with the given probability.
fn records(vars: usize, rows: usize, missing: f64) -> Records {
    let mut random = Random::new(1);
    let mut builder = RecordsBuilder::new(Names::numbered(vars));
    for _ in 0..rows {
        let row: Vec<_> = (0..vars).map(|_| (random.unit() >= missing).then(|| random.unit() < 0.5)).collect();
        builder.push(row, 1.0);
    }
    builder.finish()
}

/// Tree-shaped circuits from a learner, hardest for the kernels: more nodes than elements.
fn learned() -> Vec<Deterministic> {
    let (_, records) = crate::learn::records("jester");
    let learn = |parameter_penalty| {
        let tree = SloppTree { parameter_penalty, ..SloppTree::default() };
        let model = Task::new(&records).learn(&tree, &()).expect("benchmark data can be learned").model;
        Deterministic::clone(model.psdd().expect("always a PSDD"))
    };
    [1.2, 0.92, 0.5].map(learn).into()
}

/// A query over records, by name, with the rate it must reach at the largest size.
type Query<'a> = (&'a str, f64, bool, &'a (dyn Fn(&Deterministic, &Records) + Sync));

const QUERIES: [Query<'_>; 5] = [
    ("likelihood, complete", 5e9, true, &|c, r| drop(c.log_likelihoods(r))),
    ("counts, complete", 0.0, true, &|c, r| drop(c.count_records(r))),
    ("likelihood, partial", 5e8, false, &|c, r| drop(c.log_likelihoods(r))),
    ("marginals, partial", 0.0, false, &|c, r| drop(c.marginals_batch(r))),
    ("mpe, partial", 0.0, false, &|c, r| drop(c.mpe_batch(r))),
];

pub(crate) fn measure(report: &mut Report) {
    let layered: Vec<Deterministic> = [15_000, 30_000, 60_000].map(|size| layered(&Vtree::balanced(64), size)).into();
    for (kind, circuits) in [("layered", layered), ("learned", learned())] {
        let vars = circuits[0].var_count();
        let (complete, partial) = (records(vars, 8192, 0.0), records(vars, 2048, 0.3));
        for (name, bar, is_complete, query) in QUERIES {
            let what = format!("{name}, {kind}");
            let all = if is_complete { &complete } else { &partial };
            let measured = |circuit: &Deterministic,
                            records: &Records,
                            size: String,
                            report: &mut Report,
                            what: &str,
                            bar: Bar| {
                let work = (circuit.elements().len() * records.len()) as f64;
                report.time(Line { what, size, work, unit: "element·rec", bar }, || query(circuit, records));
            };
            for (i, circuit) in circuits.iter().enumerate() {
                let bar = if i == 2 && bar > 0.0 { Bar::Rate(bar) } else { Bar::None };
                measured(circuit, all, format!("{} elements", circuit.elements().len()), report, &what, bar);
            }
            for rows in [all.len() / 4, all.len() / 2, all.len()] {
                let part = all.subset(|row| row < rows);
                let what = format!("{what}, records");
                measured(&circuits[2], &part, format!("{rows} records"), report, &what, Bar::None);
            }
        }
        for circuit in &circuits {
            let nodes = circuit.nodes().len();
            let what = format!("certificate, {kind}");
            let line = Line {
                what: &what,
                size: format!("{nodes} nodes"),
                work: nodes as f64,
                unit: "nodes",
                bar: Bar::Seconds(0.2),
            };
            let circuit: &Circuit = circuit;
            report.time(line, || circuit.clone().certify_deterministic(&Limits::default()).is_ok());
        }
    }
    let (name, plants) = crate::learn::records("plants");
    for d in [2000, 200, 20] {
        let k_means = SloppKmeans::new(Variant::Notebook, 3, d);
        let learned = Task::closed(&plants).learn(&k_means, &()).expect("benchmark data can be learned").model;
        let circuit = learned.circuit().expect("always a circuit");
        let size = circuit.stats().size_paper;
        let line = Line {
            what: "certificate, slopp-kmeans",
            size: format!("{name} {size}"),
            work: size as f64,
            unit: "nodes",
            bar: Bar::Seconds(0.2),
        };
        report.time(line, || circuit.overlaps(1, &Limits::default()));
    }
}

/// Questions about formulas and noise, next to a plain marginal of the same circuit.
pub(crate) fn questions(report: &mut Report) {
    type Question<'a> = (&'a str, f64, &'a (dyn Fn(&Deterministic, &Sdd) -> bool + Sync));
    let questions: [Question<'_>; 3] = [
        ("probability of", 10.0, &|circuit, sdd| circuit.log_probability_of(sdd, &Limits::default()).is_ok()),
        ("circuit given", 0.0, &|circuit, sdd| circuit.given(sdd, &Limits::default()).is_ok()),
        ("marginals given", 10.0, &|circuit, sdd| circuit.marginals_given(sdd, &Limits::default()).is_ok()),
    ];
    let layered: Vec<Deterministic> = [15_000, 30_000, 60_000].map(|size| layered(&Vtree::balanced(64), size)).into();
    for (kind, circuits) in [("layered", layered), ("learned", learned())] {
        let vars = circuits[0].var_count();
        let what = format!("one marginal, {kind}");
        let none = Evidence::none(vars);
        let marginal = |circuit: &Deterministic, report: &mut Report| {
            report.time(line(circuit, &what, Bar::None), || circuit.marginals(&none).is_ok())
        };
        let marginals: Vec<f64> = circuits.iter().map(|circuit| marginal(circuit, report)).collect();
        let last = vars as u32 - 1;
        let lits = [0, last / 3, last / 2, last].map(|x| Var(x).is(x % 2 == 0));
        for (shape, any_is_enough) in [("clause", true), ("term", false)] {
            for (question, times, ask) in questions {
                let what = format!("{question} {shape} of 4, {kind}");
                for (circuit, &marginal) in circuits.iter().zip(&marginals) {
                    let sdd = formula(circuit, &lits, any_is_enough);
                    let bar = if times > 0.0 { Bar::Times(times, marginal) } else { Bar::None };
                    report.time(line(circuit, &what, bar), || ask(circuit, &sdd));
                }
            }
        }
        // Formulas over many variables: their product has more nodes than the circuit, so there is no bar.
        let crossing = |i: u32| Formula::or([Var(i).is(false).into(), Var(last - i).is(true).into()]);
        let all = (0..vars as u32).map(|i| Formula::from(Var(i).is(true)));
        let wide = [
            ("five crossing implications", Formula::and((0..5).map(crossing))),
            ("at_most(5, all)", Formula::count(Comparison::AtMost, 5, all)),
        ];
        for (shape, formula) in wide {
            for (question, _, ask) in questions {
                let what = format!("{question} {shape}, {kind}");
                for circuit in &circuits {
                    let sdd = formula.compile(circuit.vtree().clone(), &Limits::default()).expect("it is small");
                    report.time(line(circuit, &what, Bar::None), || ask(circuit, &sdd));
                }
            }
        }
        let partial = records(vars, 512, 0.3);
        let what = format!("noisy likelihood, {kind}");
        for circuit in &circuits {
            let work = (circuit.elements().len() * partial.len()) as f64;
            let line = Line { work, unit: "element·rec", ..line(circuit, &what, Bar::None) };
            report.time(line, || circuit.log_likelihoods_noisy(&partial, 0.01).is_ok());
        }
        let what = format!("rules of two, {kind}");
        for circuit in &circuits {
            let search = RuleSearch { length: 2, ..RuleSearch::default() };
            report.time(line(circuit, &what, Bar::None), || circuit.rules(&search).is_ok());
        }
    }
}

/// A line about one pass over a circuit.
fn line<'a>(circuit: &Circuit, what: &'a str, bar: Bar) -> Line<'a> {
    let elements = circuit.elements().len();
    Line { what, size: format!("{elements} elements"), work: elements as f64, unit: "elements", bar }
}

/// The formula that one of these literals holds, or all of them.
fn formula(circuit: &Circuit, lits: &[Lit], any_is_enough: bool) -> Sdd {
    let (vtree, half) = (circuit.vtree(), 0.5f64.ln());
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    // By vtree node: anything, none of the literals, at least one (of a clause) or all (of a term).
    let mut made: Vec<(NodeId, Option<NodeId>, Option<NodeId>)> = vec![(NodeId(0), None, None); vtree.node_count()];
    for &v in vtree.bottom_up() {
        let Some([left, right]) = vtree.children(v) else {
            let var = vtree.leaf_var(v).expect("a leaf");
            let lit = lits.iter().find(|lit| lit.var == var);
            let any = builder.top(var, [half; 2]).expect("in the vtree");
            let [no, yes] = [false, true]
                .map(|holds| lit.map(|l| builder.literal(var.is(l.value == holds)).expect("in the vtree")));
            made[v.index()] = (any, no, yes);
            continue;
        };
        let (l, r) = (made[left.index()], made[right.index()]);
        let mut sum = |elements: &[(NodeId, NodeId, f64)]| builder.sum(v, elements).expect("elements fit");
        let any = sum(&[(l.0, r.0, 0.0)]);
        let none = (l.1.is_some() || r.1.is_some()).then(|| sum(&[(l.1.unwrap_or(l.0), r.1.unwrap_or(r.0), 0.0)]));
        let holds = match (l.2, r.2, any_is_enough) {
            (None, None, _) => None,
            (Some(yes), None, _) => Some(sum(&[(yes, r.0, 0.0)])),
            (None, Some(yes), _) => Some(sum(&[(l.0, yes, 0.0)])),
            (Some(a), Some(b), false) => Some(sum(&[(a, b, 0.0)])),
            (Some(a), Some(b), true) => Some(sum(&[(a, r.0, half), (l.1.expect("has literals"), b, half)])),
        };
        made[v.index()] = (any, none, holds);
    }
    let root = made[vtree.root().index()].2.expect("there are literals");
    let psdd = builder
        .finish(root)
        .expect("parameters are in range")
        .certify(&Limits::default())
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    Sdd::base_of(&psdd, &Limits::default()).expect("small")
}
