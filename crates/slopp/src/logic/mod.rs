//! The logical side: formulas as SDDs, and the base of a PSDD.
//!
//! Here: [`Formula`] and [`Rules`] as text; the [`Manager`] that combines diagrams; the read-only diagram [`Sdd`], its
//! model count, the uniform distribution over its models; the base of a PSDD as a diagram; the base of any circuit as
//! rules ([`BaseRules`]). Files are in [`crate::io`].

mod base;
mod common_world;
mod compile;
mod conflict;
mod error;
mod formula;
mod manager;
mod rules;
mod sdd;
mod solver;
mod vtree_for;

pub use crate::limits::{Limit, Limits, Stopped};
pub use conflict::Conflict;
pub use error::LogicError;
pub use formula::{Comparison, Formula, FormulaError, FormulaProblem, Rule, Rules};
pub use manager::{Handle, Manager};
pub use rules::{BaseRule, BaseRules, Clause, RuleKind, RuleSearch};
pub use sdd::Sdd;
pub(crate) use sdd::{SddElement, SddFault, SddId, SddNode};
pub use vtree_for::{CompiledRules, VtreeSearch};
