//! `slopp reproduce` and `slopp bench` are the lab's, whichever program is called.

use crate::folder::{Folder, Outcome, chain, interrupts_are_ignored, signalled};
use crate::transcript::Transcript;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `slopp` itself.
fn run(slopp: &Path, folder: &Folder, args: &str) -> Outcome {
    Outcome::of(Command::new(slopp).args(args.split_whitespace()).current_dir(folder.path("")).output().unwrap())
}

#[test]
fn help_and_the_report_without_data() {
    for (name, lines) in [("help", &["reproduce --help", "bench --help"][..]), ("reproduce", &["reproduce"])] {
        let mut session = Transcript::new(Folder::new());
        lines.iter().for_each(|line| session.run(&line.split(' ').collect::<Vec<_>>()));
        session.check(name);
    }
}

#[test]
fn slopp_answers_as_the_lab_does() {
    let Some(slopp) = crate::slopp() else { return };
    let folder = Folder::new();
    for args in [
        "reproduce --help",
        "--threads 1 reproduce --json",
        "reproduce --data nowhere",
        "bench",
        "reproduce --seeds -1",
    ] {
        let [ours, own] = [run(&slopp, &folder, args), folder.run(args)];
        assert_eq!((ours.code, ours.out, ours.err), (own.code, own.out, own.err), "{args}");
    }
}

#[test]
fn slopp_benches_with_cells_of_the_lab() {
    let Some(slopp) = crate::slopp() else { return };
    let folder = Folder::new();
    fs::create_dir_all(folder.path("data/small")).unwrap();
    for (i, part) in ["train", "valid", "test"].iter().enumerate() {
        folder.write(&format!("data/small/small.{part}.data"), chain(6, 100, i));
    }
    // Elsewhere than the lab, which is then found on the path.
    let linked = folder.path("slopp");
    fs::hard_link(&slopp, &linked).or_else(|_| fs::copy(&slopp, &linked).map(|_| ())).unwrap();
    let mut command = Command::new(linked);
    command.args(["bench", "--data", "data", "--learners", "factorised,chow-liu", "--out", "r.jsonl"]);
    command.current_dir(folder.path("")).env("PATH", slopp.parent().unwrap());
    Outcome::of(command.output().unwrap()).ok();
    assert_eq!(folder.read("r.jsonl").lines().count(), 2);
}

#[test]
fn an_interrupt_reaches_the_lab() {
    let Some(slopp) = crate::slopp().filter(|_| !interrupts_are_ignored()) else { return };
    let folder = Folder::new();
    fs::create_dir_all(folder.path("sets/nltcs")).unwrap();
    for (i, part) in ["train", "valid", "test"].iter().enumerate() {
        folder.write(&format!("sets/nltcs/nltcs.{part}.data"), chain(40, 6000, i));
    }
    let mut command = Command::new(slopp);
    command.args(["reproduce", "--data", "sets", "--seeds", "50"]).current_dir(folder.path(""));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    if !signalled(&mut child, "slopp-lab", ("-INT", 2)) {
        return;
    }
    let outcome = Outcome::of(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 130, "{outcome:?}");
    assert!(outcome.err.contains("interrupted"), "{outcome:?}");
}
