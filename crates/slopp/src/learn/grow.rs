//! The loop that all variants of SLoPP share: cluster the left side, grow primes and subs.
//!
//! A sub-database is a slice of one permutation of the rows. Clustering reorders the slice so that each cluster is
//! consecutive. Growing a prime and a sub reorders a cluster again, which is harmless: its set of rows is the same.

use super::LearnError;
use super::primes::Primes;
use super::vtree::Columns;
use crate::circuit::{BuildError, Builder, Circuit, NodeId, Sharing, Smoothing};
use crate::data::{BitMatrix, Records};
use crate::progress::Progress;
use crate::var::{Lit, Var};
use crate::vtree::{Vtree, VtreeId};
use std::ops::Range;
use std::sync::Arc;

/// The records, with their cells in the order of the leaves, so that every scope is an interval of bits.
pub(super) struct Database<'a> {
    pub(super) records: &'a Records,
    pub(super) vtree: Arc<Vtree>,
    rows: BitMatrix,
    columns: Columns,
    /// The vtree node of each column, and the column of each vtree node.
    nodes: Vec<VtreeId>,
    column_at: Vec<Option<Var>>,
    /// The columns in the order of the leaves.
    order: Vec<Var>,
}

impl<'a> Database<'a> {
    /// Every variable is a column of its own.
    pub(super) fn new(records: &'a Records, vtree: Arc<Vtree>) -> Database<'a> {
        let columns = Columns::of_variables(vtree.var_count());
        let nodes = columns.nodes(&vtree).expect("every variable has a leaf");
        Database::with(records, vtree, columns, nodes)
    }

    /// The columns of the records; their variables if a column has no vtree node of its own.
    pub(super) fn of_columns(records: &'a Records, vtree: Arc<Vtree>) -> Database<'a> {
        let columns = Columns::new(records.names());
        match columns.nodes(&vtree) {
            Some(nodes) => Database::with(records, vtree, columns, nodes),
            None => Database::new(records, vtree),
        }
    }

    fn with(records: &'a Records, vtree: Arc<Vtree>, columns: Columns, nodes: Vec<VtreeId>) -> Database<'a> {
        let mut lines = BitMatrix::zeros(vtree.var_count(), records.len());
        for (position, &var) in vtree.vars(vtree.root()).iter().enumerate() {
            lines.line_mut(position).copy_from_slice(records.column(var));
        }
        let mut column_at = vec![None; vtree.node_count()];
        nodes.iter().enumerate().for_each(|(i, node)| column_at[node.index()] = Some(Var(i as u32)));
        let mut order: Vec<Var> = (0..columns.len() as u32).map(Var).collect();
        order.sort_by_key(|column| vtree.position(vtree.vars(nodes[column.index()])[0]));
        Database { records, vtree, rows: lines.transposed(), columns, nodes, column_at, order }
    }

    /// The columns.
    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The column of a vtree node.
    pub(super) fn column_at(&self, v: VtreeId) -> Option<Var> {
        self.column_at[v.index()]
    }

    /// The columns below a vtree node, in the order of the leaves.
    pub(super) fn columns_below(&self, v: VtreeId) -> &[Var] {
        &self.order[self.column_range(v)]
    }

    /// Where the columns below a vtree node are among all, in the order of the leaves.
    pub(super) fn column_range(&self, v: VtreeId) -> Range<usize> {
        let start = |column: &Var| self.scope(self.nodes[column.index()]).start;
        let before = |position: usize| self.order.partition_point(|column| start(column) < position);
        let Range { start, end } = self.scope(v);
        before(start)..before(end)
    }

    /// For each column, what makes its nodes.
    pub(super) fn primes(&self) -> Vec<Primes<'_>> {
        let of = |(i, &node): (usize, &VtreeId)| Primes::new(&self.vtree, node, self.columns.at(Var(i as u32)));
        self.nodes.iter().enumerate().map(of).collect()
    }

    /// The bits of some rows over the variables below a vtree node: a line per row, a bit per variable.
    pub(super) fn project(&self, rows: &[u32], scope: VtreeId) -> BitMatrix {
        let Range { start, end } = self.scope(scope);
        let mut result = BitMatrix::zeros(rows.len(), end - start);
        for (i, &row) in rows.iter().enumerate() {
            copy_bits(self.rows.line(row as usize), start, end - start, result.line_mut(i));
        }
        result
    }

    /// The positions of the leaves below a vtree node.
    fn scope(&self, v: VtreeId) -> Range<usize> {
        let start = self.vtree.position(self.vtree.vars(v)[0]);
        start..start + self.vtree.vars(v).len()
    }

    pub(super) fn weight(&self, rows: &[u32]) -> f64 {
        rows.iter().map(|&row| self.records.weights()[row as usize]).sum()
    }
}

/// Copies `len` bits from `start` to the front of `target`, which is zero.
fn copy_bits(source: &[u64], start: usize, len: usize, target: &mut [u64]) {
    let (word, shift) = (start / 64, start % 64);
    for (i, slot) in target.iter_mut().enumerate() {
        let low = source[word + i] >> shift;
        let high = if shift == 0 { 0 } else { source.get(word + i + 1).map_or(0, |w| w << (64 - shift)) };
        *slot = low | high;
    }
    if let (Some(last), extra @ 1..) = (target.last_mut(), len % 64) {
        *last &= u64::MAX >> (64 - extra);
    }
}

/// A sub-database to be clustered by its left variables.
pub(super) struct Task<'t> {
    pub(super) database: &'t Database<'t>,
    pub(super) vtree: VtreeId,
    /// The rows; to be reordered so that each part is consecutive.
    pub(super) rows: &'t mut [u32],
    /// For each variable, whether a literal already fixes it.
    pub(super) fixed: &'t [bool],
    pub(super) seed: u64,
}

impl Task<'_> {
    /// The left and the right child of the vtree node.
    pub(super) fn sides(&self) -> [VtreeId; 2] {
        self.database.vtree.children(self.vtree).expect("tasks are at inner nodes")
    }

