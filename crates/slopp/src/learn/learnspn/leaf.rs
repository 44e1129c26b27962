//! Leaves: Chow-Liu trees or independent columns, their estimates shrunk towards larger sub-databases.

use super::Leaves;
use super::columns::ColumnTree;
use crate::circuit::NodeId;
use crate::data::{PairCounts, SymmetricMatrix};
use crate::learn::vtree::ChowLiuTree;
use crate::names::Names;
use crate::spn::{Branch, SpnBuilder, SpnError};
use crate::var::{Lit, Var};

/// The distribution of a sub-database that is not cut further.
#[derive(Clone, Debug)]
pub(super) enum Leaf {
    Independent(Vec<(Var, f64)>),
    /// Trees over disjoint columns.
    Forest(Vec<Vec<Branch>>),
    /// Where some have several values.
    Columns(ColumnTree),
}

impl Leaf {
    /// Independent columns, each with its count of true records among `total`.
    pub(super) fn independent(vars: &[Var], trues: &[f64], total: f64, prior: &Prior<'_>) -> Leaf {
        Leaf::Independent(vars.iter().zip(trues).map(|(&var, &n)| (var, prior.estimate(var, n, total))).collect())
    }

    /// The kind of leaf that was asked for, from the counts of all pairs of columns.
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
                    // Given its parent a column is shrunk towards itself alone.
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

/// What estimates are shrunk towards.
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
