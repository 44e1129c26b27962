//! A learner with its settings, from the arguments to the circuit and its origin.

use super::{LearnArgs, Learner, ScopeName, VariantName, WorldName};
use crate::error::Error;
use crate::input::{LoadedModel, VtreeSource, too_many_pairs};
use crate::progress::Bar;
use slopp::data::MAX_PAIR_VARIABLES;
use slopp::learn::refine::{LearnPsddConfig, StrudelConfig, learn_psdd, strudel, strudel_deterministic};
use slopp::learn::slopp::{Config, PublishedConfig, Variant};
use slopp::learn::vtree::VtreeMethodError;
use slopp::learn::{LearnError, World, baseline, slopp as learner};
use slopp::{Certified, Deterministic, Names, Progress, Psdd, Records};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The vtree of the learner chow-liu, and the default of the others.
const OWN_VTREE: &str = "chow-liu";

/// The vtree of a model that is refined.
const START_VTREE: &str = "file";

/// The vtree where pairs of variables are too many for any other.
const VTREE_OF_MANY: &str = "balanced";

/// A learner with its settings, checked before any work.
pub(super) struct Plan {
    learner: Learner,
    config: Config,
    published: PublishedConfig,
    refined: LearnPsddConfig,
    strudel: StrudelConfig,
    scope: ScopeName,
    /// The model to refine.
    start: Option<LoadedModel>,
}

