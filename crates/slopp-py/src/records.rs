//! Records from arrays, and back.

use crate::arrays::{matrix, vector};
use crate::columns::{Groups, groups_of, in_columns};
use crate::error::{Answer, Failure};
use crate::run::{run, run_long};
use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use slopp::data::Description;
use slopp::io::{Header, RecordsOptions};
use slopp::{Names, RecordsBuilder, Var};
use std::path::PathBuf;
use std::sync::Arc;

/// Weighted Boolean records over named variables, cells possibly missing.
#[pyclass(frozen, module = "slopp._slopp")]
pub(crate) struct Records(pub(crate) Arc<slopp::Records>);

/// A cell of an array: no value if it is missing, an error if it is not Boolean.
trait Cell: Copy {
    fn value(self) -> Result<Option<bool>, ()>;
}

impl Cell for bool {
    fn value(self) -> Result<Option<bool>, ()> {
        Ok(Some(self))
    }
}

/// Whole numbers have no way to be missing, floating ones have NaN.
macro_rules! cells {
    ($zero:literal, $one:literal, $missing:expr; $($type:ty),*) => {$(
        impl Cell for $type {
            fn value(self) -> Result<Option<bool>, ()> {
                let missing: fn($type) -> bool = $missing;
                match self {
                    number if number == $zero => Ok(Some(false)),
                    number if number == $one => Ok(Some(true)),
                    number if missing(number) => Ok(None),
                    _ => Err(()),
                }
            }
        }
    )*};
}

cells!(0, 1, |_| false; u8, i8, i32, i64);
cells!(0.0, 1.0, |number| number.is_nan(); f32, f64);

