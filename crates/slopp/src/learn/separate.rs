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

/// The largest number of right columns to judge a split by: those with the most information about the left ones.
///
/// Without a bound, nested scopes of a linear vtree would cost the cube of the columns.
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

/// Splits where the right side gains most, measured by the likelihood of a Chow-Liu tree over the right columns.
pub(super) struct Separating<'m> {
    limits: Limits,
    /// The mutual information of two columns.
    information: &'m dyn Fn(Var, Var) -> f64,
    /// The tree over the columns below each vtree node, made when first needed.
    trees: Vec<Option<Tree>>,
    /// Whether trees leave out fixed columns; and the node of the last tree, with the columns left out.
    free_only: bool,
    last: Option<(VtreeId, Vec<Var>)>,
    logs: Logs,
}

impl<'m> Separating<'m> {
    pub(super) fn new(
        database: &Database<'_>,
        limits: Limits,
        information: &'m dyn Fn(Var, Var) -> f64,
    ) -> Separating<'m> {
        let trees = (0..database.vtree.node_count()).map(|_| None).collect();
        let logs = Logs::new(database.records.weights());
        Separating { limits, information, trees, free_only: false, last: None, logs }
    }

    /// The same with trees over the right columns that are not fixed. Costs more, since these differ between tasks.
    pub(super) fn through_free(self) -> Separating<'m> {
        Separating { free_only: true, ..self }
    }

    pub(super) fn set_leaves(&mut self, leaves: usize) {
        self.limits.leaves = leaves;
    }

    /// Makes the tree over the right columns of a vtree node; with `free_only`, over those that are not fixed.
    fn make_tree(&mut self, database: &Database<'_>, left: VtreeId, right: VtreeId, fixed: &[bool]) {
        let columns = database.columns_below(right);
        let is_fixed = |column: &Var| {
            let vars = database.columns().at(*column).vars();
            vars.iter().filter(|var| fixed[var.index()]).count() >= vars.len().max(2) - 1
        };
        let out: Vec<Var> = columns.iter().copied().filter(|x| self.free_only && is_fixed(x)).collect();
        let same = !self.free_only || self.last.as_ref().is_some_and(|last| last.0 == right && last.1 == out);
        if !same || self.trees[right.index()].is_none() {
            let free: Vec<usize> = (0..columns.len()).filter(|&i| !out.contains(&columns[i])).collect();
            self.trees[right.index()] =
                Some(Tree::new(database, database.columns_below(left), columns, free, self.information));
            self.last = Some((right, out));
        }
    }

    fn best_split(&self, columns: &Features, tree: &Tree, leaf: &[u64], candidates: &[usize]) -> Option<Split> {
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
            let columns = database.columns_below(right);
            let all = (0..columns.len()).collect();
            Tree::new(database, database.columns_below(left), columns, all, self.information)
        });
        let columns = Features::new(database, rows, left, right, tree);
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
        self.make_tree(task.database, left, right, task.fixed);
        let tree = self.trees[right.index()].as_ref().expect("just made");
        if tree.columns.is_empty() {
            return task.one_part();
        }
        let columns = Features::new(task.database, task.rows, left, right, tree);
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

/// The bits of a sub-database: left variables, then the right values and pairs of values that its tree needs.
struct Features {
    all: Vec<u64>,
    left: BitMatrix,
    right: Vec<Vec<u64>>,
    planes: Option<Vec<Vec<u64>>>,
    weights: Vec<f64>,
}

