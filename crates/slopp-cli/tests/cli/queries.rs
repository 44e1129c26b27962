//! Queries, against the exact answers of the paper's example.

use crate::folder::{Folder, MIXTURE, close};
use serde_json::{Value, json};

/// The ten possible worlds of the paper's example with their probabilities.
const WORLDS: [(&str, f64); 10] = [
    ("0000", 7.0 / 30.0),
    ("0011", 1.0 / 10.0),
    ("0101", 2.0 / 35.0),
    ("0110", 9.0 / 35.0),
    ("0111", 3.0 / 35.0),
    ("1001", 1.0 / 105.0),
    ("1010", 3.0 / 70.0),
    ("1011", 1.0 / 70.0),
    ("1101", 1.0 / 15.0),
    ("1110", 2.0 / 15.0),
];

fn probability(holds: impl Fn(&[u8]) -> bool) -> f64 {
    WORLDS.iter().filter(|(world, _)| holds(world.as_bytes())).map(|(_, p)| p).sum()
}

#[test]
fn probabilities_of_all_worlds() {
    let folder = Folder::with_paper();
    for bits in 0..16u32 {
        let world: String = (0..4).map(|i| if bits >> (3 - i) & 1 == 1 { '1' } else { '0' }).collect();
        let event: Vec<String> = world.chars().enumerate().map(|(i, c)| format!("X{}={c}", i + 1)).collect();
        let answer = folder.run_args(&["prob", "model.psdd", &event.join(", "), "--json"]).ok();
        assert_eq!(answer.keys(), ["probability", "log_probability"]);
        let expected = probability(|w| w == world.as_bytes());
        close(&answer.json()["probability"], expected);
        match expected {
            0.0 => assert_eq!(answer.json()["log_probability"], Value::Null),
            p => close(&answer.json()["log_probability"], p.ln()),
        }
    }
}

#[test]
fn conditional_probability_in_words() {
    let folder = Folder::with_paper();
    let expected = probability(|w| w[0] == b'0' && w[3] == b'1') / probability(|w| w[3] == b'1');
    let answer = folder.run_args(&["prob", "model.psdd", "!X1", "--given", "X4"]).ok();
    assert_eq!(answer.out, format!("P(!X1 given X4) = {expected:.4}\nln P = {:.4}\n", expected.ln()));
    let answer = folder.run_args(&["prob", "model.psdd", "!X4", "--given", "X4", "--json"]).ok();
    assert_eq!(answer.json(), json!({"probability": 0.0, "log_probability": null}));
}

#[test]
fn evidence_of_probability_zero_is_an_error() {
    let folder = Folder::with_paper();
    folder
        .run_args(&["prob", "model.psdd", "X4", "--given", "X1,!X2,!X3,!X4"])
        .fails(&["probability zero", "nearest possible world"]);
    folder.run_args(&["marginals", "model.psdd", "--given", "X1,X2,X3,X4"]).fails(&["probability zero"]);
    folder.run_args(&["mpe", "model.psdd", "--given", "X1,X2,X3,X4"]).fails(&["probability zero"]);
    folder.run_args(&["sample", "model.psdd", "--given", "X1,X2,X3,X4"]).fails(&["probability zero"]);
}

