//! `slopp convert`: between the file formats of the field.

use crate::args::{ColumnArgs, ReadArgs};
use crate::error::{Error, LARGER_LIMITS};
use crate::files::Files;
use crate::input::{Loaded, read_records};
use crate::knowledge::LimitArgs;
use crate::report::object;
use crate::session::{Session, Verdict};
use clap::Args;
use serde_json::Value;
use slopp::circuit::Reason;
use slopp::io::{self, path_in_words, write_atomically};
use slopp::logic::Sdd;
use slopp::names::abridged;
use slopp::{Certified, Model, Names};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  slopp convert other.psdd model.psdd --vtree other.vtree --names records.csv
  slopp convert model.psdd plain.psdd --plain              without our comments
  slopp convert rules.sdd model.psdd --vtree rules.vtree   uniform over the models of a formula
  slopp convert model.psdd base.sdd                        what is possible, as a formula";

/// Convert between .psdd, .sdd and .vtree files, as the endings of the names say
///
/// A .psdd file we write is a standard one whose comments also hold vtree, names, counts and origin. A .sdd file
/// becomes the uniform distribution over its models; from a PSDD, a .sdd file is its base, the formula of what is
/// possible. A .vtree file can be taken from any of them.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// The file to read: .psdd, .sdd or .vtree, gzipped or not; `-` for a .psdd from stdin
    input: PathBuf,
    /// The file to write: .psdd, .sdd or .vtree; `-` for a .psdd to stdout
    output: PathBuf,
    /// The vtree of the input, if its file does not hold it
    #[arg(long, value_name = "FILE")]
    vtree: Option<PathBuf>,
    /// Name the variables like the columns of this file of records
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    read: ReadArgs,
    /// Write a .psdd file without our comments
    #[arg(long)]
    plain: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Psdd,
    Sdd,
    Vtree,
}

impl Format {
    fn of(path: &Path) -> Result<Format, Error> {
        if io::is_stdout(path) {
            return Ok(Format::Psdd);
        }
        match io::ending(path).as_deref() {
            Some("psdd") => Ok(Format::Psdd),
            Some("sdd") => Ok(Format::Sdd),
            Some("vtree") => Ok(Format::Vtree),
            _ => Err(Error::new(format!("{}: the ending of the name must say the format", path.display()))
                .hint("names that end in .psdd, .sdd or .vtree; `slopp draw` makes pictures")),
        }
    }
}

pub(crate) fn run(args: &ConvertArgs, session: &mut Session) -> Result<Verdict, Error> {
    session.give_stdout_to([&args.output])?;
    Files::default().read([&args.input]).read(&args.vtree).read(&args.names).write([&args.output], None).check()?;
    let (from, to) = (Format::of(&args.input)?, Format::of(&args.output)?);
    if args.plain && to != Format::Psdd {
        return Err(Error::new("--plain is for .psdd files").hint("leave it out, or write a .psdd file"));
    }
    match (from, to) {
        (Format::Vtree, Format::Vtree) => {
            let vtree = io::read_vtree(&args.input)?.vtree;
            write_atomically(&args.output, |out| io::write_vtree(out, &vtree))?;
        }
        (Format::Vtree, _) => {
            return Err(Error::new("a vtree alone is not a model").hint("slopp learn records.csv --vtree FILE.vtree"));
        }
        (Format::Sdd, Format::Sdd | Format::Vtree) => {
            let vtree = args.vtree.as_ref().map(io::read_vtree).transpose()?;
            let (sdd, names) = io::read_sdd(&args.input, vtree.as_ref())?;
            write_atomically(&args.output, |out| match to {
                Format::Vtree => io::write_vtree(out, sdd.vtree()),
                _ => io::write_sdd(out, &sdd, names.as_ref()),
            })?;
        }
        _ => write_model(args, to)?,
    }
    if session.json {
        session.document(&object([("file", Value::from(args.output.display().to_string()))]))?;
    } else {
        session.saved(&args.output);
    }
    if (from, to) == (Format::Psdd, Format::Sdd) {
        let model = args.input.display();
        session.note(format!(
            "names and vtree are comments of the .sdd file; for other tools `slopp convert {model} base.vtree`"
        ));
    }
    Ok(Verdict::Yes)
}

fn write_model(args: &ConvertArgs, to: Format) -> Result<(), Error> {
    let limits = args.limits.limits();
    let loaded = Loaded::circuit_of(&args.input, args.vtree.as_deref(), &limits)?;
    match to {
        Format::Vtree => write_atomically(&args.output, |out| io::write_vtree(out, loaded.circuit().vtree()))?,
        Format::Sdd => {
            let Certified::Psdd(psdd) = loaded.circuit() else {
                return Err(not_a_psdd(&loaded));
            };
            let base =
                Sdd::base_of(psdd, &limits).map_err(|stopped| Error::from(stopped).also("keep the base as .psdd"))?;
            write_atomically(&args.output, |out| io::write_sdd(out, &base, Some(&loaded.model.names)))?;
        }
        Format::Psdd if args.plain => write_atomically(&args.output, |out| io::write_psdd(out, loaded.circuit()))?,
        Format::Psdd => named(loaded, args)?.save(&args.output)?,
    }
    Ok(())
}

fn not_a_psdd(loaded: &Loaded) -> Error {
    let reason = match loaded.circuit() {
        Certified::Psdd(_) => String::new(),
        Certified::Circuit(_, Reason::Unproved(limit)) => {
            return Error::new(format!("only a PSDD has a base, and this was not proved to be one within {limit}"))
                .hint(LARGER_LIMITS);
        }
        Certified::Deterministic(_, overlap) => loaded.overlap_in_words(overlap),
        Certified::Circuit(_, reason) => loaded.reason_in_words(reason),
    };
    Error::new(format!("only a PSDD has a base that can be written as .sdd, and this is not one: {reason}"))
        .hint("`slopp validate` lists all overlaps; `slopp learn --learner slopp` makes a PSDD")
}

fn named(loaded: Loaded, args: &ConvertArgs) -> Result<Model, Error> {
    let Some(file) = &args.names else { return Ok(loaded.model) };
    let records = read_records(file, args.read, &ColumnArgs::default())?;
    let names: &Names = records.names();
    if names.len() != loaded.model.names.len() {
        let (columns, variables) = (names.len(), loaded.model.names.len());
        return Err(Error::new(format!(
            "{} has {columns} columns, the model {variables} variables",
            path_in_words(file)
        )));
    }
    if let Some(group) = loaded.circuit().column_without_one_value(names) {
        let (file, column) = (path_in_words(file), abridged(group.name()));
        return Err(Error::new(format!(
            "column \"{column}\" of {file} has exactly one value, but the model allows worlds in which it has none or several"
        ))
        .hint("records with a column of 0 and 1 for each variable"));
    }
    Ok(Model { names: records.names().clone(), ..loaded.model })
}
