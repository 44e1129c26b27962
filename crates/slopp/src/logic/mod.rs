//! The logical side: formulas as SDDs, and the base of a PSDD.
//!
//! Here: the read-only diagram [`Sdd`], its model count, the uniform distribution over its models, and the way from
//! a PSDD to its base. Files are in [`crate::io`].

mod apply;
mod base;
mod compile;
mod count;
mod formula;
mod limits;
mod manager;
mod partition;
mod sdd;
mod uniform;

pub use base::{BASE_LIMIT, TooLarge};
pub use formula::{Comparison, Formula, FormulaError, FormulaProblem, Op, Rule, Rules};
pub use limits::{Limit, Limits, Stopped};
pub use manager::{Handle, Manager};
pub use sdd::{Sdd, SddElement, SddError, SddFault, SddId, SddNode};
pub use uniform::NormaliseError;
