//! `slopp bench`: rows, resuming, faults.

use crate::folder::{Folder, chain, interrupts_are_ignored, odd_datasets};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const KEYS: [&str; 15] = [
    "dataset",
    "learner",
    "settings",
    "seed",
    "train",
    "valid",
    "test",
    "impossible_test",
    "nodes",
    "elements",
    "parameters",
    "certified",
    "cpu_seconds",
    "peak_memory_bytes",
    "version",
];

/// Writes the three parts of a dataset into `data/NAME`.
fn dataset(folder: &Folder, name: &str, parts: [&str; 3]) {
    fs::create_dir_all(folder.path(&format!("data/{name}"))).unwrap();
    for (part, text) in ["train", "valid", "test"].iter().zip(parts) {
        folder.write(&format!("data/{name}/{name}.{part}.data"), text);
    }
}

/// A folder with two small datasets.
fn two() -> Folder {
    let folder = Folder::new();
    for (i, name) in ["alpha", "beta"].iter().enumerate() {
        dataset(&folder, name, [&chain(6, 200, i), &chain(6, 60, i + 10), &chain(6, 60, i + 20)]);
    }
    folder
}

fn rows(folder: &Folder, file: &str) -> Vec<Value> {
    folder.read(file).lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

/// A row without what differs from run to run.
fn lasting(row: &Value) -> Value {
    let mut row = row.clone();
    for key in ["cpu_seconds", "peak_memory_bytes"] {
        assert!(row[key].as_f64().unwrap() > 0.0, "{key} of {row}");
        row.as_object_mut().unwrap().remove(key);
    }
    row
}

#[test]
fn a_row_per_cell_with_all_keys() {
    let folder = two();
    let text = folder.run("bench --data data --out r.jsonl").ok().out;
    assert!(text.contains("alpha") && text.contains("chow-liu"), "{text}");
    let rows = rows(&folder, "r.jsonl");
    assert_eq!(rows.len(), 2 * folder.names_for("bench --data data --learners").len());
    for row in &rows {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(keys, KEYS, "{row}");
        assert!(row["settings"]["grid"].is_object());
        let closed = row["settings"]["world"] == "closed";
        assert!(closed || row["test"].as_f64().unwrap() < 0.0, "{row}");
        assert_eq!(row["test"].is_null(), row["impossible_test"].as_f64().unwrap() > 0.0, "{row}");
        // k-means may be lucky, LearnSPN and mixtures are not PSDDs, the others are always proved.
        let learner = row["learner"].as_str().unwrap();
        let is_psdd = !["learnspn", "slopp-bag", "slopp-bag:best", "slopp-em", "strudel-em"].contains(&learner);
        assert!(learner.contains("kmeans") || row["certified"] == is_psdd, "{row}");
    }
    // Independent counts: each variable alone, smoothed as the row says.
    let row = rows.iter().find(|row| row["dataset"] == "beta" && row["learner"] == "factorised").unwrap();
    let pseudocount = row["settings"]["pseudocount"].as_f64().unwrap();
    let cells = |part: &str| -> Vec<Vec<f64>> {
        let text = folder.read(&format!("data/beta/beta.{part}.data"));
        text.lines().map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
    };
    let (train, test) = (cells("train"), cells("test"));
    let share = |i: usize| {
        let (trues, n) = (train.iter().map(|row| row[i]).sum::<f64>(), train.len() as f64);
        (trues + pseudocount * (trues + 0.5) / (n + 1.0)) / (n + pseudocount)
    };
    let log = |row: &Vec<f64>| -> f64 {
        row.iter().enumerate().map(|(i, x)| (x * share(i) + (1.0 - x) * (1.0 - share(i))).ln()).sum()
    };
    let expected = test.iter().map(log).sum::<f64>() / test.len() as f64;
    crate::folder::close(&row["test"], expected);
}

#[test]
fn the_settings_are_the_best_on_the_validation_part() {
    if crate::slopp().is_none() {
        return;
    }
    let folder = two();
    folder.run("bench --data data --datasets alpha --learners chow-liu --out r.jsonl").ok();
    let row = &rows(&folder, "r.jsonl")[0];
    let valid = |pseudocount: &Value| {
        let args = "learn data/alpha/alpha.train.data --valid data/alpha/alpha.valid.data --learner chow-liu --json";
        let report = folder.run(&format!("{args} --pseudocount {pseudocount}")).ok().json();
        report["valid"]["log_likelihood_per_record"].as_f64().unwrap()
    };
    let tried = row["settings"]["grid"]["pseudocount"].as_array().unwrap();
    let best = tried.iter().map(valid).fold(f64::NEG_INFINITY, f64::max);
    crate::folder::close(&row["valid"], best);
    crate::folder::close(&row["valid"], valid(&row["settings"]["pseudocount"]));
    assert!(tried.iter().any(|other| valid(other) < best - 1e-6), "the pseudocount matters");
}

/// The settings of a row as options of `slopp learn`. What was tried, what the learner chose itself, where a refinement
/// starts, and the columns need not be asked for.
fn asked(row: &Value) -> String {
    let is_asked = |name: &str| !["grid", "chosen", "start", "columns"].contains(&name);
    let settings = row["settings"].as_object().unwrap().iter().filter(|(name, _)| is_asked(name));
    settings
        .map(|(name, value)| {
            // Whole numbers are written without a point.
            let value = match (value.as_str(), value.as_f64()) {
                (Some(text), _) => text.to_owned(),
                (_, Some(number)) => number.to_string(),
                _ => panic!("{name} is {value}"),
            };
            format!(" --{} {value}", name.replace('_', "-"))
        })
        .collect()
}

#[test]
fn the_settings_of_a_row_learn_its_model() {
    if crate::slopp().is_none() {
        return;
    }
    let folder = Folder::new();
    dataset(&folder, "long", [&chain(30, 900, 1), &chain(30, 200, 2), &chain(30, 200, 3)]);
    let learners = "factorised,chow-liu,slopp,slopp-tree,slopp-kmeans,slopp-kmeans:open,learnspn,learnpsdd,\
                    slopp+learnpsdd,strudel,strudel-em";
    folder.run(&format!("bench --data data --learners {learners} --out r.jsonl --seed 5")).ok();
    for row in rows(&folder, "r.jsonl") {
        let learner = row["learner"].as_str().unwrap().trim_end_matches(":open");
        let mut args = format!(
            "learn data/long/long.train.data --valid data/long/long.valid.data --test data/long/long.test.data \
             --learner {learner} --seed 5 --json"
        );
        let refined = ["learnpsdd", "slopp+learnpsdd", "strudel", "strudel-em"].contains(&learner);
        assert!(!refined || row["settings"]["chosen"]["steps_done"].is_string(), "{row}");
        args += &asked(&row);
        let report = folder.run(&args).ok().json();
        // A number that went through JSON twice may have lost its last digit.
        match row["test"].as_f64() {
            Some(test) => crate::folder::close(&report["test"]["log_likelihood_per_record"], test),
            None => assert_eq!(report["test"]["log_likelihood_per_record"], Value::Null, "{args}"),
        }
        let elements = if learner == "learnspn" { &report["edges"] } else { &report["elements"] };
        assert_eq!((&report["nodes"], elements), (&row["nodes"], &row["elements"]), "{args}");
        assert_eq!(report["test"]["impossible"], row["impossible_test"], "{args}");
    }
}

/// The columns of people's own tables mean the same as in `slopp learn`: the same values, the same bins.
#[test]
fn tables_are_read_as_learn_reads_them() {
    if crate::slopp().is_none() {
        return;
    }
    let folder = Folder::new();
    fs::create_dir_all(folder.path("data/people")).unwrap();
    for (part, rows, seed) in [("train", 900, 1), ("valid", 250, 2), ("test", 250, 3)] {
        folder.write(&format!("data/people/people.{part}.csv"), people(rows, seed));
    }
    let columns = "--bins age=3 --bins size=small:4:large --categories code";
    let learners = "factorised,chow-liu,slopp,slopp:balanced,slopp-em,slopp-tree,slopp-kmeans,slopp-kmeans:open,learnspn,\
                    learnpsdd,slopp+learnpsdd,strudel,strudel-em";
    folder.run(&format!("bench --data data --learners {learners} --out r.jsonl {columns}")).ok();
    for row in rows(&folder, "r.jsonl") {
        assert_eq!(row["settings"]["columns"].as_array().unwrap().len(), 3, "{row}");
        let mut args = format!(
            "learn data/people/people.train.csv --valid data/people/people.valid.csv --test data/people/people.test.csv \
             --learner {} --json {columns}",
            row["learner"].as_str().unwrap().split(':').next().unwrap()
        );
        args += &asked(&row);
        let report = folder.run(&args).ok().json();
        assert_eq!(report["columns"]["age"].as_array().unwrap().len(), 3, "{report}");
        assert_eq!(report["columns"]["code"], serde_json::json!(["0", "1"]));
        match row["test"].as_f64() {
            Some(test) => crate::folder::close(&report["test"]["log_likelihood_per_record"], test),
            None => assert_eq!(report["test"]["log_likelihood_per_record"], Value::Null, "{args}"),
        }
        assert_eq!(report["parameters"], row["parameters"], "{args}");
    }
    // Rows of other columns are other rows.
    folder.run("bench --data data --learners factorised --out r.jsonl --bins age=4").ok();
    folder.run(&format!("bench --data data --learners factorised --out r.jsonl {columns}")).ok();
    assert_eq!(rows(&folder, "r.jsonl").len(), learners.split(',').count() + 1);
    let refused = folder.run("bench --data data --learners factorised --out s.jsonl --bins weight=4");
    assert!(refused.code == 2 && refused.err.contains("there is no variable \"weight\""), "{}", refused.err);
}

/// A table with categories, numbers, codes that look Boolean, and a Boolean column.
fn people(rows: usize, seed: u32) -> String {
    let mut state = seed;
    let mut below = |n: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    };
    let mut text = "city,age,size,code,married\n".to_owned();
    for _ in 0..rows {
        let city = below(4);
        let age = 10 + 15 * city + below(30);
        let size = age / 12 + below(3);
        let married = u32::from(below(80) < age);
        text += &format!("{},{age},{size},{},{married}\n", ["Bonn", "Kiel", "Ulm", "Trier"][city as usize], below(2));
    }
    text
}

