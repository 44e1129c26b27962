//! Formats, vtrees, drawings, and what happens when a file cannot be written.

use crate::folder::{Folder, MIXTURE, signalled};
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
    folder.run("convert model.vtree model2.psdd").fails(&["a vtree alone is not a model"]);
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
    folder.run("vtree chow-liu").fails(&["needs records", "--data"]);
    folder.run("vtree balanced").fails(&["needs a number of variables", "--variables"]);
    folder.run("vtree balanced --variables 0").fails(&["--variables", "at least 1"]);
    folder.run("vtree ((1,2").fails(&["column 6"]);
    folder.run("vtree ((a,b),a)").fails(&["\"a\""]);
    folder.run("vtree model.vtree -o picture.png").fails(&["picture.png", ".svg"]);
}

#[test]
fn drawings_are_complete_or_say_so() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv -o m.psdd").ok();
    let drawn = folder.run("draw m.psdd -o m.svg --limit 100").ok();
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
        folder.run(&format!("learn wide.data --learner slopp-tree --vtree {vtree} --world closed -o m.psdd")).ok();
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
        let full = folder.run("learn cars.csv -o /dev/full");
        assert!(full.code == 2 && full.out.contains("\ntrain "), "the report is not lost: {full:?}");
        for part in ["error: the model was not saved", "/dev/full", "No space left", "try: free some space"] {
            assert!(full.err.contains(part), "{}", full.err);
        }
        folder.run("sample /dev/null -n 1").fails(&["empty"]);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = folder.command(&["data", "generate", "configurations"]).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(2), "a full disk behind stdout");
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = folder.command(&["data", "describe", "cars.csv"]).stdout(full).stderr(Stdio::piped()).output();
        let told = String::from_utf8(output.unwrap().stderr).unwrap();
        assert!(told.contains("cannot write to stdout") && told.contains("try: free some space"), "{told}");
    }
}

