//! A deterministic circuit under change, with the records that use each element.
//!
//! A record reaches at most one node of each vtree node, and uses one element of it. So the likelihood of a circuit is
//! a sum over its nodes, and the gain of a change of structure follows from the records it touches.

use crate::circuit::{BuildError, Builder, Circuit, Deterministic, Node, NodeId, Sharing, Smoothing};
use crate::data::Records;
use crate::logspace::x_log_x;
use crate::var::{Lit, Var};
use crate::vtree::{Vtree, VtreeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A node of a draft, by its position.
pub(super) type DraftId = usize;

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Literal(Lit),
    /// The weight of the records with *false* and *true*.
    Top(Var, [f64; 2]),
    Sum(Vec<Branch>),
}

/// An element and the rows that use it.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) prime: DraftId,
    pub(super) sub: DraftId,
    pub(super) rows: Vec<u32>,
    pub(super) count: f64,
}

#[derive(Clone, Debug)]
pub(super) struct DraftNode {
    pub(super) vtree: VtreeId,
    pub(super) kind: Kind,
    /// How many branches use this node; without any it is removed.
    pub(super) parents: usize,
    /// The literals of the node, ascending, if it is known to be a conjunction of literals.
    pub(super) term: Option<Arc<[Lit]>>,
}

/// An edge from a branch of a sum to its prime or its sub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Edge {
    pub(super) node: DraftId,
    pub(super) branch: usize,
    pub(super) is_prime: bool,
}

/// The circuit under change.
#[derive(Clone)]
pub(super) struct Draft<'a> {
    pub(super) records: &'a Records,
    pub(super) vtree: Arc<Vtree>,
    pub(super) nodes: Vec<DraftNode>,
    root: DraftId,
    /// By vtree node and row: the branch that the row uses there.
    pub(super) choice: Vec<Vec<u32>>,
    /// By variable: its two literals, if they exist.
    pub(super) literals: Vec<[Option<DraftId>; 2]>,
    /// By row: scratch, all false between changes, so that a change costs only its own rows.
    pub(super) marked: Vec<bool>,
    /// By vtree node and literals: the product of these literals that no row uses.
    pub(super) plain: FxHashMap<(VtreeId, Vec<Lit>), DraftId>,
}

