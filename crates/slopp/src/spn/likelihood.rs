//! The upward pass, and the probabilities of worlds, evidence and records.

// Lanes are walked by index so that the loops vectorise.
#![allow(clippy::needless_range_loop)]

use super::wide::Wide;
use super::{Branch, Spn, SpnNode, range};
use crate::data::Records;
use crate::infer::{Evidence, QueryError};
use crate::var::Var;
use rayon::prelude::*;

/// Records that batches handle together.
pub(super) const BATCH: usize = 32;

impl Spn {
    /// The log-probability of a world, −∞ if it is impossible.
    ///
    /// Cost: edges.
    pub fn log_probability(&self, world: &[bool]) -> Result<f64, QueryError> {
        self.check_length("world", world.len())?;
        self.log_evidence(&Evidence::of_world(world))
    }

    /// The log-probability of evidence, −∞ if it is impossible: the sum over all worlds that agree with it.
    ///
    /// Cost: edges.
    pub fn log_evidence(&self, evidence: &Evidence) -> Result<f64, QueryError> {
        self.check_length("evidence", evidence.var_count())?;
        let mut lanes = Lanes::<1>::new(self.var_count, self.place_count);
        lanes.set_evidence(evidence);
        lanes.upward(self, &self.places);
        Ok(lanes.values[self.places[self.root().index()] as usize].ln(0))
    }

    /// The log-likelihood of each distinct row, −∞ if it is impossible; missing cells are summed out.
    ///
    /// [`Records::original`] maps records to rows, and [`Records::weights`] counts them. Cost: edges × records, on all
    /// threads.
    pub fn log_likelihoods(&self, records: &Records) -> Result<Vec<f64>, QueryError> {
        self.check_length("data", records.var_count())?;
        let mut answers = vec![0.0; records.len()];
        answers.par_chunks_mut(BATCH).enumerate().for_each_init(
            || Lanes::<BATCH>::new(self.var_count, self.place_count),
            |lanes, (batch, answers)| {
                lanes.set_rows(records, BATCH * batch);
                lanes.upward(self, &self.places);
                let root = &lanes.values[self.places[self.root().index()] as usize];
                answers.iter_mut().enumerate().for_each(|(lane, answer)| *answer = root.ln(lane));
            },
        );
        Ok(answers)
    }

    pub(super) fn check_length(&self, what: &'static str, found: usize) -> Result<(), QueryError> {
        let expected = self.var_count;
        if expected == found { Ok(()) } else { Err(QueryError::WrongLength { what, expected, found }) }
    }
}

/// Values of nodes for `L` records, reused from batch to batch.
pub(super) struct Lanes<const L: usize> {
    /// For each variable the lanes in which it can be false and in which it can be true, as masks of all bits.
    can: Vec<[[u64; L]; 2]>,
    /// Whether every variable is known in every lane.
    complete: bool,
    pub(super) values: Vec<Wide<L>>,
    /// For each branch of a tree: the value of its descendants, given that it is false and true.
    below: Vec<[Wide<L>; 2]>,
}

impl<const L: usize> Lanes<L> {
    pub(super) fn new(var_count: usize, places: usize) -> Lanes<L> {
        Lanes {
            can: vec![[[u64::MAX; L]; 2]; var_count],
            complete: false,
            values: vec![Wide::ONE; places],
            below: Vec::new(),
        }
    }

    /// Cells from the rows `first..`, one per lane; lanes beyond the last row repeat it.
    pub(super) fn set_rows(&mut self, records: &Records, first: usize) {
        debug_assert!(64 % L == 0 && first.is_multiple_of(L));
        let (word, shift) = (first / 64, first % 64);
        let last = records.len() - 1 - first;
        self.complete = true;
        for (i, can) in self.can.iter_mut().enumerate() {
            let var = Var(i as u32);
            let ones = records.column(var)[word] >> shift;
            let missing = records.missing_column(var).map_or(0, |column| column[word] >> shift);
            self.complete &= missing == 0;
            for lane in 0..L {
                let bit = lane.min(last);
                let (one, free) = (ones >> bit & 1, missing >> bit & 1);
                can[0][lane] = (1 ^ one | free).wrapping_neg();
                can[1][lane] = (one | free).wrapping_neg();
            }
        }
    }

