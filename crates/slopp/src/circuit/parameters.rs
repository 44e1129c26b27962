//! Numbers for the parameters of a circuit, and parameters from counts.

use super::builder::{check_parameter, log_top};
use super::{BuildError, Builder, Circuit, Node, NodeId, Sharing};
use crate::logspace::{LOG_ZERO, log_add, log_share, log_sum};
use crate::names::Names;
use crate::var::Var;
use std::ops::Range;

/// How counts become parameters: `(n + a·prior) / (total + a)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothing {
    /// The weight `a` of the prior in records; zero is maximum likelihood.
    pub pseudocount: f64,
    /// The prior probability of *true* for the ⊤ nodes of each variable; one half if there is none.
    /// The prior of elements is uniform, unless there are columns with several values.
    pub prior: Option<Vec<f64>>,
    /// The variables of each column with several values. The prior of an element is then its share among independent
    /// columns, and the weight of the prior of a set of values is their share of `a`, so that every value of a column
    /// is smoothed alike, wherever the circuit decides it.
    pub columns: Vec<Range<u32>>,
    /// Whether a sum of two elements with the literals of a variable as primes uses the prior of that variable.
    pub literals: bool,
}

impl Smoothing {
    /// Maximum likelihood: no smoothing at all.
    pub fn none() -> Smoothing {
        Smoothing::uniform(0.0)
    }

    /// A uniform prior that weighs as much as `pseudocount` records.
    pub fn uniform(pseudocount: f64) -> Smoothing {
        Smoothing { pseudocount, prior: None, columns: Vec::new(), literals: false }
    }

    /// The marginals of the records as prior, with the weight of `pseudocount` records.
    ///
    /// The shares are smoothed by half a record each way, so that both values of a constant column stay possible.
    pub fn marginal(pseudocount: f64, records: &crate::Records) -> Smoothing {
        let share = |var| {
            let present = match records.missing_column(var) {
                None => records.total(),
                Some(missing) => records.total() - records.count(missing),
            };
            // Even huge weights must leave the other value possible.
            ((records.count(records.column(var)) + 0.5) / (present + 1.0)).clamp(1e-15, 1.0 - 1e-15)
        };
        let prior: Vec<f64> = (0..records.var_count() as u32).map(|i| share(Var(i))).collect();
        Smoothing::towards(pseudocount, prior, records.names(), |var| records.count(records.column(var)))
    }

    /// The smoothing towards these shares of *true*, and towards the shares of these counts for the values of columns.
    fn towards(pseudocount: f64, mut prior: Vec<f64>, names: &Names, count: impl Fn(Var) -> f64) -> Smoothing {
        let mut columns = Vec::new();
        for group in names.groups() {
            let total: f64 = group.vars().map(|var| count(var) + 0.5).sum();
            for var in group.vars() {
                // Variables with these odds, of which exactly one is true, have the shares of the values.
                let share = ((count(var) + 0.5) / total).max(1e-15);
                prior[var.index()] = share / (1.0 + share);
            }
            let first = group.vars().next().expect("a column has a value").0;
            columns.push(first..first + group.vars().len() as u32);
        }
        Smoothing { pseudocount, prior: Some(prior), columns, literals: false }
    }

    /// As [`Smoothing::marginal`] for these records together with those whose counts a circuit keeps.
    ///
    /// So adding records to a circuit gives the same as fitting it to all of them.
    pub fn marginal_with(pseudocount: f64, circuit: &Circuit, records: &crate::Records) -> Smoothing {
        let kept = circuit.kept_values().unwrap_or_else(|| vec![[0.0; 2]; circuit.var_count()]);
        let share = |(i, [kept_false, kept_true]): (usize, [f64; 2])| {
            let [falses, trues] = records.count_values(Var(i as u32));
            let total = kept_false + kept_true + falses + trues;
            ((kept_true + trues + 0.5) / (total + 1.0)).clamp(1e-15, 1.0 - 1e-15)
        };
        let trues: Vec<f64> = (0..kept.len()).map(|i| kept[i][1] + records.count_values(Var(i as u32))[1]).collect();
        let prior: Vec<f64> = kept.into_iter().enumerate().map(share).collect();
        Smoothing::towards(pseudocount, prior, records.names(), |var| trues[var.index()])
    }

