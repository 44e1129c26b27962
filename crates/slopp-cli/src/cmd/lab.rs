//! Commands of `slopp-lab`, the research apparatus, which is not published: they are handed on as they are.

use crate::error::Error;
use crate::session::Verdict;
use clap::{Args, Subcommand};
use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

const HOW_TO_GET: &str = "`cargo install --path crates/slopp-lab` in the repository of slopp, or `cargo build -p \
                          slopp-lab` for a slopp that was built there";

#[derive(Subcommand)]
pub(crate) enum LabCommand {
    /// Reproduce the SLoPP paper: its Tables 1-4 next to ours, Figure 2, and the erratum
    Reproduce(LabArgs),
    /// Measure learners on the twenty benchmark datasets
    Bench(LabArgs),
}

/// Whatever follows the command; where the lab is there, that includes the question for help.
#[derive(Args)]
#[command(disable_help_flag = program().is_some(), after_help = format!("\
    The command belongs to the program slopp-lab and takes its options, which --help lists where that program is: \
    next to slopp, or on the path. To get it: {HOW_TO_GET}."))]
pub(crate) struct LabArgs {
    /// Options of slopp-lab
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes `slopp-lab` with the arguments of this process, or an error that says how to get it.
pub(crate) fn run() -> Result<Verdict, Error> {
    let program = program().ok_or_else(|| {
        Error::new("the command is one of slopp-lab, which is neither next to slopp nor on the path").hint(HOW_TO_GET)
    })?;
    become_program(Command::new(&program).args(env::args_os().skip(1))).map_err(|error| {
        Error::from(error).while_doing(format!("{} could not be run", program.display())).hint(HOW_TO_GET)
    })
}

/// The program next to this one, which fits it best, or else the first on the path.
fn program() -> Option<PathBuf> {
    let name = format!("slopp-lab{EXE_SUFFIX}");
    let neighbour = env::current_exe().ok().map(|this| this.with_file_name(&name));
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join(&name));
    neighbour.into_iter().chain(on_path).find(|file| file.is_file())
}

/// One process in place of the other: streams, signals and exit code are its own.
#[cfg(unix)]
fn become_program(command: &mut Command) -> std::io::Result<Verdict> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Where no process takes the place of another, this one waits; Ctrl-C reaches both, and only the lab acts on it.
#[cfg(not(unix))]
fn become_program(command: &mut Command) -> std::io::Result<Verdict> {
    let _ = ctrlc::set_handler(|| ());
    let status = command.status()?;
    std::process::exit(status.code().unwrap_or(2))
}
