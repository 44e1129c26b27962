//! Columns with several values, from the file to every answer.

use crate::folder::Folder;
use serde_json::{Value, json};

/// Cars: red ones are fast and not large; grey ones are old.
const CARS: &str = "\
color,age,fast,size
red,3,yes,S
red,12,yes,M
grey,30,no,L
grey,41,no,S
blue,8,no,L
blue,22,yes,M
blue,9,no,S
red,5,yes,S
grey,28,no,M
blue,17,no,L
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("cars.csv", CARS);
    folder.run("learn cars.csv --bins age=new:10:used:25:old --world closed -o closed.psdd").ok();
    folder.run("learn cars.csv --bins age=new:10:used:25:old -o cars.psdd").ok();
    folder
}

#[test]
fn answers_have_values() {
    let folder = folder();
    let ask = |args: &[&str]| folder.run_args(args).ok();
    let best = ask(&["mpe", "cars.psdd", "--given", "color=red, size=?", "--json"]).json();
    let world = &best["worlds"][0]["world"];
    assert_eq!((&world["color"], &world["fast"]), (&json!("red"), &json!(true)));
    assert_eq!(best["given"], "color=red");
    assert!(ask(&["mpe", "cars.psdd", "--given", "!color=red, fast"]).out.contains("color="));
    for args in [&["worlds", "cars.psdd", "--limit", "0"][..], &["sample", "cars.psdd", "-n", "50"]] {
        let out = ask(args).out;
        let mut lines = out.lines();
        assert_eq!(lines.next(), Some("color,age,fast,size"));
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            assert!(
                ["red", "grey", "blue"].contains(&cells[0]) && ["new", "used", "old"].contains(&cells[1]),
                "{line}"
            );
        }
    }
    // Three colours, three ages, fast or not, three sizes.
    assert_eq!(folder.run("count cars.psdd").ok().out, "54\n");
    let marginals = ask(&["marginals", "cars.psdd", "--given", "color=grey", "--json"]).json();
    assert_eq!(marginals["marginals"]["color=grey"], 1.0);
    assert_eq!(marginals["marginals"]["color=red"], 0.0);
    let p = |event: &str| ask(&["prob", "cars.psdd", event, "--json"]).json()["probability"].as_f64().unwrap();
    assert!((p("color=red") + p("color=grey") + p("color=blue") - 1.0).abs() < 1e-9);
    assert!((p("color=red | age=old") - p("!(color!=red & age!=old)")).abs() < 1e-9);
    assert!((p("age=9") - p("age=new")).abs() < 1e-12, "a number is its bin");
    folder
        .run_args(&["prob", "cars.psdd", "color=pink"])
        .fails(&["column \"color\" has no value \"pink\"", "\"blue\", \"grey\", \"red\""]);
    folder.run_args(&["prob", "cars.psdd", "color=red -> size=XL"]).fails(&["column \"size\" has no value \"XL\""]);
    folder
        .run_args(&["mpe", "cars.psdd", "--given", "color=red, color=blue"])
        .fails(&["both \"red\" and \"blue\"", "impossible"]);
    folder.run_args(&["mpe", "cars.psdd", "--given", "color"]).fails(&["several values", "color=VALUE"]);
    let rules = folder.run("rules cars.psdd").ok().out;
    assert!(rules.contains("exactly(1, color=blue, color=grey, color=red)"), "{rules}");
    let info = folder.run("info cars.psdd --json").ok().json();
    assert_eq!(info["columns"]["age"], json!(["new", "used", "old"]));
}

#[test]
fn new_records_are_read_and_repaired_by_column() {
    let folder = folder();
    folder.write("new.csv", "size,fast,color,age\nL,no,red,3\n?,yes,,11\n");
    let eval = folder.run("eval closed.psdd new.csv --json").ok().json();
    assert_eq!((&eval["records"], &eval["impossible"]), (&json!(2), &json!(1)));
    let why = folder.run("explain closed.psdd new.csv --json").ok().json();
    assert_eq!(why.as_array().unwrap().len(), 1);
    assert_eq!(why[0]["distance"], 1, "one column changes");
    assert_eq!(why[0]["change"].as_object().unwrap().len(), 1);
    let text = folder.run("explain closed.psdd new.csv").ok().out;
    assert!(text.contains("change 1 cell to "), "{text}");
    let possible = folder.run("possible closed.psdd new.csv");
    assert!(possible.out.contains("record 1: change 1 cell to "), "{}", possible.out);
    folder.run("repair closed.psdd new.csv -o good.csv").ok();
    let good = folder.read("good.csv");
    let lines: Vec<&str> = good.lines().collect();
    assert_eq!((lines[0], lines[2]), ("size,fast,color,age", "?,yes,,11"), "as it was, but for what must change");
    assert_eq!(folder.run("eval closed.psdd good.csv --json").ok().json()["impossible"], 0);
    let filled = folder.run("mpe closed.psdd --records good.csv").ok().out;
    assert!(filled.lines().nth(2).unwrap().contains(",used,1,") && !filled.contains('?'), "{filled}");
    folder.write("bad.csv", "size,fast,color,age\nS,no,red,3\nL,no,pink,4\n");
    folder.run("eval cars.psdd bad.csv").fails(&[
        "bad.csv, line 3",
        "column 3 (color)",
        "\"pink\"",
        "\"blue\", \"grey\", \"red\"",
    ]);
    folder.write("bad.csv", "size,fast,color,age\nS,no,red,three\n");
    folder.run("eval cars.psdd bad.csv").fails(&["line 2", "column 4 (age)", "any number, \"new\", \"used\", \"old\""]);
    // What is revised by a formula still has one colour.
    let wide = ["revise", "closed.psdd", "--formula", "color=red & size=L", "-o", "wide.psdd"];
    folder.run_args(&wide).ok();
    folder.run_args(&["entails", "wide.psdd", "exactly(1, color=red, color=grey, color=blue)"]).ok();
    folder.run_args(&["prob", "wide.psdd", "color=red & size=L"]).ok();
}

