//! CLUSTER by a separating tree: the leaves of a small decision tree over the left variables.
//!
//! Separation lemma: if every two clusters differ on some left variable that is constant inside each of the two, their
//! primes are exclusive. Every sub-database of a cluster keeps that variable constant, so every branch of its prime
//! ends in the same literal. Any two leaves of a decision tree differ in this way.

use super::grow::{Cluster, Database, Part, Task};
use super::vtree::spanning_tree;
use crate::data::{BitMatrix, full_set, ones, weight_planes};
use crate::logspace::x_log_x;
use crate::var::Var;
use crate::vtree::VtreeId;

/// Largest total weight for which `n ln n` is tabulated.
const MAX_TABLE: f64 = 4e6;

/// The largest number of right variables to judge a split by: those with the most information about the left ones.
///
/// Without a bound, nested scopes of a linear vtree would cost the cube of the variables.
const MAX_RIGHT: usize = 256;

/// Settings of the decision trees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limits {
    pub(super) leaves: usize,
    pub(super) min_records: f64,
    /// The gain in nats that a split needs, and the additional gain for each right parameter that it doubles.
    pub(super) gain: f64,
    pub(super) gain_per_parameter: f64,
}

/// Splits where the right side gains most, measured by the likelihood of a Chow-Liu tree over the right variables.
pub(super) struct Separating<'m> {
    limits: Limits,
    mutual_information: &'m dyn Fn(Var, Var) -> f64,
    /// The tree over the variables below each vtree node, made when first needed.
    trees: Vec<Option<Tree>>,
    /// Whether trees leave out fixed variables; and the node of the last tree, with the variables left out.
    free_only: bool,
    last: Option<(VtreeId, Vec<Var>)>,
    logs: Logs,
}

impl<'m> Separating<'m> {
    pub(super) fn new(
        database: &Database<'_>,
        limits: Limits,
        mutual_information: &'m dyn Fn(Var, Var) -> f64,
    ) -> Separating<'m> {
        let trees = (0..database.vtree.node_count()).map(|_| None).collect();
        let logs = Logs::new(database.records.weights());
        Separating { limits, mutual_information, trees, free_only: false, last: None, logs }
    }

    /// The same with trees over the right variables that are not fixed. Costs more, since these differ between tasks.
    pub(super) fn through_free(self) -> Separating<'m> {
        Separating { free_only: true, ..self }
    }

    pub(super) fn set_leaves(&mut self, leaves: usize) {
        self.limits.leaves = leaves;
    }

    /// Makes the tree over the right variables of a vtree node; with `free_only`, over those that are not fixed.
    fn make_tree(&mut self, left: &[Var], right: (VtreeId, &[Var]), fixed: &[bool]) {
        let (v, vars) = right;
        let out: Vec<Var> = vars.iter().copied().filter(|x| self.free_only && fixed[x.index()]).collect();
        let same = !self.free_only || self.last.as_ref().is_some_and(|last| last.0 == v && last.1 == out);
        if !same || self.trees[v.index()].is_none() {
            let free: Vec<usize> = (0..vars.len()).filter(|&i| !self.free_only || !fixed[vars[i].index()]).collect();
            self.trees[v.index()] = Some(Tree::new(left, vars, free, self.mutual_information));
            self.last = Some((v, out));
        }
    }

    fn best_split(&self, columns: &Columns, tree: &Tree, leaf: &[u64], candidates: &[usize]) -> Option<Split> {
        let total = columns.count(leaf);
        if total < self.limits.min_records {
            return None;
        }
        let needed = self.limits.gain + self.limits.gain_per_parameter * tree.parameters() as f64;
        let masked = columns.masked(leaf);
        let all: Vec<f64> = masked.iter().map(|column| columns.count(column)).collect();
        let own = tree.log_likelihood(total, &all, &self.logs);
        // No split can gain more than the log-likelihood that is left.
        if -own <= needed {
            return None;
        }
        let mut best: Option<Split> = None;
        let (mut with, mut without) = (vec![0.0; all.len()], vec![0.0; all.len()]);
        for &candidate in candidates {
            let column = columns.left.line(candidate);
            let count = columns.count_both(column, leaf);
            if count == 0.0 || count == total {
                continue;
            }
            for ((with, without), (column_right, all)) in with.iter_mut().zip(&mut without).zip(masked.iter().zip(&all))
            {
                *with = columns.count_both(column, column_right);
                *without = all - *with;
            }
            let gain = tree.log_likelihood(count, &with, &self.logs)
                + tree.log_likelihood(total - count, &without, &self.logs)
                - own;
            if gain > needed && best.as_ref().is_none_or(|best| gain > best.gain) {
                best = Some(Split { gain, candidate });
            }
        }
        best
    }
}

