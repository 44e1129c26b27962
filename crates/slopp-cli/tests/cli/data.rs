//! `data describe`, `split` and `generate`.

use crate::folder::{Folder, close};
use serde_json::json;

#[test]
fn descriptions_count_rightly() {
    let folder = Folder::new();
    folder.write("d.csv", "a,b,c\n1,0,1\n1,1,1\n1,0,?\n1,0,1\n");
    let found = folder.run("data describe d.csv --json").ok().json();
    assert_eq!([&found["variables"], &found["records"], &found["distinct"], &found["missing"]], [3, 4, 3, 1]);
    assert_eq!(found["constants"], json!({"a": true, "c": true}));
    close(&found["density"], 8.0 / 11.0);
    close(&found["frequencies"]["b"], 0.25);
    let text = folder.run("data describe d.csv").ok().out;
    assert!(text.contains("constant       a, c"), "{text}");
    folder.write("w.wdata", "3|0,1\n2|1,1\n0.5|0,1\n");
    assert_eq!(folder.run("data describe w.wdata --json").ok().json()["records"], 5.5);
}

#[test]
fn splits_lose_nothing() {
    let folder = Folder::with_cars();
    let report = folder.run("data split cars.csv --seed 2 -o part --json").ok().json();
    assert_eq!(report["parts"][1], json!({"file": "part.valid.csv", "records": 30}));
    let sorted = |names: &[&str]| {
        let mut lines: Vec<String> = Vec::new();
        names.iter().for_each(|name| lines.extend(folder.read(name).lines().skip(1).map(str::to_owned)));
        lines.sort();
        lines
    };
    assert_eq!(sorted(&["cars.csv"]), sorted(&["part.train.csv", "part.valid.csv", "part.test.csv"]));
    folder.run("data split cars.csv --shares 0.5,-1 -o part").fails(&["--shares", "at least 0"]);
    folder.run("data split cars.csv --shares 1e308,1e308 -o part").fails(&["--shares", "too large", "0.8,0.1,0.1"]);
    let few = folder.run("data split cars.csv --shares 1,0 -o few").ok().out;
    assert_eq!(few, "few.1.csv: 300 records\nfew.2.csv: 0 records\n");
    folder.write("w.wdata", "30|0,1\n10|1,1\n");
    folder.run("data split w.wdata --shares 0.5,0.5 -o half").ok();
    assert_eq!(folder.run("data describe half.2.wdata --json").ok().json()["records"], 20);
}

/// Names, values and weights survive, and all parts are of one kind.
#[test]
fn weighted_parts_keep_names_and_values() {
    let folder = Folder::new();
    folder.write("w.wdata", "a,b,c\n2.5|0,red,1\n0.5|1,blue,0\n0,red,0\n3|1,green,1\n");
    let parts = folder.run("data split w.wdata --shares 0.6,0.4 -o part --json").ok().json();
    assert_eq!(parts["parts"][0]["file"], "part.1.wdata");
    let lines = |name: &str| folder.read(name).lines().map(str::to_owned).collect::<Vec<_>>();
    let [one, two] = ["part.1.wdata", "part.2.wdata"].map(lines);
    assert_eq!([&one[0], &two[0]], ["a,b,c"; 2]);
    let mut rows = [&one[1..], &two[1..]].concat();
    rows.sort();
    assert_eq!(rows, ["0.5|1,blue,0", "1|0,red,0", "2.5|0,red,1", "3|1,green,1"]);
    // Weights that add up to the number of rows are weights all the same; numbered columns need no names.
    folder.write("two.wdata", "0.5|0,1\n1.5|1,1\n");
    folder.run("data split two.wdata --shares 1,0 -o two").ok();
    assert_eq!([folder.read("two.1.wdata"), folder.read("two.2.wdata")], ["1.5|1,1\n0.5|0,1\n", ""]);
}

