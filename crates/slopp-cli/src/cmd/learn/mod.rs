//! `slopp learn`: from records to a model.

mod closed;
mod inside;
mod learners;
mod plan;
mod report;

pub(crate) use plan::origin;
pub(crate) use report::score_table;

use crate::args::{ColumnArgs, ReadArgs, check_shares, not_negative, positive, shares_in_words, whole};
use crate::cmd::eval::Score;
use crate::error::Error;
use crate::files::{Files, check_ending, way_out};
use crate::input;
use crate::report::records;
use crate::session::{Session, Verdict};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use plan::Plan;
use slopp::infer::Distribution;
use slopp::io::WriteError;
use slopp::learn::refine::{LearnPsddConfig, StrudelConfig};
use slopp::learn::slopp::Config;
use slopp::learn::{World, learnspn};
use slopp::{Names, Records};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  slopp learn train.csv --valid valid.csv --test test.csv -o model.psdd
  slopp learn train.csv --valid valid.csv --effort best -o model.psdd
  slopp learn records.csv --split 0.8,0.1,0.1 --seed 7 --world closed -o rules.psdd
  slopp learn train.csv --valid valid.csv --learner strudel --start rules.psdd -o model.psdd
  slopp learn nltcs.train.data --learner slopp-kmeans --k 3 --d 20    as in the paper: a mixture
  slopp learn records.csv --rules rules.txt --on-violation drop -o model.psdd    inside the rules
  slopp learn people.csv --bins age=young:30:old:65:ancient --bins income=4 -o people.psdd    bins of numbers";

/// Learn a model from records
///
/// The default learner is merged SLoPP: its result is a PSDD, proved so, with shared nodes, on any vtree or on a
/// right-linear one of its own. What it has to choose it chooses by the likelihood of the validation records; without some, it holds out a
/// tenth of the training records by seed, chooses, and fits the parameters to all. In an open world everything is
/// possible and what was never seen is only improbable; in a closed world only what the records show, relaxed, is
/// possible, and the number of impossible records is reported. `--effort best` distils a mixture to one PSDD. `slopp-bag`
/// and `slopp-em` are mixtures, kept in a .mix file, which explain more and answer less. `slopp-tree` is certified SLoPP without merging: a PSDD
/// on any vtree. `slopp-kmeans` is SLoPP as published, whose primes usually overlap: a mixture. `factorised` and
/// `chow-liu` are baselines. `learnpsdd`, `slopp+learnpsdd` and `strudel` refine a PSDD by splits and copies, and stop
/// by the likelihood of the validation records, or of a tenth held out; --start gives the model to refine, whose impossible
/// worlds stay impossible. `strudel-em` is a mixture over the structure of strudel. `learnspn` makes a sum-product
/// network, kept in a .spn file, of which eval, prob, marginals, sample and info can be asked.
///
/// With --rules the base of the result implies the rules, one formula per line: what is learned is conditioned on them,
/// exactly, and its parameters are fitted again, unless it is a mixture. A training record that breaks a rule is reported with the rule and its
/// line.
///
/// Below a header, a column that is not Boolean but has few values becomes a variable for each, `color=red`, and the
/// base of the result says that exactly one of them holds; --bins cuts columns of numbers. The model knows its columns,
/// so that new records, evidence and answers have values too.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LearnArgs {
    /// The training records: CSV, .data or .wdata, gzipped or not, `-` for stdin
    train: PathBuf,
    /// Validation records, which most learners choose or stop by; the others only evaluate them
    #[arg(long, value_name = "FILE")]
    valid: Option<PathBuf>,
    /// Test records, only evaluated
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Split TRAIN at random into train, valid and test with these shares, such as 0.8,0.1,0.1
    #[arg(long, value_name = "SHARES", value_delimiter = ',', num_args = 1, allow_hyphen_values = true,
        value_parser = not_negative, conflicts_with_all = ["valid", "test"])]
    split: Option<Vec<f64>>,
    /// The learner
    #[arg(long, value_name = "NAME", default_value = "slopp", value_parser = learner_names())]
    learner: String,
    /// The vtree: a file, that of a model, a text like "((1,2),3)" with numbers or names, or one of balanced, right-linear,
    /// left-linear, random, chow-liu, chow-liu-linear, mi-top-down, mi-bottom-up [default: a right-linear
    /// one, learned by slopp; balanced for factorised, chow-liu for the others]
    #[arg(long, value_name = "VTREE")]
    vtree: Option<String>,
    /// What is possible beyond the records [default: open; closed for slopp-kmeans]
    #[arg(long)]
    world: Option<WorldName>,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::args::seed)]
    seed: u64,
    /// Save the model in this file, `-` for stdout
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// The weight of the prior in records
    #[arg(long, value_name = "X", value_parser = not_negative,
        help = pseudocount_help())]
    pseudocount: Option<f64>,
    /// Leave out training records with missing cells
    #[arg(long)]
    drop_incomplete: bool,
    /// Rules that the result must obey: text with one formula per line, or DIMACS
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Columns that are closed in a world that is open: what no training record shows together there is impossible; may be
    /// repeated
    #[arg(long, value_name = "COLUMNS")]
    closed: Vec<String>,
    /// What to do with training records that break a rule [default: reject]
    #[arg(long, value_name = "WHAT", requires = "rules")]
    on_violation: Option<OnViolation>,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    merged: MergedArgs,
    #[command(flatten)]
    certified: CertifiedArgs,
    #[command(flatten)]
    published: PublishedArgs,
    #[command(flatten)]
    refined: RefinedArgs,
    #[command(flatten)]
    spn: SpnArgs,
}

