//! Posterior marginals of single variables, and the circuit given evidence.

use super::lanes::{BATCH, Flows, Lanes, Linear};
use super::{Evidence, QueryError, logpass};
use crate::circuit::{Circuit, Node, Weights};
use crate::data::Records;
use crate::logspace::LOG_ZERO;
use crate::var::{Lit, Var};
use rayon::prelude::*;

impl Circuit {
    /// `P(x = true | evidence)` for every variable `x`.
    ///
    /// The flow of a node is the probability that the posterior reaches it: one for the root, and
    /// `flow(sum) · θᵢ P(prime) P(sub) / P(sum)` for an element; a marginal is the flow into its leaves. One pass up,
    /// one down. Cost: elements. Darwiche, *A differential approach to inference in Bayesian networks* (2003).
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::Evidence};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?;
    /// let marginals = circuit.marginals(&Evidence::none(2))?;
    /// assert!((marginals[0] - 1.0).abs() < 1e-12 && (marginals[1] - 0.75).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn marginals(&self, evidence: &Evidence) -> Result<Vec<f64>, QueryError> {
        let posterior = Posterior::new(self, evidence)?;
        Ok(posterior.marginals(self, evidence, &posterior.flows(self)))
    }

    /// The marginals given each distinct row as evidence; `None` where the row is impossible.
    ///
    /// The batch form of [`Circuit::marginals`]. Cost: elements × records.
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
    /// records.push([Some(true), None], 2.0);
    /// records.push([Some(false), None], 1.0);
    /// let marginals = circuit.marginals_batch(&records.finish())?;
    /// assert!((marginals[0].as_ref().unwrap()[1] - 0.75).abs() < 1e-12);
    /// assert_eq!(marginals[1], None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn marginals_batch(&self, records: &Records) -> Result<Vec<Option<Vec<f64>>>, QueryError> {
        self.check_records(records)?;
        let linear = Linear::new(self);
        let mut answers = vec![None; records.len()];
        answers.par_chunks_mut(BATCH).enumerate().for_each_init(
            || (Lanes::<BATCH>::new(self), Trues(vec![[0.0; BATCH]; self.var_count()])),
            |(lanes, marginals), (batch, answers)| {
                lanes.set_rows(records, BATCH * batch);
                lanes.upward(self, &linear);
                marginals.0.fill([0.0; BATCH]);
                if (0..answers.len()).any(|lane| !lanes.is_lost(lane)) {
                    lanes.downward(self, &linear, marginals);
                }
                for (lane, answer) in answers.iter_mut().enumerate() {
                    let evidence = Evidence::from_row(records, BATCH * batch + lane);
                    *answer = if lanes.is_lost(lane) {
                        self.marginals(&evidence).ok()
                    } else if lanes.log_evidence(lane) == LOG_ZERO {
                        None
                    } else {
                        let computed = marginals.0.iter().map(|of_var| of_var[lane]);
                        Some(computed.enumerate().map(|(i, p)| certain(&evidence, i, p)).collect())
                    };
                }
            },
        );
        Ok(answers)
    }
}

impl Posterior {
    /// The probability that the posterior reaches each node.
    pub(super) fn flows(&self, circuit: &Circuit) -> Vec<f64> {
        let mut flows = vec![0.0; circuit.nodes().len()];
        flows[circuit.root().index()] = 1.0;
        for id in circuit.ids().rev() {
            let flow = flows[id.index()];
            for (e, (element, _)) in circuit.element_range(id).zip(circuit.elements_of(id)) {
                let used = flow * self.parameters.elements[e];
                flows[element.prime.index()] += used;
                flows[element.sub.index()] += used;
            }
        }
        flows
    }

    /// The marginals of all variables, from the flows.
    pub(super) fn marginals(&self, circuit: &Circuit, evidence: &Evidence, flows: &[f64]) -> Vec<f64> {
        let mut marginals = vec![0.0; circuit.var_count()];
        for (node, flow) in circuit.nodes().iter().zip(flows) {
            match *node {
                Node::Literal(lit) if lit.value => marginals[lit.var.index()] += flow,
                Node::Top { var, slot } => {
                    marginals[var.index()] += flow * self.parameters.tops[slot as usize][1];
                }
                _ => {}
            }
        }
        marginals.iter().enumerate().map(|(i, &p)| certain(evidence, i, p)).collect()
    }
}

/// A marginal without rounding errors: exact where the value is known, at most one elsewhere.
pub(crate) fn certain(evidence: &Evidence, var: usize, computed: f64) -> f64 {
    evidence.value(Var(var as u32)).map_or(computed.min(1.0), f64::from)
}

/// Adds up the flows into *true*, by variable.
struct Trues<const L: usize>(Vec<[f64; L]>);

impl<const L: usize> Trues<L> {
    fn add(&mut self, var: Var, flow: &[f64; L]) {
        self.0[var.index()].iter_mut().zip(flow).for_each(|(sum, flow)| *sum += flow);
    }
}

impl<const L: usize> Flows<L> for Trues<L> {
    fn literal(&mut self, lit: Lit, flow: &[f64; L]) {
        if lit.value {
            self.add(lit.var, flow);
        }
    }

    fn top(&mut self, var: Var, _slot: usize, [_, flow]: [&[f64; L]; 2]) {
        self.add(var, flow);
    }
}

/// The distribution given evidence, as parameters of the same circuit.
///
/// The posterior of a smooth, decomposable circuit is the same circuit with `θᵢ P(prime) P(sub) / P(sum)` in place of
/// `θᵢ`; parameters of nodes that the evidence excludes are zero.
pub(super) struct Posterior {
    /// Plain numbers, not logarithms.
    pub(super) parameters: Weights,
}

impl Posterior {
    pub(super) fn new(circuit: &Circuit, evidence: &Evidence) -> Result<Posterior, QueryError> {
        circuit.check_evidence(evidence)?;
        Posterior::with(circuit, &Linear::new(circuit), &mut Lanes::new(circuit), evidence)
    }

    /// The same with given parameters and scratch; the evidence has the right length.
    pub(super) fn with(
        circuit: &Circuit,
        linear: &Linear,
        lanes: &mut Lanes<1>,
        evidence: &Evidence,
    ) -> Result<Posterior, QueryError> {
        lanes.set_evidence(0, evidence);
        lanes.upward(circuit, linear);
        let (log_evidence, parameters) = if lanes.is_lost(0) {
            let values = logpass::log_values(circuit, evidence);
            (values[circuit.root().index()], logpass::shares(circuit, evidence, &values))
        } else {
            (lanes.log_evidence(0), lanes.shares(circuit, linear, 0))
        };
        if log_evidence == LOG_ZERO {
            return Err(QueryError::ImpossibleEvidence);
        }
        Ok(Posterior { parameters })
    }
}
