//! From PSDDs to diagrams and back: the base of a PSDD, and the uniform distribution over the models of a diagram.

use super::error::LogicError;
use super::manager::{Handle, Manager};
use super::sdd::{Sdd, SddId, SddNode};
use crate::circuit::{BuildError, Builder, Circuit, Node, NodeId, Psdd, Sharing};
use crate::limits::{Limits, Stopped};
use crate::var::Var;
use crate::vtree::VtreeId;
use num_bigint::BigUint;
use rustc_hash::FxHashMap;

impl Sdd {
    /// The base of a PSDD as a canonical SDD: trimmed, compressed, primes completed to a partition.
    ///
    /// The primes of a PSDD are exclusive but need not cover everything; the SDD gets the missing prime
    /// `¬(p₁ ∨ … ∨ pₖ)` with sub false. That is trivial on right-linear vtrees and can be exponential on others,
    /// hence the limits.
    pub fn base_of(psdd: &Psdd, limits: &Limits) -> Result<Sdd, Stopped> {
        let mut manager = Manager::new(psdd.vtree().clone(), limits.clone());
        let base = manager.base_of(psdd)?;
        Ok(manager.sdd(base))
    }
}

impl Manager {
    /// The base of a PSDD on the same vtree.
    ///
    /// # Panics
    /// If the PSDD has another vtree.
    pub fn base_of(&mut self, psdd: &Psdd) -> Result<Handle, Stopped> {
        Ok(self.bases_of(psdd)?[psdd.root().index()])
    }

    /// The base of every node of a PSDD on the same vtree.
    pub(crate) fn bases_of(&mut self, psdd: &Psdd) -> Result<Vec<Handle>, Stopped> {
        assert_eq!(**psdd.vtree(), **self.vtree(), "one vtree");
        let mut formulas: Vec<Handle> = Vec::with_capacity(psdd.nodes().len());
        for id in psdd.ids() {
            formulas.push(match psdd.node(id) {
                Node::Literal(lit) => self.literal(lit),
                Node::Top { .. } => Handle::TRUE,
                Node::Sum { vtree, .. } => {
                    let elements = psdd.elements_of(id);
                    let mut elements: Vec<(Handle, Handle)> =
                        elements.map(|(e, _)| (formulas[e.prime.index()], formulas[e.sub.index()])).collect();
                    let covered = self.or_all(elements.iter().map(|(prime, _)| *prime).collect())?;
                    elements.push((!covered, Handle::FALSE));
                    self.partition(vtree, elements)?
                }
            });
        }
        Ok(formulas)
    }

    /// The possible worlds of a circuit, as a formula over the variables that `new` gives.
    ///
    /// The circuit may have any vtree and any certificate; for a PSDD on the vtree of the manager, [`Manager::base_of`]
    /// is faster.
    pub fn support_of(&mut self, circuit: &Circuit, new: impl Fn(Var) -> Var) -> Result<Handle, Stopped> {
        let mut formulas: Vec<Handle> = Vec::with_capacity(circuit.nodes().len());
        for id in circuit.ids() {
            formulas.push(match circuit.node(id) {
                Node::Literal(lit) => self.literal(new(lit.var).is(lit.value)),
                Node::Top { .. } => Handle::TRUE,
                Node::Sum { .. } => {
                    let mut terms = Vec::new();
                    for (e, _) in circuit.elements_of(id) {
                        terms.push(self.and(formulas[e.prime.index()], formulas[e.sub.index()])?);
                    }
                    self.or_all(terms)?
                }
            });
        }
        Ok(formulas[circuit.root().index()])
    }
}

/// A formula to normalise for a vtree node; `None` is the constant true.
type Task = (Option<SddId>, VtreeId);

