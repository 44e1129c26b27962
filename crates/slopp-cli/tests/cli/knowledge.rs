//! Knowledge in and out: formulas in queries, rules, differences, explanations, repairs, revision.

use crate::folder::{Folder, close};
use serde_json::json;
use slopp::logic::Formula;
use slopp::{Names, example};

/// The worlds of the paper's example with their probabilities, listed one by one.
fn worlds() -> Vec<(Vec<bool>, f64)> {
    let psdd = example::psdd();
    let all = (0..16u32).map(|bits| (0..4).map(|i| bits >> i & 1 == 1).collect::<Vec<bool>>());
    all.map(|world| (world.clone(), psdd.log_probability(&world).unwrap().exp())).collect()
}

fn formula(text: &str) -> Formula {
    Formula::parse(text, example::records().names()).unwrap()
}

fn probability(holds: impl Fn(&[bool]) -> bool) -> f64 {
    worlds().iter().filter(|(world, _)| holds(world)).map(|(_, p)| p).sum()
}

pub(crate) fn bits(world: &serde_json::Value) -> Vec<bool> {
    world.as_object().unwrap().values().map(|value| value.as_bool().unwrap()).collect()
}

const FORMULAS: [&str; 6] = [
    "X1 | X2",
    "X1 & !(X2 | X3)",
    "X1 -> X3 <-> X4",
    "X1 ^ X2 ^ X4",
    "exactly(2, X1, X2, X3, X4)",
    "at_most(1, X1 & X2, X3, !X4)",
];

#[test]
fn probabilities_of_formulas() {
    let folder = Folder::with_paper();
    folder.write("all.csv", "X1,X2,X3,X4\n0,0,1,1\n1,,,\n1,1,1,1\n,,0,1\n");
    for f in FORMULAS {
        let asked = formula(f);
        let answer = folder.run_args(&["prob", "model.psdd", f, "--json"]).ok();
        assert_eq!(answer.keys(), ["probability", "log_probability"]);
        close(&answer.json()["probability"], probability(|w| asked.is_satisfied_by(w)));
        for g in FORMULAS.iter().copied().chain(["X2", "!X3, X4"]) {
            let given = formula(g);
            let both = probability(|w| asked.is_satisfied_by(w) && given.is_satisfied_by(w));
            let answer = folder.run_args(&["prob", "model.psdd", f, "--given", g, "--json"]).ok();
            close(&answer.json()["probability"], both / probability(|w| given.is_satisfied_by(w)));
        }
        let answer = folder.run_args(&["prob", "model.psdd", f, "--records", "all.csv", "--json"]).ok().json();
        let row = |cells: [Option<bool>; 4]| {
            let agrees = |w: &[bool]| w.iter().zip(cells).all(|(&value, cell)| cell.is_none_or(|cell| cell == value));
            probability(|w| agrees(w) && asked.is_satisfied_by(w)) / probability(agrees)
        };
        let (yes, no) = (Some(true), Some(false));
        close(&answer["probabilities"][0], row([no, no, yes, yes]));
        close(&answer["probabilities"][1], row([yes, None, None, None]));
        assert!(answer["probabilities"][2].is_null());
        close(&answer["probabilities"][3], row([None, None, no, yes]));
    }
    let told = folder.run_args(&["prob", "model.psdd", "X1 | X2", "--given", "X3 -> X4"]).ok();
    assert!(told.out.starts_with("P(X1 | X2 given X3 -> X4) = "), "{}", told.out);
}

