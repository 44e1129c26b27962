//! The logical side: formulas as SDDs, and the base of a PSDD.
//!
//! Here: the read-only diagram [`Sdd`], its model count, the uniform distribution over its models, the way from
//! a PSDD to its base, and the base of any circuit as rules ([`FoundRules`]). Files are in [`crate::io`].

mod apply;
mod base;
mod count;
mod partition;
mod rules;
mod sdd;
mod uniform;

pub use base::{BASE_LIMIT, TooLarge};
pub use rules::{FoundRule, FoundRules, RuleError, RuleKind, RuleSearch};
pub use sdd::{Sdd, SddElement, SddError, SddFault, SddId, SddNode};
pub use uniform::NormaliseError;
