//! Questions, repairs and comparisons by column, as people have them in their files.

use crate::folder::Folder;
use serde_json::{Value, json};

/// Red cars are fast, grey ones are slow, and only old ones are for sale.
const CARS: &str = "\
color,age,fast,sold
red,3,yes,no
red,12,yes,no
grey,30,no,yes
grey,41,no,yes
blue,8,no,no
blue,22,yes,no
blue,9,no,no
red,5,yes,no
grey,28,no,yes
blue,17,no,no
red,33,yes,yes
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("cars.csv", CARS);
    folder.run("learn cars.csv --bins age=new:10:used:25:old --world closed -o closed.psdd").ok();
    folder
}

fn probability(folder: &Folder, event: &str) -> f64 {
    folder.run_args(&["prob", "closed.psdd", event, "--json"]).ok().json()["probability"].as_f64().unwrap()
}

#[test]
fn noise_is_a_distribution_over_the_records_of_a_file() {
    let folder = folder();
    let mut rows = "color,age,fast,sold\n".to_owned();
    for color in ["red", "grey", "blue"] {
        for age in [3, 12, 40] {
            for fast in ["yes", "no"] {
                rows += &format!("{color},{age},{fast},yes\n{color},{age},{fast},no\n");
            }
        }
    }
    folder.write("all.csv", &rows);
    for noise in ["0.01", "0.2", "0.5"] {
        let logs = folder.run(&format!("eval closed.psdd all.csv --noise {noise} --per-record")).ok().out;
        let total: f64 = logs.lines().map(|line| line.parse::<f64>().unwrap().exp()).sum();
        assert!((total - 1.0).abs() < 1e-9, "{noise}: {total}");
    }
    let auto = folder.run("eval closed.psdd all.csv --noise auto --json").ok().json();
    assert_eq!(auto["impossible"], 0);
    let noisy = folder.run("data generate noisy-copy closed.psdd --flip 0.3 -n 200").ok().out;
    assert!(noisy.starts_with("color,age,fast,sold\n"), "every record has one value per column: {noisy}");
}

#[test]
fn map_and_information_take_columns() {
    let folder = folder();
    let found = folder.run("map closed.psdd --of color,sold --given fast --json").ok().json();
    assert_eq!(found["values"], json!({"color": "red", "sold": false}));
    let mut best = 0.0;
    for color in ["red", "grey", "blue"] {
        for sold in ["sold", "!sold"] {
            best = f64::max(best, probability(&folder, &format!("color={color} & {sold} & fast")));
        }
    }
    assert!((found["probability"].as_f64().unwrap() - best).abs() < 1e-12, "{found}");
    assert!(folder.run("map closed.psdd --of color,fast").ok().out.starts_with("color="));
    assert_eq!(
        folder.run("map closed.psdd --of color=grey --json").ok().json()["values"],
        json!({"color=grey": false})
    );
    folder.run("map closed.psdd --of colour").fails(&["there is no variable \"colour\""]);
    let told = folder.run("information closed.psdd --between color,age --and sold --json").ok().json();
    let mut expected = 0.0;
    for color in ["red", "grey", "blue"] {
        for age in ["new", "used", "old"] {
            for sold in ["sold", "!sold"] {
                let [joint, first, second] = [
                    format!("color={color} & age={age} & {sold}"),
                    format!("color={color} & age={age}"),
                    sold.to_owned(),
                ]
                .map(|event| probability(&folder, &event));
                if joint > 0.0 {
                    expected += joint * (joint / (first * second)).ln();
                }
            }
        }
    }
    assert!((told["mutual_information"].as_f64().unwrap() - expected).abs() < 1e-9, "{told} {expected}");
}

