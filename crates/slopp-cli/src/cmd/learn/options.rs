//! The options of `slopp learn`.

use super::learners;
use crate::args::{ColumnArgs, ReadArgs, not_negative, positive, whole};
use crate::knowledge::LimitArgs;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use slopp::learn::refine::{LearnPsddConfig, StrudelConfig};
use slopp::learn::slopp::Config;
use slopp::learn::{World, learnspn};
use std::path::PathBuf;

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
#[derive(Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LearnArgs {
    /// The training records: CSV, .data or .wdata, gzipped or not, `-` for stdin
    pub(super) train: PathBuf,
    /// Validation records, which most learners choose or stop by; the others only evaluate them
    #[arg(long, value_name = "FILE")]
    pub(super) valid: Option<PathBuf>,
    /// Test records, only evaluated
    #[arg(long, value_name = "FILE")]
    pub(super) test: Option<PathBuf>,
    /// Split TRAIN at random into train, valid and test with these shares, such as 0.8,0.1,0.1
    #[arg(long, value_name = "SHARES", value_delimiter = ',', num_args = 1, allow_hyphen_values = true,
        value_parser = not_negative, conflicts_with_all = ["valid", "test"])]
    pub(super) split: Option<Vec<f64>>,
    /// The learner
    #[arg(long, value_name = "NAME", default_value = "slopp", value_parser = learner_names())]
    pub(super) learner: String,
    /// The vtree: a file, that of a model, a text like "((1,2),3)" with numbers or names, or one of balanced, right-linear,
    /// left-linear, random, chow-liu, chow-liu-linear, mi-top-down, mi-bottom-up [default: a right-linear
    /// one, learned by slopp; balanced for factorised, chow-liu for the others]
    #[arg(long, value_name = "VTREE")]
    pub(super) vtree: Option<String>,
    /// What is possible beyond the records [default: open; closed for slopp-kmeans]
    #[arg(long)]
    pub(super) world: Option<WorldName>,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::args::seed)]
    pub(super) seed: u64,
    /// Save the model in this file, `-` for stdout
    #[arg(short, long, value_name = "MODEL")]
    pub(super) output: Option<PathBuf>,
    /// The weight of the prior in records
    #[arg(long, value_name = "X", value_parser = not_negative,
        help = pseudocount_help())]
    pub(super) pseudocount: Option<f64>,
    /// Leave out training records with missing cells
    #[arg(long)]
    pub(super) drop_incomplete: bool,
    #[command(flatten)]
    pub(super) rules: RuleArgs,
    /// Columns that are closed in a world that is open: what no training record shows together there is impossible; may be
    /// repeated
    #[arg(long, value_name = "COLUMNS")]
    pub(super) closed: Vec<String>,
    /// Columns that stay open in a world that is closed: elsewhere what no training record shows is impossible, as far as the
    /// structure that was learned can tell it apart from what one shows; may be repeated
    #[arg(long, value_name = "COLUMNS")]
    pub(super) open: Vec<String>,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    #[command(flatten)]
    pub(super) columns: ColumnArgs,
    #[command(flatten)]
    pub(super) merged: MergedArgs,
    #[command(flatten)]
    pub(super) certified: CertifiedArgs,
    #[command(flatten)]
    pub(super) published: PublishedArgs,
    #[command(flatten)]
    pub(super) refined: RefinedArgs,
    #[command(flatten)]
    pub(super) spn: SpnArgs,
}

#[derive(Clone, Args)]
#[command(
    next_help_heading = "Options of the learners slopp, slopp-bag, slopp-em and slopp+learnpsdd; --components also of strudel-em"
)]
pub(super) struct MergedArgs {
    /// How much slopp tries, or how many models slopp-bag has: 16, 32 or 64; of no other learner [default: fast]
    #[arg(long, value_name = "NAME")]
    pub(super) effort: Option<EffortName>,
    /// The largest number of classes of records, nodes of the circuit, of an inner vtree node [default: 32, and as many as
    /// clones add]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(super) max_classes: Option<usize>,
    /// The largest number of elements, of a mixture in each component: more is merged until the result keeps within it
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(super) max_elements: Option<usize>,
    /// How many models slopp-bag has, or components slopp-em and strudel-em [default: by effort; 4 to 16 by validation]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(super) components: Option<usize>,
    /// Keep the models of slopp-bag whole, so that it has no more components than models
    #[arg(long)]
    pub(super) whole: bool,
}

#[derive(Clone, Args)]
#[command(next_help_heading = "Options of the learner slopp-tree; --max-clusters and --min-records also of learnspn")]
pub(super) struct CertifiedArgs {
    /// The largest number of clusters of a sum
    #[arg(long, value_name = "N", value_parser = positive,
        help = with_both_defaults("The largest number of clusters of a sum", |c| c.max_clusters, |c| c.max_clusters))]
    pub(super) max_clusters: Option<usize>,
    /// The smallest number of records that may be clustered
    #[arg(long, value_name = "N", value_parser = whole,
        help = with_both_defaults("The smallest number of records that may be clustered", |c| c.min_records,
            |c| c.min_records))]
    pub(super) min_records: Option<usize>,
    /// What a cluster must gain to be split off
    #[arg(long, value_name = "X", value_parser = not_negative,
        help = with_default("What a cluster must gain to be split off, in units of ½ ln N nats", |c| c.split_penalty))]
    pub(super) split_penalty: Option<f64>,
    /// The same for each parameter that the split doubles
    #[arg(long, value_name = "X", value_parser = not_negative,
        help = with_default("The same for each parameter that the split doubles, in nats", |c| c.parameter_penalty))]
    pub(super) parameter_penalty: Option<f64>,
}

