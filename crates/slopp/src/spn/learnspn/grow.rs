//! The recursion of LearnSPN as rounds over a queue of sub-databases.

use super::LearnSpn;
use super::cluster::cluster;
use super::leaf::{ColumnTree, Columns, Leaf, Prior};
use crate::circuit::NodeId;
use crate::data::{BitMatrix, PairCounts, Records, RecordsBuilder, SymmetricMatrix};
use crate::names::{Group, Names};
use crate::progress::Progress;
use crate::random::Random;
use crate::spn::{Spn, SpnBuilder, SpnError};
use crate::var::Var;
use rayon::prelude::*;
use std::sync::Arc;

/// Up to this G statistic, a p-value of 0.05, an edge of a Chow-Liu tree is noise: one edge too many costs less than
/// one cut too few.
const EDGE_NOISE: f64 = 3.84;

/// The planned network: parents before children, the root first.
pub(super) struct Plan {
    pub(super) nodes: Vec<Planned>,
}

pub(super) struct Planned {
    pub(super) shape: Shape,
    /// For sums: the leaf that could replace them.
    pub(super) leaf: Option<Leaf>,
}

pub(super) enum Shape {
    Leaf,
    Product(Vec<usize>),
    /// Children with their weights.
    Sum(Vec<(usize, f64)>),
}

/// A sub-database to cut.
struct Task {
    vars: Vec<Var>,
    records: Records,
    seed: u64,
}

/// How a sub-database was cut.
enum Cut {
    Leaf(Leaf),
    Product(Vec<Task>),
    Sum(Leaf, Vec<(f64, Task)>),
}

/// Grows a network; every round cuts all open sub-databases, in parallel, or the first of them if steps run out.
pub(super) fn grow(train: &Records, config: &LearnSpn, seed: u64, progress: &dyn Progress) -> Plan {
    let total = train.total();
    let vars: Vec<Var> = (0..train.var_count() as u32).map(Var).collect();
    let whole: Vec<f64> = vars.iter().map(|&var| (train.count(train.column(var)) + 1.0) / (total + 2.0)).collect();
    let prior = Prior { whole: &whole, pseudocount: config.pseudocount, names: train.names() };
    progress.begin("LearnSPN", train.len() as u64 * vars.len() as u64);
    let mut plan = Plan { nodes: vec![Planned { shape: Shape::Leaf, leaf: None }] };
    let mut open = vec![(0, Task { vars, records: train.clone(), seed })];
    let mut steps = config.steps;
    while !open.is_empty() {
        let cuts: Vec<(usize, Cut)> = open
            .into_par_iter()
            .enumerate()
            .map(|(place, (node, task))| {
                let cells = task.cells();
                let cut = task.cut(config, &prior, place < steps);
                let left: usize = match &cut {
                    Cut::Leaf(_) => 0,
                    Cut::Product(parts) => parts.iter().map(Task::cells).sum(),
                    Cut::Sum(_, parts) => parts.iter().map(|(_, part)| part.cells()).sum(),
                };
                progress.advance((cells - left) as u64);
                (node, cut)
            })
            .collect();
        steps -= cuts.iter().filter(|(_, cut)| !matches!(cut, Cut::Leaf(_))).count();
        open = Vec::new();
        for (node, cut) in cuts {
            let mut add = |plan: &mut Plan, task| {
                plan.nodes.push(Planned { shape: Shape::Leaf, leaf: None });
                open.push((plan.nodes.len() - 1, task));
                plan.nodes.len() - 1
            };
            let (shape, leaf) = match cut {
                Cut::Leaf(leaf) => (Shape::Leaf, Some(leaf)),
                Cut::Product(parts) => {
                    (Shape::Product(parts.into_iter().map(|part| add(&mut plan, part)).collect()), None)
                }
                Cut::Sum(leaf, parts) => {
                    let children = parts.into_iter().map(|(weight, part)| (add(&mut plan, part), weight)).collect();
                    (Shape::Sum(children), Some(leaf))
                }
            };
            plan.nodes[node] = Planned { shape, leaf };
        }
    }
    plan
}

