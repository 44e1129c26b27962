//! What circuits answer, whether deterministic or not, and what mixtures of them do.

use crate::arrays::{by_record, matrix, vector};
use crate::columns::{Groups, in_columns};
use crate::error::{Answer, Failure};
use crate::event::Event;
use crate::model::Model;
use crate::records::Records;
use crate::run::{run, run_by_rows, run_long, run_watched, usual_limits};
use num_bigint::BigUint;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use slopp::knowledge::Coverage;
use slopp::logic::{BaseRule, RuleSearch};
use slopp::{Certified, Circuit, Structured};

/// Worlds with their distances.
type Near<'py> = (Bound<'py, PyArray2<bool>>, Bound<'py, PyArray1<u32>>);

/// How many worlds are possible, and how many rules allow.
type Counts = (BigUint, BigUint);

/// Kind, text, literals, support and what is excluded of a rule.
type RuleFacts = (&'static str, String, Vec<String>, Option<f64>, f64);

impl Model {
    fn structured(&self) -> Answer<&dyn Structured> {
        let refused = || Failure::new("KindError", "a sum-product network has no vtree and cannot answer this");
        self.0.structured().ok_or_else(refused)
    }

    /// The circuits of a model that was seen to be on vtrees.
    fn seen_structured(&self) -> &dyn Structured {
        self.0.structured().expect("seen before")
    }
}

#[pymethods]
impl Model {
    /// P(x = 1, y = 1 | given), with P(x = 1 | given) on the diagonal.
    fn pair_marginals<'py>(&self, py: Python<'py>, given: &Event) -> Answer<Bound<'py, PyArray2<f64>>> {
        let (model, evidence, n) = (self.structured()?, given.evidence()?, self.names().len());
        let pairs = run(py, || model.pair_marginals(evidence))?;
        let var = |i: usize| slopp::Var(i as u32);
        let cell = |i: usize, j: usize| if i == j { pairs.single(var(i)) } else { pairs.joint(var(i), var(j)) };
        let cells = (0..n * n).map(|k| cell(k / n, k % n)).collect();
        Ok(matrix(py, n, n, cells))
    }

    fn possible<'py>(&self, py: Python<'py>, records: &Records) -> Answer<Bound<'py, PyArray1<bool>>> {
        self.structured()?;
        let model = self.clone();
        let rows = run_watched(py, &records.0, move |records| model.seen_structured().possible(records))??;
        Ok(vector(py, by_record(&records.0, &rows)))
    }

    /// The possible world nearest to every record.
    fn nearest<'py>(&self, py: Python<'py>, records: &Records) -> Answer<Near<'py>> {
        self.structured()?;
        let model = self.clone();
        let ask =
            move |records: &slopp::Records| model.seen_structured().nearest_by_column_batch(records, &usual_limits());
        let rows = run_by_rows(py, &records.0, ask)?;
        let rows = by_record(&records.0, &rows);
        let distances = vector(py, rows.iter().map(|near| near.distance).collect());
        let worlds = crate::arrays::worlds(py, rows.into_iter().map(|near| near.world).collect(), self.names().len());
        Ok((worlds, distances))
    }

    /// Whether all records are possible.
    fn entailed_by(&self, py: Python<'_>, records: &Records) -> Answer<bool> {
        let model = self.structured()?;
        Ok(run(py, || model.possible(&records.0))?.into_iter().all(|possible| possible))
    }

    /// The log-probability of an event, also given another one.
    fn log_probability(&self, py: Python<'_>, event: &Event, given: &Event) -> Answer<f64> {
        let (model, event, given) = (self.0.clone(), event.event.clone(), given.event.clone());
        run_long(py, None, move |watch| Ok(model.log_probability(&event, &given, &watch.limits())?))?
    }

    /// The model given an event, and the log-probability of the event.
    fn given(&self, py: Python<'_>, event: &Event) -> Answer<(Model, f64)> {
        let (model, formula) = (self.clone(), event.event.formula());
        run_long(py, None, move |watch| {
            let (given, log) = model.0.given(&formula, &watch.limits())?;
            Ok((model.with(given), log))
        })?
    }

    /// The product with another circuit on the same vtree, and the log of its total.
    fn product(&self, py: Python<'_>, other: &Model) -> Answer<(Model, f64)> {
        let (a, b) = (self.0.clone(), other.0.clone());
        let (product, log) = run_long(py, None, move |watch| a.product(&b, &watch.limits()))??;
        Ok((Model::of(product), log))
    }

    /// The circuit over some of the variables, the others summed out.
    fn marginal(&self, py: Python<'_>, names: Vec<String>, groups: Groups, given: &Event) -> Answer<Model> {
        let (circuit, vars, evidence) = (self.circuit()?, self.vars(&names)?, given.evidence()?);
        let certified = |circuit| Certified::new(circuit, &usual_limits());
        let marginal = run(py, || circuit.marginal_given(&vars, evidence).map(certified))?;
        Ok(Model::of(slopp::Model::new(in_columns(names, groups)?, marginal)))
    }

    fn entropy_of(&self, py: Python<'_>, names: Vec<String>) -> Answer<f64> {
        let (circuit, vars) = (self.circuit()?, self.vars(&names)?);
        Ok(run(py, || circuit.entropy_of(&vars, &usual_limits()))?)
    }

    fn conditional_entropy(&self, py: Python<'_>, of: Vec<String>, given: Vec<String>) -> Answer<f64> {
        let (circuit, of, given) = (self.circuit()?, self.vars(&of)?, self.vars(&given)?);
        Ok(run(py, || circuit.conditional_entropy(&of, &given, &usual_limits()))?)
    }

    fn mutual_information(&self, py: Python<'_>, between: Vec<String>, and: Vec<String>) -> Answer<f64> {
        let (circuit, a, b) = (self.circuit()?, self.vars(&between)?, self.vars(&and)?);
        Ok(run(py, || circuit.mutual_information(&a, &b, &usual_limits()))?)
    }

    /// The most probable values of some variables: values, log bounds from below and above, steps.
    fn marginal_map(
        &self,
        py: Python<'_>,
        of: Vec<String>,
        given: &Event,
        budget: usize,
    ) -> Answer<(Vec<bool>, f64, f64, usize)> {
        let (circuit, vars, evidence) = (self.circuit()?, self.vars(&of)?, given.evidence()?);
        let found = run(py, || circuit.marginal_map(&vars, evidence, budget, &usual_limits()))?;
        Ok((found.values.iter().map(|lit| lit.value).collect(), found.log_lower, found.log_upper, found.steps))
    }

    /// The base as rules; how long all clauses are that follow from them; whether none follows from the others; how
    /// many worlds are possible, and how many the rules allow, if that was found out.
    #[pyo3(signature = (records, length, steps, most_clauses))]
    fn rules(
        &self,
        py: Python<'_>,
        records: Option<&Records>,
        length: usize,
        steps: usize,
        most_clauses: usize,
    ) -> Answer<(Vec<RuleFacts>, usize, bool, Option<Counts>)> {
        self.circuit()?;
        let (model, records) = (Model(self.0.clone()), records.map(|records| records.0.clone()));
        let search = RuleSearch { length, steps, most_clauses, ..RuleSearch::default() };
        let (found, said) = run_long(py, None, move |watch| -> Answer<_> {
            let circuit = model.circuit()?;
            let found = match records {
                Some(records) => circuit.rules_with(&records, &search)?,
                None => circuit.rules(&search)?,
            };
            let found = found.with_whole_columns(model.names());
            let said = circuit.coverage_by(&found, &Coverage::limits(watch.cancel())).ok();
            Ok((found, said))
        })??;
        let facts = |rule: &BaseRule| {
            let literals = rule.literals.iter().map(|&lit| self.names().literal(lit)).collect();
            (rule.kind.name(), rule.display(self.names()).to_string(), literals, rule.support, rule.excluded)
        };
        let said = said.map(|said| (said.possible, said.allowed));
        Ok((found.rules.iter().map(facts).collect(), found.complete_to, found.is_minimal, said))
    }

    /// A possible world in which the formula does not hold.
    fn counterexample(&self, py: Python<'_>, event: &Event) -> Answer<Option<Vec<bool>>> {
        self.structured()?;
        let (model, formula) = (Model(self.0.clone()), event.event.formula());
        run_long(py, None, move |watch| Ok(model.structured()?.counterexample(&formula, &watch.limits())?))?
    }

    /// The log-likelihood of every record if each cell is flipped with this probability.
    fn log_likelihoods_noisy<'py>(
        &self,
        py: Python<'py>,
        records: &Records,
        noise: f64,
    ) -> Answer<Bound<'py, PyArray1<f64>>> {
        self.structured()?;
        let model = self.clone();
        let ask = move |records: &slopp::Records| model.seen_structured().log_likelihoods_noisy(records, noise);
        let rows = run_watched(py, &records.0, ask)??;
        Ok(vector(py, by_record(&records.0, &rows)))
    }

    /// The noise under which records are most likely, and their mean log-likelihood then.
    fn fit_noise(&self, py: Python<'_>, records: &Records) -> Answer<(f64, f64)> {
        let model = self.structured()?;
        let fit = run(py, || model.fit_noise(&records.0))?;
        Ok((fit.epsilon, fit.log_likelihood))
    }

    /// The weights and the components of a mixture.
    fn components(&self) -> Answer<Vec<(f64, Model)>> {
        let mixture = self.mixture_of_circuits()?;
        let parts = mixture.weights().iter().zip(mixture.components());
        Ok(parts.map(|(&weight, circuit)| (weight, self.with(circuit.clone()))).collect())
    }

    /// P(component | record) of every record.
    fn component_posterior<'py>(&self, py: Python<'py>, records: &Records) -> Answer<Bound<'py, PyArray2<f64>>> {
        let mixture = self.mixture_of_circuits()?;
        let lines = run(py, || mixture.component_posterior_batch(&records.0))?;
        Ok(crate::arrays::lines_by_record(py, &records.0, &lines, mixture.component_count()))
    }

    /// A world of a mixture that is likely the most probable one, its log-probability, and a bound on all others.
    fn mpe_bounds(&self, py: Python<'_>, given: &Event) -> Answer<(Vec<bool>, f64, f64)> {
        let (mixture, evidence) = (self.mixture_of_circuits()?, given.evidence()?);
        let (world, [log_probability, log_upper]) = run(py, || mixture.mpe_bounds(evidence))?;
        Ok((world, log_probability, log_upper))
    }

    /// The same circuit with parameters that add up to one.
    fn renormalised(&self) -> Answer<Model> {
        Ok(self.with(Certified::new(Circuit::clone(self.circuit()?).renormalised(), &usual_limits())))
    }

    /// How many possible worlds there are, exactly.
    fn model_count(&self, py: Python<'_>) -> Answer<BigUint> {
        let circuit = self.deterministic()?;
        Ok(run(py, || circuit.model_count()))
    }
}
