//! Learning inside rules.

use crate::folder::Folder;
use crate::knowledge::bits;

const CAR_RULES: &str = "# of the factory\nexactly(1, engine_electric, engine_hybrid)\n";

#[test]
fn learned_inside_rules() {
    let folder = Folder::new();
    // b follows from a in most records; the second and the last break the rule, the third breaks two.
    let rows = ["1,1,0,0", "1,0,0,1", "1,0,1,1", "0,1,1,0", "0,0,0,1", "0,0,1,0", "1,1,0,1", "0,1,0,0", "1,0,0,0"];
    let text = format!("a,b,c,d\n{}\n", rows.join("\n")).replace("0,1,0,0\n", &"0,1,0,0\n".repeat(20));
    folder.write("records.csv", text);
    folder.write("rules.txt", "# what we know\na -> b\n\n!(c & d)\n");
    let refused = folder.run("learn records.csv --rules rules.txt -o model.psdd");
    refused.fails(&[
        "3 of 28 records in records.csv break a rule",
        "record 2 breaks line 2: a -> b",
        "--on-violation drop",
    ]);
    assert!(!folder.files().contains(&"model.psdd".to_owned()));
    let obeys = |w: &[bool]| (!w[0] || w[1]) && !(w[2] && w[3]);
    for learner in ["slopp", "slopp-tree", "factorised", "chow-liu", "learnpsdd", "strudel"] {
        for world in ["open", "closed"] {
            for (what, total) in [("drop", 25), ("repair", 28)] {
                let options = format!("--learner {learner} --world {world} --on-violation {what}");
                let report =
                    folder.run(&format!("learn records.csv --rules rules.txt {options} -o m.psdd --json")).ok();
                let report = report.json();
                assert_eq!(report["certificate"], "psdd", "{options}");
                assert_eq!(report["rules"]["violating_records"], 3);
                assert_eq!(report["rules"]["violations"][1]["broken"].as_array().unwrap().len(), 2);
                assert_eq!(report["rules"]["violations"][1]["broken"][1]["line"], 4);
                assert_eq!(
                    (report["train"]["records"].as_u64(), report["train"]["impossible"].as_u64()),
                    (Some(total), Some(0))
                );
                folder.run_args(&["entails", "m.psdd", "(a -> b) & !(c & d)"]).ok();
                assert_eq!(folder.run("validate m.psdd").code, 0);
                if world == "open" {
                    folder.run("equivalent m.psdd rules.txt").ok();
                }
                // Its probabilities add up to one over the worlds that obey.
                let listed = folder.run("mpe m.psdd -k 16 --json").ok().json();
                let listed = listed["worlds"].as_array().unwrap();
                assert!(listed.iter().all(|entry| obeys(&bits(&entry["world"]))));
                let sum: f64 = listed.iter().map(|entry| entry["probability"].as_f64().unwrap()).sum();
                assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            }
        }
    }
    // A mixture stays a mixture, and obeys.
    folder.run("learn records.csv --rules rules.txt --learner slopp-kmeans --d 2 --on-violation drop -o k.psdd").ok();
    folder.run_args(&["entails", "k.psdd", "(a -> b) & !(c & d)"]).ok();
    // Missing cells: the fourth cell alone is not known, and no value of it helps.
    folder.write("holes.csv", "a,b,c,d\n1,1,,1\n0,,1,\n1,,0,0\n1,0,?,?\n0,1,0,1\n");
    let holes = "learn holes.csv --rules rules.txt --on-violation repair --learner slopp-tree --drop-incomplete --json";
    let report = folder.run(holes).ok().json();
    assert_eq!(report["rules"]["violating_records"], 1);
    assert_eq!(report["rules"]["violations"][0]["record"], 4);
    let told = folder.run("learn records.csv --rules rules.txt --on-violation repair").ok();
    assert!(told.err.contains("record 2 breaks line 2: a -> b; changed 1 cell to "), "{}", told.err);
    assert!(told.out.contains("2 rules, which the base implies; 3 records changed to obey them"), "{}", told.out);
}

#[test]
fn bad_rules_for_learning() {
    let folder = Folder::with_cars();
    folder.write("bad.txt", CAR_RULES.replace("engine_hybrid", "engine_hybird"));
    folder.run("learn cars.csv --rules bad.txt").fails(&["bad.txt, line 2", "did you mean"]);
    folder.write("never.txt", "engine_electric\n# no\ngearbox_automatic -> engine_electric\n!engine_electric\n");
    let refused = folder.run("learn cars.csv --rules never.txt");
    assert!(!refused.err.contains("line 3"), "{}", refused.err);
    refused.fails(&["no world obeys the rules", "line 1: engine_electric", "line 4: !engine_electric"]);
    folder.write("ok.txt", "engine_electric | !engine_electric\n");
    folder.run("learn cars.csv --rules ok.txt --learner learnspn").fails(&["cannot be conditioned on rules"]);
    folder.run("learn cars.csv --on-violation drop").fails(&["--rules"]);
    folder.run("learn cars.csv --rules ok.txt").ok();
}