impl Task {
    fn cells(&self) -> usize {
        self.records.len() * self.vars.len()
    }

    fn cut(self, config: &LearnSpn, prior: &Prior<'_>, may_cut: bool) -> Cut {
        let total = self.records.total();
        let few = total < config.min_records || !may_cut;
        let columns = Columns::of(&self.vars, prior.names);
        if columns.is_none() && (self.vars.len() == 1 || few && config.leaves == super::Leaves::Independent) {
            let trues = |i: usize| self.records.count(self.records.column(Var(i as u32)));
            let trues: Vec<f64> = (0..self.vars.len()).map(trues).collect();
            return Cut::Leaf(Leaf::independent(&self.vars, &trues, total, prior));
        }
        let pairs = PairCounts::of(&self.records);
        let noise = EDGE_NOISE.min(config.independence) / (2.0 * total);
        let by_columns = |columns: &Columns| {
            Leaf::Columns(ColumnTree::new(config.leaves, &self.vars, columns, &pairs, noise, prior))
        };
        if let Some(columns) = columns.as_ref().filter(|columns| few || columns.len() == 1) {
            return Cut::Leaf(by_columns(columns));
        }
        let information = pairs.mutual_information(0.0);
        let limit = config.independence / (2.0 * total);
        let leaf = |kind| match &columns {
            None => Leaf::new(kind, &self.vars, &pairs, &information, noise, prior),
            Some(columns) => by_columns(columns),
        };
        if few {
            return Cut::Leaf(leaf(config.leaves));
        }
        // The values of one column are never independent.
        let column = |i: usize| prior.names.group_of(self.vars[i]).map(Group::name);
        let dependent =
            |i: usize, j: usize| information.at(i, j) > limit || (column(i).is_some() && column(i) == column(j));
        let parts = independent_parts(self.vars.len(), dependent);
        if parts.len() > 1 {
            let seeds = Random::new(self.seed);
            return Cut::Product(self.columns(parts, seeds));
        }
        let mut random = Random::new(self.seed);
        let first = most_informative(&information);
        let penalty = config.cluster_penalty * self.vars.len() as f64;
        let rows = self.records.rows();
        let labels = cluster(rows, self.records.weights(), config.max_clusters, penalty, first, &mut random);
        match labels {
            None => Cut::Leaf(leaf(config.leaves)),
            Some(labels) => Cut::Sum(leaf(config.leaves), self.rows(&labels, random)),
        }
    }

    /// The sub-databases of some sets of columns.
    fn columns(&self, parts: Vec<Vec<usize>>, mut seeds: Random) -> Vec<Task> {
        let part = |columns: Vec<usize>| {
            let mut lines = BitMatrix::zeros(columns.len(), self.records.len());
            for (line, &column) in columns.iter().enumerate() {
                lines.line_mut(line).copy_from_slice(self.records.column(Var(column as u32)));
            }
            let rows = lines.transposed();
            let mut builder = RecordsBuilder::new(Names::numbered(columns.len()));
            for (i, &weight) in self.records.weights().iter().enumerate() {
                builder.push_words(rows.line(i), weight);
            }
            let vars = columns.into_iter().map(|column| self.vars[column]).collect();
            Task { vars, records: builder.finish(), seed: seeds.bits() }
        };
        parts.into_iter().map(part).collect()
    }

    /// The sub-databases of clusters of rows, with their shares of the records.
    fn rows(&self, labels: &[usize], mut seeds: Random) -> Vec<(f64, Task)> {
        let total = self.records.total();
        let clusters = 1 + labels.iter().copied().max().unwrap_or(0);
        let part = |cluster: usize| {
            let names: Arc<Names> = self.records.names().clone();
            let mut builder = RecordsBuilder::new(names);
            for (i, _) in labels.iter().enumerate().filter(|&(_, &label)| label == cluster) {
                builder.push_words(self.records.rows().line(i), self.records.weights()[i]);
            }
            let records = builder.finish();
            (records.total() / total, Task { vars: self.vars.clone(), records, seed: seeds.bits() })
        };
        (0..clusters).map(part).collect()
    }
}

