//! What people ask, and what they are told when they ask it in another way than expected.

use crate::folder::{Folder, close};
use serde_json::json;

const CARS: &str = "\
color,age,fast
red,3,yes
red,12,yes
\"dark, grey\",30,no
\"dark, grey\",41,no
blue,8,no
blue,22,yes
";

fn cars() -> Folder {
    let folder = Folder::new();
    folder.write("cars.csv", CARS);
    folder.run("learn cars.csv --bins age=new:10:used:25:old --world closed -o cars.psdd").ok();
    folder
}

/// Random clauses of three literals.
fn clauses(vars: u64, number: usize) -> Vec<[i64; 3]> {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut literal = || (next(vars) + 1) as i64 * if next(2) == 0 { 1 } else { -1 };
    (0..number).map(|_| [literal(), literal(), literal()]).collect()
}

#[test]
fn a_contradiction_is_told_whatever_its_explanation_costs() {
    let folder = Folder::new();
    let lines: String = clauses(60, 600).iter().map(|[a, b, c]| format!("{a} {b} {c} 0\n")).collect();
    folder.write("many.cnf", format!("p cnf 60 600\n{lines}"));
    let told = folder.run("compile many.cnf -q --max-nodes 200000 --vtree min-fill --json");
    assert_eq!(told.code, 1, "{told:?}");
    let told = told.json();
    assert_eq!((&told["model_count"], &told["minimal"]), (&json!("0"), &json!(true)));
    assert!(told["conflict"].as_array().unwrap().len() < 300);
}

#[test]
fn a_long_contradiction_is_told_shortly() {
    let folder = Folder::new();
    let chain: String = (0..3000).map(|i| format!("e{i} -> e{}\n", i + 1)).collect();
    folder.write("long.txt", format!("{chain}e0\n!e3000\n"));
    let told = folder.run("compile long.txt --vtree right-linear");
    assert_eq!((told.code, told.out.lines().count()), (1, 203));
    assert!(told.out.ends_with("  and 2 802 more (--json has all)\n"), "{}", told.out);
}

#[test]
fn the_smallest_contradiction_is_shown() {
    let folder = Folder::new();
    let chain: String = (0..8).map(|i| format!("e{i} -> e{}\n", i + 1)).collect();
    folder.write("rules.txt", format!("{chain}e0\n!e8\nf1 | f2\nf1 -> g\nf2 -> g\n!g | h\n!h\n"));
    let told = folder.run("compile rules.txt");
    assert_eq!(told.code, 1);
    assert!(
        told.out.contains("a smallest contradiction, 5 rules; without any of them the others of this set can hold:")
    );
    assert!(told.out.ends_with("  line 15: !h\n"), "{}", told.out);
}

#[test]
fn limits_of_formulas_can_be_changed() {
    let folder = Folder::new();
    folder.write("all.csv", "a,b,c,d,e,f\n0,0,0,0,0,0\n1,1,1,1,1,1\n0,1,0,1,0,1\n");
    folder.run("learn all.csv --world open --learner factorised -o model.psdd").ok();
    let formula = "exactly(3, a, b, c, d, e, f)";
    for command in [
        "prob model.psdd F",
        "marginals model.psdd --given F",
        "mpe model.psdd --given F",
        "sample model.psdd --given F",
        "worlds model.psdd --given F",
        "map model.psdd --of a --given F",
        "information model.psdd --between a --and b --given F",
        "possible model.psdd --given F",
    ] {
        let words: Vec<&str> = command.split(' ').map(|word| if word == "F" { formula } else { word }).collect();
        folder.run_args(&words).ok();
        let limited = [&words[..], &["--max-nodes", "5"]].concat();
        folder.run_args(&limited).fails(&["more than 5 nodes", "--max-nodes N and --max-memory MB allow more"]);
    }
}

