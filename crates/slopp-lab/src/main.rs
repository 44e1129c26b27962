//! `slopp-lab`: the commands of `slopp` that are research apparatus.
//!
//! It takes the command line of `slopp` as it is, which hands these commands on, so here too the program is called
//! `slopp`.

mod bench;
mod datasets;
mod html;
mod plot;
mod reproduce;

use clap::{Parser, Subcommand};
use slopp_cli::{Error, Global, Verdict};
use std::process::ExitCode;

/// The commands of slopp that are research apparatus; `slopp` itself hands them on to this program.
#[derive(Parser)]
#[command(name = "slopp-lab", bin_name = "slopp", version, max_term_width = 110)]
struct Lab {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

#[derive(Subcommand)]
enum Command {
    Reproduce(reproduce::ReproduceArgs),
    Bench(bench::BenchArgs),
    #[command(hide = true)]
    BenchCell(bench::CellArgs),
}

fn main() -> ExitCode {
    let lab: Lab = match slopp_cli::parse() {
        Ok(lab) => lab,
        Err(code) => return code,
    };
    // A cell of a benchmark ends with the benchmark, which reports it.
    if !matches!(lab.command, Command::BenchCell(_)) {
        slopp_cli::watch_interrupts();
    }
    slopp_cli::exit_code(run(&lab))
}

fn run(lab: &Lab) -> Result<Verdict, Error> {
    let mut session = lab.global.session()?;
    let verdict = match &lab.command {
        Command::Reproduce(args) => reproduce::run(args, &mut session),
        Command::Bench(args) => bench::run(args, &mut session),
        Command::BenchCell(args) => bench::run_cell(args, &mut session),
    }?;
    session.finish()?;
    Ok(verdict)
}
