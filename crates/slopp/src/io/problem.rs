//! What can be wrong with a file.

use super::phrases::{Accepted, At, Because, Fit, Named, Taken, VarCounts};
use crate::advice::Advice;
use crate::circuit::BuildError;
use crate::limits::Limit;
use crate::logic::FormulaError;
use crate::mixture::MixtureError;
use crate::names::{NameError, abridged, quoted_list};
use crate::spn::SpnError;
use crate::vtree::VtreeError;
use std::io;

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It could not be opened.
    #[error("cannot be opened: {0}")]
    Open(#[source] io::Error),
    /// It is a folder.
    #[error("is a folder; give a file in it")]
    Folder,
    /// Reading stopped half-way.
    #[error("cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The name says gzip, the bytes do not.
    #[error("has a name ending in .gz but holds no gzip data; compress it again, or rename it")]
    NotGzip,
    /// The compressed bytes are damaged.
    #[error("{0}; copy or compress the file again")]
    Gzip(String),
    /// A text that is longer than may be kept.
    #[error(
        "holds more than {} MB of text, the most for what is gzipped or comes through a pipe; save it in a plain file, \
         which may be longer",
        .limit >> 20
    )]
    LongText {
        /// How many bytes are allowed.
        limit: u64,
    },
    /// A line that is longer than lines of records are.
    #[error("the line has more than {} MB; write one record per line, and end lines with a line feed", .limit >> 20)]
    LongLine {
        /// How many bytes are allowed.
        limit: usize,
    },
    /// More columns than records have.
    #[error("the line has more than 10 million cells; write one record per line, with a cell per column")]
    TooManyColumns,
    /// The memory does not hold what is in the file.
    #[error("does not fit into memory; use a part of it, or a machine with more memory")]
    OutOfMemory,
    /// Records that need more memory than they may take.
    #[error("the records need more than {} MB of memory; use a part of them", .limit >> 20)]
    LargeRecords {
        /// How many bytes are allowed.
        limit: usize,
    },
    /// More variables than limits allow.
    #[error("{variables} variables need more than {limit}; allow more")]
    Limit {
        /// How many variables the header announces.
        variables: usize,
        /// The limit.
        limit: Limit,
    },
    /// A NUL byte in a text.
    #[error("found a NUL byte: this is not a plain text file; save it as UTF-8 text")]
    Nul,
    /// Bytes that are not UTF-8.
    #[error("found bytes that are not UTF-8; save the file as UTF-8 text")]
    NotUtf8,
    /// Nothing in it.
    #[error("is empty: expected {expected}")]
    Empty {
        /// What should be there.
        expected: &'static str,
    },
    /// Something else than expected.
    #[error("{}expected {expected}, found {found}", At(*.column))]
    Unexpected {
        /// Where in the line it begins, from one, if that is known.
        column: Option<usize>,
        /// What may stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A header and no records.
    #[error("has a header and no records")]
    HeaderOnly,
    /// A cell that is not Boolean.
    #[error("column {column}{}: expected {}, found {found}{}{}", Named(.name), Accepted(*.missing),
        if *.alone { "; cells are separated by commas, semicolons, tabs or blanks" } else { "" }, Taken(*.taken))]
    Cell {
        /// The column, from one.
        column: usize,
        /// Its name, if there is a header.
        name: Option<String>,
        /// What stands there.
        found: String,
        /// Whether missing cells are accepted.
        missing: bool,
        /// Whether there is one column only, perhaps because the separator is none we know.
        alone: bool,
        /// Whether this is the first line, which may be a header taken for a record.
        first: bool,
        /// The first line, if this is a later one, and that one holds words that may be names taken for a record.
        taken: Option<usize>,
        /// Whether the column may be meant to hold more values than two.
        categories: bool,
    },
    /// A cell that is not a value of its column.
    #[error("column {column}{}: found {found}, and the values of this column are {}; correct the cell, or learn again from records that have it",
        Named(.name), .known.join(", "))]
    Value {
        /// The column, from one.
        column: usize,
        /// Its name, if there is a header.
        name: Option<String>,
        /// What stands there.
        found: String,
        /// The values it may have.
        known: Vec<String>,
    },
    /// A cell that is not a number in a column that is cut into bins.
    #[error("column {column} ({}): expected a number, because the column is to be cut into bins, found {found}", abridged(.name))]
    Number {
        /// The column, from one.
        column: usize,
        /// Its name.
        name: String,
        /// What stands there.
        found: String,
    },
    /// A column with more values than are allowed.
    #[error("column {column} ({}) has more than {limit} different values, such as {}{}", abridged(.name), quoted_list(.some),
        if *.numbers { "" } else { "; delete the column, or allow more" })]
    TooManyValues {
        /// The column, from one.
        column: usize,
        /// Its name.
        name: String,
        /// The limit.
        limit: usize,
        /// Some values.
        some: Vec<String>,
        /// Whether all are numbers.
        numbers: bool,
    },
    /// Values or bins are asked for, and no column has the name.
    #[error("{0}; categories and bins are for columns of the header")]
    NoSuchColumn(NameError),
    /// A row of another length.
    #[error("expected {expected} cells as in line {first_line}, found {found}; every row needs one cell per column")]
    Ragged {
        /// Cells of the first row.
        expected: usize,
        /// The line of the first row.
        first_line: usize,
        /// Cells of this row.
        found: usize,
    },
    /// A weight out of range.
    #[error("expected a weight from 1e-9 to 1e15 before `|`, found {found}")]
    Weight {
        /// What stands there.
        found: String,
    },
    /// The header is not a list of names.
    #[error("{error}{}", Because(.because))]
    Header {
        /// What is wrong with the names.
        error: NameError,
        /// What makes the line a header; `None` if that was said.
        because: Option<String>,
    },
    /// The columns are not those of the model.
    #[error("the columns do not fit the variables: {}", Fit(.missing, .unknown))]
    Columns {
        /// Variables without a column.
        missing: Vec<String>,
        /// Columns without a variable.
        unknown: Vec<String>,
    },
    /// The number of columns is not that of the model.
    #[error(
        "expected {expected} columns, one per variable, found {found}; without a header, columns are matched by position: {} columns, or add a header",
        if .found < .expected { "add the missing" } else { "delete the other" }
    )]
    ColumnCount {
        /// How many variables there are.
        expected: usize,
        /// How many columns there are.
        found: usize,
    },
    /// Two nodes with one id.
    #[error("{what} {id} was already defined in line {first_line}; give every node its own id")]
    RepeatedId {
        /// "node" or "vtree node".
        what: &'static str,
        /// The id.
        id: u64,
        /// Where it was first.
        first_line: usize,
    },
    /// A child that is not there.
    #[error("{what} {id} does not exist; {}", if *.truncated { "the file may be cut off" } else { "check the line, and that this is the vtree of the file" })]
    UnknownId {
        /// "node" or "vtree node".
        what: &'static str,
        /// The id.
        id: u64,
        /// Whether a file that was cut off would explain it.
        truncated: bool,
    },
    /// A child that comes after its parent, or is its own ancestor.
    #[error(
        "node {id} is used before it is defined in line {later_line}: children come before parents, and no node is below itself"
    )]
    UsedBefore {
        /// The id of the child.
        id: u64,
        /// Where it is defined.
        later_line: usize,
    },
    /// A vtree that is not a tree.
    #[error("vtree node {id} is below itself; a vtree has no cycles")]
    VtreeCycle {
        /// The id of a node on the cycle.
        id: u64,
    },
    /// A vtree node with two parents.
    #[error("vtree node {id} is already a child of vtree node {parent}; a node has one parent")]
    SharedVtree {
        /// The id of the child.
        id: u64,
        /// The id of its other parent.
        parent: u64,
    },
    /// Several nodes without a parent.
    #[error("vtree nodes {first} and {second} both have no parent: a vtree has one root; the file may be cut off")]
    TwoRoots {
        /// One.
        first: u64,
        /// Another.
        second: u64,
    },
    /// A vtree cannot be had from a circuit file.
    #[error("{reason}, so the vtree cannot be inferred from the circuit; give the vtree file too")]
    NoVtree {
        /// What contradicts itself or is missing.
        reason: String,
    },
    /// The vtree given is not that of the circuit.
    #[error("{} {} the vtree of this circuit{}: {problem}; give its own vtree file{}",
        .file.as_deref().unwrap_or("the vtree given"), if *.sure { "is not" } else { "may not be" },
        VarCounts(.vars), if *.sure { ", or none" } else { "" })]
    WrongVtree {
        /// The file of the vtree, if it came from one.
        file: Option<String>,
        /// Whether that is certain.
        sure: bool,
        /// How many variables the circuit and the vtree have.
        vars: (usize, usize),
        /// What does not fit.
        problem: Box<Problem>,
    },
    /// The primes of a decision are not a partition.
    #[error("node {id} is not a decision node of an SDD: {reason}; make the file again with the tool it came from")]
    Partition {
        /// The id.
        id: u64,
        /// What is wrong with its primes.
        reason: String,
    },
    /// A text is not a formula.
    #[error("{0}")]
    Formula(FormulaError),
    /// The nodes are not a vtree.
    #[error("{0}")]
    Vtree(#[source] VtreeError),
    /// A node breaks an invariant of circuits.
    #[error("{0}")]
    Build(#[source] BuildError),
    /// A sum that is needed has no living element.
    #[error("node {id} has probability zero everywhere: all its elements are dead; remove the elements that use it")]
    Dead {
        /// The id.
        id: u64,
    },
    /// No world satisfies the formula.
    #[error("no world is possible: the formula is false, and a distribution needs at least one world")]
    Impossible,
    /// A node breaks an invariant of sum-product networks.
    #[error("{0}")]
    Spn(#[source] SpnError),
    /// A file of another kind.
    #[error("this is {found}, not {expected}; check which file goes where")]
    OtherKind {
        /// What should be there.
        expected: &'static str,
        /// What is.
        found: &'static str,
    },
    /// The file was written by a later version.
    #[error("the file has format version {found}, and this slopp reads versions up to {known}; use a newer slopp")]
    Version {
        /// The version of the file.
        found: String,
        /// The newest version known here.
        known: u32,
    },
    /// A saved model that ends too early.
    #[error("the file is cut off: {reason}; copy it again, or make the model again")]
    CutOff {
        /// What is missing.
        reason: String,
    },
    /// Components that are not a mixture.
    #[error("{0}")]
    Mixture(#[source] MixtureError),
    /// The lines of a saved mixture do not fit.
    #[error("{reason}; the file was changed or cut off: restore it, or make the mixture again")]
    DamagedMixture {
        /// What does not fit.
        reason: String,
    },
    /// A column that does not have exactly one value in every world.
    #[error(
        "a column has exactly one value, but the model allows worlds in which {column:?} has none or several; delete \
         this line, and its values are variables of their own"
    )]
    ColumnRule {
        /// The column.
        column: String,
    },
    /// The comment lines of a saved model do not fit.
    #[error(
        "{reason}; the file was changed or cut off: restore it, or delete its `c slopp` line to read it as a plain file"
    )]
    Damaged {
        /// What does not fit.
        reason: String,
    },
}

impl Problem {
    /// What to try.
    pub(super) fn advice(&self) -> Vec<Advice> {
        match self {
            Problem::HeaderOnly | Problem::Header { because: Some(_), .. } => vec![Advice::FirstLineIsRecord],
            Problem::Cell { first, taken, categories, name, .. } => {
                let header = (*first || taken.is_some()).then_some(Advice::FirstLineHoldsNames);
                header.into_iter().chain(categories.then(|| Advice::Categories { column: name.clone() })).collect()
            }
            Problem::TooManyValues { name, numbers: true, .. } => {
                vec![Advice::Bins { column: name.clone() }, Advice::MoreValues]
            }
            Problem::LargeRecords { .. } => vec![Advice::MoreMemory],
            Problem::TooManyValues { .. } => vec![Advice::MoreValues],
            Problem::Limit { limit, .. } => limit.advice(),
            _ => Vec::new(),
        }
    }
}
