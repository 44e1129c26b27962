//! Baselines: the fully factorised model and the Chow-Liu tree, as certified PSDDs.

use super::LearnError;
use super::error::check;
use super::primes::{Primes, fitted};
use super::structure::{Prior, Structure};
use super::task::{Learner, Task, VtreeUse};
use super::vtree::{ChowLiuTree, Columns, RootedTree, VtreeMethod};
use crate::circuit::{BuildError, Builder, NodeId, Psdd, Sharing, Smoothing};
use crate::data::Records;
use crate::logic::Limits;
use crate::progress::Progress;
use crate::var::Var;
use crate::vtree::{Vtree, VtreeId};
use std::sync::Arc;

/// Independent variables, on any vtree: `P(x) = Π P(xᵢ)`. Every world is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factorised {
    /// The weight of the prior in records; 2 unless given, none in a closed world.
    pub pseudocount: Option<f64>,
}

/// The Chow-Liu tree: every column depends on one other, `P(x) = Π P(xᵢ | x_parent(i))`.
///
/// It makes its own vtree, from the tree rooted at its centre. Every world that gives each column one value is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChowLiu {
    /// The weight of the prior in records; 2 unless given, none in a closed world.
    pub pseudocount: Option<f64>,
}

/// The usual weight of the prior in records in an open world.
pub(super) const USUAL_PSEUDOCOUNT: f64 = 2.0;

/// The prior with the given or the usual weight, and the weight to fit an open world with.
pub(super) fn prior_of(asked: Option<f64>, task: &Task) -> Result<(Prior, f64), LearnError> {
    task.support.check_weight(task.support.weight(asked, USUAL_PSEUDOCOUNT))?;
    let weight = asked.filter(|&asked| asked > 0.0).unwrap_or(USUAL_PSEUDOCOUNT);
    Ok((Prior::new(asked, USUAL_PSEUDOCOUNT), weight))
}

impl Learner for Factorised {
    fn name(&self) -> &'static str {
        "factorised"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The distribution is the same on every vtree, so it takes one that costs nothing.
    fn vtree(&self) -> VtreeUse {
        VtreeUse::Any(VtreeMethod::Balanced)
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        let vtree = task.vtree_or(VtreeMethod::Balanced, progress)?;
        let (prior, weight) = prior_of(self.pseudocount, task)?;
        Ok(Structure::new(factorised(task.train, vtree, weight, &task.support.limits)?, prior))
    }
}

impl Learner for ChowLiu {
    fn name(&self) -> &'static str {
        "chow-liu"
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn vtree(&self) -> VtreeUse {
        VtreeUse::Own(VtreeMethod::ChowLiu)
    }

    fn find(&self, task: &Task, progress: &dyn Progress) -> Result<Structure, LearnError> {
        task.without_vtree(self.name())?;
        progress.begin("learning the Chow-Liu tree", 1);
        let (prior, weight) = prior_of(self.pseudocount, task)?;
        Ok(Structure::new(chow_liu(task.train, weight, &task.support.limits)?, prior))
    }
}

pub(super) fn factorised(
    records: &Records,
    vtree: Arc<Vtree>,
    pseudocount: f64,
    limits: &Limits,
) -> Result<Psdd, LearnError> {
    check(records, &vtree)?;
    // Where a column is not below one vtree node, its values are variables, and rules say that one of them holds.
    let columns = Columns::new(records.names());
    let (columns, nodes) = match columns.nodes(&vtree) {
        Some(nodes) => (columns, nodes),
        None => {
            let columns = Columns::of_variables(records.var_count());
            let nodes = columns.nodes(&vtree).expect("every variable has a leaf");
            (columns, nodes)
        }
    };
    let mut build = Build::new(records, &vtree, &columns, pseudocount);
    let mut made: Vec<Option<NodeId>> = vec![None; vtree.node_count()];
    for (i, &node) in nodes.iter().enumerate() {
        let choice = columns.at(Var(i as u32));
        let numbers = choice.counts(records);
        made[node.index()] = Some(Primes::new(&vtree, node, choice).node(&mut build.builder, &numbers, |_| true)?);
    }
    for &v in vtree.bottom_up() {
        if let (None, Some(sides)) = (made[v.index()], vtree.children(v))
            && let [Some(prime), Some(sub)] = sides.map(|side| made[side.index()])
        {
            made[v.index()] = Some(build.builder.sum(v, &[(prime, sub, records.total())])?);
        }
    }
    build.finish(made[vtree.root().index()].expect("all columns are below the root"), limits)
}

