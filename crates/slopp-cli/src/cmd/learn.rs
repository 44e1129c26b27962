//! `slopp learn`: from records to a model.

use crate::args::ReadArgs;
use crate::cmd::eval::Score;
use crate::error::Error;
use crate::input::{self, VtreeSource, certificate, certificate_in_words};
use crate::progress::Bar;
use crate::report::{Table, count, facts, logarithm, object};
use crate::session::{Session, Verdict};
use clap::{Args, ValueEnum};
use serde_json::Value;
use slopp::learn::slopp::{Config, PublishedConfig, Variant};
use slopp::learn::{LearnError, World, baseline, slopp as learner};
use slopp::{Certified, Model, Progress, Records};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  slopp learn train.csv --valid valid.csv --test test.csv -o model.psdd
  slopp learn records.csv --split 0.8,0.1,0.1 --seed 7 --world closed -o rules.psdd
  slopp learn nltcs.train.data --learner slopp-kmeans --variant notebook --k 3 --d 20    the paper's own, a mixture";

/// The vtree of the learner chow-liu, and the default of the others.
const OWN_VTREE: &str = "chow-liu";

/// Learn a model from records
///
/// The default learner is certified SLoPP: its result is a PSDD, proved so, on any vtree. In an open world everything
/// is possible and what was never seen is only improbable; in a closed world only what the records show, relaxed, is
/// possible, and the number of impossible records is reported. `slopp-kmeans` is SLoPP as published, whose primes
/// usually overlap: a mixture. `factorised` and `chow-liu` are baselines.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LearnArgs {
    /// The training records: CSV, .data or .wdata, gzipped or not, `-` for stdin
    train: PathBuf,
    /// Validation records, only evaluated
    #[arg(long, value_name = "FILE")]
    valid: Option<PathBuf>,
    /// Test records, only evaluated
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Split TRAIN at random into train, valid and test with these shares, such as 0.8,0.1,0.1
    #[arg(long, value_name = "SHARES", value_delimiter = ',', num_args = 1, conflicts_with_all = ["valid", "test"])]
    split: Option<Vec<f64>>,
    /// The learner
    #[arg(long, value_name = "NAME", default_value = "slopp")]
    learner: Learner,
    /// The vtree: a file, a text like "((1,2),3)" with numbers or names, or one of balanced, right-linear,
    /// left-linear, random, chow-liu, chow-liu-linear, mi-top-down, mi-bottom-up [default: chow-liu]
    #[arg(long, value_name = "VTREE")]
    vtree: Option<String>,
    /// What is possible beyond the records [default: open; closed for slopp-kmeans]
    #[arg(long)]
    world: Option<WorldName>,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Save the model in this file, `-` for stdout
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// The weight of the prior in records
    #[arg(long, value_name = "X", help = with_default("The weight of the prior in records", |c| c.pseudocount))]
    pseudocount: Option<f64>,
    /// Leave out training records with missing cells
    #[arg(long)]
    drop_incomplete: bool,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    certified: CertifiedArgs,
    #[command(flatten)]
    published: PublishedArgs,
}

#[derive(Args)]
#[command(next_help_heading = "Options of the learner slopp")]
struct CertifiedArgs {
    /// The largest number of clusters of a sum
    #[arg(long, value_name = "N", help = with_default("The largest number of clusters of a sum", |c| c.max_clusters))]
    max_clusters: Option<usize>,
    /// The smallest number of records that may be clustered
    #[arg(long, value_name = "N",
        help = with_default("The smallest number of records that may be clustered", |c| c.min_records))]
    min_records: Option<usize>,
    /// What a cluster must gain to be split off
    #[arg(long, value_name = "X",
        help = with_default("What a cluster must gain to be split off, in units of ½ ln N nats", |c| c.split_penalty))]
    split_penalty: Option<f64>,
    /// The same for each parameter that the split doubles
    #[arg(long, value_name = "X",
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
    #[arg(long, value_name = "K")]
    k: Option<usize>,
    /// The number of records from which a sub-database is clustered [default: 20]
    #[arg(long, value_name = "D")]
    d: Option<usize>,
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
enum Learner {
    /// Certified SLoPP: always a PSDD
    Slopp,
    /// SLoPP with k-means, as published: usually a mixture
    SloppKmeans,
    /// Every variable for itself
    Factorised,
    /// The Chow-Liu tree
    ChowLiu,
}