#[derive(Clone, Args)]
#[command(next_help_heading = "Options of the learner slopp-kmeans")]
pub(super) struct PublishedArgs {
    /// Which reading of the paper [default: notebook]
    #[arg(long, value_name = "NAME")]
    pub(super) variant: Option<VariantName>,
    /// The number of clusters [default: 3]
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(super) k: Option<usize>,
    /// The number of records from which a sub-database is clustered [default: 20]
    #[arg(long, value_name = "D", value_parser = whole)]
    pub(super) d: Option<usize>,
}

#[derive(Clone, Args)]
#[command(
    next_help_heading = "Options of the learners learnpsdd, slopp+learnpsdd (without --start), strudel and strudel-em"
)]
pub(super) struct RefinedArgs {
    /// The model to refine; its vtree and its impossible worlds stay [default: the Chow-Liu tree]
    #[arg(long, value_name = "MODEL", conflicts_with = "vtree")]
    pub(super) start: Option<PathBuf>,
    /// What an operation of LearnPSDD must gain for each element it adds, in nats [default: 1]
    #[arg(long, value_name = "X", value_parser = not_negative)]
    pub(super) penalty: Option<f64>,
    /// By which variables Strudel splits an element [default: prime]
    #[arg(long, value_name = "NAME")]
    pub(super) scope: Option<ScopeName>,
    /// How many levels of nodes an operation may copy
    #[arg(long, value_name = "N", value_parser = positive, help = depth_help())]
    pub(super) depth: Option<usize>,
    /// The largest number of operations; of learnspn, of sub-databases that are cut [default: 20000]
    #[arg(long, value_name = "N", value_parser = whole)]
    pub(super) steps: Option<usize>,
}

#[derive(Clone, Args)]
#[command(next_help_heading = "Options of the learner learnspn, besides --max-clusters, --min-records and --steps")]
pub(super) struct SpnArgs {
    /// The G statistic above which two columns are dependent [default: 12]
    #[arg(long, value_name = "X", value_parser = not_negative)]
    pub(super) independence: Option<f64>,
    /// What a cluster must gain for each column, in nats [default: 0.2]
    #[arg(long, value_name = "X", value_parser = not_negative)]
    pub(super) cluster_penalty: Option<f64>,
    /// What stands where records are not parted further [default: chow-liu]
    #[arg(long, value_name = "NAME")]
    pub(super) leaves: Option<LeavesName>,
}

/// The names of the learners, with what they are.
fn learner_names() -> PossibleValuesParser {
    PossibleValuesParser::new(learners::ALL.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about)))
}

impl LearnArgs {
    /// The options that are given and that only some learners have.
    pub(super) fn special_options(&self) -> impl Iterator<Item = &'static str> {
        let (m, c, p, r, s) = (&self.merged, &self.certified, &self.published, &self.refined, &self.spn);
        let options = [
            ("--world", self.world.is_some()),
            ("--effort", m.effort.is_some()),
            ("--max-classes", m.max_classes.is_some()),
            ("--max-elements", m.max_elements.is_some()),
            ("--components", m.components.is_some()),
            ("--whole", m.whole),
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
    let weight = "The weight of the prior in records; 0, which needs a closed world, lets slopp-bag choose";
    let help = with_default(weight, |c| c.pseudocount);
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

/// Rules to learn inside of.
#[derive(Clone, Args)]
pub(crate) struct RuleArgs {
    /// Rules that the result must obey: text with one formula per line, or DIMACS
    #[arg(id = "rules", long = "rules", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// What to do with training records that break a rule [default: reject]
    #[arg(long, value_name = "WHAT", requires = "rules")]
    pub(crate) on_violation: Option<OnViolation>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnViolation {
    /// Nothing is learned
    Reject,
    /// They are left out
    Drop,
    /// As few cells as possible are changed
    Repair,
}

impl OnViolation {
    pub(super) fn name(self) -> &'static str {
        match self {
            OnViolation::Reject => "reject",
            OnViolation::Drop => "drop",
            OnViolation::Repair => "repair",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EffortName {
    /// One order of the variables, two ways to start
    Fast,
    /// Several orders and settings
    Balanced,
    /// A mixture or sum-product network too, distilled to one PSDD; minutes instead of seconds
    Best,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum WorldName {
    /// Everything is possible
    Open,
    /// Only what the records show, relaxed
    Closed,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum LeavesName {
    /// A Chow-Liu tree
    ChowLiu,
    /// Every column for itself
    Independent,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ScopeName {
    /// By variables of its prime: the result is a PSDD
    Prime,
    /// By all its variables, as published: the result is deterministic, usually no PSDD
    Whole,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum VariantName {
    /// The pseudo-code
    Algorithm2,
    /// The authors' code
    Notebook,
}