/// The values of a column exclude each other, which says nothing, and all of them stand for one column.
#[test]
fn the_strongest_pairs_are_pairs_of_columns() {
    let folder = Folder::new();
    let rows = ["red,yes", "red,yes", "blue,no", "grey,yes", "grey,no", "blue,no", "blue,no", "blue,no"];
    let rows = (0..800).map(|i| format!("{},{}", rows[i % 8], if i % 3 == 0 { "S" } else { "L" }));
    folder.write("cars.csv", format!("color,fast,size\n{}\n", rows.collect::<Vec<_>>().join("\n")));
    let pair = |found: &Value| [found["a"].clone(), found["b"].clone()];
    let described = folder.run("data describe cars.csv --json").ok().json();
    assert_eq!(pair(&described["strongest_pairs"][0]), ["color", "fast"]);
    let told = folder.run("data describe cars.csv").ok().out;
    assert!(told.contains("\ncolor, fast") && !told.contains("color=red, color="), "{told}");
    folder.run("learn cars.csv --learner chow-liu --pseudocount 0.000001 -o cars.psdd").ok();
    let found = folder.run("marginals cars.psdd --pairs --json").ok().json();
    let pairs = found["pairs"].as_array().unwrap();
    assert_eq!((pairs.len(), pair(&pairs[0])), (3, ["color", "fast"].map(Value::from)));
    for (color, fast, p) in [("red", "true", 0.25), ("grey", "false", 0.125), ("blue", "true", 0.0)] {
        let both = pairs[0]["joint"][color][fast].as_f64().unwrap();
        assert!((both - p).abs() < 1e-6, "{color} {fast}: {found}");
    }
    let told = folder.run("marginals cars.psdd --pairs").ok().out;
    assert!(told.contains("color=red, fast   0.2500"), "{told}");
    let given = folder.run_args(&["marginals", "cars.psdd", "--pairs", "--given", "color!=red, color!=blue"]).ok();
    assert!(given.out.contains("fast, size") && !given.out.contains("color, "), "{}", given.out);
    assert!(!given.err.contains("--limit"), "{}", given.err);
}

