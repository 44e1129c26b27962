//! One PSDD from a teacher, and charts of what was learned.

use crate::error::Answer;
use crate::knowledge::Rules;
use crate::model::Model;
use crate::records::Records;
use crate::run::run_long;
use pyo3::prelude::*;
use slopp::learn::merged::{Config, DistilConfig, sample_size, synthetic};
use slopp::learn::{Learned, TeacherBase, World};
use slopp::logic::Limits;
use slopp::render::plot::{Axis, Point, Scatter, Series};
use slopp::{AnyModel, Progress};

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
    let config = Config { max_elements, seed, ..Config::new(World::Open) };
    let capped = max_classes.map(|max_classes| Config { max_classes, capped: true, ..config.clone() });
    let config = DistilConfig::new(capped.unwrap_or(config));
    let (train, valid) = (train.0.clone(), valid.map(|valid| valid.0.clone()));
    let names = train.names().clone();
    let (samples, teacher) = match teacher {
        Teacher::Records(records) => (Some(records.get().0.clone()), None),
        Teacher::Model(model, count) => (None, Some((model.get().0.clone(), count))),
    };
    let rules = rules.map(|rules| rules.0.clone());
    run_long(py, progress, move |progress| -> Answer<_> {
        let base = match teacher.as_ref().map(|(model, _)| &**model) {
            Some(AnyModel::Circuit(model)) if !free => TeacherBase::of(&model.circuit, &train)?,
            _ => None,
        };
        let drawn = match &teacher {
            None => None,
            Some((model, count)) => {
                progress.begin("drawing from the teacher", 1);
                Some(synthetic(model.distribution(), &train, count.unwrap_or_else(|| sample_size(&train)), seed)?)
            }
        };
        let lessons = samples.as_deref().or(drawn.as_ref()).expect("there is one of them");
        let student = slopp::learn::merged::distil(&train, lessons, valid.as_deref(), &config, progress)?;
        let facts = [lessons.total(), student.strength, student.held_out];
        let mut learned = Learned::from(student.psdd);
        if let Some(rules) = &rules {
            learned = learned.inside(rules, &train, student.strength, &Limits::default(), progress)?;
        }
        if let (Some(base), Learned::Circuit(student)) = (&base, &learned) {
            learned = base.given(student)?.into();
        }
        Ok((Model::of(learned.into_model(names, Default::default())), facts, base.is_some()))
    })?
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