    /// The same with or without the prior of a variable where its literals are primes.
    pub(crate) fn of_literals(self, literals: bool) -> Smoothing {
        Smoothing { literals, ..self }
    }

    /// Checks that the smoothing fits circuits of this many variables.
    pub fn check(&self, variables: usize) -> Result<(), BuildError> {
        if !(self.pseudocount.is_finite() && self.pseudocount >= 0.0) {
            return Err(BuildError::Pseudocount(self.pseudocount));
        }
        let Some(prior) = &self.prior else { return Ok(()) };
        if prior.len() != variables {
            return Err(BuildError::PriorLength { expected: variables, found: prior.len() });
        }
        match prior.iter().position(|&p| !(p > 0.0 && p < 1.0)) {
            Some(i) => Err(BuildError::Prior { var: Var(i as u32), value: prior[i] }),
            None => Ok(()),
        }
    }

    /// The log-parameters of a sum with the literals of a variable as primes, if these have a prior.
    fn literal_primes(&self, circuit: &Circuit, range: Range<usize>, counts: &Weights) -> Option<[f64; 2]> {
        let prior = self.prior.as_ref().filter(|_| self.literals && range.len() == 2)?;
        let smoothed = |i: usize| match circuit.node(circuit.elements[i].prime) {
            Node::Literal(lit) => {
                let share = prior[lit.var.index()];
                Some(counts.elements[i] + self.pseudocount * if lit.value { share } else { 1.0 - share })
            }
            _ => None,
        };
        let (first, second) = (smoothed(range.start)?, smoothed(range.start + 1)?);
        Some([log_share(first, second), log_share(second, first)])
    }

    fn top(&self, var: Var, [falses, trues]: [f64; 2]) -> [f64; 2] {
        let prior = self.prior.as_ref().map_or(0.5, |prior| prior[var.index()]);
        let falses = falses + self.pseudocount * (1.0 - prior);
        let trues = trues + self.pseudocount * prior;
        log_top(log_share(falses, trues), log_share(trues, falses))
    }
}

impl Circuit {
    /// The weights of *false* and *true* of each variable in the kept counts; `None` if no counts are kept.
    pub fn kept_values(&self) -> Option<Vec<[f64; 2]>> {
        let counts = self.counts()?;
        let mut values = vec![[0.0; 2]; self.var_count()];
        for id in self.ids() {
            if let Node::Top { var, slot } = self.node(id) {
                let [f, t] = counts.tops[slot as usize];
                values[var.index()][0] += f;
                values[var.index()][1] += t;
            }
            for i in self.element_range(id) {
                for child in [self.elements[i].prime, self.elements[i].sub] {
                    if let Node::Literal(lit) = self.node(child) {
                        values[lit.var.index()][usize::from(lit.value)] += counts.elements[i];
                    }
                }
            }
        }
        Some(values)
    }

