//! The command line as a whole: global options, the list of commands, and arguments that several commands share.

use crate::cmd;
use crate::error::{Error, in_shell};
use crate::knowledge::LimitArgs;
use crate::report::count;
use crate::session::Session;
use clap::{Args, Parser, Subcommand, ValueEnum};
use slopp::data::RecordsError;
use slopp::io::{Binning, RecordsOptions};
use slopp::names::split_list;
use std::path::PathBuf;

const TOUR: &str = "\
A five-line tour:
  slopp demo                                              see everything once, on built-in data
  slopp learn records.csv --test new.csv -o model.psdd    learn a certified model
  slopp eval model.psdd new.csv                           how well does it explain new records?
  slopp marginals model.psdd --given \"smoker, !cancer\"    what follows from what is known?
  slopp info model.psdd                                   size, certificate, model count, origin

Evidence is written with names: \"smoker, !cancer, color=red\"; formulas with !, &, |, ^, ->, <->: \"smoker & !(cancer | xray)\".
Files may be gzipped; `-` is stdin or stdout.
In tables of answers per record, the cells of an impossible record are empty, and a note counts such records.
Exit codes: 0 done or yes, 1 the answer is no, 2 could not run.
`slopp COMMAND --help` has examples.";

/// Learn and use Probabilistic Sentential Decision Diagrams (PSDDs): from records to a certified model to
/// exact answers.
#[derive(Parser)]
#[command(name = "slopp", version, after_help = TOUR, after_long_help = TOUR, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: AnyCommand,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Options of every command.
#[derive(Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress bar and no notes on stderr
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Use this many threads, 0 for all cores; results are the same on any number [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = whole)]
    pub(crate) threads: Option<usize>,
}

impl Global {
    /// A session as these options want it, on as many threads.
    pub fn session(&self) -> Result<Session, Error> {
        let session = Session::new(self.json, self.quiet);
        if let Some(threads) = self.threads {
            use_threads(threads, &session)?;
        }
        Ok(session)
    }
}

/// Zero is all cores; far more threads than cores only cost time and memory.
fn use_threads(threads: usize, session: &Session) -> Result<(), Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = (4 * cores).max(16);
    if threads > most {
        session.note(format!("using {most} threads: more would not help on {cores} cores"));
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads.min(most)).build_global().map_err(std::io::Error::other)?;
    Ok(())
}

/// Commands of this program, and of the lab next to it.
#[derive(Subcommand)]
pub(crate) enum AnyCommand {
    #[command(flatten)]
    Own(Box<Command>),
    #[command(flatten)]
    Lab(cmd::lab::LabCommand),
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(cmd::demo::DemoArgs),
    Learn(Box<cmd::learn::LearnArgs>),
    Fit(cmd::fit::FitArgs),
    Distil(cmd::distil::DistilArgs),
    Curve(cmd::curve::CurveArgs),
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
    Compile(cmd::compile::CompileArgs),
    Count(cmd::count::CountArgs),
    Entails(cmd::entails::EntailsArgs),
    Equivalent(cmd::equivalent::EquivalentArgs),
    Rules(cmd::rules::RulesArgs),
    Diff(cmd::diff::DiffArgs),
    Explain(cmd::explain::ExplainArgs),
    Repair(cmd::repair::RepairArgs),
    Revise(cmd::revise::ReviseArgs),
    Product(cmd::product::ProductArgs),
    Map(cmd::map::MapArgs),
    Information(cmd::information::InformationArgs),
    Vtree(cmd::vtree::VtreeArgs),
    Draw(cmd::draw::DrawArgs),
    Data(cmd::data::DataArgs),
}

