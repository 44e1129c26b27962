//! A learner with its settings, from the arguments to the circuit and its origin.

use super::{LearnArgs, Learner, VariantName, WorldName};
use crate::error::Error;
use crate::input::{VtreeSource, too_many_pairs};
use crate::progress::Bar;
use slopp::data::MAX_PAIR_VARIABLES;
use slopp::learn::merged;
use slopp::learn::refine::{LearnPsddConfig, learn_psdd};
use slopp::learn::slopp::{Config, PublishedConfig, Variant};
use slopp::learn::vtree::VtreeMethodError;
use slopp::learn::{LearnError, World, baseline, slopp as learner};
use slopp::{Certified, Progress, Psdd, Records};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The vtree of the learner chow-liu, and the default of the others.
const OWN_VTREE: &str = "chow-liu";

/// The name of a vtree that the learner made.
const LEARNED_VTREE: &str = "learned";

/// What a learner chose itself, as name and value.
type Chosen = Vec<(String, String)>;

/// The vtree where pairs of variables are too many for any other.
const VTREE_OF_MANY: &str = "balanced";

/// A learner with its settings, checked before any work.
pub(super) struct Plan {
    learner: Learner,
    config: Config,
    merged: merged::Config,
    published: PublishedConfig,
    refined: LearnPsddConfig,
}