/// The connected components of columns that depend on each other, each ascending.
fn independent_parts(len: usize, dependent: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut parts = Vec::new();
    let mut outside: Vec<usize> = (0..len).collect();
    while let Some(&first) = outside.first() {
        let mut part = vec![first];
        outside.remove(0);
        let mut next = 0;
        while next < part.len() && !outside.is_empty() {
            let column = part[next];
            outside.retain(|&other| {
                let dependent = dependent(column, other);
                if dependent {
                    part.push(other);
                }
                !dependent
            });
            next += 1;
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// The column with the most mutual information with all others; the first of equals.
fn most_informative(information: &SymmetricMatrix) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for i in 0..information.len() {
        let sum: f64 = information.line(i).sum();
        if sum > best.1 {
            best = (i, sum);
        }
    }
    best.0
}

/// The weight of a stand-in below its sum, 2⁻¹⁹⁰: it is evaluated but changes nothing.
const UNHEARD: f64 = f64::from_bits((1023 - 190) << 52);

/// A network made from a plan.
pub(super) struct Built {
    pub(super) spn: Spn,
    /// For each sum: its place in the plan, its node, and the leaf that could replace it.
    pub(super) stand_ins: Vec<(usize, NodeId, NodeId)>,
}

impl Plan {
    /// The network, children right before their parents, so that few values are alive at a time.
    pub(super) fn build(&self, var_count: usize, with_stand_ins: bool) -> Result<Built, SpnError> {
        let mut builder = SpnBuilder::new(var_count);
        let mut stand_ins = Vec::new();
        let mut done: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        let mut stack = vec![(0, false)];
        while let Some((i, ready)) = stack.pop() {
            let id = |done: &[Option<NodeId>], child: usize| done[child].expect("children are made first");
            let node = match (&self.nodes[i].shape, ready) {
                (Shape::Leaf, _) => self.nodes[i].leaf.as_ref().expect("a leaf").build(&mut builder)?,
                (Shape::Product(children), false) => {
                    stack.push((i, true));
                    stack.extend(children.iter().rev().map(|&child| (child, false)));
                    continue;
                }
                (Shape::Sum(children), false) => {
                    stack.push((i, true));
                    stack.extend(children.iter().rev().map(|&(child, _)| (child, false)));
                    continue;
                }
                (Shape::Product(children), true) => {
                    let children: Vec<NodeId> = children.iter().map(|&child| id(&done, child)).collect();
                    builder.product(&children)?
                }
                (Shape::Sum(children), true) => {
                    let mut children: Vec<_> =
                        children.iter().map(|&(child, weight)| (id(&done, child), weight)).collect();
                    match &self.nodes[i].leaf {
                        Some(leaf) if with_stand_ins => {
                            let leaf = leaf.build(&mut builder)?;
                            children.push((leaf, UNHEARD));
                            let sum = builder.sum(&children)?;
                            stand_ins.push((i, sum, leaf));
                            sum
                        }
                        _ => builder.sum(&children)?,
                    }
                }
            };
            done[i] = Some(node);
        }
        // Every node is below the root, so none is renumbered.
        let spn = builder.finish(done[0].expect("the root is made last"))?;
        Ok(Built { spn, stand_ins })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_connected_components() {
        let mut information = SymmetricMatrix::zeros(6);
        for (i, j) in [(0, 3), (3, 5), (1, 4)] {
            information.set(i, j, 1.0);
        }
        assert_eq!(independent_parts(6, |i, j| information.at(i, j) > 0.5), [vec![0, 3, 5], vec![1, 4], vec![2]]);
        assert_eq!(most_informative(&information), 3);
    }
}
