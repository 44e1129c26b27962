//! The one table of learners: their names, options and results.
//!
//! The command line, Python, the benchmark and the guide use it. A new learner is one file, its `mod`
//! line and one entry here.

use super::support::{Support, World};
use super::task::Learner;
use super::{
    ChowLiu, Effort, Factorised, LearnError, LearnPsdd, LearnSpn, Leaves, Lesson, MixtureGrid, Scope, Slopp, SloppBag,
    SloppEm, SloppKmeans, SloppLearnPsdd, SloppTree, Strudel, StrudelEm, Teacher, Together, Variant,
};
use crate::model::ModelKind;
use std::collections::BTreeMap;

/// A learner in the table.
#[non_exhaustive]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// The kind of its result.
    pub makes: Makes,
    /// The default world.
    pub world: World,
    /// Its options, with the text of their defaults.
    pub options: &'static [(&'static str, &'static str)],
    make: fn(&Options) -> Box<dyn Learner + Send + Sync>,
}

/// The kind of a learner's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// A certified PSDD.
    Psdd,
    /// A deterministic circuit, which is a PSDD unless asked otherwise.
    Deterministic,
    /// A circuit whose primes may overlap.
    Circuit,
    /// A mixture of circuits.
    Mixture,
    /// A sum-product network.
    Spn,
}

/// An option of learners.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LearnerOption {
    /// Its name, with underscores.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// The values it may have.
    pub kind: OptionKind,
}

/// The values an option may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A whole number, at least this.
    Whole(usize),
    /// A finite number of at least 0.
    Real,
    /// One of these words, each with its meaning; the first is the default.
    Word(&'static [(&'static str, &'static str)]),
    /// Yes or no.
    Flag,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
    /// Yes or no.
    Flag(bool),
}

