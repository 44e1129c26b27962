//! Learning and fitting: what is reported, what is saved, and that it is always the same.

use crate::folder::{Folder, chain, close, interrupts_are_ignored, odd_datasets, signalled};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

#[test]
fn every_learner_and_vtree_gives_a_valid_model() {
    let folder = Folder::with_cars();
    for learner in
        ["slopp", "slopp-tree", "slopp-kmeans", "factorised", "chow-liu", "learnpsdd", "slopp+learnpsdd", "strudel"]
    {
        for world in ["open", "closed"] {
            let args = format!("learn cars.csv --learner {learner} --world {world} -o m.psdd --json");
            let report = folder.run(&args).ok().json();
            assert_eq!((&report["learner"], &report["world"]), (&json!(learner), &json!(world)));
            assert_eq!(report["train"]["impossible"], 0, "{learner}: every training record is possible");
            let eval = folder.run("eval m.psdd cars.csv --json").ok().json();
            assert_eq!(eval, report["train"], "{learner}: what is saved is what was reported");
            if learner != "slopp-kmeans" {
                assert_eq!(report["certificate"], "psdd");
                folder.run("validate m.psdd").ok();
            }
            if world == "open" && learner != "slopp-kmeans" {
                let count = folder.run("info m.psdd --json").ok().json()["model_count"].clone();
                assert_eq!(count, json!((1u64 << 24).to_string()));
            }
        }
    }
    for vtree in [
        "balanced",
        "right-linear",
        "left-linear",
        "random",
        "chow-liu",
        "chow-liu-linear",
        "mi-top-down",
        "mi-bottom-up",
    ] {
        let report = folder.run(&format!("learn cars.csv --learner slopp-tree --vtree {vtree} --json")).ok().json();
        assert_eq!((&report["vtree"], &report["certificate"]), (&json!(vtree), &json!("psdd")));
        assert_eq!(report["model"], Value::Null);
        let report = folder.run(&format!("learn cars.csv --vtree {vtree} --json")).ok().json();
        assert_eq!((&report["vtree"], &report["certificate"]), (&json!(vtree), &json!("psdd")));
    }
}

#[test]
fn the_report_has_its_keys_in_order() {
    let folder = Folder::with_cars();
    let report = folder.run("learn cars.csv --split 0.8,0.1,0.1 --seed 4 -o m.psdd --json").ok();
    let keys = "learner world vtree seed variables nodes elements parameters size_paper certificate overlapping_sums \
                train valid test fidelity origin seconds model";
    assert_eq!(report.keys(), keys.split_whitespace().collect::<Vec<_>>());
    let found = report.json();
    assert_eq!([&found["train"]["records"], &found["valid"]["records"], &found["test"]["records"]], [240, 30, 30]);
    let origin = folder.run("info m.psdd --json").ok().json()["origin"].clone();
    assert_eq!(origin, found["origin"]);
    assert_eq!((&origin["records"], &origin["seed"]), (&json!("240"), &json!("4")));
    let text = folder.read("m.psdd");
    let machine = folder.path("").display().to_string();
    assert!(!text.contains(&machine), "a model says nothing about the machine");
}