#[test]
fn batches_of_records_with_missing_cells() {
    let folder = Folder::with_paper();
    folder.write("partial.csv", "X4,X1,X2,X3\n0,0,1,1\n?,1,,\n1,1,1,1\n0,0,1,1\n");
    let answer = folder.run("prob model.psdd --records partial.csv --json").ok().json();
    let p1 = probability(|w| w[0] == b'1');
    for (i, expected) in [9.0 / 35.0, p1, 0.0, 9.0 / 35.0].into_iter().enumerate() {
        close(&answer["probabilities"][i], expected);
    }
    assert_eq!(answer["log_probabilities"][2], Value::Null);
    let answer = folder.run("prob model.psdd X4 --records partial.csv").ok();
    let expected = probability(|w| w[0] == b'1' && w[3] == b'1') / p1;
    let lines: Vec<&str> = answer.out.lines().collect();
    assert_eq!([lines[0], lines[2], lines[3]], ["0", "", "0"]);
    assert!((lines[1].parse::<f64>().unwrap() - expected).abs() < 1e-12, "full precision: {}", lines[1]);
    assert!(answer.err.contains("1 impossible record "), "{}", answer.err);
    let answer = folder.run("marginals model.psdd --records partial.csv").ok();
    let lines: Vec<&str> = answer.out.lines().collect();
    assert_eq!(lines[0], "X1,X2,X3,X4");
    assert_eq!(lines[1], "0,1,1,0");
    assert_eq!(lines[3], ",,,");
    assert!(answer.err.contains("1 impossible record "), "{}", answer.err);
    let answer = folder.run("mpe model.psdd --records partial.csv").ok();
    assert_eq!(answer.out, "X1,X2,X3,X4\n0,1,1,0\n1,1,1,0\n,,,\n0,1,1,0\n");
    assert!(answer.err.contains("1 impossible record "), "{}", answer.err);
    let ranked = folder.run("mpe model.psdd --records partial.csv -k 2").ok().out;
    assert!(ranked.lines().all(|line| line.split(',').count() == 6) && ranked.contains("\n3,0,,,,\n"), "{ranked}");
    let ranked = folder.run("mpe model.psdd --records partial.csv -k 2 --json").ok().json();
    close(&ranked["worlds"][1][1]["probability"], 1.0 / 15.0);
    assert_eq!((ranked["worlds"][0].as_array().unwrap().len(), &ranked["worlds"][2]), (1, &json!([])));
    let pairs = folder.run("marginals model.psdd --pairs --records partial.csv --json").ok().json();
    assert_eq!((pairs["pairs"][1].as_array().unwrap().len(), &pairs["pairs"][2]), (3, &Value::Null));
    folder.run("marginals model.psdd --pairs --records partial.csv").fails(&["try: --json"]);
    let answer = folder.run("sample model.psdd --records partial.csv").ok();
    assert_eq!([1, 3].map(|i| answer.out.lines().nth(i).unwrap()), ["0,1,1,0", ",,,"]);
    assert!(answer.err.contains("1 impossible record ") && answer.err.contains("slopp possible"), "{}", answer.err);
    let answer = folder.run("sample model.psdd --records partial.csv --json").ok().json();
    assert_eq!((&answer["worlds"][2], answer["worlds"][3].is_object()), (&Value::Null, true));
    folder.write("same.csv", format!("X1,X2,X3,X4\n{}", "?,?,?,?\n".repeat(200)));
    let drawn = folder.run("sample model.psdd --records same.csv").ok().out;
    let zeros = drawn.lines().filter(|line| *line == "0,0,0,0").count();
    assert!((20..80).contains(&zeros), "equal records are completed independently: {zeros}");
    folder.write("open.csv", "X1,X2,X3,X4\n?,?,?,1\n1,?,?,?\n");
    for seed in 0..5 {
        let drawn = folder.run(&format!("sample model.psdd --records open.csv --seed {seed}")).ok().out;
        assert_eq!(
            drawn,
            folder.run(&format!("sample model.psdd --records open.csv --seed {seed} --threads 1")).ok().out
        );
        let lines: Vec<String> = drawn.lines().skip(1).map(|line| line.replace(',', "")).collect();
        assert!(lines[0].ends_with('1') && lines[1].starts_with('1'), "{lines:?}");
        assert!(lines.iter().all(|line| WORLDS.iter().any(|(world, _)| world == line)), "{lines:?}");
    }
}

#[test]
fn marginals_and_pairs() {
    let folder = Folder::with_paper();
    let answer = folder.run_args(&["marginals", "model.psdd", "--given", "X2", "--pairs", "--json"]).ok().json();
    let given = probability(|w| w[1] == b'1');
    assert_eq!(answer["given"], "X2");
    for i in 0..4 {
        let name = format!("X{}", i + 1);
        close(&answer["marginals"][&name], probability(|w| w[1] == b'1' && w[i] == b'1') / given);
    }
    let pairs = answer["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    for pair in pairs {
        let place = |key: &str| pair[key].as_str().unwrap()[1..].parse::<usize>().unwrap() - 1;
        let (a, b) = (place("a"), place("b"));
        close(&pair["both"], probability(|w| w[1] == b'1' && w[a] == b'1' && w[b] == b'1') / given);
    }
    let text = folder.run("marginals model.psdd --pairs --limit 2").ok();
    assert!(text.out.starts_with("variable  P(true)\nX1         0.2667\n"), "{}", text.out);
    assert!(text.err.contains("2 of 6 pairs"), "{}", text.err);
}

