//! Combining formulas: canonical SDDs with a unique table, without recursion.

use super::base::TooLarge;
use super::sdd::{Sdd, SddElement, SddId, SddNode};
use crate::var::Lit;
use crate::vtree::{Vtree, VtreeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The formula that is false; every manager has it first.
pub(super) const FALSE: SddId = SddId(0);
/// The formula that is true.
pub(super) const TRUE: SddId = SddId(1);
/// How many pairs of elements may be combined per node that the limit allows.
const WORK_PER_NODE: usize = 64;
/// How many results may be remembered per node that the limit allows.
const MEMO_PER_NODE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    And,
    Or,
}

/// Compressed and trimmed SDDs over one vtree: equivalent formulas are the same node.
pub(super) struct Manager {
    vtree: Arc<Vtree>,
    nodes: Vec<SddNode>,
    elements: Vec<SddElement>,
    unique: FxHashMap<(VtreeId, Box<[SddElement]>), SddId>,
    literals: FxHashMap<Lit, SddId>,
    negations: Vec<Option<SddId>>,
    memo: FxHashMap<(Op, SddId, SddId), SddId>,
    limit: usize,
    work: usize,
}

/// A combination under way.
struct Frame {
    op: Op,
    operands: (SddId, SddId),
    vtree: VtreeId,
    left: Vec<SddElement>,
    right: Vec<SddElement>,
    /// How many pairs of elements are combined.
    pairs: usize,
    products: Vec<SddElement>,
    /// Products with equal subs made one; begins when all pairs are combined.
    merged: Option<Vec<SddElement>>,
    next: usize,
}

impl Manager {
    /// A manager that gives up beyond `limit` nodes.
    pub(super) fn new(vtree: Arc<Vtree>, limit: usize) -> Manager {
        Manager {
            vtree,
            nodes: vec![SddNode::False, SddNode::True],
            elements: Vec::new(),
            unique: FxHashMap::default(),
            literals: FxHashMap::default(),
            negations: vec![Some(TRUE), Some(FALSE)],
            memo: FxHashMap::default(),
            limit: limit.min(u32::MAX as usize / WORK_PER_NODE),
            work: 0,
        }
    }

    /// The node of a literal.
    pub(super) fn literal(&mut self, lit: Lit) -> SddId {
        if let Some(&id) = self.literals.get(&lit) {
            return id;
        }
        let (id, opposite) = (self.push(SddNode::Literal(lit)), self.push(SddNode::Literal(!lit)));
        self.literals.insert(lit, id);
        self.literals.insert(!lit, opposite);
        self.pair(id, opposite);
        id
    }

    /// The negation of a formula.
    pub(super) fn negate(&mut self, id: SddId) -> Result<SddId, TooLarge> {
        let mut stack = vec![id];
        while let Some(&id) = stack.last() {
            if self.negations[id.index()].is_some() {
                stack.pop();
                continue;
            }
            let SddNode::Decision { vtree, start, end } = self.nodes[id.index()] else {
                unreachable!("constants and literals know their negation")
            };
            let waiting = stack.len();
            let mut negated = Vec::with_capacity((end - start) as usize);
            for e in &self.elements[start as usize..end as usize] {
                match self.negations[e.sub.index()] {
                    Some(sub) => negated.push(SddElement { sub, ..*e }),
                    None => stack.push(e.sub),
                }
            }
            if stack.len() == waiting {
                let opposite = self.decision(vtree, negated)?;
                self.pair(id, opposite);
                stack.pop();
            }
        }
        Ok(self.negations[id.index()].expect("just found"))
    }

    /// The conjunction or disjunction of two formulas.
    pub(super) fn apply(&mut self, op: Op, a: SddId, b: SddId) -> Result<SddId, TooLarge> {
        if let Some(known) = self.known(op, a, b) {
            return Ok(known);
        }
        let mut stack = vec![self.frame(op, a, b)?];
        while let Some(frame) = stack.last_mut() {
            match self.step(frame) {
                Step::Needs(op, a, b) => {
                    let frame = self.frame(op, a, b)?;
                    stack.push(frame);
                }
                Step::Done(elements) => {
                    let (op, (a, b), vtree) = (frame.op, frame.operands, frame.vtree);
                    let result = self.decision(vtree, elements)?;
                    self.memo.insert((op, a, b), result);
                    stack.pop();
                }
            }
            self.check_limit()?;
        }
        Ok(self.known(op, a, b).expect("just found"))
    }