#[test]
fn the_text_report_says_how_to_save() {
    let folder = Folder::with_cars();
    let outcome = folder.run("learn cars.csv --split 0.5,0,0.5 --world closed").ok();
    let text = outcome.out;
    for part in ["slopp, closed world", "a PSDD: the primes of every sum are proved exclusive"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(outcome.err.contains("-o model.psdd saves"), "{}", outcome.err);
    assert!(text.contains("\ntrain") && text.contains("\ntest") && !text.contains("\nvalid"), "{text}");
    assert_eq!(folder.files(), ["cars.csv"]);
    let quiet = folder.run("learn cars.csv -q -o m.psdd").ok();
    assert_eq!(quiet.err, "");
}

#[test]
fn same_bytes_on_any_number_of_threads() {
    let folder = Folder::with_cars();
    for learner in
        ["slopp", "slopp-tree", "slopp-kmeans", "chow-liu", "slopp+learnpsdd", "strudel", "strudel --scope whole"]
    {
        for threads in [1, 2, 3] {
            let args = format!("learn cars.csv --learner {learner} --seed 9 --threads {threads} -o {threads}.psdd");
            folder.run(&args).ok();
        }
        assert_eq!(folder.read("1.psdd"), folder.read("2.psdd"));
        assert_eq!(folder.read("1.psdd"), folder.read("3.psdd"));
    }
    for learner in ["slopp-bag", "slopp-em", "strudel-em"] {
        for threads in [1, 2] {
            folder.run(&format!("learn cars.csv --learner {learner} --threads {threads} -o {threads}.mix")).ok();
        }
        assert_eq!(folder.read("1.mix"), folder.read("2.mix"), "{learner}");
    }
}

#[test]
fn stdin_stdout_and_gzip() {
    let folder = Folder::with_cars();
    let cars = folder.read("cars.csv");
    folder.run("learn cars.csv -o plain.psdd").ok();
    let expected = folder.read("plain.psdd");
    let piped = folder.run_with("learn - -o -", cars.as_bytes()).ok();
    assert_eq!(piped.out, expected, "the model and nothing else is on stdout");
    folder.run("learn cars.csv -o - --json").fails(&["cannot both go to stdout"]);
    assert_eq!(folder.run("convert plain.psdd -").ok().out, expected);
    let fitted = folder.run("fit plain.psdd cars.csv --add -o -").ok();
    assert_eq!(folder.run_with("info - --json", fitted.out.as_bytes()).ok().json()["origin"]["records"], "600");
    assert!(folder.run("draw plain.psdd -o -").ok().out.starts_with("<svg "));
    assert_eq!(folder.run("sample plain.psdd -n 3 -o -").ok().out, folder.run("sample plain.psdd -n 3").ok().out);
    let mut zip = GzEncoder::new(Vec::new(), Compression::default());
    zip.write_all(cars.as_bytes()).unwrap();
    let zipped = zip.finish().unwrap();
    folder.write("cars.csv.gz", &zipped);
    folder.run("learn cars.csv.gz -o zipped.psdd").ok();
    assert_eq!(folder.read("zipped.psdd"), expected);
    folder.run_with("learn - -o piped.psdd", &zipped).ok();
    assert_eq!(folder.read("piped.psdd"), expected);
    folder.run("learn cars.csv -o m.psdd.gz").ok();
    assert!(std::fs::read(folder.path("m.psdd.gz")).unwrap().starts_with(&[0x1f, 0x8b]));
    let [a, b] = ["info m.psdd.gz --json", "info plain.psdd --json"].map(|args| folder.run(args).ok().out);
    assert_eq!(a, b);
    let piped = folder.run_with("info - --json", expected.as_bytes()).ok();
    assert_eq!(piped.out, b);
}

#[test]
fn the_papers_variants_take_their_options() {
    let folder = Folder::with_paper();
    let args = "learn records.csv --learner slopp-kmeans --variant algorithm2 --k 2 --d 4 --vtree ((1,2),(3,4)) --json";
    let report = folder.run(args).ok().json();
    assert_eq!((&report["vtree"], &report["world"]), (&json!("text"), &json!("closed")));
    assert_eq!((&report["origin"]["variant"], &report["origin"]["k"]), (&json!("algorithm2"), &json!("2")));
    let named = folder.run("learn records.csv --learner slopp-tree --vtree ((X1,X2),(X3,X4)) --json").ok().json();
    let file = folder.run("learn records.csv --learner slopp-tree --vtree model.vtree --json").ok().json();
    assert_eq!((&named["elements"], &file["vtree"]), (&file["elements"], &json!("file")));
    let model = folder.run("learn records.csv --learner slopp-tree --vtree model.psdd --json").ok().json();
    assert_eq!((&model["elements"], &model["vtree"]), (&file["elements"], &json!("file")));
    // By name and not by place; a model without names goes by place.
    folder.write("turned.csv", "X4,X3,X2,X1\n0,1,1,0\n1,0,1,1\n0,0,0,0\n");
    folder.run("learn turned.csv --learner slopp-tree --vtree model.psdd -o turned.psdd").ok();
    assert!(folder.run("vtree turned.psdd").ok().out.starts_with("((X1,X2),(X3,X4))\n"));
    folder.run("learn turned.csv --learner slopp-tree --vtree plain.psdd -o turned.psdd").ok();
    assert!(folder.run("vtree turned.psdd").ok().out.starts_with("((X4,X3),(X2,X1))\n"));
    folder.write("other.csv", "a,b,c,d\n0,1,1,0\n");
    folder.run("learn other.csv --vtree model.psdd").fails(&["other variables"]);
}

#[test]
fn weights_count_as_records() {
    let folder = Folder::with_paper();
    folder.write("w.wdata", "7|0,0,0,0\n3|0,0,1,1\n9|0,1,1,0\n3|0,1,1,1\n2|1,0,0,1\n2|1,1,0,1\n4|1,1,1,0\n");
    let [plain, weighted] = ["records.csv", "w.wdata"].map(|file| {
        folder.run(&format!("learn {file} --learner slopp-tree --vtree model.vtree --world closed --json")).ok().json()
            ["train"]
            .clone()
    });
    assert_eq!(plain, weighted);
}

#[test]
fn names_may_be_anything() {
    let folder = Folder::new();
    folder.write("odd.csv", "\"a, b\",x y,\"say \"\"hi\"\"\",ä=1\n1,0,1,0\n0,1,1,1\n1,1,0,0\n");
    folder.run("learn odd.csv -o m.psdd").ok();
    let ask = |event: &str| folder.run_args(&["prob", "m.psdd", event]).ok().out;
    assert!(ask("\"a, b\", !x y").starts_with("P(\"a, b\", !\"x y\") = "), "{}", ask("\"a, b\", !x y"));
    folder.run("sample m.psdd -n 20 -o drawn.csv").ok();
    assert_eq!(folder.run("eval m.psdd drawn.csv --json").ok().json()["records"], 20);
    let header = folder.read("odd.csv").lines().next().unwrap().to_owned();
    for args in ["sample m.psdd -n 1", "worlds m.psdd", "mpe m.psdd --records odd.csv"] {
        assert_eq!(folder.run(args).ok().out.lines().next(), Some(header.as_str()), "{args}");
    }
}

#[test]
fn options_belong_to_their_learner() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv --learner slopp-tree --max-elements 40").fails(&[
        "--max-elements belongs to the learners slopp, slopp-bag, slopp-em, slopp+learnpsdd, not to slopp-tree",
    ]);
    folder
        .run("learn cars.csv --max-elements 5")
        .fails(&["--max-elements 5 is too small: a circuit over these variables needs 23", "try: --max-elements 23"]);
    folder.run("learn cars.csv --max-classes 0").fails(&["--max-classes"]);
    folder.run("learn cars.csv --k 3").fails(&["--k belongs to the learner slopp-kmeans, not to slopp"]);
    folder.run("learn cars.csv --learner slopp-kmeans --max-clusters 3").fails(&[
        "--max-clusters belongs to the learners slopp-tree, learnspn,",
        "try: --learner slopp-tree or learnspn",
    ]);
    folder.run("learn cars.csv --learner factorised --min-records 3").fails(&["--min-records belongs", "slopp"]);
    folder.run("learn cars.csv --learner chow-liu --vtree balanced").fails(&["the vtree of its own tree"]);
    folder.run("learn cars.csv --penalty 2").fails(&["--penalty belongs to the learners learnpsdd, slopp+learnpsdd,"]);
    folder.run("learn cars.csv --pseudocount 0").fails(&["--pseudocount", "open world"]);
    for option in ["pseudocount", "seed", "min-records", "split-penalty", "threads"] {
        folder.run(&format!("learn cars.csv --{option} -1")).fails(&[&format!("--{option}"), "at least 0"]);
    }
    folder.run("mpe cars.csv -k 0").fails(&["-k", "at least 1"]);
    folder.run("learn cars.csv --split -1,2").fails(&["--split", "at least 0"]);
    folder.run("learn cars.csv --split 0,0").fails(&["--split", "0.8,0.1,0.1"]);
    let uneven = folder.run("learn cars.csv --split 0.8,0.1 --learner factorised").ok();
    assert!(uneven.err.contains("add up to 0.9") && uneven.err.contains("88.9 %, 11.1 %"), "{}", uneven.err);
    folder.run("learn cars.csv --max-clusters 0").fails(&["--max-clusters", "at least 1"]);
    folder.run("learn cars.csv --vtree sideways").fails(&["sideways", "chow-liu", "try: "]);
    for (shares, number) in [("1,2,3,4", 4), ("0.5", 1)] {
        let number = format!("--split takes two or three shares, not {number}");
        folder.run(&format!("learn cars.csv --split {shares}")).fails(&[&number]);
    }
    folder.run("learn cars.csv --vtree ((1,2),3)").fails(&["3 variables", "24"]);
}

