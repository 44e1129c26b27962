//! Revision of PSDDs: postulates and probabilities, against tables of all worlds.

mod against;

use against::*;
use slopp::learn::{Factorised, LearnError, Task};
use slopp::logic::{Formula, Limits, Rules, Sdd};
use slopp::{Circuit, Kind, Names, Psdd, Records, RecordsBuilder, Vtree};
use slopp_oracle::{Dice, Table, Tree, deterministic, with_support};
use std::sync::Arc;

fn support(psdd: &Psdd, vars: usize) -> Vec<usize> {
    let none = slopp::infer::Evidence::none(vars);
    let mut worlds: Vec<usize> = psdd.worlds(&none).unwrap().map(|world| Table::number(&world)).collect();
    worlds.sort_unstable();
    worlds
}

fn union(a: &[usize], b: &[usize]) -> Vec<usize> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

fn some_psdd(dice: &mut Dice) -> (Tree, Psdd, Table, usize) {
    let tree = Tree::random(1 + dice.below(8), dice);
    let density = [0.02, 0.3, 0.7][dice.below(3)];
    let oracle = deterministic(&tree, density, false, dice);
    let table = oracle.table();
    (tree.clone(), convert(&oracle, &tree).0.certify(&Limits::default()).unwrap(), table, oracle.vars)
}

#[test]
fn records_become_possible_and_nothing_else_does() {
    let mut dice = Dice::new(1);
    let (mut unchanged, mut changed) = (0, 0);
    for _ in 0..200 {
        let (_, psdd, table, vars) = some_psdd(&mut dice);
        let before = support(&psdd, vars);
        let mut builder = RecordsBuilder::new(Names::numbered(vars));
        let mut given: Vec<(usize, f64)> = Vec::new();
        for _ in 0..1 + dice.below(6) {
            let (world, weight) = (dice.below(1 << vars), (1 + dice.below(4)) as f64);
            builder.push(table.world(world).into_iter().map(Some), weight);
            given.push((world, weight));
        }
        let own = 1.0 + 20.0 * dice.unit();
        let revised = psdd.revise(&builder.finish(), Some(own), &Limits::default()).unwrap();
        let after = support(&revised.psdd, vars);
        let worlds: Vec<usize> = given.iter().map(|&(world, _)| world).collect();
        // Success, preservation and inclusion: the old worlds and the records, no more and no less.
        assert_eq!(after, union(&before, &worlds));
        assert_eq!(revised.added, (after.len() - before.len()).into());
        // Vacuity.
        if after.len() == before.len() {
            assert_eq!(revised.psdd, psdd);
            assert_eq!(revised.share, 0.0);
            unchanged += 1;
        } else {
            changed += 1;
        }
        // Consistency: a PSDD with a world, proved again; and every number is the mixture's.
        assert!(!after.is_empty());
        assert!(Circuit::clone(&revised.psdd).certify(&Limits::default()).is_ok());
        let new: Vec<_> = given.iter().filter(|(world, _)| !before.contains(world)).collect();
        let total: f64 = own + new.iter().map(|(_, weight)| weight).sum::<f64>();
        close(revised.share, 1.0 - own / total);
        for world in 0..1 << vars {
            let seen: f64 = new.iter().filter(|(w, _)| *w == world).map(|(_, weight)| weight).sum();
            let expected = (own * table.probability(world) + seen) / total;
            close(revised.psdd.log_probability(&table.world(world)).unwrap().exp(), expected);
        }
    }
    assert!(unchanged > 10 && changed > 100, "{unchanged} {changed}");
}