#[test]
fn diagrams_keep_their_names() {
    let folder = Folder::new();
    folder.write("rules.txt", "smoker -> risk\nexactly(1, red, green, \"dark grey\")\n");
    folder.run("compile rules.txt -o rules.sdd").ok();
    folder.run("equivalent rules.txt rules.sdd").ok();
    folder.run_args(&["entails", "rules.sdd", "smoker & red -> risk"]).ok();
    folder.run("convert rules.sdd again.sdd").ok();
    folder.run("equivalent again.sdd rules.txt").ok();
    folder.run("convert rules.sdd model.psdd").ok();
    folder.run_args(&["prob", "model.psdd", "dark grey | risk"]).ok();
    folder.run("convert model.psdd base.sdd").ok();
    assert_eq!(folder.run("count base.sdd").ok().out, "9\n");
    // A vtree that is given still counts.
    folder.run("compile rules.txt --vtree balanced -o b.sdd -o b.vtree").ok();
    folder.run("equivalent rules.txt b.sdd --vtree b.vtree").ok();
    // Columns are kept too.
    let cars = cars();
    cars.run("convert cars.psdd base.sdd").ok();
    cars.run("equivalent cars.psdd base.sdd").ok();
    cars.run_args(&["entails", "base.sdd", "color=red -> fast & age!=old"]).ok();
}

#[test]
fn probabilities_are_named_by_what_they_are_given() {
    let folder = Folder::with_paper();
    let given = folder.run("prob model.psdd X1 --json").ok().json()["probability"].as_f64().unwrap();
    let best = folder.run("mpe model.psdd --given X1 --json").ok().json();
    let map = folder.run("map model.psdd --of X2,X3,X4 --given X1 --json").ok().json();
    for answer in [&best["worlds"][0], &map] {
        let joint = answer["probability"].as_f64().unwrap();
        close(&answer["log_probability"], joint.ln());
        close(&answer["probability_given"], joint / given);
        close(&answer["log_probability_given"], (joint / given).ln());
    }
    let told = folder.run("mpe model.psdd --given X1").ok().out;
    assert!(
        told.starts_with("P = 0.1333 (ln P = -2.0149); given the evidence: P = 0.5000 (ln P = -0.6931)\n"),
        "{told}"
    );
}

#[test]
fn possible_takes_formulas() {
    let folder = cars();
    for (formula, code, out) in
        [("color=red | fast", 0, "possible\n"), ("color=red & !fast | color=blue & age=old", 1, "impossible\n")]
    {
        let told = folder.run_args(&["possible", "cars.psdd", "--given", formula]);
        assert_eq!((told.code, &told.out[..]), (code, out), "{formula}");
    }
    let told = folder.run_args(&["possible", "cars.psdd", "--given", "color=red ^ color=red", "--json"]);
    assert_eq!((told.code, told.json()), (1, json!({"possible": false})));
}

#[test]
fn mixtures_are_told_the_way_to_a_psdd() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv --learner slopp-bag --components 2 -o m.mix").ok();
    for command in [
        "rules m.mix",
        "explain m.mix cars.csv",
        "mpe m.mix",
        "worlds m.mix",
        "map m.mix --of trim_luxury",
        "repair m.mix cars.csv -o r.csv",
        "information m.mix --between trim_luxury --and heated_seats",
    ] {
        folder.run(command).fails(&["`slopp distil MODEL RECORDS -o model.psdd` makes one PSDD of it"]);
        let help = folder.run(&format!("{} --help", command.split(' ').next().unwrap())).ok().out;
        assert!(
            help.contains("The model, one circuit: a .psdd file") && !help.contains("a .spn or a .mix file"),
            "{help}"
        );
    }
}

#[test]
fn explanations_speak_of_columns() {
    let folder = cars();
    folder.write("odd.csv", "color,age,fast\n\"dark, grey\",30,yes\nred,30,no\nblue,30,no\n");
    let found = folder.run("explain cars.psdd odd.csv --json").ok().json();
    assert_eq!(found[0]["conflict"], json!({"color": "dark, grey", "fast": true}));
    // What one command proposes the other does too.
    let possible = folder.run("possible cars.psdd odd.csv --json");
    for (i, explained) in found.as_array().unwrap().iter().enumerate() {
        let answer = &possible.json()["answers"][i];
        assert_eq!((&answer["change"], &answer["distance"]), (&explained["change"], &explained["distance"]));
    }
}

#[test]
fn names_of_one_file_only_are_told() {
    let folder = Folder::new();
    folder.write("a.txt", "a -> b\n");
    folder.write("un.txt", "nosuch -> b\n");
    for command in ["diff", "equivalent"] {
        let told = folder.run(&format!("{command} a.txt un.txt"));
        assert_eq!(told.code, 1);
        assert!(told.err.contains("only a.txt mentions: a\n") && told.err.contains("only un.txt mentions: nosuch\n"));
        let told = folder.run(&format!("{command} a.txt un.txt --json")).json();
        assert_eq!([&told["only_named_first"], &told["only_named_second"]], [&json!(["a"]), &json!(["nosuch"])]);
    }
    let cars = cars();
    cars.write("rules.txt", "color=red -> fast\n");
    assert!(!cars.run("diff cars.psdd rules.txt").err.contains("mentions"));
}

