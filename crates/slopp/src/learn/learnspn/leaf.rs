//! Leaves: Chow-Liu trees or independent columns, their estimates shrunk towards larger sub-databases.

use super::Leaves;
use crate::circuit::NodeId;
use crate::data::{PairCounts, SymmetricMatrix};
use crate::learn::vtree::ChowLiuTree;
use crate::spn::{Branch, SpnBuilder, SpnError};
use crate::var::Var;

/// The distribution of a sub-database that is not cut further.
#[derive(Clone, Debug)]
pub(super) enum Leaf {
    Independent(Vec<(Var, f64)>),
    Tree(Vec<Branch>),
}

impl Leaf {
    /// Independent columns, each with its count of true records among `total`.
    pub(super) fn independent(vars: &[Var], trues: &[f64], total: f64, prior: &Prior<'_>) -> Leaf {
        Leaf::Independent(vars.iter().zip(trues).map(|(&var, &n)| (var, prior.estimate(var, n, total))).collect())
    }

    /// The kind of leaf that was asked for, from the counts of all pairs of columns.
    pub(super) fn new(
        kind: Leaves,
        vars: &[Var],
        pairs: &PairCounts,
        information: &SymmetricMatrix,
        prior: &Prior<'_>,
    ) -> Leaf {
        let local = |i: usize| Var(i as u32);
        let trues: Vec<f64> = (0..vars.len()).map(|i| pairs.values(local(i))[1]).collect();
        if kind == Leaves::Independent || vars.len() == 1 {
            return Leaf::independent(vars, &trues, pairs.total(), prior);
        }
        let tree = ChowLiuTree::new(information);
        let tree = tree.rooted_at(tree.centre());
        let mut place = vec![0; vars.len()];
        let branches = tree.top_down().iter().enumerate().map(|(i, &x)| {
            place[x.index()] = i as u32;
            let var = vars[x.index()];
            let alone = prior.estimate(var, trues[x.index()], pairs.total());
            let Some(parent) = tree.parent(x) else {
                return Branch { var, parent: None, probability: [alone; 2] };
            };
            let [ff, ft, tf, tt] = pairs.cells(parent, x);
            // Given its parent a column is shrunk towards itself alone.
            let given = |no: f64, yes: f64| (yes + prior.pseudocount * alone) / (no + yes + prior.pseudocount);
            Branch { var, parent: Some(place[parent.index()]), probability: [given(ff, ft), given(tf, tt)] }
        });
        Leaf::Tree(branches.collect())
    }

    pub(super) fn build(&self, builder: &mut SpnBuilder) -> Result<NodeId, SpnError> {
        match self {
            Leaf::Tree(branches) => builder.tree(branches),
            Leaf::Independent(columns) => {
                let nodes: Result<Vec<_>, _> = columns.iter().map(|&(var, p)| builder.bernoulli(var, p)).collect();
                let nodes = nodes?;
                if let [single] = nodes[..] { Ok(single) } else { builder.product(&nodes) }
            }
        }
    }
}

/// What estimates are shrunk towards.
pub(super) struct Prior<'a> {
    /// The probability of *true* of every variable in all records, itself shrunk towards one half.
    pub(super) whole: &'a [f64],
    pub(super) pseudocount: f64,
}

impl Prior<'_> {
    fn estimate(&self, var: Var, trues: f64, total: f64) -> f64 {
        (trues + self.pseudocount * self.whole[var.index()]) / (total + self.pseudocount)
    }
}
