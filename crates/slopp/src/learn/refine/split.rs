//! Splitting an element by a variable, and giving an edge its own copy: simulated, then done.

use super::draft::{Branch, Draft, DraftId, DraftNode, Edge, Kind, entropy_sum};
use super::plain::with_literal;
use crate::logspace::x_log_x;
use crate::var::Var;
use crate::vtree::VtreeId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The gain of a change in log-likelihood, and the number of elements it adds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gain {
    pub(super) log_likelihood: f64,
    pub(super) elements: f64,
}

impl Gain {
    fn add(&mut self, other: Gain) {
        self.log_likelihood += other.log_likelihood;
        self.elements += other.elements;
    }
}

/// How an edge gets its own copy of its target, and which edges of the copy get one too.
#[derive(Clone, Debug, Default)]
pub(super) struct CopyPlan {
    pub(super) gain: Gain,
    /// By branch: the plans for its prime and its sub.
    below: Vec<[Option<CopyPlan>; 2]>,
}

/// Counts that the copies of a plan take from nodes, in order.
#[derive(Default)]
struct Taken {
    counts: FxHashMap<DraftId, Vec<f64>>,
    log: Vec<(DraftId, Vec<f64>)>,
}

impl Taken {
    fn take(&mut self, node: DraftId, counts: Vec<f64>) {
        let sums = self.counts.entry(node).or_insert_with(|| vec![0.0; counts.len()]);
        sums.iter_mut().zip(&counts).for_each(|(sum, count)| *sum += count);
        self.log.push((node, counts));
    }

    /// Gives back all but the first `len`.
    fn undo(&mut self, len: usize) {
        for (node, counts) in self.log.drain(len..) {
            let sums = self.counts.get_mut(&node).expect("taken before");
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum -= count);
        }
    }
}

/// The nodes on the way to the leaf of a variable.
struct Path {
    leaf: VtreeId,
    /// Parents before children.
    top_down: Vec<DraftId>,
    /// Whether a node has a world with *false*, and with *true*.
    allows: FxHashMap<DraftId, [bool; 2]>,
}

impl Path {
    fn allows(&self, node: DraftId, value: bool) -> bool {
        self.allows[&node][usize::from(value)]
    }

    /// The child that has the variable.
    fn child(&self, draft: &Draft<'_>, branch: &Branch) -> DraftId {
        let in_prime = draft.vtree.is_below(self.leaf, draft.nodes[branch.prime].vtree);
        if in_prime { branch.prime } else { branch.sub }
    }
}

/// A restricted copy by the rank of its vtree node, parents first, the node it is a copy of, and the value.
type Wanted = (Reverse<usize>, DraftId, bool);

/// Restricted copies that are still to be filled: the copy and its rows.
struct Work {
    var: Var,
    wanted: BTreeMap<Wanted, (DraftId, Vec<u32>)>,
    literals: [DraftId; 2],
}