    /// The same structure with the parameters of these counts, which are kept.
    ///
    /// Parts with count zero and no pseudocount become impossible and are dropped: elements, the nodes only they reach,
    /// and one side of ⊤, which becomes a literal. So the base always is the support.
    pub(crate) fn with_estimates(self, mut counts: Weights, smoothing: &Smoothing) -> Result<Circuit, BuildError> {
        smoothing.check(self.var_count())?;
        if smoothing.pseudocount <= 0.0 {
            self.forget_vanishing(&mut counts);
        }
        let dead = counts.tops.iter().flatten().chain(&counts.elements).any(|&count| count <= 0.0);
        let (mut circuit, counts) = match dead && smoothing.pseudocount <= 0.0 {
            true => self.without_unseen(&counts)?,
            false => (self, counts),
        };
        if let (Some(prior), false) = (&smoothing.prior, smoothing.columns.is_empty()) {
            let weights = circuit.take_columns(prior, counts.tops.len(), smoothing);
            circuit.log_parameters = circuit.estimates_weighing(&counts, |node| weights[node]);
            check_parameters(&circuit.log_parameters, smoothing.pseudocount)?;
            circuit.counts = Some(counts);
            return Ok(circuit);
        }
        let mut parameters = Weights::zeros(counts.tops.len(), counts.elements.len());
        for node in &circuit.nodes {
            match *node {
                Node::Literal(_) => {}
                Node::Top { var, slot } => {
                    parameters.tops[slot as usize] = smoothing.top(var, counts.tops[slot as usize])
                }
                Node::Sum { start, end, .. } => {
                    let range = start as usize..end as usize;
                    if let Some(smoothed) = smoothing.literal_primes(&circuit, range.clone(), &counts) {
                        parameters.elements[range].copy_from_slice(&smoothed);
                        continue;
                    }
                    let share = smoothing.pseudocount / range.len() as f64;
                    let total: f64 = counts.elements[range.clone()].iter().map(|n| n + share).sum();
                    for i in range {
                        let count = counts.elements[i] + share;
                        parameters.elements[i] = log_share(count, (total - count).max(0.0));
                    }
                }
            }
        }
        check_parameters(&parameters, smoothing.pseudocount)?;
        circuit.log_parameters = parameters;
        circuit.counts = Some(counts);
        Ok(circuit)
    }

    /// Sets counts to zero whose share is too small for a parameter: expected counts can be that small.
    fn forget_vanishing(&self, counts: &mut Weights) {
        let forget = |counts: &mut [f64]| {
            let least = counts.iter().sum::<f64>() * f64::MIN_POSITIVE;
            counts.iter_mut().filter(|count| **count < least).for_each(|count| *count = 0.0);
        };
        counts.tops.iter_mut().for_each(|pair| forget(pair));
        for id in self.ids() {
            forget(&mut counts.elements[self.element_range(id)]);
        }
    }

    /// The log-parameters of counts, smoothed towards the parameters of this circuit: `(n + a·θ) / (total + a)`.
    ///
    /// Count zero without a pseudocount gives log zero, which no circuit may hold.
    pub(crate) fn estimates_towards(&self, counts: &Weights, pseudocount: f64) -> Weights {
        self.estimates_weighing(counts, |_| pseudocount)
    }

    /// The same with a weight of the prior for each node.
    fn estimates_weighing(&self, counts: &Weights, pseudocount: impl Fn(usize) -> f64) -> Weights {
        let prior = &self.log_parameters;
        let mut parameters = Weights::zeros(counts.tops.len(), counts.elements.len());
        for (i, node) in self.nodes.iter().enumerate() {
            let pseudocount = pseudocount(i);
            let smooth = |count: f64, log_prior: f64| match pseudocount > 0.0 {
                true => count + pseudocount * log_prior.exp(),
                false => count,
            };
            match *node {
                Node::Literal(_) => {}
                Node::Top { slot, .. } => {
                    let ([falses, trues], logs) = (counts.tops[slot as usize], prior.tops[slot as usize]);
                    let (falses, trues) = (smooth(falses, logs[0]), smooth(trues, logs[1]));
                    parameters.tops[slot as usize] = match falses > 0.0 && trues > 0.0 {
                        true => log_top(log_share(falses, trues), log_share(trues, falses)),
                        false => [falses, trues].map(|n| if n > 0.0 { 0.0 } else { LOG_ZERO }),
                    };
                }
                Node::Sum { start, end, .. } => {
                    let range = start as usize..end as usize;
                    let share = |i: usize| smooth(counts.elements[i], prior.elements[i]);
                    let total: f64 = range.clone().map(share).sum();
                    for i in range {
                        let count = share(i);
                        parameters.elements[i] =
                            if count > 0.0 { log_share(count, (total - count).max(0.0)) } else { LOG_ZERO };
                    }
                }
            }
        }
        parameters
    }

