//! What mixtures answer: probabilities, marginals, possibility, noise, bounds on the most probable world; mixtures given
//! a formula; and worlds drawn, first a component by its posterior, then a world from it.

use super::Mixture;
use crate::certified::Certified;
use crate::circuit::Weights;
use crate::data::Records;
use crate::infer::{
    Completer, Distribution, Draw, Evidence, Nearest, NoiseFit, PairMarginals, QueryError, Samples, Scratch,
    SideBySide, answer_by_methods, certain, complete_records, draw_worlds, log_upper_bound, parts,
};
use crate::logic::{Limits, Sdd};
use crate::logspace::{LOG_ZERO, log_add, log_sum};
use crate::random::Random;
use crate::vtree::Vtree;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

impl Mixture {
    /// The log-probability of a world, −∞ if it is impossible.
    pub fn log_probability(&self, world: &[bool]) -> Result<f64, QueryError> {
        self.first().check_world(world)?;
        self.log_evidence(&Evidence::of_world(world))
    }

    /// Whether a world is possible under some component.
    pub fn is_possible(&self, world: &[bool]) -> Result<bool, QueryError> {
        Ok(self.log_probability(world)? > LOG_ZERO)
    }

    /// The log-probability of evidence, −∞ if it is impossible. Cost: elements of all components.
    pub fn log_evidence(&self, evidence: &Evidence) -> Result<f64, QueryError> {
        Ok(log_sum(self.log_joint(evidence)?.into_iter()))
    }

    /// The log-likelihood of each distinct row, −∞ if it is impossible; missing cells are summed out.
    ///
    /// Complete records pass only once through all components that share a deterministic structure.
    pub fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError> {
        self.first().check_records(records)?;
        let mut answers = vec![LOG_ZERO; records.len()];
        for group in &self.groups {
            let found = match self.components[group[0]].deterministic() {
                Ok(structure) if group.len() > 1 && !records.has_missing() => {
                    let parameters: Vec<&Weights> =
                        group.iter().map(|&i| self.components[i].log_parameters()).collect();
                    let log_weights: Vec<f64> = group.iter().map(|&i| self.weights[i].ln()).collect();
                    SideBySide::new(structure, &parameters).log_mixture(&log_weights, records)
                }
                _ => self.log_likelihoods_of(group, records)?,
            };
            answers.iter_mut().zip(found).for_each(|(sum, term)| *sum = log_add(*sum, term));
        }
        Ok(answers)
    }