#[derive(Clone, Copy, ValueEnum)]
enum WorldName {
    /// Everything is possible
    Open,
    /// Only what the records show, relaxed
    Closed,
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
    let plan = Plan::new(args)?;
    let parts = Parts::read(args)?;
    let start = Instant::now();
    let bar = session.progress();
    let (learned, vtree_name) = plan.learn(&parts.train, args, &bar)?;
    let seconds = start.elapsed().as_secs_f64();
    drop(bar);
    let origin = plan.origin(args.seed, vtree_name, &parts.train);
    let model = Model { origin, ..Model::new(parts.train.names().clone(), learned) };
    let scores = parts.scores(&model.circuit)?;
    // Saved before anything is printed: a closed pipe must not cost the model.
    if let Some(output) = &args.output {
        slopp::io::write_model(output, &model).map_err(|e| Error::from(e).while_doing("the model was not saved"))?;
    }
    match session.json {
        true => report_json(&model, &scores, seconds, args, session)?,
        false => report(&model, &scores, seconds, args, session)?,
    }
    Ok(Verdict::Yes)
}

/// Training, validation and test records.
struct Parts {
    train: Records,
    valid: Option<Records>,
    test: Option<Records>,
}

impl Parts {
    fn read(args: &LearnArgs) -> Result<Parts, Error> {
        let stdin = [Some(&args.train), args.valid.as_ref(), args.test.as_ref()];
        if stdin.iter().flatten().filter(|file| file.as_path() == Path::new("-")).count() > 1 {
            return Err(Error::new("only one file can come from stdin"));
        }
        let records = input::read_records(&args.train, args.read)?;
        let mut parts = match &args.split {
            None => {
                let other = |file: &Option<PathBuf>| {
                    let read = |file: &PathBuf| input::read_records_of(file, args.read, records.names());
                    file.as_ref().map(read).transpose()
                };
                Parts { valid: other(&args.valid)?, test: other(&args.test)?, train: records }
            }
            Some(shares) => {
                if shares.is_empty() || shares.len() > 3 {
                    return Err(Error::new(format!("--split takes up to three shares, not {}", shares.len()))
                        .hint("--split 0.8,0.1,0.1 for train, valid and test"));
                }
                let mut parts = records.split(shares, args.seed)?.into_iter();
                let train = parts.next().expect("at least one share");
                let [valid, test] = [parts.next(), parts.next()].map(|part| part.filter(|records| !records.is_empty()));
                Parts { train, valid, test }
            }
        };
        if args.drop_incomplete && parts.train.has_missing() {
            let complete: Vec<bool> =
                (0..parts.train.len()).map(|row| parts.train.row(row).all(|cell| cell.is_some())).collect();
            parts.train = parts.train.subset(|row| complete[row]);
        }
        Ok(parts)
    }

    fn scores(&self, circuit: &Certified) -> Result<Vec<(&'static str, Score)>, Error> {
        let parts = [("train", Some(&self.train)), ("valid", self.valid.as_ref()), ("test", self.test.as_ref())];
        let present = parts.into_iter().filter_map(|(name, records)| records.map(|records| (name, records)));
        present
            .map(|(name, records)| Ok((name, Score::new(records, &input::log_likelihoods(circuit, records)?))))
            .collect()
    }
}

/// A learner with its settings, checked before any work.
struct Plan {
    learner: Learner,
    config: Config,
    published: PublishedConfig,
}