    /// The same structure with the parameters of [`Circuit::estimates_towards`] and these counts, which are kept.
    ///
    /// Without a pseudocount, parts with count zero are dropped, as by [`Circuit::with_estimates`].
    pub(crate) fn with_estimates_towards(&self, counts: Weights, pseudocount: f64) -> Result<Circuit, BuildError> {
        let mut circuit = self.clone();
        if pseudocount <= 0.0 {
            return circuit.with_estimates(counts, &Smoothing::none());
        }
        let parameters = self.estimates_towards(&counts, pseudocount);
        check_parameters(&parameters, pseudocount)?;
        circuit.log_parameters = parameters;
        circuit.counts = Some(counts);
        Ok(circuit)
    }

    /// The circuit without parts of count zero, and the remaining counts.
    fn without_unseen(&self, counts: &Weights) -> Result<(Circuit, Weights), BuildError> {
        let mut builder = Builder::new(self.vtree.clone(), Sharing::LiteralsOnly);
        let mut new: Vec<Option<NodeId>> = Vec::with_capacity(self.nodes.len());
        for id in self.ids() {
            let node = match self.node(id) {
                Node::Literal(lit) => Some(builder.literal(lit)?),
                Node::Top { var, slot } => match counts.tops[slot as usize] {
                    [f, t] if f > 0.0 && t > 0.0 => Some(builder.top(var, [f, t])?),
                    [f, t] if f > 0.0 || t > 0.0 => Some(builder.literal(var.is(t > 0.0))?),
                    _ => None,
                },
                Node::Sum { vtree, .. } => {
                    let range = self.element_range(id);
                    let seen = range.filter(|&i| counts.elements[i] > 0.0).filter_map(|i| {
                        let element = self.elements[i];
                        Some((new[element.prime.index()]?, new[element.sub.index()]?, counts.elements[i]))
                    });
                    let elements: Vec<_> = seen.collect();
                    if elements.is_empty() { None } else { Some(builder.sum(vtree, &elements)?) }
                }
            };
            new.push(node);
        }
        let root = new[self.root().index()].ok_or(BuildError::NoElements)?;
        let (circuit, counts) = builder.finish_numbers(root)?;
        Ok((circuit, counts))
    }

    /// The same distribution with equal nodes merged; their counts add up.
    ///
    /// Elements of a mixture whose primes and subs are merged become one element.
    pub fn merge_equal_nodes(&self) -> Result<Circuit, BuildError> {
        let mut builder = Builder::new(self.vtree.clone(), Sharing::Equal);
        let mut new: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        let mut elements: Vec<(NodeId, NodeId, f64)> = Vec::new();
        for id in self.ids() {
            new.push(match self.node(id) {
                Node::Literal(lit) => builder.literal(lit)?,
                Node::Top { var, slot } => builder.top(var, self.log_parameters.tops[slot as usize])?,
                Node::Sum { vtree, .. } => {
                    elements.clear();
                    elements.extend(
                        self.elements_of(id).map(|(e, theta)| (new[e.prime.index()], new[e.sub.index()], theta)),
                    );
                    merge_equal(&mut elements, log_add);
                    builder.sum(vtree, &elements)?
                }
            });
        }
        let (mut circuit, places) = builder.finish_with_ids(new[self.root().index()])?;
        if let Some(counts) = &self.counts {
            let place = |old: NodeId| places[new[old.index()].index()].expect("every node is below the root");
            circuit.counts = Some(self.moved_counts(counts, &circuit, place));
        }
        Ok(circuit)
    }