#[test]
fn describe_split_and_rules_know_columns() {
    let folder = folder();
    let text = folder.run("data describe cars.csv --bins age=2").ok().out;
    for part in ["column", "blue 0.4000, grey 0.3000, red 0.3000", "true or false", "..17 0.5000, 17.. 0.5000"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let found = folder.run("data describe cars.csv --bins age=2 --json").ok().json();
    assert_eq!(found["columns"]["color"], json!(["blue", "grey", "red"]));
    folder.run("data split cars.csv --shares 0.5,0.5 -o part").ok();
    assert!(folder.read("part.1.csv").starts_with("color,age,fast,size\n"));
    folder.run("data describe cars.csv --max-values 5").fails(&["column 2 (age)", "more than 5", "--bins age=4"]);
    folder.run("data describe cars.csv --bins age=old").fails(&["age=young:30:old"]);
    folder.write("rules.txt", "color=red -> fast\nsize=L -> !fast\n");
    let learned = folder.run("learn cars.csv --bins age=2 --rules rules.txt -o ruled.psdd --json").ok().json();
    assert_eq!((&learned["rules"]["rules"], &learned["certificate"]), (&json!(2), &json!("psdd")));
    for rule in ["color=red -> fast", "exactly(1, size=L, size=M, size=S)", "!(color=red & size=L)"] {
        folder.run_args(&["entails", "ruled.psdd", rule]).ok();
    }
    folder.write("rules.txt", "color=red -> size=S\n");
    let refused = folder.run("learn cars.csv --bins age=2 --rules rules.txt");
    refused.fails(&["1 of 10 records", "record 2 breaks line 1: color=red -> size=S"]);
    let repaired = folder.run("learn cars.csv --bins age=2 --rules rules.txt --on-violation repair").ok();
    assert!(repaired.err.contains("changed 1 cell to "), "{}", repaired.err);
}

#[test]
fn every_learner_of_circuits_takes_columns() {
    let folder = folder();
    for learner in ["slopp-tree", "slopp-kmeans", "factorised", "chow-liu", "learnpsdd", "slopp+learnpsdd", "strudel"] {
        for world in ["open", "closed"] {
            folder.run(&format!("learn cars.csv --max-values 30 --learner {learner} --world {world} -o m.psdd")).ok();
            folder.run_args(&["entails", "m.psdd", "exactly(1, color=red, color=grey, color=blue)"]).ok();
        }
    }
    for learner in ["slopp-bag --components 2", "slopp-em --components 2"] {
        folder.run(&format!("learn cars.csv --max-values 30 --learner {learner} -o m.mix")).ok();
        let both = folder.run_args(&["prob", "m.mix", "(color=red) & color=blue", "--json"]).ok().json();
        assert_eq!(both["probability"], 0.0, "{learner}");
    }
    folder.run("learn cars.csv --max-values 30 --learner learnspn -o m.spn").ok();
    for two in ["color=red, color=blue", "!color=red, !color=blue, !color=grey"] {
        assert_eq!(folder.run_args(&["prob", "m.spn", two, "--json"]).ok().json()["probability"], 0.0, "{two}");
    }
    let drawn = folder.run("sample m.spn -n 20").ok().out;
    assert!(drawn.starts_with("color,age,fast,size\n"), "{drawn}");
    assert_eq!(folder.run("eval m.spn cars.csv --json").ok().json()["impossible"], 0);
    folder.write("rules.txt", "color=red -> fast\n");
    folder.run("learn cars.csv --max-values 30 --learner learnspn --rules rules.txt").fails(&[
        "sum-product network",
        "no vtree",
        "slopp distil",
    ]);
    folder.run("distil m.spn cars.csv --valid cars.csv -n 500 --rules rules.txt -o d.psdd").ok();
    folder.run_args(&["entails", "d.psdd", "color=red -> fast"]).ok();
    folder.run("learn cars.csv --max-values 30 --learner strudel --start cars.psdd").ok();
}

#[test]
fn rules_over_columns_allow_one_value_each() {
    let folder = Folder::new();
    folder.write("cars.csv", "color,fast\nred,1\nblue,0\ngreen,0\n");
    folder.write("rules.txt", "color=red -> fast\n");
    let compiled = folder.run("compile rules.txt --names cars.csv -o rules.psdd --json").ok().json();
    // Three colours, fast or not, but no slow red one.
    assert_eq!(compiled["model_count"], "5");
    folder.run("entails rules.psdd at_most(1,color=red,color=blue)").ok();
    folder.write("wrong.txt", "color=red & color=blue\n");
    let refused = folder.run("compile wrong.txt --names cars.csv");
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.out.contains("of the columns: exactly(1, color=blue"), "{}", refused.out);
}

#[test]
fn a_number_is_in_its_bin_whatever_the_bins_are_called() {
    let folder = Folder::new();
    folder.write("rooms.csv", "rooms,big\n1,0\n2,0\n3,1\n4,1\n5,1\n");
    folder.run("learn rooms.csv --bins rooms=1:2.5:2:4.5:3 --learner factorised -o m.psdd").ok();
    let shares = folder.run("marginals m.psdd --json").ok().json()["marginals"].clone();
    let [low, middle, high] = ["rooms=1", "rooms=2", "rooms=3"].map(|name| shares[name].as_f64().unwrap());
    assert!(low > high && middle > high, "two, two and one of five: {shares}");
}

#[test]
fn no_value_of_a_column_is_favoured() {
    let folder = Folder::new();
    let rows: String = (0..36).map(|i| format!("k{:02},{}\n", i % 12, i % 2)).collect();
    folder.write("uni.csv", format!("c,b\n{rows}"));
    for learner in ["slopp", "slopp-tree", "factorised"] {
        folder.run(&format!("learn uni.csv --learner {learner} --pseudocount 12 -o m.psdd")).ok();
        let shares = folder.run("marginals m.psdd --json").ok().json()["marginals"].clone();
        for value in 0..12 {
            let share = shares[&format!("c=k{value:02}")].as_f64().unwrap();
            assert!((share - 1.0 / 12.0).abs() < 0.02, "{learner}: each has a twelfth: {shares}");
        }
    }
}

