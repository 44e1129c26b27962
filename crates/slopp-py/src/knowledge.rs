//! Rules and what they compile to.

use crate::columns::{Groups, in_columns};
use crate::error::{Answer, Failure};
use crate::model::Model;
use crate::records::Records;
use crate::run::{run, run_long, usual_limits};
use crate::vtree::Vtree;
use num_bigint::BigUint;
use pyo3::prelude::*;
use slopp::knowledge::{self, Difference};
use slopp::logic::{Handle, Limits, Manager, VtreeSearch};
use slopp::{Names, Progress};
use std::path::PathBuf;
use std::sync::Arc;

/// Formulas that hold together.
#[pyclass(frozen, module = "slopp._slopp")]
pub(crate) struct Rules(pub(crate) Arc<slopp::logic::Rules>);

/// A sentential decision diagram with the names of its variables.
#[pyclass(frozen, module = "slopp._slopp")]
pub(crate) struct Sdd {
    sdd: Arc<slopp::logic::Sdd>,
    names: Arc<Names>,
}

#[pymethods]
impl Rules {
    /// Over these names, of which some may be the values of columns.
    #[staticmethod]
    #[pyo3(signature = (text, names=None, groups=Vec::new()))]
    fn parse(text: &str, names: Option<Vec<String>>, groups: Groups) -> Answer<Rules> {
        let rules = match names {
            None => slopp::logic::Rules::parse(text)?,
            Some(names) => slopp::logic::Rules::parse_with(text, in_columns(names, groups)?)?,
        };
        Ok(Rules(Arc::new(rules)))
    }

    /// From a file: text, or DIMACS.
    #[staticmethod]
    #[pyo3(signature = (path, names=None))]
    fn read(path: PathBuf, names: Option<Vec<String>>) -> Answer<Rules> {
        let names = names.map(Names::new).transpose()?.map(Arc::new);
        Ok(Rules(Arc::new(slopp::io::read_rules(&path, names.as_ref(), &slopp::logic::Limits::default())?)))
    }

    fn write(&self, path: PathBuf) -> Answer<()> {
        slopp::io::Content::Rules.check_name(&path)?;
        Ok(slopp::io::write_atomically(&path, |out| slopp::io::write_rules(out, &self.0))?)
    }

    fn cnf(&self, py: Python<'_>) -> Answer<String> {
        let rules = self.0.clone();
        Ok(run_long(py, None, move |_| slopp::io::cnf_text(&rules))??)
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.names().iter().map(str::to_owned).collect()
    }

    /// The rules as they were written, with their lines.
    #[getter]
    fn lines(&self) -> Vec<(usize, String)> {
        self.0.iter().map(|rule| (rule.line, rule.text.clone())).collect()
    }

    /// The positions of the rules that the known cells of every record break.
    fn broken_by(&self, py: Python<'_>, records: &Records) -> Vec<Vec<usize>> {
        let broken = |row: usize| self.0.broken_by_known(|var| records.0.cell(row, var));
        let rows: Vec<Vec<usize>> = run(py, || (0..records.0.len()).map(broken).collect());
        crate::arrays::by_record(&records.0, &rows)
    }

    /// On a vtree, or on one that is searched for with this many moves.
    #[pyo3(signature = (vtree, moves, max_nodes, max_memory, progress))]
    fn compile(
        &self,
        py: Python<'_>,
        vtree: Option<&Vtree>,
        moves: usize,
        max_nodes: Option<usize>,
        max_memory: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> Answer<Sdd> {
        let rules = self.0.clone();
        rules.check_variables()?;
        let vtree = vtree.map(|vtree| vtree.vtree.clone());
        if vtree.as_ref().is_some_and(|vtree| vtree.var_count() != rules.var_count()) {
            let text = "the vtree has another number of variables than the rules; Rules(names=...) names all of them";
            return Err(Failure::new("VtreeError", text));
        }
        let sdd = run_long(py, progress, move |watch| {
            let usual = watch.limits();
            let bytes = max_memory.map_or(usual.bytes, |megabytes| megabytes.saturating_mul(1 << 20));
            let limits = Limits { nodes: max_nodes.unwrap_or(usual.nodes), bytes, ..usual };
            match vtree {
                Some(vtree) => rules.compile(vtree, &limits),
                None if moves == 0 => rules.compile(rules.min_fill_vtree(), &limits),
                None => {
                    watch.begin("trying vtrees", moves as u64);
                    let search = VtreeSearch { moves, ..VtreeSearch::default() };
                    rules.compile_with_search(&search, &limits, &mut |_| watch.advance(1)).map(|found| found.sdd)
                }
            }
        })??;
        Ok(Sdd { sdd: Arc::new(sdd), names: self.0.names().clone() })
    }

    /// The positions of rules that contradict each other, if no world obeys all; whether all are needed, and whether no
    /// fewer contradict each other.
    fn conflict(&self, py: Python<'_>) -> Answer<Option<(Vec<usize>, bool, bool)>> {
        let rules = self.0.clone();
        let found = run_long(py, None, move |watch| {
            // Without variables there is no vtree of their own, but `false` is a contradiction.
            let vtree = match rules.var_count() {
                0 => slopp::Vtree::balanced(1),
                _ => rules.min_fill_vtree(),
            };
            rules.conflict(vtree, &watch.limits())
        })??;
        Ok(found.map(|found| (found.rules, found.minimal, found.smallest)))
    }
}

#[pymethods]
impl Sdd {
    /// The worlds that a circuit makes possible.
    #[staticmethod]
    fn of_base(py: Python<'_>, model: &Model) -> Answer<Sdd> {
        model.circuit()?;
        let of = Model(model.0.clone());
        let sdd = run_long(py, None, move |watch| -> Answer<_> {
            let circuit = of.circuit()?;
            let mut manager = Manager::new(circuit.vtree().clone(), watch.limits());
            let base = manager.support_of(circuit, |var| var)?;
            Ok(manager.sdd(base))
        })??;
        Ok(Sdd { sdd: Arc::new(sdd), names: model.names().clone() })
    }

