//! Mixtures given a formula.

use super::Mixture;
use crate::certified::Certified;
use crate::infer::QueryError;
use crate::logic::{Limits, Sdd};
use crate::logspace::{LOG_ZERO, log_sum};
use crate::vtree::Vtree;
use std::sync::Arc;

/// A formula compiled once for each vtree.
struct Compiled<'a, E> {
    limits: &'a Limits,
    on: &'a mut dyn FnMut(&Arc<Vtree>) -> Result<Sdd, E>,
    done: Vec<Sdd>,
}

impl<E> Compiled<'_, E> {
    fn get(&mut self, vtree: &Arc<Vtree>) -> Result<&Sdd, E> {
        let place = match self.done.iter().position(|sdd| Arc::ptr_eq(sdd.vtree(), vtree) || sdd.vtree() == vtree) {
            Some(place) => place,
            None => {
                self.done.push((self.on)(vtree)?);
                self.done.len() - 1
            }
        };
        Ok(&self.done[place])
    }
}

impl Mixture {
    /// The log-probability of a formula, −∞ if it is impossible; `on` compiles it for a vtree,
    /// limits hold for each component.
    pub fn log_probability_of<E: From<QueryError>>(
        &self,
        on: &mut dyn FnMut(&Arc<Vtree>) -> Result<Sdd, E>,
        limits: &Limits,
    ) -> Result<f64, E> {
        Ok(log_sum(self.log_shares(&mut Compiled { limits, on, done: Vec::new() })?.into_iter()))
    }

    /// The mixture given a formula, and the log-probability of the formula; `on` compiles it for a vtree,
    /// limits hold for each component.
    ///
    /// Each component is conditioned on the formula and weighted by its share of the probability of the formula.
    /// Components in which the formula is impossible are dropped. It is an error if it is impossible in all.
    pub fn given<E: From<QueryError>>(
        &self,
        on: &mut dyn FnMut(&Arc<Vtree>) -> Result<Sdd, E>,
        limits: &Limits,
    ) -> Result<(Mixture, f64), E> {
        let mut compiled = Compiled { limits, on, done: Vec::new() };
        let shares = self.log_shares(&mut compiled)?;
        let log = log_sum(shares.iter().copied());
        if log == LOG_ZERO {
            return Err(QueryError::ImpossibleFormula.into());
        }
        let mut parts = Vec::new();
        for (circuit, share) in self.components.iter().zip(shares).filter(|(_, share)| *share > LOG_ZERO) {
            parts.push(((share - log).exp(), circuit.given(compiled.get(circuit.vtree())?, limits)?.0));
        }
        Ok((Mixture::new(parts).expect("some components, over the same variables"), log))
    }

    /// For each component, the log of its weight times the probability of the formula.
    fn log_shares<E: From<QueryError>>(&self, compiled: &mut Compiled<'_, E>) -> Result<Vec<f64>, E> {
        let parts = self.components.iter().zip(&self.weights);
        let limits = compiled.limits;
        let share = |(circuit, weight): (&Certified, &f64)| {
            Ok(weight.ln() + circuit.log_probability_of(compiled.get(circuit.vtree())?, limits)?)
        };
        parts.map(share).collect()
    }
}