#[test]
fn formulas_become_possible_and_nothing_else_does() {
    let mut dice = Dice::new(2);
    for _ in 0..120 {
        let (tree, psdd, table, vars) = some_psdd(&mut dice);
        let worlds: Vec<usize> = (0..1 << vars).filter(|_| dice.chance(0.2)).collect();
        if worlds.is_empty() {
            continue;
        }
        let base =
            convert(&with_support(&tree, &worlds, false, &mut dice), &tree).0.certify(&Limits::default()).unwrap();
        let formula = Sdd::base_of(&base, &Limits::default()).unwrap();
        let before = support(&psdd, vars);
        let revised = psdd.revise_by(&formula, 2.0, Some(8.0), &Limits::default()).unwrap();
        assert_eq!(support(&revised.psdd, vars), union(&before, &worlds));
        let new: Vec<usize> = worlds.iter().copied().filter(|world| !before.contains(world)).collect();
        for world in 0..1 << vars {
            let expected = match new.is_empty() {
                true => table.probability(world),
                false if new.contains(&world) => 0.2 / new.len() as f64,
                false => 0.8 * table.probability(world),
            };
            close(revised.psdd.log_probability(&table.world(world)).unwrap().exp(), expected);
        }
        // Contraction by a rule: success, inclusion, vacuity; consistent unless nothing is left.
        let common: Vec<usize> = before.iter().copied().filter(|world| worlds.contains(world)).collect();
        match psdd.given(&formula, &Limits::default()) {
            Ok((given, log)) => {
                assert_eq!(support(&given, vars), common);
                if common.len() == before.len() {
                    close(log, 0.0);
                    assert!(given.kl_divergence(&psdd, &Limits::default()).unwrap() < 1e-9);
                }
            }
            Err(error) => {
                assert_eq!(error, slopp::infer::QueryError::ImpossibleFormula);
                assert!(common.is_empty());
            }
        }
    }
}

/// Independent variables in a closed world.
fn closed(records: &Records, vtree: Vtree) -> Psdd {
    let task = Task { vtree: Some(&vtree.into()), ..Task::closed(records) };
    task.learn(&Factorised::default(), &()).unwrap().model.into_psdd().unwrap()
}

#[test]
fn many_records_on_a_deep_vtree() {
    for vtree in [Vtree::right_linear(300), Vtree::left_linear(300), Vtree::balanced(300)] {
        let mut dice = Dice::new(3);
        let row = |dice: &mut Dice| -> Vec<Option<bool>> { (0..300).map(|_| Some(dice.chance(0.5))).collect() };
        let mut first = RecordsBuilder::new(Names::numbered(300));
        first.push(row(&mut dice), 20.0);
        let first = first.finish();
        let psdd = closed(&first, vtree);
        let mut more = RecordsBuilder::new(Names::numbered(300));
        (0..200).for_each(|_| more.push(row(&mut dice), 1.0));
        let more = more.finish();
        let revised = psdd.revise(&more, None, &Limits::default()).unwrap();
        assert_eq!(revised.added, 200u32.into());
        assert!(revised.psdd.entailed_by(&more).unwrap() && revised.psdd.entailed_by(&first).unwrap());
        assert_eq!(revised.psdd.model_count(), psdd.model_count() + 200u32);
        for log in revised.psdd.log_likelihoods(&more).unwrap() {
            close(log.exp(), 1.0 / 220.0);
        }
        // The counts that are kept are those of all records together.
        let values = revised.psdd.kept_values().unwrap();
        values.iter().for_each(|[f, t]| close(f + t, 220.0));
        let smoothing = slopp::circuit::Smoothing::none();
        assert!(revised.psdd.add_records(&more, &smoothing).is_ok());
    }
}

