//! The origin of a model: what both doors write of the same task.

use slopp::learn::VtreeMethod;
use slopp::learn::registry::{Options, find};
use slopp::learn::{LearnError, LearnPsdd, OnViolation, Slopp, Support, Task, Together, VtreeFrom, World};
use slopp::logic::{Limits, Rules};
use slopp::{Kind, Model, Names, Records, RecordsBuilder, Vtree};
use std::collections::BTreeMap;
use std::sync::Arc;

fn cars() -> Records {
    let colors = Kind::Values(["green", "red"].map(String::from).to_vec());
    let columns = [("color".to_owned(), colors), ("hot".into(), Kind::Boolean), ("fast".into(), Kind::Boolean)];
    let mut builder = RecordsBuilder::new(Names::of_columns(columns).unwrap());
    for i in 0..64usize {
        let [red, hot] = [i % 3 == 0, i % 2 == 0];
        builder.push([!red, red, hot, red || hot].map(Some), 1.0);
    }
    builder.finish()
}

fn learned(learner: &str, task: Task) -> BTreeMap<String, String> {
    let learner = find(learner).unwrap().learner(&Options::default()).unwrap();
    task.learn(&*learner, &()).unwrap().model.origin
}

#[test]
fn support_is_told_however_it_was_written() {
    let records = cars();
    let vars = |list: &str| records.names().vars_of(list).unwrap();
    let told = |text: &str| {
        let rules = Rules::parse_with(text, records.names().clone()).unwrap();
        rules.enforce(&records, OnViolation::Reject, &Limits::default()).unwrap();
        let support = Support { rules: Some(rules), ..Support::default() };
        let support = support.with_groups(&records, &[vars("color,hot"), vars("color=red,fast")]);
        learned("factorised", Task { support: &support, ..Task::new(&records) })
    };
    let origin = told("\"color=red\" -> fast  # a comment\nhot => fast");
    assert_eq!(origin["rules"], "color=red -> fast; hot -> fast");
    assert_eq!((origin["closed"].as_str(), origin["world"].as_str()), ("color,hot; color=red,fast", "open"));
    assert_eq!(origin, told("color=red→fast\n\n(hot) -> (fast)"));
    let support = Support::of(World::Closed { except: vars("hot,color") });
    let origin = learned("slopp", Task { support: &support, ..Task::new(&records) });
    assert_eq!((origin["open"].as_str(), origin["world"].as_str()), ("hot,color", "closed"));
    assert!(!origin.contains_key("closed") && !origin.contains_key("rules"));
}

#[test]
fn the_vtree_is_told_and_made_unless_the_learner_makes_the_same() {
    let records = cars();
    let task = Task::new(&records);
    for (learner, expected) in [("slopp", Some("learned")), ("slopp-tree", Some("chow-liu")), ("learnspn", None)] {
        assert_eq!(learned(learner, task).get("vtree").map(String::as_str), expected, "{learner}");
    }
    let by = |method| Task { vtree_from: Some(VtreeFrom::Method(method)), ..task };
    for method in VtreeMethod::ALL {
        assert_eq!(learned("slopp-tree", by(method))["vtree"], method.name());
        let built = Arc::new(method.build(&records, 0).unwrap());
        let given = Task { vtree: Some(&built), ..by(method) };
        let model = |task: Task| task.learn(&Slopp::default(), &()).unwrap();
        assert_eq!(model(by(method)), model(given));
    }
    // LearnPSDD starts from the Chow-Liu tree only if its vtree is not given.
    let own = learned("learnpsdd", task);
    assert_eq!(learned("learnpsdd", by(VtreeMethod::ChowLiu)), own);
    let given = Arc::new(Vtree::balanced(4));
    assert_eq!(learned("slopp", Task { vtree: Some(&given), ..task })["vtree"], "file");
    let text = Task { vtree: Some(&given), vtree_from: Some(VtreeFrom::Text), ..task };
    assert_eq!(learned("slopp", text)["vtree"], "text");
}

#[test]
fn what_is_refined_says_what_is_possible() {
    let records = cars();
    let start = Task::closed(&records).learn(&Slopp::default(), &()).unwrap();
    let refined = |start: &Model| {
        Task { start: Some(start), ..Task::new(&records) }.learn(&LearnPsdd::default(), &()).unwrap().model.origin
    };
    let given = Model::new(records.names().clone(), start.model.kind);
    assert_eq!(refined(&given)["start"], "given");
    let origin = refined(&Model { origin: start.model.origin, ..given.clone() });
    assert_eq!([&origin["start"], &origin["world"], &origin["vtree"]], ["slopp", "closed", "file"]);
    let other = Task { start: Some(&given), ..Task::new(&records) }.learn(&Slopp::default(), &()).unwrap_err();
    assert!(other.to_string().contains("the learner slopp does not refine models"), "{other}");
    let vtree = given.circuit().unwrap().vtree();
    let closed = Task { start: Some(&given), ..Task::closed(&records) }.learn(&LearnPsdd::default(), &()).unwrap_err();
    assert!(matches!(closed, LearnError::Together(Together::WorldOfStart)), "{closed}");
    let with_vtree = Task { start: Some(&given), vtree: Some(vtree), ..Task::new(&records) };
    let with_vtree = with_vtree.learn(&LearnPsdd::default(), &()).unwrap_err();
    assert!(matches!(with_vtree, LearnError::VtreeOfStart), "{with_vtree}");
}

/// Where closed columns make a model larger than asked for, a smaller one is learned, but the origin tells what was
/// asked.
#[test]
fn the_size_that_was_asked_for_is_told() {
    let records = slopp::example::Truth::configurations().sample(400, 1);
    let groups: Vec<_> = (0..4u32).map(|i| (6 * i..6 * i + 6).map(slopp::Var).collect()).collect();
    let support = Support::default().with_groups(&records, &groups);
    let task = Task { support: &support, ..Task::new(&records) };
    let whole = task.learn(&Slopp::default(), &()).unwrap().model.most_elements();
    let mut options = Options::default();
    options.set("max_elements", &(whole / 2).to_string()).unwrap();
    let within = task.learn(&*find("slopp").unwrap().learner(&options).unwrap(), &()).unwrap();
    assert!(within.model.most_elements() < whole);
    assert_eq!(within.model.origin["max_elements"], (whole / 2).to_string());
}
