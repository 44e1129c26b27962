//! The learned structure: for every position of the order, classes of records.
//!
//! On a vtree that is right-linear over columns a circuit is a layered graph. Every record is in one class per layer;
//! its value there leads to its class in the next. The primes are sets of values of one column, so those of a class are
//! exclusive, and any two subs may be merged: only the number of classes limits the model.

use crate::circuit::{Builder, Certificate, Circuit, NodeId, Psdd, Sharing, Smoothing, left_out};
use crate::data::{Cells, Records};
use crate::learn::LearnError;
use crate::learn::primes::{Primes, fitted};
use crate::learn::vtree::Columns;
use crate::logic::Limits;
use crate::logspace::log_share;
use crate::var::Var;
use crate::vtree::Vtree;
use std::sync::Arc;

/// The classes of records in a layer, which are the sums of the circuit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layer {
    /// How many values the column has.
    pub(super) values: usize,
    /// For each class and value, the class in the next layer.
    pub(super) next: Vec<u32>,
    /// For each class and value, the weight of the training records.
    pub(super) count: Vec<f64>,
}

impl Layer {
    /// Classes without records that lead to the first class of the next layer.
    pub(super) fn new(values: usize, classes: usize) -> Layer {
        Layer { values, next: vec![0; values * classes], count: vec![0.0; values * classes] }
    }

    /// The number of classes.
    pub(super) fn len(&self) -> usize {
        self.next.len() / self.values
    }

    /// For each value, the class in the next layer.
    pub(super) fn next(&self, class: usize) -> &[u32] {
        &self.next[class * self.values..(class + 1) * self.values]
    }

    /// For each value, the weight of the training records.
    pub(super) fn count(&self, class: usize) -> &[f64] {
        &self.count[class * self.values..(class + 1) * self.values]
    }

    /// Adds a class.
    pub(super) fn push(&mut self, next: &[u32], count: &[f64]) {
        self.next.extend(next);
        self.count.extend(count);
    }

    /// The number of elements of the sum of a class, one for each class it leads to, and of its primes, about two for
    /// each value beyond the first of an element; terms of one value are shared.
    pub(super) fn elements(&self, class: usize) -> usize {
        let next = self.next(class);
        if let &[f, t] = next {
            return if f == t { 1 } else { 2 };
        }
        let distinct = (0..next.len()).filter(|&i| !next[..i].contains(&next[i])).count();
        distinct + 2 * (next.len() - distinct)
    }
}

/// For each layer, class and value, a weight of records.
pub(super) type Tally = Vec<Vec<f64>>;

/// The classes of all layers; the first layer has one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layers(pub(super) Vec<Layer>);

/// The columns of a vtree that is right-linear over them, in their order.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) vtree: Arc<Vtree>,
    pub(super) columns: Columns,
    pub(super) order: Vec<Var>,
}

impl Layers {
    /// The certified PSDD of the classes, smoothed towards the marginals of the records, whose counts it keeps.
    pub(super) fn psdd(
        &self,
        line: &Line,
        records: &Records,
        pseudocount: f64,
        limits: &Limits,
    ) -> Result<Psdd, LearnError> {
        if line.columns.groups().is_empty() {
            let (builder, root) = self.build(line, None)?;
            if line.columns.are_variables() {
                let smoothing = Smoothing::marginal(pseudocount, records).of_literals(true);
                return Ok(builder.finish_counts(root, &smoothing)?.certify(limits)?);
            }
            // Terms are shared by classes, so their counts come last.
            return fitted(builder, root, records, pseudocount, limits);
        }
        // Independent variables would be the wrong prior of variables that exclude each other, so it is built in.
        let counts = line.order.iter().map(|&column| line.columns.at(column).counts(records));
        let prior = Prior::new(counts, pseudocount);
        let trues = Smoothing::marginal(pseudocount, records).prior.expect("it has one");
        let (builder, root) = self.build(line, Some((&prior, &trues)))?;
        let psdd = builder.finish_counts(root, &Smoothing::none())?.certify(limits)?;
        let counts = psdd.count_records(records)?.weights;
        Ok(psdd.carry_over(Circuit::clone(&psdd).with_counts(counts).expect("counted by this circuit")))
    }

