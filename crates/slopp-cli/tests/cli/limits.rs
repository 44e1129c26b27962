//! Limits of rules, what mixtures entail, and whose cells are missing.

use crate::folder::{Folder, Outcome, chain};
use slopp::{Mixture, Model, example};

#[test]
fn learning_inside_rules_stops_at_limits() {
    let folder = Folder::new();
    let header: Vec<String> = (1..=40).map(|i| format!("x{i}")).collect();
    let obeying: String = (0..10).map(|i| format!("{}\n", vec![(i % 2).to_string(); 40].join(","))).collect();
    folder.write("records.csv", format!("{}\n{obeying}{}", header.join(","), chain(40, 60, 1)));
    // Twins that lie far apart in the order of the columns: every subset of the first half is told apart.
    let rules: String = (1..=20).map(|i| format!("x{i} & x{} -> x{}\n", i + 20, i % 20 + 1)).collect();
    folder.write("rules.txt", rules);
    let learn = "learn records.csv --rules rules.txt --on-violation drop --learner slopp-tree --vtree balanced";
    let refused = folder.run(&format!("{learn} --max-nodes 400"));
    refused.fails(&["more than 400 nodes", "--max-nodes N and --max-memory MB allow more"]);
    let refused = folder.run(&format!("{learn} --max-nodes 3000 -o m.psdd"));
    refused.fails(&["more than 3 000 nodes", "slopp compile RULES --names RECORDS -o rules.vtree"]);
    assert!(!folder.files().contains(&"m.psdd".to_owned()));
}

/// 23 bytes may announce ten million variables.
#[test]
fn announced_variables_stay_within_memory() {
    let folder = Folder::with_paper();
    folder.write("b.cnf", "p cnf 10000000 1\n1 0\n");
    folder.write("some.cnf", "p cnf 300000 1\n1 0\n");
    for args in ["count b.cnf", "entails b.cnf x1", "diff b.cnf b.cnf", "equivalent b.cnf b.cnf", "compile b.cnf"] {
        let refused = folder.run(&format!("{args} --max-memory 100"));
        refused.fails(&["b.cnf, line 1: 10000000 variables need more than 100 MB", "--max-memory MB"]);
    }
    // They have room, but what is made of them has not.
    for args in ["equivalent some.cnf some.cnf", "compile some.cnf"] {
        folder.run(&format!("{args} --max-memory 100")).fails(&["more than 100 MB", "--max-memory MB"]);
    }
    // Those that no clause mentions only double the count.
    let counted = folder.run("count some.cnf --max-memory 100 --json").ok().json();
    assert_eq!(counted["model_count"].as_str().unwrap().len(), 90_309, "2 to the power of 299 999");
    folder.run("learn records.csv --rules b.cnf").fails(&["b.cnf, line 1: expected at most 4 variables"]);
}

/// What a file announces is asked for in one piece, so a system without memory is an error, and nothing is aborted.
#[test]
#[cfg(target_os = "linux")]
fn memory_that_is_not_there_is_an_error() {
    let folder = Folder::new();
    folder.write("many.cnf", "p cnf 4000000 1\n1 0\n");
    folder.write("wide.csv", format!("a{}\n", ",".repeat(4_000_000)));
    folder.write("long.psdd", format!("psdd 1\n{}", "c\n".repeat(6_000_000)));
    for (run, part) in [
        ("compile many.cnf", "the variables of the diagram need more than the memory that is there"),
        ("data describe wide.csv", "does not fit into memory"),
        ("info long.psdd", "does not fit into memory"),
    ] {
        let program = folder.command(&[]);
        let program = program.get_program().to_str().unwrap();
        let limited = format!("ulimit -v 1000000; exec '{program}' {run} --threads 1");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &limited]).current_dir(folder.path("."));
        Outcome::of(shell.output().unwrap()).fails(&[part]);
    }
}

/// Records are counted as they are kept, whatever they were packed in.
#[test]
fn records_stay_within_memory() {
    let folder = Folder::new();
    folder.write("many.csv", "a,b\n".to_owned() + &"0,1\n1,1\n".repeat(1 << 18));
    folder.write("few.csv", "a,b\n".to_owned() + &"0,1\n1,1\n".repeat(1 << 12));
    folder.write("ages.csv", "age\n".to_owned() + &"40\n50\n".repeat(1 << 16));
    let refused = folder.run("data describe many.csv --records-memory 1");
    refused.fails(&["many.csv, line ", "the records need more than 1 MB of memory", "--records-memory MB"]);
    folder.run("data describe many.csv").ok();
    folder.run("data describe few.csv --records-memory 1").ok();
    folder.run("data describe ages.csv --bins age=2 --records-memory 1").fails(&["need more than 1 MB of memory"]);
}

