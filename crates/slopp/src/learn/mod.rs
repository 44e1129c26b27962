//! Learners: from records to circuits.

pub mod vtree;
