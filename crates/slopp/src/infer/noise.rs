//! The noisy channel: an honest likelihood for every record, even those that a closed world excludes.
//!
//! A world is drawn from the circuit, then every cell is changed with probability `ε`: a Boolean cell is flipped, and
//! one of a column with `m` values gets one of the `m−1` others, all equally likely. That is a normalised distribution
//! over the records of a file, with full support: `P_ε(x) = Σ P(w) Π ε_c(w,x) (1−ε)^(n−d)` over the `d` of `n` columns
//! in which `w` and `x` differ, where `ε_c` is `ε` for a Boolean column and `ε/(m−1)` for another. One upward pass
//! computes it exactly: a literal weighs `1−ε` where it agrees with the cell and `ε` where it does not. In a column
//! with several values only the true literals weigh less than one, as each world has exactly one of them, which is
//! checked first.

use super::lanes::{BATCH, Lanes, Linear};
use super::{QueryError, logpass};
use crate::circuit::{Circuit, Node};
use crate::data::Records;
use crate::names::{Group, Names};
use rayon::prelude::*;

/// The noise that fits records best.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NoiseFit {
    /// The probability that a cell is changed.
    pub epsilon: f64,
    /// The mean log-likelihood of a record under this noise.
    pub log_likelihood: f64,
}

/// The least noise tried: a cell in a million.
const LEAST: f64 = 1e-6;
/// The most noise: beyond it a flipped cell is more likely than a kept one.
const MOST: f64 = 0.5;
/// Points of the first, coarse search, evenly spaced on the logarithm.
const COARSE: usize = 9;
/// Steps of the golden section: the bracket shrinks to a five-hundredth.
const GOLDEN_STEPS: usize = 13;

impl Circuit {
    /// The log-likelihood of each distinct row seen through a channel that changes every cell with probability `epsilon`.
    ///
    /// A Boolean cell is flipped; a cell of a column with several values gets another one, all equally likely. Without
    /// such columns it is `ln Σ P(w) ε^d (1−ε)^(n−d)` with `d` the Hamming distance. Exact; missing cells are summed
    /// out. With `epsilon` zero this is [`Circuit::log_likelihoods`]; above zero every record with one value per column
    /// is possible. Cost: elements × records. An error unless `epsilon` is from 0 to 0.5, or if the circuit allows
    /// several values of a column, or none.
    ///
    /// ```
    /// # use slopp::{Names, Records};
    /// let psdd = slopp::example::psdd();
    /// // Impossible, one cell away from possible worlds.
    /// let records = Records::from_rows(Names::numbered(4), [[false, false, true, false]]);
    /// assert_eq!(psdd.log_likelihoods(&records)?, [f64::NEG_INFINITY]);
    /// assert!(psdd.log_likelihoods_noisy(&records, 0.01)?[0].is_finite());
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn log_likelihoods_noisy(&self, records: &Records, epsilon: f64) -> Result<Vec<f64>, QueryError> {
        self.check_channel(records)?;
        if !(0.0..=MOST).contains(&epsilon) {
            return Err(QueryError::Noise { epsilon: epsilon.to_string() });
        }
        Ok(self.noisy(&Linear::new(self), records, epsilon))
    }

    /// The noise that makes these records, usually for validation, most likely, and their mean log-likelihood.
    ///
    /// Maximises the mean of [`Circuit::log_likelihoods_noisy`] over `ε` from 10⁻⁶ to 0.5: nine points evenly spaced on
    /// `ln ε`, then a golden section around the best. No seed, no derivative; the same answer on any number of threads.
    /// Cost: about twenty-four times elements × records, more where numbers need logarithms. An error if there are no
    /// records.
    ///
    /// ```
    /// let (psdd, records) = (slopp::example::psdd(), slopp::example::records());
    /// // Every record is possible: noise only costs.
    /// assert!(psdd.fit_noise(&records)?.epsilon < 1e-5);
    /// # Ok::<(), slopp::infer::QueryError>(())
    /// ```
    pub fn fit_noise(&self, records: &Records) -> Result<NoiseFit, QueryError> {
        self.check_channel(records)?;
        let linear = Linear::new(self);
        NoiseFit::search(records, |epsilon| self.noisy(&linear, records, epsilon))
    }

    /// Checks that records fit, and that columns have one value in every possible world.
    pub(crate) fn check_channel(&self, records: &Records) -> Result<(), QueryError> {
        self.check_records(records)?;
        match self.column_without_one_value(records.names()) {
            None => Ok(()),
            Some(group) => Err(QueryError::ManyValues { column: group.name().to_owned() }),
        }
    }

