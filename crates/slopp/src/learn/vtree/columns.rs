//! The columns of records, which learners work on: orders, trees and vtrees of columns.
//!
//! The values of a column lie below one vtree node of their own, where "exactly one of them is true" takes a few
//! elements per value, whatever the other columns do.

use super::{ChowLiuTree, LAPLACE, pairs};
use crate::data::{Choice, PairCounts, Records, SymmetricMatrix, exclusive, information};
use crate::learn::LearnError;
use crate::names::Names;
use crate::var::Var;
use crate::vtree::{Step, Vtree, VtreeId};

/// The columns of records. In orders and trees of columns, [`Var`] numbers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::learn) struct Columns(Vec<Choice>);

impl Columns {
    /// Columns by their names.
    pub(in crate::learn) fn new(names: &Names) -> Columns {
        Columns(Choice::all(names))
    }

    /// Every variable as a column.
    pub(in crate::learn) fn of_variables(variables: usize) -> Columns {
        Columns((0..variables as u32).map(|i| Choice::boolean(Var(i))).collect())
    }

    /// The same, with variables that exclude each other in these records taken together; `None` if there are none. Which
    /// of them hold together is not known where cells are missing.
    pub(in crate::learn) fn found(&self, records: &Records, pairs: &PairCounts) -> Option<Columns> {
        if records.has_missing() { None } else { exclusive(&self.0, pairs).map(Columns) }
    }

    /// The variables of each column that was found.
    pub(in crate::learn) fn groups(&self) -> Vec<Vec<Var>> {
        let found = self.0.iter().filter(|choice| choice.none_and_several().is_some());
        found.map(|choice| choice.vars().to_vec()).collect()
    }

    /// The number of columns.
    pub(in crate::learn) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether every column is a variable.
    pub(in crate::learn) fn are_variables(&self) -> bool {
        self.0.iter().all(|choice| choice.as_boolean().is_some())
    }

    /// A column.
    pub(in crate::learn) fn at(&self, column: Var) -> &Choice {
        &self.0[column.index()]
    }

    /// The mutual information of all pairs of columns. Too many variables are an error.
    pub(in crate::learn) fn information(&self, records: &Records) -> Result<SymmetricMatrix, LearnError> {
        Ok(self.information_of(&pairs(records)?))
    }

    /// The same from the counts of all pairs of variables.
    pub(in crate::learn) fn information_of(&self, pairs: &PairCounts) -> SymmetricMatrix {
        information(&self.0, pairs, LAPLACE)
    }

    /// An order along the tree of the columns: depth-first, small subtrees first. It starts in the centre if every
    /// column is a variable. Otherwise it starts at an end: from the centre, classes must remember a column until the
    /// other side of the tree.
    pub(in crate::learn) fn along(&self, tree: &ChowLiuTree) -> Vec<Var> {
        if self.are_variables() {
            return tree.linear_order();
        }
        let top_down = tree.rooted_at(tree.centre());
        let end = top_down.top_down().last().expect("a tree has a column");
        tree.rooted_at(*end).depth_first()
    }

    /// The vtree of the variables for one of the columns: the values of a column become a balanced vtree of their own.
    pub(in crate::learn) fn vtree(&self, columns: &Vtree) -> Vtree {
        let mut steps = Vec::new();
        for step in columns.postfix() {
            match step {
                Step::Join => steps.push(Step::Join),
                Step::Leaf(column) => {
                    let vars = self.at(column).vars();
                    let leaf = |step| match step {
                        Step::Leaf(place) => Step::Leaf(vars[place.index()]),
                        Step::Join => Step::Join,
                    };
                    steps.extend(Vtree::balanced(vars.len()).postfix().map(leaf));
                }
            }
        }
        Vtree::from_postfix(steps).expect("every variable once")
    }

