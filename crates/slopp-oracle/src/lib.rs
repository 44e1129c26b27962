//! Brute-force answers for tests. This crate shares no code with `slopp`.

mod shared;

pub use shared::shared;