    /// Computes the value of every node, at its place.
    pub(super) fn upward(&mut self, spn: &Spn, places: &[u32]) {
        for (node, &place) in spn.nodes.iter().zip(places) {
            let value = match *node {
                SpnNode::Literal(lit) => {
                    Wide::new(self.can[lit.var.index()][usize::from(lit.value)].map(|can| masked(1.0, can)))
                }
                SpnNode::Bernoulli { var, probability: p } => {
                    let [no, yes] = &self.can[var.index()];
                    // Never zero, so it need not be normalised.
                    let mantissa = std::array::from_fn(|l| masked(1.0 - p, no[l]) + masked(p, yes[l]));
                    Wide { mantissa, exponent: [0.0; L] }
                }
                SpnNode::Tree { start, end } => {
                    let branches = &spn.branches[range(start, end)];
                    if self.complete { self.known_tree(branches) } else { self.tree(branches) }
                }
                SpnNode::Product { start, end } => {
                    let mut children = spn.children[range(start, end)].iter();
                    let first = children.next().expect("a product has children");
                    let mut product = self.values[places[first.index()] as usize];
                    children.for_each(|child| product.multiply(&self.values[places[child.index()] as usize]));
                    product
                }
                SpnNode::Sum { start, end } => {
                    let children = spn.children[range(start, end)].iter().zip(&spn.weights[range(start, end)]);
                    Wide::mix(children.map(|(child, &w)| (&self.values[places[child.index()] as usize], w)))
                }
            };
            self.values[place as usize] = value;
        }
    }

    /// A tree whose variables are all known: one factor for each.
    fn known_tree(&self, branches: &[Branch]) -> Wide<L> {
        let mut product = Wide::ONE;
        for branch in branches {
            let yes = &self.can[branch.var.index()][1];
            let above = &self.can[branch.parent.map_or(branch.var, |i| branches[i as usize].var).index()][1];
            let [[ff, ft], [tf, tt]] = [false, true].map(|above| [false, true].map(|x| branch.of(above, x).to_bits()));
            let factor = std::array::from_fn(|l| {
                let given_false = ff & !yes[l] | ft & yes[l];
                let given_true = tf & !yes[l] | tt & yes[l];
                f64::from_bits(given_false & !above[l] | given_true & above[l])
            });
            product.scale(&factor);
        }
        product
    }

    /// A tree with unknown variables: sums them out from the last branch to the first.
    ///
    /// Leaves [`Lanes::below`] filled for this tree.
    fn tree(&mut self, branches: &[Branch]) -> Wide<L> {
        self.below.clear();
        self.below.extend(
            branches
                .iter()
                .map(|branch| self.can[branch.var.index()].map(|can| Wide::new(can.map(|can| masked(1.0, can))))),
        );
        for (i, branch) in branches.iter().enumerate().rev() {
            let [no, yes] = &self.below[i];
            let given =
                |above: bool| Wide::mix([(no, branch.of(above, false)), (yes, branch.of(above, true))].into_iter());
            let Some(parent) = branch.parent else { return given(false) };
            for (above, message) in [given(false), given(true)].into_iter().enumerate() {
                self.below[parent as usize][above].multiply(&message);
            }
        }
        unreachable!("the first branch has no parent")
    }
}

impl Lanes<1> {
    /// Cells from evidence.
    pub(super) fn set_evidence(&mut self, evidence: &Evidence) {
        self.complete = evidence.known_count() == evidence.var_count();
        for (i, can) in self.can.iter_mut().enumerate() {
            let value = evidence.value(Var(i as u32));
            can[0][0] = u64::from(value != Some(true)).wrapping_neg();
            can[1][0] = u64::from(value != Some(false)).wrapping_neg();
        }
    }

    /// The posterior of a tree: for each branch `P(true | parent, evidence)` for both values of the parent.
    pub(super) fn tree_posterior(&mut self, branches: &[Branch]) -> Vec<[f64; 2]> {
        self.tree(branches);
        let given = |branch: &Branch, [no, yes]: &[Wide<1>; 2], above: bool| {
            let term = |x: &Wide<1>, value: bool| Wide::mix([(x, branch.of(above, value))].into_iter());
            let (no, yes) = (term(no, false), term(yes, true));
            yes.ratio(&Wide::mix([(&no, 1.0), (&yes, 1.0)].into_iter()))
        };
        branches.iter().zip(&self.below).map(|(b, below)| [given(b, below, false), given(b, below, true)]).collect()
    }

    /// `P(true | evidence)` of a Bernoulli leaf.
    pub(super) fn leaf_posterior(&self, var: Var, p: f64) -> f64 {
        let [no, yes] = self.can[var.index()].map(|can| can[0]);
        let (no, yes) = (masked(1.0 - p, no), masked(p, yes));
        if yes == 0.0 { 0.0 } else { yes / (no + yes) }
    }
}

/// The number where the mask is set, zero elsewhere.
fn masked(number: f64, mask: u64) -> f64 {
    f64::from_bits(number.to_bits() & mask)
}
