//! Expected counts: the share of each parameter in the records.

use super::lanes::{BATCH, Flows, Lanes, Linear};
use super::marginals::Posterior;
use super::{Evidence, QueryError, logpass};
use crate::circuit::{Circuit, Weights};
use crate::data::Records;
use crate::logspace::LOG_ZERO;
use crate::var::Var;
use rayon::prelude::*;

/// Expected counts of records, and their likelihood.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// For each parameter, the expected weight of the records that use it.
    pub weights: Weights,
    /// The weighted log-likelihood of the possible records.
    pub log_likelihood: f64,
    /// The total weight of the possible records.
    pub possible: f64,
    /// The total weight of the impossible records; they count nowhere.
    pub impossible: f64,
}

impl Circuit {
    /// The expected weight of the records that use each parameter: the E step of EM.
    ///
    /// `Σ weight · P(parameter used | record)`, over mixtures and missing cells alike. One pass up and one down. On
    /// complete records of a deterministic circuit these are the counts of
    /// [`count_records`](crate::Deterministic::count_records). Cost: elements × records.
    ///
    /// ```
    /// # use slopp::{Builder, Names, RecordsBuilder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?;
    /// let mut records = RecordsBuilder::new(Names::numbered(2));
    /// records.push([Some(true), None], 4.0);
    /// let expected = circuit.expected_counts(&records.finish())?;
    /// assert!((expected.weights.tops[0][1] - 3.0).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expected_counts(&self, records: &Records) -> Result<Expected, QueryError> {
        self.expected_counts_of(records, records.weights())
    }

    /// The same of rows with other weights, which may be zero.
    pub(crate) fn expected_counts_of(&self, records: &Records, weights: &[f64]) -> Result<Expected, QueryError> {
        /// Fixed, not by threads: the order of float sums must not depend on them.
        const PARTS: usize = 8;
        self.check_records(records)?;
        let linear = Linear::new(self);
        let batches: Vec<usize> = (0..records.len().div_ceil(BATCH)).collect();
        let parts: Vec<Expected> = batches
            .par_chunks(batches.len().div_ceil(PARTS).max(1))
            .map(|batches| {
                let mut lanes = Lanes::<BATCH>::new(self);
                let mut adding = Adding { expected: Expected::nothing(self), weights: [0.0; BATCH] };
                for &batch in batches {
                    self.expect_batch(records, weights, batch, &linear, &mut lanes, &mut adding);
                }
                adding.expected
            })
            .collect();
        Ok(parts.into_iter().fold(Expected::nothing(self), |mut sum, part| {
            sum.weights.add(&part.weights);
            sum.log_likelihood += part.log_likelihood;
            sum.possible += part.possible;
            sum.impossible += part.impossible;
            sum
        }))
    }

    fn expect_batch(
        &self,
        records: &Records,
        weights: &[f64],
        batch: usize,
        linear: &Linear,
        lanes: &mut Lanes<BATCH>,
        adding: &mut Adding<BATCH>,
    ) {
        lanes.set_rows(records, BATCH * batch);
        lanes.upward(self, linear);
        adding.weights = [0.0; BATCH];
        for (lane, &weight) in weights[BATCH * batch..].iter().take(BATCH).enumerate() {
            let lost = lanes.is_lost(lane);
            let evidence = || Evidence::from_row(records, BATCH * batch + lane);
            let log_evidence = match lost {
                false => lanes.log_evidence(lane),
                true => logpass::log_values(self, &evidence())[self.root().index()],
            };
            let expected = &mut adding.expected;
            if log_evidence == LOG_ZERO {
                expected.impossible += weight;
                continue;
            }
            expected.possible += weight;
            expected.log_likelihood += weight * log_evidence;
            match lost {
                false => adding.weights[lane] = weight,
                true => {
                    let posterior = Posterior::new(self, &evidence()).expect("the record is possible");
                    posterior.add_used(self, weight, &mut expected.weights);
                }
            }
        }
        if adding.weights != [0.0; BATCH] {
            lanes.downward(self, linear, adding);
        }
    }
}

impl Expected {
    fn nothing(circuit: &Circuit) -> Expected {
        let shape = circuit.log_parameters();
        let weights = Weights::zeros(shape.tops.len(), shape.elements.len());
        Expected { weights, log_likelihood: 0.0, possible: 0.0, impossible: 0.0 }
    }
}

/// Adds up flows times the weights of the lanes; lanes of weight zero may hold anything.
struct Adding<const L: usize> {
    expected: Expected,
    weights: [f64; L],
}

impl<const L: usize> Adding<L> {
    fn weighed(&self, flow: &[f64; L]) -> f64 {
        let lanes = flow.iter().zip(&self.weights);
        lanes.map(|(flow, &weight)| if weight > 0.0 { flow * weight } else { 0.0 }).sum()
    }
}

impl<const L: usize> Flows<L> for Adding<L> {
    fn top(&mut self, _var: Var, slot: usize, flows: [&[f64; L]; 2]) {
        let used = flows.map(|flow| self.weighed(flow));
        let sum = &mut self.expected.weights.tops[slot];
        sum[0] += used[0];
        sum[1] += used[1];
    }

    fn element(&mut self, element: usize, flow: &[f64; L]) {
        let used = self.weighed(flow);
        self.expected.weights.elements[element] += used;
    }
}

impl Posterior {
    /// Adds the flow through every parameter, times a weight.
    fn add_used(&self, circuit: &Circuit, weight: f64, sums: &mut Weights) {
        let flows = self.flows(circuit);
        for (id, node) in circuit.ids().zip(circuit.nodes()) {
            let flow = weight * flows[id.index()];
            if let crate::Node::Top { slot, .. } = *node {
                for (sum, share) in sums.tops[slot as usize].iter_mut().zip(self.parameters.tops[slot as usize]) {
                    *sum += flow * share;
                }
            }
            for e in circuit.element_range(id) {
                sums.elements[e] += flow * self.parameters.elements[e];
            }
        }
    }
}