    #[staticmethod]
    #[pyo3(signature = (path, vtree=None, names=None))]
    fn read(path: PathBuf, vtree: Option<PathBuf>, names: Option<Vec<String>>) -> Answer<Sdd> {
        let vtree = vtree.map(|vtree| slopp::io::read_vtree(&vtree)).transpose()?;
        let (sdd, kept) = slopp::io::read_sdd(&path, vtree.as_ref())?;
        let variables = sdd.vtree().var_count();
        let names = match names {
            Some(names) => Names::new(names)?,
            None => kept.unwrap_or_else(|| Names::numbered(variables)),
        };
        if names.len() != variables {
            return Err(Failure::new(
                "NamesError",
                format!("the diagram has {variables} variables, not {}", names.len()),
            ));
        }
        Ok(Sdd { sdd: Arc::new(sdd), names: Arc::new(names) })
    }

    fn write(&self, path: PathBuf) -> Answer<()> {
        slopp::io::Content::Diagram.check_name(&path)?;
        Ok(slopp::io::write_atomically(&path, |out| slopp::io::write_sdd(out, &self.sdd, Some(&self.names)))?)
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.iter().map(str::to_owned).collect()
    }

    #[getter]
    fn vtree(&self) -> Vtree {
        Vtree { vtree: self.sdd.vtree().clone(), names: self.names.clone() }
    }

    /// Decisions and elements.
    #[getter]
    fn size(&self) -> (usize, usize) {
        self.sdd.size()
    }

    fn model_count(&self, py: Python<'_>) -> BigUint {
        run(py, || self.sdd.model_count())
    }

    /// The PSDD in which all worlds of the diagram are equally probable.
    fn psdd(&self, py: Python<'_>) -> Answer<Model> {
        let psdd = run(py, || -> Answer<_> { Ok(self.sdd.to_circuit()?.certify(&usual_limits())?) })?;
        Ok(Model::of(slopp::Model::new(self.names.clone(), psdd)))
    }
}

/// What is known: as rules, as a diagram or as the base of a model.
#[derive(FromPyObject)]
pub(crate) enum Knowledge<'py> {
    Model(Bound<'py, Model>),
    Diagram(Bound<'py, Sdd>),
    Rules(Bound<'py, Rules>),
}

/// Worlds that only one of two allows, or both: how many, and some of them.
type Part = (BigUint, Vec<Vec<bool>>);

/// Columns with values that only the first, or only the second, knows.
type Differ = Vec<(String, Vec<String>, Vec<String>)>;

/// The names of both; the worlds that only the first, only the second, and both allow; and where their values differ.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    first: Knowledge<'_>,
    second: Knowledge<'_>,
    limit: usize,
) -> Answer<(Vec<String>, [Part; 3], Differ)> {
    let kept = [first.kept()?, second.kept()?];
    run_long(py, None, move |watch| {
        let both = Difference::new(kept.each_ref().map(Kept::known), watch.limits())?;
        let part = |part: Handle| -> Answer<Part> { Ok((both.count(part), both.worlds(part, limit)?)) };
        let [first, second] = both.only;
        let parts = [part(first)?, part(second)?, part(both.common)?];
        let names = both.names.iter().map(str::to_owned).collect();
        let differ = both.differ.into_iter().map(|differ| {
            let [first, second] = differ.only;
            (differ.column, first, second)
        });
        Ok((names, parts, differ.collect()))
    })?
}

/// Whether a formula, as rules over the same names, holds in every world that is known to be allowed.
#[pyfunction]
pub(crate) fn entails(py: Python<'_>, knowledge: Knowledge<'_>, formula: &Rules) -> Answer<bool> {
    let (kept, formula) = (knowledge.kept()?, formula.0.formula());
    run_long(py, None, move |watch| {
        Ok(kept.known().entails(&formula, None, &watch.limits())?.counterexample.is_none())
    })?
}

/// Knowledge without the interpreter.
enum Kept {
    Model(Model),
    Diagram(Arc<slopp::logic::Sdd>, Arc<Names>),
    Rules(Arc<slopp::logic::Rules>),
}

impl Knowledge<'_> {
    fn kept(&self) -> Answer<Kept> {
        Ok(match self {
            Knowledge::Model(model) => {
                model.get().circuit()?;
                Kept::Model(Model(model.get().0.clone()))
            }
            Knowledge::Diagram(sdd) => Kept::Diagram(sdd.get().sdd.clone(), sdd.get().names.clone()),
            Knowledge::Rules(rules) => Kept::Rules(rules.get().0.clone()),
        })
    }
}

impl Kept {
    fn known(&self) -> knowledge::Knowledge<'_> {
        match self {
            Kept::Model(model) => {
                knowledge::Knowledge::Base(model.circuit().ok().expect("only circuits are kept"), model.names())
            }
            Kept::Diagram(sdd, names) => knowledge::Knowledge::Diagram(sdd, names),
            Kept::Rules(rules) => knowledge::Knowledge::Rules(rules),
        }
    }
}
