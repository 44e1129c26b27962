//! Learners: from records to circuits.
