//! The learners of `slopp learn`, one entry each: name, options, and how arguments become settings.

use super::options::{EffortName, LearnArgs, LeavesName, ScopeName, VariantName, WorldName};
use crate::error::Error;
use crate::input::LoadedModel;
use slopp::Certified;
use slopp::learn::baseline::{ChowLiu, Factorised};
use slopp::learn::refine::{LearnPsddConfig, Scope, StrudelConfig};
use slopp::learn::slopp::{Config, PublishedConfig, Variant};
use slopp::learn::{LearnPsdd, Learner, MixtureGrid, Start, Strudel, StrudelMixture, World, learnspn, merged};
use std::sync::Arc;

/// A learner as people choose it.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// One line of help.
    pub(super) about: &'static str,
    /// The world if none is asked for.
    pub(super) world: World,
    /// How the file of a model ends.
    pub(super) ending: &'static str,
    /// The options that only some learners have, and this one has.
    options: &'static [&'static str],
    /// From the arguments, the world and where a refinement starts from.
    make: fn(&LearnArgs, World, Start) -> Box<dyn Learner>,
}

const SLOPP_TREE: &[&str] = &["--world", "--max-clusters", "--min-records", "--split-penalty", "--parameter-penalty"];

/// All learners, in the order of the help.
pub(super) const ALL: &[Entry] = &[
    Entry {
        name: "slopp",
        about: "Merged SLoPP: always a PSDD, with its vtree learned inside",
        world: World::Open,
        ending: ".psdd",
        options: &["--world", "--effort", "--max-classes", "--max-elements"],
        make: |args, world, _| Box::new(merged::Slopp { config: merged(args, world), effort: effort(args) }),
    },
    Entry {
        name: "slopp-bag",
        about: "A mixture of merged SLoPP models, each with its own vtree unless one is given",
        world: World::Open,
        ending: ".mix",
        options: &["--world", "--effort", "--max-classes", "--max-elements", "--components", "--whole"],
        make: |args, world, _| Box::new(bag(args, world)),
    },
    Entry {
        name: "slopp-em",
        about: "A mixture of components that share the structure of merged SLoPP, by expectation maximisation",
        world: World::Open,
        ending: ".mix",
        options: &["--max-classes", "--max-elements", "--components"],
        make: |args, world, _| Box::new(shared(args, world)),
    },
    Entry {
        name: "slopp-tree",
        about: "Certified SLoPP without merging: always a PSDD, on any vtree",
        world: World::Open,
        ending: ".psdd",
        options: SLOPP_TREE,
        make: |args, world, _| Box::new(slopp(args, world)),
    },
    Entry {
        name: "slopp-kmeans",
        about: "SLoPP with k-means, as published: usually a mixture",
        world: World::Closed,
        ending: ".psdd",
        options: &["--world", "--variant", "--k", "--d"],
        make: |args, world, _| Box::new(published(args, world)),
    },
    Entry {
        name: "factorised",
        about: "Every variable for itself",
        world: World::Open,
        ending: ".psdd",
        options: &["--world"],
        make: |args, world, _| Box::new(Factorised { world, pseudocount: slopp(args, world).pseudocount }),
    },
    Entry {
        name: "chow-liu",
        about: "The Chow-Liu tree",
        world: World::Open,
        ending: ".psdd",
        options: &["--world"],
        make: |args, world, _| Box::new(ChowLiu { world, pseudocount: slopp(args, world).pseudocount }),
    },
    Entry {
        name: "learnpsdd",
        about: "LearnPSDD: splits and copies from the Chow-Liu tree, or from the factorised model on another vtree",
        world: World::Open,
        ending: ".psdd",
        options: &["--world", "--start", "--penalty", "--depth", "--steps"],
        make: |args, _, start| Box::new(learn_psdd(args, start)),
    },
    Entry {
        name: "slopp+learnpsdd",
        about: "Merged SLoPP, refined by LearnPSDD",
        world: World::Open,
        ending: ".psdd",
        options: &["--world", "--max-classes", "--max-elements", "--penalty", "--depth", "--steps"],
        make: |args, world, _| Box::new(learn_psdd(args, Start::Slopp(start(args, world)))),
    },
    Entry {
        name: "strudel",
        about: "Strudel: splits where most records pass, from the Chow-Liu tree, or from the factorised model on another vtree",
        world: World::Open,
        ending: ".psdd",
        options: &["--world", "--start", "--scope", "--depth", "--steps"],
        make: |args, _, start| Box::new(strudel(args, start)),
    },
    Entry {
        name: "strudel-em",
        about: "A mixture of components that share the structure of Strudel, by expectation maximisation",
        world: World::Open,
        ending: ".mix",
        options: &["--world", "--start", "--scope", "--depth", "--steps", "--components"],
        make: |args, _, start| Box::new(StrudelMixture { strudel: strudel(args, start), grid: grid(args) }),
    },
    Entry {
        name: "learnspn",
        about: "LearnSPN: a sum-product network, which has no vtree and answers less",
        world: World::Open,
        ending: ".spn",
        options: &["--independence", "--cluster-penalty", "--leaves", "--max-clusters", "--min-records", "--steps"],
        make: |args, _, _| Box::new(learn_spn(args)),
    },
];