impl Plan {
    fn new(args: &LearnArgs) -> Result<Plan, Error> {
        let (c, p) = (&args.certified, &args.published);
        let options = [
            ("--max-clusters", c.max_clusters.is_some(), Learner::Slopp),
            ("--min-records", c.min_records.is_some(), Learner::Slopp),
            ("--split-penalty", c.split_penalty.is_some(), Learner::Slopp),
            ("--parameter-penalty", c.parameter_penalty.is_some(), Learner::Slopp),
            ("--variant", p.variant.is_some(), Learner::SloppKmeans),
            ("--k", p.k.is_some(), Learner::SloppKmeans),
            ("--d", p.d.is_some(), Learner::SloppKmeans),
        ];
        if let Some((option, _, owner)) = options.into_iter().find(|&(_, given, owner)| given && owner != args.learner)
        {
            let (owner, learner) = (owner.name(), args.learner.name());
            return Err(Error::new(format!("{option} belongs to the learner {owner}, not to {learner}"))
                .hint(format!("--learner {owner}, or leave {option} out")));
        }
        if args.learner == Learner::ChowLiu && args.vtree.as_deref().is_some_and(|vtree| vtree != OWN_VTREE) {
            return Err(Error::new("the learner chow-liu brings its own vtree, that of its tree")
                .hint("leave --vtree out, or choose another learner"));
        }
        let world = match args.world {
            Some(WorldName::Open) => World::Open,
            Some(WorldName::Closed) => World::Closed,
            None if args.learner == Learner::SloppKmeans => World::Closed,
            None => World::Open,
        };
        let mut config = Config::new(world);
        config.max_clusters = c.max_clusters.unwrap_or(config.max_clusters);
        config.min_records = c.min_records.unwrap_or(config.min_records);
        config.split_penalty = c.split_penalty.unwrap_or(config.split_penalty);
        config.parameter_penalty = c.parameter_penalty.unwrap_or(config.parameter_penalty);
        config.pseudocount = args.pseudocount.unwrap_or(config.pseudocount);
        let variant = match p.variant {
            Some(VariantName::Algorithm2) => Variant::Algorithm2,
            Some(VariantName::Notebook) | None => Variant::Notebook,
        };
        let published = PublishedConfig {
            world,
            pseudocount: config.pseudocount,
            seed: args.seed,
            ..PublishedConfig::new(variant, p.k.unwrap_or(3), p.d.unwrap_or(20))
        };
        Ok(Plan { learner: args.learner, config, published })
    }

    /// The circuit, and how its vtree was made.
    fn learn(&self, records: &Records, args: &LearnArgs, bar: &Bar) -> Result<(Certified, &'static str), Error> {
        let Config { world, pseudocount, .. } = self.config;
        if self.learner == Learner::ChowLiu {
            bar.begin("learning the Chow-Liu tree", 1);
            let learned = baseline::chow_liu(records, world, pseudocount).map_err(explained)?;
            return Ok((Certified::Psdd(learned), OWN_VTREE));
        }
        bar.begin("making the vtree", 1);
        let source = VtreeSource::find(args.vtree.as_deref().unwrap_or(OWN_VTREE))?;
        let vtree_name = source.name();
        let vtree = Arc::new(source.build(records, args.seed)?);
        let learned = match self.learner {
            Learner::SloppKmeans => {
                let learned = learner::published(records, vtree, &self.published, bar);
                learned.map(|(circuit, _)| Certified::new(circuit))
            }
            Learner::Factorised => baseline::factorised(records, vtree, world, pseudocount).map(Certified::Psdd),
            _ => learner::certified(records, vtree, &self.config, bar).map(Certified::Psdd),
        };
        Ok((learned.map_err(explained)?, vtree_name))
    }

    fn origin(&self, seed: u64, vtree: &str, records: &Records) -> BTreeMap<String, String> {
        let mut origin = origin(self.learner.name(), &self.config, seed, vtree, records);
        match self.learner {
            Learner::Slopp => return certified_origin(&self.config, seed, vtree, records),
            Learner::SloppKmeans => {
                let variant = match self.published.variant {
                    Variant::Algorithm2 => "algorithm2",
                    Variant::Notebook => "notebook",
                };
                origin.insert("variant".to_owned(), variant.to_owned());
                origin.insert("k".to_owned(), self.published.k.to_string());
                origin.insert("d".to_owned(), self.published.d.to_string());
            }
            Learner::Factorised | Learner::ChowLiu => {}
        }
        origin
    }
}