#[test]
fn rows_are_the_same_again_and_on_any_number_of_threads() {
    let folder = two();
    for (file, threads) in [("a.jsonl", 1), ("b.jsonl", 2), ("c.jsonl", 2)] {
        folder.run(&format!("bench --data data --datasets beta,alpha,beta --out {file} --threads {threads}")).ok();
    }
    let [a, b, c] = ["a.jsonl", "b.jsonl", "c.jsonl"].map(|f| rows(&folder, f).iter().map(lasting).collect::<Vec<_>>());
    assert_eq!(a.len(), 2 * folder.names_for("bench --data data --learners").len());
    assert_eq!(a[0]["dataset"], "beta", "in the order asked for");
    assert_eq!(a, b);
    assert_eq!(b, c);
}

#[test]
fn what_is_measured_is_not_measured_again() {
    let folder = two();
    folder.run("bench --data data --datasets alpha --learners chow-liu,slopp --out r.jsonl").ok();
    let before = folder.read("r.jsonl");
    let again = folder.run("bench --data data --datasets alpha --learners chow-liu,slopp --out r.jsonl --json").ok();
    assert_eq!(folder.read("r.jsonl"), before);
    assert_eq!((&again.json()["earlier"], again.json()["rows"].as_array().unwrap().len()), (&2.into(), 2));
    folder.run("bench --data data --learners chow-liu --out r.jsonl").ok();
    let after = folder.read("r.jsonl");
    assert!(after.starts_with(&before) && after.lines().count() == 3, "{after}");
    // Another seed, another version or other values to choose from are other cells.
    folder.run("bench --data data --learners chow-liu --datasets alpha --seed 1 --out r.jsonl").ok();
    assert_eq!(rows(&folder, "r.jsonl").len(), 4);
    for (from, to) in
        [("\"version\":\"", "\"version\":\"old-"), ("\"grid\":{\"pseudocount\":[", "\"grid\":{\"pseudocount\":[7.0,")]
    {
        folder.write("old.jsonl", after.replace(from, to));
        folder.run("bench --data data --learners chow-liu --out old.jsonl").ok();
        assert_eq!(rows(&folder, "old.jsonl").len(), 5);
    }
}

