//! The nearest possible worlds, the most probable first, and explanations of impossible records.

use super::ranking::{Judge, Ranking, Score};
use super::{Evidence, QueryError};
use crate::circuit::{Circuit, Deterministic, Node};
use crate::data::Records;
use crate::logic::{Clause, Limits};
use crate::var::{Lit, Var};
use rayon::prelude::*;
use std::cmp::Ordering;

/// A possible world at the smallest Hamming distance from evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nearest {
    /// How many known cells the world changes; zero if the evidence is possible.
    pub distance: u32,
    /// The world.
    pub world: Vec<bool>,
}

impl Circuit {
    /// The smallest number of known cells that must change to make evidence possible, with a world that does it.
    ///
    /// `min |{x known : w(x) ≠ e(x)}|` over possible worlds `w`: min in place of sum, plus in place of product.
    /// Unknown cells are free. Among several nearest worlds the choice is fixed by the order of elements. Cost: elements.
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
    /// let nearest = circuit.nearest(&Evidence::of_world(&[false, true]))?;
    /// assert_eq!((nearest.distance, nearest.world), (1, vec![true, true]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest(&self, evidence: &Evidence) -> Result<Nearest, QueryError> {
        self.check_evidence(evidence)?;
        Ok(self.nearest_with(evidence, &mut Vec::new()))
    }

    /// The nearest possible world of each distinct row; missing cells are free.
    ///
    /// The batch form of [`Circuit::nearest`]. Cost: elements × records.
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
    /// let nearest = circuit.nearest_batch(&records.finish())?;
    /// assert_eq!((nearest[0].distance, nearest[1].distance), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest_batch(&self, records: &Records) -> Result<Vec<Nearest>, QueryError> {
        self.check_records(records)?;
        let nearest = |distances: &mut Vec<u32>, row| self.nearest_with(&Evidence::from_row(records, row), distances);
        Ok((0..records.len()).into_par_iter().map_init(Vec::new, nearest).collect())
    }

    fn nearest_with(&self, evidence: &Evidence, distances: &mut Vec<u32>) -> Nearest {
        distances.clear();
        for (id, node) in self.ids().zip(self.nodes()) {
            distances.push(match *node {
                Node::Literal(lit) => u32::from(!evidence.allows(lit)),
                Node::Top { .. } => 0,
                Node::Sum { .. } => {
                    let of =
                        |(e, _): (crate::circuit::Element, f64)| distances[e.prime.index()] + distances[e.sub.index()];
                    self.elements_of(id).map(of).min().expect("a sum has an element")
                }
            });
        }
        let mut world = vec![false; self.var_count()];
        let mut stack = vec![self.root()];
        while let Some(id) = stack.pop() {
            match self.node(id) {
                Node::Literal(lit) => world[lit.var.index()] = lit.value,
                Node::Top { var, .. } => world[var.index()] = evidence.value(var).unwrap_or(false),
                Node::Sum { .. } => {
                    let goal = distances[id.index()];
                    let found = self
                        .elements_of(id)
                        .find(|(e, _)| distances[e.prime.index()] + distances[e.sub.index()] == goal);
                    let (element, _) = found.expect("the smallest distance is that of an element");
                    stack.extend([element.sub, element.prime]);
                }
            }
        }
        Nearest { distance: distances[self.root().index()], world }
    }
}

/// A possible world near to evidence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NearWorld {
    /// How many known cells the world changes.
    pub distance: u32,
    /// The log-probability of the world.
    pub log_probability: f64,
    /// The world.
    pub world: Vec<bool>,
}

impl NearWorld {
    /// The cells that differ from evidence, with the values they have in this world.
    pub fn changes(&self, evidence: &Evidence) -> Vec<Lit> {
        changes(&self.world, evidence)
    }
}

impl Nearest {
    /// The cells that differ from evidence, with the values they have in this world.
    pub fn changes(&self, evidence: &Evidence) -> Vec<Lit> {
        changes(&self.world, evidence)
    }
}

fn changes(world: &[bool], evidence: &Evidence) -> Vec<Lit> {
    let lits = world.iter().enumerate().map(|(i, &value)| Var(i as u32).is(value));
    lits.filter(|&lit| !evidence.allows(lit)).collect()
}

/// Why evidence is impossible, and the nearest possible worlds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// Known cells that cannot hold together, all of them needed: the broken rule is that one is false.
    pub conflict: Vec<Lit>,
    /// The nearest possible worlds, the most probable first.
    pub repairs: Vec<NearWorld>,
}

impl Explanation {
    /// The broken rule: that one of the cells of the conflict is false.
    pub fn rule(&self) -> Clause {
        Clause { literals: self.conflict.iter().map(|&lit| !lit).collect() }
    }
}

