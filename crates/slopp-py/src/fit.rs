//! Parameters for fixed structures: by counting, by expectation maximisation, and inside rules.

use crate::error::Answer;
use crate::model::Model;
use crate::records::Records;
use crate::run::{run, run_long};
use pyo3::prelude::*;
use slopp::Certified;
use slopp::circuit::Smoothing;
use slopp::infer::QueryError;
use slopp::learn::{EmConfig, possible_records};
use slopp::logic::Limits;

#[pymethods]
impl Model {
    /// Parameters by counting: the model, the weights of records counted and impossible, elements that are gone.
    fn fit(&self, py: Python<'_>, records: &Records, pseudocount: f64, add: bool) -> Answer<(Model, f64, f64, usize)> {
        let (certified, records) = (self.circuit()?, &*records.0);
        let circuit = self.deterministic()?;
        let smoothing = run(py, || {
            let possible = possible_records(certified, records)?;
            Ok::<_, QueryError>(match add {
                false => Smoothing::marginal(pseudocount, &possible),
                true => Smoothing::marginal_with(pseudocount, circuit, &possible),
            })
        })?;
        let fitted = run(py, || match (certified, add) {
            (Certified::Psdd(psdd), false) => psdd.fit(records, &smoothing).map(|fit| fit.map(Certified::Psdd)),
            (Certified::Psdd(psdd), true) => psdd.add_records(records, &smoothing).map(|fit| fit.map(Certified::Psdd)),
            (_, false) => circuit
                .fit(records, &smoothing)
                .map(|fit| fit.map(|c| Certified::new(c.into_circuit(), &Limits::default()))),
            (_, true) => circuit
                .add_records(records, &smoothing)
                .map(|fit| fit.map(|c| Certified::new(c.into_circuit(), &Limits::default()))),
        })?;
        Ok((self.with(fitted.circuit), fitted.counted, fitted.impossible, fitted.dropped))
    }

    /// Expectation maximisation: the model, the mean log-likelihoods, and the weight of impossible records.
    fn em(
        &self,
        py: Python<'_>,
        records: &Records,
        pseudocount: f64,
        steps: usize,
        progress: Option<Py<PyAny>>,
    ) -> Answer<(Model, Vec<f64>, f64)> {
        let (model, records) = (self.0.clone(), records.0.clone());
        let fit = run_long(py, progress, move |progress| -> Answer<_> {
            let possible = possible_records(model.distribution(), &records)?;
            let smoothing = Smoothing::marginal(pseudocount, &possible);
            let config = EmConfig { steps, smoothing, ..EmConfig::default() };
            Ok(model.em(&records, &config, progress)?)
        })??;
        Ok((self.with(fit.model), fit.history, fit.impossible))
    }

    /// A mixture with weights fitted to records, its components as they are.
    fn fit_weights(&self, py: Python<'_>, records: &Records, steps: usize) -> Answer<Model> {
        let mixture = self.mixture_of_circuits()?;
        Ok(self.with(run(py, || mixture.fit_weights(&records.0, steps))?))
    }
}