#[derive(Args)]
#[command(
    next_help_heading = "Options of the learners slopp, slopp-bag, slopp-em and slopp+learnpsdd; --components also of strudel-em"
)]
struct MergedArgs {
    /// How much slopp tries [default: fast]
    #[arg(long, value_name = "NAME")]
    effort: Option<EffortName>,
    /// The largest number of classes of records that a vtree node starts with [default: 32]
    #[arg(long, value_name = "N", value_parser = positive)]
    max_classes: Option<usize>,
    /// The largest number of elements: more is merged until the result keeps within it
    #[arg(long, value_name = "N", value_parser = whole)]
    max_elements: Option<usize>,
    /// How many models slopp-bag has, or components slopp-em and strudel-em [default: 16; 4 to 16 by validation]
    #[arg(long, value_name = "N", value_parser = positive)]
    components: Option<usize>,
}

#[derive(Args)]
#[command(next_help_heading = "Options of the learner slopp-tree; --max-clusters and --min-records also of learnspn")]
struct CertifiedArgs {
    /// The largest number of clusters of a sum
    #[arg(long, value_name = "N", value_parser = positive,
        help = with_both_defaults("The largest number of clusters of a sum", |c| c.max_clusters, |c| c.max_clusters))]
    max_clusters: Option<usize>,
    /// The smallest number of records that may be clustered
    #[arg(long, value_name = "N", value_parser = whole,
        help = with_both_defaults("The smallest number of records that may be clustered", |c| c.min_records,
            |c| c.min_records))]
    min_records: Option<usize>,
    /// What a cluster must gain to be split off
    #[arg(long, value_name = "X", value_parser = not_negative,
        help = with_default("What a cluster must gain to be split off, in units of ½ ln N nats", |c| c.split_penalty))]
    split_penalty: Option<f64>,
    /// The same for each parameter that the split doubles
    #[arg(long, value_name = "X", value_parser = not_negative,
        help = with_default("The same for each parameter that the split doubles, in nats", |c| c.parameter_penalty))]
    parameter_penalty: Option<f64>,
}

#[derive(Args)]
#[command(next_help_heading = "Options of the learner slopp-kmeans")]
struct PublishedArgs {
    /// Which reading of the paper [default: notebook]
    #[arg(long, value_name = "NAME")]
    variant: Option<VariantName>,
    /// The number of clusters [default: 3]
    #[arg(long, value_name = "K", value_parser = positive)]
    k: Option<usize>,
    /// The number of records from which a sub-database is clustered [default: 20]
    #[arg(long, value_name = "D", value_parser = whole)]
    d: Option<usize>,
}

#[derive(Args)]
#[command(
    next_help_heading = "Options of the learners learnpsdd, slopp+learnpsdd (without --start), strudel and strudel-em"
)]
struct RefinedArgs {
    /// The model to refine; its vtree and its impossible worlds stay [default: the Chow-Liu tree]
    #[arg(long, value_name = "MODEL", conflicts_with = "vtree")]
    start: Option<PathBuf>,
    /// What an operation of LearnPSDD must gain for each element it adds, in nats [default: 1]
    #[arg(long, value_name = "X", value_parser = not_negative)]
    penalty: Option<f64>,
    /// By which variables Strudel splits an element [default: prime]
    #[arg(long, value_name = "NAME")]
    scope: Option<ScopeName>,
    /// How many levels of nodes an operation may copy
    #[arg(long, value_name = "N", value_parser = positive, help = depth_help())]
    depth: Option<usize>,
    /// The largest number of operations [default: 20000]
    #[arg(long, value_name = "N", value_parser = whole)]
    steps: Option<usize>,
}

