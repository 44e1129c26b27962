//! What a builder refuses.

use crate::var::Var;
use crate::vtree::VtreeId;

/// Which invariant of [`Circuit`](super::Circuit) a node would break.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A variable is not in the vtree.
    #[error("variable {} is not in the vtree, which has {} variables", .var.number(), .len)]
    UnknownVariable {
        /// The variable.
        var: Var,
        /// The number of variables of the vtree.
        len: usize,
    },
    /// A sum at a leaf (invariant 2).
    #[error("a sum needs an inner vtree node, and {} is {}", .0.0, if .0.is_leaf() { "a leaf" } else { "not in the vtree" })]
    NotInner(VtreeId),
    /// A child does not exist yet (invariant 1).
    #[error("a child is used before it is made")]
    UnknownChild,
    /// A prime or sub sits at another vtree node than it should (invariant 2).
    #[error("element {element}: its {role} is for vtree node {}, but must be for {}", .found.0, .expected.0)]
    WrongVtree {
        /// Position of the element, from zero.
        element: usize,
        /// "prime" or "sub".
        role: &'static str,
        /// Where the child belongs.
        expected: VtreeId,
        /// Where it is.
        found: VtreeId,
    },
    /// A sum without elements (invariant 3).
    #[error("a sum needs at least one element")]
    NoElements,
    /// The same prime and sub twice (invariant 3).
    #[error("elements {first} and {second} have the same prime and the same sub")]
    RepeatedElement {
        /// Position of the first, from zero.
        first: usize,
        /// Position of the second.
        second: usize,
    },
    /// A log-parameter is not a finite number of at most zero (invariant 4).
    #[error("{value} is not a log-parameter: it must be finite and at most zero")]
    Parameter {
        /// The number.
        value: f64,
    },
    /// The root is not for the root of the vtree (invariant 6).
    #[error("the root is for vtree node {}, but must be for the root {}, to have all variables", .found.0, .expected.0)]
    WrongRoot {
        /// The root of the vtree.
        expected: VtreeId,
        /// Where the root of the circuit is.
        found: VtreeId,
    },
    /// A pseudocount is out of range.
    #[error("the pseudocount is {0}, but must be a finite number of at least 0")]
    Pseudocount(f64),
    /// A pseudocount is so small that a parameter would be zero.
    #[error("the pseudocount {0:e} is too small: parameters would be zero next to the counts; take a larger one, or 0")]
    SmallPseudocount(f64),
    /// A prior is for another number of variables.
    #[error("the prior is for {found} variables, but the circuit has {expected}; make it from records of the circuit")]
    PriorLength {
        /// The variables of the circuit.
        expected: usize,
        /// The variables of the prior.
        found: usize,
    },
    /// A prior probability is not strictly between zero and one.
    #[error("the prior of variable {} is {}, but must be above 0 and below 1", .var.number(), .value)]
    Prior {
        /// The variable.
        var: Var,
        /// Its prior.
        value: f64,
    },
    /// Too many nodes or elements for 32-bit ids.
    #[error("a circuit can have at most {} nodes and elements", u32::MAX)]
    TooLarge,
}