impl Draft<'_> {
    /// The plan that gives rows of a node their own copies, down to `depth`, wherever a copy gains more than `penalty`
    /// per element; `None` if no copy does.
    ///
    /// Recursion is bounded by `depth`, a small number.
    pub(super) fn plan_copy(&self, node: DraftId, rows: &[u32], depth: usize, penalty: f64) -> Option<CopyPlan> {
        self.plan_copy_beside(node, rows, depth, penalty, &mut Taken::default())
    }

    /// The same while other parts of the plan have taken rows from nodes: two branches may lead to one node.
    fn plan_copy_beside(
        &self,
        node: DraftId,
        rows: &[u32],
        depth: usize,
        penalty: f64,
        taken: &mut Taken,
    ) -> Option<CopyPlan> {
        let DraftNode { kind, parents, .. } = &self.nodes[node];
        if depth == 0 || *parents < 1 || rows.is_empty() || matches!(kind, Kind::Literal(_)) {
            return None;
        }
        let mut all = self.counts(node);
        if let Some(taken) = taken.counts.get(&node) {
            all.iter_mut().zip(taken).for_each(|(all, taken)| *all = (*all - taken).max(0.0));
        }
        let before = taken.log.len();
        let (here, parts) = self.divide(node, rows);
        let rest: Vec<f64> = all.iter().zip(&here).map(|(all, here)| (all - here).max(0.0)).collect();
        if rest.iter().sum::<f64>() <= 0.0 {
            return None;
        }
        let log_likelihood = entropy_sum(&here) + entropy_sum(&rest) - entropy_sum(&all);
        let elements = if let Kind::Sum(branches) = kind { branches.len() as f64 } else { 1.0 };
        let mut plan = CopyPlan { gain: Gain { log_likelihood, elements }, below: Vec::new() };
        if let Kind::Sum(branches) = kind {
            for (branch, part) in branches.iter().zip(&parts) {
                let below = [branch.prime, branch.sub]
                    .map(|child| self.plan_copy_beside(child, part, depth - 1, penalty, taken));
                below.iter().flatten().for_each(|below| plan.gain.add(below.gain));
                plan.below.push(below);
            }
        }
        if plan.gain.log_likelihood > penalty * plan.gain.elements {
            taken.take(node, here);
            return Some(plan);
        }
        taken.undo(before);
        None
    }

    /// Carries out a plan; `touched` gets the nodes whose edges may have other gains now.
    pub(super) fn copy(&mut self, edge: Edge, plan: &CopyPlan, touched: &mut Vec<DraftId>) {
        let mut stack = vec![(edge, plan)];
        while let Some((edge, plan)) = stack.pop() {
            touched.push(self.target(edge));
            let copy = self.copy_target(edge);
            touched.push(copy);
            for (branch, below) in plan.below.iter().enumerate() {
                for (below, is_prime) in below.iter().zip([true, false]) {
                    if let Some(below) = below {
                        stack.push((Edge { node: copy, branch, is_prime }, below));
                    }
                }
            }
        }
    }

    /// The gain of splitting a branch of a sum by a variable of its prime; `None` if the prime fixes the variable.
    pub(super) fn plan_split(&self, node: DraftId, branch: usize, var: Var) -> Option<Gain> {
        let Branch { prime, rows, .. } = self.branch(Edge { node, branch, is_prime: true });
        let path = self.path(*prime, var);
        if !(path.allows(*prime, false) && path.allows(*prime, true)) {
            return None;
        }
        let sides = self.sides(rows, var);
        let [no, yes] = [0, 1].map(|value| self.weight(&sides[value]));
        let mut gain = Gain { log_likelihood: x_log_x(no) + x_log_x(yes) - x_log_x(no + yes), elements: 1.0 };
        // The rows that reach each node of the path from here, by value; parents come before children.
        let mut arriving: FxHashMap<DraftId, [Vec<u32>; 2]> = FxHashMap::default();
        arriving.insert(*prime, sides);
        let mut released: FxHashMap<DraftId, usize> = FxHashMap::default();
        released.insert(*prime, 1);
        for &id in &path.top_down {
            let Some(arrived) = arriving.remove(&id) else { continue };
            let gone = released.get(&id).copied().unwrap_or(0) == self.nodes[id].parents;
            let all = self.counts(id);
            let mut rest = all.clone();
            gain.log_likelihood -= entropy_sum(&all);
            let Kind::Sum(branches) = &self.nodes[id].kind else {
                // The leaf of the variable: copies are literals, which add no elements.
                for (value, rows) in arrived.iter().enumerate() {
                    if let Some(rest) = rest.get_mut(value) {
                        *rest -= self.weight(rows);
                    }
                }
                gain.log_likelihood += entropy_sum(&rest.iter().map(|n| n.max(0.0)).collect::<Vec<_>>());
                continue;
            };
            gain.elements -= if gone { branches.len() as f64 } else { 0.0 };
            for (value, rows) in arrived.into_iter().enumerate() {
                let (counts, parts) = self.divide(id, &rows);
                gain.log_likelihood += entropy_sum(&counts);
                rest.iter_mut().zip(&counts).for_each(|(rest, count)| *rest = (*rest - count).max(0.0));
                for (branch, part) in branches.iter().zip(parts) {
                    let child = path.child(self, branch);
                    if path.allows(child, value == 1) {
                        gain.elements += 1.0;
                        arriving.entry(child).or_default()[value].extend(part);
                    }
                }
            }
            if gone {
                branches.iter().for_each(|branch| *released.entry(path.child(self, branch)).or_default() += 1);
            }
            gain.log_likelihood += entropy_sum(&rest);
        }
        Some(gain)
    }

    /// Splits a branch of a sum by a variable of its prime or its sub: the branch keeps the rows with *true*, and a new
    /// last branch gets those with *false*. `touched` gets the nodes that changed.
    ///
    /// If the variable is in the prime, primes stay exclusive; if it is in the sub, only elements do.
    pub(super) fn split(&mut self, node: DraftId, branch: usize, var: Var, touched: &mut Vec<DraftId>) {
        let whole = self.branch(Edge { node, branch, is_prime: true }).clone();
        let in_prime = self.vtree.is_below(self.vtree.leaf(var), self.nodes[whole.prime].vtree);
        let (old, shared) = if in_prime { (whole.prime, whole.sub) } else { (whole.sub, whole.prime) };
        let path = self.path(old, var);
        let sides = self.sides(&whole.rows, var);
        let mut work = Work { var, wanted: BTreeMap::new(), literals: self.literals_of(var) };
        let new = [false, true].map(|value| self.restricted(old, value, &sides[usize::from(value)], &mut work));
        let mut left = Vec::new();
        while let Some(((_, old, value), (new, rows))) = work.wanted.pop_first() {
            self.restrict(old, value, new, &rows, &path, &mut work);
            touched.extend([old, new]);
            left.extend((!rows.is_empty()).then_some(old));
        }
        whole.rows.iter().for_each(|&row| self.marked[row as usize] = true);
        left.dedup();
        left.into_iter().for_each(|id| self.take_marked_rows(id));
        whole.rows.iter().for_each(|&row| self.marked[row as usize] = false);
        let mut side = 0;
        let [no, yes] = sides.map(|rows| {
            let (prime, sub) = if in_prime { (new[side], shared) } else { (shared, new[side]) };
            side += 1;
            Branch { prime, sub, count: self.weight(&rows), rows }
        });
        let vtree = self.nodes[node].vtree.index();
        let Kind::Sum(branches) = &mut self.nodes[node].kind else { unreachable!("only sums have branches") };
        no.rows.iter().for_each(|&row| self.choice[vtree][row as usize] = branches.len() as u32);
        branches[branch] = yes;
        branches.push(no);
        self.nodes[shared].parents += 1;
        self.release(old);
        touched.push(node);
    }

    /// Gives the rows of a branch their own copies of the nodes they share with other rows, down to `depth`.
    pub(super) fn own(&mut self, node: DraftId, branch: usize, depth: usize) {
        let mut stack = vec![(node, branch, depth)];
        while let Some((node, branch, depth)) = stack.pop() {
            for is_prime in [true, false] {
                let edge = Edge { node, branch, is_prime };
                let mut target = self.target(edge);
                if depth == 0 || self.branch(edge).rows.is_empty() {
                    continue;
                }
                if self.is_shared(edge) {
                    target = self.copy_target(edge);
                }
                if let Kind::Sum(branches) = &self.nodes[target].kind {
                    stack.extend((0..branches.len()).map(|branch| (target, branch, depth - 1)));
                }
            }
        }
    }

    /// Whether rows other than those of an edge use the parameters of its target.
    fn is_shared(&self, edge: Edge) -> bool {
        let Branch { count, rows, .. } = self.branch(edge);
        let DraftNode { kind, parents, .. } = &self.nodes[self.target(edge)];
        *parents > 1
            && match kind {
                Kind::Literal(_) => false,
                // Fractional weights leave rounding residues.
                Kind::Top(_, counts) => counts.iter().sum::<f64>() > count * (1.0 + 1e-9),
                Kind::Sum(branches) => branches.iter().map(|branch| branch.rows.len()).sum::<usize>() > rows.len(),
            }
    }

    fn sides(&self, rows: &[u32], var: Var) -> [Vec<u32>; 2] {
        let (yes, no) = rows.iter().partition(|&&row| self.records.rows().bit(row as usize, var.index()));
        [no, yes]
    }

    /// The nodes below `top` that have a variable, parents before children, and the values they allow.
    fn path(&self, top: DraftId, var: Var) -> Path {
        let leaf = self.vtree.leaf(var);
        let mut path = Path { leaf, top_down: Vec::new(), allows: FxHashMap::default() };
        let mut seen = FxHashSet::default();
        let mut stack = vec![top];
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                path.top_down.push(id);
                if let Kind::Sum(branches) = &self.nodes[id].kind {
                    stack.extend(branches.iter().map(|branch| path.child(self, branch)));
                }
            }
        }
        path.top_down.sort_by_key(|&id| (Reverse(self.vtree.rank(self.nodes[id].vtree)), id));
        for id in path.top_down.clone().into_iter().rev() {
            let allows = match &self.nodes[id].kind {
                Kind::Literal(lit) => [!lit.value, lit.value],
                Kind::Top(..) => [true; 2],
                Kind::Sum(branches) => [false, true]
                    .map(|value| branches.iter().any(|branch| path.allows(path.child(self, branch), value))),
            };
            path.allows.insert(id, allows);
        }
        path
    }

    /// The literals of a variable, made if necessary.
    pub(super) fn literals_of(&mut self, var: Var) -> [DraftId; 2] {
        [false, true].map(|value| {
            *self.literals[var.index()][usize::from(value)].get_or_insert_with(|| {
                let (vtree, kind) = (self.vtree.leaf(var), Kind::Literal(var.is(value)));
                let term = Some([var.is(value)].into());
                self.nodes.push(DraftNode { vtree, kind, parents: 0, term });
                self.nodes.len() - 1
            })
        })
    }

    /// The copy of a node restricted to a value, for these rows and possibly others later.
    fn restricted(&mut self, old: DraftId, value: bool, rows: &[u32], work: &mut Work) -> DraftId {
        let DraftNode { vtree, kind, .. } = &self.nodes[old];
        let (vtree, is_sum) = (*vtree, matches!(kind, Kind::Sum(_)));
        let new = if is_sum {
            let key = (Reverse(self.vtree.rank(vtree)), old, value);
            let next = self.nodes.len();
            let (new, all) = work.wanted.entry(key).or_insert_with(|| (next, Vec::new()));
            all.extend_from_slice(rows);
            let new = *new;
            if new == next {
                let lit = work.var.is(value);
                let term = self.nodes[old].term.as_ref().map(|term| with_literal(term, lit));
                self.nodes.push(DraftNode { vtree, kind: Kind::Sum(Vec::new()), parents: 0, term });
            }
            new
        } else {
            let weight = self.weight(rows);
            if let Kind::Top(_, counts) = &mut self.nodes[old].kind {
                let count = &mut counts[usize::from(value)];
                *count = (*count - weight).max(0.0);
            }
            work.literals[usize::from(value)]
        };
        self.nodes[new].parents += 1;
        new
    }

    /// Fills the restricted copy of a sum.
    fn restrict(&mut self, old: DraftId, value: bool, new: DraftId, rows: &[u32], path: &Path, work: &mut Work) {
        if rows.is_empty() && self.fill_plain(new) {
            return;
        }
        let (_, parts) = self.divide(old, rows);
        let Kind::Sum(branches) = self.nodes[old].kind.clone() else { unreachable!("only sums are restricted") };
        let vtree = self.nodes[old].vtree.index();
        let mut made = Vec::new();
        for (branch, part) in branches.iter().zip(parts) {
            let child = path.child(self, branch);
            if !path.allows(child, value) {
                continue;
            }
            let restricted = self.restricted(child, value, &part, work);
            let other = if child == branch.prime { branch.sub } else { branch.prime };
            self.nodes[other].parents += 1;
            let (prime, sub) = if child == branch.prime { (restricted, other) } else { (other, restricted) };
            part.iter().for_each(|&row| self.choice[vtree][row as usize] = made.len() as u32);
            made.push(Branch { prime, sub, count: self.weight(&part), rows: part });
        }
        self.nodes[new].kind = Kind::Sum(made);
    }

    /// Removes the marked rows from a node that they no longer reach.
    fn take_marked_rows(&mut self, node: DraftId) {
        let weights = self.records.weights();
        if let Kind::Sum(branches) = &mut self.nodes[node].kind {
            for branch in branches {
                branch.rows.retain(|&row| !self.marked[row as usize]);
                branch.count = branch.rows.iter().map(|&row| weights[row as usize]).sum();
            }
        }
    }

    /// Removes one use of a node; nodes without uses release their children.
    fn release(&mut self, node: DraftId) {
        let mut stack = vec![node];
        while let Some(id) = stack.pop() {
            self.nodes[id].parents -= 1;
            if self.nodes[id].parents == 0
                && let Kind::Sum(branches) = &self.nodes[id].kind
            {
                stack.extend(branches.iter().flat_map(|branch| [branch.prime, branch.sub]));
            }
        }
    }
}
