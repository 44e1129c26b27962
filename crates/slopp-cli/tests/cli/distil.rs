//! `slopp distil`: a student of any teacher is one proved PSDD.

use crate::folder::Folder;
use serde_json::Value;

/// Cars to learn from, to choose by and to test with.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, rows, seed) in [("train", 120, 1), ("valid", 200, 2), ("test", 2000, 3), ("samples", 20_000, 4)] {
        folder.run(&format!("data generate configurations -n {rows} --seed {seed} -o {name}.csv")).ok();
    }
    folder
}

fn per_record(document: &Value, who: &str) -> f64 {
    document[who]["test"]["log_likelihood_per_record"].as_f64().unwrap()
}

#[test]
fn a_student_is_one_psdd_and_better_than_alone() {
    let folder = folder();
    let alone = folder.run("learn train.csv --valid valid.csv --test test.csv --json").ok().json();
    let alone = alone["test"]["log_likelihood_per_record"].as_f64().unwrap();
    // The truth itself is the teacher, by its samples.
    let run = "distil samples.csv train.csv --valid valid.csv --test test.csv -o student.psdd --json";
    let taught = folder.run(run).ok().json();
    assert_eq!((taught["samples"].as_f64(), &taught["teacher"]), (Some(20_000.0), &Value::Null));
    assert!(per_record(&taught, "student") > alone + 0.1, "{taught} against {alone}");
    folder.run("validate student.psdd").ok();
    let origin = folder.run("info student.psdd --json").ok().json()["origin"].clone();
    assert_eq!((&origin["teacher"], &origin["samples"]), (&"records".into(), &"20000".into()));
    let bytes = folder.read("student.psdd");
    folder.run(&format!("{run} --threads 1")).ok();
    assert_eq!(folder.read("student.psdd"), bytes);
}

#[test]
fn every_kind_of_model_can_teach() {
    let folder = folder();
    for (learner, file) in [("learnspn", "t.spn"), ("slopp-em", "t.mix"), ("chow-liu", "t.psdd")] {
        folder.run(&format!("learn train.csv --valid valid.csv --learner {learner} -o {file}")).ok();
        let run = format!("distil {file} train.csv --valid valid.csv --test test.csv -n 5000 -o student.psdd --json");
        let taught = folder.run(&run).ok().json();
        assert_eq!(taught["samples"], 5000);
        assert!((per_record(&taught, "teacher") - per_record(&taught, "student")).abs() < 1.0, "{taught}");
        folder.run("validate student.psdd").ok();
    }
    let told = folder.run("distil t.psdd train.csv -n 1000 --max-elements 60").ok();
    assert!(told.err.contains("12 records held out by seed"), "{}", told.err);
    assert!(told.out.contains("proved to be a PSDD") && told.out.contains("The teacher:"), "{}", told.out);
}

#[test]
fn a_student_is_learned_smaller_where_columns_or_the_base_need_more() {
    let folder = Folder::with_columns();
    folder.run("learn train.csv --valid valid.csv --closed color,size -o t.psdd").ok();
    for (teacher, samples) in [("train.csv", ""), ("t.psdd", "-n 3000")] {
        let distil = format!("distil {teacher} train.csv --valid valid.csv {samples} --json");
        let told = folder.run(&format!("{distil} --max-elements 30")).ok();
        assert!(told.json()["elements"].as_u64().unwrap() <= 30 && !told.err.contains("more than"), "{}", told.err);
        // No circuit with these columns has so few, and that is said.
        let told = folder.run(&format!("{distil} --max-elements 13")).ok();
        assert!(told.err.contains("elements are more than --max-elements 13"), "{}", told.err);
    }
}

#[test]
fn teachers_that_cannot_teach_are_refused() {
    let folder = folder();
    folder.run("distil samples.csv train.csv -n 100").fails(&["--samples is for a teacher that is a model"]);
    // Before as many records are drawn as would take minutes.
    folder.run("learn train.csv --learner chow-liu -o t.psdd").ok();
    let few = folder.run("distil t.psdd train.csv -n 1000000000 --max-elements 1");
    few.fails(&["--max-elements 1 is too small"]);
    folder.run("distil nobody.psdd train.csv").fails(&["nobody.psdd"]);
    folder.write("other.csv", "a,b\n0,1\n1,0\n");
    folder.run("distil other.csv train.csv").fails(&["train.csv"]);
    folder.write("few.csv", "a,b\n0,1\n");
    folder.run("distil other.csv few.csv").fails(&["too few records", "validation records"]);
    folder.run("distil samples.csv train.csv -o train.csv").fails(&["train.csv is an input"]);
}

#[test]
fn samples_are_read_by_the_columns_of_the_training_records() {
    let folder = Folder::new();
    let ages = (0..120).map(|i| format!("{},{},{}\n", i % 2, 20 + i % 60, ["red", "green"][i / 7 % 2]));
    folder.write("train.csv", format!("fast,age,color\n{}", ages.collect::<String>()));
    folder.run("learn train.csv --bins age=3 -o t.psdd").ok();
    folder.run("sample t.psdd -n 300 -o drawn.csv").ok();
    assert!(folder.read("drawn.csv").contains("..40"), "samples have names of bins");
    // In another order, the student has that of the training records.
    let turned = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",");
    let turned: Vec<String> = folder.read("drawn.csv").lines().map(turned).collect();
    folder.write("turned.csv", turned.join("\n"));
    for samples in ["drawn.csv", "turned.csv"] {
        folder.run(&format!("distil {samples} train.csv --bins age=3 -o student.psdd")).ok();
        assert!(folder.run("sample student.psdd -n 1").ok().out.starts_with("fast,age,color\n"));
    }
    folder.write("named.csv", "a,b\n0,1\n1,1\n");
    folder.write("boolean.csv", "0,1\n1,1\n".repeat(20));
    folder.run("distil boolean.csv named.csv").fails(&["boolean.csv, the teacher, has no header", "named.csv"]);
    // Training records without a header go by place.
    folder.run("distil named.csv boolean.csv -o student.psdd").ok();
    assert!(folder.run("sample student.psdd -n 1").ok().out.starts_with("a,b\n"));
}

#[test]
fn columns_of_a_teacher_are_its_own() {
    let folder = Folder::with_columns();
    folder.run("learn train.csv -o t.psdd").ok();
    folder.run("distil t.psdd train.csv -n 100 --bins x=4").fails(&["the columns are those of the teacher", "--bins"]);
    folder
        .run("learn train.csv --learner learnpsdd --start t.psdd --categories x")
        .fails(&["the columns are those of the model to start from", "leave --bins"]);
}
