//! `slopp data`: look at records, split them, make some.

mod describe;
mod generate;
mod split;

use crate::error::Error;
use crate::session::{Session, Verdict};
use clap::{Args, Subcommand};

/// Look at records, split them, or generate some from a known world
#[derive(Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Subcommand)]
enum DataCommand {
    Describe(describe::DescribeArgs),
    Split(split::SplitArgs),
    Generate(generate::GenerateArgs),
}

pub(crate) fn run(args: &DataArgs, session: &mut Session) -> Result<Verdict, Error> {
    match &args.command {
        DataCommand::Describe(args) => describe::run(args, session),
        DataCommand::Split(args) => split::run(args, session),
        DataCommand::Generate(args) => generate::run(args, session),
    }
}
