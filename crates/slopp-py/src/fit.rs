//! Parameters for fixed structures.

use crate::error::Answer;
use crate::model::Model;
use crate::records::Records;
use crate::run::{run, run_long};
use pyo3::prelude::*;
use slopp::learn::Refit;

#[pymethods]
impl Model {
    /// Parameters for the same structure: the model, and the weight of impossible records.
    #[pyo3(signature = (records, pseudocount, add, em, steps, progress))]
    #[expect(clippy::too_many_arguments, reason = "called by the Python half only, by position")]
    fn refit(
        &self,
        py: Python<'_>,
        records: &Records,
        pseudocount: Option<f64>,
        add: bool,
        em: bool,
        steps: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> Answer<(Model, f64)> {
        let (model, records) = (self.0.clone(), records.0.clone());
        let fitted = run_long(py, progress, move |watch| {
            let how = Refit { pseudocount, add, em, steps, limits: watch.limits() };
            model.refit(&records, &how, watch)
        })??;
        Ok((Model::of(fitted.model), fitted.impossible))
    }

    /// A mixture with weights fitted to records, its components as they are.
    fn fit_weights(&self, py: Python<'_>, records: &Records, steps: usize) -> Answer<Model> {
        let mixture = self.mixture_of_circuits()?;
        Ok(self.with(run(py, || mixture.fit_weights(&records.0, steps))?))
    }
}
