//! The primes of one column: for each set of values, a node that allows just these.

use super::LearnError;
use crate::circuit::{BuildError, Builder, NodeId, Psdd, Smoothing};
use crate::data::{Choice, Records};
use crate::logic::Limits;
use crate::vtree::{Vtree, VtreeId};
use rustc_hash::FxHashMap;

/// Makes the primes over one column. Nodes without parameters, the terms of one value, are shared.
pub(super) struct Primes<'a> {
    vtree: &'a Vtree,
    choice: &'a Choice,
    /// The vtree nodes of the column, children first.
    nodes: Vec<VtreeId>,
    /// The value whose variable is at each leaf, from the first leaf of the column on.
    value_at: Vec<u32>,
    first: usize,
    /// For each of the vtree nodes, the node in which all variables are false.
    none: Vec<Option<NodeId>>,
    /// For each of the vtree nodes and a value below it, the node in which just this variable is true.
    single: FxHashMap<(u32, u32), NodeId>,
}

/// What a set of values has below a vtree node.
#[derive(Clone, Copy)]
enum Below {
    Nothing,
    One(u32, f64),
    Several(NodeId, f64),
}

impl<'a> Primes<'a> {
    /// For a column below a vtree node of its own.
    pub(super) fn new(vtree: &'a Vtree, node: VtreeId, choice: &'a Choice) -> Primes<'a> {
        let vars = vtree.vars(node);
        let mut value_at = vec![0; vars.len()];
        let first = vtree.position(vars[0]);
        for (value, &var) in choice.vars().iter().enumerate() {
            value_at[vtree.position(var) - first] = value as u32;
        }
        // The nodes below one node are neighbours in the order from the leaves up.
        let last = vtree.rank(node);
        let nodes: Vec<VtreeId> = vtree.bottom_up()[last + 2 - 2 * vars.len()..=last].to_vec();
        let none = vec![None; nodes.len()];
        Primes { vtree, choice, nodes, value_at, first, none, single: FxHashMap::default() }
    }

    /// The node that allows the values of a set, each with its number. The set must not be empty.
    pub(super) fn node(
        &mut self,
        builder: &mut Builder,
        numbers: &[f64],
        is_in: impl Fn(usize) -> bool,
    ) -> Result<NodeId, BuildError> {
        if let Some(var) = self.choice.as_boolean() {
            return match [is_in(0), is_in(1)] {
                [true, true] => builder.top(var, [numbers[0], numbers[1]]),
                [_, value] => builder.literal(var.is(value)),
            };
        }
        let mut stack: Vec<Below> = Vec::new();
        for i in 0..self.nodes.len() {
            let v = self.nodes[i];
            let Some([left, right]) = self.vtree.children(v) else {
                let value = self.value_at[self.vtree.position(self.vtree.vars(v)[0]) - self.first];
                let is_in = is_in(value as usize);
                stack.push(if is_in { Below::One(value, numbers[value as usize]) } else { Below::Nothing });
                continue;
            };
            let (b, a) = (stack.pop().expect("a right child"), stack.pop().expect("a left child"));
            stack.push(match (a, b) {
                (Below::Nothing, Below::Nothing) => Below::Nothing,
                (Below::One(value, n), Below::Nothing) | (Below::Nothing, Below::One(value, n)) => Below::One(value, n),
                (a, b) => {
                    let mut elements = Vec::with_capacity(2);
                    if let Some((prime, n)) = self.made(builder, left, a)? {
                        elements.push((prime, self.none(builder, right)?, n));
                    }
                    if let Some((sub, n)) = self.made(builder, right, b)? {
                        elements.push((self.none(builder, left)?, sub, n));
                    }
                    let number = elements.iter().map(|(_, _, n)| n).sum();
                    Below::Several(builder.sum(v, &elements)?, number)
                }
            });
        }
        let root = *self.nodes.last().expect("a column has a variable");
        let all = stack.pop().expect("the root");
        Ok(self.made(builder, root, all)?.expect("a set of values is not empty").0)
    }

    fn made(&mut self, builder: &mut Builder, v: VtreeId, below: Below) -> Result<Option<(NodeId, f64)>, BuildError> {
        Ok(match below {
            Below::Nothing => None,
            Below::One(value, number) => Some((self.single(builder, v, value)?, number)),
            Below::Several(node, number) => Some((node, number)),
        })
    }

    /// The index of a vtree node of the column.
    fn place(&self, v: VtreeId) -> usize {
        self.vtree.rank(v) - self.vtree.rank(self.nodes[0])
    }

    /// All variables below a vtree node are false.
    fn none(&mut self, builder: &mut Builder, v: VtreeId) -> Result<NodeId, BuildError> {
        if let Some(node) = self.none[self.place(v)] {
            return Ok(node);
        }
        // Children first, so no call goes deep.
        let (first, last) = (self.place(v) + 2 - 2 * self.vtree.vars(v).len(), self.place(v));
        for i in first..=last {
            if self.none[i].is_none() {
                let v = self.nodes[i];
                self.none[i] = Some(match self.vtree.children(v) {
                    None => builder.literal(self.vtree.vars(v)[0].is(false))?,
                    Some(sides) => {
                        let [prime, sub] = sides.map(|side| self.none[self.place(side)].expect("children come first"));
                        builder.sum(v, &[(prime, sub, 1.0)])?
                    }
                });
            }
        }
        Ok(self.none[last].expect("just made"))
    }

    /// Of the variables below a vtree node just that of one value is true.
    fn single(&mut self, builder: &mut Builder, v: VtreeId, value: u32) -> Result<NodeId, BuildError> {
        let var = self.choice.vars()[value as usize];
        let mut here = self.vtree.leaf(var);
        let mut node = builder.literal(var.is(true))?;
        while here != v {
            let above = self.vtree.parent(here).expect("the vtree node is above its variables");
            node = match self.single.get(&(above.0, value)) {
                Some(&known) => known,
                None => {
                    let [left, right] = self.vtree.children(above).expect("a parent has children");
                    let element = match here == left {
                        true => (node, self.none(builder, right)?, 1.0),
                        false => (self.none(builder, left)?, node, 1.0),
                    };
                    let made = builder.sum(above, &[element])?;
                    self.single.insert((above.0, value), made);
                    made
                }
            };
            here = above;
        }
        Ok(node)
    }
}

/// The certified PSDD of nodes, fitted to these records; the numbers of the nodes do not matter.
pub(super) fn fitted(
    builder: Builder,
    root: NodeId,
    records: &Records,
    pseudocount: f64,
    limits: &Limits,
) -> Result<Psdd, LearnError> {
    let psdd = builder.finish_counts(root, &Smoothing::uniform(1.0))?.certify(limits)?;
    Ok(psdd.fit(records, &Smoothing::marginal(pseudocount, records))?.circuit)
}
