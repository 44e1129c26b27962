//! The primes of one column: for each set of values, a node that allows just these.

use super::LearnError;
use crate::circuit::{BuildError, Builder, NodeId, Psdd, Smoothing};
use crate::data::{Choice, Records};
use crate::logic::Limits;
use crate::var::Var;
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
    /// For each of the vtree nodes, what independent variables have there; only for variables that were found to exclude
    /// each other.
    independent: Vec<Independent>,
}

/// What a set of values has below a vtree node.
#[derive(Clone, Copy)]
enum Below {
    Nothing,
    /// All variables are false.
    None(f64),
    One(u32, f64),
    Several(NodeId, f64),
}

/// Nodes over independent variables with their probabilities, by how many variables are true.
struct Independent {
    none: f64,
    one: (NodeId, f64),
    some: (NodeId, f64),
    several: Option<(NodeId, f64)>,
    any: NodeId,
}

impl Independent {
    fn several_share(&self) -> f64 {
        self.several.map_or(0.0, |(_, share)| share)
    }
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
        Primes { vtree, choice, nodes, value_at, first, none, single: FxHashMap::default(), independent: Vec::new() }
    }

    /// The node that allows the values of a set, each with its number. The set must not be empty, and that several
    /// variables are true is not one of them: [`Primes::several`] allows that.
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
        let root = self.root();
        let below = self.below(builder, root, numbers, is_in)?;
        Ok(self.made(builder, root, below)?.expect("a set of values is not empty").0)
    }

    fn root(&self) -> VtreeId {
        *self.nodes.last().expect("a column has a variable")
    }

    /// What a set of values has below a vtree node of the column.
    fn below(
        &mut self,
        builder: &mut Builder,
        root: VtreeId,
        numbers: &[f64],
        is_in: impl Fn(usize) -> bool,
    ) -> Result<Below, BuildError> {
        let none = self.choice.none_and_several().map(|[none, _]| none).filter(|&none| is_in(none));
        let mut stack: Vec<Below> = Vec::new();
        for i in self.places(root) {
            let v = self.nodes[i];
            let Some([left, right]) = self.vtree.children(v) else {
                let var = self.vtree.vars(v)[0];
                let place = self.vtree.position(var) - self.first;
                let value = Some(self.value_at[place]).filter(|&value| is_in(value as usize));
                // That all are false is like a value at the last leaf.
                let none = none.filter(|_| place + 1 == self.value_at.len()).map(|none| numbers[none]);
                stack.push(match (value.map(|value| (value, numbers[value as usize])), none) {
                    (Some((_, n)), Some(none)) => Below::Several(builder.top(var, [none, n])?, none + n),
                    (Some((value, n)), None) => Below::One(value, n),
                    (None, Some(n)) => Below::None(n),
                    (None, None) => Below::Nothing,
                });
                continue;
            };
            let (b, a) = (stack.pop().expect("a right child"), stack.pop().expect("a left child"));
            stack.push(match (a, b) {
                (Below::Nothing, Below::Nothing) => Below::Nothing,
                (Below::Nothing, Below::None(n)) => Below::None(n),
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
        Ok(stack.pop().expect("the root"))
    }

    fn made(&mut self, builder: &mut Builder, v: VtreeId, below: Below) -> Result<Option<(NodeId, f64)>, BuildError> {
        Ok(match below {
            Below::Nothing => None,
            Below::None(number) => Some((self.none(builder, v)?, number)),
            Below::One(value, number) => Some((self.single(builder, v, value)?, number)),
            Below::Several(node, number) => Some((node, number)),
        })
    }

    /// The node that allows several variables to be true, given the probability of each; `None` for one variable.
    pub(super) fn several(&mut self, builder: &mut Builder, trues: &[f64]) -> Result<Option<NodeId>, BuildError> {
        self.make_independent(builder, trues)?;
        Ok(self.independent.last().and_then(|all| all.several).map(|(node, _)| node))
    }

    /// The node that allows everything, given the number of each value of variables that exclude each other, and the
    /// probability of each variable.
    pub(super) fn all(&mut self, builder: &mut Builder, numbers: &[f64], trues: &[f64]) -> Result<NodeId, BuildError> {
        self.make_independent(builder, trues)?;
        let [none, several] = self.choice.none_and_several().expect("variables that exclude each other");
        // From the root along the right; no variable before is true.
        let mut path = Vec::new();
        let (mut v, mut several) = (self.root(), numbers[several]);
        while let Some([left, right]) = self.vtree.children(v) {
            let [l, r] = [left, right].map(|side| &self.independent[self.place(side)]);
            let parts = [l.none * r.several_share(), l.one.1 * r.some.1, l.several_share()];
            let [after, both, before] = parts.map(|share| several * share / parts.iter().sum::<f64>());
            path.push((v, [left, right], [both, before]));
            (v, several) = (right, after);
        }
        let value = |var: Var| self.value_at[self.vtree.position(var) - self.first] as usize;
        let last = self.vtree.vars(v)[0];
        let mut total = numbers[none] + numbers[value(last)];
        let mut node = builder.top(last, [numbers[none], numbers[value(last)]])?;
        for (v, [left, right], [both, before]) in path.into_iter().rev() {
            let mut elements = vec![(self.none(builder, left)?, node, total)];
            let one = self.below(builder, left, numbers, |value| value < none)?;
            let (prime, one) = self.made(builder, left, one)?.expect("a vtree node has variables");
            elements.push((prime, self.none_or_some(builder, right, [one, both])?, one + both));
            if let Some((prime, _)) = self.independent[self.place(left)].several {
                elements.push((prime, self.independent[self.place(right)].any, before));
            }
            total += one + both + before;
            node = builder.sum(v, &elements)?;
        }
        Ok(node)
    }

    /// The node in which no variable is true, or some are, each with its number.
    fn none_or_some(
        &mut self,
        builder: &mut Builder,
        mut v: VtreeId,
        [none, mut some]: [f64; 2],
    ) -> Result<NodeId, BuildError> {
        let mut path = Vec::new();
        while let Some([left, right]) = self.vtree.children(v) {
            let [l, r] = [left, right].map(|side| &self.independent[self.place(side)]);
            let parts = [l.none * r.some.1, l.some.1];
            let [after, before] = parts.map(|share| some * share / parts.iter().sum::<f64>());
            path.push((v, [left, right], before));
            (v, some) = (right, after);
        }
        let (mut node, mut total) = (builder.top(self.vtree.vars(v)[0], [none, some])?, none + some);
        for (v, [left, right], before) in path.into_iter().rev() {
            let first = (self.none(builder, left)?, node, total);
            let some = self.independent[self.place(left)].some.0;
            node = builder.sum(v, &[first, (some, self.independent[self.place(right)].any, before)])?;
            total += before;
        }
        Ok(node)
    }

    /// Makes the nodes over independent variables with these probabilities, unless they are made.
    fn make_independent(&mut self, builder: &mut Builder, trues: &[f64]) -> Result<(), BuildError> {
        for i in self.independent.len()..self.nodes.len() {
            let v = self.nodes[i];
            let Some([left, right]) = self.vtree.children(v) else {
                let var = self.vtree.vars(v)[0];
                let (p, one) = (trues[var.index()], builder.literal(var.is(true))?);
                let any = builder.top(var, [1.0 - p, p])?;
                self.independent.push(Independent { none: 1.0 - p, one: (one, p), some: (one, p), several: None, any });
                continue;
            };
            let [no_left, no_right] = [self.none(builder, left)?, self.none(builder, right)?];
            let [l, r] = [left, right].map(|side| &self.independent[self.place(side)]);
            let mut sum = |elements: &[(NodeId, NodeId, f64)]| {
                Ok::<_, BuildError>((builder.sum(v, elements)?, elements.iter().map(|(_, _, p)| p).sum::<f64>()))
            };
            let one = sum(&[(l.one.0, no_right, l.one.1 * r.none), (no_left, r.one.0, l.none * r.one.1)])?;
            let some = sum(&[(no_left, r.some.0, l.none * r.some.1), (l.some.0, r.any, l.some.1)])?;
            let after = r.several.map(|(node, p)| (no_left, node, l.none * p));
            let before = l.several.map(|(node, p)| (node, r.any, p));
            let both = (l.one.0, r.some.0, l.one.1 * r.some.1);
            let several = sum(&after.into_iter().chain([both]).chain(before).collect::<Vec<_>>())?;
            let any = sum(&[(l.any, r.any, 1.0)])?.0;
            self.independent.push(Independent { none: l.none * r.none, one, some, several: Some(several), any });
        }
        Ok(())
    }

    /// The index of a vtree node of the column.
    fn place(&self, v: VtreeId) -> usize {
        self.vtree.rank(v) - self.vtree.rank(self.nodes[0])
    }

    /// The indices of a vtree node of the column and of those below it, children first.
    fn places(&self, v: VtreeId) -> std::ops::RangeInclusive<usize> {
        let last = self.place(v);
        last + 2 - 2 * self.vtree.vars(v).len()..=last
    }

    /// All variables below a vtree node are false.
    fn none(&mut self, builder: &mut Builder, v: VtreeId) -> Result<NodeId, BuildError> {
        if let Some(node) = self.none[self.place(v)] {
            return Ok(node);
        }
        // Children first, so no call goes deep.
        for i in self.places(v) {
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
        Ok(self.none[self.place(v)].expect("just made"))
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
