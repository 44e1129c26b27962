//! What records show of some variables, as a formula.

use super::{Formula, Op};
use crate::data::Records;
use crate::var::Var;

impl Formula {
    /// That these variables have values which some record has: what was not seen together does not happen.
    ///
    /// A record with missing cells among them shows every way to fill them in. A decision tree over the variables in the
    /// order given, of at most distinct rows × variables nodes; it compiles fastest if that is the order of the vtree.
    ///
    /// ```
    /// use slopp::logic::Formula;
    /// use slopp::{Names, Records, Var};
    /// let records = Records::from_rows(Names::numbered(3), [[true, false, true], [false, true, true]]);
    /// let seen = Formula::seen(&records, &[Var(0), Var(1)]);
    /// assert!(seen.is_satisfied_by(&[true, false, false]), "nothing is said of the third");
    /// assert!(!seen.is_satisfied_by(&[true, true, true]), "never seen together");
    /// ```
    pub fn seen(records: &Records, vars: &[Var]) -> Formula {
        if records.is_empty() {
            return Formula::constant(false);
        }
        let mut ops = Vec::new();
        // What is left to be written, the last first.
        let mut stack = vec![Part::Rows { rows: (0..records.len() as u32).collect(), position: 0, value: None }];
        while let Some(part) = stack.pop() {
            let (rows, mut position, value) = match part {
                Part::Op(op) => {
                    ops.push(op);
                    continue;
                }
                Part::Rows { rows, position, value } => (rows, position, value),
            };
            let mut operands = 0;
            let mut literal = |position: usize, value: bool| {
                ops.push(Op::Var(vars[position]));
                ops.extend((!value).then_some(Op::Not));
                operands += 1;
            };
            if let Some(value) = value {
                literal(position - 1, value);
            }
            // As long as only one value was seen, it is one conjunction.
            let mut sides = None;
            while position < vars.len() && sides.is_none() {
                let [no, yes] = [false, true].map(|value| {
                    let fits = |row: &u32| records.cell(*row as usize, vars[position]).is_none_or(|cell| cell == value);
                    rows.iter().copied().filter(fits).collect::<Vec<_>>()
                });
                match (no.is_empty(), yes.is_empty()) {
                    (false, false) => sides = Some([no, yes]),
                    (is_true, _) => literal(position, is_true),
                }
                position += 1;
            }
            operands += u32::from(sides.is_some());
            match operands {
                0 => stack.push(Part::Op(Op::Constant(true))),
                1 => {}
                _ => stack.push(Part::Op(Op::And(operands))),
            }
            if let Some([no, yes]) = sides {
                stack.push(Part::Op(Op::Or(2)));
                stack.push(Part::Rows { rows: yes, position, value: Some(true) });
                stack.push(Part::Rows { rows: no, position, value: Some(false) });
            }
        }
        Formula { ops }
    }
}

/// A part of a formula that is still to be written.
enum Part {
    /// A step as it is.
    Op(Op),
    /// What rows that agree before a position show from it on, together with their value right before it.
    Rows { rows: Vec<u32>, position: usize, value: Option<bool> },
}
