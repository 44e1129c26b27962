//! What is possible in what is learned: every learner in every support, world by world against the definition.

use slopp::infer::Evidence;
use slopp::learn::registry::{LEARNERS, Makes, Options};
use slopp::learn::{LearnError, Learner, Support, Task, World};
use slopp::logic::Rules;
use slopp::model::ModelKind;
use slopp::{Kind, Names, Random, Records, RecordsBuilder, Var};
use std::sync::Arc;

/// Random records over Boolean columns, the last of which is never true, and in every other round a column of three values.
fn records(round: u64, random: &mut Random) -> Records {
    let values = if round.is_multiple_of(2) { 0 } else { 3 };
    let kind = Kind::Values((0..values).map(|i| format!("v{i}")).collect());
    let column = (values > 0).then(|| ("c".to_owned(), kind));
    let booleans = (0..4).map(|i| (format!("b{i}"), Kind::Boolean));
    let names = Names::of_columns(booleans.chain(column)).unwrap();
    let mut builder = RecordsBuilder::new(Arc::new(names));
    for _ in 0..4 + random.below(40) {
        let first = random.unit() < 0.6;
        let mut row = vec![first, first ^ (random.unit() < 0.2), random.unit() < 0.5, false];
        let value = if row[1] { 0 } else { random.below(2) };
        row.extend((0..values).map(|i| i == value));
        builder.push(row.into_iter().map(Some), 1.0);
    }
    builder.finish()
}

fn worlds(vars: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1u32 << vars).map(move |bits| (0..vars).map(|i| bits >> i & 1 == 1).collect())
}

fn rows(records: &Records) -> Vec<Vec<bool>> {
    (0..records.len()).map(|row| records.row(row).map(|cell| cell == Some(true)).collect()).collect()
}

/// A support with what it means, written down a second time.
struct Case {
    support: Support,
    /// Two literals, one of which holds.
    clause: Option<[(usize, bool); 2]>,
    /// Variables with values that were seen together.
    seen: Option<Vec<Var>>,
}

impl Case {
    fn random(records: &Records, world: World, random: &mut Random) -> Case {
        let names = records.names();
        let first = &rows(records)[0];
        let clause = (random.unit() < 0.5).then(|| {
            // The first record satisfies it, so something is possible.
            let [a, b] = [random.below(first.len()), random.below(first.len())];
            [(a, first[a]), (b, random.unit() < 0.5)]
        });
        let seen = (random.unit() < 0.5).then(|| vec![Var(0), Var(1 + random.below(2) as u32)]);
        let literal =
            |(var, value): (usize, bool)| format!("{}{}", if value { "" } else { "!" }, names.of(Var(var as u32)));
        let text = clause.map(|[a, b]| format!("{} | {}", literal(a), literal(b)));
        let rules = text.map(|text| Rules::parse_with(&text, names.clone()).unwrap());
        let groups = seen.clone().map(|vars| Rules::seen(records, [("together".to_owned(), vars)]));
        Case { support: Support { rules, groups, ..Support::of(world) }, clause, seen }
    }

    /// Whether a world obeys columns, rules and groups.
    fn obeys(&self, world: &[bool], records: &Records) -> bool {
        let one = |vars: Vec<bool>| vars.into_iter().filter(|&x| x).count() == 1;
        let columns =
            records.names().groups().iter().all(|group| one(group.vars().map(|v| world[v.index()]).collect()));
        let clause = self.clause.is_none_or(|literals| literals.iter().any(|&(var, value)| world[var] == value));
        let together = |vars: &Vec<Var>| {
            rows(records).iter().any(|row| vars.iter().all(|var| row[var.index()] == world[var.index()]))
        };
        columns && clause && self.seen.as_ref().is_none_or(together)
    }

    /// Whether the world has to be possible: it obeys, and is like a record but for variables that stay open.
    fn must(&self, world: &[bool], records: &Records) -> bool {
        let World::Closed { except } = &self.support.world else { return self.obeys(world, records) };
        let like = |row: &Vec<bool>| (0..row.len()).all(|i| row[i] == world[i] || except.contains(&Var(i as u32)));
        self.obeys(world, records) && rows(records).iter().any(like)
    }

