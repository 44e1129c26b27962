//! Bad input: a clear message with the way out, exit code 2, nothing written.

use crate::folder::Folder;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Files of records that cannot be learned from, with what the message must say.
#[test]
fn bad_records() {
    let wide = |cells: usize| vec!["1"; cells].join(",");
    let mut zip = GzEncoder::new(Vec::new(), Compression::default());
    zip.write_all("0,1\n1,1\n".repeat(1000).as_bytes()).unwrap();
    let zipped = zip.finish().unwrap();
    let mut damaged = zipped.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("empty.csv", b"".to_vec(), &["empty.csv", "is empty"]),
        ("blank.csv", b"\n\n".to_vec(), &["is empty"]),
        ("header.csv", b"a,b\n".to_vec(), &["a header and no records"]),
        ("ragged.csv", b"a,b,c\n0,1,1\n0,1\n".to_vec(), &["ragged.csv, line 3", "expected 3 cells", "found 2"]),
        ("cell.csv", b"a,b\n0,1\n0,maybe\n".to_vec(), &["line 3", "column 2", "(b)", "\"maybe\"", "0, 1, true"]),
        ("nul.csv", b"0,1\n0,\x001\n".to_vec(), &["nul.csv", "NUL"]),
        ("plain.csv.gz", b"0,1\n".to_vec(), &["plain.csv.gz", "no gzip data"]),
        ("short.csv.gz", zipped[..zipped.len() / 2].to_vec(), &["gzip data", "cut off"]),
        ("damaged.csv.gz", damaged, &["gzip data"]),
        ("names.csv", b"a,a\n0,1\n".to_vec(), &["\"a\"", "columns 1 and 2"]),
        ("weight.wdata", b"0|1,0\n".to_vec(), &["line 1", "weight"]),
        (
            "wide.csv",
            format!("{}\n{}\n", wide(100_000), wide(100_000)).into_bytes(),
            &["100000 variables", "--learner factorised"],
        ),
    ];
    for (name, content, fragments) in cases {
        let folder = Folder::new();
        folder.write(name, content);
        folder.run(&format!("learn {name} -o model.psdd")).fails(fragments);
        assert_eq!(folder.files(), [name], "nothing is written");
    }
    let folder = Folder::new();
    folder.run("learn nothing.csv -o m.psdd").fails(&["nothing.csv", "cannot be opened"]);
    folder.run("learn . -o m.psdd").fails(&["is a folder"]);
    folder.run_with("learn - -o m.psdd", b"").fails(&["stdin", "is empty"]);
    assert!(folder.files().is_empty());
}

/// Small, odd but sound: not an error.
#[test]
fn odd_records_are_no_error() {
    let folder = Folder::new();
    let wide = vec!["1,0"; 50_000].join(",");
    for (name, content) in [
        ("row.csv", "a,b,c\n1,0,1\n".to_owned()),
        ("column.csv", "a\n1\n0\n1\n".to_owned()),
        ("cell.data", "1\n".to_owned()),
        ("constant.data", "1,0,1\n1,1,1\n1,0,1\n".to_owned()),
        ("words.csv", "x y;z\nyes;no\nTRUE;f\n".to_owned()),
        ("bom.csv", "\u{feff}a,b\r\n1,0\r\n0,1\r\n".to_owned()),
        ("wide.data", format!("{wide}\n{wide}\n")),
    ] {
        folder.write(name, content);
        for world in ["open", "closed"] {
            folder.run(&format!("learn {name} --world {world} --learner factorised -o m.psdd")).ok();
            assert_eq!(folder.run(&format!("eval m.psdd {name} --json")).ok().json()["impossible"], 0, "{name}");
            if name == "wide.data" {
                folder.run("draw m.psdd -o m.svg").ok();
                let height =
                    folder.read("m.svg").split_once("height=\"").unwrap().1.split_once('"').unwrap().0.to_owned();
                assert!(height.parse::<f64>().unwrap() < 5000.0, "{height}");
            } else {
                folder.run(&format!("learn {name} --world {world} -o m.psdd")).ok();
                folder.run(&format!("learn {name} --world {world} --learner chow-liu -o m.psdd")).ok();
                folder.run(&format!("learn {name} --world {world} --learner slopp-kmeans -o m.psdd")).ok();
                folder.run("validate m.psdd");
                folder.run("marginals m.psdd --pairs").ok();
            }
        }
    }
}