#[test]
fn what_cannot_be_revised_is_told() {
    let mut dice = Dice::new(4);
    let tree = Tree::random(6, &mut dice);
    let oracle = with_support(&tree, &[3, 9], false, &mut dice);
    let psdd = convert(&oracle, &tree).0.certify(&Limits::default()).unwrap();
    let records = to_records(&[vec![Some(true); 6]]);
    assert!(matches!(psdd.revise(&records, None, &Limits::default()), Err(LearnError::NoWeight)));
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(psdd.revise(&records, Some(weight), &Limits::default()), Err(LearnError::Weight(_))));
    }
    let missing = to_records(&[vec![None; 6]]);
    assert!(matches!(psdd.revise(&missing, Some(1.0), &Limits::default()), Err(LearnError::Query(_))));
    let constant = |vtree: &Vtree, value| Formula::constant(value).compile(vtree.clone(), &Limits::default()).unwrap();
    let all = psdd.revise_by(&constant(psdd.vtree(), true), 1.0, Some(1.0), &Limits::default()).unwrap();
    assert_eq!(all.psdd.model_count(), 64u32.into());
    assert!(matches!(
        psdd.revise_by(&constant(psdd.vtree(), false), 1.0, Some(1.0), &Limits::default()),
        Err(LearnError::Logic(_))
    ));
    let elsewhere = constant(&Vtree::balanced(7), true);
    assert!(matches!(psdd.revise_by(&elsewhere, 1.0, Some(1.0), &Limits::default()), Err(LearnError::Query(_))));
    let wide = slopp::example::psdd();
    assert!(wide.revise_by(&constant(wide.vtree(), true), 1.0, None, &Limits::default()).is_ok());
    let wider = closed(&to_records(&[vec![Some(true); 13]]), Vtree::balanced(13));
    // More worlds than are worked in one by one.
    let all = wider.revise_by(&constant(wider.vtree(), true), 1.0, None, &Limits::default()).unwrap();
    assert_eq!((all.added, all.psdd.model_count()), (8191u32.into(), 8192u32.into()));
    close(all.share, 0.5);
    close(all.psdd.log_probability(&[true; 13]).unwrap().exp(), 0.5);
    assert!(all.psdd.kept_values().unwrap().iter().all(|[f, t]| (f + t - 2.0).abs() < 1e-9));
}

/// Only what is new counts: a formula may have any number of models that are possible already.
#[test]
fn a_wide_formula_with_few_new_worlds() {
    let (names, vtree) = (Names::numbered(20), Vtree::balanced(20));
    let compile =
        |text: &str| Formula::parse(text, &names).unwrap().compile(vtree.clone(), &Limits::default()).unwrap();
    let all: String = (1..=19).map(|i| format!("x{i} & ")).collect();
    let psdd = compile(&format!("!({all} true)")).to_circuit().unwrap().certify(&Limits::default()).unwrap();
    let revised = psdd.revise_by(&compile("x1 | x2"), 3.0, Some(7.0), &Limits::default()).unwrap();
    assert_eq!((revised.added, revised.psdd.model_count()), (2u32.into(), (1u32 << 20).into()));
    close(revised.share, 0.3);
    close(revised.psdd.log_probability(&[true; 20]).unwrap().exp(), 0.15);
    close(
        revised.psdd.log_probability(&[false; 20]).unwrap(),
        psdd.log_probability(&[false; 20]).unwrap() + 0.7f64.ln(),
    );
    let narrow = compile("x1").to_circuit().unwrap().certify(&Limits::default()).unwrap();
    let many = narrow.revise_by(&compile("x2"), 1.0, Some(1.0), &Limits::default()).unwrap();
    assert_eq!((many.added, many.psdd.model_count()), ((1u32 << 18).into(), (3u32 << 18).into()));
    assert!(many.psdd.is_possible(&[[false, true].as_slice(), &[false; 18]].concat()).unwrap());
    assert!(!many.psdd.is_possible(&[false; 20]).unwrap());
}

/// Limits hold for all of the work, and not only for the compilation of the formula.
#[test]
fn growth_keeps_within_limits() {
    let (names, vtree) = (Names::numbered(20), Vtree::balanced(20));
    let compile = |text: &str, limits: &Limits| Formula::parse(text, &names).unwrap().compile(vtree.clone(), limits);
    let base = "(x1 & x7 | x3 & x12 | x5 & !x18) & (x2 | x9) & (x4 <-> x15)";
    let base = compile(base, &Limits::default()).unwrap();
    let psdd = base.to_circuit().unwrap().certify(&Limits::default()).unwrap();
    let (mut looking, mut growing) = (0, 0);
    for nodes in 10.. {
        let limits = Limits::default().with_nodes(nodes);
        let Ok(formula) = compile("x2 & !x4 | x6 & x16", &limits) else { continue };
        match psdd.revise_by(&formula, 1.0, Some(1.0), &limits) {
            Err(LearnError::TooManyModels { .. }) => looking += 1,
            Err(error @ LearnError::NewWorlds(_)) => {
                growing += 1;
                let told = error.to_string();
                assert!(
                    told.contains(&format!("{nodes} nodes")) && told.contains("make the formula stronger"),
                    "{told}"
                );
            }
            revised => {
                let all = psdd.revise_by(&formula, 1.0, Some(1.0), &Limits::default()).unwrap();
                assert_eq!(revised.unwrap().psdd, all.psdd);
                break;
            }
        }
    }
    assert!(looking > 0 && growing > 0, "{looking} {growing}");
}

