//! CLUSTER by distinct left rows: k-means and explicit partitions.

use super::grow::{Cluster, Part, Task};
use super::kmeans::k_means;
use crate::data::BitMatrix;
use crate::random::Random;
use crate::vtree::VtreeId;
use rustc_hash::FxHashMap;

/// Which reading of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The pseudo-code: k-means wherever at least `d` records are left.
    Algorithm2,
    /// The authors' code: splits a single left variable by value, otherwise uses k-means on more than `d` records.
    Notebook,
}

/// An explicit partition: for some vtree nodes, which left rows belong together.
///
/// Table 1 of the paper is an example: no k-means run gives those clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    clusters: FxHashMap<(VtreeId, Vec<bool>), usize>,
}

impl Partition {
    /// No clusters yet.
    pub fn new() -> Partition {
        Partition::default()
    }

    /// Puts these left rows of a vtree node into cluster number `cluster`; cells in the order of the leaves.
    ///
    /// Left rows that no cluster names form a cluster of their own.
    pub fn with(mut self, vtree: VtreeId, cluster: usize, rows: impl IntoIterator<Item = Vec<bool>>) -> Partition {
        self.clusters.extend(rows.into_iter().map(|row| ((vtree, row), cluster)));
        self
    }

    fn covers(&self, vtree: VtreeId) -> bool {
        self.clusters.keys().any(|(v, _)| *v == vtree)
    }
}

/// The CLUSTER of the published variants.
pub(super) struct Published<'p> {
    pub(super) variant: Variant,
    pub(super) k: usize,
    pub(super) d: usize,
    pub(super) partition: &'p Partition,
}

impl Cluster for Published<'_> {
    fn cluster(&mut self, mut task: Task<'_>) -> Vec<Part> {
        let [left, _] = task.sides();
        if self.partition.covers(task.vtree) {
            let vtree = task.vtree;
            return task.by_label(left, |rows, _| {
                let cells = |row: usize| (0..rows.width()).map(|bit| rows.bit(row, bit)).collect();
                let label = |row| self.partition.clusters.get(&(vtree, cells(row))).map_or(usize::MAX, |&c| c);
                (0..rows.lines()).map(label).collect()
            });
        }
        let records = task.database.weight(task.rows);
        let enough = match self.variant {
            Variant::Algorithm2 => records >= self.d as f64,
            Variant::Notebook => {
                if let Some(var) = task.database.vtree.leaf_var(left) {
                    return task.by_value(var);
                }
                records > self.d as f64
            }
        };
        if !enough {
            return task.one_part();
        }
        let mut random = Random::new(task.seed);
        task.by_label(left, |rows, weights| k_means(rows, weights, self.k, &mut random))
    }
}

impl Task<'_> {
    /// Parts by a label for each distinct left row, in the order of the labels.
    fn by_label(&mut self, left: VtreeId, label: impl FnOnce(&BitMatrix, &[f64]) -> Vec<usize>) -> Vec<Part> {
        let bits = self.database.project(self.rows, left);
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            bits.line(a).cmp(bits.line(b)).then(self.rows[a].cmp(&self.rows[b]))
        });
        let starts: Vec<usize> = (0..order.len())
            .filter(|&i| i == 0 || bits.line(order[i] as usize) != bits.line(order[i - 1] as usize))
            .collect();
        let mut distinct = BitMatrix::zeros(starts.len(), bits.width());
        let mut weights = vec![0.0; starts.len()];
        let mut group = vec![0; order.len()];
        for (g, &start) in starts.iter().enumerate() {
            distinct.line_mut(g).copy_from_slice(bits.line(order[start] as usize));
            for &i in &order[start..starts.get(g + 1).map_or(order.len(), |&end| end)] {
                group[i as usize] = g;
                weights[g] += self.database.records.weights()[self.rows[i as usize] as usize];
            }
        }
        let labels = label(&distinct, &weights);
        order.sort_unstable_by_key(|&i| (labels[group[i as usize]], self.rows[i as usize]));
        let sorted: Vec<u32> = order.iter().map(|&i| self.rows[i as usize]).collect();
        self.rows.copy_from_slice(&sorted);
        let by_label = order.chunk_by(|&a, &b| labels[group[a as usize]] == labels[group[b as usize]]);
        by_label.map(|part| Part { rows: part.len(), literals: Vec::new() }).collect()
    }
}
