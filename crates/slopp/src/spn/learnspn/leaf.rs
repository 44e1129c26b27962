//! Leaves: Chow-Liu trees or independent columns, their estimates shrunk towards larger sub-databases.
//!
//! If a column has several values, the leaf is a Chow-Liu tree of columns in which each has exactly one value. A column
//! becomes a product for each of its values: its literals, and for every child column a sum over the values of the
//! child, weighted by their probabilities given the value of the parent. So a record in which a column has no value, or
//! two, is impossible.

use super::Leaves;
use super::independence::GTests;
use crate::circuit::NodeId;
use crate::data::{Choice, PairCounts, SymmetricMatrix};
use crate::spn::{Branch, SpnBuilder, SpnError};
use crate::var::Var;
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
}

impl Prior<'_> {
    /// The weights of the values of a column in all records.
    fn of(&self, column: &Choice) -> Vec<f64> {
        let of = |var: &Var| self.whole[var.index()];
        match column.as_boolean() {
            Some(var) => vec![1.0 - of(&var), of(&var)],
            None => column.vars().iter().map(of).collect(),
        }
    }

    fn estimate(&self, var: Var, trues: f64, total: f64) -> f64 {
        (trues + self.pseudocount * self.whole[var.index()]) / (total + self.pseudocount)
    }
}

/// A forest over columns; parents come first.
#[derive(Clone, Debug)]
pub(super) struct ColumnTree(Vec<ColumnBranch>);

#[derive(Clone, Debug)]
struct ColumnBranch {
    column: Choice,
    parent: Option<usize>,
    /// For each value of the parent, or once without one, the probabilities of the values.
    probability: Vec<Vec<f64>>,
}

impl ColumnTree {
    /// The tree of the most informative pairs that are dependent by this G statistic, or independent columns. `local`
    /// are the same columns as variables of the sub-database.
    pub(super) fn new(
        kind: Leaves,
        columns: &[Choice],
        local: &[Choice],
        pairs: &PairCounts,
        (tests, limit): (&GTests, f64),
        prior: &Prior<'_>,
    ) -> ColumnTree {
        let is_edge = |i: usize, j: usize| kind == Leaves::ChowLiu && tests.are_dependent(i, j, limit);
        let tree = ChowLiuTree::new(&tests.unbiased_information());
        let tree = tree.rooted_at(tree.centre());
        let mut branches: Vec<ColumnBranch> = Vec::new();
        let mut place = vec![0; columns.len()];
        for &x in tree.top_down() {
            let (column, here) = (&columns[x.index()], &local[x.index()]);
            let alone = shrunk(&counts(here, pairs), &prior.of(column), prior.pseudocount);
            let parent = tree.parent(x).map(Var::index).filter(|&parent| is_edge(x.index(), parent));
            let probability = match parent {
                None => vec![alone],
                Some(parent) => {
                    let table = local[parent].table(here, pairs);
                    table.iter().map(|counts| shrunk(counts, &alone, prior.pseudocount)).collect()
                }
            };
            place[x.index()] = branches.len();
            branches.push(ColumnBranch { column: column.clone(), parent: parent.map(|p| place[p]), probability });
        }
        ColumnTree(branches)
    }

    /// The network of the tree: the roots are independent.
    pub(super) fn build(&self, builder: &mut SpnBuilder) -> Result<NodeId, SpnError> {
        // For each column and value, the sums of its children.
        let mut below: Vec<Vec<Vec<NodeId>>> =
            self.0.iter().map(|branch| vec![Vec::new(); branch.column.values()]).collect();
        let mut roots = Vec::new();
        for (i, branch) in self.0.iter().enumerate().rev() {
            let parts = branch.literals(builder)?;
            let mut values = Vec::with_capacity(branch.column.values());
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
    /// For each value its nodes: all before it are false, it is true, all after it are false. Sharing keeps this linear
    /// in the values.
    fn literals(&self, builder: &mut SpnBuilder) -> Result<Vec<Vec<NodeId>>, SpnError> {
        if let Some(var) = self.column.as_boolean() {
            return [false, true].into_iter().map(|x| Ok(vec![builder.literal(var.is(x))?])).collect();
        }
        let vars = self.column.vars();
        let len = vars.len();
        if len == 1 {
            return Ok(vec![vec![builder.literal(vars[0].is(true))?]]);
        }
        let mut no = vars.iter().map(|var| builder.literal(var.is(false))).collect::<Result<Vec<_>, _>>()?;
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
        vars.iter().enumerate().map(value).collect()
    }
}

/// The weight of the records with each value of a column.
fn counts(column: &Choice, pairs: &PairCounts) -> Vec<f64> {
    match column.as_boolean() {
        Some(var) => pairs.values(var).to_vec(),
        None => column.vars().iter().map(|&var| pairs.values(var)[1]).collect(),
    }
}

/// Shares of counts, with a prior of some weight.
fn shrunk(counts: &[f64], prior: &[f64], weight: f64) -> Vec<f64> {
    let [total, of_prior] = [counts, prior].map(|list| list.iter().sum::<f64>());
    counts.iter().zip(prior).map(|(n, p)| (n + weight * p / of_prior) / (total + weight)).collect()
}