/// Also where a formula leaves its probability one but for rounding.
#[test]
fn a_certain_variable_tells_nothing_about_others() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b,c,d\n0,1,1,1\n1,1,0,1\n0,0,1,1\n1,0,1,1\n0,0,0,1\n0,1,0,1\n0,1,1,1\n");
    folder.run("learn t.csv --learner factorised --world closed -o m.psdd").ok();
    for given in ["", "a | (b & a)"] {
        let answer = folder.run_args(&["marginals", "m.psdd", "--given", given, "--pairs", "--json"]).ok().json();
        let pairs = answer["pairs"].as_array().unwrap();
        assert!(pairs.iter().all(|pair| pair["mutual_information"].as_f64().is_some_and(|x| x < 1e-12)), "{answer}");
    }
}

#[test]
fn most_probable_worlds() {
    let folder = Folder::with_paper();
    let answer = folder.run("mpe model.psdd --json").ok().json();
    assert_eq!(answer["worlds"][0]["world"], json!({"X1": false, "X2": true, "X3": true, "X4": false}));
    close(&answer["worlds"][0]["probability"], 9.0 / 35.0);
    let answer = folder.run("mpe model.psdd -k 20 --json").ok().json();
    let worlds = answer["worlds"].as_array().unwrap();
    let mut expected: Vec<f64> = WORLDS.iter().map(|(_, p)| *p).collect();
    expected.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(worlds.len(), expected.len());
    worlds.iter().zip(expected).for_each(|(world, p)| close(&world["probability"], p));
    let text = folder.run("mpe model.psdd --given X1").ok();
    assert!(text.out.contains("X1, X2, X3, !X4") && text.out.contains("given the evidence: P = 0.5"), "{}", text.out);
}

#[test]
fn worlds_are_listed_once() {
    let folder = Folder::with_paper();
    let answer = folder.run("worlds model.psdd").ok();
    let mut lines: Vec<String> = answer.out.lines().skip(1).map(|line| line.replace(',', "")).collect();
    lines.sort();
    assert_eq!(lines, WORLDS.map(|(world, _)| world.to_owned()));
    let answer = folder.run("worlds model.psdd --given X1,X2 --json").ok().json();
    assert_eq!((answer["worlds"].as_array().unwrap().len(), &answer["complete"]), (2, &json!(true)));
    let answer = folder.run("worlds model.psdd --limit 3").ok();
    assert_eq!(answer.out.lines().count(), 4);
    assert!(answer.err.contains("only the first 3"));
}

#[test]
fn samples_follow_seed_and_evidence() {
    let folder = Folder::with_paper();
    let answer = folder.run("sample model.psdd -n 2000 --seed 5").ok();
    assert_eq!(answer.out, folder.run("sample model.psdd -n 2000 --seed 5 --threads 1").ok().out);
    assert_ne!(answer.out, folder.run("sample model.psdd -n 2000 --seed 6").ok().out);
    let count = |world: &str| answer.out.lines().filter(|line| line.replace(',', "") == world).count() as f64;
    for (world, p) in WORLDS {
        let deviation = (2000.0 * p * (1.0 - p)).sqrt();
        assert!((count(world) - 2000.0 * p).abs() < 5.0 * deviation, "{world}");
    }
    let given = folder.run("sample model.psdd -n 50 --given X1,!X4 --json").ok().json();
    for world in given["worlds"].as_array().unwrap() {
        assert_eq!((&world["X1"], &world["X4"]), (&json!(true), &json!(false)));
    }
    folder.run("sample model.psdd -n 50 -o drawn.csv").ok();
    assert_eq!(folder.run("eval model.psdd drawn.csv --json").ok().json()["impossible"], 0);
}