/// Options of a learner by name, checked.
#[derive(Clone, Debug, Default)]
pub struct Options(BTreeMap<&'static str, OptionValue>);

const fn option(name: &'static str, kind: OptionKind, about: &'static str) -> LearnerOption {
    LearnerOption { name, about, kind }
}

/// Every option of any learner.
pub static OPTIONS: &[LearnerOption] = &[
    option(
        "effort",
        OptionKind::Word(&[
            ("fast", "one order of the variables, one setting; 16 models of slopp-bag"),
            ("balanced", "several orders and settings; 32 models"),
            ("best", "a mixture distilled to one PSDD; 64 models"),
        ]),
        "How much slopp tries, or how many models slopp-bag has",
    ),
    option(
        "pseudocount",
        OptionKind::Real,
        "The weight of the prior in records; 0 needs a closed world, learnspn takes 1e-6 to 1e6",
    ),
    option("max_classes", OptionKind::Whole(1), "The largest number of nodes of an inner vtree node"),
    option("max_elements", OptionKind::Whole(0), "The largest number of elements; of a mixture, in each component"),
    option("components", OptionKind::Whole(1), "How many models slopp-bag has, or components slopp-em and strudel-em"),
    option("whole", OptionKind::Flag, "Keep the models of slopp-bag whole: it then has no more components than models"),
    option("max_clusters", OptionKind::Whole(1), "The largest number of clusters of a sum"),
    option("min_records", OptionKind::Real, "The smallest number of records that may be clustered"),
    option("split_penalty", OptionKind::Real, "The gain that a cluster needs to be split off, in units of ½ ln N nats"),
    option("parameter_penalty", OptionKind::Real, "The gain that a split needs for each parameter it doubles, in nats"),
    option(
        "variant",
        OptionKind::Word(&[("notebook", "the code of the authors"), ("algorithm2", "the pseudo-code of the paper")]),
        "Which reading of the paper",
    ),
    option("k", OptionKind::Whole(1), "The number of clusters"),
    option("d", OptionKind::Whole(0), "The smallest number of records that are clustered"),
    option("penalty", OptionKind::Real, "The gain that an operation of LearnPSDD needs for each new element, in nats"),
    option(
        "scope",
        OptionKind::Word(&[
            ("prime", "by variables of its prime: the result is a PSDD"),
            ("whole", "by any variable: the result is a deterministic circuit"),
        ]),
        "By which variables Strudel splits an element",
    ),
    option("depth", OptionKind::Whole(1), "How many levels of nodes an operation may copy"),
    option("steps", OptionKind::Whole(0), "The largest number of operations, or of sub-databases that learnspn cuts"),
    option("independence", OptionKind::Real, "The G statistic above which two columns are dependent"),
    option("cluster_penalty", OptionKind::Real, "The gain that a cluster needs for each column, in nats"),
    option(
        "leaves",
        OptionKind::Word(&[("chow-liu", "a Chow-Liu tree"), ("independent", "independent columns")]),
        "The model of records that are not divided further",
    ),
];

const BY_WORLD: (&str, &str) = ("pseudocount", "2, or 0 in a closed world");
const BY_VALIDATION: (&str, &str) = ("pseudocount", "by validation, or 0 in a closed world");
const CLASSES: (&str, &str) = ("max_classes", "32, or 128 for columns of several values, and as many as copies add");
const ELEMENTS: (&str, &str) = ("max_elements", "no limit");
const COMPONENTS: (&str, &str) = ("components", "4 to 16, by validation");
const STEPS: (&str, &str) = ("steps", "20000");

/// All learners, in the order of help texts; the first is the default.
pub static LEARNERS: &[Entry] = &[
    Entry {
        name: "slopp",
        about: "SLoPP with merged classes: always a PSDD, on a vtree that it learns",
        makes: Makes::Psdd,
        world: World::Open,
        options: &[("effort", "fast"), CLASSES, ELEMENTS, BY_VALIDATION],
        make: |options| Box::new(options.slopp()),
    },
    Entry {
        name: "slopp-bag",
        about: "A mixture of slopp models, each on its own vtree unless one is given",
        makes: Makes::Mixture,
        world: World::Open,
        options: &[
            ("effort", "fast"),
            ("components", "by effort: 16, 32 or 64"),
            ("whole", "no"),
            CLASSES,
            ELEMENTS,
            ("pseudocount", "by validation"),
        ],
        make: |options| {
            let default = SloppBag::with_effort(options.slopp(), options.effort());
            let members = options.whole("components").unwrap_or(default.members);
            Box::new(SloppBag { members, divide: !options.flag("whole"), ..default })
        },
    },
    Entry {
        name: "slopp-em",
        about: "A mixture of components on one slopp structure, by expectation maximisation",
        makes: Makes::Mixture,
        world: World::Open,
        options: &[COMPONENTS, CLASSES, ELEMENTS, ("pseudocount", "by validation")],
        make: |options| Box::new(SloppEm { model: options.slopp(), grid: options.grid() }),
    },
    Entry {
        name: "slopp-tree",
        about: "SLoPP with separating trees: always a PSDD, on any vtree",
        makes: Makes::Psdd,
        world: World::Open,
        options: &[
            ("max_clusters", "6"),
            ("min_records", "20"),
            ("split_penalty", "1"),
            ("parameter_penalty", "1.2"),
            BY_WORLD,
        ],
        make: |options| {
            let default = SloppTree::default();
            Box::new(SloppTree {
                max_clusters: options.whole("max_clusters").unwrap_or(default.max_clusters),
                min_records: options.real("min_records").unwrap_or(default.min_records),
                split_penalty: options.real("split_penalty").unwrap_or(default.split_penalty),
                parameter_penalty: options.real("parameter_penalty").unwrap_or(default.parameter_penalty),
                pseudocount: options.real("pseudocount"),
            })
        },
    },
    Entry {
        name: "slopp-kmeans",
        about: "SLoPP as published, with k-means: its primes usually overlap",
        makes: Makes::Circuit,
        world: World::CLOSED,
        options: &[("variant", "notebook"), ("k", "3"), ("d", "20"), BY_WORLD],
        make: |options| {
            let variant = match options.word("variant") {
                "algorithm2" => Variant::Algorithm2,
                _ => Variant::Notebook,
            };
            let (k, d) = (options.whole("k").unwrap_or(3), options.whole("d").unwrap_or(20));
            Box::new(SloppKmeans { pseudocount: options.real("pseudocount"), ..SloppKmeans::new(variant, k, d) })
        },
    },
    Entry {
        name: "factorised",
        about: "Independent variables",
        makes: Makes::Psdd,
        world: World::Open,
        options: &[BY_WORLD],
        make: |options| Box::new(Factorised { pseudocount: options.real("pseudocount") }),
    },
    Entry {
        name: "chow-liu",
        about: "The Chow-Liu tree of the columns",
        makes: Makes::Psdd,
        world: World::Open,
        options: &[BY_WORLD],
        make: |options| Box::new(ChowLiu { pseudocount: options.real("pseudocount") }),
    },
    Entry {
        name: "learnpsdd",
        about: "LearnPSDD: splits and copies, from the Chow-Liu tree or a given model",
        makes: Makes::Psdd,
        world: World::Open,
        options: &[("penalty", "1"), ("depth", "10"), STEPS, ("pseudocount", "2")],
        make: |options| Box::new(options.learn_psdd()),
    },
    Entry {
        name: "slopp+learnpsdd",
        about: "slopp, refined by LearnPSDD",
        makes: Makes::Psdd,
        world: World::Open,
        options: &[CLASSES, ELEMENTS, ("penalty", "1"), ("depth", "10"), STEPS, ("pseudocount", "2")],
        make: |options| {
            // The refinement has its own pseudocount, and keeps to the size too.
            let slopp = Slopp { pseudocount: None, ..options.slopp() };
            let refinement = LearnPsdd {
                max_elements: slopp.max_elements,
                max_classes: options.whole("max_classes"),
                ..options.learn_psdd()
            };
            Box::new(SloppLearnPsdd { slopp, refinement })
        },
    },
    Entry {
        name: "strudel",
        about: "Strudel: splits where most records pass, from the Chow-Liu tree or a given model",
        makes: Makes::Deterministic,
        world: World::Open,
        options: &[("scope", "prime"), ("depth", "4"), STEPS, ("pseudocount", "2")],
        make: |options| Box::new(options.strudel()),
    },
    Entry {
        name: "strudel-em",
        about: "A mixture of components on one Strudel structure, by expectation maximisation",
        makes: Makes::Mixture,
        world: World::Open,
        options: &[COMPONENTS, ("scope", "prime"), ("depth", "4"), STEPS, ("pseudocount", "2")],
        make: |options| Box::new(StrudelEm { strudel: options.strudel(), grid: options.grid() }),
    },
    Entry {
        name: "learnspn",
        about: "LearnSPN: a sum-product network, which has no vtree and answers less",
        makes: Makes::Spn,
        world: World::Open,
        options: &[
            ("independence", "12"),
            ("cluster_penalty", "0.2"),
            ("max_clusters", "2"),
            ("min_records", "50"),
            ("leaves", "chow-liu"),
            STEPS,
            ("pseudocount", "2"),
        ],
        make: |options| {
            let default = LearnSpn::default();
            let leaves = match options.word("leaves") {
                "independent" => Leaves::Independent,
                _ => Leaves::ChowLiu,
            };
            Box::new(LearnSpn {
                independence: options.real("independence").unwrap_or(default.independence),
                cluster_penalty: options.real("cluster_penalty").unwrap_or(default.cluster_penalty),
                max_clusters: options.whole("max_clusters").unwrap_or(default.max_clusters),
                min_records: options.real("min_records").unwrap_or(default.min_records),
                leaves,
                steps: options.whole("steps").unwrap_or(default.steps),
                pseudocount: options.real("pseudocount").unwrap_or(default.pseudocount),
            })
        },
    },
];

/// The default learner: the first of the table.
pub fn default() -> &'static Entry {
    &LEARNERS[0]
}

