//! The command line as a whole: global options, the list of commands, and arguments that several commands share.

use crate::cmd;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

const TOUR: &str = "\
A five-line tour:
  slopp demo                                              see everything once, on built-in data
  slopp learn records.csv --test new.csv -o model.psdd    learn a certified model
  slopp eval model.psdd new.csv                           how well does it explain new records?
  slopp marginals model.psdd --given \"smoker, !cancer\"    what follows from what is known?
  slopp info model.psdd                                   size, certificate, model count, origin

Evidence is written with names: \"smoker, !cancer, age=1\".
Files may be gzipped; `-` is stdin or stdout.
Exit codes: 0 done or yes, 1 the answer is no, 2 could not run.
`slopp COMMAND --help` has examples.";

/// Learn and use Probabilistic Sentential Decision Diagrams (PSDDs): from Boolean records to a certified model to
/// exact answers.
#[derive(Parser)]
#[command(name = "slopp", version, after_help = TOUR, after_long_help = TOUR, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Options of every command.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress bar and no notes on stderr
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Use this many threads; results are the same on any number [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(cmd::demo::DemoArgs),
    Learn(Box<cmd::learn::LearnArgs>),
    Fit(cmd::fit::FitArgs),
    Eval(cmd::eval::EvalArgs),
    Prob(cmd::prob::ProbArgs),
    Marginals(cmd::marginals::MarginalsArgs),
    Mpe(cmd::mpe::MpeArgs),
    Sample(cmd::sample::SampleArgs),
    Worlds(cmd::worlds::WorldsArgs),
    Possible(cmd::possible::PossibleArgs),
    Info(cmd::info::InfoArgs),
    Compare(cmd::compare::CompareArgs),
    Validate(cmd::validate::ValidateArgs),
    Convert(cmd::convert::ConvertArgs),
    Vtree(cmd::vtree::VtreeArgs),
    Draw(cmd::draw::DrawArgs),
    Data(cmd::data::DataArgs),
    Reproduce(cmd::reproduce::ReproduceArgs),
    Bench(cmd::bench::BenchArgs),
    #[command(hide = true)]
    BenchCell(cmd::bench::CellArgs),
}

/// A model, as most commands take it.
#[derive(Args)]
pub(crate) struct ModelArgs {
    /// The model: a .psdd file of any tool, `-` for stdin
    pub(crate) model: PathBuf,
    /// The vtree of the model, if its file does not hold it
    #[arg(long, value_name = "FILE")]
    pub(crate) vtree: Option<PathBuf>,
}

/// How a file of records is to be read.
#[derive(Args, Clone, Copy)]
pub(crate) struct ReadArgs {
    /// Whether the first line of a file of records holds names: yes, no or detect
    #[arg(long, value_name = "WHEN", default_value = "detect", hide_possible_values = true)]
    pub(crate) header: HeaderWhen,
}

/// Whether there is a header.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum HeaderWhen {
    /// If one of its cells is not Boolean
    Detect,
    /// It does
    Yes,
    /// It does not
    No,
}

/// What is known, as most queries take it.
#[derive(Args)]
pub(crate) struct GivenArgs {
    /// What is known: literals by name, such as "smoker, !cancer"
    #[arg(long, value_name = "EVIDENCE")]
    pub(crate) given: Option<String>,
}
