//! Models of any kind: files, facts and pictures, and what every kind answers.

use crate::arrays::{by_record, lines_by_record, matrix, vector, worlds};
use crate::columns::{Groups, groups_of};
use crate::error::{Answer, Failure};
use crate::event::{Event, Given};
use crate::records::Records;
use crate::run::{run, run_by_rows, run_long, run_watched, usual_limits};
use crate::vtree::Vtree;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use slopp::circuit::Reason;
use slopp::fidelity::{Deviation, Fidelity};
use slopp::logic::Limits;
use slopp::{Certified, Deterministic, Lit, Mixture, ModelKind, Names, Progress, Psdd, Var};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// So few worlds are drawn without a thread of their own.
const FEW: usize = 8192;

/// Worlds, and whether each is an answer.
type Flagged<'py> = (Bound<'py, PyArray2<bool>>, Bound<'py, PyArray1<bool>>);

/// A score: records, impossible ones, sum, per record, per possible record.
type ScoreNumbers = (f64, f64, Option<f64>, Option<f64>, Option<f64>);

/// A conditional probability: the value and what is given, the probability by the model, the share of the records, and
/// how many records have the condition.
type Conditional = (String, Vec<String>, f64, f64, f64);

/// How many conditional probabilities were compared, how many columns are left out, the mean difference,
/// the worst, and the one to warn of.
type FidelityFacts = (usize, usize, f64, Vec<Conditional>, Option<Conditional>);

/// A model of any kind, with names and origin.
#[pyclass(frozen, module = "slopp._slopp")]
#[derive(Clone)]
pub(crate) struct Model(pub(crate) Arc<slopp::Model>);

