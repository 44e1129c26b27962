//! Parts of what is said about files.

use crate::names::abridged;
use std::fmt;

/// Where in a line something is, if that is known.
pub(super) struct At(pub(super) Option<usize>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |column| write!(f, "column {column}: "))
    }
}

/// The name of a column, if it has one.
pub(super) struct Named<'a>(pub(super) &'a Option<String>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |name| write!(f, " ({})", abridged(name)))
    }
}

/// The first line, if it was taken for a record and may hold names.
pub(super) struct Taken(pub(super) Option<usize>);

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, "; line {line} was taken as a record"))
    }
}

/// What makes a line a header.
pub(super) struct Because<'a>(pub(super) &'a Option<String>);

impl fmt::Display for Because<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(reason) = self.0 else { return Ok(()) };
        write!(f, " (the line is a header because {reason})")
    }
}

/// How many variables a circuit and a vtree have, if not as many.
pub(super) struct VarCounts<'a>(pub(super) &'a (usize, usize));

impl fmt::Display for VarCounts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (circuit, vtree) = self.0;
        if circuit == vtree { Ok(()) } else { write!(f, " (the circuit has {circuit} variables, the vtree {vtree})") }
    }
}

/// What a cell may hold, and whether it may be missing.
pub(super) struct Accepted(pub(super) bool);

impl fmt::Display for Accepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `0.0` and `1.0` are understood too, but nobody should write them by hand.
        f.write_str("0, 1, true, false, t, f, yes, no, y or n")?;
        if self.0 { f.write_str(" (missing: empty, ?, NA, nan or -1)") } else { f.write_str(" (none missing)") }
    }
}

/// Columns that are missing or unknown, and what to do about them.
pub(super) struct Fit<'a>(pub(super) &'a [String], pub(super) &'a [String]);

impl fmt::Display for Fit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fit(missing, unknown) = self;
        let (lacking, more) = (List("missing", missing), List("unknown", unknown));
        match (missing.is_empty(), unknown.is_empty()) {
            (_, true) => write!(f, "{lacking}; add them (an empty column counts as missing cells)"),
            (true, _) => write!(f, "{more}; delete them"),
            _ => write!(
                f,
                "{lacking}; {more}; rename what is misspelt, add what is missing (an empty column counts as missing \
                 cells), delete the rest"
            ),
        }
    }
}

/// Some names after a label, shortened if there are many.
struct List<'a>(&'static str, &'a [String]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let List(label, items) = self;
        if items.is_empty() {
            return Ok(());
        }
        write!(f, "{label} {}", items[..items.len().min(SHOWN)].join(", "))?;
        if items.len() > SHOWN { write!(f, " and {} more", items.len() - SHOWN) } else { Ok(()) }
    }
}

/// Foreign bytes for an error message: quoted, escaped, shortened.
pub(super) fn show(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]);
    let short: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    let more = if text.chars().count() > SHOWN { "…" } else { "" };
    format!("\"{short}{more}\"")
}