    /// Whether it may be: it obeys, and every value that does not stay open was seen.
    fn may(&self, world: &[bool], records: &Records) -> bool {
        let World::Closed { except } = &self.support.world else { return self.obeys(world, records) };
        let was_seen = |i: usize| rows(records).iter().any(|row| row[i] == world[i]) || except.contains(&Var(i as u32));
        self.obeys(world, records) && (0..world.len()).all(was_seen)
    }
}

/// Every learner, with little to try.
fn learners() -> impl Iterator<Item = (Makes, Box<dyn Learner + Send + Sync>)> {
    LEARNERS.iter().flat_map(|entry| {
        let with = |few: &[(&str, &str)]| {
            let mut options = Options::default();
            few.iter().filter(|(name, _)| entry.has(name)).for_each(|(name, text)| options.set(name, text).unwrap());
            (entry.makes, entry.learner(&options).unwrap())
        };
        let usual = [("components", "2"), ("steps", "20"), ("d", "4"), ("min_records", "2")];
        let whole = entry.has("scope").then(|| with(&[("components", "2"), ("steps", "20"), ("scope", "whole")]));
        [with(&usual)].into_iter().chain(whole)
    })
}

/// The supports of a round: every world, with rules and groups or without.
fn cases(records: &Records, random: &mut Random) -> Vec<Case> {
    let column = records.names().groups().first().map(|group| group.vars().collect());
    let except = column.unwrap_or_else(|| vec![Var(1), Var(3)]);
    let worlds = [World::Open, World::CLOSED, World::Closed { except: vec![Var(3)] }, World::Closed { except }];
    worlds.map(|world| Case::random(records, world, random)).into()
}

fn check(model: &ModelKind, case: &Case, records: &Records, told: &str) {
    let mut total = 0.0;
    for world in worlds(records.var_count()) {
        let log = model.distribution().log_evidence(&Evidence::of_world(&world)).unwrap();
        let is_possible = log > f64::NEG_INFINITY;
        assert!(is_possible || !case.must(&world, records), "{told}: {world:?} has to be possible");
        assert!(!is_possible || case.may(&world, records), "{told}: {world:?} must not be possible");
        total += log.exp();
    }
    assert!((total - 1.0).abs() < 1e-9, "{told}: {total}");
}

#[test]
fn every_learner_keeps_to_every_support() {
    for round in 0..8 {
        let mut random = Random::new(round);
        let records = records(round, &mut random);
        for case in cases(&records, &mut random) {
            let task = Task { support: &case.support, seed: round, ..Task::new(&records) };
            for (makes, learner) in learners() {
                let told = format!("round {round}, {} in {:?}", learner.name(), case.support.world);
                let Support { rules, groups, world, .. } = &case.support;
                let is_refused = rules.is_some() || groups.is_some() || *world != World::Open;
                match task.learn(&*learner, &()) {
                    Err(LearnError::Closed(error) | LearnError::Groups(error)) => {
                        assert!(makes == Makes::Spn && is_refused, "{told}: {error}");
                        assert!(matches!(*error, LearnError::Network), "{told}: {error}");
                    }
                    Err(LearnError::Network) => assert!(makes == Makes::Spn && is_refused, "{told}"),
                    outcome => check(&outcome.unwrap().model, &case, &records, &told),
                }
            }
        }
    }
}

#[test]
fn support_applied_to_an_open_structure_is_learning_in_it() {
    let mut compared = 0;
    for round in 0..8 {
        let mut random = Random::new(100 + round);
        let records = records(round, &mut random);
        let cases = cases(&records, &mut random);
        for (makes, learner) in learners().filter(|(makes, _)| *makes != Makes::Spn) {
            let open = learner.find(&Task { seed: round, ..Task::new(&records) }, &()).unwrap();
            // Where columns have several values, these choose between two structures by what support leaves of each.
            let chooses = ["slopp", "slopp+learnpsdd", "slopp-em"].contains(&learner.name());
            let is_fixed = !open.keeps_world && (records.names().groups().is_empty() || !chooses);
            for case in cases.iter().filter(|_| is_fixed) {
                let task = Task { support: &case.support, seed: round, ..Task::new(&records) };
                let learned = task.learn(&*learner, &()).unwrap();
                let applied = case.support.apply(open.clone(), &records, &()).unwrap();
                assert_eq!(applied, learned.model.kind, "{makes:?}, {} in {:?}", learner.name(), case.support);
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
