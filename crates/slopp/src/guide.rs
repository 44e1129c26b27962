//! The guide: pages from `docs/guide`, whose examples are run as tests.

#[doc = include_str!("../../../docs/guide/first-model.md")]
pub mod first_model {}

#[doc = include_str!("../../../docs/guide/columns.md")]
pub mod columns {}

#[doc = include_str!("../../../docs/guide/queries.md")]
pub mod queries {}

#[doc = include_str!("../../../docs/guide/formulas.md")]
pub mod formulas {}

#[doc = include_str!("../../../docs/guide/knowledge.md")]
pub mod knowledge {}

#[doc = include_str!("../../../docs/guide/python.md")]
pub mod python {}

#[doc = include_str!("../../../docs/guide/coming-from.md")]
pub mod coming_from {}

#[doc = include_str!("../../../docs/guide/files.md")]
pub mod files {}

#[doc = include_str!("../../../docs/guide/mixtures.md")]
pub mod mixtures {}

#[doc = include_str!("../../../docs/guide/merged.md")]
pub mod merged {}

#[doc = include_str!("../../../docs/guide/efforts.md")]
pub mod efforts {}

#[doc = include_str!("../../../docs/guide/learnspn.md")]
pub mod learnspn {}

#[doc = include_str!("../../../docs/guide/refine.md")]
pub mod refine {}

#[doc = include_str!("../../../docs/guide/erratum.md")]
pub mod erratum {}

#[doc = include_str!("../../../docs/guide/reproduce.md")]
pub mod reproduce {}

#[doc = include_str!("../../../docs/guide/bench.md")]
pub mod bench {}

/// The README, tested like the rest.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
