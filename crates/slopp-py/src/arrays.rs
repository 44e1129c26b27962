//! Answers as arrays of NumPy.

use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use slopp::Records;

/// Loads what NumPy loads when it is first needed, which a signal that is pending then would turn into a panic.
pub(crate) fn load(py: Python<'_>) {
    drop(vector(py, vec![0.0]).readonly());
}

/// A vector.
pub(crate) fn vector<T: Element>(py: Python<'_>, numbers: Vec<T>) -> Bound<'_, PyArray1<T>> {
    numbers.into_pyarray(py)
}

/// A matrix from its cells, row by row.
pub(crate) fn matrix<T: Element>(py: Python<'_>, rows: usize, width: usize, cells: Vec<T>) -> Bound<'_, PyArray2<T>> {
    Array2::from_shape_vec((rows, width), cells).expect("as many cells as rows times width").into_pyarray(py)
}

/// Worlds as a matrix.
pub(crate) fn worlds(py: Python<'_>, worlds: Vec<Vec<bool>>, width: usize) -> Bound<'_, PyArray2<bool>> {
    let rows = worlds.len();
    matrix(py, rows, width, worlds.into_iter().flatten().collect())
}

/// What belongs to distinct rows, for every record in its order.
pub(crate) fn by_record<T: Clone>(records: &Records, rows: &[T]) -> Vec<T> {
    records.original().iter().map(|&row| rows[row as usize].clone()).collect()
}

/// Lines that belong to distinct rows as a matrix with a line for every record; `None` is a line of NaN.
pub(crate) fn lines_by_record<'py>(
    py: Python<'py>,
    records: &Records,
    lines: &[Option<Vec<f64>>],
    width: usize,
) -> Bound<'py, PyArray2<f64>> {
    let mut cells = Vec::with_capacity(records.original().len() * width);
    for &row in records.original() {
        match &lines[row as usize] {
            Some(line) => cells.extend_from_slice(line),
            None => cells.extend(std::iter::repeat_n(f64::NAN, width)),
        }
    }
    matrix(py, records.original().len(), width, cells)
}
