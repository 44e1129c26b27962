//! The most probable worlds, in order.

use super::ranking::{Judge, Ranking};
use super::{Evidence, QueryError};
use crate::circuit::Deterministic;
use crate::data::Records;
use crate::logic::Limits;
use crate::var::Lit;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

impl Deterministic {
    /// The `count` most probable worlds that agree with evidence, with their log-probabilities, most probable first.
    ///
    /// Exact. Every node ranks its worlds lazily: the next one comes from a heap of elements, each with a rank in its
    /// prime and a rank in its sub. Fewer worlds if there are fewer. Memory is limited. Equally probable worlds come in
    /// an order fixed by the circuit. Cost: elements once, then per world at most its sums times a logarithm. Huang and
    /// Chiang, *Better k-best parsing* (2005), algorithm 3.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::Evidence};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// let worlds = psdd.top_worlds(&Evidence::none(2), 10, &slopp::logic::Limits::default())?;
    /// assert_eq!(worlds.len(), 2);
    /// assert_eq!((&worlds[0].0[..], &worlds[1].0[..]), (&[true, true][..], &[true, false][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn top_worlds(
        &self,
        evidence: &Evidence,
        count: usize,
        limits: &Limits,
    ) -> Result<Vec<(Vec<bool>, f64)>, QueryError> {
        self.check_evidence(evidence)?;
        self.ranked(evidence, count, 0, limits)?.ok_or(QueryError::ImpossibleEvidence)
    }

    /// The most probable completions of each distinct row; `None` where the row is impossible.
    ///
    /// The batch form of [`Deterministic::top_worlds`].
    ///
    /// ```
    /// # use slopp::{Builder, Names, RecordsBuilder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// let mut records = RecordsBuilder::new(Names::numbered(2));
    /// records.push([Some(true), None], 1.0);
    /// let worlds = psdd.top_worlds_batch(&records.finish(), 2, &slopp::logic::Limits::default())?;
    /// assert_eq!(worlds[0].as_ref().map(|worlds| worlds.len()), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::type_complexity)]
    pub fn top_worlds_batch(
        &self,
        records: &Records,
        count: usize,
        limits: &Limits,
    ) -> Result<Vec<Option<Vec<(Vec<bool>, f64)>>>, QueryError> {
        self.check_records(records)?;
        let found = AtomicUsize::new(0);
        let world = size_of::<(Vec<bool>, f64)>() + self.var_count();
        let rows = (0..records.len()).into_par_iter().map(|row| {
            let others = found.load(Ordering::Relaxed) * world;
            let worlds = self.ranked(&Evidence::from_row(records, row), count, others, limits)?;
            found.fetch_add(worlds.as_ref().map_or(0, Vec::len), Ordering::Relaxed);
            Ok(worlds)
        });
        rows.collect()
    }

    #[allow(clippy::type_complexity)]
    fn ranked(
        &self,
        evidence: &Evidence,
        count: usize,
        others: usize,
        limits: &Limits,
    ) -> Result<Option<Vec<(Vec<bool>, f64)>>, QueryError> {
        let mut ranking = Ranking::new(self, Agreeing(evidence));
        ranking.is_possible().then(|| ranking.best(count, others, limits)).transpose()
    }
}

/// Ranks worlds by their log-probability; those that disagree with evidence are excluded.
struct Agreeing<'a>(&'a Evidence);

impl Judge for Agreeing<'_> {
    type Score = f64;

    fn leaf(&self, lit: Lit, log: f64) -> Option<f64> {
        self.0.allows(lit).then_some(log)
    }

    fn parameter(&self, log: f64) -> f64 {
        log
    }
}