/// Bars, and names that look like cells: records from every command are read back.
#[test]
fn records_from_every_command_read_back() {
    let folder = Folder::new();
    for (text, odd) in [("p,b\n\"1|u\",1\n\"2|v\",0\n\"3|u\",0\nu,1\n", "bar"), ("\"0\",\"yes\"\n0,1\n1,1\n", "names")]
    {
        folder.write("odd.csv", text);
        folder.run("learn odd.csv --learner chow-liu -o m.psdd").ok();
        folder.run("sample m.psdd -n 40 -o sample.csv").ok();
        let worlds = folder.run("worlds m.psdd").ok().out;
        folder.write("worlds.csv", &worlds);
        folder.run("data split sample.csv --shares 0.5,0.5 -o part").ok();
        let count = |file: &str| folder.run(&format!("eval m.psdd {file} --json")).ok().json()["records"].clone();
        assert_eq!([count("sample.csv"), count("part.1.csv"), count("part.2.csv")], [40, 20, 20], "{odd}");
        assert_eq!(count("worlds.csv"), worlds.lines().count() - 1, "{odd}");
    }
}

#[test]
fn generated_records_keep_the_rules() {
    let folder = Folder::new();
    let report = folder.run("data generate rankings --items 3 -n 200 --seed 1 -o r.csv --json").ok().json();
    assert_eq!((&report["possible_worlds"], &report["variables"]), (&json!("6"), &json!(9)));
    for line in folder.read("r.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        (0..3).for_each(|i| {
            assert_eq!((0..3).filter(|j| cells[3 * i + j] == "1").count(), 1);
            assert_eq!((0..3).filter(|j| cells[3 * j + i] == "1").count(), 1);
        });
    }
    let again = folder.run("data generate rankings --items 3 -n 200 --seed 1").ok().out;
    assert_eq!(again, folder.read("r.csv"));
    // A closed world learned from all six rankings need not be exact, but must contain them.
    folder.run("learn r.csv --world closed -o m.psdd").ok();
    let worlds = folder.run("worlds m.psdd").ok().out.lines().count() - 1;
    assert!((6..512).contains(&worlds), "{worlds}");
    let noisy = folder.run("data generate noisy-copy m.psdd --flip 0.5 -n 100 -o n.csv --json").ok().json();
    assert!((350..550).contains(&noisy["flipped_cells"].as_u64().unwrap()), "{noisy}");
    folder.run("data generate noisy-copy m.psdd --flip 2").fails(&["2 is not a probability"]);
    folder.run("data generate rankings --items 0").fails(&["0 items"]);
    folder.run("data generate configurations --json").fails(&["-o FILE", "stdout"]);
}

#[test]
fn a_learned_base_is_compared_with_the_truth() {
    let folder = Folder::new();
    folder.run("data generate rankings --items 3 -n 200 --seed 1 -o r.csv").ok();
    folder.run("learn r.csv --world closed -o closed.psdd").ok();
    folder.run("learn r.csv -o open.psdd").ok();
    let check =
        |model: &str| folder.run(&format!("data generate rankings --items 3 --check {model} --json")).ok().json();
    // An open world allows everything.
    let open = check("open.psdd");
    assert_eq!((&open["allowed_worlds"], &open["both"]), (&json!("512"), &json!("6")));
    close(&open["precision"], 6.0 / 512.0);
    close(&open["recall"], 1.0);
    let closed = check("closed.psdd");
    let worlds = folder.run("worlds closed.psdd").ok().out;
    let ranks = |line: &&str| {
        let cells: Vec<bool> = line.split(',').map(|cell| cell == "1").collect();
        let one = |places: [usize; 3]| places.iter().filter(|&&place| cells[place]).count() == 1;
        (0..3).all(|i| one([3 * i, 3 * i + 1, 3 * i + 2]) && one([i, i + 3, i + 6]))
    };
    let right = worlds.lines().skip(1).filter(ranks).count();
    assert_eq!((&closed["both"], &closed["recall"]), (&json!(right.to_string()), &json!(1.0)));
    close(&closed["precision"], right as f64 / (worlds.lines().count() - 1) as f64);
    let text = folder.run("data generate rankings --items 3 --check closed.psdd").ok().out;
    assert!(text.contains("truly possible    6 of 2^9") && text.contains("recall            1.0000"), "{text}");
    folder.run("data generate configurations --check closed.psdd").fails(&["different variables"]);
}