#[test]
fn a_repaired_file_differs_only_where_it_must() {
    let folder = folder();
    let rows = "sold;\"age\";color;fast\r\nYES;33.50;grey;no\r\n\r\nNo;007;\"grey\";no\r\n no ; 12 ;red;\"Yes\"\r\nno;?;red;No";
    folder.write("odd.csv", rows);
    let changes = folder.run("repair closed.psdd odd.csv -o good.csv --json").ok().json();
    let changed: Vec<u64> =
        changes["changes"].as_array().unwrap().iter().map(|c| c["record"].as_u64().unwrap()).collect();
    assert_eq!(changed, [2, 4]);
    let good = folder.read("good.csv");
    let (before, after): (Vec<&str>, Vec<&str>) = (rows.split('\n').collect(), good.split('\n').collect());
    assert_eq!(before.len(), after.len());
    for line in [0, 1, 2, 4] {
        assert_eq!(before[line], after[line], "as it was");
    }
    for (line, entry) in [(3, 0), (5, 1)] {
        let (old, new): (Vec<&str>, Vec<&str>) = (before[line].split(';').collect(), after[line].split(';').collect());
        let differ = old.iter().zip(&new).filter(|(a, b)| a != b).count();
        assert_eq!(differ, changes["changes"][entry]["change"].as_object().unwrap().len(), "{new:?}");
    }
    assert_eq!(folder.run("eval closed.psdd good.csv --json").ok().json()["impossible"], 0);
    // A number that must be in another bin becomes the name of the bin, and that is said.
    folder.run("learn cars.csv --bins age=new:10:used:25:old --closed age,sold -o age.psdd").ok();
    folder.write("young.csv", "color,age,fast,sold\nred,30,yes,yes\nred,3.25,yes,?\ngrey,9,no,yes\n");
    let told = folder.run("repair age.psdd young.csv -o good.csv").ok();
    match folder.read("good.csv").lines().nth(3).unwrap() {
        "grey,old,no,yes" => assert!(told.err.contains("changed cells of age hold the name of a bin"), "{}", told.err),
        line => assert_eq!(line, "grey,9,no,no"),
    }
    assert!(folder.read("good.csv").contains("\nred,30,yes,yes\nred,3.25,yes,?\n"));
    // Weights, gzip and a stream stay what they are.
    folder.write("w.wdata", "2.5|0,0,1,1,0,0,1,0\n3|1,0,0,0,1,0,0,0\n");
    folder.run("repair closed.psdd w.wdata -o good.wdata").ok();
    let good = folder.read("good.wdata");
    assert!(good.starts_with("2.5|") && good.lines().nth(1).unwrap().starts_with("3|"), "{good}");
}

#[test]
fn two_models_are_compared_by_column() {
    let folder = folder();
    folder.run("learn cars.csv --bins age=new:10:used:25:old -o open.psdd").ok();
    let told = folder.run("diff closed.psdd open.psdd --limit 2 --json");
    assert_eq!(told.code, 1);
    let told = told.json();
    assert_eq!((&told["only_first"], &told["different_values"]), (&json!("0"), &json!([])));
    let world = &told["examples_second"][0];
    assert!(world["color"].is_string() && world["age"].is_string() && world["sold"].is_boolean(), "{world}");
    let text = folder.run("diff closed.psdd open.psdd --limit 1").out;
    assert!(text.contains("color=") && !text.contains("!color="), "{text}");
    // Rules say nothing of columns, and no world has two colours all the same.
    folder.write("rules.txt", "color=red -> fast\nage=40 -> sold\n");
    let told = folder.run("diff rules.txt open.psdd --json").json();
    let count = |key: &str| told[key].as_str().unwrap().parse::<u32>().unwrap();
    // Six are red and slow, six are old and not for sale, and one is both.
    assert_eq!(count("only_first") + count("both"), 36 - 6 - 6 + 1);
    assert_eq!(count("both") + count("only_second"), 36);
    // A value that only one model knows.
    folder.write("more.csv", CARS.replace("blue,8,", "green,8,"));
    folder.run("learn more.csv --bins age=new:10:used:25:old -o more.psdd").ok();
    let told = folder.run("equivalent open.psdd more.psdd");
    assert_eq!(told.code, 1);
    assert!(told.out.contains("only more.psdd allows the world") && told.out.contains("color=green"), "{}", told.out);
    assert!(told.err.contains("only more.psdd has the value \"green\""), "{}", told.err);
    let told = folder.run("diff open.psdd more.psdd --json").json();
    assert_eq!((&told["both"], &told["only_first"], &told["only_second"]), (&json!("36"), &json!("0"), &json!("12")));
    assert_eq!(told["different_values"], json!([{"column": "color", "only_first": [], "only_second": ["green"]}]));
    // Rules may name such a value too.
    folder.write("purple.txt", "color=purple -> fast\n");
    for (files, only) in [("purple.txt open.psdd", "only_first"), ("open.psdd purple.txt", "only_second")] {
        for command in ["diff", "equivalent"] {
            let told = folder.run(&format!("{command} {files}")).err;
            assert!(told.contains("column \"color\": only purple.txt has the value \"purple\""), "{told}");
        }
        let told = folder.run(&format!("diff {files} --json")).json();
        assert_eq!(told["different_values"][0][only], json!(["purple"]), "{told}");
    }
    folder.run("learn cars.csv --bins age=2 -o two.psdd").ok();
    folder.run("diff open.psdd two.psdd").fails(&[
        "column \"age\" is cut differently",
        "new, used, old",
        "same --bins",
    ]);
}