#[test]
fn other_queries_given_a_formula() {
    let folder = Folder::with_paper();
    for f in FORMULAS {
        let given = formula(f);
        let mut left: Vec<(Vec<bool>, f64)> =
            worlds().into_iter().filter(|(w, p)| *p > 0.0 && given.is_satisfied_by(w)).collect();
        let total: f64 = left.iter().map(|(_, p)| p).sum();
        let marginals = folder.run_args(&["marginals", "model.psdd", "--given", f, "--pairs", "--json"]).ok().json();
        for i in 0..4 {
            let p: f64 = left.iter().filter(|(w, _)| w[i]).map(|(_, p)| p).sum();
            close(&marginals["marginals"][format!("X{}", i + 1)], p / total);
        }
        for pair in marginals["pairs"].as_array().unwrap() {
            let [a, b] = ["a", "b"].map(|k| pair[k].as_str().unwrap()[1..].parse::<usize>().unwrap() - 1);
            let p: f64 = left.iter().filter(|(w, _)| w[a] && w[b]).map(|(_, p)| p).sum();
            close(&pair["both"], p / total);
        }
        left.sort_by(|a, b| b.1.total_cmp(&a.1));
        let best = folder.run_args(&["mpe", "model.psdd", "--given", f, "-k", "20", "--json"]).ok().json();
        let best = best["worlds"].as_array().unwrap();
        assert_eq!(best.len(), left.len());
        for (entry, (_, p)) in best.iter().zip(&left) {
            close(&entry["probability"], *p);
            close(&entry["probability_given"], p / total);
            assert!(given.is_satisfied_by(&bits(&entry["world"])));
        }
        let listed = folder.run_args(&["worlds", "model.psdd", "--given", f, "--json"]).ok().json();
        let mut listed: Vec<Vec<bool>> = listed["worlds"].as_array().unwrap().iter().map(bits).collect();
        listed.sort();
        let mut expected: Vec<Vec<bool>> = left.iter().map(|(w, _)| w.clone()).collect();
        expected.sort();
        assert_eq!(listed, expected);
        let drawn = folder.run_args(&["sample", "model.psdd", "-n", "200", "--given", f, "--json"]).ok().json();
        for world in drawn["worlds"].as_array().unwrap() {
            assert!(expected.contains(&bits(world)));
        }
    }
}

#[test]
fn impossible_formulas_and_bad_ones_say_so() {
    let folder = Folder::with_paper();
    // No possible world of the example has all four.
    let impossible = "X1 & X2 & X3 & (X4 | X4)";
    folder
        .run_args(&["prob", "model.psdd", "X1 | X2", "--given", impossible])
        .fails(&["the formula has probability zero"]);
    for command in ["marginals", "mpe", "worlds", "sample"] {
        let outcome = folder.run_args(&[command, "model.psdd", "--given", impossible]);
        outcome.fails(&["the formula has probability zero", "weaken it"]);
    }
    let zero = folder.run_args(&["prob", "model.psdd", impossible, "--json"]).ok().json();
    assert_eq!(zero["probability"], 0.0);
    folder.run_args(&["prob", "model.psdd", "X1 | X22"]).fails(&["column 6", "did you mean \"X2\"?", "^^^"]);
    folder.run_args(&["prob", "model.psdd", "X1 |"]).fails(&["column 5", "found the end"]);
    let deep = format!("{}X1 | X2{}", "(".repeat(20_000), ")".repeat(20_000));
    let answer = folder.run_args(&["prob", "model.psdd", &deep, "--json"]).ok().json();
    close(&answer["probability"], probability(|w| w[0] || w[1]));
}

#[test]
fn mixtures_take_formulas_and_networks_only_literals() {
    let folder = Folder::with_cars();
    let names = Names::clone(example::records().names());
    let records = example::records();
    let other = slopp::learn::Factorised { pseudocount: Some(1.0) };
    let learned = slopp::learn::Task::new(&records).learn(&other, &()).unwrap().model;
    let factorised = learned.psdd().unwrap().clone();
    let p = |w: &[bool]| {
        0.5 * example::psdd().log_probability(w).unwrap().exp() + 0.5 * factorised.log_probability(w).unwrap().exp()
    };
    let all: Vec<(Vec<bool>, f64)> = worlds().into_iter().map(|(w, _)| (w.clone(), p(&w))).collect();
    let mixture = slopp::Mixture::uniform([example::psdd().into(), factorised.clone().into()]).unwrap();
    slopp::Model::new(names, mixture).save(folder.path("two.mix")).unwrap();
    for f in FORMULAS {
        let asked = formula(f);
        let expected: f64 = all.iter().filter(|(w, _)| asked.is_satisfied_by(w)).map(|(_, p)| p).sum();
        let answer = folder.run_args(&["prob", "two.mix", f, "--json"]).ok().json();
        close(&answer["probability"], expected);
        let marginals = folder.run_args(&["marginals", "two.mix", "--given", f, "--json"]).ok().json();
        let first: f64 = all.iter().filter(|(w, _)| w[0] && asked.is_satisfied_by(w)).map(|(_, p)| p).sum();
        close(&marginals["marginals"]["X1"], first / expected);
        folder.run_args(&["sample", "two.mix", "-n", "5", "--given", f]).ok();
    }
    folder.run("learn cars.csv --learner learnspn -o cars.spn").ok();
    folder.run_args(&["prob", "cars.spn", "engine_electric"]).ok();
    folder
        .run_args(&["prob", "cars.spn", "engine_electric | gearbox_automatic"])
        .fails(&["a formula cannot be asked of a sum-product network, only literals can"]);
}

