//! Learning and fitting: what is reported, what is saved, and that it is always the same.

use crate::folder::{Folder, MIXTURE, chain, close, interrupts_are_ignored, odd_datasets};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

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
                train valid test origin seconds model";
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
    assert!(ask("\"a, b\", !x y").starts_with("P(\"a, b\", !x y) = "), "{}", ask("\"a, b\", !x y"));
    folder.run("sample m.psdd -n 20 -o drawn.csv").ok();
    assert_eq!(folder.run("eval m.psdd drawn.csv --json").ok().json()["records"], 20);
    let header = folder.read("odd.csv").lines().next().unwrap().to_owned();
    for args in ["sample m.psdd -n 1", "worlds m.psdd", "mpe m.psdd --records odd.csv"] {
        assert_eq!(folder.run(args).ok().out.lines().next(), Some(header.as_str()), "{args}");
    }
}

#[test]
fn refinement_starts_from_what_it_is_given_and_helps() {
    let folder = Folder::with_cars();
    let test = |args: &str| {
        let report = folder.run(&format!("learn cars.csv --split 0.6,0.2,0.2 --json {args}")).ok().json();
        report["test"]["log_likelihood_per_record"].as_f64().unwrap()
    };
    assert!(test("--learner learnpsdd") > test("--learner chow-liu"));
    assert!(test("--learner learnpsdd --vtree mi-bottom-up") > test("--learner factorised"));
    assert!(test("--learner slopp+learnpsdd --steps 0") <= test("--learner slopp+learnpsdd"));
    assert!(test("--learner strudel") > test("--learner chow-liu"));
    assert!(test("--learner strudel --scope whole") > test("--learner chow-liu"));
    assert!(test("--learner strudel --vtree mi-bottom-up") > test("--learner factorised"));
    let report = folder.run("learn cars.csv --learner strudel --scope whole --depth 2 --steps 9 --json").ok().json();
    let origin = &report["origin"];
    assert_eq!([&origin["scope"], &origin["depth"], &origin["steps"]], ["whole", "2", "9"]);
}

#[test]
fn refinement_starts_from_any_model() {
    let folder = Folder::with_cars();
    folder.run("data split cars.csv --shares 0.5,0.5 -o part").ok();
    folder.run("learn part.1.csv --world closed -o start.psdd").ok();
    let worlds = |model: &str| folder.run(&format!("info {model} --json")).ok().json()["model_count"].clone();
    for learner in ["learnpsdd --penalty 0.2", "strudel", "strudel --scope whole"] {
        // Judged by the records it learns from, so that it grows.
        let refine = format!("learn part.1.csv --valid part.1.csv --learner {learner} --start start.psdd --json");
        let report = folder.run(&format!("{refine} -o refined.psdd")).ok().json();
        assert_eq!(worlds("refined.psdd"), worlds("start.psdd"), "{learner}: the base stays");
        assert_eq!([&report["origin"]["start"], &report["world"], &report["vtree"]], ["slopp", "closed", "file"]);
        let unchanged = folder.run(&format!("{refine} --steps 0")).ok().json();
        let value = |report: &Value| report["train"]["log_likelihood"].as_f64().unwrap();
        assert!(value(&report) > value(&unchanged), "{learner}: {report}");
        assert!(unchanged["elements"].as_u64() < report["elements"].as_u64());
    }
    // A model may be replaced by what is made of it, and columns go by name.
    folder.run("learn part.1.csv --learner strudel --start start.psdd -o start.psdd").ok();
    folder.write("turned.csv", "b,a\n1,0\n0,1\n1,1\n0,0\n1,1\n");
    folder.write("plain.csv", "a,b\n0,1\n1,0\n1,1\n0,0\n1,1\n");
    folder.run("learn plain.csv -o two.psdd").ok();
    for file in ["turned.csv", "plain.csv"] {
        folder.run(&format!("learn {file} --learner strudel --start two.psdd -o {file}.psdd")).ok();
    }
    assert_eq!(folder.read("turned.csv.psdd"), folder.read("plain.csv.psdd"));
}

