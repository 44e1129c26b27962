//! The learned structure: for every position of the order, classes of records.
//!
//! On a right-linear vtree a circuit is a layered graph. Every record is in one class per layer; its value there leads
//! to its class in the next. The primes are literals of one variable and therefore exclusive, so any two subs may be
//! merged: only the number of classes limits the model.

use crate::circuit::{Builder, NodeId, Psdd, Sharing, Smoothing};
use crate::data::{Records, bit_of};
use crate::learn::LearnError;
use crate::logic::Limits;
use crate::logspace::log_share;
use crate::var::Var;
use crate::vtree::Vtree;
use std::sync::Arc;

/// A class of records in a layer: a sum of the circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Class {
    /// The class in the next layer of records with *false* and with *true*.
    pub(super) next: [u32; 2],
    /// The weight of the training records with *false* and with *true*.
    pub(super) count: [f64; 2],
}

impl Class {
    /// The number of elements of its sum: one ⊤ if both values lead to the same class.
    pub(super) fn elements(&self) -> usize {
        if self.next[0] == self.next[1] { 1 } else { 2 }
    }
}

/// For each layer and class, a weight of records with *false* and with *true*.
pub(super) type Tally = Vec<Vec<[f64; 2]>>;

/// The classes of all layers; the first layer has one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layers(pub(super) Vec<Vec<Class>>);

impl Layers {
    /// The certified PSDD of the classes on their right-linear vtree, smoothed towards the marginals of the records.
    pub(super) fn psdd(
        &self,
        vtree: &Arc<Vtree>,
        records: &Records,
        pseudocount: f64,
        limits: &Limits,
    ) -> Result<Psdd, LearnError> {
        let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
        let order = vtree.vars(vtree.root());
        let mut below: Vec<NodeId> = Vec::new();
        for (position, layer) in self.0.iter().enumerate().rev() {
            let var = order[position];
            let mut here = Vec::with_capacity(layer.len());
            for class in layer {
                let last = position + 1 == self.0.len();
                here.push(match class.next.map(|next| below.get(next as usize).copied()) {
                    _ if last => builder.top(var, class.count)?,
                    [Some(f), Some(t)] => {
                        let inner = vtree.parent(vtree.leaf(var)).expect("a variable before the last has a vtree node");
                        let [falses, trues] = class.count;
                        if f == t {
                            let top = builder.top(var, class.count)?;
                            builder.sum(inner, &[(top, f, falses + trues)])?
                        } else {
                            let literals = [builder.literal(var.is(false))?, builder.literal(var.is(true))?];
                            builder.sum(inner, &[(literals[0], f, falses), (literals[1], t, trues)])?
                        }
                    }
                    _ => unreachable!("a class leads to classes of the next layer"),
                });
            }
            below = here;
        }
        let smoothing = Smoothing::marginal(pseudocount, records).of_literals(true);
        Ok(builder.finish_counts(below[0], &smoothing)?.certify(limits)?)
    }

    /// The number of elements of the circuit.
    pub(super) fn elements(&self) -> usize {
        let inner = self.0.len().saturating_sub(1);
        self.0[..inner].iter().flatten().map(Class::elements).sum()
    }

    /// How many records with each value come to each class.
    pub(super) fn tally<'a>(&self, column: impl Fn(usize) -> &'a [u64], weights: &[f64]) -> Tally {
        let mut class_of = vec![0u32; weights.len()];
        let mut tally: Tally = self.0.iter().map(|layer| vec![[0.0; 2]; layer.len()]).collect();
        for (position, (layer, counts)) in self.0.iter().zip(&mut tally).enumerate() {
            let column = column(position);
            for (row, (class, weight)) in class_of.iter_mut().zip(weights).enumerate() {
                let value = usize::from(bit_of(column, row));
                counts[*class as usize][value] += weight;
                *class = layer[*class as usize].next[value];
            }
        }
        tally
    }

    /// How many of these records with each value come to each class.
    pub(super) fn tally_records(&self, records: &Records, order: &[Var]) -> Tally {
        self.tally(|position| records.column(order[position]), records.weights())
    }

    /// Replaces the counts by those of a tally.
    pub(super) fn take_counts(&mut self, tally: &Tally) {
        for (class, &count) in self.0.iter_mut().flatten().zip(tally.iter().flatten()) {
            class.count = count;
        }
    }

    /// Drops the classes that nothing leads to.
    pub(super) fn prune(&mut self) {
        let mut used = vec![true; 1];
        for position in 0..self.0.len() {
            let mut kept = used.iter();
            self.0[position].retain(|_| *kept.next().expect("one mark per class"));
            let Some(below) = self.0.get(position + 1).map(Vec::len) else { break };
            used = vec![false; below];
            self.0[position].iter().flat_map(|class| class.next).for_each(|next| used[next as usize] = true);
            let mut places = Vec::with_capacity(below);
            let mut place = 0;
            for &used in &used {
                places.push(place);
                place += u32::from(used);
            }
            for class in &mut self.0[position] {
                class.next = class.next.map(|next| places[next as usize]);
            }
        }
    }

    /// The log-likelihood of the records of a tally, with parameters smoothed towards `prior`.
    pub(super) fn log_likelihood(&self, tally: &Tally, prior: &Prior) -> f64 {
        let mut sum = 0.0;
        for (position, (layer, counts)) in self.0.iter().zip(tally).enumerate() {
            for (class, &[f, t]) in layer.iter().zip(counts) {
                if f > 0.0 || t > 0.0 {
                    let [log_false, log_true] = prior.log_parameters(position, class.count);
                    sum += f * log_false + t * log_true;
                }
            }
        }
        sum
    }
}

/// The prior of a class: the share of *true* among all records, weighing as much as `pseudocount` of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prior {
    /// By position.
    pub(super) shares: Vec<f64>,
    /// The weight of the prior in records.
    pub(super) pseudocount: f64,
}

impl Prior {
    /// The prior of values counted at each position.
    pub(super) fn new(values: impl Iterator<Item = [f64; 2]>, pseudocount: f64) -> Prior {
        let share = |[f, t]: [f64; 2]| ((t + 0.5) / (f + t + 1.0)).clamp(1e-15, 1.0 - 1e-15);
        Prior { shares: values.map(share).collect(), pseudocount }
    }

    /// The same prior with another weight.
    pub(super) fn weighing(&self, pseudocount: f64) -> Prior {
        Prior { shares: self.shares.clone(), pseudocount }
    }

    /// The logarithms of the probabilities of *false* and *true* in a class with these counts.
    pub(super) fn log_parameters(&self, position: usize, [f, t]: [f64; 2]) -> [f64; 2] {
        let share = self.shares[position];
        let falses = f + self.pseudocount * (1.0 - share);
        let trues = t + self.pseudocount * share;
        [log_share(falses, trues), log_share(trues, falses)]
    }
}
