//! The base: the Boolean formula of the possible worlds, counted.

use super::QueryError;
use crate::circuit::{Deterministic, Node};
use crate::data::Records;
use num_bigint::BigUint;

impl Deterministic {
    /// How many worlds are possible, exactly.
    ///
    /// `#(sum) = Σ #(prime) · #(sub)`, as elements are exclusive; ⊤ has two worlds. Cost: elements, each with numbers
    /// of as many bits as variables.
    ///
    /// ```
    /// # use slopp::{Builder, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// assert_eq!(psdd.model_count().to_string(), "2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn model_count(&self) -> BigUint {
        let mut counts: Vec<BigUint> = vec![BigUint::ZERO; self.nodes().len()];
        for &v in self.vtree().bottom_up() {
            for i in self.layer(v) {
                counts[i] = match self.nodes()[i] {
                    Node::Literal(_) => BigUint::from(1u32),
                    Node::Top { .. } => BigUint::from(2u32),
                    Node::Sum { start, end, .. } => self.elements()[start as usize..end as usize]
                        .iter()
                        .map(|e| &counts[e.prime.index()] * &counts[e.sub.index()])
                        .sum(),
                };
            }
            // Only the layer of the parent looks at the layers of its children: on deep vtrees memory stays small.
            for child in self.vtree().children(v).into_iter().flatten() {
                // Not `fill`, which keeps what the numbers have allocated.
                counts[self.layer(child)].iter_mut().for_each(|count| *count = BigUint::ZERO);
            }
        }
        counts.swap_remove(self.root().index())
    }

    /// Whether the base is the closed-world formula φ(D) of complete records: exactly the records are possible.
    ///
    /// All records are possible, and there are no more possible worlds than distinct records.
    ///
    /// ```
    /// # use slopp::{Builder, Names, Records, Sharing, Var, Vtree};
    /// # let vtree = Vtree::balanced(2);
    /// # let root = vtree.root();
    /// # let mut builder = Builder::new(vtree, Sharing::Equal);
    /// # let x = builder.literal(Var(0).is(true))?;
    /// # let any = builder.top(Var(1), [0.25f64.ln(), 0.75f64.ln()])?;
    /// # let sum = builder.sum(root, &[(x, any, 0.0)])?;
    /// # let psdd = builder.finish(sum)?.certify(&slopp::logic::Limits::default())?;
    /// let records = |rows: &[[bool; 2]]| Records::from_rows(Names::numbered(2), rows.iter().copied());
    /// assert!(psdd.equals_closed_world(&records(&[[true, true], [true, false]]))?);
    /// assert!(!psdd.equals_closed_world(&records(&[[true, true]]))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn equals_closed_world(&self, records: &Records) -> Result<bool, QueryError> {
        Ok(self.entailed_by(records)? && self.model_count() == BigUint::from(records.len()))
    }
}
