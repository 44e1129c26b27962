//! Project commands, run as `cargo xtask NAME`: what CI runs, by name.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

mod python;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "cargo xtask COMMAND

Commands:
  test        everything CI checks: fmt, clippy, docs, all tests, bounded fuzzing, packages, the Python package
  package     the crates as they would be published, with the guide in them
  python      the Python package: a wheel, built, installed into clean environments, and tested there
  docs        the documentation of the library, with the guide and its pictures, in target/doc
  fuzz [N]    N rounds of fuzzing for every reader (default 20000)
  bench       speed and memory, in ratios, at three sizes each (a few minutes)
  bench base  how good learned bases are, as docs/results/base.md
  bench ablation
              what each step of SLoPP is worth
  bench million
              the default learner on up to a million records of a hundred variables
  bench general
              the same on the balanced vtree of forty variables
  bench compile [PYTHON]
              CPU seconds of compiling two CNF files; with an interpreter that has PySDD, next to it
";

/// One step of a command: what it is called, and the arguments of cargo.
type Step<'a> = (&'a str, &'a [&'a str]);

const FUZZ: Step<'_> = ("fuzz", &["run", "--quiet", "--release", "-p", "slopp-fuzz"]);

const DOCS: Step<'_> = ("docs", &["doc", "--workspace", "--no-deps", "--quiet"]);

/// Compiles what was packed. Offline: what the packages need is what was just built.
const PACKAGE: Step<'_> =
    ("package", &["package", "-p", "slopp", "-p", "slopp-cli", "--allow-dirty", "--quiet", "--offline"]);

const TEST: [Step<'_>; 6] = [
    ("fmt", &["fmt", "--all", "--check"]),
    ("clippy", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
    DOCS,
    ("tests", &["test", "--workspace", "--exclude", "slopp-py", "--all-targets", "--quiet"]),
    ("doctests", &["test", "--workspace", "--doc", "--quiet"]),
    FUZZ,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test"] => all([&|| run(&TEST), &package, &test_python]),
        ["package"] => package(),
        ["python"] => test_python(),
        ["docs"] => all([&|| run(&[DOCS]), &copy_pictures]),
        ["fuzz"] => run(&[FUZZ]),
        ["fuzz", rounds] => run(&[("fuzz", &["run", "--quiet", "--release", "-p", "slopp-fuzz", "--", rounds])]),
        ["bench", what @ ..] => {
            let bench = ["run", "--quiet", "--release", "-p", "slopp-bench", "--"];
            run(&[("bench", &[&bench[..], what].concat())])
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// One after the other, until one fails.
fn all<const N: usize>(parts: [&dyn Fn() -> ExitCode; N]) -> ExitCode {
    parts.into_iter().map(|part| part()).find(|&code| code != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
}

/// Makes and compiles the packages, and looks whether every page of the guide is in that of the library.
fn package() -> ExitCode {
    if run(&[PACKAGE]) != ExitCode::SUCCESS {
        return ExitCode::FAILURE;
    }
    let list =
        Command::new(env!("CARGO")).args(["package", "-p", "slopp", "--list", "--allow-dirty", "--quiet"]).output();
    let list = list.map(|list| String::from_utf8_lossy(&list.stdout).into_owned()).unwrap_or_default();
    let pages = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide"));
    let pages = pages.into_iter().flatten().flatten().map(|page| format!("guide/{}", page.file_name().display()));
    let missing: Vec<String> = pages.filter(|page| !list.lines().any(|line| line == page)).collect();
    if list.contains("guide/") && missing.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("== package: FAILED: the package of slopp lacks pages of the guide: {}", missing.join(", "));
    ExitCode::FAILURE
}

/// Puts the pictures of the guide where its pages look for them.
fn copy_pictures() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let to = root.join("target/doc/slopp/guide/pictures");
    let copied = fs::create_dir_all(&to).and_then(|()| {
        for picture in fs::read_dir(root.join("docs/pictures"))? {
            let picture = picture?;
            fs::copy(picture.path(), to.join(picture.file_name()))?;
        }
        Ok(())
    });
    match copied {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("== docs: the pictures could not be copied: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Without an interpreter says so loudly and passes, unless `SLOPP_REQUIRE_PYTHON=1`.
fn test_python() -> ExitCode {
    println!("== python");
    let start = Instant::now();
    let Some(interpreter) = python::interpreter() else {
        eprintln!("== python: SKIPPED: there is no python3 of version 3.10 or later; SLOPP_PYTHON names one");
        let required = std::env::var_os("SLOPP_REQUIRE_PYTHON").is_some_and(|value| value == "1");
        return if required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    };
    match python::test(&interpreter) {
        Ok(()) => {
            println!("== python: ok, {:.0} s", start.elapsed().as_secs_f64());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("== python: FAILED ({failure})");
            ExitCode::FAILURE
        }
    }
}

fn run(steps: &[Step<'_>]) -> ExitCode {
    for (name, arguments) in steps {
        println!("== {name}");
        let start = Instant::now();
        let status = Command::new(env!("CARGO")).args(*arguments).env("RUSTDOCFLAGS", "-D warnings").status();
        match status {
            Ok(status) if status.success() => println!("== {name}: ok, {:.0} s", start.elapsed().as_secs_f64()),
            Ok(status) => {
                eprintln!("== {name}: FAILED ({status}): cargo {}", arguments.join(" "));
                return ExitCode::FAILURE;
            }
            Err(error) => {
                eprintln!("== {name}: cargo could not be started: {error}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
