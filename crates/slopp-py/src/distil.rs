//! One PSDD from a teacher, and charts of what was learned.

use crate::error::Answer;
use crate::learn::{Support, options_of};
use crate::model::Model;
use crate::records::Records;
use crate::run::run_long;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slopp::learn::{self, Task, registry};
use slopp::render::plot::{Axis, Point, Scatter, Series};

/// The teacher: a model and how many records to draw from it, if given, or records drawn from anything.
#[derive(FromPyObject)]
pub(crate) enum Teacher<'py> {
    Model(Bound<'py, Model>, Option<usize>),
    Records(Bound<'py, Records>),
}

/// One PSDD from a teacher, within a support and, unless it is free, within what is possible for the teacher.
#[pyfunction]
#[pyo3(signature = (teacher, train, valid, options, support, free, seed, progress))]
#[expect(clippy::too_many_arguments, reason = "called by the Python half only, by position")]
pub(crate) fn distil(
    py: Python<'_>,
    teacher: Teacher<'_>,
    train: &Records,
    valid: Option<&Records>,
    options: &Bound<'_, PyDict>,
    support: &Support,
    free: bool,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> Answer<Model> {
    let options = options_of(options)?;
    let (train, valid) = (train.0.clone(), valid.map(|valid| valid.0.clone()));
    let (given, model, samples) = match teacher {
        Teacher::Records(records) => (Some(records.get().0.clone()), None, None),
        Teacher::Model(model, count) => (None, Some(model.get().0.clone()), count),
    };
    let support = Support(support.0.clone());
    let student = run_long(py, progress, move |progress| {
        let teacher = match (&given, &model) {
            (Some(records), _) => learn::Teacher::Records(records),
            (None, model) => learn::Teacher::Model(&model.as_ref().expect("there is one of them").kind),
        };
        let support = &support.within(progress);
        let task = Task { valid: valid.as_deref(), support, seed, ..Task::new(&train) };
        let lesson = registry::lesson(teacher, samples, &options, free)?;
        Ok::<_, learn::LearnError>(lesson.learn(&task, progress)?.into_model(&lesson, &task))
    })??;
    Ok(Model::of(student))
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