#[test]
fn rules_are_entailed_and_read_again() {
    let folder = Folder::with_paper();
    let found = folder.run("rules model.psdd --max-length 4 --json").ok();
    assert_eq!(found.keys(), ["rules", "complete_to", "minimal", "whole_base", "model_count", "allowed"]);
    let found = found.json();
    let rules = found["rules"].as_array().unwrap();
    assert!(!rules.is_empty());
    let parsed: Vec<Formula> = rules.iter().map(|rule| formula(rule["rule"].as_str().unwrap())).collect();
    // Every rule holds in every possible world; up to length four over four variables they say all there is to say.
    for (world, p) in worlds() {
        assert_eq!(p > 0.0, parsed.iter().all(|rule| rule.is_satisfied_by(&world)), "{world:?}");
    }
    assert_eq!((found["complete_to"].as_u64(), found["minimal"].as_bool()), (Some(4), Some(true)));
    assert_eq!(
        (&found["whole_base"], &found["model_count"], &found["allowed"]),
        (&json!(true), &json!("10"), &json!("10"))
    );
    // Whatever its kind, a rule is its clauses.
    for (rule, parsed) in rules.iter().zip(&parsed) {
        for (world, _) in worlds() {
            let value = |name: &String| world[name[1..].parse::<usize>().unwrap() - 1];
            let clauses = rule["clauses"].as_array().unwrap().iter();
            let mut holds = clauses.map(|clause| clause.as_object().unwrap().iter().any(|(name, x)| value(name) == *x));
            assert_eq!(holds.all(|one| one), parsed.is_satisfied_by(&world), "{rule}");
        }
    }
    // Short clauses do not say all.
    let short = folder.run("rules model.psdd --max-length 2 --json").ok().json();
    let short_rules: Vec<Formula> =
        short["rules"].as_array().unwrap().iter().map(|rule| formula(rule["rule"].as_str().unwrap())).collect();
    let allowed = worlds().iter().filter(|(w, _)| short_rules.iter().all(|rule| rule.is_satisfied_by(w))).count();
    assert!(allowed > 10);
    assert_eq!((&short["whole_base"], &short["allowed"]), (&json!(false), &json!(allowed.to_string())));
    let told = folder.run("rules model.psdd --max-length 2").ok().out;
    let says =
        format!("# 10 of {allowed} worlds that the rules allow are possible; longer clauses (--max-length) would");
    assert!(told.contains(&says), "{told}");
    assert!(folder.run("rules model.psdd --max-length 4").ok().out.contains("# these rules are the whole base\n"));
    // None is implied by the others.
    for i in 0..parsed.len() {
        let others = |w: &[bool]| parsed.iter().enumerate().all(|(j, rule)| i == j || rule.is_satisfied_by(w));
        assert!(worlds().iter().any(|(w, _)| others(w) && !parsed[i].is_satisfied_by(w)), "{}", rules[i]["rule"]);
    }
    for (format, file) in [("text", "base.txt"), ("cnf", "base.cnf")] {
        folder.run(&format!("rules model.psdd --max-length 4 --format {format} -o {file}")).ok();
        folder.run(&format!("equivalent model.psdd {file}")).ok();
        assert_eq!(folder.run(&format!("count {file}")).ok().out, "10\n");
    }
    let text = folder.run("rules model.psdd --max-length 4 --records records.csv").ok().out;
    assert!(text.contains("# support ") && text.contains(", excludes "), "{text}");
    let both = folder.run("rules model.psdd --max-length 4 --format cnf -o again.cnf --json").ok().json();
    assert_eq!((both, folder.read("again.cnf")), (found, folder.read("base.cnf")));
    folder.run("rules model.psdd --max-length 1").fails(&["at least 2"]);
    folder.run("rules model.psdd -o model.psdd").fails(&["would be overwritten"]);
}