impl Features {
    /// Rows must ascend, which makes weights descend and their planes short.
    fn new(database: &Database<'_>, rows: &[u32], left: VtreeId, right: VtreeId, tree: &Tree) -> Features {
        let right_bits = database.project(rows, right).transposed();
        let line = |&i: &usize| right_bits.line(i);
        let bits = |x: usize| tree.columns[x].bits.iter().map(line);
        let mut right: Vec<Vec<u64>> = (0..tree.columns.len()).flat_map(bits).map(<[u64]>::to_vec).collect();
        for edge in &tree.edges {
            for a in bits(edge.ends[0]) {
                for b in bits(edge.ends[1]) {
                    right.push(a.iter().zip(b).map(|(a, b)| a & b).collect());
                }
            }
        }
        let weights: Vec<f64> = rows.iter().map(|&row| database.records.weights()[row as usize]).collect();
        let all = full_set(rows.len());
        let left = database.project(rows, left).transposed();
        Features { all, left, right, planes: weight_planes(&weights), weights }
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

/// A maximum spanning tree on mutual information over the right columns, or the most informative of them.
struct Tree {
    columns: Vec<TreeColumn>,
    edges: Vec<Edge>,
}

struct TreeColumn {
    /// The places of its variables among the right ones: of a variable one, else one for each value.
    bits: Vec<usize>,
    /// Where the counts of its variables begin.
    start: usize,
    degree: f64,
}

struct Edge {
    /// Two columns of the tree.
    ends: [usize; 2],
    /// Where the counts of their pairs begin.
    start: usize,
}

impl Tree {
    /// Over these positions among the right columns.
    fn new(
        database: &Database<'_>,
        left: &[Var],
        right: &[Var],
        mut positions: Vec<usize>,
        information: &dyn Fn(Var, Var) -> f64,
    ) -> Tree {
        if positions.len() > MAX_RIGHT {
            let shared = |i: usize| left.iter().map(|&x| information(x, right[i])).sum::<f64>();
            let shared: Vec<f64> = (0..right.len()).map(shared).collect();
            positions.sort_by(|&i, &j| shared[j].total_cmp(&shared[i]));
            positions.truncate(MAX_RIGHT);
            positions.sort_unstable();
        }
        let column = |i: usize| right[positions[i]];
        let edges = spanning_tree(positions.len(), |i, j| information(column(i), column(j)));
        let vtree = &database.vtree;
        // The first leaf below the right vtree node is that of its first column.
        let place = |var: &Var| vtree.position(*var);
        let first = right.first().and_then(|column| database.columns().at(*column).vars().iter().map(place).min());
        let mut next = 0;
        let mut take = |len: usize| {
            next += len;
            next - len
        };
        let mut columns: Vec<TreeColumn> = Vec::with_capacity(positions.len());
        for i in 0..positions.len() {
            let vars = database.columns().at(column(i)).vars();
            let bits: Vec<usize> = vars.iter().map(|var| place(var) - first.unwrap_or(0)).collect();
            columns.push(TreeColumn { start: take(bits.len()), bits, degree: 0.0 });
        }
        let edge = |(a, b): (usize, usize)| {
            columns[a].degree += 1.0;
            columns[b].degree += 1.0;
            Edge { ends: [a, b], start: take(columns[a].bits.len() * columns[b].bits.len()) }
        };
        let edges = edges.into_iter().map(edge).collect();
        Tree { columns, edges }
    }

    /// Visits the number of records with each value of a column.
    fn values(&self, x: usize, n: f64, counts: &[f64], mut visit: impl FnMut(f64)) {
        let TreeColumn { bits, start, .. } = &self.columns[x];
        let counts = &counts[*start..start + bits.len()];
        counts.iter().for_each(|&count| visit(count));
        if let [trues] = counts {
            visit(n - trues);
        }
    }

    /// Visits the number of records with each pair of values of the ends of an edge.
    fn pairs(&self, edge: &Edge, n: f64, counts: &[f64], mut visit: impl FnMut(f64)) {
        let of = |x: usize| &counts[self.columns[x].start..][..self.columns[x].bits.len()];
        let [of_a, of_b] = edge.ends.map(of);
        let both = &counts[edge.start..][..of_a.len() * of_b.len()];
        both.iter().for_each(|&count| visit(count));
        match (of_a, of_b) {
            ([a], [b]) => [a - both[0], b - both[0], n + both[0] - a - b].into_iter().for_each(visit),
            ([_], of_b) => of_b.iter().zip(both).for_each(|(b, both)| visit(b - both)),
            (of_a, [_]) => of_a.iter().zip(both).for_each(|(a, both)| visit(a - both)),
            _ => {}
        }
    }

    /// Free parameters of the tree distribution if its columns are variables. Trees of other columns are judged
    /// without a price for parameters.
    fn parameters(&self) -> usize {
        2 * self.columns.len() - 1
    }

    /// Log-likelihood of `n` records under their own maximum-likelihood tree, from the counts of variables and pairs.
    fn log_likelihood(&self, n: f64, counts: &[f64], logs: &Logs) -> f64 {
        let mut sum = -logs.x_log_x(n);
        for (x, column) in self.columns.iter().enumerate().filter(|(_, column)| column.degree != 1.0) {
            let mut values = 0.0;
            self.values(x, n, counts, |count| values += logs.x_log_x(count));
            sum -= (column.degree - 1.0) * values;
        }
        for edge in &self.edges {
            let mut pairs = 0.0;
            self.pairs(edge, n, counts, |count| pairs += logs.x_log_x(count));
            sum += pairs;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::RecordsBuilder;
    use crate::learn::vtree::Columns;
    use crate::names::{Kind, Names};
    use crate::random::Random;
    use std::sync::Arc;

    /// The log-likelihood of a tree is that of counting rows.
    #[test]
    fn trees_are_judged_by_the_values_of_columns() {
        let values = |n: usize| Kind::Values((0..n).map(|i| i.to_string()).collect());
        let kinds = [("a", values(3)), ("b", Kind::Boolean), ("c", values(4)), ("d", values(2)), ("e", Kind::Boolean)];
        let names = Arc::new(Names::of_columns(kinds.map(|(name, kind)| (name.to_owned(), kind))).unwrap());
        let columns = Columns::new(&names);
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let mut builder = RecordsBuilder::new(names.clone());
            let mut rows: Vec<Vec<usize>> = Vec::new();
            for _ in 0..60 {
                let row: Vec<usize> = [3, 2, 4, 2, 2].iter().map(|&n| random.below(n).min(random.below(n))).collect();
                let bits = |x: usize| match columns.at(Var(x as u32)).as_boolean() {
                    Some(_) => vec![row[x] == 1],
                    None => (0..columns.at(Var(x as u32)).values()).map(|value| value == row[x]).collect(),
                };
                builder.push((0..5).flat_map(bits).map(Some), 1.0);
                rows.push(row);
            }
            let records = builder.finish();
            // The first column of the vtree is on the left, the others on the right.
            let mut order: Vec<Var> = (0..5).map(Var).collect();
            random.shuffle(&mut order);
            let vtree = Arc::new(columns.right_linear(&order));
            let database = Database::of_columns(&records, vtree.clone());
            let [left, right] = vtree.children(vtree.root()).unwrap();
            assert_eq!((database.columns_below(left), database.columns_below(right)), (&order[..1], &order[1..]));
            let information = columns.information(&records).unwrap();
            let information = |a: Var, b: Var| information.at(a.index(), b.index());
            let tree = Tree::new(&database, &order[..1], &order[1..], (0..4).collect(), &information);
            let all: Vec<u32> = (0..records.len() as u32).collect();
            let features = Features::new(&database, &all, left, right, &tree);
            let counts: Vec<f64> = features.masked(&features.all).iter().map(|bits| features.count(bits)).collect();

            let count = |cells: &[(usize, usize)]| {
                rows.iter().filter(|row| cells.iter().all(|&(x, value)| row[x] == value)).count() as f64
            };
            let column = |x: usize| order[1 + x].index();
            let mut parent = [None; 4];
            let mut known = vec![0];
            while let Some(edge) = tree.edges.iter().find(|e| known.contains(&e.ends[0]) != known.contains(&e.ends[1]))
            {
                let [a, b] = edge.ends;
                let (above, below) = if known.contains(&a) { (a, b) } else { (b, a) };
                parent[below] = Some(above);
                known.push(below);
            }
            assert_eq!(known.len(), 4);
            let mut expected = 0.0;
            for row in &rows {
                for x in 0..4 {
                    let own = (column(x), row[column(x)]);
                    expected += match parent[x].map(column) {
                        None => (count(&[own]) / 60.0).ln(),
                        Some(above) => (count(&[own, (above, row[above])]) / count(&[(above, row[above])])).ln(),
                    };
                }
            }
            let found = tree.log_likelihood(60.0, &counts, &Logs::new(records.weights()));
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
