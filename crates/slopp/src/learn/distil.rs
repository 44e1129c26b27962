//! Distillation: one PSDD from a teacher that is larger, or not a PSDD at all.
//!
//! A single model is limited by the noise in choosing its transitions, not by its parameters. A teacher that averages
//! over many structures has less of that noise and can be sampled without end. A structure learned from its samples is
//! better than one learned from the real records. Its parameters are then refitted to the real records.

use super::LearnError;
use super::error::{check_records, check_validation, check_weights, in_digits};
use super::judge::score;
use super::slopp::{Slopp, learn};
use super::structure::{Prior, Structure};
use super::task::{Learner, Made, Task, within};
use crate::certified::Certified;
use crate::circuit::Psdd;
use crate::data::{MAX_RECORDS, Records, RecordsBuilder};
use crate::infer::{Distribution, Evidence, count_shares};
use crate::logic::{Manager, Rules};
use crate::model::{Model, ModelKind};
use crate::progress::Progress;
use rayon::prelude::*;

/// The largest base of the teacher on the vtree of the student, in nodes.
const BASE_NODES: usize = 2_000_000;

/// The source of the records of a lesson.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Teacher<'a> {
    /// A model to draw from. The base of a deterministic circuit is known.
    Model(&'a ModelKind),
    /// Records drawn from anything.
    Records(&'a Records),
}

impl Teacher<'_> {
    /// The word for it in an origin.
    fn name(self) -> &'static str {
        match self {
            Teacher::Model(ModelKind::Circuit(Certified::Psdd(_))) => "psdd",
            Teacher::Model(ModelKind::Circuit(_)) => "circuit",
            Teacher::Model(ModelKind::Mixture(_)) => "mixture",
            Teacher::Model(ModelKind::Spn(_)) => "spn",
            Teacher::Records(_) => "records",
        }
    }
}

/// A lesson: distils a teacher into one PSDD.
///
/// ```
/// use slopp::learn::{Lesson, Task, Teacher};
/// let (records, teacher) = (slopp::example::records(), slopp::example::psdd().into());
/// let lesson = Lesson { samples: Some(1000), ..Lesson::new(Teacher::Model(&teacher)) };
/// let student = lesson.learn(&Task::new(&records), &())?;
/// assert!(student.keeps_base);
/// assert_eq!(student.circuit.deterministic().unwrap().model_count(), slopp::example::psdd().model_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Lesson<'a> {
    /// The source of its records.
    pub teacher: Teacher<'a>,
    /// How many to draw from a model; by default ten for each real record, at least 50 000 and at most 600 000.
    pub samples: Option<usize>,
    /// How the student learns. It gets at least 64 classes, unless they are capped, and a higher price of copies, since
    /// there are many records.
    pub student: Slopp,
    /// Whether the student may allow worlds that are impossible for the teacher.
    pub free: bool,
}

/// The result of a lesson.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Student {
    /// The PSDD.
    pub circuit: Certified,
    /// The weight of the records of the lesson.
    pub samples: f64,
    /// The weight of the parameters learned from all records in the fit to the real ones.
    pub strength: f64,
    /// The weight of the records that were held out to choose by.
    pub held_out: f64,
    /// Whether every world that is impossible for the teacher is impossible for the student.
    pub keeps_base: bool,
}