    /// The decision over elements with exclusive, exhaustive primes: compressed, then trimmed.
    pub(super) fn compressed(&mut self, vtree: VtreeId, mut elements: Vec<SddElement>) -> Result<SddId, TooLarge> {
        elements.retain(|e| e.prime != FALSE);
        elements.sort_unstable_by_key(|e| (e.sub, e.prime));
        let mut merged: Vec<SddElement> = Vec::with_capacity(elements.len());
        for e in elements {
            match merged.last_mut() {
                Some(last) if last.sub == e.sub => last.prime = self.apply(Op::Or, last.prime, e.prime)?,
                _ => merged.push(e),
            }
        }
        self.decision(vtree, merged)
    }

    /// The diagram below a node.
    pub(super) fn extract(&self, root: SddId) -> Sdd {
        let mut reached = vec![false; root.index() + 1];
        reached[root.index()] = true;
        for i in (0..reached.len()).rev() {
            if let (true, SddNode::Decision { start, end, .. }) = (reached[i], self.nodes[i]) {
                for e in &self.elements[start as usize..end as usize] {
                    reached[e.prime.index()] = true;
                    reached[e.sub.index()] = true;
                }
            }
        }
        let mut new_ids = vec![SddId(0); reached.len()];
        let (mut nodes, mut elements) = (Vec::new(), Vec::new());
        for i in (0..reached.len()).filter(|&i| reached[i]) {
            new_ids[i] = SddId(nodes.len() as u32);
            nodes.push(match self.nodes[i] {
                SddNode::Decision { vtree, start, end } => {
                    let first = elements.len() as u32;
                    elements.extend(
                        self.elements[start as usize..end as usize]
                            .iter()
                            .map(|e| SddElement { prime: new_ids[e.prime.index()], sub: new_ids[e.sub.index()] }),
                    );
                    SddNode::Decision { vtree, start: first, end: elements.len() as u32 }
                }
                node => node,
            });
        }
        Sdd::new(self.vtree.clone(), nodes, elements).expect("managers keep the invariants")
    }

    /// The result of a combination if it needs no work.
    fn known(&self, op: Op, a: SddId, b: SddId) -> Option<SddId> {
        let (neutral, absorbing) = if op == Op::And { (TRUE, FALSE) } else { (FALSE, TRUE) };
        if a == absorbing || b == absorbing || self.negations[a.index()] == Some(b) {
            Some(absorbing)
        } else if a == neutral || a == b {
            Some(b)
        } else if b == neutral {
            Some(a)
        } else {
            self.memo.get(&(op, a.min(b), a.max(b))).copied()
        }
    }

    fn frame(&mut self, op: Op, a: SddId, b: SddId) -> Result<Frame, TooLarge> {
        let operands = (a.min(b), a.max(b));
        let vtree = self.lowest_common(self.vtree_of(a), self.vtree_of(b));
        let left = self.expanded(operands.0, vtree)?;
        let right = self.expanded(operands.1, vtree)?;
        self.work += left.len() * right.len();
        self.check_limit()?;
        Ok(Frame { op, operands, vtree, left, right, pairs: 0, products: Vec::new(), merged: None, next: 0 })
    }