#[test]
fn incomplete_records_can_be_dropped() {
    let folder = Folder::new();
    folder.write("holes.csv", "a,b\n1,0\n?,1\n0,1\n1,\n");
    folder.run("learn holes.csv -o m.psdd").fails(&["missing cells", "--drop-incomplete", "`slopp fit`"]);
    assert_eq!(folder.files(), ["holes.csv"]);
    let report = folder.run("learn holes.csv --drop-incomplete --json -o m.psdd").ok().json();
    assert_eq!((&report["train"]["records"], &report["dropped_incomplete"]), (&json!(2), &json!(2)));
    let text = folder.run("learn holes.csv --drop-incomplete").ok().out;
    assert!(text.contains("2 records with missing cells"), "{text}");
    let text = folder.run("fit m.psdd holes.csv --drop-incomplete").ok().out;
    assert!(text.contains("dropped 2 records with missing cells"), "{text}");
    folder.write("all.csv", "a,b\n1,?\n?,1\n");
    folder.run("learn all.csv --drop-incomplete").fails(&["every record of all.csv", "leaves none", "try: "]);
    folder.run("fit m.psdd all.csv --drop-incomplete").fails(&["leaves none"]);
    assert_eq!(folder.run("eval m.psdd holes.csv --json").ok().json()["records"], 4);
}