impl Deterministic {
    /// The `count` possible worlds that come first by distance from evidence, then by probability.
    ///
    /// Ordered by the number of known cells they change, then the most probable first. So the first is the most
    /// probable of the nearest, and a large `count` gives all nearest worlds. Exact: addition keeps the order of pairs
    /// (distance, −log-probability), so ranks combine as in [`Deterministic::top_worlds`]. Cost: elements once, then
    /// per world at most its sums times a logarithm.
    ///
    /// ```
    /// # use slopp::infer::Evidence;
    /// let psdd = slopp::example::psdd();
    /// let evidence = Evidence::of_world(&[false, false, true, false]);
    /// let near = psdd.nearest_worlds(&evidence, 3, &slopp::logic::Limits::default())?;
    /// assert_eq!((near[0].distance, &near[0].world[..]), (1, &[false, true, true, false][..]));
    /// assert_eq!(near[0].changes(&evidence), [slopp::Var(1).is(true)]);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn nearest_worlds(
        &self,
        evidence: &Evidence,
        count: usize,
        limits: &Limits,
    ) -> Result<Vec<NearWorld>, QueryError> {
        self.check_evidence(evidence)?;
        self.near(evidence, count, limits)
    }

    /// The nearest worlds of each distinct row; missing cells are free.
    ///
    /// The batch form of [`Deterministic::nearest_worlds`]. Cost: elements × records.
    pub fn nearest_worlds_batch(
        &self,
        records: &Records,
        count: usize,
        limits: &Limits,
    ) -> Result<Vec<Vec<NearWorld>>, QueryError> {
        self.check_records(records)?;
        let rows = (0..records.len()).into_par_iter();
        rows.map(|row| self.near(&Evidence::from_row(records, row), count, limits)).collect()
    }

    /// Why evidence is impossible and the nearest possible worlds, at most `count`; `None` if it is possible.
    ///
    /// ```
    /// # use slopp::{Var, infer::Evidence};
    /// let psdd = slopp::example::psdd();
    /// let limits = slopp::logic::Limits::default();
    /// let why = psdd.explain(&Evidence::of_world(&[false, false, true, false]), 1, &limits)?.expect("impossible");
    /// assert_eq!(why.conflict, [Var(0).is(false), Var(1).is(false), Var(2).is(true), Var(3).is(false)]);
    /// assert_eq!(why.repairs[0].distance, 1);
    /// assert_eq!(psdd.explain(&Evidence::of_world(&[false, true, true, false]), 1, &limits)?, None);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn explain(
        &self,
        evidence: &Evidence,
        count: usize,
        limits: &Limits,
    ) -> Result<Option<Explanation>, QueryError> {
        let conflict = self.conflict(evidence)?;
        conflict.map(|conflict| Ok(Explanation { conflict, repairs: self.near(evidence, count, limits)? })).transpose()
    }

    /// Why each distinct row is impossible, `None` where it is possible; a column with several values counts once.
    ///
    /// The batch form of [`Deterministic::explain`].
    ///
    /// ```
    /// use slopp::{Names, Records};
    /// let psdd = slopp::example::psdd();
    /// let records = Records::from_rows(Names::numbered(4), [[false, false, true, false], [false, true, true, false]]);
    /// let found = psdd.explain_batch(&records, 1, &slopp::logic::Limits::default())?;
    /// let (impossible, possible) = (records.original()[0] as usize, records.original()[1] as usize);
    /// assert_eq!(found[impossible].as_ref().expect("impossible").rule().literals.len(), 4);
    /// assert_eq!(found[possible], None);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn explain_batch(
        &self,
        records: &Records,
        count: usize,
        limits: &Limits,
    ) -> Result<Vec<Option<Explanation>>, QueryError> {
        let possible = self.possible(records)?;
        let explain = |row: usize| match possible[row] {
            true => Ok(None),
            false => self.explain(&Evidence::from_row(records, row).by_column(records.names()), count, limits),
        };
        (0..records.len()).into_par_iter().map(explain).collect()
    }

    fn near(&self, evidence: &Evidence, count: usize, limits: &Limits) -> Result<Vec<NearWorld>, QueryError> {
        let worlds = Ranking::new(self, Distance(evidence)).best(count, 0, limits)?.into_iter();
        let near = |(world, Near { distance, log })| NearWorld { distance, log_probability: log, world };
        Ok(worlds.map(near).collect())
    }
}