#[test]
fn evaluation_has_the_promised_keys() {
    let folder = Folder::with_paper();
    let keys =
        ["records", "impossible", "log_likelihood", "log_likelihood_per_record", "log_likelihood_per_possible_record"];
    let answer = folder.run("eval model.psdd records.csv --json").ok();
    assert_eq!(answer.keys(), keys);
    let expected: f64 = [7.0, 3.0, 9.0, 3.0, 2.0, 2.0, 4.0]
        .iter()
        .zip(["0000", "0011", "0110", "0111", "1001", "1101", "1110"])
        .map(|(n, world)| n * probability(|w| w == world.as_bytes()).ln())
        .sum();
    close(&answer.json()["log_likelihood"], expected);
    close(&answer.json()["log_likelihood_per_record"], expected / 30.0);
    folder.write("some.data", "0,1,1,0\n1,1,1,1\n");
    let answer = folder.run("eval model.psdd some.data --json --per-record --flow").ok();
    let found = answer.json();
    assert_eq!((&found["records"], &found["impossible"]), (&json!(2), &json!(1)));
    assert_eq!(found["log_likelihood_per_record"], Value::Null);
    close(&found["log_likelihood_per_possible_record"], (9f64 / 35.0).ln());
    close(&found["flow_log_value"], (9f64 / 35.0).ln());
    assert_eq!(found["per_record"][1], Value::Null);
    let lines = folder.run("eval model.psdd some.data --per-record").ok();
    assert_eq!(lines.out.lines().last(), Some("-inf"));
    assert!(lines.err.contains("1 of 2 records is impossible"));
}

#[test]
fn impossible_records_get_the_nearest_world() {
    let folder = Folder::with_paper();
    folder.write("odd.csv", "X1,X2,X3,X4\n0,1,1,0\n1,1,1,1\n");
    let answer = folder.run("possible model.psdd odd.csv --json");
    assert_eq!(answer.code, 1);
    let found = answer.json();
    assert_eq!(found["answers"][0]["possible"], true);
    assert_eq!((&found["answers"][1]["possible"], &found["answers"][1]["distance"]), (&json!(false), &json!(1)));
    let nearest = found["answers"][1]["nearest"].as_object().unwrap();
    let world: String = nearest.values().map(|v| if v == &json!(true) { '1' } else { '0' }).collect();
    assert!(WORLDS.iter().any(|(possible, _)| *possible == world));
    let text = folder.run("possible model.psdd odd.csv");
    assert_eq!(text.code, 1);
    assert!(text.out.starts_with("1 of 2 records is impossible\nrecord 2: change 1 cell to "), "{}", text.out);
    let seen = folder.run("possible model.psdd records.csv --json").ok().json();
    assert_eq!(seen["equals_closed_world"], false, "three worlds are virtual");
    let rows = WORLDS.map(|(world, _)| world.chars().map(|c| c.to_string()).collect::<Vec<_>>().join(","));
    folder.write("all.data", rows.join("\n"));
    let text = folder.run("possible model.psdd all.data").ok().out;
    assert!(
        text.starts_with("0 of 10 records are impossible\n") && text.contains("nothing else is possible"),
        "{text}"
    );
}

#[test]
fn information_about_a_model() {
    let folder = Folder::with_paper();
    let answer = folder.run("info model.psdd --json").ok();
    assert_eq!(answer.keys()[..6], ["variables", "nodes", "elements", "parameters", "size_paper", "model_count"]);
    let found = answer.json();
    assert_eq!((&found["size_paper"], &found["parameters"]), (&json!(29), &json!(15)));
    assert_eq!((&found["model_count"], &found["certificate"]), (&json!("10"), &json!("psdd")));
    close(&found["entropy"], -WORLDS.iter().map(|(_, p)| p * p.ln()).sum::<f64>());
    assert_eq!(found["vtree"], "((X1,X2),(X3,X4))");
    let text = folder.run("info model.psdd").ok().out;
    assert!(text.contains("possible worlds    10 of 2^4"), "{text}");
    // The same circuit as other tools write it, with and without its vtree.
    for args in ["info plain.psdd --json", "info plain.psdd --vtree model.vtree --json"] {
        let plain = folder.run(args).ok().json();
        assert_eq!((&plain["model_count"], &plain["vtree"]), (&json!("10"), &json!("((x1,x2),(x3,x4))")));
    }
}