impl<'a> Lesson<'a> {
    /// A student with default settings, inside the base of the teacher if it is known.
    pub fn new(teacher: Teacher<'a>) -> Lesson<'a> {
        Lesson { teacher, samples: None, student: Slopp::default(), free: false }
    }

    /// Teaches a student: draws records, learns one PSDD from them and the real ones, refits its parameters to the real
    /// ones, and keeps it inside the support of the task and the base of the teacher.
    ///
    /// If this makes it larger than asked for, it is learned again with less room, as by [`Task::learn`]. It may still
    /// be larger.
    pub fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Student, LearnError> {
        let config = self.config();
        // Drawing takes a while, so check first.
        config.student.check(task.train.var_count(), task.support)?;
        let base = match self.teacher {
            Teacher::Model(ModelKind::Circuit(teacher)) if !self.free && limits_worlds(teacher, task)? => Some(teacher),
            _ => None,
        };
        let drawn;
        let records = match self.teacher {
            Teacher::Records(records) => records,
            Teacher::Model(teacher) => {
                progress.begin("drawing from the teacher", 1);
                let count = self.samples.unwrap_or_else(|| sample_size(task.train));
                drawn = synthetic(teacher.distribution(), task.train, count, task.seed)?;
                &drawn
            }
        };
        let once = |config: &Distil| taught(config, records, base, task, progress);
        let first = once(&config)?;
        let max = config.student.max_elements;
        let Some(max) = max.filter(|&max| first.elements > max) else { return Ok(first.made) };
        let least = task.train.var_count().saturating_sub(1);
        let smaller = |room| Distil { student: config.student.with_max_elements(room), ..config.clone() };
        within(max, least, first, |room| once(&smaller(room)).map(Some))
    }

    /// The settings that the student is taught with.
    fn config(&self) -> Distil {
        Distil::new(self.student.clone())
    }
}

impl Student {
    /// The student as a model; its origin says how it was made in this lesson.
    pub fn into_model(self, lesson: &Lesson, task: &Task) -> Model {
        let config = lesson.config();
        let facts = [
            ("learner", config.student.name().to_owned()),
            ("teacher", lesson.teacher.name().to_owned()),
            ("seed", task.seed.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("records", in_digits(task.train.total())),
            ("samples", in_digits(self.samples)),
            ("strength", in_digits(self.strength)),
            ("held_out", in_digits(self.held_out)),
        ];
        let base = self.keeps_base.then(|| ("base", "of the teacher".to_owned()));
        let facts = facts.into_iter().chain(base).chain(task.support.facts(task.train.names()));
        let facts = facts.chain(config.student.settings());
        let origin = facts.map(|(key, value)| (key.to_owned(), value)).collect();
        Model { origin, ..Model::new(task.train.names().clone(), self.circuit) }
    }
}

/// A student inside its support and the base of a teacher, if there is one.
fn taught(
    config: &Distil,
    records: &Records,
    base: Option<&Certified>,
    task: &Task,
    progress: &dyn Progress,
) -> Result<Made<Student>, LearnError> {
    let Distilled { psdd, strength, held_out, .. } = distil(task, records, config, progress)?;
    let unrestricted = psdd.elements().len();
    let structure = Structure::new(psdd, Prior::new(None, strength));
    let ModelKind::Circuit(mut circuit) = task.support.apply(structure, task.train, progress)? else {
        unreachable!("a circuit stays one")
    };
    if let Some(teacher) = base {
        let limits = &task.support.limits;
        let mut manager =
            Manager::new(circuit.vtree().clone(), limits.clone().with_nodes(BASE_NODES.min(limits.nodes)));
        let base = manager.support_of(teacher, |var| var).map_err(LearnError::Base)?;
        circuit = circuit.given(&manager.sdd(base), limits)?.0;
    }
    let elements = circuit.elements().len();
    let made = Student { circuit, samples: records.total(), strength, held_out, keeps_base: base.is_some() };
    Ok(Made { made, elements, unrestricted })
}

/// Whether a teacher is deterministic, so that its worlds can be counted, and excludes a world in which every column
/// has one value. It is an error if it excludes a record.
fn limits_worlds(teacher: &Certified, task: &Task) -> Result<bool, LearnError> {
    let train = task.train;
    let Ok(circuit) = teacher.deterministic() else { return Ok(false) };
    let columns = Rules::of_columns(train.names().clone());
    let everything = columns.compile(teacher.vtree().clone(), &task.support.limits)?;
    let kept = teacher.column_without_one_value(train.names()).is_none();
    if kept && circuit.model_count() == everything.model_count() {
        return Ok(false);
    }
    let possible = teacher.possible(train)?;
    let weights = train.weights().iter().zip(possible);
    let outside: f64 = weights.filter(|(_, possible)| !possible).map(|(weight, _)| weight).sum();
    match outside > 0.0 {
        true => Err(LearnError::Outside { outside, total: train.total() }),
        false => Ok(true),
    }
}

/// Settings of [`distil`].
#[derive(Clone)]
pub(super) struct Distil {
    /// How the model is learned from synthetic and real records together.
    pub(super) student: Slopp,
    /// The weights to try, in records, of the parameters learned from all records in the fit to the real ones.
    pub(super) strengths: Vec<f64>,
}

impl Distil {
    /// With more classes, unless these settings cap them, and a higher price of copies, since there are many records.
    pub(super) fn new(model: Slopp) -> Distil {
        let max_classes = if model.capped { model.max_classes } else { model.max_classes.max(64) };
        let student = Slopp { max_classes, clone_penalty: 1.0, ..model };
        Distil { student, strengths: vec![5.0, 10.0, 25.0, 50.0, 100.0, 200.0, 500.0, 5000.0] }
    }
}

/// A PSDD from a teacher.
pub(super) struct Distilled {
    /// The PSDD, with the counts of the real records.
    pub(super) psdd: Psdd,
    /// The best weight of the parameters learned from all records.
    pub(super) strength: f64,
    /// The log-likelihood per record to choose by, before the held-out records are added.
    pub(super) log_likelihood: f64,
    /// The weight of the records that were held out to choose by.
    held_out: f64,
}

/// Learns one PSDD from synthetic and real records together, and refits its parameters to the real ones, with the
/// parameters learned from all records as the prior.
///
/// Validation records decide. Without them a tenth of the real records is held out by seed, and in the end the
/// parameters are fitted to all real records.
pub(super) fn distil(
    task: &Task,
    synthetic: &Records,
    config: &Distil,
    progress: &dyn Progress,
) -> Result<Distilled, LearnError> {
    let train = task.train;
    check_records(train)?;
    check_validation(train, task.valid)?;
    check_validation(train, Some(synthetic))?;
    check_weights("strengths", &config.strengths)?;
    let parts = task.parts()?;
    let Some(judge) = parts.judge() else { return Err(LearnError::NothingToChooseBy) };
    let mut all = RecordsBuilder::new(train.names().clone());
    for records in [parts.train(), synthetic] {
        for (row, &weight) in records.weights().iter().enumerate() {
            all.push_words(records.rows().line(row), weight);
        }
    }
    let all = all.finish();
    let student = learn(&Task { train: &all, valid: Some(judge), ..*task }, &config.student, progress)?.psdd;
    let fitted_to = |records: &Records, strength: f64| -> Result<Psdd, LearnError> {
        let counts = count_shares(&student, 1, records, records.weights()).counts.swap_remove(0);
        Ok(student.with_estimates_towards(counts, strength)?.certify(&task.support.limits)?)
    };
    let refitted = config.strengths.par_iter().map(|&strength| {
        let psdd = fitted_to(parts.train(), strength)?;
        let log_likelihood = score(&Certified::from(psdd.clone()), judge)?;
        Ok(Distilled { psdd, strength, log_likelihood, held_out: parts.held_out() })
    });
    let refitted: Vec<Distilled> = refitted.collect::<Result<_, LearnError>>()?;
    let best = refitted.into_iter().reduce(|a, b| if b.log_likelihood > a.log_likelihood { b } else { a });
    let best = best.expect("at least one strength");
    match parts.is_divided() {
        true => Ok(Distilled { psdd: fitted_to(train, best.strength)?, ..best }),
        false => Ok(best),
    }
}

/// The default number of records to draw from a teacher.
fn sample_size(train: &Records) -> usize {
    (10.0 * train.total()).clamp(50_000.0, 600_000.0) as usize
}

/// Records drawn from a teacher; at most [`MAX_RECORDS`].
pub(super) fn synthetic(
    teacher: &dyn Distribution,
    like: &Records,
    count: usize,
    seed: u64,
) -> Result<Records, LearnError> {
    if count > MAX_RECORDS {
        return Err(LearnError::setting("samples", count, format!("at most {MAX_RECORDS}")));
    }
    let mut builder = RecordsBuilder::new(like.names().clone());
    for part in teacher.sample_in_parts(count, &Evidence::none(teacher.var_count()), seed)? {
        (0..part.len()).for_each(|i| builder.push_words(part.rows().line(i), 1.0));
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;

    #[test]
    fn samples_grow_with_the_records_between_bounds() {
        for (weight, expected) in [(1.0, 50_000), (5000.0, 50_000), (7000.0, 70_000), (1e6, 600_000)] {
            let mut builder = RecordsBuilder::new(Names::numbered(1));
            builder.push([Some(true)], weight);
            assert_eq!(sample_size(&builder.finish()), expected);
        }
    }

    #[test]
    fn synthetic_records_are_drawn_from_the_teacher() {
        let (teacher, train) = (crate::example::psdd(), crate::example::records());
        let drawn = synthetic(&Certified::from(teacher.clone()), &train, 20_000, 1).unwrap();
        assert_eq!((drawn.total(), drawn.names()), (20_000.0, train.names()));
        for (i, p) in teacher.marginals(&Evidence::none(4)).unwrap().into_iter().enumerate() {
            let share = drawn.count_values(crate::Var(i as u32))[1] / drawn.total();
            assert!((share - p).abs() < 0.02, "variable {i}: {share} drawn, {p} expected");
        }
    }
}