#[test]
fn mixtures_are_learned_inside_rules() {
    let folder = Folder::new();
    // Five columns; the third is never true without the first.
    let line = |i: u32| {
        let bits: Vec<u32> = (0..5).map(|b| ((i * i + i / 3) >> b) & 1).collect();
        let bits = [bits[0], bits[1], bits[0] & bits[2], bits[3], bits[4]];
        bits.map(|bit| bit.to_string()).join(",") + "\n"
    };
    folder.write("train.csv", "a,b,c,d,e\n".to_owned() + &(0..150).map(line).collect::<String>());
    folder.write("rules.txt", "c -> a\n!(b & d & !e) | a\n");
    let all: String =
        (0..32u32).map(|w| (0..5).map(|b| (w >> b & 1).to_string()).collect::<Vec<_>>().join(",") + "\n").collect();
    folder.write("all.csv", "a,b,c,d,e\n".to_owned() + &all);
    let obeys = |w: usize| {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|i| w >> i & 1 == 1);
        (!c || a) && (!(b && d && !e) || a)
    };
    // What is learned from where rules play no part.
    let number = |line: &str| line.split(',').enumerate().fold(0, |w, (i, cell)| w | usize::from(cell == "1") << i);
    let train = folder.read("train.csv");
    let obeying = train.lines().skip(1).filter(|line| obeys(number(line))).map(|line| line.to_owned() + "\n");
    folder.write("obeying.csv", "a,b,c,d,e\n".to_owned() + &obeying.collect::<String>());
    for learner in ["slopp-bag --components 3", "slopp-em --components 2", "strudel-em --components 2"] {
        let probabilities = |args: &str| -> Vec<f64> {
            folder.run(&format!("learn {args} --learner {learner} -o m.mix")).ok();
            let report = folder.run("eval m.mix all.csv --per-record --json").ok().json();
            let logs = report["per_record"].as_array().unwrap().iter();
            logs.map(|log| log.as_f64().map_or(0.0, f64::exp)).collect()
        };
        let inside = probabilities("train.csv --rules rules.txt --on-violation drop");
        let free = probabilities("obeying.csv");
        let total: f64 = (0..32).filter(|&w| obeys(w)).map(|w| free[w]).sum();
        assert!(total < 1.0 - 1e-6, "the rules exclude something");
        for w in 0..32 {
            let expected = if obeys(w) { free[w] / total } else { 0.0 };
            assert!((inside[w] - expected).abs() < 1e-9, "{learner}, world {w}: {} {expected}", inside[w]);
        }
    }
}

#[test]
fn records_that_are_held_back_stay_as_they_are() {
    let folder = Folder::new();
    // Every fourth record breaks the rule.
    let row = |i: usize| if i % 4 == 3 { "1,0,1\n".to_owned() } else { format!("{},1,{}\n", i % 2, i / 2 % 2) };
    folder.write("records.csv", "a,b,c\n".to_owned() + &(0..200).map(row).collect::<String>());
    folder.write("rules.txt", "a -> b\n");
    for what in ["drop", "repair"] {
        let run = format!("learn records.csv --rules rules.txt --on-violation {what} --split 0.6,0.2,0.2 --seed 4");
        let report = folder.run(&format!("{run} --json")).ok().json();
        let of = |part: &str, what: &str| report[part][what].as_u64().unwrap();
        assert_eq!([of("valid", "records"), of("test", "records")], [40, 40]);
        // What breaks the rule and is held back is counted as impossible.
        let held_back = of("valid", "impossible") + of("test", "impossible");
        let broken = report["rules"]["violating_records"].as_u64().unwrap();
        assert!(held_back > 0 && broken > 0);
        assert_eq!(held_back + broken, 50);
        assert_eq!(of("train", "records"), if what == "drop" { 120 - broken } else { 120 });
        // Numbers are those of the file.
        let violations = report["rules"]["violations"].as_array().unwrap();
        assert!(violations.iter().all(|violation| violation["record"].as_u64().unwrap() % 4 == 0));
        assert!(folder.run(&run).ok().err.contains("validation and test records are scored as they are"));
    }
    folder
        .run("learn records.csv --rules rules.txt --split 0.6,0.2,0.2")
        .fails(&["of 120 records in the training part of records.csv break a rule"]);
}