/// An array of one of the types that are read without a copy.
#[derive(FromPyObject)]
pub(crate) enum Cells<'py> {
    Bool(PyReadonlyArray2<'py, bool>),
    U8(PyReadonlyArray2<'py, u8>),
    I8(PyReadonlyArray2<'py, i8>),
    I32(PyReadonlyArray2<'py, i32>),
    I64(PyReadonlyArray2<'py, i64>),
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
}

/// Records that come in parts, so that all of their cells need never be there at once.
#[pyclass(module = "slopp._slopp")]
pub(crate) struct Parts {
    names: Arc<Names>,
    builder: RecordsBuilder,
    /// How many rows there were.
    rows: usize,
}

#[pymethods]
impl Parts {
    #[new]
    fn new(names: Vec<String>, groups: Groups) -> Answer<Parts> {
        let names = in_columns(names, groups)?;
        Ok(Parts { builder: RecordsBuilder::new(names.clone()), names, rows: 0 })
    }

    /// Adds an array with a row per record and a column per name.
    #[pyo3(signature = (cells, weights=None))]
    fn push(&mut self, py: Python<'_>, cells: Cells<'_>, weights: Option<PyReadonlyArray1<'_, f64>>) -> Answer<()> {
        let weights: Option<Vec<f64>> = weights.map(|weights| weights.as_array().to_vec());
        let (names, before) = (&*self.names, self.rows);
        // A row that is wrong ends it all, so that the others need not be counted.
        macro_rules! packed {
            ($($kind:ident),*) => {
                match &cells {$(
                    Cells::$kind(cells) => {
                        self.rows += cells.as_array().nrows();
                        pack(py, &mut self.builder, names, cells.as_array(), weights.as_deref(), before)
                    }
                )*}
            };
        }
        packed!(Bool, U8, I8, I32, I64, F32, F64)
    }

    /// The records, after which there are none.
    fn finish(&mut self, py: Python<'_>) -> Answer<Records> {
        let builder = std::mem::replace(&mut self.builder, RecordsBuilder::new(self.names.clone()));
        self.rows = 0;
        Ok(Records(Arc::new(run(py, || builder.finish()))))
    }
}

#[pymethods]
impl Records {
    /// From an array with a row per record and a column per name.
    #[staticmethod]
    #[pyo3(signature = (cells, names, weights=None, groups=Vec::new()))]
    fn from_array(
        py: Python<'_>,
        cells: Cells<'_>,
        names: Vec<String>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        groups: Groups,
    ) -> Answer<Records> {
        let mut parts = Parts::new(names, groups)?;
        parts.push(py, cells, weights)?;
        parts.finish(py)
    }

    /// From a file; over these names, if they are given.
    #[staticmethod]
    #[pyo3(signature = (path, names, groups, header, bins, categories, max_values))]
    #[expect(clippy::too_many_arguments, reason = "called by the Python half only, by position")]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        names: Option<Vec<String>>,
        groups: Groups,
        header: Option<bool>,
        bins: Vec<String>,
        categories: Vec<String>,
        max_values: Option<usize>,
    ) -> Answer<Records> {
        let header = header.map_or(Header::Detect, |there| if there { Header::Present } else { Header::Absent });
        let bins = bins.iter().map(|text| slopp::io::parse_bins(text)).collect::<Result<_, _>>()?;
        let default = RecordsOptions::default();
        let max_values = max_values.unwrap_or(default.max_values);
        let names = names.map(|names| in_columns(names, groups)).transpose()?;
        let options = RecordsOptions { names, header, bins, categories, max_values, ..default };
        Ok(Records(Arc::new(run(py, || slopp::io::read_records(&path, &options))?)))
    }

    /// Into a file, with names; each distinct row once with its weight if `weighted`, then with names unless they are
    /// x1, x2, ….
    #[pyo3(signature = (path, weighted=false))]
    fn write(&self, py: Python<'_>, path: PathBuf, weighted: bool) -> Answer<()> {
        let named = **self.0.names() != slopp::Names::numbered(self.0.var_count());
        let write = || {
            slopp::io::write_atomically(&path, |out| match weighted {
                true => slopp::io::write_weighted_records(out, &self.0, named),
                false => slopp::io::write_records(out, &self.0, true),
            })
        };
        Ok(run(py, write)?)
    }

    #[getter]
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.names().iter().map(str::to_owned).collect()
    }

    /// The columns with several values, and those values.
    #[getter]
    fn groups(&self) -> Groups {
        groups_of(self.0.names())
    }

    #[getter]
    fn distinct(&self) -> usize {
        self.0.len()
    }

    #[getter]
    fn total(&self) -> f64 {
        self.0.total()
    }

    #[getter]
    fn has_missing(&self) -> bool {
        self.0.has_missing()
    }

    fn __len__(&self) -> usize {
        self.0.original().len()
    }

    /// The weights of the distinct rows.
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.0.weights().to_vec())
    }

    /// The weight of every record, in its order: that of its row, shared evenly by the records it stands for.
    fn record_weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.0.record_weights())
    }

    /// The cells, 1, 0 or −1 for missing: of every record in its order, or of the distinct rows.
    fn cells<'py>(&self, py: Python<'py>, distinct: bool) -> Bound<'py, PyArray2<i8>> {
        let all: Vec<u32> = (0..self.0.len() as u32).collect();
        let rows = if distinct { &all } else { self.0.original() };
        let code = |cell: Option<bool>| cell.map_or(-1, i8::from);
        let cells = rows.iter().flat_map(|&row| self.0.row(row as usize).map(code)).collect();
        matrix(py, rows.len(), self.0.var_count(), cells)
    }

    /// The same records over other names, matched by name.
    fn over(&self, names: Vec<String>, groups: Groups) -> Answer<Records> {
        Ok(Records(Arc::new(self.0.over(in_columns(names, groups)?)?)))
    }

    /// Parts at random with these shares.
    fn split(&self, py: Python<'_>, shares: Vec<f64>, seed: u64) -> Answer<Vec<Records>> {
        let parts = run(py, || self.0.split(&shares, seed))?;
        Ok(parts.into_iter().map(|part| Records(Arc::new(part))).collect())
    }

    /// The records without a tenth, and that tenth, as learners hold it out; `None` if there are too few.
    fn hold_out(&self, py: Python<'_>, seed: u64) -> Option<[Records; 2]> {
        let (rest, held) = run(py, || self.0.hold_out(seed))?;
        Some([rest, held].map(|part| Records(Arc::new(part))))
    }

    /// These records and others over the same names.
    fn merged(&self, other: &Records) -> Answer<Records> {
        Ok(Records(Arc::new(self.0.merged(&other.0)?)))
    }

    /// Pairwise mutual information, in nats.
    fn information<'py>(&self, py: Python<'py>) -> Answer<Bound<'py, PyArray2<f64>>> {
        let n = self.0.var_count();
        let table = run(py, || slopp::learn::pair_information(&self.0))?;
        let cells = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| table.at(i, j)).collect();
        Ok(matrix(py, n, n, cells))
    }

    /// What the records look like: numbers by name; constants; how often each variable is true; the strongest pairs.
    #[expect(clippy::type_complexity, reason = "called by the Python half only")]
    fn describe(
        &self,
        py: Python<'_>,
        pairs: usize,
    ) -> (Vec<(&'static str, f64)>, Vec<(String, bool)>, Vec<Option<f64>>, Vec<(String, String, f64)>) {
        let found = run(py, || Description::of(&self.0, pairs));
        let name = |var: Var| self.0.names().of(var).to_owned();
        let numbers = vec![
            ("variables", found.variables as f64),
            ("records", found.records),
            ("distinct", found.distinct as f64),
            ("most_frequent", found.most_frequent),
            ("density", found.density),
            ("missing", found.missing),
        ];
        let constants = found.constants.iter().map(|&(var, value)| (name(var), value)).collect();
        let columns: Vec<&str> = self.0.names().columns().map(|column| self.0.names().column_name(column)).collect();
        let column = |place: usize| columns[place].to_owned();
        let pair = |pair: &slopp::data::Pair| (column(pair.a), column(pair.b), pair.mutual_information);
        (numbers, constants, found.frequencies, found.strongest.iter().map(pair).collect())
    }

    fn __eq__(&self, other: &Records) -> bool {
        self.0 == other.0
    }
}

