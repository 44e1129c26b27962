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
//! | `.sdd` | a formula | [`read_sdd`] | [`write_sdd`] |
//! | `.txt` | rules, one per line | [`read_rules`] | [`write_rules`] |
//! | `.cnf`, `.dnf` | DIMACS | [`read_rules`] | [`cnf_text`] |
//!
//! Every reader takes a [`Source`]: the path of a file, `-` for stdin, or bytes in memory, gzipped or not. It says what
//! is wrong in which line, and no bytes make it panic. Every writer writes to anything that takes bytes;
//! [`write_atomically`] gives it a file that is written whole or not at all, and [`write_together`] does so for several
//! files.
//!
//! ```
//! use slopp::io::{read_model, write_model};
//! // A foreign file: its vtree is inferred, its variables are x1 and x2.
//! let text = b"psdd 4\nL 0 0 1\nL 1 0 -1\nT 2 2 2 -0.5\nD 3 1 2 0 2 -0.6931471805599453 1 2 -0.6931471805599453\n";
//! let loaded = read_model(text, None, &Default::default())?;
//! assert_eq!(loaded.model.circuit().unwrap().vtree().to_string(), "(1,2)");
//! // Saved, it is one file that every tool can read, and that loses nothing.
//! let mut saved = Vec::new();
//! write_model(&mut saved, &loaded.model)?;
//! assert!(saved.starts_with(b"c slopp 1\nc vtree (1,2)\nc names [\"x1\",\"x2\"]\n"));
//! assert_eq!(slopp::Model::load(&saved)?, loaded.model);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atomic;
mod cells;
mod columns;
mod content;
mod csv;
mod dimacs;
mod error;
mod first_line;
mod lines;
mod mixture;
mod model;
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

#[doc(hidden)]
pub use atomic::{abandon_writing, check_writable, is_stdout};
pub use atomic::{write_atomically, write_together};
#[doc(hidden)]
pub use content::{Content, OtherContent};
#[doc(hidden)]
pub use csv::CsvLines;
pub use dimacs::cnf_text;
pub use error::{ReadError, WriteError};
pub use model::{LoadedModel, read_model, write_model};
pub use problem::Problem;
pub use psdd::{LoadedCircuit, read_psdd, write_psdd};
pub use records::{Header, LoadedRecords, RecordsOptions, load_records, read_records};
pub use records_changed::write_changed_records;
pub use records_out::{write_records, write_weighted_records};
pub use rules::{read_rules, write_rules};
pub use sdd::{read_sdd, write_sdd};
pub use source::{Source, read_text};
#[doc(hidden)]
pub use source::{ending, path_in_words};
pub use survey::{Binning, parse_bins};
pub use vtree::{LoadedVtree, read_vtree, write_vtree};