    /// The counts of this circuit added up at the places of its nodes in a shared one.
    fn moved_counts(&self, counts: &Weights, shared: &Circuit, place: impl Fn(NodeId) -> NodeId) -> Weights {
        let mut sums = Weights::zeros(shared.log_parameters.tops.len(), shared.elements.len());
        for id in self.ids() {
            match (self.node(id), shared.node(place(id))) {
                (Node::Top { slot, .. }, Node::Top { slot: to, .. }) => {
                    let [f, t] = counts.tops[slot as usize];
                    sums.tops[to as usize][0] += f;
                    sums.tops[to as usize][1] += t;
                }
                (Node::Sum { .. }, Node::Sum { start, end, .. }) => {
                    // A shared sum may list its elements in another order.
                    let mut found: Vec<_> = self
                        .element_range(id)
                        .map(|i| (place(self.elements[i].prime), place(self.elements[i].sub), counts.elements[i]))
                        .collect();
                    merge_equal(&mut found, |a, b| a + b);
                    found.sort_unstable_by_key(|&(prime, sub, _)| (prime, sub));
                    let mut target: Vec<usize> = (start as usize..end as usize).collect();
                    target.sort_unstable_by_key(|&i| shared.elements[i]);
                    for (i, (.., count)) in target.into_iter().zip(found) {
                        sums.elements[i] += count;
                    }
                }
                _ => {}
            }
        }
        sums
    }
}

/// Refuses a pseudocount that makes a parameter zero, which no circuit may hold.
fn check_parameters(parameters: &Weights, pseudocount: f64) -> Result<(), BuildError> {
    let mut all = parameters.tops.iter().flatten().chain(&parameters.elements);
    match all.all(|&parameter| check_parameter(parameter).is_ok()) {
        true => Ok(()),
        false => Err(BuildError::SmallPseudocount(pseudocount)),
    }
}

/// Merges elements with the same prime and sub, at the place of the first; `add` adds their numbers.
pub(crate) fn merge_equal(elements: &mut Vec<(NodeId, NodeId, f64)>, add: impl Fn(f64, f64) -> f64) {
    let mut order: Vec<usize> = (0..elements.len()).collect();
    order.sort_unstable_by_key(|&i| (elements[i].0, elements[i].1, i));
    let mut gone = vec![false; elements.len()];
    let mut first = 0;
    for (before, &i) in order.iter().zip(&order[1.min(order.len())..]) {
        if (elements[*before].0, elements[*before].1) == (elements[i].0, elements[i].1) {
            first = if gone[*before] { first } else { *before };
            elements[first].2 = add(elements[first].2, elements[i].2);
            gone[i] = true;
        }
    }
    let mut i = 0;
    elements.retain(|_| {
        i += 1;
        !gone[i - 1]
    });
}

/// One number for every parameter of a circuit: two per ⊤ node, one per element.
///
/// The same shape holds log-parameters, counts of records and expected flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    /// For each ⊤ node, the numbers of *false* and of *true*.
    pub tops: Vec<[f64; 2]>,
    /// For each element of each sum, its number.
    pub elements: Vec<f64>,
}

impl Weights {
    /// Zeros of the given shape.
    pub fn zeros(tops: usize, elements: usize) -> Weights {
        Weights { tops: vec![[0.0; 2]; tops], elements: vec![0.0; elements] }
    }

    /// Whether both have numbers for the same circuit.
    pub(crate) fn same_shape(&self, other: &Weights) -> bool {
        self.tops.len() == other.tops.len() && self.elements.len() == other.elements.len()
    }

    /// Adds `other` number by number.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn add(&mut self, other: &Weights) {
        assert!(self.same_shape(other), "weights of different circuits");
        for (a, b) in self.tops.iter_mut().zip(&other.tops) {
            a[0] += b[0];
            a[1] += b[1];
        }
        for (a, b) in self.elements.iter_mut().zip(&other.elements) {
            *a += b;
        }
    }
}

impl Circuit {
    /// The same structure with the parameters of independent variables with these probabilities of true, given the base
    /// of a deterministic circuit.
    pub(crate) fn independent(&self, trues: &[f64]) -> Circuit {
        let log_parameters = self.independent_parameters(trues, self.log_parameters.tops.len()).0;
        Circuit { log_parameters, counts: None, ..self.clone() }
    }