#[derive(Args)]
#[command(next_help_heading = "Options of the learner learnspn, besides --max-clusters and --min-records")]
struct SpnArgs {
    /// The G statistic above which two columns are dependent [default: 12]
    #[arg(long, value_name = "X", value_parser = not_negative)]
    independence: Option<f64>,
    /// What a cluster must gain for each column, in nats [default: 0.2]
    #[arg(long, value_name = "X", value_parser = not_negative)]
    cluster_penalty: Option<f64>,
    /// What stands where records are not parted further [default: chow-liu]
    #[arg(long, value_name = "NAME")]
    leaves: Option<LeavesName>,
}

/// The names of the learners, with what they are.
fn learner_names() -> PossibleValuesParser {
    PossibleValuesParser::new(learners::ALL.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about)))
}

impl LearnArgs {
    /// The options that are given and that only some learners have.
    fn special_options(&self) -> impl Iterator<Item = &'static str> {
        let (m, c, p, r, s) = (&self.merged, &self.certified, &self.published, &self.refined, &self.spn);
        let options = [
            ("--world", self.world.is_some()),
            ("--effort", m.effort.is_some()),
            ("--max-classes", m.max_classes.is_some()),
            ("--max-elements", m.max_elements.is_some()),
            ("--components", m.components.is_some()),
            ("--max-clusters", c.max_clusters.is_some()),
            ("--min-records", c.min_records.is_some()),
            ("--split-penalty", c.split_penalty.is_some()),
            ("--parameter-penalty", c.parameter_penalty.is_some()),
            ("--variant", p.variant.is_some()),
            ("--k", p.k.is_some()),
            ("--d", p.d.is_some()),
            ("--start", r.start.is_some()),
            ("--penalty", r.penalty.is_some()),
            ("--scope", r.scope.is_some()),
            ("--depth", r.depth.is_some()),
            ("--steps", r.steps.is_some()),
            ("--independence", s.independence.is_some()),
            ("--cluster-penalty", s.cluster_penalty.is_some()),
            ("--leaves", s.leaves.is_some()),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option)
    }
}

fn pseudocount_help() -> String {
    let help = with_default("The weight of the prior in records", |c| c.pseudocount);
    let refined = StrudelConfig::default().pseudocount;
    format!("{}; {refined} in both for refinements, or as slopp chooses]", help.trim_end_matches(']'))
}

fn depth_help() -> String {
    let [learn_psdd, strudel] = [LearnPsddConfig::default().depth, StrudelConfig::default().depth];
    format!("How many levels of nodes an operation may copy [default: {learn_psdd}; {strudel} for strudel]")
}

/// The same for an option that LearnSPN has too.
fn with_both_defaults<T: std::fmt::Display>(
    help: &str,
    setting: impl Fn(Config) -> usize,
    spn: impl Fn(learnspn::Config) -> T,
) -> String {
    let help = with_default(help, setting);
    format!("{}; {} for learnspn]", help.trim_end_matches(']'), spn(learnspn::Config::default()))
}