/// Few, equal or single records and columns, with too few or too many classes, at every effort and for every mixture.
#[test]
fn odd_records_are_learned_from_with_any_effort() {
    let folder = Folder::new();
    for (name, content) in [
        ("column.data", "1\n0\n1\n".to_owned()),
        ("equal.data", "1,0,1,0\n".repeat(30)),
        ("row.data", "1,0,1\n".to_owned()),
        ("few.data", "0,1,1\n1,1,0\n0,0,1\n1,0,1\n0,1,0\n".to_owned()),
    ] {
        folder.write(name, content);
        for learner in [
            "slopp --effort balanced",
            "slopp --effort best",
            "slopp --effort best --world closed",
            "slopp-bag --components 1 --world closed",
            "slopp-bag",
            "slopp-em",
        ] {
            for option in ["--max-classes 1", "--max-classes 5000", "--vtree balanced"] {
                let report = folder.run(&format!("learn {name} --learner {learner} {option} --json")).ok().json();
                assert_eq!(report["train"]["impossible"], 0, "{name} {learner} {option}");
            }
        }
    }
    folder.run("learn few.data --learner slopp-bag --components 5000").fails(&["--components is 5000", "at most 4096"]);
    folder.run("learn few.data --effort best --pseudocount 0").fails(&["--pseudocount is 0", "above 0"]);
    folder
        .run("learn few.data --effort best --max-elements 1")
        .fails(&["--max-elements 1 is too small: a circuit over these variables needs 2", "try: --max-elements 2"]);
}

#[test]
fn columns_that_are_open_or_closed_do_not_contradict_the_rest() {
    let folder = Folder::with_cars();
    folder.run_args(&["learn", "cars.csv", "--closed", ""]).fails(&["--closed names no column", "--world open"]);
    folder.run_args(&["learn", "cars.csv", "--open", " , "]).fails(&["--open names no column", "--world closed"]);
    folder.run_args(&["learn", "cars.csv", "--closed", "\"\""]).fails(&["--closed names no column", "--world open"]);
    folder
        .run("learn cars.csv --learner learnpsdd --start m.psdd --open a")
        .fails(&["--open has no effect", "leave --open out"]);
    folder.run("learn cars.csv -o m.psdd").ok();
    for list in ["", " , ", "\"\""] {
        folder.run_args(&["map", "m.psdd", "--of", list]).fails(&["--of names no column", "such as a,b,c"]);
        let ask = |a: &str, b: &str| folder.run_args(&["information", "m.psdd", "--between", a, "--and", b]);
        ask(list, "trim_luxury").fails(&["--between names no column"]);
        ask("trim_luxury", list).fails(&["--and names no column"]);
    }
    folder.run("learn cars.csv --closed a --learner learnspn").fails(&["only an open world", "leave --closed out"]);
    folder.run("learn cars.csv --open a --learner learnspn").fails(&["only an open world", "leave --open out"]);
    folder
        .run("learn cars.csv --closed a --world closed")
        .fails(&["--world closed already closes all", "--open names"]);
    folder
        .run("learn cars.csv --open a --world open")
        .fails(&["--world open already opens all", "--closed names the columns"]);
    folder.run("learn cars.csv --open a --closed b").fails(&["all columns but those it names", "leave one"]);
    folder.run("learn cars.csv --open nobody").fails(&["--open nobody", "no variable \"nobody\""]);
}

#[test]
fn bad_evidence() {
    let folder = Folder::with_paper();
    let ask = |given: &str| folder.run_args(&["marginals", "model.psdd", "--given", given]);
    ask("X11").fails(&["no variable \"X11\"", "did you mean \"X1\"?"]);
    ask("weather").fails(&["no variable \"weather\"", "the names are \"X1\""]);
    ask("X1, X2, !X1").fails(&["\"X1\"", "both true and false"]);
    ask("X1,,").fails(&["column 4", "expected"]);
    ask("X1,,X2").fails(&["column 4", "expected"]);
    ask("X1=7").fails(&["column 4"]);
    folder.run_args(&["prob", "model.psdd", "X2", "--given", "X1, !X1"]).fails(&["both true and false"]);
    assert_eq!(folder.run("prob model.psdd").code, 2);
}