    /// Its parameters, given the number of ⊤ nodes, and the log-probability of what each node allows.
    fn independent_parameters(&self, trues: &[f64], tops: usize) -> (Weights, Vec<f64>) {
        let log = |trues: f64, value: bool| if value { trues.ln() } else { (-trues).ln_1p() };
        let mut parameters = Weights::zeros(tops, self.elements.len());
        let mut allowed: Vec<f64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            allowed.push(match *node {
                Node::Literal(lit) => log(trues[lit.var.index()], lit.value),
                Node::Top { var, slot } => {
                    parameters.tops[slot as usize] = [false, true].map(|value| log(trues[var.index()], value));
                    0.0
                }
                Node::Sum { start, end, .. } => {
                    let range = start as usize..end as usize;
                    let parts = self.elements[range.clone()].iter();
                    let parts: Vec<f64> = parts.map(|e| allowed[e.prime.index()] + allowed[e.sub.index()]).collect();
                    let sum = log_sum(parts.iter().copied());
                    range.zip(parts).for_each(|(i, part)| parameters.elements[i] = part - sum);
                    sum
                }
            });
        }
        (parameters, allowed)
    }

    /// The log-likelihood of the records whose counts are kept, each by the parameters of all others. `None` without
    /// counts or columns with several values.
    ///
    /// Unlike the likelihood by the parameters of all records, it does not favour the least smoothing.
    pub(crate) fn log_likelihood_left_out(&self, smoothing: &Smoothing) -> Option<f64> {
        let (counts, prior) = (self.counts()?, smoothing.prior.as_ref().filter(|_| !smoothing.columns.is_empty())?);
        let mut independent = self.clone();
        let weights = independent.take_columns(prior, counts.tops.len(), smoothing);
        let prior = &independent.log_parameters;
        let of_node = |(node, &weight): (&Node, &f64)| match *node {
            Node::Literal(_) => 0.0,
            Node::Top { slot, .. } => left_out(&counts.tops[slot as usize], &prior.tops[slot as usize], weight),
            Node::Sum { start, end, .. } => {
                let range = start as usize..end as usize;
                left_out(&counts.elements[range.clone()], &prior.elements[range], weight)
            }
        };
        Some(self.nodes.iter().zip(&weights).map(of_node).fold(0.0, |sum, node| sum + node))
    }

    /// Sets the parameters to those of independent columns, and gives the weight of that prior for each node: the share
    /// of the values that a node over a part of a column allows, and all elsewhere.
    fn take_columns(&mut self, prior: &[f64], tops: usize, smoothing: &Smoothing) -> Vec<f64> {
        let (parameters, allowed) = self.independent_parameters(prior, tops);
        self.log_parameters = parameters;
        // For each vtree node inside a column, the log-probability that all its variables are false.
        let mut none: Vec<Option<f64>> = vec![None; self.vtree.node_count()];
        let column_of = |var: Var| {
            let column = smoothing.columns.partition_point(|column| column.end <= var.0);
            smoothing.columns.get(column).filter(|found| found.contains(&var.0)).map(|_| column)
        };
        let mut column: Vec<Option<usize>> = vec![None; self.vtree.node_count()];
        for &v in self.vtree.bottom_up() {
            let found = match (self.vtree.leaf_var(v), self.vtree.children(v)) {
                (Some(var), _) => column_of(var).map(|column| (column, (-prior[var.index()]).ln_1p())),
                (_, Some([left, right])) => match (column[left.index()], column[right.index()]) {
                    (Some(a), Some(b)) if a == b => {
                        let both = none[left.index()].zip(none[right.index()]);
                        both.map(|(left, right)| (a, left + right))
                    }
                    _ => None,
                },
                (None, None) => None,
            };
            column[v.index()] = found.map(|(column, _)| column);
            none[v.index()] = found.map(|(_, none)| none);
        }
        let weight = |(id, allowed): (NodeId, f64)| match none[self.vtree_of(id).index()] {
            Some(none) => smoothing.pseudocount * (allowed - none).exp().min(1.0),
            None => smoothing.pseudocount,
        };
        self.ids().zip(allowed).map(weight).collect()
    }
}

