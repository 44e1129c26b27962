//! Worlds in the order of a score, lazily.
//!
//! Every node ranks its worlds on demand: the next one comes from a heap of elements, each with a rank in its prime and
//! a rank in its sub. Any score works that adds up along a derivation and whose order is kept by addition. Huang and
//! Chiang, *Better k-best parsing* (2005), algorithm 3.

use super::QueryError;
use crate::circuit::{Deterministic, Element, Node, NodeId};
use crate::limits::{Limit, Limits, array_bytes, pushed_bytes};
use crate::var::Lit;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The score of worlds; greater is better.
pub(super) trait Score: Copy {
    fn plus(self, other: Self) -> Self;
    fn compare(&self, other: &Self) -> Ordering;
}

impl Score for f64 {
    fn plus(self, other: f64) -> f64 {
        self + other
    }

    fn compare(&self, other: &f64) -> Ordering {
        self.total_cmp(other)
    }
}

/// Scores the parts of a derivation.
pub(super) trait Judge {
    /// The score of worlds.
    type Score: Score;

    /// The score of a literal, certain or from ⊤ with a log-parameter; `None` if it is excluded.
    fn leaf(&self, lit: Lit, log: f64) -> Option<Self::Score>;

    /// The score of the log-parameter of an element.
    fn parameter(&self, log: f64) -> Self::Score;
}

/// The product of the `prime`-th world of a prime and the `sub`-th of a sub.
#[derive(Clone, Copy)]
struct Candidate<S> {
    score: S,
    /// Position among the elements of the circuit.
    element: u32,
    prime: u32,
    sub: u32,
}

impl<S> Candidate<S> {
    /// Greater is better; among equals the first element and the lowest ranks win.
    fn key(&self) -> (u32, u32, u32) {
        (self.element, self.prime, self.sub)
    }
}

impl<S: Score> Ord for Candidate<S> {
    fn cmp(&self, other: &Candidate<S>) -> Ordering {
        self.score.compare(&other.score).then_with(|| other.key().cmp(&self.key()))
    }
}