impl Separating<'_> {
    /// The left variable of a vtree node whose split of these rows gains most on the right side.
    pub(super) fn best_variable(&mut self, database: &Database<'_>, v: VtreeId, rows: &mut [u32]) -> Option<Var> {
        let vtree = database.vtree.clone();
        let [left, right] = vtree.children(v).expect("splits are at inner nodes");
        rows.sort_unstable();
        let left_vars = vtree.vars(left);
        let tree = self.trees[right.index()].get_or_insert_with(|| {
            let right_vars = vtree.vars(right);
            Tree::new(left_vars, right_vars, (0..right_vars.len()).collect(), self.mutual_information)
        });
        let columns = Columns::new(database, rows, left, right, tree);
        let candidates: Vec<usize> = (0..left_vars.len()).collect();
        let tree = self.trees[right.index()].as_ref().expect("just made");
        self.best_split(&columns, tree, &columns.all, &candidates).map(|split| left_vars[split.candidate])
    }
}

/// A leaf of the decision tree: its rows, the literals on its path as (candidate, value), its best split.
struct Leaf {
    rows: Vec<u64>,
    path: Vec<(usize, bool)>,
    split: Option<Split>,
}

struct Split {
    gain: f64,
    candidate: usize,
}

impl Cluster for Separating<'_> {
    fn cluster(&mut self, task: Task<'_>) -> Vec<Part> {
        let [left, right] = task.sides();
        let vtree = task.database.vtree.clone();
        let left_vars = vtree.vars(left);
        let free: Vec<usize> = (0..left_vars.len()).filter(|&i| !task.fixed[left_vars[i].index()]).collect();
        let enough = task.database.weight(task.rows) >= self.limits.min_records;
        if free.is_empty() || task.rows.len() < 2 || !enough {
            return task.one_part();
        }
        task.rows.sort_unstable();
        self.make_tree(left_vars, (right, vtree.vars(right)), task.fixed);
        let tree = self.trees[right.index()].as_ref().expect("just made");
        if tree.positions.is_empty() {
            return task.one_part();
        }
        let columns = Columns::new(task.database, task.rows, left, right, tree);
        let grown = |rows: Vec<u64>, path: Vec<(usize, bool)>| {
            let open: Vec<usize> = free.iter().copied().filter(|i| path.iter().all(|(used, _)| used != i)).collect();
            let split = self.best_split(&columns, tree, &rows, &open);
            Leaf { rows, path, split }
        };
        let mut leaves = vec![grown(columns.all.clone(), Vec::new())];
        while leaves.len() < self.limits.leaves {
            let gain = |leaf: &Leaf| leaf.split.as_ref().map_or(0.0, |split| split.gain);
            let best = (0..leaves.len()).rev().max_by(|&a, &b| gain(&leaves[a]).total_cmp(&gain(&leaves[b])));
            let Some((at, candidate)) = best.and_then(|at| leaves[at].split.as_ref().map(|s| (at, s.candidate))) else {
                break;
            };
            let parent = leaves.remove(at);
            let column = columns.left.line(candidate);
            for value in [true, false] {
                let side = parent.rows.iter().zip(column).map(|(r, c)| if value { r & c } else { r & !c }).collect();
                let mut path = parent.path.clone();
                path.push((candidate, value));
                leaves.insert(at, grown(side, path));
            }
        }
        let mut order = Vec::with_capacity(task.rows.len());
        let mut parts = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let before = order.len();
            order.extend(ones(&leaf.rows).map(|i| task.rows[i]));
            let literals = leaf.path.iter().map(|&(i, value)| left_vars[i].is(value)).collect();
            parts.push(Part { rows: order.len() - before, literals });
        }
        task.rows.copy_from_slice(&order);
        parts
    }
}

/// The columns of a sub-database: left variables, then right variables and right edges (both ends true).
struct Columns {
    all: Vec<u64>,
    left: BitMatrix,
    right: Vec<Vec<u64>>,
    planes: Option<Vec<Vec<u64>>>,
    weights: Vec<f64>,
}