#[test]
fn differences_are_counted_with_examples() {
    let folder = Folder::with_paper();
    folder.write("less.txt", "X1 | X2\n");
    let found = folder.run("diff model.psdd less.txt --json --limit 100");
    assert_eq!(found.code, 1);
    let found = found.json();
    let holds = |w: &[bool]| w[0] || w[1];
    let count = |keep: &dyn Fn(&[bool], bool) -> bool| worlds().iter().filter(|(w, p)| keep(w, *p > 0.0)).count();
    let only_model = count(&|w, possible| possible && !holds(w));
    let only_rules = count(&|w, possible| !possible && holds(w));
    assert_eq!(found["only_first"], only_model.to_string());
    assert_eq!(found["only_second"], only_rules.to_string());
    assert_eq!(found["both"], count(&|w, possible| possible && holds(w)).to_string());
    let examples = found["examples_second"].as_array().unwrap();
    assert_eq!(examples.len(), only_rules);
    let psdd = example::psdd();
    assert!(examples.iter().all(|w| holds(&bits(w)) && !psdd.is_possible(&bits(w)).unwrap()));
    assert_eq!(found["examples_first"].as_array().unwrap().len(), only_model);
    let same = folder.run("diff model.psdd model.psdd").ok();
    assert!(same.out.starts_with("both allow 10 worlds\n"), "{}", same.out);
}

/// Every impossible world of the example, and a possible one.
const ODD: &str = "X1,X2,X3,X4\n0,0,1,0\n0,1,1,0\n1,1,1,1\n1,0,0,0\n0,0,,0\n0,1,0,0\n";

#[test]
fn explanations_against_enumeration() {
    let folder = Folder::with_paper();
    folder.write("odd.csv", ODD);
    folder.write("rules.txt", "# known\nX1 & X2 & X3 -> !X4\nX1 -> X2 | X3 | X4\n");
    let found = folder.run("explain model.psdd odd.csv -k 3 --rules rules.txt --json").ok().json();
    let found = found.as_array().unwrap();
    let numbers: Vec<u64> = found.iter().map(|entry| entry["record"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 3, 4, 6]);
    let rows = [[0, 0, 1, 0], [1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0]].map(|row| row.map(|cell| cell == 1));
    for (entry, row) in found.iter().zip(rows) {
        let distance = |w: &[bool]| w.iter().zip(row).filter(|(a, b)| **a != *b).count();
        let mut near: Vec<(usize, f64)> =
            worlds().iter().filter(|(_, p)| *p > 0.0).map(|(w, p)| (distance(w), *p)).collect();
        near.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        assert_eq!(entry["distance"], near[0].0);
        for (i, world) in entry["nearest"].as_array().unwrap().iter().enumerate() {
            assert_eq!(world["distance"], near[i].0);
            close(&world["probability"], near[i].1);
            assert_eq!(world["change"].as_object().unwrap().len(), near[i].0);
        }
        // The broken rule holds in every possible world, and not in the record.
        let rule = formula(entry["rule"].as_str().unwrap());
        assert!(!rule.is_satisfied_by(&row));
        assert!(worlds().iter().all(|(w, p)| *p == 0.0 || rule.is_satisfied_by(w)));
    }
    assert_eq!(found[1]["broken"][0]["line"], 2);
    assert_eq!(found[2]["broken"][0]["line"], 3);
    assert_eq!(found[0]["broken"].as_array().unwrap().len(), 0);
    let told = folder.run("explain model.psdd odd.csv --limit 1").ok();
    assert!(told.out.starts_with("4 of 6 records are impossible\nrecord 1 breaks: "), "{}", told.out);
    assert!(told.err.contains("3 more"));
}