    fn noisy(&self, linear: &Linear, records: &Records, epsilon: f64) -> Vec<f64> {
        let mut answers = vec![0.0; records.len()];
        answers.par_chunks_mut(BATCH).enumerate().for_each_init(
            || Lanes::<BATCH>::new(self),
            |lanes, (batch, answers)| {
                lanes.set_rows(records, BATCH * batch);
                lanes.soften(epsilon, records.names());
                lanes.upward(self, linear);
                for (lane, answer) in answers.iter_mut().enumerate() {
                    *answer = match lanes.is_lost(lane) {
                        false => lanes.log_evidence(lane),
                        true => {
                            let values = logpass::log_values_with(self, |lit| lanes.leaf(lit, lane).ln());
                            values[self.root().index()]
                        }
                    };
                }
            },
        );
        answers
    }
}

impl NoiseFit {
    /// The best noise, given the log-likelihoods of records under any noise.
    pub(crate) fn search(records: &Records, logs: impl Fn(f64) -> Vec<f64>) -> Result<NoiseFit, QueryError> {
        if records.is_empty() {
            return Err(QueryError::NoRecords);
        }
        let at = |log_epsilon: f64| {
            let epsilon = log_epsilon.exp().min(MOST);
            let sum: f64 = logs(epsilon).iter().zip(records.weights()).map(|(log, weight)| log * weight).sum();
            NoiseFit { epsilon, log_likelihood: sum / records.total() }
        };
        let (low, high) = (LEAST.ln(), MOST.ln());
        let step = (high - low) / (COARSE - 1) as f64;
        let coarse: Vec<NoiseFit> = (0..COARSE).map(|i| at(low + step * i as f64)).collect();
        let first = (1..COARSE).fold(0, |best, i| if better(&coarse[i], &coarse[best]) { i } else { best });
        let mut best = coarse[first];
        let mut bracket =
            [low + step * first.saturating_sub(1) as f64, low + step * (first + 1).min(COARSE - 1) as f64];
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        let inner = |[a, b]: [f64; 2]| [b - ratio * (b - a), a + ratio * (b - a)];
        let mut values = inner(bracket).map(at);
        for _ in 0..GOLDEN_STEPS {
            let [x, y] = inner(bracket);
            if better(&values[1], &values[0]) {
                bracket[0] = x;
                values = [values[1], at(inner(bracket)[1])];
            } else {
                bracket[1] = y;
                values = [at(inner(bracket)[0]), values[0]];
            }
            for value in values {
                best = if better(&value, &best) { value } else { best };
            }
        }
        Ok(best)
    }
}

/// More likely, or as likely with less noise.
fn better(one: &NoiseFit, other: &NoiseFit) -> bool {
    (one.log_likelihood, -one.epsilon) > (other.log_likelihood, -other.epsilon)
}

/// Sets of possible numbers of true values: none, one, more.
pub(crate) const NONE: u8 = 1;
pub(crate) const ONE: u8 = 2;
const MORE: u8 = 4;

impl Circuit {
    /// The first column with several values, or none, in some possible world; `None` if all have exactly one.
    ///
    /// Exact, for any circuit: one pass per column finds how many of its values can be true at once below each node.
    /// Cost: elements × columns with several values.
    ///
    /// ```
    /// use slopp::{Kind, Names};
    /// let values = Kind::Values(["green", "red"].map(String::from).to_vec());
    /// let names = Names::of_columns([("a".into(), Kind::Boolean), ("b".into(), Kind::Boolean), ("color".into(), values)])?;
    /// let psdd = slopp::example::psdd();
    /// assert_eq!(psdd.column_without_one_value(&names).map(|group| group.name()), Some("color"));
    /// # Ok::<(), slopp::NameError>(())
    /// ```
    pub fn column_without_one_value<'a>(&self, names: &'a Names) -> Option<&'a Group> {
        let mut trues: Vec<u8> = Vec::with_capacity(self.nodes().len());
        names.groups().iter().find(|group| {
            trues.clear();
            for (id, node) in self.ids().zip(self.nodes()) {
                trues.push(match *node {
                    Node::Literal(lit) if group.contains(lit.var) && lit.value => ONE,
                    Node::Top { var, .. } if group.contains(var) => NONE | ONE,
                    Node::Literal(_) | Node::Top { .. } => NONE,
                    Node::Sum { .. } => self
                        .elements_of(id)
                        .map(|(element, _)| together(trues[element.prime.index()], trues[element.sub.index()]))
                        .fold(0, |sets, set| sets | set),
                });
            }
            trues[self.root().index()] != ONE
        })
    }
}

/// The possible numbers in two parts together.
pub(crate) fn together(a: u8, b: u8) -> u8 {
    let all = a | b;
    match (a, b) {
        (NONE, other) | (other, NONE) => other,
        _ => {
            let none = a & b & NONE;
            let one = if (a & NONE != 0 && b & ONE != 0) || (a & ONE != 0 && b & NONE != 0) { ONE } else { 0 };
            let more = if all & MORE != 0 || (a & ONE != 0 && b & ONE != 0) { MORE } else { 0 };
            none | one | more
        }
    }
}