/// The learner of this name.
///
/// ```
/// use slopp::learn::registry::{Options, find};
/// use slopp::learn::Task;
/// let records = slopp::example::records();
/// let tree = find("slopp-tree").expect("a learner");
/// let mut options = Options::default();
/// options.set("min_records", "5")?;
/// let task = Task { support: &tree.support(), ..Task::new(&records) };
/// let outcome = task.learn(&*tree.learner(&options)?, &())?;
/// assert_eq!(outcome.model.origin["min_records"], "5");
/// # Ok::<(), slopp::learn::LearnError>(())
/// ```
pub fn find(name: &str) -> Option<&'static Entry> {
    LEARNERS.iter().find(|entry| entry.name == name)
}

/// A lesson whose student is the default learner with these options.
pub fn lesson<'a>(
    teacher: Teacher<'a>,
    samples: Option<usize>,
    options: &Options,
    free: bool,
) -> Result<Lesson<'a>, LearnError> {
    default().learner(options)?;
    Ok(Lesson { teacher, samples, student: options.slopp(), free })
}

/// What is asked about possible worlds, before any work.
#[derive(Clone, Debug, Default)]
pub struct WorldRequest {
    /// The world.
    pub world: Option<World>,
    /// Whether groups of columns are closed in an open world.
    pub closed: bool,
    /// Whether columns stay open in a closed world.
    pub open: bool,
    /// Whether there are rules.
    pub rules: bool,
    /// Whether there is a model to start from.
    pub start: bool,
}

