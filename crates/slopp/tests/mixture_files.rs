//! `.mix` files: nothing is lost, and what is wrong is told by its line.

mod against;
mod learned;

use against::convert;
use slopp::circuit::Smoothing;
use slopp::infer::Evidence;
use slopp::io::{LoadedVtree, ReadError, read_model, write_model};
use slopp::learn::{Factorised, MixtureGrid, SloppEm, Task};
use slopp::logic::Limits;
use slopp::{Certified, Mixture, Model, Names, Vtree};
use slopp_oracle::{Dice, Tree, deterministic, mixture};
use std::path::Path;

fn bytes(model: &Model) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_model(&mut bytes, model).unwrap();
    bytes
}

/// One structure twice, with counts, and another one.
fn example() -> Model {
    let (psdd, records) = (slopp::example::psdd(), slopp::example::records());
    let smoothed = psdd.fit(&records, &Smoothing::uniform(1.0)).unwrap().circuit;
    let task = Task { vtree: Some(&Vtree::right_linear(4).into()), ..Task::new(&records) };
    let other = learned::psdd(&task, &Factorised { pseudocount: Some(0.5) });
    let parts = [(0.5, psdd.into()), (0.3, smoothed.into()), (0.2, other.into())];
    let mut model = Model::new(records.names().clone(), Mixture::new(parts).unwrap());
    model.origin.insert("learner".into(), "by \"hand\"\n".into());
    model
}

#[test]
fn nothing_is_lost_and_the_bytes_stay() {
    let mut models = vec![example()];
    let mut dice = Dice::new(1);
    for round in 0..40 {
        let vars = 2 + dice.below(5);
        let components: Vec<Certified> = (0..1 + dice.below(4))
            .map(|_| {
                let tree = Tree::random(vars, &mut dice);
                let oracle = match round % 3 {
                    0 => mixture(&tree, 3, &mut dice),
                    weak => deterministic(&tree, 0.4, weak == 1, &mut dice),
                };
                Certified::new(convert(&oracle, &tree).0, &Limits::default())
            })
            .collect();
        let twice = components.clone().into_iter().chain(components);
        models.push(Model::new(Names::numbered(vars), Mixture::uniform(twice).unwrap()));
    }
    let records = slopp::example::records();
    for pseudocount in [0.0, 1.0] {
        let grid = MixtureGrid { components: vec![3], pseudocounts: vec![pseudocount] };
        let learned = Task::new(&records).learn(&SloppEm { grid, ..SloppEm::default() }, &()).unwrap();
        models.push(Model::new(records.names().clone(), learned.model.kind));
    }
    for model in models {
        let saved = bytes(&model);
        let read = read_model(&saved, None, &Default::default()).unwrap().model;
        assert_eq!(read, model);
        assert_eq!(bytes(&read), saved);
    }
}

#[test]
fn structures_are_written_once() {
    let text = String::from_utf8(bytes(&example())).unwrap();
    assert_eq!(text.matches("\npsdd ").count(), 2);
    assert_eq!(text.matches("c names").count(), 1);
    assert!(text.contains("\ncomponent 2 0.3 like 1\nP "), "{text}");
}

#[test]
fn a_file_tells_whether_it_is_a_model_or_a_mixture() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [mix, psdd] = ["any.mix", "any.psdd"].map(|name| folder.join(name));
    let model = example();
    model.save(&mix).unwrap();
    assert_eq!(read_model(&mix, None, &Default::default()).unwrap().model, model);
    let vtree = LoadedVtree::in_order(slopp::example::vtree());
    assert!(read_model(&mix, Some(&vtree), &Default::default()).is_err(), "a mixture takes no vtree");
    Model::new(model.names.clone(), slopp::example::psdd()).save(&psdd).unwrap();
    assert!(read_model(&psdd, None, &Default::default()).unwrap().model.circuit().is_some());
    let refused = slopp::io::read_psdd(&bytes(&model), None).unwrap_err().to_string();
    assert!(refused.contains("a mixture"), "{refused}");
    let refused = slopp::io::read_vtree(&bytes(&model)).unwrap_err().to_string();
    assert!(refused.contains("a vtree") && refused.contains("a mixture"), "{refused}");
}

