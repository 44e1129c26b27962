//! The real binary, run as a user would.

mod bad_input;
mod bench;
mod by_column;
mod columns;
mod curve;
mod data;
mod demo;
mod distil;
mod files;
mod folder;
mod formulas;
mod knowledge;
mod learn;
mod limits;
mod mixture;
mod pictures;
mod product;
mod queries;
mod questions;
mod readme;
mod reproduce;
mod rules;
mod snapshots;
mod validate;
mod worlds;