    /// The vtree whose left children are the columns, in this order.
    pub(in crate::learn) fn right_linear(&self, order: &[Var]) -> Vtree {
        self.vtree(&Vtree::right_linear_over(order))
    }

    /// The order of the columns if every left child of a vtree from the root along the right is one of them, and the
    /// last right child.
    pub(in crate::learn) fn order_of(&self, vtree: &Vtree) -> Option<Vec<Var>> {
        let column_of = self.column_of(vtree.var_count());
        let column = |v: VtreeId| {
            let vars = vtree.vars(v);
            let column = column_of[vars[0].index()];
            let whole = vars.len() == self.at(column).vars().len();
            (whole && vars.iter().all(|var| column_of[var.index()] == column)).then_some(column)
        };
        let (mut order, mut v) = (Vec::with_capacity(self.len()), vtree.root());
        loop {
            if let Some(last) = column(v) {
                order.push(last);
                return Some(order);
            }
            let [left, right] = vtree.children(v).expect("a leaf is part of a column");
            order.push(column(left)?);
            v = right;
        }
    }

    /// The vtree node of each column; `None` if some column has none of its own.
    pub(in crate::learn) fn nodes(&self, vtree: &Vtree) -> Option<Vec<VtreeId>> {
        let node = |choice: &Choice| {
            let vars = choice.vars();
            let mut v = vtree.leaf(vars[0]);
            while vtree.vars(v).len() < vars.len() {
                v = vtree.parent(v)?;
            }
            let all = vtree.vars(v).len() == vars.len() && vars.iter().all(|&var| vtree.is_below(vtree.leaf(var), v));
            all.then_some(v)
        };
        self.0.iter().map(node).collect()
    }

    /// The column of each variable.
    fn column_of(&self, variables: usize) -> Vec<Var> {
        let mut column_of = vec![Var(0); variables];
        for (i, choice) in self.0.iter().enumerate() {
            choice.vars().iter().for_each(|var| column_of[var.index()] = Var(i as u32));
        }
        column_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Kind;

    #[test]
    fn columns_stay_together() {
        let values = |count: usize| Kind::Values((0..count).map(|i| i.to_string()).collect());
        let columns =
            [("a", values(3)), ("b", Kind::Boolean), ("c", values(2)), ("d", values(1)), ("e", Kind::Boolean)];
        let names = Names::of_columns(columns.map(|(name, kind)| (name.to_owned(), kind))).unwrap();
        let columns = Columns::new(&names);
        for seed in 0..20 {
            let vtree = columns.vtree(&Vtree::random(5, seed));
            assert_eq!(vtree.var_count(), 8);
            let nodes = columns.nodes(&vtree).expect("every column has its node");
            for (node, choice) in nodes.iter().zip(&columns.0) {
                let mut vars = vtree.vars(*node).to_vec();
                vars.sort_unstable();
                assert_eq!(vars, choice.vars());
            }
        }
        assert_eq!(columns.vtree(&Vtree::balanced(5)).to_string(), "(((((1,2),3),4),(5,6)),(7,8))");
        let order = [2, 0, 4, 3, 1].map(Var);
        let vtree = columns.right_linear(&order);
        assert_eq!(vtree.to_string(), "((5,6),(((1,2),3),(8,(7,4))))");
        assert_eq!(columns.order_of(&vtree), Some(order.to_vec()));
        for other in [Vtree::right_linear(8), Vtree::balanced(8), columns.vtree(&Vtree::balanced(5))] {
            assert_eq!(columns.order_of(&other), None, "{other}");
        }
        assert_eq!(columns.nodes(&Vtree::right_linear_over(&[0, 3, 1, 2, 4, 5, 6, 7].map(Var))), None);
        let variables = Columns::of_variables(3);
        assert_eq!(variables.vtree(&Vtree::balanced(3)), Vtree::balanced(3));
        assert_eq!(variables.order_of(&Vtree::right_linear(3)), Some([0, 1, 2].map(Var).to_vec()));
    }
}
