//! Rules and what they compile to.

use crate::error::{Answer, Failure};
use crate::model::Model;
use crate::records::Records;
use crate::run::{run, run_long};
use crate::vtree::Vtree;
use num_bigint::BigUint;
use pyo3::prelude::*;
use slopp::infer::Evidence;
use slopp::logic::{Handle, Limits, Manager, Stopped, VtreeSearch};
use slopp::{AnyModel, Names};
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
    #[staticmethod]
    #[pyo3(signature = (text, names=None))]
    fn parse(text: &str, names: Option<Vec<String>>) -> Answer<Rules> {
        let rules = match names {
            None => slopp::logic::Rules::parse(text)?,
            Some(names) => slopp::logic::Rules::parse_with(text, Names::new(names)?)?,
        };
        Ok(Rules(Arc::new(rules)))
    }

    /// For each group of variables, with its text, that they have values which records show together.
    #[staticmethod]
    fn seen(records: &Records, groups: Vec<(String, Vec<String>)>) -> Answer<Rules> {
        let names = records.0.names();
        let group = |(text, group): (String, Vec<String>)| {
            Ok((text, group.iter().map(|name| names.find(name)).collect::<Result<Vec<_>, _>>()?))
        };
        let groups = groups.into_iter().map(group).collect::<Answer<Vec<_>>>()?;
        Ok(Rules(Arc::new(slopp::logic::Rules::seen(&records.0, groups))))
    }

    /// From a file: text, or DIMACS.
    #[staticmethod]
    #[pyo3(signature = (path, names=None))]
    fn read(path: PathBuf, names: Option<Vec<String>>) -> Answer<Rules> {
        let names = names.map(Names::new).transpose()?.map(Arc::new);
        Ok(Rules(Arc::new(slopp::io::read_rules(&path, names.as_ref())?)))
    }

    fn write(&self, path: PathBuf) -> Answer<()> {
        Ok(slopp::io::write_rules(&path, &self.0)?)
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

    /// On a vtree, or on one that is searched for with so many moves.
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
        let default = Limits::default();
        let bytes = max_memory.map_or(default.bytes, |megabytes| megabytes.saturating_mul(1 << 20));
        let limits = Limits { nodes: max_nodes.unwrap_or(default.nodes), bytes, ..default };
        let rules = self.0.clone();
        if rules.var_count() == 0 {
            return Err(Failure::new("FormulaError", "the rules have no variables; write at least one rule"));
        }
        let vtree = vtree.map(|vtree| vtree.vtree.clone());
        if vtree.as_ref().is_some_and(|vtree| vtree.var_count() != rules.var_count()) {
            let text = "the vtree has another number of variables than the rules; Rules(names=...) names all of them";
            return Err(Failure::new("VtreeError", text));
        }
        let sdd = run_long(py, progress, move |progress| match vtree {
            Some(vtree) => rules.compile(vtree, &limits),
            None if moves == 0 => rules.compile(rules.min_fill_vtree(), &limits),
            None => {
                progress.begin("trying vtrees", moves as u64);
                let search = VtreeSearch { moves, ..VtreeSearch::default() };
                rules.compile_with_search(&search, &limits, &mut |_| progress.advance(1)).map(|found| found.sdd)
            }
        })??;
        Ok(Sdd { sdd: Arc::new(sdd), names: self.0.names().clone() })
    }

    /// The positions of rules that contradict each other, if no world obeys all; whether all are needed, and whether no
    /// fewer contradict each other.
    fn conflict(&self, py: Python<'_>) -> Answer<Option<(Vec<usize>, bool, bool)>> {
        let rules = self.0.clone();
        let found = run_long(py, None, move |_| {
            // Without variables there is no vtree of their own, but `false` is a contradiction.
            let vtree = match rules.var_count() {
                0 => slopp::Vtree::balanced(1),
                _ => rules.min_fill_vtree(),
            };
            rules.conflict(vtree, &Limits::default())
        })??;
        Ok(found.map(|found| (found.rules, found.minimal, found.smallest)))
    }
}

#[pymethods]
impl Sdd {
    /// The worlds that a circuit makes possible.
    #[staticmethod]
    fn of_base(py: Python<'_>, model: &Model) -> Answer<Sdd> {
        let circuit = model.circuit()?;
        let sdd = run(py, || -> Result<_, Stopped> {
            let mut manager = Manager::new(circuit.vtree().clone(), Limits::default());
            let base = manager.support_of(circuit, |var| var)?;
            Ok(manager.sdd(base))
        })?;
        Ok(Sdd { sdd: Arc::new(sdd), names: model.names().clone() })
    }