/// A model, as most commands take it.
#[derive(Args)]
pub(crate) struct ModelArgs {
    /// The model: a .psdd file of any tool, a .spn or a .mix file, `-` for stdin
    pub(crate) model: PathBuf,
    /// The vtree of the model, if its file does not hold it
    #[arg(long, value_name = "FILE")]
    pub(crate) vtree: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// A model of one circuit, for the questions that only such a model answers.
#[derive(Args)]
pub(crate) struct CircuitArgs {
    /// The model, one circuit: a .psdd file of any tool, `-` for stdin; `slopp distil` makes one of a .mix or .spn file
    pub(crate) model: PathBuf,
    /// The vtree of the model, if its file does not hold it
    #[arg(long, value_name = "FILE")]
    pub(crate) vtree: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// How a file of records is to be read.
#[derive(Args, Clone, Copy)]
pub(crate) struct ReadArgs {
    /// Whether the first line of a file of records holds names: yes, no or detect
    #[arg(long, value_name = "WHEN", default_value = "detect", hide_possible_values = true)]
    pub(crate) header: HeaderWhen,
    /// Stop if the records of a file need more memory than this, in megabytes
    #[arg(long, value_name = "MB", default_value_t = RECORDS_MEMORY, value_parser = positive)]
    pub(crate) records_memory: usize,
}

/// [`ReadArgs::records_memory`].
const RECORDS_MEMORY: usize = 4096;

impl Default for ReadArgs {
    fn default() -> ReadArgs {
        ReadArgs { header: HeaderWhen::Detect, records_memory: RECORDS_MEMORY }
    }
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

/// Said of each option and not of all: the heading of a group would also stand above what follows it.
const COLUMNS: &str = "Columns that are not Boolean";

/// What the columns of records hold that are not Boolean.
#[derive(Clone, Args)]
pub struct ColumnArgs {
    /// Cut the numbers of a column into bins: age=4 makes four of about equal weight; age=young:30:old:65:ancient gives
    /// the names of bins and the numbers between them, each of which belongs to the bin above; may be repeated
    #[arg(long, value_name = "COLUMN=BINS", value_parser = bins, help_heading = COLUMNS)]
    pub(crate) bins: Vec<(String, Binning)>,
    /// These columns hold categories even if they look Boolean: a,b,c; names with commas in double quotes
    #[arg(long, value_name = "COLUMNS", help_heading = COLUMNS)]
    categories: Vec<String>,
    /// How many distinct values a column that is not Boolean may have; 0 allows Boolean columns only
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole, help_heading = COLUMNS)]
    pub(crate) max_values: usize,
}

impl Default for ColumnArgs {
    fn default() -> ColumnArgs {
        ColumnArgs { bins: Vec::new(), categories: Vec::new(), max_values: RecordsOptions::default().max_values }
    }
}

impl ColumnArgs {
    /// How records are read whose columns are these; a column that is cut twice is an error.
    pub fn options(&self) -> Result<RecordsOptions, crate::error::Error> {
        self.check()?;
        Ok(crate::input::options(ReadArgs::default(), self))
    }

    /// The options that say so, for another process.
    pub fn given(&self) -> Vec<String> {
        let binning = |binning: &Binning| match binning {
            Binning::Quantiles(number) => number.to_string(),
            Binning::Named(bins) => {
                let cuts = bins.cuts().iter().map(f64::to_string).chain([String::new()]);
                let parts = bins.names().iter().zip(cuts).flat_map(|(name, cut)| [name.clone(), cut]);
                parts.collect::<Vec<_>>().join(":").trim_end_matches(':').to_owned()
            }
        };
        let bins = self.bins.iter().map(|(column, bins)| format!("--bins={column}={}", binning(bins)));
        let categories = self.categories.iter().map(|list| format!("--categories={list}"));
        let is_usual = self.max_values == RecordsOptions::default().max_values;
        let max_values = (!is_usual).then(|| format!("--max-values={}", self.max_values));
        bins.chain(categories).chain(max_values).collect()
    }

    /// The columns that hold categories.
    pub(crate) fn categories(&self) -> Vec<String> {
        self.categories.iter().flat_map(|list| split_list(list)).collect()
    }

    /// Refuses to say what columns hold where a model does.
    pub(crate) fn check_unused(&self, whose: &str) -> Result<(), crate::error::Error> {
        match self.bins.is_empty() && self.categories.is_empty() {
            true => Ok(()),
            false => Err(crate::error::Error::new(format!("the columns are those of {whose}"))
                .hint("leave --bins and --categories out")),
        }
    }