#[test]
fn bad_models() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("empty", "", &["is empty"]),
        ("other", "<html>\n", &["line 1", "psdd"]),
        ("truncated", "psdd 3\nL 0 0 1\nL 1 2 2\nD 2 1 2 0 1 0.0", &["line 4"]),
        ("cut", "psdd 5\nL 0 0 1\nD 2 1 1 0 1 0.0\n", &["line 3", "node 1 does not exist"]),
        ("cyclic", "psdd 3\nL 0 0 1\nD 1 1 1 0 2 0.0\nD 2 1 1 0 1 0.0\n", &["line 3", "used before it is defined"]),
        (
            "duplicate",
            "psdd 3\nL 0 0 1\nL 0 2 2\nD 2 1 1 0 0 0.0\n",
            &["line 3", "node 0 was already defined in line 2"],
        ),
        ("range", "psdd 3\nL 0 0 1\nL 99999999999999999999 2 2\n", &["line 3"]),
        ("variable", "psdd 3\nL 0 0 1\nL 1 2 4000000000\nD 2 1 1 0 1 0.0\n", &["variable 2 is missing"]),
        ("nan", "psdd 3\nL 0 0 1\nL 1 2 2\nD 2 1 1 0 1 NaN\n", &["line 4", "NaN"]),
        ("positive", "psdd 3\nL 0 0 1\nL 1 2 2\nD 2 1 1 0 1 0.5\n", &["line 4", "0.5"]),
        ("nul", "psdd 3\nL 0 0 \x001\n", &["NUL"]),
    ];
    for (name, content, fragments) in cases {
        let folder = Folder::new();
        folder.write("bad.psdd", content);
        for command in ["validate bad.psdd", "info bad.psdd --json", "convert bad.psdd good.psdd", "mpe bad.psdd"] {
            let outcome = folder.run(command);
            assert!(outcome.err.contains("bad.psdd"), "{name}: {outcome:?}");
            outcome.fails(fragments);
        }
        assert_eq!(folder.files(), ["bad.psdd"]);
    }
}

#[test]
fn bad_vtrees() {
    let cases: &[(&str, &[&str])] = &[
        ("vtree 3\nL 0 1\nL 2 2\nI 1 0 5\n", &["line 4", "vtree node 5"]),
        ("vtree 3\nL 0 1\nL 0 2\nI 1 0 0\n", &["line 3", "vtree node 0"]),
        ("vtree 3\nL 0 1\nL 2 1\nI 1 0 2\n", &["variable 1"]),
        ("vtree 3\nL 0 1\nI 1 0 1\n", &["below itself"]),
        ("vtree 3\nL 0 1\nL 2 2\n", &["no parent"]),
        ("", &["is empty"]),
    ];
    for (content, fragments) in cases {
        let folder = Folder::with_paper();
        folder.write("bad.vtree", content);
        folder.run("info plain.psdd --vtree bad.vtree").fails(fragments);
        folder.run("learn records.csv --vtree bad.vtree -o m.psdd").fails(fragments);
        assert!(!folder.files().contains(&"m.psdd".to_owned()));
    }
    let folder = Folder::with_paper();
    folder.write("three.vtree", "vtree 5\nL 0 1\nL 2 2\nI 1 0 2\nL 4 3\nI 3 1 4\n");
    folder.run("learn records.csv --vtree three.vtree").fails(&["vtree has 3 variables", "records have 4"]);
    assert_eq!(folder.run("info plain.psdd --vtree three.vtree").code, 2);
}

#[test]
fn records_that_do_not_fit_the_model() {
    let folder = Folder::with_paper();
    folder.write("other.csv", "X1,X2,X3,Y\n0,0,0,0\n");
    folder.run("eval model.psdd other.csv").fails(&["missing", "X4", "unknown", "Y"]);
    folder.write("narrow.data", "0,0,0\n");
    folder.run("eval model.psdd narrow.data").fails(&["expected 4 columns", "found 3"]);
    folder.run("eval plain.psdd records.csv").fails(&["columns do not fit", "slopp convert MODEL named.psdd --names"]);
    folder.write("holes.csv", "X1,X2,X3,X4\n0,?,0,0\n");
    folder.run("eval model.psdd holes.csv").ok();
}