impl Entry {
    /// The world that is asked for, or else the usual one. It is an error if what is asked for contradicts itself, or
    /// if the learner cannot do it.
    ///
    /// ```
    /// use slopp::learn::registry::{WorldRequest, find};
    /// use slopp::learn::{LearnError, Together, World};
    /// let asked = WorldRequest { world: Some(World::CLOSED), closed: true, ..WorldRequest::default() };
    /// let error = find("slopp").expect("a learner").world_for(asked).unwrap_err();
    /// assert!(matches!(error, LearnError::Together(Together::ClosedInClosed)));
    /// ```
    pub fn world_for(&self, asked: WorldRequest) -> Result<World, LearnError> {
        let owners = |able: fn(&Entry) -> bool| LEARNERS.iter().filter(|e| able(e)).map(|e| e.name).collect();
        let WorldRequest { world, closed, open, rules, start } = asked;
        let is_closed = world.as_ref().map(|world| *world != World::Open);
        for (option, given) in
            [("world", is_closed == Some(true)), ("closed", closed), ("open", open), ("rules", rules)]
        {
            if given && !self.obeys_rules() {
                let owners = owners(Entry::obeys_rules);
                return Err(LearnError::OnlyOpen { learner: self.name, option, owners });
            }
        }
        let clashes = [
            (Together::ClosedInClosed, closed && is_closed == Some(true)),
            (Together::OpenInOpen, open && is_closed == Some(false)),
            (Together::OpenAndClosed, open && closed),
        ];
        let clash = clashes.into_iter().find_map(|(clash, clashes)| clashes.then_some(clash));
        let asked = start && (world.is_some() || open);
        if let Some(clash) = clash.or(asked.then(|| Together::with_start(world.is_some()))) {
            return Err(LearnError::Together(clash));
        }
        if start && !self.refines() {
            let owners = owners(Entry::refines);
            return Err(LearnError::OptionOfOthers { learner: self.name, option: "start", owners });
        }
        Ok(world.unwrap_or_else(|| self.world.clone()))
    }

    /// The learner with these options. An option of other learners is an error.
    pub fn learner(&self, options: &Options) -> Result<Box<dyn Learner + Send + Sync>, LearnError> {
        let foreign = options.0.keys().find(|name| !self.has(name));
        match foreign {
            Some(&option) => {
                let owners = LEARNERS.iter().filter(|entry| entry.has(option)).map(|entry| entry.name).collect();
                Err(LearnError::OptionOfOthers { learner: self.name, option, owners })
            }
            None => Ok((self.make)(options)),
        }
    }

    /// The learner with its default options.
    pub fn usual(&self) -> Box<dyn Learner + Send + Sync> {
        (self.make)(&Options::default())
    }