/// What made a model: enough to make it again from the same records, and nothing about the machine.
fn origin(learner: &str, config: &Config, seed: u64, vtree: &str, records: &Records) -> BTreeMap<String, String> {
    let facts = [
        ("learner", learner.to_owned()),
        ("pseudocount", config.pseudocount.to_string()),
        ("records", records.total().to_string()),
        ("seed", seed.to_string()),
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("vtree", vtree.to_owned()),
        ("world", if config.world == World::Open { "open" } else { "closed" }.to_owned()),
    ];
    facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn certified_settings(config: &Config) -> [(String, String); 4] {
    [
        ("max_clusters".to_owned(), config.max_clusters.to_string()),
        ("min_records".to_owned(), config.min_records.to_string()),
        ("split_penalty".to_owned(), config.split_penalty.to_string()),
        ("parameter_penalty".to_owned(), config.parameter_penalty.to_string()),
    ]
}

/// What made a model of the certified learner.
pub(crate) fn certified_origin(config: &Config, seed: u64, vtree: &str, records: &Records) -> BTreeMap<String, String> {
    let mut origin = origin(Learner::Slopp.name(), config, seed, vtree, records);
    origin.extend(certified_settings(config));
    origin
}

/// The error of a learner, with the option that helps.
fn explained(error: LearnError) -> Error {
    let missing = matches!(error, LearnError::MissingCells { .. });
    let error = Error::from(error);
    if missing { error.hint("--drop-incomplete leaves such records out") } else { error }
}

impl Learner {
    fn name(self) -> &'static str {
        match self {
            Learner::Slopp => "slopp",
            Learner::SloppKmeans => "slopp-kmeans",
            Learner::Factorised => "factorised",
            Learner::ChowLiu => "chow-liu",
        }
    }
}

/// How many sums have overlapping primes.
fn overlapping_sums(circuit: &Certified) -> usize {
    match circuit {
        Certified::Psdd(_) => 0,
        _ => circuit.overlaps(0).sums,
    }
}

fn report_json(
    model: &Model,
    scores: &[(&'static str, Score)],
    seconds: f64,
    args: &LearnArgs,
    session: &mut Session,
) -> Result<(), Error> {
    let stats = model.circuit.stats();
    let origin = |key: &str| Value::from(model.origin[key].as_str());
    let mut entries = vec![
        ("learner", origin("learner")),
        ("world", origin("world")),
        ("vtree", origin("vtree")),
        ("seed", Value::from(args.seed)),
        ("variables", Value::from(model.circuit.var_count())),
        ("nodes", Value::from(stats.nodes)),
        ("elements", Value::from(stats.elements)),
        ("parameters", Value::from(stats.parameters)),
        ("size_paper", Value::from(stats.size_paper)),
        ("certificate", Value::from(certificate(&model.circuit))),
        ("overlapping_sums", Value::from(overlapping_sums(&model.circuit))),
    ];
    entries.extend(scores.iter().map(|(name, score)| (*name, object(score.entries()))));
    let settings = model.origin.iter().map(|(key, value)| (key.as_str(), Value::from(value.as_str())));
    entries.push(("origin", object(settings)));
    entries.push(("seconds", crate::report::json(seconds)));
    entries.push(("model", args.output.as_ref().map_or(Value::Null, |file| Value::from(file.display().to_string()))));
    session.document(&object(entries))
}

fn report(
    model: &Model,
    scores: &[(&'static str, Score)],
    seconds: f64,
    args: &LearnArgs,
    session: &mut Session,
) -> Result<(), Error> {
    let stats = model.circuit.stats();
    let mut lines = vec![
        ("learner", format!("{}, {} world", args.learner.name(), model.origin["world"])),
        ("vtree", model.origin["vtree"].clone()),
        ("size", format!("{} elements, {} parameters", count(stats.elements as f64), count(stats.parameters as f64))),
        ("size in the paper", count(stats.size_paper as f64)),
        ("certificate", certificate_in_words(&model.circuit).to_owned()),
    ];
    let overlapping = overlapping_sums(&model.circuit);
    if overlapping > 0 {
        lines.push(("overlaps", format!("primes overlap in {overlapping} of {} sums", count(stats.sums as f64))));
    }
    lines.push(("time", format!("{seconds:.2} s")));
    session.line(facts(lines))?;
    session.line("")?;
    session.table(&score_table(scores))?;
    session.line("")?;
    match &args.output {
        Some(file) => session.line(format!("saved in {}", file.display()))?,
        None => session.line("not saved; -o model.psdd saves the model")?,
    }
    Ok(())
}

/// Records, impossible records and log-likelihoods of each part.
pub(crate) fn score_table(scores: &[(&'static str, Score)]) -> Table {
    let titles = ["part", "records", "impossible", "log-likelihood", "per record", "per possible record"];
    let mut table = Table::titled(titles);
    for (name, score) in scores {
        table.push([
            (*name).to_owned(),
            count(score.records),
            count(score.impossible),
            logarithm(score.log_likelihood),
            score.per_record().map_or("-".to_owned(), logarithm),
            logarithm(score.per_possible()),
        ]);
    }
    table
}