#[test]
fn models_are_compared() {
    let folder = Folder::with_paper();
    folder.run("learn records.csv --learner factorised --vtree model.vtree -o other.psdd").ok();
    let answer = folder.run("compare model.psdd other.psdd --json").ok().json();
    let marginal = |i: usize| {
        let trues =
            [7.0, 3.0, 9.0, 3.0, 2.0, 2.0, 4.0].iter().zip(["0000", "0011", "0110", "0111", "1001", "1101", "1110"]);
        let n: f64 = trues.filter(|(_, w)| w.as_bytes()[i] == b'1').map(|(n, _)| n).sum();
        // Pseudocount 2 with the smoothed share as the prior.
        (n + 2.0 * (n + 0.5) / 31.0) / 32.0
    };
    let other = |w: &str| -> f64 {
        w.bytes().enumerate().map(|(i, b)| if b == b'1' { marginal(i) } else { 1.0 - marginal(i) }).product()
    };
    close(&answer["kl_a_b"], WORLDS.iter().map(|(w, p)| p * (p / other(w)).ln()).sum());
    assert_eq!(answer["kl_b_a"], Value::Null);
    let same = folder.run("compare model.psdd model.psdd").ok().out;
    assert!(same.contains("KL(A || B) = 0.000000") && same.contains("the structures are the same"), "{same}");
    folder.run("learn records.csv --vtree right-linear -o third.psdd").ok();
    folder.run("compare model.psdd third.psdd").fails(&[
        "different vtrees",
        "slopp convert A a.vtree",
        "--vtree a.vtree",
    ]);
    folder.run("compare model.psdd plain.psdd").fails(&["different variables"]);
}

#[test]
fn circuits_that_overlap_answer_what_they_can() {
    let folder = Folder::new();
    folder.write("mix.psdd", MIXTURE);
    close(&folder.run("prob mix.psdd x1,x2,x3 --json").ok().json()["probability"], 1.0 / 3.0);
    close(&folder.run("marginals mix.psdd --json").ok().json()["marginals"]["x1"], 0.5);
    assert_eq!(folder.run("sample mix.psdd -n 3").ok().out.lines().count(), 4);
    let info = folder.run("info mix.psdd --json").ok().json();
    assert_eq!((&info["model_count"], &info["certificate"]), (&Value::Null, &json!("mixture")));
    assert!(info["note"].as_str().unwrap().contains("node 30"));
    for question in ["mpe mix.psdd", "mpe mix.psdd -k 3", "worlds mix.psdd", "compare mix.psdd mix.psdd"] {
        let reasons = [
            "needs a deterministic circuit, and this one is not: at node 30",
            "(20, 3) and (21, 3)",
            "x1, x2, x3",
            "sample, possible, entails, info, validate, fit and distil work on any circuit",
        ];
        folder.run(question).fails(&reasons);
    }
    folder.write("all.csv", "x1,x2,x3\n1,1,1\n1,0,1\n0,0,1\n");
    for question in [
        "eval mix.psdd all.csv",
        "possible mix.psdd all.csv",
        "entails mix.psdd x1|!x1",
        "fit mix.psdd all.csv -o fitted.psdd",
        "distil mix.psdd all.csv --valid all.csv -o student.psdd",
    ] {
        folder.run(question).ok();
    }
    let info = folder.run("info mix.psdd").ok().out;
    assert!(info.contains("elements overlap, so it is read as a circuit") && !info.contains("mixture"), "{info}");
}

#[test]
fn small_numbers_are_written_alike() {
    let folder = Folder::new();
    folder.write(
        "m.psdd",
        "c slopp 1\nc vtree (1,2)\nc names [\"x1\",\"x2\"]\npsdd 3\nT 0 0 1 -30\nT 1 2 2 -0.5\nD 2 1 1 0 1 0.0\n",
    );
    folder.write("r.csv", "x1,x2\n,1\n");
    for command in ["marginals m.psdd", "prob m.psdd x1"] {
        let out = folder.run(&format!("{command} --records r.csv")).ok().out;
        let number = out.lines().last().unwrap().split(',').next().unwrap();
        assert!(number.starts_with("9.3576") && number.ends_with("e-14"), "{command}: {out}");
    }
}

