//! The most probable worlds, in order.

use super::mpe::log_maxima;
use super::{Evidence, QueryError};
use crate::circuit::{Deterministic, Node, NodeId};
use crate::data::Records;
use crate::logspace::LOG_ZERO;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

impl Deterministic {
    /// The `count` most probable worlds that agree with evidence, with their log-probabilities, most probable first.
    ///
    /// Exact. Every node ranks its worlds lazily: the next one comes from a heap of elements, each with a rank in its
    /// prime and a rank in its sub. Fewer worlds if there are not so many. Equally probable worlds come in an order
    /// fixed by the circuit. Cost: elements once, then per world at most its sums times a logarithm.
    /// Huang and Chiang, *Better k-best parsing* (2005), algorithm 3.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::Evidence};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify()?;
    /// let worlds = psdd.top_worlds(&Evidence::none(2), 10)?;
    /// assert_eq!(worlds.len(), 2);
    /// assert_eq!((&worlds[0].0[..], &worlds[1].0[..]), (&[true, true][..], &[true, false][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn top_worlds(&self, evidence: &Evidence, count: usize) -> Result<Vec<(Vec<bool>, f64)>, QueryError> {
        self.check_evidence(evidence)?;
        self.ranked(evidence, count).ok_or(QueryError::ImpossibleEvidence)
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
    /// # let psdd = builder.finish(sum)?.certify()?;
    /// let mut records = RecordsBuilder::new(Names::numbered(2));
    /// records.push([Some(true), None], 1.0);
    /// let worlds = psdd.top_worlds_batch(&records.finish(), 2)?;
    /// assert_eq!(worlds[0].as_ref().map(|worlds| worlds.len()), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::type_complexity)]
    pub fn top_worlds_batch(
        &self,
        records: &Records,
        count: usize,
    ) -> Result<Vec<Option<Vec<(Vec<bool>, f64)>>>, QueryError> {
        self.check_records(records)?;
        let rows = (0..records.len()).into_par_iter();
        Ok(rows.map(|row| self.ranked(&Evidence::from_row(records, row), count)).collect())
    }

    fn ranked(&self, evidence: &Evidence, count: usize) -> Option<Vec<(Vec<bool>, f64)>> {
        let mut ranking = Ranking::new(self, evidence);
        if ranking.maxima[self.root().index()] == LOG_ZERO {
            return None;
        }
        let ranks = 0..u32::try_from(count).unwrap_or(u32::MAX);
        Some(ranks.map_while(|rank| ranking.log_value(self.root(), rank).map(|x| (ranking.world(rank), x))).collect())
    }
}

/// The product of the `prime`-th world of a prime and the `sub`-th of a sub.
#[derive(Clone, Copy)]
struct Candidate {
    log_value: f64,
    /// Position among the elements of the circuit.
    element: u32,
    prime: u32,
    sub: u32,
}

impl Candidate {
    /// Greater is better; among equals the first element and the lowest ranks are.
    fn key(&self) -> (u32, u32, u32) {
        (self.element, self.prime, self.sub)
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.log_value.total_cmp(&other.log_value).then_with(|| other.key().cmp(&self.key()))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// What is known of the ranking of one sum.
#[derive(Default)]
struct Ranked {
    best: Vec<Candidate>,
    heap: BinaryHeap<Candidate>,
    /// Ranks that follow the last of `best` and are not in the heap yet.
    open: Vec<(u32, u32, u32)>,
}

struct Ranking<'a> {
    circuit: &'a Deterministic,
    evidence: &'a Evidence,
    maxima: Vec<f64>,
    sums: Vec<Option<Box<Ranked>>>,
}

/// What is known of the log-value of a rank.
enum Known {
    Value(f64),
    NoSuchRank,
    NotYet,
}

impl<'a> Ranking<'a> {
    fn new(circuit: &'a Deterministic, evidence: &'a Evidence) -> Ranking<'a> {
        let mut maxima = Vec::new();
        log_maxima(circuit, evidence, &mut maxima);
        Ranking { circuit, evidence, maxima, sums: (0..circuit.nodes().len()).map(|_| None).collect() }
    }

    /// The log-value of the world of this rank below a node.
    fn log_value(&mut self, node: NodeId, rank: u32) -> Option<f64> {
        let mut stack = vec![(node, rank)];
        while let Some(&(node, rank)) = stack.last() {
            if let Known::NotYet = self.known(node, rank) {
                stack.extend(self.advance(node));
            } else {
                stack.pop();
            }
        }
        match self.known(node, rank) {
            Known::Value(value) => Some(value),
            _ => None,
        }
    }