    /// `P(component | evidence)` for every component: `weight · P(evidence)`, divided by the total.
    ///
    /// ```
    /// use slopp::{Mixture, infer::Evidence};
    /// let mixture = Mixture::uniform([slopp::example::psdd().into(), slopp::example::psdd().into()])?;
    /// assert_eq!(mixture.component_posterior(&Evidence::none(4))?, [0.5, 0.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn component_posterior(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError> {
        posterior(self.log_joint(evidence)?).ok_or(QueryError::ImpossibleEvidence)
    }

    /// The posterior of the components given each distinct row; `None` where the row is impossible.
    pub fn component_posterior_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError> {
        self.first().check_records(records)?;
        let by_component = self.log_joint_batch(records)?;
        let of_row = |row: usize| posterior(by_component.iter().map(|logs| logs[row]).collect());
        Ok((0..records.len()).map(of_row).collect())
    }

    /// The probability of an event given evidence, `P(a, e) / P(e)`; an error if `P(e)` is zero.
    pub fn conditional(&self, event: &Evidence, given: &Evidence) -> Result<f64, QueryError> {
        self.first().check_evidence(event)?;
        let log_given = self.log_evidence(given)?;
        if log_given == LOG_ZERO {
            return Err(QueryError::ImpossibleEvidence);
        }
        let Some(both) = event.and(given) else { return Ok(0.0) };
        Ok((self.log_evidence(&both)? - log_given).exp().min(1.0))
    }

    /// The probability of an event given each distinct row as evidence; `None` where the row is impossible.
    pub fn conditional_batch(&self, event: &Evidence, given: &Records) -> Result<Vec<Option<f64>>, QueryError> {
        Distribution::conditional_batch(self, event, given)
    }

    /// `P(x = true | evidence)` for every variable `x`. Cost: elements of all components.
    pub fn marginals(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError> {
        let mut sums = vec![0.0; self.var_count()];
        for (share, circuit) in self.component_posterior(evidence)?.into_iter().zip(&self.components) {
            if share > 0.0 {
                let of_component = circuit.marginals(evidence)?;
                sums.iter_mut().zip(of_component).for_each(|(sum, p)| *sum += share * p);
            }
        }
        Ok(sums.into_iter().enumerate().map(|(i, p)| certain(evidence, i, p)).collect())
    }

    /// The marginals given each distinct row as evidence; `None` where the row is impossible.
    pub fn marginals_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError> {
        let shares = self.component_posterior_batch(records)?;
        let mut sums: Vec<Option<Vec<f64>>> =
            shares.iter().map(|row| row.as_ref().map(|_| vec![0.0; self.var_count()])).collect();
        for (k, circuit) in self.components.iter().enumerate() {
            let of_component = circuit.marginals_batch(records)?;
            for ((sums, shares), found) in sums.iter_mut().zip(&shares).zip(of_component) {
                if let (Some(sums), Some(shares), Some(found)) = (sums, shares, found) {
                    sums.iter_mut().zip(found).for_each(|(sum, p)| *sum += shares[k] * p);
                }
            }
        }
        let finished = |(row, sums): (usize, Option<Vec<f64>>)| {
            let evidence = Evidence::from_row(records, row);
            sums.map(|sums| sums.into_iter().enumerate().map(|(i, p)| certain(&evidence, i, p)).collect())
        };
        Ok(sums.into_iter().enumerate().map(finished).collect())
    }

    /// `P(x = true, y = true | evidence)` for all pairs of variables, and the singles.
    pub fn pair_marginals(&self, evidence: &Evidence) -> Result<PairMarginals, QueryError> {
        self.first().check_pairs()?;
        let shares = self.component_posterior(evidence)?.into_iter().zip(&self.components);
        let parts = shares.filter(|&(share, _)| share > 0.0).map(|(share, circuit)| {
            let pairs = circuit.pair_marginals(evidence).expect("a component with a share has the evidence possible");
            (share, pairs)
        });
        PairMarginals::mean(parts).ok_or(QueryError::ImpossibleEvidence)
    }

    /// The pair marginals given each distinct row as evidence; `None` where the row is impossible.
    pub fn pair_marginals_batch(&self, records: &Records) -> Result<Vec<Option<PairMarginals>>, QueryError> {
        self.first().check_pairs()?;
        self.first().check_records(records)?;
        let of_row = |row| self.pair_marginals(&Evidence::from_row(records, row)).ok();
        Ok((0..records.len()).into_par_iter().map(of_row).collect())
    }

    /// Whether each distinct row is possible; with missing cells, whether some completion is.
    pub fn possible(&self, records: &Records) -> Result<Vec<bool>, QueryError> {
        let mut answers = vec![false; records.len()];
        // The structure decides which worlds are possible, so one component of each group suffices.
        for group in &self.groups {
            let found = self.components[group[0]].possible(records)?;
            answers.iter_mut().zip(found).for_each(|(any, possible)| *any |= possible);
        }
        Ok(answers)
    }

    /// Whether every one of the complete records is possible.
    pub fn entailed_by(&self, records: &Records) -> Result<bool, QueryError> {
        self.first().check_complete(records)?;
        Ok(self.possible(records)?.into_iter().all(|possible| possible))
    }

    /// The smallest number of known cells that must change to make evidence possible, and such a world.
    ///
    /// It is the nearest of those of the components; the first among equals.
    pub fn nearest(&self, evidence: &Evidence) -> Result<Nearest, QueryError> {
        let of = |group: &Vec<usize>| self.components[group[0]].nearest(evidence);
        let all: Vec<Nearest> = self.groups.iter().map(of).collect::<Result<_, _>>()?;
        Ok(all.into_iter().min_by_key(|nearest| nearest.distance).expect("there is a component"))
    }

    /// The nearest possible world of each distinct row; missing cells are free.
    pub fn nearest_batch(&self, records: &Records) -> Result<Vec<Nearest>, QueryError> {
        let mut best = self.components[self.groups[0][0]].nearest_batch(records)?;
        for group in &self.groups[1..] {
            for (best, other) in best.iter_mut().zip(self.components[group[0]].nearest_batch(records)?) {
                if other.distance < best.distance {
                    *best = other;
                }
            }
        }
        Ok(best)
    }

    /// The log-likelihood of each distinct row seen through a channel that changes every cell with probability
    /// `epsilon`.
    ///
    /// Like [`crate::Circuit::log_likelihoods_noisy`]; exact, since the channel is linear in the distribution.
    pub fn log_likelihoods_noisy(&self, records: &Records, epsilon: f64) -> Result<Vec<f64>, QueryError> {
        let mut answers = vec![LOG_ZERO; records.len()];
        for (circuit, weight) in self.components.iter().zip(&self.weights) {
            let logs = circuit.log_likelihoods_noisy(records, epsilon)?;
            answers.iter_mut().zip(logs).for_each(|(sum, log)| *sum = log_add(*sum, weight.ln() + log));
        }
        Ok(answers)
    }

    /// The noise under which these records, usually for validation, are most likely; like
    /// [`crate::Circuit::fit_noise`].
    pub fn fit_noise(&self, records: &Records) -> Result<NoiseFit, QueryError> {
        self.components.iter().try_for_each(|circuit| circuit.check_channel(records))?;
        let noisy =
            |epsilon| self.log_likelihoods_noisy(records, epsilon).expect("records that fit, noise in its range");
        NoiseFit::search(records, noisy)
    }

    /// A probable world that agrees with evidence, and proved bounds on the log-probability of the most probable one.
    /// The lower bound is that of the world itself. If both are equal, the world *is* the most probable one.
    ///
    /// Lower bound: the best, under the mixture, of the most probable worlds of the components. Upper bound:
    /// `Σ weight · max P(w)`. The bounds meet if the components agree on their most probable world. Cost: elements of
    /// all components, times the number of components.
    ///
    /// ```
    /// use slopp::{Mixture, infer::Evidence};
    /// let psdd = slopp::example::psdd();
    /// let (world, log_probability) = psdd.mpe(&Evidence::none(4))?;
    /// let (best, [_, log_upper]) = Mixture::uniform([psdd.into()])?.mpe_bounds(&Evidence::none(4))?;
    /// assert_eq!(best, world);
    /// assert!((log_upper - log_probability).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mpe_bounds(&self, evidence: &Evidence) -> Result<(Vec<bool>, [f64; 2]), QueryError> {
        self.first().check_evidence(evidence)?;
        let mut best: Option<(Vec<bool>, f64)> = None;
        let mut scratch = Vec::new();
        for circuit in &self.components {
            let Some((world, _)) = circuit.best_derivation(evidence, &mut scratch) else { continue };
            let log_probability = self.log_probability(&world)?;
            if best.as_ref().is_none_or(|(_, log)| log_probability > *log) {
                best = Some((world, log_probability));
            }
        }
        let (world, log_probability) = best.ok_or(QueryError::ImpossibleEvidence)?;
        let uppers = self.weighed().map(|(log_weight, circuit)| {
            log_weight + log_upper_bound(circuit, evidence, circuit.deterministic().is_ok())
        });
        // Rounding must not put the bound below the world that was found.
        let log_upper = log_sum(uppers).min(self.log_evidence(evidence)?).max(log_probability);
        Ok((world, [log_probability, log_upper]))
    }

    /// `ln (weight · P(evidence))` of every component.
    pub(super) fn log_joint(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError> {
        self.weighed().map(|(log_weight, circuit)| Ok(log_weight + circuit.log_evidence(evidence)?)).collect()
    }

    /// `ln (weight · P(row))` of every component, by row.
    pub(crate) fn log_joint_batch(&self, records: &Records) -> Result<Vec<Vec<f64>>, QueryError> {
        let of = |i: usize| self.log_likelihoods_of(&[i], records);
        (0..self.components.len()).map(of).collect()
    }

    /// `ln Σ weight · P(row)` over some components.
    fn log_likelihoods_of(&self, components: &[usize], records: &Records) -> Result<Vec<f64>, QueryError> {
        let mut answers = vec![LOG_ZERO; records.len()];
        for &i in components {
            let log_weight = self.weights[i].ln();
            let found = self.components[i].log_likelihoods(records)?;
            answers.iter_mut().zip(found).for_each(|(sum, log)| *sum = log_add(*sum, log_weight + log));
        }
        Ok(answers)
    }
}