impl Circuit {
    /// Known cells that cannot hold together, all of them needed; `None` if the evidence is possible.
    ///
    /// The negation is a minimal clause that the base entails and the evidence breaks. Among several such sets, one
    /// with early variables is found. The search checks up to 256 prefixes of the cells at once, in Boolean arithmetic.
    /// Cost: elements × cells of the conflict for at most 256 known cells, and a logarithm more above.
    pub fn conflict(&self, evidence: &Evidence) -> Result<Option<Vec<Lit>>, QueryError> {
        self.check_evidence(evidence)?;
        let mut cells: Vec<Lit> = evidence.lits().collect();
        let mut search = Prefixes::new(self);
        if search.first_impossible(&[], &cells).is_none() {
            return Ok(None);
        }
        let mut conflict = Vec::new();
        while let Some(length) = search.first_impossible(&conflict, &cells) {
            if length == 0 {
                break;
            }
            // The last cell of the shortest impossible prefix is needed; those after it are not.
            conflict.push(cells[length - 1]);
            cells.truncate(length - 1);
        }
        conflict.sort_unstable();
        Ok(Some(conflict))
    }
}

/// A number of changed cells, then a log-probability.
#[derive(Clone, Copy, Debug)]
struct Near {
    distance: u32,
    log: f64,
}

impl Score for Near {
    fn plus(self, other: Near) -> Near {
        Near { distance: self.distance + other.distance, log: self.log + other.log }
    }

    fn compare(&self, other: &Near) -> Ordering {
        other.distance.cmp(&self.distance).then(self.log.total_cmp(&other.log))
    }
}

/// Ranks worlds by their distance from evidence, then by their log-probability.
struct Distance<'a>(&'a Evidence);

impl Judge for Distance<'_> {
    type Score = Near;

    fn leaf(&self, lit: Lit, log: f64) -> Option<Near> {
        Some(Near { distance: u32::from(!self.0.allows(lit)), log })
    }

    fn parameter(&self, log: f64) -> Near {
        Near { distance: 0, log }
    }
}

const WORDS: usize = 4;
const LANES: usize = 64 * WORDS;

/// Checks which prefixes of a list of literals are possible, many at once.
struct Prefixes<'a> {
    circuit: &'a Circuit,
    values: Vec<[u64; WORDS]>,
    /// By variable and value: the lanes where the literal is excluded.
    excluded: Vec<[[u64; WORDS]; 2]>,
}

impl<'a> Prefixes<'a> {
    fn new(circuit: &'a Circuit) -> Prefixes<'a> {
        Prefixes {
            circuit,
            values: vec![[0; WORDS]; circuit.nodes().len()],
            excluded: vec![[[0; WORDS]; 2]; circuit.var_count()],
        }
    }

    /// The length of the shortest prefix of `cells` that is impossible together with `kept`, if any.
    fn first_impossible(&mut self, kept: &[Lit], cells: &[Lit]) -> Option<usize> {
        // Possible up to `low`, impossible from `high` on, if at all.
        let (mut low, mut high) = (0, cells.len());
        let mut known = false;
        loop {
            let lengths: Vec<usize> = match high - low < LANES {
                true => (low..=high).collect(),
                false => (0..LANES).map(|i| low + (high - low) * i / (LANES - 1)).collect(),
            };
            let possible = self.possible(kept, cells, &lengths);
            match possible.iter().position(|&possible| !possible) {
                None => return if known { Some(high) } else { None },
                Some(i) if i == 0 || lengths[i] == lengths[i - 1] + 1 => return Some(lengths[i]),
                Some(i) => (low, high) = (lengths[i - 1], lengths[i]),
            }
            known = true;
        }
    }

    fn possible(&mut self, kept: &[Lit], cells: &[Lit], lengths: &[usize]) -> Vec<bool> {
        self.excluded.fill([[0; WORDS]; 2]);
        for lit in kept {
            self.excluded[lit.var.index()][usize::from(!lit.value)] = [u64::MAX; WORDS];
        }
        for (lane, &length) in lengths.iter().enumerate() {
            for lit in &cells[..length] {
                self.excluded[lit.var.index()][usize::from(!lit.value)][lane / 64] |= 1 << (lane % 64);
            }
        }
        for (id, node) in self.circuit.ids().zip(self.circuit.nodes()) {
            self.values[id.index()] = match *node {
                Node::Literal(lit) => self.excluded[lit.var.index()][usize::from(lit.value)].map(|word| !word),
                // Evidence never excludes both values.
                Node::Top { .. } => [u64::MAX; WORDS],
                Node::Sum { .. } => {
                    let mut sum = [0; WORDS];
                    for (e, _) in self.circuit.elements_of(id) {
                        let (prime, sub) = (&self.values[e.prime.index()], &self.values[e.sub.index()]);
                        (0..WORDS).for_each(|w| sum[w] |= prime[w] & sub[w]);
                    }
                    sum
                }
            };
        }
        let root = self.values[self.circuit.root().index()];
        (0..lengths.len()).map(|lane| root[lane / 64] >> (lane % 64) & 1 == 1).collect()
    }
}
