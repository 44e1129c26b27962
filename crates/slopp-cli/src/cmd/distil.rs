//! `slopp distil`: one PSDD from a teacher.

use crate::args::{ColumnArgs, ModelArgs, ReadArgs, positive, seed, whole};
use crate::cmd::learn::{
    Enforcement, RuleArgs, not_obeyed, save, score_table, scores, tell_held_out, tell_saved, too_large,
    too_many_classes,
};
use crate::error::Error;
use crate::files::{Files, check_ending};
use crate::incomplete::{Part, check};
use crate::input::{Loaded, explained, options, options_over, read_records, read_records_of};
use crate::report::{count, counted, facts, json, json_count, object, records as records_in_words, score_entries};
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::infer::Score;
use slopp::io::Content;
use slopp::io::{LoadedRecords, path_in_words};
use slopp::learn::registry::{self, OptionValue, Options};
use slopp::learn::{self, Student, Support, Task};
use slopp::{Model, ModelKind, Names, Records};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  slopp learn train.csv --valid valid.csv --learner learnspn -o teacher.spn
  slopp distil teacher.spn train.csv --valid valid.csv --test test.csv -o student.psdd
  slopp distil samples.csv train.csv --valid valid.csv -o student.psdd    whatever drew the samples";

/// Distil a teacher to one certified PSDD
///
/// The teacher is a model of any kind, such as a mixture or a sum-product network, or a file of records that were drawn
/// from anything else. The learner `slopp` learns a structure from the records of the teacher and the real ones
/// together, and its parameters are fitted to the real ones, with those learned from all as the prior; how strong a
/// prior is chosen by the validation records. The student answers what the teacher may not: most probable worlds,
/// entropy, rules.
///
/// Samples in a file are read by the columns of TRAIN, so their cells may be names of its bins, and the student has the
/// columns of TRAIN in their order; a model has columns of its own, by which TRAIN is read.
///
/// The student keeps the impossible worlds of a deterministic teacher (.psdd): its base implies that of the teacher,
/// exactly. --free lifts this. The base of mixtures, sum-product networks and samples is not kept. Every column has one
/// value either way, and --rules are obeyed as by `slopp learn`. To get a closed student, learn a closed teacher and save
/// it as .psdd.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DistilArgs {
    /// The teacher: a model (.psdd, .spn, .mix), or a file of records drawn from one (.csv, .data)
    teacher: PathBuf,
    /// The training records: CSV, .data or .wdata, gzipped or not, `-` for stdin
    train: PathBuf,
    /// Validation records, to choose by [default: a tenth of TRAIN, by seed]
    #[arg(long, value_name = "FILE")]
    valid: Option<PathBuf>,
    /// Test records, only evaluated
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Let the student allow worlds that are impossible for the teacher
    #[arg(long)]
    free: bool,
    #[command(flatten)]
    rules: RuleArgs,
    /// How many records to draw from a model [default: 10 for each training record, at least 50000, at most 600000]
    #[arg(short = 'n', long, value_name = "N", value_parser = positive)]
    samples: Option<usize>,
    /// The largest number of classes of records of a vtree node [default: 64, and as many as clones add]
    #[arg(long, value_name = "N", value_parser = positive)]
    max_classes: Option<usize>,
    /// The largest number of elements
    #[arg(long, value_name = "N", value_parser = whole)]
    max_elements: Option<usize>,
    /// The seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = seed)]
    seed: u64,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Save the student in this file, `-` for stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Where lessons come from.
enum Teacher {
    Model(Box<Model>),
    Samples(Box<Records>),
}