answer_by_methods!(Mixture);

/// Normalised numbers, from their logarithms; `None` if all are zero.
pub(crate) fn posterior(mut logs: Vec<f64>) -> Option<Vec<f64>> {
    let total = log_sum(logs.iter().copied());
    logs.iter_mut().for_each(|log| *log = (*log - total).exp());
    (total > LOG_ZERO).then_some(logs)
}

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

impl Mixture {
    /// Draws `count` independent worlds from the distribution given evidence.
    ///
    /// Same seed, same worlds, on any number of threads; no rejection, however unlikely the evidence.
    ///
    /// ```
    /// use slopp::{Mixture, infer::Evidence};
    /// let mixture = Mixture::uniform([slopp::example::psdd().into(), slopp::example::psdd().into()])?;
    /// let given = Evidence::from_lits(4, [slopp::Var(0).is(true)])?;
    /// assert!(mixture.sample(100, &given, 7)?.worlds().all(|world| world[0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample(&self, count: usize, evidence: &Evidence, seed: u64) -> Result<Samples, QueryError> {
        Ok(Draws::new(self, evidence)?.worlds(0..count, seed))
    }

    /// Like [`Mixture::sample`], in parts of bounded size: the samples need not fit in memory.
    pub fn sample_in_parts<'a>(
        &'a self,
        count: usize,
        evidence: &Evidence,
        seed: u64,
    ) -> Result<impl Iterator<Item = Samples> + use<'a>, QueryError> {
        let draws = Draws::new(self, evidence)?;
        Ok(parts(count).map(move |part| draws.worlds(part, seed)))
    }

    /// Completes each record, in the order of [`Records::original`], by its own draw given its known cells; `None` if
    /// it is impossible.
    pub fn sample_batch(&self, records: &Records, seed: u64) -> Result<Vec<Option<Vec<bool>>>, QueryError> {
        let shares = self.component_posterior_batch(records)?;
        let completers: Vec<Completer<'_>> = self.components.iter().map(|circuit| Completer::new(circuit)).collect();
        let scratch = || -> Vec<Scratch> { completers.iter().map(|_| Scratch::default()).collect() };
        Ok(complete_records(records, scratch, |scratch, row, places| {
            let evidence = Evidence::from_row(records, row);
            // Made only for chosen components, which are few if a row has few records.
            let mut draws: Vec<Option<Draw<'_>>> = completers.iter().map(|_| None).collect();
            let complete = |&place: &u32| {
                let random = &mut Random::stream(seed, place.into());
                let chosen = random.choose(shares[row].as_ref()?)?;
                if draws[chosen].is_none() {
                    draws[chosen] = completers[chosen].draw(&evidence, &mut scratch[chosen]);
                }
                Some(draws[chosen].as_ref()?.one(random))
            };
            places.iter().map(complete).collect()
        }))
    }
}

/// The posteriors of the components under which the evidence is possible, ready to draw from.
struct Draws<'a> {
    variables: usize,
    shares: Vec<f64>,
    draws: Vec<Draw<'a>>,
}

impl<'a> Draws<'a> {
    fn new(mixture: &'a Mixture, evidence: &Evidence) -> Result<Draws<'a>, QueryError> {
        let mut draws = Draws { variables: mixture.var_count(), shares: Vec::new(), draws: Vec::new() };
        for (share, circuit) in mixture.component_posterior(evidence)?.into_iter().zip(&mixture.components) {
            if share > 0.0 {
                draws.shares.push(share);
                draws.draws.push(Draw::new(circuit, evidence)?);
            }
        }
        Ok(draws)
    }

    /// A range of the worlds of a seed; it must start at a block.
    fn worlds(&self, range: Range<usize>, seed: u64) -> Samples {
        draw_worlds(range, self.variables, seed, |random, stack, row| {
            let chosen = random.choose(&self.shares).expect("shares add up to one");
            self.draws[chosen].world(random, stack, row);
        })
    }
}