#[test]
fn a_line_that_was_cut_off_is_measured_again() {
    let folder = two();
    let run = "bench --data data --datasets alpha --learners factorised,chow-liu --out r.jsonl";
    folder.run(run).ok();
    let whole = folder.read("r.jsonl");
    let expected: Vec<Value> = rows(&folder, "r.jsonl").iter().map(lasting).collect();
    let second = whole.find('\n').unwrap() + 1;
    for cut in [second + 1, second + 5, second + 40, whole.len() - 2, whole.len() - 1] {
        folder.write("r.jsonl", &whole[..cut]);
        folder.run(run).ok();
        let found: Vec<Value> = rows(&folder, "r.jsonl").iter().map(lasting).collect();
        assert_eq!(found, expected, "cut at {cut}");
    }
    // A row that only lacks its line end is kept.
    folder.write("r.jsonl", whole.trim_end());
    folder.run(run).ok();
    assert_eq!(folder.read("r.jsonl"), whole);
}

#[test]
fn files_of_other_people_are_left_alone() {
    let folder = two();
    for text in ["my notes", "my notes\n", "{\"a\":1}\n", "{\"dataset\":\"x\"}\n{\"dataset\":\"y\"}\n", "a,b\n0,1\n"] {
        folder.write("notes.txt", text);
        folder.run("bench --data data --out notes.txt").fails(&["line 1 of notes.txt is not a row", "try: "]);
        assert_eq!(folder.read("notes.txt"), text);
    }
    folder.run("bench --data data --out no/such/r.jsonl").fails(&["no/such/r.jsonl", "try: --out"]);
    folder.run("bench --data data --out data").fails(&["cannot be written to data"]);
    folder.run("bench --report report --out gone.jsonl").fails(&["gone.jsonl could not be read", "try: "]);
}

