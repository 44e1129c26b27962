//! One file per command: it reads, calls the library, writes.

pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod compile;
pub(crate) mod convert;
pub(crate) mod count;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod draw;
pub(crate) mod entails;
pub(crate) mod equivalent;
pub(crate) mod eval;
pub(crate) mod fit;
pub(crate) mod info;
pub(crate) mod learn;
pub(crate) mod marginals;
pub(crate) mod mpe;
pub(crate) mod possible;
pub(crate) mod prob;
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod validate;
pub(crate) mod vtree;
pub(crate) mod worlds;
