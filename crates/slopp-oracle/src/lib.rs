//! Brute-force answers for tests. This crate shares no code with `slopp`.
