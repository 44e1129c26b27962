//! A student of a teacher: what it learns, and what it must keep to, rules and what is possible for the teacher.

use super::LearnError;
use super::distil::{Distil, Distilled, distil, sample_size, synthetic};
use super::structure::{Prior, Structure};
use super::task::{Made, Task, within};
use crate::data::Records;
use crate::logic::{Limits, Manager, Rules};
use crate::model::{Certified, ModelKind};
use crate::progress::Progress;
use std::collections::BTreeMap;

/// How large the base of the teacher may be on the vtree of the student.
const BASE_NODES: usize = 2_000_000;

/// What a teacher that is deterministic says is possible, if that is not everything.
#[derive(Clone, Copy, Debug)]
struct TeacherBase<'a>(&'a Certified);

impl TeacherBase<'_> {
    /// The base of a teacher; `None` if it is not deterministic, so that its worlds cannot be counted, or if every world
    /// is possible in which columns have one value. The records must be inside.
    fn of<'a>(teacher: &'a Certified, train: &Records) -> Result<Option<TeacherBase<'a>>, LearnError> {
        let Ok(circuit) = teacher.deterministic() else { return Ok(None) };
        let columns = Rules::of_columns(train.names().clone());
        let everything = columns.compile(teacher.vtree().clone(), &Limits::default())?;
        let kept = teacher.column_without_one_value(train.names()).is_none();
        if kept && circuit.model_count() == everything.model_count() {
            return Ok(None);
        }
        let possible = teacher.possible(train)?;
        let weights = train.weights().iter().zip(possible);
        let outside: f64 = weights.filter(|(_, possible)| !possible).map(|(weight, _)| weight).sum();
        match outside > 0.0 {
            true => Err(LearnError::Outside { outside, total: train.total() }),
            false => Ok(Some(TeacherBase(teacher))),
        }
    }

    /// A student given what is possible for the teacher.
    fn given(&self, student: &Certified) -> Result<Certified, LearnError> {
        let mut manager = Manager::new(student.vtree().clone(), Limits::default().with_nodes(BASE_NODES));
        let base = manager.support_of(self.0, |var| var).map_err(LearnError::Base)?;
        Ok(student.given(&manager.sdd(base), &Limits::default())?.0)
    }
}

/// Where the records of a lesson come from.
#[derive(Clone, Copy)]
pub enum Lessons<'a> {
    /// Drawn from a model, whose base is known if it is a deterministic circuit.
    Model(&'a ModelKind),
    /// Given, drawn from anything.
    Records(&'a Records),
}

/// What a student learns from, and what it must keep to.
///
/// ```
/// use slopp::learn::{Distil, Lesson, Lessons, Task};
/// let (records, teacher) = (slopp::example::records(), slopp::example::psdd().into());
/// let lesson = Lesson { samples: Some(1000), ..Lesson::new(Lessons::Model(&teacher), Distil::default()) };
/// let student = lesson.learn(&Task::new(&records), &())?;
/// assert!(student.keeps_base);
/// assert_eq!(student.circuit.deterministic().unwrap().model_count(), slopp::example::psdd().model_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Lesson<'a> {
    /// Where its records come from.
    pub lessons: Lessons<'a>,
    /// How many are drawn from a model; without a number, ten for each real one, at least 50 000 and at most 600 000.
    pub samples: Option<usize>,
    /// How the student learns; vtree, seed and what is possible are those of the task.
    pub config: Distil,
    /// Whether what is impossible for the teacher may be possible for the student.
    pub free: bool,
}

/// A student.
#[derive(Clone, Debug, PartialEq)]
pub struct Student {
    /// The PSDD.
    pub circuit: Certified,
    /// The weight of the records of the lesson.
    pub samples: f64,
    /// The weight of the parameters learned from all records in the fit to the real ones.
    pub strength: f64,
    /// The weight of the records that were held out to choose by.
    pub held_out: f64,
    /// Whether what is impossible for the teacher is impossible for the student.
    pub keeps_base: bool,
}

impl Student {
    /// How it was made, as [`Outcome::origin`](super::Outcome::origin) tells it; the teacher is told in a word.
    pub fn origin(&self, task: &Task, teacher: &str) -> BTreeMap<String, String> {
        let facts = [
            ("learner", "slopp".to_owned()),
            ("teacher", teacher.to_owned()),
            ("seed", task.seed.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("records", task.train.total().to_string()),
            ("samples", self.samples.to_string()),
            ("strength", self.strength.to_string()),
            ("held_out", self.held_out.to_string()),
        ];
        let base = self.keeps_base.then(|| ("base", "of the teacher".to_owned()));
        let facts = facts.into_iter().chain(base).chain(task.support.facts(task.train.names()));
        facts.map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

impl<'a> Lesson<'a> {
    /// The base of the teacher is kept, if it is known.
    pub fn new(lessons: Lessons<'a>, config: Distil) -> Lesson<'a> {
        Lesson { lessons, samples: None, config, free: false }
    }

    /// Teaches a student: draws records, distils them and the real ones to a PSDD, and keeps that inside the rules
    /// and the base of the teacher.
    ///
    /// Where these make it larger than asked for, it is learned again within less, as by
    /// [`Task::learn`]; it may stay larger all the same.
    pub fn learn(&self, task: &Task, progress: &dyn Progress) -> Result<Student, LearnError> {
        let config = &self.config;
        // Before anything is drawn, which takes a while.
        config.student.check(task.train.var_count(), task.support)?;
        let base = match self.lessons {
            Lessons::Model(ModelKind::Circuit(teacher)) if !self.free => TeacherBase::of(teacher, task.train)?,
            _ => None,
        };
        let drawn;
        let records = match self.lessons {
            Lessons::Records(records) => records,
            Lessons::Model(teacher) => {
                progress.begin("drawing from the teacher", 1);
                let count = self.samples.unwrap_or_else(|| sample_size(task.train));
                drawn = synthetic(teacher.distribution(), task.train, count, task.seed)?;
                &drawn
            }
        };
        let once = |config: &Distil| self.once(config, records, base.as_ref(), task, progress);
        let first = once(config)?;
        let max = config.student.max_elements;
        let Some(max) = max.filter(|&max| first.elements > max) else { return Ok(first.made) };
        let least = task.train.var_count().saturating_sub(1);
        within(max, least, first, |room| once(&config.within(room)).map(Some))
    }

    fn once(
        &self,
        config: &Distil,
        records: &Records,
        base: Option<&TeacherBase<'_>>,
        task: &Task,
        progress: &dyn Progress,
    ) -> Result<Made<Student>, LearnError> {
        let Distilled { psdd, strength, held_out, .. } = distil(task, records, config, progress)?;
        let unrestricted = psdd.elements().len();
        let structure = Structure::new(psdd, Prior::new(None, strength));
        let ModelKind::Circuit(mut circuit) = task.support.apply(structure, task.train, progress)? else {
            unreachable!("a circuit stays one")
        };
        if let Some(base) = base {
            circuit = base.given(&circuit)?;
        }
        let elements = circuit.elements().len();
        let made = Student { circuit, samples: records.total(), strength, held_out, keeps_base: base.is_some() };
        Ok(Made { made, elements, unrestricted })
    }
}
