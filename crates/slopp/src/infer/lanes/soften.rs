//! Leaves seen through a channel that changes cells.

// Lanes are walked by index, as in all passes.
#![allow(clippy::needless_range_loop)]

use super::Lanes;
use crate::names::{Column, Group, Names};
use crate::var::Var;

impl<const L: usize> Lanes<L> {
    /// Leaves that were set from rows, seen through a channel that changes a column with probability `epsilon`.
    pub(in crate::infer) fn soften(&mut self, epsilon: f64, names: &Names) {
        for column in names.columns() {
            match column {
                Column::Boolean(var) => self.soften_cell(var, epsilon),
                Column::Group(group) => (0..L).for_each(|lane| self.soften_group(group, lane, epsilon)),
            }
        }
    }

    fn soften_cell(&mut self, var: Var, epsilon: f64) {
        let leaf = &mut self.leaves[var.index()];
        for lane in 0..L {
            let [no, yes] = [leaf[0][lane], leaf[1][lane]];
            // A cell that is missing stays free: both sides are one.
            if no != yes {
                leaf[0][lane] = (1.0 - epsilon) * no + epsilon * yes;
                leaf[1][lane] = (1.0 - epsilon) * yes + epsilon * no;
            }
        }
    }

    /// The weight of a true value is the probability of seeing one that the cells leave open. As exactly one value is
    /// true in every world, it is multiplied in once if only *true* bears it.
    fn soften_group(&mut self, group: &Group, lane: usize, epsilon: f64) {
        let leaves = &mut self.leaves[group.vars().next().map_or(0, Var::index)..][..group.vars().len()];
        let known = leaves.iter().filter(|leaf| leaf[0][lane] == 0.0).count();
        let open = |leaf: &[[f64; L]; 2]| match known {
            0 => leaf[1][lane] != 0.0,
            1 => leaf[0][lane] == 0.0,
            _ => false,
        };
        let others = leaves.len() - 1;
        let count = leaves.iter().filter(|leaf| open(leaf)).count();
        let share = epsilon / others as f64;
        let weight = |is_open: bool| match count {
            0 => 0.0,
            // Missing, or a column with one value: exactly one, without rounding.
            _ if count > others => 1.0,
            _ if is_open => 1.0 - epsilon + (count - 1) as f64 * share,
            _ => count as f64 * share,
        };
        for leaf in leaves {
            leaf[1][lane] = weight(open(leaf));
            leaf[0][lane] = 1.0;
        }
    }
}
