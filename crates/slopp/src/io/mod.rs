//! Reading and writing files: one module per format.
//!
//! | format | holds | read | write |
//! |---|---|---|---|
//! | CSV, `.data` | records, with or without header; 0/1, true/false, yes/no, a few values, bins of numbers; missing cells | [`read_records`] | [`write_records`] |
//! | `.wdata` | records with weights, `2\|0,1,1` | [`read_records`] | [`write_weighted_records`] |
//! | `.vtree` | a vtree | [`read_vtree`] | [`write_vtree`] |
//! | `.psdd` | a circuit, in either dialect | [`read_psdd`] | [`write_psdd`] |
//! | `.psdd` with `c slopp` comments | a model: circuit, vtree, names, counts, origin | [`read_model`] | [`write_model`] |
//! | `.mix` | a mixture: circuits with weights, names, origin | [`read_model`] | [`write_model`] |
//! | `.spn` | a sum-product network with names and origin | [`read_model`] | [`write_model`] |
//! | `.sdd` | a formula | [`read_sdd`], with names [`read_named_sdd`] | [`write_sdd`], [`write_named_sdd`] |
//! | `.txt` | rules, one per line | [`read_rules`] | [`write_rules`] |
//! | `.cnf`, `.dnf` | DIMACS | [`read_rules`] | [`write_cnf`], [`dnf_text`] |
//!
//! Every reader takes gzipped files and `-` for stdin, and tells what is wrong in which line. Every writer writes a
//! file whole or not at all ([`write_atomically`]), several files together ([`write_together`]). Every reader has a form that takes bytes and never panics on any.
//!
//! ```
//! use slopp::io::{read_model_bytes, write_model_to};
//! // A foreign file: its vtree is inferred, its variables are x1 and x2.
//! let text = b"psdd 4\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -0.5\nD 3 1 2 0 2 -0.6931471805599453 1 2 -0.6931471805599453\n";
//! let loaded = read_model_bytes(text, None)?;
//! assert_eq!(loaded.model.circuit().unwrap().vtree().to_string(), "(1,2)");
//! // Saved, it is one file that every tool can read, and that loses nothing.
//! let mut saved = Vec::new();
//! write_model_to(&mut saved, &loaded.model)?;
//! assert!(saved.starts_with(b"c slopp 1\nc vtree (1,2)\nc names [\"x1\",\"x2\"]\n"));
//! assert_eq!(read_model_bytes(&saved, None)?.model, loaded.model);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atomic;
mod cells;
mod columns;
mod csv;
mod dimacs;
mod error;
mod first_line;
mod inference;
mod lines;
mod mixture;
mod model;
mod model_out;
mod phrases;
mod problem;
mod psdd;
mod records;
mod records_changed;
mod records_out;
mod rows;
mod rules;
mod sdd;
mod source;
mod spn;
mod survey;
mod vtree;

pub use atomic::{abandon_writing, check_writable, write_atomically, write_together};
pub use columns::Columns;
pub use csv::CsvLines;
pub use dimacs::{Dimacs, NotClausal, cnf_text, dnf_text, read_dimacs_bytes, write_cnf};
pub use error::{GzipDamage, ReadError, WriteError};
pub use model::{LoadedModel, read_model, read_model_bytes, read_model_within};
pub use model_out::{write_model, write_model_to};
pub use problem::Problem;
pub use psdd::{Loaded, read_psdd, read_psdd_bytes, write_psdd};
pub use records::{
    Header, LoadedRecords, RecordsOptions, load_records, read_records, read_records_from, read_records_of,
};
pub use records_changed::{write_changed_records, write_changed_records_to};
pub use records_out::{write_records, write_records_to, write_weighted_records, write_weighted_records_to};
pub use rules::{read_rules, read_rules_bytes, write_rules};
pub use sdd::{
    read_named_sdd, read_named_sdd_bytes, read_sdd, read_sdd_bytes, write_named_sdd, write_sdd, write_sdd_to,
};
pub use source::{ending, open, read_all, read_all_within, unzipped};
pub use survey::{Binning, BinsError, parse_bins};
pub use vtree::{LoadedVtree, read_vtree, read_vtree_bytes, write_vtree, write_vtree_to};
