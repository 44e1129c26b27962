//! Formats, vtrees, drawings, and what happens when a file cannot be written.

use crate::folder::{Folder, MIXTURE};
use serde_json::json;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

#[test]
fn formats_lead_back_to_the_model() {
    let folder = Folder::with_paper();
    folder.run("convert plain.psdd back.psdd --names records.csv --vtree model.vtree").ok();
    let [a, b] = ["back.psdd", "model.psdd"].map(|m| folder.run(&format!("eval {m} records.csv --json")).ok().out);
    assert_eq!(a, b);
    folder.run("convert model.psdd again.psdd --plain").ok();
    assert_eq!(folder.read("again.psdd"), folder.read("plain.psdd"));
    folder.run("convert model.psdd again.vtree").ok();
    assert_eq!(folder.read("again.vtree"), folder.read("model.vtree"));
    folder.run("convert model.psdd base.sdd").ok();
    folder.run("convert base.sdd uniform.psdd --vtree model.vtree").ok();
    let info = folder.run("info uniform.psdd --json").ok().json();
    assert_eq!(info["model_count"], "10");
    // Uniform over ten worlds.
    assert!((info["entropy"].as_f64().unwrap() - 10f64.ln()).abs() < 1e-9);
    assert_eq!(folder.run("info base.sdd --vtree model.vtree --json").ok().json()["model_count"], "10");
}

#[test]
fn conversions_that_make_no_sense_are_refused() {
    let folder = Folder::with_paper();
    folder.write("mix.psdd", MIXTURE);
    folder.run("convert mix.psdd base.sdd").fails(&["only a PSDD", "node 30"]);
    folder.run("convert model.vtree model2.psdd").fails(&["a vtree alone is no model"]);
    folder.run("convert model.psdd model.docx").fails(&["model.docx", "ending of the name"]);
    folder.run("convert model.psdd x.vtree --plain").fails(&["--plain"]);
    folder.run("convert mix.psdd named.psdd --names records.csv").fails(&["4 columns, the model 3"]);
    assert!(!folder.files().iter().any(|f| ["base.sdd", "model2.psdd", "x.vtree", "named.psdd"].contains(&f.as_str())));
}

#[test]
fn vtrees_from_everywhere() {
    let folder = Folder::with_paper();
    let text = folder.run("vtree ((a,b),(c,d))").ok().out;
    assert_eq!(text, "((a,b),(c,d))\n\n[3]\n├─ [1]\n│  ├─ a\n│  └─ b\n└─ [5]\n   ├─ c\n   └─ d\n");
    assert!(folder.run("vtree right-linear --variables 3").ok().out.starts_with("(x1,(x2,x3))\n"));
    assert!(folder.run("vtree ((2,1),3)").ok().out.starts_with("((x2,x1),x3)\n"));
    let json_line = |args: &str| folder.run(args).ok().json()["vtree"].clone();
    assert_eq!(json_line("vtree model.psdd --json"), "((X1,X2),(X3,X4))");
    assert_eq!(json_line("vtree model.vtree --data records.csv --json"), "((X1,X2),(X3,X4))");
    folder.run("vtree chow-liu --data records.csv -o t.vtree -o t.svg -o t.dot").ok();
    assert_eq!(
        json_line("vtree t.vtree --data records.csv --json"),
        json_line("vtree chow-liu --data records.csv --json")
    );
    assert!(folder.read("t.svg").starts_with("<svg ") && folder.read("t.dot").starts_with("digraph "));
    folder.run("vtree chow-liu").fails(&["looks at records", "--data"]);
    folder.run("vtree balanced").fails(&["how many variables", "--variables"]);
    folder.run("vtree balanced --variables 0").fails(&["at least one variable"]);
    folder.run("vtree ((1,2").fails(&["column 6"]);
    folder.run("vtree ((a,b),a)").fails(&["\"a\""]);
    folder.run("vtree model.vtree -o picture.png").fails(&["picture.png", ".svg"]);
}

#[test]
fn drawings_are_complete_or_say_so() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv -o m.psdd").ok();
    let drawn = folder.run("draw m.psdd -o m.svg").ok();
    assert!(drawn.err.contains("summary") && folder.read("m.svg").contains("engine_electric"));
    let all = folder.run("draw m.psdd -o all.dot --limit 1000000 --json").ok().json();
    assert_eq!(all, json!({"file": "all.dot", "complete": true}));
    folder.run("draw m.psdd --what vtree -o v.svg").ok();
    assert!(folder.read("v.svg").starts_with("<svg "));
    folder.run("draw m.psdd -o m.txt").fails(&["m.txt", ".svg or .dot"]);
}

#[test]
fn deep_vtrees_do_not_overflow_the_stack() {
    let folder = Folder::new();
    let row = |bit: usize| (0..2000).map(|i| if i % 7 == bit { "1" } else { "0" }).collect::<Vec<_>>().join(",");
    folder.write("wide.data", (0..7).map(|bit| row(bit) + "\n").collect::<String>());
    for vtree in ["right-linear", "left-linear"] {
        folder.run(&format!("learn wide.data --vtree {vtree} --world closed -o m.psdd")).ok();
        folder.run("validate m.psdd").ok();
        folder.run("mpe m.psdd").ok();
        folder.run("sample m.psdd -n 2").ok();
        folder.run("draw m.psdd -o m.svg").ok();
        folder.run("info m.psdd").ok();
    }
    folder.run("vtree left-linear --variables 2000 -o deep.vtree -o deep.svg -q").ok();
    assert!(folder.run("vtree deep.vtree").ok().err.contains("no picture"));
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let folder = Folder::with_cars();
    if Path::new("/dev/full").exists() {
        folder.run("learn cars.csv -o /dev/full").fails(&["the model was not saved", "/dev/full", "No space left"]);
        folder.run("sample /dev/null -n 1").fails(&["empty"]);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = folder.command(&["data", "generate", "configurations"]).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(2), "a full disk behind stdout");
    }
}

#[test]
fn an_unwritable_target_leaves_the_old_file() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv --learner factorised -o m.psdd").ok();
    let old = folder.read("m.psdd");
    folder.run("learn cars.csv -o no/such/folder/m.psdd").fails(&["no/such/folder/m.psdd"]);
    fs::create_dir(folder.path("folder")).unwrap();
    folder.run("learn cars.csv -o folder").fails(&["folder"]);
    // The records are bad: the old model stays.
    folder.write("bad.csv", "a,b\n1,2\n");
    folder.run("learn bad.csv -o m.psdd").fails(&["bad.csv, line 2"]);
    assert_eq!(folder.read("m.psdd"), old);
    assert_eq!(folder.files(), ["bad.csv", "cars.csv", "folder", "m.psdd"]);
}

#[test]
fn a_closed_pipe_is_quiet() {
    let folder = Folder::with_paper();
    let mut child = folder
        .command(&["sample", "model.psdd", "-n", "300000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut some = [0; 100];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut some).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
    // What is saved does not depend on who listens.
    let mut child = folder.command(&["learn", "records.csv", "-o", "m.psdd"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    folder.run("validate m.psdd").ok();
}