#[test]
fn files_of_another_kind_are_named() {
    let folder = Folder::with_paper();
    folder.write("m.spn", "spn 1 1\nB 0 1 0.5\n");
    folder.write("blank.data", "0 1 0 1\n1 1 0 0\n");
    let a = "check which file goes where";
    for (args, said) in [
        ("eval records.csv model.psdd", "records.csv, line 1: this is a file of records, not a model"),
        ("eval blank.data model.psdd", "blank.data, line 1: this is a file of records, not a model"),
        ("eval model.psdd model.psdd", "model.psdd, line 1: this is a saved model, not a file of records"),
        ("eval model.psdd plain.psdd", "plain.psdd, line 1: this is a model, not a file of records"),
        ("learn model.vtree", "model.vtree, line 1: this is a vtree, not a file of records"),
        ("learn m.spn", "m.spn, line 1: this is a sum-product network, not a file of records"),
        ("info model.vtree", "this is a vtree, not a model"),
        ("info plain.psdd --vtree records.csv", "records.csv, line 1: this is a file of records, not a vtree"),
        ("info plain.psdd --vtree plain.psdd", "this is a model, not a vtree"),
    ] {
        folder.run(args).fails(&[said, a]);
    }
}

/// What names, values, origins and paths hold is shown and not acted on; JSON and files keep it.
#[test]
fn terminals_act_on_nothing_that_files_hold() {
    let folder = Folder::new();
    let evil = "\u{1b}]0;title\u{7}\u{9b}2J\u{202e}";
    let name = "\\u001b[31m\\u0085\\u202e\\u000a";
    folder.write(
        "m.psdd",
        format!(
            "c slopp 1\nc vtree (1,2)\nc names [\"{name}x\",\"{name}y\"]\nc origin {{\"seed\":\"{name}\"}}\n\
             psdd 3\nT 0 0 1 -0.5\nT 1 2 2 -0.5\nD 2 1 1 0 1 0.0\n"
        ),
    );
    let asked = [
        "info m.psdd",
        "marginals m.psdd --pairs",
        "mpe m.psdd",
        "rules m.psdd",
        "prob m.psdd nothing",
        "vtree m.psdd",
    ];
    let clean = |text: &str| slopp::names::visible_lines(text) == text;
    for command in asked {
        let outcome = folder.run(command);
        assert!(clean(&outcome.out) && clean(&outcome.err), "{command}: {outcome:?}");
    }
    for args in [["info", evil], ["prob", "m.psdd"], [evil, "x"]] {
        let outcome = folder.run_args(&[&args[..], &[evil]].concat());
        assert!(clean(&outcome.out) && clean(&outcome.err), "{outcome:?}");
    }
    let marginals = folder.run("marginals m.psdd --json").ok().json();
    assert!(marginals["marginals"]["\u{1b}[31m\u{85}\u{202e}\nx"].is_number(), "{marginals}");
    // What is shown can be asked.
    folder.run_args(&["prob", "m.psdd", "\"\\u{1b}[31m\\u{85}\\u{202e}\\u{a}x\""]).ok();
    assert!(folder.run("worlds m.psdd").ok().out.contains("\u{1b}[31m"), "a file is as it is");
}

/// The name of a column does not end the line of an error.
#[test]
fn names_stay_on_their_line() {
    let folder = Folder::new();
    folder.write("good.csv", "\"x\ny\",b\n1,0\n0,1\n");
    folder.write("cell.csv", "\"x\ny\",b\n1,0\nmaybe,1\n");
    folder.write("twice.csv", "\"x\ny\",\"x\ny\"\n1,0\n");
    folder.write("other.csv", "\"x\nz\",b\n1,0\n");
    folder.run("learn good.csv -o m.psdd").ok();
    for args in [
        &["learn", "cell.csv"][..],
        &["learn", "cell.csv", "--bins", "x\ny=2"],
        &["learn", "twice.csv"],
        &["eval", "m.psdd", "other.csv"],
        &["prob", "m.psdd", "\"x\\u{a}z\""],
        &["prob", "m.psdd", "b", "--given", "\"x\\u{a}y\", !\"x\\u{a}y\""],
    ] {
        let outcome = folder.run_args(args);
        let begins = ["error: ", "  because ", "  try: ", "  "];
        let whole = |line: &str| begins.iter().any(|begin| line.starts_with(begin));
        assert!(outcome.code == 2 && outcome.err.contains("x\\u{a}"), "{args:?}: {outcome:?}");
        assert!(outcome.err.lines().all(whole), "{args:?}: {}", outcome.err);
    }
}

