//! The nearest possible world.

use super::{Evidence, QueryError};
use crate::circuit::{Circuit, Node};
use crate::data::Records;
use rayon::prelude::*;

/// A possible world at the smallest Hamming distance from evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// How many known cells the world changes; zero if the evidence is possible.
    pub distance: u32,
    /// The world.
    pub world: Vec<bool>,
}

impl Circuit {
    /// The smallest number of known cells that must change to make evidence possible, with a world that does it.
    ///
    /// `min |{x known : w(x) ≠ e(x)}|` over possible worlds `w`: min in place of sum, plus in place of product.
    /// Unknown cells are free. Among several nearest worlds the choice is fixed by the order of elements. Cost: elements.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree, infer::Evidence};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?;
    /// let nearest = circuit.nearest(&Evidence::of_world(&[false, true]))?;
    /// assert_eq!((nearest.distance, nearest.world), (1, vec![true, true]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest(&self, evidence: &Evidence) -> Result<Nearest, QueryError> {
        self.check_evidence(evidence)?;
        Ok(self.nearest_with(evidence, &mut Vec::new()))
    }

    /// The nearest possible world of each distinct row; missing cells are free.
    ///
    /// The batch form of [`Circuit::nearest`]. Cost: elements × records.
    ///
    /// ```
    /// # use slopp::{Builder, Names, RecordsBuilder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let circuit = builder.finish(sum)?;
    /// let mut records = RecordsBuilder::new(Names::numbered(2));
    /// records.push([Some(true), None], 2.0);
    /// records.push([Some(false), None], 1.0);
    /// let nearest = circuit.nearest_batch(&records.finish())?;
    /// assert_eq!((nearest[0].distance, nearest[1].distance), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nearest_batch(&self, records: &Records) -> Result<Vec<Nearest>, QueryError> {
        self.check_records(records)?;
        let nearest = |distances: &mut Vec<u32>, row| self.nearest_with(&Evidence::from_row(records, row), distances);
        Ok((0..records.len()).into_par_iter().map_init(Vec::new, nearest).collect())
    }

    fn nearest_with(&self, evidence: &Evidence, distances: &mut Vec<u32>) -> Nearest {
        distances.clear();
        for (id, node) in self.ids().zip(self.nodes()) {
            distances.push(match *node {
                Node::Literal(lit) => u32::from(!evidence.allows(lit)),
                Node::Top { .. } => 0,
                Node::Sum { .. } => {
                    let of =
                        |(e, _): (crate::circuit::Element, f64)| distances[e.prime.index()] + distances[e.sub.index()];
                    self.elements_of(id).map(of).min().expect("a sum has an element")
                }
            });
        }
        let mut world = vec![false; self.var_count()];
        let mut stack = vec![self.root()];
        while let Some(id) = stack.pop() {
            match self.node(id) {
                Node::Literal(lit) => world[lit.var.index()] = lit.value,
                Node::Top { var, .. } => world[var.index()] = evidence.value(var).unwrap_or(false),
                Node::Sum { .. } => {
                    let goal = distances[id.index()];
                    let found = self
                        .elements_of(id)
                        .find(|(e, _)| distances[e.prime.index()] + distances[e.sub.index()] == goal);
                    let (element, _) = found.expect("the smallest distance is that of an element");
                    stack.extend([element.sub, element.prime]);
                }
            }
        }
        Nearest { distance: distances[self.root().index()], world }
    }
}