    /// The nodes of all classes, from the last layer up; their numbers are counts and, if it is given, the prior with
    /// the share of *true* of each variable.
    fn build(&self, line: &Line, prior: Option<(&Prior, &[f64])>) -> Result<(Builder, NodeId), LearnError> {
        let vtree = &line.vtree;
        let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
        let nodes = line.columns.nodes(vtree).expect("every column of a line has a vtree node");
        let mut below: Vec<NodeId> = Vec::new();
        for (position, (layer, &column)) in self.0.iter().zip(&line.order).enumerate().rev() {
            let (node, choice) = (nodes[column.index()], line.columns.at(column));
            let inner = vtree.parent(node).filter(|_| position + 1 < self.0.len());
            let several = choice.none_and_several().map(|[_, several]| several);
            let mut primes = Primes::new(vtree, node, choice);
            let mut here = Vec::with_capacity(layer.len());
            let mut elements = Vec::new();
            for class in 0..layer.len() {
                let mut numbers = layer.count(class).to_vec();
                let trues = prior.map_or(&[][..], |(prior, trues)| {
                    prior.add(position, &mut numbers);
                    trues
                });
                let Some(inner) = inner else {
                    here.push(match several {
                        Some(_) => primes.all(&mut builder, &numbers, trues)?,
                        None => primes.node(&mut builder, &numbers, |_| true)?,
                    });
                    continue;
                };
                let next = layer.next(class);
                elements.clear();
                let values = || (0..next.len()).filter(|&value| Some(value) != several);
                for value in values().filter(|&value| !next[..value].contains(&next[value])) {
                    let own = |other: usize| next[other] == next[value] && Some(other) != several;
                    let number = (value..next.len()).filter(|&other| own(other)).map(|other| numbers[other]).sum();
                    elements.push((primes.node(&mut builder, &numbers, own)?, below[next[value] as usize], number));
                }
                if let Some(several) = several
                    && let Some(prime) = primes.several(&mut builder, trues)?
                {
                    elements.push((prime, below[next[several] as usize], numbers[several]));
                }
                here.push(builder.sum(inner, &elements)?);
            }
            below = here;
        }
        Ok((builder, below[0]))
    }

    /// The number of elements of the circuit; if there are columns with several values, about.
    pub(super) fn elements(&self) -> usize {
        let of_layer = |(position, layer): (usize, &Layer)| -> usize {
            // The sums of the last layer are primes: with two values they are ⊤.
            let last = position + 1 == self.0.len();
            let of_class = |class| if last && layer.values <= 2 { 0 } else { layer.elements(class) };
            (0..layer.len()).map(of_class).sum()
        };
        self.0.iter().enumerate().map(of_layer).sum()
    }