impl Plan {
    pub(super) fn new(args: &LearnArgs) -> Result<Plan, Error> {
        let (c, p, r) = (&args.certified, &args.published, &args.refined);
        let certified: &[Learner] = &[Learner::Slopp, Learner::SloppLearnPsdd];
        let published: &[Learner] = &[Learner::SloppKmeans];
        let simulated: &[Learner] = &[Learner::LearnPsdd, Learner::SloppLearnPsdd];
        let refined: &[Learner] = &[Learner::LearnPsdd, Learner::SloppLearnPsdd, Learner::Strudel];
        let options = [
            ("--max-clusters", c.max_clusters.is_some(), certified),
            ("--min-records", c.min_records.is_some(), certified),
            ("--split-penalty", c.split_penalty.is_some(), certified),
            ("--parameter-penalty", c.parameter_penalty.is_some(), certified),
            ("--variant", p.variant.is_some(), published),
            ("--k", p.k.is_some(), published),
            ("--d", p.d.is_some(), published),
            ("--start", r.start.is_some(), &[Learner::LearnPsdd, Learner::Strudel]),
            ("--penalty", r.penalty.is_some(), simulated),
            ("--scope", r.scope.is_some(), &[Learner::Strudel]),
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
        let mut strudel = StrudelConfig { pseudocount: config.pseudocount, ..StrudelConfig::default() };
        strudel.depth = r.depth.unwrap_or(strudel.depth);
        strudel.steps = r.steps.unwrap_or(strudel.steps);
        let scope = r.scope.unwrap_or(ScopeName::Prime);
        let start = r.start.as_ref().map(|file| LoadedModel::read_files(file, None)).transpose()?;
        let plan = Plan { learner: args.learner, config, published, refined, strudel, scope, start };
        plan.start()?;
        Ok(plan)
    }

    /// The names that records must have.
    pub(super) fn names(&self) -> Option<&Arc<Names>> {
        self.start.as_ref().map(|start| &start.model.names)
    }

    /// The circuit to refine, if one is given and good for it.
    fn start(&self) -> Result<Option<&Certified>, Error> {
        let Some(start) = &self.start else { return Ok(None) };
        start.deterministic("refinement")?;
        match &start.model.circuit {
            Certified::Deterministic(_, overlap)
                if !(self.learner == Learner::Strudel && self.scope == ScopeName::Whole) =>
            {
                let overlap = start.overlap_in_words(overlap);
                let learner = self.learner.name();
                Err(Error::new(format!("the learner {learner} refines PSDDs, and the model is none: {overlap}"))
                    .hint("--learner strudel --scope whole, which refines any deterministic circuit"))
            }
            circuit => Ok(Some(circuit)),
        }
    }

    /// The circuit that the learner makes of another one.
    fn refine(
        &self,
        start: &Certified,
        records: &Records,
        valid: Option<&Records>,
        bar: &Bar,
    ) -> Result<Certified, LearnError> {
        let whole = |start: &Deterministic| {
            let refined = strudel_deterministic(start, records, valid, &self.strudel, bar)?;
            Ok(Certified::new(refined.circuit.into_circuit()))
        };
        let psdd = match start {
            Certified::Psdd(psdd) => psdd,
            Certified::Deterministic(deterministic, _) => return whole(deterministic),
            Certified::Circuit(..) => unreachable!("mixtures were refused"),
        };
        let refined = match (self.learner, self.scope) {
            (Learner::Strudel, ScopeName::Whole) => return whole(psdd),
            (Learner::Strudel, ScopeName::Prime) => strudel(psdd, records, valid, &self.strudel, bar)?,
            _ => learn_psdd(psdd, records, valid, &self.refined, bar)?,
        };
        Ok(Certified::Psdd(refined.circuit))
    }

    /// The circuit, and how its vtree was made.
    pub(super) fn learn(
        &self,
        records: &Records,
        valid: Option<&Records>,
        args: &LearnArgs,
        bar: &Bar,
    ) -> Result<(Certified, &'static str), Error> {
        let Config { world, pseudocount, .. } = self.config;
        if self.learner == Learner::ChowLiu {
            bar.begin("learning the Chow-Liu tree", 1);
            let learned = baseline::chow_liu(records, world, pseudocount).map_err(|e| self.explained(e))?;
            return Ok((Certified::Psdd(learned), OWN_VTREE));
        }
        let refine = |start: Psdd| self.refine(&Certified::Psdd(start), records, valid, bar);
        if let Some(start) = self.start()? {
            let refined = self.refine(start, records, valid, bar).map_err(|e| self.explained(e))?;
            return Ok((refined, START_VTREE));
        }
        let from_tree = matches!(self.learner, Learner::LearnPsdd | Learner::Strudel);
        if from_tree && args.vtree.as_deref().unwrap_or(OWN_VTREE) == OWN_VTREE {
            let learned = baseline::chow_liu(records, world, pseudocount).and_then(refine);
            return Ok((learned.map_err(|e| self.explained(e))?, OWN_VTREE));
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
            Learner::LearnPsdd | Learner::Strudel => {
                baseline::factorised(records, vtree, world, pseudocount).and_then(refine)
            }
            Learner::SloppLearnPsdd => learner::certified(records, vtree, &self.config, bar).and_then(refine),
            Learner::Slopp | Learner::ChowLiu => {
                learner::certified(records, vtree, &self.config, bar).map(Certified::Psdd)
            }
        };
        Ok((learned.map_err(|e| self.explained(e))?, vtree_name))
    }

    /// The error of a learner, with the option that helps.
    fn explained(&self, error: LearnError) -> Error {
        match error {
            LearnError::Pairs(VtreeMethodError::TooMany { variables }) => {
                too_many_pairs(variables, &format!("the learner {}", self.learner.name()))
                    .hint("--learner factorised, or --learner slopp-kmeans with --vtree balanced or right-linear")
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
            Learner::LearnPsdd | Learner::SloppLearnPsdd => {
                if self.learner == Learner::SloppLearnPsdd {
                    origin.extend(certified_settings(&self.config));
                }
                origin.insert("penalty".to_owned(), self.refined.penalty.to_string());
                origin.insert("depth".to_owned(), self.refined.depth.to_string());
                origin.insert("steps".to_owned(), self.refined.steps.to_string());
            }
            Learner::Strudel => {
                let scope = if self.scope == ScopeName::Prime { "prime" } else { "whole" };
                origin.insert("scope".to_owned(), scope.to_owned());
                origin.insert("depth".to_owned(), self.strudel.depth.to_string());
                origin.insert("steps".to_owned(), self.strudel.steps.to_string());
            }
        }
        if let Some(LoadedModel { model, .. }) = &self.start {
            let known = |key: &str| model.origin.get(key).cloned().unwrap_or_else(|| "given".to_owned());
            origin.insert("start".to_owned(), known("learner"));
            origin.insert("world".to_owned(), known("world"));
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
