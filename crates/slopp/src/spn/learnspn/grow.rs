//! The recursion of LearnSPN as rounds over a queue of sub-databases.

use super::LearnSpn;
use super::cluster::{Rows, cluster};
use super::independence::{GTests, are_variables};
use super::leaf::{ColumnTree, Leaf, Prior};
use crate::circuit::NodeId;
use crate::data::{BitMatrix, Choice, PairCounts, Records, RecordsBuilder};
use crate::names::Names;
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

/// A sub-database to cut: some columns, whose variables are numbered within its records.
struct Task {
    columns: Vec<Choice>,
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
    let prior = Prior { whole: &whole, pseudocount: config.pseudocount };
    progress.begin("LearnSPN", train.len() as u64 * vars.len() as u64);
    let mut plan = Plan { nodes: vec![Planned { shape: Shape::Leaf, leaf: None }] };
    let mut open = vec![(0, Task::of_all(train, seed))];
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
    /// All records. Values of a column come from the most frequent on, so that their order does not matter.
    fn of_all(train: &Records, seed: u64) -> Task {
        let count = |var: &Var| train.count(train.column(*var));
        let by_count = |column: Choice| column.sorted_by(|a, b| count(b).total_cmp(&count(a)));
        let columns: Vec<Choice> = Choice::all(train.names()).into_iter().map(by_count).collect();
        let records = match are_variables(&columns) {
            true => train.clone(),
            false => over(train, columns.iter().flat_map(Choice::vars)),
        };
        Task { columns, records, seed }
    }

    /// The columns with their variables as numbered in the records.
    fn local(&self) -> Vec<Choice> {
        let mut next = 0;
        let local = self.columns.iter().map(|column| {
            let local = column.numbered_from(next);
            next += column.vars().len();
            local
        });
        local.collect()
    }

    fn cells(&self) -> usize {
        self.records.len() * self.records.var_count()
    }

    fn cut(self, config: &LearnSpn, prior: &Prior<'_>, may_cut: bool) -> Cut {
        let total = self.records.total();
        let few = total < config.min_records || !may_cut;
        let of_variables = are_variables(&self.columns);
        let vars: Vec<Var> = self.columns.iter().flat_map(Choice::vars).copied().collect();
        if of_variables && (vars.len() == 1 || few && config.leaves == super::Leaves::Independent) {
            let trues = |i: usize| self.records.count(self.records.column(Var(i as u32)));
            let trues: Vec<f64> = (0..vars.len()).map(trues).collect();
            return Cut::Leaf(Leaf::independent(&vars, &trues, total, prior));
        }
        let pairs = PairCounts::of(&self.records);
        let local = self.local();
        let tests = GTests::new(&local, &pairs);
        let noise = EDGE_NOISE.min(config.independence);
        let leaf = |kind| match of_variables {
            true => Leaf::new(kind, &vars, &pairs, tests.information(), noise / (2.0 * total), prior),
            false => Leaf::Columns(ColumnTree::new(kind, &self.columns, &local, &pairs, (&tests, noise), prior)),
        };
        if few || self.columns.len() == 1 {
            return Cut::Leaf(leaf(config.leaves));
        }
        let parts = independent_parts(self.columns.len(), |i, j| tests.are_dependent(i, j, config.independence));
        if parts.len() > 1 {
            let seeds = Random::new(self.seed);
            return Cut::Product(self.parts(parts, &local, seeds));
        }
        let mut random = Random::new(self.seed);
        let first = tests.most_informative(&local, &pairs);
        let penalty = config.cluster_penalty * self.columns.len() as f64;
        let rows = Rows::new(self.records.rows(), self.records.weights(), &local);
        match cluster(&rows, config.max_clusters, penalty, first.index(), &mut random) {
            None => Cut::Leaf(leaf(config.leaves)),
            Some(labels) => Cut::Sum(leaf(config.leaves), self.rows(&labels, random)),
        }
    }

    /// The sub-databases of some sets of columns.
    fn parts(&self, parts: Vec<Vec<usize>>, local: &[Choice], mut seeds: Random) -> Vec<Task> {
        let part = |part: Vec<usize>| {
            let records = over(&self.records, part.iter().flat_map(|&column| local[column].vars()));
            let columns = part.into_iter().map(|column| self.columns[column].clone()).collect();
            Task { columns, records, seed: seeds.bits() }
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
            (records.total() / total, Task { columns: self.columns.clone(), records, seed: seeds.bits() })
        };
        (0..clusters).map(part).collect()
    }
}

/// Records over some of the variables, numbered in this order.
fn over<'a>(records: &Records, vars: impl Iterator<Item = &'a Var>) -> Records {
    let vars: Vec<&Var> = vars.collect();
    let mut lines = BitMatrix::zeros(vars.len(), records.len());
    for (line, &&var) in vars.iter().enumerate() {
        lines.line_mut(line).copy_from_slice(records.column(var));
    }
    let rows = lines.transposed();
    let mut builder = RecordsBuilder::new(Names::numbered(vars.len()));
    for (i, &weight) in records.weights().iter().enumerate() {
        builder.push_words(rows.line(i), weight);
    }
    builder.finish()
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
    use crate::data::SymmetricMatrix;

    #[test]
    fn parts_are_connected_components() {
        let mut information = SymmetricMatrix::zeros(6);
        for (i, j) in [(0, 3), (3, 5), (1, 4)] {
            information.set(i, j, 1.0);
        }
        assert_eq!(independent_parts(6, |i, j| information.at(i, j) > 0.5), [vec![0, 3, 5], vec![1, 4], vec![2]]);
    }
}