#[test]
fn a_student_keeps_what_its_teacher_rules_out() {
    let folder = folder();
    let rows: String = CARS.lines().skip(1).cycle().take(60).fold(String::new(), |all, row| all + row + "\n");
    folder.write("cars.csv", format!("color,age,fast,sold\n{rows}"));
    folder.write("rules.txt", "color=red -> fast\nsold -> age=old\n");
    let bins = "--bins age=new:10:used:25:old";
    folder.run(&format!("learn cars.csv {bins} --rules rules.txt -o teacher.psdd")).ok();
    let taught = folder.run("distil teacher.psdd cars.csv -n 2000 -o student.psdd --json").ok().json();
    assert_eq!(taught["keeps_base"], true);
    for rule in ["color=red -> fast", "sold -> age=old", "exactly(1, color=red, color=grey, color=blue)"] {
        folder.run_args(&["entails", "student.psdd", rule]).ok();
    }
    folder.run("equivalent teacher.psdd student.psdd").ok();
    folder.run("validate student.psdd").ok();
    let free = folder.run("distil teacher.psdd cars.csv -n 2000 --free -o free.psdd --json").ok().json();
    assert_eq!(free["keeps_base"], false);
    assert_eq!(folder.run_args(&["entails", "free.psdd", "color=red -> fast"]).code, 1);
    folder.run_args(&["entails", "free.psdd", "exactly(1, color=red, color=grey, color=blue)"]).ok();
    // Rules of its own, which a teacher of another kind cannot keep.
    folder.run(&format!("learn cars.csv {bins} --learner slopp-em --components 2 -o teacher.mix")).ok();
    let taught = folder.run("distil teacher.mix cars.csv -n 2000 --rules rules.txt -o student.psdd --json").ok();
    assert!(taught.err.contains("not deterministic, so its base is not kept"), "{}", taught.err);
    let taught = taught.json();
    assert_eq!((&taught["keeps_base"], &taught["rules"]["rules"]), (&Value::Bool(false), &json!(2)));
    folder.run_args(&["entails", "student.psdd", "sold -> age=old"]).ok();
    folder.write("new.csv", format!("color,age,fast,sold\nred,3,no,no\n{rows}"));
    folder.run("distil teacher.psdd new.csv -n 100").fails(&[
        "1 of 61 records",
        "impossible for the teacher",
        "--free",
    ]);
    folder.run("distil teacher.psdd new.csv -n 100 --rules rules.txt").fails(&["record 1 breaks line 1"]);
}

#[test]
fn slips_in_formulas_are_told_from_impossible_ones() {
    let folder = folder();
    let ask = |args: &[&str]| folder.run_args(&[&["prob", "closed.psdd"], args].concat());
    ask(&["fast & "]).fails(&["column 8", "expected a variable"]);
    ask(&["fast", "--given", "fast & !fast"]).fails(&["both true and false", "impossible"]);
    for nothing in ["fast & !fast", "fast, !fast", "color=red & color=blue"] {
        assert_eq!(ask(&[nothing, "--json"]).ok().json()["probability"], 0.0, "{nothing}");
    }
    // Numbers are in their bins, and values may be quoted.
    for (one, other) in [
        ("age=40 -> sold", "age=old -> sold"),
        ("!(age=9.5) | fast", "!(age=new) | fast"),
        ("color=\"red\" -> fast", "color=red -> fast"),
        ("color!=\"red\" | fast", "color=red -> fast"),
    ] {
        let [one, other] = [one, other].map(|event| probability(&folder, event));
        assert!((one - other).abs() < 1e-12);
    }
    let [all, some] = ["fast", "fast, sold=?"].map(|event| ask(&[event, "--json"]).ok().json()["probability"].clone());
    assert_eq!(all, some);
}
