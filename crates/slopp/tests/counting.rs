//! How many of some literals hold, as diagrams: compared with enumeration, at thousands of literals, and at limits.

use slopp::logic::{Comparison, Formula, Handle, Limit, Limits, Manager, Rules, VtreeSearch};
use slopp::{Names, Random, Var, Vtree};

const COMPARISONS: [Comparison; 3] = [Comparison::Exactly, Comparison::AtMost, Comparison::AtLeast];

/// The diagram of a cardinality is the one that its cases make, on any vtree, also if a literal is counted twice, or with
/// its negation.
#[test]
fn counts_are_those_of_their_cases() {
    let mut decided = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let vars = 1 + random.below(7);
        // Some are counted many times.
        let literals = 1 + random.below(if seed % 3 == 0 { 40 } else { vars + 2 });
        let mut order: Vec<usize> = (0..vars).collect();
        random.shuffle(&mut order);
        let literal = |i: usize, random: &mut Random| {
            let var = if i < vars { order[i] } else { random.below(vars) };
            Var(var as u32).is(random.below(3) > 0)
        };
        let lits: Vec<_> = (0..literals).map(|i| literal(i, &mut random)).collect();
        let (comparison, bound) = (COMPARISONS[random.below(3)], random.below(literals + 2) as u32);
        let formula = Formula::count(comparison, bound, lits.iter().map(|&lit| lit.into()));
        let mut manager = Manager::new(Vtree::random(vars, seed), Limits::default());
        let counted = manager.compile(&formula).unwrap();
        let mut cases = Vec::new();
        for bits in 0..1u32 << vars {
            let holds = lits.iter().filter(|lit| (bits >> lit.var.index() & 1 == 1) == lit.value).count() as u32;
            if comparison.holds(holds, bound) {
                let world = (0..vars as u32).map(|i| Formula::from(Var(i).is(bits >> i & 1 == 1)));
                cases.push(Formula::and(world));
            }
        }
        let listed = manager.compile(&Formula::or(cases)).unwrap();
        assert_eq!(counted, listed, "seed {seed}: {bound} of {lits:?}");
        decided += usize::from(![Handle::TRUE, Handle::FALSE].contains(&counted));
    }
    assert!(decided > 200, "{decided}");
}

/// `at_most(bound, x1, …)` as a file of rules.
fn at_most(bound: u32, vars: u32) -> Rules {
    let formula = Formula::count(Comparison::AtMost, bound, (0..vars).map(|i| Var(i).is(true).into()));
    Rules::new(Names::numbered(vars as usize), [formula])
}

#[test]
fn thousands_of_literals_need_no_search() {
    let rules = at_most(5, 3000);
    let found = rules.compile_with_search(&VtreeSearch::default(), &Limits::default(), &mut |_| ()).unwrap();
    // The sum of 3000 over 0 to 5.
    assert_eq!(found.sdd.model_count().to_string(), "2021630625377351");
    assert_eq!(found.tried, 3, "no move is tried");
    assert!(found.sdd.size().1 < 40_000, "{:?}", found.sdd.size());
    // What shares variables, or counts formulas, is searched for as ever.
    let both = Rules::parse("at_most(1, a, b, c)\nat_least(1, c, d, e)").unwrap();
    let found = both.compile_with_search(&VtreeSearch::default(), &Limits::default(), &mut |_| ()).unwrap();
    assert!(found.tried > 3);
}

#[test]
fn counting_stops_cleanly_at_limits() {
    let rules = at_most(50, 3000);
    let search = VtreeSearch::default();
    let stopped = |limits: &Limits| rules.compile_with_search(&search, limits, &mut |_| ()).unwrap_err().limit;
    assert_eq!(stopped(&Limits::default().with_nodes(10_000)), Limit::Nodes(10_000));
    let bytes = 1 << 20;
    assert_eq!(stopped(&Limits { bytes, ..Limits::default() }), Limit::Bytes(bytes));
}

/// What is counted many times costs as much as once: a hundred thousand literals over four variables have few totals.
#[test]
fn repeated_literals_are_weights() {
    let lits = |i: u32| Var((i % 7).min(3)).is(!i.is_multiple_of(5));
    let formula = Formula::count(Comparison::AtLeast, 49_000, (0..100_000).map(|i| lits(i).into()));
    let sdd = formula.compile(Vtree::balanced(4), &Limits::default().with_nodes(64).with_steps(1000)).unwrap();
    let mut worlds = 0u32;
    for bits in 0..16u32 {
        let world: Vec<bool> = (0..4).map(|i| bits >> i & 1 == 1).collect();
        let holds = (0..100_000).filter(|&i| world[lits(i).var.index()] == lits(i).value).count();
        worlds += u32::from(holds >= 49_000);
    }
    assert!((1..16).contains(&worlds));
    assert_eq!(sdd.model_count(), worlds.into());
}