impl<'a> Draft<'a> {
    /// The draft of a circuit; impossible records are left out.
    pub(super) fn new(circuit: &Deterministic, records: &'a Records) -> Draft<'a> {
        let vtree = circuit.vtree().clone();
        let mut nodes: Vec<DraftNode> = circuit
            .ids()
            .map(|id| DraftNode {
                vtree: circuit.vtree_of(id),
                kind: match circuit.node(id) {
                    Node::Literal(lit) => Kind::Literal(lit),
                    Node::Top { var, .. } => Kind::Top(var, [0.0; 2]),
                    Node::Sum { .. } => Kind::Sum(
                        circuit
                            .elements_of(id)
                            .map(|(e, _)| Branch {
                                prime: e.prime.index(),
                                sub: e.sub.index(),
                                rows: Vec::new(),
                                count: 0.0,
                            })
                            .collect(),
                    ),
                },
                parents: 0,
                term: None,
            })
            .collect();
        for id in circuit.ids() {
            for (element, _) in circuit.elements_of(id) {
                nodes[element.prime.index()].parents += 1;
                nodes[element.sub.index()].parents += 1;
            }
        }
        let root = circuit.root().index();
        nodes[root].parents += 1;
        let choice = vtree.bottom_up().iter().map(|_| Vec::new()).collect();
        let mut literals = vec![[None; 2]; vtree.var_count()];
        for (i, node) in nodes.iter().enumerate() {
            if let Kind::Literal(lit) = node.kind {
                literals[lit.var.index()][usize::from(lit.value)] = Some(i);
            }
        }
        let marked = vec![false; records.len()];
        let mut draft = Draft { records, vtree, nodes, root, choice, literals, marked, plain: FxHashMap::default() };
        for v in draft.vtree.clone().bottom_up().iter().filter(|v| !v.is_leaf()) {
            draft.choice[v.index()] = vec![u32::MAX; records.len()];
        }
        draft.route();
        draft
    }

    /// Sends every row down the circuit, 64 at a time.
    fn route(&mut self) {
        for block in 0..self.records.column_words() {
            let all = self.records.all_rows()[block];
            let mut up = vec![0u64; self.nodes.len()];
            for i in 0..self.nodes.len() {
                up[i] = match &self.nodes[i].kind {
                    Kind::Top(..) => all,
                    Kind::Literal(lit) => {
                        let column = self.records.column(lit.var)[block];
                        all & if lit.value { column } else { !column }
                    }
                    Kind::Sum(branches) => branches.iter().fold(0, |sum, b| sum | up[b.prime] & up[b.sub]),
                };
            }
            let mut down = vec![0u64; self.nodes.len()];
            down[self.root] = up[self.root];
            for i in (0..self.nodes.len()).rev().filter(|&i| up[i] != 0) {
                let here = down[i];
                let DraftNode { vtree, kind, .. } = &mut self.nodes[i];
                match kind {
                    _ if here == 0 => {}
                    Kind::Literal(_) => {}
                    Kind::Top(var, counts) => {
                        let column = self.records.column(*var)[block];
                        for (value, count) in counts.iter_mut().enumerate() {
                            let set = here & if value == 1 { column } else { !column };
                            bits(set, block, |row| *count += self.records.weights()[row as usize]);
                        }
                    }
                    Kind::Sum(branches) => {
                        for (b, branch) in branches.iter_mut().enumerate() {
                            let used = here & up[branch.prime] & up[branch.sub];
                            down[branch.prime] |= used;
                            down[branch.sub] |= used;
                            bits(used, block, |row| {
                                branch.rows.push(row);
                                branch.count += self.records.weights()[row as usize];
                                self.choice[vtree.index()][row as usize] = b as u32;
                            });
                        }
                    }
                }
            }
        }
    }

    /// Whether no record is possible.
    pub(super) fn is_unused(&self) -> bool {
        // A record reaches every vtree node, so the root will do; a single literal has no counts.
        match &self.nodes[self.root].kind {
            Kind::Literal(lit) => self.records.count_values(lit.var)[usize::from(lit.value)] <= 0.0,
            _ => self.counts(self.root).iter().sum::<f64>() <= 0.0,
        }
    }

    /// The number of elements.
    pub(super) fn element_count(&self) -> usize {
        let used = self.nodes.iter().filter(|node| node.parents > 0);
        used.map(|node| if let Kind::Sum(branches) = &node.kind { branches.len() } else { 0 }).sum()
    }

    /// By vtree node: the number of sums.
    pub(super) fn sum_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.vtree.node_count()];
        for node in self.nodes.iter().filter(|node| node.parents > 0 && matches!(node.kind, Kind::Sum(_))) {
            counts[node.vtree.index()] += 1;
        }
        counts
    }

    pub(super) fn weight(&self, rows: &[u32]) -> f64 {
        rows.iter().map(|&row| self.records.weights()[row as usize]).sum()
    }

    /// The node an edge leads to.
    pub(super) fn target(&self, edge: Edge) -> DraftId {
        let branch = self.branch(edge);
        if edge.is_prime { branch.prime } else { branch.sub }
    }

    pub(super) fn branch(&self, edge: Edge) -> &Branch {
        match &self.nodes[edge.node].kind {
            Kind::Sum(branches) => &branches[edge.branch],
            _ => unreachable!("edges start at sums"),
        }
    }

    /// How the rows divide among the branches of a sum or the values of a ⊤: weights, and rows for sums.
    pub(super) fn divide(&self, node: DraftId, rows: &[u32]) -> (Vec<f64>, Vec<Vec<u32>>) {
        match &self.nodes[node].kind {
            Kind::Literal(_) => (Vec::new(), Vec::new()),
            Kind::Top(var, _) => {
                let mut counts = vec![0.0; 2];
                for &row in rows {
                    let value = self.records.rows().bit(row as usize, var.index());
                    counts[usize::from(value)] += self.records.weights()[row as usize];
                }
                (counts, Vec::new())
            }
            Kind::Sum(branches) => {
                let choice = &self.choice[self.nodes[node].vtree.index()];
                let mut parts = vec![Vec::new(); branches.len()];
                rows.iter().for_each(|&row| parts[choice[row as usize] as usize].push(row));
                (parts.iter().map(|part| self.weight(part)).collect(), parts)
            }
        }
    }

    /// The weights of the branches of a sum or the values of a ⊤, over all rows that reach it.
    pub(super) fn counts(&self, node: DraftId) -> Vec<f64> {
        match &self.nodes[node].kind {
            Kind::Literal(_) => Vec::new(),
            Kind::Top(_, counts) => counts.to_vec(),
            Kind::Sum(branches) => branches.iter().map(|branch| branch.count).collect(),
        }
    }

    /// Gives an edge its own copy of its target; the children are shared.
    pub(super) fn copy_target(&mut self, edge: Edge) -> DraftId {
        let target = self.target(edge);
        let rows = self.branch(edge).rows.clone();
        let (counts, parts) = self.divide(target, &rows);
        let copy = self.nodes.len();
        let mut node = DraftNode { parents: 1, ..self.nodes[target].clone() };
        match (&mut node.kind, &mut self.nodes[target].kind) {
            (Kind::Top(_, new), Kind::Top(_, old)) => {
                for value in 0..2 {
                    new[value] = counts[value];
                    old[value] = (old[value] - counts[value]).max(0.0);
                }
            }
            (Kind::Sum(new), Kind::Sum(old)) => {
                rows.iter().for_each(|&row| self.marked[row as usize] = true);
                for (i, part) in parts.into_iter().enumerate() {
                    old[i].rows.retain(|&row| !self.marked[row as usize]);
                    old[i].count = old[i].rows.iter().map(|&row| self.records.weights()[row as usize]).sum();
                    new[i].count = counts[i];
                    new[i].rows = part;
                }
                rows.iter().for_each(|&row| self.marked[row as usize] = false);
            }
            _ => {}
        }
        let children: Vec<DraftId> = match &node.kind {
            Kind::Sum(branches) => branches.iter().flat_map(|branch| [branch.prime, branch.sub]).collect(),
            _ => Vec::new(),
        };
        children.into_iter().for_each(|child| self.nodes[child].parents += 1);
        self.nodes[target].parents -= 1;
        self.nodes.push(node);
        let Kind::Sum(branches) = &mut self.nodes[edge.node].kind else { unreachable!("edges start at sums") };
        let branch = &mut branches[edge.branch];
        *(if edge.is_prime { &mut branch.prime } else { &mut branch.sub }) = copy;
        copy
    }

    /// The circuit with parameters from its counts.
    pub(super) fn finish(&self, smoothing: &Smoothing) -> Result<Circuit, BuildError> {
        let mut builder = Builder::new(self.vtree.clone(), Sharing::LiteralsOnly);
        let mut order: Vec<DraftId> = (0..self.nodes.len()).filter(|&i| self.nodes[i].parents > 0).collect();
        order.sort_by_key(|&i| (self.vtree.rank(self.nodes[i].vtree), i));
        let mut made: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        for i in order {
            made[i] = Some(match &self.nodes[i].kind {
                Kind::Literal(lit) => builder.literal(*lit)?,
                Kind::Top(var, counts) => builder.top(*var, *counts)?,
                Kind::Sum(branches) => {
                    let child = |id: DraftId| made[id].expect("children come before parents");
                    let elements: Vec<_> = branches.iter().map(|b| (child(b.prime), child(b.sub), b.count)).collect();
                    builder.sum(self.nodes[i].vtree, &elements)?
                }
            });
        }
        builder.finish_counts(made[self.root].expect("the root is used"), smoothing)
    }
}

/// The part of the log-likelihood that a node with these counts contributes: `Σ n ln n − N ln N`.
pub(super) fn entropy_sum(counts: &[f64]) -> f64 {
    counts.iter().map(|&n| x_log_x(n)).sum::<f64>() - x_log_x(counts.iter().sum())
}

fn bits(set: u64, block: usize, mut visit: impl FnMut(u32)) {
    let mut rest = set;
    while rest != 0 {
        visit((64 * block) as u32 + rest.trailing_zeros());
        rest &= rest - 1;
    }
}