#[test]
fn closing_columns_speaks_of_columns_and_not_of_rules() {
    let folder = Folder::new();
    let header: Vec<String> = (1..=12).map(|i| format!("x{i}")).collect();
    folder.write("records.csv", format!("{}\n{}", header.join(","), chain(12, 80, 1)));
    let refused = folder.run("learn records.csv --closed x1,x3,x5,x7,x9,x11 --max-nodes 20");
    assert!(!refused.err.contains("rules"), "{}", refused.err);
    refused.fails(&[
        "--closed: the rule that the records show of these columns is too large",
        "--max-nodes N",
        "fewer columns",
    ]);
}

#[test]
fn revision_stops_at_limits() {
    let folder = Folder::with_paper();
    for option in ["--formula", "--by-rule"] {
        let revise = ["revise", "model.psdd", option, "(X1 <-> X4) | (X2 ^ X3)"];
        let refused = folder.run_args(&[&revise[..], &["--max-nodes", "2"]].concat());
        refused.fails(&["more than 2 nodes", "--max-nodes N and --max-memory MB allow more"]);
        folder.run_args(&[&revise[..], &["--max-nodes", "100", "--max-memory", "10"]].concat()).ok();
    }
    // The formula is small, but what it takes to work its worlds into the model is not.
    folder.write("rules.txt", "x1 & x7 | x3 & x12 | x5 & !x14\nx2 | x9\nx4 <-> x13\n");
    let header: Vec<String> = (1..=14).map(|i| format!("x{i}")).collect();
    folder.write("records.csv", format!("{}\n{}", header.join(","), "1,".repeat(13) + "1\n"));
    folder.run("learn records.csv --learner factorised --rules rules.txt -o narrow.psdd").ok();
    let revise = ["revise", "narrow.psdd", "--formula", "x2 & !x4 | x6 & x10"];
    let refused = folder.run_args(&[&revise[..], &["--max-nodes", "60"]].concat());
    refused.fails(&["too large", "--max-nodes N and --max-memory MB allow more"]);
    folder.run_args(&revise).ok();
}

/// A product with the model counts as well as the diagram it is made of.
#[test]
fn products_stop_at_limits() {
    let folder = Folder::new();
    let header: Vec<String> = (1..=30).map(|i| format!("x{i}")).collect();
    folder.write("records.csv", format!("{}\n{}", header.join(","), chain(30, 300, 1)));
    folder.run("learn records.csv --learner chow-liu --world open -o m.psdd").ok();
    let formula = format!("exactly(9, {})", header.join(", "));
    let stopped =
        ["the product with the model needs more than 400 nodes", "--max-nodes N and --max-memory MB allow more"];
    for command in [["prob", "m.psdd", &formula], ["mpe", "m.psdd", "--given"], ["revise", "m.psdd", "--by-rule"]] {
        let formula: &[&str] = if command[0] == "prob" { &[] } else { &[&formula] };
        folder.run_args(&[&command[..], formula, &["--max-nodes", "400"]].concat()).fails(&stopped);
    }
    folder.run("product m.psdd m.psdd --max-nodes 10").fails(&["needs more than 10 nodes"]);
    folder.run("product m.psdd m.psdd").ok();
}

#[test]
fn every_command_that_reads_a_model_takes_limits() {
    let folder = Folder::with_paper();
    let more = "--max-nodes N and --max-memory MB allow more";
    folder.run("convert model.psdd base.sdd --max-nodes 3").fails(&[
        "more than 3 nodes",
        more,
        "keep the base as .psdd",
    ]);
    folder.run("convert model.psdd base.sdd --max-nodes 100").ok();
    folder.write("parity.rules", "x1 ^ x2 ^ x3 ^ x4 ^ x5 ^ x6 ^ x7 ^ x8\n");
    folder.run("compile parity.rules --vtree balanced -o m.psdd").ok();
    folder.run("vtree m.psdd --max-nodes 1").ok();
    folder.run("curve records.csv --vtree model.psdd --max-nodes 1").ok();
    folder.run("data generate configurations -n 300 -o cars.csv").ok();
    let names = folder.read("cars.csv").lines().next().unwrap().replace(',', " ^ ");
    folder.write("parity.rules", names);
    folder.run("compile parity.rules --names cars.csv --vtree balanced -o cars.psdd").ok();
    folder
        .run("data generate configurations --check cars.psdd --max-nodes 1")
        .fails(&["not proved within 1 node", more]);
}

