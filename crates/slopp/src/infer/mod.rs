//! Queries: what can be asked of a circuit.