/// The error for the example with one text replaced by another, and the line of the change.
#[track_caller]
fn broken(from: &str, to: &str) -> (ReadError, usize) {
    let text = String::from_utf8(bytes(&example())).unwrap();
    let place = text.find(from).unwrap_or_else(|| panic!("{from:?} is not in {text}"));
    let line = 1 + text[..place].matches('\n').count() + from.chars().take_while(|&c| c == '\n').count();
    let changed = text.replacen(from, to, 1);
    let Err(error) = read_model(changed.as_bytes(), None, &Default::default()) else { panic!("{to:?} was accepted") };
    (error, line)
}

#[test]
fn errors_tell_the_line_and_the_way_out() {
    for (from, to, word) in [
        ("component 2", "component 3", "component 2"),
        ("component 1 0.5", "component 1 x", "the weight"),
        ("component 1 0.5", "component one 0.5", "the number of the component"),
        ("0.3 like 1", "0.3 as 1", "like"),
        ("0.3 like 1", "0.3 like 2", "a component before"),
        ("0.3 like 1", "0.3 like 0", "a component before"),
        ("0.3 like 1", "0.3 like 1 2", "the end of the line"),
        ("\nP ", "\nQ ", "P or N"),
        ("\nP ", "\nP 9", "node"),
        ("\nP ", "\nP x", "the id of a node"),
        ("\nL 0 ", "\nX 0 ", "L, T or D"),
        ("\nc slopp 1\nc vtree", "\nc slopp 7\nc vtree", "newer slopp"),
    ] {
        let (error, line) = broken(from, to);
        assert_eq!(error.line, Some(line), "{to:?}: {error}");
        assert!(error.to_string().contains(word), "{to:?}: {error}");
    }
    for (from, to, word) in [
        ("component 1 0.5", "component 1 0.25", "add up to 0.75"),
        ("component 1 0.5", "component 1 -0.5", "component 1 is -0.5"),
        ("mixture 3", "mixture 4", "cut off"),
        ("mixture 3", "mixture", "cut off"),
        ("mixture 3", "mixture 0", "cut off"),
        ("mixture 3", "mixture 3\nL 0 0 1", "component <number> <weight>"),
        ("c slopp 1\nc names", "c names", "c slopp 1"),
        ("c slopp 1\nc vtree", "c vtree", "c slopp 1"),
        ("\nc slopp 1\nc vtree ((1,2),(3,4))", "\nc slopp 1\nc vtree ((1,2),(3,5))", "vtree"),
        ("c names [\"X1\",", "c names [", "3 names for 4 variables"),
    ] {
        let (error, _) = broken(from, to);
        assert!(error.line.is_some() && error.to_string().contains(word), "{to:?}: {error}");
        assert!(!error.to_string().contains("plain .psdd"), "{error}");
    }
}

#[test]
fn numbers_that_are_no_distribution_and_missing_lines_are_refused() {
    let text = String::from_utf8(bytes(&example())).unwrap();
    let start = text.find("like 1\n").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let first = text[..start].matches('\n').count() + 1;
    let numbers: Vec<usize> = (first..lines.len()).take_while(|&i| lines[i].starts_with(['P', 'N'])).collect();
    assert!(numbers.len() > 8);
    for &i in &numbers {
        let mut fewer = lines.clone();
        fewer.remove(i);
        let error = read_model((fewer.join("\n") + "\n").as_bytes(), None, &Default::default()).unwrap_err();
        assert!(error.line.is_some(), "{error}");
        if lines[i].starts_with('P') && lines[i].split(' ').count() > 3 {
            let changed = lines[i].rsplit_once(' ').unwrap().0.to_owned() + " -0.01";
            let mut wrong = lines.clone();
            wrong[i] = &changed;
            let error = read_model((wrong.join("\n") + "\n").as_bytes(), None, &Default::default()).unwrap_err();
            assert_eq!(error.line, Some(i + 1));
            assert!(error.to_string().contains("add up to 1"), "{error}");
        }
    }
}

#[test]
fn every_cut_is_noticed() {
    let saved = bytes(&example());
    for end in 0..saved.len() {
        assert!(read_model(&saved[..end], None, &Default::default()).is_err(), "cut at byte {end}");
    }
    let nothing = Evidence::none(4);
    let read = read_model(&saved, None, &Default::default()).unwrap().model;
    assert!(read.distribution().log_evidence(&nothing).unwrap().abs() < 1e-12);
}