    /// Whether it has an option of this name.
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|(name, _)| *name == option)
    }

    /// What is possible in its result, unless asked otherwise.
    pub fn support(&self) -> Support {
        Support::of(self.world.clone())
    }

    /// Whether it refines a given model.
    pub fn refines(&self) -> bool {
        self.usual().refines()
    }

    /// Whether its result can be closed and conditioned on rules.
    pub fn obeys_rules(&self) -> bool {
        self.makes != Makes::Spn
    }

    /// The file name ending of its result.
    pub fn ending(&self) -> &'static str {
        let [circuit, mixture, network] = ModelKind::ENDINGS;
        match self.makes {
            Makes::Psdd | Makes::Deterministic | Makes::Circuit => circuit,
            Makes::Mixture => mixture,
            Makes::Spn => network,
        }
    }
}

/// What holds for learners, in words; where they differ, each text with its learners.
///
/// ```
/// use slopp::learn::registry::{LEARNERS, by_learner};
/// let world = by_learner(LEARNERS, |entry| entry.support().world.name().to_owned());
/// assert!(world.starts_with("open: slopp, ") && world.ends_with("; closed: slopp-kmeans"));
/// ```
#[doc(hidden)]
pub fn by_learner(learners: impl IntoIterator<Item = &'static Entry>, text: impl Fn(&Entry) -> String) -> String {
    let mut texts: Vec<(String, Vec<&str>)> = Vec::new();
    for entry in learners {
        let text = text(entry);
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(entry.name),
            None => texts.push((text, vec![entry.name])),
        }
    }
    match &texts[..] {
        [(text, _)] => text.clone(),
        texts => {
            let one = |(text, names): &(String, Vec<&str>)| format!("{text}: {}", names.join(", "));
            texts.iter().map(one).collect::<Vec<_>>().join("; ")
        }
    }
}

impl LearnerOption {
    /// The learners that have it.
    pub fn owners(&self) -> impl Iterator<Item = &'static Entry> {
        let name = self.name;
        LEARNERS.iter().filter(move |entry| entry.has(name))
    }

    /// The default in words; where learners have different ones, each with its learners.
    pub fn default_text(&self) -> String {
        let default =
            |entry: &Entry| entry.options.iter().find(|(name, _)| *name == self.name).map_or("", |(_, text)| *text);
        by_learner(self.owners(), |entry| default(entry).to_owned())
    }

    /// The value of a text.
    fn read(&self, text: &str) -> Result<OptionValue, LearnError> {
        let value = match self.kind {
            OptionKind::Whole(_) | OptionKind::Real => text.trim().parse().ok().map(OptionValue::Number),
            OptionKind::Word(_) => Some(OptionValue::Word(text.to_owned())),
            OptionKind::Flag => match text {
                "true" | "yes" => Some(OptionValue::Flag(true)),
                "false" | "no" => Some(OptionValue::Flag(false)),
                _ => None,
            },
        };
        value.ok_or_else(|| self.fault(text)).and_then(|value| self.checked(value))
    }

    /// The value, if the option may have it.
    fn checked(&self, value: OptionValue) -> Result<OptionValue, LearnError> {
        let fits = match (&value, self.kind) {
            (OptionValue::Number(x), OptionKind::Whole(least)) => {
                x.fract() == 0.0 && (least as f64..=2f64.powi(53)).contains(x)
            }
            (OptionValue::Number(x), OptionKind::Real) => x.is_finite() && *x >= 0.0,
            (OptionValue::Word(word), OptionKind::Word(words)) => words.iter().any(|(known, _)| known == word),
            (OptionValue::Flag(_), OptionKind::Flag) => true,
            _ => false,
        };
        match (fits, &value) {
            (true, _) => Ok(value),
            (false, OptionValue::Number(x)) => Err(self.fault(x)),
            (false, OptionValue::Word(word)) => Err(self.fault(format!("\"{word}\""))),
            (false, OptionValue::Flag(flag)) => Err(self.fault(flag)),
        }
    }

    fn fault(&self, value: impl ToString) -> LearnError {
        let expected = match self.kind {
            OptionKind::Whole(0) => "a whole number".to_owned(),
            OptionKind::Whole(least) => format!("a whole number of at least {least}"),
            OptionKind::Real => "a finite number of at least 0".to_owned(),
            OptionKind::Flag => "true or false".to_owned(),
            OptionKind::Word(words) => {
                format!("one of {}", words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", "))
            }
        };
        LearnError::setting(self.name, value, expected)
    }
}

