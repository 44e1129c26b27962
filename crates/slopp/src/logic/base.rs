//! The base of a PSDD: the formula that holds exactly in the possible worlds.

use super::manager::{Handle, Manager};
use super::sdd::Sdd;
use crate::circuit::{Circuit, Node, Psdd};
use crate::limits::{Limits, Stopped};
use crate::var::Var;

/// The base as an SDD would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the base has more than {limit} nodes as an SDD, where primes must cover everything; keep it as .psdd")]
pub struct TooLarge {
    /// The number of nodes allowed.
    pub limit: usize,
}

impl Sdd {
    /// The base of a PSDD as a canonical SDD: trimmed, compressed, primes completed to a partition.
    ///
    /// The primes of a PSDD are exclusive but need not cover everything; the SDD gets the missing prime
    /// `¬(p₁ ∨ … ∨ pₖ)` with sub false. That is trivial on right-linear vtrees and can be exponential on others,
    /// hence the limit of nodes; a million is plenty.
    pub fn base_of(psdd: &Psdd, limit: usize) -> Result<Sdd, TooLarge> {
        // A manager has the constant and all literals from the start; they are not what makes a base large.
        let limits = Limits::for_nodes(limit, psdd.var_count() + 1);
        let mut manager = Manager::new(psdd.vtree().clone(), limits);
        let base = manager.base_of(psdd).map_err(|_| TooLarge { limit })?;
        let sdd = manager.sdd(base);
        // A diagram of its own has nodes for negations that the manager shares.
        if sdd.nodes().len() > limit { Err(TooLarge { limit }) } else { Ok(sdd) }
    }
}

impl Manager {
    /// The base of a PSDD over the same vtree.
    ///
    /// # Panics
    /// If the PSDD has another vtree.
    pub fn base_of(&mut self, psdd: &Psdd) -> Result<Handle, Stopped> {
        Ok(self.bases_of(psdd)?[psdd.root().index()])
    }

    /// The base of every node of a PSDD over the same vtree.
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

    /// The worlds a circuit gives a probability above zero, as a formula over variables that are found by `new`.
    ///
    /// The circuit may have any vtree and any certificate; if it has the vtree of the manager and is a PSDD,
    /// [`Manager::base_of`] is faster.
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
