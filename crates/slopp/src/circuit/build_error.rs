//! What a builder refuses.

use super::SmoothingError;
use crate::var::Var;
use crate::vtree::VtreeId;

/// Which invariant of [`Circuit`](super::Circuit) a node would break.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
    /// The smoothing does not fit the circuit.
    #[error(transparent)]
    Smoothing(#[from] SmoothingError),
    /// Too many nodes or elements for 32-bit ids.
    #[error("a circuit can have at most {} nodes and elements", u32::MAX)]
    TooLarge,
}