#[test]
fn refinement_refuses_what_it_cannot_start_from() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv -o cars.psdd").ok();
    folder.write("other.csv", "a,b\n0,1\n1,0\n");
    folder.run("learn other.csv --learner strudel --start cars.psdd").fails(&["other.csv", "a"]);
    folder.run("learn cars.csv --learner strudel --start gone.psdd").fails(&["gone.psdd"]);
    folder
        .run("learn cars.csv --start cars.psdd")
        .fails(&["--start belongs to the learners learnpsdd, strudel, strudel-em, not to slopp"]);
    folder
        .run("learn cars.csv --learner learnpsdd --scope whole")
        .fails(&["--scope belongs to the learners strudel, strudel-em,"]);
    for option in ["--vtree balanced", "--world open"] {
        folder.run(&format!("learn cars.csv --learner strudel --start cars.psdd {option}")).fails(&["--start"]);
    }
    folder.run("learn cars.csv --learner strudel --start cars.psdd --world open").fails(&[
        "what it makes impossible stays",
        "try: leave --world out",
        "slopp revise",
    ]);
    folder.run("learn cars.csv --learner slopp-kmeans --k 3 --d 10 -o mixture.psdd").ok();
    for learner in ["learnpsdd --penalty 0.2", "strudel", "strudel --scope whole"] {
        folder
            .run(&format!("learn cars.csv --learner {learner} --start mixture.psdd"))
            .fails(&["refinement needs a deterministic circuit, and this one is a mixture", "try: "]);
    }
    folder.run("learn cars.csv --learner strudel --scope whole --steps 40 -o weak.psdd").ok();
    assert_eq!(folder.run("info weak.psdd --json").ok().json()["certificate"], "deterministic");
    for learner in ["learnpsdd", "strudel"] {
        folder
            .run(&format!("learn cars.csv --learner {learner} --start weak.psdd"))
            .fails(&["refines PSDDs, and the model is none", "try: --learner strudel --scope whole"]);
    }
    folder.run("learn cars.csv --learner strudel --scope whole --start weak.psdd").ok();
    folder.write("one.csv", "a,b\n1,0\n");
    folder.run("learn one.csv --world closed -o one.psdd").ok();
    folder.write("none.csv", "a,b\n0,1\n");
    folder.run("learn none.csv --learner strudel --start one.psdd").fails(&["none of the records is possible"]);
}

#[test]
fn options_belong_to_their_learner() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv --learner slopp-tree --max-elements 40").fails(&[
        "--max-elements belongs to the learners slopp, slopp-bag, slopp-em, slopp+learnpsdd, not to slopp-tree",
    ]);
    folder
        .run("learn cars.csv --max-elements 5")
        .fails(&["--max-elements 5 is less than the 23", "try: --max-elements 23"]);
    folder.run("learn cars.csv --max-classes 0").fails(&["--max-classes"]);
    folder.run("learn cars.csv --k 3").fails(&["--k belongs to the learner slopp-kmeans, not to slopp"]);
    folder.run("learn cars.csv --learner slopp-kmeans --max-clusters 3").fails(&[
        "--max-clusters belongs to the learners slopp-tree, learnspn,",
        "try: --learner slopp-tree or learnspn",
    ]);
    folder.run("learn cars.csv --learner factorised --min-records 3").fails(&["--min-records belongs", "slopp"]);
    folder.run("learn cars.csv --learner chow-liu --vtree balanced").fails(&["its own vtree"]);
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
    folder.run("learn cars.csv --split 1,2,3,4").fails(&["up to three shares"]);
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
fn fitting_keeps_the_structure() {
    let folder = Folder::with_cars();
    folder.run("data split cars.csv --shares 0.5,0.5 -o part").ok();
    folder.run("learn part.1.csv --world closed -o one.psdd").ok();
    // Added to its own records, a model that keeps counts is as if fitted to both.
    folder.run("fit one.psdd part.2.csv --add -o added.psdd").ok();
    folder.run("fit one.psdd cars.csv -o both.psdd").ok();
    let ask = |model: &str| folder.run(&format!("eval {model} cars.csv --json")).ok().json();
    let [added, both] = [ask("added.psdd"), ask("both.psdd")];
    close(&added["log_likelihood"], both["log_likelihood"].as_f64().unwrap());
    let [one, added] = ["one.psdd", "added.psdd"].map(|m| folder.run(&format!("info {m} --json")).ok().json());
    assert_eq!(one["elements"], added["elements"]);
    let report = folder.run("fit one.psdd part.2.csv --json").ok().json();
    let (before, after) = (&report["before"]["log_likelihood"], &report["after"]["log_likelihood"]);
    assert!(after.as_f64() > before.as_f64(), "{report}");
    assert_eq!(report["model"], Value::Null);
    let outcome = folder.run("fit one.psdd part.2.csv").ok();
    let text = &outcome.out;
    assert!(text.contains("left out") && text.contains("before") && outcome.err.contains("not saved"), "{outcome:?}");
    folder.run("fit one.psdd part.2.csv --pseudocount=-1").fails(&["pseudocount", "at least 0"]);
}

