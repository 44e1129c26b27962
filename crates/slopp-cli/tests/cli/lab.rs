//! Commands of the lab are handed on; where it is not installed, the way to it is told.

use crate::folder::{Folder, Outcome};
use std::fs;

/// A folder with `slopp` in it, and no lab beside it.
fn alone() -> Folder {
    let folder = Folder::new();
    let (from, to) = (crate::program(&[]), folder.path("slopp"));
    // A link is as good as a copy, but does not reach other file systems.
    fs::hard_link(from, &to).or_else(|_| fs::copy(from, &to).map(|_| ())).unwrap();
    folder
}

/// Runs that `slopp` with nothing on the path.
fn run(folder: &Folder, args: &[&str]) -> Outcome {
    let mut command = std::process::Command::new(folder.path("slopp"));
    Outcome::of(command.args(args).current_dir(folder.path("")).env("PATH", "").output().unwrap())
}

#[test]
fn without_the_lab_the_way_to_it_is_told() {
    let folder = alone();
    for args in [&["reproduce"][..], &["bench", "--data", "sets", "-q"], &["--json", "reproduce", "--seeds", "-1"]] {
        run(&folder, args).fails(&["slopp-lab", "try: `cargo install --path crates/slopp-lab`"]);
    }
    for args in [&["reproduce", "--help"][..], &["bench", "-h"], &["help", "bench"]] {
        let help = run(&folder, args).ok().out;
        assert!(help.contains("cargo install --path crates/slopp-lab") && help.contains("Usage: slopp "), "{help}");
    }
    assert_eq!(folder.files(), ["slopp"]);
}

#[cfg(unix)]
#[test]
fn arguments_streams_and_exit_code_are_those_of_the_lab() {
    use std::os::unix::fs::PermissionsExt;
    let folder = alone();
    folder.write("slopp-lab", "#!/bin/sh\necho \"$@\"\necho told >&2\nexit 7\n");
    fs::set_permissions(folder.path("slopp-lab"), fs::Permissions::from_mode(0o755)).unwrap();
    for args in [
        &["reproduce"][..],
        &["reproduce", "--help"],
        &["bench", "-h"],
        &["--threads", "3", "bench", "--data", "-", "--json", "-q"],
        &["bench", "--no-such-option", "-5", "--", "-x"],
    ] {
        let outcome = run(&folder, args);
        let told = (outcome.code, outcome.out, outcome.err);
        assert_eq!(told, (7, args.join(" ") + "\n", "told\n".to_owned()));
    }
}
