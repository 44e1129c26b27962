//! Reading and writing files: one module per format.
//!
//! | format | holds | read | write |
//! |---|---|---|---|
//! | CSV, `.data` | records, with or without header; 0/1, true/false, yes/no; missing cells | [`read_records`] | [`write_records`] |
//! | `.wdata` | records with weights, `2\|0,1,1` | [`read_records`] | [`write_weighted_records`] |
//! | `.vtree` | a vtree | [`read_vtree`] | [`write_vtree`] |
//! | `.psdd` | a circuit, in either dialect | [`read_psdd`] | [`write_psdd`] |
//! | `.psdd` with `c slopp` comments | a model: circuit, vtree, names, counts, origin | [`read_model`] | [`write_model`] |
//! | `.sdd` | a formula | [`read_sdd`] | [`write_sdd`] |
//!
//! Every reader takes gzipped files and `-` for stdin, and tells what is wrong in which line. Every writer writes a
//! file whole or not at all ([`write_atomically`]). Every reader has a form that takes bytes and never panics on any.

mod atomic;
mod columns;
mod error;
mod lines;
mod psdd;
mod records;
mod source;
mod vtree;

pub use atomic::write_atomically;
pub use columns::Columns;
pub use error::{Problem, ReadError, WriteError};
pub use psdd::{Loaded, read_psdd, read_psdd_bytes, write_psdd};
pub use records::{Header, LoadedRecords, RecordsOptions, read_records, read_records_from, read_records_of};
pub use source::{open, unzipped};
pub use vtree::{LoadedVtree, read_vtree, read_vtree_bytes, write_vtree, write_vtree_to};