#[test]
fn counts_are_needed_to_add() {
    let folder = Folder::with_paper();
    folder.write("data.csv", "1,1,1,0\n");
    folder.run("fit plain.psdd data.csv --add").fails(&["keeps no counts", "try: `slopp fit MODEL"]);
    folder.run("fit plain.psdd data.csv -o fitted.psdd").ok();
    folder.run("fit fitted.psdd data.csv --add").ok();
}

#[test]
fn missing_cells_are_fitted_by_expectation_maximisation() {
    let folder = Folder::new();
    folder.write("complete.csv", "a,b\n1,0\n0,1\n1,1\n0,1\n");
    folder.write("holes.csv", "a,b\n1,0\n?,1\n0,1\n1,\n1,1\n0,?\n");
    folder.run("learn complete.csv --learner chow-liu -o m.psdd").ok();
    let report = folder.run("fit m.psdd holes.csv --pseudocount 0 -o em.psdd --json").ok().json();
    let history: Vec<f64> = report["em_history"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(history.windows(2).all(|step| step[0] <= step[1] + 1e-12), "{history:?}");
    assert_eq!(report["em_steps"], history.len() - 1);
    close(&report["before"]["log_likelihood_per_record"], history[0]);
    close(&report["after"]["log_likelihood_per_record"], history[history.len() - 1]);
    // By hand: P(a) and P(b|a) at the optimum make the expected counts their own source.
    let p = |event: &str, given: &[&str]| {
        let args = [&["prob", "em.psdd", event, "--json"], given].concat();
        folder.run_args(&args).ok().json()["probability"].as_f64().unwrap()
    };
    let (a, b_a, b_na, a_b) =
        (p("a", &[]), p("b", &["--given", "a"]), p("b", &["--given", "!a"]), p("a", &["--given", "b"]));
    assert!((a - (3.0 + a_b) / 6.0).abs() < 1e-3, "{a} {a_b}");
    assert!((b_a - (1.0 + a_b + b_a) / (3.0 + a_b)).abs() < 1e-3, "{b_a}");
    assert!((b_na - (1.0 + (1.0 - a_b) + b_na) / (3.0 - a_b)).abs() < 1e-3, "{b_na}");
    let few = folder.run("fit m.psdd holes.csv --em-steps 1").ok();
    assert!(few.out.contains("1 step of EM on 6 records") && few.err.contains("--em-steps"), "{few:?}");
    assert_eq!(folder.run("info em.psdd --json").ok().json()["origin"]["parameters"], "em");
    folder.run("fit m.psdd holes.csv --add").fails(&["cells are missing", "without --add"]);
    folder.run("fit m.psdd complete.csv --em-steps 3").fails(&["exactly, by counting"]);
}

#[test]
fn mixtures_are_fitted_by_expectation_maximisation() {
    let folder = Folder::new();
    folder.write("mixture.psdd", MIXTURE);
    folder.write("data.csv", "x1,x2,x3\n1,1,1\n0,0,1\n1,0,1\n1,1,1\n1,1,0\n");
    let report = folder.run("fit mixture.psdd data.csv -o m.psdd --json").ok().json();
    assert_eq!((&report["counted"], &report["impossible"]), (&json!(4), &json!(1)));
    let gained = |part: &str| report[part]["log_likelihood"].as_f64().unwrap();
    assert!(gained("after") > gained("before"), "{report}");
    assert_eq!(folder.run("eval m.psdd data.csv --json").ok().json(), report["after"]);
    folder.run("fit mixture.psdd data.csv --add").fails(&["the model is a mixture"]);
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
    for command in ["mpe m.spn", "worlds m.spn", "validate m.spn", "possible m.spn cars.csv"] {
        folder.run(command).fails(&["sum-product network", "no vtree", "try: "]);
    }
    let fit = folder.run("fit m.spn holes.csv --pseudocount 1 -o fitted.spn --json").ok().json();
    let history: Vec<f64> = fit["em_history"].as_array().unwrap().iter().map(|log| log.as_f64().unwrap()).collect();
    assert!(history[history.len() - 1] > history[0], "{history:?}");
    let after = folder.run("eval fitted.spn holes.csv --json").ok().json();
    assert_eq!(after["log_likelihood"], fit["after"]["log_likelihood"]);
    folder.run("fit m.spn cars.csv --pseudocount 0").fails(&["pseudocount is 0", "above 0"]);
    for command in ["count m.spn", "entails m.spn A", "equivalent m.spn m.spn", "diff m.spn m.spn"] {
        folder.run(command).fails(&["m.spn is a sum-product network", "try: "]);
    }
    folder.run("learn holes.csv --learner learnspn").fails(&["missing cells", "try: --drop-incomplete"]);
    folder.run("learn cars.csv --learner learnspn --vtree balanced").fails(&["has no vtree"]);
    folder
        .run("learn cars.csv --learner learnspn --world closed")
        .fails(&["the learner learnspn has only an open world", "leave --world out"]);
    let help = folder.run("learn --help").ok().out;
    assert!(help.contains("[default: 6; 2 for learnspn]") && help.contains("[default: 20; 50 for learnspn]"), "{help}");
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
fn a_closed_world_is_refined_without_losing_records() {
    let folder = Folder::with_cars();
    let learn = |args: &str| folder.run(&format!("learn cars.csv --split 0.4,0.2,0.4 --world closed {args}")).ok();
    let tree = learn("--learner chow-liu --json").json();
    for learner in ["strudel", "learnpsdd", "strudel --scope whole"] {
        let report = learn(&format!("--learner {learner} --json")).json();
        assert_eq!(report["origin"]["pseudocount"], "2", "as in an open world: so the base stays");
        for part in ["train", "valid", "test"] {
            assert_eq!(report[part]["impossible"], tree[part]["impossible"], "{learner}, {part}");
        }
    }
    folder.run("learn cars.csv --learner strudel --pseudocount 0").fails(&["--pseudocount", "open world"]);
}

#[test]
fn what_is_held_out_is_told() {
    let folder = Folder::with_cars();
    for learner in ["slopp", "strudel", "learnpsdd", "slopp+learnpsdd"] {
        let told = folder.run(&format!("learn cars.csv --learner {learner}")).ok().err;
        assert!(told.contains("held out by seed to choose by; --valid FILE"), "{learner}: {told}");
        let told = folder.run(&format!("learn cars.csv --valid cars.csv --learner {learner}")).ok().err;
        assert!(!told.contains("held out"), "{learner}: {told}");
    }
    let report = folder.run("learn cars.csv --learner strudel --steps 7 --json").ok().json();
    assert_eq!(report["origin"]["steps_done"], "7");
    assert!(report["origin"]["held_out"].as_str().unwrap().parse::<f64>().unwrap() > 1.0);
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
    // Far more work than the pause below, on any machine.
    let mut command = folder.command(&["learn", "long.csv", "--effort", "best", "-o", "m.psdd"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert!(child.try_wait().unwrap().is_none(), "it is still learning");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    assert_eq!(folder.files(), ["long.csv"]);
}
