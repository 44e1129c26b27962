//! The guide: pages from `docs/guide`, whose examples are run as tests.

#[doc = include_str!("../guide/first-model.md")]
pub mod first_model {}

#[doc = include_str!("../guide/columns.md")]
pub mod columns {}

#[doc = include_str!("../guide/queries.md")]
pub mod queries {}

#[doc = include_str!("../guide/formulas.md")]
pub mod formulas {}

#[doc = include_str!("../guide/knowledge.md")]
pub mod knowledge {}

#[doc = include_str!("../guide/python.md")]
pub mod python {}

#[doc = include_str!("../guide/coming-from.md")]
pub mod coming_from {}

#[doc = include_str!("../guide/files.md")]
pub mod files {}

#[doc = include_str!("../guide/mixtures.md")]
pub mod mixtures {}

#[doc = include_str!("../guide/merged.md")]
pub mod merged {}

#[doc = include_str!("../guide/efforts.md")]
pub mod efforts {}

#[doc = include_str!("../guide/learnspn.md")]
pub mod learnspn {}

#[doc = include_str!("../guide/refine.md")]
pub mod refine {}

#[doc = include_str!("../guide/erratum.md")]
pub mod erratum {}

#[doc = include_str!("../guide/reproduce.md")]
pub mod reproduce {}

#[doc = include_str!("../guide/bench.md")]
pub mod bench {}

/// The README, tested like the rest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