#[test]
fn small_mistakes_are_told_kindly() {
    let folder = cars();
    folder.write("big.txt", (0..24).map(|i| format!("a{i} | !a{i}\n")).collect::<String>());
    assert_eq!(folder.run("count big.txt").ok().out, "16777216\n");
    folder.write("huge.txt", (0..150).map(|i| format!("a{i} | !a{i}\n")).collect::<String>());
    let exact = "1427247692705959881058285969449495136382746624";
    assert_eq!(folder.run("count huge.txt").ok().out, "about 1.43e45\n");
    assert_eq!(folder.run("count huge.txt --exact").ok().out, format!("{exact}\n"));
    assert_eq!(folder.run("count huge.txt --json").ok().json()["model_count"], exact);
    folder.write("no.txt", "exactly(1)\n");
    folder.run("count no.txt").fails(&["the rules name no variables"]);
    folder
        .run_args(&["prob", "cars.psdd", "age>=30"])
        .fails(&["write age=VALUE with one of \"new\", \"used\", \"old\""]);
    folder.run_args(&["prob", "cars.psdd", "colour=red"]).fails(&["did you mean \"color"]);
    folder.run_args(&["prob", "cars.psdd", "fast, colour=red"]).fails(&["column 7", "\n        ^^^^^^"]);
    folder.run("map cars.psdd --of fast,fast").fails(&["--of fast,fast: fast is named twice"]);
    folder
        .run("compile big.txt --vtree foo")
        .fails(&["there is no vtree method \"foo\" for rules", "min-fill, balanced"]);
    folder.write("holes.csv", "color,fast\nred,1\n,0\ngreen,1\n,1\nblue,0\n");
    assert_eq!(folder.run("data describe holes.csv --json").ok().json()["missing"], 2);
    folder.write("colors.txt", "color=red -> fast\ncolor=green -> !fast\n");
    assert!(folder.run("compile colors.txt").ok().err.contains("several values of color are counted"));
    assert!(!folder.run("compile colors.txt -q").ok().err.contains("several values"));
    folder.run("entails big.txt zebra").fails(&["there is no variable \"zebra\"; the names are "]);
}

#[test]
fn rules_of_columns_stay_whole() {
    let folder = Folder::new();
    let rows = ["red,2,1", "red,4,0", "blue,2,0", "blue,4,1", "green,5,0", "green,5,1"];
    folder.write("cars.csv", format!("color,doors,fast\n{}\n", rows.join("\n").replace(",2,", ",two,")));
    folder.run("learn cars.csv --categories doors --world closed -o cars.psdd").ok();
    let told = folder.run("rules cars.psdd").ok().out;
    let (columns, others) = told.split_once("\n# one value per column\n").unwrap().1.split_once("\n\n").unwrap();
    for column in ["color=blue, color=green, color=red", "doors=4, doors=5, doors=two"] {
        assert!(columns.contains(&format!("exactly(1, {column})")), "{told}");
    }
    assert!(others.contains("color=green <-> doors=5"), "{told}");
    folder.write("rules.txt", &told);
    folder.run("equivalent rules.txt cars.psdd").ok();
}

#[test]
fn what_rules_exclude_is_told_where_it_says_something() {
    let folder = Folder::new();
    folder.write("r.csv", "a,b,c,d\n1,0,0,0\n1,0,0,1\n1,0,1,0\n1,0,1,1\n1,1,0,0\n1,1,0,1\n1,1,1,0\n");
    folder.write("rules.txt", "a\n!(b & c & d)\n");
    folder.run("learn r.csv --rules rules.txt --learner chow-liu -o m.psdd").ok();
    let told = folder.run("rules m.psdd").ok();
    let always = told.out.lines().find(|line| line.starts_with("a ")).unwrap();
    assert!(always.contains("# support 7") && !always.contains("excludes"), "{always}");
    assert!(told.err.contains("--records FILE does"), "{told:?}");
    assert!(!folder.run("rules m.psdd --records r.csv").ok().err.contains("--records"));
    let rules = folder.run("rules m.psdd --json").ok().json();
    // A program gets the number as well, as Python does: how probable !a is in the model, which is never.
    assert_eq!(rules["rules"][0]["excluded"].as_f64(), Some(0.0));
}
