//! Whether the columns of a file have one value in every possible world.

use crate::circuit::{Circuit, Node};
use crate::names::{Group, Names};

/// Sets of how many values are true: none, one, more.
pub(crate) const NONE: u8 = 1;
pub(crate) const ONE: u8 = 2;
const MORE: u8 = 4;

impl Circuit {
    /// The first column that has none or several values in some possible world; `None` if all have exactly one.
    ///
    /// Exact, for any circuit: for each column one pass tells how many of its values can be true at once below each node.
    /// Cost: elements × columns with several values.
    ///
    /// ```
    /// use slopp::{Kind, Names};
    /// let values = Kind::Values(["green", "red"].map(String::from).to_vec());
    /// let names = Names::of_columns([("a".into(), Kind::Boolean), ("b".into(), Kind::Boolean), ("color".into(), values)])?;
    /// let psdd = slopp::example::psdd();
    /// assert_eq!(psdd.column_without_one_value(&names).map(|group| group.name()), Some("color"));
    /// # Ok::<(), slopp::NameError>(())
    /// ```
    pub fn column_without_one_value<'a>(&self, names: &'a Names) -> Option<&'a Group> {
        let mut trues: Vec<u8> = Vec::with_capacity(self.nodes().len());
        names.groups().iter().find(|group| {
            trues.clear();
            for (id, node) in self.ids().zip(self.nodes()) {
                trues.push(match *node {
                    Node::Literal(lit) if group.contains(lit.var) && lit.value => ONE,
                    Node::Top { var, .. } if group.contains(var) => NONE | ONE,
                    Node::Literal(_) | Node::Top { .. } => NONE,
                    Node::Sum { .. } => self
                        .elements_of(id)
                        .map(|(element, _)| together(trues[element.prime.index()], trues[element.sub.index()]))
                        .fold(0, |sets, set| sets | set),
                });
            }
            trues[self.root().index()] != ONE
        })
    }
}

/// How many are true in two parts, by how many are in each.
pub(crate) fn together(a: u8, b: u8) -> u8 {
    let all = a | b;
    match (a, b) {
        (NONE, other) | (other, NONE) => other,
        _ => {
            let none = a & b & NONE;
            let one = if (a & NONE != 0 && b & ONE != 0) || (a & ONE != 0 && b & NONE != 0) { ONE } else { 0 };
            let more = if all & MORE != 0 || (a & ONE != 0 && b & ONE != 0) { MORE } else { 0 };
            none | one | more
        }
    }
}