/// The learner of this name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// The learner with the settings that the arguments ask for, from the model to start from, if there is one; options
    /// of other learners are refused.
    pub(super) fn learner(&self, args: &LearnArgs, given: Option<&LoadedModel>) -> Result<Box<dyn Learner>, Error> {
        // Who asks for an open world gets it, also of learners that have no other.
        let is_open = |option: &str| option == "--world" && matches!(args.world, Some(WorldName::Open));
        let refused = |option: &&str| !self.options.contains(option) && !is_open(option);
        if let Some(option) = args.special_options().find(refused) {
            let owners = ALL.iter().filter(|entry| entry.options.contains(&option)).map(|entry| entry.name);
            let owners: Vec<&str> = owners.collect();
            let (name, s) = (self.name, if owners.len() == 1 { "" } else { "s" });
            let message = match option {
                "--world" => format!("the learner {name} has only an open world, where everything is possible"),
                _ => format!("{option} belongs to the learner{s} {}, not to {name}", owners.join(", ")),
            };
            return Err(Error::new(message).hint(format!("--learner {}, or leave {option} out", owners.join(" or "))));
        }
        if given.is_some() && args.world.is_some() {
            return Err(Error::new(
                "--start gives a model, and what it makes impossible stays so, whatever --world says",
            )
            .hint("leave --world out; `slopp revise` widens a model by records that it excludes"));
        }
        let world = match args.world {
            // What is learned is closed afterwards, but for these columns.
            _ if !args.open.is_empty() => World::Open,
            Some(WorldName::Open) => World::Open,
            Some(WorldName::Closed) => World::Closed,
            None => self.world,
        };
        let start = given.map_or(Ok(Start::Baseline(world)), |given| self.start(args, given))?;
        Ok((self.make)(args, world, start))
    }

    /// A model as the start of a refinement, if it is good for this one.
    fn start(&self, args: &LearnArgs, given: &LoadedModel) -> Result<Start, Error> {
        let deterministic = given.deterministic("refinement")?;
        match &given.model.circuit {
            Certified::Psdd(psdd) => Ok(Start::Given(Arc::new(psdd.clone()))),
            Certified::Deterministic(_, overlap) if args.refined.scope != Some(ScopeName::Whole) => {
                let overlap = given.overlap_in_words(overlap);
                Err(Error::new(format!("the learner {} refines PSDDs, and the model is none: {overlap}", self.name))
                    .hint("--learner strudel --scope whole, which refines any deterministic circuit"))
            }
            _ => Ok(Start::Deterministic(Arc::new(deterministic.clone()))),
        }
    }
}

/// Settings of merged SLoPP. The seed is that of the task.
fn merged(args: &LearnArgs, world: World) -> merged::Config {
    let (default, m) = (merged::Config::new(world), &args.merged);
    merged::Config {
        max_classes: m.max_classes.unwrap_or(default.max_classes),
        capped: m.max_classes.is_some(),
        max_elements: m.max_elements,
        pseudocount: args.pseudocount,
        ..default
    }
}

/// Settings of merged SLoPP as the start of a refinement, which has its own pseudocount.
fn start(args: &LearnArgs, world: World) -> merged::Config {
    merged::Config { pseudocount: None, ..merged(args, world) }
}

