//! The circuit of a product: a node for every pair that has a world.

use super::memo::Slots;
use super::values::Product;
use crate::circuit::{BuildError, Builder, Circuit, Node, NodeId, Sharing};
use crate::infer::QueryError;
use crate::infer::factor::{ANY, Part};
use crate::limits::array_bytes;
use crate::logspace::{LOG_ZERO, log_add};

impl Product<'_> {
    /// The normalised product and its log-constant; `None` if that is zero.
    pub(super) fn build(&self) -> Result<Option<(Circuit, f64)>, QueryError> {
        let log_value = self.log_value();
        if log_value == LOG_ZERO {
            return Ok(None);
        }
        let mut slots = Slots::new(&self.memo, self.circuit.nodes().len());
        let thetas = &self.circuit.log_parameters().elements;
        let goal = (self.circuit.root(), self.factor.root);
        let pairs = self.alive(goal, &mut slots, true)?;
        // Pairs are different nodes; looking for equal ones would cost more than all the rest.
        let mut builder = Builder::new(self.circuit.vtree().clone(), Sharing::LiteralsOnly);
        let mut made = vec![NodeId(0); slots.len()];
        let mut logs = vec![LOG_ZERO; slots.len()];
        let mut elements = Vec::new();
        let used = self.bytes() + slots.bytes() + 12 * slots.len() + 8 * pairs.len();
        let mut element_count = 0;
        for (i, (node, part)) in pairs.into_iter().enumerate() {
            // Nodes, elements and parameters, in arrays that may be half empty, and once more when all are there.
            self.budget.after(i, || used + 72 * i + 64 * element_count)?;
            let slot = slots.of(node, part);
            logs[slot] = self.log_of(node, part);
            let id = match (self.circuit.node(node), self.factor.parts[part as usize]) {
                (Node::Literal(lit), _) => builder.literal(lit),
                (Node::Top { var, slot }, Part::Any) => {
                    builder.top(var, self.circuit.log_parameters().tops[slot as usize])
                }
                (Node::Top { var, slot }, Part::Leaf(weights)) => {
                    let logs = self.circuit.log_parameters().tops[slot as usize];
                    match [0, 1].map(|x| logs[x] + weights[x]) {
                        [f, t] if f > LOG_ZERO && t > LOG_ZERO => {
                            let total = log_add(f, t);
                            builder.top(var, [f - total, t - total])
                        }
                        [_, t] => builder.literal(var.is(t > LOG_ZERO)),
                    }
                }
                (Node::Sum { vtree, .. }, _) => {
                    elements.clear();
                    self.live_elements((node, part), |prime, sub, e, term| {
                        let log = thetas[e] + term.map_or(0.0, |term| self.factor.terms[term].2);
                        let [p, s] = [prime, sub].map(|(node, part)| slots.of(node, part));
                        elements.push((made[p], made[s], (log + logs[p] + logs[s] - logs[slot]).min(0.0)));
                    });
                    element_count += elements.len();
                    match builder.sum(vtree, &elements) {
                        // Elements of a mixture may become the same.
                        Err(BuildError::RepeatedElement { .. }) => {
                            crate::circuit::merge_equal(&mut elements, |a, b| log_add(a, b).min(0.0));
                            builder.sum(vtree, &elements)
                        }
                        result => result,
                    }
                }
                (Node::Top { .. }, Part::Sum { .. }) => unreachable!("sums are at inner vtree nodes"),
            };
            made[slot] = id.map_err(too_large)?;
        }
        let root = made[slots.of(goal.0, goal.1)];
        Ok(Some((builder.finish(root).map_err(too_large)?, log_value)))
    }

    /// The pairs below a pair that are part of some world, children before parents; also, if told to, below nodes that
    /// the factor leaves as they are.
    pub(super) fn alive(
        &self,
        goal: (NodeId, u32),
        slots: &mut Slots,
        below_any: bool,
    ) -> Result<Vec<(NodeId, u32)>, QueryError> {
        let mut seen = vec![false; slots.len()];
        let mut pairs = Vec::new();
        let mut reach = |pair: (NodeId, u32), pairs: &mut Vec<(NodeId, u32)>, slots: &mut Slots| {
            let slot = slots.add(pair.0, pair.1);
            if slot >= seen.len() {
                seen.resize(slot + 1, false);
            }
            if !std::mem::replace(&mut seen[slot], true) {
                pairs.push(pair);
            }
        };
        reach(goal, &mut pairs, slots);
        let mut next = 0;
        let mut children = Vec::new();
        while let Some(&pair) = pairs.get(next) {
            next += 1;
            // Pairs are copied when they are sorted.
            self.budget.after(next, || self.bytes() + slots.bytes() + 2 * array_bytes(&pairs) + slots.len())?;
            if pair.1 == ANY && !below_any {
                continue;
            }
            children.clear();
            self.live_elements(pair, |prime, sub, _, _| children.extend([prime, sub]));
            children.iter().for_each(|&child| reach(child, &mut pairs, slots));
        }
        // The nodes of a circuit have children before parents, and so have pairs by node: a counting sort.
        let mut place = vec![0u32; self.circuit.nodes().len() + 1];
        pairs.iter().for_each(|(node, _)| place[node.index() + 1] += 1);
        for i in 1..place.len() {
            place[i] += place[i - 1];
        }
        let mut sorted = vec![goal; pairs.len()];
        for pair in pairs {
            let at = &mut place[pair.0.index()];
            sorted[*at as usize] = pair;
            *at += 1;
        }
        Ok(sorted)
    }

    /// The pairs of elements below a pair of sums that have worlds: prime, sub, the element, and the term of the factor.
    pub(super) fn live_elements(
        &self,
        (node, part): (NodeId, u32),
        mut visit: impl FnMut((NodeId, u32), (NodeId, u32), usize, Option<usize>),
    ) {
        let elements = self.circuit.element_range(node).map(|e| (e, self.circuit.elements()[e]));
        let terms = match self.factor.parts[part as usize] {
            Part::Any => {
                elements.for_each(|(e, element)| visit((element.prime, ANY), (element.sub, ANY), e, None));
                return;
            }
            Part::Leaf(_) => return,
            Part::Sum { start, end } => start as usize..end as usize,
        };
        for (e, element) in elements {
            for term in terms.clone() {
                let (q, t, _) = self.factor.terms[term];
                if self.is_alive(element.prime, q) && self.is_alive(element.sub, t) {
                    visit((element.prime, q), (element.sub, t), e, Some(term));
                }
            }
        }
    }
}

/// The only way a product of valid circuits cannot be built.
fn too_large(_: BuildError) -> QueryError {
    QueryError::TooLarge { what: "product", limit: u32::MAX as usize }
}