impl Options {
    /// Sets an option by its text.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), LearnError> {
        let option = known(name)?;
        self.0.insert(option.name, option.read(text)?);
        Ok(())
    }

    /// Sets an option by its value.
    pub fn insert(&mut self, name: &str, value: OptionValue) -> Result<(), LearnError> {
        let option = known(name)?;
        self.0.insert(option.name, option.checked(value)?);
        Ok(())
    }

    fn real(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(OptionValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The whole number, if set.
    pub fn whole(&self, name: &str) -> Option<usize> {
        self.real(name).map(|number| number as usize)
    }

    /// The word, or an empty one, which means the default.
    pub fn word(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(OptionValue::Word(word)) => word,
            _ => "",
        }
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name) == Some(&OptionValue::Flag(true))
    }

    fn effort(&self) -> Effort {
        match self.word("effort") {
            "balanced" => Effort::Balanced,
            "best" => Effort::Best,
            _ => Effort::Fast,
        }
    }

    fn slopp(&self) -> Slopp {
        let default = Slopp::default();
        let max_classes = self.whole("max_classes");
        Slopp {
            effort: self.effort(),
            max_classes: max_classes.unwrap_or(default.max_classes),
            capped: max_classes.is_some(),
            max_elements: self.whole("max_elements"),
            pseudocount: self.real("pseudocount"),
            ..default
        }
    }

    fn grid(&self) -> MixtureGrid {
        let default = MixtureGrid::default();
        MixtureGrid { components: self.whole("components").map_or(default.components, |n| vec![n]), ..default }
    }

    /// With a pseudocount in every world, so that the base stays that of the start.
    fn learn_psdd(&self) -> LearnPsdd {
        let default = LearnPsdd::default();
        LearnPsdd {
            penalty: self.real("penalty").unwrap_or(default.penalty),
            depth: self.whole("depth").unwrap_or(default.depth),
            steps: self.whole("steps").unwrap_or(default.steps),
            pseudocount: self.real("pseudocount").unwrap_or(default.pseudocount),
            ..default
        }
    }

    fn strudel(&self) -> Strudel {
        let default = Strudel::default();
        Strudel {
            scope: if self.word("scope") == "whole" { Scope::Whole } else { Scope::Prime },
            depth: self.whole("depth").unwrap_or(default.depth),
            steps: self.whole("steps").unwrap_or(default.steps),
            pseudocount: self.real("pseudocount").unwrap_or(default.pseudocount),
            ..default
        }
    }
}

/// The option of this name.
fn known(name: &str) -> Result<&'static LearnerOption, LearnError> {
    let option = OPTIONS.iter().find(|option| option.name == name);
    let known = || OPTIONS.iter().map(|option| option.name).collect();
    option.ok_or_else(|| LearnError::NoSuchOption { option: name.to_owned(), known: known() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_belongs_to_a_learner_and_every_default_is_what_it_says() {
        for option in OPTIONS {
            assert!(option.owners().count() > 0, "{}", option.name);
        }
        for entry in LEARNERS {
            let usual = entry.learner(&Options::default()).unwrap();
            assert_eq!(usual.name(), entry.name);
            for (name, default) in entry.options {
                let Ok(()) = Options::default().set(name, default) else {
                    // A default that is chosen or depends on the world is a phrase.
                    assert!(default.contains(' '), "{} {name}: {default}", entry.name);
                    continue;
                };
                let mut options = Options::default();
                options.set(name, default).unwrap();
                assert_eq!(entry.learner(&options).unwrap().settings(), usual.settings(), "{} {name}", entry.name);
            }
        }
    }

    #[test]
    fn wrong_options_are_refused_by_name() {
        let mut options = Options::default();
        for (name, text) in [("k", "0"), ("k", "1.5"), ("penalty", "-1"), ("effort", "slow"), ("whole", "perhaps")] {
            let error = options.set(name, text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} is ")), "{error}");
        }
        assert!(options.set("kay", "1").is_err());
        options.set("k", "3").unwrap();
        let error = find("slopp").unwrap().learner(&options).err().unwrap().to_string();
        assert!(error.contains("slopp-kmeans"), "{error}");
    }
}
