//! Learners: from records to models.
//!
//! A [`Task`] holds the records, the [`Support`] and the seed. A [`Learner`] finds a structure for it as if everything were
//! possible; the support then says what is. [`Task::learn`] does both:
//!
//! ```
//! use slopp::learn::{Slopp, Task};
//! let records = slopp::example::records();
//! let model = Task::new(&records).learn(&Slopp::default(), &())?.model;
//! assert!(model.psdd().is_some());
//! # Ok::<(), slopp::learn::LearnError>(())
//! ```
//!
//! | learner | type | result |
//! |---|---|---|
//! | `slopp` | [`Slopp`] | a certified [`Psdd`](crate::Psdd), with its vtree learned inside |
//! | `slopp-bag` | [`SloppBag`] | a [`Mixture`](crate::Mixture) |
//! | `slopp-em` | [`SloppEm`] | a mixture of components on one structure |
//! | `slopp-tree` | [`SloppTree`] | a certified PSDD on any vtree |
//! | `slopp-kmeans` | [`SloppKmeans`] | a [`Circuit`](crate::Circuit) as published, with its overlaps |
//! | `factorised`, `chow-liu` | [`Factorised`], [`ChowLiu`] | a certified PSDD |
//! | `learnpsdd`, `slopp+learnpsdd` | [`LearnPsdd`] | a certified PSDD on the base it started from |
//! | `strudel` | [`Strudel`] | a certified circuit on the base it started from |
//! | `strudel-em` | [`StrudelEm`] | a mixture of components on the structure of Strudel |
//! | `learnspn` | [`LearnSpn`] | a sum-product network, which needs no vtree |
//!
//! Besides: [`em`] fits any structure to records with missing cells, [`Psdd::revise`](crate::Psdd::revise) allows records
//! that a PSDD excludes and nothing else new, and a [`Lesson`] distils a teacher to one PSDD.
//!
//! Every learner reports its [`Progress`](crate::Progress), and gives the same bytes for the same task.

mod bag;
pub mod baseline;
mod distil;
mod effort;
mod em;
mod error;
mod grow;
mod judge;
mod kmeans;
mod learning;
pub mod learnspn;
mod mixture;
mod orders;
mod origin;
mod params;
mod partition;
mod parts;
mod published;
pub mod refine;
mod refinement;
pub mod registry;
mod revise;
mod separate;
pub mod slopp;
mod slopp_em;
mod slopp_tree;
mod structure;
mod strudel_em;
mod support;
mod task;
mod teacher;
mod violation;
pub mod vtree;

pub use bag::{LearnedBag, SloppBag, bag};
pub use baseline::{ChowLiu, Factorised};
pub use distil::{Distil, Distilled, distil, sample_size, synthetic};
pub use effort::Slopp;
pub use em::{EmConfig, EmFit, em, em_components, em_network};
pub use error::LearnError;
pub use learning::AtSize;
pub use learnspn::LearnSpn;
pub use mixture::{MixtureConfig, MixtureFit, MixtureStart, em_mixture};
pub use params::{Fitted, possible_records};
pub use partition::{Partition, Variant};
pub use parts::FEW_JUDGES;
pub use published::SloppKmeans;
pub use refinement::{LearnPsdd, RefineFrom, Strudel};
pub use revise::{Revised, WORLD_LIMIT};
pub use slopp::{Effort, SloppConfig};
pub use slopp_em::SloppEm;
pub use slopp_tree::SloppTree;
pub use structure::{Prior, Report, Structure};
pub use strudel_em::{MixtureChoice, MixtureGrid, StrudelEm};
pub use support::{Enforced, OnViolation, Support, World};
pub use task::{Learner, Outcome, Task, VtreeFrom, VtreeUse};
pub use teacher::{Lesson, Lessons, Student, TeacherBase};
pub use violation::{Violation, Violations};
