//! Whether the columns of a file have one value in every possible world of a network.

use super::{Branch, Spn, SpnNode};
use crate::infer::noise::{NONE, ONE, together};
use crate::names::{Group, Names};
use crate::var::Var;

impl Spn {
    /// The first column that has none or several values in some possible world; `None` if all have exactly one.
    ///
    /// As [`Circuit::column_without_one_value`](crate::Circuit::column_without_one_value).
    pub fn column_without_one_value<'a>(&self, names: &'a Names) -> Option<&'a Group> {
        let mut trues: Vec<u8> = Vec::with_capacity(self.nodes().len());
        names.groups().iter().find(|group| {
            trues.clear();
            for (i, node) in self.nodes().iter().enumerate() {
                let id = crate::circuit::NodeId(i as u32);
                let below = self.children_of(id).map(|(child, _)| trues[child.index()]);
                trues.push(match *node {
                    SpnNode::Literal(lit) => of_value(group, lit.var, lit.value),
                    SpnNode::Bernoulli { var, .. } => of_value(group, var, true) | NONE,
                    SpnNode::Tree { .. } => of_tree(group, self.branches_of(id)),
                    SpnNode::Product { .. } => below.fold(NONE, together),
                    SpnNode::Sum { .. } => below.fold(0, |sets, set| sets | set),
                });
            }
            trues[self.root().index()] != ONE
        })
    }
}

fn of_value(group: &Group, var: Var, value: bool) -> u8 {
    if value && group.contains(var) { ONE } else { NONE }
}

/// How many can be true in a tree: from the leaves up, for each value of the parent.
fn of_tree(group: &Group, branches: &[Branch]) -> u8 {
    let mut below = vec![[NONE; 2]; branches.len()];
    let mut whole = NONE;
    for (i, branch) in branches.iter().enumerate().rev() {
        let own = [false, true].map(|value| together(of_value(group, branch.var, value), below[i][usize::from(value)]));
        let given = |parent: bool| {
            let possible = [false, true].into_iter().filter(|&value| branch.of(parent, value) > 0.0);
            possible.fold(0, |sets, value| sets | own[usize::from(value)])
        };
        match branch.parent {
            None => whole = given(false),
            Some(parent) => {
                let sums = &mut below[parent as usize];
                *sums = [together(sums[0], given(false)), together(sums[1], given(true))];
            }
        }
    }
    whole
}
