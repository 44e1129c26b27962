//! Vtrees as nested boxes, and all of them.

use crate::Dice;
use std::fmt;

/// A vtree over variables counted from zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A variable.
    Leaf(usize),
    /// Left and right.
    Node(Box<Tree>, Box<Tree>),
}

impl Tree {
    /// The variables, from left to right.
    pub fn vars(&self) -> Vec<usize> {
        match self {
            Tree::Leaf(x) => vec![*x],
            Tree::Node(left, right) => [left.vars(), right.vars()].concat(),
        }
    }

    /// A random vtree over these variables in random order.
    pub fn random(vars: usize, dice: &mut Dice) -> Tree {
        let mut order: Vec<usize> = (0..vars).collect();
        for i in (1..vars).rev() {
            order.swap(i, dice.below(i + 1));
        }
        Tree::split(&order, dice)
    }

    fn split(order: &[usize], dice: &mut Dice) -> Tree {
        if let [x] = order {
            return Tree::Leaf(*x);
        }
        let (left, right) = order.split_at(1 + dice.below(order.len() - 1));
        Tree::Node(Box::new(Tree::split(left, dice)), Box::new(Tree::split(right, dice)))
    }
}

/// Printed as `((1,2),3)`, variables from one.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Leaf(x) => write!(f, "{}", x + 1),
            Tree::Node(left, right) => write!(f, "({left},{right})"),
        }
    }
}

/// All vtrees over `0..vars`: every order of the variables with every shape.
pub fn all_trees(vars: usize) -> Vec<Tree> {
    orders((0..vars).collect()).iter().flat_map(|order| shapes(order)).collect()
}

fn orders(items: Vec<usize>) -> Vec<Vec<usize>> {
    if items.len() <= 1 {
        return vec![items];
    }
    let mut all = Vec::new();
    for i in 0..items.len() {
        let mut rest = items.clone();
        let first = rest.remove(i);
        all.extend(orders(rest).into_iter().map(|rest| [vec![first], rest].concat()));
    }
    all
}

fn shapes(order: &[usize]) -> Vec<Tree> {
    if let [x] = order {
        return vec![Tree::Leaf(*x)];
    }
    let mut all = Vec::new();
    for cut in 1..order.len() {
        for left in shapes(&order[..cut]) {
            for right in shapes(&order[cut..]) {
                all.push(Tree::Node(Box::new(left.clone()), Box::new(right)));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_there_should_be() {
        // n! orders times the Catalan number of n - 1.
        assert_eq!([1, 2, 3, 4].map(|n| all_trees(n).len()), [1, 2, 12, 120]);
        assert_eq!(all_trees(3)[0].to_string(), "(1,(2,3))");
    }
}
