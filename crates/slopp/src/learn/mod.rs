//! Learners: from records to models.
//!
//! A [`Task`] holds the records, the [`Support`] and the seed. A [`Learner`] finds a structure for it as if every world
//! were possible. The support then rules worlds out. [`Task::learn`] does both:
//!
//! ```
//! use slopp::learn::{Slopp, Task};
//! let records = slopp::example::records();
//! let model = Task::new(&records).learn(&Slopp::default(), &())?.model;
//! assert!(model.psdd().is_some());
//! # Ok::<(), slopp::learn::LearnError>(())
//! ```
//!
//! The learners are listed in one table, [`registry::LEARNERS`], each with what it makes and its options.
//!
//! Also: [`ModelKind::em`](crate::ModelKind::em) fits any model to records with missing cells.
//! [`Psdd::revise`](crate::Psdd::revise) makes excluded records possible, and nothing else. A [`Lesson`] distils a
//! teacher into one PSDD.
//!
//! Every learner reports its [`Progress`](crate::Progress) and gives the same bytes for the same task.

mod bag;
mod baseline;
mod distil;
mod effort;
mod em;
mod error;
mod grow;
mod hold_out;
mod judge;
mod kmeans;
mod learnspn;
mod mixture;
mod params;
mod partition;
mod primes;
mod published;
mod refine;
mod refit;
pub mod registry;
mod revise;
mod separate;
mod slopp;
mod slopp_learn_psdd;
mod slopp_tree;
mod structure;
mod support;
mod task;
mod vtree;

pub use crate::spn::learnspn::{LearnSpn, Leaves};
pub use bag::SloppBag;
pub use baseline::{ChowLiu, Factorised};
pub use distil::{Lesson, Student, Teacher};
pub use em::{EmConfig, EmFit};
pub use error::{LearnError, Together, Violation, Violations};
pub use mixture::{MixtureGrid, SloppEm, StrudelEm};
pub use params::Fitted;
pub use partition::{Partition, Variant};
pub use published::SloppKmeans;
pub use refine::{LearnPsdd, Scope, Strudel};
pub use refit::{Refit, Refitted};
pub use revise::{Revised, Revision};
pub use slopp::{Effort, Slopp, Start};
pub use slopp_learn_psdd::SloppLearnPsdd;
pub use slopp_tree::SloppTree;
pub use structure::{Prior, Report, Structure};
pub use support::{Enforced, OnViolation, Support, World};
pub use task::{AtSize, Learner, Outcome, Task, VtreeFrom, VtreeUse};
pub use vtree::{VtreeMethod, pair_information};
