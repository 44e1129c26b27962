//! What a file holds, and what the ending of its name says.

use super::source::{ending, path_in_words};
use std::path::{Path, PathBuf};

/// What a file is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A circuit, a mixture or a network.
    Model,
    /// A diagram.
    Diagram,
    /// A vtree.
    Vtree,
    /// Records.
    Records,
    /// Rules as text.
    Rules,
    /// Rules as DIMACS clauses.
    Clauses,
    /// A JSON document.
    Json,
}

/// A name that says another content than what is to be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is the name of {named}, and what is written is {}", path_in_words(.file), .content.in_words())]
pub struct OtherContent {
    file: PathBuf,
    named: &'static str,
    content: Content,
}

impl OtherContent {
    /// The ending that a name should have.
    pub fn ending(&self) -> &'static str {
        match self.content {
            Content::Model => ".psdd",
            Content::Diagram => ".sdd",
            Content::Vtree => ".vtree",
            Content::Records => ".csv",
            Content::Rules => ".txt",
            Content::Clauses => ".cnf",
            Content::Json => ".json",
        }
    }
}

impl Content {
    fn in_words(self) -> &'static str {
        match self {
            Content::Model => "a model",
            Content::Diagram => "a diagram",
            Content::Vtree => "a vtree",
            Content::Records => "records",
            Content::Rules => "rules",
            Content::Clauses => "DIMACS clauses",
            Content::Json => "a JSON document",
        }
    }

    /// Refuses a name that ends like those of files with another content; many endings say nothing.
    pub fn check_name(self, file: &Path) -> Result<(), OtherContent> {
        let own = |content: Content| (content.in_words(), content == self);
        let (named, is_own) = match ending(file).as_deref() {
            Some("psdd" | "mix" | "spn") => own(Content::Model),
            Some("sdd") => own(Content::Diagram),
            Some("vtree") => own(Content::Vtree),
            Some("csv" | "data" | "wdata") => own(Content::Records),
            Some("cnf") => own(Content::Clauses),
            Some("json") => own(Content::Json),
            Some("dnf") => ("DIMACS terms", false),
            Some("parquet" | "feather" | "arrow" | "xlsx" | "ods") => ("a table of another program", false),
            Some("svg" | "dot" | "gv" | "png" | "pdf") => ("a picture", false),
            Some("html") => ("a page", false),
            _ => return Ok(()),
        };
        if is_own { Ok(()) } else { Err(OtherContent { file: file.to_owned(), named, content: self }) }
    }
}