/// Help that names the default, as the library has it.
fn with_default<T: PartialEq + std::fmt::Display>(help: &str, setting: impl Fn(Config) -> T) -> String {
    let [open, closed] = [World::Open, World::Closed].map(|world| setting(Config::new(world)));
    match open == closed {
        true => format!("{help} [default: {open}]"),
        false => format!("{help} [default: {open} in an open world, {closed} in a closed one]"),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnViolation {
    /// Nothing is learned
    Reject,
    /// They are left out
    Drop,
    /// As few cells as possible are changed
    Repair,
}

impl OnViolation {
    fn name(self) -> &'static str {
        match self {
            OnViolation::Reject => "reject",
            OnViolation::Drop => "drop",
            OnViolation::Repair => "repair",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EffortName {
    /// One order of the variables, two ways to start
    Fast,
    /// Several orders and settings
    Balanced,
    /// A mixture or sum-product network too, distilled to one PSDD; minutes instead of seconds
    Best,
}

#[derive(Clone, Copy, ValueEnum)]
enum WorldName {
    /// Everything is possible
    Open,
    /// Only what the records show, relaxed
    Closed,
}

#[derive(Clone, Copy, ValueEnum)]
enum LeavesName {
    /// A Chow-Liu tree
    ChowLiu,
    /// Every column for itself
    Independent,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeName {
    /// By variables of its prime: the result is a PSDD
    Prime,
    /// By all its variables, as published: the result is deterministic, usually no PSDD
    Whole,
}

#[derive(Clone, Copy, ValueEnum)]
enum VariantName {
    /// The pseudo-code
    Algorithm2,
    /// The authors' code
    Notebook,
}

pub(crate) fn run(args: &LearnArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let vtree_file = args.vtree.as_ref().map(PathBuf::from);
    let inputs = [Some(&args.train), args.valid.as_ref(), args.test.as_ref(), vtree_file.as_ref(), args.rules.as_ref()];
    // A model may be replaced by what was refined from it.
    let files = Files::default().read(inputs.into_iter().flatten()).replace(&args.refined.start);
    files.write(&args.output).check()?;
    let entry = learners::find(&args.learner).expect("the parser takes no other");
    check_ending(args.output.as_deref(), entry.ending, &format!("what the learner {} makes", entry.name))?;
    if args.rules.is_some() && args.learner == "learnspn" {
        return Err(inside::no_rules());
    }
    if !args.closed.is_empty() && matches!(args.world, Some(WorldName::Closed)) {
        return Err(Error::new("--closed names columns in a world that is open, and --world closed closes all of it")
            .hint("leave one of them out"));
    }
    let mut plan = Plan::new(entry, args)?;
    let parts = Parts::read(args, plan.names(), session)?;
    let start = Instant::now();
    let bar = session.progress();
    let mut outcome = plan.learn(&parts.train, parts.valid.as_ref(), &bar)?;
    let mut origin = plan.origin(&outcome.chosen, &parts.train);
    if let Some(inside) = &parts.inside {
        let pseudocount = origin.get("pseudocount").and_then(|text| text.parse().ok()).unwrap_or(1.0);
        outcome.learned = inside.condition(outcome.learned, &parts.train, pseudocount, &bar)?;
        let rules =
            args.rules.as_ref().and_then(|file| file.file_name()).map(|name| name.to_string_lossy().into_owned());
        origin.extend(rules.map(|rules| ("rules".to_owned(), rules)));
    }
    if let Some(closed) = &parts.closed {
        let pseudocount = origin.get("pseudocount").and_then(|text| text.parse().ok()).unwrap_or(1.0);
        let limits = slopp::logic::Limits::default();
        outcome.learned = outcome
            .learned
            .inside(&closed.rules, &parts.train, pseudocount, &limits, &bar)
            .map_err(|error| Error::from(error).while_doing("--closed").hint("close fewer columns at a time"))?;
        origin.insert("closed".to_owned(), closed.origin());
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(bar);
    let scores = parts.scores(outcome.learned.distribution())?;
    let model = outcome.learned.into_model(parts.train.names().clone(), origin);
    // Saved before anything is printed: a closed pipe must not cost the model.
    let saved = save(args.output.as_deref(), |file| slopp::io::write_any_model(file, &model));
    let output = args.output.as_deref().filter(|_| saved.is_ok());
    let dropped = args.drop_incomplete.then_some(parts.dropped);
    let (inside, closed) = (parts.inside.as_ref(), parts.closed.as_ref());
    let learned = report::Learned { model: &model, scores: &scores, seconds, dropped, inside, closed, output };
    match session.json {
        true => session.document(&learned.document(args.seed))?,
        false => learned.tell(session)?,
    }
    inside.into_iter().for_each(|inside| inside.tell(model.names(), session));
    tell_held_out(model.origin(), session);
    // A model that could not be saved is lost, but what it was like is told.
    saved?;
    tell_saved(args.output.as_deref(), entry.ending, session);
    Ok(Verdict::Yes)
}

/// Saves a model, if asked to.
pub(crate) fn save(output: Option<&Path>, write: impl Fn(&Path) -> Result<(), WriteError>) -> Result<(), Error> {
    let Some(output) = output else { return Ok(()) };
    write(output).map_err(|error| {
        let hint = way_out(&error.source);
        Error::from(error).while_doing("the model was not saved").hint(hint)
    })
}

/// Tells where a model was saved, or how it could have been.
pub(crate) fn tell_saved(output: Option<&Path>, ending: &str, session: &Session) {
    match output {
        Some(file) => session.saved(file),
        // A JSON document says so itself.
        None if session.json => {}
        None => session.note(format!("not saved; -o model{ending} saves the model")),
    }
}

/// Tells that records were held out, where no others to choose by were given.
fn tell_held_out(origin: &BTreeMap<String, String>, session: &Session) {
    let weight: f64 = origin.get("held_out").and_then(|text| text.parse().ok()).unwrap_or(0.0);
    if weight > 0.0 {
        let held = records(weight);
        session.note(format!("{held} held out by seed to choose by; --valid FILE gives others"));
    }
}

/// The records without missing cells, and how many others there were.
pub(crate) fn without_incomplete(records: Records, file: &Path) -> Result<(Records, f64), Error> {
    if !records.has_missing() {
        return Ok((records, 0.0));
    }
    let complete: Vec<bool> = (0..records.len()).map(|row| records.row(row).all(|cell| cell.is_some())).collect();
    let kept = records.subset(|row| complete[row]);
    if kept.is_empty() {
        let message = format!("every record of {} misses a cell, so --drop-incomplete leaves none", file.display());
        return Err(Error::new(message).hint("fill cells in, or leave out columns that are often missing"));
    }
    let dropped = records.total() - kept.total();
    Ok((kept, dropped))
}

/// Training, validation and test records.
struct Parts {
    train: Records,
    valid: Option<Records>,
    test: Option<Records>,
    /// How many training records with missing cells were left out.
    dropped: f64,
    /// The rules that the result must obey.
    inside: Option<inside::Inside>,
    /// What is closed in a world that is open.
    closed: Option<closed::Closed>,
}

impl Parts {
    /// Reads all parts, over the variables with these names if they are given.
    fn read(args: &LearnArgs, names: Option<&Arc<Names>>, session: &Session) -> Result<Parts, Error> {
        let records = match names {
            None => input::read_records(&args.train, args.read, &args.columns)?,
            Some(names) => input::read_records_of(&args.train, args.read, names)?,
        };
        if args.learner == "learnspn" && (args.rules.is_some() || !records.names().groups().is_empty()) {
            let what = if args.rules.is_some() { "rules" } else { "one value for each column" };
            return Err(Error::new(format!("a sum-product network cannot be conditioned on {what}"))
                .hint("--learner slopp, or any other that gives a PSDD"));
        }
        let (inside, records) = inside::Inside::new(args, records)?;
        let mut parts = match &args.split {
            None => {
                let other = |file: &Option<PathBuf>| {
                    let read = |file: &PathBuf| input::read_records_of(file, args.read, records.names());
                    file.as_ref().map(read).transpose()
                };
                Parts {
                    valid: other(&args.valid)?,
                    test: other(&args.test)?,
                    train: records,
                    dropped: 0.0,
                    inside,
                    closed: None,
                }
            }
            Some(shares) => {
                if shares.is_empty() || shares.len() > 3 {
                    return Err(Error::new(format!("--split takes up to three shares, not {}", shares.len()))
                        .hint("--split 0.8,0.1,0.1 for train, valid and test"));
                }
                check_shares("--split", shares)?;
                shares_in_words(shares).into_iter().for_each(|words| session.note(words));
                let mut parts = records.split(shares, args.seed)?.into_iter();
                let train = parts.next().expect("at least one share");
                let [valid, test] = [parts.next(), parts.next()].map(|part| part.filter(|records| !records.is_empty()));
                Parts { train, valid, test, dropped: 0.0, inside, closed: None }
            }
        };
        if args.drop_incomplete {
            (parts.train, parts.dropped) = without_incomplete(parts.train, &args.train)?;
        }
        parts.closed = closed::Closed::new(&args.closed, &parts.train)?;
        Ok(parts)
    }

    fn scores(&self, model: &dyn Distribution) -> Result<Vec<(&'static str, Score)>, Error> {
        let parts = [("train", Some(&self.train)), ("valid", self.valid.as_ref()), ("test", self.test.as_ref())];
        let present = parts.into_iter().filter_map(|(name, records)| records.map(|records| (name, records)));
        present.map(|(name, records)| Ok((name, Score::new(records, &model.log_likelihoods(records)?)))).collect()
    }
}