    /// Refuses a column that is cut twice.
    pub(crate) fn check(&self) -> Result<(), crate::error::Error> {
        let names = || self.bins.iter().map(|(name, _)| name);
        let repeated = names().enumerate().find(|(i, name)| names().take(*i).any(|before| before == *name));
        match repeated {
            None => Ok(()),
            Some((_, name)) => Err(crate::error::Error::new(format!("--bins: column {name:?} is cut into bins twice"))
                .hint(format!("--bins {} once", in_shell(&format!("{name}=…"))))),
        }
    }
}

fn bins(text: &str) -> Result<(String, Binning), RecordsError> {
    slopp::io::parse_bins(text)
}

/// A formula, or the file of rules that is named behind `@`: the length of an argument is limited, that of a file is
/// not.
#[derive(Clone)]
pub(crate) enum FormulaText {
    Formula(String),
    File(PathBuf),
}

impl From<&str> for FormulaText {
    fn from(text: &str) -> FormulaText {
        match text.strip_prefix('@') {
            None => FormulaText::Formula(text.to_owned()),
            Some(file) => FormulaText::File(file.into()),
        }
    }
}

impl FormulaText {
    /// The file that holds it.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        match self {
            FormulaText::Formula(_) => None,
            FormulaText::File(file) => Some(file),
        }
    }
}

/// What is known, as most queries take it.
#[derive(Args)]
pub(crate) struct GivenArgs {
    /// What is known: literals by name, such as "smoker, !cancer, color=red", or a formula, such as "cancer | xray ->
    /// smoker"; @FILE takes all rules of a file
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub(crate) given: Option<FormulaText>,
}

impl GivenArgs {
    /// The file that holds what is known.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.given.as_ref()?.file()
    }
}

impl ModelArgs {
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        files(&self.model, &self.vtree)
    }
}

impl CircuitArgs {
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        files(&self.model, &self.vtree)
    }
}

/// The files that a model, or other knowledge, is read from.
pub(crate) fn files<'a>(path: &'a PathBuf, vtree: &'a Option<PathBuf>) -> impl Iterator<Item = &'a PathBuf> {
    [Some(path), vtree.as_ref()].into_iter().flatten()
}

/// A whole number of at least zero, as an option takes it.
pub(crate) fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "it must be a whole number of at least 0".to_owned())
}

/// A whole number of at least one.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&number| number > 0);
    number.ok_or_else(|| "it must be a whole number of at least 1".to_owned())
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("it must be a whole number of at least 0 and at most {}", u64::MAX))
}

/// A number of at least zero.
pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "it must be a number of at least 0".to_owned())
}

/// A weight in records.
pub(crate) fn weight(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "it must be a number above 0; use a small one, such as 0.001, for almost no weight".to_owned())
}

/// Shares that add up to a number above zero.
pub(crate) fn check_shares(option: &str, shares: &[f64]) -> Result<(), crate::error::Error> {
    let problem = match shares.iter().sum::<f64>() {
        0.0 => "at least one share must be above 0",
        f64::INFINITY => "the shares are too large to add up",
        _ => return Ok(()),
    };
    Err(crate::error::Error::new(format!("{option}: {problem}")).hint(format!("{option} 0.8,0.1,0.1")))
}

/// What happens if shares do not add up to one, in words.
pub(crate) fn shares_in_words(shares: &[f64]) -> Option<String> {
    let total: f64 = shares.iter().sum();
    let parts: Vec<String> = shares.iter().map(|share| format!("{:.1} %", 100.0 * (share / total))).collect();
    ((total - 1.0).abs() > 1e-9).then(|| {
        let total = match (1e-6..1e6).contains(&total) {
            true => ((total * 1e9).round() / 1e9).to_string(),
            false => count(total),
        };
        format!("the shares add up to {total}, so the parts are {} of all records", parts.join(", "))
    })
}