    /// Goes on until the frame needs another combination first, or is done.
    fn step(&self, frame: &mut Frame) -> Step {
        while frame.pairs < frame.left.len() * frame.right.len() {
            let (x, y) = (frame.left[frame.pairs / frame.right.len()], frame.right[frame.pairs % frame.right.len()]);
            let Some(prime) = self.known(Op::And, x.prime, y.prime) else {
                return Step::Needs(Op::And, x.prime, y.prime);
            };
            if prime != FALSE {
                let Some(sub) = self.known(frame.op, x.sub, y.sub) else { return Step::Needs(frame.op, x.sub, y.sub) };
                frame.products.push(SddElement { prime, sub });
            }
            frame.pairs += 1;
        }
        let merged = frame.merged.get_or_insert_with(|| {
            frame.products.sort_unstable_by_key(|e| (e.sub, e.prime));
            Vec::new()
        });
        while let Some(&e) = frame.products.get(frame.next) {
            match merged.last_mut() {
                Some(last) if last.sub == e.sub => match self.known(Op::Or, last.prime, e.prime) {
                    Some(prime) => last.prime = prime,
                    None => return Step::Needs(Op::Or, last.prime, e.prime),
                },
                _ => merged.push(e),
            }
            frame.next += 1;
        }
        Step::Done(std::mem::take(merged))
    }

    /// The elements of a formula seen from a vtree node at or above its own.
    fn expanded(&mut self, id: SddId, v: VtreeId) -> Result<Vec<SddElement>, TooLarge> {
        let own = self.vtree_of(id);
        let [left, _] = self.vtree.children(v).expect("different formulas meet at an inner node");
        Ok(match self.nodes[id.index()] {
            SddNode::Decision { start, end, .. } if own == v => self.elements[start as usize..end as usize].to_vec(),
            _ if self.vtree.is_below(own, left) => {
                let opposite = self.negate(id)?;
                vec![SddElement { prime: id, sub: TRUE }, SddElement { prime: opposite, sub: FALSE }]
            }
            _ => vec![SddElement { prime: TRUE, sub: id }],
        })
    }

    /// The decision over compressed elements, trimmed and found or made.
    fn decision(&mut self, vtree: VtreeId, mut elements: Vec<SddElement>) -> Result<SddId, TooLarge> {
        match elements[..] {
            [only] => return Ok(only.sub),
            [a, b] if (a.sub, b.sub) == (TRUE, FALSE) => return Ok(a.prime),
            [a, b] if (a.sub, b.sub) == (FALSE, TRUE) => return Ok(b.prime),
            _ => {}
        }
        elements.sort_unstable();
        let key = (vtree, elements.into_boxed_slice());
        if let Some(&id) = self.unique.get(&key) {
            return Ok(id);
        }
        let start = self.elements.len() as u32;
        self.elements.extend_from_slice(&key.1);
        self.work += key.1.len();
        let id = self.push(SddNode::Decision { vtree, start, end: self.elements.len() as u32 });
        self.unique.insert(key, id);
        self.check_limit()?;
        Ok(id)
    }

    fn push(&mut self, node: SddNode) -> SddId {
        self.nodes.push(node);
        self.negations.push(None);
        SddId(self.nodes.len() as u32 - 1)
    }

    fn pair(&mut self, a: SddId, b: SddId) {
        self.negations[a.index()] = Some(b);
        self.negations[b.index()] = Some(a);
    }

    fn check_limit(&self) -> Result<(), TooLarge> {
        let fits = self.nodes.len() <= self.limit
            && self.memo.len() / MEMO_PER_NODE <= self.limit
            && self.work / WORK_PER_NODE <= self.limit;
        if fits { Ok(()) } else { Err(TooLarge { limit: self.limit }) }
    }

    fn vtree_of(&self, id: SddId) -> VtreeId {
        match self.nodes[id.index()] {
            SddNode::Literal(lit) => self.vtree.leaf(lit.var),
            SddNode::Decision { vtree, .. } => vtree,
            SddNode::False | SddNode::True => unreachable!("constants are combined at once"),
        }
    }

    fn lowest_common(&self, a: VtreeId, b: VtreeId) -> VtreeId {
        let mut v = a;
        while !self.vtree.is_below(b, v) {
            v = self.vtree.parent(v).expect("all is below the root");
        }
        v
    }
}

enum Step {
    Needs(Op, SddId, SddId),
    Done(Vec<SddElement>),
}