#[test]
fn sum_product_networks_are_saved_and_asked() {
    let folder = Folder::with_cars();
    let report = folder.run("learn cars.csv --learner learnspn --min-records 20 -o m.spn --json").ok().json();
    assert_eq!((&report["certificate"], &report["vtree"]), (&json!("spn"), &Value::Null));
    assert_eq!(folder.run("eval m.spn cars.csv --json").ok().json(), report["train"]);
    let info = folder.run("info m.spn --json").ok().json();
    assert_eq!((&info["edges"], &info["origin"]), (&report["edges"], &report["origin"]));
    assert_eq!(info["origin"]["min_records"], "20");
    let names: Vec<String> = info["names"].as_array().unwrap().iter().map(|n| n.as_str().unwrap().into()).collect();
    let given = ["--given", &names[1]];
    let marginals = folder.run_args(&[&["marginals", "m.spn", "--json"][..], &given].concat()).ok().json();
    let p = folder.run_args(&[&["prob", "m.spn", &names[0], "--json"][..], &given].concat()).ok().json();
    close(&p["probability"], marginals["marginals"][&names[0]].as_f64().unwrap());
    // What is drawn has that share, up to chance, and comes in the same way at any number.
    let drawn = folder.run_args(&[&["sample", "m.spn", "-n", "9000", "--seed", "5"][..], &given].concat()).ok().out;
    let trues = drawn.lines().skip(1).filter(|line| line.starts_with('1')).count() as f64 / 9000.0;
    assert!((trues - p["probability"].as_f64().unwrap()).abs() < 0.02, "{trues} {p}");
    let few = folder.run_args(&[&["sample", "m.spn", "-n", "300", "--seed", "5"][..], &given].concat()).ok().out;
    assert!(drawn.starts_with(&few));
    folder.write("holes.csv", folder.read("cars.csv").replacen("\n1,", "\n?,", 5));
    let batch = folder.run("prob m.spn --records holes.csv --json").ok().json();
    assert!(batch["probabilities"].as_array().unwrap().iter().all(|p| p.as_f64().unwrap() > 0.0));
    folder.run("sample m.spn --records holes.csv").ok();
    for command in ["mpe m.spn", "worlds m.spn", "possible m.spn cars.csv"] {
        folder.run(command).fails(&["sum-product network", "no vtree", "try: "]);
    }
    let valid = folder.run("validate m.spn");
    assert!(valid.code == 1 && valid.out.contains("not a valid PSDD: it has no vtree"), "{valid:?}");
    let fit = folder.run("fit m.spn holes.csv --pseudocount 1 -o fitted.spn --json").ok().json();
    let history: Vec<f64> = fit["em_history"].as_array().unwrap().iter().map(|log| log.as_f64().unwrap()).collect();
    assert!(history[history.len() - 1] > history[0], "{history:?}");
    let after = folder.run("eval fitted.spn holes.csv --json").ok().json();
    assert_eq!(after["log_likelihood"], fit["after"]["log_likelihood"]);
    folder.run("fit m.spn cars.csv --pseudocount 0").fails(&["pseudocount is 0", "above 0"]);
    for command in ["count m.spn", "entails m.spn A", "equivalent m.spn m.spn", "diff m.spn m.spn"] {
        folder.run(command).fails(&["m.spn is a sum-product network", "try: `slopp distil MODEL RECORDS"]);
    }
    folder.run("distil m.spn cars.csv -o student.psdd").ok();
    folder.run("count student.psdd").ok();
    folder.run("learn holes.csv --learner learnspn").fails(&["missing cells", "try: --drop-incomplete"]);
    folder.run("learn cars.csv --learner learnspn --vtree balanced").fails(&["has no vtree"]);
    folder
        .run("learn cars.csv --learner learnspn --world closed")
        .fails(&["the learner learnspn has only an open world", "leave --world out"]);
    let help = folder.run("learn --help").ok().out.split_whitespace().collect::<Vec<_>>().join(" ");
    for defaults in ["default: 6: slopp-tree; 2: learnspn]", "default: 20: slopp-tree; 50: learnspn]"] {
        assert!(help.contains(defaults), "{help}");
    }
}