#[test]
fn an_unwritable_target_leaves_the_old_file() {
    let folder = Folder::with_cars();
    folder.run("learn cars.csv --learner factorised -o m.psdd").ok();
    let old = folder.read("m.psdd");
    folder.run("learn cars.csv -o no/such/folder/m.psdd").fails(&["no/such/folder/m.psdd", "try: make the folder"]);
    // Before anything is read, let alone learned.
    folder.run("learn no-such-file.csv -o no/such/folder/m.psdd").fails(&["cannot write no/such/folder/m.psdd"]);
    fs::create_dir(folder.path("folder")).unwrap();
    folder.run("learn cars.csv -o folder").fails(&["folder"]);
    // The records are bad: the old model stays.
    folder.write("bad.csv", "a,b\n1,2\n0,maybe,1\n");
    folder.run("learn bad.csv -o m.psdd").fails(&["bad.csv, line 3"]);
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

#[test]
fn inputs_are_never_written_over() {
    let folder = Folder::with_paper();
    fs::create_dir(folder.path("sub")).unwrap();
    let before: Vec<_> = ["records.csv", "model.psdd", "model.vtree"].map(|file| folder.read(file)).to_vec();
    for args in [
        "learn records.csv -o records.csv",
        "learn records.csv -o sub/../records.csv",
        "learn records.csv --vtree model.vtree -o model.vtree",
        "learn records.csv --test model.psdd -o model.psdd",
        "fit model.psdd records.csv -o records.csv",
        "sample model.psdd -o model.psdd",
        "sample model.psdd --records records.csv -o records.csv",
        "convert model.psdd model.psdd",
        "convert plain.psdd model.vtree --vtree model.vtree",
        "vtree chow-liu --data records.csv -o records.csv",
        "vtree model.vtree -o model.vtree",
        "data generate noisy-copy model.psdd -o model.psdd",
    ] {
        folder.run(args).fails(&["would be overwritten", "try: another name"]);
    }
    assert_eq!(["records.csv", "model.psdd", "model.vtree"].map(|file| folder.read(file)).to_vec(), before);
    folder.write("f.txt", "X1 | X2");
    for args in ["sample model.psdd --given @f.txt -o f.txt", "revise model.psdd --formula @f.txt -o f.txt"] {
        folder.run(args).fails(&["would be overwritten", "try: another name"]);
    }
    assert_eq!(folder.read("f.txt"), "X1 | X2");
    folder.write("part.train.csv", folder.read("records.csv"));
    folder.run("data split part.train.csv -o part").fails(&["would be overwritten"]);
    // A model may take the place of the model it was made from.
    folder.run("fit model.psdd records.csv -o model.psdd").ok();
    folder.run("validate model.psdd --fix -o model.psdd").ok();
    assert!(!folder.files().iter().any(|file| file.ends_with(".part")));
}

/// A name is not needed to write over a file.
#[cfg(unix)]
#[test]
fn stdin_is_not_written_over() {
    let folder = Folder::with_paper();
    for args in [["learn", "-", "-o", "records.csv"], ["vtree", "chow-liu", "--data=-", "-orecords.csv"]] {
        let stdin = fs::File::open(folder.path("records.csv")).unwrap();
        let refused = folder.command(&args).stdin(stdin).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(
            refused.status.code() == Some(2) && told.contains("records.csv is an input and would be overwritten"),
            "{told}"
        );
    }
    folder.run("eval model.psdd records.csv").ok();
}

#[test]
fn files_of_another_kind_are_not_written_over() {
    let folder = Folder::with_paper();
    for (command, kinds) in [
        ("learn records.csv", "csv vtree svg sdd cnf json parquet csv.gz"),
        ("fit model.psdd records.csv", "csv wdata"),
        ("distil model.psdd records.csv", "vtree svg"),
        ("revise model.psdd records.csv", "csv vtree"),
        ("product model.psdd model.psdd", "vtree"),
        ("validate model.psdd --fix", "data"),
        ("sample model.psdd -n 2", "psdd mix spn parquet svg"),
        ("repair model.psdd records.csv", "psdd"),
        ("data generate configurations -n 5", "psdd vtree"),
        ("rules model.psdd", "psdd csv cnf json"),
        ("rules model.psdd --format cnf", "csv dnf"),
    ] {
        for kind in kinds.split(' ') {
            folder.write(&format!("old.{kind}"), "precious");
            folder.run(&format!("{command} -o old.{kind}")).fails(&["is the name of", "try: a name that ends in"]);
            assert_eq!(folder.read(&format!("old.{kind}")), "precious");
        }
    }
    for (command, file) in
        [("learn records.csv", "m"), ("sample model.psdd -n 2", "s.txt"), ("rules model.psdd", "r.md")]
    {
        folder.run(&format!("{command} -o {file}")).ok();
    }
}

#[cfg(unix)]
#[test]
fn parts_of_a_split_are_different_files() {
    let folder = Folder::with_paper();
    std::os::unix::fs::symlink("s.train.csv", folder.path("s.valid.csv")).unwrap();
    folder.run("data split records.csv -o s").fails(&[
        "s.valid.csv",
        "same file as s.train.csv",
        "nothing was changed",
    ]);
    assert!(!folder.path("s.test.csv").exists() && !folder.path("s.train.csv").exists());
}

/// What the system resolves `/dev/stdout` to must not be replaced: others write there, too.
#[cfg(target_os = "linux")]
#[test]
fn stdout_by_its_other_names_is_stdout() {
    let folder = Folder::with_paper();
    std::os::unix::fs::symlink("/dev/stdout", folder.path("link")).unwrap();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"] {
        folder.write("log", "old\n");
        let log = || fs::OpenOptions::new().append(true).open(folder.path("log")).unwrap();
        let mut kept = log();
        let status = folder.command(&["sample", "model.psdd", "-n", "1", "-o", name]).stdout(log()).status().unwrap();
        std::io::Write::write_all(&mut kept, b"last\n").unwrap();
        let lines: Vec<String> = folder.read("log").lines().map(str::to_owned).collect();
        assert!(status.success() && lines.len() == 4, "{name}: {lines:?}");
        assert_eq!((&lines[0][..], &lines[1][..], &lines[3][..]), ("old", "X1,X2,X3,X4", "last"));
    }
    let both =
        ["learn records.csv -o - -q", "learn records.csv -o /dev/stdout -q"].map(|args| folder.run(args).ok().out);
    assert_eq!(both[0], both[1]);
}