    #[staticmethod]
    #[pyo3(signature = (path, vtree=None, names=None))]
    fn read(path: PathBuf, vtree: Option<PathBuf>, names: Option<Vec<String>>) -> Answer<Sdd> {
        let vtree = vtree.map(|vtree| slopp::io::read_vtree(&vtree)).transpose()?;
        let (sdd, kept) = slopp::io::read_named_sdd(&path, vtree.as_ref())?;
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
        Ok(slopp::io::write_named_sdd(&path, &self.sdd, &self.names)?)
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
        let psdd = run(py, || -> Answer<_> { Ok(self.sdd.to_circuit()?.certify()?) })?;
        Ok(Model::of(AnyModel::Circuit(slopp::Model::new(self.names.clone(), psdd))))
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

/// The names of both, and the worlds that only the first, only the second, and both allow.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    first: Knowledge<'_>,
    second: Knowledge<'_>,
    limit: usize,
) -> Answer<(Vec<String>, [Part; 3])> {
    let [first, second] = [first.known()?, second.known()?];
    let names = names_of_both(first.names(), second.names())?;
    let all: Vec<String> = names.iter().map(str::to_owned).collect();
    let of_all = [&first, &second].into_iter().find(|one| *one.names() == names).and_then(Known::vtree);
    let parts = run(py, || -> Answer<_> {
        let vtree = of_all.unwrap_or_else(|| Arc::new(slopp::Vtree::balanced(names.len())));
        let mut manager = Manager::new(vtree, Limits::default());
        // What has no one value in a column is no world: who allows it only did not say so.
        let columns = manager.compile(&slopp::logic::Rules::of_columns(names.clone()).formula())?;
        let [a, b] = [first.formula(&mut manager, &names)?, second.formula(&mut manager, &names)?];
        let [a, b] = [manager.and(a, columns)?, manager.and(b, columns)?];
        let parts = [manager.and(a, !b)?, manager.and(b, !a)?, manager.and(a, b)?];
        let mut told = Vec::new();
        for part in parts {
            told.push((manager.sdd(part).model_count(), examples(&manager, part, limit)?));
        }
        Ok(<[Part; 3]>::try_from(told).expect("three parts"))
    })?;
    Ok((all, parts))
}

/// The names of both, with their columns if one of them has all names.
fn names_of_both(first: &Names, second: &Names) -> Answer<Names> {
    let new = |of: &Names, to: &Names| -> Vec<String> {
        of.iter().filter(|name| !to.contains(name)).map(str::to_owned).collect()
    };
    let (only_second, only_first) = (new(second, first), new(first, second));
    if only_second.is_empty() && (!only_first.is_empty() || first.groups().len() >= second.groups().len()) {
        return Ok(first.clone());
    }
    if only_first.is_empty() {
        return Ok(second.clone());
    }
    Ok(Names::new(first.iter().map(str::to_owned).chain(only_second).collect::<Vec<_>>())?)
}

fn examples(manager: &Manager, formula: Handle, limit: usize) -> Answer<Vec<Vec<bool>>> {
    if formula == Handle::FALSE {
        return Ok(Vec::new());
    }
    let circuit = manager.sdd(formula).to_circuit()?.certify_deterministic()?;
    Ok(circuit.worlds(&Evidence::none(circuit.var_count()))?.take(limit).collect())
}

/// Knowledge without the interpreter.
enum Known {
    Model(Arc<AnyModel>),
    Diagram(Arc<slopp::logic::Sdd>, Arc<Names>),
    Rules(Arc<slopp::logic::Rules>),
}

impl Knowledge<'_> {
    fn known(&self) -> Answer<Known> {
        Ok(match self {
            Knowledge::Model(model) => {
                model.get().circuit()?;
                Known::Model(model.get().0.clone())
            }
            Knowledge::Diagram(sdd) => Known::Diagram(sdd.get().sdd.clone(), sdd.get().names.clone()),
            Knowledge::Rules(rules) => Known::Rules(rules.get().0.clone()),
        })
    }
}

impl Known {
    fn names(&self) -> &Names {
        match self {
            Known::Model(model) => model.names(),
            Known::Diagram(_, names) => names,
            Known::Rules(rules) => rules.names(),
        }
    }

    fn vtree(&self) -> Option<Arc<slopp::Vtree>> {
        match self {
            Known::Model(model) => match &**model {
                AnyModel::Circuit(model) => Some(model.circuit.vtree().clone()),
                _ => None,
            },
            Known::Diagram(sdd, _) => Some(sdd.vtree().clone()),
            Known::Rules(rules) => (rules.var_count() > 0).then(|| Arc::new(rules.min_fill_vtree())),
        }
    }

    /// As a formula over more names.
    fn formula(&self, manager: &mut Manager, names: &Names) -> Answer<Handle> {
        let vars = self.names().iter().map(|name| names.find(name)).collect::<Result<Vec<_>, _>>()?;
        let support = |manager: &mut Manager, circuit: &slopp::Circuit| -> Result<Handle, Stopped> {
            manager.support_of(circuit, |var| vars[var.index()])
        };
        Ok(match self {
            Known::Model(model) => match &**model {
                AnyModel::Circuit(model) => support(manager, &model.circuit)?,
                _ => unreachable!("only circuits are known"),
            },
            Known::Diagram(sdd, _) => match sdd.to_circuit() {
                Ok(circuit) => support(manager, &circuit)?,
                Err(_) => Handle::FALSE,
            },
            Known::Rules(rules) => manager.compile(&rules.formula().map_vars(|var| vars[var.index()]))?,
        })
    }
}
