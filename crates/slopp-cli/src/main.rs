//! `slopp`, the command line: reads arguments, runs one command, tells the outcome.

mod args;
mod benchmark;
mod both;
mod cmd;
mod error;
mod event;
mod files;
mod html;
mod incomplete;
mod input;
mod interrupt;
mod knowledge;
mod progress;
mod report;
mod session;
mod visible;

use args::{Cli, Command};
use clap::{CommandFactory, FromArgMatches};
use error::Error;
use session::{Session, Verdict};
use std::borrow::Cow;
use std::io::Write;
use std::process::ExitCode;
use visible::visible_lines;

fn main() -> ExitCode {
    // Numbers below zero reach the check of their option, which knows what is wrong with them.
    let command = with_negative_numbers(Cli::command());
    let cli = match command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to stdout, complaints to stderr; a closed pipe is no fault.
            let _ = match visible_lines(&error.render().to_string()) {
                Cow::Borrowed(_) => error.print(),
                Cow::Owned(text) => write!(std::io::stderr(), "{text}"),
            };
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    // A cell of a benchmark ends with the benchmark, which tells.
    if !matches!(cli.command, Command::BenchCell(_)) {
        interrupt::watch();
    }
    match run(cli) {
        Ok(Verdict::Yes) => ExitCode::SUCCESS,
        Ok(Verdict::No) => ExitCode::from(1),
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let _ = write!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}

fn run(cli: Cli) -> Result<Verdict, Error> {
    let mut session = Session::new(cli.global.json, cli.global.quiet);
    if let Some(threads) = cli.global.threads {
        use_threads(threads, &session)?;
    }
    let verdict = match &cli.command {
        Command::Demo(args) => cmd::demo::run(args, &mut session),
        Command::Learn(args) => cmd::learn::run(args, &mut session),
        Command::Fit(args) => cmd::fit::run(args, &mut session),
        Command::Distil(args) => cmd::distil::run(args, &mut session),
        Command::Curve(args) => cmd::curve::run(args, &mut session),
        Command::Eval(args) => cmd::eval::run(args, &mut session),
        Command::Prob(args) => cmd::prob::run(args, &mut session),
        Command::Marginals(args) => cmd::marginals::run(args, &mut session),
        Command::Mpe(args) => cmd::mpe::run(args, &mut session),
        Command::Sample(args) => cmd::sample::run(args, &mut session),
        Command::Worlds(args) => cmd::worlds::run(args, &mut session),
        Command::Possible(args) => cmd::possible::run(args, &mut session),
        Command::Info(args) => cmd::info::run(args, &mut session),
        Command::Compare(args) => cmd::compare::run(args, &mut session),
        Command::Validate(args) => cmd::validate::run(args, &mut session),
        Command::Convert(args) => cmd::convert::run(args, &mut session),
        Command::Compile(args) => cmd::compile::run(args, &mut session),
        Command::Count(args) => cmd::count::run(args, &mut session),
        Command::Entails(args) => cmd::entails::run(args, &mut session),
        Command::Equivalent(args) => cmd::equivalent::run(args, &mut session),
        Command::Rules(args) => cmd::rules::run(args, &mut session),
        Command::Diff(args) => cmd::diff::run(args, &mut session),
        Command::Explain(args) => cmd::explain::run(args, &mut session),
        Command::Repair(args) => cmd::repair::run(args, &mut session),
        Command::Revise(args) => cmd::revise::run(args, &mut session),
        Command::Product(args) => cmd::product::run(args, &mut session),
        Command::Map(args) => cmd::map::run(args, &mut session),
        Command::Information(args) => cmd::information::run(args, &mut session),
        Command::Vtree(args) => cmd::vtree::run(args, &mut session),
        Command::Draw(args) => cmd::draw::run(args, &mut session),
        Command::Data(args) => cmd::data::run(args, &mut session),
        Command::Reproduce(args) => cmd::reproduce::run(args, &mut session),
        Command::Bench(args) => cmd::bench::run(args, &mut session),
        Command::BenchCell(args) => cmd::bench::run_cell(args, &mut session),
    }?;
    session.finish()?;
    Ok(verdict)
}

/// Zero is all cores; far more threads than cores only cost time and memory.
fn use_threads(threads: usize, session: &Session) -> Result<(), Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = (4 * cores).max(16);
    if threads > most {
        session.note(format!("{most} threads are used: more would not help on {cores} cores"));
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads.min(most)).build_global()?;
    Ok(())
}

fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_value = |arg: &clap::Arg| arg.get_action().takes_values() && !arg.is_positional();
    command
        .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_numbers)
}