#[test]
fn underflow_is_not_zero() {
    let folder = Folder::new();
    let row = |bit: usize| (0..2000).map(|i| if i % 7 == bit { "1" } else { "0" }).collect::<Vec<_>>().join(",");
    folder.write("wide.data", (0..7).map(|bit| row(bit) + "\n").collect::<String>());
    folder.run("learn wide.data --learner factorised --vtree balanced -o m.psdd").ok();
    folder.write("one.data", row(0));
    let log = folder.run("eval m.psdd one.data --json").ok().json()["log_likelihood"].as_f64().unwrap();
    assert!(log < -800.0, "{log}");
    let exponent = format!("e{}", (log / std::f64::consts::LN_10).floor());
    let batch = folder.run("prob m.psdd --records one.data").ok().out;
    assert!(batch.trim_end().ends_with(&exponent), "{batch} {exponent}");
    let best = folder.run("mpe m.psdd").ok().out;
    assert!(best.starts_with("P = ") && !best.starts_with("P = 0 ") && best.contains("e-"), "{}", &best[..40]);
}

#[test]
fn evidence_may_begin_with_a_minus_and_end_with_a_comma() {
    let folder = Folder::with_paper();
    let expected = folder.run_args(&["prob", "model.psdd", "!X1", "--given", "!X2"]).ok().out;
    for (event, given) in [("-X1", "-X2"), ("¬X1", "¬X2"), ("!X1,", "!X2, ")] {
        assert_eq!(folder.run_args(&["prob", "model.psdd", event, "--given", given]).ok().out, expected);
    }
    let empty = folder.run_args(&["prob", "model.psdd", ""]).ok();
    assert!(empty.out.starts_with("P(anything) = 1\n") && empty.err.contains("the event is empty"), "{empty:?}");
}

#[test]
fn odd_names_can_be_pasted_back() {
    let folder = Folder::new();
    folder.write("odd.csv", "\"a,b\",!not,x y=1,-1,f(x)\n1,0,1,0,1\n0,1,1,1,0\n1,1,0,0,1\n0,0,0,1,1\n");
    folder.run("learn odd.csv -o odd.psdd").ok();
    let vtree = folder.run("vtree odd.psdd").ok().out.lines().next().unwrap().to_owned();
    folder.run_args(&["learn", "odd.csv", "--vtree", &vtree, "-o", "again.psdd"]).ok();
    assert_eq!(folder.run("vtree again.psdd").ok().out.lines().next(), Some(vtree.as_str()));
    let world = folder.run("mpe odd.psdd").ok().out.lines().nth(1).unwrap().trim().to_owned();
    let told = folder.run_args(&["prob", "odd.psdd", &world]).ok().out;
    assert!(told.starts_with(&format!("P({world}) = ")), "{told}");
    let info = folder.run("info odd.psdd").ok().out;
    assert!(info.contains("\"a,b\", \"!not\", \"x y=1\", \"-1\", f(x)"), "{info}");
    assert!(folder.run("marginals odd.psdd").ok().out.contains("\n\"-1\" "));
}

#[test]
fn evidence_is_possible_or_what_must_change_is_told() {
    let folder = Folder::with_paper();
    let ask = |given: &str| folder.run_args(&["possible", "model.psdd", "--given", given]);
    let yes = ask("X1, X2");
    assert_eq!((yes.code, yes.out.as_str()), (0, "possible\n"));
    let no = ask("X1, X2, X3, X4");
    assert_eq!(no.code, 1);
    assert!(no.out.starts_with("impossible: change 1 literal to !X"), "{}", no.out);
    let json = folder.run_args(&["possible", "model.psdd", "--given", "X1, X2, X3, X4", "--json"]).json();
    assert_eq!((&json["possible"], &json["distance"]), (&json!(false), &json!(1)));
    folder.run("possible model.psdd").fails(&["<DATA>"]);
    ask("X1 X2").fails(&["column 4: an operator is missing between X1 and X2"]);
    ask("!X1 and X2 not X3").fails(&["an operator is missing", "write & for and"]);
    ask("X9").fails(&["no variable \"X9\"", "did you mean"]);
    ask("Q").fails(&["the names are \"X1\", \"X2\""]);
}
