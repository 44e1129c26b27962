//! Leaves: Chow-Liu trees or independent columns, their estimates shrunk towards larger sub-databases.
//!
//! If a column has several values, the leaf is a Chow-Liu tree of columns in which each has exactly one value. A column
//! becomes a product for each of its values: its literals, and for every child column a sum over the values of the
//! child, weighted by their probabilities given the value of the parent. So a record in which a column has no value, or
//! two, is impossible.

use super::Leaves;
use crate::circuit::NodeId;
use crate::data::{PairCounts, SymmetricMatrix};
use crate::names::Names;
use crate::spn::{Branch, SpnBuilder, SpnError};
use crate::var::{Lit, Var};
use crate::vtree::ChowLiuTree;

/// The distribution of a sub-database that is not cut further.
#[derive(Clone, Debug)]
pub(super) enum Leaf {
    Independent(Vec<(Var, f64)>),
    /// Trees over disjoint columns.
    Forest(Vec<Vec<Branch>>),
    /// If some columns have several values.
    Columns(ColumnTree),
}

impl Leaf {
    /// Independent columns, each with its count of true records among `total`.
    pub(super) fn independent(vars: &[Var], trues: &[f64], total: f64, prior: &Prior<'_>) -> Leaf {
        Leaf::Independent(vars.iter().zip(trues).map(|(&var, &n)| (var, prior.estimate(var, n, total))).collect())
    }

    /// A leaf of this kind, from the counts of all pairs of columns.
    ///
    /// Edges of a Chow-Liu tree with mutual information of at most `limit` are noise and left out.
    pub(super) fn new(
        kind: Leaves,
        vars: &[Var],
        pairs: &PairCounts,
        information: &SymmetricMatrix,
        limit: f64,
        prior: &Prior<'_>,
    ) -> Leaf {
        let local = |i: usize| Var(i as u32);
        let trues: Vec<f64> = (0..vars.len()).map(|i| pairs.values(local(i))[1]).collect();
        if kind == Leaves::Independent || vars.len() == 1 {
            return Leaf::independent(vars, &trues, pairs.total(), prior);
        }
        let tree = ChowLiuTree::new(information);
        let tree = tree.rooted_at(tree.centre());
        let mut forest: Vec<Vec<Branch>> = Vec::new();
        // The tree of each column, and its place there.
        let mut place = vec![(0, 0); vars.len()];
        for &x in tree.top_down() {
            let var = vars[x.index()];
            let alone = prior.estimate(var, trues[x.index()], pairs.total());
            match tree.parent(x).filter(|parent| information.at(x.index(), parent.index()) > limit) {
                None => {
                    place[x.index()] = (forest.len(), 0);
                    forest.push(vec![Branch { var, parent: None, probability: [alone; 2] }]);
                }
                Some(parent) => {
                    let [ff, ft, tf, tt] = pairs.cells(parent, x);
                    // Given its parent, a column is shrunk towards its marginal.
                    let given = |no: f64, yes: f64| (yes + prior.pseudocount * alone) / (no + yes + prior.pseudocount);
                    let (in_tree, above) = place[parent.index()];
                    place[x.index()] = (in_tree, forest[in_tree].len() as u32);
                    let probability = [given(ff, ft), given(tf, tt)];
                    forest[in_tree].push(Branch { var, parent: Some(above), probability });
                }
            }
        }
        Leaf::Forest(forest)
    }

    pub(super) fn build(&self, builder: &mut SpnBuilder) -> Result<NodeId, SpnError> {
        let nodes: Result<Vec<NodeId>, SpnError> = match self {
            Leaf::Columns(tree) => return tree.build(builder),
            Leaf::Independent(columns) => columns.iter().map(|&(var, p)| builder.bernoulli(var, p)).collect(),
            Leaf::Forest(trees) => trees
                .iter()
                .map(|tree| match tree[..] {
                    [single] => builder.bernoulli(single.var, single.probability[0]),
                    _ => builder.tree(tree),
                })
                .collect(),
        };
        let nodes = nodes?;
        if let [single] = nodes[..] { Ok(single) } else { builder.product(&nodes) }
    }
}

