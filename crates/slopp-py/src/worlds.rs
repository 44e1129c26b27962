//! What only deterministic circuits answer, and what only PSDDs do.

use crate::arrays::{by_record, vector, worlds};
use crate::error::Answer;
use crate::event::Event;
use crate::model::Model;
use crate::records::Records;
use crate::run::{run, run_by_rows, run_long, usual_limits};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use slopp::infer::{Evidence, Explanation, QueryError};
use slopp::learn::{LearnError, Revision};
use slopp::logic::Formula;
use slopp::{Deterministic, Lit, Names, Progress};

/// How many worlds are listed between two looks for Ctrl-C.
const TOLD: usize = 1 << 12;

/// Worlds with their log-probabilities.
type Ranked<'py> = (Bound<'py, PyArray2<bool>>, Bound<'py, PyArray1<f64>>);

/// Literals as names and values.
type Cells = Vec<(String, bool)>;

/// The conflict of an impossible record, the rule it breaks, and the nearest worlds: changes, distance,
/// log-probability, world.
type Explained = (Cells, String, Vec<(Cells, u32, f64, Vec<bool>)>);

#[pymethods]
impl Model {
    /// The most probable worlds.
    fn top_worlds<'py>(&self, py: Python<'py>, given: &Event, count: usize) -> Answer<Ranked<'py>> {
        let (circuit, evidence) = (self.deterministic()?, given.evidence()?);
        let found = run(py, || match count {
            1 => circuit.mpe(evidence).map(|best| vec![best]),
            _ => circuit.top_worlds(evidence, count, &usual_limits()),
        })?;
        Ok(self.ranked(py, found))
    }

    /// The most probable completion of every record; log-probability −∞ where it is impossible.
    fn mpe_batch<'py>(&self, py: Python<'py>, records: &Records) -> Answer<Ranked<'py>> {
        let (width, model) = (self.names().len(), self.clone());
        self.deterministic()?;
        let ask = move |records: &slopp::Records| model.proved().mpe_batch(records);
        let rows = run_by_rows(py, &records.0, ask)?;
        let none = || (vec![false; width], f64::NEG_INFINITY);
        let rows = by_record(&records.0, &rows).into_iter().map(|row| row.unwrap_or_else(none)).collect();
        Ok(self.ranked(py, rows))
    }

    /// The most probable completions of every record; none of an impossible one.
    fn top_worlds_batch<'py>(&self, py: Python<'py>, records: &Records, count: usize) -> Answer<Vec<Ranked<'py>>> {
        let model = self.clone();
        self.deterministic()?;
        let ask = move |records: &slopp::Records| model.proved().top_worlds_batch(records, count, &usual_limits());
        let rows = by_record(&records.0, &run_by_rows(py, &records.0, ask)?);
        Ok(rows.into_iter().map(|row| self.ranked(py, row.unwrap_or_default())).collect())
    }

    /// The first possible worlds, and whether these are all.
    fn worlds<'py>(&self, py: Python<'py>, given: &Event, limit: usize) -> Answer<(Bound<'py, PyArray2<bool>>, bool)> {
        self.deterministic()?;
        let (model, evidence) = (self.clone(), given.evidence()?.clone());
        let list = move |progress: &dyn Progress| -> Result<_, QueryError> {
            let mut worlds = model.proved().worlds(&evidence)?;
            let mut found: Vec<Vec<bool>> = Vec::new();
            while found.len() < limit
                && let Some(world) = worlds.next()
            {
                found.push(world);
                if found.len().is_multiple_of(TOLD) {
                    progress.advance(TOLD as u64);
                }
            }
            Ok((found, worlds.next().is_none()))
        };
        let (found, all) =
            if limit <= TOLD { run(py, || list(&()))? } else { run_long(py, None, move |watch| list(watch))?? };
        Ok((worlds(py, found, self.names().len()), all))
    }

    fn entropy(&self, py: Python<'_>) -> Answer<f64> {
        let circuit = self.deterministic()?;
        Ok(run(py, || circuit.entropy()))
    }

    fn kl_divergence(&self, py: Python<'_>, other: &Model) -> Answer<f64> {
        let (p, q) = (self.deterministic()?, other.deterministic()?);
        self.0.check_same_variables(&other.0)?;
        Ok(run(py, || p.kl_divergence(q, &usual_limits()))?)
    }

    /// Whether two circuits have the same structure, whatever their parameters.
    fn same_structure(&self, other: &Model) -> Answer<bool> {
        Ok(self.circuit()?.same_structure(other.circuit()?))
    }

    fn equals_closed_world(&self, py: Python<'_>, records: &Records) -> Answer<bool> {
        let circuit = self.deterministic()?;
        Ok(run(py, || circuit.equals_closed_world(&records.0))?)
    }

    /// Why every record is impossible, with the nearest worlds; nothing where it is possible.
    fn explain(&self, py: Python<'_>, records: &Records, count: usize) -> Answer<Vec<Option<Explained>>> {
        let model = self.clone();
        self.deterministic()?;
        let ask = move |records: &slopp::Records| model.proved().explain_batch(records, count, &usual_limits());
        let found = run_by_rows(py, &records.0, ask)?;
        let records = &*records.0;
        let answers: Vec<Option<Explained>> = found
            .iter()
            .enumerate()
            .map(|(row, found)| Some(explained(found.as_ref()?, &Evidence::from_row(records, row), self.names())))
            .collect();
        Ok(by_record(records, &answers))
    }

    /// The model revised by records, or by a formula: as a rule, or whose new worlds weigh this many records together.
    #[pyo3(signature = (records, formula, is_rule, formula_weight, weight))]
    fn revise(
        &self,
        py: Python<'_>,
        records: Option<&Records>,
        formula: Option<&str>,
        is_rule: bool,
        formula_weight: f64,
        weight: Option<f64>,
    ) -> Answer<Model> {
        self.psdd()?;
        let formula = formula.map(|text| Formula::parse(text, self.names())).transpose()?;
        let (model, records) = (self.0.clone(), records.map(|records| records.0.clone()));
        let (revised, _) = run_long(py, None, move |watch| {
            let by = match (&records, &formula) {
                (Some(records), _) => Revision::Records(records),
                (None, Some(formula)) if is_rule => Revision::Rule(formula),
                (None, Some(formula)) => Revision::Formula(formula, formula_weight),
                (None, None) => return Err(LearnError::NoRecords),
            };
            model.revise(by, weight, &watch.limits())
        })??;
        Ok(Model::of(revised))
    }
}

impl Model {
    /// The circuit of a model that was seen to be deterministic.
    fn proved(&self) -> &Deterministic {
        self.circuit().ok().and_then(|circuit| circuit.deterministic().ok()).expect("seen before")
    }

    fn ranked<'py>(&self, py: Python<'py>, found: Vec<(Vec<bool>, f64)>) -> Ranked<'py> {
        let (found, logs): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        (worlds(py, found, self.names().len()), vector(py, logs))
    }
}

fn explained(found: &Explanation, evidence: &Evidence, names: &Names) -> Explained {
    let cells =
        |lits: &[Lit]| names.by_column(lits).iter().map(|lit| (names.of(lit.var).to_owned(), lit.value)).collect();
    let near = found
        .repairs
        .iter()
        .map(|near| (cells(&near.changes(evidence)), near.distance, near.log_probability, near.world.clone()));
    let conflict = found.conflict.iter().map(|lit| (names.of(lit.var).to_owned(), lit.value));
    let rule = found.rule().display(names).to_string();
    (conflict.collect(), rule, near.collect())
}