#[pymethods]
impl Model {
    #[staticmethod]
    #[pyo3(signature = (path, vtree=None, max_nodes=None, max_memory=None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        vtree: Option<PathBuf>,
        max_nodes: Option<usize>,
        max_memory: Option<usize>,
    ) -> Answer<Model> {
        let usual = usual_limits();
        let bytes = max_memory.map_or(usual.bytes, |megabytes| megabytes.saturating_mul(1 << 20));
        let limits = Limits { nodes: max_nodes.unwrap_or(usual.nodes), bytes, ..usual };
        run(py, || {
            let vtree = vtree.as_ref().map(slopp::io::read_vtree).transpose()?;
            Ok(Model::of(slopp::io::read_model(&path, vtree.as_ref(), &limits)?.model))
        })
    }

    /// From the text of a file; a certificate is proved again.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, text: &[u8]) -> Answer<Model> {
        Ok(Model::of(run(py, || slopp::Model::load(text))?))
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> Answer<()> {
        Ok(run(py, || self.0.save(&path))?)
    }

    /// The text of a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyBytes>> {
        let text = run(py, || {
            let mut out = Vec::new();
            slopp::io::write_model(&mut out, &self.0).map(|()| out)
        })?;
        Ok(PyBytes::new(py, &text))
    }

    /// The paper's example.
    #[staticmethod]
    fn example() -> Model {
        let names = slopp::example::records().names().clone();
        Model::of(slopp::Model::new(names, slopp::example::psdd()))
    }

    /// A mixture of circuits over the same names.
    #[staticmethod]
    fn mixture(components: Vec<(f64, Bound<'_, Model>)>) -> Answer<Model> {
        let first = components.first().map(|(_, model)| model.get().names().clone());
        let names = first.ok_or_else(|| Failure::new("CircuitError", "a mixture needs at least one component"))?;
        let mut parts = Vec::new();
        for (weight, model) in &components {
            if *model.get().names() != names {
                return Err(Failure::new("CircuitError", "the components of a mixture need the same variables"));
            }
            parts.push((*weight, model.get().circuit()?.clone()));
        }
        Ok(Model::of(slopp::Model::new(names, Mixture::new(parts)?)))
    }

    /// psdd, deterministic, circuit, unproved, unnormalised, mixture or spn.
    #[getter]
    fn kind(&self) -> &'static str {
        match &self.0.kind {
            ModelKind::Circuit(circuit) => match circuit {
                Certified::Psdd(_) => "psdd",
                Certified::Deterministic(..) => "deterministic",
                Certified::Circuit(_, Reason::Overlap(_)) => "circuit",
                Certified::Circuit(_, Reason::Unproved(_)) => "unproved",
                Certified::Circuit(_, Reason::Parameters(_)) => "unnormalised",
            },
            ModelKind::Spn(_) => "spn",
            ModelKind::Mixture(_) => "mixture",
        }
    }

    /// Why the circuit has no stronger certificate; nothing for a PSDD.
    #[getter]
    fn reason(&self) -> Option<String> {
        match self.0.circuit()? {
            Certified::Psdd(_) => None,
            Certified::Deterministic(_, overlap) => Some(overlap.to_string()),
            Certified::Circuit(_, reason) => Some(reason.to_string()),
        }
    }

    #[getter(names)]
    fn names_list(&self) -> Vec<String> {
        self.names().iter().map(str::to_owned).collect()
    }

    /// The columns with several values, and those values.
    #[getter]
    fn groups(&self) -> Groups {
        groups_of(self.names())
    }

    #[getter]
    fn origin(&self) -> BTreeMap<String, String> {
        self.0.origin.clone()
    }

    /// The same model with other names, or another origin.
    #[pyo3(signature = (names=None, origin=None))]
    fn renamed(&self, names: Option<Vec<String>>, origin: Option<BTreeMap<String, String>>) -> Answer<Model> {
        let names = names.map_or_else(|| Ok(self.names().clone()), |names| Names::new(names).map(Arc::new))?;
        let variables = self.names().len();
        if names.len() != variables {
            let text = format!("the model has {variables} variables, but there are {} names", names.len());
            return Err(Failure::new("NamesError", text));
        }
        let origin = origin.unwrap_or_else(|| self.0.origin.clone());
        Ok(Model::of(slopp::Model { names, kind: self.0.kind.clone(), origin }))
    }

    /// The largest number of nodes that an inner vtree node has, in any component; a network has no vtree.
    fn most_classes(&self) -> usize {
        self.0.most_classes()
    }

    /// Sizes by name.
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = match &self.0.kind {
            ModelKind::Circuit(circuit) => circuit.stats(),
            ModelKind::Mixture(mixture) => mixture.stats(),
            ModelKind::Spn(spn) => {
                let stats = spn.stats();
                let facts = [("nodes", stats.nodes), ("elements", stats.edges), ("parameters", stats.parameters)];
                return dict(py, facts);
            }
        };
        let facts = [
            ("nodes", stats.nodes),
            ("sums", stats.sums),
            ("elements", stats.elements),
            ("parameters", stats.parameters),
            ("size_paper", stats.size_paper),
        ];
        dict(py, facts)
    }

    #[getter]
    fn vtree(&self) -> Answer<Vtree> {
        Ok(Vtree { vtree: self.circuit()?.vtree().clone(), names: self.names().clone() })
    }

    fn svg(&self, limit: usize) -> Answer<String> {
        Ok(self.circuit()?.svg(self.names(), limit))
    }

    fn dot(&self, limit: usize) -> Answer<String> {
        Ok(self.circuit()?.dot(self.names(), limit))
    }

    /// What is asked or given, by name; only a question may contradict itself.
    #[pyo3(signature = (given=None, question=false))]
    fn event(&self, given: Option<Given>, question: bool) -> Answer<Event> {
        Event::new(given, self.names(), question)
    }

    /// The log-likelihood of every record.
    fn log_likelihoods<'py>(&self, py: Python<'py>, records: &Records) -> Answer<Bound<'py, PyArray1<f64>>> {
        let model = self.0.clone();
        let rows = run_watched(py, &records.0, move |records| {
            model.distribution().log_likelihoods(records).map(|rows| by_record(records, &rows))
        })??;
        Ok(vector(py, rows))
    }

    /// The log-probability of literals.
    pub(crate) fn log_evidence(&self, py: Python<'_>, event: &Event) -> Answer<f64> {
        let evidence = event.evidence()?;
        Ok(run(py, || self.0.distribution().log_evidence(evidence))?)
    }

    /// The log-probability of an event given every record, NaN where the record is impossible.
    fn log_probabilities_given<'py>(
        &self,
        py: Python<'py>,
        event: &Event,
        records: &Records,
    ) -> Answer<Bound<'py, PyArray1<f64>>> {
        let (model, event, records) = (self.0.clone(), event.event.clone(), records.0.clone());
        let rows = run_long(py, None, move |watch| {
            let rows = model.log_probabilities_given(&event, &records, &watch.limits())?;
            let rows: Vec<f64> = rows.into_iter().map(|row| row.unwrap_or(f64::NAN)).collect();
            Ok::<_, slopp::infer::QueryError>(by_record(&records, &rows))
        })??;
        Ok(vector(py, rows))
    }

    /// How well it explains records, through a noisy channel if there is noise: their weight, that of the impossible
    /// ones, and the log-likelihood as a sum, per record and per possible record.
    #[pyo3(signature = (records, noise=None))]
    fn score(&self, py: Python<'_>, records: &Records, noise: Option<f64>) -> Answer<ScoreNumbers> {
        let model = self.0.clone();
        let score = run_watched(py, &records.0, move |records| {
            let logs = match (noise, model.structured()) {
                (Some(noise), Some(model)) => model.log_likelihoods_noisy(records, noise)?,
                _ => model.distribution().log_likelihoods(records)?,
            };
            Ok::<_, slopp::infer::QueryError>(slopp::infer::Score::new(records, &logs))
        })??;
        Ok((score.records, score.impossible, score.sum(), score.per_record(), score.per_possible()))
    }

    /// How well the model agrees with records, value by value; `quick` where nobody asked.
    fn fidelity(&self, py: Python<'_>, records: &Records, quick: bool) -> Answer<FidelityFacts> {
        let most = if quick { Fidelity::few(&records.0) } else { Fidelity::MANY };
        let found = run(py, || self.0.kind.fidelity(&records.0, most))?;
        let literal = |&lit: &Lit| self.names().literal(lit);
        let conditional = |deviation: &Deviation| {
            let Deviation { value, given, probability, share, support, .. } = deviation;
            (literal(value), given.iter().map(literal).collect(), *probability, *share, *support)
        };
        let worst = found.worst.iter().map(conditional).collect();
        Ok((found.conditionals, found.left_out, found.mean, worst, found.warning().map(conditional)))
    }

    /// The log-probability of every record together with each of several events: a line per record.
    fn joint_batch<'py>(
        &self,
        py: Python<'py>,
        events: Vec<Bound<'py, Event>>,
        records: &Records,
    ) -> Answer<Bound<'py, PyArray2<f64>>> {
        let events = events.iter().map(|event| Ok(event.get().evidence()?.clone())).collect::<Answer<Vec<_>>>()?;
        let (model, width) = (self.0.clone(), events.len());
        let ask = move |records: &slopp::Records| model.distribution().joint_batch(&events, records);
        let lines: Vec<_> = run_watched(py, &records.0, ask)??.into_iter().map(Some).collect();
        Ok(lines_by_record(py, &records.0, &lines, width))
    }

    fn marginals<'py>(&self, py: Python<'py>, given: &Event) -> Answer<Bound<'py, PyArray1<f64>>> {
        let evidence = given.evidence()?;
        Ok(vector(py, run(py, || self.0.distribution().marginals(evidence))?))
    }

    fn marginals_batch<'py>(&self, py: Python<'py>, records: &Records) -> Answer<Bound<'py, PyArray2<f64>>> {
        let model = self.0.clone();
        let lines = run_by_rows(py, &records.0, move |records| model.distribution().marginals_batch(records))?;
        Ok(lines_by_record(py, &records.0, &lines, self.names().len()))
    }

    fn sample<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        given: &Event,
        seed: u64,
    ) -> Answer<Bound<'py, PyArray2<bool>>> {
        let (model, evidence, width) = (self.0.clone(), given.evidence()?.clone(), self.names().len());
        let mut cells = room_for(count, width)?;
        let draw = move |progress: &dyn Progress| {
            progress.begin("drawing worlds", count as u64);
            for part in model.distribution().sample_in_parts(count, &evidence, seed)? {
                let world = |i: usize| (0..width as u32).map(Var).map(move |var| (i, var));
                cells.extend((0..part.len()).flat_map(world).map(|(i, var)| part.value(i, var)));
                progress.advance(part.len() as u64);
            }
            Ok::<_, slopp::infer::QueryError>(cells)
        };
        let cells = if count <= FEW { run(py, || draw(&()))? } else { run_long(py, None, move |watch| draw(watch))?? };
        Ok(matrix(py, count, width, cells))
    }

    /// Every record completed by a draw of its own; the flags say which are possible.
    fn sample_batch<'py>(&self, py: Python<'py>, records: &Records, seed: u64) -> Answer<Flagged<'py>> {
        let (model, records, width) = (self.0.clone(), records.0.clone(), self.names().len());
        let rows = run_long(py, None, move |_| model.distribution().sample_batch(&records, seed))??;
        let flags = vector(py, rows.iter().map(Option::is_some).collect());
        let filled = rows.into_iter().map(|row| row.unwrap_or_else(|| vec![false; width])).collect();
        Ok((worlds(py, filled, width), flags))
    }

    /// The same circuit over the same names; how it was made, or by which program, does not count.
    fn __eq__(&self, other: &Model) -> bool {
        (&self.0.names, &self.0.kind) == (&other.0.names, &other.0.kind)
    }
}