/// The prior that estimates are shrunk towards.
pub(super) struct Prior<'a> {
    /// The probability of *true* of every variable in all records, itself shrunk towards one half.
    pub(super) whole: &'a [f64],
    pub(super) pseudocount: f64,
    /// Which variables are the values of one column.
    pub(super) names: &'a Names,
}

impl Prior<'_> {
    /// The probability of a literal in all records.
    pub(super) fn of(&self, lit: Lit) -> f64 {
        let p = self.whole[lit.var.index()];
        if lit.value { p } else { 1.0 - p }
    }

    fn estimate(&self, var: Var, trues: f64, total: f64) -> f64 {
        (trues + self.pseudocount * self.whole[var.index()]) / (total + self.pseudocount)
    }
}

/// The columns of a sub-database, each as the literals of its values; variables are numbered within the sub-database.
pub(super) struct Columns(Vec<Vec<Lit>>);

impl Columns {
    /// The columns of these variables; `None` if all are Boolean.
    pub(super) fn of(vars: &[Var], names: &Names) -> Option<Columns> {
        let mut columns = Vec::new();
        let (mut i, mut several) = (0, false);
        while i < vars.len() {
            let group = names.group_of(vars[i]);
            let len = group.map_or(1, |group| group.vars().len());
            several |= group.is_some();
            columns.push(match group {
                None => [false, true].map(|value| Var(i as u32).is(value)).to_vec(),
                Some(_) => (i..i + len).map(|i| Var(i as u32).is(true)).collect(),
            });
            i += len;
        }
        several.then_some(Columns(columns))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The mutual information of each pair of columns, less that expected by chance for their numbers of values.
    fn information(&self, pairs: &PairCounts, noise: f64) -> SymmetricMatrix {
        let total = pairs.total();
        let mut information = SymmetricMatrix::zeros(self.len());
        for (j, b) in self.0.iter().enumerate() {
            for (i, a) in self.0[..j].iter().enumerate() {
                let mut sum = 0.0;
                for &u in a {
                    for &v in b {
                        let joint = both(pairs, u, v);
                        if joint > 0.0 {
                            sum += joint / total * (joint * total / (one(pairs, u) * one(pairs, v))).ln();
                        }
                    }
                }
                let freedom = (a.len() - 1) * (b.len() - 1);
                information.set(i, j, (sum - noise * freedom as f64).max(0.0));
            }
        }
        information
    }
}

/// The weight of the records in which a literal is true.
fn one(pairs: &PairCounts, lit: Lit) -> f64 {
    pairs.values(lit.var)[usize::from(lit.value)]
}

/// The weight of the records in which two literals of different columns are true.
fn both(pairs: &PairCounts, a: Lit, b: Lit) -> f64 {
    pairs.cells(a.var, b.var)[2 * usize::from(a.value) + usize::from(b.value)]
}

/// A forest over columns; parents come first.
#[derive(Clone, Debug)]
pub(super) struct ColumnTree(Vec<ColumnBranch>);

#[derive(Clone, Debug)]
struct ColumnBranch {
    vars: Vec<Var>,
    /// Whether it is a Boolean column: one variable with two values.
    boolean: bool,
    parent: Option<usize>,
    /// For each value of the parent, or once without one, the probabilities of the values.
    probability: Vec<Vec<f64>>,
}

impl ColumnTree {
    /// The tree of the most informative pairs, or independent columns. Pairs with at most `noise` information for each
    /// degree of freedom are not connected.
    pub(super) fn new(
        kind: Leaves,
        vars: &[Var],
        columns: &Columns,
        pairs: &PairCounts,
        noise: f64,
        prior: &Prior<'_>,
    ) -> ColumnTree {
        let information = match kind {
            Leaves::ChowLiu if columns.len() > 1 => columns.information(pairs, noise),
            _ => SymmetricMatrix::zeros(columns.len()),
        };
        let tree = ChowLiuTree::new(&information);
        let tree = tree.rooted_at(tree.centre());
        let mut branches: Vec<ColumnBranch> = Vec::new();
        let mut place = vec![0; columns.len()];
        for &x in tree.top_down() {
            let values = &columns.0[x.index()];
            let boolean = !values[0].value;
            let counts: Vec<f64> = values.iter().map(|&lit| one(pairs, lit)).collect();
            let before: Vec<f64> = values.iter().map(|lit| prior.of(vars[lit.var.index()].is(lit.value))).collect();
            let alone = shrunk(&counts, &before, prior.pseudocount);
            let parent = tree.parent(x).filter(|parent| information.at(x.index(), parent.index()) > 0.0);
            let probability = match parent {
                None => vec![alone],
                Some(parent) => {
                    let given = |&u: &Lit| {
                        let counts: Vec<f64> = values.iter().map(|&v| both(pairs, u, v)).collect();
                        shrunk(&counts, &alone, prior.pseudocount)
                    };
                    columns.0[parent.index()].iter().map(given).collect()
                }
            };
            place[x.index()] = branches.len();
            let mut own: Vec<Var> = values.iter().map(|lit| vars[lit.var.index()]).collect();
            own.dedup();
            branches.push(ColumnBranch { vars: own, boolean, parent: parent.map(|p| place[p.index()]), probability });
        }
        ColumnTree(branches)
    }