#[test]
fn help_begins_with_the_learners() {
    let help = Folder::new().run("learn --help").ok().out;
    let lines: Vec<&str> = help.lines().collect();
    assert_eq!(lines[3..5], ["", "Learners:"], "{help}");
    for (line, learner) in lines[5..].iter().zip(slopp::learn::registry::LEARNERS) {
        assert!(line.trim_start().starts_with(learner.name) && line.ends_with(learner.about), "{line}");
    }
}

#[test]
fn what_is_read_from_stdin_is_called_so() {
    let folder = Folder::new();
    folder.run_with("learn -", b"a,b\n1,0\n0,\n").fails(&["1 of 2 records of stdin have missing cells"]);
    folder.run_with("learn - --drop-incomplete", b"a,b\n1,\n").fails(&["every record of stdin misses a cell"]);
}

#[test]
fn the_ending_of_a_model_is_that_of_its_kind() {
    let folder = Folder::with_cars();
    for (learner, wrong, right) in [
        ("learnspn", "m.psdd", "m.spn"),
        ("strudel-em", "M.PSDD.gz", "M.mix"),
        ("slopp-bag", "m.spn", "m.mix"),
        ("slopp", "m.mix", "m.psdd"),
    ] {
        let args = format!("learn cars.csv --learner {learner} -o {wrong}");
        folder.run(&args).fails(&[&format!("what the learner {learner} makes is"), &format!("try: -o {right}")]);
        assert!(!folder.path(wrong).exists());
    }
    let told = folder.run("learn cars.csv --learner learnspn").ok().err;
    assert!(told.contains("-o model.spn saves the model"), "{told}");
}

#[test]
fn no_possible_record_is_no_number() {
    let folder = Folder::new();
    folder.write("one.csv", "a,b\n1,0\n1,0\n");
    folder.write("other.csv", "a,b\n0,1\n");
    let told = folder.run("learn one.csv --valid other.csv --world closed").ok();
    assert!(!told.out.contains("NaN"), "{told:?}");
    let report = folder.run("learn one.csv --valid other.csv --world closed -o one.psdd --json").ok().json();
    assert_eq!(report["valid"]["log_likelihood_per_possible_record"], Value::Null);
    assert!(!folder.run("eval one.psdd other.csv").ok().out.contains("NaN"));
}

#[test]
fn odd_records_are_learned_by_every_learner() {
    let folder = Folder::new();
    for (name, [train, valid, test]) in odd_datasets() {
        folder.write("train.csv", train);
        folder.write("valid.csv", valid);
        folder.write("test.csv", test);
        for learner in folder.names_for("learn train.csv --learner") {
            let args = format!("learn train.csv --valid valid.csv --test test.csv --learner {learner} -o m --json");
            let report = folder.run(&args).ok().json();
            assert_eq!(report["train"]["impossible"], 0, "{learner} on {name}: {report}");
            assert_eq!(folder.run("eval m test.csv --json").ok().json(), report["test"], "{learner} on {name}");
        }
    }
}

#[test]
fn an_interrupted_learner_leaves_nothing() {
    if interrupts_are_ignored() {
        return;
    }
    let folder = Folder::new();
    folder.write("long.csv", chain(60, 20_000, 1));
    let mut command = folder.command(&["learn", "long.csv", "--effort", "best", "-o", "m.psdd"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    if signalled(&mut child, "slopp", ("-INT", 2)) {
        assert_eq!(child.wait().unwrap().code(), Some(130), "it was still learning");
        assert_eq!(folder.files(), ["long.csv"]);
    }
}