impl Model {
    pub(crate) fn of(model: slopp::Model) -> Model {
        Model(Arc::new(model))
    }

    /// What was made from this one, with its names and origin.
    pub(crate) fn with(&self, kind: impl Into<ModelKind>) -> Model {
        let (names, origin) = (self.names().clone(), self.0.origin.clone());
        Model::of(slopp::Model { names, kind: kind.into(), origin })
    }

    pub(crate) fn names(&self) -> &Arc<Names> {
        &self.0.names
    }

    /// The variables with these names.
    pub(crate) fn vars(&self, names: &[String]) -> Answer<Vec<Var>> {
        Ok(names.iter().map(|name| self.names().find(name)).collect::<Result<_, _>>()?)
    }

    pub(crate) fn circuit(&self) -> Answer<&Certified> {
        let refused = || Failure::new("KindError", "only a single circuit on a vtree can answer this");
        self.0.circuit().ok_or_else(refused)
    }

    pub(crate) fn mixture_of_circuits(&self) -> Answer<&Mixture> {
        match &self.0.kind {
            ModelKind::Mixture(mixture) => Ok(mixture),
            _ => Err(Failure::new("KindError", "only a mixture can answer this")),
        }
    }

    pub(crate) fn deterministic(&self) -> Answer<&Deterministic> {
        let refused =
            |reason: &Reason| Failure::new("KindError", format!("this needs a deterministic circuit: {reason}"));
        self.circuit()?.deterministic().map_err(refused)
    }

    pub(crate) fn psdd(&self) -> Answer<&Psdd> {
        match self.circuit()? {
            Certified::Psdd(psdd) => Ok(psdd),
            _ => Err(Failure::new("KindError", "this needs a PSDD, and the primes of this circuit overlap")),
        }
    }
}

/// An empty list with room for this many worlds: without memory Rust would end the process, and Python must not.
fn room_for(count: usize, width: usize) -> Answer<Vec<bool>> {
    let mut cells = Vec::new();
    let room = count.checked_mul(width).and_then(|size| cells.try_reserve_exact(size).ok());
    room.map(|()| cells).ok_or_else(|| {
        let megabytes = (count as u128 * width as u128).div_ceil(1 << 20);
        let text = format!(
            "{count} worlds of {width} variables need {megabytes} megabytes, more memory than there is; draw fewer at a \
             time, each time with another seed"
        );
        Failure::new("OutOfMemoryError", text)
    })
}

fn dict<'py, const N: usize>(py: Python<'py>, facts: [(&str, usize); N]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    facts.into_iter().try_for_each(|(name, number)| dict.set_item(name, number))?;
    Ok(dict)
}