impl Teacher {
    /// The teacher, and the training records: over the variables of a model, while samples are over those of the
    /// training records, whose values and names of bins they have.
    fn read(args: &DistilArgs) -> Result<(Teacher, Records), Error> {
        if is_any_model(&args.teacher) {
            args.columns.check_unused("the teacher")?;
            let model = ModelArgs { model: args.teacher.clone(), vtree: None, limits: args.rules.limits.clone() };
            let teacher = Loaded::read(&model)?.model;
            let train = read_records_of(&args.train, args.read, &teacher.names)?;
            return Ok((Teacher::Model(Box::new(teacher)), train));
        }
        if args.samples.is_some() {
            return Err(Error::new("--samples is for a teacher that is a model; all records of a file are used")
                .hint("leave --samples out"));
        }
        let options = options(args.read, &args.columns);
        let LoadedRecords { records, header, .. } =
            slopp::io::load_records(&args.train, &options).map_err(explained)?;
        let (train, samples) = match header {
            true => {
                let samples = read_samples(args, records.names())?;
                (records, samples)
            }
            // By place; if there are names, they are those of the samples.
            false => {
                let samples = read_records(&args.teacher, args.read, &args.columns)?;
                (of_samples(records, samples.names(), args)?, samples)
            }
        };
        check(Part::Samples, Some(&args.teacher), &samples)?;
        Ok((Teacher::Samples(Box::new(samples)), train))
    }

    fn of_lesson(&self) -> learn::Teacher<'_> {
        match self {
            Teacher::Samples(records) => learn::Teacher::Records(records),
            Teacher::Model(model) => learn::Teacher::Model(&model.kind),
        }
    }
}

/// Training records without a header by the columns of samples.
fn of_samples(train: Records, names: &Arc<Names>, args: &DistilArgs) -> Result<Records, Error> {
    let [found, expected] = [train.var_count(), names.len()];
    if found == expected {
        return Ok(train.renamed(names.clone()));
    }
    let (samples, train) = (path_in_words(&args.teacher), path_in_words(&args.train));
    Err(Error::new(format!("{train} has {found} columns, and {samples}, the teacher, has {expected}"))
        .hint("records of the teacher and real ones must have the same columns"))
}

/// Samples by the columns of the training records.
fn read_samples(args: &DistilArgs, names: &Arc<Names>) -> Result<Records, Error> {
    let (samples, train) = (path_in_words(&args.teacher), path_in_words(&args.train));
    let loaded = slopp::io::load_records(&args.teacher, &options_over(args.read, names)).map_err(|error| {
        let doing = format!("{samples}, the teacher, does not have the columns of {train}");
        explained(error)
            .while_doing(doing)
            .hint("records of the teacher and real ones must have the same columns, and names if one of them has names")
    })?;
    match loaded.header {
        true => Ok(loaded.records),
        false => {
            Err(Error::new(format!("{samples}, the teacher, has no header, and {train} has names for its columns"))
                .hint(format!("add the names of {train} as the first line of the samples")))
        }
    }
}