/// A model that is not proved still answers what needs no proof.
#[test]
fn certificates_stop_at_limits() {
    let folder = Folder::new();
    folder.write("parity.rules", "x1 ^ x2 ^ x3 ^ x4 ^ x5 ^ x6 ^ x7 ^ x8\n");
    folder.run("compile parity.rules --vtree balanced -o m.psdd").ok();
    folder.write("all.csv", "x1,x2,x3,x4,x5,x6,x7,x8\n1,0,0,0,0,0,0,0\n");
    let info = folder.run("info m.psdd --max-nodes 1").ok();
    assert!(
        info.out.contains("not proved: ")
            && !info.out.contains("mixture")
            && info.err.contains("not proved within 1 node"),
        "{}",
        info.err
    );
    let document = folder.run("info m.psdd --max-nodes 1 --json").ok().json();
    assert_eq!(document["certificate"], "unproved");
    assert!(folder.run("eval m.psdd all.csv --max-nodes 1").ok().out.contains("-4.8520"));
    let more = "--max-nodes N and --max-memory MB allow more";
    folder.run("mpe m.psdd --max-nodes 1").fails(&["was not proved within 1 node", more]);
    folder.run("validate m.psdd --max-nodes 1").fails(&["was not proved within 1 node", more]);
    folder.run("compare m.psdd m.psdd --max-nodes 1").fails(&["was not proved within 1 node", more]);
    folder.run("validate m.psdd").ok();
}

#[test]
fn the_most_probable_worlds_stop_at_limits() {
    let folder = Folder::new();
    let header: Vec<String> = (1..=40).map(|i| format!("x{i}")).collect();
    folder.write("records.csv", format!("{}\n{}", header.join(","), chain(40, 60, 1)));
    folder.run("learn records.csv --learner factorised --world open -o m.psdd").ok();
    let more = "--max-nodes N and --max-memory MB allow more";
    folder.run("mpe m.psdd -k 1000000000 --max-memory 2").fails(&["worlds and their ranks need more than 2 MB", more]);
    folder.run("mpe m.psdd --records records.csv -k 3 --max-memory 2").ok();
}

/// Counts with more digits than anyone reads are shortened, but not for machines.
#[test]
fn huge_counts_are_short() {
    let folder = Folder::new();
    folder.write(
        "records.csv",
        format!("{}\n{}", (1..=300).map(|i| format!("x{i}")).collect::<Vec<_>>().join(","), chain(300, 20, 1)),
    );
    folder.run("learn records.csv --learner factorised --world open -o m.psdd").ok();
    let revise = ["revise", "m.psdd", "--by-rule", "x1 | x300"];
    let told = folder.run_args(&revise).ok();
    assert!(told.out.lines().all(|line| line.len() < 100), "{}", told.out);
    let document = folder.run_args(&[&revise[..], &["--json"]].concat()).ok().json();
    assert!(document["model_count"].as_str().unwrap().len() > 80);
}

#[test]
fn every_broken_rule_is_named_up_to_a_few() {
    let folder = Folder::with_paper();
    let rules = "X1 -> X2\nX1 -> X3\n# no\nX1 -> X4\n";
    folder.write("rules.txt", rules);
    folder.write("odd.csv", "X1,X2,X3,X4\n1,0,0,0\n0,0,1,1\n");
    let learned = folder.run("learn odd.csv --rules rules.txt");
    learned.fails(&["record 1 breaks line 1: X1 -> X2; line 2: X1 -> X3; line 4: X1 -> X4\n"]);
    let told = folder.run("explain model.psdd odd.csv --rules rules.txt").ok().out;
    assert!(told.contains("\n  line 1: X1 -> X2\n  line 2: X1 -> X3\n  line 4: X1 -> X4\n"), "{told}");
    folder.write("many.txt", "X1 -> X2\n".repeat(9));
    let told = folder.run("explain model.psdd odd.csv --rules many.txt").ok().out;
    assert!(told.contains("  line 5: X1 -> X2\n  and 4 more rules\n"), "{told}");
}