/// Generated records with known truth: car configurations.
#[pyfunction]
pub(crate) fn configurations(py: Python<'_>, records: usize, seed: u64) -> Answer<Records> {
    generated(py, slopp::example::Truth::configurations(), records, seed)
}

/// Generated records with known truth: rankings after Mallows.
#[pyfunction]
pub(crate) fn rankings(py: Python<'_>, items: usize, dispersion: f64, records: usize, seed: u64) -> Answer<Records> {
    generated(py, slopp::example::Truth::rankings(items, dispersion)?, records, seed)
}

fn generated(py: Python<'_>, truth: slopp::example::Truth, records: usize, seed: u64) -> Answer<Records> {
    slopp::Records::check_count(records)?;
    let generated = run_long(py, None, move |progress| truth.sample_with_progress(records, seed, progress))?;
    Ok(Records(Arc::new(generated)))
}

/// Packs the rows of an array after those that are there; complete ones go in as words, others cell by cell.
fn pack<T: Cell + Sync + std::fmt::Display>(
    py: Python<'_>,
    builder: &mut RecordsBuilder,
    names: &Names,
    cells: ArrayView2<'_, T>,
    weights: Option<&[f64]>,
    before: usize,
) -> Answer<()> {
    let (rows, width) = cells.dim();
    if width != names.len() || weights.is_some_and(|weights| weights.len() != rows) {
        return Err(Failure::new("RecordsError", "the array does not have a column per name and a weight per row"));
    }
    let packed = run(py, || {
        let mut words = vec![0u64; width.div_ceil(64)];
        for (i, row) in cells.outer_iter().enumerate() {
            words.fill(0);
            let mut missing = false;
            for (j, cell) in row.iter().enumerate() {
                match cell.value().map_err(|()| (i, j))? {
                    Some(value) => words[j / 64] |= u64::from(value) << (j % 64),
                    None => missing = true,
                }
            }
            let weight = weights.map_or(1.0, |weights| weights[i]);
            match missing {
                false => builder.push_words(&words, weight),
                true => builder.push(row.iter().map(|cell| cell.value().expect("just seen")), weight),
            }
        }
        Ok(())
    });
    packed.map_err(|(row, column): (usize, usize)| {
        let (value, row, name) = (&cells[[row, column]], before + row, names.of(Var(column as u32)));
        let text = format!(
            "row {row} of column \"{name}\" is {value}, neither 0 nor 1 nor missing; binarize= cuts numbers in two, \
             bins= cuts them into several, categories=[\"{name}\"] takes them as categories"
        );
        Failure::new("RecordsError", text)
    })
}