/// `script` runs a program on a terminal of its own; without it there is nothing to look at.
#[cfg(target_os = "linux")]
#[test]
fn records_on_a_terminal_do_not_act_on_it() {
    let folder = Folder::new();
    folder.write("esc.csv", "\u{1b}[31mRED\u{1b}[0m,b\n1,0\n0,1\n");
    folder.run("learn esc.csv -o m.psdd").ok();
    let run = format!("{} sample m.psdd -n 2", env!("CARGO_BIN_EXE_slopp"));
    let mut command = std::process::Command::new("script");
    command.args(["-qc", &run, "/dev/null"]).current_dir(folder.path(".")).stdin(Stdio::null());
    let Ok(output) = command.output() else { return };
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("\\u{1b}[31mRED\\u{1b}[0m,b") && !shown.contains("\u{1b}[31m"), "{shown:?}");
    assert!(folder.run("sample m.psdd -n 2").ok().out.starts_with('\u{1b}'), "a pipe gets what it is");
}

/// A limit on the size of files ends nothing, and parts that are small enough do not appear without the others.
#[cfg(unix)]
#[test]
fn a_limit_on_files_is_an_error_and_parts_appear_together() {
    let folder = Folder::new();
    folder.write("d.csv", format!("a,b\n{}", "0,1\n1,1\n".repeat(500)));
    folder.write("p.train.csv", "old");
    let limited = "ulimit -f 1 && exec \"$0\" data split d.csv --shares 0.02,0.02,0.96 -o p";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_slopp")]).current_dir(folder.path("."));
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("cannot write p.test.csv") && told.contains("nothing was changed") && told.contains("ulimit -f"),
        "{told}"
    );
    assert_eq!(
        (folder.read("p.train.csv"), folder.files()),
        ("old".into(), vec!["d.csv".into(), "p.train.csv".into()])
    );
}

#[test]
fn devices_without_end_are_refused() {
    let folder = Folder::with_paper();
    if Path::new("/dev/zero").exists() {
        for args in ["info /dev/zero", "data describe /dev/zero", "prob model.psdd @/dev/zero", "vtree /dev/zero"] {
            folder.run(args).fails(&["/dev/zero", "NUL byte"]);
        }
    }
}

#[test]
fn only_one_file_comes_from_stdin() {
    let folder = Folder::with_paper();
    for args in [
        "eval - -",
        "possible - -",
        "fit - -",
        "compare - -",
        "learn - --test -",
        "info - --vtree -",
        "mpe - --records -",
        "vtree chow-liu --data - --vtree -",
        "convert - x.psdd --names -",
    ] {
        folder.run_with(args, b"").fails(&["only one file can come from stdin"]);
    }
}

#[test]
fn many_threads_are_not_started() {
    let folder = Folder::with_paper();
    let many = folder.run("info model.psdd --threads 100000").ok();
    assert!(many.err.contains("threads: more would not help"), "{}", many.err);
    assert_eq!(folder.run("info model.psdd --threads 0").ok().err, "");
}

#[test]
fn endless_samples_stop_with_their_reader() {
    let folder = Folder::with_paper();
    let args = ["sample", "model.psdd", "-n", "1000000000000000"];
    let mut child = folder.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 100];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut some).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
    let first = folder.run("sample model.psdd -n 20000").ok().out;
    assert!(first.as_bytes().starts_with(&some), "the same worlds, however many follow");
    folder.run("sample model.psdd -n 20000 -o drawn.csv").ok();
    assert_eq!(folder.read("drawn.csv"), first);
}

#[test]
fn a_base_says_how_to_read_it_back() {
    let folder = Folder::with_paper();
    let told = folder.run("convert model.psdd base.sdd").ok().err;
    assert!(told.contains("for other tools `slopp convert model.psdd base.vtree`"), "{told}");
    folder.run("convert base.sdd named.psdd").ok();
    folder.run("prob named.psdd X1,X2").ok();
    folder.run("convert model.psdd base.vtree").ok();
    folder.run("convert base.sdd again.psdd --vtree base.vtree").ok();
    assert_eq!(folder.run("info again.psdd --json").ok().json()["model_count"], "10");
}

#[test]
fn ctrl_c_ends_tidily() {
    ends_tidily("-INT", 2);
}

#[test]
fn being_told_to_end_ends_tidily() {
    ends_tidily("-TERM", 15);
}