#[test]
fn mixtures_entail_what_every_component_does() {
    let folder = Folder::with_paper();
    for (rule, file) in [("X1 -> X2", "a.psdd"), ("X2 | X3", "b.psdd")] {
        folder.run_args(&["revise", "model.psdd", "--by-rule", rule, "-o", file]).ok();
    }
    let names = example::records().names().clone();
    let component = |file: &str| {
        slopp::io::read_model(&folder.path(file), None, &Default::default()).unwrap().model.circuit().unwrap().clone()
    };
    let parts = ["a.psdd", "b.psdd"].map(component);
    let mixture = Mixture::uniform(parts.clone()).unwrap();
    Model::new(names.clone(), mixture).save(folder.path("ab.mix")).unwrap();
    let mut seen = [0; 2];
    for text in
        ["X1 -> X2", "X2 | X3", "X1 & X2 -> X3", "X1 -> X3 | X4", "X2 -> X1", "(X1 -> X2) | X3", "true", "false"]
    {
        let formula = slopp::logic::Formula::parse(text, &names).unwrap();
        let worlds = (0..16u32).map(|bits| (0..4).map(|i| bits >> i & 1 == 1).collect::<Vec<bool>>());
        let possible = |w: &[bool]| parts.iter().any(|circuit| circuit.log_probability(w).unwrap() > f64::NEG_INFINITY);
        let expected = worlds.filter(|w| possible(w)).all(|w| formula.is_satisfied_by(&w));
        let answer = folder.run_args(&["entails", "ab.mix", text, "--json"]);
        assert_eq!(answer.code, i32::from(!expected), "{text}: {answer:?}");
        if !expected {
            let world = answer.json()["counterexample"].clone();
            let world: Vec<bool> = world.as_object().unwrap().values().map(|x| x.as_bool().unwrap()).collect();
            assert!(possible(&world) && !formula.is_satisfied_by(&world), "{text}");
        }
        seen[usize::from(expected)] += 1;
    }
    assert!(seen.iter().all(|&n| n > 1), "{seen:?}");
    folder.run("rules ab.mix").fails(&["mixture", "one circuit is needed"]);
    folder.run("count ab.mix").fails(&["a mixture", "slopp entails"]);
}

#[test]
fn missing_cells_are_told_where_they_are() {
    let folder = Folder::with_paper();
    folder.write("holes.csv", "X1,X2,X3,X4\n0,1,,0\n0,0,1,1\n");
    let refused = folder.run("learn records.csv --valid holes.csv");
    assert!(!refused.err.contains("--drop-incomplete"), "{}", refused.err);
    refused.fails(&["1 of 2 records of holes.csv have missing cells (the first is record 1)", "--valid"]);
    folder.run("learn holes.csv").fails(&["--drop-incomplete"]);
    let lines = "0,1,,0\n".repeat(100);
    folder.write("only.csv", format!("X1,X2,X3,X4\n{lines}"));
    let refused = folder.run("learn only.csv");
    assert!(!refused.err.contains("--drop-incomplete"), "{}", refused.err);
    refused.fails(&["all 100 records of only.csv have missing cells", "fill cells in"]);
    for (run, part) in [
        ("curve records.csv --valid holes.csv", "--valid"),
        ("curve holes.csv", "leave these records out"),
        ("distil model.psdd records.csv --valid holes.csv", "--valid"),
        ("distil model.psdd holes.csv", "leave these records out"),
        ("distil holes.csv records.csv", "slopp sample"),
    ] {
        folder.run(run).fails(&["1 of 2 records of holes.csv have missing cells (the first is record 1)", part]);
    }
    // A part of the same file is dropped with it.
    let half: String = (0..40).map(|i| if i % 2 == 0 { "0,1,1,0\n" } else { "1,,1,0\n" }).collect();
    folder.write("half.csv", format!("X1,X2,X3,X4\n{half}"));
    let report = folder.run("learn half.csv --split 0.5,0.5 --drop-incomplete --json").ok().json();
    assert_eq!(report["dropped_incomplete"], 20);
}

#[test]
fn words_side_by_side_miss_an_operator() {
    let folder = Folder::with_paper();
    folder.write("rules.txt", "a -> b\nb c -> a\n");
    folder.run("compile rules.txt").fails(&["rules.txt, line 2", "column 3", "missing between b and c", "in quotes"]);
    folder.run_args(&["prob", "model.psdd", "X1 X2"]).fails(&["column 4", "an operator is missing between X1 and X2"]);
    folder.run_args(&["entails", "model.psdd", "X1 X2"]).fails(&["an operator is missing between X1 and X2"]);
    folder.write("bad.cnf", "p cnf 2 1\n1 7 0\n");
    folder.run("compile bad.cnf").fails(&["bad.cnf, line 2: column 3: expected a literal from -2 to 2"]);
}

