//! The real binary, run as a user would.

mod bad_input;
mod by_column;
mod columns;
mod curve;
mod data;
mod demo;
mod distil;
mod files;
mod fit;
mod folder;
mod formulas;
mod knowledge;
mod lab;
mod learn;
mod learning_by_rules;
mod limits;
mod mixture;
mod pictures;
mod product;
mod queries;
mod questions;
mod readme;
mod refinement;
mod rules;
mod snapshots;
mod transcript;
mod validate;
mod worlds;

/// The binary that runs these arguments.
fn program(_: &[&str]) -> &'static str {
    env!("CARGO_BIN_EXE_slopp")
}