/// Only where the system tells whether a process listens yet.
fn ends_tidily(signal: &str, number: u32) {
    use std::process::{Command, Stdio};
    let folder = Folder::with_paper();
    let mut command = Command::new(env!("CARGO_BIN_EXE_slopp"));
    command.args(["repair", "model.psdd", "-", "-o", "good.csv"]).current_dir(folder.path("."));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if !signalled(&mut child, "slopp", (signal, number)) {
        return;
    }
    // Its input stays open: it waits for records until it is told to stop.
    let input = child.stdin.take();
    let ended = child.wait_with_output().unwrap();
    drop(input);
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{told}");
    assert!(told.ends_with("interrupted; no file was left half-written\n"), "{told}");
    assert!(!folder.files().iter().any(|file| file.ends_with(".part") || file == "good.csv"));
}

/// Numbers of processes say nothing about those in another container that writes into the same folder: there the
/// number of a live writer may be nobody's here, or that of the process that asks.
#[cfg(target_os = "linux")]
#[test]
fn writers_in_other_containers_are_left_alone() {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::time::{Duration, SystemTime};
    const PLAIN: [&str; 3] = ["--fork", "--pid", "--mount-proc"];
    const AS_USER: [&str; 5] = ["--user", "--map-root-user", "--fork", "--pid", "--mount-proc"];
    let works = |options: &&[&str]| {
        Command::new("unshare").args(*options).arg("true").output().is_ok_and(|o| o.status.success())
    };
    let Some(options) = [&PLAIN[..], &AS_USER[..]].into_iter().find(works) else {
        #[allow(clippy::print_stderr, reason = "a test that does not run says so")]
        let say = |text: &str| eprintln!("{text}");
        say("PID NAMESPACES CANNOT BE MADE HERE (unshare --fork --pid --mount-proc): TEST SKIPPED");
        return;
    };
    let folder = Folder::with_paper();
    // In a namespace of its own; its process 1 is slopp, or a shell that starts it as another.
    let sample = |worlds: usize, by_shell: bool| {
        let mut command = Command::new("unshare");
        command.args(options).args(if by_shell { &["sh", "-c", "\"$@\" & wait $!", "sh"][..] } else { &[] });
        command.args([env!("CARGO_BIN_EXE_slopp"), "sample", "model.psdd", "-o", "out.csv", "-n"]);
        command.arg(worlds.to_string()).current_dir(folder.path(".")).process_group(0);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    // To the namespace and all in it; a writer that is done hears nothing.
    let tell = |writer: &std::process::Child, signal: &str| {
        let group = format!("-{}", writer.id());
        Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status().unwrap();
    };
    let part = || folder.files().into_iter().find(|file| file.ends_with(".part"));
    let lines = || folder.read("out.csv").lines().count();
    for by_shell in [false, true] {
        // More worlds if the first writer is done before it could be stopped.
        let stopped = [1_000_000, 4_000_000, 16_000_000].into_iter().find_map(|worlds| {
            let mut writer = sample(worlds, by_shell).spawn().unwrap();
            while part().is_none() && writer.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            tell(&writer, "-STOP");
            if let Some(part) = part() {
                return Some((worlds, writer, part));
            }
            tell(&writer, "-CONT");
            writer.wait().unwrap();
            None
        });
        let (worlds, mut writer, name) = stopped.expect("sixteen million worlds take a while");
        let number = if by_shell { 2 } else { 1 };
        assert_eq!(name, format!(".out.csv.{number}-0.part"));
        let old = SystemTime::now() - Duration::from_secs(9000);
        let modified = || fs::metadata(folder.path(&name)).unwrap().modified().unwrap();
        let age = || fs::File::options().write(true).open(folder.path(&name)).unwrap().set_modified(old).unwrap();
        // Being stopped takes a moment, in which it may still write.
        let mut unchanged = 0;
        while unchanged < 10 {
            age();
            std::thread::sleep(Duration::from_millis(5));
            unchanged = if modified() == old { unchanged + 1 } else { 0 };
        }
        assert!(sample(5, false).status().unwrap().success());
        assert_eq!((part().as_ref(), modified(), lines()), (Some(&name), old, 6), "a live writer keeps its file");
        tell(&writer, "-CONT");
        assert!(writer.wait().unwrap().success());
        assert_eq!((part(), lines()), (None, worlds + 1));
        // What a killed writer left goes.
        fs::write(folder.path(&name), "half").unwrap();
        age();
        assert!(sample(7, false).status().unwrap().success());
        assert_eq!((part(), lines()), (None, 8));
    }
}
