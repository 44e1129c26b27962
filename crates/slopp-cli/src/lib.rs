//! The command line as a library, for the programs of this repository: `slopp` and `slopp-lab`.
//!
//! No stable interface: programs of others use the crate `slopp`.

mod args;
mod cmd;
mod difference;
mod error;
mod event;
mod files;
mod incomplete;
mod input;
mod interrupt;
mod knowledge;
mod progress;
mod report;
mod session;

pub use args::{ColumnArgs, Global};
pub use cmd::vtree::write_text;
pub use error::Error;
pub use input::explained;
pub use interrupt::watch as watch_interrupts;
pub use progress::Bar;
pub use report::{Table, count, counted, json, json_count, logarithm, object, score_entries};
pub use session::{Session, Verdict};

use args::{AnyCommand, Cli, Command};
use clap::Parser;
use slopp::names::visible_lines;
use std::borrow::Cow;
use std::io::Write;
use std::process::ExitCode;

/// The program `slopp`: reads arguments, runs one command, reports the outcome.
pub fn slopp() -> ExitCode {
    let cli: Cli = match parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match &cli.command {
        AnyCommand::Lab(_) => exit_code(cmd::lab::run()),
        AnyCommand::Own(command) => {
            watch_interrupts();
            exit_code(run(command, &cli.global))
        }
    }
}

/// The arguments of this process, or the exit code where they ask for help or cannot be understood, which is reported.
pub fn parse<P: Parser>() -> Result<P, ExitCode> {
    // Numbers below zero reach the check of their option, which knows what is wrong with them.
    let command = with_negative_numbers(P::command());
    interrupt::outlive_file_limit();
    command.try_get_matches().and_then(|matches| P::from_arg_matches(&matches)).map_err(|error| {
        // Help goes to stdout, complaints to stderr; a closed pipe is not an error.
        let _ = match visible_lines(&error.render().to_string()) {
            Cow::Borrowed(_) => error.print(),
            Cow::Owned(text) => write!(std::io::stderr(), "{text}"),
        };
        ExitCode::from(error.exit_code() as u8)
    })
}

/// The exit code of a program; an error is also printed.
pub fn exit_code(outcome: Result<Verdict, Error>) -> ExitCode {
    match outcome {
        Ok(Verdict::Yes) => ExitCode::SUCCESS,
        Ok(Verdict::No) => ExitCode::from(1),
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let _ = write!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: &Command, global: &Global) -> Result<Verdict, Error> {
    let mut session = global.session()?;
    let verdict = match command {
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
    }?;
    session.finish()?;
    Ok(verdict)
}

fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_value = |arg: &clap::Arg| arg.get_action().takes_values() && !arg.is_positional();
    command
        .mut_args(|arg| if takes_value(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(with_negative_numbers)
}