pub(crate) fn run(args: &DistilArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to(&args.output)?;
    let inputs = [&args.valid, &args.test, &args.rules.file].map(Option::as_ref);
    let inputs = [Some(&args.teacher), Some(&args.train)].into_iter().chain(inputs);
    Files::default().read(inputs.flatten()).write(&args.output, Content::Model).check()?;
    check_ending(args.output.as_deref(), ".psdd", "the student")?;
    let (teacher, train) = Teacher::read(args)?;
    check(Part::Train, Some(&args.train), &train)?;
    let names = train.names().clone();
    let other = |file: &PathBuf| read_records_of(file, args.read, &names);
    let (enforcement, train) = Enforcement::new(&args.rules, &args.train, train, None)?;
    let [valid, test] = [&args.valid, &args.test].map(|file| file.as_ref().map(other).transpose());
    let (valid, test) = (valid?, test?);
    valid.as_ref().map_or(Ok(()), |valid| check(Part::Valid, args.valid.as_deref(), valid))?;
    let mut options = Options::default();
    for (name, value) in [("max_classes", args.max_classes), ("max_elements", args.max_elements)] {
        value.map_or(Ok(()), |value| options.insert(name, OptionValue::Number(value as f64)))?;
    }
    let lesson = registry::lesson(teacher.of_lesson(), args.samples, &options, args.free)?;
    let support = Support {
        rules: enforcement.as_ref().and_then(Enforcement::given),
        limits: args.rules.limits.limits(),
        ..Support::default()
    };
    let task = Task { valid: valid.as_ref(), seed: args.seed, support: &support, ..Task::new(&train) };
    let bar = session.progress();
    let student = lesson.learn(&task, &bar).map_err(not_obeyed)?;
    drop(bar);
    let parts: Vec<(&'static str, &Records)> =
        [("train", Some(&train)), ("valid", valid.as_ref()), ("test", test.as_ref())]
            .into_iter()
            .filter_map(|(name, records)| Some((name, records?)))
            .collect();
    let of_student = scores(&student.circuit, &parts)?;
    let of_teacher = match &teacher {
        Teacher::Model(model) => Some(scores(model.distribution(), &parts)?),
        Teacher::Samples(_) => None,
    };
    let Student { samples, strength, held_out, keeps_base, .. } = student;
    let model = student.into_model(&lesson, &task);
    let (elements, classes) = (model.most_elements(), model.most_classes());
    let saved = save(args.output.as_deref(), |file| model.save(file));
    let output = args.output.as_ref().filter(|_| saved.is_ok());
    if session.json {
        let part = |scores: &[(&'static str, Score)]| {
            object(scores.iter().map(|(name, score)| (*name, object(score_entries(score)))))
        };
        session.document(&object([
            ("samples", json_count(samples)),
            ("strength", json(strength)),
            ("elements", Value::from(elements)),
            ("student", part(&of_student)),
            ("teacher", of_teacher.as_deref().map_or(Value::Null, part)),
            (
                "rules",
                enforcement.as_ref().and_then(|enforcement| enforcement.document(&model.names)).unwrap_or(Value::Null),
            ),
            ("keeps_base", Value::Bool(keeps_base)),
            ("model", output.map_or(Value::Null, |file| Value::from(file.display().to_string()))),
        ]))?;
    } else {
        let mut lines = vec![
            ("student", format!("{}, proved to be a PSDD", counted(elements, "element"))),
            ("lessons", format!("{} of the teacher", records_in_words(samples))),
            ("prior", format!("weighs {} records", count(strength))),
        ];
        lines.extend(enforcement.as_ref().and_then(Enforcement::fact).map(|rules| ("rules", rules)));
        lines.extend(
            keeps_base.then(|| ("base", "every world that is impossible for the teacher is impossible".to_owned())),
        );
        session.line(facts(lines))?;
        session.line("")?;
        session.table(&score_table(&of_student))?;
        if let Some(of_teacher) = of_teacher {
            session.line("\nThe teacher:")?;
            session.table(&score_table(&of_teacher))?;
        }
    }
    saved?;
    enforcement.iter().for_each(|enforcement| enforcement.report(&model.names, session));
    if let Some(max) = args.max_classes.filter(|&max| classes > max) {
        session.note(too_many_classes(classes, max));
    }
    if let Some(max) = args.max_elements.filter(|&max| elements > max) {
        session.note(too_large(elements, max));
    }
    if let (Teacher::Model(teacher), false) = (&teacher, args.free)
        && teacher.deterministic().is_none()
    {
        session.note(
            "the teacher is not deterministic, so its base is not kept: the student may allow worlds that the teacher \
             excludes; --rules FILE says what must hold",
        );
    }
    tell_held_out(Some(held_out), session);
    tell_saved(args.output.as_deref(), model.ending(), session);
    Ok(Verdict::Yes)
}

/// Whether the name is that of a model of any kind.
fn is_any_model(path: &Path) -> bool {
    let ending = slopp::io::ending(path).map(|ending| format!(".{ending}"));
    ending.is_some_and(|ending| ModelKind::ENDINGS.contains(&ending.as_str()))
}
