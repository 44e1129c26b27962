//! Records that must obey rules, against enumeration of all worlds.

use proptest::prelude::*;
use slopp::infer::Evidence;
use slopp::learn::{Factorised, LearnError, OnViolation, Support, Task, Violation};
use slopp::logic::{Limits, Rules};
use slopp::{Kind, Names, Records, RecordsBuilder, Var};

type Row = Vec<Option<bool>>;

const LETTERS: [&str; 4] = ["a", "b", "c", "d"];

fn records(rows: &[Row]) -> Records {
    let names = Names::new(LETTERS.map(String::from).to_vec()).unwrap();
    let mut builder = RecordsBuilder::new(names);
    rows.iter().for_each(|row| builder.push(row.iter().copied(), 1.0));
    builder.finish()
}

/// The rows in the order they were given.
fn rows(records: &Records) -> Vec<Row> {
    records.original().iter().map(|&row| records.row(row as usize).collect()).collect()
}

fn enforce(rules: &str, rows: &[Row], on_violation: OnViolation) -> Result<(Vec<Row>, Vec<Violation>), LearnError> {
    let records = records(rows);
    let rules = Rules::parse_with(rules, records.names().clone()).unwrap();
    let enforced = rules.enforce(&records, on_violation, &Limits::default())?;
    Ok((self::rows(enforced.changed.as_ref().unwrap_or(&records)), enforced.violations.records))
}

fn known(text: &str) -> Row {
    text.chars().map(|c| [Some(false), Some(true), None]["01?".find(c).unwrap()]).collect()
}

#[test]
fn records_that_break_rules_are_told_left_out_or_changed() {
    let given = ["1100", "1000", "0?00", "1?10"].map(known);
    let Err(LearnError::Broken(told)) = enforce("a -> b\nb -> !c", &given, OnViolation::Reject) else {
        panic!("two records break rules")
    };
    assert_eq!((told.weight, told.total), (2.0, 4.0));
    // The first breaks a rule by itself, the second only both together.
    let found: Vec<_> = told.records.iter().map(|violation| (violation.record, violation.broken.clone())).collect();
    assert_eq!(found, [(1, vec![0]), (3, vec![])]);
    assert_eq!(told.records[1].rule().display(told.rules.names()).to_string(), "!(a & c)");
    let (left, _) = enforce("a -> b\nb -> !c", &given, OnViolation::Drop).unwrap();
    assert_eq!(left, ["1100", "0?00"].map(known));
    let (changed, violations) = enforce("a -> b\nb -> !c", &given, OnViolation::Repair).unwrap();
    assert_eq!(changed.len(), 4);
    assert_eq!((&changed[0], &changed[2]), (&given[0], &given[2]));
    assert!(violations.iter().all(|violation| violation.change.len() == 1), "{violations:?}");
}

/// Of two ways to obey, each by one cell, that of most of the records which obey is taken.
#[test]
fn repairs_follow_the_records_that_obey() {
    for (usual, expected) in [("1100", "1100"), ("0000", "0000")] {
        let given = [usual, usual, usual, "1000"].map(known);
        let (changed, _) = enforce("a -> b", &given, OnViolation::Repair).unwrap();
        assert_eq!(changed[3], known(expected));
    }
}

#[test]
fn columns_have_one_value_and_contradictions_are_named() {
    let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    let names = Names::of_columns([("color".into(), colors), ("hot".into(), Kind::Boolean)]).unwrap();
    let mut builder = RecordsBuilder::new(names);
    builder.push([Some(true), Some(false), Some(false)], 2.0);
    let records = builder.finish();
    let parsed = |text| Rules::parse_with(text, records.names().clone()).unwrap();
    let obeyed = parsed("").enforce(&records, OnViolation::Reject, &Limits::default()).unwrap();
    assert_eq!((obeyed.changed, obeyed.violations.rules.len()), (None, 1));
    let found = parsed("color=green -> hot").enforce(&records, OnViolation::Repair, &Limits::default()).unwrap();
    assert_eq!((found.violations.weight, found.changed.unwrap().total()), (2.0, 2.0));
    let Err(LearnError::Contradiction { rules, conflict }) =
        parsed("!color=green\n!color=red").enforce(&records, OnViolation::Drop, &Limits::default())
    else {
        panic!("a column needs a value")
    };
    let texts: Vec<&str> = conflict.rules.iter().map(|&i| rules[i].text.as_str()).collect();
    assert_eq!(texts, ["!color=green", "!color=red", "exactly(1, color=green, color=red)"]);
    let all = parsed("hot").enforce(&records, OnViolation::Drop, &Limits::default());
    assert!(matches!(all, Err(LearnError::NothingLeft)), "{all:?}");
    let others = Rules::parse("a -> b").unwrap().enforce(&records, OnViolation::Drop, &Limits::default());
    assert!(matches!(others, Err(LearnError::RuleNames(_))), "{others:?}");
}

