//! Models of any kind, told apart by the first line that is no comment.

use super::error::{ReadError, WriteError};
use super::lines::{check_text, content};
use super::mixture::{mixture, write_mixture};
use super::model::{LoadedModel, model};
use super::model_out::write_model;
use super::source;
use super::spn::{read_spn_bytes, write_spn};
use super::vtree::{LoadedVtree, read_vtree};
use crate::logic::Limits;
use crate::mixture::Mixture;
use crate::model::{AnyModel, Model};
use crate::spn::Spn;
use std::path::Path;

/// What a file of a model holds.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadedAny {
    /// A circuit, from a `.psdd` or `.sdd` file.
    Circuit(LoadedModel),
    /// A sum-product network, from a `.spn` file.
    Spn(Model<Spn>),
    /// A mixture, from a `.mix` file.
    Mixture(Model<Mixture>),
}

/// Reads a model of any kind; the vtree file is only for circuits whose file does not tell theirs.
pub fn read_any_model(path: &Path, vtree: Option<&Path>) -> Result<LoadedAny, ReadError> {
    read_any_model_within(path, vtree, &Limits::default())
}

/// The same with limits to its certificate, as [`crate::Circuit::certify_within`].
pub fn read_any_model_within(path: &Path, vtree: Option<&Path>, limits: &Limits) -> Result<LoadedAny, ReadError> {
    let given = vtree.map(read_vtree).transpose()?;
    let read = any_model(&source::read_all(path)?, given.as_ref(), limits);
    read.map_err(|e| vtree.into_iter().fold(e, ReadError::naming_vtree).in_file(path))
}

/// Reads the text of a file of a model.
pub fn read_any_model_bytes(text: &[u8], vtree: Option<&LoadedVtree>) -> Result<LoadedAny, ReadError> {
    any_model(text, vtree, &Limits::default())
}

fn any_model(text: &[u8], vtree: Option<&LoadedVtree>, limits: &Limits) -> Result<LoadedAny, ReadError> {
    check_text(text)?;
    match content(text).next().and_then(|mut line| line.word()) {
        Some(b"spn") => read_spn_bytes(text).map(LoadedAny::Spn),
        Some(b"mixture") if vtree.is_some() => {
            Err(ReadError::unexpected(1, "no vtree file beside a mixture, which holds its own", "one"))
        }
        Some(b"mixture") => mixture(text, limits).map(LoadedAny::Mixture),
        _ => model(text, vtree, limits).map(LoadedAny::Circuit),
    }
}

/// Writes a model of any kind, in the format of its kind.
pub fn write_any_model(path: &Path, model: &AnyModel) -> Result<(), WriteError> {
    match model {
        AnyModel::Circuit(model) => write_model(path, model),
        AnyModel::Spn(model) => write_spn(path, model),
        AnyModel::Mixture(model) => write_mixture(path, model),
    }
}