/// A column has exactly one value in every world, also in new ones.
#[test]
fn records_with_two_values_of_a_column_are_refused() {
    let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    let names = Arc::new(Names::of_columns([("color".into(), colors), ("hot".into(), Kind::Boolean)]).unwrap());
    let rules = Rules::parse_with("exactly(1, color=green, color=red)\n!hot", names.clone()).unwrap();
    let compiled = rules.compile(Vtree::balanced(3), &Limits::default()).unwrap();
    let psdd = compiled.to_circuit().unwrap().certify(&Limits::default()).unwrap();
    let records = |rows: &[[bool; 3]]| Records::from_rows(names.clone(), rows.iter().copied());
    for (values, row) in [(2, [true, true, true]), (0, [false, false, true])] {
        let error = psdd
            .revise(&records(&[[true, false, false], [true, false, true], row]), Some(1.0), &Limits::default())
            .unwrap_err();
        let told =
            matches!(&error, LearnError::Column { record: 3, column, values: v } if column == "color" && *v == values);
        assert!(told, "{error:?}");
    }
    let revised = psdd.revise(&records(&[[false, true, true]]), Some(1.0), &Limits::default()).unwrap().psdd;
    assert!(revised.column_without_one_value(&names).is_none());
}

/// However far apart the weights are: exact, or refused.
#[test]
fn weights_that_are_far_apart() {
    let worlds = [[false, false, true], [false, true, false], [true, false, false]];
    let one = Formula::parse("exactly(1, x1, x2, x3)", &Names::numbered(3)).unwrap();
    let one = one.compile(Vtree::balanced(3), &Limits::default()).unwrap();
    let psdd = one.to_circuit().unwrap().certify(&Limits::default()).unwrap();
    for own in [1e-20, 1e-9, 1e-6, 1.0, 1e9, 1e25] {
        for weight in [1e-20, 1.0, 1e9, 1e20] {
            let mut new = RecordsBuilder::new(Names::numbered(3));
            new.push([Some(false); 3], weight);
            let revised = psdd.revise(&new.finish(), Some(own), &Limits::default()).unwrap();
            let [log_own, log_new] = [own, weight].map(|part: f64| part.ln() - (own + weight).ln());
            assert!((revised.share - log_new.exp()).abs() < 1e-12 * revised.share);
            let log = |world: &[bool; 3]| revised.psdd.log_probability(world).unwrap();
            assert!((log(&[false; 3]) - log_new).abs() < 1e-12, "{own} {weight}");
            for world in &worlds {
                assert!((log(world) - log_own + 3f64.ln()).abs() < 1e-12, "{own} {weight}: {}", log(world));
            }
        }
    }
    for (own, weight) in [(1e-320, 1e9), (1e300, 1e-300), (1e308, 1e308)] {
        let mut new = RecordsBuilder::new(Names::numbered(3));
        new.push([Some(false); 3], weight);
        let error = psdd.revise(&new.finish(), Some(own), &Limits::default()).unwrap_err();
        assert!(matches!(error, LearnError::TooFarApart { .. } | LearnError::Weight(_)), "{error:?}");
        let (names, limits) = (Arc::new(Names::numbered(3)), Limits::default());
        let formula = Formula::parse("x1 & x2", &names).unwrap();
        let error = psdd.revise_by_formula(&formula, &names, weight, Some(own), &limits).unwrap_err();
        assert!(matches!(error, LearnError::TooFarApart { .. } | LearnError::Weight(_)), "{error:?}");
    }
}
