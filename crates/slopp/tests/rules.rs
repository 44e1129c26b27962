//! Rules found in circuits, against tables of all worlds.

mod against;

use against::*;
use slopp::logic::{BaseRule, BaseRules, Limits, RuleKind, RuleSearch};
use slopp::{Circuit, Kind, Lit, Names, Records, Var};
use slopp_oracle::{Dice, Table, Tree, deterministic, mixture, with_support};

fn holds(rule: &BaseRule, world: usize) -> bool {
    let holds = |lit: &Lit| (world >> lit.var.index() & 1 == 1) == lit.value;
    let count = rule.literals.iter().filter(|lit| holds(lit)).count();
    match rule.kind {
        RuleKind::Literal => count == 1,
        RuleKind::Equivalence => count == 0 || count == rule.literals.len(),
        RuleKind::Implication => !holds(&rule.literals[0]) || holds(&rule.literals[1]),
        RuleKind::Exclusion => count <= 1,
        RuleKind::ExactlyOne => count == 1,
        RuleKind::Clause => count >= 1,
    }
}

/// The worlds that keep all rules but one.
fn worlds(found: &BaseRules, vars: usize, without: Option<usize>) -> Vec<usize> {
    let kept = |world: usize| (0..found.rules.len()).all(|i| Some(i) == without || holds(&found.rules[i], world));
    (0..1 << vars).filter(|&world| kept(world)).collect()
}

/// All sets of up to `length` literals of different variables.
fn sets(vars: usize, length: usize) -> Vec<Vec<(usize, usize)>> {
    let mut all: Vec<Vec<(usize, usize)>> = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..length {
        let mut next = Vec::new();
        for set in &last {
            for x in set.last().map_or(0, |&(x, _)| x + 1)..vars {
                next.extend([0, 1].map(|value| [&set[..], &[(x, value)]].concat()));
            }
        }
        all.extend(next.iter().cloned());
        last = next;
    }
    all
}

fn check(circuit: &Circuit, table: &Table, vars: usize, length: usize) -> BaseRules {
    let support = table.support(&vec![None; vars]);
    let search = RuleSearch { length, most_clauses: usize::MAX, ..RuleSearch::default() };
    let found = circuit.rules(&search).unwrap();
    assert!(found.is_minimal);
    assert_eq!(found.complete_to, length.max(2));
    for rule in &found.rules {
        assert!(support.iter().all(|&world| holds(rule, world)), "{rule:?} is entailed");
        // Under independence with the marginals of the circuit.
        let p = |world: usize| -> f64 {
            let marginal = |x: usize| support.iter().filter(|w| *w >> x & 1 == 1).map(|&w| table.probability(w)).sum();
            let side = |x: usize| {
                let p: f64 = marginal(x);
                if world >> x & 1 == 1 { p } else { 1.0 - p }
            };
            (0..vars).map(side).product()
        };
        let excluded: f64 = (0..1 << vars).filter(|&world| !holds(rule, world)).map(p).sum();
        assert!((rule.excluded - excluded).abs() < 1e-9, "{rule:?} {excluded}");
        // As clauses it says the same.
        for world in 0..1 << vars {
            let cells: Vec<Option<bool>> = table.world(world).into_iter().map(Some).collect();
            assert_eq!(rule.is_broken_by(&cells), !holds(rule, world), "{rule:?}");
        }
    }
    let all = worlds(&found, vars, None);
    for i in 0..found.rules.len() {
        assert!(worlds(&found, vars, Some(i)) != all, "{:?} says something new", found.rules[i]);
    }
    // Every short clause that the base entails follows.
    let agrees = |world: &usize, set: &[(usize, usize)]| set.iter().all(|&(x, value)| world >> x & 1 == value);
    for set in sets(vars, length) {
        if !support.iter().any(|world| agrees(world, &set)) {
            assert!(!all.iter().any(|world| agrees(world, &set)), "{set:?} does not follow");
        }
    }
    if length >= vars {
        assert_eq!(all, support);
    }
    found
}

#[test]
fn rules_are_entailed_complete_and_minimal() {
    let mut dice = Dice::new(1);
    let mut kinds = std::collections::BTreeMap::new();
    for round in 0..220 {
        let tree = Tree::random(1 + dice.below(6), &mut dice);
        let vars = tree.vars().len();
        let oracle = match round % 5 {
            0 => mixture(&tree, 3, &mut dice),
            1 => {
                // Few worlds: many rules, classes and groups.
                let few: Vec<usize> = (0..1 + dice.below(5)).map(|_| dice.below(1 << vars)).collect();
                with_support(&tree, &few, false, &mut dice)
            }
            2 if vars > 2 => {
                // A group of which one holds, and something else.
                let one = |world: &usize| (world & 7).count_ones() == 1;
                let some: Vec<usize> = (0..1 << vars).filter(one).filter(|_| dice.chance(0.9)).collect();
                with_support(&tree, if some.is_empty() { &[1] } else { &some }, false, &mut dice)
            }
            _ => deterministic(&tree, [0.1, 0.4, 0.8][round % 3], true, &mut dice),
        };
        let circuit = convert(&oracle, &tree).0;
        for length in [2, 3, vars] {
            for rule in check(&circuit, &oracle.table(), vars, length).rules {
                *kinds.entry(rule.kind).or_insert(0) += 1;
            }
        }
    }
    assert!(kinds.len() == 6 && kinds.values().all(|&count| count > 20), "{kinds:?}");
}

