//! The options of `slopp learn`.

use crate::args::{ColumnArgs, ReadArgs, not_negative};
use crate::knowledge::LimitArgs;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use slopp::learn::registry::{self, LEARNERS, LearnerOption, OPTIONS, OptionKind, Options, WorldRequest, by_learner};
use slopp::learn::{LearnError, OnViolation, VtreeMethod, VtreeUse, World};
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

/// Three lines, and the learners.
fn about() -> String {
    let width = LEARNERS.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let lines: Vec<String> = LEARNERS.iter().map(|entry| format!("  {:width$}  {}", entry.name, entry.about)).collect();
    format!(
        "Learn a model from records\n\
         The default, slopp, chooses by --valid, or by a tenth of the records, which it holds out\n\
         --world, --rules, --closed and --open choose the possible worlds; a column always has one value\n\n\
         Learners:\n{}",
        lines.join("\n")
    )
}

/// The help of `--vtree`, with the defaults of the learners.
fn about_vtree() -> String {
    let default = by_learner(LEARNERS, |entry| {
        let learner = entry.learner(&Options::default()).expect("without options nothing is wrong");
        match learner.vtree() {
            VtreeUse::Inside => "learned".to_owned(),
            VtreeUse::Any(method) => method.name().to_owned(),
            VtreeUse::Own(method) => format!("always {}", method.name()),
            VtreeUse::None => "none".to_owned(),
        }
    });
    let methods = VtreeMethod::ALL.map(VtreeMethod::name).join(", ");
    format!(
        "The vtree: a file, that of a model, a text like \"((1,2),3)\" with numbers or names, or one of {methods} \
         [default: {default}]"
    )
}

/// The help of `--world`, with the defaults of the learners.
fn about_world() -> String {
    let default = by_learner(LEARNERS, |entry| entry.support().world.name().to_owned());
    format!(
        "What is possible beyond the records [default: {default}; with --open it is closed, with --start that of MODEL]"
    )
}

/// The help of `--start`, with the learners that refine.
fn about_start() -> String {
    let refine: Vec<&str> = LEARNERS.iter().filter(|entry| entry.refines()).map(|entry| entry.name).collect();
    format!(
        "The model to refine; its vtree and its impossible worlds stay [{}; default: the Chow-Liu tree, or independent \
         variables on the vtree that is given]",
        refine.join(", ")
    )
}

/// Learn a model from records
#[derive(Clone, Args)]
#[command(long_about = about(), after_help = EXAMPLES)]
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
    /// The learner; `slopp learn --help` begins with all of them
    #[arg(long, value_name = "NAME", default_value = registry::default().name, value_parser = learner_names(), hide_possible_values = true)]
    pub(super) learner: String,
    #[arg(long, value_name = "VTREE", help = about_vtree())]
    pub(super) vtree: Option<String>,
    #[arg(long, help = about_world())]
    pub(super) world: Option<WorldName>,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::args::seed)]
    pub(super) seed: u64,
    /// Save the model in this file, `-` for stdout
    #[arg(short, long, value_name = "MODEL")]
    pub(super) output: Option<PathBuf>,
    /// Leave out training records with missing cells
    #[arg(long)]
    pub(super) drop_incomplete: bool,
    #[command(flatten)]
    pub(super) rules: RuleArgs,
    /// Close these columns in an open world: combinations that no training record has become impossible; may be repeated
    #[arg(long, value_name = "COLUMNS")]
    pub(super) closed: Vec<String>,
    /// Keep these columns open in a closed world: in the others, combinations that no training record has become
    /// impossible, as far as the structure can tell them apart; may be repeated
    #[arg(long, value_name = "COLUMNS")]
    pub(super) open: Vec<String>,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    #[command(flatten)]
    pub(super) columns: ColumnArgs,
    #[arg(long, value_name = "MODEL", conflicts_with = "vtree", help = about_start())]
    pub(super) start: Option<PathBuf>,
    #[command(flatten)]
    pub(super) options: LearnerArgs,
}

/// The options of the learners, made from their table.
#[derive(Clone, Default)]
pub(crate) struct LearnerArgs(pub(super) Options);

impl Args for LearnerArgs {
    fn augment_args(command: Command) -> Command {
        let command = command.next_help_heading("Options of some learners");
        OPTIONS.iter().fold(command, |command, option| command.arg(argument(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        LearnerArgs::augment_args(command)
    }
}

impl FromArgMatches for LearnerArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LearnerArgs, clap::Error> {
        let mut args = LearnerArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in OPTIONS {
            let text = match option.kind {
                OptionKind::Flag => matches.get_flag(option.name).then_some("true"),
                _ => matches.get_one::<String>(option.name).map(String::as_str),
            };
            if let Some(text) = text {
                self.0.set(option.name, text).expect("checked by the parser");
            }
        }
        Ok(())
    }
}

fn argument(option: &'static LearnerOption) -> Arg {
    let owners: Vec<&str> = option.owners().map(|entry| entry.name).collect();
    let owners = if owners.len() == LEARNERS.len() { "all".to_owned() } else { owners.join(", ") };
    let arg = Arg::new(option.name).long(option.name.replace('_', "-"));
    let arg = arg.help(format!("{} [{owners}; default: {}]", option.about, option.default_text()));
    let parsed = |text: &str| match Options::default().set(option.name, text) {
        Ok(()) => Ok(text.to_owned()),
        Err(LearnError::Setting { expected, .. }) => Err(format!("it must be {expected}")),
        Err(error) => Err(error.to_string()),
    };
    match option.kind {
        OptionKind::Flag => arg.action(ArgAction::SetTrue),
        OptionKind::Whole(_) => arg.value_name("N").value_parser(parsed),
        OptionKind::Real => arg.value_name("X").value_parser(parsed),
        OptionKind::Word(words) => {
            let words = words.iter().map(|(word, about)| PossibleValue::new(*word).help(*about));
            arg.value_name("NAME").value_parser(PossibleValuesParser::new(words))
        }
    }
}

/// The names of the learners, with what they are.
fn learner_names() -> PossibleValuesParser {
    PossibleValuesParser::new(LEARNERS.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about)))
}

/// Rules to learn inside of.
#[derive(Clone, Args)]
pub(crate) struct RuleArgs {
    /// Rules that the result must obey: text with one formula per line, or DIMACS
    #[arg(id = "rules", long = "rules", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// What to do with training records that break a rule [default: reject]
    #[arg(long, value_name = "WHAT", requires = "rules")]
    pub(crate) on_violation: Option<ViolationName>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ViolationName {
    /// Nothing is learned
    Reject,
    /// They are left out
    Drop,
    /// As few cells as possible are changed
    Repair,
}

impl From<ViolationName> for OnViolation {
    fn from(name: ViolationName) -> OnViolation {
        match name {
            ViolationName::Reject => OnViolation::Reject,
            ViolationName::Drop => OnViolation::Drop,
            ViolationName::Repair => OnViolation::Repair,
        }
    }
}

impl LearnArgs {
    /// What is asked about possible worlds.
    pub(super) fn asked(&self) -> WorldRequest {
        let world = self.world.map(|world| match world {
            WorldName::Open => World::Open,
            WorldName::Closed => World::CLOSED,
        });
        WorldRequest {
            world,
            closed: !self.closed.is_empty(),
            open: !self.open.is_empty(),
            rules: self.rules.file.is_some(),
            start: self.start.is_some(),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum WorldName {
    /// Everything is possible
    Open,
    /// Only what the records show, relaxed
    Closed,
}