impl<S: Score> PartialOrd for Candidate<S> {
    fn partial_cmp(&self, other: &Candidate<S>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: Score> PartialEq for Candidate<S> {
    fn eq(&self, other: &Candidate<S>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S: Score> Eq for Candidate<S> {}

/// The known part of the ranking of one sum.
struct Ranked<S> {
    best: Vec<Candidate<S>>,
    heap: BinaryHeap<Candidate<S>>,
    /// Ranks that follow the last of `best` and are not in the heap yet.
    open: Vec<(u32, u32, u32)>,
}

impl<S> Ranked<S> {
    fn bytes(&self) -> usize {
        array_bytes(&self.best) + array_bytes(&self.open) + size_of::<Candidate<S>>() * self.heap.capacity()
    }
}

/// Worlds with their scores.
pub(super) type Worlds<J> = Vec<(Vec<bool>, <J as Judge>::Score)>;

/// The worlds of a circuit in the order of a judge, found on demand.
pub(super) struct Ranking<'a, J: Judge> {
    circuit: &'a Deterministic,
    judge: J,
    /// The best score below each node, `None` if all its worlds are excluded.
    maxima: Vec<Option<J::Score>>,
    sums: Vec<Option<Box<Ranked<J::Score>>>>,
    /// The memory of the ranks of all sums.
    bytes: usize,
}

/// The state of the score of a rank.
enum Known<S> {
    Score(S),
    NoSuchRank,
    NotYet,
}

impl<'a, J: Judge> Ranking<'a, J> {
    pub(super) fn new(circuit: &'a Deterministic, judge: J) -> Ranking<'a, J> {
        let mut ranking = Ranking {
            circuit,
            judge,
            maxima: Vec::with_capacity(circuit.nodes().len()),
            sums: (0..circuit.nodes().len()).map(|_| None).collect(),
            bytes: 0,
        };
        for id in circuit.ids() {
            let best = match circuit.node(id) {
                Node::Literal(lit) => ranking.judge.leaf(lit, 0.0),
                Node::Top { .. } => ranking.sides(id)[0].map(|(_, score)| score),
                Node::Sum { .. } => {
                    let scores = circuit.elements_of(id).filter_map(|(e, theta)| {
                        let both = ranking.maxima[e.prime.index()]?.plus(ranking.maxima[e.sub.index()]?);
                        Some(ranking.judge.parameter(theta).plus(both))
                    });
                    scores.reduce(|best, next| if next.compare(&best).is_gt() { next } else { best })
                }
            };
            ranking.maxima.push(best);
        }
        ranking
    }

    /// Whether any world is left.
    pub(super) fn is_possible(&self) -> bool {
        self.maxima[self.circuit.root().index()].is_some()
    }

    /// The best worlds with their scores, at most `count`; an error if they, their ranks and `others` exceed the
    /// limits.
    pub(super) fn best(&mut self, count: usize, others: usize, limits: &Limits) -> Result<Worlds<J>, QueryError> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        // Counting them costs a pass over the circuit, so only where as many are asked for.
        if count as usize > self.circuit.elements().len() {
            let (found, least) = self.least_bytes(count);
            if least > limits.bytes.saturating_sub(others) {
                return Err(QueryError::TooManyWorlds { found, limit: Limit::Bytes(limits.bytes) });
            }
        }
        self.listed(count, others, limits)
    }

    /// The same, stopped only where the limits are exceeded.
    fn listed(&mut self, count: u32, others: usize, limits: &Limits) -> Result<Worlds<J>, QueryError> {
        let (root, of_world) = (self.circuit.root(), self.world_bytes());
        let mut worlds = Vec::new();
        for rank in 0..count {
            let Some(score) = self.score(root, rank) else { break };
            worlds.push((self.world(rank), score));
            let stopped = |limit| Err(QueryError::TooManyWorlds { found: worlds.len(), limit });
            let values = worlds.len() * of_world;
            if others + self.bytes + array_bytes(&worlds) + values > limits.bytes {
                return stopped(Limit::Bytes(limits.bytes));
            }
            if limits.is_cancelled() {
                return stopped(Limit::Cancelled);
            }
        }
        Ok(worlds)
    }

    /// The bytes of the values of a world: each is a byte, and every list of them has some overhead.
    fn world_bytes(&self) -> usize {
        self.circuit.var_count() + 16
    }

    /// How many worlds would be found, up to rounding, and the bytes that they and their ranks would need at least.
    fn least_bytes(&self, count: u32) -> (usize, usize) {
        let (root, of_world) = (self.circuit.root().index(), self.world_bytes());
        let counts = self.world_counts();
        let found = counts[root].min(f64::from(count)) as usize;
        // The worlds and their ranks at the root are in arrays that grow alike, last when they were full.
        let at_root = |len: usize| {
            len * of_world + pushed_bytes::<(Vec<bool>, J::Score)>(len) + pushed_bytes::<Candidate<J::Score>>(len)
        };
        let mut below = 0;
        if found as f64 >= counts[root] {
            // All ranks of all sums below are needed, too.
            let mut is_needed = vec![false; root + 1];
            is_needed[root] = true;
            for id in self.circuit.ids().rev().filter(|id| matches!(self.circuit.node(*id), Node::Sum { .. })) {
                if !std::mem::take(&mut is_needed[id.index()]) {
                    continue;
                }
                if id.index() < root {
                    below += pushed_bytes::<Candidate<J::Score>>(counts[id.index()] as usize);
                }
                for (element, _) in self.circuit.elements_of(id) {
                    let children = [element.prime, element.sub].map(NodeId::index);
                    let is_left = children.iter().all(|&child| counts[child] > 0.0);
                    children.iter().for_each(|&child| is_needed[child] |= is_left);
                }
            }
        }
        let when_full = found.checked_ilog2().map_or(0, |log| at_root(1 << log));
        (found, when_full.max(at_root(found) + below))
    }

    /// How many worlds are left below each node, up to rounding.
    fn world_counts(&self) -> Vec<f64> {
        let mut counts: Vec<f64> = Vec::with_capacity(self.maxima.len());
        for id in self.circuit.ids() {
            counts.push(match self.circuit.node(id) {
                _ if self.maxima[id.index()].is_none() => 0.0,
                Node::Literal(_) => 1.0,
                Node::Top { .. } => self.sides(id).iter().flatten().count() as f64,
                Node::Sum { .. } => {
                    let of = |(e, _): (Element, f64)| counts[e.prime.index()] * counts[e.sub.index()];
                    self.circuit.elements_of(id).map(of).sum()
                }
            });
        }
        counts
    }

    /// The values of a ⊤ node that are left, the better one first; *false* first if they are equal.
    fn sides(&self, id: NodeId) -> [Option<(bool, J::Score)>; 2] {
        let Node::Top { var, slot } = self.circuit.node(id) else { unreachable!("only ⊤ has two sides") };
        let logs = self.circuit.log_parameters().tops[slot as usize];
        let side = |value: bool| Some((value, self.judge.leaf(var.is(value), logs[usize::from(value)])?));
        match (side(false), side(true)) {
            (Some(no), Some(yes)) if yes.1.compare(&no.1).is_gt() => [Some(yes), Some(no)],
            (None, yes) => [yes, None],
            (no, yes) => [no, yes],
        }
    }

    /// The score of the world of this rank below a node.
    fn score(&mut self, node: NodeId, rank: u32) -> Option<J::Score> {
        let mut stack = vec![(node, rank)];
        while let Some(&(node, rank)) = stack.last() {
            if let Known::NotYet = self.known(node, rank) {
                stack.extend(self.advance(node));
            } else {
                stack.pop();
            }
        }
        match self.known(node, rank) {
            Known::Score(score) => Some(score),
            _ => None,
        }
    }

    fn known(&self, node: NodeId, rank: u32) -> Known<J::Score> {
        let Some(maximum) = self.maxima[node.index()] else { return Known::NoSuchRank };
        if rank == 0 {
            return Known::Score(maximum);
        }
        match self.circuit.node(node) {
            Node::Literal(_) => Known::NoSuchRank,
            Node::Top { .. } => match self.sides(node)[1] {
                Some((_, score)) if rank == 1 => Known::Score(score),
                _ => Known::NoSuchRank,
            },
            Node::Sum { .. } => match &self.sums[node.index()] {
                None => Known::NotYet,
                Some(ranked) => match ranked.best.get(rank as usize) {
                    Some(candidate) => Known::Score(candidate.score),
                    None if ranked.open.is_empty() && ranked.heap.is_empty() => Known::NoSuchRank,
                    None => Known::NotYet,
                },
            },
        }
    }

    /// Finds the next world of a sum, or the child that has to be ranked further before.
    fn advance(&mut self, node: NodeId) -> Option<(NodeId, u32)> {
        let mut ranked = match self.sums[node.index()].take() {
            Some(ranked) => ranked,
            None => {
                let heap = self.circuit.element_range(node).filter_map(|e| self.candidate((e as u32, 0, 0)).ok()?);
                Box::new(Ranked { best: Vec::new(), heap: heap.collect(), open: Vec::new() })
            }
        };
        let before = ranked.bytes();
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
        self.bytes = (self.bytes + ranked.bytes()).saturating_sub(before);
        self.sums[node.index()] = Some(ranked);
        wanted
    }

    /// The candidate with these ranks, `None` if there is none; an error names the child to rank further first.
    fn candidate(&self, (element, prime, sub): (u32, u32, u32)) -> Result<Option<Candidate<J::Score>>, (NodeId, u32)> {
        let children = self.circuit.elements()[element as usize];
        let theta = self.circuit.log_parameters().elements[element as usize];
        match (self.known(children.prime, prime), self.known(children.sub, sub)) {
            (Known::NoSuchRank, _) | (_, Known::NoSuchRank) => Ok(None),
            (Known::NotYet, _) => Err((children.prime, prime)),
            (_, Known::NotYet) => Err((children.sub, sub)),
            (Known::Score(p), Known::Score(s)) => {
                let score = self.judge.parameter(theta).plus(p).plus(s);
                Ok(Some(Candidate { score, element, prime, sub }))
            }
        }
    }

    /// The world of this rank below the root.
    fn world(&mut self, rank: u32) -> Vec<bool> {
        let mut world = vec![false; self.circuit.var_count()];
        let mut stack = vec![(self.circuit.root(), rank)];
        while let Some((node, rank)) = stack.pop() {
            match self.circuit.node(node) {
                Node::Literal(lit) => world[lit.var.index()] = lit.value,
                Node::Top { var, .. } => {
                    world[var.index()] = self.sides(node)[rank as usize].expect("the rank is known").0;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{Factorised, SloppTree, Task};
    use crate::vtree::Vtree;

    /// Ranks worlds by their log-probability.
    struct Any;

    impl Judge for Any {
        type Score = f64;

        fn leaf(&self, _: Lit, log: f64) -> Option<f64> {
            Some(log)
        }

        fn parameter(&self, log: f64) -> f64 {
            log
        }
    }

    #[test]
    fn what_is_refused_before_the_work_would_not_fit() {
        let records = crate::example::Truth::configurations().sample(300, 1);
        let learn = |task: Task, learner: &dyn crate::learn::Learner| task.learn(learner, &()).unwrap().model;
        let (mut refused, mut all) = (0, 0);
        for seed in 0..4 {
            let vtree = Vtree::random(records.var_count(), seed).into();
            let tree = SloppTree { min_records: 20.0, ..SloppTree::default() };
            let model = learn(Task { vtree: Some(&vtree), ..Task::closed(&records) }, &tree);
            let worlds = Ranking::new(model.psdd().unwrap(), Any).world_counts().pop().unwrap() as u32;
            for count in [1, 7, 8, 9, 100, 1000, worlds - 1, worlds, u32::MAX] {
                let (found, least) = Ranking::new(model.psdd().unwrap(), Any).least_bytes(count);
                assert_eq!(found as u32, count.min(worlds));
                let tight = Limits { bytes: least - 1, ..Limits::default() };
                let listed = Ranking::new(model.psdd().unwrap(), Any).listed(count, 0, &tight);
                assert!(listed.is_err(), "seed {seed}: {count} of {worlds} worlds fit {} bytes", least - 1);
                refused += 1;
                all += usize::from(count >= worlds);
            }
        }
        assert!(refused == 36 && all == 8);
    }

    #[test]
    fn a_billion_worlds_are_refused_before_any_is_ranked() {
        let records = crate::Records::from_rows(crate::Names::numbered(26), [[true; 26], [false; 26]]);
        let model = Task::new(&records).learn(&Factorised::default(), &()).unwrap().model;
        let mut ranking = Ranking::new(model.psdd().unwrap(), Any);
        let error = ranking.best(1_000_000_000, 0, &Limits::default()).map(drop).unwrap_err();
        assert!(error.to_string().starts_with("67 108 864 worlds and their ranks need more than 4 096 MB"), "{error}");
        assert!(ranking.bytes == 0 && ranking.sums.iter().all(Option::is_none));
    }
}
