//! Limits of memory, against what was really allocated. A test binary of its own, as it counts for the whole process.

use peak_alloc::PeakAlloc;
use slopp::circuit::{Builder, Sharing};
use slopp::learn::Revision;
use slopp::logic::{Formula, Limit, Limits, Rules};
use slopp::{Model, Names, Psdd, Random, Var, Vtree};
use std::hint::black_box;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Only one test at a time may allocate.
static ALONE: Mutex<()> = Mutex::new(());

/// How far the allocated bytes rise during some work.
fn taken<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let result = work();
    (ALLOCATED.peak_usage() - before, result)
}

/// Random clauses of three literals, whose diagram is huge.
fn clauses(variables: usize, count: usize) -> Rules {
    let mut random = Random::new(1);
    let mut clause = || {
        let mut literal = |_| {
            let sign = if random.below(2) == 0 { "" } else { "!" };
            format!("{sign}x{}", random.below(variables))
        };
        (0..3).map(&mut literal).collect::<Vec<_>>().join(" | ")
    };
    let lines: Vec<String> = (0..count).map(|_| clause()).collect();
    Rules::parse(&lines.join("\n")).unwrap()
}

/// Independent variables, all possible, on a vtree as deep as it can be.
fn independent(variables: usize, log_true: f64) -> Psdd {
    let vtree = Vtree::right_linear(variables);
    let mut builder = Builder::new(vtree.clone(), Sharing::Equal);
    let mut top = |i: usize| builder.top(Var(i as u32), [(-log_true.exp()).ln_1p(), log_true]).unwrap();
    let tops: Vec<_> = (0..variables).map(&mut top).collect();
    let mut node = tops[variables - 1];
    for &v in vtree.bottom_up().iter().filter(|&&v| vtree.children(v).is_some()) {
        let prime = tops[vtree.vars(vtree.children(v).unwrap()[0])[0].index()];
        node = builder.sum(v, &[(prime, node, 0.0)]).unwrap();
    }
    builder.finish(node).unwrap().certify(&Limits::default()).unwrap()
}

#[test]
fn a_compilation_that_stops_has_taken_no_more_than_its_limit() {
    let _alone = ALONE.lock().unwrap();
    let rules = clauses(80, 240);
    let vtree = rules.min_fill_vtree();
    for bytes in [40 << 20, 100 << 20] {
        let compile = || rules.compile(vtree.clone(), &Limits { bytes, ..Limits::default() }).unwrap_err();
        let (taken, stopped) = taken(compile);
        assert_eq!(stopped.limit, Limit::Bytes(bytes));
        assert!(taken > bytes / 4 && taken <= bytes, "{taken} of {bytes}, {stopped}");
    }
}

/// Numbers of worlds have as many bits as there are variables, so they must not be kept for all nodes.
#[test]
fn comparing_and_revising_take_no_more_memory_than_a_product() {
    let _alone = ALONE.lock().unwrap();
    const VARIABLES: usize = 80_000;
    let limits = Limits::default();
    let [one, other] = [-0.5, -1.0].map(|log_true| independent(VARIABLES, log_true));
    let (of_product, _) = taken(|| black_box(one.product(&other, &limits).unwrap()));
    let (of_comparison, _) = taken(|| {
        let divergence = one.kl_divergence(&other, &limits).unwrap();
        black_box((divergence, one.model_count(), one.entropy()))
    });
    let names = Names::numbered(VARIABLES);
    let rule = Formula::or([0, 1].map(|i| Formula::literal(Var(i).is(true))));
    let model = Model::new(names, one);
    let (of_revision, _) = taken(|| black_box(model.revise(Revision::Rule(&rule), None, &limits).unwrap()));
    assert!(of_comparison <= of_product, "{of_comparison}, and {of_product} for the product");
    assert!(of_revision <= of_product, "{of_revision}, and {of_product} for the product");
}