#[test]
fn repairs_keep_the_original() {
    let folder = Folder::with_paper();
    folder.write("odd.csv", ODD);
    let report = folder.run("repair model.psdd odd.csv -o good.csv --json").ok().json();
    assert_eq!((report["records"].as_u64(), report["repaired"].as_u64()), (Some(6), Some(4)));
    let explained = folder.run("explain model.psdd odd.csv --json").ok().json();
    let changes = report["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 4);
    for (change, why) in changes.iter().zip(explained.as_array().unwrap()) {
        assert_eq!((&change["record"], &change["change"]), (&why["record"], &why["change"]));
    }
    assert_eq!(folder.read("odd.csv"), ODD);
    folder.run("possible model.psdd good.csv").ok();
    let (before, after) = (ODD.lines(), folder.read("good.csv"));
    assert_eq!(after.lines().count(), 7);
    let differing = before.zip(after.lines()).enumerate().filter(|(_, (a, b))| a != b);
    assert_eq!(differing.map(|(i, _)| i).collect::<Vec<_>>(), [1, 3, 4, 6]);
    folder.run("repair model.psdd odd.csv -o odd.csv").fails(&["would be overwritten"]);
    folder.write("heavy.wdata", "2.5|0,0,1,0\n1|0,1,1,0\n");
    folder.run("repair model.psdd heavy.wdata -o heavy-good.wdata").ok();
    assert!(folder.read("heavy-good.wdata").starts_with("2.5|") || folder.read("heavy-good.wdata").starts_with("3.5|"));
}

#[test]
fn revision_makes_room_and_takes_it_away() {
    let folder = Folder::with_paper();
    folder.write("new.csv", "X1,X2,X3,X4\n0,0,1,0\n1,1,1,1\n0,1,1,0\n");
    let report = folder.run("revise model.psdd new.csv -o wider.psdd --json").ok().json();
    assert_eq!((report["model_count_before"].as_str(), report["model_count"].as_str()), (Some("10"), Some("12")));
    close(&report["share"], 2.0 / 32.0);
    assert_eq!(folder.run("info wider.psdd --json").ok().json()["certificate"], "psdd");
    let p = folder.run("prob wider.psdd !X1,!X2,X3,!X4 --json").ok().json();
    close(&p["probability"], 1.0 / 32.0);
    let kept = folder.run("prob wider.psdd !X1,X2,X3,!X4 --json").ok().json();
    close(&kept["probability"], 30.0 / 32.0 * 9.0 / 35.0);
    folder.run("possible wider.psdd records.csv").ok();
    let by =
        folder.run_args(&["revise", "model.psdd", "--formula", "X1 & X2 & X3", "-o", "f.psdd", "--json"]).ok().json();
    assert_eq!(by["model_count"], "11");
    let rule =
        folder.run_args(&["revise", "model.psdd", "--by-rule", "X1 -> X2", "-o", "r.psdd", "--json"]).ok().json();
    let left = worlds().iter().filter(|(w, p)| *p > 0.0 && (!w[0] || w[1])).count();
    assert_eq!(rule["model_count"], left.to_string());
    folder.run_args(&["entails", "r.psdd", "X1 -> X2"]).ok();
    let nothing = folder.run_args(&["revise", "model.psdd", "--formula", "X1 & X2 & X3 & !X4"]).ok();
    assert!(nothing.out.contains("nothing changed"), "{}", nothing.out);
    // Rules that hold anyway take nothing away, whatever the sums round to: always true, or true of all worlds left.
    for (model, rule) in [("model.psdd", "X1 | !X1"), ("r.psdd", "X1 -> X2"), ("r.psdd", "X1 & !X3 -> X2 | X4")] {
        let same = folder.run_args(&["revise", model, "--by-rule", rule, "-o", "same.psdd"]).ok();
        assert!(same.out.contains("nothing changed"), "{rule}: {}", same.out);
        let [before, after] = [model, "same.psdd"].map(|file| folder.run(&format!("marginals {file} --json")).ok().out);
        assert_eq!(before, after, "{rule}");
        let same = folder.run_args(&["revise", model, "--by-rule", rule, "--json"]).ok().json();
        assert_eq!((same["share"].as_f64(), &same["model_count"]), (Some(0.0), &same["model_count_before"]), "{rule}");
    }
    // A plain file keeps no counts, so nobody knows how much the model weighs.
    folder.write("plain.csv", "0,0,1,0\n");
    folder.run("revise plain.psdd plain.csv --vtree model.vtree").fails(&["give that number", "--weight X"]);
    let weighed = folder.run("revise plain.psdd plain.csv --vtree model.vtree --weight 9 --json").ok().json();
    close(&weighed["share"], 0.1);
    for args in ["plain.csv --weight 0", "--formula X1 --formula-weight 0", "plain.csv --weight -1"] {
        folder.run(&format!("revise plain.psdd {args} --vtree model.vtree")).fails(&[
            "weight <X>'",
            "it must be a number above 0",
            "such as 0.001",
        ]);
    }
}

#[test]
fn marginal_map_and_information_against_enumeration() {
    let folder = Folder::with_paper();
    for given in ["", "X4", "X1 | X4"] {
        let known = formula(if given.is_empty() { "true" } else { given });
        let left: Vec<(Vec<bool>, f64)> = worlds().into_iter().filter(|(w, _)| known.is_satisfied_by(w)).collect();
        let total: f64 = left.iter().map(|(_, p)| p).sum();
        let share = |keep: &dyn Fn(&[bool]) -> bool| left.iter().filter(|(w, _)| keep(w)).map(|(_, p)| p).sum::<f64>();
        let options = if given.is_empty() { vec![] } else { vec!["--given", given] };
        let ask = |args: &[&str]| folder.run_args(&[args, &options, &["--json"]].concat()).ok().json();
        let found = ask(&["map", "model.psdd", "--of", "X2,X3"]);
        let best = [0, 1, 2, 3].map(|b| share(&|w| [w[1], w[2]] == [b & 1 == 1, b & 2 == 2]));
        let best = best.into_iter().fold(0.0, f64::max);
        close(&found["probability"], best);
        close(&found["probability_given"], best / total);
        assert_eq!(found["exact"], true);
        let entropy = |vars: &[usize]| {
            let mut shares = std::collections::BTreeMap::new();
            for (w, p) in &left {
                *shares.entry(vars.iter().map(|&i| w[i]).collect::<Vec<_>>()).or_insert(0.0) += p / total;
            }
            -shares.values().filter(|p| **p > 0.0).map(|p: &f64| p * p.ln()).sum::<f64>()
        };
        let found = ask(&["information", "model.psdd", "--between", "X1,X2", "--and", "X3"]);
        close(&found["mutual_information"], entropy(&[0, 1]) + entropy(&[2]) - entropy(&[0, 1, 2]));
        close(&found["entropy_first_given_second"], entropy(&[0, 1, 2]) - entropy(&[2]));
    }
    folder.run("map model.psdd --of X2,X9").fails(&["X9"]);
}

#[test]
fn noise_makes_every_record_count() {
    let folder = Folder::with_paper();
    folder.write("odd.csv", "X1,X2,X3,X4\n0,0,1,0\n0,1,1,0\n1,1,1,1\n");
    let eps = 0.03f64;
    let answer = folder.run("eval model.psdd odd.csv --noise 0.03 --json").ok().json();
    let through = |row: [bool; 4]| {
        let term = |(w, p): &(Vec<bool>, f64)| {
            let d = w.iter().zip(row).filter(|(a, b)| **a != *b).count() as i32;
            p * eps.powi(d) * (1.0 - eps).powi(4 - d)
        };
        worlds().iter().map(term).sum::<f64>().ln()
    };
    let (f, t) = (false, true);
    close(&answer["log_likelihood"], through([f, f, t, f]) + through([f, t, t, f]) + through([t, t, t, t]));
    assert_eq!((answer["impossible"].as_u64(), answer["impossible_without_noise"].as_u64()), (Some(0), Some(2)));
    assert_eq!(answer["noise_by"], "given");
    let auto = folder.run("eval model.psdd odd.csv --noise auto --json").ok().json();
    assert_eq!(auto["noise_by"], "data");
    assert!(auto["log_likelihood"].as_f64() >= answer["log_likelihood"].as_f64());
    let valid = folder.run("eval model.psdd odd.csv --noise auto --valid records.csv --json").ok().json();
    assert_eq!(valid["noise_by"], "valid");
    assert!(valid["noise"].as_f64().unwrap() < 1e-5);
    folder.run("eval model.psdd odd.csv --noise 0.7").fails(&["from 0 to 0.5"]);
    folder.run("eval model.psdd odd.csv --noise 0.1 --valid records.csv").fails(&["--noise auto"]);
}
