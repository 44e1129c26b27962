//! Brute-force answers for tests. This crate shares no code with `slopp`.
//!
//! A circuit is turned into the table of all its worlds, and every query is answered from the table by looking at all
//! of them: slow, obvious, and written without a thought about how the library does it.

mod circuit;
mod generate;
mod network;
mod random;
mod shared;
mod table;
mod tree;

pub use circuit::{OracleCircuit, OracleNode, OracleOverlap};
pub use generate::{deterministic, layered, mixture, records, with_support};
pub use network::Network;
pub use random::Dice;
pub use shared::shared;
pub use table::{Cells, Table, all_evidence};
pub use tree::{Tree, all_trees};