    /// The network of the tree: the roots are independent.
    pub(super) fn build(&self, builder: &mut SpnBuilder) -> Result<NodeId, SpnError> {
        // For each column and value, the sums of its children.
        let mut below: Vec<Vec<Vec<NodeId>>> = self.0.iter().map(|branch| vec![Vec::new(); branch.len()]).collect();
        let mut roots = Vec::new();
        for (i, branch) in self.0.iter().enumerate().rev() {
            let parts = branch.literals(builder)?;
            let mut values = Vec::with_capacity(branch.len());
            for (mut part, more) in parts.into_iter().zip(std::mem::take(&mut below[i])) {
                part.extend(more);
                values.push(if let [single] = part[..] { single } else { builder.product(&part)? });
            }
            for (above, probability) in branch.probability.iter().enumerate() {
                let children: Vec<(NodeId, f64)> = values.iter().copied().zip(probability.iter().copied()).collect();
                let sum = if let [(single, _)] = children[..] { single } else { builder.sum(&children)? };
                match branch.parent {
                    Some(parent) => below[parent][above].push(sum),
                    None => roots.push(sum),
                }
            }
        }
        if let [single] = roots[..] { Ok(single) } else { builder.product(&roots) }
    }
}

impl ColumnBranch {
    /// The number of values.
    fn len(&self) -> usize {
        if self.boolean { 2 } else { self.vars.len() }
    }

    /// For each value its nodes: all before it are false, it is true, all after it are false. Sharing keeps this linear
    /// in the values.
    fn literals(&self, builder: &mut SpnBuilder) -> Result<Vec<Vec<NodeId>>, SpnError> {
        if self.boolean {
            return [false, true].into_iter().map(|x| Ok(vec![builder.literal(self.vars[0].is(x))?])).collect();
        }
        let len = self.vars.len();
        if len == 1 {
            return Ok(vec![vec![builder.literal(self.vars[0].is(true))?]]);
        }
        let mut no = self.vars.iter().map(|var| builder.literal(var.is(false))).collect::<Result<Vec<_>, _>>()?;
        let mut after = no.clone();
        for i in 1..len - 1 {
            no[i] = builder.product(&[no[i - 1], no[i]])?;
        }
        for i in (1..len - 1).rev() {
            after[i] = builder.product(&[after[i], after[i + 1]])?;
        }
        let value = |(i, var): (usize, &Var)| {
            let before = i.checked_sub(1).map(|before| no[before]);
            let yes = builder.literal(var.is(true))?;
            Ok(before.into_iter().chain([yes]).chain(after.get(i + 1).copied()).collect())
        };
        self.vars.iter().enumerate().map(value).collect()
    }
}

/// Shares of counts, with a prior of some weight.
fn shrunk(counts: &[f64], prior: &[f64], weight: f64) -> Vec<f64> {
    let [total, of_prior] = [counts, prior].map(|list| list.iter().sum::<f64>());
    counts.iter().zip(prior).map(|(n, p)| (n + weight * p / of_prior) / (total + weight)).collect()
}
