//! Rules that contradict each other: compared with enumeration, and where diagrams would not do.

mod formula;

use formula::{random_rules, worlds};
use slopp::logic::{Formula, Limits, Rules};
use slopp::{Names, Random, Var, Vtree};

#[test]
fn conflicts_of_few_rules_are_smallest() {
    let mut sizes = [0; 6];
    for seed in 0..400 {
        let mut random = Random::new(4000 + seed);
        let rules = random_rules(&mut random, 4, 6);
        let possible = |chosen: &dyn Fn(usize) -> bool| {
            worlds(4).any(|world| rules.broken_by(&world).into_iter().all(|i| !chosen(i)))
        };
        let conflict = rules.conflict(Vtree::random(4, seed), &Limits::default()).unwrap();
        let Some(conflict) = conflict else {
            assert!(possible(&|_| true), "seed {seed}");
            continue;
        };
        let found = &conflict.rules;
        assert!(!possible(&|i| found.contains(&i)), "seed {seed}");
        for left_out in found {
            assert!(possible(&|i| found.contains(&i) && i != *left_out), "seed {seed}");
        }
        let least = (1..64u32).filter(|set| !possible(&|i| set >> i & 1 == 1)).map(u32::count_ones).min();
        assert_eq!((least, conflict.smallest), (Some(found.len() as u32), true), "seed {seed}");
        sizes[found.len() - 1] += 1;
    }
    assert!(sizes[..3].iter().all(|&n| n > 3), "{sizes:?}");
}

#[test]
fn a_short_conflict_is_found_beside_long_ones() {
    for long in [8, 30] {
        let chain = (0..long).map(|i| format!("e{i} -> e{}\n", i + 1)).collect::<String>();
        let text = format!("{chain}e0\n!e{long}\nf1 | f2\nf1 -> g\nf2 -> g\n!g | h\n!h\n");
        let rules = Rules::parse(&text).unwrap();
        let conflict = rules.conflict(rules.min_fill_vtree(), &Limits::default()).unwrap().unwrap();
        let expected: Vec<usize> = (long + 2..long + 7).collect();
        assert_eq!((conflict.rules, conflict.minimal, conflict.smallest), (expected, true, true));
    }
}

#[test]
fn a_conflict_of_random_clauses_is_found_without_large_diagrams() {
    let mut random = Random::new(1);
    let mut clause = || {
        let mut vars: Vec<u32> = (0..60).collect();
        (0..3).for_each(|i| vars.swap(i, i + random.below(60 - i)));
        Formula::or((0..3).map(|i| Var(vars[i]).is(random.below(2) == 0).into()))
    };
    let rules = Rules::new(Names::numbered(60), (0..600).map(|_| clause()));
    // A diagram of these clauses, or of what is left of them, would need more.
    let limits = Limits::default().with_nodes(10);
    let conflict = rules.conflict(Vtree::balanced(60), &limits).unwrap().unwrap();
    assert!(conflict.rules.len() < 300 && conflict.minimal, "{}", conflict.rules.len());
}