#[test]
fn huge_counts_are_refused() {
    let folder = Folder::with_paper();
    let many = "1000000000000";
    for world in ["configurations", "rankings", "noisy-copy model.psdd"] {
        let refused = folder.run(&format!("data generate {world} -n {many} -o many.csv"));
        refused.fails(&["1000000000000 records are too many to generate", "at most 1000000000"]);
    }
    let refused = folder.run(&format!("distil model.psdd records.csv --samples {many} -o student.psdd"));
    refused.fails(&["samples is 1000000000000", "at most 1000000000"]);
    for learner in ["slopp-em", "slopp-bag"] {
        let refused = folder.run(&format!("learn records.csv --learner {learner} --components {many}"));
        refused.fails(&["components is 1000000000000", "at most 4096"]);
    }
    let [long, all] =
        [many, "4"].map(|length| folder.run(&format!("rules model.psdd --max-length {length} --json")).ok());
    assert_eq!(long.json()["rules"], all.json()["rules"]);
}

#[test]
fn a_likelihood_of_nothing_is_none() {
    let folder = Folder::new();
    folder.write("records.csv", "a,b\n".to_owned() + &"1,1\n0,0\n".repeat(20));
    folder.write("impossible.csv", "a,b\n1,0\n0,1\n");
    folder.run("learn records.csv --world closed -o closed.psdd").ok();
    let score = folder.run("eval closed.psdd impossible.csv --json").ok().json();
    assert!(score["log_likelihood"].is_null() && score["impossible"] == 2, "{score}");
    let told = folder.run("eval closed.psdd impossible.csv").ok();
    assert!(told.out.contains("none: no record is possible"), "{}", told.out);
}

#[test]
fn bins_part_whatever_can_be_parted() {
    let folder = Folder::new();
    for (name, many, few) in [("low", 0, 1), ("high", 1, 0)] {
        folder.write(name, format!("a,b\n{}{}", format!("{many},1\n").repeat(45), format!("{few},0\n").repeat(5)));
        folder.run(&format!("learn {name} --bins a=2 -o {name}.psdd")).ok();
        assert!(folder.read(&format!("{name}.psdd")).contains("a=..1"), "{name}");
    }
}

#[test]
fn json_holds_nothing_that_acts_on_a_terminal() {
    let folder = Folder::new();
    folder.write("odd.csv", "a\u{202e}b,c\u{9b}\u{7f}\n0,1\n1,0\n1,1\n");
    folder.run("learn odd.csv -o odd.psdd").ok();
    let told = folder.run("mpe odd.psdd --json").ok();
    assert!(!told.out.contains(['\u{202e}', '\u{9b}', '\u{7f}']) && told.out.contains("\\u202e"), "{}", told.out);
    assert!(told.json()["worlds"][0]["world"]["a\u{202e}b"].is_boolean());
}

#[test]
fn numbers_have_no_hundreds_of_digits() {
    let folder = Folder::with_paper();
    folder.run("learn records.csv --learner slopp-tree --min-records 1e300 --split-penalty 1e-300 -o m.psdd").ok();
    let saved = folder.read("m.psdd");
    assert!(
        saved.contains("{\"min_records\":\"1e300\"}") && saved.contains("{\"split_penalty\":\"1e-300\"}"),
        "{saved}"
    );
    folder.run("fit model.psdd records.csv --pseudocount 1e300 -o fitted.psdd").ok();
    assert!(folder.read("fitted.psdd").contains("{\"pseudocount\":\"1e300\"}"));
    let split = folder.run("data split records.csv -o z --shares 1e307,1e307").ok();
    assert!(split.err.contains("the shares add up to 2.00e307, so the parts are 50.0 %, 50.0 % of"), "{}", split.err);
}

#[test]
fn what_is_echoed_is_abridged() {
    let folder = Folder::with_paper();
    let long = "X1|X2|".repeat(5000) + "X3";
    let told = folder.run_args(&["prob", "model.psdd", &long]).ok().out;
    assert!(told.starts_with("P(X1 | X2 |") && told.len() < 500, "{told}");
}

#[test]
fn records_are_no_vtree_and_one_world_is_one() {
    let folder = Folder::with_paper();
    folder.run("vtree records.csv").fails(&["slopp vtree chow-liu --data records.csv"]);
    let told = folder.run("worlds model.psdd --limit 1").ok().err;
    assert!(told.contains("only the first world is listed"), "{told}");
    let told = folder.run("worlds model.psdd --limit 2").ok().err;
    assert!(told.contains("only the first 2 worlds are listed"), "{told}");
}