#[test]
fn rules_with_names_of_their_own_mean_the_columns_they_name() {
    let records = records(&["1000", "1101", "0000", "0110"].map(known));
    let rules = Rules::parse("b -> a").unwrap();
    let kept = rules.enforce(&records, OnViolation::Drop, &Limits::default()).unwrap().changed.unwrap();
    assert_eq!(rows(&kept), ["1000", "1101", "0000"].map(known));
    let learned = |rules| {
        let support = Support { rules: Some(rules), ..Support::default() };
        Task { support: &support, ..Task::new(&kept) }.learn(&Factorised::default(), &())
    };
    let outcome = learned(rules).unwrap();
    assert_eq!(outcome.model.origin["rules"], "b -> a");
    let psdd = outcome.model.into_psdd().unwrap();
    let impossible = Evidence::from_lits(4, [Var(0).is(false), Var(1).is(true)]).unwrap();
    assert_eq!(
        (psdd.model_count().to_string(), psdd.log_evidence(&impossible).unwrap()),
        ("12".into(), f64::NEG_INFINITY)
    );
    let unknown = learned(Rules::parse("b -> a\ne | f | g").unwrap());
    assert!(matches!(unknown, Err(LearnError::RuleNames(_))), "{unknown:?}");
}

/// Rules as clauses over the four letters.
fn clauses() -> impl Strategy<Value = String> {
    let literal =
        (0..4usize, any::<bool>()).prop_map(|(i, value)| format!("{}{}", ["!", ""][usize::from(value)], LETTERS[i]));
    let clause = prop::collection::vec(literal, 1..4).prop_map(|literals| literals.join(" | "));
    prop::collection::vec(clause, 0..4).prop_map(|clauses| clauses.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What is left obeys; what obeyed is as it was; a repair changes as few cells as any world allows.
    #[test]
    fn what_is_left_obeys_and_little_is_changed(
        rules in clauses(),
        given in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.8, any::<bool>()), 4), 1..8),
    ) {
        let parsed = Rules::parse_with(&rules, Names::new(LETTERS.map(String::from).to_vec()).unwrap()).unwrap();
        let worlds = (0..16usize).map(|bits| (0..4).map(|i| bits >> i & 1 == 1).collect::<Vec<bool>>());
        let obeying: Vec<Vec<bool>> = worlds.filter(|world| parsed.broken_by(world).is_empty()).collect();
        let distance = |row: &Row| obeying.iter().map(|world| {
            row.iter().zip(world).filter(|(cell, value)| cell.is_some_and(|cell| cell != **value)).count()
        }).min();
        let repaired = match enforce(&rules, &given, OnViolation::Repair) {
            Err(LearnError::Contradiction { .. }) => {
                prop_assert!(obeying.is_empty());
                return Ok(());
            }
            repaired => repaired.unwrap(),
        };
        let broken: Vec<usize> = (0..given.len()).filter(|&i| distance(&given[i]) > Some(0)).collect();
        let told: Vec<usize> = repaired.1.iter().map(|violation| violation.record).collect();
        prop_assert_eq!(&told, &broken);
        for (old, new) in given.iter().zip(&repaired.0) {
            prop_assert_eq!(distance(new), Some(0));
            let changed = old.iter().zip(new).filter(|(old, new)| old != new).count();
            prop_assert_eq!(Some(changed), distance(old));
        }
        let left: Vec<Row> = given.iter().filter(|row| distance(row) == Some(0)).cloned().collect();
        match enforce(&rules, &given, OnViolation::Drop) {
            Err(LearnError::NothingLeft) => prop_assert!(left.is_empty()),
            dropped => prop_assert_eq!(dropped.unwrap().0, left),
        }
        prop_assert_eq!(enforce(&rules, &given, OnViolation::Reject).is_ok(), broken.is_empty());
    }
}
