//! Vtrees with the names of their variables.

use crate::columns::{Groups, in_columns};
use crate::error::{Answer, Failure};
use crate::records::Records;
use crate::run::run;
use pyo3::prelude::*;
use slopp::Names;
use slopp::learn::VtreeMethod;
use std::path::PathBuf;
use std::sync::Arc;

/// The shapes that need no records.
const SHAPES: [&str; 4] = ["balanced", "right-linear", "left-linear", "random"];

/// A vtree with the names of its variables.
#[pyclass(frozen, module = "slopp._slopp")]
#[derive(Clone)]
pub(crate) struct Vtree {
    pub(crate) vtree: Arc<slopp::Vtree>,
    pub(crate) names: Arc<Names>,
}

#[pymethods]
impl Vtree {
    /// From a text like `((a,b),c)`; leaves are names of variables or columns or, where nothing has such a name,
    /// numbers from one.
    #[staticmethod]
    #[pyo3(signature = (text, names, groups=Vec::new()))]
    fn parse(text: &str, names: Vec<String>, groups: Groups) -> Answer<Vtree> {
        let names = in_columns(names, groups)?;
        Vtree::new(slopp::Vtree::parse_named(text, &names)?, names)
    }

    /// From a file of any tool; variables are `x1`, `x2`, … unless named.
    #[staticmethod]
    #[pyo3(signature = (path, names=None))]
    fn read(path: PathBuf, names: Option<Vec<String>>) -> Answer<Vtree> {
        let vtree = slopp::io::read_vtree(&path)?.vtree;
        let names = names.map_or_else(|| Ok(Names::numbered(vtree.var_count())), Names::new)?;
        Vtree::new(vtree, names)
    }

    /// One that is made by a method, from records where it looks at them.
    #[staticmethod]
    fn learn(py: Python<'_>, records: &Records, method: &str, seed: u64) -> Answer<Vtree> {
        let method: VtreeMethod = method.parse()?;
        let vtree = run(py, || method.build(&records.0, seed))?;
        Ok(Vtree { vtree: Arc::new(vtree), names: records.0.names().clone() })
    }

    /// One over these names, without records: balanced, right-linear, left-linear or random.
    #[staticmethod]
    fn shaped(shape: &str, names: Vec<String>, seed: u64) -> Answer<Vtree> {
        let (len, names) = (names.len(), Names::new(names)?);
        if len == 0 {
            return Err(Failure::new("VtreeError", "a vtree needs at least one variable; give at least one name"));
        }
        let vtree = match shape {
            "balanced" => slopp::Vtree::balanced(len),
            "right-linear" => slopp::Vtree::right_linear(len),
            "left-linear" => slopp::Vtree::left_linear(len),
            "random" => slopp::Vtree::random(len, seed),
            other => {
                return Err(Failure::new(
                    "VtreeError",
                    format!("there is no shape \"{other}\" of vtrees; the shapes are {}", SHAPES.join(", ")),
                ));
            }
        };
        Vtree::new(vtree, names)
    }

    fn write(&self, path: PathBuf) -> Answer<()> {
        slopp::io::Content::Vtree.check_name(&path)?;
        Ok(slopp::io::write_atomically(&path, |out| slopp::io::write_vtree(out, &self.vtree))?)
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.iter().map(str::to_owned).collect()
    }

    /// The names from left to right.
    #[getter]
    fn order(&self) -> Vec<String> {
        self.vtree.vars(self.vtree.root()).iter().map(|&var| self.names.of(var).to_owned()).collect()
    }

    #[getter]
    fn depth(&self) -> usize {
        self.vtree.depth()
    }

    #[getter]
    fn is_right_linear(&self) -> bool {
        self.vtree.is_right_linear()
    }

    /// The vtree on one line.
    fn line(&self) -> String {
        self.vtree.line(&self.names).to_string()
    }

    /// A picture in text.
    fn picture(&self) -> String {
        self.vtree.picture(&self.names).to_string()
    }

    fn svg(&self) -> String {
        self.vtree.svg(&self.names)
    }

    fn dot(&self) -> String {
        self.vtree.dot(&self.names)
    }

    fn __eq__(&self, other: &Vtree) -> bool {
        self.vtree == other.vtree && self.names.iter().eq(other.names.iter())
    }
}

impl Vtree {
    fn new(vtree: slopp::Vtree, names: impl Into<Arc<Names>>) -> Answer<Vtree> {
        let names = names.into();
        if vtree.var_count() != names.len() {
            let (leaves, names) = (vtree.var_count(), names.len());
            return Err(Failure::new(
                "VtreeError",
                format!("the vtree has {leaves} variables, but there are {names} names"),
            ));
        }
        Ok(Vtree { vtree: Arc::new(vtree), names })
    }
}
