//! Queries: what can be asked of a circuit.

mod complete;
mod error;
mod evidence;
mod lanes;
mod likelihood;
mod logpass;
mod masks;
mod posterior;

pub use complete::Counted;
pub use error::QueryError;
pub use evidence::{Evidence, EvidenceError};
