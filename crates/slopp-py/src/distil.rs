//! One PSDD from a teacher, and charts of what was learned.

use crate::error::Answer;
use crate::knowledge::Rules;
use crate::model::Model;
use crate::records::Records;
use crate::run::run_long;
use pyo3::prelude::*;
use slopp::AnyModel;
use slopp::learn::merged::{Config, DistilConfig};
use slopp::learn::{Learned, Lesson, Lessons, Task, World};
use slopp::render::plot::{Axis, Point, Scatter, Series};

/// Where lessons come from: a model to draw so many records from, if that is told, or records that were drawn from anything.
#[derive(FromPyObject)]
pub(crate) enum Teacher<'py> {
    Model(Bound<'py, Model>, Option<usize>),
    Records(Bound<'py, Records>),
}

/// The student; the weight of the lessons, how strong a prior they are, and the weight of the records held out; whether
/// the base of the teacher is kept.
type Distilled = (Model, [f64; 3], bool);

/// One PSDD from a teacher, inside rules and, unless it is to be free, inside what is possible for the teacher.
#[pyfunction]
#[pyo3(signature = (teacher, train, valid, max_classes, max_elements, rules, free, seed, progress))]
#[expect(clippy::too_many_arguments, reason = "called by the Python half only, by position")]
pub(crate) fn distil(
    py: Python<'_>,
    teacher: Teacher<'_>,
    train: &Records,
    valid: Option<&Records>,
    max_classes: Option<usize>,
    max_elements: Option<usize>,
    rules: Option<&Rules>,
    free: bool,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> Answer<Distilled> {
    let config = Config { max_elements, ..Config::new(World::Open) };
    let capped = max_classes.map(|max_classes| Config { max_classes, capped: true, ..config.clone() });
    let config = DistilConfig::new(capped.unwrap_or(config));
    let (train, valid) = (train.0.clone(), valid.map(|valid| valid.0.clone()));
    let names = train.names().clone();
    let (given, model, samples) = match teacher {
        Teacher::Records(records) => (Some(records.get().0.clone()), None, None),
        Teacher::Model(model, count) => (None, Some(model.get().0.clone()), count),
    };
    let rules = rules.map(|rules| (*rules.0).clone());
    let student = run_long(py, progress, move |progress| {
        let lessons = match (&given, model.as_deref()) {
            (Some(records), _) => Lessons::Records(records),
            (None, Some(AnyModel::Circuit(model))) => Lessons::Circuit(&model.circuit),
            (None, model) => Lessons::Model(model.expect("there is one of them").distribution()),
        };
        let task = Task { valid: valid.as_deref(), seed, ..Task::new(&train) };
        Lesson { samples, rules, free, ..Lesson::new(lessons, config) }.learn(&task, progress)
    })??;
    let facts = [student.samples, student.strength, student.held_out];
    let model = Learned::Circuit(student.circuit).into_model(names, Default::default());
    Ok((Model::of(model), facts, student.keeps_base))
}

/// A line of a chart: what it is, and its points with their names.
type Line = (String, Vec<(f64, f64, String)>);

/// Points with names, joined by lines.
#[pyfunction]
pub(crate) fn chart(title: String, x: String, y: String, lines: Vec<Line>) -> String {
    let series = lines.into_iter().map(|(name, points)| {
        let points = points.into_iter().map(|(x, y, name)| Point::new(x, y, name)).collect();
        Series { name, points, joined: true }
    });
    Scatter { title, x: Axis::linear(x), y: Axis::linear(y), series: series.collect(), ..Scatter::default() }.svg()
}

/// Log-likelihood against size: a line for each part of the records.
#[pyfunction]
pub(crate) fn chart_of_sizes(parts: Vec<(String, Vec<(usize, f64)>)>) -> String {
    Scatter::of_sizes(parts).svg()
}