#[test]
fn a_bar_in_quotes_is_part_of_a_value() {
    let folder = Folder::new();
    folder.write("bar.csv", "c,b\n\"x|y\",1\nz,0\n\"x|y\",0\nw,1\n3|z,1\n");
    let told = folder.run("data describe bar.csv").ok().out;
    assert!(told.contains("x|y"), "{told}");
    assert_eq!(folder.run("data describe bar.csv --json").ok().json()["records"].as_f64(), Some(7.0));
}

#[test]
fn files_without_a_common_variable_are_not_compared() {
    let folder = Folder::with_paper();
    for file in ["model.sdd", "model.vtree"] {
        folder.run(&format!("convert model.psdd {file}")).ok();
    }
    folder.write("other.txt", "a | b\n");
    for command in ["equivalent", "diff"] {
        folder.run(&format!("{command} model.psdd other.txt")).fails(&["no variable in common"]);
    }
}

/// A column has exactly one value: what would break that is refused, whoever asks for it.
#[test]
fn no_model_gives_a_column_two_values() {
    let folder = Folder::new();
    folder.write("train.csv", "color,hot\nblue,1\ngreen,0\nred,1\nblue,1\ngreen,0\n");
    folder.write("two.csv", "color=blue,color=green,color=red,hot\n1,1,0,1\n");
    folder.run("learn train.csv --world closed -o model.psdd").ok();
    folder
        .run("revise model.psdd two.csv -o two.psdd")
        .fails(&["column \"color\" has 2 values in record 1", "correct the record"]);
    let by = |formula: &str| folder.run_args(&["revise", "model.psdd", "--formula", formula, "-o", "wider.psdd"]);
    for none in ["color=blue & color=green", "!color=blue & !color=green & !color=red"] {
        by(none).fails(&["column \"color\" does not have exactly one value in any world", "correct the formula"]);
    }
    by("hot & !hot").fails(&["no world is possible"]);
    // Red and cold is new; red and blue is no world.
    by("color=red & (color=blue | !hot)").ok();
    assert_eq!(folder.run("worlds wider.psdd").ok().out.lines().filter(|line| line.contains("red")).count(), 2);
    let lie = "c slopp 1\nc vtree (1,2)\nc names [\"x=a\",\"x=b\"]\nc column {\"name\":\"x\",\"first\":1,\"values\":2}\n\
               psdd 3\nT 0 0 1 -0.5\nT 1 2 2 -0.5\nD 2 1 1 0 1 0.0\n";
    folder.write("lie.psdd", lie);
    folder.run("validate lie.psdd").fails(&["line 4", "\"x\" has none or several", "delete this line"]);
    folder.write("free.psdd", lie.replace("c column {\"name\":\"x\",\"first\":1,\"values\":2}\n", ""));
    folder.write("x.csv", "x\na\nb\n");
    folder.run("validate free.psdd").ok();
    folder.run("convert free.psdd named.psdd --names x.csv").fails(&["column \"x\"", "none or several"]);
}

#[test]
fn conditional_probabilities_are_compared_with_the_records() {
    let folder = Folder::new();
    let rows = (0..600).map(|i| ["red,yes", "red,yes", "blue,no", "grey,yes", "grey,no", "blue,no"][i % 6]);
    folder.write("cars.csv", format!("color,fast\n{}\n", rows.collect::<Vec<_>>().join("\n")));
    let learned = folder.run("learn cars.csv --learner factorised -o wrong.psdd").ok();
    assert!(learned.out.contains("fidelity     ") && learned.out.contains("0.5000 at most"), "{}", learned.out);
    assert!(
        learned.err.contains("P(fast | color=") && learned.err.contains("is 0.5000 by the model"),
        "{}",
        learned.err
    );
    let wrong = folder.run("eval wrong.psdd cars.csv --fidelity --json").ok().json();
    let worst = &wrong["fidelity"]["worst"][0];
    assert_eq!(worst["records"], 200);
    assert!((wrong["fidelity"]["largest"].as_f64().unwrap() - 0.5).abs() < 0.01, "{wrong}");
    let text = folder.run("eval wrong.psdd cars.csv --fidelity").ok().out;
    assert!(text.contains("largest difference") && text.contains("P(fast | color=red)"), "{text}");
    let learned = folder.run("learn cars.csv --learner chow-liu -o right.psdd --json").ok();
    assert!(!learned.err.contains("by the model"), "{}", learned.err);
    let right = folder.run("eval right.psdd cars.csv --fidelity --json").ok().json();
    assert!(right["fidelity"]["largest"].as_f64().unwrap() < 0.02, "{right}");
    assert_eq!(right["fidelity"], learned.json()["fidelity"]);
    assert_eq!(right["fidelity"]["conditionals"], wrong["fidelity"]["conditionals"]);
}