/// Red, green or blue; hot iff not cold; blue is cold; a constant; big and red only if hot.
fn colours() -> (Circuit, Table, Names) {
    let names = ["red", "green", "blue", "hot", "cold", "on", "big"].map(String::from).to_vec();
    let bit = |world: usize, x: usize| world >> x & 1 == 1;
    let possible = |&world: &usize| {
        let [red, green, blue, hot, cold, on, big] = [0, 1, 2, 3, 4, 5, 6].map(|x| bit(world, x));
        usize::from(red) + usize::from(green) + usize::from(blue) == 1
            && hot != cold
            && (!blue || cold)
            && on
            && (!big || !red || hot)
    };
    let mut dice = Dice::new(2);
    let tree = Tree::random(7, &mut dice);
    let oracle = with_support(&tree, &(0..128).filter(possible).collect::<Vec<_>>(), false, &mut dice);
    (convert(&oracle, &tree).0, oracle.table(), Names::new(names).unwrap())
}

#[test]
fn rules_read_as_people_write_them() {
    let (circuit, table, names) = colours();
    let found = check(&circuit, &table, 7, 4);
    let texts: Vec<String> = found.rules.iter().map(|rule| rule.display(&names).to_string()).collect();
    assert_eq!(
        texts,
        ["on", "hot <-> !cold", "exactly(1, red, green, blue)", "!(blue & hot)", "red & big -> hot"],
        "{texts:?}"
    );
    let odd = Names::new(["a b", "or", "x", "y1", "_", "é", "\""].map(String::from).to_vec()).unwrap();
    assert_eq!(found.rules[2].display(&odd).to_string(), "exactly(1, \"a b\", \"or\", x)");
    // The values of a column look alike, though only 1 could be taken for a truth value.
    let values = Kind::Values(["1", "2", "3"].map(String::from).to_vec());
    let others = ["a", "b", "c", "d"].map(|name| (name.to_owned(), Kind::Boolean));
    let numbers = Names::of_columns([("n".to_owned(), values)].into_iter().chain(others)).unwrap();
    assert_eq!(found.rules[2].display(&numbers).to_string(), "exactly(1, \"n=1\", \"n=2\", \"n=3\")");
    assert_eq!(found.to_clauses().len(), 1 + 2 + 4 + 1 + 1);
    // Groups that share two literals exclude their pair once.
    let group = |vars: [u32; 3]| {
        let mut group = found.rules[2].clone();
        group.literals = vars.map(|x| Var(x).is(true)).to_vec();
        group
    };
    let mut sharing = found.clone();
    sharing.rules = vec![group([0, 1, 2]), group([1, 0, 3])];
    assert_eq!(sharing.to_clauses().len(), 4 + 3);
    let cells = [Some(true), Some(true), Some(false), None, None, Some(false), None];
    assert_eq!(found.broken_by(&cells), [0, 2]);
}

#[test]
fn support_counts_the_records_that_could_break_a_rule() {
    let (circuit, table, names) = colours();
    let support = table.support(&[None; 7]);
    let rows: Vec<Vec<bool>> = (0..300).map(|i| table.world(support[i * 7 % support.len()])).collect();
    let records = Records::from_rows(names, rows.clone());
    let found = circuit.rules_with(&records, &RuleSearch::default()).unwrap();
    let count = |test: &dyn Fn(&[bool]) -> bool| rows.iter().filter(|row| test(row)).count() as f64;
    let expected = [300.0, 300.0, 300.0, count(&|row| row[2] || row[3]), count(&|row| row[0] && row[6])];
    let supports: Vec<f64> = found.rules.iter().map(|rule| rule.support.unwrap()).collect();
    assert_eq!(supports, expected);
    // Without records or counts nothing is known; with counts, what single literals tell.
    assert!(circuit.rules(&RuleSearch::default()).unwrap().rules.iter().all(|rule| rule.support.is_none()));
    let fitted = circuit
        .certify_deterministic(&Limits::default())
        .unwrap()
        .fit(&records, &slopp::circuit::Smoothing::uniform(1.0))
        .unwrap();
    let found = fitted.circuit.rules(&RuleSearch::default()).unwrap();
    let supports: Vec<Option<f64>> = found.rules.iter().map(|rule| rule.support).collect();
    assert_eq!(supports, [Some(300.0), Some(300.0), Some(300.0), Some(expected[3]), None]);
}

#[test]
fn limits_are_told() {
    let mut dice = Dice::new(3);
    let tree = Tree::random(9, &mut dice);
    let oracle = deterministic(&tree, 0.2, false, &mut dice);
    let circuit = convert(&oracle, &tree).0;
    let all = circuit.rules(&RuleSearch { length: 5, ..RuleSearch::default() }).unwrap();
    assert_eq!(all.complete_to, 5);
    for search in [
        RuleSearch { length: 5, steps: 0, ..RuleSearch::default() },
        RuleSearch { length: 5, steps: 30, ..RuleSearch::default() },
        RuleSearch { length: 5, steps: 200, ..RuleSearch::default() },
        RuleSearch { length: 5, most_clauses: 3, ..RuleSearch::default() },
    ] {
        let found = circuit.rules(&search).unwrap();
        assert!(found.complete_to < 5 && found.rules.len() < all.rules.len(), "{search:?}");
        let support = oracle.table().support(&[None; 9]);
        assert!(found.rules.iter().all(|rule| support.iter().all(|&world| holds(rule, world))));
    }
    let heavy = circuit.rules(&RuleSearch { length: 5, least_excluded: 0.05, ..RuleSearch::default() }).unwrap();
    assert!(heavy.rules.iter().all(|rule| rule.kind != RuleKind::Clause || rule.excluded >= 0.05));
    assert!(heavy.rules.len() < all.rules.len());
    let wide = Records::from_rows(Names::numbered(3), [[true; 3]]);
    assert!(circuit.rules_with(&wide, &RuleSearch::default()).is_err());
    assert_eq!(Var(0).is(true), Lit { var: Var(0), value: true });
}