/// However long what is wrong is, a few hundred characters tell it.
#[test]
fn errors_about_long_texts_are_short() {
    let folder = Folder::new();
    folder.write("t.csv", "a,b\n1,0\n0,1\n");
    folder.run("learn t.csv -o m.psdd").ok();
    let long = "x".repeat(100_000);
    for text in
        [format!("{long} y"), format!("a -> {long}(b)"), format!("a = {long} = q"), format!("\"{long}"), long.clone()]
    {
        folder.write("f.txt", &text);
        for command in [
            "prob m.psdd @f.txt",
            "learn t.csv --rules f.txt",
            "entails m.psdd @f.txt",
            "marginals m.psdd --given @f.txt",
        ] {
            let outcome = folder.run(command);
            assert!(
                outcome.code == 2 && outcome.err.len() < 1500,
                "{command}: {} {}",
                outcome.err.len(),
                &outcome.err[..300]
            );
        }
    }
}

/// As the guide says: evidence takes both, also together.
#[test]
fn unknown_columns_stand_beside_what_is_denied() {
    let folder = Folder::new();
    folder.write("t.csv", "color,a\nred,1\nblue,0\ngreen,1\nred,0\n");
    folder.run("learn t.csv -o m.psdd").ok();
    let ask =
        |event: &str| folder.run_args(&["prob", "m.psdd", event, "--json"]).ok().json()["log_probability"].clone();
    for (event, same) in [
        ("color=?, a!=1", "!a"),
        ("a=?, color!=red", "!color=red"),
        ("color=? & a!=1", "a=0"),
        ("a = ?, color=red | a", "color=red | a"),
    ] {
        assert_eq!(ask(event), ask(same), "{event}");
    }
}

/// Nothing known is nothing to negate, however the negation is written.
#[test]
fn what_is_unknown_is_not_negated() {
    let folder = Folder::new();
    folder.write("t.csv", "color,a\nred,1\nblue,0\ngreen,1\nred,0\n");
    folder.run("learn t.csv -o m.psdd").ok();
    for event in ["!color=?", "!(color=?)", "color!=?"] {
        folder.run_args(&["prob", "m.psdd", event]).fails(&["cannot be negated"]);
    }
    let outcome = folder.run_args(&["possible", "m.psdd", "--given", "color=red, color=blue"]);
    assert!(outcome.code == 1 && outcome.out.starts_with("impossible"), "{}{}", outcome.out, outcome.err);
    assert_eq!(folder.run_args(&["possible", "m.psdd", "--given", "a, !a"]).code, 1);
}

/// Words above numbers are names, and where the first line was a record, a later error says so.
#[test]
fn words_of_truth_may_be_names() {
    let folder = Folder::new();
    let names = |text: &str| {
        folder.write("yn.csv", text);
        let described = folder.run("data describe yn.csv --json").ok().json();
        (described["records"].as_f64().unwrap(), described["columns"].to_string())
    };
    assert_eq!(names("y,n\n0,1\n1,1\n0,0\n1,0\n").0, 4.0);
    assert_eq!(names("T,F\n0,\n1,0\n").0, 2.0);
    for records in ["T,F\nyes,no\n", "y,n\ny,1\n", "y,y\n0,1\n", "y,n\n?,?\n", "0,1\ny,n\n"] {
        assert_eq!(names(records).0, 2.0, "{records}");
    }
    folder.write("late.csv", "y\nn\n8.7\n");
    folder.run("data describe late.csv").fails(&["line 3", "line 1 was taken as a record", "--header yes"]);
    folder.write("number.csv", "0\n8.7\n");
    assert!(!folder.run("data describe number.csv").err.contains("--header yes"));
}

/// A file of another tool that ends early leaves nodes that nothing uses. One that only counts otherwise does not.
#[test]
fn a_cut_circuit_is_refused() {
    let folder = Folder::new();
    let whole = "psdd 6\nT 0 0 1 -0.5\nT 1 2 2 -0.5\nD 2 1 1 0 1 0.0\nT 3 4 3 -0.5\nD 4 3 1 2 3 0.0\n";
    folder.write("pc.psdd", whole);
    folder.run("validate pc.psdd").ok();
    let lines: Vec<&str> = whole.lines().collect();
    folder.write("pc.psdd", lines[..5].join("\n"));
    folder.run("validate pc.psdd").fails(&["cut off", "4 lines of nodes, line 1 says 6", "nothing uses node 2"]);
}
