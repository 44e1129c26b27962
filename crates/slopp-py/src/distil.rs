//! One PSDD from a teacher, and charts of what was learned.

use crate::error::Answer;
use crate::model::Model;
use crate::records::Records;
use crate::run::run_long;
use pyo3::prelude::*;
use slopp::AnyModel;
use slopp::learn::World;
use slopp::learn::merged::{Config, DistilConfig, synthetic};
use slopp::render::plot::{Axis, Point, Scatter, Series};

/// Where lessons come from: a model to draw so many records from, or records that were drawn from anything.
#[derive(FromPyObject)]
pub(crate) enum Teacher<'py> {
    Model(Bound<'py, Model>, usize),
    Records(Bound<'py, Records>),
}

/// The student, the weight of the lessons, how strong a prior they are, and the weight of the records held out.
#[pyfunction]
#[pyo3(signature = (teacher, train, valid, max_classes, max_elements, seed, progress))]
#[expect(clippy::too_many_arguments, reason = "called by the Python half only, by position")]
pub(crate) fn distil(
    py: Python<'_>,
    teacher: Teacher<'_>,
    train: &Records,
    valid: Option<&Records>,
    max_classes: Option<usize>,
    max_elements: Option<usize>,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> Answer<(Model, f64, f64, f64)> {
    let mut config = DistilConfig::new(Config { max_elements, seed, ..Config::new(World::Open) });
    config.student.max_classes = max_classes.unwrap_or(config.student.max_classes);
    let (train, valid) = (train.0.clone(), valid.map(|valid| valid.0.clone()));
    let names = train.names().clone();
    let (samples, teacher) = match teacher {
        Teacher::Records(records) => (Some(records.get().0.clone()), None),
        Teacher::Model(model, count) => (None, Some((model.get().0.clone(), count))),
    };
    let (student, lessons) = run_long(py, progress, move |progress| -> Answer<_> {
        let drawn = match teacher {
            None => None,
            Some((model, count)) => {
                progress.begin("drawing from the teacher", 1);
                Some(synthetic(model.distribution(), &train, count, seed)?)
            }
        };
        let lessons = samples.as_deref().or(drawn.as_ref()).expect("there is one of them");
        let student = slopp::learn::merged::distil(&train, lessons, valid.as_deref(), &config, progress)?;
        Ok((student, lessons.total()))
    })??;
    let (strength, held_out) = (student.strength, student.held_out);
    let model = slopp::Model::new(names, student.psdd);
    Ok((Model::of(AnyModel::Circuit(model)), lessons, strength, held_out))
}

/// A line of a chart: what it is, and its points with their names.
type Line = (String, Vec<(f64, f64, String)>);

/// Points with names, joined by lines, above a logarithmic axis.
#[pyfunction]
pub(crate) fn chart(title: String, x: String, y: String, lines: Vec<Line>) -> String {
    let series = lines.into_iter().map(|(name, points)| {
        let points = points.into_iter().map(|(x, y, name)| Point::new(x, y, name)).collect();
        Series { name, points, joined: true }
    });
    Scatter { title, x: Axis::log(x), y: Axis::linear(y), series: series.collect(), ..Scatter::default() }.svg()
}