/// Starts a benchmark whose second cell takes long, and waits until its first row is there.
fn started(folder: &Folder) -> Child {
    let mut command: Command =
        folder.command(&["bench", "--data", "data", "--learners", "factorised,slopp", "--out", "r.jsonl"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !folder.path("r.jsonl").exists() || folder.read("r.jsonl").is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended without a row");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// Whether a process runs a cell on this folder.
fn has_cells(data: &Path) -> bool {
    let is_cell = |process: fs::DirEntry| {
        // Until it has begun, a cell goes by the name of its benchmark.
        let is_cell = String::from_utf8_lossy(&fs::read(process.path().join("cmdline")).ok()?).contains("bench");
        Some(is_cell && fs::read_link(process.path().join("cwd")).ok()? == data)
    };
    fs::read_dir("/proc").into_iter().flatten().flatten().any(|process| is_cell(process) == Some(true))
}

#[test]
fn a_cell_stops_when_nobody_waits_for_it() {
    let folder = Folder::new();
    dataset(&folder, "long", [&chain(40, 6000, 1), &chain(40, 500, 2), &chain(40, 500, 3)]);
    let cell = ["bench-cell", "--data", "data", "--dataset", "long", "--learner", "slopp", "--seed", "0"];
    let mut command = Command::new(crate::LAB);
    command.args(cell).current_dir(folder.path(""));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdin.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stdout.len()), (Some(3), 0));
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    for signal in ["-KILL", "-TERM", "-INT"] {
        if signal == "-INT" && interrupts_are_ignored() {
            continue;
        }
        let folder = Folder::new();
        dataset(&folder, "long", [&chain(40, 6000, 1), &chain(40, 500, 2), &chain(40, 500, 3)]);
        let mut child = started(&folder);
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert!(!child.wait().unwrap().success());
        let first = folder.read("r.jsonl");
        assert_eq!(rows(&folder, "r.jsonl").len(), 1, "the second cell was running");
        // The cell that was running stops too, and nothing is written any more.
        let data = folder.path("").canonicalize().unwrap();
        while has_cells(&data) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(folder.read("r.jsonl"), first);
        folder.run("bench --data data --learners factorised,slopp --out r.jsonl").ok();
        assert!(folder.read("r.jsonl").starts_with(&first));
        assert_eq!(rows(&folder, "r.jsonl").len(), 2);
        assert_eq!(folder.files(), ["data", "r.jsonl"]);
    }
}

#[test]
fn two_runs_do_not_share_a_file() {
    let folder = Folder::new();
    dataset(&folder, "long", [&chain(40, 6000, 1), &chain(40, 500, 2), &chain(40, 500, 3)]);
    let mut child = started(&folder);
    let second = folder.run("bench --data data --learners factorised --out r.jsonl");
    child.kill().unwrap();
    child.wait().unwrap();
    second.fails(&["another `slopp bench` is writing to r.jsonl"]);
}

#[test]
fn what_is_asked_for_must_exist() {
    let folder = two();
    folder.run("bench --data data --learners slop").fails(&["slop", "'slopp'", "chow-liu"]);
    let clone = "git clone https://github.com/UCLA-StarAI/Density-Estimation-Datasets";
    folder.run("bench --data data --datasets alpa").fails(&["alpa is not in data", "did you mean alpha?", clone]);
    folder.run("bench --data data --datasets nltcs").fails(&["nltcs is not in data, which holds alpha, beta", clone]);
    folder.run("bench --data nowhere").fails(&["nowhere", clone]);
    fs::create_dir(folder.path("empty")).unwrap();
    folder.run("bench --data empty").fails(&["no dataset is in empty", clone]);
    folder.run("bench").fails(&["--data <DIR>"]);
    assert_eq!(folder.files(), ["data", "empty"], "nothing was begun");
}

#[test]
fn blanks_after_commas_are_no_part_of_names() {
    let folder = two();
    let args = ["bench", "--data", "data", "--datasets", "alpha, beta", "--learners", "factorised, chow-liu"];
    folder.run_args(&[&args[..], &["--out", "r.jsonl"]].concat()).ok();
    assert_eq!(rows(&folder, "r.jsonl").len(), 4);
}

#[test]
fn results_go_to_regular_files_only() {
    let folder = two();
    for device in ["/dev/full", "/dev/zero", "/dev/null"].into_iter().filter(|device| Path::new(device).exists()) {
        let args = format!("bench --data data --learners factorised --out {device}");
        folder.run(&args).fails(&[&format!("cannot be written to {device}"), "not a regular file", "--out -"]);
    }
}

#[test]
fn a_cell_that_fails_does_not_stop_the_others() {
    let folder = two();
    dataset(&folder, "amiss", ["0,1\n1,0\n", "0,1\n", "0,maybe\n"]);
    dataset(&folder, "bare", ["0,1\n1,0\n", "0,1\n", "0,1\n"]);
    fs::remove_file(folder.path("data/bare/bare.test.data")).unwrap();
    let outcome = folder.run("bench --data data --learners factorised,chow-liu --out r.jsonl");
    assert_eq!(outcome.code, 2, "{outcome:?}");
    for part in [
        "note: chow-liu on amiss: ",
        "error: 4 of 8 cells",
        "chow-liu on amiss: ",
        "maybe",
        "bare/bare.test.data is not in data",
        "git clone",
    ] {
        assert!(outcome.err.contains(part), "{part} is not in {}", outcome.err);
    }
    assert_eq!(outcome.err.matches("chow-liu on amiss: ").count(), 1, "told once: {}", outcome.err);
    assert!(!outcome.err.contains("--header"), "bench has no such option: {}", outcome.err);
    let quiet = folder.run("bench --data data --learners factorised,chow-liu --out r.jsonl -q");
    assert_eq!(quiet.err.matches("chow-liu on amiss: ").count(), 1, "told at the end: {}", quiet.err);
    assert_eq!(rows(&folder, "r.jsonl").len(), 4);
    dataset(&folder, "amiss", ["0,1\n1,0\n", "0,1\n", "0,0\n"]);
    dataset(&folder, "bare", ["0,1\n1,0\n", "0,1\n", "0,1\n"]);
    folder.run("bench --data data --learners factorised,chow-liu --out r.jsonl").ok();
    assert_eq!(rows(&folder, "r.jsonl").len(), 8);
}

#[test]
fn odd_datasets_are_measured() {
    let folder = Folder::new();
    let odd = odd_datasets();
    odd.iter().for_each(|(name, parts)| dataset(&folder, name, parts.each_ref().map(String::as_str)));
    folder.run("bench --data data --out r.jsonl").ok();
    let rows = rows(&folder, "r.jsonl");
    assert_eq!(rows.len(), odd.len() * folder.names_for("bench --data data --learners").len());
    for row in rows {
        let closed = row["settings"]["world"] == "closed";
        assert!(closed || row["test"].as_f64().unwrap() < 0.0 && row["impossible_test"] == 0, "{row}");
    }
}

#[test]
fn the_files_may_be_zipped_and_one_folder_down() {
    let folder = two();
    folder.run("bench --data data --datasets alpha --learners slopp --out plain.jsonl").ok();
    fs::create_dir_all(folder.path("clone/datasets/alpha")).unwrap();
    for part in ["train", "valid", "test"] {
        let mut zip = GzEncoder::new(Vec::new(), Compression::default());
        zip.write_all(folder.read(&format!("data/alpha/alpha.{part}.data")).as_bytes()).unwrap();
        folder.write(&format!("clone/datasets/alpha/alpha.{part}.data.gz"), zip.finish().unwrap());
    }
    let piped = folder.run("bench --data clone --learners slopp --out -").ok();
    let row: Value = serde_json::from_str(&piped.out).expect("the row and nothing else");
    assert_eq!(lasting(&row), lasting(&rows(&folder, "plain.jsonl")[0]));
    assert_eq!(folder.files(), ["clone", "data", "plain.jsonl"]);
}

#[test]
fn the_report_tells_what_the_rows_say() {
    let folder = Folder::new();
    dataset(&folder, "nltcs", [&chain(16, 300, 1), &chain(16, 90, 2), &chain(16, 90, 3)]);
    dataset(&folder, "own", [&chain(6, 200, 4), &chain(6, 60, 5), &chain(6, 60, 6)]);
    folder.run("bench --data data --out r.jsonl --report one").ok();
    folder.run("bench --out r.jsonl --report two/deep").ok();
    for file in ["report.md", "report.html", "size.svg", "time.svg"] {
        assert_eq!(folder.read(&format!("one/{file}")), folder.read(&format!("two/deep/{file}")));
    }
    let text = folder.read("one/report.md");
    let found =
        |dataset: &str| text.lines().find(|line| line.starts_with(&format!("| {dataset} |"))).unwrap().to_owned();
    for row in rows(&folder, "r.jsonl") {
        let cell = match row["test"].as_f64() {
            Some(test) => format!("| {test:.2}"),
            None => format!("| γ {}", row["impossible_test"]),
        };
        let line = found(row["dataset"].as_str().unwrap());
        assert!(line.contains(&cell), "{cell} is not in {line}");
    }
    // LearnPSDD, Strudel, XPC-SD-Det, the zoo and the best of kinds, as published.
    assert!(found("nltcs").ends_with("| -6.03 | -6.06 | -6.09 | -6.04 | -6.03 | -6.01 | -5.99 | -5.99 |"), "{text}");
    assert!(found("own").ends_with("| – | – | – | – | – | – | – | – |"), "{text}");
    assert!(text.contains("| slopp | 0 / 0 / 1 | 0 / 0 / 1 |"), "{text}");
    let html = folder.read("one/report.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.matches("<svg ").count() == 2);
    assert!(!html.contains("<script") && !html.contains("src="), "nothing is loaded");
    // Own data stand next to the Chow-Liu tree, and published numbers only where the dataset was measured.
    let plot = folder.read("one/size.svg");
    assert!(plot.contains("own data: the Chow-Liu tree") && plot.contains(", own: "), "{plot}");
    assert!(plot.contains("LearnPSDD, published") && !plot.contains("plants") && !text.contains("standard splits"));
    let chosen = text.lines().find(|line| line.starts_with("| own | learnpsdd |")).unwrap();
    assert!(chosen.contains("steps done") && chosen.contains("penalty ") && !chosen.contains(".0,"), "{chosen}");
    dataset(&folder, "mine", [&chain(6, 200, 4), &chain(6, 60, 5), &chain(6, 60, 6)]);
    folder.run("bench --data data --datasets mine --learners slopp --out mine.jsonl --report mine").ok();
    let plot = folder.read("mine/size.svg");
    assert!(plot.contains("in nats per record") && plot.contains(", mine: ") && !plot.contains("published"), "{plot}");
    folder.write("file", "");
    folder.run("bench --out r.jsonl --report file/in").fails(&["the report was not written to file/in", "try: "]);
}
