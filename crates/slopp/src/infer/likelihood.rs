//! Probabilities of worlds, evidence and records under mixture semantics.

use super::lanes::{BATCH, Lanes, Linear};
use super::{Distribution, Evidence, QueryError, logpass};
use crate::circuit::Circuit;
use crate::data::Records;
use crate::logspace::LOG_ZERO;
use rayon::prelude::*;

impl Circuit {
    /// The log-probability of a world, −∞ if it is impossible.
    ///
    /// `P(x,y) = Σᵢ θᵢ Pᵢ(x) Qᵢ(y)` over all elements of a sum. Cost: elements.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?;
    /// assert!((circuit.log_probability(&[true, false])?.exp() - 0.25).abs() < 1e-12);
    /// assert_eq!(circuit.log_probability(&[false, false])?, f64::NEG_INFINITY);
    /// assert!(circuit.log_probability(&[true]).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_probability(&self, world: &[bool]) -> Result<f64, QueryError> {
        self.check_world(world)?;
        self.log_evidence(&Evidence::of_world(world))
    }

    /// Whether a world is possible.
    pub fn is_possible(&self, world: &[bool]) -> Result<bool, QueryError> {
        // Only impossible worlds are zero: underflow goes to log space.
        Ok(self.log_probability(world)? > LOG_ZERO)
    }

    /// The log-probability of evidence, −∞ if it is impossible.
    ///
    /// `P(e)`: the sum over all worlds that agree with `e`, by giving both values of unknown variables weight one.
    /// Cost: elements. The batch form is [`Circuit::log_likelihoods`] of records with missing cells.
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
    /// let evidence = Evidence::from_lits(2, [Var(1).is(true)])?;
    /// assert!((circuit.log_evidence(&evidence)?.exp() - 0.75).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_evidence(&self, evidence: &Evidence) -> Result<f64, QueryError> {
        self.check_evidence(evidence)?;
        let mut lanes = Lanes::<1>::new(self);
        lanes.set_evidence(0, evidence);
        lanes.upward(self, &Linear::new(self));
        if lanes.is_lost(0) {
            return Ok(logpass::log_values(self, evidence)[self.root().index()]);
        }
        Ok(lanes.log_evidence(0))
    }

    /// The log-likelihood of each distinct row, −∞ if it is impossible; missing cells are summed out.
    ///
    /// Mixture semantics, for any circuit. Cost: elements × records. [`Records::original`] maps records to rows;
    /// [`Records::weights`] counts them.
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
    /// records.push([None, Some(true)], 1.0);
    /// assert!((circuit.log_likelihoods(&records.finish())?[0].exp() - 0.75).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError> {
        self.check_records(records)?;
        let linear = Linear::new(self);
        let mut answers = vec![0.0; records.len()];
        answers.par_chunks_mut(BATCH).enumerate().for_each_init(
            || Lanes::<BATCH>::new(self),
            |lanes, (batch, answers)| {
                lanes.set_rows(records, BATCH * batch);
                lanes.upward(self, &linear);
                for (lane, answer) in answers.iter_mut().enumerate() {
                    *answer = match lanes.is_lost(lane) {
                        false => lanes.log_evidence(lane),
                        true => {
                            let evidence = Evidence::from_row(records, BATCH * batch + lane);
                            logpass::log_values(self, &evidence)[self.root().index()]
                        }
                    };
                }
            },
        );
        Ok(answers)
    }

    /// The probability of an event given evidence.
    ///
    /// `P(a | e) = P(a, e) / P(e)`. Cost: elements. An error if `P(e)` is zero.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::{Evidence, QueryError}};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?;
    /// let x = Evidence::from_lits(2, [Var(0).is(true)])?;
    /// let y = Evidence::from_lits(2, [Var(1).is(true)])?;
    /// assert!((circuit.conditional(&y, &x)? - 0.75).abs() < 1e-12);
    /// let not_x = Evidence::from_lits(2, [Var(0).is(false)])?;
    /// assert_eq!(circuit.conditional(&y, &not_x), Err(QueryError::ImpossibleEvidence));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conditional(&self, event: &Evidence, given: &Evidence) -> Result<f64, QueryError> {
        self.check_evidence(event)?;
        let log_given = self.log_evidence(given)?;
        if log_given == LOG_ZERO {
            return Err(QueryError::ImpossibleEvidence);
        }
        let Some(both) = event.and(given) else { return Ok(0.0) };
        Ok((self.log_evidence(&both)? - log_given).exp().min(1.0))
    }

    /// The probability of an event given each distinct row as evidence; `None` where the row is impossible.
    ///
    /// The batch form of [`Circuit::conditional`]. Cost: twice elements × records.
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
    /// let y = slopp::infer::Evidence::from_lits(2, [Var(1).is(true)])?;
    /// let conditionals = circuit.conditional_batch(&y, &records.finish())?;
    /// assert!((conditionals[0].unwrap() - 0.75).abs() < 1e-12);
    /// assert_eq!(conditionals[1], None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn conditional_batch(&self, event: &Evidence, given: &Records) -> Result<Vec<Option<f64>>, QueryError> {
        Distribution::conditional_batch(self, event, given)
    }
}