/// The log-likelihood of counted records, each by the counts of all others and a prior of this weight.
pub(crate) fn left_out(counts: &[f64], log_prior: &[f64], weight: f64) -> f64 {
    let others = |count: f64| (count - 1.0).max(0.0);
    let total = others(counts.iter().sum()) + weight;
    let one = |(&count, &log_prior): (&f64, &f64)| match count > 0.0 {
        true => count * ((others(count) + weight * log_prior.exp()) / total).ln(),
        false => 0.0,
    };
    counts.iter().zip(log_prior).map(one).fold(0.0, |sum, one| sum + one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Records;
    use crate::example;
    use crate::learn::{Slopp, Task};
    use crate::names::Kind;

    #[test]
    fn each_record_is_left_out_of_the_parameters_that_judge_it() {
        let values = Kind::Values(["a", "b", "c", "d"].map(String::from).to_vec());
        let columns = [("x", values.clone()), ("y", Kind::Boolean), ("z", values)];
        let names = Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
        let mut random = crate::random::Random::new(5);
        let mut row = |_| {
            let (x, z) = (random.below(4), random.below(3));
            let y = random.unit() < 0.2 * x as f64;
            let one_of = |value: usize| (0..4).map(move |i| i == value);
            one_of(x).chain([y]).chain(one_of(if y { x } else { z })).collect::<Vec<bool>>()
        };
        let rows: Vec<Vec<bool>> = (0..40).map(&mut row).collect();
        let records = Records::from_rows(names.clone(), rows.iter().cloned());
        let psdd = Task::new(&records).learn(&Slopp::default(), &()).unwrap().model.into_psdd().unwrap();
        for pseudocount in [0.3, 2.0, 9.0] {
            let smoothing = Smoothing::marginal(pseudocount, &records);
            let left_out = |i: usize| {
                let others = rows.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, row)| row.clone());
                let others = Records::from_rows(names.clone(), others);
                psdd.fit(&others, &smoothing).unwrap().circuit.log_probability(&rows[i]).unwrap()
            };
            let expected: f64 = (0..rows.len()).map(left_out).sum();
            let fitted = psdd.fit(&records, &smoothing).unwrap().circuit;
            let found = fitted.log_likelihood_left_out(&smoothing).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    /// The shares of a record keep falling in expectation maximisation: above zero, but too small for a parameter.
    #[test]
    fn vanishing_counts_become_impossible() {
        let psdd = crate::example::psdd();
        let records = crate::example::records();
        let mut counts = psdd.count_records(&records).unwrap().weights;
        let root = psdd.element_range(psdd.root());
        assert!(root.len() > 1 && counts.elements[root.start] > 1.0);
        counts.elements[root.start] = 5e-324;
        let top = counts.tops.iter().position(|pair| pair[0] > 1.0 && pair[1] > 0.0).expect("a variable that is free");
        counts.tops[top][1] = 5e-324;
        let circuit = Circuit::clone(&psdd).with_estimates(counts, &Smoothing::none()).unwrap();
        assert!(circuit.element_range(circuit.root()).len() < root.len());
        assert!(circuit.log_parameters.tops.len() < psdd.log_parameters.tops.len());
    }

    #[test]
    fn worlds_of_the_base_have_the_shares_they_have_among_independent_variables() {
        let psdd = example::psdd();
        let trues = [0.1, 0.3, 0.6, 0.8];
        let circuit = psdd.independent(&trues);
        let worlds = (0..16).map(|i| (0..4).map(|bit| i >> bit & 1 == 1).collect::<Vec<bool>>());
        let alone =
            |world: &[bool]| -> f64 { world.iter().zip(trues).map(|(&x, p)| if x { p } else { 1.0 - p }).product() };
        let possible: Vec<Vec<bool>> = worlds.filter(|world| psdd.is_possible(world).unwrap()).collect();
        let total: f64 = possible.iter().map(|world| alone(world)).sum();
        for world in &possible {
            let found = circuit.log_probability(world).unwrap().exp();
            assert!((found - alone(world) / total).abs() < 1e-12, "{world:?}: {found}");
        }
    }
}