    /// How many records with each value come to each class.
    pub(super) fn tally(&self, cells: &[Cells<'_>], weights: &[f64]) -> Tally {
        let mut class_of = vec![0u32; weights.len()];
        let mut tally: Tally = self.0.iter().map(|layer| vec![0.0; layer.count.len()]).collect();
        for ((layer, counts), cells) in self.0.iter().zip(&mut tally).zip(cells) {
            for (row, (class, weight)) in class_of.iter_mut().zip(weights).enumerate() {
                let place = *class as usize * layer.values + cells.at(row);
                counts[place] += weight;
                *class = layer.next[place];
            }
        }
        tally
    }

    /// Replaces the counts by those of a tally.
    pub(super) fn take_counts(&mut self, tally: Tally) {
        for (layer, counts) in self.0.iter_mut().zip(tally) {
            layer.count = counts;
        }
    }

    /// Drops the classes that nothing leads to.
    pub(super) fn prune(&mut self) {
        let mut used = vec![true; 1];
        for position in 0..self.0.len() {
            let layer = &mut self.0[position];
            let mut kept = Layer::new(layer.values, 0);
            for class in (0..layer.len()).filter(|&class| used[class]) {
                kept.push(layer.next(class), layer.count(class));
            }
            *layer = kept;
            let Some(below) = self.0.get(position + 1).map(Layer::len) else { break };
            used = vec![false; below];
            self.0[position].next.iter().for_each(|&next| used[next as usize] = true);
            let mut places = Vec::with_capacity(below);
            let mut place = 0;
            for &used in &used {
                places.push(place);
                place += u32::from(used);
            }
            self.0[position].next.iter_mut().for_each(|next| *next = places[*next as usize]);
        }
    }

    /// The log-likelihood of the records of a tally, with parameters smoothed towards `prior`.
    pub(super) fn log_likelihood(&self, tally: &Tally, prior: &Prior) -> f64 {
        let mut sum = 0.0;
        let mut logs = Vec::new();
        for (position, (layer, counts)) in self.0.iter().zip(tally).enumerate() {
            for (class, counts) in counts.chunks(layer.values).enumerate() {
                if counts.iter().any(|&count| count > 0.0) {
                    prior.log_parameters(position, layer.count(class), &mut logs);
                    sum += counts.iter().zip(&logs).map(|(count, log)| count * log).fold(0.0, |a, b| a + b);
                }
            }
        }
        sum
    }
}

/// The prior of a class: the shares of the values among all records, weighing as much as `pseudocount` of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prior {
    /// By position and value.
    pub(super) shares: Vec<Vec<f64>>,
    /// The weight of the prior in records.
    pub(super) pseudocount: f64,
}

impl Prior {
    /// The prior of values counted at each position.
    pub(super) fn new(counts: impl Iterator<Item = impl AsRef<[f64]>>, pseudocount: f64) -> Prior {
        let shares = |counts: &[f64]| match *counts {
            [f, t] => {
                let share: f64 = ((t + 0.5) / (f + t + 1.0)).clamp(1e-15, 1.0 - 1e-15);
                vec![1.0 - share, share]
            }
            _ => {
                let total: f64 = counts.iter().map(|count| count + 0.5).sum();
                counts.iter().map(|count| ((count + 0.5) / total).max(1e-15)).collect()
            }
        };
        Prior { shares: counts.map(|counts| shares(counts.as_ref())).collect(), pseudocount }
    }

    /// The same prior with another weight.
    pub(super) fn weighing(&self, pseudocount: f64) -> Prior {
        Prior { shares: self.shares.clone(), pseudocount }
    }

    /// The log-likelihood of the training records, each by the parameters of all others.
    pub(super) fn left_out(&self, layers: &Layers) -> f64 {
        let log_shares = self.shares.iter().map(|shares| shares.iter().map(|share| share.ln()).collect::<Vec<f64>>());
        let of_layer = |(layer, logs): (&Layer, Vec<f64>)| -> f64 {
            layer.count.chunks(layer.values).map(|counts| left_out(counts, &logs, self.pseudocount)).sum()
        };
        layers.0.iter().zip(log_shares).map(of_layer).sum()
    }

    /// Adds the prior to the counts of a class.
    pub(super) fn add(&self, position: usize, counts: &mut [f64]) {
        for (count, share) in counts.iter_mut().zip(&self.shares[position]) {
            *count += self.pseudocount * share;
        }
    }

    /// The logarithms of the probabilities of the values in a class with these counts.
    pub(super) fn log_parameters(&self, position: usize, counts: &[f64], logs: &mut Vec<f64>) {
        logs.clear();
        logs.extend(counts);
        self.add(position, logs);
        if let [f, t] = logs[..] {
            logs.copy_from_slice(&[log_share(f, t), log_share(t, f)]);
            return;
        }
        let total: f64 = logs.iter().sum();
        logs.iter_mut().for_each(|n| *n = log_share(*n, (total - *n).max(0.0)));
    }
}