pub(super) fn chow_liu(records: &Records, pseudocount: f64, limits: &Limits) -> Result<Psdd, LearnError> {
    if records.var_count() == 0 {
        return Err(LearnError::NoVariables);
    }
    let columns = Columns::new(records.names());
    let tree = ChowLiuTree::new(&columns.information(records)?);
    let tree = tree.rooted_at(tree.centre());
    let of_columns = tree.vtree();
    let vtree = Arc::new(columns.vtree(&of_columns));
    check(records, &vtree)?;
    let nodes = columns.nodes(&vtree).expect("the vtree is made of columns");
    let mut given = Given { columns: &columns, tree, build: Build::new(records, &vtree, &columns, pseudocount) };
    // By rank of the vtree node over columns.
    let mut done: Vec<Conditional> = Vec::new();
    for &v in of_columns.bottom_up() {
        let conditional = match (of_columns.leaf_var(v), of_columns.children(v)) {
            (Some(column), _) => given.leaf(&vtree, nodes[column.index()], column)?,
            (_, Some(sides)) => {
                let [left, right] = sides.map(|side| &done[of_columns.rank(side)]);
                let column = of_columns.leaf_var(sides[0]);
                given.inner(&vtree, left, right, column)?
            }
            (None, None) => unreachable!("a vtree node is a leaf or has children"),
        };
        done.push(conditional);
    }
    let root = done[of_columns.rank(of_columns.root())].nodes[0];
    given.build.finish(root, limits)
}

/// A circuit over columns while it is built.
struct Build<'a> {
    records: &'a Records,
    pseudocount: f64,
    builder: Builder,
    are_variables: bool,
}

impl<'a> Build<'a> {
    fn new(records: &'a Records, vtree: &Arc<Vtree>, columns: &Columns, pseudocount: f64) -> Build<'a> {
        let builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
        Build { records, pseudocount, builder, are_variables: columns.are_variables() }
    }

    fn finish(self, root: NodeId, limits: &Limits) -> Result<Psdd, LearnError> {
        if !self.are_variables {
            return fitted(self.builder, root, self.records, self.pseudocount, limits);
        }
        let smoothing = Smoothing::marginal(self.pseudocount, self.records);
        Ok(self.builder.finish_counts(root, &smoothing)?.certify(limits)?)
    }
}

/// What is below a vtree node, for each value of the parent of that part of the tree.
struct Conditional {
    vtree: VtreeId,
    /// The parent column; without one there is one node.
    parent: Option<Var>,
    nodes: Vec<NodeId>,
}

/// Builds, for every vtree node over columns, a circuit node for each value of the parent of its part of the tree.
struct Given<'a> {
    columns: &'a Columns,
    tree: RootedTree,
    build: Build<'a>,
}

impl Given<'_> {
    /// A column without children.
    fn leaf(&mut self, vtree: &Vtree, node: VtreeId, column: Var) -> Result<Conditional, BuildError> {
        let mut primes = Primes::new(vtree, node, self.columns.at(column));
        let parent = self.tree.parent(column);
        let mut nodes = Vec::new();
        for numbers in self.given_parent(column) {
            nodes.push(primes.node(&mut self.build.builder, &numbers, |_| true)?);
        }
        Ok(Conditional { vtree: node, parent, nodes })
    }

    /// A column and its descendants, which decides the column, or siblings, which are independent given their parent.
    fn inner(
        &mut self,
        vtree: &Vtree,
        left: &Conditional,
        right: &Conditional,
        column: Option<Var>,
    ) -> Result<Conditional, BuildError> {
        let inner = vtree.parent(left.vtree).expect("a left child has a parent");
        let mut nodes = Vec::new();
        if let Some(column) = column.filter(|_| right.parent == column) {
            let choice = self.columns.at(column);
            let mut primes = Primes::new(vtree, left.vtree, choice);
            for numbers in self.given_parent(column) {
                let mut elements = Vec::with_capacity(numbers.len());
                for (value, &number) in numbers.iter().enumerate() {
                    let prime = primes.node(&mut self.build.builder, &numbers, |other| other == value)?;
                    elements.push((prime, right.nodes[value], number));
                }
                nodes.push(self.build.builder.sum(inner, &elements)?);
            }
            return Ok(Conditional { vtree: inner, parent: self.tree.parent(column), nodes });
        }
        let records = self.build.records;
        let weights = right.parent.map_or(vec![records.total()], |parent| self.columns.at(parent).counts(records));
        for ((&prime, &sub), weight) in left.nodes.iter().zip(&right.nodes).zip(weights) {
            nodes.push(self.build.builder.sum(inner, &[(prime, sub, weight)])?);
        }
        Ok(Conditional { vtree: inner, parent: right.parent, nodes })
    }

    /// The counts of a column, for each value of its parent.
    fn given_parent(&self, column: Var) -> Vec<Vec<f64>> {
        let (choice, records) = (self.columns.at(column), self.build.records);
        match self.tree.parent(column) {
            None => vec![choice.counts(records)],
            Some(parent) => self.columns.at(parent).pair_counts(choice, records),
        }
    }
}