    fn known(&self, node: NodeId, rank: u32) -> Known {
        let maximum = self.maxima[node.index()];
        if maximum == LOG_ZERO {
            return Known::NoSuchRank;
        }
        if rank == 0 {
            return Known::Value(maximum);
        }
        match self.circuit.node(node) {
            Node::Literal(_) => Known::NoSuchRank,
            Node::Top { var, slot } if rank == 1 && self.evidence.value(var).is_none() => {
                let [log_false, log_true] = self.circuit.log_parameters().tops[slot as usize];
                Known::Value(log_false.min(log_true))
            }
            Node::Top { .. } => Known::NoSuchRank,
            Node::Sum { .. } => match &self.sums[node.index()] {
                None => Known::NotYet,
                Some(ranked) => match ranked.best.get(rank as usize) {
                    Some(candidate) => Known::Value(candidate.log_value),
                    None if ranked.open.is_empty() && ranked.heap.is_empty() => Known::NoSuchRank,
                    None => Known::NotYet,
                },
            },
        }
    }

    /// Finds the next world of a sum, or tells what has to be known before.
    fn advance(&mut self, node: NodeId) -> Option<(NodeId, u32)> {
        let mut ranked = match self.sums[node.index()].take() {
            Some(ranked) => ranked,
            None => {
                let heap = self.circuit.element_range(node).filter_map(|e| self.candidate((e as u32, 0, 0)).ok()?);
                Box::new(Ranked { heap: heap.collect(), ..Ranked::default() })
            }
        };
        let mut wanted = None;
        while let Some(&ranks) = ranked.open.last() {
            match self.candidate(ranks) {
                Ok(candidate) => ranked.heap.extend(candidate),
                Err(child) => {
                    wanted = Some(child);
                    break;
                }
            }
            ranked.open.pop();
        }
        if wanted.is_none()
            && let Some(next) = ranked.heap.pop()
        {
            // Every pair of ranks follows exactly one other, so none is found twice.
            ranked.open.push((next.element, next.prime, next.sub + 1));
            if next.sub == 0 {
                ranked.open.push((next.element, next.prime + 1, 0));
            }
            ranked.best.push(next);
        }
        self.sums[node.index()] = Some(ranked);
        wanted
    }

    /// The candidate with these ranks, `None` if there is none; an error names the child that has to go on first.
    fn candidate(&self, (element, prime, sub): (u32, u32, u32)) -> Result<Option<Candidate>, (NodeId, u32)> {
        let children = self.circuit.elements()[element as usize];
        let theta = self.circuit.log_parameters().elements[element as usize];
        match (self.known(children.prime, prime), self.known(children.sub, sub)) {
            (Known::NoSuchRank, _) | (_, Known::NoSuchRank) => Ok(None),
            (Known::NotYet, _) => Err((children.prime, prime)),
            (_, Known::NotYet) => Err((children.sub, sub)),
            (Known::Value(p), Known::Value(s)) => Ok(Some(Candidate { log_value: theta + p + s, element, prime, sub })),
        }
    }

    /// The world of this rank below the root.
    fn world(&mut self, rank: u32) -> Vec<bool> {
        let mut world = vec![false; self.circuit.var_count()];
        let mut stack = vec![(self.circuit.root(), rank)];
        while let Some((node, rank)) = stack.pop() {
            match self.circuit.node(node) {
                Node::Literal(lit) => world[lit.var.index()] = lit.value,
                Node::Top { var, slot } => {
                    let [log_false, log_true] = self.circuit.log_parameters().tops[slot as usize];
                    let likelier = self.evidence.value(var).unwrap_or(log_true > log_false);
                    world[var.index()] = likelier == (rank == 0);
                }
                Node::Sum { .. } => {
                    // The first rank is known from the maxima alone, without its elements.
                    while self.sums[node.index()].as_ref().is_none_or(|ranked| ranked.best.len() <= rank as usize) {
                        let wanted = self.advance(node);
                        debug_assert!(wanted.is_none(), "all ranks below a known one are known");
                    }
                    let ranked = self.sums[node.index()].as_ref().expect("just ranked");
                    let Candidate { element, prime, sub, .. } = ranked.best[rank as usize];
                    let children = self.circuit.elements()[element as usize];
                    stack.extend([(children.prime, prime), (children.sub, sub)]);
                }
            }
        }
        world
    }
}