    /// One part with all rows.
    pub(super) fn one_part(&self) -> Vec<Part> {
        vec![Part { rows: self.rows.len(), literals: Vec::new() }]
    }

    /// Parts by the value of one left variable: the false rows, then the true ones; one part if it is constant.
    pub(super) fn by_value(&mut self, var: Var) -> Vec<Part> {
        let database = self.database;
        let position = database.vtree.position(var);
        let is_true = |row: &u32| database.rows.bit(*row as usize, position);
        self.rows.sort_unstable_by_key(|row| (is_true(row), *row));
        let falses = self.rows.partition_point(|row| !is_true(row));
        let parts = [(false, falses), (true, self.rows.len() - falses)];
        let full = parts.into_iter().filter(|&(_, rows)| rows > 0);
        let mut parts: Vec<Part> = full.map(|(value, rows)| Part { rows, literals: vec![var.is(value)] }).collect();
        if let [only] = parts.as_mut_slice() {
            only.literals.clear();
        }
        parts
    }
}

/// A cluster: the next `rows` rows of the task, and the left literals that separate it from its siblings.
pub(super) struct Part {
    pub(super) rows: usize,
    pub(super) literals: Vec<Lit>,
}

/// CLUSTER of Algorithm 2: cuts a sub-database into parts by its left variables.
pub(super) trait Cluster {
    fn cluster(&mut self, task: Task<'_>) -> Vec<Part>;
}

/// A sum under construction.
struct Frame {
    vtree: VtreeId,
    seed: u64,
    /// Where the rows of the current part start.
    start: usize,
    parts: Vec<Part>,
    /// The current part and its prime, once that is done.
    part: usize,
    prime: Option<NodeId>,
    elements: Vec<(NodeId, NodeId, f64)>,
}

/// Grows the circuit from the root. The weights in the builder are counts.
pub(super) fn grow(
    database: &Database<'_>,
    cluster: &mut impl Cluster,
    is_closed: bool,
    seed: u64,
    progress: &dyn Progress,
) -> Result<(Builder, NodeId), LearnError> {
    let vtree = database.vtree.clone();
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    let mut rows: Vec<u32> = (0..database.records.len() as u32).collect();
    let mut fixed = vec![false; vtree.var_count()];
    progress.begin("growing the circuit", rows.len() as u64 * vtree.var_count() as u64);
    let mut stack: Vec<Frame> = Vec::new();
    let mut next = Some((vtree.root(), 0..rows.len(), seed));
    let mut done = NodeId(0);
    loop {
        if let Some((v, range, seed)) = next.take() {
            match vtree.leaf_var(v) {
                Some(var) => {
                    done = leaf(database, &mut builder, var, &rows[range.clone()], is_closed, fixed[var.index()])?;
                    progress.advance(range.len() as u64);
                }
                None => {
                    let slice = &mut rows[range.clone()];
                    let parts = cluster.cluster(Task { database, vtree: v, rows: slice, fixed: &fixed, seed });
                    debug_assert_eq!(parts.iter().map(|p| p.rows).sum::<usize>(), range.len());
                    debug_assert!(parts.iter().all(|p| p.rows > 0));
                    let elements = Vec::with_capacity(parts.len());
                    stack.push(Frame { vtree: v, seed, start: range.start, parts, part: 0, prime: None, elements });
                    next = stack.last().map(|frame| prime_of_part(frame, &vtree, &mut fixed));
                    continue;
                }
            }
        }
        // A node is done: it is the prime or the sub that the innermost sum waits for, or the root.
        let Some(frame) = stack.last_mut() else { return Ok((builder, done)) };
        let [_, right] = vtree.children(frame.vtree).expect("sums are at inner nodes");
        let part = &frame.parts[frame.part];
        let range = frame.start..frame.start + part.rows;
        match frame.prime {
            None => {
                part.literals.iter().for_each(|lit| fixed[lit.var.index()] = false);
                frame.prime = Some(done);
                next = Some((right, range, child_seed(frame.seed, frame.part, 1)));
            }
            Some(prime) => {
                frame.elements.push((prime, done, database.weight(&rows[range.clone()])));
                frame.prime = None;
                frame.part += 1;
                frame.start = range.end;
                if frame.part < frame.parts.len() {
                    next = Some(prime_of_part(frame, &vtree, &mut fixed));
                } else {
                    done = builder.sum(frame.vtree, &frame.elements)?;
                    stack.pop();
                }
            }
        }
    }
}

/// The grown circuit. In a closed world elements that no record uses are dropped before smoothing, which would make
/// them possible.
pub(super) fn finished(
    builder: Builder,
    root: NodeId,
    is_closed: bool,
    smoothing: &Smoothing,
) -> Result<Circuit, BuildError> {
    if !is_closed {
        return builder.finish_counts(root, smoothing);
    }
    let circuit = builder.finish_counts(root, &Smoothing::none())?;
    match circuit.counts().cloned() {
        Some(counts) if smoothing.pseudocount > 0.0 => circuit.with_estimates(counts, smoothing),
        _ => Ok(circuit),
    }
}

/// The prime of the current part, with the literals of the part fixed while it grows.
fn prime_of_part(frame: &Frame, vtree: &Vtree, fixed: &mut [bool]) -> (VtreeId, Range<usize>, u64) {
    let [left, _] = vtree.children(frame.vtree).expect("sums are at inner nodes");
    let part = &frame.parts[frame.part];
    part.literals.iter().for_each(|lit| fixed[lit.var.index()] = true);
    (left, frame.start..frame.start + part.rows, child_seed(frame.seed, frame.part, 0))
}

/// Lines 2 to 9 of Algorithm 2; in an open world only literals that separate clusters are hard.
fn leaf(
    database: &Database<'_>,
    builder: &mut Builder,
    var: Var,
    rows: &[u32],
    is_closed: bool,
    fixed: bool,
) -> Result<NodeId, LearnError> {
    let position = database.vtree.position(var);
    let mut counts = [0.0; 2];
    for &row in rows {
        counts[usize::from(database.rows.bit(row as usize, position))] += database.records.weights()[row as usize];
    }
    let hard = fixed || is_closed;
    Ok(match counts {
        [_, 0.0] if hard => builder.literal(var.is(false))?,
        [0.0, _] if hard => builder.literal(var.is(true))?,
        _ => builder.top(var, counts)?,
    })
}

/// A seed for the prime (`side` 0) or sub (1) of a part, independent of the order of work.
fn child_seed(seed: u64, part: usize, side: u64) -> u64 {
    let mut x = seed ^ (2 * part as u64 + side + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