impl Plan {
    pub(super) fn new(args: &LearnArgs) -> Result<Plan, Error> {
        let (m, c, p, r) = (&args.merged, &args.certified, &args.published, &args.refined);
        let merged: &[Learner] = &[Learner::Slopp];
        let certified: &[Learner] = &[Learner::SloppTree, Learner::SloppLearnPsdd];
        let published: &[Learner] = &[Learner::SloppKmeans];
        let refined: &[Learner] = &[Learner::LearnPsdd, Learner::SloppLearnPsdd];
        let options = [
            ("--effort", m.effort.is_some(), merged),
            ("--max-classes", m.max_classes.is_some(), merged),
            ("--max-elements", m.max_elements.is_some(), merged),
            ("--max-clusters", c.max_clusters.is_some(), certified),
            ("--min-records", c.min_records.is_some(), certified),
            ("--split-penalty", c.split_penalty.is_some(), certified),
            ("--parameter-penalty", c.parameter_penalty.is_some(), certified),
            ("--variant", p.variant.is_some(), published),
            ("--k", p.k.is_some(), published),
            ("--d", p.d.is_some(), published),
            ("--penalty", r.penalty.is_some(), refined),
            ("--depth", r.depth.is_some(), refined),
            ("--steps", r.steps.is_some(), refined),
        ];
        let stray = options.into_iter().find(|(_, given, owners)| *given && !owners.contains(&args.learner));
        if let Some((option, _, owners)) = stray {
            let (owner, learner) = (owners[0].name(), args.learner.name());
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
        let mut refined = LearnPsddConfig { pseudocount: config.pseudocount, ..LearnPsddConfig::default() };
        refined.penalty = r.penalty.unwrap_or(refined.penalty);
        refined.depth = r.depth.unwrap_or(refined.depth);
        refined.steps = r.steps.unwrap_or(refined.steps);
        let mut merged = merged::Config::new(world);
        merged.max_classes = m.max_classes.unwrap_or(merged.max_classes);
        merged.max_elements = m.max_elements;
        merged.pseudocount = args.pseudocount;
        merged.seed = args.seed;
        Ok(Plan { learner: args.learner, config, merged, published, refined })
    }

    /// The circuit, how its vtree was made, and what the learner chose.
    pub(super) fn learn(
        &self,
        records: &Records,
        valid: Option<&Records>,
        args: &LearnArgs,
        bar: &Bar,
    ) -> Result<(Certified, &'static str, Chosen), Error> {
        let Config { world, pseudocount, .. } = self.config;
        if self.learner == Learner::ChowLiu {
            bar.begin("learning the Chow-Liu tree", 1);
            let learned = baseline::chow_liu(records, world, pseudocount).map_err(|e| self.explained(e))?;
            return Ok((Certified::Psdd(learned), OWN_VTREE, Chosen::new()));
        }
        let refine = |start: &Psdd| {
            let refined = learn_psdd(start, records, valid, &self.refined, bar);
            refined.map(|refined| Certified::Psdd(refined.psdd))
        };
        if self.learner == Learner::LearnPsdd && args.vtree.as_deref().unwrap_or(OWN_VTREE) == OWN_VTREE {
            let learned = baseline::chow_liu(records, world, pseudocount).and_then(|start| refine(&start));
            return Ok((learned.map_err(|e| self.explained(e))?, OWN_VTREE, Chosen::new()));
        }
        if self.learner == Learner::Slopp {
            return self.learn_merged(records, valid, args, bar);
        }
        bar.begin("making the vtree", 1);
        let many = records.var_count() > MAX_PAIR_VARIABLES;
        if many && !matches!(self.learner, Learner::SloppKmeans | Learner::Factorised) {
            return Err(self.explained(VtreeMethodError::TooMany { variables: records.var_count() }.into()));
        }
        // Where every variable is for itself, any vtree is as good as another.
        let own = if many && self.learner == Learner::Factorised { VTREE_OF_MANY } else { OWN_VTREE };
        let source = VtreeSource::find(args.vtree.as_deref().unwrap_or(own))?;
        let vtree_name = source.name();
        let vtree = Arc::new(source.build(records, args.seed)?);
        let learned = match self.learner {
            Learner::SloppKmeans => {
                let learned = learner::published(records, vtree, &self.published, bar);
                learned.map(|(circuit, _)| Certified::new(circuit))
            }
            Learner::Factorised => baseline::factorised(records, vtree, world, pseudocount).map(Certified::Psdd),
            Learner::LearnPsdd => {
                baseline::factorised(records, vtree, world, pseudocount).and_then(|start| refine(&start))
            }
            Learner::SloppLearnPsdd => {
                learner::certified(records, vtree, &self.config, bar).and_then(|start| refine(&start))
            }
            Learner::SloppTree | Learner::Slopp | Learner::ChowLiu => {
                learner::certified(records, vtree, &self.config, bar).map(Certified::Psdd)
            }
        };
        Ok((learned.map_err(|e| self.explained(e))?, vtree_name, Chosen::new()))
    }

    fn learn_merged(
        &self,
        records: &Records,
        valid: Option<&Records>,
        args: &LearnArgs,
        bar: &Bar,
    ) -> Result<(Certified, &'static str, Chosen), Error> {
        let mut config = self.merged.clone();
        let mut vtree_name = LEARNED_VTREE;
        if let Some(vtree) = args.vtree.as_deref() {
            let source = VtreeSource::find(vtree)?;
            vtree_name = source.name();
            config.vtree = Some(Arc::new(source.build(records, args.seed)?));
        }
        let learned = merged::learn(records, valid, &config, bar).map_err(|e| self.explained(e))?;
        let start = match learned.start {
            merged::Start::Whole(penalty) => format!("whole {penalty}"),
            merged::Start::Window(penalty) => format!("window {penalty}"),
            merged::Start::Tree => "tree".to_owned(),
        };
        let chosen = [
            ("start", start),
            ("pseudocount", learned.pseudocount.to_string()),
            ("held_out", learned.held_out.to_string()),
        ];
        let chosen = chosen.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok((Certified::Psdd(learned.psdd), vtree_name, chosen))
    }

    /// The error of a learner, with the option that helps.
    fn explained(&self, error: LearnError) -> Error {
        match error {
            LearnError::Pairs(VtreeMethodError::TooMany { variables }) => {
                too_many_pairs(variables, &format!("the learner {}", self.learner.name()))
                    .hint("--learner factorised, or --learner slopp-kmeans with --vtree balanced or right-linear")
            }
            LearnError::NotRightLinear => {
                Error::new("the vtree is not right-linear, and the learner slopp needs one whose left children are single variables")
                    .hint("leave --vtree out, or --vtree chow-liu-linear, or --learner slopp-tree, which takes any vtree")
            }
            LearnError::MissingCells { .. } => {
                Error::from(error).hint("--drop-incomplete leaves out training records with missing cells")
            }
            LearnError::Setting { name, ref value, expected } => {
                Error::new(format!("--{} is {value}, but must be {expected}", name.replace('_', "-")))
            }
            error => Error::from(error),
        }
    }

    /// What made the model.
    pub(super) fn origin(&self, seed: u64, vtree: &str, records: &Records) -> BTreeMap<String, String> {
        let mut origin = origin(self.learner.name(), &self.config, seed, vtree, records);
        match self.learner {
            Learner::Slopp => {
                origin.insert("effort".to_owned(), "fast".to_owned());
                origin.insert("max_classes".to_owned(), self.merged.max_classes.to_string());
                if let Some(max) = self.merged.max_elements {
                    origin.insert("max_elements".to_owned(), max.to_string());
                }
            }
            Learner::SloppTree => return certified_origin(&self.config, seed, vtree, records),
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
            Learner::LearnPsdd | Learner::SloppLearnPsdd => {
                if self.learner == Learner::SloppLearnPsdd {
                    origin.extend(certified_settings(&self.config));
                }
                origin.insert("penalty".to_owned(), self.refined.penalty.to_string());
                origin.insert("depth".to_owned(), self.refined.depth.to_string());
                origin.insert("steps".to_owned(), self.refined.steps.to_string());
            }
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
    let mut origin = origin(Learner::SloppTree.name(), config, seed, vtree, records);
    origin.extend(certified_settings(config));
    origin
}