impl Columns {
    /// Rows must ascend, which makes weights descend and their planes short.
    fn new(database: &Database<'_>, rows: &[u32], left: VtreeId, right: VtreeId, tree: &Tree) -> Columns {
        let right_columns = database.project(rows, right).transposed();
        let mut right: Vec<Vec<u64>> = tree.positions.iter().map(|&i| right_columns.line(i).to_vec()).collect();
        for &(a, b) in &tree.edges {
            let both = right[a].iter().zip(&right[b]).map(|(a, b)| a & b).collect();
            right.push(both);
        }
        let weights: Vec<f64> = rows.iter().map(|&row| database.records.weights()[row as usize]).collect();
        let all = full_set(rows.len());
        let left = database.project(rows, left).transposed();
        Columns { all, left, right, planes: weight_planes(&weights), weights }
    }

    fn masked(&self, mask: &[u64]) -> Vec<Vec<u64>> {
        self.right.iter().map(|column| column.iter().zip(mask).map(|(c, m)| c & m).collect()).collect()
    }

    fn count(&self, set: &[u64]) -> f64 {
        self.count_both(set, &self.all)
    }

    fn count_both(&self, a: &[u64], b: &[u64]) -> f64 {
        match &self.planes {
            Some(planes) => {
                let mut total = 0;
                for (bit, plane) in planes.iter().enumerate() {
                    let ones: u32 = plane.iter().zip(a).zip(b).map(|((p, a), b)| (p & a & b).count_ones()).sum();
                    total += u64::from(ones) << bit;
                }
                total as f64
            }
            None => {
                let both: Vec<u64> = a.iter().zip(b).map(|(a, b)| a & b).collect();
                ones(&both).map(|row| self.weights[row]).sum()
            }
        }
    }
}

/// A maximum spanning tree on mutual information over the right variables, or the most informative of them.
struct Tree {
    /// Positions of its variables among the right ones.
    positions: Vec<usize>,
    /// Ends as positions among its variables.
    edges: Vec<(usize, usize)>,
    degree: Vec<f64>,
}

impl Tree {
    /// Over these positions among the right variables.
    fn new(
        left: &[Var],
        right: &[Var],
        mut positions: Vec<usize>,
        mutual_information: &dyn Fn(Var, Var) -> f64,
    ) -> Tree {
        if positions.len() > MAX_RIGHT {
            let shared = |i: usize| left.iter().map(|&x| mutual_information(x, right[i])).sum::<f64>();
            let shared: Vec<f64> = (0..right.len()).map(shared).collect();
            positions.sort_by(|&i, &j| shared[j].total_cmp(&shared[i]));
            positions.truncate(MAX_RIGHT);
            positions.sort_unstable();
        }
        let var = |i: usize| right[positions[i]];
        let edges = spanning_tree(positions.len(), |i, j| mutual_information(var(i), var(j)));
        let mut degree = vec![0.0; positions.len()];
        for &(a, b) in &edges {
            degree[a] += 1.0;
            degree[b] += 1.0;
        }
        Tree { positions, edges, degree }
    }

    /// Free parameters of the tree distribution.
    fn parameters(&self) -> usize {
        2 * self.degree.len() - 1
    }

    /// Log-likelihood of `n` records under their own maximum-likelihood tree, from the counts of variables and edges.
    fn log_likelihood(&self, n: f64, counts: &[f64], logs: &Logs) -> f64 {
        let vars = self.degree.len();
        let mut sum = -logs.x_log_x(n);
        for (degree, &ones) in self.degree.iter().zip(counts).filter(|(degree, _)| **degree != 1.0) {
            sum -= (degree - 1.0) * (logs.x_log_x(ones) + logs.x_log_x(n - ones));
        }
        for (&(a, b), &both) in self.edges.iter().zip(&counts[vars..]) {
            let (a, b) = (counts[a], counts[b]);
            sum +=
                logs.x_log_x(both) + logs.x_log_x(a - both) + logs.x_log_x(b - both) + logs.x_log_x(n + both - a - b);
        }
        sum
    }
}

/// `n ln n`, from a table where counts are whole numbers.
pub(super) struct Logs(Vec<f64>);

impl Logs {
    pub(super) fn new(weights: &[f64]) -> Logs {
        let total: f64 = weights.iter().sum();
        let whole = weights.iter().all(|w| w.fract() == 0.0) && total <= MAX_TABLE;
        Logs(if whole { (0..=total as usize).map(|n| x_log_x(n as f64)).collect() } else { Vec::new() })
    }

    pub(super) fn x_log_x(&self, n: f64) -> f64 {
        self.0.get(n as usize).copied().unwrap_or_else(|| x_log_x(n))
    }
}
