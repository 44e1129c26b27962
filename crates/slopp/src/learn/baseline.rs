//! Baselines: the fully factorised model and the Chow-Liu tree, as certified PSDDs.

use super::LearnError;
use super::error::check;
use super::structure::{Prior, Structure};
use super::task::{Learner, Task, VtreeUse};
use super::vtree::{ChowLiuTree, RootedTree, VtreeMethod, bound, pair_information};
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

/// The Chow-Liu tree: every variable depends on one other, `P(x) = Π P(xᵢ | x_parent(i))`.
///
/// It makes its own vtree, from the tree rooted at its centre. The values of one column are connected. Every world is
/// possible.
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
    let mut builder = Builder::new(vtree.clone(), Sharing::LiteralsOnly);
    let total = records.total();
    let mut done = Vec::with_capacity(vtree.node_count());
    for &v in vtree.bottom_up() {
        let node = match (vtree.leaf_var(v), vtree.children(v)) {
            (Some(var), _) => builder.top(var, records.count_values(var))?,
            (_, Some(sides)) => {
                let [prime, sub] = sides.map(|side| done[vtree.rank(side)]);
                builder.sum(v, &[(prime, sub, total)])?
            }
            (None, None) => unreachable!("a vtree node is a leaf or has children"),
        };
        done.push(node);
    }
    let root = done[vtree.rank(vtree.root())];
    Ok(builder.finish_counts(root, &Smoothing::marginal(pseudocount, records))?.certify(limits)?)
}

pub(super) fn chow_liu(records: &Records, pseudocount: f64, limits: &Limits) -> Result<Psdd, LearnError> {
    if records.var_count() == 0 {
        return Err(LearnError::NoVariables);
    }
    let tree = ChowLiuTree::new(&bound(&pair_information(records)?, records.names()));
    let tree = tree.rooted_at(tree.centre());
    let vtree = Arc::new(tree.vtree());
    check(records, &vtree)?;
    let mut given =
        Given { records, tree, builder: Builder::new(vtree.clone(), Sharing::LiteralsOnly), done: Vec::new() };
    for &v in vtree.bottom_up() {
        let nodes = given.nodes(&vtree, v)?;
        given.done.push(nodes);
    }
    let (_, root) = given.done[vtree.rank(vtree.root())];
    Ok(given.builder.finish_counts(root[0], &Smoothing::marginal(pseudocount, records))?.certify(limits)?)
}

/// Builds, for every vtree node, a circuit node for each value of the parent of its part of the tree.
struct Given<'a> {
    records: &'a Records,
    tree: RootedTree,
    builder: Builder,
    /// By rank of the vtree node: the parent variable, and the nodes given that it is false and true.
    done: Vec<(Option<Var>, [NodeId; 2])>,
}

impl Given<'_> {
    fn nodes(&mut self, vtree: &Vtree, v: VtreeId) -> Result<(Option<Var>, [NodeId; 2]), BuildError> {
        let Some([left, right]) = vtree.children(v) else {
            let var = vtree.leaf_var(v).expect("a leaf");
            let parent = self.tree.parent(var);
            let mut top = |value| {
                self.builder.top(var, [false, true].map(|x| count(self.records, parent, value, Some((var, x)))))
            };
            return Ok((parent, [top(false)?, top(true)?]));
        };
        let (above, subs) = self.done[vtree.rank(right)];
        if let Some(var) = vtree.leaf_var(left).filter(|&var| above == Some(var)) {
            // A variable and its descendants: decide the variable.
            let parent = self.tree.parent(var);
            let literals = [self.builder.literal(var.is(false))?, self.builder.literal(var.is(true))?];
            let mut sum = |value| {
                let elements = [false, true].map(|x| {
                    let n = count(self.records, parent, value, Some((var, x)));
                    (literals[usize::from(x)], subs[usize::from(x)], n)
                });
                self.builder.sum(v, &elements)
            };
            return Ok((parent, [sum(false)?, sum(true)?]));
        }
        // Siblings are independent given their parent.
        let (_, primes) = self.done[vtree.rank(left)];
        let mut product = |value: bool| {
            let side = usize::from(value);
            self.builder.sum(v, &[(primes[side], subs[side], count(self.records, above, value, None))])
        };
        Ok((above, [product(false)?, product(true)?]))
    }
}

/// The weight of the records in which the parent, if any, has `value`, and the variable, if given, has its value.
fn count(records: &Records, parent: Option<Var>, value: bool, var: Option<(Var, bool)>) -> f64 {
    match (parent, var) {
        (None, None) => records.total(),
        (Some(parent), None) => records.count_values(parent)[usize::from(value)],
        (None, Some((var, x))) => records.count_values(var)[usize::from(x)],
        (Some(parent), Some((var, x))) => records.count_pair_values(parent, var)[usize::from(value)][usize::from(x)],
    }
}
