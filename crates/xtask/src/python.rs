//! The Python package as users get it: a wheel, built, installed into virtual environments, and tested there.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where environments and the wheel go, below the folder of the project.
const FOLDER: &str = "target/python";

/// The command line as cargo builds it.
const BINARY: &str = "target/debug/slopp";

/// Whether an interpreter is recent enough for the package.
const RECENT: &str = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";

/// What is asked of the wheel in an environment that holds nothing else.
const SMOKE: &str = "import slopp; model = slopp.PSDD(target=0).fit(slopp.configurations(200).to_numpy()); \
                     print(slopp.__version__, model.model_, model.predict_proba([[0] * 24]))";

/// An interpreter that can make environments: that of `SLOPP_PYTHON`, or else `python3`.
pub(crate) fn interpreter() -> Option<String> {
    let names = std::env::var("SLOPP_PYTHON").map_or_else(|_| vec!["python3".to_owned()], |name| vec![name]);
    let works = |name: &String| {
        let status = Command::new(name).args(["-c", RECENT]).stderr(std::process::Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    names.into_iter().find(works)
}

/// Builds the wheel as `pip install .` does, optimised, and tests it; what failed, if something did.
pub(crate) fn test(python: &str) -> Result<(), String> {
    let folder = Path::new(FOLDER);
    let (tests, clean, wheels) = (folder.join("tests"), folder.join("clean"), folder.join("wheels"));
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    call(Command::new(python).args(["-m", "venv"]).arg(&tests))?;
    call(pip(&tests).args(["wheel", ".", "--no-deps", "--wheel-dir"]).arg(&wheels))?;
    let wheel = wheel_in(&wheels)?;
    call(Command::new(python).args(["-m", "venv", "--clear"]).arg(&clean))?;
    call(pip(&clean).arg("install").arg(&wheel))?;
    call(Command::new(clean.join("bin/python")).args(["-c", SMOKE]))?;
    call(pip(&tests).arg("install").arg(format!("{}[test]", wheel.display())))?;
    call(pip(&tests).args(["install", "--no-deps", "--force-reinstall"]).arg(&wheel))?;
    let module = |name: &str, arguments: &[&str]| {
        call(Command::new(tests.join("bin/python")).args(["-m", name]).args(arguments))
    };
    module("ruff", &["check", "--quiet", "python"])?;
    module("mypy", &["--no-error-summary"])?;
    // Both doors are to write the same bytes, so the other one has to be there.
    call(Command::new(env!("CARGO")).args(["build", "--quiet", "--package", "slopp-cli"]))?;
    let binary = std::path::absolute(BINARY).map_err(|error| format!("{BINARY}: {error}"))?;
    call(Command::new(tests.join("bin/python")).args(["-m", "pytest"]).env("SLOPP_BINARY", binary))
}

/// Quietly; where packages come from is a matter of the machine.
fn pip(environment: &Path) -> Command {
    let mut command = Command::new(environment.join("bin/python"));
    command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
    command
}

fn wheel_in(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let wheel = entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"));
    wheel.ok_or_else(|| format!("there is no wheel in {}", folder.display()))
}

fn call(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{status}: {command:?}")),
        Err(error) => Err(format!("{command:?} could not be started: {error}")),
    }
}