impl Sdd {
    /// The circuit with this formula as base and a uniform distribution over its models.
    ///
    /// Every skipped vtree node gets a ⊤, and elements without models are dropped. The parameter of an element is its
    /// share of the models of its decision. Equal nodes are shared.
    pub fn to_circuit(&self) -> Result<Circuit, LogicError> {
        let counts = self.counts();
        if counts[self.root().index()] == BigUint::ZERO {
            return Err(LogicError::Impossible);
        }
        let mut builder = Builder::new(self.vtree().clone(), Sharing::Equal);
        let mut done: FxHashMap<Task, NodeId> = FxHashMap::default();
        let goal = self.task(self.root(), self.vtree().root());
        let mut stack = vec![goal];
        let mut parts = Vec::new();
        while let Some(&task) = stack.last() {
            if done.contains_key(&task) {
                stack.pop();
                continue;
            }
            parts.clear();
            self.parts(task, &counts, &mut parts);
            let waiting = stack.len();
            stack.extend(parts.iter().flat_map(|&(prime, sub, _)| [prime, sub]).filter(|t| !done.contains_key(t)));
            if stack.len() > waiting {
                continue;
            }
            let id = self.build(&mut builder, task, &parts, &done)?;
            done.insert(task, id);
            stack.pop();
        }
        Ok(builder.finish(done[&goal])?)
    }

    fn task(&self, id: SddId, v: VtreeId) -> Task {
        (self.vtree_of(id).map(|_| id), v)
    }

    /// The elements of a task, with their log-parameters; none at a leaf.
    fn parts(&self, (formula, v): Task, counts: &[BigUint], parts: &mut Vec<(Task, Task, f64)>) {
        let Some([left, right]) = self.vtree().children(v) else { return };
        let own = formula.and_then(|id| Some((id, self.vtree_of(id)?)));
        match own {
            None => parts.push(((None, left), (None, right), 0.0)),
            Some((id, at)) if at == v => {
                for e in self.elements_of(id) {
                    let product = &counts[e.prime.index()] * &counts[e.sub.index()];
                    if product != BigUint::ZERO {
                        let gap = self.element_gap(v, e.prime, e.sub);
                        let share = log_share(&product, gap, &counts[id.index()]);
                        parts.push((self.task(e.prime, left), self.task(e.sub, right), share));
                    }
                }
            }
            Some((_, at)) if self.vtree().is_below(at, left) => parts.push(((formula, left), (None, right), 0.0)),
            Some(_) => parts.push(((None, left), (formula, right), 0.0)),
        }
    }

    fn build(
        &self,
        builder: &mut Builder,
        (formula, v): Task,
        parts: &[(Task, Task, f64)],
        done: &FxHashMap<Task, NodeId>,
    ) -> Result<NodeId, BuildError> {
        let half = -std::f64::consts::LN_2;
        match (self.vtree().leaf_var(v), formula.map(|id| self.node(id))) {
            (Some(_), Some(SddNode::Literal(lit))) => builder.literal(lit),
            (Some(var), _) => builder.top(var, [half; 2]),
            (None, _) => {
                let elements: Vec<_> = parts.iter().map(|(p, s, share)| (done[p], done[s], *share)).collect();
                builder.sum(v, &elements)
            }
        }
    }
}

/// `ln(part · 2^gap / total)`, precise however large the numbers are.
fn log_share(part: &BigUint, gap: usize, total: &BigUint) -> f64 {
    let leading = |n: &BigUint| {
        let shift = n.bits().saturating_sub(64);
        let digits = (n >> shift).iter_u64_digits().next().unwrap_or(0);
        (digits as f64, shift as i64)
    };
    let ((part, low), (total, high)) = (leading(part), leading(total));
    let (ratio, power) = (part / total, low + gap as i64 - high);
    // Scaling by a power of two is exact; adding logarithms that cancel is not.
    let log = match i32::try_from(power) {
        Ok(power @ -900..=900) => (ratio * 2f64.powi(power)).ln(),
        _ => ratio.ln() + power as f64 * std::f64::consts::LN_2,
    };
    log.min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_huge_numbers() {
        let huge = BigUint::from(3u32) << 100_000u32;
        assert!((log_share(&BigUint::from(1u32), 100_000, &huge) - (1.0f64 / 3.0).ln()).abs() < 1e-15);
        assert_eq!(log_share(&huge, 0, &huge), 0.0);
        assert!((log_share(&BigUint::from(5u32), 1, &BigUint::from(16u32)) - (10.0f64 / 16.0).ln()).abs() < 1e-15);
    }
}
