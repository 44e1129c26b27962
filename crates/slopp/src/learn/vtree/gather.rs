//! Keeps the values of one column together, so that "exactly one of them is true" has a small circuit.
//!
//! Orders and vtrees are made as if each column were a variable. Then its variables replace each column.

use super::ChowLiuTree;
use crate::data::SymmetricMatrix;
use crate::names::{Column, Names};
use crate::var::Var;
use crate::vtree::{Step, Vtree};
use std::borrow::Cow;

/// More than the mutual information that two variables can have, in nats.
const MOST: f64 = 1.0;

/// Pair information that is highest between the values of one column, so that they are connected in every maximum
/// spanning tree.
pub(in crate::learn) fn bound<'a>(information: &'a SymmetricMatrix, names: &Names) -> Cow<'a, SymmetricMatrix> {
    let mut bound = Cow::Borrowed(information);
    for group in names.groups() {
        for (i, a) in group.vars().enumerate() {
            for b in group.vars().skip(i + 1) {
                let (a, b) = (a.index(), b.index());
                bound.to_mut().set(a, b, MOST + information.at(a, b));
            }
        }
    }
    bound
}

/// The variables of each column; `None` if every column is a variable.
pub(in crate::learn) struct Gathered {
    members: Option<Vec<Vec<Var>>>,
}

impl Gathered {
    pub(in crate::learn) fn new(names: &Names) -> Gathered {
        let members = |column| match column {
            Column::Boolean(var) => vec![var],
            Column::Group(group) => group.vars().collect(),
        };
        Gathered { members: (!names.groups().is_empty()).then(|| names.columns().map(members).collect()) }
    }

    /// The number of columns, given the number of variables.
    pub(in crate::learn) fn len(&self, variables: usize) -> usize {
        self.members.as_ref().map_or(variables, Vec::len)
    }

    /// The information between columns: the sum over pairs of their variables.
    pub(in crate::learn) fn information<'a>(&self, information: &'a SymmetricMatrix) -> Cow<'a, SymmetricMatrix> {
        let Some(members) = &self.members else { return Cow::Borrowed(information) };
        let mut between = SymmetricMatrix::zeros(members.len());
        for (i, a) in members.iter().enumerate() {
            for (j, b) in members[..i].iter().enumerate() {
                let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x.index(), y.index())));
                between.set(i, j, pairs.map(|(x, y)| information.at(x, y)).sum());
            }
        }
        Cow::Owned(between)
    }

    /// An order of columns along their tree: depth-first, small subtrees first. It starts in the centre if every column
    /// is a variable. Otherwise it starts at an end: from the centre, classes must remember a column until the other
    /// side of the tree.
    pub(in crate::learn) fn along(&self, tree: &ChowLiuTree) -> Vec<Var> {
        if self.members.is_none() {
            return tree.linear_order();
        }
        let top_down = tree.rooted_at(tree.centre());
        let end = top_down.top_down().last().expect("a tree has a variable");
        tree.rooted_at(*end).depth_first()
    }

    /// The order of the variables for an order of the columns.
    pub(in crate::learn) fn order(&self, columns: Vec<Var>) -> Vec<Var> {
        match &self.members {
            None => columns,
            Some(members) => columns.iter().flat_map(|column| members[column.index()].iter().copied()).collect(),
        }
    }

    /// The vtree of the variables for one of the columns: each column becomes a right-linear vtree of its own. A
    /// right-linear vtree stays right-linear.
    pub(in crate::learn) fn vtree(&self, columns: Vtree) -> Vtree {
        let Some(members) = &self.members else { return columns };
        if columns.is_right_linear() {
            return Vtree::right_linear_over(&self.order(columns.vars(columns.root()).to_vec()));
        }
        let mut steps = Vec::new();
        for step in columns.postfix() {
            match step {
                Step::Join => steps.push(Step::Join),
                Step::Leaf(column) => {
                    let vars = &members[column.index()];
                    steps.extend(vars.iter().copied().map(Step::Leaf));
                    steps.extend((1..vars.len()).map(|_| Step::Join));
                }
            }
        }
        Vtree::from_postfix(steps).expect("every variable once")
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
        let gathered = Gathered::new(&names);
        assert_eq!(gathered.order([2, 0, 4, 3, 1].map(Var).to_vec()), [4, 5, 0, 1, 2, 7, 6, 3].map(Var));
        for seed in 0..20 {
            let vtree = gathered.vtree(Vtree::random(5, seed));
            assert_eq!(vtree.var_count(), 8);
            let own = |vars: Vec<Var>| vtree.bottom_up().iter().any(|&v| vtree.vars(v) == vars);
            let linear = vtree.is_right_linear();
            assert!(linear || names.groups().iter().all(|group| own(group.vars().collect())), "{vtree}");
        }
        assert_eq!(
            gathered.vtree(Vtree::balanced(5)).to_string(),
            "(((((1,(2,3)),4),(5,6)),(7,8))".replacen('(', "", 1)
        );
        assert!(gathered.vtree(Vtree::right_linear(5)).is_right_linear());
        assert_eq!(Gathered::new(&Names::numbered(3)).vtree(Vtree::balanced(3)), Vtree::balanced(3));
        let mut information = SymmetricMatrix::zeros(8);
        [(0, 3, 0.5), (2, 3, 0.25), (1, 4, 0.125), (2, 5, 0.5)].iter().for_each(|&(i, j, x)| information.set(i, j, x));
        let between = gathered.information(&information);
        assert_eq!([between.at(0, 1), between.at(0, 2), between.at(1, 2)], [0.75, 0.625, 0.0]);
        assert_eq!(bound(&information, &names).at(0, 2), 1.0);
    }
}
