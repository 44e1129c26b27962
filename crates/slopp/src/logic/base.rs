//! The base of a PSDD: the formula that holds exactly in the possible worlds.

use super::apply::{FALSE, Manager, Op, TRUE};
use super::sdd::{Sdd, SddElement, SddId};
use crate::circuit::{Node, Psdd};

/// How many nodes [`Sdd::base_of`] makes before it gives up.
pub const BASE_LIMIT: usize = 1_000_000;

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
    /// hence the limit of [`BASE_LIMIT`] nodes.
    pub fn base_of(psdd: &Psdd) -> Result<Sdd, TooLarge> {
        Sdd::base_of_within(psdd, BASE_LIMIT)
    }

    /// As [`Sdd::base_of`], with another limit.
    pub fn base_of_within(psdd: &Psdd, limit: usize) -> Result<Sdd, TooLarge> {
        let mut manager = Manager::new(psdd.vtree().clone(), limit);
        let mut formulas: Vec<SddId> = Vec::with_capacity(psdd.nodes().len());
        for id in psdd.ids() {
            formulas.push(match psdd.node(id) {
                Node::Literal(lit) => manager.literal(lit),
                Node::Top { .. } => TRUE,
                Node::Sum { vtree, .. } => {
                    let mut covered = FALSE;
                    let mut elements = Vec::new();
                    for (e, _) in psdd.elements_of(id) {
                        let (prime, sub) = (formulas[e.prime.index()], formulas[e.sub.index()]);
                        covered = manager.apply(Op::Or, covered, prime)?;
                        elements.push(SddElement { prime, sub });
                    }
                    let prime = manager.negate(covered)?;
                    elements.push(SddElement { prime, sub: FALSE });
                    manager.compressed(vtree, elements)?
                }
            });
        }
        Ok(manager.extract(formulas[psdd.root().index()]))
    }
}