fn effort(args: &LearnArgs) -> merged::Effort {
    match args.merged.effort {
        None | Some(EffortName::Fast) => merged::Effort::Fast,
        Some(EffortName::Balanced) => merged::Effort::Balanced,
        Some(EffortName::Best) => merged::Effort::Best,
    }
}

fn bag(args: &LearnArgs, world: World) -> merged::BagConfig {
    let default = merged::BagConfig::with_effort(merged(args, world), effort(args));
    let members = args.merged.components.unwrap_or(default.members);
    merged::BagConfig { members, divide: !args.merged.whole, ..default }
}

fn shared(args: &LearnArgs, world: World) -> merged::EmConfig {
    merged::EmConfig { model: merged(args, world), grid: grid(args) }
}

/// The mixtures over one structure that are tried.
fn grid(args: &LearnArgs) -> MixtureGrid {
    let default = MixtureGrid::default();
    MixtureGrid { components: args.merged.components.map_or(default.components, |n| vec![n]), ..default }
}

/// Settings of certified SLoPP; its pseudocount is that of all learners of circuits.
fn slopp(args: &LearnArgs, world: World) -> Config {
    let (default, c) = (Config::new(world), &args.certified);
    Config {
        world,
        max_clusters: c.max_clusters.unwrap_or(default.max_clusters),
        min_records: c.min_records.unwrap_or(default.min_records),
        split_penalty: c.split_penalty.unwrap_or(default.split_penalty),
        parameter_penalty: c.parameter_penalty.unwrap_or(default.parameter_penalty),
        pseudocount: args.pseudocount.unwrap_or(default.pseudocount),
    }
}

fn published(args: &LearnArgs, world: World) -> PublishedConfig {
    let p = &args.published;
    let variant = match p.variant {
        Some(VariantName::Algorithm2) => Variant::Algorithm2,
        Some(VariantName::Notebook) | None => Variant::Notebook,
    };
    let paper = PublishedConfig::new(variant, p.k.unwrap_or(3), p.d.unwrap_or(20));
    PublishedConfig { world, pseudocount: slopp(args, world).pseudocount, ..paper }
}

/// Settings of LearnPSDD; in every world some pseudocount, so that the base stays what the start makes it.
fn learn_psdd(args: &LearnArgs, start: Start) -> LearnPsdd {
    let (default, r) = (LearnPsddConfig::default(), &args.refined);
    let config = LearnPsddConfig {
        penalty: r.penalty.unwrap_or(default.penalty),
        depth: r.depth.unwrap_or(default.depth),
        steps: r.steps.unwrap_or(default.steps),
        pseudocount: args.pseudocount.unwrap_or(default.pseudocount),
        max_elements: args.merged.max_elements,
        max_classes: args.merged.max_classes,
        ..default
    };
    LearnPsdd { start, config }
}

/// Settings of Strudel; of its pseudocount the same is true.
fn strudel(args: &LearnArgs, start: Start) -> Strudel {
    let (default, r) = (StrudelConfig::default(), &args.refined);
    let config = StrudelConfig {
        depth: r.depth.unwrap_or(default.depth),
        steps: r.steps.unwrap_or(default.steps),
        pseudocount: args.pseudocount.unwrap_or(default.pseudocount),
        ..default
    };
    let scope = match r.scope {
        Some(ScopeName::Whole) => Scope::Whole,
        Some(ScopeName::Prime) | None => Scope::Prime,
    };
    Strudel { start, scope, config }
}

fn learn_spn(args: &LearnArgs) -> learnspn::Config {
    let (default, s, c) = (learnspn::Config::default(), &args.spn, &args.certified);
    learnspn::Config {
        independence: s.independence.unwrap_or(default.independence),
        cluster_penalty: s.cluster_penalty.unwrap_or(default.cluster_penalty),
        max_clusters: c.max_clusters.unwrap_or(default.max_clusters),
        min_records: c.min_records.map_or(default.min_records, |records| records as f64),
        leaves: match s.leaves {
            Some(LeavesName::Independent) => learnspn::Leaves::Independent,
            Some(LeavesName::ChowLiu) | None => learnspn::Leaves::ChowLiu,
        },
        pseudocount: args.pseudocount.unwrap_or(default.pseudocount),
        steps: args.refined.steps.unwrap_or(default.steps),
        seed: args.seed,
    }
}
